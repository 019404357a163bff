/* fuzz_sample_jit.c - names of code that was made at run time: the text of a perf map, and perf's jitdump.
 *
 * An input is: a byte (bit 0: a jitdump, else a map), then the file. The addresses that are looked up lie where the seeds have functions, in
 * their gaps, and at both ends of all addresses. Checked beyond what sanitizers find: a name is of a function that begins at or before its
 * address, and rows stay in their order.  SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/seeds.h"
#include "sample/symbol_jit.h"

enum { ROWS = 64 };

static void die(const char *why)
{
    fprintf(stderr, "fuzz_sample_jit: %s\n", why);
    abort();
}

static void make_rows(struct strobe_wanted_row *rows)
{
    memset(rows, 0, ROWS * sizeof *rows);
    for (uint64_t i = 0; i < ROWS; i++)
        rows[i].address = i == 0 ? 1 : i == ROWS - 1 ? UINT64_MAX : 0x7000 + i * 0x80 + i % 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct strobe_wanted_row rows[ROWS];
    struct strobe_symbol_jit found[ROWS];
    if (size < 2)
        return 0;
    make_rows(rows);
    memset(found, 0, sizeof found);
    FILE *in = fmemopen((void *)(uintptr_t)(data + 1), size - 1, "rb");
    if (!in)
        return 0;
    (data[0] & 1 ? strobe_symbol_jit_dump : strobe_symbol_jit_map)(in, rows, ROWS, found);
    fclose(in);
    for (uint32_t i = 0; i < ROWS; i++) {
        if (found[i].name && found[i].start > rows[i].address)
            die("a function that begins behind its address");
        if (found[i].name && strlen(found[i].name) >= 4096)
            die("a name longer than a line");
        free(found[i].name);
    }
    return 0;
}
