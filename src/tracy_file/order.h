/* order.h - what a .tracy file of a trace and its tables have in common: the numbers of threads and fibers, a zone's text.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_ORDER_H
#define STROBE_TRACY_FILE_ORDER_H

#include "file/replay.h"
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

/* The text of a zone as Tracy keeps it: its texts, then its value as a line of its own. NULL: it has none, or no memory. *made is
 * what to free behind it, or stays NULL. */
const char *strobe_tracy_note_text(const struct strobe_client_facts *facts, uint32_t process,
                                   const struct strobe_note *note, char **made, uint32_t *n);

#endif
