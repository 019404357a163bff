/* scan.c - see scan.h. A scan is a connection of its own to the traces, for a statement may read a table twice at a time, and a
 * reader of columns (sql/columns.h), of which DuckDB gets as many rows as fit one of its vectors. Bits of NULLs have the same order
 * here and there. DuckDB calls from threads of its own, a scan from one at a time.  SPDX-License-Identifier: MIT */
#include "duck/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/assert.h"
#include "sql/columns.h"

enum { MAX_COLUMNS = 24, NO_COLUMN = -1 };

/* A table, as the functions of DuckDB get it. */
struct table {
    struct strobe_duck_scans *scans; /* borrowed */
    const char *name, *columns;      /* borrowed: of the table, static */
};

/* A table and what a statement wants of it. */
struct bound {
    const struct table *table; /* borrowed: DuckDB keeps it as long as the function */
    struct strobe_columns_ask ask;
    char *name; /* owned; NULL: all */
};

struct scan {
    struct strobe_duck_scans *scans;   /* borrowed */
    struct strobe_sql *sql;            /* owned */
    struct strobe_columns *reader;     /* owned */
    struct strobe_column_batch *batch; /* owned; NULL: the next one is due */
    uint32_t at;                       /* rows of it that are gone */
    unsigned n_vectors;
    int8_t column_of[MAX_COLUMNS]; /* of each vector: of the batch, or NO_COLUMN */
    uint32_t *seen;                /* owned: of a dictionary's texts, the row that had it last */
    uint32_t seen_room;
};

static const struct strobe_duck_library *library; /* one per process: callbacks need it */

static void free_bound(void *data)
{
    struct bound *bound = data;
    free(bound->name);
    free(bound);
}

static void free_scan(void *data)
{
    struct scan *scan = data;
    strobe_column_batch_free(scan->batch);
    strobe_columns_close(scan->reader);
    if (scan->sql)
        strobe_sql_add_damage(scan->scans->sql, scan->sql);
    strobe_sql_close(scan->sql);
    free(scan->seen);
    free(scan);
}

static int duck_type_of(enum strobe_column_type type)
{
    static const int types[] = {DUCK_BIGINT, DUCK_INTEGER, DUCK_DOUBLE, DUCK_VARCHAR, DUCK_VARCHAR};
    return types[type];
}

/* ---- bind: which columns there are, which rows are wanted ---- */

static const struct {
    const char *name;
    int type;
} parameters[] = {{"after", DUCK_BIGINT},
                  {"before", DUCK_BIGINT},
                  {"track_id", DUCK_BIGINT},
                  {"process_id", DUCK_BIGINT},
                  {"name", DUCK_VARCHAR}};
enum { N_PARAMETERS = sizeof parameters / sizeof parameters[0] };

static void take_parameter(struct bound *bound, int parameter, duck_object value)
{
    int64_t number = parameter < 4 ? library->get_int64(value) : 0;
    char *text = parameter < 4 ? NULL : library->get_varchar(value);
    if (parameter == 0)
        bound->ask.start_ns = number;
    else if (parameter == 1)
        bound->ask.end_ns = number == INT64_MAX ? number : number + 1;
    else if (parameter == 2)
        bound->ask.track = number;
    else if (parameter == 3)
        bound->ask.process = number;
    else
        bound->ask.name = bound->name = strdup(text ? text : "");
    library->free(text);
}

static void on_bind(duck_object info)
{
    const struct table *table = library->bind_get_extra_info(info);
    struct bound *bound = calloc(1, sizeof *bound);
    if (!bound) {
        library->bind_set_error(info, "out of memory");
        return;
    }
    struct strobe_columns_words words;
    for (const char *at = table->columns; at;) {
        at = strobe_columns_step(at, &words);
        char name[64];
        if (words.is_hidden)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)words.n_name, words.name);
        duck_object type = library->create_logical_type(duck_type_of(words.type));
        library->bind_add_result_column(info, name, type);
        library->destroy_logical_type(&type);
    }
    bound->table = table;
    bound->ask = (struct strobe_columns_ask)STROBE_COLUMNS_ALL(table->name);
    for (int i = 0; i < N_PARAMETERS; i++) {
        duck_object value = library->bind_get_named_parameter(info, parameters[i].name);
        if (value)
            take_parameter(bound, i, value);
        library->destroy_value(&value);
    }
    library->bind_set_bind_data(info, bound, free_bound);
}

