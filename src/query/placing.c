/* placing.c - see placing.h; the fit itself is clock_fit.c's.
 *
 * Traces of one clock are a group. The base is the longest recording of those that most others were compared with; its group is placed; of the others, one after the other, that which is known best
 * beside one that is placed already.  SPDX-License-Identifier: MIT */
#include "query/placing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "query/placing_flows.h"
#include "wire/file_layout.h"

/* A clock's rate is known from readings of so little error that a line drawn on goes wrong by no more than this. */
enum { PPM_OFF = 2, LEAST_NS = 20000 };
/* How far the ratio of two counters may be from what both say of themselves: each is measured against a clock that somebody
 * may slew. */
#define RATE_OFF 1e-3
/* And for the microseconds of an exchange, where it costs nothing to be careful. */
#define RATE_OFF_SHORT 5e-3

static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* The time between the first and the last reading of a trace's clock. */
static uint64_t span_ns(const struct strobe_clock *clock)
{
    return clock->n_syncs ? clock->syncs[clock->n_syncs - 1].mono_ns - clock->syncs[0].mono_ns : 0;
}

struct strobe_placing_clock strobe_placing_compare(const struct strobe_trace *base,
                                                   const struct strobe_trace *other)
{
    const struct strobe_clock *a = &base->clock, *b = &other->clock;
    struct strobe_placing_clock result = {.is_one = 1};
    if (!a->kind || a->kind != b->kind || !a->n_syncs || !b->n_syncs ||
        strcmp(strobe_trace_text(base, base->hostname, NULL),
               strobe_trace_text(other, other->hostname, NULL)))
        return (struct strobe_placing_clock){0};
    for (uint32_t i = 0; i < b->n_syncs; i++) {
        const struct strobe_sync *sync = &b->syncs[i];
        uint64_t off = distance(strobe_clock_at(a, sync->tick), (int64_t)sync->mono_ns);
        uint64_t reach = distance((int64_t)sync->mono_ns, (int64_t)a->syncs[0].mono_ns);
        uint64_t reach_end =
            distance((int64_t)sync->mono_ns, (int64_t)a->syncs[a->n_syncs - 1].mono_ns);
        uint64_t far = reach < reach_end ? reach : reach_end;
        if (off > LEAST_NS + a->error_ns + sync->error_ns + far / 1000000 * PPM_OFF)
            result.is_one = 0;
        if (off + sync->error_ns > result.error_ns)
            result.error_ns = off + sync->error_ns;
    }
    result.error_ns += a->error_ns;
    return result;
}

/* Times on CLOCK_MONOTONIC mean the same since one boot alone: wall clocks that are hours apart are of two. */
static int is_one_boot(const struct strobe_trace *a, const struct strobe_trace *b)
{
    return distance((int64_t)a->clock.real_offset_ns, (int64_t)b->clock.real_offset_ns) <
           60000000000ull;
}

/* Its recorder read the wall clock. */
static int has_wall(const struct strobe_trace *trace)
{
    const struct strobe_clock *clock = &trace->clock;
    return clock->n_syncs && (int64_t)(clock->syncs[0].mono_ns + clock->real_offset_ns) > 0;
}

int64_t strobe_placing_started_unix_ns(const struct strobe_trace *trace)
{
    const struct strobe_clock *clock = &trace->clock;
    return has_wall(trace) ? clock->origin_ns + (int64_t)clock->real_offset_ns : 0;
}

static int has_host(const struct strobe_trace *trace)
{
    return strobe_trace_text(trace, trace->hostname, NULL)[0] != 0;
}

int strobe_placing_is_of_host(const struct strobe_trace *trace)
{
    return trace->clock.kind == STROBE_CLOCK_MONO && has_wall(trace) && !has_host(trace);
}

/* Imported from a file whose times begin anywhere: that two of them have the same ticks means nothing. */
static int is_nowhere(const struct strobe_trace *trace)
{
    return !has_wall(trace) && !has_host(trace);
}

/* ---- points ---- */

