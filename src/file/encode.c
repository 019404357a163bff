/* encode.c - events to columns, and their summaries on the way.
 *
 * Per event there are three byte stores (symbol, two bytes of the time difference); what does not
 * fit goes to the side streams. A zone that ends is paired here once: its sums, its histogram
 * bucket and its level-of-detail bucket are all that is kept of the pairing, the file itself has
 * begin and end in the order they came.
 *
 * The level of detail starts fine and is halved whenever its 64 buckets run out: buckets are cut
 * at powers of two, so adding neighbours is exact.  SPDX-License-Identifier: MIT */
#include "file/encode.h"

#include <stdlib.h>
#include <string.h>

#include "wire/ring_layout.h"

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
    enc->locs = malloc(STROBE_BLOCK_EVENTS_MAX * sizeof *enc->locs);
    enc->dict = calloc(STROBE_DICT_SIZE, sizeof *enc->dict);
    enc->cap_listed = 1024;
    enc->listed = malloc(enc->cap_listed * sizeof *enc->listed);
    enc->sums = calloc(STROBE_STAT_LOCS, sizeof *enc->sums);
    enc->histograms = calloc((size_t)STROBE_STAT_LOCS * STROBE_HIST_BUCKETS, sizeof(uint32_t));
    enc->lod = calloc(STROBE_LOD_DEPTHS, sizeof *enc->lod);
    if (!enc->sym || !enc->dt || !enc->lo || !enc->hi || !enc->big || !enc->side || !enc->head ||
        !enc->locs || !enc->dict || !enc->listed || !enc->sums || !enc->histograms || !enc->lod) {
        strobe_encode_free(enc);
        return STROBE_ERR_NOMEM;
    }
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
    free(enc->locs);
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
    enc->big_at = enc->big;
    enc->side_at = enc->side;
    enc->n_events = 0;
    enc->n_parts = 0;
    enc->n_zones = 0;
    enc->n_head = 0;
    enc->tick_min = ~0ull;
    enc->tick_max = 0;
    enc->failed = false;
    enc->track = NULL;
    enc->block++;
    strobe_lod_log_reset(&enc->log);
    memset(enc->by_kind, 0, sizeof enc->by_kind);
}

/* ---- the head: varints in a growing buffer ---- */

static bool head_room(struct strobe_encoder *enc, size_t n)
{
    if (enc->n_head + n <= enc->cap_head)
        return true;
    size_t cap = 2 * (enc->cap_head + n);
    uint8_t *head = realloc(enc->head, cap);
    if (!head) {
        enc->failed = true;
        return false;
    }
    enc->head = head;
    enc->cap_head = cap;
    return true;
}

static void put(struct strobe_encoder *enc, uint64_t value)
{
    if (head_room(enc, STROBE_VARINT_MAX))
        enc->n_head = (size_t)(strobe_varint_put(enc->head + enc->n_head, value) - enc->head);
}

/* ---- level of detail ---- */

/* Of two locations (index + 1) with zones of the same length the one with the lower id is named, so
 * that it doesn't matter in which order buckets are added. */
static inline bool goes_first(const struct strobe_encoder *enc, uint32_t loc, uint32_t than)
{
    return enc->locs[loc - 1] < enc->locs[than - 1];
}

static void merge_bucket(const struct strobe_encoder *enc, struct strobe_lod_bucket *into,
                         const struct strobe_lod_bucket *from)
{
    into->count += from->count;
    into->busy += from->busy;
    if (from->loc && (!into->loc || from->longest > into->longest ||
                      (from->longest == into->longest && goes_first(enc, from->loc, into->loc)))) {
        into->longest = from->longest;
        into->loc = from->loc;
    }
}

/* Halve the resolution: neighbours are added. */
static void coarsen(struct strobe_encoder *enc)
{
    uint64_t new_base = enc->lod_base >> 1;
    uint32_t new_used =
        enc->lod_used ? (uint32_t)(((enc->lod_base + enc->lod_used - 1) >> 1) - new_base) + 1 : 0;
    for (uint32_t d = 0; d < enc->lod_depths; d++) {
        struct strobe_lod_bucket *row = enc->lod[d];
        for (uint32_t i = 0; i < enc->lod_used; i++) {
            uint32_t to = (uint32_t)(((enc->lod_base + i) >> 1) - new_base);
            if (to == i)
                continue;
            struct strobe_lod_bucket from = row[i];
            memset(&row[i], 0, sizeof row[i]);
            merge_bucket(enc, &row[to], &from);
        }
    }
    enc->lod_base = new_base;
    enc->lod_used = new_used;
    enc->lod_shift++;
}

