/* handover.c - the thread that walks, and the batches between it and SQLite.
 *
 * n_made counts batches that are full, n_used those that SQLite is done with; both only grow, and a batch's place is its
 * number modulo N_BATCHES. The walk waits while n_made - n_used is N_BATCHES - 1: the batch that it fills is none of those
 * that SQLite may read.  SPDX-License-Identifier: MIT */
#include "sql/handover.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"

enum { N_BATCHES = 3 };

struct strobe_sql_handover {
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t moved;
    struct strobe_sql_batch batches[N_BATCHES];
    uint64_t n_made, n_used;
    uint8_t has_read; /* SQLite reads batch n_used */
    uint8_t done;
    atomic_int stop;
    enum strobe_err err;
};

int strobe_sql_handover_must_end(struct strobe_sql_pump *pump)
{
    struct strobe_sql_handover *handover = pump->handover;
    return atomic_load(&handover->stop);
}

int strobe_sql_handover_put(struct strobe_sql_pump *pump)
{
    struct strobe_sql_handover *handover = pump->handover;
    pthread_mutex_lock(&handover->lock);
    handover->n_made++;
    pthread_cond_broadcast(&handover->moved);
    while (!handover->stop && handover->n_made - handover->n_used >= N_BATCHES - 1)
        pthread_cond_wait(&handover->moved, &handover->lock);
    STROBE_ASSERT(handover->stop || handover->n_made - handover->n_used < N_BATCHES);
    int go_on = !handover->stop;
    pthread_mutex_unlock(&handover->lock);
    pump->filling = &handover->batches[handover->n_made % N_BATCHES];
    return go_on;
}

static void *run(void *context)
{
    struct strobe_sql_pump *pump = context;
    struct strobe_sql_handover *handover = pump->handover;
    enum strobe_err err = strobe_sql_pump_walk_files(pump);
    pthread_mutex_lock(&handover->lock);
    if (pump->filling->n_rows && !handover->stop)
        handover->n_made++; /* room is left: strobe_sql_handover_put waited for it */
    handover->err = err;
    handover->done = 1;
    pthread_cond_broadcast(&handover->moved);
    pthread_mutex_unlock(&handover->lock);
    return NULL;
}

/* The thread takes no signals: they are the command's. */
static int start_thread(struct strobe_sql_pump *pump)
{
    struct strobe_sql_handover *handover = pump->handover;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&handover->thread, NULL, run, pump);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return !failed;
}

static void free_handover(struct strobe_sql_handover *handover)
{
    for (int i = 0; i < N_BATCHES; i++)
        strobe_sql_batch_free(&handover->batches[i]);
    pthread_cond_destroy(&handover->moved);
    pthread_mutex_destroy(&handover->lock);
    free(handover);
}

int strobe_sql_handover_start(struct strobe_sql_pump *pump)
{
    struct strobe_sql_handover *handover = calloc(1, sizeof *handover);
    if (!handover)
        return 0;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&handover->lock, NULL);
    pthread_cond_init(&handover->moved, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int has_room = 1;
    for (int i = 0; i < N_BATCHES; i++)
        has_room &= strobe_sql_batch_make(&handover->batches[i], pump->n_columns);
    pump->handover = handover;
    pump->filling = &handover->batches[0];
    if (has_room && start_thread(pump))
        return 1;
    free_handover(handover);
    return 0;
}

/* Wait for the walk, but look up now and then: a signal handler may have ended the run. */
static void wait_a_little(struct strobe_sql_handover *handover)
{
    enum { LOOK_NS = 20 * 1000 * 1000 };
    uint64_t until = strobe_clock_mono_ns() + LOOK_NS;
    struct timespec at = strobe_clock_timespec(until);
    pthread_cond_timedwait(&handover->moved, &handover->lock, &at);
}

enum strobe_err strobe_sql_handover_next(struct strobe_sql_pump *pump,
                                         const struct strobe_sql_batch **out)
{
    struct strobe_sql_handover *handover = pump->handover;
    enum strobe_err err = STROBE_OK;
    pthread_mutex_lock(&handover->lock);
    if (handover->has_read) {
        handover->n_used++;
        handover->has_read = 0;
        pthread_cond_broadcast(&handover->moved);
    }
    while (!err && handover->n_made == handover->n_used) {
        if (handover->done)
            err = handover->err ? handover->err : STROBE_ERR_END;
        else if (strobe_sql_is_over(pump->sql))
            err = STROBE_ERR_LIMIT;
        else
            wait_a_little(handover);
    }
    if (!err) {
        *out = &handover->batches[handover->n_used % N_BATCHES];
        handover->has_read = 1;
    }
    pthread_mutex_unlock(&handover->lock);
    return err;
}

void strobe_sql_handover_stop(struct strobe_sql_pump *pump)
{
    struct strobe_sql_handover *handover = pump->handover;
    pthread_mutex_lock(&handover->lock);
    handover->stop = 1;
    pthread_cond_broadcast(&handover->moved);
    pthread_mutex_unlock(&handover->lock);
    pthread_join(handover->thread, NULL);
    free_handover(handover);
}
