/* outliving.h - processes of the command that are still there: a daemon with a session of its own, a child that nobody waited for.
 * The recorder is their subreaper, so whoever's parent has ended is a child of its own. Found in /proc; without it there are none.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_OUTLIVING_H
#define STROBE_RECORDER_OUTLIVING_H

#include <stdbool.h>

struct strobe_recorder;

/* Whether a process of the command lives: below the recorder, and neither its viewer nor its bridge. */
bool strobe_recorder_is_outlived(const struct strobe_recorder *recorder);

/* The gates are shut: name those that go on, in the file and to who listens. */
void strobe_recorder_name_outliving(struct strobe_recorder *recorder);

#endif
