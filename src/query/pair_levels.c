/* pair_levels.c - cells of a paired track: the finest level of its rows, each other one of the level below it.
 *
 * Rows come by begin. A bucket is whole when a row begins behind it: rows that end in a later bucket wait in a heap by
 * their ends, and of those that cover a bucket whole only their number per depth matters. So what is held is what is open
 * at a time.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "query/pair_parts.h"
#include "query/paired.h"

enum {
    MAX_LEVELS = 16,
    MAX_OPEN = 1 << 20, /* rows that are open at a time; more: no levels */
    ROWS_PER_BUCKET = 16,
    LEAST_BUCKETS = 64, /* of the coarsest level */
};

/* A row that is open over the end of the current bucket. */
struct waiting {
    uint64_t end, ticks, loc;
    uint32_t depth;
};

struct level {
    uint32_t shift;
    uint64_t bucket;                  /* whose sums these are: */
    struct strobe_lod_cell *sums;     /* owned: by depth */
    uint32_t n_depths, sums_room;     /* depths that may be used */
    struct strobe_paired_cell *cells; /* owned: STROBE_PAIRED_PART, of the next part */
    uint32_t n;
    struct strobe_pair_list list;
};

struct strobe_pair_levels {
    struct level levels[MAX_LEVELS];
    uint32_t n;           /* 0: the track has none */
    struct waiting *heap; /* owned */
    uint32_t n_heap, heap_room;
    uint32_t *open; /* owned: by depth, rows of the heap */
    uint32_t n_depths, open_room;
};

struct strobe_pair_levels *strobe_pair_levels_new(void)
{
    return calloc(1, sizeof(struct strobe_pair_levels));
}

void strobe_pair_levels_free(struct strobe_pair_levels *levels)
{
    for (uint32_t i = 0; levels && i < MAX_LEVELS; i++) {
        free(levels->levels[i].sums);
        free(levels->levels[i].cells);
        free(levels->levels[i].list.parts);
    }
    if (levels) {
        free(levels->heap);
        free(levels->open);
    }
    free(levels);
}

static uint64_t n_buckets(const struct strobe_pair_sums *sums, uint32_t shift)
{
    return (sums->last >> shift) - (sums->first >> shift) + 1;
}

/* A bucket has 16 rows or more, and there are no more cells than rows. */
static uint32_t finest(const struct strobe_pair_sums *sums)
{
    uint64_t most = sums->n_ended / ROWS_PER_BUCKET;
    double span = (double)(sums->last - sums->first) + 1, open = sums->busy / span;
    uint32_t shift = 0;
    if (open * (double)most > (double)sums->n_ended)
        most = (uint64_t)((double)sums->n_ended / open);
    while (shift < 62 && n_buckets(sums, shift) > most)
        shift++;
    return shift;
}

enum strobe_err strobe_pair_levels_start(struct strobe_pair_levels *levels,
                                         const struct strobe_pair_sums *sums)
{
    levels->n = levels->n_heap = 0;
    if (levels->open)
        memset(levels->open, 0, levels->open_room * sizeof *levels->open);
    levels->n_depths = 0;
    if (sums->n_ended <= STROBE_PAIRED_PART)
        return STROBE_OK;
    uint32_t shift = finest(sums);
    do {
        struct level *level = &levels->levels[levels->n++];
        if (!level->cells && !(level->cells = malloc(STROBE_PAIRED_PART * sizeof *level->cells)))
            return STROBE_ERR_NOMEM;
        level->shift = shift;
        level->bucket = sums->first >> shift;
        level->n = level->n_depths = level->list.n = 0;
        shift += STROBE_PAIRED_STEP;
    } while (levels->n < MAX_LEVELS && shift < 62 && n_buckets(sums, shift) >= LEAST_BUCKETS);
    return STROBE_OK;
}

/* ---- cells ---- */

