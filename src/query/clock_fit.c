/* clock_fit.c - see clock_fit.h. Numbers are distances from the first point, so that a double has them exactly.
 * SPDX-License-Identifier: MIT */
#include "query/clock_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

#define WANDER 2e-6  /* how far a clock's rate leaves its average */
#define STEP   30e-6 /* no clock's rate changes by that at once: it was stepped */
#define AGREED \
    200e-6 /* half of all bursts agree on the rate as well as that: it is right, whatever the recorders say */
#define ANY_RATE 0.1
#define STEP_S   1e-6 /* nor is a step less than that */
#define GROUP_S  0.1  /* points of one burst */
#define WINDOW_S 64.0 /* that an average is taken over */
#define LIKELY \
    0.5 /* of the proven error: what paths that are not alike both ways cost. Measured, docs/merge.md */

/* A point and its bounds; as they came, and as the others allow. */
struct bound {
    double x, lo, hi;    /* raw */
    double low, high;    /* tightened */
    double rate, spread; /* of the way to the next one */
    uint8_t is_step;     /* a step lies between it and the next one */
};

struct fitting {
    struct bound *bounds; /* owned: n */
    uint32_t n;
    uint32_t *best; /* owned: numbers of the best of each burst */
    uint32_t n_best;
    double *slopes; /* owned: room for n_best */
    double rate, second, tolerance;
    uint64_t x0, y0;
    const struct strobe_clock_fit_options *options;
    struct strobe_clock_fit *out;
};

static double mid(const struct bound *b)
{
    return (b->lo + b->hi) / 2;
}

static double half(const struct bound *b)
{
    return (b->hi - b->lo) / 2;
}

/* ---- rates ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The best of each burst; those with one bound are none. */
static void find_best(struct fitting *f)
{
    for (uint32_t i = 0; i < f->n;) {
        uint32_t best = i, j = i;
        while (j < f->n && fabs(f->bounds[j].x - f->bounds[i].x) < GROUP_S * f->second) {
            if (half(&f->bounds[j]) < half(&f->bounds[best]))
                best = j;
            j++;
        }
        if (isfinite(half(&f->bounds[best])))
            f->best[f->n_best++] = best;
        i = j;
    }
}

/* The rate that most bursts agree on, where it is one that is possible. */
static void find_rate(struct fitting *f)
{
    uint32_t n = 0;
    f->rate = f->options->rate;
    f->tolerance = f->options->tolerance;
    for (uint32_t i = 0; i + 1 < f->n_best; i++) {
        const struct bound *a = &f->bounds[f->best[i]], *b = &f->bounds[f->best[i + 1]];
        if (b->x > a->x)
            f->slopes[n++] = (mid(b) - mid(a)) / (b->x - a->x);
    }
    if (n < 2)
        return;
    qsort(f->slopes, n, sizeof *f->slopes, by_size);
    double median = f->slopes[n / 2], apart = f->slopes[n - 1 - n / 4] - f->slopes[n / 4];
    double off = fabs(median / f->rate - 1);
    int is_agreed = n >= 4 && apart < AGREED * median && off < ANY_RATE;
    if (off > f->tolerance && !is_agreed)
        return; /* a step that its own recorder did not notice falsifies the rate that it says */
    f->rate = median;
    f->tolerance = STEP;
}

/* Where the bests of two bursts can't both be right. */
static void find_steps(struct fitting *f)
{
    for (uint32_t i = 0; i + 1 < f->n_best; i++) {
        const struct bound *a = &f->bounds[f->best[i]], *b = &f->bounds[f->best[i + 1]];
        double off = fabs(mid(b) - mid(a) - f->rate * (b->x - a->x));
        double may =
            half(a) + half(b) + f->rate * (fabs(b->x - a->x) * f->tolerance + STEP_S * f->second);
        if (b->x <= a->x || off > may) /* the first point of the later burst is behind the step */
            for (uint32_t j = f->best[i]; j < f->best[i + 1]; j++)
                if (fabs(f->bounds[j + 1].x - f->bounds[j].x) >= GROUP_S * f->second / 2 ||
                    j + 1 == f->best[i + 1]) {
                    f->bounds[j].is_step = 1;
                    break;
                }
    }
}

