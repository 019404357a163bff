/* clock_fit.c - see clock_fit.h.
 *
 * All sums are of differences to a clock's first reading, so that doubles have their digits where they matter. A clock's
 * line goes through the middle of its window: middle cycles and middle host time are means of its kept readings.
 * SPDX-License-Identifier: MIT */
#include "device/clock_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum { TRIPS = 33, LEAST_SPAN_NS = 1000 };
#define SLOW         1.25 /* times the median */
#define ASSUMED_RATE 1e-4 /* what the assumed frequency may be off by: 100 ppm */

struct reading {
    double cycles, host_ns; /* behind the clock's first */
    double half_ns;         /* half of the round trip */
};

/* How far the line may be off at the readings of a window: half a trip for the reading, and its distance. */
struct reach {
    double least, most; /* cycles of the first and the last reading */
    double within_ns, span_ns;
};

struct one_clock {
    uint64_t first_cycles, first_ns;
    uint64_t trips[TRIPS]; /* the last round trips, for their median */
    uint32_t n_trips, next_trip;
    struct reading window[STROBE_CLOCK_WINDOW];
    uint32_t n;
    bool has_first;
    uint64_t last_cycles, last_ns; /* of the last map: time does not step back */
    bool has_last;
    double mean_cycles, mean_ns, sum_cn, sum_nn; /* of the window */
    struct reach reach;                          /* of the window; set by refresh */
};

struct strobe_clock_fit {
    uint32_t n_clocks;
    double assumed, cycles_per_ns;
    bool has_slope, is_stale; /* stale: readings came since refresh */
    double rate;              /* what the slope may be off by; computed with it */
    uint64_t n_kept, n_added;
    struct one_clock clocks[];
};

enum strobe_err strobe_clock_line_fit(const struct strobe_clock_sample *samples, size_t n_samples,
                                      double ratio, struct strobe_clock_line *out)
{
    long double h = 0, d = 0, hh = 0, hd = 0, n = (long double)n_samples;
    if (n_samples < 2 || !(ratio > 0))
        return STROBE_ERR_INVALID;
    uint64_t h0 = samples[0].host_ns, d0 = samples[0].cycles;
    for (size_t i = 0; i < n_samples; i++) {
        long double host = (long double)(int64_t)(samples[i].host_ns - h0);
        long double device = (long double)(int64_t)(samples[i].cycles - d0);
        h += host;
        d += device;
        hh += host * host;
        hd += host * device;
    }
    long double below = n * hh - h * h;
    if (!(below > 0))
        return STROBE_ERR_INVALID;
    long double f = (n * hd - h * d) / (below * ratio);
    out->cycles_per_ns = (double)f;
    out->delay = (double)((d - f * ratio * h) / n + (long double)d0 - f * ratio * (long double)h0);
    return STROBE_OK;
}

enum strobe_err strobe_clock_fit_open(uint32_t n_clocks, uint32_t khz,
                                      struct strobe_clock_fit **out)
{
    *out = NULL;
    if (!n_clocks || !khz)
        return STROBE_ERR_INVALID;
    struct strobe_clock_fit *fit = calloc(1, sizeof *fit + n_clocks * sizeof fit->clocks[0]);
    if (!fit)
        return STROBE_ERR_NOMEM;
    fit->n_clocks = n_clocks;
    fit->assumed = fit->cycles_per_ns = khz * 1e-6;
    *out = fit;
    return STROBE_OK;
}

void strobe_clock_fit_close(struct strobe_clock_fit *fit)
{
    free(fit);
}

void strobe_clock_fit_reset(struct strobe_clock_fit *fit, uint32_t clock)
{
    STROBE_ASSERT(clock < fit->n_clocks);
    memset(&fit->clocks[clock], 0, sizeof fit->clocks[clock]);
    fit->is_stale = true;
}

