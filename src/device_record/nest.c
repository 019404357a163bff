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
    strobe_nest_taker *taker;
    void *context;
    size_t n;
    struct strobe_nest_step at[STEPS];
};

void strobe_nest_free(struct strobe_nest *nest)
{
    free(nest->waiting);
    free(nest->stack);
    memset(nest, 0, sizeof *nest);
}

/* Whether `a` goes before `b`, which was added before it: a parent ends later than its children and begins no later. */
static bool goes_before(const struct strobe_nest_zone *a, const struct strobe_nest_zone *b)
{
    return a->start < b->start ||
           (a->start == b->start && !a->kind && !b->kind && a->end >= b->end);
}

/* Room for `n` more; false: none. */
static bool reserve(struct strobe_nest_zone **zones, uint32_t *room, uint32_t used, size_t n)
{
    uint64_t want = (uint64_t)used + n, have = *room ? *room : 16;
    if (want <= *room)
        return true;
    while (have < want)
        have *= 2;
    struct strobe_nest_zone *more =
        have <= UINT32_MAX ? strobe_array_resize(*zones, have, sizeof *more) : NULL;
    if (!more)
        return false;
    *zones = more;
    *room = (uint32_t)have;
    STROBE_ASSERT(*room >= want);
    return true;
}

static void insert(struct strobe_nest *nest, const struct strobe_nest_zone *zone)
{
    STROBE_ASSERT(nest->n_waiting < nest->waiting_room); /* room was made */
    uint32_t i = nest->n_waiting++;
    while (i && goes_before(zone, &nest->waiting[i - 1])) {
        nest->waiting[i] = nest->waiting[i - 1];
        i--;
    }
    nest->waiting[i] = *zone;
    STROBE_ASSERT(!i || !goes_before(zone, &nest->waiting[i - 1]));
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

enum strobe_err strobe_nest_add(struct strobe_nest *nest, const struct strobe_nest_zone *zones,
                                size_t n_zones)
{
    if (!reserve(&nest->waiting, &nest->waiting_room, nest->n_waiting, n_zones))
        return STROBE_ERR_NOMEM;
    for (size_t i = 0; i < n_zones; i++) {
        struct strobe_nest_zone *open = zones[i].kind ? NULL : begun(nest, &zones[i]);
        if (open)
            open->end = zones[i].end;
        else
            insert(nest, &zones[i]);
    }
    STROBE_ASSERT(nest->n_waiting <= nest->waiting_room);
    return STROBE_OK;
}

/* ---- handing on ---- */

static void flush(struct steps *steps)
{
    STROBE_ASSERT(steps->taker && steps->n <= STEPS);
    if (steps->n)
        steps->taker(steps->context, steps->at, steps->n);
    steps->n = 0;
}

static void hand_on(struct steps *steps, uint64_t time, const struct strobe_nest_zone *zone,
                    uint32_t depth, bool is_end)
{
    if (steps->n == STEPS)
        flush(steps);
    STROBE_ASSERT(steps->n < STEPS);
    steps->at[steps->n++] = (struct strobe_nest_step){
        time, zone->id, zone->program, depth, is_end, zone->kind, zone->kind ? zone->end : 0};
}

/* End the zones of the stack that end up to `time`. One that ends later keeps those around it open. */
static void end_until(struct strobe_nest *nest, uint64_t time, struct steps *steps)
{
    STROBE_ASSERT(nest->n_stack <= nest->stack_room);
    while (nest->n_stack && nest->stack[nest->n_stack - 1].end <= time) {
        const struct strobe_nest_zone *top = &nest->stack[--nest->n_stack];
        hand_on(steps, top->end, top, nest->n_stack, true);
    }
}

static enum strobe_err begin(struct strobe_nest *nest, const struct strobe_nest_zone *zone,
                             struct steps *steps)
{
    if (zone->start < nest->out)
        nest->n_late++;
    end_until(nest, zone->start, steps);
    if (zone->kind) {
        hand_on(steps, zone->start, zone, nest->n_stack, false);
        return STROBE_OK;
    }
    if (!reserve(&nest->stack, &nest->stack_room, nest->n_stack, 1))
        return STROBE_ERR_NOMEM;
    hand_on(steps, zone->start, zone, nest->n_stack, false);
    nest->stack[nest->n_stack++] = *zone;
    STROBE_ASSERT(nest->n_stack <= nest->stack_room);
    return STROBE_OK;
}

static bool same(const struct strobe_nest_zone *a, const struct strobe_nest_zone *b)
{
    return a->start == b->start && a->id == b->id && !a->kind && !b->kind;
}

/* Whether an open zone of the table has no begin yet, neither handed on nor waiting. */
static bool is_new(struct strobe_nest *nest, const struct strobe_nest_zone *open)
{
    for (uint32_t i = 0; i < nest->n_stack; i++)
        if (same(&nest->stack[i], open))
            return false;
    for (uint32_t i = 0; i < nest->n_waiting && nest->waiting[i].start <= open->start; i++)
        if (same(&nest->waiting[i], open))
            return false;
    return true;
}

enum strobe_err strobe_nest_advance(struct strobe_nest *nest, uint64_t until,
                                    const struct strobe_nest_zone *open, size_t n_open,
                                    strobe_nest_taker *taker, void *context)
{
    struct steps steps = {.taker = taker, .context = context};
    STROBE_ASSERT(taker && (open || !n_open));
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
        enum strobe_err begun_err = begin(nest, &nest->waiting[n], &steps);
        err = err ? err : begun_err;
    }
    STROBE_ASSERT(n <= nest->n_waiting);
    nest->n_waiting -= n;
    if (n)
        memmove(nest->waiting, nest->waiting + n, nest->n_waiting * sizeof *nest->waiting);
    end_until(nest, until, &steps);
    if (until > nest->out)
        nest->out = until;
    STROBE_ASSERT(nest->out >= until);
    flush(&steps);
    return err;
}
