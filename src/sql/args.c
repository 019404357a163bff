/* args.c - the table arg, and EXTRACT_ARG, which looks into the same rows: at its first call they are read, all of a trace, and kept
 * by zone. Texts come from strangers: JSON that is broken, too deep or too long is a text like any other.
 * SPDX-License-Identifier: MIT */
#include "sql/args.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_read.h"
#include "base/map.h"
#include "base/out.h"
#include "query/ordered.h"
#include "sql/pump.h"

#define BIT(kind) (1ull << STROBE_KIND_##kind)
#define ARG_KINDS (BIT(ZONE_TEXT) | BIT(ZONE_TEXT_AT) | BIT(ZONE_VALUE) | BIT(ZONE_VALUE_AT))

enum {
    MAX_DEPTH = 16,     /* of JSON */
    MAX_PATH = 1 << 12, /* bytes of a key */
};

/* ---- JSON ---- */

/* Objects and arrays that are open. */
struct level {
    size_t n_path; /* bytes of the path that name it */
    int is_array;
    uint32_t index; /* of the next item */
};

struct flat {
    struct strobe_json_reader reader;
    struct strobe_out path;
    struct level levels[MAX_DEPTH + 1];
    unsigned n_levels;
};

/* A value begins: that of an array has a number. */
static void name_item(struct flat *flat)
{
    struct level *level = flat->n_levels ? &flat->levels[flat->n_levels - 1] : NULL;
    if (!level || !level->is_array)
        return;
    flat->path.len = level->n_path;
    strobe_out_format(&flat->path, "[%u]", level->index++);
}

static void name_member(struct flat *flat)
{
    flat->path.len = flat->levels[flat->n_levels - 1].n_path;
    strobe_out_char(&flat->path, '.');
    strobe_out_bytes(&flat->path, flat->reader.text, flat->reader.n_text);
}

/* The value of the token; 0: it has none. */
static int read_value(const struct flat *flat, enum strobe_json_token token,
                      struct strobe_sql_arg *arg)
{
    arg->type = STROBE_SQL_INT;
    arg->is_bool = token == STROBE_TOKEN_TRUE || token == STROBE_TOKEN_FALSE;
    arg->i = token == STROBE_TOKEN_TRUE;
    if (arg->is_bool)
        return 1;
    if (token == STROBE_TOKEN_STRING) {
        arg->type = STROBE_SQL_TEXT;
        arg->text = flat->reader.text;
        arg->n_text = flat->reader.n_text;
        return 1;
    }
    if (token != STROBE_TOKEN_NUMBER)
        return 0;
    if (strobe_json_read_i64(&flat->reader, &arg->i))
        return 1;
    arg->type = STROBE_SQL_REAL;
    return strobe_json_read_double(&flat->reader, &arg->d);
}

static enum strobe_err step(struct flat *flat, enum strobe_json_token token,
                            const struct strobe_sql_arg_sink *sink)
{
    struct strobe_sql_arg arg = {0};
    switch (token) {
    case STROBE_TOKEN_OBJECT:
    case STROBE_TOKEN_ARRAY:
        name_item(flat);
        STROBE_ASSERT(flat->n_levels <= MAX_DEPTH);
        flat->levels[flat->n_levels++] =
            (struct level){flat->path.len, token == STROBE_TOKEN_ARRAY, 0};
        return STROBE_OK;
    case STROBE_TOKEN_OBJECT_END:
    case STROBE_TOKEN_ARRAY_END:
        flat->n_levels--;
        return STROBE_OK;
    case STROBE_TOKEN_KEY:
        name_member(flat);
        return STROBE_OK;
    default:
        name_item(flat);
    }
    if (!sink || !read_value(flat, token, &arg))
        return STROBE_OK;
    arg.key = flat->path.at;
    arg.n_key = flat->path.len;
    return sink->take(sink->context, &arg);
}

