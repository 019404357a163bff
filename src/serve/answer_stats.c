/* answer_stats.c - statistics and histograms, as `strobe stats` makes them; messages and frames.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/stats.h"
#include "serve/engine.h"

enum column { COUNT, TOTAL, SELF, MEAN, MIN, MAX, STD, P50, P90, P99, N_COLUMNS, NAME = N_COLUMNS };
static const char *const column_names[] = {"count", "total", "self", "mean", "min", "max",
                                           "std",   "p50",   "p90",  "p99",  "name"};

struct row {
    double number[N_COLUMNS];
    uint32_t loc;
    const char *name; /* borrowed from the trace */
    uint32_t n_name;
};

static void convert(const struct strobe_clock *clock, const struct strobe_stats_row *from,
                    struct row *to)
{
    uint64_t total = strobe_clock_sum_ns(clock, from->total);
    to->number[COUNT] = (double)from->count;
    to->number[TOTAL] = (double)total;
    to->number[SELF] = (double)strobe_clock_sum_ns(clock, from->self);
    to->number[MEAN] = from->count ? (double)(total / from->count) : 0;
    to->number[MIN] = from->count ? (double)strobe_clock_ns(clock, from->min) : 0;
    to->number[MAX] = (double)strobe_clock_ns(clock, from->max);
    to->number[STD] = (double)strobe_clock_ns(clock, strobe_stats_std(from));
    for (int i = 0; i < STROBE_STATS_N_PERCENTILES; i++)
        to->number[P50 + i] = (double)strobe_clock_ns(clock, from->percentile[i]);
}

static __thread enum column sort_by;

static int compare_names(const struct row *a, const struct row *b)
{
    uint32_t n = a->n_name < b->n_name ? a->n_name : b->n_name;
    int order = memcmp(a->name, b->name, n);
    return order ? order : a->n_name < b->n_name ? -1 : a->n_name > b->n_name;
}

static int compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (sort_by < N_COLUMNS && x->number[sort_by] != y->number[sort_by])
        return x->number[sort_by] > y->number[sort_by] ? -1 : 1;
    int order = compare_names(x, y);
    return order ? order : x->loc < y->loc ? -1 : x->loc > y->loc;
}

static enum column read_sort(const struct strobe_json *question)
{
    uint32_t sort = strobe_json_member(question, 0, "sort");
    for (int i = 0; sort && i <= NAME; i++)
        if (strobe_json_is(question, sort, column_names[i]))
            return (enum column)i;
    return TOTAL;
}

static uint32_t number_of_row(struct strobe_engine *engine, const struct strobe_stats_row *row)
{
    if (row->loc == STROBE_IDMAP_NONE)
        return 0x80000000u | (uint32_t)(row->loc_id & 0xfffff);
    return row->loc < engine->n_canon ? engine->canon[row->loc] : row->loc + 1;
}

/* The rows that the filter lets through, converted and sorted. NULL without memory. */
static struct row *make_rows(struct strobe_engine *engine, const struct strobe_json *question,
                             const struct strobe_stats *stats, uint32_t *n)
{
    char filter[256], room[STROBE_NAME_ROOM];
    size_t n_filter = strobe_json_text(question, strobe_json_member(question, 0, "filter"), filter,
                                       sizeof filter);
    struct row *rows = calloc(stats->n_rows + 1ull, sizeof *rows);
    *n = 0;
    for (uint32_t i = 0; rows && i < stats->n_rows; i++) {
        const struct strobe_stats_row *from = &stats->rows[i];
        struct row *row = &rows[*n];
        row->name =
            strobe_trace_loc_name(engine->trace, from->loc, from->loc_id, room, &row->n_name);
        if (row->name == room) {
            row->name = "loc";
            row->n_name = 3;
        }
        if (!strobe_text_has(row->name, row->n_name, filter, n_filter))
            continue;
        row->loc = number_of_row(engine, from);
        convert(&engine->trace->clock, from, row);
        (*n)++;
    }
    sort_by = read_sort(question);
    if (rows)
        qsort(rows, *n, sizeof *rows, compare);
    return rows;
}

