/* noc_routes.h - which links of the NoC a run's transfers took, and how long they waited for each other: a model, not a measurement.
 *
 * The grid is a torus. Each place has two links of either NoC to its neighbours: NOC_0 goes to greater x first, then to greater y;
 * NOC_1 to smaller y first, then to smaller x. A read takes its way from the far end back. A multicast takes each link of the ways
 * to all its cores once. Transfers are processed in the order of their times. One begins when all links of its way are free, and keeps each
 * as long as its bytes take; until then it waits. What waits inside of a router, credits and virtual channels are not modelled.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_NOC_ROUTES_H
#define STROBE_REPORT_NOC_ROUTES_H

#include "report/noc_trace.h"

/* Of a chip. */
struct strobe_report_noc_grid {
    uint32_t n_x, n_y;        /* at most STROBE_REPORT_NOC_SIDE */
    uint32_t bytes_per_cycle; /* of a link */
};

/* Of one run of an op; shares are of 1. */
struct strobe_report_noc_figures {
    uint64_t n_transfers, n_bytes, n_multicast_bytes;
    double hops; /* mean links of a transfer */
    double mean_use,
        max_use; /* busy time of a link over the run's length: of all links, of the busiest */
    double multicast_use; /* the part of mean_use that multicasts make */
    double waiting;       /* share of the transfers' time in which they wait for links */
};

/* The figures of a trace. NOMEM. */
enum strobe_err strobe_report_noc_routes(const struct strobe_report_noc_trace *trace,
                                         const struct strobe_report_noc_grid *grid,
                                         struct strobe_report_noc_figures *out);

#endif
