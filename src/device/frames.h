/* frames.h - the inside of a decoder: what stream.c, lane.c and frames.c share.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_FRAMES_H
#define STROBE_DEVICE_FRAMES_H

#include "base/map.h"
#include "device/lane.h"

struct strobe_device_core {
    uint32_t index, core_yx;
    struct strobe_device_lane_now lanes[STROBE_DEVICE_MAX_RISCS];
};

struct strobe_device_stream {
    struct strobe_device_core **cores; /* owned: n_cores, each owned */
    uint32_t n_cores, room, max_cores;
    uint32_t epoch;
    bool has_epoch, no_memory;
    struct strobe_device_core *last; /* borrowed: of cores[], the one that was looked up last */
    struct strobe_map by_yx;         /* core_yx -> index */
    struct strobe_device_lane_out out;
};

/* The core at these coordinates, made at its first use. NULL: over the limit, counted. `described`: its `core`
 * call comes from the caller. */
struct strobe_device_core *strobe_device_stream_core(struct strobe_device_stream *stream,
                                                     uint32_t core_yx, bool described);

/* An extension frame; all its words are there. */
void strobe_device_frame(struct strobe_device_stream *stream, const uint32_t *words);

#endif