struct placing {
    struct strobe_trace *const *traces;
    uint32_t n;
    uint32_t *group;    /* owned: the first trace of its clock */
    uint8_t *is_placed; /* owned: of groups */
    double
        *widths; /* owned: n rows of n groups: what the best exchange of both leaves open, in ns */
    struct strobe_placing_flows *flows; /* owned: of each trace, read when they are needed */
    struct strobe_placing *out;
};

struct points {
    struct strobe_clock_point *rows; /* owned */
    uint32_t n, room;
    int failed;
};

static double tick_ns(const struct strobe_clock *clock)
{
    return clock->mult ? (double)clock->mult / 4294967296.0 : 1; /* 0: one that stood still */
}

static int has_id(const struct strobe_trace *trace, const struct strobe_clock_exchange *exchange)
{
    for (uint32_t i = 0; i < trace->n_clock_names; i++)
        if (trace->clock_names[i].role == STROBE_CLOCK_ROLE_OWN &&
            trace->clock_names[i].id_high == exchange->id_high &&
            trace->clock_names[i].id_low == exchange->id_low)
            return 1;
    return 0;
}

static void add_point(struct points *points, struct strobe_clock_point point)
{
    if ((int64_t)(point.hi - point.lo) < 0)
        return; /* nothing that a clock could be */
    struct strobe_clock_point *row = STROBE_ARRAY_PUSH(points->rows, points->n, points->room);
    if (row)
        *row = point;
    else
        points->failed = 1;
}

/* What `asking` learned of `asked`, as points of the map from x, which is one of both, to the other. rate: its nominal slope. */
static void add_points(struct points *points, const struct strobe_trace *asking,
                       const struct strobe_trace *asked, int is_x, double rate)
{
    for (uint32_t i = 0; i < asking->n_exchanges; i++) {
        const struct strobe_clock_exchange *one = &asking->exchanges[i];
        uint64_t there = one->back - one->sent, away = one->answered - one->received;
        if (!has_id(asked, one) || there > 1ull << 40 || away > there * 64 + 1)
            continue; /* the second: nonsense */
        if (is_x) /* at `sent` it is no later than `received`, and at `back` no earlier than `answered` */
            add_point(points, (struct strobe_clock_point){
                                  one->sent,
                                  one->answered -
                                      (uint64_t)ceil((double)there * rate * (1 + RATE_OFF_SHORT)),
                                  one->received});
        else
            add_point(points,
                      (struct strobe_clock_point){
                          one->received, one->sent,
                          one->back - (uint64_t)((double)away * rate * (1 - RATE_OFF_SHORT))});
    }
}

static int by_time(const void *a, const void *b)
{
    const struct strobe_clock_point *x = a, *y = b;
    uint64_t at = x->lo ? x->lo : x->hi, other = y->lo ? y->lo : y->hi;
    return at < other ? -1 : at > other;
}

/* Flows that begin in one trace alone, once, and end in the other alone, once: nothing arrives before it was sent. */
static void add_flows(struct points *points, const struct strobe_placing_flows *from,
                      const struct strobe_placing_flows *to, int is_x)
{
    for (uint32_t i = 0; i < from->n; i++) {
        const struct strobe_placing_flow *sent = &from->rows[i], *got;
        if (sent->n_begins != 1 || sent->n_ends ||
            !(got = strobe_placing_flows_find(to, sent->id)) || got->n_ends != 1 || got->n_begins)
            continue;
        struct strobe_clock_point point = {sent->begin, 0, got->end};
        if (!is_x)
            point = (struct strobe_clock_point){got->end, sent->begin, UINT64_MAX};
        struct strobe_clock_point *row = STROBE_ARRAY_PUSH(points->rows, points->n, points->room);
        if (row)
            *row = point;
        else
            points->failed = 1;
    }
}

