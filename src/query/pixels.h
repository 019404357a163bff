/* pixels.h - what a stretch of time of some tracks looks like at a given width: docs/viewer-protocol.md, "pixels".
 * Comes from LOD blocks where they are fine enough, then from the summaries of parts, and only then from events.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_PIXELS_H
#define STROBE_QUERY_PIXELS_H

#include "query/paired.h"
#include "query/view.h"

enum {
    STROBE_PIXELS_MAX_WIDTH = 16384,
    STROBE_PIXELS_MAX_LANES = 4096,    /* tracks of one question */
    STROBE_PIXELS_MAX_DEPTHS = 512,    /* of one of them */
    STROBE_PIXELS_MAX_CELLS = 1 << 20, /* lanes times buckets */
    STROBE_PIXELS_MAX_BLOCKS = 512,    /* in a range; more: LOD blocks only */
    STROBE_PIXELS_MAX_EVENTS = 1 << 21 /* in a range; more: summaries only */
};

enum strobe_pixel_flag {
    STROBE_PIXEL_ZONE = 1,   /* one zone; else a cell */
    STROBE_PIXEL_ABOUT = 2,  /* its end is known to a bucket only */
    STROBE_PIXEL_BEYOND = 4, /* it goes on after the range */
    STROBE_PIXEL_OPEN = 8,   /* it never ends */
};

/* One track of a question. */
struct strobe_pixel_track {
    uint32_t thread; /* index; with rows: of no matter */
    uint32_t first_depth, n_depths;
    struct strobe_rows_place place; /* in place of a thread's events, where it has any */
};

struct strobe_pixel_ask {
    uint64_t lo, hi; /* ticks */
    uint32_t width, budget;
    const struct strobe_pixel_track *tracks; /* borrowed */
    uint32_t n_tracks;
    int from_afar; /* at the level that LOD blocks have, however little there is */
};

struct strobe_pixel_item {
    uint64_t begin, end; /* ticks */
    uint64_t busy;       /* of a cell, in ticks */
    uint64_t loc;        /* id + 1, 0: none */
    uint64_t count;
    uint32_t flags;
};

struct strobe_pixel_lane {
    uint32_t track; /* of the question */
    uint32_t depth;
    uint32_t first, n; /* items */
    uint32_t k;
};

/* Zero-initialise; free once. */
struct strobe_pixels {
    uint32_t k;
    struct strobe_pixel_item *items; /* owned */
    uint32_t n_items, items_room;
    struct strobe_pixel_lane *lanes; /* owned */
    uint32_t n_lanes, lanes_room;
    uint32_t *n_depths; /* owned: by track of the question, depths that were met */
    uint32_t
        seen_depths; /* of threads, where zones below were left out: the range has too many events; 0: all */
    uint64_t n_lods, n_heads, n_decoded; /* what it took */
};

enum strobe_err strobe_pixels_run(struct strobe_view *view, const struct strobe_pixel_ask *ask,
                                  struct strobe_pixels *out);
void strobe_pixels_free(struct strobe_pixels *pixels);

#endif