/* Go through a text; without a sink: just look whether it is JSON that can be shown. FORMAT and the like: it is not. */
static enum strobe_err flatten(const char *text, size_t n, const struct strobe_sql_arg_sink *sink)
{
    const struct strobe_json_options options = {.max_depth = MAX_DEPTH};
    struct flat flat = {.path = {.max = 1 << 16}};
    enum strobe_json_token token = STROBE_TOKEN_NULL;
    enum strobe_err err = STROBE_OK;
    strobe_json_read_memory(&flat.reader, text, n, &options);
    strobe_out_text(&flat.path, "args");
    while (!err && !(err = strobe_json_read_next(&flat.reader, &token)) &&
           token != STROBE_TOKEN_END) {
        err = step(&flat, token, sink);
        if (!err && (flat.path.error || flat.path.len > MAX_PATH))
            err = STROBE_ERR_LIMIT;
    }
    strobe_json_read_close(&flat.reader);
    strobe_out_free(&flat.path);
    return err;
}

enum strobe_err strobe_sql_args_each(const struct strobe_note *note,
                                     const struct strobe_sql_arg_sink *sink)
{
    enum strobe_err err = STROBE_OK;
    if (note->has_value) {
        const struct strobe_sql_arg arg = {
            .key = "value", .n_key = 5, .type = STROBE_SQL_INT, .i = (int64_t)note->value};
        err = sink->take(sink->context, &arg);
    }
    if (err || !note->text)
        return err;
    if (note->n_text && note->text[0] == '{' && !flatten(note->text, note->n_text, NULL))
        return flatten(note->text, note->n_text, sink);
    const struct strobe_sql_arg arg = {.key = "text",
                                       .n_key = 4,
                                       .type = STROBE_SQL_TEXT,
                                       .text = note->text,
                                       .n_text = note->n_text};
    return sink->take(sink->context, &arg);
}

/* ---- the table ---- */

enum { ARG_ZONE = 1, ARG_KEY, ARG_TYPE, ARG_INT, ARG_REAL, ARG_STRING };

struct arg_row {
    struct strobe_sql_pump *pump;
    int64_t zone;
};

static void put_fixed(struct strobe_sql_cell *cell, const char *text)
{
    strobe_sql_put_kept(cell, text, (uint32_t)strlen(text));
}

static enum strobe_err put_arg(void *context, const struct strobe_sql_arg *arg)
{
    const struct arg_row *at = context;
    struct strobe_sql_cell *row = strobe_sql_pump_row(at->pump);
    if (!row)
        return STROBE_ERR_LIMIT;
    strobe_sql_put_i(&row[ARG_ZONE], at->zone);
    strobe_sql_pump_text(at->pump, &row[ARG_KEY], arg->key, arg->n_key);
    if (arg->type == STROBE_SQL_INT) {
        put_fixed(&row[ARG_TYPE], arg->is_bool ? "bool" : "int");
        strobe_sql_put_i(&row[ARG_INT], arg->i);
    } else if (arg->type == STROBE_SQL_REAL) {
        put_fixed(&row[ARG_TYPE], "real");
        strobe_sql_put_d(&row[ARG_REAL], arg->d);
    } else {
        put_fixed(&row[ARG_TYPE], "string");
        strobe_sql_pump_text(at->pump, &row[ARG_STRING], arg->text, arg->n_text);
    }
    return STROBE_OK;
}

/* What the zones of a batch carry, each with its id. */
static enum strobe_err each_zone(const struct strobe_batch *batch, int64_t *zone,
                                 const struct strobe_sql_arg_sink *sink)
{
    enum strobe_err err = STROBE_OK;
    int64_t parent;
    for (uint32_t i = 0; !err && batch->notes && i < batch->n_zones; i++) {
        if (!batch->zones[i].note)
            continue;
        strobe_sql_zone_ids(batch, i, zone, &parent);
        if (*zone >= 0)
            err = strobe_sql_args_each(&batch->notes[batch->zones[i].note - 1], sink);
    }
    return err;
}

static enum strobe_err put_batch(void *context, const struct strobe_batch *batch)
{
    struct arg_row at = {.pump = context};
    const struct strobe_sql_arg_sink sink = {&at, put_arg};
    return each_zone(batch, &at.zone, &sink);
}

