/* columns_source.c - see columns_source.h.  SPDX-License-Identifier: MIT */
#include "sql/columns_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

enum { MAX_TEXTS = 4 << 20 }; /* bytes of texts after which a batch of cells is full */

/* A copy of a text in the source's own rows. */
static enum strobe_err keep_text(struct strobe_sql_batch *rows, struct strobe_sql_cell *cell,
                                 const char *text, size_t n)
{
    if (STROBE_ARRAY_RESERVE(rows->texts, rows->texts_room, rows->n_texts + n + 1))
        return STROBE_ERR_NOMEM;
    if (n)
        memcpy(rows->texts + rows->n_texts, text, n);
    cell->at = rows->n_texts;
    cell->n = (uint32_t)n;
    cell->type = STROBE_SQL_TEXT;
    rows->n_texts += n;
    return STROBE_OK;
}

static enum strobe_err make_rows(struct strobe_columns_source *source)
{
    source->rows.cells =
        malloc((size_t)STROBE_COLUMNS_ROWS * source->n_columns * sizeof *source->rows.cells);
    return source->rows.cells ? STROBE_OK : STROBE_ERR_NOMEM;
}

/* The next free row, all NULL. */
static struct strobe_sql_cell *new_row(struct strobe_columns_source *source)
{
    STROBE_ASSERT(source->rows.n_rows < STROBE_COLUMNS_ROWS);
    struct strobe_sql_cell *row =
        &source->rows.cells[(size_t)source->rows.n_rows++ * source->n_columns];
    memset(row, 0, source->n_columns * sizeof *row);
    return row;
}

static int is_full(const struct strobe_columns_source *source)
{
    return source->rows.n_rows == STROBE_COLUMNS_ROWS || source->rows.n_texts >= MAX_TEXTS;
}

enum strobe_err strobe_columns_source_table(struct strobe_columns_source *source,
                                            struct strobe_sql *sql,
                                            const struct strobe_sql_table *table,
                                            struct strobe_sql_ask *ask)
{
    source->sql = sql;
    source->table = table;
    source->n_columns = strobe_sql_count_columns(table);
    if (!table->walk) {
        source->wanted = ask->wanted;
        free(ask->name);
        return make_rows(source);
    }
    source->pump = strobe_sql_pump_start(sql, table, source->n_columns, ask);
    return source->pump ? STROBE_OK : STROBE_ERR_NOMEM;
}

static enum strobe_err put_fact(struct strobe_columns_source *source,
                                const struct strobe_sql_file *file)
{
    char room[STROBE_NAME_ROOM];
    struct strobe_sql_cell *row = new_row(source);
    enum strobe_err err = STROBE_OK;
    strobe_sql_put_i(&row[0], source->file);
    for (unsigned i = 1; !err && i < source->n_columns; i++) {
        if (!(source->wanted >> i & 1))
            continue;
        source->table->put(file, source->row, (int)i, &row[i], room);
        if (row[i].type == STROBE_SQL_TEXT)
            err = keep_text(&source->rows, &row[i], row[i].kept, row[i].n);
    }
    return err;
}

static enum strobe_err next_facts(struct strobe_columns_source *source)
{
    enum strobe_err err = STROBE_OK;
    while (!err && source->file < source->sql->n_files && !is_full(source)) {
        struct strobe_sql_file *file = &source->sql->files[source->file];
        err = !source->row && source->table->load ? source->table->load(source->sql, file)
                                                  : STROBE_OK;
        uint64_t n = err ? 0 : source->table->n_rows(file);
        for (; !err && source->row < n && !is_full(source); source->row++)
            if (strobe_sql_has_row(source->table, file, source->row))
                err = put_fact(source, file);
        if (!err && source->row == n) {
            source->file++;
            source->row = 0;
        }
    }
    if (!err && strobe_sql_is_over(source->sql))
        err = STROBE_ERR_LIMIT;
    return err || source->rows.n_rows ? err : STROBE_ERR_END;
}

