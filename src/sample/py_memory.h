/* py_memory.h - memory of another process, read in blocks: those that were needed the last time are read at once, with one call of the
 * kernel, what is new singly. The process goes on meanwhile: what is read may not fit together, and every user checks it.
 * Nothing is ever written.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PY_MEMORY_H
#define STROBE_SAMPLE_PY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

enum { STROBE_PY_BLOCK = 512, STROBE_PY_BLOCKS = 192, STROBE_PY_AGAIN = 96 };

/* Which blocks a reading needed, for the next one like it. */
struct strobe_py_blocks {
    uint64_t at[STROBE_PY_AGAIN];
    uint32_t n;
};

struct strobe_py_memory {
    uint32_t pid;
    uint32_t n; /* blocks that are there */
    uint64_t at[STROBE_PY_BLOCKS];
    bool was_used[STROBE_PY_BLOCKS];
    uint8_t bytes[STROBE_PY_BLOCKS][STROBE_PY_BLOCK];
    uint8_t joined[4 * STROBE_PY_BLOCK]; /* what was asked for over the border of blocks */
    uint64_t n_calls;                    /* of the kernel, ever */
    int error;                           /* errno of the last call that failed */
};

/* Forget what was read, and read the blocks of the last time; NULL: none. */
void strobe_py_memory_begin(struct strobe_py_memory *memory, uint32_t pid,
                            const struct strobe_py_blocks *again);
/* `n` bytes at an address, at most 3 blocks, until the next call. NULL: they can't be read, or there were too many. */
const uint8_t *strobe_py_memory_at(struct strobe_py_memory *memory, uint64_t address, uint32_t n);
/* One word. False: it can't be read. */
bool strobe_py_memory_word(struct strobe_py_memory *memory, uint64_t address, uint64_t *out);
/* As many of `n` bytes as can be read, past the blocks: for what is read once. How many. */
uint32_t strobe_py_memory_copy(struct strobe_py_memory *memory, uint64_t address, void *out,
                               uint32_t n);
/* Which blocks were used since the beginning. */
void strobe_py_memory_end(const struct strobe_py_memory *memory, struct strobe_py_blocks *out);

#endif