/* ---- init: a reader of the wanted columns ---- */

/* The names of the wanted columns; what DuckDB counts rows by is none of ours. */
static unsigned name_columns(struct scan *scan, const struct bound *bound, duck_object info,
                             char names[][64])
{
    unsigned n = 0;
    scan->n_vectors = (unsigned)library->init_get_column_count(info);
    for (unsigned i = 0; i < scan->n_vectors && i < MAX_COLUMNS; i++) {
        uint64_t wanted = library->init_get_column_index(info, i), k = 0;
        struct strobe_columns_words words;
        scan->column_of[i] = NO_COLUMN;
        for (const char *at = bound->table->columns; at;) {
            at = strobe_columns_step(at, &words);
            if (words.is_hidden || k++ != wanted)
                continue;
            snprintf(names[n], 64, "%.*s", (int)words.n_name, words.name);
            scan->column_of[i] = (int8_t)n++;
        }
    }
    return n;
}

/* Words of what went wrong; NULL: nothing. */
static const char *open_scan(struct scan *scan, const struct bound *bound, duck_object info)
{
    struct strobe_duck_scans *scans = scan->scans;
    struct strobe_sql_limits limits = {.stop = scans->stop};
    char names[MAX_COLUMNS][64];
    const char *columns[MAX_COLUMNS];
    unsigned failed;
    struct strobe_columns_ask ask = bound->ask;
    ask.n_columns = name_columns(scan, bound, info, names);
    for (unsigned i = 0; i < ask.n_columns; i++)
        columns[i] = names[i];
    if (scan->n_vectors > MAX_COLUMNS)
        return "a table has no column twice";
    ask.columns = columns;
    enum strobe_err err =
        strobe_sql_open(scans->paths, scans->n_paths, &limits, &failed, &scan->sql);
    if (!err)
        err = strobe_columns_open(scan->sql, &ask, &scan->reader);
    if (!err)
        return NULL;
    return scan->sql && *strobe_sql_error(scan->sql) ? strobe_sql_error(scan->sql)
                                                     : strobe_err_text(err);
}

static void on_init(duck_object info)
{
    const struct bound *bound = library->init_get_bind_data(info);
    struct scan *scan = calloc(1, sizeof *scan);
    if (!scan) {
        library->init_set_error(info, "out of memory");
        return;
    }
    scan->scans = bound->table->scans;
    const char *words = open_scan(scan, bound, info);
    if (words) {
        library->init_set_error(info, words);
        free_scan(scan);
        return;
    }
    library->init_set_init_data(info, scan, free_scan);
}

/* ---- fill: rows of a batch into the vectors of a chunk ---- */

static void put_text(duck_object vector, uint32_t row, const struct strobe_column_texts *texts,
                     uint32_t i)
{
    library->vector_assign_string_element_len(
        vector, row, texts->bytes ? texts->bytes + texts->offsets[i] : "",
        (uint64_t)(texts->offsets[i + 1] - texts->offsets[i]));
}

/* Texts by their codes: DuckDB gets each once per chunk, other rows share it. 0: no memory. */
static int put_codes(struct scan *scan, duck_object vector, const struct strobe_column *column,
                     uint32_t n)
{
    const int32_t *codes = (const int32_t *)column->values + scan->at;
    struct duck_text *out = library->vector_get_data(vector);
    if (column->texts.n > scan->seen_room) {
        uint32_t *seen = realloc(scan->seen, column->texts.n * sizeof *seen);
        if (!seen)
            return 0;
        scan->seen = seen;
        scan->seen_room = column->texts.n;
    }
    if (column->texts.n)
        memset(scan->seen, 0xff, column->texts.n * sizeof *scan->seen);
    for (uint32_t i = 0; i < n; i++) {
        if (strobe_column_is_null(column, scan->at + i))
            continue;
        uint32_t code = (uint32_t)codes[i];
        STROBE_ASSERT(code < column->texts.n);
        uint32_t before = scan->seen[code];
        if (before < i)
            out[i] = out[before];
        else
            put_text(vector, i, &column->texts, code);
        scan->seen[code] = i;
    }
    return 1;
}

