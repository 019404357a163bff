/* lake.c - see lake.h. One pass per table. Rows come in batches, mixed of all processes; a batch is sorted by process, track and
 * start, and each process gets its rows as a row group of its own file. So memory is one batch, whatever the number of processes, and
 * times within a row group ascend, which makes them small.  SPDX-License-Identifier: MIT */
#include "export/lake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/out.h"
#include "export/parquet.h"
#include "export/row_order.h"
#include "query/trace.h"
#include "sql/table.h"

enum { GROUP_ROWS = 1 << 16 };

/* Columns of a reader with a meaning here; -1: it has none. */
struct columns {
    int ts, track, process, id;
};

struct lake {
    struct strobe_sql *sql;           /* borrowed */
    const struct strobe_trace *trace; /* borrowed */
    char *base;                       /* owned: the folder of run and host */
    struct strobe_row_order order;
    struct strobe_lake_result *result; /* borrowed */
};

static enum strobe_err fail(struct lake *lake, enum strobe_err err, const char *place)
{
    size_t n = strlen(place), room = sizeof lake->result->place - 1;
    if (err)
        snprintf(lake->result->place, room + 1, "%s", n > room ? place + n - room : place);
    return err;
}

/* All folders of a path. */
static enum strobe_err make_folders(char *path)
{
    for (char *at = path + 1;; at++) {
        if (*at && *at != '/')
            continue;
        char end = *at;
        *at = 0;
        int failed = mkdir(path, 0777) && errno != EEXIST;
        *at = end;
        if (failed)
            return strobe_err_from_errno(errno);
        if (!end)
            return STROBE_OK;
    }
}

/* "key=value" as Hive has it: what is no letter, digit or one of ._- is a % and two digits. */
static void put_pair(struct strobe_out *out, const char *key, const char *value, size_t n)
{
    strobe_out_text(out, key);
    strobe_out_char(out, '=');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)value[i];
        if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
            strchr("._-", c ? c : '='))
            strobe_out_char(out, (char)c);
        else
            strobe_out_format(out, "%%%02X", c);
    }
    strobe_out_text(out, n ? "" : "__HIVE_DEFAULT_PARTITION__");
}

/* ---- order ---- */

/* Process and track of a row as one number. */
static uint64_t track_key(const struct strobe_column_batch *batch, const struct columns *columns,
                          uint32_t row)
{
    const int32_t *tracks = columns->track >= 0 ? batch->columns[columns->track].values : NULL;
    const int32_t *processes =
        columns->process >= 0 ? batch->columns[columns->process].values : NULL;
    return (uint64_t)(processes ? (uint32_t)processes[row] : 0) << 32 |
           (tracks ? (uint32_t)tracks[row] : 0);
}

/* 1: all rows are of one track. */
static int is_one_track(const struct strobe_column_batch *batch, const struct columns *columns)
{
    const int places[] = {columns->track, columns->process};
    for (int i = 0; i < 2; i++) {
        const int32_t *ids = places[i] >= 0 ? batch->columns[places[i]].values : NULL;
        if (ids && batch->n_rows && memcmp(ids, ids + 1, (batch->n_rows - 1) * sizeof *ids))
            return 0;
    }
    return 1;
}

/* Set the keys to ids: zones of a thread have places in the order of their begins, near each other. 0: these are not all of one thread. */
static int set_places(struct strobe_row_order *order, const struct strobe_column *column,
                      uint32_t from, uint32_t n)
{
    const int64_t *ids = column->values;
    uint64_t first = (uint64_t)ids[order->rows[from]], others = 0;
    if (column->n_nulls || first >> (STROBE_SQL_PLACE_BITS + STROBE_SQL_THREAD_BITS))
        return 0;
    for (uint32_t i = from; i < from + n; i++) {
        order->keys[i] = (uint64_t)ids[order->rows[i]];
        others |= order->keys[i] ^ first;
    }
    return others >> STROBE_SQL_PLACE_BITS == 0;
}

/* The rows of one track, from number `from` on. */
static void sort_track(struct strobe_row_order *order, const struct strobe_column_batch *batch,
                       const struct columns *columns, uint32_t from, uint32_t n)
{
    const int64_t *starts = batch->columns[columns->ts].values;
    if (columns->id < 0 || !set_places(order, &batch->columns[columns->id], from, n))
        for (uint32_t i = from; i < from + n; i++)
            order->keys[i] = (uint64_t)starts[order->rows[i]] + (1ull << 63);
    strobe_row_order_sort(order, from, n);
}

