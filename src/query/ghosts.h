/* ghosts.h - zones that nobody marked: the functions that consecutive samples of a thread have in common, as stretches of time.
 * A frame goes on from one sample to the next where both have the same functions up to it, the thread did not wait between them, and they are
 * at most three periods apart; it ends with the first sample that lacks it, with the wait, or a period after its last one.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_GHOSTS_H
#define STROBE_QUERY_GHOSTS_H

#include "query/sample_tree.h"

enum { STROBE_GHOST_DEPTHS = 64, STROBE_GHOSTS_MAX = 1 << 16 };

struct strobe_ghost {
    uint64_t begin, end;
    uint32_t function; /* index + 1 in the names' functions */
    uint32_t depth, n; /* samples */
};

/* Zero-initialise, set what is wanted, run, free. */
struct strobe_ghosts {
    struct strobe_view *view;         /* borrowed */
    struct strobe_sample_tree *names; /* borrowed: of names alone */
    uint32_t thread;                  /* index; those that are one with it, too */
    uint64_t lo, hi;
    uint64_t period;      /* ticks between two samples of a thread that runs */
    uint32_t max_samples; /* more are not looked at */

    struct strobe_ghost *rows; /* owned: those of a depth are in the order of time */
    uint32_t n_rows, rows_room;
    uint32_t n_depths;
    uint32_t n_samples;
    int is_cut; /* there were more samples, or more rows */
};

/* Read the samples. NOMEM. */
enum strobe_err strobe_ghosts_run(struct strobe_ghosts *ghosts);
void strobe_ghosts_free(struct strobe_ghosts *ghosts);

#endif
