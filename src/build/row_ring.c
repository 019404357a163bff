/* row_ring.c - see row_ring.h. Rows are written and read outside of the lock: which batch is whose is what it guards.  SPDX-License-Identifier: MIT */
#include "build/row_ring.h"

#ifndef __wasm__
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/assert.h"

enum { BATCH = STROBE_ROW_RING_BATCH, BATCHES = STROBE_ROW_RING_BATCHES };

struct strobe_row_ring {
    strobe_row_ring_work *work;
    void *context; /* borrowed: of work */
    int work_gives;
    pthread_t thread;
    enum strobe_err result;
    struct strobe_row *rows; /* owned: BATCHES of BATCH */
    uint32_t n_given;        /* in the giver's batch so far */
    int holds;               /* the taker has one */
    pthread_mutex_t lock;    /* guards what follows */
    pthread_cond_t changed;
    uint32_t n[BATCHES];
    uint64_t n_full, n_taken; /* batches so far */
    int is_over;              /* one of them gives no more, or takes no more */
};

static struct strobe_row *rows_of(const struct strobe_row_ring *ring, uint64_t batch)
{
    return ring->rows + (size_t)(batch % BATCHES) * BATCH;
}

/* The giver's batch is full, or its last one. */
static void hand_over(struct strobe_row_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    ring->n[ring->n_full % BATCHES] = ring->n_given;
    ring->n_given = 0;
    ring->n_full++;
    pthread_cond_signal(&ring->changed);
    while (ring->n_full - ring->n_taken == BATCHES && !ring->is_over)
        pthread_cond_wait(&ring->changed, &ring->lock);
    pthread_mutex_unlock(&ring->lock);
}

enum strobe_err strobe_row_ring_give(struct strobe_row_ring *ring, const struct strobe_row *row)
{
    STROBE_ASSERT(ring->n_given < BATCH);
    rows_of(ring, ring->n_full)[ring->n_given++] = *row; /* only the giver changes n_full */
    if (ring->n_given < BATCH)
        return STROBE_OK;
    hand_over(ring);
    pthread_mutex_lock(&ring->lock);
    int is_over = ring->is_over;
    pthread_mutex_unlock(&ring->lock);
    return is_over ? STROBE_ERR_LIMIT : STROBE_OK;
}

const struct strobe_row *strobe_row_ring_take(struct strobe_row_ring *ring, uint32_t *n)
{
    const struct strobe_row *rows = NULL;
    pthread_mutex_lock(&ring->lock);
    if (ring->holds) {
        ring->n_taken++;
        pthread_cond_signal(&ring->changed);
    }
    while (ring->n_full == ring->n_taken && !ring->is_over)
        pthread_cond_wait(&ring->changed, &ring->lock);
    ring->holds = ring->n_full > ring->n_taken;
    if (ring->holds) {
        rows = rows_of(ring, ring->n_taken);
        *n = ring->n[ring->n_taken % BATCHES];
    }
    pthread_mutex_unlock(&ring->lock);
    return rows;
}

/* One side is at its end; what it has not handed over yet goes with it. */
static void end_side(struct strobe_row_ring *ring, int is_giver)
{
    if (is_giver && ring->n_given)
        hand_over(ring);
    pthread_mutex_lock(&ring->lock);
    ring->is_over = 1;
    pthread_cond_signal(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
}

static void *run(void *context)
{
    struct strobe_row_ring *ring = context;
    ring->result = ring->work(ring->context, ring);
    end_side(ring, ring->work_gives);
    return NULL;
}

static void free_ring(struct strobe_row_ring *ring)
{
    pthread_mutex_destroy(&ring->lock);
    pthread_cond_destroy(&ring->changed);
    free(ring->rows);
    free(ring);
}

struct strobe_row_ring *strobe_row_ring_start(strobe_row_ring_work *work, void *context,
                                              int work_gives)
{
    struct strobe_row_ring *ring = calloc(1, sizeof *ring);
    sigset_t all, old;
    if (!ring || !(ring->rows = malloc((size_t)BATCHES * BATCH * sizeof *ring->rows))) {
        free(ring);
        return NULL;
    }
    ring->work = work;
    ring->context = context;
    ring->work_gives = work_gives;
    pthread_mutex_init(&ring->lock, NULL);
    pthread_cond_init(&ring->changed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&ring->thread, NULL, run, ring);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!failed)
        return ring;
    free_ring(ring);
    return NULL;
}

enum strobe_err strobe_row_ring_join(struct strobe_row_ring *ring)
{
    if (!ring)
        return STROBE_OK;
    end_side(ring, !ring->work_gives);
    pthread_join(ring->thread, NULL);
    enum strobe_err result = ring->result;
    free_ring(ring);
    return result;
}
#endif
