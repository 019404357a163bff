/* columns.c - a reader of columns: rows from one of three sources, those that were not asked for left out, the rest put into
 * columns until a batch is full. All sources give rows as strobe_sql_batch, 2,048 at the most.  SPDX-License-Identifier: MIT */
#include "sql/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/clock.h"
#include "sql/columns_build.h"
#include "sql/columns_source.h"
#include "sql/columns_zones.h"

enum {
    DEFAULT_ROWS = 1 << 16,
    MAX_ROWS = 1 << 20,
    MAX_BYTES = 16 << 20, /* of the texts of a column, after which a batch is full */
};

struct out_column {
    char *name;      /* owned */
    unsigned source; /* index among the columns of the source */
    struct strobe_column_build build;
};

struct strobe_columns {
    struct strobe_sql *sql; /* borrowed */
    struct strobe_columns_source source;
    struct strobe_columns_zones *zones; /* owned: of the table zone; NULL: rows are cells */
    struct strobe_column_batch *spare;  /* owned: a batch that was returned; NULL: none */
    struct out_column *columns;         /* owned: n_columns */
    unsigned n_columns;
    uint32_t max_rows, n_rows; /* of the batch in work */
    uint8_t at_end;
    /* Filters: a column of the source each, 0: none. */
    struct strobe_sql_keys keys;
    int64_t start_ns, end_ns, track, process;
    char *name; /* owned; NULL: all */
    size_t n_name;
    uint32_t chosen[STROBE_COLUMNS_ROWS];
};

enum strobe_column_type strobe_columns_type_of(const char *words, size_t n)
{
    static const struct {
        const char *words;
        enum strobe_column_type type;
    } known[] = {{"INT", STROBE_COLUMN_INT},   {"INT4", STROBE_COLUMN_INT4},
                 {"REAL", STROBE_COLUMN_REAL}, {"ENUM TEXT", STROBE_COLUMN_ENUM},
                 {"TEXT", STROBE_COLUMN_TEXT}, {"INT HIDDEN", STROBE_COLUMN_INT}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].words) == n && !memcmp(words, known[i].words, n))
            return known[i].type;
    STROBE_ASSERT(!"a column of a table has one of the types above");
    return STROBE_COLUMN_TEXT;
}

/* Words for strobe_sql_error. */
static enum strobe_err refuse(struct strobe_sql *sql, const char *format, const char *first,
                              const char *second)
{
    snprintf(sql->error, sizeof sql->error, format, first, second);
    return STROBE_ERR_INVALID;
}

/* One more column of the result. */
static enum strobe_err add_column(struct strobe_columns *reader, const char *name, size_t n_name,
                                  unsigned source, enum strobe_column_type type)
{
    struct out_column *columns =
        realloc(reader->columns, (reader->n_columns + 1) * sizeof *columns);
    if (!columns)
        return STROBE_ERR_NOMEM;
    reader->columns = columns;
    struct out_column *column = &columns[reader->n_columns++];
    memset(column, 0, sizeof *column);
    column->source = source;
    column->name = strndup(name, n_name);
    if (!column->name)
        return STROBE_ERR_NOMEM;
    return strobe_column_build_start(&column->build, type, reader->max_rows);
}

const char *strobe_columns_step(const char *at, struct strobe_columns_words *out)
{
    out->name = at;
    out->n_name = strcspn(at, " ");
    const char *type = at + out->n_name + 1;
    size_t n = strcspn(type, ",");
    out->type = strobe_columns_type_of(type, n);
    out->is_hidden = n > 7 && !memcmp(type + n - 7, " HIDDEN", 7);
    return type[n] ? type + n + 2 : NULL; /* ", " */
}

static enum strobe_err add_named(struct strobe_columns *reader,
                                 const struct strobe_sql_table *table, const char *name)
{
    struct strobe_columns_words words;
    unsigned i = 0;
    for (const char *at = table->columns; at; i++) {
        at = strobe_columns_step(at, &words);
        if (!words.is_hidden && strlen(name) == words.n_name &&
            !memcmp(name, words.name, words.n_name))
            return add_column(reader, name, words.n_name, i, words.type);
    }
    return refuse(reader->sql, "the table %s has no column %s", table->name, name);
}

