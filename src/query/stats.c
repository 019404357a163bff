/* stats.c - sums and histograms by location.
 *
 *   threads           no range: parts with a summary: their sums are added, no event is decoded
 *                               parts without:        replayed
 *                     range:    everything that may begin in it is replayed
 *   fibers, spans and the writer paired them: its rows are added (stats_paired.c)
 *   shared threads    it did not: everything is replayed, since summaries leave them out and self times depend on
 *                     the zones of other tracks
 *
 * SPDX-License-Identifier: MIT */
#include "query/stats.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/feed.h"
#include "query/loose.h"
#include "query/paired.h"

const unsigned strobe_percentiles[STROBE_STATS_N_PERCENTILES] = {50, 90, 99};

enum { BUCKET_BITS = 11, MAX_SPARSE = 32 };
static_assert(STROBE_HIST_BUCKETS <= 1 << BUCKET_BITS, "a bucket fits an entry");

static int add_dense(struct strobe_histogram *histogram, uint32_t bucket, uint64_t count)
{
    uint32_t end = (uint32_t)histogram->first + histogram->n;
    if (bucket < histogram->first || bucket >= end) {
        uint32_t first = histogram->first < bucket ? histogram->first : bucket;
        uint32_t last = end > bucket + 1 ? end : bucket + 1;
        uint64_t *counts = calloc(last - first, sizeof *counts);
        if (!counts)
            return 0;
        memcpy(counts + (histogram->first - first), histogram->counts,
               histogram->n * sizeof *counts);
        free(histogram->counts);
        *histogram =
            (struct strobe_histogram){counts, (uint16_t)first, (uint16_t)(last - first), 1};
    }
    histogram->counts[bucket - histogram->first] += count;
    return 1;
}

static uint32_t entry_bucket(uint64_t entry)
{
    return entry & ((1u << BUCKET_BITS) - 1);
}

static int make_dense(struct strobe_histogram *histogram)
{
    uint64_t *entries = histogram->counts;
    uint32_t n = histogram->n, first = entry_bucket(entries[0]);
    uint32_t last = entry_bucket(entries[n - 1]);
    uint64_t *counts = calloc(last - first + 1, sizeof *counts);
    if (!counts)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        counts[entry_bucket(entries[i]) - first] = entries[i] >> BUCKET_BITS;
    free(entries);
    *histogram =
        (struct strobe_histogram){counts, (uint16_t)first, (uint16_t)(last - first + 1), 1};
    return 1;
}

static int add_sparse(struct strobe_histogram *histogram, uint32_t bucket, uint64_t count)
{
    uint32_t at = histogram->n;
    while (at && entry_bucket(histogram->counts[at - 1]) >= bucket)
        at--;
    if (at < histogram->n && entry_bucket(histogram->counts[at]) == bucket) {
        histogram->counts[at] += count << BUCKET_BITS;
        return 1;
    }
    if (STROBE_ARRAY_RESERVE_TIGHT(histogram->counts, histogram->n))
        return 0;
    memmove(histogram->counts + at + 1, histogram->counts + at,
            (histogram->n - at) * sizeof *histogram->counts);
    histogram->counts[at] = count << BUCKET_BITS | bucket;
    histogram->n++;
    return histogram->n < MAX_SPARSE || make_dense(histogram);
}

int strobe_histogram_add(struct strobe_histogram *histogram, uint32_t bucket, uint64_t count)
{
    return histogram->is_dense ? add_dense(histogram, bucket, count)
                               : add_sparse(histogram, bucket, count);
}

uint32_t strobe_histogram_bucket(const struct strobe_histogram *histogram, uint64_t rank,
                                 uint64_t *n_before)
{
    const uint32_t shift = histogram->is_dense ? 0 : BUCKET_BITS;
    uint32_t i = 0;
    *n_before = 0;
    for (; i + 1u < histogram->n && *n_before + (histogram->counts[i] >> shift) < rank; i++)
        *n_before += histogram->counts[i] >> shift;
    return histogram->is_dense ? histogram->first + i : entry_bucket(histogram->counts[i]);
}

