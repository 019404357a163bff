/* encode_zones.c - begins and ends of zones: paired here once, for sums, histogram and level of detail.
 *
 * One by one (strobe_encode_zone_begin, _end), in any order and of any kind; and in runs, as a ring's
 * words or as steps in memory, where one loop serves both forms.  SPDX-License-Identifier: MIT */
#include "file/encode_internal.h"

#include "base/array.h"
#include "wire/ring_layout.h"

static bool grow_stack(struct strobe_track *track)
{
    STROBE_ASSERT(track->depth == track->cap);
    if (track->depth >= STROBE_STACK_MAX)
        return false;
    uint32_t cap = track->cap ? 2 * track->cap : 16;
    struct strobe_open_zone *stack = strobe_array_resize(track->stack, cap, sizeof *stack);
    if (!stack)
        return false;
    track->stack = stack;
    track->cap = cap;
    return true;
}

/* ---- zones in zones of their location ---- */

/* In `dict` of a zone whose location is counted: such a zone is not for the fast way. */
#define COUNTED (1u << 31)

static inline bool is_counted(const struct strobe_encoder *enc, uint32_t index)
{
    return enc->depths[index] == STROBE_DEPTH_COUNTED;
}

/* Entries of earlier parts are below start_depth: they never move up. Those of this part have their locations in the list
 * already, so none of them is found here. */
uint32_t strobe_encode_first_depth(struct strobe_encoder *enc, uint64_t loc)
{
    const struct strobe_open_zone *stack = enc->track->stack;
    uint32_t depth = enc->track->depth, n = 0, at = STROBE_DEPTH_NONE;
    uint32_t end = enc->start_depth < depth ? enc->start_depth : depth;
    if (end > STROBE_NESTED_SEEK) {
        enc->lacks_nested = true;
        enc->nests[enc->n_locs] = (struct strobe_loc_nest){0, end}; /* not too few */
        return STROBE_DEPTH_COUNTED;
    }
    for (uint32_t i = 0; i < end; i++)
        if (stack[i].loc == loc) {
            at = i;
            n++;
        }
    enc->nests[enc->n_locs] = (struct strobe_loc_nest){0, n};
    return n > 1 ? STROBE_DEPTH_COUNTED : at;
}

/* Index of a location in the part's list; UINT32_MAX: it is not there. */
static uint32_t find_listed(const struct strobe_encoder *enc, uint64_t loc)
{
    uint32_t at = STROBE_DICT_PLACE(loc);
    while (enc->dict[at].serial == enc->serial && enc->dict[at].loc != loc)
        at = (at + 1) & (STROBE_DICT_SIZE - 1);
    return enc->dict[at].serial == enc->serial ? enc->dict[at].index : UINT32_MAX;
}

/* The zones of a location are counted from now on: it is not found at once any more. */
static void set_counted(struct strobe_encoder *enc, uint32_t index, uint32_t n_open)
{
    struct strobe_near_loc *near = &enc->near[enc->locs[index] % STROBE_NEAR_LOCS];
    STROBE_ASSERT(index < enc->n_locs);
    if (near->loc == enc->locs[index])
        near->loc = UINT64_MAX;
    enc->depths[index] = STROBE_DEPTH_COUNTED;
    enc->nests[index].n_open = n_open;
}

/* Count the open zones of a location from now on, all those of the lowest `depth` entries. */
static void count_open(struct strobe_encoder *enc, uint32_t index, uint32_t depth)
{
    struct strobe_open_zone *stack = enc->track->stack;
    uint32_t n = 0;
    for (uint32_t i = 0; i < depth; i++)
        if (stack[i].loc == enc->locs[index]) {
            n++;
            stack[i].dict |= COUNTED;
        }
    set_counted(enc, index, n);
}