/* Index of the bucket of `tick`, after coarsening until it fits. */
static inline uint32_t lod_index(struct strobe_encoder *enc, uint64_t tick)
{
    for (;;) {
        uint64_t i = (tick >> enc->lod_shift) - enc->lod_base;
        if (__builtin_expect(i < STROBE_LOD_BUCKETS, 1)) {
            if (i >= enc->lod_used)
                enc->lod_used = (uint32_t)i + 1;
            return (uint32_t)i;
        }
        coarsen(enc);
    }
}

/* A zone was open at `depth` from `from` to `to`, both within the part. */
static void lod_busy(struct strobe_encoder *enc, uint32_t depth, uint64_t from, uint64_t to)
{
    uint32_t last = lod_index(enc, to);
    uint32_t i = (uint32_t)((from >> enc->lod_shift) - enc->lod_base);
    struct strobe_lod_bucket *row = enc->lod[depth];
    for (; i < last; i++) {
        uint64_t end = (enc->lod_base + i + 1) << enc->lod_shift;
        row[i].busy += end - from;
        from = end;
    }
    row[last].busy += to - from;
}

/* ---- blocks that were given up ---- */

void strobe_encode_give_up(struct strobe_encoder *enc)
{
    struct strobe_lost_run *last = enc->n_lost ? &enc->lost[enc->n_lost - 1] : NULL;
    if (enc->n_lost > STROBE_LOST_RUNS)
        ; /* it can't be told any more */
    else if (last && last->last + 1 == enc->block)
        last->last++;
    else if (enc->n_lost++ < STROBE_LOST_RUNS)
        enc->lost[enc->n_lost - 1] = (struct strobe_lost_run){enc->block, enc->block};
    strobe_encode_reset(enc);
}

static bool was_given_up(const struct strobe_encoder *enc, uint64_t block)
{
    for (uint32_t i = 0; i < enc->n_lost && i < STROBE_LOST_RUNS; i++)
        if (block >= enc->lost[i].first && block <= enc->lost[i].last)
            return true;
    return false;
}

/* Where the time without events before the part at hand begins: at the track's last part that is in the file. */
static uint64_t gap_from(const struct strobe_encoder *enc, struct strobe_track *track)
{
    if (track->block == enc->block)
        return track->last_tick;
    if (!was_given_up(enc, track->block))
        track->kept_tick = track->last_tick;
    track->block = enc->block;
    return track->kept_tick;
}

/* ---- parts ---- */

void strobe_encode_begin_part(struct strobe_encoder *enc, struct strobe_track *track, uint64_t proc,
                              uint64_t track_id, uint64_t pos)
{
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
    enc->low = enc->start_depth = track->depth;
    enc->low_child = track->depth ? track->stack[track->depth - 1].child : 0;
    enc->n_listed = 0;
    enc->too_many_locs = false;
    enc->lod_shift = track->lod_shift > 2 ? track->lod_shift - 2 : 6;
    enc->lod_depths = 0;
    enc->lod_used = 0;
}

static void first_event(struct strobe_encoder *enc, uint64_t tick)
{
    enc->first_tick = enc->prev_tick = tick;
    enc->lod_base = tick >> enc->lod_shift;
}

static inline void put_time(struct strobe_encoder *enc, uint64_t tick, uint8_t sym)
{
    if (__builtin_expect(!enc->part_events++, 0))
        first_event(enc, tick);
    uint64_t difference = tick - enc->prev_tick;
    uint32_t i = enc->n_events++;
    enc->prev_tick = tick;
    enc->sym[i] = sym;
    if (difference >= 65535) {
        enc->dt[i] = 0xffff;
        enc->big_at = strobe_varint_put(enc->big_at, strobe_zigzag((int64_t)difference));
        return;
    }
    enc->dt[i] = (uint16_t)difference;
}

void strobe_encode_split(struct strobe_encoder *enc)
{
    const uint16_t *dt = enc->dt;
    uint8_t *restrict lo = enc->lo, *restrict hi = enc->hi;
    for (uint32_t i = 0; i < enc->n_events; i++) {
        lo[i] = (uint8_t)dt[i];
        hi[i] = (uint8_t)(dt[i] >> 8);
    }
}

