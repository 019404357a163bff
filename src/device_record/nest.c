/* nest.c - see the header. Zones come nearly in the order of their begins, since most have no children: what waits is kept
 * sorted by insertion.  SPDX-License-Identifier: MIT */
#include "device_record/nest.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

enum { STEPS = 512 };

/* Steps on their way to the taker. */
struct steps {
    const struct strobe_nest_taker *taker;
    size_t n;
    uint64_t latest; /* cycles so far */
    bool has_values;
    struct strobe_nest_line line; /* that the last time lay on */
    struct strobe_zone_step at[STEPS];
};

void strobe_nest_free(struct strobe_nest *nest)
{
    free(nest->waiting);
    free(nest->stack);
    memset(nest, 0, sizeof *nest);
}

/* Whether `a` goes before `b`, which was added before it: a parent ends later than its children and begins no later. */
static inline bool goes_before(const struct strobe_nest_zone *a, const struct strobe_nest_zone *b)
{
    return a->start < b->start ||
           (a->start == b->start && !a->kind && !b->kind && a->end >= b->end);
}

/* Room for `n` more, and for an eighth as reserve: all lanes together have a bound. False: none. */
static bool reserve(struct strobe_nest_zone **zones, uint32_t *room, uint32_t used, size_t n)
{
    uint64_t want = (uint64_t)used + n, have = want + want / 8 + 16;
    if (want <= *room)
        return true;
    struct strobe_nest_zone *more =
        have <= UINT32_MAX ? strobe_array_resize(*zones, have, sizeof *more) : NULL;
    if (!more)
        return false;
    *zones = more;
    *room = (uint32_t)have;
    STROBE_ASSERT(*room >= want);
    return true;
}

void strobe_nest_shrink(struct strobe_nest *nest, uint32_t room)
{
    if (nest->waiting_room <= room || nest->n_waiting > room)
        return;
    struct strobe_nest_zone *less = strobe_array_resize(nest->waiting, room, sizeof *less);
    if (!less)
        return; /* it stays as it is */
    nest->waiting = less;
    nest->waiting_room = room;
}

/* The last zone to its place. One that goes far back, since many are in it, is not moved step by step. */
static inline void insert(struct strobe_nest *nest, const struct strobe_nest_zone *zone)
{
    enum { NEAR = 16 };
    struct strobe_nest_zone *waiting = nest->waiting;
    uint32_t i = nest->n_waiting++;
    STROBE_ASSERT(i < nest->waiting_room);
    if (i > NEAR && zone->start < waiting[i - NEAR].start) {
        uint32_t to = (uint32_t)STROBE_ARRAY_BISECT(0, i, k, waiting[k].start <= zone->start);
        memmove(waiting + to + 1, waiting + to, (i - to) * sizeof *waiting);
        i = to;
    }
    while (i && goes_before(zone, &waiting[i - 1])) {
        waiting[i] = waiting[i - 1];
        i--;
    }
    waiting[i] = *zone;
    STROBE_ASSERT(!i || !goes_before(zone, &waiting[i - 1]));
}

/* The zone on the stack that this one is, by now closed; NULL: it is none of them. */
static struct strobe_nest_zone *begun(struct strobe_nest *nest, const struct strobe_nest_zone *zone)
{
    for (uint32_t i = nest->n_stack; i-- > 0;) {
        struct strobe_nest_zone *at = &nest->stack[i];
        if (at->start == zone->start && at->id == zone->id && at->end == STROBE_NEST_OPEN)
            return at;
        if (at->start < zone->start)
            return NULL;
    }
    return NULL;
}

/* Where the innermost zone that was handed on and has not ended began: one that began no later may be one of those. */
struct top {
    uint64_t start;
    bool is_empty;
};

static struct top top_of(const struct strobe_nest *nest)
{
    return (struct top){nest->n_stack ? nest->stack[nest->n_stack - 1].start : 0, !nest->n_stack};
}

static inline void add(struct strobe_nest *nest, struct top top,
                       const struct strobe_nest_zone *zone)
{
    bool is_new = top.is_empty || zone->start > top.start || zone->kind;
    struct strobe_nest_zone *open = __builtin_expect(is_new, 1) ? NULL : begun(nest, zone);
    if (__builtin_expect(!open, 1)) {
        insert(nest, zone);
        return;
    }
    open->end = zone->end;
    open->program = zone->program;
}

enum strobe_err strobe_nest_add(struct strobe_nest *nest, const struct strobe_nest_zone *zones,
                                size_t n_zones)
{
    struct top top = top_of(nest);
    if (!reserve(&nest->waiting, &nest->waiting_room, nest->n_waiting, n_zones))
        return STROBE_ERR_NOMEM;
    for (size_t i = 0; i < n_zones; i++)
        add(nest, top, &zones[i]);
    STROBE_ASSERT(nest->n_waiting <= nest->waiting_room);
    return STROBE_OK;
}

