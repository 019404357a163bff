/* sql.c - a connection: SQLite in memory, with our tables and nothing else, and the limits of a run.
 *
 * Three fences keep a query where it belongs. The authorizer lets SELECT pass and nothing that writes, attaches or changes a
 * setting. Temporary files are SQLite's files in memory (its VFS memdb), and memory has a bound: with temp_store = MEMORY a sort would
 * be one step, however many rows it has, with files it is many. The progress handler looks at the clock every few steps of
 * SQLite's machine; tables, functions.c and heap.c look on their own while they work.  SPDX-License-Identifier: MIT */
#include "query/walk.h"
#include "sql/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "sql/rewrite.h"
#include "sql/table.h"

enum {
    STEPS_PER_LOOK = 100,
    MAX_LENGTH = 1 << 20,    /* of a text, of a row */
    MAX_STATEMENT = 1 << 16, /* nothing looks at the clock while it is parsed */
};

static int is_stopped(const struct strobe_sql *sql)
{
    return atomic_load(&sql->stopped) || (sql->limits.stop && atomic_load(sql->limits.stop));
}

int strobe_sql_is_over(struct strobe_sql *sql)
{
    return is_stopped(sql) || (sql->deadline_ns && strobe_clock_mono_ns() >= sql->deadline_ns);
}

static int on_progress(void *context)
{
    return strobe_sql_is_over(context);
}

/* load_extension has no other guard than this where the library was built with it. */
static int on_authorize(void *context, int what, const char *first, const char *second,
                        const char *database, const char *trigger)
{
    const struct strobe_sql *sql = context;
    (void)first;
    (void)database;
    (void)trigger;
    switch (what) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return second && !sqlite3_stricmp(second, "load_extension") ? SQLITE_DENY : SQLITE_OK;
    }
    return sql->is_declaring ? SQLITE_OK : SQLITE_DENY;
}

static void set_limits(struct strobe_sql *sql)
{
    static const struct {
        int id, value;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, MAX_LENGTH},   {SQLITE_LIMIT_SQL_LENGTH, MAX_STATEMENT},
        {SQLITE_LIMIT_EXPR_DEPTH, 200},      {SQLITE_LIMIT_COMPOUND_SELECT, 100},
        {SQLITE_LIMIT_VDBE_OP, 25000},       {SQLITE_LIMIT_FUNCTION_ARG, 100},
        {SQLITE_LIMIT_ATTACHED, 0},          {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 100}, {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        sqlite3_limit(sql->db, limits[i].id, limits[i].value);
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_set_authorizer(sql->db, on_authorize, sql);
    sqlite3_progress_handler(sql->db, STEPS_PER_LOOK, on_progress, sql);
}

static enum strobe_err open_database(struct strobe_sql *sql)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int has_files = sqlite3_vfs_find("memdb") != NULL; /* not before SQLite 3.36 */
    int code = sqlite3_open_v2(has_files ? "trace" : ":memory:", &sql->db, flags,
                               has_files ? "memdb" : NULL);
    if (!code)
        code = sqlite3_exec(sql->db,
                            has_files ? "PRAGMA temp_store = FILE" : "PRAGMA temp_store = MEMORY",
                            NULL, NULL, NULL);
    if (!code)
        code = strobe_sql_register(sql);
    if (!code)
        code = strobe_sql_register_args(sql);
    if (!code)
        code = strobe_sql_register_functions(sql);
    if (!code)
        code = sqlite3_exec(sql->db, strobe_sql_views, NULL, NULL, NULL);
    if (!code)
        set_limits(sql);
    STROBE_ASSERT(code == SQLITE_OK || code == SQLITE_NOMEM);
    return code ? STROBE_ERR_NOMEM : STROBE_OK;
}

/* Where no footer says how many events there are, before anybody reads the model. */
static enum strobe_err count_events(struct strobe_trace *trace)
{
    struct strobe_walk walk = {.trace = trace};
    return strobe_file_facts(trace->file)->totals.has_totals ? STROBE_OK : strobe_walk_run(&walk);
}

enum strobe_err strobe_sql_open(const char *const *paths, unsigned n_paths,
                                const struct strobe_sql_limits *limits, unsigned *failed,
                                struct strobe_sql **out)
{
    strobe_sql_guard_heap();
    struct strobe_sql *sql = calloc(1, sizeof *sql);
    enum strobe_err err = sql ? STROBE_OK : STROBE_ERR_NOMEM;
    *failed = 0;
    *out = NULL;
    if (!err)
        sql->files = calloc(n_paths + 1, sizeof *sql->files);
    if (!err && !sql->files)
        err = STROBE_ERR_NOMEM;
    for (unsigned i = 0; !err && i < n_paths; i++) {
        *failed = i;
        sql->n_files = i + 1;
        sql->files[i].path = strdup(paths[i]);
        err = sql->files[i].path ? strobe_trace_open(paths[i], 0, &sql->files[i].trace)
                                 : STROBE_ERR_NOMEM;
        if (!err)
            err = count_events(sql->files[i].trace);
    }
    if (!err) {
        sql->limits = *limits;
        err = open_database(sql);
    }
    if (err)
        strobe_sql_close(sql);
    else
        *out = sql;
    return err;
}