/* Index of `loc` in the part's list. */
static inline uint32_t dict_index(struct strobe_encoder *enc, uint64_t loc)
{
    uint32_t at = (uint32_t)((loc * 0x9e3779b97f4a7c15ull) >> 47);
    for (;; at = (at + 1) & (STROBE_DICT_SIZE - 1)) {
        struct strobe_dict_entry *entry = &enc->dict[at];
        if (__builtin_expect(entry->serial == enc->serial, 1)) {
            if (entry->loc == loc)
                return entry->index;
            continue;
        }
        *entry = (struct strobe_dict_entry){loc, enc->serial, enc->n_locs};
        enc->locs[enc->n_locs] = loc;
        if (enc->n_locs >= STROBE_STAT_LOCS)
            enc->too_many_locs = true;
        else
            enc->sums[enc->n_locs].count = 0;
        return enc->n_locs++;
    }
}

static bool grow_stack(struct strobe_track *track)
{
    if (track->depth >= STROBE_STACK_MAX)
        return false;
    uint32_t cap = track->cap ? 2 * track->cap : 16;
    struct strobe_open_zone *stack = realloc(track->stack, cap * sizeof *stack);
    if (!stack)
        return false;
    track->stack = stack;
    track->cap = cap;
    return true;
}

void strobe_encode_zone_begin(struct strobe_encoder *enc, uint64_t tick, uint64_t loc)
{
    struct strobe_track *track = enc->track;
    uint32_t index = dict_index(enc, loc);
    if (__builtin_expect(index < STROBE_SYM_BEGIN_DIRECT, 1)) {
        put_time(enc, tick, (uint8_t)(STROBE_SYM_BEGIN + index));
    } else {
        put_time(enc, tick, STROBE_SYM_BEGIN_FAR);
        enc->side_at = strobe_varint_put(enc->side_at, index);
    }
    enc->by_kind[STROBE_KIND_ZONE_BEGIN]++;
    if (__builtin_expect(track->fiber != 0, 0))
        return;
    if (__builtin_expect(track->depth == track->cap, 0) && !grow_stack(track))
        return; /* its end will be told as lost */
    track->stack[track->depth++] = (struct strobe_open_zone){loc, tick, 0, index, enc->serial};
}

/* The entry on top was open when the part started and ends now: it must be listed. */
static void list_entry(struct strobe_encoder *enc, const struct strobe_open_zone *zone)
{
    struct strobe_track *track = enc->track;
    if (enc->n_listed == enc->cap_listed) {
        struct strobe_open_zone *more =
            realloc(enc->listed, 2 * enc->cap_listed * sizeof *enc->listed);
        if (!more) {
            enc->failed = true;
            return;
        }
        enc->listed = more;
        enc->cap_listed *= 2;
    }
    enc->listed[enc->n_listed] = *zone;
    enc->listed[enc->n_listed++].child = enc->low_child;
    enc->low = track->depth;
    enc->low_child = track->depth ? track->stack[track->depth - 1].child : 0;
}

static inline void sum_zone(struct strobe_loc_sum *sum, uint64_t duration, uint64_t self)
{
    if (__builtin_expect(!sum->count, 0)) {
        sum->total = sum->self = sum->max = 0;
        sum->min = ~0ull;
        sum->squares = 0;
        memset(sum->histogram, 0, STROBE_HIST_BUCKETS * sizeof *sum->histogram);
    }
    sum->count++;
    sum->total += duration;
    sum->self += self;
    if (duration < sum->min)
        sum->min = duration;
    if (duration > sum->max)
        sum->max = duration;
    sum->squares += (unsigned __int128)duration * duration;
    sum->histogram[strobe_hist_bucket(duration)]++;
}

static inline void count_in_bucket(const struct strobe_encoder *enc,
                                   struct strobe_lod_bucket *bucket, uint32_t index,
                                   uint64_t duration)
{
    bucket->count++;
    if (__builtin_expect(duration > bucket->longest || !bucket->loc, 0) ||
        __builtin_expect(duration == bucket->longest && goes_first(enc, index + 1, bucket->loc),
                         0)) {
        bucket->longest = duration;
        bucket->loc = index + 1;
    }
}

static inline void lod_zone(struct strobe_encoder *enc, uint32_t depth, uint32_t index,
                            uint64_t begin, uint64_t end, uint64_t duration)
{
    if (depth >= STROBE_LOD_DEPTHS)
        return;
    while (enc->lod_depths <= depth)
        memset(enc->lod[enc->lod_depths++], 0, sizeof enc->lod[0]);
    uint64_t from = begin > enc->first_tick ? begin : enc->first_tick;
    uint64_t to = end > enc->first_tick ? end : enc->first_tick;
    struct strobe_lod_bucket *bucket = &enc->lod[depth][lod_index(enc, to)];
    count_in_bucket(enc, bucket, index, duration);
    if (__builtin_expect((from >> enc->lod_shift) == (to >> enc->lod_shift), 1))
        bucket->busy += to > from ? to - from : 0;
    else if (to > from)
        lod_busy(enc, depth, from, to);
}

