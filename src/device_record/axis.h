/* axis.h - a device's clocks on the trace's clock: one map per device, and where the clock of each core began.
 *
 * The stream carries samples: a reading of a core's clock between two readings of the host's. The first core that is sampled is the
 * reference; the device's common time is that core's, in cycles, and all cores run at one frequency. What is proven of the reference and of every other core is a band
 * each (band.h). Behind every burst of samples the map gets a knot, in the middle of the reference's band; between two knots times are interpolated:
 *
 *     host   ┌─┐                 ┌─┐          what is stated is the furthest that a bound of any core's band is away from the map, at both knots: so it is proven for
 *      time  │●────────────────────●│          what is mapped in between, of all cores
 *            └─┘                 └─┘
 *            knot                knot
 *
 * Nothing is mapped beyond the last knot while more are to come (strobe_device_axis_ready), so nothing is extrapolated. The map
 * itself, in integers, as readers compute it: build/clock_map.h.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_RECORD_AXIS_H
#define STROBE_DEVICE_RECORD_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "build/clock_map.h"
#include "device_record/band.h"

/* How the trace's ticks follow CLOCK_MONOTONIC. */
struct strobe_device_host {
    uint64_t (*tick_at)(void *context, uint64_t mono_ns);
    double (*error)(void *context); /* ns: by how much that may be off now */
    void *context;                  /* borrowed */
    double tick_ns;                 /* ns per tick, nearly */
};

struct strobe_device_core_clock {
    struct strobe_clock_band band; /* in its own cycles */
    struct strobe_clock_band was;  /* as it was at the last knot */
    int64_t origin;                /* its cycles less those of the reference at the same time */
    bool has_origin;               /* it is read, and there is a map */
    bool is_fixed;                 /* something was mapped with the origin: it stays */
    struct strobe_clock_band seen; /* its best sample alone, */
    struct strobe_clock_band by;   /* and the reference's band then */
    int64_t near;                  /* an origin that could be */
    double near_low, near_high;    /* cycles: the origin less `near`; equal: not known */
};

struct strobe_device_axis {
    struct strobe_device_host host;
    struct strobe_clock_map map;
    double cycle_ns; /* nominal at first, then as measured */
    bool has_reference;
    uint32_t reference;  /* core; UINT32_MAX: the device's own clock */
    int64_t base;        /* common time at which the clocks of this epoch began */
    uint64_t first_tick; /* of this epoch's samples: what bands count from */
    struct strobe_clock_rate rate;
    struct strobe_device_core_clock own; /* the reference's: its origin is 0 */
    struct strobe_clock_band first;      /* the best of its first samples, alone */
    uint64_t n_samples;                  /* of it */
    double least_ns;                     /* half of its narrowest sample; 0: none yet */
    uint32_t n_burst;                    /* samples of the reference since the last knot */
    int64_t burst;                       /* its cycles at the first of them */
    double outside_ns; /* since the last knot a sample was so far outside of its band */
    int64_t knot;      /* time of the last knot; INT64_MIN: none yet */
    uint64_t knot_tick;
    struct strobe_device_core_clock *cores; /* owned */
    uint32_t n_cores;
};

void strobe_device_axis_init(struct strobe_device_axis *clock,
                             const struct strobe_device_host *host, double khz);
void strobe_device_axis_free(struct strobe_device_axis *clock);

/* A sample. True: the map has a new piece, which belongs into the trace. */
bool strobe_device_axis_sample(struct strobe_device_axis *clock, uint32_t core, uint64_t cycles,
                               uint64_t before_ns, uint64_t after_ns);
/* No more samples of this epoch come: the latest becomes a knot, so that nothing behind the last one is mapped without a proof. True: as above. */
bool strobe_device_axis_end(struct strobe_device_axis *clock);
/* The device was reset: its clocks began anew, some time after all that was mapped. */
void strobe_device_axis_reset(struct strobe_device_axis *clock);
/* Something must be mapped before there are two knots: the one knot, or `cycles` of `core` at about host time `ns`, and the nominal
 * frequency must do. True: as above; false: there is a map. */
bool strobe_device_axis_guess(struct strobe_device_axis *clock, uint32_t core, uint64_t cycles,
                              uint64_t ns);

/* Cores whose timers stand apart from those of most by more than their readings leave open: out of reset at another time. */
struct strobe_device_skew {
    uint32_t n_cores; /* that stand apart; 0: none, and nothing else is set */
    uint32_t core;    /* the one that does most */
    double ns;        /* by so much it is ahead */
    double error_ns;
};
/* NOMEM: nothing is known. */
enum strobe_err strobe_device_axis_skew(const struct strobe_device_axis *clock,
                                        struct strobe_device_skew *out);

/* A reading of a core's clock as common time. */
int64_t strobe_device_axis_common(struct strobe_device_axis *clock, uint32_t core, uint64_t cycles);
/* Up to where times can be mapped without looking ahead; INT64_MIN: not at all yet. */
int64_t strobe_device_axis_ready(const struct strobe_device_axis *clock);
/* A common time as a tick. What is mapped stays. There is a piece. */
uint64_t strobe_device_axis_tick(struct strobe_device_axis *clock, int64_t time);

#endif