static enum strobe_err add_all(struct strobe_columns *reader, const struct strobe_sql_table *table)
{
    struct strobe_columns_words words;
    enum strobe_err err = STROBE_OK;
    unsigned i = 0;
    for (const char *at = table->columns; !err && at; i++) {
        at = strobe_columns_step(at, &words);
        if (!words.is_hidden)
            err = add_column(reader, words.name, words.n_name, i, words.type);
    }
    return err;
}

/* Where the table has a column of that name: 0 without. */
static uint8_t find_key(const struct strobe_sql_table *table, const char *name)
{
    struct strobe_columns_words words;
    uint8_t i = 0;
    for (const char *at = table->columns; at; i++) {
        at = strobe_columns_step(at, &words);
        if (strlen(name) == words.n_name && !memcmp(name, words.name, words.n_name))
            return i;
    }
    return 0;
}

/* The filters, each a column of the table. */
static enum strobe_err set_filters(struct strobe_columns *reader,
                                   const struct strobe_sql_table *table,
                                   const struct strobe_columns_ask *ask)
{
    const struct {
        int is_set;
        const char *column;
        uint8_t *key;
    } filters[] = {{ask->start_ns != INT64_MIN || ask->end_ns != INT64_MAX, "ts", &reader->keys.ts},
                   {ask->track >= 0, "track_id", &reader->keys.track},
                   {ask->process >= 0, "process_id", &reader->keys.process},
                   {ask->name != NULL, "name", &reader->keys.name}};
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
        if (filters[i].is_set && !(*filters[i].key = find_key(table, filters[i].column)))
            return refuse(reader->sql, "the table %s has no column %s to choose rows by",
                          table->name, filters[i].column);
    reader->start_ns = ask->start_ns;
    reader->end_ns = ask->end_ns;
    reader->track = ask->track;
    reader->process = ask->process;
    if (!ask->name)
        return STROBE_OK;
    reader->name = strdup(ask->name);
    reader->n_name = strlen(ask->name);
    return reader->name ? STROBE_OK : STROBE_ERR_NOMEM;
}

/* What the source must give: the wanted columns, and those that filters look at. */
static uint64_t wanted_columns(const struct strobe_columns *reader)
{
    uint64_t wanted = 1ull << reader->keys.ts | 1ull << reader->keys.track |
                      1ull << reader->keys.process | 1ull << reader->keys.name;
    for (unsigned i = 0; i < reader->n_columns; i++)
        wanted |= 1ull << reader->columns[i].source;
    return wanted;
}

/* Zones go into columns without cells, where no column is asked for twice. */
static enum strobe_err ask_for_zones(struct strobe_columns *reader, struct strobe_sql_ask *wants)
{
    uint8_t columns[STROBE_SQL_ZONE_N_COLUMNS];
    uint64_t seen = 0;
    for (unsigned i = 0; i < reader->n_columns; i++) {
        if (seen >> reader->columns[i].source & 1)
            return STROBE_OK;
        seen |= 1ull << reader->columns[i].source;
        columns[i] = (uint8_t)reader->columns[i].source;
    }
    reader->zones = strobe_columns_zones_new(columns, reader->n_columns, reader->max_rows,
                                             reader->start_ns, reader->end_ns);
    if (!reader->zones)
        return STROBE_ERR_NOMEM;
    strobe_columns_zones_ask(reader->zones, wants);
    return STROBE_OK;
}

static enum strobe_err open_table(struct strobe_columns *reader,
                                  const struct strobe_columns_ask *ask)
{
    const struct strobe_sql_table *table = strobe_sql_find_table(ask->table);
    if (!table)
        return refuse(reader->sql, "there is no table %s%s", ask->table, "");
    enum strobe_err err = ask->columns ? STROBE_OK : add_all(reader, table);
    for (unsigned i = 0; !err && ask->columns && i < ask->n_columns; i++)
        err = add_named(reader, table, ask->columns[i]);
    if (!err)
        err = set_filters(reader, table, ask);
    if (err)
        return err;
    struct strobe_sql_ask wants = {.wanted = wanted_columns(reader),
                                   .ts_min = INT64_MIN,
                                   .dur_min = INT64_MIN,
                                   .dur_max = INT64_MAX,
                                   .ts_max = INT64_MAX,
                                   .track = table->keys.track ? reader->track : -1,
                                   .process = table->keys.process ? reader->process : -1,
                                   .trace = -1};
    if (reader->keys.ts && !strobe_sql_needs_all(table, wants.wanted)) {
        wants.ts_min = ask->start_ns;
        wants.ts_max = ask->end_ns; /* one more than needed: rows are looked at again */
    }
    if (reader->name && table->keys.name) {
        wants.name = strdup(reader->name);
        wants.n_name = (uint32_t)reader->n_name;
        if (!wants.name)
            return STROBE_ERR_NOMEM;
    }
    if (!strcmp(table->name, "zone") && (err = ask_for_zones(reader, &wants))) {
        free(wants.name);
        return err;
    }
    return strobe_columns_source_table(&reader->source, reader->sql, table, &wants);
}

