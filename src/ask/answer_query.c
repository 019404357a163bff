/* answer_query.c - SQL over the trace, as `strobe query` has it: the same tables, the same limits. The answer is bounded: so many rows,
 * so many bytes; what is beyond is left out, and the answer says so.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/asker.h"
#include "base/clock.h"
#include "query/trace.h"

enum {
    MAX_STATEMENT = STROBE_JSON_MAX_BYTES,
    SOME_ROWS = 10000, /* where the question does not say */
    MAX_ROWS = 100000,
    MAX_BYTES = 16 << 20, /* of the rows as JSON */
    MAX_TIME_MS = 300000, /* as of `strobe query` */
};

#define HEAP_BYTES (1ull << 30) /* likewise */
#define EXACT      (1ll << 53)  /* whole numbers up to this are exact as JSON's */

/* What a column has had so far, bit by bit. */
enum { HAS_INT = 1, HAS_REAL = 2, HAS_TEXT = 4 };

/* The answer of the last statement so far. */
struct answer {
    struct strobe_out names, rows; /* owned: JSON, without brackets */
    struct strobe_json_writer json;
    uint8_t *has; /* owned: by column */
    unsigned n_columns;
    uint64_t n_rows, limit;
    int is_cut, n_statements;
};

/* ---- rows ---- */

static enum strobe_err take_head(void *context, const char *const *names, unsigned n_columns)
{
    struct answer *answer = context;
    struct strobe_json_writer json = {.out = &answer->names};
    strobe_out_clear(&answer->names);
    strobe_out_clear(&answer->rows);
    free(answer->has);
    answer->has = calloc(n_columns + 1ull, 1);
    if (!answer->has)
        return STROBE_ERR_NOMEM;
    for (unsigned i = 0; i < n_columns; i++)
        strobe_json_write_string(&json, NULL, names[i]);
    answer->json = (struct strobe_json_writer){.out = &answer->rows};
    answer->n_columns = n_columns;
    answer->n_rows = 0;
    answer->is_cut = 0;
    answer->n_statements++;
    return STROBE_OK;
}

/* A whole number that JSON's readers would round is {"i": "…"}; a number that JSON does not have {"r": "…"}. */
static void put_value(struct strobe_json_writer *json, const struct strobe_sql_value *value)
{
    char text[32];
    int is_large = value->type == STROBE_SQL_INT && (value->i > EXACT || value->i < -EXACT);
    int is_endless = value->type == STROBE_SQL_REAL && !isfinite(value->d);
    if (is_large || is_endless) {
        snprintf(text, sizeof text, "%" PRId64, is_large ? value->i : 0);
        strobe_json_write_open(json, NULL, '{');
        strobe_json_write_string(json, is_large ? "i" : "r",
                                 is_large       ? text
                                 : value->d > 0 ? "Infinity"
                                                : "-Infinity");
        strobe_json_write_close(json, '}');
    } else if (value->type == STROBE_SQL_INT) {
        strobe_json_write_i(json, NULL, value->i);
    } else if (value->type == STROBE_SQL_REAL) {
        strobe_json_write_double(json, NULL, value->d);
    } else if (value->type == STROBE_SQL_NULL) {
        strobe_json_write_null(json, NULL);
    } else {
        strobe_json_write_text(json, NULL, value->text, value->n);
    }
}

static enum strobe_err take_row(void *context, const struct strobe_sql_value *values,
                                unsigned n_columns)
{
    static const uint8_t bits[] = {
        [STROBE_SQL_INT] = HAS_INT, [STROBE_SQL_REAL] = HAS_REAL, [STROBE_SQL_TEXT] = HAS_TEXT};
    struct answer *answer = context;
    if (answer->n_rows == answer->limit || answer->rows.len >= MAX_BYTES) {
        answer->is_cut = 1;
        return STROBE_ERR_END; /* it is no failure: strobe_ask_answer_query knows */
    }
    strobe_json_write_open(&answer->json, NULL, '[');
    for (unsigned i = 0; i < n_columns; i++) {
        put_value(&answer->json, &values[i]);
        answer->has[i] |= bits[values[i].type];
    }
    strobe_json_write_close(&answer->json, ']');
    answer->n_rows++;
    return answer->rows.error ? STROBE_ERR_NOMEM : STROBE_OK;
}

static enum strobe_err take_end(void *context, uint64_t n_rows)
{
    (void)context, (void)n_rows;
    return STROBE_OK;
}

/* ---- the connection ---- */

/* The traces that a question is about, a line each: the one that is shown, then those of `with`. NULL: one is not there, which the
 * reply says, or there is no memory. */
static char *list_paths(const struct strobe_asker *asker, const struct strobe_json *question,
                        struct strobe_reply *reply)
{
    struct strobe_out list = {0};
    char name[512], path[STROBE_ASKER_PATH_ROOM];
    uint32_t with = strobe_json_member(question, 0, "with"), at = 0, value, n = 1;
    strobe_out_text(&list, asker->path);
    while ((value = strobe_json_next(question, with, &at)) && n++ < STROBE_ASKER_MAX_TRACES) {
        strobe_json_text(question, value, name, sizeof name);
        if (!strobe_ask_find(asker, name, path, reply)) {
            strobe_out_free(&list);
            return NULL;
        }
        strobe_out_char(&list, '\n');
        strobe_out_text(&list, path);
    }
    strobe_out_char(&list, 0);
    if (list.error) {
        strobe_out_free(&list);
        strobe_reply_string(reply, "error", strobe_err_text(STROBE_ERR_NOMEM));
    }
    return list.at;
}

