/* symbol_jit.h - names of code that is made at run time, from the files that its maker writes:
 *
 *   /tmp/perf-PID.map   text, a line "START SIZE NAME" for each function, in hexadecimal
 *   jit-PID.dump        perf's jitdump: found by the mapping that its maker makes of it, and read through that
 *
 * Inside src/sample only; runs in the child process of symbolize.h, for the files are a stranger's.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_SYMBOL_JIT_H
#define STROBE_SAMPLE_SYMBOL_JIT_H

#include <stdint.h>
#include <stdio.h>

#include "sample/wanted.h"

struct strobe_symbol_jit {
    char *name;     /* owned; NULL: the file has none */
    uint64_t start; /* of the function */
};

/* Find the names of `n` rows, sorted by address; the last line that has an address holds. `pids` as in wanted.h. */
void strobe_symbol_jit_find(uint64_t pids, const struct strobe_wanted_row *rows, uint32_t n,
                            struct strobe_symbol_jit *out);

/* Likewise, from the text of such a map. Lines that can't be right are left out. */
void strobe_symbol_jit_map(FILE *in, const struct strobe_wanted_row *rows, uint32_t n,
                           struct strobe_symbol_jit *out);
/* Likewise, from a jitdump. What can't be right ends it. */
void strobe_symbol_jit_dump(FILE *in, const struct strobe_wanted_row *rows, uint32_t n,
                            struct strobe_symbol_jit *out);
/* Whether a mapping's file is one, by its name. */
bool strobe_symbol_jit_is_dump(const char *path);

#endif
