/* pump.c - a walk and the batch that it fills. Who hands batches to SQLite, and in which thread the walk runs: handover.h.
 * Texts that outlive a batch are the model's; all others SQLite copies.  SPDX-License-Identifier: MIT */
#include "sql/pump.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "sql/handover.h"

enum {
    BATCH_ROWS = 2048,
    BATCH_TEXTS = 4 << 20, /* bytes of texts after which a batch is full */
    MAX_TEXT = 1 << 20,
};

const struct strobe_sql_ask *strobe_sql_pump_ask(const struct strobe_sql_pump *pump)
{
    return &pump->ask;
}

const struct strobe_sql_table *strobe_sql_pump_table(const struct strobe_sql_pump *pump)
{
    return pump->table;
}

unsigned strobe_sql_pump_file(const struct strobe_sql_pump *pump)
{
    return pump->file;
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

/* The batch at hand is full: the next one, empty. 0: the walk must end. */
static int hand_over(struct strobe_sql_pump *pump)
{
    if (!strobe_sql_handover_put(pump))
        return 0;
    pump->filling->n_rows = 0;
    pump->filling->n_texts = 0;
    return 1;
}

struct strobe_sql_cell *strobe_sql_pump_row(struct strobe_sql_pump *pump)
{
    const struct strobe_sql_batch *full = pump->filling;
    if ((full->n_rows == BATCH_ROWS || full->n_texts >= BATCH_TEXTS) && !hand_over(pump))
        return NULL;
    struct strobe_sql_batch *batch = pump->filling;
    STROBE_ASSERT(batch->n_rows < BATCH_ROWS);
    struct strobe_sql_cell *row = &batch->cells[(size_t)batch->n_rows++ * pump->n_columns];
    for (unsigned i = 0; i < pump->n_wanted; i++)
        row[pump->wanted[i]].type = STROBE_SQL_NULL;
    strobe_sql_put_i(&row[0], pump->file);
    return row;
}

enum strobe_err strobe_sql_pump_blanks(struct strobe_sql_pump *pump, uint32_t n)
{
    STROBE_ASSERT(!pump->n_wanted);
    while (n) {
        struct strobe_sql_batch *batch = pump->filling;
        uint32_t n_here = BATCH_ROWS - batch->n_rows < n ? BATCH_ROWS - batch->n_rows : n;
        batch->n_rows += n_here;
        n -= n_here;
        if (n && !hand_over(pump))
            return STROBE_ERR_LIMIT;
    }
    return STROBE_OK;
}

enum strobe_err strobe_sql_pump_columns(struct strobe_sql_pump *pump,
                                        struct strobe_column_batch *columns, uint32_t n_rows)
{
    pump->filling->columns = columns;
    pump->filling->n_rows = n_rows;
    return hand_over(pump) ? STROBE_OK : STROBE_ERR_LIMIT;
}

void strobe_sql_pump_unrow(struct strobe_sql_pump *pump)
{
    STROBE_ASSERT(pump->filling->n_rows);
    pump->filling->n_rows--;
}

void strobe_sql_pump_text(struct strobe_sql_pump *pump, struct strobe_sql_cell *cell,
                          const char *text, uint64_t n)
{
    struct strobe_sql_batch *batch = pump->filling;
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
    return strobe_sql_handover_must_end(pump);
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

enum strobe_err strobe_sql_pump_walk_files(struct strobe_sql_pump *pump)
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
    return !err && pump->ask.end_zones ? pump->ask.end_zones(pump) : err;
}

int strobe_sql_batch_make(struct strobe_sql_batch *batch, unsigned n_columns)
{
    batch->cells = calloc((size_t)BATCH_ROWS * n_columns, sizeof *batch->cells);
    return batch->cells != NULL;
}

void strobe_sql_batch_free(struct strobe_sql_batch *batch)
{
    free(batch->cells);
    free(batch->texts);
}

static void free_pump(struct strobe_sql_pump *pump)
{
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
    if (strobe_sql_handover_start(pump))
        return pump;
    free_pump(pump);
    return NULL;
}

enum strobe_err strobe_sql_pump_next(struct strobe_sql_pump *pump,
                                     const struct strobe_sql_batch **out)
{
    return strobe_sql_handover_next(pump, out);
}

void strobe_sql_pump_stop(struct strobe_sql_pump *pump)
{
    if (!pump)
        return;
    strobe_sql_handover_stop(pump);
    free_pump(pump);
}
