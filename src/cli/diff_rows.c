/* diff_rows.c - see diff_rows.h.  SPDX-License-Identifier: MIT */
#include "cli/diff_rows.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/input.h"
#include "query/heap.h"
#include "query/samples.h"
#include "sql/sql.h"

/* Samples in a function, and in what it called. */
static enum strobe_err add_samples(struct strobe_diff *diff, struct strobe_trace *trace)
{
    const struct strobe_samples_options options = {0};
    struct strobe_samples samples;
    enum strobe_err err = strobe_samples_run(trace, &options, &samples);
    for (uint32_t i = 0; !err && i < samples.ids.n; i++) {
        uint32_t n;
        const char *name = strobe_texts_get(&samples.texts, samples.rows[i].name, &n);
        err = strobe_diff_add_row(diff, name, n, 1, (double)samples.rows[i].total,
                                  (double)samples.rows[i].self);
    }
    strobe_samples_free(&samples);
    return err;
}

static enum strobe_err add_figure(struct strobe_diff *diff, const char *of, const char *what,
                                  uint64_t bytes)
{
    char name[256];
    int n = snprintf(name, sizeof name, "%s: %s", of, what);
    return strobe_diff_add_row(diff, name, n < 0 ? 0 : strlen(name), 1, (double)bytes,
                               (double)bytes);
}

/* Of each pool what was allocated, the most that lived at once, and what was never freed; likewise of all together. */
static enum strobe_err add_memory(struct strobe_diff *diff, struct strobe_trace *trace)
{
    const struct strobe_heap_options options = {.to = UINT64_MAX};
    struct strobe_heap heap;
    enum strobe_err err = strobe_heap_run(trace, &options, &heap);
    for (uint32_t i = 0; !err && i <= heap.pool_ids.n; i++) {
        int is_all = i == heap.pool_ids.n;
        char room[STROBE_NAME_ROOM];
        uint32_t n;
        const struct strobe_heap_sums *sums = is_all ? &heap.sums : &heap.pools[i].sums;
        const char *name = is_all ? "all pools" : strobe_heap_pool_name(trace, &heap, i, room, &n);
        if (is_all && heap.pool_ids.n < 2)
            break;
        err = add_figure(diff, name, "allocated", sums->bytes);
        if (!err)
            err =
                add_figure(diff, name, "peak", is_all ? heap.peak_bytes : heap.pools[i].peak_bytes);
        if (!err && sums->live_bytes)
            err = add_figure(diff, name, "never freed", sums->live_bytes);
    }
    strobe_heap_free(&heap);
    return err;
}

static const struct strobe_diff_subject subjects[] = {
    {"zones", "zone", "ns", NULL, strobe_diff_add_zones},
    {"ops", "op", "ns",
     "SELECT coalesce(name, op), count(dur), sum(dur), sum(kernel_ns) FROM op GROUP BY 1", NULL},
    {"samples", "function", "", NULL, add_samples},
    {"memory", "memory", "bytes", NULL, add_memory},
    {"counters", "counter", "",
     "SELECT name, count(value), sum(value), sum(value) FROM counter GROUP BY name", NULL}};

const struct strobe_diff_subject *strobe_diff_find_subject(const char *name)
{
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        if (!strcmp(name, subjects[i].name))
            return &subjects[i];
    return NULL;
}

static double number_of(const struct strobe_sql_value *value)
{
    return value->type == STROBE_SQL_INT    ? (double)value->i
           : value->type == STROBE_SQL_REAL ? value->d
                                            : 0;
}

static enum strobe_err take_head(void *diff, const char *const *names, unsigned n_columns)
{
    (void)diff, (void)names, (void)n_columns;
    return STROBE_OK;
}

static enum strobe_err take_row(void *diff, const struct strobe_sql_value *values,
                                unsigned n_columns)
{
    int has_name = values[0].type == STROBE_SQL_TEXT;
    (void)n_columns;
    return strobe_diff_add_row(diff, has_name ? values[0].text : "(no name)",
                               has_name ? values[0].n : 9, (uint64_t)number_of(&values[1]),
                               number_of(&values[2]), number_of(&values[3]));
}

static enum strobe_err take_end(void *diff, uint64_t n_rows)
{
    (void)diff, (void)n_rows;
    return STROBE_OK;
}

static int add_query(struct strobe_diff *diff, const char *query, const char *path)
{
    const struct strobe_sql_sink sink = {diff, take_head, take_row, take_end};
    const struct strobe_sql_limits limits = {0};
    struct strobe_sql *sql;
    unsigned failed;
    enum strobe_err err = strobe_sql_open(&path, 1, &limits, &failed, &sql);
    if (err)
        strobe_cli_fail("diff", path, err);
    else if ((err = strobe_sql_run(sql, query, &sink)))
        strobe_cli_error("diff", "%s: %s", path, strobe_sql_error(sql));
    strobe_sql_close(sql);
    return !err;
}

int strobe_diff_add_subject(struct strobe_diff *diff, int set,
                            const struct strobe_diff_subject *subject, const char *path)
{
    enum strobe_err err = strobe_diff_add_run(diff, set);
    if (!err && subject->query)
        return add_query(diff, subject->query, path);
    struct strobe_trace *trace = err ? NULL : strobe_cli_open_trace("diff", path, 0);
    if (!err && !trace)
        return 0;
    if (!err)
        err = subject->add(diff, trace);
    if (err)
        strobe_cli_fail("diff", path, err);
    strobe_trace_close(trace);
    return !err;
}
