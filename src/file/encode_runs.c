/* encode_runs.c - runs of simple begins and ends, as a ring's words or as steps in memory: the hot loops of a recorder.
 *
 * They do what encode_zones.c does one by one, with all that changes in registers, and a zone with nothing in it at once. They only take what is
 * simple, and leave the rest where it is.  SPDX-License-Identifier: MIT */
#include "file/encode_sums.h"
#include "wire/ring_layout.h"

/* What the loop over a run changes, so that it stays in registers: the stores into the columns are of
 * bytes, which may be anywhere as far as a compiler knows. */
struct run {
    struct strobe_encoder *enc;
    struct strobe_open_zone *stack;
    struct strobe_loc_sum *sums;
    uint8_t *sym; /* where the next event goes */
    uint16_t *dt;
    uint32_t n_values; /* events of the run that are values */
    uint64_t prev;
    uint64_t depth, cap, low;
    uint32_t serial;
    struct strobe_lod_bucket *column; /* that the last zone ended in, where it is at hand */
    uint64_t bucket_from, bucket_end; /* its ticks, none yet: 1 and 0 */
    uint64_t n_rows;
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
        .sym = enc->sym + enc->n_events,
        .dt = enc->dt + enc->n_events,
        .prev = enc->prev_tick,
        .depth = track->depth,
        .cap = track->cap,
        .low = enc->low,
        .serial = enc->serial,
        .bucket_from = 1,
        .n_rows = enc->lod_depths,
    };
}

ALWAYS_INLINE void end_run(const struct run *run)
{
    struct strobe_encoder *enc = run->enc;
    uint32_t n_events = (uint32_t)(run->sym - enc->sym), depth = (uint32_t)run->depth;
    uint32_t n = n_events - enc->n_events, n_zones = n - run->n_values; /* begins and ends */
    uint32_t n_ends = (n_zones + enc->track->depth - depth) / 2;
    STROBE_ASSERT(n_events >= enc->n_events && n_events <= STROBE_BLOCK_EVENTS_MAX);
    STROBE_ASSERT(run->dt == enc->dt + n_events);
    STROBE_ASSERT(n_ends <= n_zones && (n_zones + enc->track->depth - depth) % 2 == 0);
    STROBE_ASSERT(run->depth >= run->low && run->depth <= run->cap);
    enc->n_events = n_events;
    enc->part_events += n;
    enc->prev_tick = run->prev;
    enc->by_kind[STROBE_KIND_ZONE_BEGIN] += n_zones - n_ends;
    enc->by_kind[STROBE_KIND_ZONE_VALUE] += run->n_values;
    enc->by_kind[STROBE_KIND_ZONE_END] += n_ends;
    enc->n_zones += n_ends;
    enc->track->depth = depth;
}

/* ---- columns ---- */

/* `is_near`: the caller made sure that the tick is not far from the one before. */
ALWAYS_INLINE void run_put(struct run *run, uint64_t tick, uint32_t sym, bool is_near)
{
    uint64_t difference = tick - run->prev;
    STROBE_ASSERT((!is_near || difference < 65535) && sym < 256);
    *run->sym++ = (uint8_t)sym;
    run->prev = tick;
    if (!is_near && __builtin_expect(difference >= 65535, 0)) {
        run->enc->big_at = strobe_varint_put(run->enc->big_at, strobe_zigzag((int64_t)difference));
        difference = 0xffff;
    }
    *run->dt++ = (uint16_t)difference;
}

/* Begin and end at once, where both are near. */
ALWAYS_INLINE void run_put_whole(struct run *run, uint64_t begin, uint64_t end, uint32_t sym,
                                 bool is_near)
{
    uint64_t before = begin - run->prev, duration = end - begin;
    if (!is_near && __builtin_expect((before | duration) >= 65535, 0)) {
        run_put(run, begin, sym, false);
        run_put(run, end, STROBE_KIND_ZONE_END, false);
        return;
    }
    STROBE_ASSERT((before | duration) < 65535);
    const uint16_t syms = (uint16_t)(sym | STROBE_KIND_ZONE_END << 8); /* two stores at once */
    const uint32_t differences = (uint32_t)(before | duration << 16);
    memcpy(run->sym, &syms, sizeof syms);
    memcpy(run->dt, &differences, sizeof differences);
    run->sym += 2;
    run->dt += 2;
    run->prev = end;
}

