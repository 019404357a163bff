/* clock.h - ticks to nanoseconds, in integers only, as docs/file-format.md defines it under "Time".
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_CLOCK_H
#define STROBE_QUERY_CLOCK_H

#include <stdint.h>

enum { STROBE_CLOCK_MAX_SYNCS = 1 << 20 }; /* kept; more are left out */

struct strobe_sync {
    uint64_t tick;
    uint64_t mono_ns;
    uint64_t error_ns;
    uint8_t jump;
};

/* Zero-initialise, add the syncs, fix; then convert. Free once. */
struct strobe_clock {
    uint32_t kind; /* enum strobe_clock_kind; 0: no sync at all, ticks are shown as ns */
    uint64_t mult; /* ns per tick, shifted left by 32 */
    uint64_t error_ns;
    uint64_t real_offset_ns;   /* CLOCK_REALTIME - CLOCK_MONOTONIC at the first sync */
    uint64_t real_spread_ns;   /* and how far from that it was at others */
    struct strobe_sync *syncs; /* owned: in file order */
    uint32_t n_syncs, syncs_room;
    struct strobe_piece {
        uint64_t tick;
        uint64_t mono_ns;
    } * pieces; /* owned: by tick; piece 0 also serves what is before it */
    uint32_t n_pieces;
    uint64_t origin_tick;
    int64_t origin_ns;
};

void strobe_clock_add(struct strobe_clock *clock, uint64_t kind, const struct strobe_sync *sync,
                      uint64_t real_ns);

/* All syncs were added: find rate, pieces and error. 0 without memory. */
int strobe_clock_fix(struct strobe_clock *clock);

/* The tick that relative times count from. */
void strobe_clock_set_origin(struct strobe_clock *clock, uint64_t tick);

/* A duration in ns that stands for itself: a statistic. */
static inline uint64_t strobe_clock_ns(const struct strobe_clock *clock, uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)ticks * clock->mult >> 32);
}

/* The duration in ns of what begins at `tick`: the time of its end less the time of its begin, as both are shown. Sums of
 * such durations are neither too short nor too long, whereas each strobe_clock_ns is half a nanosecond short on average. */
uint64_t strobe_clock_span_ns(const struct strobe_clock *clock, uint64_t tick, uint64_t ticks);

/* A sum of durations in ns; the lower 64 bits. */
uint64_t strobe_clock_sum_ns(const struct strobe_clock *clock, unsigned __int128 ticks);

/* A tick on the host's axis, and relative to the origin. */
int64_t strobe_clock_at(const struct strobe_clock *clock, uint64_t tick);
int64_t strobe_clock_rel(const struct strobe_clock *clock, uint64_t tick);

/* The piece that a tick lies in, for many conversions one after the other: `tick` to `end` are its ticks, and none before the
 * first sync. All zero has no ticks. */
struct strobe_clock_part {
    uint64_t tick, end, mult;
    uint64_t at_ns,
        most_ns; /* of `tick`, and the latest that a tick of it may have, on the host's axis */
    uint64_t origin_ns;
    uint8_t has_most;
};
void strobe_clock_find_part(const struct strobe_clock *clock, uint64_t tick,
                            struct strobe_clock_part *out);

static inline int strobe_clock_part_has(const struct strobe_clock_part *part, uint64_t tick)
{
    return tick - part->tick < part->end - part->tick;
}

/* strobe_clock_rel and strobe_clock_span_ns of a tick that the part has. */
static inline int64_t strobe_clock_part_rel(const struct strobe_clock_part *part, uint64_t tick)
{
    uint64_t at =
        part->at_ns + (uint64_t)((unsigned __int128)(tick - part->tick) * part->mult >> 32);
    if (part->has_most && (int64_t)(at - part->most_ns) > 0)
        at = part->most_ns;
    return (int64_t)(at - part->origin_ns);
}

static inline uint64_t strobe_clock_part_span_ns(const struct strobe_clock_part *part,
                                                 uint64_t tick, uint64_t ticks)
{
    uint32_t rest = (uint32_t)((tick - part->tick) * part->mult);
    return (uint64_t)(((unsigned __int128)ticks * part->mult + rest) >> 32);
}

/* The first tick at or after a time relative to the origin. */
uint64_t strobe_clock_tick_of(const struct strobe_clock *clock, int64_t rel_ns);

void strobe_clock_free(struct strobe_clock *clock);

#endif
