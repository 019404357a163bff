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

/* One entry as a file has it. */
enum strobe_report_noc_number {
    STROBE_REPORT_NOC_SX, /* where it is recorded: x, y; so with those that follow */
    STROBE_REPORT_NOC_SY,
    STROBE_REPORT_NOC_DX, /* the far end */
    STROBE_REPORT_NOC_DY,
    STROBE_REPORT_NOC_MX, /* a multicast's rectangle */
    STROBE_REPORT_NOC_MY,
    STROBE_REPORT_NOC_LAST_X,
    STROBE_REPORT_NOC_LAST_Y,
    STROBE_REPORT_NOC_BYTES,
    STROBE_REPORT_NOC_TIME,
    STROBE_REPORT_NOC_NUMBERS
};
struct strobe_report_noc_entry {
    int64_t numbers[STROBE_REPORT_NOC_NUMBERS]; /* INT64_MIN, or below 0: not there */
    char type[40], proc[24];
    uint8_t noc;
    bool has_noc;
};

/* All zero is empty. */
struct strobe_report_noc_trace {
    struct strobe_report_transfer *all; /* owned: by time */
    uint64_t n, room;
    uint64_t first, last; /* times of all entries, zones too */
    uint64_t n_aside;     /* entries without a known far end, of an ethernet link, or damaged */
    uint32_t max_x, max_y;
    struct strobe_report_noc_entry
        state; /* the newest that sets a far end for those that have none */
    bool has_state;
};

/* Read a file. FORMAT, CORRUPT: it is no JSON, and what stands before that is there. NOTFOUND, IO, NOMEM. */
enum strobe_err strobe_report_noc_trace_read(struct strobe_report_noc_trace *trace,
                                             const char *path);
/* An entry of another source: in the order of time on its RISC, RISC by RISC; strobe_report_noc_trace_sort afterwards. NOMEM. */
enum strobe_err strobe_report_noc_trace_add(struct strobe_report_noc_trace *trace,
                                            struct strobe_report_noc_entry *entry);
void strobe_report_noc_trace_sort(struct strobe_report_noc_trace *trace);
void strobe_report_noc_trace_free(struct strobe_report_noc_trace *trace);

#endif