/* The average over a window of bests, and how far off a moment's rate may be. Each two of them bound it from either side. */
static void window_rate(const struct fitting *f, uint32_t from, uint32_t end, double *rate,
                        double *spread)
{
    double least = f->rate * (1 - f->tolerance), most = f->rate * (1 + f->tolerance);
    for (uint32_t i = from; i < end; i++)
        for (uint32_t k = i + 1; k < end; k++) {
            const struct bound *a = &f->bounds[f->best[i]], *b = &f->bounds[f->best[k]];
            if (b->x <= a->x)
                continue;
            least = fmax(least, (b->lo - a->hi) / (b->x - a->x));
            most = fmin(most, (b->hi - a->lo) / (b->x - a->x));
        }
    *rate = (least + most) / 2; /* where they cross, the rate changed within the window */
    *spread = fabs(most - least) / 2 + WANDER * f->rate;
}

/* Points without a step between them, and the bests among them. */
struct stretch {
    uint32_t from, end, best_from, best_end;
};

/* The stretch that begins with point `from`; its bests begin with number `best`. */
static struct stretch next_stretch(const struct fitting *f, uint32_t from, uint32_t best)
{
    struct stretch stretch = {from, from + 1, best, best};
    while (stretch.end < f->n && !f->bounds[stretch.end - 1].is_step)
        stretch.end++;
    while (stretch.best_end < f->n_best && f->best[stretch.best_end] < stretch.end)
        stretch.best_end++;
    return stretch;
}

/* The rate from each of its points to the next: of windows, so that it may change slowly. */
static void find_rates(struct fitting *f, const struct stretch *stretch)
{
    uint32_t from = stretch->best_from, end = stretch->best_end, n_windows = 1;
    for (uint32_t i = stretch->from; i < stretch->end; i++) {
        f->bounds[i].rate = f->rate;
        f->bounds[i].spread = f->rate * f->tolerance;
    }
    if (from == end)
        return;
    double begin = f->bounds[f->best[from]].x, span = f->bounds[f->best[end - 1]].x - begin;
    if (span > 2 * WINDOW_S * f->second)
        n_windows = (uint32_t)(span / (WINDOW_S * f->second));
    for (uint32_t w = 0, at = from; at < end; w++) {
        double until = begin + span * (w + 1) / n_windows, rate, spread;
        uint32_t stop = at + 1;
        while (stop < end && (w + 1 >= n_windows || f->bounds[f->best[stop]].x < until))
            stop++;
        window_rate(f, at, stop, &rate, &spread);
        uint32_t last = stop == end ? stretch->end : f->best[stop];
        for (uint32_t i = at == from ? stretch->from : f->best[at]; i < last; i++) {
            f->bounds[i].rate = rate;
            f->bounds[i].spread = spread;
        }
        at = stop;
    }
}

/* ---- bounds ---- */

/* The least that the other clock can have advanced by on the way from a point; a way back is negative. */
static double least(const struct bound *from, double span)
{
    return span * (span > 0 ? from->rate - from->spread : from->rate + from->spread);
}

/* Each stretch's rates, then the bounds carried from point to point, there and back. The first interval that none can be right
 * for; UINT32_MAX: there is none. */
static uint32_t tighten(struct fitting *f)
{
    for (uint32_t from = 0, best = 0; from < f->n;) {
        struct stretch stretch = next_stretch(f, from, best);
        find_rates(f, &stretch);
        from = stretch.end;
        best = stretch.best_end;
    }
    for (uint32_t i = 0; i < f->n; i++) {
        f->bounds[i].low = f->bounds[i].lo;
        f->bounds[i].high = f->bounds[i].hi;
    }
    for (uint32_t i = 0; i + 1 < f->n; i++) {
        struct bound *a = &f->bounds[i], *b = a + 1;
        double span = b->x - a->x;
        if (a->is_step)
            continue;
        b->low = fmax(b->low, a->low + least(a, span));
        b->high = fmin(b->high, a->high - least(a, -span));
        if (b->low > b->high)
            return i;
    }
    for (uint32_t i = f->n - 1; i > 0; i--) {
        struct bound *b = &f->bounds[i], *a = b - 1;
        double span = b->x - a->x;
        if (a->is_step)
            continue;
        a->low = fmax(a->low, b->low + least(a, -span));
        a->high = fmin(a->high, b->high - least(a, span));
        if (a->low > a->high)
            return i - 1;
    }
    return UINT32_MAX;
}

/* ---- knots ---- */

