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

/* The next blocks, at most `most`, where strobe_stats_is_summed. Heads are read, payloads are not checked. */
enum strobe_err strobe_stats_step(struct strobe_view *view,
                                  const struct strobe_stats_options *options, uint32_t most,
                                  struct strobe_stats_steps *steps);

#endif
