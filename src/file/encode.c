/* encode.c - events to columns, and their summaries on the way.
 *
 * Per event there are three byte stores (symbol, two bytes of the time difference); what does not
 * fit goes to the side streams. A zone that ends is paired here once: its sums, its histogram
 * bucket and its level-of-detail bucket are all that is kept of the pairing, the file itself has
 * begin and end in the order they came.
 *
 * This file has the block, its parts and its events other than zones; the others are listed in
 * encode_internal.h.  SPDX-License-Identifier: MIT */
#include "file/encode_internal.h"

#include <stdlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/array.h"

enum { FIRST_SHIFT = 6 }; /* of a track's first part */

enum strobe_err strobe_encode_init(struct strobe_encoder *enc)
{
    memset(enc, 0, sizeof *enc);
    enc->sym = malloc(STROBE_BLOCK_EVENTS_MAX);
    enc->dt = malloc(STROBE_BLOCK_EVENTS_MAX * sizeof *enc->dt);
    enc->lo = malloc(STROBE_BLOCK_EVENTS_MAX);
    enc->hi = malloc(STROBE_BLOCK_EVENTS_MAX);
    enc->big = malloc(STROBE_BIG_BYTES);
    enc->side = malloc(STROBE_SIDE_BYTES);
    enc->cap_head = 1 << 16;
    enc->head = malloc(enc->cap_head);
    enc->cap_ends = 1 << 14;
    enc->ends = malloc(enc->cap_ends);
    enc->cap_nested = 1 << 10;
    enc->nested = malloc(enc->cap_nested);
    enc->locs = malloc(STROBE_BLOCK_EVENTS_MAX * sizeof *enc->locs);
    enc->depths = malloc(STROBE_BLOCK_EVENTS_MAX * sizeof *enc->depths);
    enc->nests = malloc(STROBE_BLOCK_EVENTS_MAX * sizeof *enc->nests);
    enc->dict = calloc(STROBE_DICT_SIZE, sizeof *enc->dict);
    enc->cap_listed = 1024;
    enc->listed = malloc(enc->cap_listed * sizeof *enc->listed);
    enc->sums = aligned_alloc(64, STROBE_STAT_LOCS * sizeof *enc->sums);
    enc->histograms = calloc((size_t)STROBE_STAT_LOCS * STROBE_HIST_BUCKETS, sizeof(uint32_t));
    enc->lod = calloc(STROBE_LOD_DEPTHS, sizeof *enc->lod);
    if (!enc->sym || !enc->dt || !enc->lo || !enc->hi || !enc->big || !enc->side || !enc->head ||
        !enc->ends || !enc->nested || !enc->locs || !enc->depths || !enc->nests || !enc->dict ||
        !enc->listed || !enc->sums || !enc->histograms || !enc->lod) {
        strobe_encode_free(enc);
        return STROBE_ERR_NOMEM;
    }
    memset(enc->sums, 0, STROBE_STAT_LOCS * sizeof *enc->sums);
    for (int i = 0; i < STROBE_STAT_LOCS; i++)
        enc->sums[i].histogram = enc->histograms + (size_t)i * STROBE_HIST_BUCKETS;
    strobe_encode_reset(enc);
    return STROBE_OK;
}

void strobe_encode_free(struct strobe_encoder *enc)
{
    free(enc->sym);
    free(enc->dt);
    free(enc->lo);
    free(enc->hi);
    free(enc->big);
    free(enc->side);
    free(enc->head);
    free(enc->ends);
    free(enc->nested);
    free(enc->locs);
    free(enc->depths);
    free(enc->nests);
    free(enc->dict);
    free(enc->listed);
    free(enc->sums);
    free(enc->histograms);
    free(enc->lod);
    strobe_lod_log_free(&enc->log);
    memset(enc, 0, sizeof *enc);
}

void strobe_track_free(struct strobe_track *track)
{
    free(track->stack);
    memset(track, 0, sizeof *track);
}

void strobe_encode_reset(struct strobe_encoder *enc)
{
    STROBE_ASSERT(enc->sym && enc->head); /* between init and free */
    STROBE_ASSERT(!enc->track);           /* all parts are ended: their histograms are zero */
    enc->big_at = enc->big;
    enc->side_at = enc->side;
    enc->n_events = 0;
    enc->n_parts = 0;
    enc->n_zones = 0;
    enc->n_head = 0;
    enc->n_ends = 0;
    enc->n_nested = 0;
    enc->tick_min = ~0ull;
    enc->tick_max = 0;
    enc->failed = false;
    enc->track = NULL;
    enc->block++;
    strobe_lod_log_reset(&enc->log);
    memset(enc->by_kind, 0, sizeof enc->by_kind);
}