static int push(struct fitting *f, double x, double y, double proven, double likely)
{
    struct strobe_clock_fit *out = f->out;
    uint64_t at = f->x0 + (uint64_t)(int64_t)llround(x);
    uint64_t to = f->y0 + (uint64_t)(int64_t)llround(y);
    struct strobe_clock_knot *last = out->n_knots ? &out->knots[out->n_knots - 1] : NULL;
    if (last && at < last->x)
        return 1;
    if (last && at == last->x) {
        last->proven = fmax(last->proven, proven + 1);
        last->likely = fmax(last->likely, likely + 1);
        return 1;
    }
    if (last && to < last->y)
        to = last->y;
    struct strobe_clock_knot *knot = STROBE_ARRAY_PUSH(out->knots, out->n_knots, out->room);
    if (!knot)
        return 0;
    *knot = (struct strobe_clock_knot){at, to, proven + 1, fmin(likely, proven) + 1, out->n_steps};
    return 1;
}

static double middle(const struct bound *b)
{
    return (b->low + b->high) / 2;
}

static double width(const struct bound *b)
{
    return (b->high - b->low) / 2;
}

/* The most that a time between two points can be off the line between their middles. */
static double between(const struct bound *a, const struct bound *b)
{
    double span = b->x - a->x, most = fmax(width(a), width(b));
    double slope = (middle(b) - middle(a)) / span;
    if (a->spread <= 0)
        return most;
    double t = (b->high - a->high - (a->rate - a->spread) * span) / (2 * a->spread);
    t = fmin(fmax(t, 0), span);
    most = fmax(most, a->high + (a->rate + a->spread) * t - middle(a) - slope * t);
    t = (a->low - b->low + (a->rate + a->spread) * span) / (2 * a->spread);
    t = fmin(fmax(t, 0), span);
    return fmax(most, middle(a) + slope * t - a->low - (a->rate - a->spread) * t);
}

/* Ticks outside of all points: the error grows with the distance. dir: 1 behind `b`, -1 before it. */
static int push_outside(struct fitting *f, const struct bound *b, int dir)
{
    uint64_t end = dir > 0 ? f->options->last : f->options->first;
    double distance = dir * (double)(int64_t)(end - f->x0) - dir * b->x;
    double reach[64];
    uint32_t n = 0;
    for (double at = f->second; distance > 0 && n < 63; at *= 2) {
        reach[n++] = fmin(at, distance);
        if (at >= distance)
            break;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = dir > 0 ? i : n - 1 - i; /* rising in x either way */
        double from = dir > 0 ? (k ? reach[k - 1] : 0) : reach[k];
        double proven = width(b) + b->spread * reach[k];
        if (!push(f, b->x + dir * from, middle(b) + dir * from * b->rate, proven, LIKELY * proven))
            return 0;
    }
    return 1;
}

/* A line through a stretch's point. */
static double line(const struct bound *b, double x)
{
    return middle(b) + b->rate * (x - b->x);
}

/* Ticks that may lie before or behind a step: from *from to *to. `a` and `b` are the points around it. */
static void unsure(const struct bound *a, const struct bound *b, double *from, double *to)
{
    double ticks = (middle(b) - middle(a)) / a->rate;
    *from = fmin(a->x, b->x - ticks);
    *to = fmax(b->x, a->x + ticks);
}

/* The bests of a stretch, without what lies before `from` and from `until` on: ticks that another stretch may have, too. */
static int push_stretch(struct fitting *f, const struct stretch *stretch, double from, double until)
{
    for (uint32_t i = stretch->best_from; i < stretch->best_end; i++) {
        const struct bound *b = &f->bounds[f->best[i]];
        const struct bound *next = i + 1 < stretch->best_end ? &f->bounds[f->best[i + 1]] : NULL;
        if (b->x < from || b->x >= until)
            continue;
        double proven = next ? between(b, next) : width(b);
        if (next && next->x > until) /* the line ends earlier, on that of the last point */
            proven += 2 * width(next) + next->spread * (next->x - until);
        if (!push(f, b->x, middle(b), proven, LIKELY * proven))
            return 0;
    }
    return 1;
}

