/* diff.c - two sets of runs compared.
 *
 *   1. value of a zone in a run = log of its mean duration (or self time, or total)
 *   2. less the run's median over all zones that every run has: what they share
 *   3. difference of the sets' means; its variance is the zones' own, drawn towards that of all zones (moments.h)
 *   4. test against |difference| <= floor, corrected for the number of zones tested
 *
 * SPDX-License-Identifier: MIT */
#include "diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/map.h"
#include "diff/moments.h"
#include "query/stats.h"

enum {
    MIN_RUNS = 3,      /* of a side, for a verdict */
    SHIFT_ZONES = 8,   /* with fewer, a change of one is a change of all */
    CLOCK_STEPS = 3,   /* ns: shorter changes are the clock's */
    MOST_RUNS = 10000, /* that are recommended */
};

/* A zone in a run. */
struct cell {
    uint64_t count;
    double total_ns, self_ns;
};

struct zone {
    struct cell *cells; /* owned: by run, zero where the run lacks it */
    uint32_t cells_room;
};

struct strobe_diff {
    struct zone *zones; /* owned */
    uint32_t n_zones, zones_room;
    struct strobe_textmap keys; /* name NUL function NUL file, to the zone */
    struct run {
        int set;
    } * runs; /* owned */
    uint32_t n_runs, runs_room;
    struct strobe_diff_row *rows; /* owned: of the last comparison */
};

struct strobe_diff *strobe_diff_new(void)
{
    return calloc(1, sizeof(struct strobe_diff));
}

void strobe_diff_free(struct strobe_diff *diff)
{
    if (!diff)
        return;
    for (uint32_t i = 0; i < diff->n_zones; i++)
        free(diff->zones[i].cells);
    free(diff->zones);
    strobe_textmap_free(&diff->keys);
    free(diff->runs);
    free(diff->rows);
    free(diff);
}

/* The cell of a zone in a run, made if need be; NULL without memory. */
static struct cell *cell_of(struct strobe_diff *diff, uint32_t run, const char *key, size_t n_key)
{
    uint32_t entry;
    if (strobe_textmap_add(&diff->keys, key, n_key, &entry))
        return NULL;
    if (entry == diff->n_zones) {
        struct zone *zone = STROBE_ARRAY_PUSH(diff->zones, diff->n_zones, diff->zones_room);
        if (!zone)
            return NULL;
        memset(zone, 0, sizeof *zone);
    }
    STROBE_ASSERT(entry < diff->n_zones);
    struct zone *zone = &diff->zones[entry];
    return STROBE_ARRAY_REACH(zone->cells, zone->cells_room, run) ? NULL : &zone->cells[run];
}

enum strobe_err strobe_diff_add_run(struct strobe_diff *diff, int set)
{
    struct run *run = STROBE_ARRAY_PUSH(diff->runs, diff->n_runs, diff->runs_room);
    if (!run)
        return STROBE_ERR_NOMEM;
    run->set = set;
    return STROBE_OK;
}

enum strobe_err strobe_diff_add_row(struct strobe_diff *diff, const char *name, size_t n_name,
                                    uint64_t count, double total, double self)
{
    STROBE_ASSERT(diff->n_runs);
    char *key = calloc(1, n_name + 3);
    if (key)
        memcpy(key, name, strnlen(name, n_name));
    struct cell *cell = key ? cell_of(diff, diff->n_runs - 1, key, strlen(key) + 2) : NULL;
    free(key);
    if (!cell)
        return STROBE_ERR_NOMEM;
    cell->count += count;
    cell->total_ns += total;
    cell->self_ns += self;
    return STROBE_OK;
}

/* "name NUL function NUL file"; the caller frees it. NULL without memory. */
static char *make_key(const struct strobe_trace *trace, const struct strobe_stats_row *row,
                      size_t *n_key)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n[3] = {0};
    const char *parts[3] = {"", "", ""};
    parts[0] = strobe_trace_loc_name(trace, row->loc, row->loc_id, room, &n[0]);
    if (row->loc != STROBE_IDMAP_NONE) {
        parts[1] = strobe_trace_text(trace, trace->locs[row->loc].function, &n[1]);
        parts[2] = strobe_trace_text(trace, trace->locs[row->loc].file, &n[2]);
    }
    *n_key = (size_t)n[0] + n[1] + n[2] + 2;
    char *key = calloc(1, *n_key + 1), *at = key;
    for (int i = 0; key && i < 3; i++) {
        memcpy(at, parts[i], n[i]);
        at += n[i] + 1;
    }
    return key;
}

