/* sums.h - how often the zones of each location ran and how long, in whole ns as Tracy's tools count
 * them: begin and end are cut to ns first, so that sums of ticks (stats.h) can't give them.
 * Blocks need nothing of each other, and several threads share them.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_SUMS_H
#define STROBE_QUERY_SUMS_H

#include "query/client_facts.h"

/* Zones that ended and took more than 0 ns. Integers: the order of adding makes no difference. */
struct strobe_ns_sum {
    uint64_t n;
    int64_t min;
    uint64_t total;
    int64_t max;
    unsigned __int128 squares;
};

struct strobe_sums {
    struct strobe_ns_sum *rows; /* owned: by index in trace->locs; the last: of no known location */
    uint32_t n_rows;
    uint64_t n_events;    /* of all parts */
    uint64_t tick_last;   /* likewise, if n_events is not 0 */
    uint64_t n_bad_parts; /* that could be read in part only */
};

/* 1: parts alone tell all. 0: zones of fibers, of threads with several tracks or of processes with a clock of their own need
 * a walk (walk.h), as does a file without totals. */
int strobe_sums_serve(const struct strobe_trace *trace);

/* One pass over all events, where strobe_sums_serve. Free after a failure too. */
enum strobe_err strobe_sums_run(struct strobe_trace *trace, const struct strobe_client_facts *facts,
                                struct strobe_sums *out);
void strobe_sums_free(struct strobe_sums *sums);

/* Add what `from` counted. */
void strobe_ns_sum_join(struct strobe_ns_sum *to, const struct strobe_ns_sum *from);

#endif
