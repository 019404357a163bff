/* answer_stats.c - statistics and histograms, as `strobe stats` makes them.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tracks.h"
#include "query/stats_step.h"

enum column { COUNT, TOTAL, SELF, MEAN, MIN, MAX, STD, P50, P90, P99, INCLUSIVE, N_COLUMNS };
enum { NAME = N_COLUMNS };
static const char *const column_names[] = {"count", "total", "self", "mean", "min",       "max",
                                           "std",   "p50",   "p90",  "p99",  "inclusive", "name"};

struct row {
    double number[N_COLUMNS];
    uint32_t loc;
    const char *name; /* borrowed from the trace; NULL: made_up */
    uint32_t n_name;
    char made_up[24];
};

static void convert(const struct strobe_clock *clock, const struct strobe_stats_row *from,
                    struct row *to)
{
    uint64_t total = strobe_clock_sum_ns(clock, from->total);
    to->number[COUNT] = (double)from->count;
    to->number[TOTAL] = (double)total;
    to->number[SELF] = (double)strobe_clock_sum_ns(clock, from->self);
    to->number[INCLUSIVE] = (double)strobe_clock_sum_ns(clock, from->inclusive);
    to->number[MEAN] = from->count ? (double)(total / from->count) : 0;
    to->number[MIN] = from->count ? (double)strobe_clock_ns(clock, from->min) : 0;
    to->number[MAX] = (double)strobe_clock_ns(clock, from->max);
    to->number[STD] = (double)strobe_clock_ns(clock, strobe_stats_std(from));
    for (int i = 0; i < STROBE_STATS_N_PERCENTILES; i++)
        to->number[P50 + i] = (double)strobe_clock_ns(clock, from->percentile[i]);
}

static __thread enum column sort_by;
static __thread int is_reversed;

static const char *name_of(const struct row *row)
{
    return row->name ? row->name : row->made_up;
}

static int compare_names(const struct row *a, const struct row *b)
{
    uint32_t n = a->n_name < b->n_name ? a->n_name : b->n_name;
    int order = memcmp(name_of(a), name_of(b), n);
    return order ? order : a->n_name < b->n_name ? -1 : a->n_name > b->n_name;
}

static int compare(const void *a, const void *b)
{
    const struct row *x = is_reversed ? b : a, *y = is_reversed ? a : b;
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
        return strobe_engine_loc(engine, row->process, row->loc_id);
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
        if (!from->count) /* none has ended yet */
            continue;
        row->loc = number_of_row(engine, from);
        row->name =
            strobe_trace_loc_name(engine->trace, from->loc, from->loc_id, room, &row->n_name);
        if (row->name == room) { /* no record names it */
            row->name = NULL;
            row->n_name =
                (uint32_t)snprintf(row->made_up, sizeof row->made_up, "loc %u", row->loc & 0xfffff);
        }
        if (!strobe_text_has(name_of(row), row->n_name, filter, n_filter))
            continue;
        convert(&engine->trace->clock, from, row);
        (*n)++;
    }
    sort_by = read_sort(question);
    is_reversed = strobe_engine_is_reversed(question);
    if (rows)
        qsort(rows, *n, sizeof *rows, compare);
    return rows;
}

/* Self time of all rows, whatever the filter: what a share of it is a share of. */
static uint64_t whole_self(const struct strobe_engine *engine, const struct strobe_stats *stats)
{
    unsigned __int128 ticks = 0;
    for (uint32_t i = 0; i < stats->n_rows; i++)
        ticks += stats->rows[i].self;
    return strobe_clock_sum_ns(&engine->trace->clock, ticks);
}

struct fibers {
    const struct strobe_engine *engine;
    const struct strobe_choice *choice;
};

static int has_fiber(void *context, uint32_t process, uint64_t fiber)
{
    const struct fibers *fibers = context;
    const struct strobe_tables *tables = &fibers->engine->tables;
    for (uint32_t i = 0; i < tables->n_tables; i++)
        if (tables->tables[i].kind == STROBE_TABLE_FIBER && tables->tables[i].process == process &&
            tables->tables[i].id == fiber)
            return strobe_choice_has_table(fibers->choice, fibers->engine, i);
    return 0;
}