static enum strobe_err put_part(struct strobe_pair_out *out, struct level *level)
{
    enum strobe_err err =
        level->n ? strobe_pair_put_cells(out, level->shift, level->cells, level->n, &level->list)
                 : STROBE_OK;
    level->n = 0;
    return err;
}

/* The sums of a depth in the level's bucket; NULL without memory. */
static struct strobe_lod_cell *sums_of(struct level *level, uint32_t depth)
{
    if (STROBE_ARRAY_REACH(level->sums, level->sums_room, depth))
        return NULL;
    for (; level->n_depths <= depth; level->n_depths++)
        level->sums[level->n_depths] = (struct strobe_lod_cell){0};
    return &level->sums[depth];
}

static void add_cell(const struct strobe_pair_out *out, struct level *level,
                     const struct strobe_lod_cell *sum, uint32_t depth)
{
    struct strobe_paired_cell *cell = &level->cells[level->n++];
    *cell = (struct strobe_paired_cell){
        .bucket = level->bucket, .count = sum->count, .busy = sum->busy, .depth = depth};
    if (!sum->count)
        return;
    cell->longest = sum->longest;
    cell->proc = out->trace->processes[strobe_table_loc_process(sum->loc - 1)].proc;
    cell->loc = strobe_table_loc_id(sum->loc - 1);
    cell->end = sum->end;
}

/* Go on to another bucket: the sums of the one before are cells, and go to the next level. */
static enum strobe_err turn(struct strobe_pair_levels *levels, struct strobe_pair_out *out,
                            uint32_t number, uint64_t bucket)
{
    struct level *level = &levels->levels[number];
    struct level *above = number + 1 < levels->n ? level + 1 : NULL;
    enum strobe_err err = STROBE_OK;
    if (level->bucket == bucket)
        return STROBE_OK;
    STROBE_ASSERT(bucket > level->bucket);
    uint64_t wide = above ? level->bucket >> (above->shift - level->shift) : 0;
    if (above && level->n_depths)
        err = turn(levels, out, number + 1, wide);
    for (uint32_t i = 0; i < level->n_depths && !err; i++) {
        const struct strobe_lod_cell *sum = &level->sums[i];
        if (!sum->count && !sum->busy)
            continue;
        struct strobe_lod_cell *into = above ? sums_of(above, i) : NULL;
        if (above && !into)
            return STROBE_ERR_NOMEM;
        if (into)
            strobe_lod_merge(into, sum);
        add_cell(out, level, sum, i);
        if (level->n == STROBE_PAIRED_PART)
            err = put_part(out, level);
    }
    level->n_depths = 0;
    level->bucket = bucket;
    return err;
}

/* ---- rows ---- */

