/* diff_rows.h - what runs are compared by, besides their zones: ops of devices, functions by samples, memory, plots.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_DIFF_ROWS_H
#define STROBE_CLI_DIFF_ROWS_H

#include "diff/diff.h"

struct strobe_diff_subject {
    const char *name;  /* "zones" */
    const char *one;   /* "zone" */
    const char *unit;  /* of its numbers: "ns", "bytes", or "" */
    const char *query; /* NULL: none; else rows of name, count, total, self */
    enum strobe_err (*add)(struct strobe_diff *diff, struct strobe_trace *trace); /* NULL: none */
};

/* The subject of that name; NULL: there is none. */
const struct strobe_diff_subject *strobe_diff_find_subject(const char *name);

/* Add a run to set 0 or 1. 0: it could not be read, and why was printed. */
int strobe_diff_add_subject(struct strobe_diff *diff, int set,
                            const struct strobe_diff_subject *subject, const char *path);

#endif
