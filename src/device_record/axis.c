/* axis.c - see the header.  SPDX-License-Identifier: MIT */
#include "device_record/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

static const double knot_ns = 2e6;        /* between two knots, at least */
static const double burst_ns = 1e6;       /* samples this near to each other are of one burst */
enum { burst_samples = 8 };               /* of the reference: a burst that is whole */
enum { samples_known = 5 };               /* before it is known what a good one is */
static const double first_ns = 5e6;       /* samples this near to the first are the first ones */
static const double patience_ns = 2e9;    /* so long a knot as good as the others is waited for */
static const double forget = 1.02;        /* what the narrowest sample was, one by one */
static const double known = 2e-4;         /* bounds of the rate are this near: it is measured */
static const double drift_unknown = 1e-3; /* before the frequency is measured */
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

/* ---- origins ---- */

/* Ticks since the first sample's. */
static double ticks_of(const struct strobe_device_axis *clock, uint64_t tick)
{
    return (double)(int64_t)(tick - clock->first_tick);
}

static double half_ns(const struct strobe_device_axis *clock, const struct strobe_clock_band *band)
{
    return (band->high - band->low) / 2 * clock->host.tick_ns;
}

static uint64_t middle_of(const struct strobe_device_axis *clock,
                          const struct strobe_clock_band *band)
{
    return clock->first_tick + (uint64_t)(int64_t)((band->low + band->high) / 2);
}

