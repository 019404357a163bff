/* symbol_jit.h - names of code that is made at run time, from the text file that its maker writes: /tmp/perf-PID.map, a line
 * "START SIZE NAME" for each function, in hexadecimal. Inside src/sample only; runs in the child process of symbolize.h, for the file is a
 * stranger's.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_SYMBOL_JIT_H
#define STROBE_SAMPLE_SYMBOL_JIT_H

#include <stdint.h>

#include "sample/wanted.h"

struct strobe_symbol_jit {
    char *name;     /* owned; NULL: the file has none */
    uint64_t start; /* of the function */
};

/* Find the names of `n` rows, sorted by address; the last line that has an address holds. `pids` as in wanted.h. */
void strobe_symbol_jit_find(uint64_t pids, const struct strobe_wanted_row *rows, uint32_t n,
                            struct strobe_symbol_jit *out);

#endif