static void sink(struct waiting *heap, uint32_t n, uint32_t at)
{
    struct waiting moved = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && heap[child + 1].end < heap[child].end;
        if (heap[child].end >= moved.end)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static enum strobe_err wait_for_end(struct strobe_pair_levels *levels, struct waiting row)
{
    if (STROBE_ARRAY_RESERVE_MAX(levels->heap, levels->heap_room, levels->n_heap + 1ull,
                                 MAX_OPEN) ||
        STROBE_ARRAY_REACH(levels->open, levels->open_room, row.depth))
        return STROBE_ERR_NOMEM;
    uint32_t at = levels->n_heap++;
    for (; at && levels->heap[(at - 1) / 2].end > row.end; at = (at - 1) / 2)
        levels->heap[at] = levels->heap[(at - 1) / 2];
    levels->heap[at] = row;
    levels->open[row.depth]++;
    levels->n_depths = row.depth >= levels->n_depths ? row.depth + 1 : levels->n_depths;
    return STROBE_OK;
}

/* A row ends in the current bucket, of which it was open from `from` on. */
static enum strobe_err end_row(struct level *level, const struct waiting *row, uint64_t from)
{
    struct strobe_lod_cell *sum = sums_of(level, row->depth);
    if (!sum)
        return STROBE_ERR_NOMEM;
    const struct strobe_lod_cell cell = {.busy = row->end - from,
                                         .longest = row->ticks,
                                         .loc = row->loc,
                                         .end = row->end,
                                         .count = 1};
    strobe_lod_merge(sum, &cell);
    return STROBE_OK;
}

/* The current bucket is one that rows of the heap were open at the start of. */
static enum strobe_err add_waiting(struct strobe_pair_levels *levels)
{
    struct level *level = &levels->levels[0];
    uint64_t start = level->bucket << level->shift, last = start + ((1ull << level->shift) - 1);
    while (levels->n_heap && levels->heap[0].end <= last) {
        enum strobe_err err = end_row(level, &levels->heap[0], start);
        if (err)
            return err;
        levels->open[levels->heap[0].depth]--;
        levels->heap[0] = levels->heap[--levels->n_heap];
        sink(levels->heap, levels->n_heap, 0);
    }
    for (uint32_t i = 0; i < levels->n_depths && levels->n_heap; i++) {
        struct strobe_lod_cell *sum = levels->open[i] ? sums_of(level, i) : NULL;
        if (levels->open[i] && !sum)
            return STROBE_ERR_NOMEM;
        if (sum)
            sum->busy += (uint64_t)levels->open[i] << level->shift;
    }
    return STROBE_OK;
}

/* Go on to a bucket, through all that rows of the heap are open in. */
static enum strobe_err go_to(struct strobe_pair_levels *levels, struct strobe_pair_out *out,
                             uint64_t bucket)
{
    enum strobe_err err = STROBE_OK;
    while (levels->levels[0].bucket < bucket && !err) {
        uint64_t next = levels->n_heap ? levels->levels[0].bucket + 1 : bucket;
        err = turn(levels, out, 0, next);
        if (!err)
            err = add_waiting(levels);
    }
    return err;
}

enum strobe_err strobe_pair_levels_add(struct strobe_pair_levels *levels,
                                       struct strobe_pair_out *out,
                                       const struct strobe_paired_row *row, uint64_t loc)
{
    const struct waiting one = {row->end, row->end - row->begin, loc, row->depth};
    struct level *level = &levels->levels[0];
    if (!levels->n || row->depth >= STROBE_PAIRED_DEPTHS)
        return STROBE_OK;
    enum strobe_err err = go_to(levels, out, row->begin >> level->shift);
    if (err)
        return err;
    if (row->end >> level->shift == level->bucket)
        return end_row(level, &one, row->begin);
    struct strobe_lod_cell *sum = sums_of(level, row->depth);
    if (!sum)
        return STROBE_ERR_NOMEM;
    sum->busy += ((level->bucket + 1) << level->shift) - row->begin;
    if (levels->n_heap < MAX_OPEN)
        return wait_for_end(levels, one);
    levels->n = 0; /* too much is open at a time: readers take the rows */
    return STROBE_OK;
}

enum strobe_err strobe_pair_levels_end(struct strobe_pair_levels *levels,
                                       struct strobe_pair_out *out)
{
    struct strobe_paired_track *track = &out->list.tracks[out->track];
    enum strobe_err err = STROBE_OK;
    track->first_level = out->list.n_levels;
    while (levels->n && levels->n_heap && !err)
        err = go_to(levels, out, levels->levels[0].bucket + 1);
    for (uint32_t i = 0; i < levels->n && !err; i++) {
        err = turn(levels, out, i, levels->levels[i].bucket + 1);
        if (!err)
            err = put_part(out, &levels->levels[i]);
    }
    for (uint32_t i = 0; i < levels->n && !err; i++) {
        struct strobe_paired_level *level =
            STROBE_ARRAY_PUSH(out->list.levels, out->list.n_levels, out->list.levels_room);
        if (!level)
            return STROBE_ERR_NOMEM;
        level->shift = levels->levels[i].shift;
        err = strobe_pair_keep_parts(out, &levels->levels[i].list, &level->first_part,
                                     &level->n_parts);
    }
    track->n_levels = out->list.n_levels - track->first_level;
    return err;
}
