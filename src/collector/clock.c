/* clock.c - the counter against CLOCK_MONOTONIC: sync points, and where a new piece begins (docs/file-format.md, "Time").
 *
 * The counter and the clock part ways when the machine sleeps (the clock stands still, the counter goes on, or starts anew), when it is
 * moved to other hardware, or when somebody writes the counter. Between two rounds both advance by the same; where they don't,
 * a sync point starts a new piece. CLOCK_REALTIME is noted and nothing else: who sets it moves no event.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/clock.h"
#include "collector/internal.h"
#include "strobe/strobe.h"

#define RATE_BASE_NS 100000000ull /* the rate is known when sync points are this far apart */
#define JUMP_NS      1000000.0

enum { MOST_NOTES = 8 }; /* the points themselves are all there */

struct point {
    uint64_t tick, mono, real;
    uint64_t error_ns;
};

/* The tightest of a few tries; its width is the error. Ticks are at least as fine as ns on all we know but arm64, where that
 * makes the error too small by the length of a tick. */
static struct point read_point(const struct strobe_collector *c)
{
    uint64_t best = ~0ull;
    struct point point = {0};
    for (int i = 0; i < 7; i++) {
        uint64_t before = strobe_ticks();
        uint64_t now = strobe_collector_mono_ns();
        uint64_t after = strobe_ticks();
        if (after - before >= best)
            continue;
        best = after - before;
        point = (struct point){before + best / 2, now, strobe_clock_real_ns(), best / 2 + 1};
    }
    if (c->clock == STROBE_CLOCK_MONO)
        point.tick = point.mono, point.error_ns = 1;
    return point;
}

/* How far the clock is from where the counter says it should be, since the last sync point. 0: the rate is not known yet. */
static double ns_off(const struct strobe_collector *c, uint64_t tick, uint64_t mono)
{
    if (c->rate_ns < RATE_BASE_NS || c->clock == STROBE_CLOCK_MONO)
        return 0;
    double rate = (double)c->rate_ns / (double)c->rate_ticks;
    return (double)(int64_t)(mono - c->last_sync_mono) -
           (double)(int64_t)(tick - c->last_sync_tick) * rate;
}

static bool is_off(double off, double error_ns)
{
    return off > JUMP_NS + error_ns || -off > JUMP_NS + error_ns;
}

/* What was emitted since the clock was last seen to be right is placed by the old piece or by the new one, and may be off by as
 * much as the jump, or by the time since then if that is less. */
static uint64_t jump_error(const struct strobe_collector *c, const struct point *point, double off)
{
    double size = off < 0 ? -off : off, since = (double)(point->mono - c->checked_mono);
    return point->error_ns + (uint64_t)(size < since ? size : since);
}

static void note_jump(struct strobe_collector *c, const struct point *point, double off)
{
    char text[200];
    if (c->n_jumps_noted++ >= MOST_NOTES)
        return;
    if (point->tick < c->last_sync_tick)
        snprintf(text, sizeof text,
                 "the counter went back, as after a sleep of the machine: times of a thread stand "
                 "still until it has caught up; "
                 "STROBE_CLOCK=mono records without it");
    else
        snprintf(text, sizeof text,
                 "counter and clock moved apart by %.3f ms, as in a sleep of the machine: a new "
                 "piece of time",
                 (off < 0 ? -off : off) / 1e6);
    strobe_collector_note(c, 0, text);
}

void strobe_collector_sync_clock(struct strobe_collector *c)
{
    struct point point = read_point(c);
    double off = c->last_sync_mono ? ns_off(c, point.tick, point.mono) : 0;
    bool jump = is_off(off, (double)point.error_ns);
    if (jump) {
        note_jump(c, &point, off);
        point.error_ns = jump_error(c, &point, off);
    }
    uint64_t numbers[] = {c->clock, point.tick, point.mono, point.real, point.error_ns, jump};
    strobe_records_numbers(&c->block.records, STROBE_FACT_CLOCK_SYNC, numbers, 6);
    strobe_records_tick(&c->block.records, point.tick);
    if (!c->sync_mono) {
        c->sync_tick = point.tick;
        c->sync_mono = point.mono;
    } else if (!jump) {
        c->rate_ticks += point.tick - c->last_sync_tick;
        c->rate_ns += point.mono - c->last_sync_mono;
    }
    c->last_sync_tick = point.tick;
    c->last_sync_mono = c->checked_mono = point.mono;
}

void strobe_collector_check_clock(struct strobe_collector *c, uint64_t mono)
{
    if (is_off(ns_off(c, strobe_ticks(), mono), 0))
        strobe_collector_sync_clock(
            c); /* looks twice: we may only have lost the processor between the two readings */
    else
        c->checked_mono = mono;
}