/* A zone begins at another depth than those of its location before. */
static __attribute__((noinline)) void change_depth(struct strobe_encoder *enc, uint32_t index,
                                                   uint32_t depth)
{
    struct strobe_open_zone *stack = enc->track->stack;
    uint32_t at = enc->depths[index];
    if (at == STROBE_DEPTH_NONE) {
        enc->depths[index] = depth;
        return;
    }
    STROBE_ASSERT(at != STROBE_DEPTH_COUNTED && at != depth);
    bool is_open = at < depth && stack[at].loc == enc->locs[index];
    if (is_open)
        stack[at].dict |= COUNTED;
    set_counted(enc, index, is_open);
}

/* A zone begins at `depth`; its entry's `dict`. */
static inline uint32_t nest_begin(struct strobe_encoder *enc, uint32_t index, uint32_t depth)
{
    if (__builtin_expect(enc->depths[index] == depth, 1))
        return index;
    if (!is_counted(enc, index))
        change_depth(enc, index, depth);
    if (!is_counted(enc, index))
        return index;
    enc->nests[index].n_open++;
    return index | COUNTED;
}

/* A zone of a location that is counted ended, the innermost one of it. */
static inline void nest_end(struct strobe_encoder *enc, uint32_t index, uint64_t duration)
{
    struct strobe_loc_nest *nest = &enc->nests[index];
    STROBE_ASSERT(nest->n_open);
    if (--nest->n_open) {
        nest->nested += duration;
        enc->has_nested = true;
    }
}

void strobe_encode_zone_begin(struct strobe_encoder *enc, uint64_t tick, uint64_t loc)
{
    struct strobe_track *track = enc->track;
    uint32_t index = strobe_encode_dict_index(enc, loc);
    if (__builtin_expect(index < STROBE_SYM_BEGIN_DIRECT, 1)) {
        strobe_encode_put_time(enc, tick, (uint8_t)(STROBE_SYM_BEGIN + index));
    } else {
        strobe_encode_put_time(enc, tick, STROBE_SYM_BEGIN_FAR);
        enc->side_at = strobe_varint_put(enc->side_at, index);
    }
    enc->by_kind[STROBE_KIND_ZONE_BEGIN]++;
    if (__builtin_expect(track->fiber != 0, 0))
        return;
    if (__builtin_expect(track->depth == track->cap, 0) && !grow_stack(track))
        return; /* its end will be recorded as lost */
    STROBE_ASSERT(track->depth < track->cap && enc->locs[index] == loc);
    uint32_t dict = nest_begin(enc, index, track->depth);
    track->stack[track->depth++] = (struct strobe_open_zone){loc, tick, 0, dict, enc->serial};
}

/* The entry on top was open when the part started and ends now: it must be listed. */
static void list_entry(struct strobe_encoder *enc, const struct strobe_open_zone *zone)
{
    struct strobe_track *track = enc->track;
    STROBE_ASSERT(enc->low && track->depth == enc->low - 1); /* one after the other, top first */
    STROBE_ASSERT(enc->n_listed == enc->start_depth - enc->low);
    struct strobe_open_zone *listed =
        STROBE_ARRAY_PUSH(enc->listed, enc->n_listed, enc->cap_listed);
    if (!listed) {
        enc->failed = true;
        return;
    }
    *listed = *zone;
    listed->child = enc->low_child;
    enc->low = track->depth;
    enc->low_child = track->depth ? track->stack[track->depth - 1].child : 0;
}

static inline void sum_zone(struct strobe_loc_sum *sum, uint64_t duration, uint64_t self)
{
    STROBE_ASSERT(self <= duration);
    sum->count++;
    if (__builtin_expect(__builtin_add_overflow(sum->total, duration, &sum->total), 0))
        sum->total =
            ~0ull; /* only what was imported has zones as long: self, which is less, stays so */
    if (__builtin_expect(__builtin_add_overflow(sum->self, self, &sum->self), 0))
        sum->self = ~0ull;
    if (duration < sum->min)
        sum->min = duration;
    if (duration > sum->max)
        sum->max = duration;
    sum->squares += (unsigned __int128)duration * duration;
    sum->histogram[strobe_buckets_of(duration)]++;
    STROBE_ASSERT(sum->min <= sum->max && sum->self <= sum->total);
}

