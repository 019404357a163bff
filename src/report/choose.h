/* choose.h - a part of a report: the rows between two signposts, those of some devices.
 * Latencies and all other figures are those of the whole run; rows are left out when it is written.  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_CHOOSE_H
#define STROBE_REPORT_CHOOSE_H

#include "report/report.h"

/* All zero: all rows. */
struct strobe_report_choice {
    const char *from_signpost,
        *to_signpost; /* borrowed: patterns; NULL: the run's begin, its end */
    int (*matches)(const char *pattern, const char *text); /* a text by a pattern: 1 */
    bool by_device;
    int64_t device_first, device_last; /* inclusive; host ops have none and stay */
};

/* Leave out what was not chosen; the coverage counts the rows that stay. NOTFOUND: there is no such signpost, in *missing its pattern. The report
 * has rows: it is not one of the device alone. */
enum strobe_err strobe_report_choose(struct strobe_report *report,
                                     const struct strobe_report_choice *choice,
                                     const char **missing);

#endif