/* A reader without columns. */
static struct strobe_columns *make_reader(struct strobe_sql *sql, uint32_t max_rows)
{
    struct strobe_columns *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->sql = sql;
    reader->max_rows = max_rows ? max_rows : DEFAULT_ROWS;
    if (reader->max_rows < STROBE_COLUMNS_ROWS)
        reader->max_rows = STROBE_COLUMNS_ROWS;
    if (reader->max_rows > MAX_ROWS)
        reader->max_rows = MAX_ROWS;
    strobe_sql_begin(sql);
    return reader;
}

static enum strobe_err hand_out(struct strobe_columns *reader, enum strobe_err err,
                                struct strobe_columns **out)
{
    *out = err ? NULL : reader;
    if (err)
        strobe_columns_close(reader);
    return err;
}

enum strobe_err strobe_columns_open(struct strobe_sql *sql, const struct strobe_columns_ask *ask,
                                    struct strobe_columns **out)
{
    struct strobe_columns *reader = make_reader(sql, ask->max_rows);
    *out = NULL;
    return reader ? hand_out(reader, open_table(reader, ask), out) : STROBE_ERR_NOMEM;
}

enum strobe_err strobe_columns_query(struct strobe_sql *sql, const char *text, uint32_t max_rows,
                                     struct strobe_columns **out)
{
    struct strobe_columns *reader = make_reader(sql, max_rows);
    *out = NULL;
    if (!reader)
        return STROBE_ERR_NOMEM;
    enum strobe_err err = strobe_columns_source_query(&reader->source, sql, text);
    for (unsigned i = 0; !err && i < reader->source.n_columns; i++) {
        enum strobe_column_type type;
        const char *name = strobe_columns_source_column(&reader->source, i, &type);
        err = add_column(reader, name, strlen(name), i, type);
    }
    return hand_out(reader, err, out);
}

void strobe_columns_close(struct strobe_columns *reader)
{
    if (!reader)
        return;
    strobe_columns_source_close(&reader->source);
    strobe_columns_zones_free(reader->zones);
    strobe_column_batch_free(reader->spare);
    for (unsigned i = 0; i < reader->n_columns; i++) {
        strobe_column_build_free(&reader->columns[i].build);
        free(reader->columns[i].name);
    }
    free(reader->columns);
    free(reader->name);
    free(reader);
}

unsigned strobe_columns_count(const struct strobe_columns *reader)
{
    return reader->n_columns;
}

const char *strobe_columns_name(const struct strobe_columns *reader, unsigned column,
                                enum strobe_column_type *type)
{
    STROBE_ASSERT(column < reader->n_columns);
    *type = reader->columns[column].build.column.type;
    return reader->columns[column].name;
}

static int has_id(const struct strobe_sql_cell *cell, int64_t id)
{
    return cell->type == STROBE_SQL_INT && cell->i == id;
}

/* 1: the row passes the filters. */
static int passes(const struct strobe_columns *reader, const struct strobe_sql_cell *row,
                  const char *texts)
{
    const struct strobe_sql_keys *keys = &reader->keys;
    if (keys->ts && (row[keys->ts].type != STROBE_SQL_INT || row[keys->ts].i < reader->start_ns ||
                     row[keys->ts].i >= reader->end_ns))
        return 0;
    if ((keys->track && !has_id(&row[keys->track], reader->track)) ||
        (keys->process && !has_id(&row[keys->process], reader->process)))
        return 0;
    if (!keys->name)
        return 1;
    const struct strobe_sql_cell *name = &row[keys->name];
    if ((name->type != STROBE_SQL_TEXT && name->type != STROBE_SQL_KEPT) ||
        name->n != reader->n_name)
        return 0;
    return !memcmp(name->type == STROBE_SQL_TEXT ? texts + name->at : name->kept, reader->name,
                   name->n);
}