/* Pop the top zone; it ended at `tick`. */
static inline void finish_zone(struct strobe_encoder *enc, uint64_t tick)
{
    struct strobe_track *track = enc->track;
    struct strobe_open_zone *zone = &track->stack[--track->depth];
    uint32_t index = zone->serial == enc->serial ? zone->dict : dict_index(enc, zone->loc);
    uint64_t duration = tick > zone->begin ? tick - zone->begin : 0;
    uint64_t self = duration > zone->child ? duration - zone->child : 0;
    if (__builtin_expect(track->depth < enc->low, 0))
        list_entry(enc, zone);
    if (track->depth)
        track->stack[track->depth - 1].child += duration;
    enc->n_zones++;
    if (__builtin_expect(index < STROBE_STAT_LOCS, 1))
        sum_zone(&enc->sums[index], duration, self);
    lod_zone(enc, track->depth, index, zone->begin, tick, duration);
}

/* Pop the top zone; its end is missing. It was open until now, but is in no sum. */
static void abandon_zone(struct strobe_encoder *enc, uint64_t tick)
{
    struct strobe_track *track = enc->track;
    struct strobe_open_zone *zone = &track->stack[--track->depth];
    if (track->depth < enc->low)
        list_entry(enc, zone);
    uint64_t from = zone->begin > enc->first_tick ? zone->begin : enc->first_tick;
    if (track->depth >= STROBE_LOD_DEPTHS || tick <= from)
        return;
    while (enc->lod_depths <= track->depth)
        memset(enc->lod[enc->lod_depths++], 0, sizeof enc->lod[0]);
    lod_busy(enc, track->depth, from, tick);
}

/* ---- zones that end in any order ---- */

/* Kept in `serial`, whose parts are far fewer: such a zone is looked up in the part's list anew. */
#define LOOSE (1u << 31)

/* Whether the end of the zone below the `n_above` on top leaves those open: it or one of them may end
 * in any order. Else their ends are missing. */
static bool leaves_others_open(const struct strobe_track *track, uint32_t n_above)
{
    for (uint32_t i = 0; i <= n_above; i++)
        if (track->stack[track->depth - 1 - i].serial & LOOSE)
            return true;
    return false;
}

/* List every zone that was open when the part started, down to the one at `at`. */
static void list_down_to(struct strobe_encoder *enc, uint32_t at)
{
    struct strobe_track *track = enc->track;
    uint32_t depth = track->depth;
    while (enc->low > at && !enc->failed) {
        track->depth = enc->low - 1; /* list_entry looks at what is below the one it lists */
        list_entry(enc, &track->stack[track->depth]);
        track->stack[track->depth].dict = UINT32_MAX; /* of an earlier part: not for the fast way */
    }
    track->depth = depth;
}

/* The zone below the `n_above` on top ends; those move down by one. */
static void end_under(struct strobe_encoder *enc, uint64_t tick, uint32_t n_above)
{
    struct strobe_track *track = enc->track;
    uint32_t at = track->depth - 1 - n_above;
    put_time(enc, tick, STROBE_KIND_ZONE_END_UNDER);
    enc->by_kind[STROBE_KIND_ZONE_END_UNDER]++;
    enc->side_at = strobe_varint_put(enc->side_at, n_above);
    list_down_to(enc, at);
    struct strobe_open_zone zone = track->stack[at];
    uint32_t index = dict_index(enc, zone.loc);
    uint64_t duration = tick > zone.begin ? tick - zone.begin : 0;
    if (at)
        track->stack[at - 1].child += duration;
    memmove(&track->stack[at], &track->stack[at + 1], n_above * sizeof zone);
    track->depth--;
    enc->n_zones++;
    if (index < STROBE_STAT_LOCS)
        sum_zone(&enc->sums[index], duration, duration > zone.child ? duration - zone.child : 0);
    lod_zone(enc, at, index, zone.begin, tick, duration);
}

void strobe_encode_zone_loose(struct strobe_encoder *enc, uint64_t tick)
{
    struct strobe_track *track = enc->track;
    strobe_encode_event(enc, tick, STROBE_KIND_ZONE_LOOSE, NULL, 0);
    if (track->depth && !track->fiber)
        track->stack[track->depth - 1].serial |= LOOSE;
}

