/* probes.c - see probes.h.  SPDX-License-Identifier: MIT */
#include "sample/probes.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "sample/chosen.h"

void strobe_probes_free(struct strobe_probes *probes)
{
    for (uint32_t i = 0; i < probes->n; i++) {
        free(probes->items[i].path);
        free(probes->items[i].name);
    }
    free(probes->items);
    memset(probes, 0, sizeof *probes);
}

/* Add one, unless its place is there already: two names of one function are one probe. */
static void add(struct strobe_probes *probes, const struct strobe_probe *what, const char *path,
                const char *name)
{
    for (uint32_t i = 0; i < probes->n; i++)
        if (probes->items[i].offset == what->offset && !strcmp(probes->items[i].path, path))
            return;
    if (probes->n == STROBE_PROBES_MAX ||
        STROBE_ARRAY_RESERVE(probes->items, probes->room, probes->n + 1ull)) {
        probes->n_left_out++;
        return;
    }
    struct strobe_probe *probe = &probes->items[probes->n];
    *probe = *what;
    probe->path = strdup(path);
    probe->name = strdup(name);
    if (probe->path && probe->name) {
        probes->n++;
        return;
    }
    free(probe->path);
    free(probe->name);
    probes->n_left_out++;
}

/* Where an address is in the file; false: in no part of it that is code, or data where `is_code` is false. */
static bool find_offset(Elf *elf, uint64_t vaddr, bool is_code, uint64_t *offset)
{
    size_t n = 0;
    GElf_Phdr part;
    if (elf_getphdrnum(elf, &n))
        return false;
    for (size_t i = 0; i < n && i < INT32_MAX; i++)
        if (gelf_getphdr(elf, (int)i, &part) && part.p_type == PT_LOAD &&
            !(part.p_flags & PF_X) == !is_code && vaddr >= part.p_vaddr &&
            vaddr - part.p_vaddr < part.p_filesz) {
            *offset = part.p_offset + (vaddr - part.p_vaddr);
            return true;
        }
    return false;
}

/* ---- functions ---- */

/* First bytes of instructions that the kernel can stop at, behind a prefix of 64 bits or without: what functions begin with. All else is left
 * alone, so that no registration fails. */
static bool is_usual(uint8_t code)
{
    static const uint8_t usual[] = {0x01, 0x03, 0x29, 0x2b, 0x31, 0x33, 0x38, 0x39, 0x3b,
                                    0x63, 0x80, 0x81, 0x83, 0x84, 0x85, 0x88, 0x89, 0x8b,
                                    0x8d, 0x90, 0xc6, 0xc7, 0xe8, 0xe9, 0xeb, 0xf6, 0xf7};
    return (code & 0xf0) == 0x50 || (code & 0xf0) == 0xb0 || memchr(usual, code, sizeof usual);
}

/* How far into a function its probe may be: behind endbr64, which the kernel would have to step through. The return address is still on top of
 * the stack there. -1: what begins there is none to stop at. */
static int place_in(int fd, uint64_t offset)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint8_t code[8] = {0};
    int at = 0;
    if (pread(fd, code, sizeof code, (off_t)offset) != sizeof code)
        return -1;
    if (!memcmp(code, endbr64, sizeof endbr64))
        at = sizeof endbr64;
    bool has_prefix = (code[at] & 0xf0) == 0x40, is_nop = code[at] == 0x0f && code[at + 1] == 0x1f;
    return is_nop || is_usual(code[at + has_prefix]) ? at : -1;
}

static bool is_function(const GElf_Sym *symbol)
{
    return GELF_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx && symbol->st_value &&
           symbol->st_size;
}

static void take_function(struct strobe_probes *probes, Elf *elf, int fd, const char *path,
                          const char *name, uint64_t vaddr)
{
    struct strobe_probe probe = {.vaddr = vaddr};
    uint64_t offset;
    if (!find_offset(elf, vaddr, true, &offset))
        return;
    int at = place_in(fd, offset);
    probe.offset = offset + (uint64_t)at;
    if (at < 0)
        probes->n_unfit++;
    else
        add(probes, &probe, path, name);
}