static enum strobe_err put_answer(struct strobe_columns_source *source)
{
    struct strobe_sql_cell *row = new_row(source);
    enum strobe_err err = STROBE_OK;
    for (unsigned i = 0; !err && i < source->n_columns; i++) {
        struct strobe_sql_value value;
        strobe_sql_read_value(source->statement, (int)i, &value);
        if (value.type == STROBE_SQL_INT)
            strobe_sql_put_i(&row[i], value.i);
        else if (value.type == STROBE_SQL_REAL)
            strobe_sql_put_d(&row[i], value.d);
        else if (value.type == STROBE_SQL_TEXT)
            err = keep_text(&source->rows, &row[i], value.text, value.n);
    }
    return err;
}

static enum strobe_err next_answers(struct strobe_columns_source *source)
{
    enum strobe_err err = STROBE_OK;
    while (!err && !source->at_end && !is_full(source)) {
        int code = strobe_sql_step(source->sql, source->statement);
        if (code == SQLITE_ROW)
            err = put_answer(source);
        else if (code == SQLITE_DONE)
            source->at_end = 1;
        else
            err = strobe_sql_fail(source->sql, code);
    }
    return err || source->rows.n_rows ? err : STROBE_ERR_END;
}

/* SQLITE_MISUSE: there is another statement in the rest of a text. */
static int refuse_more(struct strobe_sql *sql, const char *text)
{
    sqlite3_stmt *more = NULL;
    int code = SQLITE_OK;
    while (!code && !more && *text)
        code = strobe_sql_prepare(sql, &text, &more);
    sqlite3_finalize(more);
    return !code && more ? SQLITE_MISUSE : code;
}

enum strobe_err strobe_columns_source_query(struct strobe_columns_source *source,
                                            struct strobe_sql *sql, const char *text)
{
    source->sql = sql;
    int code = SQLITE_OK;
    while (!code && !source->statement && *text) /* what is no statement is passed over */
        code = strobe_sql_prepare(sql, &text, &source->statement);
    if (!code)
        code = refuse_more(sql, text);
    if (code)
        return strobe_sql_fail(sql, code);
    if (!source->statement || !sqlite3_column_count(source->statement))
        return strobe_sql_fail(sql, SQLITE_AUTH);
    source->n_columns = (unsigned)sqlite3_column_count(source->statement);
    enum strobe_err err = make_rows(source);
    if (!err)
        err = next_answers(source);
    source->has_rows = 1;
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

/* What the first rows say of a column: a text makes all texts, a REAL all numbers REAL. */
static enum strobe_column_type guess(const struct strobe_columns_source *source, unsigned column)
{
    unsigned seen = 0;
    for (uint32_t i = 0; i < source->rows.n_rows; i++)
        seen |= 1u << source->rows.cells[(size_t)i * source->n_columns + column].type;
    return seen & 1u << STROBE_SQL_TEXT   ? STROBE_COLUMN_TEXT
           : seen & 1u << STROBE_SQL_REAL ? STROBE_COLUMN_REAL
           : seen & 1u << STROBE_SQL_INT  ? STROBE_COLUMN_INT
                                          : STROBE_COLUMN_TEXT;
}

const char *strobe_columns_source_column(const struct strobe_columns_source *source,
                                         unsigned column, enum strobe_column_type *type)
{
    const char *words = sqlite3_column_decltype(source->statement, (int)column);
    const char *name = sqlite3_column_name(source->statement, (int)column);
    *type = words && *words ? strobe_columns_type_of(words, strlen(words)) : guess(source, column);
    return name ? name : "";
}

enum strobe_err strobe_columns_source_next(struct strobe_columns_source *source,
                                           const struct strobe_sql_batch **out)
{
    if (source->pump)
        return strobe_sql_pump_next(source->pump, out);
    enum strobe_err err = STROBE_OK;
    if (!source->has_rows) {
        source->rows.n_rows = 0;
        source->rows.n_texts = 0;
        err = source->statement ? next_answers(source) : next_facts(source);
    } else if (!source->rows.n_rows) {
        err = STROBE_ERR_END;
    }
    source->has_rows = 0;
    *out = &source->rows;
    return err;
}

void strobe_columns_source_close(struct strobe_columns_source *source)
{
    strobe_sql_pump_stop(source->pump);
    sqlite3_finalize(source->statement);
    free(source->rows.cells);
    free(source->rows.texts);
}
