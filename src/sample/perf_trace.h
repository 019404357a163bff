/* perf_trace.h - which tracepoints there are: their numbers and where their fields lie, from tracefs.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PERF_TRACE_H
#define STROBE_SAMPLE_PERF_TRACE_H

#include "sample/perf_record.h"

/* Find those of waits and those of system calls, for whoever may read them; the numbers of others are 0. */
void strobe_perf_trace_find(struct strobe_perf_trace *trace, bool has_waits, bool has_syscalls);

#endif
