/* columns.h - a table, or the answer to a query, as columns: batches of rows in which each column is an array. What Arrow,
 * Parquet and Python read.
 *
 * The rows are those that SQL has: facts by `put`, events from a pump, answers from SQLite. Only wanted columns are filled.
 * A batch belongs to whoever asked for it and outlives reader and connection; its memory is bounded by its rows and by 16 MiB
 * of texts per column.
 *
 *   INT      int64_t                     INT4     int32_t                  REAL  double
 *   TEXT     offsets of n_rows + 1 into bytes
 *   ENUM     int32_t codes, numbers of texts of the batch's own dictionary, which has the form of a TEXT
 *
 * A row that is NULL has a 0 there, or an empty text.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SQL_COLUMNS_H
#define STROBE_SQL_COLUMNS_H

#include "sql/sql.h"

enum strobe_column_type {
    STROBE_COLUMN_INT = 0,
    STROBE_COLUMN_INT4 = 1,
    STROBE_COLUMN_REAL = 2,
    STROBE_COLUMN_TEXT = 3,
    STROBE_COLUMN_ENUM = 4,
};

/* Texts behind one another: text i is bytes[offsets[i] .. offsets[i + 1]). */
struct strobe_column_texts {
    int32_t *offsets; /* owned: n + 1 */
    char *bytes;      /* owned; NULL where all are empty */
    uint32_t n;
    uint64_t n_bytes, room;
};

/* A column of a batch. */
struct strobe_column {
    enum strobe_column_type type;
    uint32_t n_nulls;
    uint8_t *valid;                   /* owned: a bit per row, the lowest first; 0: NULL */
    void *values;                     /* owned: a number per row; NULL: TEXT */
    struct strobe_column_texts texts; /* TEXT: of the rows; ENUM: the dictionary */
};

struct strobe_column_batch {
    struct strobe_column *columns; /* owned: n_columns */
    unsigned n_columns;
    uint32_t n_rows;
};

void strobe_column_batch_free(struct strobe_column_batch *batch); /* NULL is allowed */
/* Free its columns; it has none then. */
void strobe_column_batch_clear(struct strobe_column_batch *batch);

static inline int strobe_column_is_null(const struct strobe_column *column, uint32_t row)
{
    return !(column->valid[row >> 3] >> (row & 7) & 1);
}

/* The bytes of a value; 0: TEXT. */
static inline size_t strobe_column_width(enum strobe_column_type type)
{
    return type == STROBE_COLUMN_TEXT                                ? 0
           : type == STROBE_COLUMN_INT || type == STROBE_COLUMN_REAL ? 8
                                                                     : 4;
}

/* What is wanted of a table. Zero is all of it, but for the ids, which are -1 then: see STROBE_COLUMNS_ALL. */
struct strobe_columns_ask {
    const char *table;
    const char *const *columns; /* NULL: all */
    unsigned n_columns;
    int64_t start_ns, end_ns; /* rows whose ts is in [start, end) */
    int64_t track, process;   /* ids; -1: all */
    const char *name;         /* NULL: all */
    uint32_t max_rows;        /* of a batch; 0: 65,536 */
};
#define STROBE_COLUMNS_ALL(name)                                                                \
    {                                                                                           \
        .table = (name), .start_ns = INT64_MIN, .end_ns = INT64_MAX, .track = -1, .process = -1 \
    }

/* A column of a table, as strobe_sql_table has it. */
struct strobe_columns_words {
    const char *name; /* borrowed: n_name bytes */
    size_t n_name;
    enum strobe_column_type type;
    int is_hidden; /* an argument, no column that can be read */
};

/* The column that a table's text of columns has at this place, and the place of the next; NULL: it was the last. */
const char *strobe_columns_step(const char *at, struct strobe_columns_words *out);

struct strobe_columns;

/* A reader of a table. `ask` is not needed afterwards, the connection is, and it can do nothing else until the reader is
 * closed. INVALID: there is no such table or column, or the table can't be asked so; strobe_sql_error has the words. */
enum strobe_err strobe_columns_open(struct strobe_sql *sql, const struct strobe_columns_ask *ask,
                                    struct strobe_columns **out);

/* A reader of the answer to one statement; INVALID where the text has more, other failures as in strobe_sql_run. Types of columns that are no table's are
 * those of the first 2,048 rows. */
enum strobe_err strobe_columns_query(struct strobe_sql *sql, const char *text, uint32_t max_rows,
                                     struct strobe_columns **out);

unsigned strobe_columns_count(const struct strobe_columns *reader);
/* Name (until the close) and type of a column. */
const char *strobe_columns_name(const struct strobe_columns *reader, unsigned column,
                                enum strobe_column_type *type);

/* The next rows, the caller's to free. END; INVALID: a value does not fit its column; LIMIT and others as in a run. Any
 * thread, one at a time. */
enum strobe_err strobe_columns_next(struct strobe_columns *reader,
                                    struct strobe_column_batch **out);

/* Give a batch of the reader back, instead of freeing it: its memory may serve the next. NULL is allowed. Thread: that of next. */
void strobe_columns_return(struct strobe_columns *reader, struct strobe_column_batch *batch);

void strobe_columns_close(struct strobe_columns *reader); /* NULL is allowed */

#endif
