/* pprof.h - a trace's stack samples as a profile of pprof: a protobuf message, compressed by gzip where zlib was there when this was built.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_PPROF_H
#define STROBE_EXPORT_PPROF_H

#include "base/out.h"
#include "query/samples.h"

/* Write it to a file descriptor. Two values a stack: samples, and nanoseconds of CPU time where the rate is known; equal stacks of a thread are one. Labels: thread, tid,
 * process, pid. NOMEM, IO with errno, and what reading gives. */
enum strobe_err strobe_pprof_write(struct strobe_trace *trace,
                                   const struct strobe_samples_options *options, int fd,
                                   uint64_t *n_samples, uint64_t *n_bad_parts);

#endif
