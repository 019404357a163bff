/* record_bridge.h - the bridge beside a recording: a process of its own that reads the growing file,
 * so that neither a slow Tracy server nor its own death touches the recorder.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_RECORD_BRIDGE_H
#define STROBE_CLI_RECORD_BRIDGE_H

#include <stdbool.h>
#include <sys/types.h>

/* The port that --tracy-bridge[=PORT] or STROBE_TRACY_BRIDGE asks for: 0 for the usual ones, -1: no
 * bridge is wanted, -2: `value` is no port. `value` NULL: the option has none. */
int strobe_cli_bridge_port(const char *value);
int strobe_cli_bridge_port_of_environment(void);

/* Start it for the trace at `path` (absolute), before the recorder has threads. -1: it failed, and that
 * was told. */
pid_t strobe_cli_bridge_start(const char *path, int port, bool quiet);
/* The recording is over: wait until a server that is connected has all of it. */
void strobe_cli_bridge_end(pid_t bridge);

#endif