enum strobe_err strobe_nest_add_closed(struct strobe_nest *nest,
                                       const struct strobe_device_zone *zones, size_t n_zones)
{
    struct top top = top_of(nest);
    if (!reserve(&nest->waiting, &nest->waiting_room, nest->n_waiting, n_zones))
        return STROBE_ERR_NOMEM;
    /* other lanes had the cache since it was the turn of this one */
    for (size_t i = 0; i < n_zones; i += 2)
        __builtin_prefetch(nest->waiting + nest->n_waiting + i, 1);
    for (size_t i = 0; i < n_zones; i++) {
        struct strobe_nest_zone *last = nest->waiting + nest->n_waiting;
        /* As it is, straight to its place: put together of its members it would be read before they are all stored. */
        memcpy(last, &zones[i], sizeof *last);
        STROBE_ASSERT(nest->n_waiting < nest->waiting_room && !last->kind);
        if (__builtin_expect(
                last->start > top.start && nest->n_waiting && !goes_before(last, last - 1), 1)) {
            nest->n_waiting++;
        } else {
            const struct strobe_nest_zone zone = *last;
            add(nest, top, &zone);
        }
    }
    STROBE_ASSERT(nest->n_waiting <= nest->waiting_room);
    return STROBE_OK;
}

/* ---- handing on ---- */

static void flush(struct steps *steps)
{
    STROBE_ASSERT(steps->taker && steps->n <= STEPS);
    if (steps->n)
        steps->taker->steps(steps->taker->context, steps->at, steps->n, steps->has_values);
    steps->n = 0;
    steps->has_values = false;
}

static inline bool is_on(const struct strobe_nest_line *line, uint64_t cycles)
{
    return cycles >= line->from && cycles < line->until;
}

static inline uint64_t tick_on(const struct strobe_nest_line *line, uint64_t cycles)
{
    STROBE_ASSERT(is_on(line, cycles));
    return line->tick + (uint64_t)((unsigned __int128)(cycles + line->shift) * line->mult >> 32);
}

static inline uint64_t tick_of(struct steps *steps, uint64_t cycles)
{
    if (__builtin_expect(!is_on(&steps->line, cycles), 0))
        steps->line = steps->taker->line(steps->taker->context, cycles);
    steps->latest = cycles > steps->latest ? cycles : steps->latest;
    return tick_on(&steps->line, cycles);
}

static inline uint64_t loc_of(const struct strobe_nest_taker *taker, uint32_t id)
{
    struct strobe_nest_near *near = &taker->near[id % STROBE_NEST_NEAR];
    if (__builtin_expect(near->key != id + 1, 0)) {
        near->loc = taker->loc(taker->context, id);
        near->key = id + 1;
    }
    return near->loc;
}

static inline void hand_on(struct steps *steps, uint64_t tick, uint64_t loc, uint64_t end)
{
    if (__builtin_expect(steps->n == STEPS, 0))
        flush(steps);
    STROBE_ASSERT(steps->n < STEPS);
    steps->at[steps->n++] = (struct strobe_zone_step){tick, loc, end};
}

static void hand_on_value(struct steps *steps, uint64_t tick, uint32_t program)
{
    hand_on(steps, tick, STROBE_STEP_VALUE, program);
    steps->has_values = true;
}

static void hand_on_mark(struct steps *steps, const struct strobe_nest_zone *mark)
{
    flush(steps);
    steps->taker->mark(steps->taker->context, mark, tick_of(steps, mark->start));
}

/* End the zones of the stack that end up to `time`. One that ends later keeps those around it open. */
static inline void end_until(struct strobe_nest *nest, uint64_t time, struct steps *steps)
{
    STROBE_ASSERT(nest->n_stack <= nest->stack_room);
    while (nest->n_stack && nest->stack[nest->n_stack - 1].end <= time) {
        const struct strobe_nest_zone *top = &nest->stack[--nest->n_stack];
        uint64_t tick = tick_of(steps, top->end);
        if (__builtin_expect(top->kind && top->program, 0))
            hand_on_value(steps, tick, top->program);
        hand_on(steps, tick, STROBE_STEP_END, 0);
    }
}

