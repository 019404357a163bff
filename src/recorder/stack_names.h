/* stack_names.h - names of the addresses in stacks that programs emitted themselves, put into the trace at its end, so that it opens on any
 * machine.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_STACK_NAMES_H
#define STROBE_RECORDER_STACK_NAMES_H

struct strobe_recorder;

/* Of a recording whose samples came from timers in the command; of others, and of a flight recording, nothing happens. All events are in the
 * file, and nobody else writes to it. What can't be named is left to readers. */
void strobe_recorder_name_stacks(struct strobe_recorder *recorder);

#endif