static inline void count_in_bucket(const struct strobe_encoder *enc,
                                   struct strobe_lod_bucket *bucket, uint32_t index,
                                   uint64_t duration, uint64_t end)
{
    bucket->count++;
    STROBE_ASSERT(bucket->loc || !bucket->longest);
    if (__builtin_expect(duration >= bucket->longest, 0) &&
        (duration > bucket->longest || !bucket->loc ||
         strobe_encode_goes_first(enc, index + 1, end, bucket))) {
        bucket->longest = duration;
        bucket->loc = index + 1;
        bucket->end = end;
    }
}

static inline void lod_zone(struct strobe_encoder *enc, uint32_t depth, uint32_t index,
                            uint64_t begin, uint64_t end, uint64_t duration)
{
    STROBE_ASSERT(index < enc->n_locs);
    if (depth >= STROBE_LOD_DEPTHS)
        return;
    strobe_encode_lod_rows(enc, depth);
    uint64_t from = begin > enc->first_tick ? begin : enc->first_tick;
    uint64_t to = end > enc->first_tick ? end : enc->first_tick;
    struct strobe_lod_bucket *bucket = &enc->lod[depth][strobe_encode_lod_index(enc, to)];
    count_in_bucket(enc, bucket, index, duration, end);
    if (__builtin_expect((from >> enc->lod_shift) == (to >> enc->lod_shift), 1))
        bucket->busy += to > from ? to - from : 0;
    else if (to > from)
        strobe_encode_busy(enc, depth, from, to);
}

/* Pop the top zone; it ended at `tick`. */
static inline void finish_zone(struct strobe_encoder *enc, uint64_t tick)
{
    struct strobe_track *track = enc->track;
    STROBE_ASSERT(track->depth && track->depth <= track->cap);
    struct strobe_open_zone *zone = &track->stack[track->depth - 1];
    uint32_t index = /* before it is gone: it counts as open */
        zone->serial == enc->serial ? zone->dict & ~COUNTED
                                    : strobe_encode_dict_index(enc, zone->loc);
    track->depth--;
    uint64_t duration = tick > zone->begin ? tick - zone->begin : 0;
    uint64_t self = duration > zone->child ? duration - zone->child : 0;
    if (__builtin_expect(track->depth < enc->low, 0))
        list_entry(enc, zone);
    if (track->depth)
        track->stack[track->depth - 1].child += duration;
    enc->n_zones++;
    if (is_counted(enc, index))
        nest_end(enc, index, duration);
    if (__builtin_expect(index < STROBE_STAT_LOCS, 1))
        sum_zone(&enc->sums[index], duration, self);
    lod_zone(enc, track->depth, index, zone->begin, tick, duration);
}

/* Pop the top zone; its end is missing. It was open until now, but is in no sum. */
static void abandon_zone(struct strobe_encoder *enc, uint64_t tick)
{
    struct strobe_track *track = enc->track;
    STROBE_ASSERT(track->depth && track->depth <= track->cap);
    struct strobe_open_zone *zone = &track->stack[--track->depth];
    uint32_t index = find_listed(enc, zone->loc);
    if (index != UINT32_MAX && is_counted(enc, index))
        enc->nests[index].n_open--;
    if (track->depth < enc->low)
        list_entry(enc, zone);
    uint64_t from = zone->begin > enc->first_tick ? zone->begin : enc->first_tick;
    if (track->depth >= STROBE_LOD_DEPTHS || tick <= from)
        return;
    strobe_encode_lod_rows(enc, track->depth);
    strobe_encode_busy(enc, track->depth, from, tick);
}

/* ---- zones that end in any order ---- */

/* Kept in `serial`, whose parts are far fewer: such a zone is looked up in the part's list anew. */
#define LOOSE (1u << 31)

/* Whether the end of the zone below the `n_above` on top leaves those open: it or one of them may end
 * in any order. Else their ends are missing. */
