/* py_memory.c - see py_memory.h.  SPDX-License-Identifier: MIT */
#include "sample/py_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/assert.h"

/* Addresses of a program; others are never asked for. */
#define LOWEST  4096ull
#define HIGHEST (1ull << 56)

/* Read blocks into those from memory->n on. Those before the first that can't be read are there. */
static void read_blocks(struct strobe_py_memory *memory, const uint64_t *at, uint32_t n)
{
    struct iovec theirs[STROBE_PY_AGAIN];
    STROBE_ASSERT(n && n <= STROBE_PY_AGAIN && memory->n + n <= STROBE_PY_BLOCKS);
    for (uint32_t i = 0; i < n; i++)
        theirs[i] = (struct iovec){(void *)(uintptr_t)at[i], STROBE_PY_BLOCK};
    struct iovec ours = {memory->bytes[memory->n], (size_t)n * STROBE_PY_BLOCK};
    ssize_t got = process_vm_readv((pid_t)memory->pid, &ours, 1, theirs, n, 0);
    memory->n_calls++;
    if (got < 0)
        memory->error = errno;
    for (uint32_t i = 0; got > 0 && i < (size_t)got / STROBE_PY_BLOCK; i++) {
        memory->at[memory->n] = at[i];
        memory->was_used[memory->n++] = false;
    }
}

void strobe_py_memory_begin(struct strobe_py_memory *memory, uint32_t pid,
                            const struct strobe_py_blocks *again)
{
    memory->pid = pid;
    memory->n = 0;
    memory->error = 0;
    STROBE_ASSERT(pid && (!again || again->n <= STROBE_PY_AGAIN));
    if (again && again->n)
        read_blocks(memory, again->at, again->n);
}

/* The block at an address. NULL: it can't be read, or there are too many. */
static const uint8_t *block_at(struct strobe_py_memory *memory, uint64_t address)
{
    STROBE_ASSERT(!(address % STROBE_PY_BLOCK) && memory->n <= STROBE_PY_BLOCKS);
    uint32_t i = 0;
    while (i < memory->n && memory->at[i] != address)
        i++;
    if (i == memory->n) {
        if (i == STROBE_PY_BLOCKS || address < LOWEST || address >= HIGHEST)
            return NULL;
        read_blocks(memory, &address, 1);
        if (i == memory->n)
            return NULL;
    }
    memory->was_used[i] = true;
    return memory->bytes[i];
}

const uint8_t *strobe_py_memory_at(struct strobe_py_memory *memory, uint64_t address, uint32_t n)
{
    uint64_t first = address - address % STROBE_PY_BLOCK, into = address - first;
    STROBE_ASSERT(n <= 3 * STROBE_PY_BLOCK);
    if (into + n <= STROBE_PY_BLOCK) {
        const uint8_t *block = block_at(memory, first);
        return block ? block + into : NULL;
    }
    for (uint64_t at = 0; at < into + n; at += STROBE_PY_BLOCK) {
        const uint8_t *block = block_at(memory, first + at);
        if (!block)
            return NULL;
        memcpy(memory->joined + at, block, STROBE_PY_BLOCK);
    }
    return memory->joined + into;
}

bool strobe_py_memory_word(struct strobe_py_memory *memory, uint64_t address, uint64_t *out)
{
    const uint8_t *at = strobe_py_memory_at(memory, address, sizeof *out);
    if (at)
        memcpy(out, at, sizeof *out);
    return at != NULL;
}

uint32_t strobe_py_memory_copy(struct strobe_py_memory *memory, uint64_t address, void *out,
                               uint32_t n)
{
    STROBE_ASSERT(out && memory->pid);
    struct iovec ours = {out, n}, theirs = {(void *)(uintptr_t)address, n};
    if (address < LOWEST || address >= HIGHEST || !n)
        return 0;
    ssize_t got = process_vm_readv((pid_t)memory->pid, &ours, 1, &theirs, 1, 0);
    memory->n_calls++;
    return got > 0 ? (uint32_t)got : 0;
}

void strobe_py_memory_end(const struct strobe_py_memory *memory, struct strobe_py_blocks *out)
{
    out->n = 0;
    for (uint32_t i = 0; i < memory->n && out->n < STROBE_PY_AGAIN; i++)
        if (memory->was_used[i])
            out->at[out->n++] = memory->at[i];
}
