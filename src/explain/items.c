/* items.c - gathers the items of one window after the other, from the end of a range to its begin.
 * A block that reaches over several windows is decoded once for each: windows are as long as blocks or longer, so that this is
 * rare. Zones are paired part by part (file/replay.h); edges carry what is around them, so no stack is needed backwards.
 * SPDX-License-Identifier: MIT */
#include "explain/items.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/assert.h"
#include "file/replay.h"

enum { MAX_ITEMS = 1 << 20, FEW_ITEMS = 1 << 16 };

/* A zone of a part, by its begin and depth. */
struct zone {
    uint64_t begin, end;
    uint64_t loc; /* id */
    uint32_t depth;
    uint8_t has_ended;
};

struct gather {
    struct strobe_view *view;
    uint64_t lo, hi; /* inclusive */
    uint32_t max;
    struct strobe_item *items; /* owned */
    uint32_t n_items, items_room;
    struct zone *zones; /* owned: of one part */
    uint32_t n_zones, zones_room;
    uint32_t *stack; /* owned: by depth, index in zones */
    uint32_t stack_room;
    uint32_t *outs; /* owned: by thread, index of its last SWITCH_OUT */
    uint32_t outs_room;
    struct strobe_replay replay;
    struct strobe_joiner joiner;
    uint64_t n_bad_parts;
};

/* What an event of this kind is to a path, STROBE_ITEM_N: nothing. */
static enum strobe_item_what what_of(unsigned kind)
{
    switch (kind) {
    case STROBE_KIND_SWITCH_IN:
        return STROBE_ITEM_SWITCH_IN;
    case STROBE_KIND_SWITCH_OUT:
        return STROBE_ITEM_SWITCH_OUT;
    case STROBE_KIND_LOCK_WAIT:
        return STROBE_ITEM_LOCK_WAIT;
    case STROBE_KIND_LOCK_OBTAIN:
        return STROBE_ITEM_LOCK_OBTAIN;
    case STROBE_KIND_LOCK_RELEASE:
        return STROBE_ITEM_LOCK_RELEASE;
    case STROBE_KIND_LOCK_WAITED:
        return STROBE_ITEM_LOCK_WAITED;
    case STROBE_KIND_FLOW_BEGIN:
        return STROBE_ITEM_FLOW_OUT;
    case STROBE_KIND_FLOW_STEP:
        return STROBE_ITEM_FLOW_STEP;
    case STROBE_KIND_FLOW_END:
        return STROBE_ITEM_FLOW_IN;
    case STROBE_KIND_WAKEUP:
    case STROBE_KIND_WOKEN:
        return STROBE_ITEM_WAKEUP;
    case STROBE_KIND_MEM_ALLOC:
    case STROBE_KIND_MEM_BLOCK:
        return STROBE_ITEM_ALLOC;
    default:
        return STROBE_ITEM_N;
    }
}

/* A new item of the window, NULL: it is out of it (ok 1), full or without memory (0). */
static struct strobe_item *add_item(struct gather *gather, uint64_t tick, uint32_t thread, int *ok)
{
    *ok = 1;
    if (tick < gather->lo || tick > gather->hi)
        return NULL;
    if (gather->n_items == gather->max ||
        STROBE_ARRAY_RESERVE(gather->items, gather->items_room, gather->n_items + 1u)) {
        *ok = 0;
        return NULL;
    }
    struct strobe_item *item = &gather->items[gather->n_items++];
    *item = (struct strobe_item){.tick = tick,
                                 .thread = thread,
                                 .holder = STROBE_IDMAP_NONE,
                                 .loc = STROBE_IDMAP_NONE,
                                 .outer = STROBE_IDMAP_NONE};
    return item;
}