/* ---- locations ---- */

/* Find a location that is not at hand, whose zone begins at `depth`, and keep it at hand; its depth there is that of all
 * its zones, or that they are counted. False: it is not for the loop. */
static __attribute__((noinline)) bool
look_up(struct strobe_encoder *enc, struct strobe_near_loc *near, uint64_t loc, uint32_t depth)
{
    if (near->loc == loc && near->depth == STROBE_DEPTH_FAR)
        return false;
    uint32_t index = strobe_encode_dict_index(enc, loc);
    if (index < STROBE_SYM_BEGIN_DIRECT && enc->depths[index] != depth &&
        !strobe_encode_is_counted(enc, index))
        strobe_encode_change_depth(enc, index, depth);
    *near = (struct strobe_near_loc){
        loc, index, index < STROBE_SYM_BEGIN_DIRECT ? enc->depths[index] : STROBE_DEPTH_FAR};
    STROBE_ASSERT(near->depth == depth || near->depth >= STROBE_DEPTH_FAR);
    return index < STROBE_SYM_BEGIN_DIRECT;
}

/* The location of a zone that begins now, at hand; NULL: not for the loop. */
ALWAYS_INLINE const struct strobe_near_loc *run_look_up(const struct run *run, uint64_t loc)
{
    struct strobe_near_loc *near = &run->enc->near[loc % STROBE_NEAR_LOCS];
    if (__builtin_expect(near->loc == loc && near->depth == (uint32_t)run->depth, 1))
        return near;
    if (near->loc == loc && near->depth == STROBE_DEPTH_COUNTED)
        return near;
    return look_up(run->enc, near, loc, (uint32_t)run->depth) ? near : NULL;
}

/* ---- zones ---- */