/* Rows of a batch by process, track and start, of those that the table has: then starts, ids and parents ascend. */
static enum strobe_err sort_rows(struct strobe_row_order *order,
                                 const struct strobe_column_batch *batch,
                                 const struct columns *columns)
{
    uint32_t n = batch->n_rows;
    enum strobe_err err = strobe_row_order_start(order, n);
    if (err || columns->ts < 0 || !n)
        return err;
    if (is_one_track(batch, columns)) {
        sort_track(order, batch, columns, 0, n);
        return STROBE_OK;
    }
    for (uint32_t i = 0; i < n; i++)
        order->keys[i] = track_key(batch, columns, i);
    strobe_row_order_sort(order, 0, n);
    for (uint32_t from = 0, to; from < n; from = to) {
        uint64_t key = track_key(batch, columns, order->rows[from]);
        for (to = from; to < n && track_key(batch, columns, order->rows[to]) == key; to++)
            ;
        sort_track(order, batch, columns, from, to - from);
    }
    return STROBE_OK;
}

/* ---- tables ---- */

static int find_column(const struct strobe_columns *reader, const char *name)
{
    enum strobe_column_type type;
    for (unsigned i = 0; i < strobe_columns_count(reader); i++)
        if (!strcmp(strobe_columns_name(reader, i, &type), name))
            return (int)i;
    return -1;
}

static struct columns find_columns(const struct strobe_columns *reader, const char *table)
{
    int is_zone = !strcmp(table, "zone"); /* other tables have other ids */
    return (struct columns){.ts = find_column(reader, "ts"),
                            .track = find_column(reader, "track_id"),
                            .process = find_column(reader, "process_id"),
                            .id = is_zone ? find_column(reader, "id") : -1};
}

static enum strobe_err end_file(struct lake *lake, struct strobe_parquet *file, const char *path)
{
    struct stat facts;
    enum strobe_err err = strobe_parquet_close(file);
    if (!err && !stat(path, &facts))
        lake->result->n_bytes += (uint64_t)facts.st_size;
    lake->result->n_files += !err;
    return fail(lake, err, path);
}

/* A table as one file. */
static enum strobe_err write_whole(struct lake *lake, struct strobe_columns *reader,
                                   const struct columns *columns, const char *path)
{
    struct strobe_parquet *file = NULL;
    enum strobe_err err = fail(lake, strobe_parquet_open(path, reader, 1, &file), path);
    while (!err) {
        struct strobe_column_batch *batch;
        err = strobe_columns_next(reader, &batch);
        if (err == STROBE_ERR_END)
            return end_file(lake, file, path);
        if (!err)
            err = sort_rows(&lake->order, batch, columns);
        if (!err)
            err =
                fail(lake, strobe_parquet_put(file, batch, lake->order.rows, batch->n_rows), path);
        strobe_columns_return(reader, batch);
    }
    strobe_parquet_drop(file);
    return err;
}

/* The files of a table that has one per process. */
struct parts {
    struct strobe_parquet **files; /* owned: n, NULL where a process has no rows */
    char **paths;                  /* owned */
    uint32_t n;
};

/* 1: another process has this name too. */
static int is_shared(const struct strobe_trace *trace, uint32_t process, const char *name,
                     uint32_t n_name)
{
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        char room[STROBE_NAME_ROOM];
        uint32_t n;
        const char *other = strobe_trace_process_name(trace, i, room, &n);
        if (strobe_trace_first_process(trace, i) != strobe_trace_first_process(trace, process) &&
            n == n_name && !memcmp(other, name, n))
            return 1;
    }
    return 0;
}

static enum strobe_err open_part(struct lake *lake, struct parts *parts, uint32_t process,
                                 const struct strobe_columns *reader, const char *table)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    struct strobe_out path = {0}, value = {0};
    const char *name = strobe_trace_process_name(lake->trace, process, room, &n);
    strobe_out_bytes(&value, name, n);
    if (!n || is_shared(lake->trace, process, name, n))
        strobe_out_format(&value, "-%u", process);
    strobe_out_format(&path, "%s/", lake->base);
    put_pair(&path, "process", value.at, value.len);
    strobe_out_free(&value);
    enum strobe_err err = path.error ? STROBE_ERR_NOMEM : STROBE_OK;
    if (!err)
        err = fail(lake, make_folders((char *)strobe_out_string(&path)), path.at);
    strobe_out_format(&path, "/%s.parquet", table);
    if (!err && !(parts->paths[process] = strdup(strobe_out_string(&path))))
        err = STROBE_ERR_NOMEM;
    strobe_out_free(&path);
    if (!err)
        err = fail(lake,
                   strobe_parquet_open(parts->paths[process], reader, 1, &parts->files[process]),
                   parts->paths[process]);
    return err;
}