static int is_closed(const struct strobe_sql *sql)
{
    const struct strobe_trace *trace;
    for (unsigned i = 0; (trace = strobe_sql_trace(sql, i)); i++)
        if (!strobe_file_facts(trace->file)->closed)
            return 0;
    return 1;
}

static enum strobe_err open_sql(struct strobe_asker *asker, char *list, unsigned *failed,
                                const char **paths)
{
    const struct strobe_sql_limits limits = {
        .timeout_ms = MAX_TIME_MS, .heap_bytes = HEAP_BYTES, .stop = &asker->stop};
    unsigned n = 0;
    for (char *rest = list, *path; (path = strsep(&rest, "\n"));)
        paths[n++] = path;
    return strobe_sql_open(paths, n, &limits, failed, &asker->sql);
}

/* A connection to these traces as they are now: one that is kept, where no trace of it grows. 0: the reply says why not. */
static int have_sql(struct strobe_asker *asker, const struct strobe_json *question,
                    struct strobe_reply *reply)
{
    const char *paths[STROBE_ASKER_MAX_TRACES] = {0};
    unsigned failed = 0;
    char *list = list_paths(asker, question, reply);
    if (!list)
        return 0;
    if (asker->sql && !strcmp(list, asker->sql_paths) && is_closed(asker->sql)) {
        free(list);
        return 1;
    }
    strobe_asker_rest(asker);
    asker->sql_paths = strdup(list);
    enum strobe_err err =
        asker->sql_paths ? open_sql(asker, list, &failed, paths) : STROBE_ERR_NOMEM;
    if (err) {
        strobe_ask_say_failed(asker, paths[failed] ? paths[failed] : "", err, reply);
        strobe_asker_rest(asker);
    }
    free(list);
    return !err;
}

/* ---- the answer ---- */

static void put_list(struct strobe_reply *reply, const char *name, struct strobe_out *list)
{
    strobe_reply_open(reply, name, '[');
    if (list->len)
        strobe_out_bytes(&reply->text, list->at, list->len);
    strobe_reply_close(reply, ']');
}

static const char *type_of(uint8_t has)
{
    static const char *const names[] = {"null", "int",   "real",  "real",
                                        "text", "mixed", "mixed", "mixed"};
    return names[has & 7];
}

static void put_coverage(struct strobe_sql *sql, struct strobe_reply *reply)
{
    uint64_t n_emitted = 0, n_stored = 0, n_holes = 0, n_bad_parts = 0;
    for (unsigned i = 0; strobe_sql_trace(sql, i); i++) {
        struct strobe_coverage coverage;
        struct strobe_sql_damage damage = strobe_sql_damage(sql, i);
        strobe_trace_coverage(strobe_sql_counted(sql, i), &coverage);
        n_emitted += coverage.n_emitted;
        n_stored += coverage.n_stored;
        n_holes += damage.n_holes;
        n_bad_parts += damage.n_bad_parts;
    }
    strobe_reply_u64(reply, "emitted", n_emitted);
    strobe_reply_u64(reply, "stored", n_stored);
    strobe_reply_u64(reply, "holes", n_holes + n_bad_parts);
}

static void put_answer(struct strobe_sql *sql, struct answer *answer, uint64_t ns,
                       struct strobe_reply *reply)
{
    put_list(reply, "columns", &answer->names);
    strobe_reply_open(reply, "types", '[');
    for (unsigned i = 0; i < answer->n_columns; i++)
        strobe_reply_string(reply, "", type_of(answer->has[i]));
    strobe_reply_close(reply, ']');
    put_list(reply, "rows", &answer->rows);
    strobe_reply_u64(reply, "n_rows", answer->n_rows);
    strobe_reply_bool(reply, "is_cut", answer->is_cut);
    strobe_reply_string(reply, "by",
                        strobe_sql_was_rewritten(sql) ? "SQLite over zone_sum" : "SQLite");
    strobe_reply_u64(reply, "took_ns", ns);
    put_coverage(sql, reply);
}

static void put_failure(const struct strobe_sql *sql, enum strobe_err err,
                        struct strobe_reply *reply)
{
    const char *words = strobe_sql_error(sql);
    strobe_reply_string(reply, "error", *words ? words : strobe_err_text(err));
    if (strobe_sql_error_at(sql) >= 0)
        strobe_reply_u64(reply, "at", (uint64_t)strobe_sql_error_at(sql));
}

void strobe_ask_answer_query(struct strobe_asker *asker, const struct strobe_json *question,
                             struct strobe_reply *reply)
{
    char *text = malloc(MAX_STATEMENT);
    struct answer answer = {.limit = strobe_json_count(question,
                                                       strobe_json_member(question, 0, "limit"),
                                                       SOME_ROWS, MAX_ROWS)};
    const struct strobe_sql_sink sink = {&answer, take_head, take_row, take_end};
    if (!text)
        strobe_reply_string(reply, "error", strobe_err_text(STROBE_ERR_NOMEM));
    else if (have_sql(asker, question, reply)) {
        uint64_t began = strobe_clock_mono_ns();
        strobe_json_text(question, strobe_json_member(question, 0, "sql"), text, MAX_STATEMENT);
        enum strobe_err err = strobe_sql_run(asker->sql, text, &sink);
        if (err && !(err == STROBE_ERR_END && answer.is_cut))
            put_failure(asker->sql, err, reply);
        else if (!answer.n_statements)
            strobe_reply_string(reply, "error", "there is no statement: SELECT * FROM hottest");
        else
            put_answer(asker->sql, &answer, strobe_clock_mono_ns() - began, reply);
    }
    strobe_out_free(&answer.names);
    strobe_out_free(&answer.rows);
    free(answer.has);
    free(text);
}
