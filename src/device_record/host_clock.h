/* host_clock.h - the trace's ticks at times of CLOCK_MONOTONIC, for times that are asked for about when they happen: the host's times
 * in a device's stream.
 *
 * Both clocks are read together now and then; from the newest reading on, the rate since the first one is used. A reading is due when
 * half as much time has passed since the last as it is old itself, once a second later on: so the error of the rate adds at most
 * half of that of two readings. No I/O.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_RECORD_HOST_CLOCK_H
#define STROBE_DEVICE_RECORD_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing was read yet. It is also stored as it is (wire/device_fifo.h). */
struct strobe_host_clock {
    uint64_t tick0, mono0; /* the first reading */
    uint64_t tick, mono;   /* the newest */
    double ticks_per_ns;   /* 0: there is one reading only */
    double error0, error;  /* of the two readings, in ticks: half of what they took */
};

/* Take a reading; it is not before the last. `error`: ticks by which it may be off. */
void strobe_host_clock_read(struct strobe_host_clock *clock, uint64_t tick, uint64_t mono_ns,
                            double error);

/* Whether another reading is due. */
bool strobe_host_clock_is_due(const struct strobe_host_clock *clock, uint64_t mono_ns);

/* The tick at a time. Two readings at least were taken. */
uint64_t strobe_host_clock_tick(const struct strobe_host_clock *clock, uint64_t mono_ns);

/* By how much that may be off until the next reading is due, in ns: as much as the newest reading, and what two readings leave open of the rate. */
double strobe_host_clock_error(const struct strobe_host_clock *clock);

#endif
