/* symbol_jit.c - see symbol_jit.h.  SPDX-License-Identifier: MIT */
#include "sample/symbol_jit.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/regular.h"

/* The process's own file, in its container while it lives, else among ours. NULL: there is none. */
static FILE *open_map(uint64_t pids)
{
    unsigned pid = (unsigned)(pids >> 32), inner = (unsigned)pids;
    char path[96];
    snprintf(path, sizeof path, "/proc/%u/root/tmp/perf-%u.map", pid, inner);
    int fd = strobe_regular_open(path);
    if (fd < 0) {
        snprintf(path, sizeof path, "/tmp/perf-%u.map", pid);
        fd = strobe_regular_open(path);
    }
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    if (fd >= 0 && !in)
        close(fd);
    return in;
}

/* A function of that name, from `start` on. */
static void put_name(uint64_t start, uint64_t size, const char *name,
                     const struct strobe_wanted_row *rows, uint32_t n,
                     struct strobe_symbol_jit *out)
{
    uint64_t first = STROBE_ARRAY_BISECT(0, n, i, rows[i].address < start);
    STROBE_ASSERT(rows && out && start + size >= start);
    for (uint64_t i = first; i < n && rows[i].address < start + size; i++) {
        free(out[i].name);
        out[i] = (struct strobe_symbol_jit){strdup(name), start};
    }
}

static void take_line(char *line, const struct strobe_wanted_row *rows, uint32_t n,
                      struct strobe_symbol_jit *out)
{
    char *at;
    uint64_t start = strtoull(line, &at, 16), size = *at == ' ' ? strtoull(at + 1, &at, 16) : 0;
    STROBE_ASSERT(rows && out);
    if (!start || !size || start + size < start || *at != ' ')
        return;
    at[strcspn(at, "\n")] = 0;
    put_name(start, size, at + 1, rows, n, out);
}

void strobe_symbol_jit_map(FILE *in, const struct strobe_wanted_row *rows, uint32_t n,
                           struct strobe_symbol_jit *out)
{
    char line[4096];
    STROBE_ASSERT(n);
    while (fgets(line, sizeof line, in))
        take_line(line, rows, n, out);
}

void strobe_symbol_jit_find(uint64_t pids, const struct strobe_wanted_row *rows, uint32_t n,
                            struct strobe_symbol_jit *out)
{
    FILE *in = open_map(pids);
    if (!in)
        return;
    strobe_symbol_jit_map(in, rows, n, out);
    fclose(in);
}

/* ---- jitdump ---- */

/* OFFSET SIZE FIELD         native byte order, as linux/tools/perf/Documentation/jitdump-specification.txt has it
 *      0    4 magic         "JiTD" as a number
 *      4    4 version       1
 *      8    4 total_size    of this head
 *     12   28 machine, pid, time, flags */
struct dump_head {
    uint32_t magic, version, total_size, unused[7];
};
static_assert(sizeof(struct dump_head) == 40, "a jitdump's head");

/* OFFSET SIZE FIELD
 *      0    4 id            0 load, 1 move, others are of no interest
 *      4    4 total_size    of the record
 *      8    8 time */
struct dump_record {
    uint32_t id, total_size;
    uint64_t time;
};
static_assert(sizeof(struct dump_record) == 16, "a jitdump's record");

/* OFFSET SIZE FIELD         of a load; then the name with its 0, then the code
 *      0    8 pid, tid
 *      8    8 vma           of a move: likewise, then where it was, where it is
 *     16    8 address       where it runs
 *     24    8 size
 *     32    8 index */
struct dump_load {
    uint32_t pid, tid;
    uint64_t vma, address, size, index;
};
static_assert(sizeof(struct dump_load) == 40, "a jitdump's load");

enum { DUMP_LOAD = 0, NAME_ROOM = 1000 };

/* A load's body of `n_bytes`: the file is behind what was read of it. False: it can't be right. */
static bool take_load(FILE *in, size_t n_bytes, const struct strobe_wanted_row *rows, uint32_t n,
                      struct strobe_symbol_jit *out, size_t *n_read)
{
    struct dump_load load;
    char name[NAME_ROOM + 1];
    if (n_bytes < sizeof load || fread(&load, sizeof load, 1, in) != 1)
        return false;
    size_t room = n_bytes - sizeof load < NAME_ROOM ? n_bytes - sizeof load : NAME_ROOM;
    size_t got = fread(name, 1, room, in);
    name[got] = 0;
    *n_read += sizeof load + got;
    if (load.address + load.size < load.address)
        return false;
    put_name(load.address, load.size, name, rows, n, out);
    return true;
}

void strobe_symbol_jit_dump(FILE *in, const struct strobe_wanted_row *rows, uint32_t n,
                            struct strobe_symbol_jit *out)
{
    struct dump_head head;
    struct dump_record record;
    STROBE_ASSERT(n && rows && out);
    if (fread(&head, sizeof head, 1, in) != 1 || head.magic != 0x4a695444 || head.version != 1 ||
        head.total_size < sizeof head || fseek(in, (long)head.total_size, SEEK_SET))
        return;
    while (fread(&record, sizeof record, 1, in) == 1) {
        size_t n_read = sizeof record;
        if (record.total_size < sizeof record)
            return;
        if (record.id == DUMP_LOAD &&
            !take_load(in, record.total_size - sizeof record, rows, n, out, &n_read))
            return;
        if (fseek(in, (long)(record.total_size - n_read), SEEK_CUR))
            return;
    }
}

bool strobe_symbol_jit_is_dump(const char *path)
{
    unsigned pid;
    int end = 0;
    const char *slash = strrchr(path, '/');
    return path[0] == '/' && sscanf(slash + 1, "jit-%u.dump%n", &pid, &end) == 1 && end &&
           !slash[1 + end];
}
