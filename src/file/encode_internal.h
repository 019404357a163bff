/* encode_internal.h - what the encoder's files share: the column of an event, the part's list of
 * locations, the bucket of a tick. Small and in every loop, so inline. Inside src/file only.
 *
 *   encode.c          the block: memory, parts, events other than zones
 *   encode_zones.c    zones, one by one
 *   encode_runs.c     runs of simple ones
 *   encode_sums.h     the sums of both
 *   encode_lod.c      the level of detail of a part
 *   encode_close.c    a part's head: stack, locations, summary
 *   copy.c            parts of another block (copy.h)
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_ENCODE_INTERNAL_H
#define STROBE_FILE_ENCODE_INTERNAL_H

#include <string.h>

#include "base/assert.h"
#include "file/buckets.h"
#include "file/encode.h"

/* ---- encode.c ---- */

static inline void strobe_encode_first_event(struct strobe_encoder *enc, uint64_t tick)
{
    enc->first_tick = enc->prev_tick = tick;
    enc->lod_base = tick >> enc->lod_shift;
}

static inline void strobe_encode_put_time(struct strobe_encoder *enc, uint64_t tick, uint8_t sym)
{
    if (__builtin_expect(!enc->part_events++, 0))
        strobe_encode_first_event(enc, tick);
    uint64_t difference = tick - enc->prev_tick;
    uint32_t i = enc->n_events++;
    STROBE_ASSERT(enc->track); /* a part is open */
    STROBE_ASSERT(i < STROBE_BLOCK_EVENTS_MAX);
    STROBE_ASSERT(enc->part_start + enc->part_events == enc->n_events);
    enc->prev_tick = tick;
    enc->sym[i] = sym;
    if (difference >= 65535) {
        enc->dt[i] = 0xffff;
        enc->big_at = strobe_varint_put(enc->big_at, strobe_zigzag((int64_t)difference));
        STROBE_ASSERT(enc->big_at - enc->big <= STROBE_BIG_BYTES);
        return;
    }
    enc->dt[i] = (uint16_t)difference;
}

/* Room for `n` more bytes in the head, or enc->failed. */
bool strobe_encode_grow(struct strobe_encoder *enc, uint8_t **bytes, size_t n_used, size_t *cap,
                        size_t n);
static inline bool strobe_encode_head_room(struct strobe_encoder *enc, size_t n)
{
    STROBE_ASSERT(enc->n_head <= enc->cap_head);
    return n <= enc->cap_head - enc->n_head ||
           strobe_encode_grow(enc, &enc->head, enc->n_head, &enc->cap_head, n);
}
/* The same in the ends behind it. */
static inline bool strobe_encode_ends_room(struct strobe_encoder *enc, size_t n)
{
    STROBE_ASSERT(enc->n_ends <= enc->cap_ends);
    return n <= enc->cap_ends - enc->n_ends ||
           strobe_encode_grow(enc, &enc->ends, enc->n_ends, &enc->cap_ends, n);
}

/* And in the nested sums behind those. */
static inline bool strobe_encode_nested_room(struct strobe_encoder *enc, size_t n)
{
    STROBE_ASSERT(enc->n_nested <= enc->cap_nested);
    return n <= enc->cap_nested - enc->n_nested ||
           strobe_encode_grow(enc, &enc->nested, enc->n_nested, &enc->cap_nested, n);
}

/* Whether the block was given up (strobe_encode_give_up). */
bool strobe_encode_was_given_up(const struct strobe_encoder *enc, uint64_t block);

/* ---- encode_zones.c ---- */

/* At which depth zones of `loc`, new in the part's list, are open from earlier parts; counted if at several. */
uint32_t strobe_encode_first_depth(struct strobe_encoder *enc, uint64_t loc);

/* Nothing is summed up yet. */
static inline void strobe_encode_clear_sum(struct strobe_loc_sum *sum)
{
    sum->squares = 0;
    sum->count = sum->total = sum->self = sum->max = 0;
    sum->min = ~0ull;
}

/* Index of `loc` in the part's list. */
static inline uint32_t strobe_encode_dict_index(struct strobe_encoder *enc, uint64_t loc)
{
    uint32_t at = STROBE_DICT_PLACE(loc);
    for (;; at = (at + 1) & (STROBE_DICT_SIZE - 1)) {
        struct strobe_dict_entry *entry = &enc->dict[at];
        if (__builtin_expect(entry->serial == enc->serial, 1)) {
            STROBE_ASSERT(entry->index < enc->n_locs && enc->locs[entry->index] == entry->loc);
            if (entry->loc == loc)
                return entry->index;
            continue;
        }
        STROBE_ASSERT(enc->n_locs < STROBE_BLOCK_EVENTS_MAX);
        *entry = (struct strobe_dict_entry){loc, enc->serial, enc->n_locs};
        enc->locs[enc->n_locs] = loc;
        enc->depths[enc->n_locs] = strobe_encode_first_depth(enc, loc);
        if (enc->n_locs >= STROBE_STAT_LOCS)
            enc->too_many_locs = true;
        else
            strobe_encode_clear_sum(&enc->sums[enc->n_locs]);
        return enc->n_locs++;
    }
}

/* ---- encode_lod.c ---- */

/* Of two zones of the same length the one with the lower location id is named, of the same location (both as
 * index + 1) the one that ended first, so that it doesn't matter in which order buckets are added. */
static inline bool strobe_encode_goes_first(const struct strobe_encoder *enc, uint32_t loc,
                                            uint64_t end, const struct strobe_lod_bucket *than)
{
    STROBE_ASSERT(loc && loc <= enc->n_locs && than->loc && than->loc <= enc->n_locs);
    return loc == than->loc ? end < than->end : enc->locs[loc - 1] < enc->locs[than->loc - 1];
}

/* Halve the resolution: neighbours are added. */
void strobe_encode_coarsen(struct strobe_encoder *enc);
/* A zone was open at `depth` from `from` to `to`, both within the part. */
void strobe_encode_busy(struct strobe_encoder *enc, uint32_t depth, uint64_t from, uint64_t to);
/* What the part looks like from afar: logged for the writer, if the block gets into the file. */
void strobe_encode_log_part(struct strobe_encoder *enc);
/* Zones that stay open were open up to the part's last event. */
void strobe_encode_cover_open_zones(struct strobe_encoder *enc);

static inline bool strobe_encode_bucket_is_used(const struct strobe_lod_bucket *bucket)
{
    return bucket->count || bucket->busy;
}

/* Index of the bucket of `tick`, after coarsening until it fits. */
static inline uint32_t strobe_encode_lod_index(struct strobe_encoder *enc, uint64_t tick)
{
    STROBE_ASSERT(tick >= enc->first_tick);
    for (;;) {
        uint64_t i = (tick >> enc->lod_shift) - enc->lod_base;
        if (__builtin_expect(i < STROBE_LOD_BUCKETS, 1)) {
            if (i >= enc->lod_used)
                enc->lod_used = (uint32_t)i + 1;
            return (uint32_t)i;
        }
        strobe_encode_coarsen(enc);
    }
}

/* Rows of the level of detail down to `depth`. */
static inline void strobe_encode_lod_rows(struct strobe_encoder *enc, uint32_t depth)
{
    STROBE_ASSERT(depth < STROBE_LOD_DEPTHS);
    while (enc->lod_depths <= depth)
        memset(enc->lod[enc->lod_depths++], 0, sizeof enc->lod[0]);
}

#endif