/* An end that is not that of the top zone. */
static void end_elsewhere(struct strobe_encoder *enc, uint64_t tick, uint64_t loc)
{
    struct strobe_track *track = enc->track;
    uint32_t n_above = 0;
    if (!track->fiber)
        while (n_above < track->depth && track->stack[track->depth - 1 - n_above].loc != loc)
            n_above++;
    if (track->fiber || n_above == track->depth) {
        put_time(enc, tick, STROBE_KIND_ZONE_END_LOST);
        enc->by_kind[STROBE_KIND_ZONE_END_LOST]++;
        enc->side_at = strobe_varint_put(enc->side_at, loc);
        return;
    }
    if (leaves_others_open(track, n_above)) {
        end_under(enc, tick, n_above);
        return;
    }
    put_time(enc, tick, STROBE_KIND_ZONE_END_POP);
    enc->by_kind[STROBE_KIND_ZONE_END_POP]++;
    enc->side_at = strobe_varint_put(enc->side_at, n_above);
    for (uint32_t i = 0; i < n_above; i++)
        abandon_zone(enc, tick);
    finish_zone(enc, tick);
}

void strobe_encode_zone_end(struct strobe_encoder *enc, uint64_t tick, uint64_t loc)
{
    struct strobe_track *track = enc->track;
    if (__builtin_expect(!track->depth || track->fiber || track->stack[track->depth - 1].loc != loc,
                         0)) {
        end_elsewhere(enc, tick, loc);
        return;
    }
    put_time(enc, tick, STROBE_KIND_ZONE_END);
    enc->by_kind[STROBE_KIND_ZONE_END]++;
    finish_zone(enc, tick);
}

/* The hot loop of a recorder: what the functions above do one by one, with all that changes in
 * registers. It only takes what is simple, and leaves the rest where it is. */
const uint64_t *strobe_encode_words(struct strobe_encoder *enc, const uint64_t *at,
                                    const uint64_t *end, uint32_t epoch, uint64_t *prev_tick)
{
    struct strobe_track *track = enc->track;
    const uint64_t base = (uint64_t)epoch << 32;
    uint32_t n_room = STROBE_BLOCK_EVENTS_MAX - enc->n_events;
    if (track->fiber || !enc->part_events)
        return at;
    if ((uint64_t)(end - at) > n_room)
        end = at + n_room;
    const uint64_t *start = at;
    uint8_t *sym = enc->sym + enc->n_events;
    uint16_t *dt = enc->dt + enc->n_events;
    uint64_t prev = enc->prev_tick, n_begins = 0, last_loc = ~0ull;
    uint32_t last_index = 0, depth = track->depth, cap = track->cap;
    struct strobe_open_zone *stack = track->stack;
    const uint32_t serial = enc->serial, low = enc->low;
    struct strobe_loc_sum *const sums = enc->sums;
    uint64_t bucket_from = 1,
             bucket_end = 0; /* ticks of the bucket that `column` stands for; none yet */
    struct strobe_lod_bucket *column = NULL;
    uint32_t n_rows = enc->lod_depths;
    for (; at < end; at++) {
        __builtin_prefetch(at + 64);
        uint64_t word = __atomic_load_n(at, __ATOMIC_ACQUIRE);
        uint64_t tick = base | (uint32_t)word;
        uint64_t difference = tick - prev;
        uint64_t loc = (word >> 32) & STROBE_WORD_ID_MAX;
        if (__builtin_expect(difference >= 65535, 0))
            break; /* far, or back in time */
        if (STROBE_WORD_IS_BEGIN(word)) {
            if (__builtin_expect(loc != last_loc, 0)) {
                last_index = dict_index(enc, loc);
                last_loc = loc;
            }
            if (__builtin_expect(last_index >= STROBE_SYM_BEGIN_DIRECT || depth == cap,
                                 0)) /* < STAT_LOCS too */
                break;
            *sym++ = (uint8_t)(STROBE_SYM_BEGIN + last_index);
            *dt++ = (uint16_t)difference;
            prev = tick;
            n_begins++;
            stack[depth++] = (struct strobe_open_zone){loc, tick, 0, last_index, serial};
        } else if (__builtin_expect(STROBE_WORD_IS_END(word), 1)) {
            const struct strobe_open_zone *zone = &stack[depth - 1];
            if (__builtin_expect(depth <= low || zone->loc != loc || zone->dict >= STROBE_STAT_LOCS,
                                 0))
                break; /* from before this part, not the innermost, or without sums */
            *sym++ = STROBE_KIND_ZONE_END;
            *dt++ = (uint16_t)difference;
            prev = tick;
            depth--;
            uint64_t duration = tick - zone->begin, child = zone->child;
            if (depth)
                stack[depth - 1].child += duration;
            sum_zone(&sums[zone->dict], duration, duration - child);
            if (__builtin_expect(zone->begin >= bucket_from && tick < bucket_end && depth < n_rows,
                                 1)) {
                struct strobe_lod_bucket *bucket = column + (size_t)depth * STROBE_LOD_BUCKETS;
                bucket->busy += duration;
                count_in_bucket(enc, bucket, zone->dict, duration);
                continue;
            }
            lod_zone(enc, depth, zone->dict, zone->begin, tick, duration);
            uint32_t column_index = lod_index(enc, tick);
            column = &enc->lod[0][column_index];
            bucket_from = (enc->lod_base + column_index) << enc->lod_shift;
            bucket_end = bucket_from + (1ull << enc->lod_shift);
            bucket_from = bucket_from > enc->first_tick ? bucket_from : enc->first_tick;
            n_rows = enc->lod_depths;
        } else {
            break;
        }
    }
    uint32_t n = (uint32_t)(at - start);
    enc->n_events += n;
    enc->part_events += n;
    enc->prev_tick = *prev_tick = prev;
    enc->by_kind[STROBE_KIND_ZONE_BEGIN] += n_begins;
    enc->by_kind[STROBE_KIND_ZONE_END] += n - n_begins;
    enc->n_zones += n - n_begins;
    track->depth = depth;
    return at;
}