/* Those between two groups behind the points that are there. */
static enum strobe_err find_flows(const struct placing *p, uint32_t x, uint32_t y,
                                  struct points *points)
{
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < p->n && !err; i++)
        if ((p->group[i] == x || p->group[i] == y) && !p->flows[i].is_read)
            err = strobe_placing_flows_read(p->traces[i], &p->flows[i]);
    for (uint32_t i = 0; i < p->n && !err; i++)
        for (uint32_t k = 0; k < p->n && p->group[i] == x; k++)
            if (p->group[k] == y) {
                add_flows(points, &p->flows[i], &p->flows[k], 1);
                add_flows(points, &p->flows[k], &p->flows[i], 0);
            }
    return points->failed ? STROBE_ERR_NOMEM : err;
}

/* All that is known between the group of x and that of y. */
static void find_points(const struct placing *p, uint32_t x, uint32_t y, struct points *points)
{
    double rate = tick_ns(&p->traces[x]->clock) / tick_ns(&p->traces[y]->clock);
    points->n = 0;
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = 0; k < p->n && p->group[i] == x; k++)
            if (p->group[k] == y) {
                add_points(points, p->traces[i], p->traces[k], 1, rate);
                add_points(points, p->traces[k], p->traces[i], 0, rate);
            }
    if (points->n)
        qsort(points->rows, points->n, sizeof *points->rows, by_time);
}

/* ---- fits ---- */

/* The ticks that a group's traces have. */
static void find_range(const struct placing *p, uint32_t group, uint64_t *first, uint64_t *last)
{
    *first = UINT64_MAX;
    *last = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct strobe_trace *trace = p->traces[i];
        const struct strobe_clock *clock = &trace->clock;
        const struct strobe_trace_totals *totals = &strobe_file_facts(trace->file)->totals;
        if (p->group[i] != group || !clock->n_syncs)
            continue;
        uint64_t from = clock->syncs[0].tick, to = clock->syncs[clock->n_syncs - 1].tick;
        to += totals->has_totals ? 0 : (uint64_t)(2e9 / tick_ns(clock)); /* one that was killed */
        if (totals->has_totals && totals->tick_last) {
            from = totals->tick_first < from ? totals->tick_first : from;
            to = totals->tick_last > to ? totals->tick_last : to;
        }
        *first = from < *first ? from : *first;
        *last = to > *last ? to : *last;
    }
}

static enum strobe_err fit_group(const struct placing *p, uint32_t x, uint32_t y,
                                 const struct points *points, struct strobe_clock_fit *out)
{
    const struct strobe_clock *own = &p->traces[x]->clock, *other = &p->traces[y]->clock;
    struct strobe_clock_fit_options options = {
        .rate = tick_ns(own) / tick_ns(other), .tolerance = RATE_OFF, .second = 1e9 / tick_ns(own)};
    find_range(p, x, &options.first, &options.last);
    return strobe_clock_fit_run(points->rows, points->n, &options, out);
}

/* The same with the flows between both, where these fit: they may be of programs that number theirs alike. */
static enum strobe_err add_flows_to_fit(const struct placing *p, uint32_t x, uint32_t y,
                                        struct points *points, struct strobe_clock_fit *fit,
                                        uint32_t *n_flows)
{
    uint32_t n = points->n;
    struct strobe_clock_fit closer;
    enum strobe_err err = fit->n_steps ? STROBE_OK : find_flows(p, x, y, points);
    if (err || points->n == n)
        return err;
    qsort(points->rows, points->n, sizeof *points->rows, by_time);
    err = fit_group(p, x, y, points, &closer);
    if (err || closer.n_steps) {
        strobe_clock_fit_free(&closer);
        return err;
    }
    strobe_clock_fit_free(fit);
    *fit = closer;
    *n_flows = points->n - n;
    return STROBE_OK;
}

