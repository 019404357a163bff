/* encode_sums.h - what a zone that ends adds to the sums of its location and to the level of detail, and whether it lies in another one of
 * its location. In the encoder's loops over zones, so inline. Inside src/file only.  SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_ENCODE_SUMS_H
#define STROBE_FILE_ENCODE_SUMS_H

#include "file/encode_internal.h"

/* ---- zones in zones of their location ---- */

/* In `dict` of a zone whose location is counted. */
#define STROBE_ZONE_COUNTED (1u << 31)

static inline bool strobe_encode_is_counted(const struct strobe_encoder *enc, uint32_t index)
{
    return enc->depths[index] == STROBE_DEPTH_COUNTED;
}

/* A zone begins at another depth than those of its location before, which are not counted yet. */
void strobe_encode_change_depth(struct strobe_encoder *enc, uint32_t index, uint32_t depth);

/* A zone begins at `depth`; its entry's `dict`. */
static inline uint32_t strobe_encode_nest_begin(struct strobe_encoder *enc, uint32_t index,
                                                uint32_t depth)
{
    if (__builtin_expect(enc->depths[index] == depth, 1))
        return index;
    if (!strobe_encode_is_counted(enc, index))
        strobe_encode_change_depth(enc, index, depth);
    if (!strobe_encode_is_counted(enc, index))
        return index;
    enc->nests[index].n_open++;
    return index | STROBE_ZONE_COUNTED;
}

/* A zone of a location that is counted ended while `n_open` others of it are open. Whether it lies in one of them nobody can foresee: no branch. */
static inline void strobe_encode_add_nested(struct strobe_encoder *enc, uint32_t index,
                                            uint32_t n_open, uint64_t duration)
{
    enc->nests[index].nested += n_open ? duration : 0;
    enc->has_nested |= n_open != 0;
}

/* A zone of a location that is counted ended, the innermost one of it. */
static inline void strobe_encode_nest_end(struct strobe_encoder *enc, uint32_t index,
                                          uint64_t duration)
{
    STROBE_ASSERT(enc->nests[index].n_open);
    strobe_encode_add_nested(enc, index, --enc->nests[index].n_open, duration);
}

/* ---- sums ---- */

/* Only what was imported has zones as long. */
static __attribute__((noinline, cold)) void strobe_encode_saturate(uint64_t *sum)
{
    *sum = ~0ull;
}

static inline void strobe_encode_sum(struct strobe_loc_sum *sum, uint64_t duration, uint64_t self)
{
    STROBE_ASSERT(self <= duration);
    sum->count++;
    if (__builtin_expect(__builtin_add_overflow(sum->total, duration, &sum->total), 0))
        strobe_encode_saturate(&sum->total); /* self, which is less, stays so */
    if (__builtin_expect(__builtin_add_overflow(sum->self, self, &sum->self), 0))
        strobe_encode_saturate(&sum->self);
    if (__builtin_expect(duration < sum->min, 0))
        sum->min = duration;
    if (__builtin_expect(duration > sum->max, 0))
        sum->max = duration;
    sum->squares += (unsigned __int128)duration * duration;
    sum->histogram[strobe_buckets_of(duration)]++;
    STROBE_ASSERT(sum->min <= sum->max && sum->self <= sum->total);
}

/* ---- the level of detail ---- */

static inline void strobe_encode_count_in(const struct strobe_encoder *enc,
                                          struct strobe_lod_bucket *bucket, uint32_t index,
                                          uint64_t duration, uint64_t end)
{
    bucket->count++;
    STROBE_ASSERT(bucket->loc || !bucket->longest);
    if (__builtin_expect(duration < bucket->longest, 1) ||
        (duration == bucket->longest && bucket->loc == index + 1 && end >= bucket->end))
        return;
    if (duration > bucket->longest || !bucket->loc ||
        strobe_encode_goes_first(enc, index + 1, end, bucket)) {
        bucket->longest = duration;
        bucket->loc = index + 1;
        bucket->end = end;
    }
}

static inline void strobe_encode_lod_zone(struct strobe_encoder *enc, uint32_t depth,
                                          uint32_t index, uint64_t begin, uint64_t end,
                                          uint64_t duration)
{
    STROBE_ASSERT(index < enc->n_locs);
    if (depth >= STROBE_LOD_DEPTHS)
        return;
    strobe_encode_lod_rows(enc, depth);
    uint64_t from = begin > enc->first_tick ? begin : enc->first_tick;
    uint64_t to = end > enc->first_tick ? end : enc->first_tick;
    struct strobe_lod_bucket *bucket = &enc->lod[depth][strobe_encode_lod_index(enc, to)];
    strobe_encode_count_in(enc, bucket, index, duration, end);
    if (__builtin_expect((from >> enc->lod_shift) == (to >> enc->lod_shift), 1))
        bucket->busy += to > from ? to - from : 0;
    else if (to > from)
        strobe_encode_busy(enc, depth, from, to);
}

#endif