/* Its sister, for zones that come in another form than a ring's words. Where a zone fits into the
 * bucket that the last one ended in, that bucket is at hand. */
const struct strobe_zone_step *strobe_encode_steps(struct strobe_encoder *enc,
                                                   const struct strobe_zone_step *at,
                                                   const struct strobe_zone_step *end)
{
    struct strobe_track *track = enc->track;
    uint32_t n_room = STROBE_BLOCK_EVENTS_MAX - enc->n_events;
    if (track->fiber || !enc->part_events)
        return at;
    if ((uint64_t)(end - at) > n_room)
        end = at + n_room;
    const struct strobe_zone_step *start = at;
    uint8_t *sym = enc->sym + enc->n_events;
    uint16_t *dt = enc->dt + enc->n_events;
    uint64_t prev = enc->prev_tick, n_begins = 0, last_loc = STROBE_STEP_END;
    uint32_t last_index = 0, depth = track->depth, cap = track->cap;
    struct strobe_open_zone *stack = track->stack;
    const uint32_t serial = enc->serial, low = enc->low;
    uint64_t bucket_from = 1, bucket_end = 0; /* of `column`; none yet */
    struct strobe_lod_bucket *column = NULL;
    uint32_t n_rows = enc->lod_depths;
    for (; at < end; at++) {
        uint64_t tick = at->tick, loc = at->loc, difference = tick - prev;
        if (__builtin_expect(difference >= 65535, 0))
            break; /* far, or back in time */
        if (loc != STROBE_STEP_END) {
            if (__builtin_expect(loc != last_loc, 0)) {
                last_index = dict_index(enc, loc);
                last_loc = loc;
            }
            if (__builtin_expect(last_index >= STROBE_SYM_BEGIN_DIRECT || depth == cap, 0))
                break;
            *sym++ = (uint8_t)(STROBE_SYM_BEGIN + last_index);
            *dt++ = (uint16_t)difference;
            prev = tick;
            n_begins++;
            stack[depth++] = (struct strobe_open_zone){loc, tick, 0, last_index, serial};
            continue;
        }
        if (__builtin_expect(depth <= low, 0))
            break; /* one from before this part, or none */
        const struct strobe_open_zone *zone = &stack[depth - 1];
        if (__builtin_expect(tick < zone->begin || zone->dict >= STROBE_STAT_LOCS, 0))
            break;
        *sym++ = STROBE_KIND_ZONE_END;
        *dt++ = (uint16_t)difference;
        prev = tick;
        depth--;
        uint64_t duration = tick - zone->begin, child = zone->child;
        if (depth)
            stack[depth - 1].child += duration;
        sum_zone(&enc->sums[zone->dict], duration, duration > child ? duration - child : 0);
        if (__builtin_expect(zone->begin >= bucket_from && tick < bucket_end && depth < n_rows,
                             1)) {
            struct strobe_lod_bucket *bucket = column + (size_t)depth * STROBE_LOD_BUCKETS;
            bucket->busy += duration;
            count_in_bucket(enc, bucket, zone->dict, duration);
            continue;
        }
        lod_zone(enc, depth, zone->dict, zone->begin, tick, duration);
        if (tick < enc->first_tick)
            continue; /* ticks went back: it counts in the first bucket, which is not at hand */
        uint32_t column_index = lod_index(enc, tick);
        column = &enc->lod[0][column_index];
        bucket_from = (enc->lod_base + column_index) << enc->lod_shift;
        bucket_end = bucket_from + (1ull << enc->lod_shift);
        bucket_from = bucket_from > enc->first_tick ? bucket_from : enc->first_tick;
        n_rows = enc->lod_depths;
    }
    uint32_t n = (uint32_t)(at - start);
    enc->n_events += n;
    enc->part_events += n;
    enc->prev_tick = prev;
    enc->by_kind[STROBE_KIND_ZONE_BEGIN] += n_begins;
    enc->by_kind[STROBE_KIND_ZONE_END] += n - n_begins;
    enc->n_zones += n - n_begins;
    track->depth = depth;
    return at;
}

