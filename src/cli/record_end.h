/* record_end.h - the last lines of a recording.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_RECORD_END_H
#define STROBE_CLI_RECORD_END_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector.h"

struct strobe_record_summary {
    const char *path;
    uint64_t duration_ns;
    struct strobe_collector_status status;
    enum strobe_err err; /* of the file */
    char ledger[STROBE_PATH_MAX +
                16]; /* where the losses are if the file could not take them, else "" */
    bool is_flight;  /* a flight recording: n_kept traces were saved by triggers */
    uint32_t n_kept;
    int exit_code; /* of the command */
};

/* Print them (errors even when quiet). The exit code of the recording: the command's own, or FAILED
 * when the file is not whole and the command was fine. */
int strobe_cli_record_end(const struct strobe_record_summary *summary, bool quiet,
                          bool had_command);

#endif