static uint32_t new_row(struct strobe_stats *stats, uint32_t loc, uint64_t id)
{
    if (STROBE_ARRAY_REACH(stats->rows, stats->rows_room, stats->n_rows))
        return UINT32_MAX;
    stats->rows[stats->n_rows].loc = loc;
    stats->rows[stats->n_rows].loc_id = id;
    stats->rows[stats->n_rows].min = UINT64_MAX;
    return stats->n_rows++;
}

/* The row of the locations with the same content as this one. */
static uint32_t row_of_content(struct strobe_stats *stats, uint32_t loc, uint64_t id)
{
    const struct strobe_loc_row *row = &stats->trace->locs[loc];
    uint64_t hash = strobe_loc_hash(row, strobe_index_seed(&stats->by_content));
    STROBE_INDEX_EACH (known, at, &stats->by_content, hash)
        if (strobe_loc_same(row, &stats->trace->locs[stats->rows[known].loc]))
            return known;
    uint32_t made = new_row(stats, loc, id);
    if (made == UINT32_MAX || !strobe_index_add(&stats->by_content, hash, made))
        return made;
    stats->n_rows--;
    memset(&stats->rows[made], 0, sizeof stats->rows[made]);
    return UINT32_MAX;
}

static uint32_t row_of_unnamed(struct strobe_stats *stats, uint32_t process, uint64_t id)
{
    uint32_t n = stats->unnamed.n;
    uint32_t i = strobe_idmap_add_row(&stats->unnamed, process, id, (void **)&stats->unnamed_rows,
                                      &stats->unnamed_room, sizeof *stats->unnamed_rows);
    if (i == STROBE_IDMAP_NONE)
        return UINT32_MAX;
    if (i == n)
        stats->unnamed_rows[i] = new_row(stats, STROBE_IDMAP_NONE, id);
    if (stats->unnamed_rows[i] != UINT32_MAX)
        stats->rows[stats->unnamed_rows[i]].process = process;
    return stats->unnamed_rows[i];
}

uint32_t strobe_stats_row_of(struct strobe_stats *stats, uint32_t process, uint32_t loc,
                             uint64_t id)
{
    if (loc == STROBE_IDMAP_NONE)
        return row_of_unnamed(stats, process, id);
    if (STROBE_ARRAY_REACH(stats->row_of_loc, stats->row_of_loc_room, loc))
        return UINT32_MAX;
    if (!stats->row_of_loc[loc])
        stats->row_of_loc[loc] = row_of_content(stats, loc, id) + 1;
    return stats->row_of_loc[loc] - 1;
}

int strobe_stats_leaves_out(const struct strobe_stats_options *options, uint32_t process,
                            uint32_t thread)
{
    if (options->threads && (thread >= options->n_threads || !options->threads[thread]))
        return 1;
    return options->processes && process < options->n_processes && !options->processes[process];
}

static int is_batch_left_out(const struct strobe_stats_options *options,
                             const struct strobe_batch *batch)
{
    if (batch->kind == STROBE_BATCH_FIBER && options->has_fiber)
        return !options->has_fiber(options->context, batch->process, batch->id);
    return strobe_stats_leaves_out(options, batch->process, batch->thread);
}

int strobe_stats_add(struct strobe_stats_row *row, uint64_t duration, uint64_t self, int is_nested)
{
    row->count++;
    row->total += duration;
    row->inclusive += is_nested ? 0 : duration;
    row->self += self;
    row->min = duration < row->min ? duration : row->min;
    row->max = duration > row->max ? duration : row->max;
    row->squares += (unsigned __int128)duration * duration;
    return strobe_histogram_add(&row->histogram, strobe_buckets_of(duration), 1);
}

struct adding {
    struct strobe_stats *stats;
    const struct strobe_stats_options *options;
};

