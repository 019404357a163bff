/* stats_exact.c - what only the events tell: inclusive sums, and percentiles to the tick in bounded memory.
 *
 * The histogram names the bucket in which each percentile lies, and its rank there: a range of
 * ticks and a rank are a target. Each pass over the events cuts every range into equal slices and
 * counts how many durations fall in each; the slice that holds the rank becomes the range. A range
 * of one tick is the answer. With 1024 slices a bucket of 2^30 ticks takes three passes; many
 * locations get fewer slices and more passes. SPDX-License-Identifier: MIT */
#include "query/stats.h"

#include <stdlib.h>
#include <string.h>

enum { COUNTS_BYTES = 24 << 20, MOST_SLICES = 1024, FEWEST_SLICES = 2 };

struct target {
    uint64_t low;   /* first tick of the range */
    uint32_t shift; /* a range has 2^shift ticks */
    uint64_t rank;  /* in the range, from 1 */
};

struct refining {
    struct strobe_stats *stats;
    const struct strobe_stats_options *options;
    uint32_t n_rows;        /* that have targets */
    struct target *targets; /* owned: STROBE_STATS_N_PERCENTILES for each row */
    uint64_t *counts;       /* owned: n_slices for each target */
    uint32_t slice_bits;    /* a range is cut into 2^slice_bits */
};

static uint32_t step_shift(const struct refining *refining, const struct target *target)
{
    return target->shift > refining->slice_bits ? target->shift - refining->slice_bits : 0;
}

static void count_ticks(struct refining *refining, uint32_t row, uint64_t ticks)
{
    for (uint32_t i = 0; i < STROBE_STATS_N_PERCENTILES; i++) {
        uint64_t number = (uint64_t)row * STROBE_STATS_N_PERCENTILES + i;
        const struct target *target = &refining->targets[number];
        uint64_t off = ticks - target->low;
        if (target->shift && ticks >= target->low && off >> target->shift == 0)
            refining->counts[(number << refining->slice_bits) +
                             (off >> step_shift(refining, target))]++;
    }
}

static int is_wanted(const struct strobe_stats_options *options, const struct strobe_batch *batch)
{
    if (options->spans && batch->kind != STROBE_BATCH_SPAN)
        return 0;
    return !options->processes || batch->process >= options->n_processes ||
           options->processes[batch->process];
}

static enum strobe_err count_batch(void *context, const struct strobe_batch *batch)
{
    struct refining *refining = context;
    if (!is_wanted(refining->options, batch))
        return STROBE_OK;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        if (zone->state != STROBE_ZONE_ENDED)
            continue;
        uint32_t row = strobe_stats_row_of(refining->stats, batch->process, batch->locs[zone->slot],
                                           batch->loc_ids[zone->slot]);
        if (row < refining->n_rows) /* damaged summaries may lack rows that the events have */
            count_ticks(refining, row, zone->ticks);
    }
    return STROBE_OK;
}

static void set_targets(struct refining *refining)
{
    for (uint32_t i = 0; i < refining->n_rows; i++) {
        const struct strobe_stats_row *row = &refining->stats->rows[i];
        for (uint32_t k = 0; k < STROBE_STATS_N_PERCENTILES && row->histogram.n; k++) {
            struct target *target = &refining->targets[i * STROBE_STATS_N_PERCENTILES + k];
            uint64_t before, rank = strobe_stats_rank(strobe_percentiles[k], row->count);
            uint32_t bucket = strobe_histogram_bucket(&row->histogram, rank, &before);
            target->low = strobe_buckets_low(bucket);
            target->shift = bucket < 64 ? 0 : bucket / 32 - 1;
            target->rank = rank > before ? rank - before : 1;
        }
    }
}

/* Narrow every range to the slice that holds its rank; 1: some are wider than one tick. */
static int narrow(struct refining *refining, uint64_t n_targets)
{
    int again = 0;
    for (uint64_t i = 0; i < n_targets; i++) {
        struct target *target = &refining->targets[i];
        if (!target->shift)
            continue;
        const uint64_t *counts = refining->counts + (i << refining->slice_bits);
        uint32_t shift = step_shift(refining, target), at = 0;
        uint32_t last = (1u << (target->shift - shift)) - 1;
        for (; at < last && counts[at] < target->rank; at++)
            target->rank -= counts[at];
        target->low += (uint64_t)at << shift;
        target->shift = shift;
        again |= shift != 0;
    }
    return again;
}

