/* clock.c - the rate, the pieces and the error of a trace's clock.  SPDX-License-Identifier: MIT */
#include "query/clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/texts.h"
#include "wire/ring_layout.h"

void strobe_clock_add(struct strobe_clock *clock, uint64_t kind, const struct strobe_sync *sync,
                      uint64_t real_ns)
{
    if (!clock->kind) {
        clock->kind = kind == STROBE_CLOCK_MONO ? STROBE_CLOCK_MONO : STROBE_CLOCK_TSC;
        clock->real_offset_ns = real_ns - sync->mono_ns;
    }
    int64_t off = real_ns ? (int64_t)(real_ns - sync->mono_ns - clock->real_offset_ns) : 0;
    uint64_t spread = off < 0 ? -(uint64_t)off : (uint64_t)off;
    clock->real_spread_ns = spread > clock->real_spread_ns ? spread : clock->real_spread_ns;
    if (clock->n_syncs < STROBE_CLOCK_MAX_SYNCS &&
        !STROBE_ARRAY_REACH(clock->syncs, clock->syncs_room, clock->n_syncs))
        clock->syncs[clock->n_syncs++] = *sync;
    if (sync->error_ns > clock->error_ns)
        clock->error_ns = sync->error_ns;
}

static int by_tick(const void *a, const void *b)
{
    const struct strobe_piece *x = a, *y = b;
    return x->tick < y->tick ? -1 : x->tick > y->tick;
}

/* Over all pieces together, each from its first sync to its last: what lies between two pieces is no measure. */
static void find_rate(struct strobe_clock *clock)
{
    const struct strobe_sync *first = NULL, *before = NULL;
    unsigned __int128 ticks = 0, ns = 0;
    for (uint32_t i = 0; i < clock->n_syncs; i++) {
        const struct strobe_sync *sync = &clock->syncs[i];
        if (before && !sync->jump && sync->tick >= before->tick &&
            sync->mono_ns >= before->mono_ns) {
            ticks += sync->tick - before->tick;
            ns += sync->mono_ns - before->mono_ns;
        }
        before = sync;
        first = first || sync->jump ? first : sync;
    }
    if (ticks) {
        unsigned __int128 mult = ns >> 64 ? ~(unsigned __int128)0 : (ns << 32) / ticks;
        clock->mult = mult >> 62 ? (uint64_t)1 << 62 : (uint64_t)mult; /* no overflow later */
    }
    if (first)
        clock->pieces[clock->n_pieces++] = (struct strobe_piece){first->tick, first->mono_ns};
}

static void find_error(struct strobe_clock *clock)
{
    for (uint32_t i = 0; i < clock->n_syncs; i++) {
        int64_t line = strobe_clock_at(clock, clock->syncs[i].tick);
        uint64_t off = clock->syncs[i].mono_ns - (uint64_t)line;
        off = (int64_t)off < 0 ? 0 - off : off;
        if (off > clock->error_ns)
            clock->error_ns = off;
    }
}

int strobe_clock_fix(struct strobe_clock *clock)
{
    clock->mult = 1ull << 32;
    clock->n_pieces = 0;
    free(clock->pieces);
    clock->pieces = calloc(clock->n_syncs + 1ull, sizeof *clock->pieces);
    if (!clock->pieces)
        return 0;
    if (clock->kind == STROBE_CLOCK_TSC) {
        find_rate(clock);
        for (uint32_t i = 0; i < clock->n_syncs; i++)
            if (clock->syncs[i].jump)
                clock->pieces[clock->n_pieces++] =
                    (struct strobe_piece){clock->syncs[i].tick, clock->syncs[i].mono_ns};
        qsort(clock->pieces, clock->n_pieces, sizeof *clock->pieces, by_tick);
    }
    if (!clock->n_pieces)
        clock->n_pieces = 1; /* ticks are ns */
    find_error(clock);
    return 1;
}

void strobe_clock_set_origin(struct strobe_clock *clock, uint64_t tick)
{
    clock->origin_tick = tick;
    clock->origin_ns = strobe_clock_at(clock, tick);
}

uint64_t strobe_clock_sum_ns(const struct strobe_clock *clock, unsigned __int128 ticks)
{
    uint64_t low = (uint64_t)ticks, high = (uint64_t)(ticks >> 64);
    unsigned __int128 part = (unsigned __int128)low * clock->mult >> 32;
    return (uint64_t)part + ((high * clock->mult) << 32);
}

