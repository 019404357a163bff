/* record_hosts.h - strobe record --listen, --peer: the key that recorders share, and what is said of their clocks.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_RECORD_HOSTS_H
#define STROBE_CLI_RECORD_HOSTS_H

#include <stdbool.h>

#include "recorder/recorder.h"

/* Read the key of a file. NULL: fine; else what is wanted (static). */
const char *strobe_record_hosts_read_key(const char *path, struct strobe_recorder_options *options);

/* Without a file the key is the environment's. False: one is needed and there is none, or it is too short; that was said. */
bool strobe_record_hosts_complete(struct strobe_recorder_options *options);

/* Why the exchange could not begin. */
void strobe_record_hosts_show_failure(const struct strobe_recorder_options *options,
                                      const struct strobe_recorder_outcome *outcome);

/* How it went. */
void strobe_record_hosts_show_end(const struct strobe_hosts_status *status);

#endif
