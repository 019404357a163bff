/* csv.h - the tables that Tracy's csvexport prints, made of a .tracy file or of a trace.
 *
 * Header and rows are those of the real program, in three flavours; their order is ours: statistics
 * by falling total, zones in the order of their ends, thread by thread. Where the real one prints
 * rows that can't be read back (text with line breaks, cells of the zone before), ours are right.
 * docs/tracy-files.md tells all of it.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_CSV_H
#define STROBE_TRACY_FILE_CSV_H

#include "base/out.h"
#include "query/trace.h"

enum strobe_tracy_flavor {
    STROBE_TRACY_FLAVOR_0_11, /* -u has no column for the text */
    STROBE_TRACY_FLAVOR_0_14,
    STROBE_TRACY_FLAVOR_TT, /* -u has the zone's name and text, and the text of a parent */
};

struct strobe_tracy_csv_options {
    enum strobe_tracy_flavor flavor;
    const char *filter; /* "": all */
    const char *sep;    /* between the cells */
    const char
        *specials;      /* names with commas between: zones that want a parent's text; NULL: none */
    const char *parent; /* part of that parent's name; NULL: no parent is looked for */
    int case_sensitive, self, unwrap, gpu, messages, plot;
    int truncate; /* percentile for the truncated mean, 1-99; 0: not wanted */
};

/* Of a .tracy file, streamed: nothing of it is kept but its tables. What was read before an error is
 * in `out`. */
enum strobe_err strobe_tracy_csv_of_file(const char *path,
                                         const struct strobe_tracy_csv_options *options,
                                         struct strobe_out *out);

/* Of a trace. Processes that are Tracy clients keep their own zero and multiplier. */
enum strobe_err strobe_tracy_csv_of_trace(struct strobe_trace *trace,
                                          const struct strobe_tracy_csv_options *options,
                                          struct strobe_out *out, uint64_t *n_bad_parts);

/* ---- shared by the two ---- */

/* Statistics of one location, as csvexport makes them. */
struct strobe_tracy_sum {
    int64_t total, self_total, min, max, self_min, self_max;
    uint64_t n;
    double squares;
    int64_t *samples; /* owned: with options->truncate only */
    size_t samples_room;
};

/* A location in rows. */
struct strobe_tracy_row_loc {
    const char *name, *file; /* borrowed */
    uint32_t n_name, n_file, line;
    uint8_t is_ready, is_wanted, is_special, is_parent;
    char *prefix; /* owned: "name,file,line,"; NULL: not made yet */
    uint32_t n_prefix;
    struct strobe_tracy_sum sum;
};

/* One zone in -u. `text` and `name` NULL: it has none. */
struct strobe_tracy_row {
    int64_t start, time;
    uint64_t thread;
    const char *name, *text, *parent_text;
    uint32_t n_name, n_text, n_parent_text;
};

struct strobe_tracy_csv_table {
    const struct strobe_tracy_csv_options *options; /* borrowed */
    struct strobe_out *out;                         /* borrowed */
    size_t n_sep;
};

/* Decide once what is to be done with a location whose name, file and line are set. */
void strobe_tracy_csv_ready(const struct strobe_tracy_csv_table *table,
                            struct strobe_tracy_row_loc *loc);
void strobe_tracy_put_head(const struct strobe_tracy_csv_table *table);
/* 0 without memory. */
int strobe_tracy_put_zone(const struct strobe_tracy_csv_table *table,
                          struct strobe_tracy_row_loc *loc, const struct strobe_tracy_row *row);
/* Count a zone that took `time` > 0 ns, with all that the options ask for, or its time alone. 0 without memory. */
int strobe_tracy_sum_add(const struct strobe_tracy_csv_table *table, struct strobe_tracy_sum *sum,
                         int64_t time, int64_t self);
static inline void strobe_tracy_sum_time(struct strobe_tracy_sum *sum, int64_t time)
{
    sum->min = !sum->n || time < sum->min ? time : sum->min;
    sum->max = time > sum->max ? time : sum->max; /* more than 0 */
    sum->n++;
    sum->total += time;
    sum->squares += (double)time * (double)time;
}
/* The statistics of n locations. 0 without memory. */
int strobe_tracy_put_sums(const struct strobe_tracy_csv_table *table,
                          struct strobe_tracy_row_loc *const *locs, size_t n, int64_t last_time);
void strobe_tracy_put_gpu(const struct strobe_tracy_csv_table *table,
                          const struct strobe_tracy_row_loc *loc, int64_t start, int64_t time);
void strobe_tracy_put_message(const struct strobe_tracy_csv_table *table, const char *text,
                              uint32_t n, int64_t time);
void strobe_tracy_put_point(const struct strobe_tracy_csv_table *table, const char *name,
                            uint32_t n, int64_t time, double value);
/* An allocation for a memory plot, and the plot that they make: usage at every change. */
struct strobe_tracy_change {
    int64_t time;
    int64_t size; /* negative: freed */
};
void strobe_tracy_put_memory(const struct strobe_tracy_csv_table *table, const char *name,
                             uint32_t n, int64_t first_time, struct strobe_tracy_change *changes,
                             size_t n_changes);
void strobe_tracy_row_loc_free(struct strobe_tracy_row_loc *loc);

#endif