/* A batch, sorted by process: a row group for each. */
static enum strobe_err put_parts(struct lake *lake, struct parts *parts,
                                 const struct strobe_columns *reader, const char *table,
                                 const struct strobe_column_batch *batch,
                                 const struct strobe_column *process)
{
    const uint32_t *rows = lake->order.rows;
    const int32_t *ids = process->values;
    enum strobe_err err = STROBE_OK;
    for (uint32_t from = 0, to; !err && from < batch->n_rows; from = to) {
        uint32_t id = (uint32_t)ids[rows[from]];
        for (to = from; to < batch->n_rows && (uint32_t)ids[rows[to]] == id; to++)
            ;
        if (id >= parts->n)
            return STROBE_ERR_CORRUPT;
        if (!parts->files[id])
            err = open_part(lake, parts, id, reader, table);
        if (!err)
            err = fail(lake, strobe_parquet_put(parts->files[id], batch, rows + from, to - from),
                       parts->paths[id]);
    }
    return err;
}

static enum strobe_err end_parts(struct lake *lake, struct parts *parts, enum strobe_err err)
{
    for (uint32_t i = 0; parts->files && parts->paths && i < parts->n; i++) {
        if (parts->files[i] && !err)
            err = end_file(lake, parts->files[i], parts->paths[i]);
        else
            strobe_parquet_drop(parts->files[i]);
        free(parts->paths[i]);
    }
    free(parts->files);
    free(parts->paths);
    return err;
}

static enum strobe_err write_parts(struct lake *lake, struct strobe_columns *reader,
                                   const char *table, const struct columns *columns)
{
    struct parts parts = {.n = lake->trace->n_processes};
    int is_zone = !strcmp(table, "zone");
    parts.files = calloc(parts.n + 1, sizeof *parts.files);
    parts.paths = calloc(parts.n + 1, sizeof *parts.paths);
    enum strobe_err err = parts.files && parts.paths ? STROBE_OK : STROBE_ERR_NOMEM;
    while (!err) {
        struct strobe_column_batch *batch;
        err = strobe_columns_next(reader, &batch);
        if (!err)
            err = sort_rows(&lake->order, batch, columns);
        if (!err) {
            lake->result->n_zones += is_zone ? batch->n_rows : 0;
            err = put_parts(lake, &parts, reader, table, batch, &batch->columns[columns->process]);
        }
        strobe_columns_return(reader, batch);
    }
    return end_parts(lake, &parts, err == STROBE_ERR_END ? STROBE_OK : err);
}

static enum strobe_err write_table(struct lake *lake, const char *table)
{
    struct strobe_columns_ask ask = STROBE_COLUMNS_ALL(table);
    struct strobe_columns *reader;
    ask.max_rows = GROUP_ROWS;
    enum strobe_err err = fail(lake, strobe_columns_open(lake->sql, &ask, &reader), table);
    if (err)
        return err;
    const struct columns columns = find_columns(reader, table);
    if (!strcmp(table, "zone") || !strcmp(table, "counter")) { /* the large ones: docs/lake.md */
        STROBE_ASSERT(columns.process >= 0 && columns.ts >= 0);
        err = write_parts(lake, reader, table, &columns);
    } else {
        char *path = NULL;
        err = asprintf(&path, "%s/%s.parquet", lake->base, table) < 0
                  ? STROBE_ERR_NOMEM
                  : write_whole(lake, reader, &columns, path);
        free(path);
    }
    if (err && !*lake->result->place)
        fail(lake, err, table);
    strobe_columns_close(reader);
    return err;
}

/* The folder of run and host. */
static enum strobe_err make_base(struct lake *lake, const char *folder, const char *run)
{
    struct strobe_out path = {0};
    uint32_t n;
    const char *host = strobe_trace_text(lake->trace, lake->trace->hostname, &n);
    strobe_out_format(&path, "%s/", folder);
    put_pair(&path, "run", run, strlen(run));
    strobe_out_char(&path, '/');
    put_pair(&path, "host", host, n);
    lake->base = path.error ? NULL : strdup(strobe_out_string(&path));
    strobe_out_free(&path);
    return lake->base ? fail(lake, make_folders(lake->base), lake->base) : STROBE_ERR_NOMEM;
}

enum strobe_err strobe_lake_write(struct strobe_sql *sql, const char *folder, const char *run,
                                  struct strobe_lake_result *result)
{
    struct lake lake = {.sql = sql, .trace = strobe_sql_trace(sql, 0), .result = result};
    const char *table, *columns, *help;
    *result = (struct strobe_lake_result){0};
    enum strobe_err err = make_base(&lake, folder, run);
    for (unsigned i = 0; !err && (table = strobe_sql_table(i, &columns, &help)); i++)
        if (strcmp(table, "zone_sum")) /* its rows depend on the question */
            err = write_table(&lake, table);
    strobe_row_order_free(&lake.order);
    free(lake.base);
    return err;
}
