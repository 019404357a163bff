/* stats_memory.h - strobe stats --memory: pools of memory, what was taken from each and what was never given back.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_STATS_MEMORY_H
#define STROBE_CLI_STATS_MEMORY_H

#include "query/trace.h"

enum strobe_stats_memory_form { STROBE_STATS_MEMORY_TEXT, STROBE_STATS_MEMORY_CSV };

/* Print it; the exit code. */
int strobe_cli_stats_memory(struct strobe_trace *trace, const char *path,
                            enum strobe_stats_memory_form form);

#endif
