/* record_tracy.h - a recording's Tracy side: the host, the shim in the command's environment.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_RECORD_TRACY_H
#define STROBE_CLI_RECORD_TRACY_H

#include "cli/record_run.h"
#include "collector/collector.h"
#include "tracy/host.h"

/* Open the host for this recording, ask for the clients that were named. *out stays NULL where Tracy has no part in it.
 * Says what is wrong on stderr. */
enum strobe_err strobe_cli_tracy_open(const struct strobe_record_options *options,
                                      const char *session_dir, struct strobe_collector *collector,
                                      struct strobe_file_writer *writer,
                                      struct strobe_file_writer *records_writer,
                                      struct strobe_tracy_host **out);

/* Put the shim into the environment that the command will have. False: errno tells why. */
bool strobe_cli_tracy_environment(struct strobe_tracy_host *host);

/* Whether a recording without a command has nobody to wait for any more. */
bool strobe_cli_tracy_is_over(struct strobe_tracy_host *host);

#endif
