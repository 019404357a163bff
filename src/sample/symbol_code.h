/* symbol_code.h - the machine code of the functions in which the most samples were taken, read from their files when names are looked up, so that
 * a trace shows instructions on any machine. Runs in the child process of symbolize.h. Inside src/sample only.
 *
 * Bounded: a function must have three samples and a 500th of all, the ones with the most come first; STROBE_SYMBOL_CODE bytes of all, of one
 * function its first STROBE_SYMBOL_CODE_ONE.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_SYMBOL_CODE_H
#define STROBE_SAMPLE_SYMBOL_CODE_H

#include <elfutils/libdwfl.h>
#include <stdio.h>

#include "sample/symbol_names.h"

enum {
    STROBE_SYMBOL_CODE = 128 << 10,
    STROBE_SYMBOL_CODE_ONE = 64 << 10,
    STROBE_SYMBOL_CODE_ROWS = 1 << 14,
    STROBE_SYMBOL_CODE_SHARE = 500,
    STROBE_SYMBOL_CODE_LEAST = 3, /* samples */
};

/* A function of a file. */
struct strobe_symbol_code {
    uint32_t row; /* of wanted: an address in it */
    uint32_t module;
    uint64_t vaddr, offset; /* where it begins, at link time and in its file */
    uint64_t size;
    uint64_t into; /* from its begin to the address of `row` */
    uint64_t n_hits;
};

/* Zero-initialise, note addresses in the order of wanted, write once; free once. */
struct strobe_symbol_codes {
    struct strobe_symbol_code *rows; /* owned */
    uint32_t n, room;
    uint64_t n_hits; /* of all addresses */
};

/* An address of wanted (its row) lies `into` bytes behind the begin of a function of `size` bytes, in a module of libdwfl. */
void strobe_symbol_code_note(struct strobe_symbol_codes *codes, const struct strobe_wanted *wanted,
                             uint32_t row, Dwfl_Module *elf, uint64_t into, uint64_t size);
/* Code of what is worth it, as answers with n_code. The rows are sorted by it. */
void strobe_symbol_code_write(struct strobe_symbol_codes *codes,
                              const struct strobe_modules *modules, FILE *out);
void strobe_symbol_code_free(struct strobe_symbol_codes *codes);

#endif