/* What is not known of the cores' origins, at the worst. */
static double origin_error(const struct strobe_device_axis *clock)
{
    double most = clock->own.band.is_there ? half_ns(clock, &clock->own.band) : 0;
    for (uint32_t i = 0; i < clock->n_cores; i++)
        if (clock->cores[i].band.is_there)
            most = fmax(most, half_ns(clock, &clock->cores[i].band));
    return most;
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

/* A piece of the map before it is one. */
struct line {
    int64_t from;
    uint64_t tick;
    double scale;
};

static double line_at(const struct strobe_device_axis *clock, const struct line *line, int64_t time)
{
    return ticks_of(clock, line->tick) + (double)(time - line->from) * line->scale;
}

/* How far the line may be from the truth at a time, in ticks, by one band of a core. */
static double off_at(const struct strobe_device_axis *clock, const struct line *line,
                     const struct strobe_device_core_clock *core,
                     const struct strobe_clock_band *band, int64_t time)
{
    double at = line_at(clock, line, time);
    struct strobe_clock_band own =
        strobe_clock_band_at(band, time - clock->base + core->origin, &clock->rate);
    return fmax(at - own.low, own.high - at);
}

/* How far a core's times may be from the truth between the line's begin and the knot. */
static double core_error(const struct strobe_device_axis *clock, const struct line *line,
                         const struct strobe_device_core_clock *core)
{
    if (!core->band.is_there || !core->has_origin)
        return 0;
    if (line->from >= clock->knot)
        return off_at(clock, line, core, &core->band, line->from);
    return fmax(
        off_at(clock, line, core, core->was.is_there ? &core->was : &core->band, line->from),
        off_at(clock, line, core, &core->band, clock->knot));
}

static double line_error(const struct strobe_device_axis *clock, const struct line *line)
{
    double most = core_error(clock, line, &clock->own);
    for (uint32_t i = 0; i < clock->n_cores; i++)
        most = fmax(most, core_error(clock, line, &clock->cores[i]));
    STROBE_ASSERT(most >= 0);
    return most * clock->host.tick_ns;
}

/* A sample of a clock. */
static void narrow(struct strobe_device_axis *clock, struct strobe_device_core_clock *core,
                   int64_t cycles, double low, double high)
{
    double outside = strobe_clock_band_narrow(&core->band, cycles, low, high, &clock->rate);
    clock->outside_ns = fmax(clock->outside_ns, outside * clock->host.tick_ns);
}

/* A core's clock is ahead of the reference's by as much for ever: what a sample of it says of that, where `by` was the reference's band. */
static void narrow_origin(const struct strobe_device_axis *clock,
                          struct strobe_device_core_clock *core,
                          const struct strobe_clock_band *sample,
                          const struct strobe_clock_band *by)
{
    double after = sample->high - by->low, before = sample->low - by->high; /* ticks */
    double most = after / (after >= 0 ? clock->rate.low : clock->rate.high);
    double least = before / (before >= 0 ? clock->rate.high : clock->rate.low);
    int64_t since = sample->cycles - by->cycles;
    double at = (double)(since - core->near);
    bool is_known = core->near_low < core->near_high;
    double low = is_known ? fmax(core->near_low, at - most) : 0;
    double high = is_known ? fmin(core->near_high, at - least) : 0;
    if (low >= high) { /* nothing is known yet, or it was reset alone */
        core->near = since;
        low = -most;
        high = -least;
    }
    core->near_low = low;
    core->near_high = high;
}

static double width(const struct strobe_clock_band *band)
{
    return band->high - band->low;
}

static void sample_core(struct strobe_device_axis *clock, struct strobe_device_core_clock *core,
                        const struct strobe_clock_band *sample)
{
    const struct strobe_clock_band *own = &clock->own.band;
    narrow(clock, core, sample->cycles, sample->low, sample->high);
    if (!own->is_there)
        return;
    narrow_origin(clock, core, sample, own);
    if (!core->seen.is_there ||
        width(sample) + width(own) < width(&core->seen) + width(&core->by)) {
        core->seen = *sample;
        core->by = *own;
    }
}

/* The reference's band, by the core's origin, is a band of the core too. */
static void tie_band(struct strobe_device_axis *clock, const struct strobe_device_core_clock *core,
                     struct strobe_clock_band *band, const struct strobe_clock_band *reference)
{
    double nominal = (clock->rate.low + clock->rate.high) / 2;
    double near = (double)(core->origin - core->near);
    double outside = strobe_clock_band_narrow(
        band, reference->cycles + core->origin,
        reference->low + (near - core->near_high) * nominal - 1,
        reference->high + (near - core->near_low) * nominal + 1, &clock->rate);
    clock->outside_ns = fmax(clock->outside_ns, outside * clock->host.tick_ns);
}

/* The middle of what is known of it. */
static void set_origin(struct strobe_device_core_clock *core)
{
    STROBE_ASSERT(core->near_low < core->near_high && !core->is_fixed);
    core->origin = core->near + (int64_t)round((core->near_low + core->near_high) / 2);
    core->has_origin = true;
}

/* At a knot. Where a core was not read for long, its own band got wide: the reference's, by its origin, is its band too. */
static void tie_core(struct strobe_device_axis *clock, struct strobe_device_core_clock *core)
{
    if (!core->seen.is_there)
        return;
    narrow_origin(clock, core, &core->seen, &core->by); /* the rate is known better than then */
    if (!core->is_fixed)
        set_origin(core);
    tie_band(clock, core, &core->band, &clock->own.band);
    if (core->was.is_there && clock->own.was.is_there)
        tie_band(clock, core, &core->was, &clock->own.was);
}

/* The bands are those of a knot. */
static void set_knot(struct strobe_device_axis *clock, int64_t time, uint64_t tick)
{
    clock->knot = time;
    clock->knot_tick = tick;
    clock->n_burst = 0;
    clock->outside_ns = 0;
    clock->own.was = clock->own.band;
    for (uint32_t i = 0; i < clock->n_cores; i++)
        clock->cores[i].was = clock->cores[i].band;
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

/* The line from `from` to the knot; or, where the knot is nearer than the last one is away from it, or lies behind what was mapped already, to the place
 * where the clock will be as long after. A slope that mends in a short time what went wrong in a long one would be kept until the next knot, and be
 * further off there each time. */
static struct line line_to(const struct strobe_device_axis *clock, int64_t from, uint64_t from_tick,
                           int64_t apart)
{
    double nominal = clock->cycle_ns / clock->host.tick_ns;
    double since = (double)(clock->knot - from);
    double ticks = (double)(int64_t)(clock->knot_tick - from_tick);
    double least = fmax(knot_ns / clock->cycle_ns, (double)apart);
    if (since < least) {
        ticks += (least - since) * nominal;
        since = least;
    }
    double scale = ticks / since; /* within bounds: else time would be stretched */
    scale = fmin(fmax(scale, nominal / 2), nominal * 2);
    STROBE_ASSERT(scale > 0);
    return (struct line){from, from_tick, scale};
}

/* The piece from what was mapped to this knot; false: there is none, the knot stands alone. */
static bool next_knot(struct strobe_device_axis *clock, int64_t time, uint64_t tick)
{
    int64_t from;
    uint64_t from_tick;
    bool begins = piece_begin(clock, &from, &from_tick);
    int64_t apart = clock->knot == INT64_MIN ? 0 : time - clock->knot;
    if (begins) {
        clock->knot = time;
        clock->knot_tick = tick;
        struct line line = line_to(clock, from, from_tick, apart);
        for (uint32_t i = 0; i < clock->n_cores; i++)
            tie_core(clock, &clock->cores[i]);
        strobe_clock_map_add(&clock->map, from, from_tick, line.scale,
                             line_error(clock, &line) + clock->outside_ns);
    }
    set_knot(clock, time, tick);
    return begins;
}

/* The burst is over: its band is a knot, and the rate is known better. True: there is a new piece. */
static bool end_burst(struct strobe_device_axis *clock)
{
    const struct strobe_clock_band *band = &clock->own.band;
    STROBE_ASSERT(band->is_there);
    if (!strobe_clock_rate_see(&clock->rate, band)) /* it took another rate */
        clock->outside_ns = fmax(clock->outside_ns, half_ns(clock, band));
    if (clock->rate.high - clock->rate.low < known * clock->rate.low)
        clock->cycle_ns = (clock->rate.low + clock->rate.high) / 2 * clock->host.tick_ns;
    if (clock->knot == INT64_MIN &&
        (double)(band->cycles - clock->first.cycles) * clock->cycle_ns >= knot_ns) {
        /* what was before the first burst's end has a proof too */
        clock->knot = clock->base + clock->first.cycles;
        clock->knot_tick = middle_of(clock, &clock->first);
        clock->own.was = clock->first;
    }
    return next_knot(clock, clock->base + band->cycles, middle_of(clock, band));
}

static void keep_first(struct strobe_device_axis *clock, const struct strobe_clock_band *sample)
{
    const struct strobe_clock_band *first = &clock->first;
    if (!first->is_there ||
        ((double)(sample->cycles - first->cycles) * clock->cycle_ns < first_ns &&
         sample->high - sample->low < first->high - first->low))
        clock->first = *sample;
}

/* Whether the band is worth a knot: as narrow as others were, or long waited for. */
static bool is_good(const struct strobe_device_axis *clock)
{
    const struct strobe_clock_band *band = &clock->own.band;
    int64_t since = clock->knot == INT64_MIN ? clock->first.cycles : clock->knot - clock->base;
    if ((double)(band->cycles - since) * clock->cycle_ns >= patience_ns)
        return true;
    return clock->n_samples >= samples_known && half_ns(clock, band) <= 2 * clock->least_ns;
}

static bool sample_reference(struct strobe_device_axis *clock, int64_t cycles, double low,
                             double high)
{
    bool is_later = clock->n_burst && (double)(cycles - clock->burst) * clock->cycle_ns >= burst_ns;
    bool is_new = is_later && is_good(clock) && end_burst(clock);
    narrow(clock, &clock->own, cycles, low, high);
    keep_first(clock, &(struct strobe_clock_band){true, cycles, low, high});
    double half = (high - low) / 2 * clock->host.tick_ns;
    clock->least_ns = clock->n_samples++ ? fmin(half, clock->least_ns * forget) : half;
    if (clock->knot != INT64_MIN &&
        (double)(clock->base + cycles - clock->knot) * clock->cycle_ns < knot_ns)
        return is_new;
    if (!clock->n_burst++)
        clock->burst = cycles;
    return (clock->n_burst >= burst_samples && is_good(clock) && end_burst(clock)) || is_new;
}

static void set_reference(struct strobe_device_axis *clock, uint32_t core, uint64_t tick)
{
    clock->has_reference = true;
    clock->reference = core;
    clock->first_tick = tick;
    clock->own = (struct strobe_device_core_clock){.has_origin = true, .is_fixed = true};
    strobe_clock_rate_init(&clock->rate, clock->cycle_ns / clock->host.tick_ns,
                           clock->host.tick_ns);
}

bool strobe_device_axis_sample(struct strobe_device_axis *clock, uint32_t core, uint64_t cycles,
                               uint64_t before_ns, uint64_t after_ns)
{
    if (after_ns < before_ns || after_ns - before_ns > 1000000000u || cycles > INT64_MAX / 2)
        return false; /* no reading of a clock */
    uint64_t before = clock->host.tick_at(clock->host.context, before_ns);
    uint64_t after = clock->host.tick_at(clock->host.context, after_ns);
    if (!clock->has_reference)
        set_reference(clock, core, before);
    double off = 1 + clock->host.error(clock->host.context) / clock->host.tick_ns; /* 1: rounded */
    double low = ticks_of(clock, before) - off, high = ticks_of(clock, after) + off;
    if (low > high)
        return false; /* the host's clock was stepped in between */
    if (core == clock->reference)
        return sample_reference(clock, (int64_t)cycles, low, high);
    struct strobe_device_core_clock *at = core_at(clock, core);
    if (at)
        sample_core(clock, at, &(struct strobe_clock_band){true, (int64_t)cycles, low, high});
    return false;
}

bool strobe_device_axis_end(struct strobe_device_axis *clock)
{
    const struct strobe_clock_band *band = &clock->own.band;
    return band->is_there &&
           (clock->knot == INT64_MIN || clock->base + band->cycles > clock->knot) &&
           end_burst(clock);
}

void strobe_device_axis_reset(struct strobe_device_axis *clock)
{
    int64_t latest = clock->map.n_pieces ? clock->map.latest : 0;
    clock->base = latest > clock->knot ? latest + 1 : clock->knot + 1;
    clock->n_burst = 0;
    clock->n_samples = 0;
    clock->least_ns = clock->outside_ns = 0;
    STROBE_ASSERT(!clock->n_cores || clock->cores);
    clock->has_reference = false;
    clock->knot = INT64_MIN;
    clock->first.is_there = clock->own.band.is_there = false;
    if (clock->n_cores)
        memset(clock->cores, 0, clock->n_cores * sizeof *clock->cores);
}

bool strobe_device_axis_guess(struct strobe_device_axis *clock, uint32_t core, uint64_t cycles,
                              uint64_t ns)
{
    if (clock->map.n_pieces)
        return false;
    double error = guess_error_ns;
    if (clock->knot == INT64_MIN && !clock->own.band.is_there) {
        uint64_t tick = clock->host.tick_at(clock->host.context, ns);
        set_reference(clock, core, tick);
        set_knot(clock, clock->base + (int64_t)cycles, tick);
    } else {
        if (clock->knot == INT64_MIN)
            next_knot(clock, clock->base + clock->own.band.cycles,
                      middle_of(clock, &clock->own.band));
        error = origin_error(clock) + drift_unknown * knot_ns;
    }
    STROBE_ASSERT(clock->knot != INT64_MIN && !clock->map.n_pieces);
    clock->map.latest = clock->knot - 1;
    strobe_clock_map_add(&clock->map, clock->knot, clock->knot_tick,
                         clock->cycle_ns / clock->host.tick_ns, error);
    return true;
}

int64_t strobe_device_axis_common(struct strobe_device_axis *clock, uint32_t core, uint64_t cycles)
{
    int64_t origin = 0;
    bool is_reference = clock->has_reference && core == clock->reference;
    if (!is_reference && core < clock->n_cores && clock->cores[core].seen.is_there) {
        struct strobe_device_core_clock *at = &clock->cores[core];
        if (!at->has_origin)
            set_origin(at);
        at->is_fixed = clock->map.n_pieces > 0;
        origin = at->origin;
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
