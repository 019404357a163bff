/* row_ring.h - rows from one thread to another, a batch at a time: who reads a file and who sorts its rows have a core each, and so have who merges them and
 * who makes events of them. For rows.c alone.
 *
 *   batch   FREE ──► FULL   by the giver: it has its rows, or the giver is at its end
 *           FULL ──► FREE   by the taker's next call
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BUILD_ROW_RING_H
#define STROBE_BUILD_ROW_RING_H

#include "build/rows.h"

enum { STROBE_ROW_RING_BATCH = 8192, STROBE_ROW_RING_BATCHES = 16 };

struct strobe_row_ring;

/* What the other thread does, giving or taking; its result is that of strobe_row_ring_join. */
typedef enum strobe_err strobe_row_ring_work(void *context, struct strobe_row_ring *ring);

#ifdef __wasm__ /* has no threads: the caller does all itself */
static inline struct strobe_row_ring *strobe_row_ring_start(strobe_row_ring_work *work,
                                                            void *context, int work_gives)
{
    (void)work, (void)context, (void)work_gives;
    return NULL;
}
static inline enum strobe_err strobe_row_ring_give(struct strobe_row_ring *ring,
                                                   const struct strobe_row *row)
{
    (void)ring, (void)row;
    return STROBE_OK;
}
static inline const struct strobe_row *strobe_row_ring_take(struct strobe_row_ring *ring,
                                                            uint32_t *n)
{
    (void)ring, (void)n;
    return NULL;
}
static inline enum strobe_err strobe_row_ring_join(struct strobe_row_ring *ring)
{
    (void)ring;
    return STROBE_OK;
}
#else
/* Start the other thread, which gives, or takes. NULL: there is none. */
struct strobe_row_ring *strobe_row_ring_start(strobe_row_ring_work *work, void *context,
                                              int work_gives);

/* Copy a row to the taker. LIMIT: that one takes no more. */
enum strobe_err strobe_row_ring_give(struct strobe_row_ring *ring, const struct strobe_row *row);

/* The next rows, `n` of them, until the next call. NULL: that was all. */
const struct strobe_row *strobe_row_ring_take(struct strobe_row_ring *ring, uint32_t *n);

/* This side gives no more, or takes no more: wait for the other's end, and free. What its work came to; NULL is allowed. */
enum strobe_err strobe_row_ring_join(struct strobe_row_ring *ring);
#endif

#endif
