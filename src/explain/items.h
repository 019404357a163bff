/* items.h - what matters to a path, backwards in time: edges of zones, switches, locks, flows, wake-ups, allocations.
 * A window of time is gathered from the blocks that overlap it, sorted and handed out from its end; then the window before it.
 * Memory is bounded by one window, however long the trace is.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPLAIN_ITEMS_H
#define STROBE_EXPLAIN_ITEMS_H

#include <stdatomic.h>

#include "query/view.h"

enum strobe_item_what {
    STROBE_ITEM_ZONE_BEGIN,
    STROBE_ITEM_ZONE_END,
    STROBE_ITEM_SWITCH_IN,
    STROBE_ITEM_SWITCH_OUT,
    STROBE_ITEM_LOCK_WAIT,
    STROBE_ITEM_LOCK_OBTAIN,
    STROBE_ITEM_LOCK_RELEASE,
    STROBE_ITEM_LOCK_WAITED, /* a whole wait, at its end */
    STROBE_ITEM_FLOW_OUT,    /* begin */
    STROBE_ITEM_FLOW_STEP,   /* both */
    STROBE_ITEM_FLOW_IN,     /* end */
    STROBE_ITEM_WAKEUP,
    STROBE_ITEM_ALLOC,
    STROBE_ITEM_N,
};

/* Reasons of a switch, as the file has them: docs/file-format.md. */
enum { STROBE_ITEM_PREEMPTED = 32, STROBE_ITEM_DISK_SLEEP = 101, STROBE_ITEM_DISK = 131 };

/* Threads that the system knows as one are one: `thread` is the index of the first of them in trace->threads. */
struct strobe_item {
    uint64_t tick;
    uint64_t id;          /* of the lock or the flow; WAKEUP: the tid that was woken */
    uint64_t begin;       /* of the zone, or of the wait; SWITCH_IN: when it left, 0: not known */
    uint64_t outer_begin; /* zones: of the one around it */
    uint32_t loc, outer;  /* zones: index in trace->locs; STROBE_IDMAP_NONE: not known, or none */
    uint32_t thread;
    uint32_t
        holder; /* LOCK_WAITED: the thread that had the lock before; STROBE_IDMAP_NONE: not known */
    uint16_t
        reason;    /* why it left the processor: SWITCH_OUT, and SWITCH_IN where `begin` is known */
    uint8_t what;  /* enum strobe_item_what */
    uint8_t depth; /* zones: 255 and more are 255 */
};

/* Gets each item, the latest first. An error ends the sweep and is its result. */
typedef enum strobe_err strobe_item_take(void *context, const struct strobe_item *item);

struct strobe_items_options {
    uint64_t tick_min, tick_max; /* inclusive */
    uint32_t max_items;          /* of a window; 0: 1 M */
    const atomic_int *stop;      /* borrowed: not 0 ends the sweep, with LIMIT; NULL: none */
};

/* Hand out the items of a range. NOMEM; LIMIT: more than max_items of one tick; what `take` gave. *n_bad_parts, unless NULL:
 * runs of events that are damaged, and left out. The view belongs to the caller's thread. */
enum strobe_err strobe_items_sweep(struct strobe_view *view,
                                   const struct strobe_items_options *options,
                                   strobe_item_take *take, void *context, uint64_t *n_bad_parts);

/* The thread, or the process, that this one is to the system. */
static inline uint32_t strobe_items_thread(const struct strobe_trace *trace, uint32_t thread)
{
    uint32_t twin = trace->threads[thread].twin;
    return twin ? twin - 1 : thread;
}
static inline uint32_t strobe_items_process(const struct strobe_trace *trace, uint32_t process)
{
    uint32_t twin = trace->processes[process].twin;
    return twin ? twin - 1 : process;
}

#endif
