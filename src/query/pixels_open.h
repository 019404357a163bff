/* pixels_open.h - which zones of a thread are open at a tick.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_PIXELS_OPEN_H
#define STROBE_QUERY_PIXELS_OPEN_H

#include "file/replay.h"
#include "query/view.h"

/* A zone that is open. */
struct strobe_open_at {
    uint64_t begin;
    uint64_t loc;
    uint8_t is_known;
    uint64_t end; /* where it is known; 0: not */
};

/* The open zones of one thread, by depth. Zero-initialise; free once. */
struct strobe_open_list {
    struct strobe_open_at *zones; /* owned */
    uint32_t n, room;
};

/* What was found out of zones that are open over many blocks: a small store, so that it isn't searched again. */
struct strobe_view_known *strobe_pixels_known_new(void); /* free() it; NULL without memory */

/* The zones of each of some threads that are open at `tick`, from the events. Zones below a part are looked up in
 * the blocks before. `wanted`: by thread index, number + 1 in `lists` or 0. */
enum strobe_err strobe_pixels_open(struct strobe_view *view, uint64_t tick, const uint32_t *wanted,
                                   uint32_t n_wanted, struct strobe_open_list *lists,
                                   uint32_t n_lists);

#endif