static const struct strobe_piece *piece_of(const struct strobe_clock *clock, uint64_t tick)
{
    return &clock
                ->pieces[STROBE_ARRAY_BISECT(1, clock->n_pieces, i, clock->pieces[i].tick <= tick) -
                         1];
}

int64_t strobe_clock_at(const struct strobe_clock *clock, uint64_t tick)
{
    const struct strobe_piece *piece = piece_of(clock, tick);
    __int128 ticks = (__int128)tick - piece->tick;
    /* 65 bits times 64 bits: the product of a negative number may need more than 128, so halve it
     */
    uint64_t size = ticks < 0 ? (uint64_t)-ticks : (uint64_t)ticks;
    unsigned __int128 product = (unsigned __int128)size * clock->mult;
    uint64_t ns = (uint64_t)(product >> 32);
    if (ticks < 0)
        ns = 0 - ns - ((product & 0xffffffffu) != 0);
    uint64_t at = piece->mono_ns + ns;
    const struct strobe_piece *next = piece + 1; /* it begins no earlier than this one ends */
    if (next < clock->pieces + clock->n_pieces && next->mono_ns >= piece->mono_ns &&
        (int64_t)(at - next->mono_ns) > 0)
        at = next->mono_ns;
    return (int64_t)at;
}

uint64_t strobe_clock_span_ns(const struct strobe_clock *clock, uint64_t tick, uint64_t ticks)
{
    /* what is left of the begin's time below a nanosecond; the lower bits of a product are right for negative factors too */
    uint32_t rest = (uint32_t)((tick - piece_of(clock, tick)->tick) * clock->mult);
    return (uint64_t)(((unsigned __int128)ticks * clock->mult + rest) >> 32);
}

int64_t strobe_clock_rel(const struct strobe_clock *clock, uint64_t tick)
{
    return (int64_t)((uint64_t)strobe_clock_at(clock, tick) - (uint64_t)clock->origin_ns);
}

void strobe_clock_find_part(const struct strobe_clock *clock, uint64_t tick,
                            struct strobe_clock_part *out)
{
    const struct strobe_piece *piece = piece_of(clock, tick), *next = piece + 1;
    int has_next = next < clock->pieces + clock->n_pieces;
    *out = (struct strobe_clock_part){.tick = piece->tick,
                                      .end = has_next ? next->tick : UINT64_MAX,
                                      .mult = clock->mult,
                                      .at_ns = piece->mono_ns,
                                      .most_ns = has_next ? next->mono_ns : 0,
                                      .origin_ns = (uint64_t)clock->origin_ns,
                                      .has_most = has_next && next->mono_ns >= piece->mono_ns};
    if (tick < piece->tick) /* before the first sync: times count back from it */
        out->end = out->tick;
}

/* Whether this time has come at a tick. Time grows with ticks within the sensible range. */
static int has_come(const struct strobe_clock *clock, int64_t rel_ns, uint64_t tick)
{
    __int128 distance = ((__int128)tick - clock->origin_tick) * clock->mult >> 32;
    return distance >= ((__int128)1 << 62) ||
           (distance > -((__int128)1 << 62) && strobe_clock_rel(clock, tick) >= rel_ns);
}

/* Where a clock that never drifted would be. */
static uint64_t guess_tick(const struct strobe_clock *clock, int64_t rel_ns)
{
    __int128 ticks = clock->mult ? (__int128)rel_ns * (1ll << 32) / (__int128)clock->mult : 0;
    __int128 tick = ticks + clock->origin_tick;
    return tick < 0 ? 0 : tick >= UINT64_MAX ? UINT64_MAX - 1 : (uint64_t)tick;
}

uint64_t strobe_clock_tick_of(const struct strobe_clock *clock, int64_t rel_ns)
{
    enum { NEAR = 256 };
    uint64_t low = 0, high = UINT64_MAX, at = guess_tick(clock, rel_ns), step = NEAR;
    if (has_come(clock, rel_ns, at)) {
        for (high = at; step < high && has_come(clock, rel_ns, high - step);
             step *= step < 1ull << 60 ? 4 : 1)
            high -= step;
        low = step < high ? high - step + 1 : 0;
    } else {
        for (low = at + 1; step < high - low && !has_come(clock, rel_ns, low + step);
             step *= step < 1ull << 60 ? 4 : 1)
            low += step + 1;
        high = step < high - low ? low + step : high;
    }
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (has_come(clock, rel_ns, mid))
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

void strobe_clock_free(struct strobe_clock *clock)
{
    free(clock->syncs);
    free(clock->pieces);
    memset(clock, 0, sizeof *clock);
}
