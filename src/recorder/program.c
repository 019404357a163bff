/* program.c - see program.h. Files are only read, and may be anything.  SPDX-License-Identifier: MIT */
#include "recorder/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/assert.h"

bool strobe_program_find(const char *name, char *out, size_t cap)
{
    const char *at = getenv("PATH");
    STROBE_ASSERT(name);
    if (strchr(name, '/'))
        return snprintf(out, cap, "%s", name) < (int)cap && !access(out, X_OK);
    for (at = at ? at : "/usr/bin:/bin"; *at;) {
        int n = (int)strcspn(at, ":");
        if (snprintf(out, cap, "%.*s/%s", n, at, name) < (int)cap && !access(out, X_OK))
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

/* ---- what is in the file ---- */

/* A file in memory. NULL: it can't be read, or is empty. */
static const unsigned char *map_file(const char *path, size_t *n)
{
    struct stat st;
    void *at = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
        at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    *n = at == MAP_FAILED ? 0 : (size_t)st.st_size;
    return at == MAP_FAILED ? NULL : at;
}

/* Whether one of the texts is in the file. */
static bool has_text(const char *path, const char *const *texts, int n_texts, bool *is_known)
{
    size_t n;
    const unsigned char *bytes = map_file(path, &n);
    bool found = false;
    *is_known = bytes != NULL;
    for (int i = 0; bytes && !found && i < n_texts; i++)
        found = memmem(bytes, n, texts[i], strlen(texts[i])) != NULL;
    if (bytes)
        munmap((void *)bytes, n);
    return found;
}

bool strobe_program_has_client(const char *path, bool *is_known)
{
    static const char *const marks[] = {"STROBE_SESSION", "libstrobe.so"}; /* a copy; a wish */
    return has_text(path, marks, 2, is_known);
}

#define HOOK "__cyg_profile_func_enter"

bool strobe_program_has_hooks(const char *path)
{
    static const char *const hook = HOOK;
    bool is_known;
    return has_text(path, &hook, 1, &is_known);
}

/* A section of the file whose head is `at` bytes into it. NULL: it is not in the file. */
static const unsigned char *read_section(const unsigned char *bytes, size_t n, uint64_t at,
                                         Elf64_Shdr *out)
{
    if (at > n || n - at < sizeof *out)
        return NULL;
    memcpy(out, bytes + at, sizeof *out);
    return out->sh_offset <= n && out->sh_size <= n - out->sh_offset ? bytes + out->sh_offset
                                                                     : NULL;
}

/* Whether a table of symbols defines the hook. */
static bool defines_hook(const unsigned char *symbols, uint64_t n_bytes, const char *names,
                         uint64_t n_names)
{
    for (uint64_t at = 0; n_bytes - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, symbols + at, sizeof symbol);
        if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < n_names &&
            n_names - symbol.st_name >= sizeof HOOK &&
            !memcmp(names + symbol.st_name, HOOK, sizeof HOOK))
            return true;
    }
    return false;
}

bool strobe_program_owns_hooks(const char *path)
{
    size_t n;
    const unsigned char *bytes = map_file(path, &n);
    Elf64_Ehdr head = {0};
    bool found = false;
    if (bytes && n >= sizeof head && !memcmp(bytes, ELFMAG, SELFMAG) &&
        bytes[EI_CLASS] == ELFCLASS64)
        memcpy(&head, bytes, sizeof head);
    for (unsigned i = 0; head.e_shoff < n && i < head.e_shnum && !found; i++) {
        Elf64_Shdr table, texts;
        const unsigned char *symbols =
            read_section(bytes, n, head.e_shoff + i * sizeof table, &table);
        if (!symbols || (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) ||
            table.sh_link >= head.e_shnum)
            continue;
        const unsigned char *names =
            read_section(bytes, n, head.e_shoff + table.sh_link * sizeof texts, &texts);
        found = names && defines_hook(symbols, table.sh_size, (const char *)names, texts.sh_size);
    }
    if (bytes)
        munmap((void *)bytes, n);
    return found;
}

bool strobe_program_throws(const char *path)
{
    static const char *const marks[] = {"_Unwind_RaiseException", "runtime.gopanic"};
    bool is_known;
    return has_text(path, marks, 2, &is_known);
}

