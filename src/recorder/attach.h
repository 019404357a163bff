/* attach.h - the session of a process that is given by its pid.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_ATTACH_H
#define STROBE_RECORDER_ATTACH_H

#include <stdint.h>

#include "base/err.h"

/* The session in whose folder process `pid` (as /proc here has it) keeps its file; STROBE_DIR in the environment becomes the folder of all.
 * NOTFOUND: it has no such file; ACCESS: it has one that can't be reached from here. */
enum strobe_err strobe_recorder_find_session_of(uint32_t pid, char out[64]);

#endif
