/* noc_trace.h - one noc_trace file (docs/device.md, "Files"): the transfers of one run of an op.
 * Read token by token, so a file of any size takes the memory of its transfers only (24 bytes each).
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_NOC_TRACE_H
#define STROBE_REPORT_NOC_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { STROBE_REPORT_NOC_SIDE = 64 }; /* places of a grid's side: coordinates have 6 bits */

/* From the core that has the bytes to the one that gets them; of a multicast to all of a rectangle. */
struct strobe_report_transfer {
    uint64_t time; /* cycles */
    uint32_t n_bytes;
    uint8_t noc; /* 0, 1 */
    bool is_multicast;
    uint8_t from_x, from_y, to_x, to_y, last_x, last_y; /* last: the rectangle's other corner */
};

/* All zero is empty. */
struct strobe_report_noc_trace {
    struct strobe_report_transfer *all; /* owned: by time */
    uint64_t n, room;
    uint64_t first, last; /* times of all entries, zones too */
    uint64_t n_aside;     /* entries without a known far end, of an ethernet link, or damaged */
    uint32_t max_x, max_y;
};

/* Read a file. FORMAT, CORRUPT: it is no JSON, and what stands before that is there. NOTFOUND, IO, NOMEM. */
enum strobe_err strobe_report_noc_trace_read(struct strobe_report_noc_trace *trace,
                                             const char *path);
void strobe_report_noc_trace_free(struct strobe_report_noc_trace *trace);

#endif
