/* encode_close.c - the head of a finished part: where it stands, what was open, its locations, its
 * summary (docs/file-format.md).  SPDX-License-Identifier: MIT */
#include "file/encode_internal.h"

static void put(struct strobe_encoder *enc, uint64_t value)
{
    if (strobe_encode_head_room(enc, STROBE_VARINT_MAX))
        enc->n_head = (size_t)(strobe_varint_put(enc->head + enc->n_head, value) - enc->head);
}

/* Only the buckets from the shortest to the longest duration can be used. */
static void put_histogram(struct strobe_encoder *enc, const struct strobe_loc_sum *sum)
{
    const uint32_t *histogram = sum->histogram;
    uint32_t first = strobe_buckets_of(sum->min), end = strobe_buckets_of(sum->max) + 1;
    uint32_t n_used = 0, last = 0;
    uint64_t n_zones = 0;
    for (uint32_t i = first; i < end; i++) {
        n_used += histogram[i] != 0;
        n_zones += histogram[i];
    }
    STROBE_ASSERT(n_zones == sum->count); /* none is outside of the shortest and the longest */
    (void)n_zones;
    if (!strobe_encode_head_room(enc, (1 + 2 * (size_t)n_used) * STROBE_VARINT_MAX))
        return;
    uint8_t *at = strobe_varint_put(enc->head + enc->n_head, n_used);
    for (uint32_t i = first; i < end; i++) {
        if (!histogram[i])
            continue;
        at = strobe_varint_put(at, i - last);
        at = strobe_varint_put(at, histogram[i]);
        last = i;
    }
    enc->n_head = (size_t)(at - enc->head);
    STROBE_ASSERT(enc->n_head <= enc->cap_head);
}

/* Between parts all histograms are zero. To clear them where they were used costs a part with many locations and few zones far less than
 * to clear them whole. */
static void clear_histograms(struct strobe_encoder *enc)
{
    uint32_t n = enc->n_locs < STROBE_STAT_LOCS ? enc->n_locs : (uint32_t)STROBE_STAT_LOCS;
    for (uint32_t i = 0; i < n; i++) {
        const struct strobe_loc_sum *sum = &enc->sums[i];
        if (!sum->count)
            continue;
        uint32_t first = strobe_buckets_of(sum->min), last = strobe_buckets_of(sum->max);
        STROBE_ASSERT(first <= last);
        memset(sum->histogram + first, 0, (last - first + 1) * sizeof *sum->histogram);
    }
}

static void put_sums(struct strobe_encoder *enc)
{
    uint32_t n_used = 0;
    STROBE_ASSERT(enc->n_locs <= STROBE_STAT_LOCS);
    for (uint32_t i = 0; i < enc->n_locs; i++)
        n_used += enc->sums[i].count != 0;
    put(enc, n_used);
    for (uint32_t i = 0; i < enc->n_locs; i++) {
        const struct strobe_loc_sum *sum = &enc->sums[i];
        if (!sum->count)
            continue;
        put(enc, i);
        put(enc, sum->count);
        put(enc, sum->total);
        put(enc, sum->self);
        put(enc, sum->min);
        put(enc, sum->max);
        put(enc, (uint64_t)sum->squares);
        put(enc, (uint64_t)(sum->squares >> 64));
        put_histogram(enc, sum);
    }
}

static void put_end(struct strobe_encoder *enc, uint64_t value)
{
    if (strobe_encode_ends_room(enc, STROBE_VARINT_MAX))
        enc->n_ends = (size_t)(strobe_varint_put(enc->ends + enc->n_ends, value) - enc->ends);
}

static void put_nested_number(struct strobe_encoder *enc, uint64_t value)
{
    if (strobe_encode_nested_room(enc, STROBE_VARINT_MAX))
        enc->n_nested =
            (size_t)(strobe_varint_put(enc->nested + enc->n_nested, value) - enc->nested);
}

