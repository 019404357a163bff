/* twins.h - finds processes that two clients live in, and the threads they share.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_TWINS_H
#define STROBE_QUERY_TWINS_H

#include "query/trace.h"

/* Set `twin` of processes and threads, once all records are read. 0 without memory. */
int strobe_trace_find_twins(struct strobe_trace *trace);

#endif
