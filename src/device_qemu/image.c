/* image.c - kernels and firmware for rv32, by the cross compiler. A kernel is linked to the place of its RISC; what of it is loaded is
 * kept in memory, and put into a core's stage when it is launched there. The firmware is one image for all cores.
 * SPDX-License-Identifier: MIT */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "device_qemu/internal.h"

#define COMPILER "riscv64-unknown-elf-g++"

/* gcc has a library of its own for rv32imac, and none for rv32imac_zicsr; the older specification has the CSRs in it. */
#define TARGET                                                                               \
    "-march=rv32imac", "-misa-spec=2.2", "-mabi=ilp32", "-mcmodel=medany", "-ffreestanding", \
        "-nostdlib", "-static", "-msmall-data-limit=0"

static enum strobe_err make(const struct strobe_recipe *recipe,
                            const struct strobe_recipe_paths *paths, uint32_t unit, uint32_t risc,
                            char *reason)
{
    char std[STROBE_RECIPE_PATH_BYTES], script[STROBE_RECIPE_PATH_BYTES], slot[64];
    snprintf(std, sizeof std, "-I%s/qemu/std", recipe->kernel_dir);
    snprintf(script, sizeof script, "-T%s/qemu/kernel.ld", recipe->kernel_dir);
    snprintf(slot, sizeof slot, "-Wl,--defsym=slot=0x%x",
             STROBE_QEMU_KERNELS + risc * STROBE_QEMU_SLOT_BYTES);
    const char *const flags[] = {
        TARGET, "-ffunction-sections", "-Wl,--gc-sections", std, script, slot, NULL};
    return strobe_recipe_compile(recipe, paths, flags, paths->made, unit, reason);
}

/* ---- what is loaded of an ELF file ---- */

/* Copy the parts that are loaded to where they lie from `slot` on. INVALID: it is no such file. */
static enum strobe_err copy_parts(const uint8_t *file, size_t bytes, uint8_t *to, uint32_t slot,
                                  uint32_t *end)
{
    Elf32_Ehdr head;
    if (bytes < sizeof head)
        return STROBE_ERR_INVALID;
    memcpy(&head, file, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS32 ||
        head.e_machine != EM_RISCV || head.e_phoff > bytes ||
        (bytes - head.e_phoff) / sizeof(Elf32_Phdr) < head.e_phnum)
        return STROBE_ERR_INVALID;
    *end = 0;
    for (uint32_t i = 0; i < head.e_phnum; i++) {
        Elf32_Phdr part;
        memcpy(&part, file + head.e_phoff + i * sizeof part, sizeof part);
        uint32_t at = part.p_paddr - slot;
        if (part.p_type != PT_LOAD)
            continue;
        if (at > STROBE_QEMU_SLOT_BYTES || part.p_memsz > STROBE_QEMU_SLOT_BYTES - at ||
            part.p_filesz > part.p_memsz || part.p_offset > bytes ||
            part.p_filesz > bytes - part.p_offset)
            return STROBE_ERR_INVALID;
        memcpy(to + at, file + part.p_offset, part.p_filesz);
        *end = at + part.p_memsz > *end ? at + part.p_memsz : *end;
    }
    return *end ? STROBE_OK : STROBE_ERR_INVALID;
}

static struct strobe_qemu_code *read_code(const uint8_t *file, size_t bytes)
{
    struct strobe_qemu_code *code = calloc(1, sizeof *code + STROBE_QEMU_SLOT_BYTES);
    Elf32_Ehdr head = {.e_entry = 0};
    uint32_t end = 0;
    if (bytes >= sizeof head)
        memcpy(&head, file, sizeof head);
    uint32_t slot = head.e_entry - (head.e_entry - STROBE_QEMU_KERNELS) % STROBE_QEMU_SLOT_BYTES;
    if (!code || copy_parts(file, bytes, (uint8_t *)code->words, slot, &end)) {
        free(code);
        return NULL;
    }
    STROBE_ASSERT(end <= STROBE_QEMU_SLOT_BYTES);
    static uint64_t last_serial; /* under the lock of strobe_recipe_build */
    code->serial = ++last_serial;
    code->entry = head.e_entry;
    code->n_words = (end + 3) / 4;
    struct strobe_qemu_code *less = realloc(code, sizeof *code + 4ull * code->n_words);
    return less ? less : code;
}

static enum strobe_err load(const char *path, void **code, char *reason)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat facts = {.st_size = 0};
    void *file = fd >= 0 && fstat(fd, &facts) == 0 && facts.st_size > 0
                     ? mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                     : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    *code = file == MAP_FAILED ? NULL : read_code(file, (size_t)facts.st_size);
    if (file != MAP_FAILED)
        munmap(file, (size_t)facts.st_size);
    if (*code)
        return STROBE_OK;
    snprintf(reason, STROBE_DEVICE_REASON_BYTES, "can't load the built kernel %s", path);
    return STROBE_ERR_FORMAT;
}

const struct strobe_recipe_tools strobe_qemu_tools = {
    .backend = "qemu",
    .end = ".elf",
    .compilers = {COMPILER, NULL},
    .variable = "STROBE_QEMU_CXX",
    .missing = "no " COMPILER ": it builds kernels for the backend qemu; install "
               "gcc-riscv64-unknown-elf (Debian, Ubuntu), or name it in STROBE_QEMU_CXX",
    .define = "#define STROBE_QEMU 1\n",
    .make = make,
    .load = load,
    .unload = free,
};

/* ---- firmware ---- */

enum strobe_err strobe_qemu_image_open(struct strobe_qemu_unit *unit, char *reason)
{
    const struct strobe_recipe *recipe = &unit->board.recipe;
    char deps[STROBE_RECIPE_PATH_BYTES], made[sizeof unit->image + 32], script[1024], source[1024];
    uint32_t hash = 2166136261u; /* of what the names in the .d file do not say */
    for (const char *at = recipe->compiler; *at; at++)
        hash = (hash ^ (uint8_t)*at) * 16777619u;
    for (const char *at = recipe->kernel_dir; *at; at++)
        hash = (hash ^ (uint8_t)*at) * 16777619u;
    snprintf(unit->image, sizeof unit->image, "%s/firmware-%08x.elf", recipe->cache_dir, hash);
    snprintf(deps, sizeof deps, "%s/firmware-%08x.d", recipe->cache_dir, hash);
    if (strobe_recipe_is_fresh(unit->image, deps))
        return STROBE_OK;
    snprintf(made, sizeof made, "%s.%ld", unit->image, (long)getpid());
    snprintf(script, sizeof script, "-T%s/qemu/firmware.ld", recipe->kernel_dir);
    snprintf(source, sizeof source, "%s/qemu/firmware.c", recipe->kernel_dir);
    const char *const words[] = {recipe->compiler,
                                 TARGET,
                                 "-x",
                                 "c",
                                 "-std=gnu17",
                                 "-O2",
                                 "-w",
                                 "-fno-asynchronous-unwind-tables",
                                 "-MMD",
                                 "-MF",
                                 deps,
                                 script,
                                 "-o",
                                 made,
                                 source,
                                 NULL};
    enum strobe_err err = strobe_recipe_run(words, reason);
    if (!err && rename(made, unit->image))
        err = STROBE_ERR_IO;
    unlink(made);
    return err;
}
