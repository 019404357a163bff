/* clock_fit.h - a device's clocks on the host's: one frequency for the device, an origin for each of its clocks (cores).
 *
 * A reading is the device's cycles between two host times. Its true host time lies between these, so the middle is off by
 * half of the round trip at most: that bound, and not a guess at noise, is what the stated uncertainty is made of. Readings
 * whose round trip is above the median of the last ones of their clock were delayed by somebody, and are not kept.
 *
 * The frequency is the common slope of all kept readings about their clocks' means. Memory is bounded: n_clocks windows of
 * STROBE_CLOCK_WINDOW readings. Threads: one at a time.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_CLOCK_FIT_H
#define STROBE_DEVICE_CLOCK_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct strobe_clock_sample {
    uint64_t cycles, host_ns;
};

/* cycles = delay + cycles_per_ns * host_ns */
struct strobe_clock_line {
    double cycles_per_ns, delay;
};

/* The plain line through all samples by least squares, as sync_device_info.csv has it; `ratio` is the host clock's
 * nanoseconds per unit. INVALID: fewer than two samples, or all at one time. */
enum strobe_err strobe_clock_line_fit(const struct strobe_clock_sample *samples, size_t n_samples,
                                      double ratio, struct strobe_clock_line *out);

enum { STROBE_CLOCK_WINDOW = 64 };

struct strobe_clock_fit;

/* `khz`: the frequency that is assumed until two readings of a clock say another. NOMEM, INVALID. */
enum strobe_err strobe_clock_fit_open(uint32_t n_clocks, uint32_t khz,
                                      struct strobe_clock_fit **out);
void strobe_clock_fit_close(struct strobe_clock_fit *fit);

/* One reading of a clock. True: it was kept. False: its round trip was long, or it makes no sense. */
bool strobe_clock_fit_add(struct strobe_clock_fit *fit, uint32_t clock, uint64_t cycles,
                          uint64_t before_ns, uint64_t after_ns);
/* Forget a clock's readings: it was reset. */
void strobe_clock_fit_reset(struct strobe_clock_fit *fit, uint32_t clock);

struct strobe_clock_time {
    uint64_t host_ns;
    double
        uncertainty_ns; /* the true time is no farther than this, if the clocks are straight over the window */
};

/* The host's time of a cycle. Times of one clock that are asked for in the order of its cycles never step back. NOTFOUND:
 * no reading of this clock. */
enum strobe_err strobe_clock_fit_map(struct strobe_clock_fit *fit, uint32_t clock, uint64_t cycles,
                                     struct strobe_clock_time *out);

struct strobe_clock_quality {
    double cycles_per_ns;     /* shared */
    double rms_ns, max_ns;    /* of kept readings about the line */
    double half_trip_ns;      /* of the best kept reading */
    uint64_t n_kept, n_added; /* so far */
};
void strobe_clock_fit_quality(struct strobe_clock_fit *fit, struct strobe_clock_quality *out);

#endif
