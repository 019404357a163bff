/* own_clock.c - the map of a client's clock: fits it while it runs.  SPDX-License-Identifier: MIT */
#include "tracy/own_clock.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"

static const double window_ns = 50e6, piece_ns = 500e6;
static const double drift_most = 2000e-6; /* that is believed */
static const double drift_unknown = 1000e-6;
static const double delay_unknown_ns = 20e6;
static const double delay_least_ns = 20e3; /* of a socket and a wake-up, at the very best */

void strobe_own_clock_init(struct strobe_own_clock *clock, double client_tick_ns, double tick_ns)
{
    memset(clock, 0, sizeof *clock);
    clock->scale = client_tick_ns / tick_ns;
    clock->tick_ns = tick_ns;
}

void strobe_own_clock_round_trip(struct strobe_own_clock *clock, uint64_t ticks)
{
    if (!clock->round_trip || (double)ticks < clock->round_trip)
        clock->round_trip = ticks ? (double)ticks : 1;
}

/* ---- fitting ---- */

static double since_start(const struct strobe_own_clock *clock, uint64_t tick)
{
    return (double)(int64_t)(tick - clock->tick0);
}

/* What the client's time since the first point would be in ticks, if it kept what it says. */
static double nominal(const struct strobe_own_clock *clock, int64_t time)
{
    return ((double)time - (double)clock->time0) * clock->scale;
}

static double half_trip(const struct strobe_own_clock *clock)
{
    double trip = clock->round_trip ? clock->round_trip : delay_unknown_ns / clock->tick_ns;
    double least = delay_least_ns / clock->tick_ns;
    return (trip > least ? trip : least) / 2;
}

static void add_piece(struct strobe_own_clock *clock, int64_t time, uint64_t tick, double slope,
                      double error)
{
    strobe_clock_map_add(&clock->map, time, tick, clock->scale * slope, error * clock->tick_ns);
    clock->next_piece = since_start(clock, tick) + piece_ns / clock->tick_ns;
}

void strobe_own_clock_start(struct strobe_own_clock *clock, int64_t time, uint64_t tick,
                            double error)
{
    clock->time0 = clock->map.latest = time;
    clock->tick0 = tick;
    error += drift_unknown * piece_ns / clock->tick_ns;
    add_piece(clock, time, tick, 1.0, error);
    clock->next_piece /= 4; /* soon again: little is known yet */
}

static const struct strobe_own_window *window_at(const struct strobe_own_clock *clock, uint64_t i)
{
    return &clock->windows[i % STROBE_OWN_WINDOWS];
}

/* The window of the least delay, freed of `drift`, in [from, to). */
static const struct strobe_own_window *least_delay(const struct strobe_own_clock *clock,
                                                   uint64_t from, uint64_t to, double drift)
{
    STROBE_ASSERT(from < to && to - from <= STROBE_OWN_WINDOWS && to <= clock->n_windows);
    const struct strobe_own_window *best = window_at(clock, from);
    for (uint64_t i = from + 1; i < to; i++) {
        const struct strobe_own_window *window = window_at(clock, i);
        if (window->delay - drift * window->at < best->delay - drift * best->at)
            best = window;
    }
    return best;
}

struct fit {
    double drift, intercept;
    double spread; /* by which the least delays of windows differ, typically */
    double span;   /* ticks that the drift was measured over; 0: it was not */
};

/* The mean of how far the windows' least delays lie above the line: large where few events are
 * prompt, and then the line itself is not worth more. */
static double spread_of(const struct strobe_own_clock *clock, uint64_t from, const struct fit *fit)
{
    double sum = 0;
    for (uint64_t i = from; i < clock->n_windows; i++) {
        const struct strobe_own_window *window = window_at(clock, i);
        sum += window->delay - (fit->intercept + fit->drift * window->at);
    }
    return sum / (double)(clock->n_windows - from);
}

static struct fit fit_windows(const struct strobe_own_clock *clock)
{
    uint64_t from =
        clock->n_windows > STROBE_OWN_WINDOWS ? clock->n_windows - STROBE_OWN_WINDOWS : 0;
    uint64_t n = clock->n_windows - from, middle = from + n / 2;
    struct fit fit = {.drift = clock->drift};
    if (n >= 8) {
        const struct strobe_own_window *a = least_delay(clock, from, middle, clock->drift);
        const struct strobe_own_window *b =
            least_delay(clock, middle, clock->n_windows, clock->drift);
        fit.span = b->at - a->at;
        fit.drift = (b->delay - a->delay) / fit.span;
        if (fabs(fit.drift) > drift_most)
            fit.drift = copysign(drift_most, fit.drift);
    }
    const struct strobe_own_window *least = least_delay(clock, from, clock->n_windows, fit.drift);
    fit.intercept = least->delay - fit.drift * least->at;
    fit.spread = spread_of(clock, from, &fit);
    return fit;
}

/* What is not known of the line one piece ahead. */
static double error_ahead(const struct strobe_own_clock *clock, const struct fit *fit)
{
    double ahead = 2 * piece_ns / clock->tick_ns, doubt = drift_unknown;
    double least = delay_least_ns / clock->tick_ns;
    double spread = fit->spread > least ? fit->spread : least;
    if (fit->span > 0)
        doubt = 2 * spread / fit->span;
    if (doubt > drift_most)
        doubt = drift_most;
    return half_trip(clock) + 2 * spread + doubt * ahead;
}

/* A piece begins at the first tick that no stored event can have: those before it stay what they
 * are. */
static void new_piece(struct strobe_own_clock *clock)
{
    int64_t time;
    uint64_t tick;
    strobe_clock_map_behind(&clock->map, &time, &tick);
    if (time <= strobe_clock_map_last(&clock->map)->time)
        return;
    STROBE_ASSERT(clock->n_windows && clock->map.n_pieces); /* there is something to go by */
    struct fit fit = fit_windows(clock);
    double at = nominal(clock, time), ahead = piece_ns / clock->tick_ns;
    double target = at + fit.intercept + fit.drift * at - half_trip(clock);
    double off = since_start(clock, tick) - target;
    double slope = 1 + fit.drift - off / ahead;
    slope = slope < 0.5 ? 0.5 : slope > 2 ? 2 : slope;
    clock->drift = fit.drift;
    add_piece(clock, time, tick, slope, error_ahead(clock, &fit) + fabs(off));
}

static void close_window(struct strobe_own_clock *clock)
{
    STROBE_ASSERT(clock->is_open);
    clock->windows[clock->n_windows++ % STROBE_OWN_WINDOWS] = clock->now;
    clock->is_open = false;
}

bool strobe_own_clock_see(struct strobe_own_clock *clock, int64_t time, uint64_t tick)
{
    double at = nominal(clock, time), came = since_start(clock, tick), delay = came - at;
    if (fabs(at) > 1e16)
        return false; /* a time that can't be */
    if (clock->is_open && came >= clock->window_end)
        close_window(clock);
    if (!clock->is_open) {
        clock->now = (struct strobe_own_window){at, delay};
        clock->window_end = came + window_ns / clock->tick_ns;
        clock->is_open = true;
    } else if (delay < clock->now.delay) {
        clock->now = (struct strobe_own_window){at, delay};
    }
    strobe_clock_map_see(&clock->map, time);
    if (came < clock->next_piece || !clock->n_windows)
        return false;
    uint64_t n_pieces = clock->map.n_pieces;
    new_piece(clock);
    return clock->map.n_pieces != n_pieces;
}
