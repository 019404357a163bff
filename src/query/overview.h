/* overview.h - what is in a trace, at a glance: for `strobe info`.
 * Small files are read whole. Large ones give what the footer and the last blocks say, in a time
 * that does not depend on their events; `whole` reads all.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_OVERVIEW_H
#define STROBE_QUERY_OVERVIEW_H

#include "query/trace.h"
#include "query/walk.h"

enum {
    STROBE_OVERVIEW_SMALL = 8 << 20, /* files up to this size are read whole */
    STROBE_OVERVIEW_TAIL = 1 << 20,  /* bytes at the end that are read of others */
    STROBE_OVERVIEW_OPEN = 64,       /* open zones that are listed */
};

struct strobe_open_row {
    uint32_t process, thread;
    enum strobe_batch_kind kind;
    uint64_t id; /* of the fiber or span */
    uint64_t loc_id;
    uint64_t begin;
    uint32_t depth;
};

struct strobe_overview {
    int is_whole; /* every event was read: all counts are exact, every checksum was compared */
    int has_kinds;
    uint64_t n_of_kind[STROBE_KIND_COUNT];
    uint64_t n_events;
    uint64_t n_zones_begun, n_zones_ended;
    uint64_t
        n_open; /* zones open at the end; not whole: of the threads in the last blocks, at least */
    uint64_t n_open_spans;
    uint64_t n_unfinished; /* whole only */
    uint64_t n_no_begin;   /* whole only */
    uint64_t n_bad_parts;
    uint64_t n_unsampled, n_cut; /* of samples by timers: periods without one, cut stacks */
    uint64_t tick_first, tick_last;
    struct strobe_open_row open[STROBE_OVERVIEW_OPEN];
    uint32_t n_listed;
};

/* Look. The trace may have been opened with STROBE_TRACE_NO_LOCS: the locations of the listed open
 * zones are read then. `progress` (NULL: nobody) hears how far the checksums are. */
enum strobe_err strobe_overview_run(struct strobe_trace *trace, int whole,
                                    void (*progress)(uint64_t done, uint64_t all),
                                    struct strobe_overview *out);

/* Count events and gaps anew, from the heads of all blocks (strobe_trace_note_part): events and ticks of `out`, the coverage of the trace.
 * `whole`: blocks are read whole, and those that are damaged don't count. */
enum strobe_err strobe_overview_count(struct strobe_trace *trace, int whole,
                                      struct strobe_overview *out);

#endif