static int push_step(struct fitting *f, const struct bound *a, const struct bound *b, double from,
                     double to)
{
    double there = fabs(line(b, from) - line(a, from)), here = fabs(line(b, to) - line(a, to));
    double more = width(a) + width(b) + (a->spread + b->spread) * (to - from);
    struct strobe_clock_fit *out = f->out;
    while (out->n_knots && (double)(int64_t)(out->knots[out->n_knots - 1].x - f->x0) >= from)
        out->n_knots--; /* a large step back: all of these ticks came twice */
    out->n_steps++;
    if (!push(f, from, line(a, from), fmax(there, here) + more, fmax(there, here) + more))
        return 0;
    double proven = width(b) + b->spread * fabs(to - b->x);
    return push(f, to, line(b, to), proven, LIKELY * proven);
}

static int make_knots(struct fitting *f)
{
    double from = -INFINITY;
    const struct bound *last = NULL;
    for (uint32_t at = 0, best = 0; at < f->n;) {
        struct stretch stretch = next_stretch(f, at, best);
        at = stretch.end;
        best = stretch.best_end;
        if (stretch.best_from == stretch.best_end)
            continue; /* a few points of a burst: too few for a map */
        const struct bound *next = best < f->n_best ? &f->bounds[f->best[best]] : NULL;
        double until = INFINITY, to = INFINITY;
        if (!last && !push_outside(f, &f->bounds[f->best[stretch.best_from]], -1))
            return 0;
        last = &f->bounds[f->best[stretch.best_end - 1]];
        if (next)
            unsure(last, next, &until, &to);
        if (!push_stretch(f, &stretch, from, until) ||
            (next && !push_step(f, last, next, fmax(until, from), to)))
            return 0;
        from = to;
    }
    STROBE_ASSERT(last);
    f->out->rate = last->rate;
    return push_outside(f, last, 1);
}

/* ---- all ---- */

static enum strobe_err start(struct fitting *f, const struct strobe_clock_point *points)
{
    f->bounds = calloc(f->n, sizeof *f->bounds);
    f->best = calloc(f->n, sizeof *f->best);
    f->slopes = calloc(f->n, sizeof *f->slopes);
    if (!f->bounds || !f->best || !f->slopes)
        return STROBE_ERR_NOMEM;
    uint32_t first = 0;
    while (first < f->n && (!points[first].lo || points[first].hi == UINT64_MAX))
        first++;
    if (first == f->n)
        return STROBE_ERR_INVALID;
    f->x0 = points[first].x;
    f->y0 = points[first].lo;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct strobe_clock_point *point = &points[i];
        f->bounds[i] = (struct bound){
            .x = (double)(int64_t)(point->x - f->x0),
            .lo = point->lo ? (double)(int64_t)(point->lo - f->y0) : -INFINITY,
            .hi = point->hi != UINT64_MAX ? (double)(int64_t)(point->hi - f->y0) : INFINITY};
    }
    return STROBE_OK;
}

enum strobe_err strobe_clock_fit_run(const struct strobe_clock_point *points, uint32_t n,
                                     const struct strobe_clock_fit_options *options,
                                     struct strobe_clock_fit *out)
{
    struct fitting f = {.n = n, .options = options, .out = out, .second = options->second};
    *out = (struct strobe_clock_fit){.rate = options->rate};
    if (!n)
        return STROBE_ERR_INVALID;
    enum strobe_err err = start(&f, points);
    if (!err) {
        uint32_t wrong;
        find_best(&f);
        find_rate(&f);
        find_steps(&f);
        while ((wrong = tighten(&f)) != UINT32_MAX)
            f.bounds[wrong].is_step = 1; /* each time one more: it ends */
        if (!make_knots(&f))
            err = STROBE_ERR_NOMEM;
    }
    free(f.bounds);
    free(f.best);
    free(f.slopes);
    if (err)
        strobe_clock_fit_free(out);
    return err;
}

/* ---- one behind the other ---- */

/* Where a fit puts a tick, and its number of knot. */
static double at_tick(const struct strobe_clock_fit *fit, uint64_t tick, uint64_t y0,
                      uint32_t *knot)
{
    const struct strobe_clock_knot *knots = fit->knots;
    uint32_t i = (uint32_t)STROBE_ARRAY_BISECT(1, fit->n_knots, k, knots[k].x <= tick) - 1;
    double rate = fit->rate, x = (double)(int64_t)(tick - knots[i].x);
    *knot = i;
    if (i + 1 < fit->n_knots)
        rate = (double)(knots[i + 1].y - knots[i].y) / (double)(knots[i + 1].x - knots[i].x);
    return (double)(int64_t)(knots[i].y - y0) + x * rate;
}