enum strobe_err strobe_diff_add_zones(struct strobe_diff *diff, struct strobe_trace *trace)
{
    const struct strobe_stats_options options = {.quick = 1};
    struct strobe_stats stats;
    STROBE_ASSERT(diff->n_runs);
    enum strobe_err err = strobe_stats_run(trace, &options, &stats);
    for (uint32_t i = 0; !err && i < stats.n_rows; i++) {
        const struct strobe_stats_row *row = &stats.rows[i];
        size_t n_key;
        char *key = make_key(trace, row, &n_key);
        struct cell *cell = key ? cell_of(diff, diff->n_runs - 1, key, n_key) : NULL;
        free(key);
        if (!cell) {
            err = STROBE_ERR_NOMEM;
            break;
        }
        cell->count += row->count;
        cell->total_ns += (double)strobe_clock_sum_ns(&trace->clock, row->total);
        cell->self_ns += (double)strobe_clock_sum_ns(&trace->clock, row->self);
    }
    strobe_stats_free(&stats);
    return err;
}

/* The log of what is compared; NAN: the run lacks the zone, or it is no number above 0. */
static double value_of(const struct zone *zone, uint32_t run,
                       const struct strobe_diff_options *options)
{
    if (run >= zone->cells_room || !zone->cells[run].count)
        return NAN;
    const struct cell *cell = &zone->cells[run];
    double value = options->metric == STROBE_DIFF_SELF ? cell->self_ns : cell->total_ns;
    if (options->metric != STROBE_DIFF_TOTAL)
        value /= (double)cell->count;
    if (options->is_no_time)
        return value > 0 ? log(value) : NAN;
    return log(value > 0.5 ? value : 0.5); /* shorter than the clock can tell */
}

/* The sets of one zone: number of runs, means, sum of squares around them. */
struct moments {
    uint32_t n[2];
    double mean[2], squares;
};

static struct moments moments_of(const struct strobe_diff *diff, const struct zone *zone,
                                 const struct strobe_diff_options *options, const double *shifts)
{
    struct moments m = {0};
    for (uint32_t i = 0; i < diff->n_runs; i++) {
        double value = value_of(zone, i, options);
        int set = diff->runs[i].set;
        if (isnan(value))
            continue;
        value -= shifts[i];
        m.n[set]++;
        double off = value - m.mean[set];
        m.mean[set] += off / m.n[set];
        m.squares += off * (value - m.mean[set]);
    }
    return m;
}

/* How much slower each run is than the others, over the zones that all have: shifts[run]. 0: too few zones. */
static int find_shifts(const struct strobe_diff *diff, const struct strobe_diff_options *options,
                       double *shifts, double *room)
{
    uint32_t n_common = 0;
    for (uint32_t i = 0; i < diff->n_runs; i++) {
        n_common = 0;
        for (uint32_t k = 0; k < diff->n_zones; k++) {
            double mean = 0;
            for (uint32_t j = 0; j < diff->n_runs; j++)
                mean += value_of(&diff->zones[k], j, options) / diff->n_runs;
            if (!isnan(mean))
                room[n_common++] = value_of(&diff->zones[k], i, options) - mean;
        }
        shifts[i] = n_common >= SHIFT_ZONES ? strobe_moments_median(room, n_common) : 0;
    }
    return n_common >= SHIFT_ZONES;
}

static void name_row(const struct strobe_diff *diff, uint32_t zone, struct strobe_diff_row *row)
{
    row->name = strobe_textmap_key(&diff->keys, zone);
    row->function = row->name + strlen(row->name) + 1;
    row->file = row->function + strlen(row->function) + 1;
}

static void count_zones(const struct strobe_diff *diff, const struct zone *zone,
                        struct strobe_diff_row *row)
{
    uint64_t least[2] = {UINT64_MAX, UINT64_MAX}, most[2] = {0};
    uint32_t n[2] = {0};
    for (uint32_t i = 0; i < diff->n_runs; i++) {
        uint64_t count = i < zone->cells_room ? zone->cells[i].count : 0;
        int set = diff->runs[i].set;
        least[set] = count < least[set] ? count : least[set];
        most[set] = count > most[set] ? count : most[set];
        row->count[set] += (double)count;
        n[set]++;
    }
    for (int i = 0; i < 2; i++)
        row->count[i] /= n[i] ? n[i] : 1;
    row->is_counted_otherwise = n[0] && n[1] && (least[0] > most[1] || least[1] > most[0]);
}