static enum strobe_err add_batch(void *context, const struct strobe_batch *batch)
{
    struct adding *adding = context;
    if (is_batch_left_out(adding->options, batch))
        return STROBE_OK;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        if (zone->state != STROBE_ZONE_ENDED)
            continue;
        uint32_t row = strobe_stats_row_of(adding->stats, batch->process, batch->locs[zone->slot],
                                           batch->loc_ids[zone->slot]);
        if (row == UINT32_MAX ||
            !strobe_stats_add(&adding->stats->rows[row], zone->ticks, zone->self, zone->is_nested))
            return STROBE_ERR_NOMEM;
    }
    return STROBE_OK;
}

/* Sink of spans only: the zones of threads and fibers are left out. */
static enum strobe_err add_spans(void *context, const struct strobe_batch *batch)
{
    return batch->kind == STROBE_BATCH_SPAN ? add_batch(context, batch) : STROBE_OK;
}

void strobe_stats_set_walk(struct strobe_trace *trace, const struct strobe_stats_options *options,
                           struct strobe_walk *walk)
{
    memset(walk, 0, sizeof *walk);
    walk->trace = trace;
    walk->want_fibers = !options->spans;
    walk->want_spans = options->spans;
    walk->any_order = !options->threads;
    walk->by_tick = options->by_tick;
    walk->tick_min = options->tick_min;
    walk->tick_max = options->tick_max;
}

/* `of_threads`: the zones of fibers come from elsewhere. */
static enum strobe_err run_walk(struct adding *adding, int of_threads)
{
    struct strobe_walk walk;
    strobe_stats_set_walk(adding->stats->trace, adding->options, &walk);
    walk.want_fibers &= !of_threads;
    walk.context = adding;
    walk.zones = adding->options->spans ? add_spans : add_batch;
    walk.want_nested = !adding->options->spans;
    enum strobe_err err = strobe_walk_run(&walk);
    adding->stats->n_bad_parts += walk.n_bad_parts;
    return err;
}

static void add_row(struct strobe_stats_row *row, const struct strobe_summary_row *from)
{
    row->count += from->count;
    row->total += from->total_ticks;
    row->inclusive += from->total_ticks;
    row->self += from->self_ticks;
    if (from->count) {
        row->min = from->min_ticks < row->min ? from->min_ticks : row->min;
        row->max = from->max_ticks > row->max ? from->max_ticks : row->max;
    }
    row->squares += from->squares;
}

/* As strobe_histogram_add, without a call where the histogram has the bucket. */
static inline int add_bucket(struct strobe_histogram *histogram, uint32_t bucket, uint64_t count)
{
    uint32_t at = bucket - histogram->first;
    if (!histogram->is_dense || at >= histogram->n)
        return strobe_histogram_add(histogram, bucket, count);
    histogram->counts[at] += count;
    return 1;
}

enum strobe_err strobe_stats_add_summary(struct strobe_stats *stats,
                                         const struct strobe_stats_options *options,
                                         const struct strobe_part *part, uint32_t process)
{
    struct strobe_summary summary;
    struct strobe_summary_row from;
    enum strobe_err err = strobe_summary_start(part, &summary);
    while (!err && (err = strobe_summary_next(&summary, &from)) == STROBE_OK) {
        uint64_t id = part->locs[from.loc_index], count;
        uint32_t loc = strobe_trace_loc(stats->trace, process, id), bucket;
        uint32_t at = strobe_stats_row_of(stats, process, loc, id);
        if (at == UINT32_MAX)
            return STROBE_ERR_NOMEM;
        struct strobe_stats_row *row = &stats->rows[at];
        add_row(row, &from);
        while (!options->quick &&
               (err = strobe_summary_bucket(&summary, &bucket, &count)) == STROBE_OK)
            if (!add_bucket(&row->histogram, bucket, count))
                return STROBE_ERR_NOMEM;
        err = err == STROBE_ERR_END ? STROBE_OK : err;
    }
    return err == STROBE_ERR_END ? strobe_stats_take_nested(stats, part, process) : err;
}