/* What a question asks for. Free the choice. */
static enum strobe_err read_options(struct strobe_engine *engine,
                                    const struct strobe_json *question, struct fibers *fibers,
                                    struct strobe_choice *choice,
                                    struct strobe_stats_options *options)
{
    *options = (struct strobe_stats_options){0};
    *fibers = (struct fibers){engine, choice};
    options->by_tick = strobe_engine_span(engine, question, &options->tick_min, &options->tick_max);
    if (!strobe_choice_read(engine, question, choice))
        return STROBE_ERR_NOMEM;
    options->threads = choice->threads;
    options->n_threads = choice->n_threads;
    options->has_fiber = choice->threads ? has_fiber : NULL;
    options->context = fibers;
    return STROBE_OK;
}

/* Statistics that were made last. Of a large trace they are made in steps, and go on where the trace has grown. */
struct strobe_kept_stats {
    char *key; /* owned: of the questions that they answer */
    struct strobe_stats_steps steps;
    int is_stepped;
};

void strobe_kept_stats_free(struct strobe_kept_stats *kept)
{
    if (!kept)
        return;
    free(kept->key);
    strobe_stats_free(&kept->steps.stats);
    free(kept);
}

/* Blocks of a trace that is stepped through, or whose parts are; heads of a step. */
enum { LARGE = 256, LARGE_FOR_PARTS = 32, STEP = 512 };

/* Keys tell first how far the file had grown: what is stepped through goes on. */
static int is_same(const struct strobe_kept_stats *kept, const char *key)
{
    return kept->is_stepped ? !strcmp(strchr(kept->key, ' '), strchr(key, ' '))
                            : !strcmp(kept->key, key);
}

static struct strobe_kept_stats *renew(struct strobe_kept_stats **kept, const char *key)
{
    strobe_kept_stats_free(*kept);
    *kept = calloc(1, sizeof **kept);
    if (*kept && !((*kept)->key = strdup(key))) {
        free(*kept);
        *kept = NULL;
    }
    return *kept;
}

/* New ones, or the next step. */
static enum strobe_err make_stats(struct strobe_engine *engine, const char *key,
                                  const struct strobe_stats_options *options)
{
    struct strobe_kept_stats *kept = engine->stats;
    if (kept && is_same(kept, key) && !kept->is_stepped)
        return STROBE_OK;
    if ((!kept || !is_same(kept, key)) && !(kept = renew(&engine->stats, key)))
        return STROBE_ERR_NOMEM;
    int is_stepped = engine->view->n_blocks > (options->by_tick ? LARGE_FOR_PARTS : LARGE) &&
                     strobe_stats_may_step(engine->trace, options);
    if (is_stepped && !kept->steps.has_fibers) {
        kept->is_stepped = 1;
        enum strobe_err err = strobe_stats_step(engine->view, options, STEP, &kept->steps);
        if (err || !kept->steps.has_fibers)
            return err;
    }
    if (!(kept = renew(&engine->stats, key)))
        return STROBE_ERR_NOMEM;
    kept->steps.next_block = engine->view->n_blocks;
    return strobe_stats_run(engine->trace, options, &kept->steps.stats);
}

/* The statistics of a range: those that were made last, or new ones in their place. Sorting, filters and
 * histograms want the same ones. */
static enum strobe_err get_stats(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply, const struct strobe_stats **out)
{
    static const char *const members[] = {"from", "to", "tracks", NULL};
    struct strobe_stats_options options;
    struct strobe_choice choice = {0};
    struct fibers fibers;
    char *key = strobe_engine_key(engine, question, members);
    enum strobe_err err = read_options(engine, question, &fibers, &choice, &options);
    if (!err)
        err = key ? make_stats(engine, key, &options) : STROBE_ERR_NOMEM;
    if (err) {
        strobe_kept_stats_free(engine->stats);
        engine->stats = NULL;
    } else {
        uint32_t n = engine->view->n_blocks, at = engine->stats->steps.next_block;
        strobe_reply_bool(reply, "exact", at >= n);
        strobe_reply_number(reply, "share", n ? (double)at / n : 1);
    }
    free(key);
    strobe_choice_free(&choice);
    *out = err ? NULL : &engine->stats->steps.stats;
    return err;
}