static double variance_of(const struct moments *m)
{
    double variance = m->squares / (m->n[0] + m->n[1] - 2);
    return variance > 1e-10 ? variance : 1e-10; /* a deviation of 0.001 % */
}

/* The test of one zone, with what all variances say together. */
static void test_zone(const struct moments *m, const struct strobe_moments_prior *prior,
                      double floor, struct strobe_diff_row *row)
{
    double df = m->n[0] + m->n[1] - 2, variance = variance_of(m);
    if (isinf(prior->df))
        variance = prior->scale;
    else
        variance = (prior->df * prior->scale + df * variance) / (prior->df + df);
    df += prior->df;
    double error = sqrt(variance * (1.0 / m->n[0] + 1.0 / m->n[1]));
    double change = m->mean[1] - m->mean[0], width = strobe_moments_t_at(0.025, df) * error;
    double least = log1p(floor);
    row->low = expm1(change - width);
    row->high = expm1(change + width);
    row->p = strobe_moments_t_above((fabs(change) - least) / error, df) +
             strobe_moments_t_above((fabs(change) + least) / error, df);
    row->p = row->p < 1 ? row->p : 1;
    /* where it would be decided: the interval ends at the nearer bound of the floor */
    double room = fabs(fabs(change) - least),
           need = 2 * variance * pow(2.2 / fmax(room, least / 8), 2);
    row->need_runs = (uint32_t)ceil(need < MOST_RUNS ? need : MOST_RUNS);
    uint32_t more = (m->n[0] > m->n[1] ? m->n[0] : m->n[1]) + 1;
    row->need_runs = row->need_runs > more ? row->need_runs : more;
}

static void judge(struct strobe_diff_row *row, double floor, double false_rate)
{
    if (row->false_rate <= false_rate)
        row->verdict = row->change > 0 ? STROBE_DIFF_SLOWER : STROBE_DIFF_FASTER;
    else if (row->low > -floor && row->high < floor)
        row->verdict = STROBE_DIFF_SAME;
    else
        row->verdict = STROBE_DIFF_UNKNOWN;
}

/* What the clock can't tell apart is no change. */
static double floor_of(const struct strobe_diff_row *row, const struct strobe_diff_options *options)
{
    double mean = fmin(row->value_ns[0], row->value_ns[1]);
    return options->is_no_time ? options->floor : fmax(options->floor, CLOCK_STEPS / fmax(mean, 1));
}

/* Rows with a test: theirs are numbered in `tested`. */
struct tests {
    struct moments *moments, *raw; /* by zone; raw: with what all zones have in common */
    uint32_t *tested;
    double *variances, *dfs, *p;
    double **order;
    size_t n;
};

static void fill_row(const struct strobe_diff *diff, uint32_t zone, const uint32_t *n_runs,
                     struct tests *tests, struct strobe_diff_row *row)
{
    const struct moments *m = &tests->moments[zone];
    *row = (struct strobe_diff_row){.low = NAN, .high = NAN, .p = NAN, .false_rate = NAN};
    name_row(diff, zone, row);
    count_zones(diff, &diff->zones[zone], row);
    for (int i = 0; i < 2; i++) {
        row->n_runs[i] = m->n[i];
        row->value_ns[i] = m->n[i] ? exp(tests->raw[zone].mean[i]) : NAN;
    }
    row->change = m->n[0] && m->n[1] ? expm1(m->mean[1] - m->mean[0]) : NAN;
    row->verdict = STROBE_DIFF_NO_TEST;
    if (!m->n[0] &&
        2 * m->n[1] > n_runs[1]) /* what is in few runs may have stayed away by chance */
        row->verdict = STROBE_DIFF_NEW;
    else if (!m->n[1] && 2 * m->n[0] > n_runs[0])
        row->verdict = STROBE_DIFF_GONE;
    if (m->n[0] < MIN_RUNS || m->n[1] < MIN_RUNS)
        return;
    tests->variances[tests->n] = variance_of(m);
    tests->dfs[tests->n] = m->n[0] + m->n[1] - 2;
    tests->tested[tests->n++] = zone;
}

static void test_rows(struct strobe_diff *diff, const struct strobe_diff_options *options,
                      struct tests *tests)
{
    struct strobe_moments_prior prior = strobe_moments_fit(tests->variances, tests->dfs, tests->n);
    for (size_t i = 0; i < tests->n; i++) {
        struct strobe_diff_row *row = &diff->rows[tests->tested[i]];
        test_zone(&tests->moments[tests->tested[i]], &prior, floor_of(row, options), row);
        tests->p[i] = row->p;
    }
    strobe_moments_false_rates(tests->p, tests->n, tests->order);
    for (size_t i = 0; i < tests->n; i++) {
        struct strobe_diff_row *row = &diff->rows[tests->tested[i]];
        row->false_rate = tests->p[i];
        judge(row, floor_of(row, options), options->false_rate);
    }
}

