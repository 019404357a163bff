/* pump.c - the thread that walks, and the batches between it and SQLite.
 *
 * n_made counts batches that are full, n_used those that SQLite is done with; both only grow, and a batch's place is its
 * number modulo N_BATCHES. The walk waits while n_made - n_used is N_BATCHES - 1: the batch that it fills is none of those
 * that SQLite may read. Texts that outlive a batch are the model's; all others SQLite copies.
 * SPDX-License-Identifier: MIT */
#include "sql/pump.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/clock.h"

enum {
    N_BATCHES = 3,
    BATCH_ROWS = 2048,
    BATCH_TEXTS = 4 << 20, /* bytes of texts after which a batch is full */
    MAX_TEXT = 1 << 20,
};

struct strobe_sql_pump {
    struct strobe_sql *sql;               /* borrowed */
    const struct strobe_sql_table *table; /* borrowed */
    struct strobe_sql_ask ask;            /* its name is owned */
    unsigned n_columns;
    uint8_t wanted
        [STROBE_SQL_MAX_COLUMNS]; /* columns that are read; others keep what a row before left there */
    unsigned n_wanted;
    pthread_t thread;
    unsigned file;              /* that is walked */
    struct strobe_trace *trace; /* owned by the thread: of that file */
    void *state;                /* borrowed: the table's */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t moved;
    struct strobe_sql_batch batches[N_BATCHES];
    uint64_t n_made, n_used;
    uint8_t has_read; /* SQLite reads batch n_used */
    uint8_t done;
    atomic_int stop;
    enum strobe_err err;
};

const struct strobe_sql_ask *strobe_sql_pump_ask(const struct strobe_sql_pump *pump)
{
    return &pump->ask;
}

const struct strobe_sql_table *strobe_sql_pump_table(const struct strobe_sql_pump *pump)
{
    return pump->table;
}

struct strobe_trace *strobe_sql_pump_trace(struct strobe_sql_pump *pump)
{
    return pump->trace;
}

const struct strobe_trace *strobe_sql_pump_model(const struct strobe_sql_pump *pump)
{
    return pump->sql->files[pump->file].trace;
}

void **strobe_sql_pump_state(struct strobe_sql_pump *pump)
{
    return &pump->state;
}

/* The batch that the walk fills; nobody else looks at it. */
static struct strobe_sql_batch *filling(struct strobe_sql_pump *pump)
{
    return &pump->batches[pump->n_made % N_BATCHES];
}

/* Hand the batch over and wait for an empty one. 0: the walk must end. */
static int hand_over(struct strobe_sql_pump *pump)
{
    pthread_mutex_lock(&pump->lock);
    pump->n_made++;
    pthread_cond_broadcast(&pump->moved);
    while (!pump->stop && pump->n_made - pump->n_used >= N_BATCHES - 1)
        pthread_cond_wait(&pump->moved, &pump->lock);
    STROBE_ASSERT(pump->stop || pump->n_made - pump->n_used < N_BATCHES);
    int go_on = !pump->stop;
    pthread_mutex_unlock(&pump->lock);
    if (go_on)
        filling(pump)->n_rows = filling(pump)->n_texts = 0;
    return go_on;
}

struct strobe_sql_cell *strobe_sql_pump_row(struct strobe_sql_pump *pump)
{
    struct strobe_sql_batch *batch = filling(pump);
    if (batch->n_rows == BATCH_ROWS || batch->n_texts >= BATCH_TEXTS) {
        if (!hand_over(pump))
            return NULL;
        batch = filling(pump);
    }
    STROBE_ASSERT(batch->n_rows < BATCH_ROWS);
    struct strobe_sql_cell *row = &batch->cells[(size_t)batch->n_rows++ * pump->n_columns];
    for (unsigned i = 0; i < pump->n_wanted; i++)
        row[pump->wanted[i]].type = STROBE_SQL_NULL;
    strobe_sql_put_i(&row[0], pump->file);
    return row;
}

void strobe_sql_pump_unrow(struct strobe_sql_pump *pump)
{
    STROBE_ASSERT(filling(pump)->n_rows);
    filling(pump)->n_rows--;
}

void strobe_sql_pump_text(struct strobe_sql_pump *pump, struct strobe_sql_cell *cell,
                          const char *text, uint64_t n)
{
    struct strobe_sql_batch *batch = filling(pump);
    n = n < MAX_TEXT ? n : MAX_TEXT;
    if (STROBE_ARRAY_RESERVE(batch->texts, batch->texts_room, batch->n_texts + n))
        return;
    if (n)
        memcpy(batch->texts + batch->n_texts, text, (size_t)n);
    cell->at = batch->n_texts;
    cell->n = (uint32_t)n;
    cell->type = STROBE_SQL_TEXT;
    batch->n_texts += n;
}

void strobe_sql_pump_name(struct strobe_sql_pump *pump, struct strobe_sql_cell *cell,
                          const char *text, uint32_t n, const char *room)
{
    if (text == room)
        strobe_sql_pump_text(pump, cell, text, n);
    else
        strobe_sql_put_kept(cell, text, n);
}

int strobe_sql_pump_must_end(void *pump)
{
    return atomic_load(&((struct strobe_sql_pump *)pump)->stop);
}

int strobe_sql_pump_may_keep(const struct strobe_sql_pump *pump, uint64_t n_bytes)
{
    uint64_t most = pump->sql->limits.heap_bytes;
    return !most || n_bytes <= most;
}