static int put_column(struct scan *scan, duck_object vector, const struct strobe_column *column,
                      uint32_t n)
{
    if (column->n_nulls) {
        STROBE_ASSERT(scan->at % 8 == 0);
        library->vector_ensure_validity_writable(vector);
        memcpy(library->vector_get_validity(vector), column->valid + scan->at / 8, (n + 7) / 8);
    }
    if (column->type == STROBE_COLUMN_ENUM)
        return put_codes(scan, vector, column, n);
    if (column->type == STROBE_COLUMN_TEXT) {
        for (uint32_t i = 0; i < n; i++)
            if (!strobe_column_is_null(column, scan->at + i))
                put_text(vector, i, &column->texts, scan->at + i);
        return 1;
    }
    size_t width = strobe_column_width(column->type);
    memcpy(library->vector_get_data(vector), (const char *)column->values + scan->at * width,
           n * width);
    return 1;
}

static void on_fill(duck_object info, duck_object chunk)
{
    struct scan *scan = library->function_get_init_data(info);
    uint64_t most = library->vector_size();
    enum strobe_err err = scan->batch ? STROBE_OK : strobe_columns_next(scan->reader, &scan->batch);
    if (err == STROBE_ERR_END) {
        library->data_chunk_set_size(chunk, 0);
        return;
    }
    uint32_t n = err ? 0 : scan->batch->n_rows - scan->at;
    n = n < most ? n : (uint32_t)most;
    for (unsigned i = 0; !err && i < scan->n_vectors; i++)
        if (scan->column_of[i] != NO_COLUMN &&
            !put_column(scan, library->data_chunk_get_vector(chunk, i),
                        &scan->batch->columns[scan->column_of[i]], n))
            err = STROBE_ERR_NOMEM;
    if (err) {
        const char *words = strobe_sql_error(scan->sql);
        library->function_set_error(info, *words ? words : strobe_err_text(err));
        return;
    }
    library->data_chunk_set_size(chunk, n);
    scan->at += n;
    if (scan->at < scan->batch->n_rows)
        return;
    strobe_column_batch_free(scan->batch);
    scan->batch = NULL;
    scan->at = 0;
}

/* ---- registration ---- */

/* A name that is no table of DuckDB's own: perhaps it is one of ours. */
static void on_name(duck_object info, const char *name, void *context)
{
    const char *columns, *help, *known;
    (void)context;
    for (unsigned i = 0; (known = strobe_sql_table(i, &columns, &help)); i++)
        if (!strcasecmp(known, name))
            library->replacement_scan_set_function_name(info, known);
}

static int register_table(struct strobe_duck_scans *scans, duck_object connection, const char *name,
                          const char *columns)
{
    struct table *table = malloc(sizeof *table);
    if (!table)
        return 0;
    *table = (struct table){scans, name, columns};
    duck_object function = library->create_table_function();
    library->table_function_set_name(function, name);
    for (int i = 0; i < N_PARAMETERS; i++) {
        duck_object type = library->create_logical_type(parameters[i].type);
        library->table_function_add_named_parameter(function, parameters[i].name, type);
        library->destroy_logical_type(&type);
    }
    library->table_function_set_extra_info(function, table, free);
    library->table_function_set_bind(function, on_bind);
    library->table_function_set_init(function, on_init);
    library->table_function_set_function(function, on_fill);
    library->table_function_supports_projection_pushdown(function, true);
    int failed = library->register_table_function(connection, function);
    library->destroy_table_function(&function);
    return !failed;
}

int strobe_duck_scans_register(struct strobe_duck_scans *scans, duck_object db,
                               duck_object connection)
{
    const char *columns, *help, *name;
    library = scans->library;
    for (unsigned i = 0; (name = strobe_sql_table(i, &columns, &help)); i++)
        if (!register_table(scans, connection, name, columns))
            return 0;
    library->add_replacement_scan(db, on_name, NULL, NULL);
    return 1;
}
