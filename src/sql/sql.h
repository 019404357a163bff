/* sql.h - traces as tables of a SQL database that can only be read: SQLite over the blocks of the files.
 *
 * Every answer is bounded: in time, in SQLite's memory, in the length of texts. Nothing is written, no file but the traces
 * is opened, no extension is loaded. Tables and their columns: docs/query.md.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SQL_SQL_H
#define STROBE_SQL_SQL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct strobe_sql;
struct strobe_trace;

struct strobe_sql_limits {
    int no_shortcut;     /* every statement goes to SQLite as it is; 0: see rewrite.h */
    uint64_t timeout_ms; /* of one strobe_sql_run; 0: none */
    uint64_t heap_bytes; /* of SQLite, in this whole process; 0: none */
    /* borrowed: not 0 ends every run, also one that has not begun; set by any thread. NULL: none */
    const atomic_int *stop;
};

/* Open the traces: they are numbered from 0 in the column trace_id. *failed: which of the paths could not be opened, where
 * one could not. One thread per connection; close after a failure too (NULL then). */
enum strobe_err strobe_sql_open(const char *const *paths, unsigned n_paths,
                                const struct strobe_sql_limits *limits, unsigned *failed,
                                struct strobe_sql **out);
void strobe_sql_close(struct strobe_sql *sql); /* NULL is allowed */

enum strobe_sql_type {
    STROBE_SQL_NULL = 0,
    STROBE_SQL_INT = 1,
    STROBE_SQL_REAL = 2,
    STROBE_SQL_TEXT = 3, /* in a cell: at an offset of its batch's texts */
    STROBE_SQL_KEPT = 4, /* a text that lives as long as the connection; in results: TEXT */
};

struct strobe_sql_value {
    enum strobe_sql_type type;
    int64_t i;
    double d;
    const char *text; /* TEXT: n bytes, until the next row */
    size_t n;
};

/* Who gets the results. An error ends the run and is its result. */
struct strobe_sql_sink {
    void *context;
    enum strobe_err (*head)(void *context, const char *const *names, unsigned n_columns);
    enum strobe_err (*row)(void *context, const struct strobe_sql_value *values,
                           unsigned n_columns);
    enum strobe_err (*end)(void *context, uint64_t n_rows);
};

/* Run the statements of a text, one after the other: head, rows, end of each. INVALID: SQLite refuses it; LIMIT: over the
 * time or the memory; of both, and of what went wrong with a trace, strobe_sql_error has the words. */
enum strobe_err strobe_sql_run(struct strobe_sql *sql, const char *text,
                               const struct strobe_sql_sink *sink);
const char *strobe_sql_error(const struct strobe_sql *sql);
/* Where in the text of the last run SQLite saw its error: bytes from the start; -1: at no place, or it does not say (before 3.38). */
int64_t strobe_sql_error_at(const struct strobe_sql *sql);

/* 1: the last statement was answered by zone_sum in place of zone. */
int strobe_sql_was_rewritten(const struct strobe_sql *sql);

/* Ends a run from another thread or a signal handler: LIMIT. */
void strobe_sql_stop(struct strobe_sql *sql);

/* The traces, for what stands below an answer. NULL: there are no more. */
const struct strobe_trace *strobe_sql_trace(const struct strobe_sql *sql, unsigned i);

/* The same, its events counted anew where some could not be read: for its coverage. One thread at a time. */
const struct strobe_trace *strobe_sql_counted(struct strobe_sql *sql, unsigned i);

/* What of a trace the tables could not read so far: holes of the file, runs of events that are damaged. */
struct strobe_sql_damage {
    uint64_t n_holes, hole_bytes, n_bad_parts;
};
struct strobe_sql_damage strobe_sql_damage(const struct strobe_sql *sql, unsigned i);
/* Count what another connection to the same traces met. Any thread. */
void strobe_sql_add_damage(struct strobe_sql *sql, const struct strobe_sql *other);

/* The tables: name, the text that makes its columns, one line of help. NULL: there are no more. */
const char *strobe_sql_table(unsigned i, const char **columns, const char **help);

#endif
