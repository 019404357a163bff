/* compare.h - are an op report and the C++ report equal in what both have?
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_COMPARE_H
#define STROBE_REPORT_COMPARE_H

#include "base/err.h"
#include "report/text.h"

enum strobe_report_verdict {
    STROBE_REPORT_EQUAL,
    STROBE_REPORT_DIFFERENT,
    STROBE_REPORT_SKIPPED, /* one is empty, or they share no column */
    STROBE_REPORT_TOO_FEW, /* less than twelve common columns */
};

/* Compare two reports; what differs is told in `out`. Rows without DEVICE FW DURATION (of the
 * first) and with op id 0 (of the second) are left out; the rest is compared by (op, trace,
 * session). NOTFOUND, IO, NOMEM. */
enum strobe_err strobe_report_compare(const char *report, const char *cpp, bool only_ids,
                                      enum strobe_report_verdict *verdict, struct strobe_out *out);

#endif
