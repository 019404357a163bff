/* noc.h - NoC figures of ops, where tt-npe worked them out.
 * The shim of process_ops_logs runs tt-npe and leaves its figures in npe_op_stats.csv:
 * GLOBAL CALL COUNT, METAL TRACE ID, METAL TRACE REPLAY SESSION ID and the six columns of the
 * report.  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_NOC_H
#define STROBE_REPORT_NOC_H

#include "base/map.h"
#include "base/err.h"
#include "report/faults.h"

#define STROBE_REPORT_NOC_FILE "npe_op_stats.csv"

enum { STROBE_REPORT_NOC_CELLS = 6 };

struct strobe_report_noc_row {
    uint64_t id;
    int64_t trace, session;                  /* -1: not replayed */
    uint32_t cells[STROBE_REPORT_NOC_CELLS]; /* into texts, CSV-ready */
};

/* All zero is empty. */
struct strobe_report_noc {
    struct strobe_report_noc_row *rows; /* owned */
    uint32_t n;
    struct strobe_index by_id;
    struct strobe_out texts;
};

/* Read a folder's file; without one there are simply no figures. */
enum strobe_err strobe_report_noc_read(struct strobe_report_noc *noc, const char *folder,
                                       struct strobe_report_faults *faults);

/* The figures of a run of an op; NULL for none. */
const struct strobe_report_noc_row *strobe_report_noc_find(const struct strobe_report_noc *noc,
                                                           uint64_t id, int64_t trace,
                                                           int64_t session);
void strobe_report_noc_free(struct strobe_report_noc *noc);

#endif
