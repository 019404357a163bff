/* stats_stacks.h - strobe stats --stacks: functions by stack samples.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_STATS_STACKS_H
#define STROBE_CLI_STATS_STACKS_H

#include "query/samples.h"

struct strobe_cli_stacks {
    struct strobe_samples_options samples;
    const char *filter; /* borrowed; NULL: all */
    uint64_t limit;
    int by_total, by_name; /* else by self */
    int csv, json;
};

/* Print the table; the exit code. */
int strobe_cli_stats_stacks(struct strobe_trace *trace, const char *path,
                            const struct strobe_cli_stacks *options);

#endif