static int by_size(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Note a round trip. Returns the median of the last ones. */
static uint64_t note_trip(struct one_clock *clock, uint64_t trip)
{
    uint64_t sorted[TRIPS];
    clock->trips[clock->next_trip] = trip;
    clock->next_trip = (clock->next_trip + 1) % TRIPS;
    if (clock->n_trips < TRIPS)
        clock->n_trips++;
    memcpy(sorted, clock->trips, clock->n_trips * sizeof sorted[0]);
    qsort(sorted, clock->n_trips, sizeof sorted[0], by_size);
    return sorted[clock->n_trips / 2];
}

/* Readings that were quick by the measure of their time, and are slow by today's: the first ones of a clock above all. */
static void drop_slow(struct one_clock *clock, double half_ns)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < clock->n; i++)
        if (clock->window[i].half_ns <= half_ns)
            clock->window[n++] = clock->window[i];
    clock->n = n;
}

/* Means and sums of a clock's window. */
static void sum_window(struct one_clock *clock)
{
    double cycles = 0, ns = 0;
    STROBE_ASSERT(clock->n && clock->n <= STROBE_CLOCK_WINDOW);
    for (uint32_t i = 0; i < clock->n; i++) {
        cycles += clock->window[i].cycles;
        ns += clock->window[i].host_ns;
    }
    clock->mean_cycles = cycles / clock->n;
    clock->mean_ns = ns / clock->n;
    clock->sum_cn = clock->sum_nn = 0;
    for (uint32_t i = 0; i < clock->n; i++) {
        double dn = clock->window[i].host_ns - clock->mean_ns;
        clock->sum_cn += (clock->window[i].cycles - clock->mean_cycles) * dn;
        clock->sum_nn += dn * dn;
    }
}

/* The shared slope, of all clocks' windows. */
static void fit_slope(struct strobe_clock_fit *fit)
{
    double cn = 0, nn = 0;
    for (uint32_t i = 0; i < fit->n_clocks; i++) {
        cn += fit->clocks[i].sum_cn;
        nn += fit->clocks[i].sum_nn;
    }
    fit->has_slope = nn > (double)LEAST_SPAN_NS * LEAST_SPAN_NS && cn > 0;
    fit->cycles_per_ns = fit->has_slope ? cn / nn : fit->assumed;
}

/* How far a reading is off the line, in host time. */
static double distance(const struct strobe_clock_fit *fit, const struct one_clock *clock,
                       const struct reading *one)
{
    double line = clock->mean_ns + (one->cycles - clock->mean_cycles) / fit->cycles_per_ns;
    return fabs(one->host_ns - line);
}

/* The window is in the order of adding; the oldest goes. */
static void keep(struct one_clock *clock, const struct reading *one)
{
    if (clock->n == STROBE_CLOCK_WINDOW)
        memmove(clock->window, clock->window + 1, --clock->n * sizeof *one);
    clock->window[clock->n++] = *one;
}

bool strobe_clock_fit_add(struct strobe_clock_fit *fit, uint32_t number, uint64_t cycles,
                          uint64_t before_ns, uint64_t after_ns)
{
    if (number >= fit->n_clocks || after_ns < before_ns)
        return false;
    struct one_clock *clock = &fit->clocks[number];
    uint64_t trip = after_ns - before_ns, middle = before_ns + trip / 2;
    fit->n_added++;
    uint64_t median = note_trip(clock, trip);
    if (clock->n && trip > median)
        return false;
    if (!clock->has_first) {
        clock->has_first = true;
        clock->first_cycles = cycles;
        clock->first_ns = middle;
    }
    struct reading one = {.cycles = (double)(int64_t)(cycles - clock->first_cycles),
                          .host_ns = (double)(int64_t)(middle - clock->first_ns) + (trip & 1) * 0.5,
                          .half_ns = 0.5 * (double)trip + 1};
    drop_slow(clock, 0.5 * SLOW * (double)median + 1);
    keep(clock, &one);
    sum_window(clock);
    fit->is_stale = true;
    fit->n_kept++;
    return true;
}

