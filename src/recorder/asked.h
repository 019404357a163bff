/* asked.h - what the sources of a recording ask its collector, as calls that take it as their argument.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_ASKED_H
#define STROBE_RECORDER_ASKED_H

#include "collector/collector.h"

static inline uint32_t strobe_recorder_new_proc(void *collector)
{
    return strobe_collector_new_proc_id(collector);
}

static inline void strobe_recorder_lose(void *collector, uint32_t proc, uint64_t track,
                                        uint32_t cause, uint64_t count, uint64_t first,
                                        uint64_t last)
{
    strobe_collector_lose(collector, proc, track, cause, count, first, last);
}

#endif
