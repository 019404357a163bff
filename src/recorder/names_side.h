/* names_side.h - names for the stacks that programs record themselves: what the collector hears of their code goes to sample/addresses.h.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_NAMES_SIDE_H
#define STROBE_RECORDER_NAMES_SIDE_H

#include "collector/collector.h"

struct strobe_recorder;

/* Who listens to the collector. */
struct strobe_collector_listener strobe_recorder_names_listener(struct strobe_recorder *recorder);
/* All sources have stopped: the names go to the trace, with those of samples when the sampler is closed. */
void strobe_recorder_names_end(struct strobe_recorder *recorder);

#endif