static bool leaves_others_open(const struct strobe_track *track, uint32_t n_above)
{
    STROBE_ASSERT(n_above < track->depth);
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

/* The zone at `at` ends, those above it move down: what is known of their depths does not hold any more. */
static void nest_end_under(struct strobe_encoder *enc, uint32_t at, uint32_t index,
                           uint64_t duration)
{
    const struct strobe_track *track = enc->track;
    uint32_t below = at;
    while (below && track->stack[below - 1].loc != track->stack[at].loc)
        below--;
    for (uint32_t i = at; i < track->depth; i++) {
        uint32_t moved = find_listed(enc, track->stack[i].loc);
        if (moved != UINT32_MAX && !is_counted(enc, moved))
            count_open(enc, moved, track->depth);
    }
    STROBE_ASSERT(is_counted(enc, index) && enc->nests[index].n_open);
    enc->nests[index].n_open--;
    if (below) {
        enc->nests[index].nested += duration;
        enc->has_nested = true;
    }
}

/* The zone below the `n_above` on top ends; those move down by one. */
static void end_under(struct strobe_encoder *enc, uint64_t tick, uint32_t n_above)
{
    struct strobe_track *track = enc->track;
    uint32_t at = track->depth - 1 - n_above;
    STROBE_ASSERT(n_above < track->depth && at + n_above + 1 == track->depth);
    strobe_encode_put_time(enc, tick, STROBE_KIND_ZONE_END_UNDER);
    enc->by_kind[STROBE_KIND_ZONE_END_UNDER]++;
    enc->side_at = strobe_varint_put(enc->side_at, n_above);
    struct strobe_open_zone zone = track->stack[at];
    uint32_t index = strobe_encode_dict_index(enc, zone.loc); /* while it counts as open */
    uint64_t duration = tick > zone.begin ? tick - zone.begin : 0;
    nest_end_under(enc, at, index, duration);
    list_down_to(enc, at);
    STROBE_ASSERT(enc->failed || enc->low <= at || at >= enc->start_depth);
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

bool strobe_encode_is_innermost(const struct strobe_encoder *enc, uint64_t loc)
{
    const struct strobe_track *track = enc->track;
    return track->depth && !track->fiber && track->stack[track->depth - 1].loc == loc;
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
        strobe_encode_put_time(enc, tick, STROBE_KIND_ZONE_END_AT);
        enc->by_kind[STROBE_KIND_ZONE_END_AT]++;
        enc->side_at = strobe_varint_put(enc->side_at, loc);
        return;
    }
    if (leaves_others_open(track, n_above)) {
        end_under(enc, tick, n_above);
        return;
    }
    strobe_encode_put_time(enc, tick, STROBE_KIND_ZONE_END_POP);
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
    strobe_encode_put_time(enc, tick, STROBE_KIND_ZONE_END);
    enc->by_kind[STROBE_KIND_ZONE_END]++;
    finish_zone(enc, tick);
}

/* ---- runs ---- */

/* What the loop over a run changes, so that it stays in registers: the stores into the columns are of
 * bytes, which may be anywhere as far as a compiler knows. */
struct run {
    struct strobe_encoder *enc;
    struct strobe_open_zone *stack;
    struct strobe_loc_sum *sums;
    uint8_t *sym;
    uint16_t *dt;
    uint32_t n, n_values; /* events of the block; those of the run that are values */
    uint64_t prev;
    uint32_t depth, cap, serial, low;
    struct strobe_lod_bucket *column; /* that the last zone ended in, where it is at hand */
    uint64_t bucket_from, bucket_end; /* its ticks, none yet: 1 and 0 */
    uint32_t n_rows;
};

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE struct run start_run(struct strobe_encoder *enc)
{
    const struct strobe_track *track = enc->track;
    STROBE_ASSERT(track->depth <= track->cap && enc->low <= track->depth);
    if (__builtin_expect(enc->near_serial != enc->serial, 0)) {
        memset(enc->near, 0xff, sizeof enc->near);
        enc->near_serial = enc->serial;
    }
    return (struct run){
        .enc = enc,
        .stack = track->stack,
        .sums = enc->sums,
        .sym = enc->sym,
        .dt = enc->dt,
        .n = enc->n_events,
        .prev = enc->prev_tick,
        .depth = track->depth,
        .cap = track->cap,
        .serial = enc->serial,
        .low = enc->low,
        .bucket_from = 1,
        .n_rows = enc->lod_depths,
    };
}

ALWAYS_INLINE void end_run(const struct run *run)
{
    struct strobe_encoder *enc = run->enc;
    uint32_t n = run->n - enc->n_events, n_zones = n - run->n_values; /* begins and ends */
    uint32_t n_ends = (n_zones + enc->track->depth - run->depth) / 2;
    STROBE_ASSERT(run->n >= enc->n_events && run->n <= STROBE_BLOCK_EVENTS_MAX);
    STROBE_ASSERT(n_ends <= n_zones && (n_zones + enc->track->depth - run->depth) % 2 == 0);
    STROBE_ASSERT(run->depth >= run->low && run->depth <= run->cap);
    enc->n_events = run->n;
    enc->part_events += n;
    enc->prev_tick = run->prev;
    enc->by_kind[STROBE_KIND_ZONE_BEGIN] += n_zones - n_ends;
    enc->by_kind[STROBE_KIND_ZONE_VALUE] += run->n_values;
    enc->by_kind[STROBE_KIND_ZONE_END] += n_ends;
    enc->n_zones += n_ends;
    enc->track->depth = run->depth;
}

/* `is_near`: the caller made sure that the tick is not far from the one before. */
ALWAYS_INLINE void run_put(struct run *run, uint64_t tick, uint32_t sym, bool is_near)
{
    uint64_t difference = tick - run->prev;
    STROBE_ASSERT((!is_near || difference < 65535) && sym < 256);
    run->sym[run->n] = (uint8_t)sym;
    run->prev = tick;
    if (!is_near && __builtin_expect(difference >= 65535, 0)) {
        run->enc->big_at = strobe_varint_put(run->enc->big_at, strobe_zigzag((int64_t)difference));
        difference = 0xffff;
    }
    run->dt[run->n++] = (uint16_t)difference;
}

/* Begin and end at once, where both are near. */
ALWAYS_INLINE void run_put_whole(struct run *run, uint64_t begin, uint64_t end, uint32_t sym)
{
    uint64_t before = begin - run->prev, duration = end - begin;
    if (__builtin_expect((before | duration) >= 65535, 0)) {
        run_put(run, begin, sym, false);
        run_put(run, end, STROBE_KIND_ZONE_END, false);
        return;
    }
    const uint16_t syms = (uint16_t)(sym | STROBE_KIND_ZONE_END << 8); /* two stores at once */
    const uint32_t differences = (uint32_t)(before | duration << 16);
    memcpy(run->sym + run->n, &syms, sizeof syms);
    memcpy(run->dt + run->n, &differences, sizeof differences);
    run->n += 2;
    run->prev = end;
}

/* Of the index of a location: not all its zones of the part are at the depth at hand, or this is its first one. */
#define NOT_PLAIN (1u << 30)

/* Look up a location that was not at hand. */
static __attribute__((noinline)) uint32_t look_up(struct strobe_encoder *enc, uint64_t loc,
                                                  uint32_t depth)
{
    uint32_t index = strobe_encode_dict_index(enc, loc);
    bool is_plain = enc->depths[index] == depth;
    STROBE_ASSERT(index < NOT_PLAIN);
    enc->near[loc % STROBE_NEAR_LOCS] =
        (struct strobe_near_loc){is_plain ? loc : UINT64_MAX, index, depth};
    return is_plain ? index : index | NOT_PLAIN;
}

/* The index of a location, with NOT_PLAIN where its zones may have to be counted. */
ALWAYS_INLINE uint32_t run_look_up(const struct run *run, uint64_t loc)
{
    const struct strobe_near_loc *near = &run->enc->near[loc % STROBE_NEAR_LOCS];
    return __builtin_expect(near->loc == loc && near->depth == run->depth, 1)
               ? near->index
               : look_up(run->enc, loc, run->depth);
}

/* A zone begins: it is the top one now. False: not for the loop. */
ALWAYS_INLINE bool run_begin(struct run *run, uint64_t tick, uint64_t loc, bool is_near)
{
    uint32_t index = run_look_up(run, loc), dict = index;
    if (__builtin_expect(run->depth == run->cap, 0))
        return false;
    if (__builtin_expect(index >= STROBE_SYM_BEGIN_DIRECT, 0)) { /* below STROBE_STAT_LOCS */
        index &= ~NOT_PLAIN;
        if (index >= STROBE_SYM_BEGIN_DIRECT)
            return false;
        dict = nest_begin(run->enc, index, run->depth);
    }
    run_put(run, tick, STROBE_SYM_BEGIN + index, is_near);
    STROBE_ASSERT(run->depth < run->cap && index < run->enc->n_locs);
    run->stack[run->depth++] = (struct strobe_open_zone){loc, tick, 0, dict, run->serial};
    return true;
}

/* The bucket that `tick` is in is at hand from now on. */
ALWAYS_INLINE void take_column(struct run *run, uint64_t tick)
{
    struct strobe_encoder *enc = run->enc;
    uint32_t index = strobe_encode_lod_index(enc, tick);
    uint64_t from = (enc->lod_base + index) << enc->lod_shift;
    STROBE_ASSERT(tick - from < 1ull << enc->lod_shift);
    run->column = &enc->lod[0][index];
    run->bucket_end = from + (1ull << enc->lod_shift);
    run->bucket_from = from > enc->first_tick ? from : enc->first_tick;
    run->n_rows = enc->lod_depths; /* 0 while no zone ended that is high enough for a row */
}

/* Add a zone at the depth at hand to the level of detail. */
ALWAYS_INLINE void run_count(struct run *run, uint32_t index, uint64_t begin, uint64_t end,
                             bool is_ordered)
{
    if (__builtin_expect(
            begin >= run->bucket_from && end < run->bucket_end && run->depth < run->n_rows, 1)) {
        struct strobe_lod_bucket *bucket = run->column + (size_t)run->depth * STROBE_LOD_BUCKETS;
        bucket->busy += end - begin;
        count_in_bucket(run->enc, bucket, index, end - begin, end);
        return;
    }
    lod_zone(run->enc, run->depth, index, begin, end, end - begin);
    if (is_ordered || end >= run->enc->first_tick) /* else it counts in the first one */
        take_column(run, end);
}

/* The top zone ends. `is_ordered`: ticks never go back, and are near each other. False: not for the loop. */
ALWAYS_INLINE bool run_end(struct run *run, uint64_t tick, bool is_ordered)
{
    STROBE_ASSERT(run->depth > run->low); /* it began in this part */
    const struct strobe_open_zone *zone = &run->stack[run->depth - 1];
    uint32_t index = zone->dict;
    if (__builtin_expect(index >= STROBE_STAT_LOCS || (!is_ordered && tick < zone->begin), 0)) {
        index &= ~COUNTED;
        if (index >= STROBE_STAT_LOCS || zone->serial != run->serial || tick < zone->begin)
            return false;
        nest_end(run->enc, index, tick - zone->begin);
    }
    run_put(run, tick, STROBE_KIND_ZONE_END, is_ordered);
    run->depth--;
    uint64_t duration = tick - zone->begin, child = zone->child;
    STROBE_ASSERT(tick >= zone->begin && (!is_ordered || child <= duration));
    if (run->depth)
        run->stack[run->depth - 1].child += duration;
    sum_zone(&run->sums[index], duration, is_ordered || duration > child ? duration - child : 0);
    run_count(run, index, zone->begin, tick, is_ordered);
    return true;
}

/* A zone with nothing in it: it need not be the top one in between. False: not for the loop. */
ALWAYS_INLINE bool run_whole(struct run *run, uint64_t begin, uint64_t end, uint64_t loc)
{
    uint64_t duration = end - begin;
    uint32_t index = run_look_up(run, loc);
    if (__builtin_expect(run->depth == run->cap || end < begin, 0))
        return false;
    if (__builtin_expect(index >= STROBE_SYM_BEGIN_DIRECT, 0)) {
        index &= ~NOT_PLAIN;
        if (index >= STROBE_SYM_BEGIN_DIRECT)
            return false;
        if (nest_begin(run->enc, index, run->depth) & COUNTED)
            nest_end(run->enc, index, duration);
    }
    run_put_whole(run, begin, end, STROBE_SYM_BEGIN + index);
    if (run->depth)
        run->stack[run->depth - 1].child += duration;
    sum_zone(&run->sums[index], duration, duration);
    run_count(run, index, begin, end, false);
    return true;
}

/* The value of the top zone. False: the block has no room for it. */
ALWAYS_INLINE bool run_value(struct run *run, uint64_t tick, uint64_t value)
{
    struct strobe_encoder *enc = run->enc;
    if (__builtin_expect(strobe_encode_is_full(enc), 0))
        return false;
    run_put(run, tick, STROBE_KIND_ZONE_VALUE, false);
    enc->side_at = strobe_varint_put(enc->side_at, value);
    run->n_values++;
    return true;
}

/* The part at hand has begun, and its zones are the thread's own. */
static bool can_run(const struct strobe_encoder *enc)
{
    return enc->part_events && !enc->track->fiber;
}

/* Of `n` events those that fit into the block. */
static size_t fitting(const struct strobe_encoder *enc, size_t n)
{
    size_t n_room = STROBE_BLOCK_EVENTS_MAX - enc->n_events;
    return n < n_room ? n : n_room;
}

/* The hot loop of a recorder: what the functions above do one by one, with all that changes in
 * registers. It only takes what is simple, and leaves the rest where it is. */
const uint64_t *strobe_encode_words(struct strobe_encoder *enc, const uint64_t *at,
                                    const uint64_t *end, uint32_t epoch, uint64_t *prev_tick)
{
    const uint64_t base = (uint64_t)epoch << 32;
    if (!can_run(enc))
        return at;
    struct run run = start_run(enc);
    for (end = at + fitting(enc, (size_t)(end - at)); at < end; at++) {
        __builtin_prefetch(at + 64);
        uint64_t word = __atomic_load_n(at, __ATOMIC_ACQUIRE);
        uint64_t tick = base | (uint32_t)word, loc = (word >> 32) & STROBE_WORD_ID_MAX;
        if (__builtin_expect(tick - run.prev >= 65535, 0))
            break; /* far, or back in time */
        if (STROBE_WORD_IS_BEGIN(word)) {
            if (__builtin_expect(!run_begin(&run, tick, loc, true), 0))
                break;
        } else if (__builtin_expect(STROBE_WORD_IS_END(word), 1)) {
            if (__builtin_expect(run.depth <= run.low || run.stack[run.depth - 1].loc != loc, 0) ||
                __builtin_expect(!run_end(&run, tick, true), 0))
                break; /* from before this part, not the innermost, or without sums */
        } else {
            break;
        }
    }
    end_run(&run);
    *prev_tick = enc->prev_tick;
    return at;
}

/* A step of any form. False: it is not for the loop. */
ALWAYS_INLINE bool run_step(struct run *run, const struct strobe_zone_step *step)
{
    if (step->loc == STROBE_STEP_END) /* one from before this part, or none: not for the loop */
        return __builtin_expect(run->depth > run->low, 1) && run_end(run, step->tick, false);
    if (step->loc == STROBE_STEP_VALUE)
        return run_value(run, step->tick, step->end);
    return step->end ? run_whole(run, step->tick, step->end, step->loc)
                     : run_begin(run, step->tick, step->loc, false);
}

/* The same for zones that come in another form than a ring's words. */
const struct strobe_zone_step *strobe_encode_steps(struct strobe_encoder *enc,
                                                   const struct strobe_zone_step *at,
                                                   const struct strobe_zone_step *end)
{
    if (!can_run(enc))
        return at;
    struct run run = start_run(enc);
    /* a step is two events at most */
    for (; at < end && run.n < STROBE_BLOCK_EVENTS_MAX - 1; at++)
        if (__builtin_expect((int64_t)(at->tick - run.prev) < 0, 0) || !run_step(&run, at))
            break; /* back in time, or not for the loop */
    end_run(&run);
    return at;
}
