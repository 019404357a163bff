/* bridge_side.h - the bridge beside a recording: a process of its own that reads the growing file,
 * so that neither a slow Tracy server nor its own death touches the recorder.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_BRIDGE_SIDE_H
#define STROBE_RECORDER_BRIDGE_SIDE_H

#include <sys/types.h>

struct strobe_recorder;

/* Start it for the recorder's path and port, before the recorder has threads. -1: it failed, and that was said. */
pid_t strobe_recorder_bridge_start(const struct strobe_recorder *recorder);
/* The recording is over: wait until a server that is connected has all of it. -1 is allowed. */
void strobe_recorder_bridge_end(pid_t bridge);

#endif
