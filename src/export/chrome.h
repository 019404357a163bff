/* chrome.h - a trace as Chrome's JSON, which Perfetto and chrome://tracing open.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_CHROME_H
#define STROBE_EXPORT_CHROME_H

#include "base/out.h"
#include "query/walk.h"

/* Write all of it. Valid JSON whatever bytes the trace's texts hold. */
enum strobe_err strobe_chrome_write(struct strobe_trace *trace, struct strobe_out *out,
                                    uint64_t *n_bad_parts);

#endif