/* The row of a location of a part's list; NULL without memory. */
static struct strobe_stats_row *row_in_part(struct strobe_stats *stats,
                                            const struct strobe_part *part, uint32_t process,
                                            uint32_t index)
{
    uint64_t id = part->locs[index];
    uint32_t loc = strobe_trace_loc(stats->trace, process, id);
    uint32_t row = strobe_stats_row_of(stats, process, loc, id);
    return row == UINT32_MAX ? NULL : &stats->rows[row];
}

enum strobe_err strobe_stats_take_nested(struct strobe_stats *stats, const struct strobe_part *part,
                                         uint32_t process)
{
    struct strobe_nested nested;
    enum strobe_err err;
    uint32_t index;
    uint64_t ticks;
    stats->lacks_inclusive |= !part->knows_nested;
    strobe_nested_start(part, &nested);
    while ((err = strobe_nested_next(&nested, &index, &ticks)) == STROBE_OK) {
        struct strobe_stats_row *row = row_in_part(stats, part, process, index);
        if (!row)
            return STROBE_ERR_NOMEM;
        row->inclusive -= ticks < row->inclusive ? ticks : row->inclusive;
    }
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

/* The pass over summaries: parts, and what has to be replayed. */
struct summing {
    struct adding adding;
    int look_for_fibers; /* no footer says that there are none */
    int has_fibers;      /* and there are: summaries are not enough */
    struct strobe_replay replay;
    struct strobe_block whole; /* a block that was loaded again, with its body */
    struct strobe_events decoded;
    uint64_t decoded_offset; /* of the block in `decoded`, 0: none */
};

static enum strobe_err need_streams(struct summing *summing, const struct strobe_block_ref *ref)
{
    if (summing->decoded_offset == ref->offset)
        return STROBE_OK;
    summing->decoded_offset = 0;
    enum strobe_err err =
        strobe_file_load(summing->adding.stats->trace->file, ref, &summing->whole);
    if (!err)
        err = strobe_decode_parts(&summing->whole, &summing->decoded);
    if (!err)
        err = strobe_decode_streams(&summing->whole, STROBE_ALL_STREAMS, &summing->decoded);
    if (!err)
        summing->decoded_offset = ref->offset;
    return err;
}

enum strobe_err strobe_stats_add_zones(struct strobe_stats *stats,
                                       const struct strobe_replay *replay,
                                       const struct strobe_part *part, uint32_t process,
                                       enum strobe_err err)
{
    for (uint32_t i = 0; i < replay->n_zones && err != STROBE_ERR_NOMEM; i++) {
        const struct strobe_zone_row *zone = &replay->zones[i];
        if (zone->state != STROBE_ZONE_ENDED)
            continue;
        uint64_t id = strobe_slot_loc(part, zone->slot);
        uint32_t row =
            strobe_stats_row_of(stats, process, strobe_trace_loc(stats->trace, process, id), id);
        if (row == UINT32_MAX ||
            !strobe_stats_add(&stats->rows[row], zone->ticks, zone->self, zone->is_nested))
            err = STROBE_ERR_NOMEM;
    }
    return err;
}

/* A part without summary, or with one that makes no sense. */
static enum strobe_err add_replayed(struct summing *summing, const struct strobe_block_ref *ref,
                                    uint32_t number, uint32_t process)
{
    struct strobe_stats *stats = summing->adding.stats;
    enum strobe_err err = need_streams(summing, ref);
    if (err)
        return err;
    const struct strobe_part *part = &summing->decoded.parts[number];
    stats->n_decoded_parts++;
    err = strobe_replay_part(&summing->decoded, part, &stats->trace->schema, 0, NULL,
                             &summing->replay);
    err = strobe_stats_add_zones(stats, &summing->replay, part, process, err);
    return err ? err : strobe_stats_take_nested(stats, part, process);
}

int strobe_stats_runs_fibers(const struct strobe_events *events, const struct strobe_part *part)
{
    const uint8_t *sym = events->stream[STROBE_SYM] + part->first_event;
    return part->fiber || memchr(sym, STROBE_KIND_FIBER_ENTER, part->n_events);
}

static enum strobe_err sum_block(struct summing *summing, const struct strobe_fed *fed)
{
    struct strobe_stats *stats = summing->adding.stats;
    for (uint32_t i = 0; i < fed->events.n_parts; i++) {
        const struct strobe_part *part = &fed->events.parts[i];
        uint32_t process = strobe_trace_process(stats->trace, part->proc);
        uint32_t thread = process == STROBE_IDMAP_NONE
                              ? process
                              : strobe_trace_thread(stats->trace, process, part->track);
        if (thread == STROBE_IDMAP_NONE)
            return STROBE_ERR_NOMEM;
        strobe_trace_note_part(stats->trace, thread, part);
        if (summing->look_for_fibers && strobe_stats_runs_fibers(&fed->events, part)) {
            summing->has_fibers = 1;
            return STROBE_ERR_END;
        }
        if (strobe_stats_leaves_out(summing->adding.options, process, thread) ||
            stats->trace->threads[thread].twin) /* that come with the paired ones */
            continue;
        enum strobe_err err =
            part->summary ? strobe_stats_add_summary(stats, summing->adding.options, part, process)
                          : add_replayed(summing, &fed->block.ref, i, process);
        if (err == STROBE_ERR_CORRUPT)
            stats->n_bad_parts++;
        else if (err)
            return err;
    }
    return STROBE_OK;
}

/* *has_fibers: the result is no use, only a walk gives the right one. */
static enum strobe_err run_summing(struct adding *adding, int *has_fibers)
{
    const int has_totals = strobe_file_facts(adding->stats->trace->file)->totals.has_totals;
    struct summing summing = {.adding = *adding, .look_for_fibers = !has_totals};
    struct strobe_feed_options options = {.heads_only = adding->options->quick && has_totals,
                                          .streams = has_totals ? 0 : 1u << STROBE_SYM};
    struct strobe_feed *feed;
    const struct strobe_fed *fed;
    strobe_trace_forget_parts(adding->stats->trace);
    enum strobe_err err = strobe_feed_start(adding->stats->trace->file, &options, &feed);
    while (!err && (err = strobe_feed_next(feed, &fed)) == STROBE_OK)
        err = sum_block(&summing, fed);
    strobe_feed_stop(feed);
    strobe_replay_free(&summing.replay);
    strobe_block_free(&summing.whole);
    strobe_events_free(&summing.decoded);
    *has_fibers = summing.has_fibers;
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

int strobe_stats_is_summed(const struct strobe_trace *trace,
                           const struct strobe_stats_options *options)
{
    const struct strobe_trace_totals *totals = &strobe_file_facts(trace->file)->totals;
    return !options->by_tick && !options->spans && !trace->has_twins &&
           !totals->n_of_kind[STROBE_KIND_FIBER_ENTER];
}

void strobe_stats_set_percentiles(struct strobe_stats_row *row)
{
    for (int i = 0; i < STROBE_STATS_N_PERCENTILES && row->histogram.n; i++) {
        uint64_t before;
        uint32_t bucket = strobe_histogram_bucket(
            &row->histogram, strobe_stats_rank(strobe_percentiles[i], row->count), &before);
        uint64_t middle = strobe_buckets_low(bucket) + strobe_buckets_width(bucket) / 2;
        middle = middle < row->min ? row->min : middle;
        row->percentile[i] = middle > row->max ? row->max : middle;
    }
}

static void drop_empty_rows(struct strobe_stats *stats)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < stats->n_rows; i++) {
        if (stats->rows[i].count)
            stats->rows[kept++] = stats->rows[i];
        else
            free(stats->rows[i].histogram.counts);
    }
    stats->n_rows = kept;
}

