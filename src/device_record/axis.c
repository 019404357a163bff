/* axis.c - see the header.  SPDX-License-Identifier: MIT */
#include "device_record/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

static const double knot_ns = 2e6; /* between two knots, at least */
enum { trips_known = 5 };          /* samples before it is known what a short round trip is */
static const double drift_unknown = 1e-3; /* before the frequency is measured */
static const uint64_t latest_ns =
    5000000; /* samples this far from each other are not the same for the end */
static const double guess_error_ns = 5e6; /* how long a frame is on its way */

void strobe_device_axis_init(struct strobe_device_axis *clock,
                             const struct strobe_device_host *host, double khz)
{
    memset(clock, 0, sizeof *clock);
    clock->host = *host;
    STROBE_ASSERT(clock->host.tick_at);
    clock->cycle_ns = khz > 0 ? 1e6 / khz : 1;
    clock->knot = INT64_MIN;
}

void strobe_device_axis_free(struct strobe_device_axis *clock)
{
    free(clock->cores);
    clock->cores = NULL;
    clock->n_cores = 0;
}

/* The clock of a core; NULL: no memory. */
static struct strobe_device_core_clock *core_at(struct strobe_device_axis *clock, uint32_t core)
{
    if (core >= clock->n_cores) {
        uint32_t n = core < 64 ? 64 : core + core / 2;
        struct strobe_device_core_clock *more = strobe_array_resize(clock->cores, n, sizeof *more);
        if (!more)
            return NULL;
        memset(more + clock->n_cores, 0, (n - clock->n_cores) * sizeof *more);
        clock->cores = more;
        clock->n_cores = n;
    }
    STROBE_ASSERT(core < clock->n_cores);
    return &clock->cores[core];
}

