/* pixels_gather.h - what pixels.c and pixels_items.c share: the buckets of the lanes of one question.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_PIXELS_GATHER_H
#define STROBE_QUERY_PIXELS_GATHER_H

#include "file/replay.h"
#include "query/pixels.h"
#include "query/pixels_open.h"

struct strobe_pixel_cell {
    uint64_t busy;
    struct strobe_lod_longest longest;
    uint64_t count;
};

void strobe_pixel_cell_add(struct strobe_pixel_cell *into, const struct strobe_pixel_cell *from);

/* The lanes of one track. */
struct strobe_pixel_lanes {
    const struct strobe_pixel_track *track; /* borrowed */
    uint32_t k;
    uint32_t n_buckets;
    uint64_t base;                   /* first bucket */
    uint64_t lo, hi;                 /* first and last tick of its buckets */
    struct strobe_pixel_cell **rows; /* owned: by depth - first_depth; NULL: nothing there */
    struct strobe_open_list open;    /* owned: at the end of the range */
    uint64_t last_tick;              /* of the part before */
    uint32_t n_seen;                 /* depths that were met */
    uint8_t has_last;
    uint8_t is_marked; /* the LOD block at hand is too coarse for it */
    uint8_t
        is_deep; /* it is asked for as deep as levels of detail are, or below, and events may be read */
};

struct strobe_gather {
    struct strobe_view *view;           /* borrowed */
    const struct strobe_pixel_ask *ask; /* borrowed */
    struct strobe_pixels *out;          /* borrowed */
    uint32_t k;
    uint64_t lo, hi;                  /* of all lanes */
    struct strobe_pixel_lanes *lanes; /* owned: one per track of the question */
    uint32_t n_lanes;
    uint32_t *wanted; /* owned: by thread, index + 1 in lanes */
    uint32_t n_wanted, n_threads;
    struct strobe_replay replay;
    int failed; /* no memory */
};

/* The lanes of a thread by its numbers in the file; NULL: not asked for. */
struct strobe_pixel_lanes *strobe_gather_lanes(struct strobe_gather *gather, uint64_t proc,
                                               uint64_t track);

/* Fill gather->out. */
enum strobe_err strobe_pixels_make_items(struct strobe_gather *gather);

#endif
