/* pump.h - rows of a table of events: a thread walks the traces and fills batches, which the connection's thread reads in
 * order. Three batches at the most are full or in work, so that a table of a billion rows takes as much memory as one of a
 * thousand.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SQL_PUMP_H
#define STROBE_SQL_PUMP_H

#include "sql/table.h"

struct strobe_column_batch;
struct strobe_columns_zones;

/* What a query wants to see of a table. Rows outside of ts_min..ts_max may come all the same, others do not. */
struct strobe_sql_ask {
    uint64_t wanted;          /* columns, bit by bit */
    int64_t ts_min, ts_max;   /* ns */
    int64_t dur_min, dur_max; /* ns, both inclusive: of sums alone */
    int64_t track, process;   /* -1: all */
    int64_t trace;            /* -1: all */
    char *name;               /* owned; NULL: all */
    uint32_t n_name;
    /* Zones go into columns at once, not into cells (columns_zones.h); NULL: they do not. Borrowed: outlives the pump. */
    struct strobe_columns_zones *zones;
    enum strobe_err (*put_zones)(void *pump, const struct strobe_batch *batch);
    enum strobe_err (*end_zones)(void *pump); /* after the last */
};

struct strobe_sql_batch {
    struct strobe_sql_cell *cells; /* owned: n_rows of as many columns as the table has */
    struct strobe_column_batch *
        columns; /* borrowed: with ask.zones, instead of cells; its parts are the reader's to move away */
    uint32_t n_rows;
    char *texts; /* owned */
    uint64_t n_texts, texts_room;
};

/* A running walk. `ask` becomes the pump's, also where it fails: NULL without memory or thread. */
struct strobe_sql_pump *strobe_sql_pump_start(struct strobe_sql *sql,
                                              const struct strobe_sql_table *table,
                                              unsigned n_columns, struct strobe_sql_ask *ask);

/* The next batch, until the next call. END; LIMIT: time is over, or it was stopped; others: the walk failed. */
enum strobe_err strobe_sql_pump_next(struct strobe_sql_pump *pump,
                                     const struct strobe_sql_batch **out);

/* Ends the walk wherever it is. NULL is allowed. */
void strobe_sql_pump_stop(struct strobe_sql_pump *pump);

/* For tables, in the pump's thread: */
const struct strobe_sql_ask *strobe_sql_pump_ask(const struct strobe_sql_pump *pump);
const struct strobe_sql_table *strobe_sql_pump_table(const struct strobe_sql_pump *pump);
/* The number of the file that is walked: trace_id. */
unsigned strobe_sql_pump_file(const struct strobe_sql_pump *pump);
struct strobe_trace *strobe_sql_pump_trace(struct strobe_sql_pump *pump);
/* The connection's trace of the same file: its texts outlive the pump. */
const struct strobe_trace *strobe_sql_pump_model(const struct strobe_sql_pump *pump);

/* What a table keeps during a walk: its own, NULL before. */
void **strobe_sql_pump_state(struct strobe_sql_pump *pump);

/* Walk the trace with what the table set; its sinks get the pump as their context. */
enum strobe_err strobe_sql_pump_walk(struct strobe_sql_pump *pump, struct strobe_walk *walk);

/* 1: the walk must end, with LIMIT. For passes that are no walks. */
int strobe_sql_pump_must_end(void *pump);

/* 1: a table may keep so many bytes while it walks; 0: that is NOMEM. */
int strobe_sql_pump_may_keep(const struct strobe_sql_pump *pump, uint64_t n_bytes);

/* A new row, in which all columns that are wanted are NULL, but for trace_id; NULL: the walk must end, with LIMIT. Taken back by the
 * other. */
struct strobe_sql_cell *strobe_sql_pump_row(struct strobe_sql_pump *pump);
void strobe_sql_pump_unrow(struct strobe_sql_pump *pump);

/* With ask.zones: `columns` is the batch at hand, and full. LIMIT: the walk must end. */
enum strobe_err strobe_sql_pump_columns(struct strobe_sql_pump *pump,
                                        struct strobe_column_batch *columns, uint32_t n_rows);

/* Rows of which no column is wanted. LIMIT: the walk must end. */
enum strobe_err strobe_sql_pump_blanks(struct strobe_sql_pump *pump, uint32_t n);

/* A copy of a text; longer ones than SQLite takes are cut. Without memory it stays NULL. */
void strobe_sql_pump_text(struct strobe_sql_pump *pump, struct strobe_sql_cell *cell,
                          const char *text, uint64_t n);
/* A name: kept where it is one of the model's, else copied. */
void strobe_sql_pump_name(struct strobe_sql_pump *pump, struct strobe_sql_cell *cell,
                          const char *text, uint32_t n, const char *room);

/* 1: SQLite wants the column. */
static inline int strobe_sql_wants(const struct strobe_sql_ask *ask, int column)
{
    return (int)(ask->wanted >> column & 1);
}

#endif
