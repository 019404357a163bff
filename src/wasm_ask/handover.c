/* handover.c - batches from a walk to SQLite where there is one thread (sql/handover.h): the walk runs to its end before SQLite reads the
 * first row, and its rows wait, packed: the wanted columns and their texts alone. What they may take is bounded by the limit of the connection.
 * SPDX-License-Identifier: MIT */
#include "sql/handover.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

/* A batch as it waits. */
struct packed {
    struct packed *next;           /* owned */
    struct strobe_sql_cell *cells; /* owned: n_rows of n_wanted + 1: the first is trace_id */
    char *texts;                   /* owned */
    uint32_t n_rows;
    uint64_t n_texts;
};

struct waiting {
    struct strobe_sql_batch batch; /* filled, then read */
    struct packed *first, *last;   /* owned: those that wait */
    uint64_t n_bytes;
    enum strobe_err err;
};

int strobe_sql_handover_must_end(struct strobe_sql_pump *pump)
{
    const struct waiting *handover = pump->handover;
    return strobe_sql_is_over(pump->sql) || handover->err;
}

static void free_packed(struct packed *packed)
{
    free(packed->cells);
    free(packed->texts);
    free(packed);
}

/* The column of a packed row's cell. */
static unsigned column_of(const struct strobe_sql_pump *pump, unsigned i)
{
    return i ? pump->wanted[i - 1] : 0;
}

static struct packed *make_packed(const struct strobe_sql_pump *pump)
{
    const struct strobe_sql_batch *batch = pump->filling;
    unsigned n = pump->n_wanted + 1;
    struct packed *packed = calloc(1, sizeof *packed);
    if (!packed)
        return NULL;
    packed->cells = malloc((size_t)batch->n_rows * n * sizeof *packed->cells + 1);
    packed->texts = malloc((size_t)batch->n_texts + 1);
    if (!packed->cells || !packed->texts) {
        free_packed(packed);
        return NULL;
    }
    packed->n_rows = batch->n_rows;
    packed->n_texts = batch->n_texts;
    if (batch->n_texts)
        memcpy(packed->texts, batch->texts, (size_t)batch->n_texts);
    for (size_t row = 0; row < batch->n_rows; row++)
        for (unsigned i = 0; i < n; i++)
            packed->cells[row * n + i] = batch->cells[row * pump->n_columns + column_of(pump, i)];
    return packed;
}

/* Put the batch that was filled to those that wait. */
static void pack(struct strobe_sql_pump *pump)
{
    struct waiting *handover = pump->handover;
    uint64_t n_bytes = pump->filling->n_texts + (uint64_t)pump->filling->n_rows *
                                                    (pump->n_wanted + 1) *
                                                    sizeof(struct strobe_sql_cell);
    struct packed *packed =
        strobe_sql_pump_may_keep(pump, handover->n_bytes + n_bytes) ? make_packed(pump) : NULL;
    if (!packed) {
        handover->err = STROBE_ERR_NOMEM;
        return;
    }
    handover->n_bytes += n_bytes;
    if (handover->last)
        handover->last->next = packed;
    else
        handover->first = packed;
    handover->last = packed;
}

int strobe_sql_handover_put(struct strobe_sql_pump *pump)
{
    pack(pump);
    return !strobe_sql_handover_must_end(pump);
}

int strobe_sql_handover_start(struct strobe_sql_pump *pump)
{
    struct waiting *handover = calloc(1, sizeof *handover);
    if (!handover || !strobe_sql_batch_make(&handover->batch, pump->n_columns)) {
        free(handover);
        return 0;
    }
    pump->handover = handover;
    pump->filling = &handover->batch;
    enum strobe_err err = strobe_sql_pump_walk_files(pump);
    if (!handover->err && !err && handover->batch.n_rows)
        pack(pump);
    if (!handover->err)
        handover->err = err ? err : STROBE_ERR_END;
    return 1;
}

static void unpack(struct strobe_sql_pump *pump, const struct packed *packed)
{
    struct waiting *handover = pump->handover;
    struct strobe_sql_batch *batch = &handover->batch;
    unsigned n = pump->n_wanted + 1;
    STROBE_ASSERT(batch->texts_room >= packed->n_texts);
    if (packed->n_texts)
        memcpy(batch->texts, packed->texts, (size_t)packed->n_texts);
    batch->n_rows = packed->n_rows;
    batch->n_texts = packed->n_texts;
    for (size_t row = 0; row < packed->n_rows; row++)
        for (unsigned i = 0; i < n; i++)
            batch->cells[row * pump->n_columns + column_of(pump, i)] = packed->cells[row * n + i];
}

/* Rows of a walk that failed are of no use: its failure comes first. */
enum strobe_err strobe_sql_handover_next(struct strobe_sql_pump *pump,
                                         const struct strobe_sql_batch **out)
{
    struct waiting *handover = pump->handover;
    struct packed *packed = handover->first;
    if (handover->err != STROBE_ERR_END || !packed)
        return handover->err;
    unpack(pump, packed);
    handover->first = packed->next;
    free_packed(packed);
    *out = &handover->batch;
    return STROBE_OK;
}

void strobe_sql_handover_stop(struct strobe_sql_pump *pump)
{
    struct waiting *handover = pump->handover;
    for (struct packed *packed; (packed = handover->first);) {
        handover->first = packed->next;
        free_packed(packed);
    }
    strobe_sql_batch_free(&handover->batch);
    free(handover);
}

/* SQLite's memory needs no clock here (sql/heap.c): a page that waits no longer ends the whole instance. */
void strobe_sql_guard_heap(void) {}

void strobe_sql_set_heap_deadline(uint64_t deadline_ns)
{
    (void)deadline_ns;
}