/* Put a group beside another that is placed. */
static enum strobe_err place_group(const struct placing *p, uint32_t x, uint32_t y,
                                   struct points *points, struct strobe_placing_row *row)
{
    const struct strobe_placing_row *other = &p->out->rows[y];
    struct strobe_clock_fit fit;
    enum strobe_err err = fit_group(p, x, y, points, &fit);
    if (err)
        return err;
    row->how = STROBE_CLOCK_HOW_COMPARED;
    row->n_exchanges = points->n;
    if ((err = add_flows_to_fit(p, x, y, points, &fit, &row->n_flows))) {
        strobe_clock_fit_free(&fit);
        return err;
    }
    if (!other->fit.n_knots) {
        row->fit = fit;
        return STROBE_OK;
    }
    row->how = STROBE_CLOCK_HOW_THROUGH;
    err = strobe_clock_fit_join(&fit, &other->fit, &row->fit);
    strobe_clock_fit_free(&fit);
    return err;
}

/* What the best exchange between any two groups leaves open. */
static void find_widths(struct placing *p)
{
    for (uint64_t i = 0; i < (uint64_t)p->n * p->n; i++)
        p->widths[i] = INFINITY;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct strobe_trace *asking = p->traces[i];
        for (uint32_t e = 0, asked = 0; e < asking->n_exchanges; e++) {
            const struct strobe_clock_exchange *one = &asking->exchanges[e];
            if (!has_id(p->traces[asked], one)) {
                for (asked = 0; asked < p->n && !has_id(p->traces[asked], one); asked++)
                    ;
                if (asked == p->n) { /* of a trace that is not here */
                    asked = 0;
                    continue;
                }
            }
            uint32_t x = p->group[i], y = p->group[asked];
            double ns = (double)(one->back - one->sent) * tick_ns(&asking->clock) -
                        (double)(one->answered - one->received) * tick_ns(&p->traces[asked]->clock);
            double *width = &p->widths[(uint64_t)x * p->n + y];
            *width = p->widths[(uint64_t)y * p->n + x] = fmin(*width, fmax(ns, 0));
        }
    }
}

/* The group that is known best beside one that is placed, placed in *row. *group UINT32_MAX: there is none. Where no exchange of both can be
 * one, row->fit has no knots, and they are not known beside each other any more. */
static enum strobe_err place_next(const struct placing *p, uint32_t *group,
                                  struct strobe_placing_row *row)
{
    double best = INFINITY, ns = tick_ns(&p->traces[p->out->base]->clock);
    uint32_t beside = 0;
    *group = UINT32_MAX;
    for (uint32_t x = 0; x < p->n; x++)
        for (uint32_t y = 0; y < p->n; y++) {
            if (p->group[x] != x || p->is_placed[x] || p->group[y] != y || !p->is_placed[y])
                continue;
            const struct strobe_clock_fit *fit = &p->out->rows[y].fit;
            double width = p->widths[(uint64_t)x * p->n + y];
            width += fit->n_knots ? fit->knots[fit->n_knots / 2].proven * ns : 0;
            if (width < best) {
                best = width;
                *group = x;
                beside = y;
            }
        }
    if (*group == UINT32_MAX)
        return STROBE_OK;
    struct points points = {0};
    find_points(p, *group, beside, &points);
    if (!points.n)
        p->widths[(uint64_t)*group * p->n + beside] = INFINITY;
    enum strobe_err err = points.failed ? STROBE_ERR_NOMEM
                          : points.n    ? place_group(p, *group, beside, &points, row)
                                        : STROBE_OK;
    free(points.rows);
    return err;
}

/* What converting to the wall clock adds, in who wrote a file of it: PyTorch's profiler takes the median of a thousand readings. */
enum { CONVERSION_NS = 1000 };

