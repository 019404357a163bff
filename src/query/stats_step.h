/* stats_step.h - statistics of a view, a few blocks at a time, so that a viewer need not wait for all.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_STATS_STEP_H
#define STROBE_QUERY_STATS_STEP_H

#include "query/stats.h"
#include "query/view.h"

/* Statistics block by block, of a trace that may grow: zero-initialise, step until next_block is view->n_blocks, free the stats. */
struct strobe_stats_steps {
    struct strobe_stats stats;
    uint32_t next_block;
    int has_fibers; /* these are of no use: strobe_stats_run has to do it */
};

/* 1: steps give what strobe_stats_run gives, as far as the footer tells. */
int strobe_stats_may_step(const struct strobe_trace *trace,
                          const struct strobe_stats_options *options);

/* The next blocks, where strobe_stats_may_step: as many heads as `most`, and the events of those that lie across an end of the
 * range, 1,024 of which count as a head. Of blocks that lie inside of it heads are read, payloads are not checked; the others
 * are not read. */
enum strobe_err strobe_stats_step(struct strobe_view *view,
                                  const struct strobe_stats_options *options, uint32_t most,
                                  struct strobe_stats_steps *steps);

#endif
