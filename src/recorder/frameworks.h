/* frameworks.h - libraries that a framework in the command loads by itself, where a variable of the environment names them: NVTX's
 * injection, OpenCL's layers (src/layers). Python's frameworks look at the same choice (python/strobe/frameworks).
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_FRAMEWORKS_H
#define STROBE_RECORDER_FRAMEWORKS_H

#include <stdbool.h>

/* Have the command record the marks of these frameworks alone: their names with commas between, or "off". False: a word that is none. */
bool strobe_recorder_frameworks_choose(const char *list);

/* Name our libraries in the environment that the command will have. One that the user named himself stays; a library of ours that is not
 * there is left out. 0 or errno. */
int strobe_recorder_frameworks_environment(void);

#endif
