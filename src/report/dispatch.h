/* dispatch.h - how long the dispatch cores worked on each op.  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_DISPATCH_H
#define STROBE_REPORT_DISPATCH_H

#include "report/devops.h"

/* Read the log's dispatch cores once more and attach their times to the ops. Dispatch rows without
 * an op are a fault, unless the run has traces. */
enum strobe_err strobe_report_dispatch_attach(struct strobe_report_device_ops *ops,
                                              const char *path, bool has_traces);

#endif