static int needs_pass(const struct refining *refining, uint64_t n_targets)
{
    for (uint64_t i = 0; i < n_targets; i++)
        if (refining->targets[i].shift)
            return 1;
    return 0;
}

static uint32_t choose_slice_bits(uint64_t n_targets)
{
    uint64_t n_slices = MOST_SLICES;
    while (n_slices > FEWEST_SLICES && n_slices * n_targets * sizeof(uint64_t) > COUNTS_BYTES)
        n_slices /= 2;
    return (uint32_t)__builtin_ctzll(n_slices);
}

static enum strobe_err run_passes(struct refining *refining, uint64_t n_targets)
{
    size_t n_counts = (size_t)n_targets << refining->slice_bits;
    int again = needs_pass(refining, n_targets);
    while (again) {
        struct strobe_walk walk;
        strobe_stats_set_walk(refining->stats->trace, refining->options, &walk);
        walk.context = refining;
        walk.zones = count_batch;
        memset(refining->counts, 0, n_counts * sizeof *refining->counts);
        enum strobe_err err = strobe_walk_run(&walk);
        if (err)
            return err;
        again = narrow(refining, n_targets);
    }
    return STROBE_OK;
}

enum strobe_err strobe_stats_refine(struct strobe_stats *stats,
                                    const struct strobe_stats_options *options)
{
    struct refining refining = {.stats = stats, .options = options, .n_rows = stats->n_rows};
    uint64_t n_targets = (uint64_t)stats->n_rows * STROBE_STATS_N_PERCENTILES;
    refining.slice_bits = choose_slice_bits(n_targets);
    uint64_t n_counts = (n_targets + 1) << refining.slice_bits;
    if (n_counts > PTRDIFF_MAX) /* so many that calloc would not see all of them */
        return STROBE_ERR_NOMEM;
    refining.targets = calloc((size_t)n_targets + 1, sizeof *refining.targets);
    refining.counts = calloc((size_t)n_counts, sizeof *refining.counts);
    enum strobe_err err = refining.targets && refining.counts ? STROBE_OK : STROBE_ERR_NOMEM;
    if (!err) {
        set_targets(&refining);
        err = run_passes(&refining, n_targets);
    }
    for (uint32_t i = 0; !err && i < refining.n_rows; i++)
        for (uint32_t k = 0; k < STROBE_STATS_N_PERCENTILES; k++)
            stats->rows[i].percentile[k] = refining.targets[i * STROBE_STATS_N_PERCENTILES + k].low;
    stats->is_exact = !err;
    free(refining.targets);
    free(refining.counts);
    return err;
}

static enum strobe_err include_batch(void *context, const struct strobe_batch *batch)
{
    struct refining *refining = context;
    if (!is_wanted(refining->options, batch))
        return STROBE_OK;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        if (zone->state != STROBE_ZONE_ENDED || zone->is_nested)
            continue;
        uint32_t row = strobe_stats_row_of(refining->stats, batch->process, batch->locs[zone->slot],
                                           batch->loc_ids[zone->slot]);
        if (row < refining->n_rows)
            refining->stats->rows[row].inclusive += zone->ticks;
    }
    return STROBE_OK;
}

enum strobe_err strobe_stats_include(struct strobe_stats *stats,
                                     const struct strobe_stats_options *options)
{
    struct refining refining = {.stats = stats, .options = options, .n_rows = stats->n_rows};
    struct strobe_walk walk;
    for (uint32_t i = 0; i < stats->n_rows; i++)
        stats->rows[i].inclusive = 0;
    strobe_stats_set_walk(stats->trace, options, &walk);
    walk.context = &refining;
    walk.zones = include_batch;
    walk.want_nested = 1;
    enum strobe_err err = strobe_walk_run(&walk);
    stats->has_inclusive = !err;
    return err;
}
