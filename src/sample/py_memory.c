/* py_memory.c - see py_memory.h.  SPDX-License-Identifier: MIT */
#include "sample/py_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/assert.h"

/* Addresses of a program; others are never asked for. */
#define LOWEST  4096ull
#define HIGHEST (1ull << 56)

enum {
    PAGE = 4096,
    WINDOW = 512, /* that are read of what is new: its neighbours will be wanted, too */
    GAP = 1024,   /* between ranges that are read as one */
    UNUSED_MAX =
        8, /* readings that a range outlasts without use: a call that returned is made again */
};

/* Read ranges behind those that are there. Those before the first that can't be read are there then. */
static void read_ranges(struct strobe_py_memory *memory, const struct strobe_py_span *list,
                        uint32_t n)
{
    struct iovec theirs[STROBE_PY_AGAIN];
    size_t all = 0;
    STROBE_ASSERT(n && n <= STROBE_PY_AGAIN && memory->n + n <= STROBE_PY_RANGES);
    for (uint32_t i = 0; i < n; i++) {
        theirs[i] = (struct iovec){(void *)(uintptr_t)list[i].at, list[i].n_bytes};
        all += list[i].n_bytes;
    }
    STROBE_ASSERT(memory->n_bytes + all <= STROBE_PY_BYTES);
    struct iovec ours = {memory->bytes + memory->n_bytes, all};
    ssize_t got = process_vm_readv((pid_t)memory->pid, &ours, 1, theirs, n, 0);
    memory->n_calls++;
    if (got < 0)
        memory->error = errno;
    for (uint32_t i = 0; i < n && got >= (ssize_t)list[i].n_bytes; i++) {
        memory->parts[memory->n++] =
            (struct strobe_py_part){.range = list[i], .first = memory->n_bytes};
        memory->n_bytes += list[i].n_bytes;
        got -= (ssize_t)list[i].n_bytes;
    }
}

void strobe_py_memory_begin(struct strobe_py_memory *memory, uint32_t pid,
                            const struct strobe_py_spans *again)
{
    memory->pid = pid;
    memory->n = memory->n_bytes = 0;
    memory->error = 0;
    STROBE_ASSERT(pid && (!again || again->n <= STROBE_PY_AGAIN));
    if (again && again->n)
        read_ranges(memory, again->list, again->n);
}

/* What is read of an address that is new: what lies behind it too, but not over the end of a page that may be the last one. */
static uint32_t window_of(uint64_t address, uint32_t n)
{
    uint32_t left = PAGE - (uint32_t)(address % PAGE);
    uint32_t window = left < WINDOW ? left : WINDOW;
    return n > window ? n : window;
}

const uint8_t *strobe_py_memory_at(struct strobe_py_memory *memory, uint64_t address, uint32_t n)
{
    STROBE_ASSERT(n && n <= WINDOW && memory->n <= STROBE_PY_RANGES);
    for (uint32_t i = memory->n; i-- > 0;) {
        struct strobe_py_part *part = &memory->parts[i];
        uint64_t into = address - part->range.at;
        if (address < part->range.at || into + n > part->range.n_bytes)
            continue;
        part->was_used = true;
        return memory->bytes + part->first + into;
    }
    struct strobe_py_span range = {.at = address, .n_bytes = window_of(address, n)};
    uint32_t before = memory->n;
    if (before == STROBE_PY_RANGES || address < LOWEST || address >= HIGHEST ||
        memory->n_bytes + range.n_bytes > STROBE_PY_BYTES)
        return NULL;
    read_ranges(memory, &range, 1);
    if (memory->n == before)
        return NULL;
    memory->parts[before].was_used = true;
    return memory->bytes + memory->parts[before].first;
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

/* ---- for the next time ---- */

/* Put a range in its place by address. */
static void insert(struct strobe_py_spans *out, struct strobe_py_span range)
{
    uint32_t i = out->n++;
    STROBE_ASSERT(i < STROBE_PY_AGAIN);
    for (; i && out->list[i - 1].at > range.at; i--)
        out->list[i] = out->list[i - 1];
    out->list[i] = range;
}

/* Neighbours become one, as long as that is not too large. */
static void merge(struct strobe_py_spans *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < out->n; i++) {
        struct strobe_py_span *last = n ? &out->list[n - 1] : NULL, next = out->list[i];
        uint64_t end = next.at + next.n_bytes, last_end = last ? last->at + last->n_bytes : 0;
        if (!last || next.at > last_end + GAP || end - last->at > STROBE_PY_RANGE_MOST) {
            out->list[n++] = next;
            continue;
        }
        last->n_bytes = (uint32_t)((end > last_end ? end : last_end) - last->at);
        last->n_unused = last->n_unused < next.n_unused ? last->n_unused : next.n_unused;
    }
    out->n = n;
}

void strobe_py_memory_end(const struct strobe_py_memory *memory, struct strobe_py_spans *out)
{
    uint32_t all = 0;
    out->n = 0;
    for (uint32_t i = 0; i < memory->n && out->n < STROBE_PY_AGAIN; i++) {
        struct strobe_py_span range = memory->parts[i].range;
        range.n_unused = memory->parts[i].was_used ? 0 : range.n_unused + 1;
        if (range.n_unused < UNUSED_MAX)
            insert(out, range);
    }
    merge(out);
    for (uint32_t i = 0; i < out->n; i++) { /* as much again must have room for what is new */
        all += out->list[i].n_bytes;
        if (all > STROBE_PY_BYTES / 2)
            out->n = i;
    }
}