static enum strobe_err run_stats(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_stats *stats)
{
    struct strobe_stats_options options = {0};
    options.by_tick = strobe_engine_range(engine, question, &options.tick_min, &options.tick_max);
    uint8_t *threads = strobe_engine_threads(engine, question, &options.n_threads);
    options.threads = threads;
    enum strobe_err err = strobe_stats_run(engine->trace, &options, stats);
    free(threads);
    return err;
}

void strobe_answer_stats(struct strobe_engine *engine, const struct strobe_json *question,
                         struct strobe_reply *reply)
{
    struct strobe_stats stats = {0};
    uint32_t n = 0;
    enum strobe_err err = run_stats(engine, question, &stats);
    struct row *rows = err ? NULL : make_rows(engine, question, &stats, &n);
    uint64_t limit = strobe_json_count(question, strobe_json_member(question, 0, "limit"),
                                       UINT32_MAX, UINT32_MAX);
    if (!rows) {
        strobe_answer_error(reply, strobe_err_text(err ? err : STROBE_ERR_NOMEM));
        strobe_stats_free(&stats);
        return;
    }
    double total = 0;
    for (uint32_t i = 0; i < n; i++)
        total += rows[i].number[TOTAL];
    uint32_t n_shown = n < limit ? n : (uint32_t)limit;
    strobe_reply_u64(reply, "n_rows", n);
    strobe_reply_number(reply, "total", total);
    uint32_t *locs = strobe_reply_u32(reply, "loc", n_shown);
    for (uint32_t i = 0; locs && i < n_shown; i++)
        locs[i] = rows[i].loc;
    for (int c = 0; c < N_COLUMNS; c++) {
        double *column = strobe_reply_f64(reply, column_names[c], n_shown);
        for (uint32_t i = 0; column && i < n_shown; i++)
            column[i] = rows[i].number[c];
    }
    free(rows);
    strobe_stats_free(&stats);
}

/* ---- histogram ---- */

static void put_histogram(struct strobe_engine *engine, struct strobe_reply *reply,
                          const struct strobe_stats_row *row)
{
    const struct strobe_clock *clock = &engine->trace->clock;
    const struct strobe_histogram *h = &row->histogram;
    struct row numbers;
    uint32_t n = 0;
    convert(clock, row, &numbers);
    for (int c = 0; c < N_COLUMNS; c++)
        strobe_reply_number(reply, column_names[c], numbers.number[c]);
    double *low = strobe_reply_f64(reply, "low", h->n),
           *high = strobe_reply_f64(reply, "high", h->n);
    double *count = strobe_reply_f64(reply, "n", h->n);
    for (uint32_t i = 0; low && high && count && i < h->n; i++) {
        uint32_t bucket = h->is_dense ? h->first + i : (uint32_t)(h->counts[i] & 2047);
        uint64_t times = h->is_dense ? h->counts[i] : h->counts[i] >> 11;
        if (!times)
            continue;
        low[n] = (double)strobe_clock_ns(clock, strobe_bucket_low(bucket));
        high[n] =
            (double)strobe_clock_ns(clock, strobe_bucket_low(bucket) + strobe_bucket_width(bucket));
        count[n++] = (double)times;
    }
    for (uint32_t i = reply->n_arrays; i-- > 0 && reply->n_arrays - i <= 3;) {
        reply->arrays[i].n = n;
        reply->arrays[i].n_bytes = n * sizeof(double);
    }
}

void strobe_answer_histogram(struct strobe_engine *engine, const struct strobe_json *question,
                             struct strobe_reply *reply)
{
    struct strobe_stats stats = {0};
    uint64_t loc =
        strobe_json_count(question, strobe_json_member(question, 0, "loc"), 0, UINT32_MAX);
    enum strobe_err err = run_stats(engine, question, &stats);
    if (err) {
        strobe_answer_error(reply, strobe_err_text(err));
        strobe_stats_free(&stats);
        return;
    }
    for (uint32_t i = 0; i < stats.n_rows; i++)
        if (number_of_row(engine, &stats.rows[i]) == loc) {
            put_histogram(engine, reply, &stats.rows[i]);
            strobe_stats_free(&stats);
            return;
        }
    strobe_reply_u64(reply, "count", 0);
    strobe_stats_free(&stats);
}

