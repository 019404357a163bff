/* handover.h - how batches get from a walk to SQLite. There are two ways, and a program has one of them: handover.c, where the walk
 * runs in a thread of its own, and that of the page's module, which has no threads (src/wasm_ask/handover.c). For pump.c alone.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SQL_HANDOVER_H
#define STROBE_SQL_HANDOVER_H

#include "sql/pump.h"

struct strobe_sql_pump {
    struct strobe_sql *sql;               /* borrowed */
    const struct strobe_sql_table *table; /* borrowed */
    struct strobe_sql_ask ask;            /* its name is owned */
    unsigned n_columns;
    uint8_t wanted
        [STROBE_SQL_MAX_COLUMNS]; /* columns that are read; others keep what a row before left there */
    unsigned n_wanted;
    unsigned file;                    /* that is walked */
    struct strobe_trace *trace;       /* owned by the walk: of that file */
    void *state;                      /* borrowed: the table's */
    struct strobe_sql_batch *filling; /* borrowed: the walk's, nobody else looks at it */
    void *handover;                   /* owned: what the way of handing over keeps */
};

/* Start the walk (strobe_sql_pump_walk_files), with a batch to fill. 0: no memory, or no thread; nothing is left then. */
int strobe_sql_handover_start(struct strobe_sql_pump *pump);
/* pump->filling is full: hand it over and give another. 0: the walk must end. */
int strobe_sql_handover_put(struct strobe_sql_pump *pump);
/* 1: the walk must end. */
int strobe_sql_handover_must_end(struct strobe_sql_pump *pump);
/* As of strobe_sql_pump_next. */
enum strobe_err strobe_sql_handover_next(struct strobe_sql_pump *pump,
                                         const struct strobe_sql_batch **out);
/* End the walk, free the batches. */
void strobe_sql_handover_stop(struct strobe_sql_pump *pump);

/* pump.c: */
enum strobe_err strobe_sql_pump_walk_files(struct strobe_sql_pump *pump);
int strobe_sql_batch_make(struct strobe_sql_batch *batch, unsigned n_columns); /* 0: no memory */
void strobe_sql_batch_free(struct strobe_sql_batch *batch);

#endif
