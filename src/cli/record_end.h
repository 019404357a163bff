/* record_end.h - the last lines of a recording.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_RECORD_END_H
#define STROBE_CLI_RECORD_END_H

#include <stdbool.h>

#include "recorder/recorder.h"

/* Print them (errors even when quiet). */
void strobe_cli_record_end(const struct strobe_recorder_outcome *outcome, bool quiet,
                           bool had_command);

#endif
