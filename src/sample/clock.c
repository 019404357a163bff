/* clock.c - see clock.h.  SPDX-License-Identifier: MIT */
#include "sample/clock.h"

#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "strobe/strobe.h"

enum { BRACKETS = 40, KEPT = STROBE_SAMPLE_CLOCK_READINGS };

uint64_t strobe_sample_clock_now(const struct strobe_sample_clock *clock)
{
    return clock->is_mono ? strobe_clock_mono_ns() : strobe_ticks();
}

void strobe_sample_clock_add(struct strobe_sample_clock *clock, uint64_t raw_ns, uint64_t tick)
{
    STROBE_ASSERT(tick);
    const struct strobe_sample_reading *last = &clock->readings[(clock->n - 1) % KEPT];
    if (clock->n && (raw_ns <= last->raw_ns || tick <= last->tick))
        return;
    if (clock->n && !clock->grain) {
        double ticks = (double)(tick - last->tick) / (double)(raw_ns - last->raw_ns);
        clock->grain = 1;
        while ((double)clock->grain * 2 <= ticks * STROBE_SAMPLE_CLOCK_GRAIN_NS)
            clock->grain *= 2;
    }
    clock->readings[clock->n++ % KEPT] = (struct strobe_sample_reading){raw_ns, tick};
}

uint64_t strobe_sample_clock_read(struct strobe_sample_clock *clock)
{
    uint64_t best_raw = 0, best_tick = 0, best = UINT64_MAX;
    for (int i = 0; i < BRACKETS; i++) {
        uint64_t before = strobe_clock_read_ns(CLOCK_MONOTONIC_RAW);
        uint64_t tick = strobe_sample_clock_now(clock);
        uint64_t after = strobe_clock_read_ns(CLOCK_MONOTONIC_RAW);
        if (after - before < best) {
            best = after - before;
            best_raw = before + best / 2;
            best_tick = tick;
        }
    }
    if (best / 2 + 1 + STROBE_SAMPLE_CLOCK_GRAIN_NS > clock->error_ns)
        clock->error_ns = best / 2 + 1 + STROBE_SAMPLE_CLOCK_GRAIN_NS;
    strobe_sample_clock_add(clock, best_raw, best_tick);
    return best_raw;
}

uint64_t strobe_sample_clock_tick(const struct strobe_sample_clock *clock, uint64_t raw_ns)
{
    uint32_t oldest = clock->n > KEPT ? clock->n - KEPT : 0, at = clock->n - 1;
    STROBE_ASSERT(clock->n >= 2);
    while (at > oldest + 1 && clock->readings[(at - 1) % KEPT].raw_ns > raw_ns)
        at--;
    const struct strobe_sample_reading *a = &clock->readings[(at - 1) % KEPT];
    const struct strobe_sample_reading *b = &clock->readings[at % KEPT];
    STROBE_ASSERT(b->raw_ns > a->raw_ns && b->tick > a->tick);
    double slope = (double)(b->tick - a->tick) / (double)(b->raw_ns - a->raw_ns);
    int64_t behind = (int64_t)(raw_ns - a->raw_ns), most = 1ll << 52; /* no recording is as long */
    behind = behind > most ? most : behind < -most ? -most : behind;
    return a->tick + (uint64_t)(int64_t)((double)behind * slope);
}

double strobe_sample_clock_rate(const struct strobe_sample_clock *clock)
{
    STROBE_ASSERT(clock->n >= 2);
    const struct strobe_sample_reading *a = &clock->readings[(clock->n - 2) % KEPT];
    const struct strobe_sample_reading *b = &clock->readings[(clock->n - 1) % KEPT];
    return (double)(b->tick - a->tick) / (double)(b->raw_ns - a->raw_ns);
}
