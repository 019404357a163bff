/* export_samples.h - strobe export of stack samples: folded, speedscope, pprof, Firefox.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_EXPORT_SAMPLES_H
#define STROBE_CLI_EXPORT_SAMPLES_H

#include "cli/choice.h"
#include "query/trace.h"

enum strobe_cli_samples_format {
    STROBE_CLI_FOLDED,
    STROBE_CLI_SPEEDSCOPE,
    STROBE_CLI_PPROF,
    STROBE_CLI_FIREFOX,
};

/* Write what is chosen of the trace at `path` to `fd`. 1: it went well; a failure, and that there are no samples, was printed. */
int strobe_cli_export_samples(const char *path, struct strobe_trace *trace, int fd,
                              enum strobe_cli_samples_format format,
                              const struct strobe_cli_choice *choice);

#endif