/* The loader that a program names; its length is 0 where it names none. False: no program of 64 bits. */
static bool read_loader(const char *path, char *loader, size_t cap)
{
    size_t n;
    const unsigned char *bytes = map_file(path, &n);
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)bytes;
    bool is_elf = bytes && n >= sizeof *head && !memcmp(bytes, ELFMAG, SELFMAG) &&
                  bytes[EI_CLASS] == ELFCLASS64 && head->e_phentsize == sizeof(Elf64_Phdr);
    loader[0] = 0;
    for (unsigned i = 0; is_elf && i < head->e_phnum; i++) {
        uint64_t at = head->e_phoff + i * sizeof(Elf64_Phdr);
        Elf64_Phdr part = {0};
        if (at >= head->e_phoff && at + sizeof part <= n)
            memcpy(&part, bytes + at, sizeof part);
        if (part.p_type == PT_INTERP && part.p_filesz <= n && part.p_offset <= n - part.p_filesz)
            snprintf(loader, cap, "%.*s", (int)(part.p_filesz < cap ? part.p_filesz : cap - 1),
                     (const char *)bytes + part.p_offset);
    }
    if (bytes)
        munmap((void *)bytes, n);
    return is_elf;
}

bool strobe_program_is_static(const char *path)
{
    char loader[2];
    return read_loader(path, loader, sizeof loader) && !loader[0];
}

/* What the first line of a script names, env's argument in its place; false: it is none. */
static bool find_interpreter(const char *head, char *out, size_t cap)
{
    char first[256] = "", second[256] = "";
    if (strncmp(head, "#!", 2) || sscanf(head + 2, " %255s %255s", first, second) < 1)
        return false;
    const char *slash = strrchr(first, '/');
    bool is_env = second[0] && second[0] != '-' && !strcmp(slash ? slash + 1 : first, "env");
    return strobe_program_find(is_env ? second : first, out, cap);
}

bool strobe_program_is_other_class(const char *path)
{
    enum { NESTED_MAX = 4 }; /* as in the kernel */
    char head[512], file[4096];
    if (snprintf(file, sizeof file, "%s", path) >= (int)sizeof file)
        return false;
    for (int i = 0; i <= NESTED_MAX; i++) {
        int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head - 1);
        if (fd >= 0)
            close(fd);
        if (n <= EI_CLASS)
            return false;
        head[n] = 0;
        if (!memcmp(head, ELFMAG, SELFMAG))
            return head[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
        head[strcspn(head, "\n")] = 0;
        if (!find_interpreter(head, file, sizeof file))
            return false;
    }
    return false;
}

bool strobe_program_loader(const char *path, char *out, size_t cap)
{
    return read_loader(path, out, cap) && out[0] == '/';
}

/* ---- rights ---- */

bool strobe_program_is_raised(const char *path)
{
    struct stat st;
    struct statvfs place;
    if (stat(path, &st) || !S_ISREG(st.st_mode) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
        (!statvfs(path, &place) && place.f_flag & ST_NOSUID))
        return false;
    bool by_user = st.st_mode & S_ISUID && st.st_uid != geteuid();
    bool by_group =
        (st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getegid();
    bool by_capability = geteuid() && getxattr(path, "security.capability", NULL, 0) > 0;
    return by_user || by_group || by_capability;
}

/* The kernel's mark, among what it tells a program when it starts it. False: it can't be read. */
static bool read_mark(uint32_t pid, bool *is_raised)
{
    char path[64];
    uint64_t pairs[128];
    snprintf(path, sizeof path, "/proc/%u/auxv", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, pairs, sizeof pairs);
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; n > 0 && i + 1 < (size_t)n / sizeof pairs[0]; i += 2)
        if (pairs[i] == AT_SECURE)
            *is_raised = pairs[i + 1] != 0;
    return n >= 0;
}

/* Of a process whose memory is not ours to see: whether its user is another one, or its user and the one that it acts as differ. */
static bool has_other_user(uint32_t pid)
{
    char path[64], line[256];
    unsigned real, effective;
    bool is_other = false;
    snprintf(path, sizeof path, "/proc/%u/status", pid);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status)) {
        if (sscanf(line, "Uid: %u %u", &real, &effective) == 2)
            is_other = is_other || effective != geteuid() || real != effective;
        else if (sscanf(line, "Gid: %u %u", &real, &effective) == 2)
            is_other = is_other || real != effective;
    }
    if (status)
        fclose(status);
    return is_other;
}

bool strobe_program_runs_raised(uint32_t pid)
{
    bool is_raised = false;
    return read_mark(pid, &is_raised) ? is_raised
                                      : (errno == EACCES || errno == EPERM) && has_other_user(pid);
}