/* The time of zones in zones of their location, by location. */
static void put_nested(struct strobe_encoder *enc)
{
    uint32_t n_used = 0, last = 0;
    for (uint32_t i = 0; i < enc->n_locs; i++)
        n_used += enc->nests[i].nested != 0;
    put_nested_number(enc, n_used);
    for (uint32_t i = 0; i < enc->n_locs; i++) {
        if (!enc->nests[i].nested)
            continue;
        put_nested_number(enc, i - last);
        put_nested_number(enc, enc->nests[i].nested);
        last = i;
    }
}

/* The ends of the zones that are drawn one by one at this level or a coarser one. Their size goes before them, in two bytes. */
static void put_ends(struct strobe_encoder *enc)
{
    size_t start = enc->n_ends + 2;
    enc->n_ends += strobe_encode_ends_room(enc, 2) ? 2 : 0;
    for (uint32_t d = 0; d < enc->lod_depths; d++)
        for (uint32_t i = 0; i < enc->lod_used; i++) {
            const struct strobe_lod_bucket *bucket = &enc->lod[d][i];
            uint64_t from = (enc->lod_base + i) << enc->lod_shift;
            if (strobe_lod_has_end(bucket->longest, enc->lod_shift))
                put_end(enc, strobe_zigzag((int64_t)(bucket->end - from)));
        }
    if (enc->failed)
        return;
    enc->ends[start - 2] = (uint8_t)(enc->n_ends - start);
    enc->ends[start - 1] = (uint8_t)((enc->n_ends - start) >> 8);
}

static void put_lod(struct strobe_encoder *enc)
{
    STROBE_ASSERT(enc->lod_depths <= STROBE_LOD_DEPTHS && enc->lod_used <= STROBE_LOD_BUCKETS);
    STROBE_ASSERT(enc->lod_base == enc->first_tick >> enc->lod_shift);
    put(enc, enc->lod_shift);
    put(enc, enc->lod_depths);
    for (uint32_t d = 0; d < enc->lod_depths; d++) {
        const struct strobe_lod_bucket *row = enc->lod[d];
        uint32_t n_used = 0, last = 0;
        for (uint32_t i = 0; i < enc->lod_used; i++)
            n_used += strobe_encode_bucket_is_used(&row[i]);
        if (!strobe_encode_head_room(enc, (1 + 5 * (size_t)n_used) * STROBE_VARINT_MAX))
            return;
        uint8_t *at = strobe_varint_put(enc->head + enc->n_head, n_used);
        for (uint32_t i = 0; i < enc->lod_used; i++) {
            if (!strobe_encode_bucket_is_used(&row[i]))
                continue;
            at = strobe_varint_put(at, i - last);
            at = strobe_varint_put(at, row[i].count);
            at = strobe_varint_put(at, row[i].busy);
            at = strobe_varint_put(at, row[i].longest);
            at = strobe_varint_put(at, row[i].loc);
            last = i;
        }
        enc->n_head = (size_t)(at - enc->head);
        STROBE_ASSERT(enc->n_head <= enc->cap_head);
    }
}

static uint64_t lowest_begin(const struct strobe_encoder *enc)
{
    if (!enc->n_listed)
        return enc->first_tick;
    uint64_t begin = enc->listed[enc->n_listed - 1].begin;
    return begin < enc->first_tick ? begin : enc->first_tick;
}

static void put_stack(struct strobe_encoder *enc)
{
    STROBE_ASSERT(enc->failed || enc->low + enc->n_listed == enc->start_depth);
    put(enc, enc->start_depth - enc->n_listed);
    put(enc, enc->n_listed);
    for (uint32_t i = enc->n_listed; i-- > 0;) {
        put(enc, enc->listed[i].loc);
        put(enc, strobe_zigzag((int64_t)(enc->first_tick - enc->listed[i].begin)));
        put(enc, enc->listed[i].child);
    }
}

