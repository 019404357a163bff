/* firefox.h - a trace's stack samples for the Firefox Profiler: its processed JSON, a thread for each thread that has samples.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_FIREFOX_H
#define STROBE_EXPORT_FIREFOX_H

#include "base/out.h"
#include "query/samples.h"

/* Write it. The format has tables by column: the samples of one thread are held in memory at a time, 12 bytes each. NOMEM, IO, and what reading gives. */
enum strobe_err strobe_firefox_write(struct strobe_trace *trace,
                                     const struct strobe_samples_options *options,
                                     struct strobe_out *out, uint64_t *n_samples,
                                     uint64_t *n_bad_parts);

#endif
