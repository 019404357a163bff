/* cut.h - a piece of a trace as a trace of its own: the blocks of a range of time.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_CUT_H
#define STROBE_QUERY_CUT_H

#include "query/trace.h"

struct strobe_cut_options {
    int by_tick; /* blocks that may hold something in [tick_min, tick_max] */
    uint64_t tick_min, tick_max;
    const uint8_t *processes; /* borrowed: by process index, 0: leave it out; NULL: all */
    uint32_t n_processes;
};

/* Write all records and the chosen EVENTS blocks to a new file at `path`, an existing one is
 * replaced. Times stay what they were. The file has no footer: readers count what is in it. */
enum strobe_err strobe_cut_write(struct strobe_trace *trace,
                                 const struct strobe_cut_options *options, const char *path);

#endif
