/* modules.c - which files a process has mapped, and their build ids: what names its stacks when it
 * is dead. Read from /proc by the recorder, so that the program pays nothing.
 * SPDX-License-Identifier: MIT */
#include "collector/internal.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"

/* The GNU build id of the ELF file, in hex; empty where it has none. */
static void read_build_id(const char *path, char *out, size_t cap)
{
    uint8_t bytes[4096];
    out[0] = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : pread(fd, bytes, sizeof bytes, 0);
    if (fd >= 0)
        close(fd);
    const Elf64_Ehdr *head = (const void *)bytes;
    if (n < (ssize_t)sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG))
        return;
    for (int i = 0; i < head->e_phnum; i++) {
        size_t at = head->e_phoff + (size_t)i * head->e_phentsize;
        if (at + sizeof(Elf64_Phdr) > (size_t)n)
            return;
        Elf64_Phdr segment;
        memcpy(&segment, bytes + at, sizeof segment);
        if (segment.p_type != PT_NOTE || segment.p_offset + segment.p_filesz > (size_t)n)
            continue;
        size_t note = segment.p_offset, end = segment.p_offset + segment.p_filesz;
        while (note + sizeof(Elf64_Nhdr) <= end) {
            Elf64_Nhdr nhdr;
            memcpy(&nhdr, bytes + note, sizeof nhdr);
            size_t name = note + sizeof nhdr, desc = name + ((nhdr.n_namesz + 3u) & ~3u);
            note = desc + ((nhdr.n_descsz + 3u) & ~3u);
            if (note > end || nhdr.n_type != NT_GNU_BUILD_ID || 2 * (size_t)nhdr.n_descsz >= cap)
                continue;
            for (uint32_t k = 0; k < nhdr.n_descsz; k++)
                snprintf(out + 2 * k, 3, "%02x", bytes[desc + k]);
            return;
        }
    }
}

static void put_module(struct strobe_collector *c, struct strobe_proc *proc, uint64_t base,
                       uint64_t size, uint64_t offset, const char *path)
{
    char build_id[128], seen[4096 + 128];
    /* as the process sees it: in a container it is another file of that name, or none */
    snprintf(seen, sizeof seen, "/proc/%u/root%s", proc->reach.in_proc, path);
    read_build_id(seen, build_id, sizeof build_id);
    if (!build_id[0])
        read_build_id(path, build_id, sizeof build_id);
    strobe_records_begin(&c->block.records, STROBE_META_MODULE);
    strobe_records_u(&c->block.records, proc->id);
    strobe_records_u(&c->block.records, base);
    strobe_records_u(&c->block.records, size);
    strobe_records_u(&c->block.records, offset);
    strobe_records_s(&c->block.records, build_id, strlen(build_id));
    strobe_records_s(&c->block.records, path, strlen(path));
    strobe_records_end(&c->block.records);
    strobe_collector_learn_module(c, proc, base, size, offset, build_id, path);
}

/* Executable mappings of files, one record each. */
void strobe_collector_describe_modules(struct strobe_collector *c, struct strobe_proc *proc)
{
    char name[64], line[4096 + 128];
    STROBE_ASSERT(proc->state != STROBE_PROC_FOUND);
    snprintf(name, sizeof name, "/proc/%u/maps", proc->reach.in_proc);
    FILE *maps = proc->reach.in_proc ? fopen(name, "re") : NULL;
    if (!maps)
        return;
    while (fgets(line, sizeof line, maps)) {
        unsigned long long from, to, offset;
        char rights[8];
        int path = 0;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &from, &to, rights, &offset, &path) < 4)
            continue;
        if (path && line[path] == '/' && rights[2] == 'x')
            put_module(c, proc, from, to - from, offset, line + path);
    }
    fclose(maps);
}
