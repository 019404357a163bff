/* own_clock.h - a client with a clock of its own, put on the trace's clock.
 *
 * What is known: an event was made before its frame was here (an upper bound, again and again), the
 * answer of an on-demand client carries a time that lies between our hello and its arrival. So the
 * map follows the least delay seen, by halves of a window (offset and drift), and lies half a
 * shortest round trip below it. The error that it states covers that half, what the least delays
 * differ by, and the drift that is not known yet.
 *
 * The map itself, in integers: build/clock_map.h.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_OWN_CLOCK_H
#define STROBE_TRACY_OWN_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "build/clock_map.h"

enum { STROBE_OWN_WINDOWS = 128 };

/* The least delay seen in a stretch of time. */
struct strobe_own_window {
    double at;    /* ticks of the trace since the first point */
    double delay; /* arrival − time, both in ticks since the first point */
};

struct strobe_own_clock {
    double scale;   /* trace ticks per client tick, as the client says */
    double tick_ns; /* of the trace */
    struct strobe_clock_map map;
    int64_t time0;
    uint64_t tick0;
    struct strobe_own_window windows[STROBE_OWN_WINDOWS];
    uint64_t n_windows;           /* ever closed */
    struct strobe_own_window now; /* the open one */
    bool is_open;
    double window_end;
    double round_trip; /* shortest seen, ticks; 0: none yet */
    double drift;      /* trace ticks per trace tick, on top of scale */
    double next_piece; /* ticks since the first point */
};

void strobe_own_clock_init(struct strobe_own_clock *clock, double client_tick_ns, double tick_ns);
/* A query or the hello was answered after so many ticks. */
void strobe_own_clock_round_trip(struct strobe_own_clock *clock, uint64_t ticks);
/* The first point: `time` was at `tick`, give or take `error` ticks. */
void strobe_own_clock_start(struct strobe_own_clock *clock, int64_t time, uint64_t tick,
                            double error);
/* `time`, the latest of a frame, was over when the frame came at `tick`. True: a piece was added. */
bool strobe_own_clock_see(struct strobe_own_clock *clock, int64_t time, uint64_t tick);

#endif