static struct strobe_walk walk_of(enum strobe_err (*zones)(void *context,
                                                           const struct strobe_batch *batch))
{
    return (struct strobe_walk){.zones = zones,
                                .want_notes = 1,
                                .want_fibers = 1,
                                .want_spans = 1,
                                .want_open = 1,
                                .want_places = 1};
}

enum strobe_err strobe_sql_walk_args(struct strobe_sql_pump *pump)
{
    struct strobe_walk walk = walk_of(put_batch);
    if (!strobe_ordered_may_have(strobe_sql_pump_trace(pump), ARG_KINDS))
        return STROBE_OK;
    return strobe_sql_pump_walk(pump, &walk);
}

/* ---- EXTRACT_ARG ---- */

struct kept_arg {
    int64_t zone;
    uint32_t key; /* entry in keys */
    uint32_t n_text;
    enum strobe_sql_type type;
    union {
        int64_t i;
        double d;
        uint64_t at; /* in texts */
    };
};

/* All of a trace. */
struct strobe_sql_args {
    struct strobe_sql *sql; /* borrowed */
    struct kept_arg *rows;  /* owned: by zone */
    uint64_t n_rows, rows_room;
    struct strobe_textmap keys;
    struct strobe_out texts;
    int64_t zone; /* whose arguments are being read */
};

void strobe_sql_args_free(struct strobe_sql_args *args)
{
    if (!args)
        return;
    free(args->rows);
    strobe_textmap_free(&args->keys);
    strobe_out_free(&args->texts);
    free(args);
}

static enum strobe_err keep_arg(void *context, const struct strobe_sql_arg *arg)
{
    struct strobe_sql_args *args = context;
    uint64_t most = args->sql->limits.heap_bytes;
    uint32_t key;
    uint64_t n_kept = args->n_rows * sizeof *args->rows + args->texts.len + args->keys.n_bytes;
    if (most && n_kept + arg->n_text + arg->n_key > most)
        return STROBE_ERR_NOMEM;
    if (strobe_textmap_add(&args->keys, arg->key, arg->n_key, &key))
        return STROBE_ERR_NOMEM;
    struct kept_arg *row = STROBE_ARRAY_PUSH(args->rows, args->n_rows, args->rows_room);
    if (!row)
        return STROBE_ERR_NOMEM;
    *row = (struct kept_arg){.zone = args->zone, .key = key, .type = arg->type, .i = arg->i};
    if (arg->type == STROBE_SQL_REAL) {
        row->d = arg->d;
    } else if (arg->type == STROBE_SQL_TEXT) {
        row->at = args->texts.len;
        row->n_text = (uint32_t)arg->n_text;
        strobe_out_bytes(&args->texts, arg->text, arg->n_text);
    }
    return args->texts.error ? STROBE_ERR_NOMEM : STROBE_OK;
}

static enum strobe_err keep_batch(void *context, const struct strobe_batch *batch)
{
    struct strobe_sql_args *args = context;
    const struct strobe_sql_arg_sink sink = {args, keep_arg};
    return each_zone(batch, &args->zone, &sink);
}

static int is_over(void *context)
{
    return strobe_sql_is_over(((struct strobe_sql_args *)context)->sql);
}

