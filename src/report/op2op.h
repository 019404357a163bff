/* op2op.h - on each core, the gap from the last kernel's end to the next op's first kernel start.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_OP2OP_H
#define STROBE_REPORT_OP2OP_H

#include "report/devlog.h"

struct strobe_report_gap {
    uint64_t start, cycles; /* end of the kernel before; how long until the next */
    uint64_t from_run, to_run;
    uint32_t core;
    bool other_iteration; /* another FW iteration than the kernel before: a gap between ops */
};

struct strobe_report_gap_event {
    uint64_t time, run;
    uint32_t order;
    uint8_t kind;
};

/* Where the walk over one core's events stands; kept from one part of the log to the next. */
struct strobe_report_gap_state {
    uint64_t end_time, end_run, iteration, end_iteration;
    bool has_end, has_iteration, end_has_iteration;
};

/* All zero is empty. */
struct strobe_report_op2op {
    struct strobe_report_gap *gaps; /* owned */
    size_t n, cap;
    struct strobe_report_gap_event *events; /* owned: of the core under way */
    size_t n_events, cap_events;
    struct strobe_report_gap_state *states; /* owned: by core */
    uint32_t n_states;
    uint32_t core;
};

/* Book one marker. False without memory. */
bool strobe_report_op2op_take(struct strobe_report_op2op *op2op,
                              const struct strobe_report_marker *marker);

/* After the last marker. */
bool strobe_report_op2op_finish(struct strobe_report_op2op *op2op);
void strobe_report_op2op_reset(struct strobe_report_op2op *op2op);
void strobe_report_op2op_free(struct strobe_report_op2op *op2op);

#endif