/* A zone begins: it is the top one now. False: not for the loop. */
ALWAYS_INLINE bool run_begin(struct run *run, uint64_t tick, uint64_t loc, bool is_near)
{
    if (__builtin_expect(run->depth == run->cap, 0))
        return false;
    const struct strobe_near_loc *near = run_look_up(run, loc);
    if (__builtin_expect(!near, 0))
        return false;
    uint32_t index = near->index, dict = index;
    if (near->depth == STROBE_DEPTH_COUNTED) {
        run->enc->nests[index].n_open++;
        dict |= STROBE_ZONE_COUNTED;
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

/* The slow way of the one below. */
static __attribute__((noinline)) void count_far(struct strobe_encoder *enc, uint32_t depth,
                                                uint32_t index, uint64_t begin, uint64_t end)
{
    strobe_encode_lod_zone(enc, depth, index, begin, end, end - begin);
}

/* Add a zone at the depth at hand to the level of detail. `is_after`: it began where the zone before had ended already. */
ALWAYS_INLINE void run_count(struct run *run, uint32_t index, uint64_t begin, uint64_t end,
                             bool is_ordered, bool is_after)
{
    if (__builtin_expect(end < run->bucket_end && (is_after || begin >= run->bucket_from) &&
                             run->depth < run->n_rows,
                         1)) {
        struct strobe_lod_bucket *bucket = run->column + run->depth * STROBE_LOD_BUCKETS;
        STROBE_ASSERT(begin >= run->bucket_from && begin <= end);
        bucket->busy += end - begin;
        strobe_encode_count_in(run->enc, bucket, index, end - begin, end);
        return;
    }
    count_far(run->enc, (uint32_t)run->depth, index, begin, end);
    if (is_ordered || end >= run->enc->first_tick) /* else it counts in the first one */
        take_column(run, end);
}

/* The top zone ends. `is_ordered`: ticks never go back, and are near each other. False: not for the loop. */
ALWAYS_INLINE bool run_end(struct run *run, uint64_t tick, bool is_ordered)
{
    STROBE_ASSERT(run->depth > run->low); /* it began in this part */
    const struct strobe_open_zone *zone = &run->stack[run->depth - 1];
    uint32_t index = zone->dict;
    uint64_t duration = tick - zone->begin, child = zone->child;
    if (index >= STROBE_STAT_LOCS || (!is_ordered && tick < zone->begin)) {
        index &= ~STROBE_ZONE_COUNTED;
        if (__builtin_expect(
                index >= STROBE_STAT_LOCS || zone->serial != run->serial || tick < zone->begin, 0))
            return false;
        strobe_encode_nest_end(run->enc, index, duration);
    }
    run_put(run, tick, STROBE_KIND_ZONE_END, is_ordered);
    run->depth--;
    STROBE_ASSERT(tick >= zone->begin && (!is_ordered || child <= duration));
    if (run->depth)
        run->stack[run->depth - 1].child += duration;
    strobe_encode_sum(&run->sums[index], duration,
                      is_ordered || duration > child ? duration - child : 0);
    run_count(run, index, zone->begin, tick, is_ordered, false);
    return true;
}

/* A zone with nothing in it: it need not be the top one in between. False: not for the loop. */
ALWAYS_INLINE bool run_whole(struct run *run, uint64_t begin, uint64_t end, uint64_t loc,
                             bool is_ordered)
{
    uint64_t duration = end - begin;
    if (__builtin_expect(run->depth == run->cap || (!is_ordered && end < begin), 0))
        return false;
    const struct strobe_near_loc *near = run_look_up(run, loc);
    if (__builtin_expect(!near, 0))
        return false;
    uint32_t index = near->index;
    if (near->depth == STROBE_DEPTH_COUNTED)
        strobe_encode_add_nested(run->enc, index, run->enc->nests[index].n_open, duration);
    run_put_whole(run, begin, end, STROBE_SYM_BEGIN + index, is_ordered);
    if (run->depth)
        run->stack[run->depth - 1].child += duration;
    strobe_encode_sum(&run->sums[index], duration, duration);
    run_count(run, index, begin, end, is_ordered, is_ordered);
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

/* ---- loops ---- */

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

/* A word that ends the zone which `word` begins: one bit differs. */
ALWAYS_INLINE bool is_end_of(uint64_t word, uint64_t next)
{
    return (word ^ next) >> 32 == (STROBE_WORD_BEGIN ^ STROBE_WORD_END) >> 32;
}

const uint64_t *strobe_encode_words(struct strobe_encoder *enc, const uint64_t *at,
                                    const uint64_t *end, uint32_t epoch, uint64_t *prev_tick)
{
    const uint64_t base = (uint64_t)epoch << 32;
    if (!can_run(enc))
        return at;
    struct run run = start_run(enc);
    end = at + fitting(enc, (size_t)(end - at));
    while (at < end) {
        __builtin_prefetch(at + 64);
        uint64_t word = __atomic_load_n(at, __ATOMIC_ACQUIRE);
        uint64_t tick = base | (uint32_t)word, loc = (word >> 32) & STROBE_WORD_ID_MAX;
        if (__builtin_expect(tick - run.prev >= 65535, 0))
            break; /* far, or back in time */
        if (STROBE_WORD_IS_BEGIN(word)) {
            uint64_t next = at + 1 < end ? __atomic_load_n(at + 1, __ATOMIC_ACQUIRE) : 0;
            uint64_t till = base | (uint32_t)next;
            bool is_whole = is_end_of(word, next) && till - tick < 32768 && tick - run.prev < 32768;
            if (__builtin_expect(!(is_whole ? run_whole(&run, tick, till, loc, true)
                                            : run_begin(&run, tick, loc, true)),
                                 0))
                break;
            at += 1 + is_whole;
        } else if (__builtin_expect(STROBE_WORD_IS_END(word), 1)) {
            if (__builtin_expect(run.depth <= run.low || run.stack[run.depth - 1].loc != loc, 0) ||
                __builtin_expect(!run_end(&run, tick, true), 0))
                break; /* from before this part, not the innermost, or without sums */
            at++;
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
    return step->end ? run_whole(run, step->tick, step->end, step->loc, false)
                     : run_begin(run, step->tick, step->loc, false);
}

/* The sums of a short zone with nothing in it: its square has 32 bits, and all of it is its own. */
ALWAYS_INLINE void sum_leaf(struct strobe_loc_sum *sum, uint32_t duration)
{
    sum->count++;
    if (__builtin_expect(__builtin_add_overflow(sum->total, duration, &sum->total), 0)) {
        strobe_encode_saturate(&sum->total);
        if (__builtin_add_overflow(sum->self, duration, &sum->self))
            strobe_encode_saturate(&sum->self);
    } else {
        sum->self += duration; /* which is not more than the total */
    }
    if (__builtin_expect(duration < sum->min, 0))
        sum->min = duration;
    if (__builtin_expect(duration > sum->max, 0))
        sum->max = duration;
    sum->squares += (uint64_t)duration * duration;
    sum->histogram[strobe_buckets_of(duration)]++;
    STROBE_ASSERT(sum->min <= sum->max && sum->self <= sum->total);
}

/* What the loop over the simplest steps changes: as little as can be, so that it all stays in registers. */
struct simple {
    struct strobe_encoder *enc;
    struct strobe_open_zone *top; /* behind the innermost open zone */
    uint8_t *sym;
    uint16_t *dt;
    uint64_t prev;
    struct strobe_lod_bucket *bucket; /* at hand, of the depth at hand */
    uint64_t bucket_end;
};

ALWAYS_INLINE void simple_count(struct simple *s, struct strobe_lod_bucket *bucket, uint32_t index,
                                uint64_t duration, uint64_t end)
{
    STROBE_ASSERT(end < s->bucket_end);
    strobe_encode_count_in(s->enc, bucket, index, duration, end);
    bucket->busy += duration;
}

/* A whole zone of a location and a bucket at hand. False: not for this loop. */
ALWAYS_INLINE bool simple_leaf(struct simple *s, const struct run *run,
                               const struct strobe_zone_step *step)
{
    const struct strobe_near_loc *near = &s->enc->near[step->loc % STROBE_NEAR_LOCS];
    const uint64_t before = step->tick - s->prev, duration = step->end - step->tick;
    if (__builtin_expect((before | duration) >= 65535 || near->loc != step->loc, 0) ||
        __builtin_expect(near->depth != (uint32_t)(s->top - run->stack), 0) ||
        __builtin_expect(step->end >= s->bucket_end, 0))
        return false;
    const uint32_t index = near->index;
    const uint16_t syms = (uint16_t)((STROBE_SYM_BEGIN + index) | STROBE_KIND_ZONE_END << 8);
    const uint32_t differences = (uint32_t)(before | duration << 16);
    STROBE_ASSERT(index < STROBE_SYM_BEGIN_DIRECT && step->tick >= run->bucket_from);
    memcpy(s->sym, &syms, sizeof syms);
    memcpy(s->dt, &differences, sizeof differences);
    s->sym += 2;
    s->dt += 2;
    s->prev = step->end;
    if (__builtin_expect(s->top != run->stack, 1))
        s->top[-1].child += duration;
    sum_leaf(&run->sums[index], (uint32_t)duration);
    simple_count(s, s->bucket, index, duration, step->end);
    return true;
}

/* A zone of a location at hand begins. */
ALWAYS_INLINE bool simple_begin(struct simple *s, const struct run *run,
                                const struct strobe_zone_step *step)
{
    const struct strobe_near_loc *near = &s->enc->near[step->loc % STROBE_NEAR_LOCS];
    const uint64_t before = step->tick - s->prev, depth = (uint64_t)(s->top - run->stack);
    if (__builtin_expect(before >= 65535 || near->loc != step->loc, 0) ||
        __builtin_expect(near->depth != (uint32_t)depth, 0) ||
        __builtin_expect(depth + 1 >= run->cap || depth + 1 >= run->n_rows, 0))
        return false;
    *s->sym++ = (uint8_t)(STROBE_SYM_BEGIN + near->index);
    *s->dt++ = (uint16_t)before;
    s->prev = step->tick;
    *s->top++ = (struct strobe_open_zone){step->loc, step->tick, 0, near->index, run->serial};
    s->bucket += STROBE_LOD_BUCKETS;
    return true;
}

/* A zone that began in the bucket at hand ends. */
ALWAYS_INLINE bool simple_end(struct simple *s, const struct run *run,
                              const struct strobe_zone_step *step)
{
    if (__builtin_expect(s->top <= run->stack + run->low, 0))
        return false;
    const struct strobe_open_zone *zone = s->top - 1;
    const uint64_t before = step->tick - s->prev, begin = zone->begin, child = zone->child;
    const uint32_t index = zone->dict;
    if (__builtin_expect(before >= 65535 || step->tick >= s->bucket_end, 0) ||
        __builtin_expect(begin < run->bucket_from || index >= STROBE_STAT_LOCS, 0) ||
        __builtin_expect(step->tick < begin, 0))
        return false;
    const uint64_t duration = step->tick - begin;
    *s->sym++ = STROBE_KIND_ZONE_END;
    *s->dt++ = (uint16_t)before;
    s->prev = step->tick;
    s->top--;
    if (__builtin_expect(s->top != run->stack, 1))
        s->top[-1].child += duration;
    strobe_encode_sum(&run->sums[index], duration, duration > child ? duration - child : 0);
    s->bucket -= STROBE_LOD_BUCKETS;
    simple_count(s, s->bucket, index, duration, step->tick);
    return true;
}

/* The value of the innermost zone, where the block has room for it. */
ALWAYS_INLINE bool simple_value(struct simple *s, struct run *run,
                                const struct strobe_zone_step *step)
{
    struct strobe_encoder *enc = s->enc;
    const uint64_t before = step->tick - s->prev;
    if (__builtin_expect(before >= 65535 || strobe_encode_is_full(enc), 0))
        return false;
    *s->sym++ = STROBE_KIND_ZONE_VALUE;
    *s->dt++ = (uint16_t)before;
    s->prev = step->tick;
    enc->side_at = strobe_varint_put(enc->side_at, step->end);
    run->n_values++;
    return true;
}

/* Zones in zones in a row, which are near each other, of locations at hand and in the bucket at hand, as most are of a device: with fewer
 * questions than above. Where it stopped: at a step for the function above, or at one of both ends. */
ALWAYS_INLINE const struct strobe_zone_step *run_simple(struct run *run,
                                                        const struct strobe_zone_step *at,
                                                        const struct strobe_zone_step *end,
                                                        const uint8_t *last)
{
    if (run->depth >= run->n_rows || run->depth >= run->cap || !run->bucket_end)
        return at;
    struct simple s = {run->enc,       run->stack + run->depth,
                       run->sym,       run->dt,
                       run->prev,      run->column + run->depth * STROBE_LOD_BUCKETS,
                       run->bucket_end};
    for (; at < end && s.sym < last; at++) {
        bool is_taken = at->loc < STROBE_STEP_VALUE
                            ? at->end ? simple_leaf(&s, run, at) : simple_begin(&s, run, at)
                        : at->loc == STROBE_STEP_END ? simple_end(&s, run, at)
                                                     : simple_value(&s, run, at);
        if (__builtin_expect(!is_taken, 0))
            break;
    }
    run->depth = (uint64_t)(s.top - run->stack);
    run->sym = s.sym;
    run->dt = s.dt;
    run->prev = s.prev;
    return at;
}

/* The same for zones that come in another form than a ring's words. */
const struct strobe_zone_step *strobe_encode_steps(struct strobe_encoder *enc,
                                                   const struct strobe_zone_step *at,
                                                   const struct strobe_zone_step *end)
{
    if (!can_run(enc))
        return at;
    struct run run = start_run(enc);
    const uint8_t *last = enc->sym + STROBE_BLOCK_EVENTS_MAX - 1; /* a step is two events at most */
    for (; at < end && run.sym < last; at++) {
        at = run_simple(&run, at, end, last);
        if (at >= end || run.sym >= last)
            break;
        if (__builtin_expect((int64_t)(at->tick - run.prev) < 0, 0) || !run_step(&run, at))
            break; /* back in time, or not for the loop */
    }
    end_run(&run);
    return at;
}