/* By the wall clocks of both: a line through the trace's first and last reading. */
static enum strobe_err place_by_wall(const struct placing *p, uint32_t i,
                                     struct strobe_placing_row *row)
{
    const struct strobe_clock *own = &p->traces[i]->clock;
    const struct strobe_clock *base = &p->traces[p->out->base]->clock;
    if (!has_wall(p->traces[i]) || !has_wall(p->traces[p->out->base]))
        return STROBE_ERR_INVALID;
    double rate = tick_ns(own) / tick_ns(base);
    int64_t real = strobe_clock_at(own, own->syncs[0].tick) + (int64_t)own->real_offset_ns;
    int64_t rel = real - (int64_t)base->real_offset_ns - base->origin_ns;
    int is_host = strobe_placing_is_of_host(p->traces[i]);
    double error_ns =
        (double)(base->error_ns + base->real_spread_ns + own->error_ns + CONVERSION_NS);
    row->how = is_host ? STROBE_CLOCK_HOW_HOST : STROBE_CLOCK_HOW_WALL;
    row->fit.rate = rate;
    struct strobe_clock_knot *knot =
        STROBE_ARRAY_PUSH(row->fit.knots, row->fit.n_knots, row->fit.room);
    if (!knot)
        return STROBE_ERR_NOMEM;
    *knot =
        (struct strobe_clock_knot){.x = own->syncs[0].tick, .y = strobe_clock_tick_of(base, rel)};
    if (is_host)
        knot->likely = knot->proven = error_ns / tick_ns(base);
    return STROBE_OK;
}

/* ---- all ---- */

/* How many traces are known beside the group of trace `from`, its own among them; is_placed has their groups then. */
static uint32_t count_known(struct placing *p, uint32_t from)
{
    uint32_t n = 0;
    int is_more = 1;
    memset(p->is_placed, 0, p->n);
    p->is_placed[p->group[from]] = 1;
    while (is_more) {
        is_more = 0;
        for (uint32_t x = 0; x < p->n; x++)
            for (uint32_t y = 0; y < p->n && !p->is_placed[x] && p->group[x] == x; y++)
                if (p->is_placed[y] && isfinite(p->widths[(uint64_t)x * p->n + y]))
                    is_more = p->is_placed[x] = 1;
    }
    for (uint32_t i = 0; i < p->n; i++)
        n += p->is_placed[p->group[i]];
    return n;
}

/* The longest recording, of those that most of the others can be placed beside. */
static void choose_base(struct placing *p)
{
    uint32_t most = 0;
    uint64_t longest = 0;
    uint8_t *seen =
        calloc(p->n, 1); /* groups that were counted; without memory each is counted anew */
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t n = p->group[i] != i || (seen && seen[i]) ? 0 : count_known(p, i);
        for (uint32_t k = 0; k < p->n && n && seen; k++)
            seen[k] |= p->is_placed[k];
        for (uint32_t k = 0; k < p->n && n >= most && n; k++) {
            uint64_t span = span_ns(&p->traces[k]->clock);
            if (!p->is_placed[p->group[k]] || (n == most && span <= longest))
                continue;
            most = n;
            longest = span;
            p->out->base = k;
        }
    }
    memset(p->is_placed, 0, p->n);
    free(seen);
}

/* Which traces have one clock, and whose the result has. */
static enum strobe_err find_groups(struct placing *p)
{
    struct strobe_placing *out = p->out;
    p->group = calloc(p->n, sizeof *p->group);
    p->is_placed = calloc(p->n, sizeof *p->is_placed);
    p->widths = calloc((size_t)p->n * p->n, sizeof *p->widths);
    p->flows = calloc(p->n, sizeof *p->flows);
    out->rows = calloc(p->n, sizeof *out->rows);
    out->n = p->n;
    if (!p->flows || !p->group || !p->is_placed || !p->widths || !out->rows)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t k = 0;
        p->group[i] = i;
        for (; k < i; k++)
            if (p->group[k] == k && !strobe_placing_is_of_host(p->traces[i]) &&
                !is_nowhere(p->traces[i]) && is_one_boot(p->traces[k], p->traces[i]) &&
                strobe_placing_compare(p->traces[k], p->traces[i]).is_one)
                break;
        p->group[i] = k;
    }
    find_widths(p);
    choose_base(p);
    p->is_placed[p->group[out->base]] = 1;
    return STROBE_OK;
}

