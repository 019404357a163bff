/* clock.h - CLOCK_MONOTONIC_RAW, which perf's records have, as ticks of the trace.
 *
 * In each round both clocks are read together, and a time is put on the line between the two readings around it: nothing is
 * extrapolated but what is newer than the last reading. The error is half of the narrowest bracket that the readings were
 * taken in.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_CLOCK_H
#define STROBE_SAMPLE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { STROBE_SAMPLE_CLOCK_READINGS = 64, STROBE_SAMPLE_CLOCK_GRAIN_NS = 16 };

struct strobe_sample_clock {
    bool is_mono; /* ticks are CLOCK_MONOTONIC */
    struct strobe_sample_reading {
        uint64_t raw_ns, tick;
    } readings[STROBE_SAMPLE_CLOCK_READINGS]; /* the last ones, as a ring, rising */
    uint32_t n;                               /* ever read, as far as it is below 2^32 */
    uint64_t error_ns;                        /* the largest so far, a grain in it */
    uint64_t
        grain; /* ticks, a power of two: the most that is not above 16 ns, by the first readings; 0: not known yet */
};

/* The ticks of the trace now. */
uint64_t strobe_sample_clock_now(const struct strobe_sample_clock *clock);
/* Read both; the time that was read. */
uint64_t strobe_sample_clock_read(struct strobe_sample_clock *clock);
/* Add a reading. Those that do not rise are left out. */
void strobe_sample_clock_add(struct strobe_sample_clock *clock, uint64_t raw_ns, uint64_t tick);
/* A time as a tick; there are two readings. */
uint64_t strobe_sample_clock_tick(const struct strobe_sample_clock *clock, uint64_t raw_ns);
/* Ticks in a nanosecond, by the last two readings. */
double strobe_sample_clock_rate(const struct strobe_sample_clock *clock);

#endif
