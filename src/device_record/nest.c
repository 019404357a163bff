/* nest.c - see the header. Zones come nearly in the order of their begins, since most have no children: what waits is kept
 * sorted by insertion.  SPDX-License-Identifier: MIT */
#include "device_record/nest.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

enum {
    STEPS = 512,
    AHEAD = 24, /* zones: nine lines of the cache */
    FEW = 256,
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

/* Room for `n` more, and for an eighth as reserve: all lanes together have a bound. Beyond a few it is `most` at once: pages that
 * are not written yet cost nothing, and copies on the way there do. False: none. */
static bool reserve(struct strobe_nest_zone **zones, uint32_t *room, uint32_t used, size_t n,
                    uint32_t most)
{
    uint64_t want = (uint64_t)used + n, have = want + want / 8 + 16;
    if (want <= *room)
        return true;
    if (want > FEW && have < most)
        have = most;
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

/* The latest begin of those that wait and of the top. */
static inline uint64_t latest_start(const struct strobe_nest *nest, struct top top)
{
    uint64_t last = nest->n_waiting ? nest->waiting[nest->n_waiting - 1].start : 0;
    return last > top.start ? last : top.start;
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
    if (!reserve(&nest->waiting, &nest->waiting_room, nest->n_waiting, n_zones, nest->most))
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
    if (!reserve(&nest->waiting, &nest->waiting_room, nest->n_waiting, n_zones, nest->most))
        return STROBE_ERR_NOMEM;
    struct strobe_nest_zone *next = nest->waiting + nest->n_waiting;
    uint64_t before = latest_start(nest, top);
    for (size_t i = 0; i < AHEAD && i < n_zones; i += 2)
        __builtin_prefetch(next + i, 1);
    for (size_t i = 0; i < n_zones; i++) {
        /* other lanes had the cache since it was the turn of this one; not all at once: the processor waits for few lines at a time */
        __builtin_prefetch(next + AHEAD, 1);
        /* As it is, straight to its place: put together of its members it would be read before they are all stored. */
        memcpy(next, &zones[i], sizeof *next);
        STROBE_ASSERT(next < nest->waiting + nest->waiting_room && !next->kind);
        if (__builtin_expect(next->start > before, 1)) { /* behind all others, and in none */
            before = next++->start;
            continue;
        }
        const struct strobe_nest_zone zone = *next;
        nest->n_waiting = (uint32_t)(next - nest->waiting);
        add(nest, top, &zone);
        next = nest->waiting + nest->n_waiting;
        before = latest_start(nest, top);
    }
    nest->n_waiting = (uint32_t)(next - nest->waiting);
    STROBE_ASSERT(nest->n_waiting <= nest->waiting_room);
    return STROBE_OK;
}

/* ---- handing on ---- */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* What the loop over zones changes, so that it stays in registers: its address goes to nobody who is not inlined. */
struct going {
    struct strobe_nest *nest;
    const struct strobe_nest_taker *taker;
    struct strobe_zone_step *steps; /* on their way to the taker: room for STEPS */
    size_t n_steps;
    struct strobe_nest_zone *stack; /* the nest's */
    uint32_t n_stack;
    uint64_t top_end;             /* of the innermost one; of none: no time is later */
    uint64_t latest;              /* cycles so far */
    struct strobe_nest_line line; /* that the last time lay on */
    const struct strobe_nest_zone *
        last; /* zones before this one are on it, if they end before the next begins; NULL: not known */
};

ALWAYS_INLINE void flush(struct going *g)
{
    STROBE_ASSERT(g->taker && g->n_steps <= STEPS);
    if (g->n_steps)
        g->taker->steps(g->taker->context, g->steps, g->n_steps);
    g->n_steps = 0;
}

ALWAYS_INLINE bool is_on(const struct strobe_nest_line *line, uint64_t cycles)
{
    return cycles >= line->from && cycles < line->until;
}

ALWAYS_INLINE uint64_t tick_on(const struct strobe_nest_line *line, uint64_t cycles)
{
    STROBE_ASSERT(is_on(line, cycles));
    return line->tick + (uint64_t)((unsigned __int128)(cycles + line->shift) * line->mult >> 32);
}

ALWAYS_INLINE void take_line(struct going *g, uint64_t cycles)
{
    g->line = g->taker->line(g->taker->context, cycles);
    g->last = NULL;
}

ALWAYS_INLINE uint64_t tick_of(struct going *g, uint64_t cycles)
{
    if (__builtin_expect(!is_on(&g->line, cycles), 0))
        take_line(g, cycles);
    g->latest = cycles > g->latest ? cycles : g->latest;
    return tick_on(&g->line, cycles);
}

ALWAYS_INLINE uint64_t loc_of(const struct strobe_nest_taker *taker, uint32_t id)
{
    struct strobe_nest_near *near = &taker->near[id % STROBE_NEST_NEAR];
    if (__builtin_expect(near->key != id + 1, 0)) {
        near->loc = taker->loc(taker->context, id);
        near->key = id + 1;
    }
    return near->loc;
}

ALWAYS_INLINE void hand_on(struct going *g, uint64_t tick, uint64_t loc, uint64_t end)
{
    if (__builtin_expect(g->n_steps == STEPS, 0))
        flush(g);
    STROBE_ASSERT(g->n_steps < STEPS);
    g->steps[g->n_steps++] = (struct strobe_zone_step){tick, loc, end};
}

/* The program of the outermost zone is known. */
ALWAYS_INLINE void hand_on_program(struct going *g, uint64_t tick, uint32_t program)
{
    hand_on(g, tick, STROBE_STEP_VALUE, program);
    if (__builtin_expect(g->taker->is_launched(g->taker->context, program), 0)) {
        flush(g);
        g->taker->launch(g->taker->context, tick);
    }
}

/* End the zones of the stack that end up to `time`. One that ends later keeps those around it open. */
ALWAYS_INLINE void end_until(struct going *g, uint64_t time)
{
    while (g->top_end <= time && g->n_stack) {
        const struct strobe_nest_zone *top = &g->stack[--g->n_stack];
        uint64_t tick = tick_of(g, g->top_end);
        STROBE_ASSERT(top->end == g->top_end);
        if (__builtin_expect(top->kind && top->program, 0))
            hand_on_program(g, tick, top->program);
        hand_on(g, tick, STROBE_STEP_END, 0);
        g->top_end = g->n_stack ? top[-1].end : UINT64_MAX;
    }
}

/* A zone of any kind; those that ended before it have been. */
ALWAYS_INLINE enum strobe_err begin(struct going *g, const struct strobe_nest_zone *zone)
{
    struct strobe_nest *nest = g->nest;
    nest->n_late += zone->start < nest->out;
    if (__builtin_expect(zone->kind, 0)) {
        flush(g);
        g->taker->mark(g->taker->context, zone, tick_of(g, zone->start));
        return STROBE_OK;
    }
    if (__builtin_expect(g->n_stack == nest->stack_room, 0)) {
        if (!reserve(&nest->stack, &nest->stack_room, g->n_stack, 1, 0))
            return STROBE_ERR_NOMEM;
        g->stack = nest->stack;
    }
    uint64_t tick = tick_of(g, zone->start);
    bool is_outermost = !g->n_stack;
    hand_on(g, tick, loc_of(g->taker, zone->id), 0);
    if (is_outermost && zone->program)
        hand_on_program(g, tick, zone->program);
    STROBE_ASSERT(g->n_stack < nest->stack_room);
    struct strobe_nest_zone *top = &g->stack[g->n_stack++];
    *top = *zone;
    if (__builtin_expect(is_outermost && !zone->program, 0))
        top->kind = 1;
    g->top_end = zone->end;
    return STROBE_OK;
}

/* Most zones have none in them and one behind them: they need no place on the stack. False: this one, of which `next` is the one behind it, does. */
ALWAYS_INLINE bool hand_on_whole(struct going *g, const struct strobe_nest_zone *zone,
                                 uint64_t next, uint64_t until)
{
    uint64_t start = zone->start, end = zone->end;
    STROBE_ASSERT(!g->n_stack || start < g->top_end);
    if (!g->n_stack || zone->kind || end > next || end > until || start > end ||
        start < g->nest->out) /* the last: late */
        return false;
    if (__builtin_expect(!is_on(&g->line, start), 0))
        take_line(g, start);
    if (__builtin_expect(end >= g->line.until, 0))
        return false;
    uint64_t tick = tick_on(&g->line, end);
    hand_on(g, tick_on(&g->line, start), loc_of(g->taker, zone->id),
            tick ? tick : 1); /* a step without an end is a begin */
    g->latest = end > g->latest ? end : g->latest;
    return true;
}

/* Behind the last one of the zones from `at` to before `end` of which the one behind it begins up to `until` and on the line: what ends before that
 * one is on the line too. */
static const struct strobe_nest_zone *last_on(const struct strobe_nest_line *line,
                                              const struct strobe_nest_zone *at,
                                              const struct strobe_nest_zone *end, uint64_t until)
{
    uint64_t last = until < line->until ? until : line->until - 1;
    if (end - at < 2 || at->start < line->from || !line->until)
        return at;
    return at + STROBE_ARRAY_BISECT(0, (size_t)(end - at) - 1, k, at[k + 1].start <= last);
}

/* What the loop over simple zones changes. */
struct simple {
    struct strobe_zone_step *step;
    struct strobe_nest_zone *top; /* the innermost open zone */
    uint64_t top_end, latest;
};

/* End the zones that end up to `time`, but for the outermost one, if they do so on the line. False: one is left, for the functions above. */
ALWAYS_INLINE bool simple_ends(struct simple *s, const struct strobe_nest_line *line,
                               const struct going *g, uint64_t time)
{
    while (__builtin_expect(s->top_end <= time, 0)) {
        if (__builtin_expect(s->top == g->stack || s->top_end < line->from, 0) ||
            __builtin_expect(s->step == g->steps + STEPS, 0))
            return false;
        STROBE_ASSERT(!s->top->kind && s->top_end == s->top->end);
        *s->step++ = (struct strobe_zone_step){tick_on(line, s->top_end), STROBE_STEP_END, 0};
        s->latest = s->top_end > s->latest ? s->top_end : s->latest;
        s->top_end = (--s->top)->end;
    }
    return true;
}

/* The same for a run of zones in zones, up to g->last, with next to nothing to be asked of each. Where it stopped: at a zone for the functions
 * above, or at g->last. */
static inline const struct strobe_nest_zone *hand_on_simple(struct going *g,
                                                            const struct strobe_nest_zone *at)
{
    const struct strobe_nest_line line = g->line;
    const struct strobe_nest_near *const near = g->taker->near;
    const struct strobe_nest_zone *const last = g->last;
    const struct strobe_zone_step *const full = g->steps + STEPS;
    if (!g->n_stack || at >= last || at->start < g->nest->out)
        return at;
    struct simple s = {g->steps + g->n_steps, g->stack + g->n_stack - 1, g->top_end, g->latest};
    const struct strobe_nest_zone *const top_last = g->stack + g->nest->stack_room - 1;
    for (uint64_t start = at->start, next; at < last; at++, start = next) {
        if (!simple_ends(&s, &line, g, start) || s.step == full)
            break;
        uint32_t word; /* of a mark: that of no location */
        memcpy(&word, (const char *)at + offsetof(struct strobe_nest_zone, end) + 8, sizeof word);
        const struct strobe_nest_near *loc = &near[word % STROBE_NEST_NEAR];
        next = at[1].start;
        if (__builtin_expect(loc->key != word + 1, 0))
            break;
        s.step->tick = tick_on(&line, start);
        s.step->loc = loc->loc;
        if (at->end - start <= next - start) { /* none begins in it */
            uint64_t tick = tick_on(&line, at->end);
            s.step++->end = tick + !tick;
            s.latest = at->end;
        } else {
            if (__builtin_expect(s.top == top_last, 0))
                break;
            s.step++->end = 0;
            *++s.top = *at;
            s.top_end = at->end;
            s.latest = start;
        }
    }
    g->n_steps = (size_t)(s.step - g->steps);
    g->n_stack = (uint32_t)(s.top - g->stack) + 1;
    g->top_end = s.top_end;
    g->latest = s.latest;
    return at;
}

/* What waits and began up to `until`, and the ends of what is open. */
static enum strobe_err hand_on_until(struct strobe_nest *nest, uint64_t until,
                                     const struct strobe_nest_taker *taker)
{
    struct strobe_zone_step steps[STEPS];
    const struct strobe_nest_zone *zone = nest->waiting, *end = zone + nest->n_waiting;
    struct going g = {.nest = nest,
                      .taker = taker,
                      .steps = steps,
                      .stack = nest->stack,
                      .n_stack = nest->n_stack,
                      .top_end = nest->n_stack ? nest->stack[nest->n_stack - 1].end : UINT64_MAX};
    enum strobe_err err = STROBE_OK;
    for (; zone < end && zone->start <= until; zone++) {
        end_until(&g, zone->start);
        if (__builtin_expect(!g.last, 0))
            g.last = last_on(&g.line, zone, end, until);
        const struct strobe_nest_zone *behind = hand_on_simple(&g, zone);
        if (behind > zone) {
            zone = behind - 1;
            continue;
        }
        if (zone + 1 < end && hand_on_whole(&g, zone, zone[1].start, until))
            continue;
        enum strobe_err begun_err = begin(&g, zone);
        err = err ? err : begun_err;
    }
    end_until(&g, until);
    flush(&g);
    nest->n_stack = g.n_stack;
    nest->latest = g.latest;
    uint32_t n = (uint32_t)(zone - nest->waiting);
    STROBE_ASSERT(n <= nest->n_waiting && g.n_stack <= nest->stack_room);
    nest->n_waiting -= n;
    if (n)
        memmove(nest->waiting, zone, nest->n_waiting * sizeof *zone);
    return err;
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
    enum strobe_err err = STROBE_OK;
    for (size_t i = 0; i < n_open; i++) {
        struct strobe_nest_zone zone = open[i];
        zone.end = STROBE_NEST_OPEN;
        if (zone.start > until || !is_new(nest, &zone))
            continue;
        if (reserve(&nest->waiting, &nest->waiting_room, nest->n_waiting, 1, nest->most))
            insert(nest, &zone);
        else
            err = STROBE_ERR_NOMEM;
    }
    enum strobe_err begun_err = hand_on_until(nest, until, taker);
    if (until > nest->out)
        nest->out = until;
    STROBE_ASSERT(nest->out >= until);
    return err ? err : begun_err;
}