/* ---- the line ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Whether a round trip is a short one: not above the median of the last ones, which it is one of, nor twice as long as the shortest. */
static bool is_short(struct strobe_device_axis *clock, uint64_t trip)
{
    uint64_t sorted[STROBE_DEVICE_CLOCK_KEPT];
    clock->trips[clock->n_trips++ % STROBE_DEVICE_CLOCK_KEPT] = trip;
    uint64_t n =
        clock->n_trips < STROBE_DEVICE_CLOCK_KEPT ? clock->n_trips : STROBE_DEVICE_CLOCK_KEPT;
    STROBE_ASSERT(n && n <= STROBE_DEVICE_CLOCK_KEPT);
    memcpy(sorted, clock->trips, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    return n >= trips_known && trip <= sorted[n / 2] && trip <= 2 * sorted[0];
}

/* The line through the last good samples at `time`: host ns since first_ns. Also measures the frequency. */
static double line_at(struct strobe_device_axis *clock, int64_t time)
{
    uint64_t n =
        clock->n_good < STROBE_DEVICE_CLOCK_KEPT ? clock->n_good : STROBE_DEVICE_CLOCK_KEPT;
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    STROBE_ASSERT(n && n <= STROBE_DEVICE_CLOCK_KEPT);
    for (uint64_t i = 0; i < n; i++) {
        double x = (double)(clock->good[i].time - time), y = clock->good[i].mid_ns;
        sx += x;
        sy += y;
    }
    double mx = sx / (double)n, my = sy / (double)n;
    for (uint64_t i = 0; i < n; i++) {
        double x = (double)(clock->good[i].time - time) - mx, y = clock->good[i].mid_ns - my;
        sxx += x * x;
        sxy += x * y;
    }
    double slope = sxx > 0 ? sxy / sxx : clock->cycle_ns;
    if (fabs(slope / clock->cycle_ns - 1) >
        0.1) /* a clock that does not keep what was measured before */
        slope = clock->cycle_ns;
    else if (n >= 8)
        clock->cycle_ns = slope;
    return my - slope * mx;
}

/* ---- origins ---- */

static void sample_core(struct strobe_device_core_clock *core, uint64_t cycles, uint64_t before_ns,
                        uint64_t after_ns)
{
    uint64_t trip = after_ns - before_ns + 1;
    STROBE_ASSERT(trip); /* a reading is no shorter than nothing */
    if (core->is_fixed || (core->trip_ns && core->trip_ns <= trip))
        return;
    core->cycles = cycles;
    core->mid_ns = before_ns + (after_ns - before_ns) / 2;
    core->trip_ns = trip;
}

/* Found when it is first needed, and final as soon as there is a knot behind the sample. */
static void find_origin(struct strobe_device_axis *clock, struct strobe_device_core_clock *core)
{
    STROBE_ASSERT(core->trip_ns && clock->map.n_pieces); /* it was sampled, and there is a map */
    uint64_t tick = clock->host.tick_at(clock->host.context, core->mid_ns);
    int64_t common = strobe_clock_map_time(&clock->map, tick);
    core->origin = (int64_t)core->cycles - (common - clock->base);
    core->is_fixed = (int64_t)(clock->knot_tick - tick) >= 0;
}

/* What is not known of the cores' origins, at the worst. */
static double origin_error(const struct strobe_device_axis *clock)
{
    uint64_t trip = 0;
    for (uint32_t i = 0; i < clock->n_cores; i++)
        if (clock->cores[i].trip_ns > trip)
            trip = clock->cores[i].trip_ns;
    return trip ? (double)trip / 2 + clock->first_error : 0;
}

static int by_origin(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

enum strobe_err strobe_device_axis_skew(const struct strobe_device_axis *clock,
                                        struct strobe_device_skew *out)
{
    uint32_t n = 0;
    int64_t *origins = malloc((clock->n_cores + 1u) * sizeof *origins);
    *out = (struct strobe_device_skew){.error_ns = 2 * origin_error(clock)};
    if (!origins)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < clock->n_cores; i++)
        if (clock->cores[i].is_fixed)
            origins[n++] = clock->cores[i].origin;
    STROBE_ASSERT(n <= clock->n_cores);
    if (n)
        qsort(origins, n, sizeof *origins, by_origin);
    int64_t median = n ? origins[n / 2] : 0;
    free(origins);
    for (uint32_t i = 0; i < clock->n_cores; i++) {
        double ns = (double)(clock->cores[i].origin - median) * clock->cycle_ns;
        if (!clock->cores[i].is_fixed || fabs(ns) <= out->error_ns)
            continue;
        if (fabs(ns) > fabs(out->ns)) {
            out->core = i;
            out->ns = ns;
        }
        out->n_cores++;
    }
    STROBE_ASSERT(!out->n_cores || fabs(out->ns) > out->error_ns);
    return STROBE_OK;
}

/* ---- knots ---- */

static void set_knot(struct strobe_device_axis *clock, int64_t time, uint64_t tick, double error)
{
    clock->knot = time;
    clock->knot_tick = tick;
    clock->knot_error = error;
    clock->left.is_there = false;
}

/* Where the piece that leads to a new knot begins: at the last knot, unless something behind it was mapped already. */
static bool piece_begin(const struct strobe_device_axis *clock, int64_t *time, uint64_t *tick)
{
    *time = clock->knot;
    *tick = clock->knot_tick;
    if (!clock->map.n_pieces)
        return clock->knot != INT64_MIN;
    if (clock->knot == INT64_MIN || clock->map.latest >= clock->knot)
        strobe_clock_map_behind(&clock->map, time, tick);
    return *time > strobe_clock_map_last(&clock->map)->time;
}

/* Where the piece from `from` leads to: the knot; or, where the knot is nearer than the last one is away from it, or lies behind what was mapped
 * already, the place where the clock will be as long after. A slope that mends in a short time what went wrong in a long one would be kept
 * until the next knot, and be further off there each time. Returns the ns by which `from` is off. */
static double aim(const struct strobe_device_axis *clock, int64_t from, int64_t apart,
                  int64_t *time, double *ticks)
{
    double nominal = clock->cycle_ns / clock->host.tick_ns, since = (double)(*time - from);
    double least = fmax(knot_ns / clock->cycle_ns, (double)apart);
    if (since >= least)
        return 0;
    double off = *ticks - since * nominal;
    *ticks += (least - since) * nominal;
    *time = from + (int64_t)least;
    return fabs(off) * clock->host.tick_ns;
}

/* The piece from what was mapped to this knot; false: there is none, the knot stands alone. */
static bool next_knot(struct strobe_device_axis *clock, int64_t time, uint64_t tick, double error)
{
    int64_t from;
    uint64_t from_tick;
    double nominal = clock->cycle_ns / clock->host.tick_ns;
    double most = error > clock->knot_error ? error : clock->knot_error;
    bool begins = piece_begin(clock, &from, &from_tick);
    if (!clock->map.n_pieces)
        clock->first_error = most;
    int64_t apart = clock->knot == INT64_MIN ? 0 : time - clock->knot;
    set_knot(clock, time, tick, error);
    if (!begins)
        return false;
    double ticks = (double)(int64_t)(tick - from_tick);
    most += aim(clock, from, apart, &time, &ticks);
    double scale = ticks / (double)(time - from);
    if (scale < nominal / 2 ||
        scale > nominal * 2) { /* time would be stretched: what is off goes into the error */
        scale = scale < nominal / 2 ? nominal / 2 : nominal * 2;
        most += fabs(ticks - (double)(time - from) * scale) * clock->host.tick_ns;
    }
    STROBE_ASSERT(scale > 0 && most >= 0 && time > from);
    strobe_clock_map_add(&clock->map, from, from_tick, scale,
                         most + origin_error(clock) + clock->host.error_ns);
    return true;
}

/* Remember a sample for the begin and for the end: the shortest of the first ones, and of the latest. */
static void keep_spare(struct strobe_device_axis *clock, int64_t time, uint64_t before_ns,
                       uint64_t after_ns)
{
    struct strobe_device_spare *first = &clock->first, *left = &clock->left;
    const struct strobe_device_spare spare = {true, time, before_ns, after_ns};
    uint64_t trip = after_ns - before_ns;
    if (!first->is_there ||
        (before_ns <= first->after_ns + latest_ns && trip < first->after_ns - first->before_ns))
        *first = spare;
    if (!left->is_there || before_ns > left->after_ns + latest_ns ||
        trip <= left->after_ns - left->before_ns)
        *left = spare;
}

/* A spare sample as a knot, as good as it is. True: there is a new piece. */
static bool knot_of(struct strobe_device_axis *clock, const struct strobe_device_spare *spare)
{
    uint64_t half = (spare->after_ns - spare->before_ns + 1) / 2;
    STROBE_ASSERT(spare->is_there && spare->before_ns <= spare->after_ns);
    return next_knot(clock, spare->time,
                     clock->host.tick_at(clock->host.context, spare->before_ns + half),
                     (double)half);
}

static bool sample_reference(struct strobe_device_axis *clock, int64_t time, uint64_t before_ns,
                             uint64_t after_ns)
{
    uint64_t trip = after_ns - before_ns;
    STROBE_ASSERT(after_ns >= before_ns); /* checked */
    keep_spare(clock, time, before_ns, after_ns);
    if (!is_short(clock, trip))
        return false;
    if (!clock->n_good)
        clock->first_ns = before_ns;
    double before = (double)(int64_t)(before_ns - clock->first_ns), after = before + (double)trip;
    clock->good[clock->n_good++ % STROBE_DEVICE_CLOCK_KEPT] =
        (struct strobe_device_good){time, (before + after) / 2, trip};
    if (clock->knot != INT64_MIN && (double)(time - clock->knot) * clock->cycle_ns < knot_ns)
        return false;
    if (clock->knot == INT64_MIN && (double)(time - clock->first.time) * clock->cycle_ns >= knot_ns)
        knot_of(clock, &clock->first); /* what was before the first short sample has a proof too */
    double at = line_at(clock, time);
    at = at < before ? before : at > after ? after : at;
    double error = after - at > at - before ? after - at : at - before;
    STROBE_ASSERT(at >= before && at <= after &&
                  error <= after - before); /* proven by the sample */
    uint64_t tick =
        clock->host.tick_at(clock->host.context, clock->first_ns + (uint64_t)(at + 0.5));
    return next_knot(clock, time, tick, error);
}

bool strobe_device_axis_sample(struct strobe_device_axis *clock, uint32_t core, uint64_t cycles,
                               uint64_t before_ns, uint64_t after_ns)
{
    if (after_ns < before_ns || after_ns - before_ns > 1000000000u || cycles > INT64_MAX / 2)
        return false; /* no reading of a clock */
    if (!clock->has_reference)
        clock->reference = core;
    clock->has_reference = true;
    if (core == clock->reference)
        return sample_reference(clock, clock->base + (int64_t)cycles, before_ns, after_ns);
    struct strobe_device_core_clock *at = core_at(clock, core);
    if (at)
        sample_core(at, cycles, before_ns, after_ns);
    return false;
}

bool strobe_device_axis_end(struct strobe_device_axis *clock)
{
    const struct strobe_device_spare left = clock->left;
    return left.is_there && (clock->knot == INT64_MIN || left.time > clock->knot) &&
           knot_of(clock, &left);
}

void strobe_device_axis_reset(struct strobe_device_axis *clock)
{
    int64_t latest = clock->map.n_pieces ? clock->map.latest : 0;
    clock->base = latest > clock->knot ? latest + 1 : clock->knot + 1;
    clock->n_good = clock->n_trips = 0;
    STROBE_ASSERT(!clock->n_cores || clock->cores);
    clock->has_reference = false;
    clock->knot = INT64_MIN;
    clock->first.is_there = clock->left.is_there = false;
    if (clock->n_cores)
        memset(clock->cores, 0, clock->n_cores * sizeof *clock->cores);
}

bool strobe_device_axis_guess(struct strobe_device_axis *clock, uint32_t core, uint64_t cycles,
                              uint64_t ns)
{
    if (clock->map.n_pieces)
        return false;
    if (clock->knot == INT64_MIN) {
        clock->reference = core;
        clock->has_reference = true;
        set_knot(clock, clock->base + (int64_t)cycles, clock->host.tick_at(clock->host.context, ns),
                 guess_error_ns);
    }
    STROBE_ASSERT(clock->knot != INT64_MIN && !clock->map.n_pieces);
    clock->map.latest = clock->knot - 1;
    strobe_clock_map_add(
        &clock->map, clock->knot, clock->knot_tick, clock->cycle_ns / clock->host.tick_ns,
        clock->knot_error + drift_unknown * knot_ns + origin_error(clock) + clock->host.error_ns);
    return true;
}

int64_t strobe_device_axis_common(struct strobe_device_axis *clock, uint32_t core, uint64_t cycles)
{
    int64_t origin = 0;
    bool is_reference = clock->has_reference && core == clock->reference;
    if (!is_reference && core < clock->n_cores && clock->cores[core].trip_ns) {
        if (!clock->cores[core].is_fixed && clock->map.n_pieces)
            find_origin(clock, &clock->cores[core]);
        origin = clock->cores[core].origin;
    }
    return clock->base + (int64_t)cycles - origin;
}

int64_t strobe_device_axis_ready(const struct strobe_device_axis *clock)
{
    return clock->map.n_pieces ? clock->knot : INT64_MIN;
}

uint64_t strobe_device_axis_tick(struct strobe_device_axis *clock, int64_t time)
{
    STROBE_ASSERT(clock->map.n_pieces);
    strobe_clock_map_see(&clock->map, time);
    return strobe_clock_map_tick(&clock->map, time);
}
