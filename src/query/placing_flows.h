/* placing_flows.h - inside query/: the flows of a trace that begin or end in it alone. What begins in one trace and ends in another went
 * from host to host, and no message arrives before it was sent: a bound for their clocks.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_PLACING_FLOWS_H
#define STROBE_QUERY_PLACING_FLOWS_H

#include "base/map.h"
#include "query/trace.h"

/* The ends of one number in a trace. */
struct strobe_placing_flow {
    uint64_t id;
    uint64_t begin, end; /* ticks of the last ones */
    uint32_t n_begins, n_ends;
};

/* All zero: not read yet. */
struct strobe_placing_flows {
    struct strobe_placing_flow *rows; /* owned */
    uint32_t n, room;
    struct strobe_map ids; /* to rows */
    int is_read;
};

/* Read them, at most 2^20 numbers. NOMEM, errors of reading. A trace whose footer counts none is not read. */
enum strobe_err strobe_placing_flows_read(const struct strobe_trace *trace,
                                          struct strobe_placing_flows *out);

/* The one of a number; NULL: there is none. */
const struct strobe_placing_flow *
strobe_placing_flows_find(const struct strobe_placing_flows *flows, uint64_t id);
void strobe_placing_flows_free(struct strobe_placing_flows *flows);

#endif
