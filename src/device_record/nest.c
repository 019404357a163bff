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

static inline void insert(struct strobe_nest *nest, const struct strobe_nest_zone *zone)
{
    struct strobe_nest_zone *waiting = nest->waiting;
    uint32_t i = nest->n_waiting++;
    STROBE_ASSERT(i < nest->waiting_room);
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
        steps->taker->steps(steps->taker->context, steps->at, steps->n);
    steps->n = 0;
}

static inline void hand_on(struct steps *steps, uint64_t time, uint64_t id, uint64_t end)
{
    if (__builtin_expect(steps->n == STEPS, 0))
        flush(steps);
    STROBE_ASSERT(steps->n < STEPS);
    steps->at[steps->n++] = (struct strobe_zone_step){time, id, end};
}

static void hand_on_mark(struct steps *steps, const struct strobe_nest_zone *mark)
{
    flush(steps);
    steps->taker->mark(steps->taker->context, mark);
}

/* End the zones of the stack that end up to `time`. One that ends later keeps those around it open. */
static inline void end_until(struct strobe_nest *nest, uint64_t time, struct steps *steps)
{
    STROBE_ASSERT(nest->n_stack <= nest->stack_room);
    while (nest->n_stack && nest->stack[nest->n_stack - 1].end <= time) {
        const struct strobe_nest_zone *top = &nest->stack[--nest->n_stack];
        if (__builtin_expect(top->kind && top->program, 0))
            hand_on(steps, top->end, STROBE_STEP_VALUE, top->program);
        hand_on(steps, top->end, STROBE_STEP_END, 0);
    }
}

static inline enum strobe_err begin(struct strobe_nest *nest, const struct strobe_nest_zone *zone,
                                    struct steps *steps)
{
    nest->n_late += zone->start < nest->out;
    end_until(nest, zone->start, steps);
    if (__builtin_expect(zone->kind, 0)) {
        hand_on_mark(steps, zone);
        return STROBE_OK;
    }
    if (__builtin_expect(nest->n_stack == nest->stack_room, 0) &&
        !reserve(&nest->stack, &nest->stack_room, nest->n_stack, 1))
        return STROBE_ERR_NOMEM;
    hand_on(steps, zone->start, zone->id, 0);
    if (!nest->n_stack && zone->program)
        hand_on(steps, zone->start, STROBE_STEP_VALUE, zone->program);
    STROBE_ASSERT(nest->n_stack < nest->stack_room);
    struct strobe_nest_zone *top = &nest->stack[nest->n_stack++];
    *top = *zone;
    top->kind = nest->n_stack == 1 && !zone->program;
    return STROBE_OK;
}

/* Most zones have none in them and one behind them: they need no place on the stack. False: this one does. */
static inline bool hand_on_whole(struct strobe_nest *nest, uint32_t at, uint64_t until,
                                 struct steps *steps)
{
    const struct strobe_nest_zone *zone = &nest->waiting[at];
    if (at + 1 == nest->n_waiting || zone->kind || zone->end > zone[1].start || zone->end > until ||
        !zone->end) /* a step without an end is a begin */
        return false;
    end_until(nest, zone->start, steps);
    if (!nest->n_stack)
        return false; /* an outermost one */
    nest->n_late += zone->start < nest->out;
    hand_on(steps, zone->start, zone->id, zone->end);
    return true;
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
    STROBE_ASSERT(taker && (open || !n_open));
    struct steps steps; /* its array is large, and not all of it is used */
    steps.taker = taker;
    steps.n = 0;
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
    for (; n < nest->n_waiting && nest->waiting[n].start <= until; n++) {
        if (hand_on_whole(nest, n, until, &steps))
            continue;
        enum strobe_err begun_err = begin(nest, &nest->waiting[n], &steps);
        err = err ? err : begun_err;
    }
    end_until(nest, until, &steps);
    flush(&steps);
    STROBE_ASSERT(n <= nest->n_waiting);
    nest->n_waiting -= n;
    if (n)
        memmove(nest->waiting, nest->waiting + n, nest->n_waiting * sizeof *nest->waiting);
    if (until > nest->out)
        nest->out = until;
    STROBE_ASSERT(nest->out >= until);
    return err;
}