static int by_zone(const void *a, const void *b)
{
    const struct kept_arg *x = a, *y = b;
    if (x->zone != y->zone)
        return x->zone < y->zone ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static enum strobe_err load_args(struct strobe_sql *sql, struct strobe_sql_file *file)
{
    struct strobe_walk walk = walk_of(keep_batch);
    if (file->args)
        return STROBE_OK;
    struct strobe_sql_args *args = calloc(1, sizeof *args);
    enum strobe_err err = args ? strobe_sql_open_work(file) : STROBE_ERR_NOMEM;
    if (!err) {
        args->sql = sql;
        walk.trace = file->work;
        walk.context = args;
        walk.is_over = is_over;
        if (strobe_ordered_may_have(file->work, ARG_KINDS))
            err = strobe_walk_run(&walk);
        strobe_sql_note_damage(file, file->work, walk.n_bad_parts);
    }
    if (!err && args->n_rows)
        qsort(args->rows, (size_t)args->n_rows, sizeof *args->rows, by_zone);
    if (err)
        strobe_sql_args_free(args);
    else
        file->args = args;
    return err;
}

/* The argument of a zone; NULL: it has none of that name. */
static const struct kept_arg *find_arg(const struct strobe_sql_args *args, int64_t zone,
                                       const char *key, size_t n_key)
{
    uint32_t entry = strobe_textmap_find(&args->keys, key, n_key);
    uint64_t low = 0, high = args->n_rows;
    if (entry == STROBE_INDEX_NONE)
        return NULL;
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        const struct kept_arg *row = &args->rows[mid];
        if (row->zone < zone || (row->zone == zone && row->key < entry))
            low = mid + 1;
        else
            high = mid;
    }
    int is_it = low < args->n_rows && args->rows[low].zone == zone && args->rows[low].key == entry;
    return is_it ? &args->rows[low] : NULL;
}

/* By the key, and by the name that Perfetto gives to what its own SDK records. */
static const struct kept_arg *look_up(const struct strobe_sql_args *args, int64_t zone,
                                      const char *key, size_t n_key)
{
    static const char prefix[] = "debug.";
    const size_t n_prefix = sizeof prefix - 1;
    char room[MAX_PATH];
    const struct kept_arg *row = find_arg(args, zone, key, n_key);
    if (row || n_key < n_prefix || n_key >= sizeof room || memcmp(key, prefix, n_prefix))
        return row;
    memcpy(room, "args.", 5);
    memcpy(room + 5, key + n_prefix, n_key - n_prefix);
    return find_arg(args, zone, room, n_key - 1);
}

static void put_kept(sqlite3_context *context, const struct strobe_sql_args *args,
                     const struct kept_arg *row)
{
    if (row && row->type == STROBE_SQL_INT)
        sqlite3_result_int64(context, row->i);
    else if (row && row->type == STROBE_SQL_REAL)
        sqlite3_result_double(context, row->d);
    else if (row)
        sqlite3_result_text(context, row->n_text ? args->texts.at + row->at : "", (int)row->n_text,
                            SQLITE_TRANSIENT);
}

/* EXTRACT_ARG(arg_set_id, key [, trace_id]). */
static void extract_arg(sqlite3_context *context, int n_values, sqlite3_value **values)
{
    struct strobe_sql *sql = sqlite3_user_data(context);
    sqlite3_int64 trace = n_values > 2 ? sqlite3_value_int64(values[2]) : 0;
    if (n_values < 3 && sql->n_files > 1) {
        sqlite3_result_error(
            context, "EXTRACT_ARG: there are several traces; give trace_id as third argument", -1);
        return;
    }
    if (trace < 0 || trace >= sql->n_files || sqlite3_value_type(values[0]) != SQLITE_INTEGER ||
        sqlite3_value_type(values[1]) != SQLITE_TEXT)
        return; /* NULL */
    struct strobe_sql_file *file = &sql->files[trace];
    enum strobe_err err = load_args(sql, file);
    if (err == STROBE_ERR_LIMIT)
        sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    else if (err == STROBE_ERR_NOMEM)
        sqlite3_result_error_nomem(context);
    else if (err)
        sqlite3_result_error(context, strobe_err_text(err), -1);
    else
        put_kept(context, file->args,
                 look_up(file->args, sqlite3_value_int64(values[0]),
                         (const char *)sqlite3_value_text(values[1]),
                         (size_t)sqlite3_value_bytes(values[1])));
}

int strobe_sql_register_args(struct strobe_sql *sql)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int code = SQLITE_OK;
    for (int n = 2; !code && n <= 3; n++)
        code =
            sqlite3_create_function(sql->db, "extract_arg", n, flags, sql, extract_arg, NULL, NULL);
    return code;
}