static int compare_zones(const void *a, const void *b)
{
    const struct zone *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* The zones that a part tells of: those that ended in it, and those that are open behind it. */
static int list_zones(struct gather *gather, const struct strobe_part *part,
                      const struct strobe_carry *carry)
{
    const struct strobe_replay *replay = &gather->replay;
    gather->n_zones = 0;
    if (STROBE_ARRAY_RESERVE(gather->zones, gather->zones_room,
                             (uint64_t)replay->n_zones + carry->n_open))
        return 0;
    for (uint32_t i = 0; i < replay->n_zones; i++) {
        const struct strobe_zone_row *row = &replay->zones[i];
        if (row->state != STROBE_ZONE_ENDED && row->state != STROBE_ZONE_UNFINISHED)
            continue;
        uint64_t ticks = row->state == STROBE_ZONE_ENDED ? row->ticks : row->self;
        gather->zones[gather->n_zones++] = (struct zone){row->begin, row->begin + ticks,
                                                         strobe_zone_loc(part, row), row->depth, 1};
    }
    for (uint32_t i = 0; i < carry->n_open; i++)
        if (!carry->open[i].is_unknown)
            gather->zones[gather->n_zones++] =
                (struct zone){carry->open[i].begin, 0, carry->open[i].loc, carry->n_under + i, 0};
    if (gather->n_zones)
        qsort(gather->zones, gather->n_zones, sizeof *gather->zones, compare_zones);
    return 1;
}

/* Begin and end of a zone as items, with the one around it. One that began in an earlier part has its begin there. */
static int add_edges(struct gather *gather, uint32_t process, uint32_t thread,
                     const struct zone *zone, const struct zone *outer, int began_here)
{
    const struct strobe_trace *trace = gather->view->trace;
    const uint64_t ticks[] = {zone->begin, zone->end};
    uint32_t loc = strobe_trace_loc(trace, process, zone->loc);
    for (int edge = !began_here; edge < 1 + zone->has_ended; edge++) {
        int ok;
        struct strobe_item *item = add_item(gather, ticks[edge], thread, &ok);
        if (!ok)
            return 0;
        if (!item)
            continue;
        item->what = edge ? STROBE_ITEM_ZONE_END : STROBE_ITEM_ZONE_BEGIN;
        item->loc = loc;
        item->begin = zone->begin;
        item->depth = zone->depth < 255 ? (uint8_t)zone->depth : 255;
        item->outer = outer ? strobe_trace_loc(trace, process, outer->loc) : STROBE_IDMAP_NONE;
        item->outer_begin = outer ? outer->begin : 0;
    }
    return 1;
}

static int add_zones(struct gather *gather, const struct strobe_part *part, uint32_t process,
                     uint32_t thread)
{
    for (uint32_t i = 0; i < gather->n_zones; i++) {
        const struct zone *zone = &gather->zones[i], *outer = NULL;
        if (STROBE_ARRAY_REACH(gather->stack, gather->stack_room, zone->depth))
            return 0;
        gather->stack[zone->depth] = i;
        if (zone->depth) { /* the one below it, unless its begin is in a hole */
            uint32_t below = gather->stack[zone->depth - 1];
            const struct zone *candidate = &gather->zones[below];
            if (below < i && candidate->depth + 1 == zone->depth &&
                (!candidate->has_ended || candidate->end >= zone->begin))
                outer = candidate;
        }
        if (!add_edges(gather, process, thread, zone, outer, zone->begin >= part->first_tick))
            return 0;
    }
    return 1;
}

static int has_events(const struct strobe_events *events, const struct strobe_part *part)
{
    const uint8_t *sym = events->stream[STROBE_SYM] + part->first_event;
    for (uint32_t i = 0; i < part->n_events; i++)
        if (what_of(strobe_kind_of_sym(sym[i])) != STROBE_ITEM_N)
            return 1;
    return 0;
}

/* The thread of a process that has this number, STROBE_IDMAP_NONE: not in the trace. */
static uint32_t find_tid(const struct strobe_trace *trace, uint32_t like, uint64_t tid)
{
    uint32_t process = strobe_items_process(trace, trace->threads[like].process);
    for (uint32_t i = 0; tid && i < trace->thread_ids.n; i++)
        if (trace->threads[i].tid == tid &&
            strobe_items_process(trace, trace->threads[i].process) == process)
            return strobe_items_thread(trace, i);
    return STROBE_IDMAP_NONE;
}

/* lock, shared, ticks, holder, stack */
static void set_wait(const struct gather *gather, const struct strobe_event *event,
                     struct strobe_item *item)
{
    if (event->n_fields < 4)
        return;
    uint64_t ticks = event->fields[2].u;
    item->begin = ticks < event->tick ? event->tick - ticks : 0;
    item->holder = find_tid(gather->view->trace, item->thread, event->fields[3].u);
}

/* cpu, by: the item is the waker's, as of a wakeup; where that is none of the trace it stays with who was woken. */
static void set_waker(const struct gather *gather, const struct strobe_event *event,
                      struct strobe_item *item)
{
    const struct strobe_trace *trace = gather->view->trace;
    uint64_t by = event->n_fields > 1 ? event->fields[1].u : 0;
    uint32_t host = trace->processes[trace->threads[item->thread].process].source;
    item->id = trace->threads[item->thread].tid;
    for (uint32_t i = trace->thread_ids.n; by && i-- > 0;)
        if (trace->threads[i].tid == by &&
            trace->processes[trace->threads[i].process].source == host) {
            item->thread = strobe_items_thread(trace, i);
            return;
        }
    item->id = 0;
}

static int add_events(struct gather *gather, const struct strobe_events *events,
                      const struct strobe_part *part, uint32_t thread)
{
    struct strobe_cursor cursor;
    struct strobe_event event;
    enum strobe_err err;
    gather->joiner.n_text = 0;
    strobe_cursor_start(&cursor, events, part, &gather->view->trace->schema, &gather->joiner);
    while ((err = strobe_cursor_next(&cursor, &event)) == STROBE_OK) {
        enum strobe_item_what what = what_of(event.kind);
        int ok;
        struct strobe_item *item =
            what == STROBE_ITEM_N ? NULL : add_item(gather, event.tick, thread, &ok);
        if (what != STROBE_ITEM_N && !ok)
            return 0;
        if (!item)
            continue;
        item->what = (uint8_t)what;
        item->id = what == STROBE_ITEM_ALLOC || !event.n_fields ? 0 : event.fields[0].u;
        if (event.kind == STROBE_KIND_WOKEN)
            set_waker(gather, &event, item);
        if ((what == STROBE_ITEM_SWITCH_OUT || what == STROBE_ITEM_SWITCH_IN) && event.n_fields > 1)
            item->reason = (uint16_t)event.fields[1].u;
        if (what == STROBE_ITEM_LOCK_WAITED)
            set_wait(gather, &event, item);
    }
    gather->n_bad_parts += err != STROBE_ERR_END;
    return 1;
}

static int add_part(struct gather *gather, const struct strobe_events *events,
                    const struct strobe_part *part)
{
    struct strobe_trace *trace = gather->view->trace;
    struct strobe_carry carry = {0};
    uint32_t track = strobe_view_thread(gather->view, part->proc, part->track);
    if (track == STROBE_IDMAP_NONE)
        return 0;
    uint32_t process = trace->threads[track].process, thread = strobe_items_thread(trace, track);
    enum strobe_err err =
        strobe_replay_part(events, part, &trace->schema, 0, &carry, &gather->replay);
    gather->n_bad_parts += err == STROBE_ERR_CORRUPT;
    int ok = err != STROBE_ERR_NOMEM && list_zones(gather, part, &carry) &&
             add_zones(gather, part, process, thread) &&
             (!has_events(events, part) || add_events(gather, events, part, thread));
    strobe_carry_free(&carry);
    return ok;
}

static int compare_items(const void *a, const void *b)
{
    const struct strobe_item *x = a, *y = b;
    return x->tick < y->tick ? -1 : x->tick > y->tick;
}

/* Each return to a processor knows when and why the thread left it, where that is in the same window. */
static int pair_switches(struct gather *gather)
{
    uint32_t n = gather->view->trace->thread_ids.n;
    if (STROBE_ARRAY_RESERVE(gather->outs, gather->outs_room, n))
        return 0;
    for (uint32_t i = 0; i < n; i++)
        gather->outs[i] = UINT32_MAX;
    for (uint32_t i = 0; i < gather->n_items; i++) {
        struct strobe_item *item = &gather->items[i];
        STROBE_ASSERT(item->thread < n);
        uint32_t out = gather->outs[item->thread];
        if (item->what == STROBE_ITEM_SWITCH_OUT) {
            gather->outs[item->thread] = i;
        } else if (item->what == STROBE_ITEM_SWITCH_IN && out != UINT32_MAX) {
            item->begin = gather->items[out].tick;
            item->reason = item->reason ? item->reason : gather->items[out].reason;
            gather->outs[item->thread] = UINT32_MAX;
        }
    }
    return 1;
}

/* A wait names who had the lock when it began. Whoever got the lock by a wait that ended meanwhile had it later. */
static int pair_waits(struct gather *gather)
{
    const struct strobe_trace *trace = gather->view->trace;
    struct strobe_idmap ids = {0};
    struct got {
        uint64_t tick;
        uint32_t thread;
    } *got = NULL; /* owned: the last one, by lock */
    uint32_t room = 0, i = 0;
    for (uint32_t k = 0; k < gather->n_items && i != STROBE_IDMAP_NONE; k++) {
        struct strobe_item *item = &gather->items[k];
        if (item->what != STROBE_ITEM_LOCK_WAITED || item->holder == STROBE_IDMAP_NONE)
            continue;
        uint32_t known = ids.n, process = trace->threads[item->thread].process;
        i = strobe_idmap_add_row(&ids, strobe_items_process(trace, process), item->id,
                                 (void **)&got, &room, sizeof *got);
        if (i == STROBE_IDMAP_NONE)
            break;
        if (i < known && got[i].tick > item->begin && got[i].thread != item->thread)
            item->holder = got[i].thread;
        got[i] = (struct got){item->tick, item->thread};
    }
    strobe_idmap_free(&ids);
    free(got);
    return i != STROBE_IDMAP_NONE;
}

/* All items of [lo, hi], sorted. 0: they are too many, or there is no memory. */
static int gather_window(struct gather *gather)
{
    struct strobe_view *view = gather->view;
    gather->n_items = 0;
    for (uint32_t b = strobe_view_prev(view, view->n_blocks, gather->lo, gather->hi);
         b != STROBE_VIEW_NO_BLOCK; b = strobe_view_prev(view, b, gather->lo, gather->hi)) {
        const struct strobe_events *events = strobe_view_glance(view, b);
        for (uint32_t i = 0; events && i < events->n_parts; i++) {
            const struct strobe_part *part = &events->parts[i];
            if (part->n_events && part->last_tick >= gather->lo && part->first_tick <= gather->hi &&
                !add_part(gather, events, part))
                return 0;
        }
    }
    if (gather->n_items)
        qsort(gather->items, gather->n_items, sizeof *gather->items, compare_items);
    return pair_switches(gather) && pair_waits(gather);
}

/* Windows from the end to the begin, longer where little happens, shorter where much does. */
static enum strobe_err sweep(struct gather *gather, const struct strobe_items_options *options,
                             strobe_item_take *take, void *context)
{
    uint64_t all = options->tick_max - options->tick_min;
    uint64_t share = gather->view->n_events / FEW_ITEMS + 1;
    uint64_t ticks = all / share + 1, hi = options->tick_max;
    for (;;) {
        if (options->stop && atomic_load(options->stop))
            return STROBE_ERR_LIMIT;
        gather->hi = hi;
        gather->lo = hi - options->tick_min < ticks ? options->tick_min : hi - ticks + 1;
        STROBE_ASSERT(gather->lo <= gather->hi && gather->lo >= options->tick_min);
        if (!gather_window(gather)) {
            if (gather->n_items < gather->max)
                return STROBE_ERR_NOMEM;
            if (gather->lo == gather->hi)
                return STROBE_ERR_LIMIT;
            ticks = (gather->hi - gather->lo) / 2 + 1;
            continue;
        }
        for (uint32_t i = gather->n_items; i-- > 0;) {
            enum strobe_err err = take(context, &gather->items[i]);
            if (err)
                return err;
        }
        if (gather->lo == options->tick_min)
            return STROBE_OK;
        hi = gather->lo - 1;
        if (gather->n_items < FEW_ITEMS && ticks < UINT64_MAX / 2)
            ticks *= 2;
    }
}

enum strobe_err strobe_items_sweep(struct strobe_view *view,
                                   const struct strobe_items_options *options,
                                   strobe_item_take *take, void *context, uint64_t *n_bad_parts)
{
    struct gather gather = {.view = view,
                            .max = options->max_items ? options->max_items : MAX_ITEMS};
    if (options->tick_min > options->tick_max)
        return STROBE_OK;
    enum strobe_err err = sweep(&gather, options, take, context);
    if (n_bad_parts)
        *n_bad_parts += gather.n_bad_parts;
    strobe_replay_free(&gather.replay);
    strobe_joiner_free(&gather.joiner);
    free(gather.items);
    free(gather.zones);
    free(gather.stack);
    free(gather.outs);
    return err;
}