/* The time that a row's change makes in a run. */
static double weight_of(const struct strobe_diff_row *row)
{
    double a = isnan(row->value_ns[0]) ? 0 : row->value_ns[0] * row->count[0];
    double b = isnan(row->value_ns[1]) ? 0 : row->value_ns[1] * row->count[1];
    return fabs(b - a);
}

static int compare_rows(const void *a, const void *b)
{
    const struct strobe_diff_row *x = a, *y = b;
    if (x->verdict != y->verdict)
        return x->verdict < y->verdict ? -1 : 1;
    double u = weight_of(x), v = weight_of(y);
    return u > v ? -1 : u < v ? 1 : strcmp(x->name, y->name);
}

/* What the runs of each side have in common, compared over runs. */
static void compare_shifts(const struct strobe_diff *diff, const double *shifts,
                           struct strobe_diff_result *out)
{
    double mean[2] = {0}, squares = 0;
    for (uint32_t i = 0; i < diff->n_runs; i++)
        mean[diff->runs[i].set] += shifts[i] / out->n_runs[diff->runs[i].set];
    for (uint32_t i = 0; i < diff->n_runs; i++)
        squares += pow(shifts[i] - mean[diff->runs[i].set], 2);
    double df = (double)out->n_runs[0] + out->n_runs[1] - 2, width = NAN;
    if (out->n_runs[0] >= MIN_RUNS && out->n_runs[1] >= MIN_RUNS)
        width = strobe_moments_t_at(0.025, df) *
                sqrt(squares / df * (1.0 / out->n_runs[0] + 1.0 / out->n_runs[1]));
    out->shift = expm1(mean[1] - mean[0]);
    out->shift_low = expm1(mean[1] - mean[0] - width);
    out->shift_high = expm1(mean[1] - mean[0] + width);
}

static int make_tests(struct tests *tests, size_t n)
{
    *tests = (struct tests){.moments = calloc(n, sizeof *tests->moments),
                            .raw = calloc(n, sizeof *tests->raw),
                            .tested = calloc(n, sizeof *tests->tested),
                            .variances = calloc(n, sizeof *tests->variances),
                            .dfs = calloc(n, sizeof *tests->dfs),
                            .p = calloc(n, sizeof *tests->p),
                            .order = calloc(n, sizeof *tests->order)};
    return tests->moments && tests->raw && tests->tested && tests->variances && tests->dfs &&
           tests->p && tests->order;
}

static void free_tests(struct tests *tests)
{
    free(tests->moments);
    free(tests->raw);
    free(tests->tested);
    free(tests->variances);
    free(tests->dfs);
    free(tests->p);
    free(tests->order);
}

enum strobe_err strobe_diff_run(struct strobe_diff *diff, const struct strobe_diff_options *options,
                                struct strobe_diff_result *out)
{
    struct tests tests;
    size_t n = diff->n_zones + (size_t)1;
    double *shifts = calloc(diff->n_runs + (size_t)1, sizeof *shifts);
    free(diff->rows);
    diff->rows = calloc(n, sizeof *diff->rows);
    *out = (struct strobe_diff_result){
        .rows = diff->rows, .n_rows = diff->n_zones, .is_no_time = options->is_no_time};
    if (!make_tests(&tests, n) || !shifts || !diff->rows) {
        free_tests(&tests);
        free(shifts);
        return STROBE_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < diff->n_runs; i++)
        out->n_runs[diff->runs[i].set]++;
    for (uint32_t i = 0; i < diff->n_zones; i++)
        tests.raw[i] = moments_of(diff, &diff->zones[i], options, shifts); /* all 0 yet */
    out->has_shift = find_shifts(diff, options, shifts, tests.p);
    for (uint32_t i = 0; i < diff->n_zones; i++) {
        tests.moments[i] = moments_of(diff, &diff->zones[i], options, shifts);
        fill_row(diff, i, out->n_runs, &tests, &diff->rows[i]);
    }
    test_rows(diff, options, &tests);
    compare_shifts(diff, shifts, out);
    for (uint32_t i = 0; i < diff->n_zones; i++)
        out->n_of[diff->rows[i].verdict]++;
    qsort(diff->rows, diff->n_zones, sizeof *diff->rows, compare_rows);
    free_tests(&tests);
    free(shifts);
    return STROBE_OK;
}
