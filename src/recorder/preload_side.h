/* preload_side.h - libraries that are preloaded into the command: the shim, and the one for memory, locks, functions and timers (preload/).
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_PRELOAD_SIDE_H
#define STROBE_RECORDER_PRELOAD_SIDE_H

#include <stdbool.h>
#include <stddef.h>

struct strobe_recorder;

/* A library beside this program, in the build tree or where both were installed: its path, without a blank or a colon. False: there is none. */
bool strobe_recorder_preload_find(const char *name, char *out, size_t cap);

/* Put a library into the environment that the command will have, in front of the user's own. False: no memory. */
bool strobe_recorder_preload_add(const char *path);

/* Likewise what options.memory, options.locks and options.zones ask for, functions of a command that calls hooks, and samples where the kernel refuses them; a library that is missing is said, and
 * no error. 0 or errno. */
int strobe_recorder_preload_environment(struct strobe_recorder *recorder);

/* What the preloaded library records, with its verb ("memory is"); NULL: it is not preloaded. */
const char *strobe_recorder_preload_what(const struct strobe_recorder *recorder);

#endif