void strobe_sql_close(struct strobe_sql *sql)
{
    if (!sql)
        return;
    sqlite3_close(sql->db);
    sqlite3_close(sql->plain);
    for (unsigned i = 0; sql->files && i < sql->n_files; i++) {
        struct strobe_sql_file *file = &sql->files[i];
        for (int k = 0; k < 3; k++)
            strobe_stats_free(&file->stats[k]);
        strobe_memory_free(&file->memory);
        strobe_sql_ops_free(file->ops);
        strobe_sql_args_free(file->args);
        strobe_trace_close(file->work);
        strobe_trace_close(file->trace);
        free(file->path);
    }
    free(sql->files);
    free(sql);
}

void strobe_sql_stop(struct strobe_sql *sql)
{
    atomic_store(&sql->stopped, 1);
}

const char *strobe_sql_error(const struct strobe_sql *sql)
{
    return sql->error;
}

int64_t strobe_sql_error_at(const struct strobe_sql *sql)
{
    return sql->error_at;
}

const struct strobe_trace *strobe_sql_trace(const struct strobe_sql *sql, unsigned i)
{
    return i < sql->n_files ? sql->files[i].trace : NULL;
}

static void raise_to(atomic_ullong *number, uint64_t value)
{
    unsigned long long now = atomic_load(number);
    while (now < value && !atomic_compare_exchange_weak(number, &now, value))
        ;
}

void strobe_sql_note_damage(struct strobe_sql_file *file, const struct strobe_trace *trace,
                            uint64_t n_bad_parts)
{
    const struct strobe_file_facts *facts = strobe_file_facts(trace->file);
    raise_to(&file->n_holes, facts->n_holes);
    raise_to(&file->hole_bytes, facts->hole_bytes);
    raise_to(&file->n_bad_parts, n_bad_parts);
}

void strobe_sql_add_damage(struct strobe_sql *sql, const struct strobe_sql *other)
{
    for (unsigned i = 0; i < sql->n_files && i < other->n_files; i++) {
        raise_to(&sql->files[i].n_holes, atomic_load(&other->files[i].n_holes));
        raise_to(&sql->files[i].hole_bytes, atomic_load(&other->files[i].hole_bytes));
        raise_to(&sql->files[i].n_bad_parts, atomic_load(&other->files[i].n_bad_parts));
    }
}

struct strobe_sql_damage strobe_sql_damage(const struct strobe_sql *sql, unsigned i)
{
    const struct strobe_sql_file *file = &sql->files[i];
    return (struct strobe_sql_damage){atomic_load(&file->n_holes), atomic_load(&file->hole_bytes),
                                      atomic_load(&file->n_bad_parts)};
}

enum strobe_err strobe_sql_fail(struct strobe_sql *sql, int code)
{
    if (code == SQLITE_NOTFOUND) /* a module: it was named already */
        return STROBE_ERR_INVALID;
    if (code == SQLITE_NOMEM && strobe_sql_is_over(sql)) /* by heap.c */
        code = SQLITE_INTERRUPT;
    if (code == SQLITE_INTERRUPT) {
        snprintf(sql->error, sizeof sql->error,
                 is_stopped(sql) ? "stopped"
                                 : "no answer in %.1f s: ask of a shorter time, or "
                                   "allow more with --timeout",
                 (double)sql->limits.timeout_ms / 1000);
        return STROBE_ERR_LIMIT;
    }
    if (code == SQLITE_NOMEM || code == SQLITE_FULL) {
        snprintf(sql->error, sizeof sql->error,
                 "more than %.0f MiB of memory are needed: sort or group fewer rows, or allow more "
                 "with --memory",
                 (double)sql->limits.heap_bytes / (1 << 20));
        return STROBE_ERR_LIMIT;
    }
    snprintf(sql->error, sizeof sql->error, "%s",
             code == SQLITE_AUTH ? "a trace can only be read: SELECT and WITH"
             : code == SQLITE_MISUSE
                 ? "columns have the answer to one statement, and this text has "
                   "more than one"
                 : sqlite3_errmsg(sql->db));
    return STROBE_ERR_INVALID;
}

void strobe_sql_read_value(sqlite3_stmt *statement, int column, struct strobe_sql_value *value)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        value->type = STROBE_SQL_INT;
        value->i = sqlite3_column_int64(statement, column);
        break;
    case SQLITE_FLOAT:
        value->type = STROBE_SQL_REAL;
        value->d = sqlite3_column_double(statement, column);
        break;
    case SQLITE_NULL:
        value->type = STROBE_SQL_NULL;
        break;
    default: /* a BLOB is shown as the text that it may be */
        value->type = STROBE_SQL_TEXT;
        value->text = (const char *)sqlite3_column_blob(statement, column);
        value->n = (size_t)sqlite3_column_bytes(statement, column);
        value->text = value->text ? value->text : "";
    }
}