static struct reach reach_of(const struct strobe_clock_fit *fit, const struct one_clock *clock)
{
    struct reach out = {INFINITY, -INFINITY, 0, 0};
    double half = 0, off = 0;
    for (uint32_t i = 0; i < clock->n; i++) {
        const struct reading *one = &clock->window[i];
        out.least = fmin(out.least, one->cycles);
        out.most = fmax(out.most, one->cycles);
        half = fmax(half, one->half_ns);
        off = fmax(off, distance(fit, clock, one));
    }
    STROBE_ASSERT(out.most >= out.least);
    out.within_ns = half + off;
    out.span_ns = (out.most - out.least) / fit->cycles_per_ns;
    return out;
}

/* Slope, reaches, and what the slope may be off by. Two straight lines that are near at both ends of a window have slopes
 * that are near; so every window bounds it, and the best one counts. */
static void refresh(struct strobe_clock_fit *fit)
{
    if (!fit->is_stale)
        return;
    fit->is_stale = false;
    fit_slope(fit);
    fit->rate = fit->has_slope ? INFINITY : ASSUMED_RATE;
    for (uint32_t i = 0; i < fit->n_clocks; i++) {
        struct one_clock *clock = &fit->clocks[i];
        if (!clock->n)
            continue;
        clock->reach = reach_of(fit, clock);
        if (fit->has_slope && clock->reach.span_ns > 0)
            fit->rate = fmin(fit->rate, 2 * clock->reach.within_ns / clock->reach.span_ns);
    }
}

enum strobe_err strobe_clock_fit_map(struct strobe_clock_fit *fit, uint32_t number, uint64_t cycles,
                                     struct strobe_clock_time *out)
{
    if (number >= fit->n_clocks || !fit->clocks[number].n)
        return STROBE_ERR_NOTFOUND;
    struct one_clock *clock = &fit->clocks[number];
    refresh(fit);
    double at = (double)(int64_t)(cycles - clock->first_cycles);
    double ns = clock->mean_ns + (at - clock->mean_cycles) / fit->cycles_per_ns;
    int64_t rounded = llround(fmax(fmin(ns, 9e18), -9e18));
    uint64_t host = clock->first_ns + (uint64_t)rounded;
    if (rounded < 0 && (uint64_t)-rounded > clock->first_ns)
        host = 0; /* before the host's clock began */
    const struct reach *reach = &clock->reach;
    double beyond = fmax(fmax(reach->least - at, at - reach->most), 0) / fit->cycles_per_ns;
    out->uncertainty_ns = reach->within_ns + beyond * fit->rate + 1; /* 1: the result is rounded */
    if (clock->has_last && cycles >= clock->last_cycles && host < clock->last_ns) {
        out->uncertainty_ns += (double)(clock->last_ns - host);
        host = clock->last_ns;
    }
    clock->has_last = true;
    clock->last_cycles = cycles;
    clock->last_ns = host;
    out->host_ns = host;
    return STROBE_OK;
}

void strobe_clock_fit_quality(struct strobe_clock_fit *fit, struct strobe_clock_quality *out)
{
    refresh(fit);
    double squares = 0;
    uint64_t n = 0;
    *out = (struct strobe_clock_quality){.cycles_per_ns = fit->cycles_per_ns,
                                         .half_trip_ns = INFINITY,
                                         .n_kept = fit->n_kept,
                                         .n_added = fit->n_added};
    for (uint32_t i = 0; i < fit->n_clocks; i++)
        for (uint32_t k = 0; k < fit->clocks[i].n; k++, n++) {
            double away = distance(fit, &fit->clocks[i], &fit->clocks[i].window[k]);
            squares += away * away;
            out->max_ns = fmax(out->max_ns, away);
            out->half_trip_ns = fmin(out->half_trip_ns, fit->clocks[i].window[k].half_ns);
        }
    out->rms_ns = n ? sqrt(squares / (double)n) : 0;
}
