/* symbol_names.h - what the child process of symbolize.h runs: libdw, kallsyms, demangling. Inside src/sample only.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_SYMBOL_NAMES_H
#define STROBE_SAMPLE_SYMBOL_NAMES_H

#include <stdint.h>

#include "sample/module.h"
#include "sample/wanted.h"

enum { STROBE_SYMBOL_TEXT = 1000, STROBE_SYMBOL_PIECE = 8 << 10 };

/* One function at an address, in the pipe from the child, with its texts behind it; or (n_code) a piece of its code: then `inlined` is where
 * the piece begins in it, `line` how many bytes all of it has. */
struct strobe_symbol_answer {
    uint32_t row; /* of wanted; the next rows with the same place have the same names */
    uint32_t inlined, line;
    uint16_t n_function, n_file, n_image, n_code; /* n_code: STROBE_SYMBOL_PIECE at the most */
    uint64_t into; /* how far the address is behind the function's start; UINT64_MAX: not known */
};

/* Answer for all rows, sorted by module and place, to a pipe. */
void strobe_symbol_names_run(const struct strobe_wanted *wanted,
                             const struct strobe_modules *modules, int out_fd);

#endif
