/* py_memory.h - memory of another process, read in ranges: those that were needed the last times are read at once, with one call of the
 * kernel, what is new singly. The kernel's price is per range, so neighbours are one. The process goes on meanwhile: what is read may
 * not fit together, and every user checks it. Nothing is ever written.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PY_MEMORY_H
#define STROBE_SAMPLE_PY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    STROBE_PY_RANGES = 160,          /* that are there at once */
    STROBE_PY_AGAIN = 64,            /* of which are read again the next time */
    STROBE_PY_BYTES = 96 << 10,      /* of all that are there */
    STROBE_PY_RANGE_MOST = 16 << 10, /* of one */
};

/* Which ranges a reading needed, for the next one like it: by address, far from each other. */
struct strobe_py_spans {
    struct strobe_py_span {
        uint64_t at;
        uint32_t n_bytes;
        uint32_t n_unused; /* readings in a row that did not need it */
    } list[STROBE_PY_AGAIN];
    uint32_t n;
};

struct strobe_py_memory {
    uint32_t pid;
    uint32_t n; /* ranges that are there */
    struct strobe_py_part {
        struct strobe_py_span range;
        uint32_t first; /* of its bytes */
        bool was_used;
    } parts[STROBE_PY_RANGES];
    uint8_t bytes[STROBE_PY_BYTES];
    uint32_t n_bytes;
    uint64_t n_calls; /* of the kernel, ever */
    int error;        /* errno of the last call that failed */
};

/* Forget what was read, and read the ranges of the last time; NULL: none. */
void strobe_py_memory_begin(struct strobe_py_memory *memory, uint32_t pid,
                            const struct strobe_py_spans *again);
/* `n` bytes at an address, until the next begin. NULL: they can't be read, or there were too many. */
const uint8_t *strobe_py_memory_at(struct strobe_py_memory *memory, uint64_t address, uint32_t n);
/* One word. False: it can't be read. */
bool strobe_py_memory_word(struct strobe_py_memory *memory, uint64_t address, uint64_t *out);
/* As many of `n` bytes as can be read, past the ranges: for what is read rarely. How many. */
uint32_t strobe_py_memory_copy(struct strobe_py_memory *memory, uint64_t address, void *out,
                               uint32_t n);
/* Which ranges the next reading should have: those that were used, and lately used ones. */
void strobe_py_memory_end(const struct strobe_py_memory *memory, struct strobe_py_spans *out);

#endif
