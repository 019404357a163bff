/* noc_ops.h - NoC figures of all runs of a folder, from its noc_trace files: for reports without tt-npe, and beside it.
 *
 * Six columns of the report, and a file of its own, noc_op_stats.csv, with the keys of the runs before them. The figures are those of
 * noc_routes.h.  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_NOC_OPS_H
#define STROBE_REPORT_NOC_OPS_H

#include "base/map.h"
#include "report/faults.h"
#include "report/noc_routes.h"

/* The columns; a row of them for each run that has a file. */
#define STROBE_REPORT_NOC_OWN(X) \
    X("NOC TRANSFERS")           \
    X("NOC BYTES")               \
    X("NOC AVG HOPS")            \
    X("NOC LINK UTIL AVG (%)")   \
    X("NOC LINK UTIL MAX (%)")   \
    X("NOC CONGESTION (%)")

struct strobe_report_noc_run {
    uint64_t id;            /* of the op */
    int64_t trace, counter; /* -1: not from a trace */
    uint32_t execution;     /* of a program that ran again outside of traces, from 0 */
    struct strobe_report_noc_figures figures;
};

/* All zero is empty. */
struct strobe_report_noc_ops {
    struct strobe_report_noc_run *runs; /* owned: by id, trace, counter, execution */
    uint32_t n, room;
};

/* Read all noc_trace files of a folder; without any there are no figures. `grid` has the chip's size, or 0 where it is not known: then
 * the greatest coordinates of the files count. NOMEM. What is wrong inside of a file goes to the ledger. */
enum strobe_err strobe_report_noc_ops_read(struct strobe_report_noc_ops *ops, const char *folder,
                                           struct strobe_report_noc_grid grid,
                                           struct strobe_report_faults *faults);
/* In the order that finding needs; after runs were added. */
void strobe_report_noc_ops_sort(struct strobe_report_noc_ops *ops);
/* The figures of a run; NULL for none. */
const struct strobe_report_noc_figures *
strobe_report_noc_ops_find(const struct strobe_report_noc_ops *ops, uint64_t id, int64_t trace,
                           int64_t counter, uint32_t execution);
void strobe_report_noc_ops_free(struct strobe_report_noc_ops *ops);

/* What the columns of the report are called, each with a ',' behind it, and the cells of a run; NULL: empty ones. */
void strobe_report_noc_own_header(struct strobe_out *out);
void strobe_report_noc_own_cells(const struct strobe_report_noc_figures *figures,
                                 struct strobe_out *out);

/* noc_op_stats.csv: all runs. */
void strobe_report_noc_ops_write(const struct strobe_report_noc_ops *ops, struct strobe_out *out);

/* Links of an architecture by its name in device logs; all 0 but the width for one that is not known. */
struct strobe_report_noc_grid strobe_report_noc_grid_of(const char *arch);

#endif
