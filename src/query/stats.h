/* stats.h - statistics of zones by source location, merged by content over processes.
 * Sums are integers in ticks; what is shown in ns is converted once, at the end, as
 * docs/file-format.md says. Comes from the parts' summaries where they serve, else from the events.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_STATS_H
#define STROBE_QUERY_STATS_H

#include "query/trace.h"
#include "query/walk.h"

enum { STROBE_STATS_P50, STROBE_STATS_P90, STROBE_STATS_P99, STROBE_STATS_N_PERCENTILES };

/* Counts of durations. Few buckets (is_dense 0): n entries of count << 11 | bucket, by bucket.
 * Many: n counts, from bucket `first` on. */
struct strobe_histogram {
    uint64_t *counts; /* owned */
    uint16_t first, n;
    uint8_t is_dense;
};

/* One location. Ticks; of GPU zones ns. */
struct strobe_stats_row {
    uint32_t loc;    /* index in trace->locs of one of its locations, or STROBE_IDMAP_NONE */
    uint64_t loc_id; /* its id and process, for locations that no record names */
    uint32_t process;
    uint64_t count;
    unsigned __int128 total, self;
    unsigned __int128 inclusive; /* of zones that lie in no other of their location */
    uint64_t min, max;
    unsigned __int128 squares;
    struct strobe_histogram histogram;
    uint64_t percentile[STROBE_STATS_N_PERCENTILES];
};

struct strobe_stats_options {
    int quick;     /* count, total, self, min, max only; heads of blocks are read, payloads are not
                    checked */
    int exact;     /* percentiles to the tick: reads all events, more than once */
    int inclusive; /* read the events where summaries lack the inclusive sums; so does `exact` */
    int spans;     /* of spans instead of zones */
    int gpu;       /* of GPU zones instead, by the GPU's times */
    int by_tick;   /* zones that begin in [tick_min, tick_max] */
    uint64_t tick_min, tick_max;
    const uint8_t *processes; /* borrowed: by process index, 0: leave it out; NULL: all */
    uint32_t n_processes;
    const uint8_t *threads; /* borrowed: by thread index, 0: leave it out; NULL: all */
    uint32_t n_threads;
    /* With `threads`: whether a fiber's zones are wanted; NULL: those that ended on a wanted thread. */
    int (*has_fiber)(void *context, uint32_t process, uint64_t fiber);
    void *context;
};

struct strobe_stats {
    struct strobe_trace *trace;    /* borrowed */
    struct strobe_stats_row *rows; /* owned */
    uint32_t n_rows, rows_room;
    uint32_t *row_of_loc; /* owned: by index in trace->locs, row + 1 */
    uint32_t row_of_loc_room;
    struct strobe_index by_content; /* of rows, by what their locations hold */
    struct strobe_idmap unnamed;    /* (process, id) of locations without a record, to its row */
    uint32_t *unnamed_rows;         /* owned */
    uint32_t unnamed_room;
    int is_exact;        /* percentiles are */
    int has_inclusive;   /* the rows' inclusive sums are; never of spans and GPU zones */
    int lacks_inclusive; /* a part did not know which of its zones are nested */
    int is_ns;           /* the rows' times are in ns, not in ticks: of GPU zones */
    uint64_t n_bad_parts;
    uint64_t n_decoded_parts; /* parts whose events had to be read */
};

/* Compute. Free with strobe_stats_free, after a failure too. */
enum strobe_err strobe_stats_run(struct strobe_trace *trace,
                                 const struct strobe_stats_options *options,
                                 struct strobe_stats *stats);
void strobe_stats_free(struct strobe_stats *stats);

/* 1: summaries hold all that is asked for, as far as the footer tells. */
int strobe_stats_is_summed(const struct strobe_trace *trace,
                           const struct strobe_stats_options *options);

/* Standard deviation of the sample (n - 1) in ticks, rounded down; 0 for fewer than two. */
uint64_t strobe_stats_std(const struct strobe_stats_row *row);

/* Add counts to a histogram. 0 without memory. */
int strobe_histogram_add(struct strobe_histogram *histogram, uint32_t bucket, uint64_t count);

/* The bucket that holds the value of a rank (from 1), and the number of values in the buckets
 * before it. */
uint32_t strobe_histogram_bucket(const struct strobe_histogram *histogram, uint64_t rank,
                                 uint64_t *n_before);

/* The rank of a percentile: ceil(p * n / 100). */
static inline uint64_t strobe_stats_rank(unsigned p, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)n * p + 99) / 100);
}
extern const unsigned strobe_percentiles[STROBE_STATS_N_PERCENTILES];

/* The row of a location, made if need be; UINT32_MAX without memory. */
uint32_t strobe_stats_row_of(struct strobe_stats *stats, uint32_t process, uint32_t loc,
                             uint64_t id);

/* Add one zone to its row. 0 without memory. `is_nested`: it is in no inclusive sum. */
int strobe_stats_add(struct strobe_stats_row *row, uint64_t duration, uint64_t self, int is_nested);

/* 1: the options leave this thread of this process out. */
int strobe_stats_leaves_out(const struct strobe_stats_options *options, uint32_t process,
                            uint32_t thread);

/* Add a part's summary and its nested sums. NOMEM; CORRUPT: not all of it. */
enum strobe_err strobe_stats_add_summary(struct strobe_stats *stats,
                                         const struct strobe_stats_options *options,
                                         const struct strobe_part *part, uint32_t process);

/* Add the zones of a part that was replayed with the result `err`, which is returned; NOMEM. What is nested is as the zones
 * say, or as strobe_stats_take_nested says. */
enum strobe_err strobe_stats_add_zones(struct strobe_stats *stats,
                                       const struct strobe_replay *replay,
                                       const struct strobe_part *part, uint32_t process,
                                       enum strobe_err err);

/* The nested sums of a part whose zones were all added as not nested. NOMEM, CORRUPT. */
enum strobe_err strobe_stats_take_nested(struct strobe_stats *stats, const struct strobe_part *part,
                                         uint32_t process);

/* 1: a fiber runs in the part: its summary is not enough. */
int strobe_stats_runs_fibers(const struct strobe_events *events, const struct strobe_part *part);

/* The row's percentiles, from its histogram: the middles of buckets. */
void strobe_stats_set_percentiles(struct strobe_stats_row *row);

/* The walk that sees every zone that these options ask for. */
void strobe_stats_set_walk(struct strobe_trace *trace, const struct strobe_stats_options *options,
                           struct strobe_walk *walk);

/* stats_paired.c: what the trace's writer paired, where that has what these options ask for; NULL: the events must be read. */
struct strobe_paired;
struct strobe_paired *strobe_stats_paired_open(struct strobe_trace *trace,
                                               const struct strobe_stats_options *options);
/* stats_paired.c: add the zones of fibers and shared threads, or the spans. NOMEM; CORRUPT: not all of them. */
enum strobe_err strobe_stats_add_paired(struct strobe_stats *stats,
                                        const struct strobe_stats_options *options,
                                        struct strobe_paired *paired);

/* stats_exact.c: percentiles to the tick, from the events; rows and histograms are there. */
enum strobe_err strobe_stats_refine(struct strobe_stats *stats,
                                    const struct strobe_stats_options *options);

/* stats_exact.c: the inclusive sums anew, from the events; rows are there. */
enum strobe_err strobe_stats_include(struct strobe_stats *stats,
                                     const struct strobe_stats_options *options);

/* stats_gpu.c: rows of GPU zones, percentiles and all, into empty stats. */
enum strobe_err strobe_stats_gpu(struct strobe_stats *stats,
                                 const struct strobe_stats_options *options);

#endif
