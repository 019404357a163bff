/* tracy_side.h - a recording's Tracy side: the host, the shim in the command's environment.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_TRACY_SIDE_H
#define STROBE_RECORDER_TRACY_SIDE_H

#include <stdbool.h>

#include "base/err.h"

struct strobe_recorder;

/* Open the host for this recording, ask for the clients that were named. recorder->tracy stays NULL where Tracy has no part in it.
 * An address that can't be asked is said. */
enum strobe_err strobe_recorder_tracy_open(struct strobe_recorder *recorder);

/* Put the shim into the environment that the command will have; a shim that is missing is said, and no error. 0 or errno. */
int strobe_recorder_tracy_environment(const struct strobe_recorder *recorder);

/* Whether a recording without a command has nobody to wait for any more. */
bool strobe_recorder_tracy_is_over(const struct strobe_recorder *recorder);

#endif
