/* clock_fit.h - lines between clocks by least squares, as sync_device_info.csv has them: the host's and a device's, two devices'.
 * The fit that follows a run continuously is another one, with bounds. No state, no memory.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_CLOCK_FIT_H
#define STROBE_DEVICE_CLOCK_FIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct strobe_clock_sample {
    uint64_t cycles, host; /* the host's, in its own unit */
};

/* cycles = delay + cycles_per_ns * ratio * host */
struct strobe_clock_line {
    double cycles_per_ns, delay;
};

/* The line through all samples; `ratio` is nanoseconds per unit of the host's clock. INVALID: fewer than two samples, or all at
 * one time. */
enum strobe_err strobe_clock_line_fit(const struct strobe_clock_sample *samples, size_t n_samples,
                                      double ratio, struct strobe_clock_line *out);

/* A message between two devices: when its sender began and had the answer, when its receiver saw it. */
struct strobe_clock_pair {
    uint64_t sent, answered; /* sender's cycles */
    uint64_t received;       /* receiver's cycles */
};

/* sender = scale * receiver + shift */
struct strobe_clock_link {
    double scale, shift;
};

/* The line through all pairs. INVALID as above. */
enum strobe_err strobe_clock_link_fit(const struct strobe_clock_pair *pairs, size_t n_pairs,
                                      struct strobe_clock_link *out);
/* How far it may be off, in the sender's cycles, between the first pair and the last: an answer bounds when its message was received, and
 * a difference of two lines is greatest at an end. */
double strobe_clock_link_error(const struct strobe_clock_pair *pairs, size_t n_pairs,
                               const struct strobe_clock_link *link);
/* Keep those whose answer did not take longer than half of them did: a long way says little. Their number. */
size_t strobe_clock_link_shortest(struct strobe_clock_pair *pairs, size_t n_pairs);
/* The same link the other way round. */
struct strobe_clock_link strobe_clock_link_reverse(const struct strobe_clock_link *link);
/* receiver -> sender (`near`), then sender -> its own root (`far`): one link. */
struct strobe_clock_link strobe_clock_link_join(const struct strobe_clock_link *far,
                                                const struct strobe_clock_link *near);

/* Halves of 32 bits that wrap, as a kernel samples them: the 64-bit value that follows `last` and has this low half. */
uint64_t strobe_clock_unwrap(uint64_t last, uint32_t low);

/* ---- rows of sync_device_info.csv, without the line's end. They return the length, as snprintf does ---- */

struct strobe_clock_row {
    uint32_t device, core_x, core_y;
    uint64_t cycles, host, write_overhead, host_start, base_time;
    double host_real, delay, frequency, ratio;
};

extern const char strobe_clock_row_head[];
int strobe_clock_row_print(char *text, size_t n_bytes, const struct strobe_clock_row *row);
/* A device's link to its root. */
int strobe_clock_link_print(char *text, size_t n_bytes, uint32_t device,
                            const struct strobe_clock_link *link);

#endif
