/* columns_source.h - where the rows of columns come from: a table of facts, a table of events, an answer of SQLite.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SQL_COLUMNS_SOURCE_H
#define STROBE_SQL_COLUMNS_SOURCE_H

#include "sql/columns.h"
#include "sql/pump.h"

enum { STROBE_COLUMNS_ROWS = 2048 }; /* of a batch of cells, at the most */

/* All zero before it is opened. */
struct strobe_columns_source {
    struct strobe_sql *sql; /* borrowed */
    const struct strobe_sql_table *table;
    unsigned n_columns;           /* cells of a row */
    struct strobe_sql_pump *pump; /* owned: events */
    sqlite3_stmt *statement;      /* owned: an answer */
    struct strobe_sql_batch rows; /* owned: facts and answers */
    uint8_t has_rows;             /* the first rows of an answer are in `rows` already */
    uint8_t at_end;
    uint64_t wanted; /* facts */
    unsigned file;
    uint64_t row;
};

/* Open a table. `ask` becomes the source's, also where it fails. */
enum strobe_err strobe_columns_source_table(struct strobe_columns_source *source,
                                            struct strobe_sql *sql,
                                            const struct strobe_sql_table *table,
                                            struct strobe_sql_ask *ask);

/* Run one statement up to its first rows. INVALID, LIMIT: as strobe_sql_run. */
enum strobe_err strobe_columns_source_query(struct strobe_columns_source *source,
                                            struct strobe_sql *sql, const char *text);
/* Name (until the close) and type of a column of an answer. */
const char *strobe_columns_source_column(const struct strobe_columns_source *source,
                                         unsigned column, enum strobe_column_type *type);

/* The next rows, until the next call. END. */
enum strobe_err strobe_columns_source_next(struct strobe_columns_source *source,
                                           const struct strobe_sql_batch **out);

void strobe_columns_source_close(struct strobe_columns_source *source);

/* columns.c: the type that the words of CREATE TABLE name. */
enum strobe_column_type strobe_columns_type_of(const char *words, size_t n);

#endif