/* What needs no pairing of events. *needs_walk: it is no use. */
static enum strobe_err run_stored(struct adding *adding, int *needs_walk)
{
    struct strobe_stats *stats = adding->stats;
    const struct strobe_stats_options *options = adding->options;
    int is_summed = strobe_stats_is_summed(stats->trace, options);
    struct strobe_paired *paired =
        is_summed ? NULL : strobe_stats_paired_open(stats->trace, options);
    enum strobe_err err = STROBE_OK;
    *needs_walk = !is_summed && !paired;
    if (*needs_walk)
        return STROBE_OK;
    if (!options->spans)
        err = options->by_tick ? run_walk(adding, 1) : run_summing(adding, needs_walk);
    if (paired && !err)
        err = strobe_stats_add_paired(stats, options, paired);
    *needs_walk |= paired && (err == STROBE_ERR_CORRUPT || stats->lacks_inclusive);
    strobe_paired_close(paired);
    return err == STROBE_ERR_CORRUPT && *needs_walk ? STROBE_OK : err;
}

/* 1: the footer says that the trace has no event of the kind that is asked for. */
static int has_none(const struct strobe_trace *trace, const struct strobe_stats_options *options)
{
    const struct strobe_trace_totals *totals = &strobe_file_facts(trace->file)->totals;
    const uint64_t *n = totals->n_of_kind;
    return totals->has_totals &&
           ((options->gpu && !n[STROBE_KIND_GPU_BEGIN]) ||
            (options->spans && !n[STROBE_KIND_SPAN_BEGIN] && !n[STROBE_KIND_SPAN_END]));
}

