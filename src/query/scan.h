/* scan.h - the zones of some locations and threads in a stretch of time, block by block. The heads of blocks tell which parts
 * have such zones at all, so only those are decoded. Stops after so many events, and goes on from there when it is run again.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_SCAN_H
#define STROBE_QUERY_SCAN_H

#include "file/replay.h"
#include "query/view.h"

struct strobe_scan {
    struct strobe_view *view; /* borrowed */
    uint64_t lo, hi;          /* zones that begin in [lo, hi]; */
    int is_touching;        /* 1: also those that begin before and end in the blocks of that time */
    uint64_t kinds;         /* bit per kind: only blocks that have one of these; 0: all */
    const uint8_t *threads; /* borrowed: by index, 0: leave it out; NULL: all. Threads with several
                                 tracks are left out in any case */
    uint32_t n_threads;
    const uint8_t *locs; /* borrowed: by index in trace->locs, 0: leave it out; NULL: all */
    uint32_t n_locs;
    int want_notes;
    struct strobe_carry *
        carries; /* borrowed: by thread, n_threads of them; NULL: zones that began in an earlier part
                                     have no notes. All parts of a thread must come, in order */
    uint64_t max_events; /* that are decoded in one run; 0: all */
    void *context;
    /* NULL, or 1: the zones of a part need not be seen; whoever says so has counted them. */
    int (*skip)(const struct strobe_scan *scan, const struct strobe_part *part, uint32_t process);
    /* A zone that ended; a sink that returns 0 ends the scan. */
    int (*zone)(void *context, uint32_t thread, uint32_t loc, uint64_t loc_id,
                const struct strobe_zone_row *zone, const struct strobe_note *note);

    uint32_t next_block; /* where it goes on; 0 at first */

    /* Results: */
    int is_cut;         /* there is more */
    uint64_t n_decoded; /* parts */
};

/* 1: the location is wanted. */
static inline int strobe_scan_has_loc(const struct strobe_scan *scan, uint32_t loc)
{
    return !scan->locs || (loc < scan->n_locs && scan->locs[loc]);
}

enum strobe_err strobe_scan_run(struct strobe_scan *scan);

#endif