bool strobe_encode_grow(struct strobe_encoder *enc, uint8_t **bytes, size_t n_used, size_t *cap,
                        size_t n)
{
    if (!STROBE_ARRAY_RESERVE(*bytes, *cap, (uint64_t)n_used + n))
        return true;
    enc->failed = true;
    return false;
}

/* ---- blocks that were given up ---- */

void strobe_encode_give_up(struct strobe_encoder *enc)
{
    struct strobe_lost_run *last =
        enc->n_lost && enc->n_lost <= STROBE_LOST_RUNS ? &enc->lost[enc->n_lost - 1] : NULL;
    STROBE_ASSERT(!last || (last->first <= last->last && last->last < enc->block));
    if (enc->n_lost > STROBE_LOST_RUNS)
        ; /* it can't be recorded any more */
    else if (last && last->last + 1 == enc->block)
        last->last++;
    else if (enc->n_lost++ < STROBE_LOST_RUNS)
        enc->lost[enc->n_lost - 1] = (struct strobe_lost_run){enc->block, enc->block};
    strobe_encode_reset(enc);
}

bool strobe_encode_was_given_up(const struct strobe_encoder *enc, uint64_t block)
{
    for (uint32_t i = 0; i < enc->n_lost && i < STROBE_LOST_RUNS; i++)
        if (block >= enc->lost[i].first && block <= enc->lost[i].last)
            return true;
    return false;
}

/* ---- parts ---- */

void strobe_encode_begin_part(struct strobe_encoder *enc, struct strobe_track *track, uint64_t proc,
                              uint64_t track_id, uint64_t pos)
{
    STROBE_ASSERT(!enc->track); /* the part before was ended */
    STROBE_ASSERT(track->depth <= track->cap && (track->stack || !track->cap));
    STROBE_ASSERT(enc->n_events <= STROBE_BLOCK_EVENTS_MAX);
    enc->track = track;
    enc->proc = proc;
    enc->track_id = track_id;
    enc->pos = pos;
    enc->fiber_at_start = track->fiber;
    enc->part_events = 0;
    enc->part_start = enc->n_events;
    enc->zones_before = enc->n_zones;
    enc->part_big = enc->big_at;
    enc->part_side = enc->side_at;
    enc->serial++;
    enc->n_locs = 0;
    enc->has_nested = enc->lacks_nested = false;
    enc->low = enc->start_depth = track->depth;
    enc->low_child = track->depth ? track->stack[track->depth - 1].child : 0;
    enc->n_listed = 0;
    enc->too_many_locs = false;
    enc->lod_shift = enc->first_shift = track->lod_shift ? track->lod_shift : FIRST_SHIFT;
    enc->lod_depths = 0;
    enc->lod_used = 0;
}

void strobe_encode_split(struct strobe_encoder *enc)
{
    STROBE_ASSERT(enc->n_events <= STROBE_BLOCK_EVENTS_MAX);
    const uint16_t *dt = enc->dt;
    uint8_t *restrict lo = enc->lo, *restrict hi = enc->hi;
    uint32_t i = 0;
#ifdef __SSE2__
    const __m128i low = _mm_set1_epi16(0xff);
    for (; i + 16 <= enc->n_events; i += 16) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(dt + i));
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(dt + i + 8));
        _mm_storeu_si128((__m128i *)(void *)(lo + i),
                         _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low)));
        _mm_storeu_si128((__m128i *)(void *)(hi + i),
                         _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8)));
    }
#endif
    for (; i < enc->n_events; i++) {
        lo[i] = (uint8_t)dt[i];
        hi[i] = (uint8_t)(dt[i] >> 8);
    }
}

void strobe_encode_event(struct strobe_encoder *enc, uint64_t tick, enum strobe_kind kind,
                         const uint8_t *fields, size_t n_bytes)
{
    STROBE_ASSERT(kind > STROBE_KIND_ZONE_END_POP && kind < STROBE_KIND_ZONE_BEGIN);
    STROBE_ASSERT(n_bytes <= STROBE_SIDE_BYTES / 4);
    STROBE_ASSERT(n_bytes <= STROBE_SIDE_BYTES - (size_t)(enc->side_at - enc->side));
    strobe_encode_put_time(enc, tick, (uint8_t)kind);
    enc->by_kind[kind]++;
    if (n_bytes) /* a kind without fields may come without bytes */
        memcpy(enc->side_at, fields, n_bytes);
    enc->side_at += n_bytes;
    if (kind == STROBE_KIND_FIBER_ENTER) {
        struct strobe_bytes in = strobe_bytes_over(fields, n_bytes);
        enc->track->fiber = strobe_get_varint(&in);
    } else if (kind == STROBE_KIND_FIBER_LEAVE) {
        enc->track->fiber = 0;
    }
}
