/* sample_side.h - a recording's samples: of the command, or of the process that it attaches to.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_SAMPLE_SIDE_H
#define STROBE_RECORDER_SAMPLE_SIDE_H

#include <stdbool.h>
#include <stdint.h>

struct strobe_recorder;

/* Whether the recording can have samples of the process that it attaches to. */
bool strobe_recorder_sample_may(const struct strobe_recorder *recorder);
/* Whether samples of the command are wanted and the kernel refuses them: then timers in the command take them (preload/timer.c). */
bool strobe_recorder_sample_needs_timer(const struct strobe_recorder *recorder);
/* What such timers make of a rate: the kernel looks at them at its own tick. */
uint32_t strobe_recorder_sample_timer_hz(uint32_t hz);
/* Sample the command's process, which has not called exec yet, or the process that runs. What is refused is said, and no error. */
void strobe_recorder_sample_open(struct strobe_recorder *recorder, uint32_t pid, bool is_running);
/* No more samples; their status goes to the outcome. */
void strobe_recorder_sample_stop(struct strobe_recorder *recorder);

#endif