static enum strobe_err put_rows(struct strobe_columns *reader, const struct strobe_sql_batch *rows)
{
    const unsigned stride = reader->source.n_columns;
    const char *texts = rows->texts ? rows->texts : "";
    int has_filter =
        reader->keys.ts || reader->keys.track || reader->keys.process || reader->keys.name;
    uint32_t n = 0;
    for (uint32_t i = 0; i < rows->n_rows; i++)
        if (!has_filter || passes(reader, &rows->cells[(size_t)i * stride], texts))
            reader->chosen[n++] = i;
    for (unsigned i = 0; i < reader->n_columns; i++) {
        struct out_column *column = &reader->columns[i];
        enum strobe_err err =
            strobe_column_build_put(&column->build, rows->cells + column->source, stride, texts,
                                    reader->chosen, n, reader->n_rows);
        if (err == STROBE_ERR_INVALID)
            refuse(reader->sql,
                   "the column %s begins as one type and goes on as another: CAST it%s",
                   column->name, "");
        if (err)
            return err;
    }
    reader->n_rows += n;
    return STROBE_OK;
}

static int is_full(const struct strobe_columns *reader)
{
    if (reader->n_rows + STROBE_COLUMNS_ROWS > reader->max_rows)
        return 1;
    for (unsigned i = 0; i < reader->n_columns; i++)
        if (strobe_column_build_bytes(&reader->columns[i].build) > MAX_BYTES)
            return 1;
    return 0;
}

static enum strobe_err make_batch(struct strobe_columns *reader, struct strobe_column_batch **out)
{
    struct strobe_column_batch *batch = calloc(1, sizeof *batch);
    enum strobe_err err = STROBE_ERR_NOMEM;
    if (batch && (batch->columns = calloc(reader->n_columns + 1, sizeof *batch->columns)))
        err = STROBE_OK;
    for (unsigned i = 0; !err && i < reader->n_columns; i++) {
        batch->n_columns = i + 1;
        err =
            strobe_column_build_end(&reader->columns[i].build, reader->n_rows, &batch->columns[i]);
    }
    if (err) {
        strobe_column_batch_free(batch);
        return err;
    }
    batch->n_rows = reader->n_rows;
    reader->n_rows = 0;
    *out = batch;
    return STROBE_OK;
}

/* The next batch that was made as one. */
static enum strobe_err move_batch(struct strobe_columns *reader, struct strobe_column_batch **out)
{
    const struct strobe_sql_batch *rows;
    enum strobe_err err = strobe_columns_source_next(&reader->source, &rows);
    if (err)
        return err;
    struct strobe_column_batch *batch = reader->spare ? reader->spare : calloc(1, sizeof *batch);
    if (!batch)
        return STROBE_ERR_NOMEM;
    const struct strobe_column_batch made = *rows->columns;
    *rows->columns = *batch; /* room for a later one, or nothing */
    rows->columns->n_rows = 0;
    *batch = made;
    reader->spare = NULL;
    *out = batch;
    return STROBE_OK;
}

void strobe_columns_return(struct strobe_columns *reader, struct strobe_column_batch *batch)
{
    if (batch && reader->zones && !reader->spare)
        reader->spare = batch;
    else
        strobe_column_batch_free(batch);
}

enum strobe_err strobe_columns_next(struct strobe_columns *reader, struct strobe_column_batch **out)
{
    enum strobe_err err = STROBE_OK;
    *out = NULL;
    if (reader->zones)
        return move_batch(reader, out);
    while (!err && !reader->at_end && !is_full(reader)) {
        const struct strobe_sql_batch *rows;
        err = strobe_columns_source_next(&reader->source, &rows);
        if (!err)
            err = put_rows(reader, rows);
        reader->at_end = err == STROBE_ERR_END;
        err = reader->at_end ? STROBE_OK : err;
    }
    if (err)
        return err;
    return reader->n_rows ? make_batch(reader, out) : STROBE_ERR_END;
}
