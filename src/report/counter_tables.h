/* counter_tables.h - performance counters of a whole run, for the terminal: a table of the counters' values, one of their shares of the
 * time, one of the efficiency figures made of them; of each device.
 * An op has the least, median, greatest and mean value over its cores. The tables have the least of the least, the median of the medians,
 * the greatest of the greatest and the mean of the means over all ops, as tt-metal prints them.  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_COUNTER_TABLES_H
#define STROBE_REPORT_COUNTER_TABLES_H

#include "report/report.h"

/* Nothing is written where the run has no counters. NOMEM. */
enum strobe_err strobe_report_counter_tables(const struct strobe_report *report,
                                             struct strobe_out *out);

#endif
