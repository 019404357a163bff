/* symbol_jit.c - see symbol_jit.h.  SPDX-License-Identifier: MIT */
#include "sample/symbol_jit.h"

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

static void take_line(char *line, const struct strobe_wanted_row *rows, uint32_t n,
                      struct strobe_symbol_jit *out)
{
    char *at;
    uint64_t start = strtoull(line, &at, 16), size = *at == ' ' ? strtoull(at + 1, &at, 16) : 0;
    STROBE_ASSERT(rows && out);
    if (!start || !size || start + size < start || *at != ' ')
        return;
    at[strcspn(at, "\n")] = 0;
    uint64_t first = STROBE_ARRAY_BISECT(0, n, i, rows[i].address < start);
    for (uint64_t i = first; i < n && rows[i].address < start + size; i++) {
        free(out[i].name);
        out[i] = (struct strobe_symbol_jit){strdup(at + 1), start};
    }
}

void strobe_symbol_jit_find(uint64_t pids, const struct strobe_wanted_row *rows, uint32_t n,
                            struct strobe_symbol_jit *out)
{
    char line[4096];
    FILE *in = open_map(pids);
    STROBE_ASSERT(n);
    while (in && fgets(line, sizeof line, in))
        take_line(line, rows, n, out);
    if (in)
        fclose(in);
}