/* Whether its functions are followed without the kernel: they call hooks, or have sleds. */
static bool is_hooked(Elf *elf)
{
    size_t names = 0;
    GElf_Shdr head;
    GElf_Sym symbol;
    elf_getshdrstrndx(elf, &names);
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        const char *name =
            gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;
        if (name && !strcmp(name, "xray_instr_map"))
            return true;
        if (!name || head.sh_type != SHT_DYNSYM || !head.sh_entsize)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        uint64_t n = data ? data->d_size / head.sh_entsize : 0;
        for (uint64_t i = 0; i < n && i < INT32_MAX; i++)
            if (gelf_getsym(data, (int)i, &symbol) && symbol.st_shndx == SHN_UNDEF &&
                (name = elf_strptr(elf, head.sh_link, symbol.st_name)) &&
                !strcmp(name, "__cyg_profile_func_enter"))
                return true;
    }
    return false;
}

static void find_functions(struct strobe_probes *probes, Elf *elf, int fd, const char *path,
                           const char *patterns)
{
    GElf_Shdr head;
    GElf_Sym symbol;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        if (!gelf_getshdr(section, &head) || !head.sh_entsize ||
            (head.sh_type != SHT_SYMTAB && head.sh_type != SHT_DYNSYM))
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        uint64_t n = data ? data->d_size / head.sh_entsize : 0;
        for (uint64_t i = 0; i < n && i < INT32_MAX; i++) {
            if (!gelf_getsym(data, (int)i, &symbol) || !is_function(&symbol))
                continue;
            const char *name = elf_strptr(elf, head.sh_link, symbol.st_name);
            if (name && strobe_chosen_function(patterns, path, name))
                take_function(probes, elf, fd, path, name, symbol.st_value);
        }
    }
}

/* ---- marks ---- */

/* Of x86-64, by the name without its %: where it lies in struct pt_regs, and its bytes. */
static const struct register_name {
    const char *name;
    uint8_t at;
    int8_t n_bytes;
} registers[] = {
    {"rax", 80, 8},  {"eax", 80, 4},  {"ax", 80, 2},   {"al", 80, 1},   {"rbx", 40, 8},
    {"ebx", 40, 4},  {"bx", 40, 2},   {"bl", 40, 1},   {"rcx", 88, 8},  {"ecx", 88, 4},
    {"cx", 88, 2},   {"cl", 88, 1},   {"rdx", 96, 8},  {"edx", 96, 4},  {"dx", 96, 2},
    {"dl", 96, 1},   {"rsi", 104, 8}, {"esi", 104, 4}, {"si", 104, 2},  {"sil", 104, 1},
    {"rdi", 112, 8}, {"edi", 112, 4}, {"di", 112, 2},  {"dil", 112, 1}, {"rbp", 32, 8},
    {"ebp", 32, 4},  {"bp", 32, 2},   {"bpl", 32, 1},  {"rsp", 152, 8}, {"r8", 72, 8},
    {"r8d", 72, 4},  {"r9", 64, 8},   {"r9d", 64, 4},  {"r10", 56, 8},  {"r10d", 56, 4},
    {"r11", 48, 8},  {"r11d", 48, 4}, {"r12", 24, 8},  {"r12d", 24, 4}, {"r13", 16, 8},
    {"r13d", 16, 4}, {"r14", 8, 8},   {"r14d", 8, 4},  {"r15", 0, 8},   {"r15d", 0, 4},
};

/* "rdi" and what ends it. */
static const struct register_name *find_register(const char *text, size_t n)
{
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++)
        if (strlen(registers[i].name) == n && !memcmp(registers[i].name, text, n))
            return &registers[i];
    return NULL;
}

/* One argument behind its '@'. */
static bool read_argument(const char *text, size_t n, struct strobe_probe_argument *out)
{
    const struct register_name *reg = NULL;
    char *end;
    if (*text == '$') {
        out->how = STROBE_PROBE_NUMBER;
        out->number = strtoll(text + 1, &end, 10);
        return end == text + n;
    }
    if (*text == '%') {
        reg = find_register(text + 1, n - 1);
        out->how = STROBE_PROBE_REGISTER;
    } else {
        out->number = strtoll(text, &end, 10);
        const char *close = memchr(text, ')', n);
        if (end[0] == '(' && end[1] == '%' && close == text + n - 1)
            reg = find_register(end + 2, (size_t)(close - end - 2));
        out->how = STROBE_PROBE_MEMORY;
    }
    out->reg = reg ? reg->at : 0;
    return reg != NULL;
}

