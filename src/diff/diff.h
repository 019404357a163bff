/* diff.h - what changed between two sets of runs, zone by zone; or op by op, function by function, and whatever else has a name and a number.
 *
 * The unit is the run: zones of one run share its luck, so more zones are no more evidence. What all zones of a run have in
 * common (a slow machine) is taken out first and stated by itself. Method and its measured error: docs/diff.md.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DIFF_DIFF_H
#define STROBE_DIFF_DIFF_H

#include "base/json_write.h"
#include "query/trace.h"

enum strobe_diff_metric {
    STROBE_DIFF_MEAN = 0,  /* duration of a zone */
    STROBE_DIFF_SELF = 1,  /* the same without its children */
    STROBE_DIFF_TOTAL = 2, /* of all its zones */
};

/* Explicit numbers: they are sort keys and reach JSON by name. */
enum strobe_diff_verdict {
    STROBE_DIFF_SLOWER = 0,
    STROBE_DIFF_FASTER = 1,
    STROBE_DIFF_NEW = 2,     /* in no run of A, in most of B */
    STROBE_DIFF_GONE = 3,    /* in no run of B, in most of A */
    STROBE_DIFF_UNKNOWN = 4, /* neither shown to be different nor to be the same */
    STROBE_DIFF_SAME = 5,    /* within the floor */
    STROBE_DIFF_NO_TEST = 6, /* fewer than three runs on a side have it */
};

struct strobe_diff_options {
    enum strobe_diff_metric metric;
    double floor;      /* changes up to this share are none: 0.02 */
    double false_rate; /* of the zones that are called changed, this share may not be: 0.05 */
    int is_no_time;    /* the numbers are no ns: a clock has no say in them */
};

struct strobe_diff_row {
    const char *name, *function, *file; /* borrowed from the strobe_diff */
    uint32_t n_runs[2];                 /* runs that have it */
    double
        value_ns[2]; /* geometric mean over runs, of what the metric says; ns, but for is_no_time */
    double count[2]; /* zones per run, mean */
    int is_counted_otherwise; /* each run of one side has more zones than every run of the other */
    double change;            /* B by A, less 1, without what all zones have in common */
    double low, high;         /* of the change: 95 % interval; NAN without a test */
    double p, false_rate;     /* of the change being within the floor */
    uint32_t need_runs;       /* UNKNOWN: runs a side that would decide, about */
    enum strobe_diff_verdict verdict;
};

struct strobe_diff;

/* NULL without memory. */
struct strobe_diff *strobe_diff_new(void);
void strobe_diff_free(struct strobe_diff *diff); /* NULL is allowed */

/* A new run, of set 0 (A) or 1 (B): the next calls add to it. */
enum strobe_err strobe_diff_add_run(struct strobe_diff *diff, int set);

/* Its zones: their statistics by name, function and file. The trace may be closed afterwards. */
enum strobe_err strobe_diff_add_zones(struct strobe_diff *diff, struct strobe_trace *trace);

/* Something with a name: so many of it, their sum, and their sum without what is inside them. What comes again is added to. */
enum strobe_err strobe_diff_add_row(struct strobe_diff *diff, const char *name, size_t n_name,
                                    uint64_t count, double total, double self);

/* Compare. The rows are the diff's: by verdict, then by how much time the change makes. */
struct strobe_diff_result {
    struct strobe_diff_row *rows; /* owned by the strobe_diff */
    uint32_t n_rows;
    uint32_t n_runs[2];
    uint32_t n_of[STROBE_DIFF_NO_TEST + 1];
    int is_no_time; /* as in the options */
    int has_shift;  /* enough zones to tell what they have in common */
    double shift;   /* B by A, less 1 */
    double shift_low, shift_high;
};
enum strobe_err strobe_diff_run(struct strobe_diff *diff, const struct strobe_diff_options *options,
                                struct strobe_diff_result *out);

/* What a verdict is called, in words and in JSON. What is no time is more or less, not slower or faster. */
const char *strobe_diff_verdict_name(enum strobe_diff_verdict verdict, int is_no_time);

/* The members of a comparison, into an object that is open: what `strobe diff --format json` prints. `of`: what was compared, "zones". */
void strobe_diff_write(const struct strobe_diff_result *result, const char *of, const char *metric,
                       double floor, struct strobe_json_writer *json);

#endif
