/* noc_log.h - NoC figures from the device log itself, where a run left no noc_trace files: the transfers are rows with timer id 12345.
 *
 * What a row's 64 bits mean changed twice (device/noc_event.h), and nothing in them says which it is: all rows of the log decide together.
 * Programs that ran more than once under one id are left out: their rows do not say which run they are of.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_NOC_LOG_H
#define STROBE_REPORT_NOC_LOG_H

#include "device/noc_event.h"
#include "report/devops.h"
#include "report/noc_ops.h"

/* The layout that all these words fit. Words that fit several do not decide; 8 bits where none does, for those have the same meaning in both
 * of the newer ones but for transfers of 8 KiB and more. */
enum strobe_noc_layout strobe_report_noc_layout(const uint64_t *words, size_t n);

/* Read the log once more, and add the figures of its runs. IO, NOMEM. */
enum strobe_err strobe_report_noc_log_read(struct strobe_report_noc_ops *ops,
                                           struct strobe_report_device_ops *device,
                                           const char *path, struct strobe_report_noc_grid grid);

#endif