static void put_locs(struct strobe_encoder *enc)
{
    uint64_t last = 0;
    put(enc, enc->n_locs);
    for (uint32_t i = 0; i < enc->n_locs; i++) {
        put(enc, strobe_zigzag((int64_t)(enc->locs[i] - last)));
        last = enc->locs[i];
    }
}

/* A bucket that stands for a few events costs as much as they do: a small part has fewer of them. */
static void fit_lod(struct strobe_encoder *enc)
{
    enum { EVENTS = 128, LEAST = STROBE_LOD_BUCKETS / 2 };
    uint32_t most = enc->part_events / EVENTS;
    while (enc->lod_used > (most > LEAST ? most : LEAST))
        strobe_encode_coarsen(enc);
}

/* Where the next part begins: finer than this one ended, so that a shorter one has its detail too; much finer where this one was never coarsened, and so
 * may have begun too coarse. */
static void set_next_shift(struct strobe_encoder *enc)
{
    uint32_t by = enc->lod_shift > enc->first_shift ? 1 : 2;
    STROBE_ASSERT(enc->lod_shift >= enc->first_shift);
    enc->track->lod_shift = enc->lod_shift > 2 ? enc->lod_shift - by : 0;
}

void strobe_encode_end_part(struct strobe_encoder *enc, uint64_t n_words)
{
    STROBE_ASSERT(enc->track && enc->part_start + enc->part_events == enc->n_events);
    STROBE_ASSERT(enc->big_at >= enc->part_big && enc->side_at >= enc->part_side);
    STROBE_ASSERT(enc->side_at - enc->side <= STROBE_SIDE_BYTES);
    STROBE_ASSERT(n_words >= enc->part_events);
    if (!enc->part_events && !n_words) {
        enc->track = NULL;
        return;
    }
    if (!enc->part_events)
        strobe_encode_first_event(enc, enc->track->last_tick);
    bool summary = enc->part_events >= STROBE_SUMMARY_MIN_EVENTS && !enc->too_many_locs;
    if (enc->part_events) {
        strobe_encode_cover_open_zones(enc);
        fit_lod(enc);
        strobe_encode_log_part(enc);
    }
    put(enc, enc->proc);
    put(enc, enc->track_id);
    put(enc, enc->pos);
    put(enc, n_words);
    put(enc, enc->part_events);
    put(enc, enc->first_tick);
    put(enc, strobe_zigzag((int64_t)(enc->prev_tick - enc->first_tick)));
    put(enc, enc->first_tick - lowest_begin(enc));
    put(enc, enc->fiber_at_start);
    put_stack(enc);
    put_locs(enc);
    put(enc, (uint64_t)(enc->big_at - enc->part_big));
    put(enc, (uint64_t)(enc->side_at - enc->part_side));
    bool has_nested = enc->has_nested && !enc->lacks_nested;
    put(enc, (summary ? STROBE_PART_SUMMARY | STROBE_PART_ENDS : 0) |
                 (enc->lacks_nested ? 0 : STROBE_PART_KNOWS_NESTED) |
                 (has_nested ? STROBE_PART_NESTED : 0));
    if (has_nested)
        put_nested(enc);
    if (summary) {
        put_sums(enc);
        put_lod(enc);
        put_ends(enc);
        set_next_shift(enc);
    }
    clear_histograms(enc);
    if (enc->part_events) {
        uint64_t begin = lowest_begin(enc);
        enc->tick_min = begin < enc->tick_min ? begin : enc->tick_min;
        enc->tick_max = enc->prev_tick > enc->tick_max ? enc->prev_tick : enc->tick_max;
        enc->track->last_tick = enc->prev_tick;
        STROBE_ASSERT(enc->tick_min <= enc->first_tick && enc->tick_max >= enc->prev_tick);
    }
    enc->n_parts++;
    enc->track = NULL;
}
