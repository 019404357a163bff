/* lane.h - one lane of a device stream: its state between frames, and the decoding of a run of its words.
 * For stream.c and its tests alone.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_LANE_H
#define STROBE_DEVICE_LANE_H

#include "device/stream.h"

enum {
    STROBE_LANE_ZONES = 512, /* zones per batch; a run has at most 256 */
    STROBE_LANE_VALUES = 63
};

/* A record whose time the next one must confirm: an event or data behind a new high time, or an L zone. */
struct strobe_device_held {
    uint64_t values[STROBE_LANE_VALUES];
    struct strobe_device_mark mark;
    struct strobe_device_zone zone;
    bool is_zone;
};

/*   A lane's life                                      who     by
 *     NEW ────► RUNNING  the first frame that has it   lane    start
 *     RUNNING ► BROKEN   words that are no record      lane    strobe_device_lane_run
 *     BROKEN ─► RUNNING  the next frame seeds it       lane    start
 *     NEW ────► RUNNING  a predecessor's state         stream  strobe_device_stream_load
 *     NEW ────► BROKEN   likewise                      stream  strobe_device_stream_load
 *     RUNNING ► NEW      the device was reset          stream  strobe_device_lane_reset */
enum strobe_device_lane_state {
    STROBE_DEVICE_LANE_NEW,
    STROBE_DEVICE_LANE_RUNNING,
    STROBE_DEVICE_LANE_BROKEN
};

struct strobe_device_lane_now {
    struct strobe_device_lane lane;
    enum strobe_device_lane_state state;
    uint32_t expected; /* count of the next word */
    uint32_t timer, program;
    bool has_timer, has_cursor;
    bool new_timer; /* a TIMER word raised the high time, and no record came since */
    uint64_t cursor;
    struct strobe_device_held
        *held; /* owned: NULL until the first; freed by strobe_device_lane_free */
    bool holds;
};

/* What a frame says of a run. */
struct strobe_device_run {
    const uint32_t *words; /* borrowed: n_words, in order */
    uint32_t n_words, head, timer, program;
};

#define STROBE_PROGRAM_UNKNOWN \
    0xffffffffu /* of zones behind a gap, until the lane names it again */

/* Decodes S zones: reads pairs of words as long as they are S, at most n_words. Returns the zones. */
typedef size_t strobe_device_decode_s(const uint32_t *words, size_t n_words, uint64_t *cursor,
                                      uint32_t program, struct strobe_device_zone *zones);
strobe_device_decode_s strobe_device_lane_s_scalar;
strobe_device_decode_s strobe_device_lane_s_avx2;
/* The fastest one that this machine has. */
strobe_device_decode_s *strobe_device_lane_best(void);

/* What lanes share: callbacks, counts, the batch. */
struct strobe_device_lane_out {
    struct strobe_device_calls calls;
    struct strobe_device_stream_counts counts;
    strobe_device_decode_s *decode_s;
    size_t n_zones;
    struct strobe_device_zone zones[STROBE_LANE_ZONES + 4]; /* + 4: vectors store whole */
};

/* Decode a run: gaps, overlaps, records. */
void strobe_device_lane_run(struct strobe_device_lane_out *out, struct strobe_device_lane_now *now,
                            const struct strobe_device_run *run);
/* Hand out what waits. */
void strobe_device_lane_flush(struct strobe_device_lane_out *out,
                              struct strobe_device_lane_now *now);
/* The device was reset: no state. */
void strobe_device_lane_reset(struct strobe_device_lane_out *out,
                              struct strobe_device_lane_now *now);
void strobe_device_lane_free(struct strobe_device_lane_now *now);

/* Count, and report. `lane` may be NULL. */
void strobe_device_lane_bad(struct strobe_device_lane_out *out,
                            const struct strobe_device_lane *lane, enum strobe_device_bad why,
                            uint64_t count);

#endif
