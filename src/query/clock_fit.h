/* clock_fit.h - the map from one host's ticks to another's, from what was learned of both while they recorded: no I/O, no trace.
 *
 * A point says that tick x of the one was no earlier than tick lo and no later than tick hi of the other. Between points the map
 * can't leave the bounds by more than the clocks' rates allow: the average rate between two points is bounded by them, and
 * rates are taken to change by no more than 2 ppm around it. The tightest bounds that all points of a stretch allow together are
 * the proven ones; the map runs in their middle. Where there are none, a clock was stepped: a new stretch begins, and ticks in
 * between may belong to either.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_CLOCK_FIT_H
#define STROBE_QUERY_CLOCK_FIT_H

#include <stdint.h>

#include "base/err.h"
#include "file/retime.h"

struct strobe_clock_point {
    uint64_t x, lo,
        hi; /* lo 0, or hi UINT64_MAX: only the other bound is known, as of a message that went one way */
};

/* The map from x to the next knot's x is a straight line; errors hold on the way there, in ticks of the other clock. */
struct strobe_clock_knot {
    uint64_t x, y;
    double proven, likely;
    uint32_t n_steps; /* before its end */
};

struct strobe_clock_fit {
    struct strobe_clock_knot *knots; /* owned: rising in x and y */
    uint32_t n_knots, room;
    double rate; /* behind the last knot: ticks of the other clock for one */
    uint32_t n_steps;
};

struct strobe_clock_fit_options {
    double rate;          /* ticks of the other clock for one, as far as it is known otherwise */
    double tolerance;     /* and how far it may be off, relative */
    double second;        /* ticks x of a second */
    uint64_t first, last; /* ticks x that will be mapped */
};

/* Fit `n` points, in the order in which they were learned. NOMEM; INVALID: there is none with both bounds. */
enum strobe_err strobe_clock_fit_run(const struct strobe_clock_point *points, uint32_t n,
                                     const struct strobe_clock_fit_options *options,
                                     struct strobe_clock_fit *out);

/* First `a`, then `b`: the map from a's ticks to those that b leads to. */
enum strobe_err strobe_clock_fit_join(const struct strobe_clock_fit *a,
                                      const struct strobe_clock_fit *b,
                                      struct strobe_clock_fit *out);

/* As the blocks of a trace are put through it; pieces are freed by the caller. */
enum strobe_err strobe_clock_fit_map(const struct strobe_clock_fit *fit, struct strobe_retime *out);

void strobe_clock_fit_free(struct strobe_clock_fit *fit);

#endif