/* ---- messages ---- */

static int is_wanted(const struct strobe_message *message, const uint8_t *threads, uint32_t n)
{
    return !threads || (message->thread < n && threads[message->thread]);
}

void strobe_answer_messages(struct strobe_engine *engine, const struct strobe_json *question,
                            struct strobe_reply *reply)
{
    struct strobe_tables *tables = &engine->tables;
    uint64_t lo, hi, total = 0, n_put = 0;
    uint32_t n_threads, n_text, after = strobe_json_member(question, 0, "after");
    char filter[256];
    strobe_tables_update(tables);
    strobe_engine_range(engine, question, &lo, &hi);
    uint8_t *threads = strobe_engine_threads(engine, question, &n_threads);
    uint64_t limit =
        strobe_json_count(question, strobe_json_member(question, 0, "limit"), 1000, 100000);
    uint64_t severity =
        strobe_json_count(question, strobe_json_member(question, 0, "severity"), 0, 255);
    size_t n_filter = strobe_json_text(question, strobe_json_member(question, 0, "filter"), filter,
                                       sizeof filter);
    uint64_t from = after ? strobe_engine_tick(engine, strobe_json_number(question, after, 0)) : 0;
    strobe_reply_open(reply, "messages", '[');
    for (uint32_t i = 0; i < tables->n_messages; i++) {
        const struct strobe_message *message = &tables->messages[i];
        const char *text = strobe_texts_get(&tables->texts, message->text, &n_text);
        if (message->tick < lo || message->tick > hi || (message->severity & 255) < severity ||
            !is_wanted(message, threads, n_threads) ||
            !strobe_text_has(text, n_text, filter, n_filter))
            continue;
        total++;
        if (message->tick < from || n_put++ >= limit)
            continue;
        strobe_reply_open(reply, "", '{');
        strobe_reply_number(reply, "t", strobe_engine_ns(engine, message->tick));
        strobe_reply_u64(reply, "track", strobe_engine_track_of(engine, message->thread));
        strobe_reply_u64(reply, "severity", message->severity);
        strobe_reply_u64(reply, "color", message->color);
        strobe_reply_text(reply, "text", text, n_text);
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
    strobe_reply_u64(reply, "total", total);
    free(threads);
}

/* ---- flows ---- */

static void put_arrow(struct strobe_engine *engine, struct strobe_reply *reply,
                      const struct strobe_flow_point *a, const struct strobe_flow_point *b)
{
    char flow[48];
    snprintf(flow, sizeof flow, "%llu/%llu",
             (unsigned long long)engine->trace->processes[a->process].proc,
             (unsigned long long)a->flow);
    strobe_reply_open(reply, "", '{');
    strobe_reply_string(reply, "flow", flow);
    strobe_reply_number(reply, "t0", strobe_engine_ns(engine, a->tick));
    strobe_reply_number(reply, "t1", strobe_engine_ns(engine, b->tick));
    strobe_reply_u64(reply, "track0", strobe_engine_track_of(engine, a->thread));
    strobe_reply_u64(reply, "depth0", a->depth);
    strobe_reply_u64(reply, "track1", strobe_engine_track_of(engine, b->thread));
    strobe_reply_u64(reply, "depth1", b->depth);
    strobe_reply_close(reply, '}');
}

static int is_thread_wanted(const uint8_t *threads, uint32_t n, uint32_t thread)
{
    return !threads || (thread < n && threads[thread]);
}

void strobe_answer_flows(struct strobe_engine *engine, const struct strobe_json *question,
                         struct strobe_reply *reply)
{
    const struct strobe_tables *tables = &engine->tables;
    uint64_t lo, hi, total = 0;
    uint32_t n;
    char wanted[48], flow[48];
    strobe_tables_update(&engine->tables);
    strobe_engine_range(engine, question, &lo, &hi);
    uint8_t *threads = strobe_engine_threads(engine, question, &n);
    uint64_t limit =
        strobe_json_count(question, strobe_json_member(question, 0, "limit"), 500, 5000);
    size_t n_wanted =
        strobe_json_text(question, strobe_json_member(question, 0, "flow"), wanted, sizeof wanted);
    strobe_reply_open(reply, "flows", '[');
    for (uint32_t i = 1; i < tables->n_flows; i++) {
        const struct strobe_flow_point *a = &tables->flows[i - 1], *b = &tables->flows[i];
        if (a->process != b->process || a->flow != b->flow || b->tick < lo || a->tick > hi ||
            (!is_thread_wanted(threads, n, a->thread) && !is_thread_wanted(threads, n, b->thread)))
            continue;
        snprintf(flow, sizeof flow, "%llu/%llu",
                 (unsigned long long)engine->trace->processes[a->process].proc,
                 (unsigned long long)a->flow);
        if (n_wanted && strcmp(flow, wanted))
            continue;
        if (total++ < limit)
            put_arrow(engine, reply, a, b);
    }
    strobe_reply_close(reply, ']');
    strobe_reply_u64(reply, "total", total);
    free(threads);
}

/* ---- frames ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void put_frame_sums(struct strobe_reply *reply, double *sizes, uint32_t n)
{
    double sum = 0;
    if (!n)
        return;
    qsort(sizes, n, sizeof *sizes, by_size);
    for (uint32_t i = 0; i < n; i++)
        sum += sizes[i];
    strobe_reply_number(reply, "mean", sum / n);
    strobe_reply_number(reply, "median", sizes[(n - 1) / 2]);
    strobe_reply_number(reply, "min", sizes[0]);
    strobe_reply_number(reply, "max", sizes[n - 1]);
}

void strobe_answer_frames(struct strobe_engine *engine, const struct strobe_json *question,
                          struct strobe_reply *reply)
{
    uint64_t lo, hi;
    uint32_t track = (uint32_t)strobe_json_count(question, strobe_json_member(question, 0, "track"),
                                                 0, UINT32_MAX);
    uint32_t index = track & 0xfffffff, n = 0, at = 0;
    strobe_tables_update(&engine->tables);
    strobe_engine_range(engine, question, &lo, &hi);
    if (track >> 28 != STROBE_TRACK_TABLE || index >= engine->tables.n_tables ||
        engine->tables.tables[index].kind != STROBE_TABLE_FRAMES) {
        strobe_answer_error(reply, "that is no track of frames");
        return;
    }
    const struct strobe_table *table = &engine->tables.tables[index];
    uint64_t limit =
        strobe_json_count(question, strobe_json_member(question, 0, "limit"), 10000, 1000000);
    double *sizes = malloc((table->n_rows + 1ull) * sizeof *sizes);
    for (uint32_t i = 0; sizes && i < table->n_rows; i++)
        if (table->rows[i].begin >= lo && table->rows[i].begin <= hi)
            sizes[n++] = (double)strobe_clock_ns(&engine->trace->clock,
                                                 table->rows[i].end - table->rows[i].begin);
    strobe_reply_u64(reply, "total", n);
    uint32_t n_shown = n < limit ? n : (uint32_t)limit;
    double *t0 = strobe_reply_f64(reply, "t0", n_shown),
           *t1 = strobe_reply_f64(reply, "t1", n_shown);
    for (uint32_t i = 0; t0 && t1 && i < table->n_rows && at < n_shown; i++)
        if (table->rows[i].begin >= lo && table->rows[i].begin <= hi) {
            t0[at] = strobe_engine_ns(engine, table->rows[i].begin);
            t1[at++] = strobe_engine_ns(engine, table->rows[i].end);
        }
    if (sizes)
        put_frame_sums(reply, sizes, n);
    free(sizes);
}
