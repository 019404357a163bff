/* zone.h - one zone of a thread in detail, found by a tick and a depth.
 * Reads at most STROBE_ZONE_MAX_PARTS parts of the thread: of a longer zone, what is inside is told in part.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_ZONE_H
#define STROBE_QUERY_ZONE_H

#include "file/replay.h"
#include "query/pixels_open.h"

enum { STROBE_ZONE_MAX_PARTS = 256 };

/* Zones of one location. */
struct strobe_zone_sum {
    uint64_t loc;
    uint64_t count;
    uint64_t ticks;
};

struct strobe_zone_sums {
    struct strobe_zone_sum *rows; /* owned: by ticks, most first */
    uint32_t n, room;
};

struct strobe_zone_detail {
    uint64_t begin, end; /* end: if it ended */
    uint64_t loc;
    uint64_t self;
    uint32_t depth;
    enum strobe_zone_state state;
    uint64_t n_children;
    int is_cut; /* not all that is inside was read */
    struct strobe_note note;
    struct strobe_open_at *parents; /* owned: outermost first */
    uint32_t n_parents;
    struct strobe_zone_sums children, inside;
};

/* Look. STROBE_ERR_NOTFOUND: no zone of that depth is open there, nor ends or begins within `slack` ticks. Free the
 * result in any case. */
enum strobe_err strobe_zone_look(struct strobe_view *view, uint32_t thread, uint32_t depth,
                                 uint64_t tick, uint64_t slack, struct strobe_zone_detail *out);
/* The begin and depth of the zone that begins next after `tick` on a thread (is_next 0: last before it), among those with a
 * location that `locs` marks (by index in trace->locs), or, where that is NULL, of `depth`. Times are compared in ticks.
 * STROBE_ERR_NOTFOUND: none within STROBE_ZONE_MAX_PARTS blocks that may have one. */
enum strobe_err strobe_zone_step(struct strobe_view *view, uint32_t thread, uint64_t tick,
                                 int is_next, uint32_t depth, const uint8_t *locs, uint32_t n_locs,
                                 uint64_t *begin, uint32_t *begin_depth);

void strobe_zone_detail_free(struct strobe_zone_detail *detail);

#endif
