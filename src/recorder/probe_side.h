/* probe_side.h - functions of code that was built without anything for it, as zones by the kernel's probes (sample/probes.h): which files the
 * program has, and what is asked for of them.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_PROBE_SIDE_H
#define STROBE_RECORDER_PROBE_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/probes.h"

struct strobe_recorder;

/* What options.zones names in the files of the command, or of a process that runs, and nothing cheaper can have. What can't be done is
 * said; the list is empty then. */
void strobe_recorder_probe_find(struct strobe_recorder *recorder, uint32_t pid, bool is_running,
                                struct strobe_probes *out);
/* How it went, once the sampler has set them, and what it cost, at the end. */
void strobe_recorder_probe_say(struct strobe_recorder *recorder);
void strobe_recorder_probe_note(struct strobe_recorder *recorder);

#endif