static int by_x(const void *a, const void *b)
{
    const struct strobe_clock_knot *x = a, *y = b;
    return x->x < y->x ? -1 : x->x > y->x;
}

/* The knots of both, in ticks of `a`. */
static enum strobe_err join_ticks(const struct strobe_clock_fit *a,
                                  const struct strobe_clock_fit *b, struct strobe_clock_fit *out)
{
    if (STROBE_ARRAY_RESERVE(out->knots, out->room, (uint64_t)a->n_knots + b->n_knots))
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < a->n_knots; i++)
        out->knots[out->n_knots++] = a->knots[i];
    for (uint32_t i = 0, k = 0; i < b->n_knots; i++) {
        uint64_t y = b->knots[i].x;
        while (k + 1 < a->n_knots && a->knots[k + 1].y <= y)
            k++;
        const struct strobe_clock_knot *from = &a->knots[k], *to = from + 1;
        if (k + 1 >= a->n_knots || y <= from->y || to->y <= from->y)
            continue;
        double share = (double)(y - from->y) / (double)(to->y - from->y);
        struct strobe_clock_knot knot = *from;
        knot.x += (uint64_t)(share * (double)(to->x - from->x));
        out->knots[out->n_knots++] = knot;
    }
    qsort(out->knots, out->n_knots, sizeof *out->knots, by_x);
    return STROBE_OK;
}

enum strobe_err strobe_clock_fit_join(const struct strobe_clock_fit *a,
                                      const struct strobe_clock_fit *b,
                                      struct strobe_clock_fit *out)
{
    *out = (struct strobe_clock_fit){.rate = a->rate * b->rate, .n_steps = a->n_steps + b->n_steps};
    enum strobe_err err = join_ticks(a, b, out);
    uint32_t n = 0;
    for (uint32_t i = 0; i < out->n_knots && !err; i++) {
        struct strobe_clock_knot knot = out->knots[i];
        uint64_t y0 = b->knots[0].y;
        uint32_t ka, kb, kc;
        uint64_t there =
            a->knots[0].y + (uint64_t)(int64_t)llround(at_tick(a, knot.x, a->knots[0].y, &ka));
        uint64_t reach = (uint64_t)a->knots[ka].proven; /* the other map may be another one there */
        knot.y = y0 + (uint64_t)(int64_t)llround(at_tick(b, there, y0, &kb));
        at_tick(b, there + reach, y0, &kc);
        double scale = b->rate > 0 ? b->rate : 1;
        knot.proven = a->knots[ka].proven * scale + fmax(b->knots[kb].proven, b->knots[kc].proven);
        knot.likely =
            hypot(a->knots[ka].likely * scale, fmax(b->knots[kb].likely, b->knots[kc].likely));
        knot.n_steps = a->knots[ka].n_steps + b->knots[kb].n_steps;
        if (n && knot.x == out->knots[n - 1].x)
            n--;
        if (n && knot.y < out->knots[n - 1].y)
            knot.y = out->knots[n - 1].y;
        out->knots[n++] = knot;
    }
    out->n_knots = n;
    if (err)
        strobe_clock_fit_free(out);
    return err;
}

enum strobe_err strobe_clock_fit_map(const struct strobe_clock_fit *fit, struct strobe_retime *out)
{
    const double one = (double)(1ull << STROBE_RETIME_SHIFT);
    out->pieces = calloc(fit->n_knots + 1ull, sizeof *out->pieces);
    out->n_pieces = 0;
    if (!out->pieces)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < fit->n_knots; i++) {
        const struct strobe_clock_knot *knot = &fit->knots[i], *next = knot + 1;
        uint64_t mult = fit->rate > 0 && fit->rate < 60 ? (uint64_t)(fit->rate * one) : 1;
        if (i + 1 < fit->n_knots) {
            unsigned __int128 ticks = (unsigned __int128)(next->y - knot->y) << STROBE_RETIME_SHIFT;
            ticks /= next->x - knot->x;
            mult = ticks >> 64 ? UINT64_MAX : (uint64_t)ticks;
        }
        out->pieces[out->n_pieces++] = (struct strobe_retime_piece){knot->x, knot->y, mult};
    }
    return STROBE_OK;
}

void strobe_clock_fit_free(struct strobe_clock_fit *fit)
{
    free(fit->knots);
    memset(fit, 0, sizeof *fit);
}
