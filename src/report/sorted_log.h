/* sorted_log.h - a device log whose lines are in no order, sorted.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_SORTED_LOG_H
#define STROBE_REPORT_SORTED_LOG_H

#include "report/devlog.h"

/* Read all of a log, then hand its markers out core by core, RISC by RISC (the master first), by
 * time. Holds 100 MiB at most; a longer log is sorted through a temporary file. Errors as
 * strobe_report_log_read. */
enum strobe_err strobe_report_log_read_sorted(struct strobe_report_log *log, const char *path,
                                              const struct strobe_report_log_options *options);

#endif
