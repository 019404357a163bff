/* gpu_clocks.h - how the clock of each GPU context ran beside the host's: how often both were compared, and what that showed.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_GPU_CLOCKS_H
#define STROBE_QUERY_GPU_CLOCKS_H

#include "query/client_facts.h"

struct strobe_gpu_clock {
    uint64_t n_calibrations, n_syncs;
    double gpu_ns, host_ns; /* that passed on both from the first calibration to the last */
    int64_t
        step_ns; /* the largest correction by one: its host time beyond the one that those before made expect */
    uint64_t step_tick; /* of that one */
    int64_t last_gpu,
        last_host; /* of the last one: ns of the GPU, ns on the axis of strobe_client_ns */
    double mod;    /* ns of the host for one of the GPU, from it on */
};

struct strobe_gpu_clocks {
    struct strobe_gpu_clock *rows; /* owned: by index in facts->contexts */
    uint32_t n, room;
    struct strobe_client_facts *facts; /* borrowed */
};

/* One pass over the blocks that have such events, in the order of the file: a context's are one thread's. Zero-initialise before,
 * free after a failure too. */
enum strobe_err strobe_gpu_clocks_run(struct strobe_trace *trace, struct strobe_client_facts *facts,
                                      struct strobe_gpu_clocks *out);
void strobe_gpu_clocks_free(struct strobe_gpu_clocks *clocks);

#endif
