/* order.h - the numbers of threads and fibers in a .tracy file of a trace, and in its tables.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_ORDER_H
#define STROBE_TRACY_FILE_ORDER_H

#include "query/client_facts.h"

/* Threads, then fibers, as the trace has them. One that was read from a .tracy file keeps the numbers of
 * that: its fibers' ids are theirs, and the threads have the others. */
struct strobe_tracy_order {
    const struct strobe_trace *trace; /* borrowed */
    int is_import;
    uint32_t next_thread, next_fiber; /* where to look on */
    uint64_t number;                  /* of the one that was found, from 1 */
    int is_fiber;
    uint32_t index; /* in trace->threads or trace->fiber_ids.keys */
};

void strobe_tracy_order_start(const struct strobe_trace *trace,
                              const struct strobe_client_facts *facts,
                              struct strobe_tracy_order *out);
/* 0: there is no other. */
int strobe_tracy_order_next(struct strobe_tracy_order *order);

#endif