/* What a row says in nanoseconds. */
static void sum_up(const struct placing *p, struct strobe_placing_row *row)
{
    double ns = tick_ns(&p->traces[p->out->base]->clock);
    uint32_t n_steps = 0;
    row->n_steps = row->fit.n_steps;
    for (uint32_t i = 0; i < row->fit.n_knots; i++) {
        const struct strobe_clock_knot *knot = &row->fit.knots[i];
        uint64_t proven = (uint64_t)ceil(knot->proven * ns);
        uint64_t likely = (uint64_t)ceil(knot->likely * ns);
        if (knot->n_steps > n_steps) {
            row->unsure_ns = proven > row->unsure_ns ? proven : row->unsure_ns;
            n_steps = knot->n_steps;
            continue;
        }
        row->proven_ns = proven > row->proven_ns ? proven : row->proven_ns;
        row->likely_ns = likely > row->likely_ns ? likely : row->likely_ns;
    }
}

static enum strobe_err place_all(struct placing *p, uint32_t *failed)
{
    struct strobe_placing_row *rows = p->out->rows;
    uint32_t group = 0;
    enum strobe_err err = STROBE_OK;
    while (!err && group != UINT32_MAX) {
        struct strobe_placing_row row = {0};
        err = place_next(p, &group, &row);
        if (!err && row.fit.n_knots) {
            rows[group] = row;
            p->is_placed[group] = 1;
        }
    }
    for (uint32_t i = 0; i < p->n && !err; i++) {
        *failed = i;
        uint32_t beside = p->group[i];
        if (beside == i && beside != p->group[p->out->base] && !rows[i].fit.n_knots)
            err = place_by_wall(p, i, &rows[i]);
    }
    return err;
}

/* The others of a group have its map; the base's need none. */
static enum strobe_err finish(struct placing *p)
{
    struct strobe_placing *out = p->out;
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = p->n; i-- > 0 && !err;) {
        struct strobe_placing_row *row = &out->rows[i], *first = &out->rows[p->group[i]];
        if (first->fit.n_knots)
            err = strobe_clock_fit_map(&first->fit, &row->map);
        row->how = i == out->base       ? STROBE_CLOCK_HOW_OWN
                   : first->fit.n_knots ? first->how
                                        : STROBE_CLOCK_HOW_SAME;
        if (row->how == STROBE_CLOCK_HOW_SAME)
            row->error_ns = strobe_placing_compare(p->traces[out->base], p->traces[i]).error_ns;
        if (row != first && first->fit.n_knots) {
            struct strobe_clock_fit *fit = &row->fit;
            row->n_exchanges = first->n_exchanges;
            row->n_flows = first->n_flows;
            *fit = first->fit;
            fit->knots = calloc(fit->n_knots, sizeof *fit->knots);
            if (!fit->knots) {
                *fit = (struct strobe_clock_fit){0};
                return STROBE_ERR_NOMEM;
            }
            fit->room = fit->n_knots;
            memcpy(fit->knots, first->fit.knots, fit->n_knots * sizeof *fit->knots);
        }
        sum_up(p, row);
    }
    return err;
}

enum strobe_err strobe_placing_run(struct strobe_trace *const *traces, uint32_t n,
                                   struct strobe_placing *out, uint32_t *failed)
{
    struct placing p = {.traces = traces, .n = n, .out = out};
    *out = (struct strobe_placing){0};
    STROBE_ASSERT(n);
    *failed = 0;
    enum strobe_err err = find_groups(&p);
    if (!err)
        err = place_all(&p, failed);
    if (!err)
        err = finish(&p);
    free(p.group);
    free(p.is_placed);
    free(p.widths);
    for (uint32_t i = 0; i < n && p.flows; i++)
        strobe_placing_flows_free(&p.flows[i]);
    free(p.flows);
    if (err)
        strobe_placing_free(out);
    return err;
}

void strobe_placing_free(struct strobe_placing *placing)
{
    for (uint32_t i = 0; i < placing->n && placing->rows; i++) {
        strobe_clock_fit_free(&placing->rows[i].fit);
        free(placing->rows[i].map.pieces);
    }
    free(placing->rows);
    uint32_t base = placing->base;
    *placing = (struct strobe_placing){.base = base};
}