enum strobe_err strobe_sql_pump_walk(struct strobe_sql_pump *pump, struct strobe_walk *walk)
{
    walk->trace = pump->trace;
    walk->context = pump;
    walk->is_over = strobe_sql_pump_must_end;
    if (pump->ask.ts_min != INT64_MIN || pump->ask.ts_max != INT64_MAX) {
        const struct strobe_clock *clock = &pump->trace->clock;
        walk->by_tick = 1;
        walk->tick_min =
            pump->ask.ts_min == INT64_MIN ? 0 : strobe_clock_tick_of(clock, pump->ask.ts_min);
        walk->tick_max = pump->ask.ts_max == INT64_MAX
                             ? UINT64_MAX
                             : strobe_clock_tick_of(clock, pump->ask.ts_max + 1);
    }
    enum strobe_err err = strobe_walk_run(walk);
    strobe_sql_note_damage(&pump->sql->files[pump->file], pump->trace, walk->n_bad_parts);
    return err;
}

static enum strobe_err walk_files(struct strobe_sql_pump *pump)
{
    enum strobe_err err = STROBE_OK;
    for (pump->file = 0; !err && pump->file < pump->sql->n_files; pump->file++) {
        if (pump->ask.trace >= 0 && pump->file != pump->ask.trace)
            continue;
        err = strobe_trace_open(pump->sql->files[pump->file].path, 0, &pump->trace);
        if (!err)
            err = pump->table->walk(pump);
        strobe_trace_close(pump->trace);
        pump->trace = NULL;
    }
    return err;
}

static void *run(void *context)
{
    struct strobe_sql_pump *pump = context;
    enum strobe_err err = walk_files(pump);
    pthread_mutex_lock(&pump->lock);
    if (filling(pump)->n_rows && !pump->stop)
        pump->n_made++; /* room is left: hand_over waited for it */
    pump->err = err;
    pump->done = 1;
    pthread_cond_broadcast(&pump->moved);
    pthread_mutex_unlock(&pump->lock);
    return NULL;
}

/* The thread takes no signals: they are the command's. */
static int start_thread(struct strobe_sql_pump *pump)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&pump->thread, NULL, run, pump);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return !failed;
}

static void free_pump(struct strobe_sql_pump *pump)
{
    for (int i = 0; i < N_BATCHES; i++) {
        free(pump->batches[i].cells);
        free(pump->batches[i].texts);
    }
    pthread_cond_destroy(&pump->moved);
    pthread_mutex_destroy(&pump->lock);
    free(pump->ask.name);
    free(pump);
}

struct strobe_sql_pump *strobe_sql_pump_start(struct strobe_sql *sql,
                                              const struct strobe_sql_table *table,
                                              unsigned n_columns, struct strobe_sql_ask *ask)
{
    struct strobe_sql_pump *pump = calloc(1, sizeof *pump);
    if (!pump) {
        free(ask->name);
        return NULL;
    }
    *pump =
        (struct strobe_sql_pump){.sql = sql, .table = table, .ask = *ask, .n_columns = n_columns};
    for (unsigned i = 0; i < n_columns; i++)
        if (strobe_sql_wants(ask, (int)i))
            pump->wanted[pump->n_wanted++] = (uint8_t)i;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&pump->lock, NULL);
    pthread_cond_init(&pump->moved, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int has_room = 1;
    for (int i = 0; i < N_BATCHES; i++)
        has_room &= (pump->batches[i].cells = calloc((size_t)BATCH_ROWS * n_columns,
                                                     sizeof *pump->batches[i].cells)) != NULL;
    if (has_room && start_thread(pump))
        return pump;
    free_pump(pump);
    return NULL;
}

/* Wait for the walk, but look up now and then: a signal handler may have ended the run. */
static void wait_a_little(struct strobe_sql_pump *pump)
{
    enum { LOOK_NS = 20 * 1000 * 1000 };
    uint64_t until = strobe_clock_mono_ns() + LOOK_NS;
    struct timespec at = strobe_clock_timespec(until);
    pthread_cond_timedwait(&pump->moved, &pump->lock, &at);
}

enum strobe_err strobe_sql_pump_next(struct strobe_sql_pump *pump,
                                     const struct strobe_sql_batch **out)
{
    enum strobe_err err = STROBE_OK;
    pthread_mutex_lock(&pump->lock);
    if (pump->has_read) {
        pump->n_used++;
        pump->has_read = 0;
        pthread_cond_broadcast(&pump->moved);
    }
    while (!err && pump->n_made == pump->n_used) {
        if (pump->done)
            err = pump->err ? pump->err : STROBE_ERR_END;
        else if (strobe_sql_is_over(pump->sql))
            err = STROBE_ERR_LIMIT;
        else
            wait_a_little(pump);
    }
    if (!err) {
        *out = &pump->batches[pump->n_used % N_BATCHES];
        pump->has_read = 1;
    }
    pthread_mutex_unlock(&pump->lock);
    return err;
}

void strobe_sql_pump_stop(struct strobe_sql_pump *pump)
{
    if (!pump)
        return;
    pthread_mutex_lock(&pump->lock);
    pump->stop = 1;
    pthread_cond_broadcast(&pump->moved);
    pthread_mutex_unlock(&pump->lock);
    pthread_join(pump->thread, NULL);
    free_pump(pump);
}
