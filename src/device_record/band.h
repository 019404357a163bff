/* band.h - what is proven of a device's clock: at one of its readings the host's clock was inside an interval, and from there on it goes at a rate that is inside another.
 *
 *     host    ┌─┐            ╱┌─┐        every sample (a reading of the device's clock between two of the host's) is an interval; carried on by the least and the
 *      time   │ │ ........ ╱  │ │        greatest rate, and cut with the next sample's, it gets narrower: a band is as narrow as the quickest way there and the
 *             └─┘...... ╱     └─┘        quickest way back together, which need not be of one sample
 *
 * The rate's bounds come from bands that lie apart: no line through both can be steeper or flatter. A quartz wanders; by how much is assumed here, and nothing else is. A sample
 * that can't be (it lies outside of the band) says that the clock was stopped, stepped or took another rate: all begins anew with it.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_RECORD_BAND_H
#define STROBE_DEVICE_RECORD_BAND_H

#include <stdbool.h>
#include <stdint.h>

enum { STROBE_CLOCK_RATE_ANCHORS = 32 };

/* Ticks are the trace's, since whatever the caller counts from. */
struct strobe_clock_band {
    bool is_there;
    int64_t cycles;   /* a reading of the device's clock */
    double low, high; /* ticks: the host's clock then */
};

/* Ticks per cycle, at the least and at the most, and bands of the past of which that is known. */
struct strobe_clock_rate {
    double low, high;
    double tick_ns;                                              /* ns per tick, nearly */
    struct strobe_clock_band anchors[STROBE_CLOCK_RATE_ANCHORS]; /* as a ring */
    uint64_t n_anchors;                                          /* ever kept */
};

/* About `nominal` ticks per cycle, and no more is known. */
void strobe_clock_rate_init(struct strobe_clock_rate *rate, double nominal, double tick_ns);
/* A band of the reference. False: no rate leads from the bands before to this one; they are forgotten. */
bool strobe_clock_rate_see(struct strobe_clock_rate *rate, const struct strobe_clock_band *band);

/* The band at another reading of the same clock, later or earlier. */
struct strobe_clock_band strobe_clock_band_at(const struct strobe_clock_band *band, int64_t cycles,
                                              const struct strobe_clock_rate *rate);
/* A sample: the reading `cycles` was made between the ticks `low` and `high`. Returns the ticks by which it lies outside of the band, which it then is alone; else 0. */
double strobe_clock_band_narrow(struct strobe_clock_band *band, int64_t cycles, double low,
                                double high, const struct strobe_clock_rate *rate);

#endif