static enum strobe_err put_head(sqlite3_stmt *statement, unsigned n_columns,
                                const struct strobe_sql_sink *sink)
{
    const char **names = calloc(n_columns, sizeof *names);
    if (!names)
        return STROBE_ERR_NOMEM;
    for (unsigned i = 0; i < n_columns; i++) {
        names[i] = sqlite3_column_name(statement, (int)i);
        names[i] = names[i] ? names[i] : "";
    }
    enum strobe_err err = sink->head(sink->context, names, n_columns);
    free(names);
    return err;
}

int strobe_sql_step(struct strobe_sql *sql, sqlite3_stmt *statement)
{
    strobe_sql_set_heap_deadline(sql->deadline_ns);
    int code = sqlite3_step(statement);
    strobe_sql_set_heap_deadline(0);
    return code;
}

/* One statement to its end. */
static enum strobe_err run_one(struct strobe_sql *sql, sqlite3_stmt *statement,
                               const struct strobe_sql_sink *sink)
{
    unsigned n_columns = (unsigned)sqlite3_column_count(statement);
    struct strobe_sql_value *values = calloc(n_columns + 1, sizeof *values);
    uint64_t n_rows = 0;
    int code = SQLITE_DONE;
    enum strobe_err err = values ? put_head(statement, n_columns, sink) : STROBE_ERR_NOMEM;
    while (!err && (code = strobe_sql_step(sql, statement)) == SQLITE_ROW) {
        for (unsigned i = 0; i < n_columns; i++)
            strobe_sql_read_value(statement, (int)i, &values[i]);
        err = sink->row(sink->context, values, n_columns);
        n_rows++;
    }
    free(values);
    if (!err && code != SQLITE_DONE)
        err = strobe_sql_fail(sql, code);
    return err ? err : sink->end(sink->context, n_rows);
}

int strobe_sql_was_rewritten(const struct strobe_sql *sql)
{
    return sql->was_rewritten;
}

int strobe_sql_prepare(struct strobe_sql *sql, const char **text, sqlite3_stmt **statement)
{
    size_t n_included = strobe_sql_skip_include(*text, sql->error, sizeof sql->error);
    if (n_included) {
        *text += n_included;
        *statement = NULL;
        return *sql->error ? SQLITE_NOTFOUND : SQLITE_OK;
    }
    struct strobe_out instead = {0};
    size_t n = sql->limits.no_shortcut ? 0 : strobe_sql_rewrite(*text, &instead);
    int code = SQLITE_ERROR;
    sql->was_rewritten = 0;
    if (n)
        code = sqlite3_prepare_v2(sql->db, strobe_out_string(&instead), -1, statement, NULL);
    strobe_out_free(&instead);
    if (!code) {
        sql->was_rewritten = 1;
        *text += n;
        return code;
    }
    /* none of those, or one that SQLite refuses: it shall say so of the text that was typed */
    return sqlite3_prepare_v2(sql->db, *text, -1, statement, text);
}

void strobe_sql_begin(struct strobe_sql *sql)
{
    sql->error[0] = 0;
    sql->error_at = -1;
    if (sql->limits.heap_bytes) /* of the whole process: another connection may have set its own */
        sqlite3_hard_heap_limit64((sqlite3_int64)sql->limits.heap_bytes);
    atomic_store(&sql->stopped, 0);
    sql->deadline_ns =
        sql->limits.timeout_ms ? strobe_clock_mono_ns() + sql->limits.timeout_ms * 1000000 : 0;
}

/* Where SQLite's last error is: it counts from the statement that it was given, which begins at `from`. */
static void note_place(struct strobe_sql *sql, int64_t from)
{
#if SQLITE_VERSION_NUMBER >= 3038000
    int at = sqlite3_error_offset(sql->db);
    sql->error_at = at >= 0 ? from + at : -1;
#else
    (void)sql, (void)from;
#endif
}

enum strobe_err strobe_sql_run(struct strobe_sql *sql, const char *text,
                               const struct strobe_sql_sink *sink)
{
    enum strobe_err err = STROBE_OK;
    const char *start = text;
    strobe_sql_begin(sql);
    while (!err && *text) {
        sqlite3_stmt *statement = NULL;
        const char *from = text;
        int code = strobe_sql_prepare(sql, &text, &statement);
        if (code)
            note_place(sql, from - start);
        if (code)
            err = strobe_sql_fail(sql, code);
        else if (statement && !sqlite3_column_count(statement))
            err = strobe_sql_fail(sql,
                                  SQLITE_AUTH); /* a statement without an answer, REINDEX for one */
        else if (statement)
            err = run_one(sql, statement, sink);
        sqlite3_finalize(statement);
    }
    return err;
}