bool strobe_probes_arguments(struct strobe_probe *probe, const char *text)
{
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        struct strobe_probe_argument argument = {.how = STROBE_PROBE_NONE};
        size_t n = strcspn(text, " ");
        char *at;
        long n_bytes = strtol(text, &at, 10);
        if (probe->n_arguments == STROBE_PROBE_ARGUMENTS)
            return false;
        if (*at != '@' || !n_bytes || n_bytes < -8 || n_bytes > 8 ||
            !read_argument(at + 1, (size_t)(text + n - at - 1), &argument))
            return false;
        argument.n_bytes = (int8_t)n_bytes;
        probe->arguments[probe->n_arguments++] = argument;
        text += n;
    }
    return true;
}

/* A note: three addresses, then three texts. `base`: where the section .stapsdt.base is now; notes have where it was. */
static void take_mark(struct strobe_probes *probes, Elf *elf, const char *path,
                      const char *patterns, const uint8_t *bytes, size_t n_bytes, uint64_t base)
{
    uint64_t at[3];
    char name[256];
    const char *texts[3], *text = (const char *)bytes + sizeof at,
                          *end = (const char *)bytes + n_bytes;
    if (n_bytes < sizeof at)
        return;
    memcpy(at, bytes, sizeof at);
    for (int i = 0; i < 3; i++) {
        const char *stop = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;
        if (!stop)
            return;
        texts[i] = text;
        text = stop + 1;
    }
    struct strobe_probe probe = {.vaddr = at[0] + base - at[1], .is_mark = true};
    uint64_t counter = at[2] ? at[2] + base - at[1] : 0;
    snprintf(name, sizeof name, "%s:%s", texts[0], texts[1]);
    if (!strobe_chosen_mark(patterns, path, name) ||
        !find_offset(elf, probe.vaddr, true, &probe.offset) ||
        (counter && !find_offset(elf, counter, false, &probe.counter)))
        return;
    strobe_probes_arguments(&probe, texts[2]);
    add(probes, &probe, path, name);
}

static uint64_t find_base(Elf *elf, size_t names)
{
    GElf_Shdr head;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        const char *name =
            gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;
        if (name && !strcmp(name, ".stapsdt.base"))
            return head.sh_addr;
    }
    return 0;
}

static void find_marks(struct strobe_probes *probes, Elf *elf, const char *path,
                       const char *patterns)
{
    enum { STAPSDT = 3 };
    size_t names = 0, at_name, at_text;
    GElf_Shdr head;
    GElf_Nhdr note;
    if (elf_getshdrstrndx(elf, &names))
        return;
    uint64_t base = find_base(elf, names);
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        const char *name =
            gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;
        Elf_Data *data = name && !strcmp(name, ".note.stapsdt") ? elf_getdata(section, NULL) : NULL;
        for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &at_name, &at_text)) > 0;)
            if (note.n_type == STAPSDT)
                take_mark(probes, elf, path, patterns, (const uint8_t *)data->d_buf + at_text,
                          note.n_descsz, base);
    }
}

/* ---- a file ---- */

enum strobe_err strobe_probes_find(struct strobe_probes *probes, const char *path,
                                   const char *patterns, bool is_program)
{
    STROBE_ASSERT(path[0] == '/' && patterns);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    GElf_Ehdr head;
    bool is_elf = elf && gelf_getehdr(elf, &head) && head.e_machine == EM_X86_64;
    if (is_elf && !probes->no_functions && (is_program || strobe_chosen_file(patterns, path)) &&
        !(probes->no_hooked && is_hooked(elf)))
        find_functions(probes, elf, fd, path, patterns);
    if (is_elf)
        find_marks(probes, elf, path, patterns);
    if (elf)
        elf_end(elf);
    if (fd >= 0)
        close(fd);
    return is_elf ? STROBE_OK : STROBE_ERR_NOTFOUND;
}
