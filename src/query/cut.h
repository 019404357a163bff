/* cut.h - a piece of a trace as a trace of its own: a range of time, some of the processes or threads. What is copied and how:
 * file/copy.h.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_CUT_H
#define STROBE_QUERY_CUT_H

#include "query/trace.h"

/* All zero: all of the trace. */
struct strobe_cut_options {
    int by_tick; /* blocks that may hold something in [tick_min, tick_max] */
    uint64_t tick_min, tick_max;
    const uint8_t *processes; /* borrowed: by process index, 0: leave it out; NULL: all */
    const uint8_t *threads;   /* borrowed: by thread index, likewise */
    uint32_t n_processes, n_threads;
    int closed; /* 1: as a recorder leaves a trace, with a footer; of all processes with the session's facts, too.
                 * 0: for a reader at once: neither session nor footer */
};

/* Write all records and the chosen EVENTS blocks to a file at `path`. Times stay what they were. *n_bytes, unless NULL: the
 * size up to the footer. A closed piece never replaces a file (BUSY: there is one of that name) and is removed on failure; one
 * that is not closed replaces what is there, and is the caller's to remove. What a damaged trace, or one without an end, lacks is
 * noted and counted in the piece (inherit.h). */
enum strobe_err strobe_cut_write(struct strobe_trace *trace,
                                 const struct strobe_cut_options *options, const char *path,
                                 uint64_t *n_bytes);

#endif
