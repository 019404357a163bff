/* spool.h - arrays that grow beyond memory: they live in an unlinked file beside the output, so the
 * kernel may write them out, and the process lets go of what it does not use for a while. For exports that need all of a trace before they can write.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_SPOOL_H
#define STROBE_TRACY_FILE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialise, set row_bytes and folder; free once. */
struct strobe_spool {
    void *rows; /* owned: mapped; valid until the next add */
    uint64_t n, room, n_mapped;
    size_t row_bytes;
    const char *folder; /* borrowed: where its file is made; NULL: in memory */
    int fd;             /* owned: + 1; 0: none yet */
    uint64_t rest_at;   /* rows with which memory is released */
    uint32_t n_visits;  /* since that was done last */
};

enum { STROBE_SPOOL_VISITS = 1 << 18 };

/* A new row at the end, zero. NULL: no memory and no disk. */
void *strobe_spool_add(struct strobe_spool *spool);
/* `n` bytes at the end of a spool of bytes; where they begin, UINT64_MAX without room. */
uint64_t strobe_spool_bytes(struct strobe_spool *spool, const void *bytes, size_t n);
/* Release the memory of all rows but those that were added last: they are in the file, and come back when they are used. */
void strobe_spool_rest(struct strobe_spool *spool);
void strobe_spool_free(struct strobe_spool *spool);

static inline void *strobe_spool_row(const struct strobe_spool *spool, uint64_t i)
{
    return (char *)spool->rows + i * spool->row_bytes;
}

/* To be called for each row of a pass over most of them. */
static inline void strobe_spool_visit(struct strobe_spool *spool)
{
    if (++spool->n_visits == STROBE_SPOOL_VISITS)
        strobe_spool_rest(spool);
}

#endif