void strobe_encode_event(struct strobe_encoder *enc, uint64_t tick, enum strobe_kind kind,
                         const uint8_t *fields, size_t n_bytes)
{
    put_time(enc, tick, (uint8_t)kind);
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

/* ---- closing a part ---- */

/* Only the buckets from the shortest to the longest duration can be used. */
static void put_histogram(struct strobe_encoder *enc, const struct strobe_loc_sum *sum)
{
    const uint32_t *histogram = sum->histogram;
    uint32_t first = strobe_hist_bucket(sum->min), end = strobe_hist_bucket(sum->max) + 1;
    uint32_t n_used = 0, last = 0;
    for (uint32_t i = first; i < end; i++)
        n_used += histogram[i] != 0;
    put(enc, n_used);
    for (uint32_t i = first; i < end; i++) {
        if (!histogram[i])
            continue;
        put(enc, i - last);
        put(enc, histogram[i]);
        last = i;
    }
}

static void put_sums(struct strobe_encoder *enc)
{
    uint32_t n_used = 0;
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

static bool bucket_is_used(const struct strobe_lod_bucket *bucket)
{
    return bucket->count || bucket->busy;
}

static void put_lod(struct strobe_encoder *enc)
{
    put(enc, enc->lod_shift);
    put(enc, enc->lod_depths);
    for (uint32_t d = 0; d < enc->lod_depths; d++) {
        const struct strobe_lod_bucket *row = enc->lod[d];
        uint32_t n_used = 0, last = 0;
        for (uint32_t i = 0; i < enc->lod_used; i++)
            n_used += bucket_is_used(&row[i]);
        put(enc, n_used);
        for (uint32_t i = 0; i < enc->lod_used; i++) {
            if (!bucket_is_used(&row[i]))
                continue;
            put(enc, i - last);
            put(enc, row[i].count);
            put(enc, row[i].busy);
            put(enc, row[i].longest);
            put(enc, row[i].loc);
            last = i;
        }
    }
}

/* Zones that stay open were open up to the part's last event. */
static void cover_open_zones(struct strobe_encoder *enc)
{
    const struct strobe_track *track = enc->track;
    uint32_t depth = track->depth < STROBE_LOD_DEPTHS ? track->depth : STROBE_LOD_DEPTHS;
    while (enc->lod_depths < depth)
        memset(enc->lod[enc->lod_depths++], 0, sizeof enc->lod[0]);
    for (uint32_t d = 0; d < depth; d++) {
        uint64_t begin = track->stack[d].begin;
        uint64_t from = begin > enc->first_tick ? begin : enc->first_tick;
        if (enc->prev_tick > from)
            lod_busy(enc, d, from, enc->prev_tick);
    }
}

/* Buckets of a row that are used when `by` neighbours twice are added. */
static uint32_t n_used_at(const struct strobe_encoder *enc, uint32_t depth, uint32_t by)
{
    const struct strobe_lod_bucket *row = enc->lod[depth];
    uint64_t last = ~0ull;
    uint32_t n = 0;
    for (uint32_t i = 0; i < enc->lod_used; i++) {
        uint64_t bucket = (enc->lod_base + i) >> by;
        if (!bucket_is_used(&row[i]) || bucket == last)
            continue;
        last = bucket;
        n++;
    }
    return n;
}

/* Cells of one depth that the part may log. */
static uint32_t cells_to_log(const struct strobe_encoder *enc)
{
    uint32_t n = STROBE_LOD_PART_CELLS * (1 + enc->part_events / 8192);
    return n < STROBE_LOD_BUCKETS ? n : (uint32_t)STROBE_LOD_BUCKETS;
}

/* How much wider than the part's own the buckets of its log are. */
static uint32_t log_width(const struct strobe_encoder *enc)
{
    uint32_t most = cells_to_log(enc), by = 0;
    for (uint32_t d = 0; d < enc->lod_depths; d++)
        while (n_used_at(enc, d, by) > most)
            by++;
    return by;
}

static void log_cell(struct strobe_encoder *enc, struct strobe_lod_part *part, uint32_t depth,
                     uint64_t bucket, const struct strobe_lod_bucket *from)
{
    struct strobe_lod_log *log = &enc->log;
    struct strobe_lod_cell *last = &log->cells[log->n_cells - 1];
    uint64_t loc = from->loc ? enc->locs[from->loc - 1] + 1 : 0;
    if (!part->n_cells || last->depth != depth || last->bucket != bucket) {
        log->cells[log->n_cells++] = (struct strobe_lod_cell){
            bucket, from->busy, from->longest, loc, (uint32_t)from->count, depth};
        part->n_cells++;
        return;
    }
    last->count += (uint32_t)from->count;
    last->busy += from->busy;
    if (loc && (!last->loc || from->longest > last->longest ||
                (from->longest == last->longest && loc < last->loc))) {
        last->longest = from->longest;
        last->loc = loc;
    }
}

/* Log what the part looks like from afar: for the writer, if the block gets into the file. */
static void log_part(struct strobe_encoder *enc)
{
    struct strobe_track *track = enc->track;
    struct strobe_lod_log *log = &enc->log;
    uint64_t before = gap_from(enc, track);
    uint32_t n_open = track->depth < STROBE_LOD_OPEN ? track->depth : (uint32_t)STROBE_LOD_OPEN;
    uint32_t by = log_width(enc);
    log->failed |= enc->n_lost > STROBE_LOST_RUNS;
    if (!strobe_lod_log_reserve(log, enc->lod_depths * cells_to_log(enc), n_open))
        return;
    struct strobe_lod_part *part = &log->parts[log->n_parts++];
    *part = (struct strobe_lod_part){
        .proc = enc->proc,
        .track = enc->track_id,
        .gap_from = before ? before : enc->first_tick,
        .first_tick = enc->first_tick,
        .last_tick = enc->prev_tick,
        .n_events = enc->part_events,
        .n_zones = (uint32_t)(enc->n_zones - enc->zones_before),
        .start_depth = enc->start_depth,
        .low = enc->low,
        .end_depth = track->depth,
        .shift = enc->lod_shift + by,
        .n_open = n_open,
    };
    for (uint32_t d = 0; d < enc->lod_depths; d++)
        for (uint32_t i = 0; i < enc->lod_used; i++)
            if (bucket_is_used(&enc->lod[d][i]))
                log_cell(enc, part, d, (enc->lod_base + i) >> by, &enc->lod[d][i]);
    for (uint32_t i = 0; i < n_open; i++)
        log->open[log->n_open++] =
            (struct strobe_lod_open){track->stack[i].loc, track->stack[i].begin};
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

void strobe_encode_end_part(struct strobe_encoder *enc, uint64_t n_words)
{
    if (!enc->part_events && !n_words) {
        enc->track = NULL;
        return;
    }
    if (!enc->part_events)
        first_event(enc, enc->track->last_tick);
    bool summary = enc->part_events >= STROBE_SUMMARY_MIN_EVENTS && !enc->too_many_locs;
    if (enc->part_events) {
        cover_open_zones(enc);
        log_part(enc);
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
    put(enc, summary);
    if (summary) {
        put_sums(enc);
        put_lod(enc);
        enc->track->lod_shift = enc->lod_shift;
    }
    if (enc->part_events) {
        uint64_t begin = lowest_begin(enc);
        enc->tick_min = begin < enc->tick_min ? begin : enc->tick_min;
        enc->tick_max = enc->prev_tick > enc->tick_max ? enc->prev_tick : enc->tick_max;
        enc->track->last_tick = enc->prev_tick;
    }
    enc->n_parts++;
    enc->track = NULL;
}