void strobe_engine_answer_stats(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply)
{
    const struct strobe_stats *stats;
    uint32_t n = 0;
    enum strobe_err err = get_stats(engine, question, reply, &stats);
    struct row *rows = err ? NULL : make_rows(engine, question, stats, &n);
    uint64_t limit = strobe_engine_count(question, "limit", 10000, UINT32_MAX);
    if (!rows) {
        strobe_engine_answer_error(reply, strobe_err_text(err ? err : STROBE_ERR_NOMEM));
        return;
    }
    double total = 0, self = 0, n_zones = 0;
    for (uint32_t i = 0; i < n; i++) {
        total += rows[i].number[TOTAL];
        self += rows[i].number[SELF];
        n_zones += rows[i].number[COUNT];
    }
    uint32_t n_shown = n < limit ? n : (uint32_t)limit;
    strobe_reply_u64(reply, "n_rows", n);
    strobe_reply_number(reply, "n_zones", n_zones);
    strobe_reply_number(reply, "total", total);
    strobe_reply_number(reply, "self", self);
    strobe_reply_number(reply, "whole_self", (double)whole_self(engine, stats));
    uint32_t *locs = strobe_reply_u32(reply, "loc", n_shown);
    for (uint32_t i = 0; locs && i < n_shown; i++)
        locs[i] = rows[i].loc;
    for (int c = 0; c < (stats->has_inclusive ? N_COLUMNS : INCLUSIVE); c++) {
        double *column = strobe_reply_f64(reply, column_names[c], n_shown);
        for (uint32_t i = 0; column && i < n_shown; i++)
            column[i] = rows[i].number[c];
    }
    free(rows);
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
    for (int c = 0; c < INCLUSIVE; c++)
        strobe_reply_number(reply, column_names[c], numbers.number[c]);
    double *low = strobe_reply_f64(reply, "low", h->n),
           *high = strobe_reply_f64(reply, "high", h->n);
    double *count = strobe_reply_f64(reply, "n", h->n);
    for (uint32_t i = 0; low && high && count && i < h->n; i++) {
        uint32_t bucket = h->is_dense ? h->first + i : (uint32_t)(h->counts[i] & 2047);
        uint64_t times = h->is_dense ? h->counts[i] : h->counts[i] >> 11;
        if (!times)
            continue;
        low[n] = (double)strobe_clock_ns(clock, strobe_buckets_low(bucket));
        high[n] = (double)strobe_clock_ns(clock, strobe_buckets_low(bucket) +
                                                     strobe_buckets_width(bucket));
        count[n++] = (double)times;
    }
    for (uint32_t i = reply->n_arrays; i-- > 0 && reply->n_arrays - i <= 3;) {
        reply->arrays[i].n = n;
        reply->arrays[i].n_bytes = n * sizeof(double);
    }
}

void strobe_engine_answer_histogram(struct strobe_engine *engine,
                                    const struct strobe_json *question, struct strobe_reply *reply)
{
    const struct strobe_stats *stats;
    uint64_t loc =
        strobe_json_count(question, strobe_json_member(question, 0, "loc"), 0, UINT32_MAX);
    enum strobe_err err = get_stats(engine, question, reply, &stats);
    if (err) {
        strobe_engine_answer_error(reply, strobe_err_text(err));
        return;
    }
    for (uint32_t i = 0; i < stats->n_rows; i++)
        if (number_of_row(engine, &stats->rows[i]) == loc) {
            put_histogram(engine, reply, &stats->rows[i]);
            return;
        }
    strobe_reply_u64(reply, "count", 0);
    strobe_reply_f64(reply, "low", 0);
    strobe_reply_f64(reply, "high", 0);
    strobe_reply_f64(reply, "n", 0);
}