enum strobe_err strobe_stats_run(struct strobe_trace *trace,
                                 const struct strobe_stats_options *options,
                                 struct strobe_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    stats->trace = trace;
    if (has_none(trace, options)) {
        stats->is_exact = options->gpu || options->exact;
        stats->is_ns = options->gpu;
        return STROBE_OK;
    }
    if (options->gpu)
        return strobe_stats_gpu(stats, options);
    struct adding adding = {stats, options};
    int needs_walk;
    enum strobe_err err = run_stored(&adding, &needs_walk);
    if (!err && needs_walk) {
        strobe_stats_free(stats);
        stats->trace = trace;
        err = run_walk(&adding, 0);
    }
    for (uint32_t i = 0; !err && i < stats->n_rows; i++)
        strobe_stats_set_percentiles(&stats->rows[i]);
    if (!err && options->exact && !options->quick)
        err = strobe_stats_refine(stats, options);
    stats->has_inclusive = !stats->lacks_inclusive && !options->spans;
    if (!err && stats->lacks_inclusive &&
        (options->inclusive || (options->exact && !options->quick)))
        err = strobe_stats_include(stats, options);
    if (!err)
        drop_empty_rows(stats);
    return err;
}

void strobe_stats_free(struct strobe_stats *stats)
{
    for (uint32_t i = 0; i < stats->n_rows; i++)
        free(stats->rows[i].histogram.counts);
    free(stats->rows);
    free(stats->row_of_loc);
    strobe_index_free(&stats->by_content);
    free(stats->unnamed_rows);
    strobe_idmap_free(&stats->unnamed);
    memset(stats, 0, sizeof *stats);
}

/* Integer square root, rounded down. */
static uint64_t root(unsigned __int128 n)
{
    uint64_t result = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t tried = result | 1ull << bit;
        if ((unsigned __int128)tried * tried <= n)
            result = tried;
    }
    return result;
}

/* Sum of (d - mean)^2 = sum of (d - q)^2 - r^2 / n, with the mean q + r / n: exact modulo 2^128,
 * and the result is below that. */
uint64_t strobe_stats_std(const struct strobe_stats_row *row)
{
    if (row->count < 2)
        return 0;
    unsigned __int128 n = row->count, q = row->total / n, r = row->total % n;
    unsigned __int128 off = row->squares - 2 * q * row->total + n * q * q;
    unsigned __int128 less = r * r / n;
    return off < less ? 0 : root((off - less) / (n - 1));
}
