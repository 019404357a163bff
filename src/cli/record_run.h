/* record_run.h - a recording on a terminal: what the recorder says, the status line, the last lines.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_RECORD_RUN_H
#define STROBE_CLI_RECORD_RUN_H

#include <stdbool.h>
#include <sys/types.h>

#include "recorder/recorder.h"

/* Record, and print what there is to say (errors even when quiet). `context` and the calls of the options are set here. The
 * exit code: the command's own, or FAILED when it was fine and the recording was not. `viewer` (-1: none) is a process that shows the
 * recording: it is asked to end when that is over, and waited for. */
int strobe_cli_record_run(struct strobe_recorder_options *options, bool quiet, pid_t viewer);

#endif