/* A zone of any kind; those that ended before it have been. */
static inline enum strobe_err begin(struct strobe_nest *nest, const struct strobe_nest_zone *zone,
                                    struct steps *steps)
{
    nest->n_late += zone->start < nest->out;
    if (__builtin_expect(zone->kind, 0)) {
        hand_on_mark(steps, zone);
        return STROBE_OK;
    }
    if (__builtin_expect(nest->n_stack == nest->stack_room, 0) &&
        !reserve(&nest->stack, &nest->stack_room, nest->n_stack, 1))
        return STROBE_ERR_NOMEM;
    uint64_t tick = tick_of(steps, zone->start);
    hand_on(steps, tick, loc_of(steps->taker, zone->id), 0);
    if (!nest->n_stack && zone->program)
        hand_on_value(steps, tick, zone->program);
    STROBE_ASSERT(nest->n_stack < nest->stack_room);
    struct strobe_nest_zone *top = &nest->stack[nest->n_stack++];
    *top = *zone;
    top->kind = nest->n_stack == 1 && !zone->program;
    return STROBE_OK;
}

/* Most zones have none in them and one behind them: they need no place on the stack. As many of these as follow each other in the
 * zone on top of the stack, from number `at` on; where they end. */
static inline uint32_t hand_on_whole(struct strobe_nest *nest, uint32_t at, uint64_t until,
                                     struct steps *steps)
{
    if (!nest->n_stack || nest->waiting[at].start < nest->out)
        return at; /* an outermost one, or late */
    if (steps->n == STEPS)
        flush(steps);
    if (__builtin_expect(!is_on(&steps->line, nest->waiting[at].start), 0))
        steps->line = steps->taker->line(steps->taker->context, nest->waiting[at].start);
    const uint64_t top_end = nest->stack[nest->n_stack - 1].end;
    const struct strobe_nest_zone *zone = nest->waiting + at,
                                  *last = nest->waiting + nest->n_waiting - 1;
    const struct strobe_nest_line line = steps->line;
    uint64_t latest = steps->latest;
    for (; zone < last && steps->n < STEPS; zone++) {
        uint64_t start = zone->start, end = zone->end;
        if (zone->kind || start >= top_end || end > zone[1].start || end > until || start > end ||
            start < line.from || end >= line.until)
            break;
        uint64_t tick = tick_on(&line, end);
        steps->at[steps->n++] =
            (struct strobe_zone_step){tick_on(&line, start), loc_of(steps->taker, zone->id),
                                      tick ? tick : 1}; /* a step without an end is a begin */
        latest = end > latest ? end : latest;
    }
    steps->latest = latest;
    return (uint32_t)(zone - nest->waiting);
}

static bool same(const struct strobe_nest_zone *a, const struct strobe_nest_zone *b)
{
    return a->start == b->start && a->id == b->id && !a->kind && !b->kind;
}

/* Whether an open zone of the table has no begin yet, neither handed on nor waiting. */
static bool is_new(struct strobe_nest *nest, const struct strobe_nest_zone *open)
{
    for (uint32_t i = 0; i < nest->n_stack; i++)
        if (nest->stack[i].start == open->start && nest->stack[i].id == open->id)
            return false;
    uint32_t i =
        (uint32_t)STROBE_ARRAY_BISECT(0, nest->n_waiting, k, nest->waiting[k].start < open->start);
    for (; i < nest->n_waiting && nest->waiting[i].start == open->start; i++)
        if (same(&nest->waiting[i], open))
            return false;
    return true;
}

enum strobe_err strobe_nest_advance(struct strobe_nest *nest, uint64_t until,
                                    const struct strobe_nest_zone *open, size_t n_open,
                                    const struct strobe_nest_taker *taker)
{
    STROBE_ASSERT(taker && taker->near && (open || !n_open));
    struct steps steps; /* its array is large, and not all of it is used */
    steps.taker = taker;
    steps.n = 0;
    steps.latest = 0;
    steps.has_values = false;
    steps.line = (struct strobe_nest_line){0};
    enum strobe_err err = STROBE_OK;
    for (size_t i = 0; i < n_open; i++) {
        struct strobe_nest_zone zone = open[i];
        zone.end = STROBE_NEST_OPEN;
        if (zone.start > until || !is_new(nest, &zone))
            continue;
        if (reserve(&nest->waiting, &nest->waiting_room, nest->n_waiting, 1))
            insert(nest, &zone);
        else
            err = STROBE_ERR_NOMEM;
    }
    uint32_t n = 0;
    while (n < nest->n_waiting && nest->waiting[n].start <= until) {
        end_until(nest, nest->waiting[n].start, &steps);
        uint32_t next = hand_on_whole(nest, n, until, &steps);
        if (next == n) {
            enum strobe_err begun_err = begin(nest, &nest->waiting[next++], &steps);
            err = err ? err : begun_err;
        }
        n = next;
    }
    end_until(nest, until, &steps);
    flush(&steps);
    STROBE_ASSERT(n <= nest->n_waiting);
    nest->latest = steps.latest;
    nest->n_waiting -= n;
    if (n)
        memmove(nest->waiting, nest->waiting + n, nest->n_waiting * sizeof *nest->waiting);
    if (until > nest->out)
        nest->out = until;
    STROBE_ASSERT(nest->out >= until);
    return err;
}
