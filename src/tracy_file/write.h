/* write.h - a trace as a .tracy file, in the layout of Tracy 0.11.1, which every later one opens, or of 0.14, which has a place for
 * more.
 *
 * Such a file says how many before it says what: all of the trace is gathered first, in files without
 * a name beside the output, so memory stays small. Several processes are folded into the one that the
 * format knows; docs/tracy-files.md tells how.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_WRITE_H
#define STROBE_TRACY_FILE_WRITE_H

#include "query/trace.h"

enum strobe_tracy_layout { STROBE_TRACY_LAYOUT_11 = 1101, STROBE_TRACY_LAYOUT_14 = 1400 };

/* What the format has no room for, and what was written. */
struct strobe_tracy_folds {
    uint64_t n_zones, n_gpu_zones, n_messages, n_threads;
    uint64_t n_frames; /* marks of the main frames, with those that every trace begins with */
    int64_t last_time; /* ns */
    uint64_t n_content_bytes; /* before compression */
    uint64_t n_processes;     /* folded into one */
    uint64_t n_locs,
        n_loc_zones;         /* locations over 65,532, and their zones: under one location, with
                                     the name as the zone's */
    uint64_t n_lock_events;  /* of a lock's threads beyond 64 */
    uint64_t n_threads_over; /* threads over 65,535: zones without a number of their own */
    uint64_t n_texts;        /* over 16 M distinct ones */
    uint64_t n_no_begin;     /* zones whose begin is not known */
    uint64_t n_spans, n_flows, n_stacks, n_samples, n_switches, n_sections, n_gpu_notes, n_others;
    uint64_t n_code;       /* pieces of code and source files that fit to none */
    uint64_t n_severities; /* messages that are more or less than information */
    uint64_t n_cores;      /* of devices: too many for a GPU context each */
    uint64_t n_lane_texts; /* zones of devices whose texts, names and values have no place */
    uint64_t n_bad_parts;
};

/* Write it to `fd`. `folder` is where the files without a name go. STROBE_ERR_IO, NOSPACE: errno of
 * the write is in *error. */
enum strobe_err strobe_tracy_write(struct strobe_trace *trace, int fd, const char *folder,
                                   enum strobe_tracy_layout layout,
                                   struct strobe_tracy_folds *folds, int *error);

#endif
