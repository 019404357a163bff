/* gpu.c - resolves GPU zones, event by event.
 *
 * The events of a context are taken in the order of the file where one track has them all (a Tracy
 * client's: that is the order in which they came), else by tick. So the file is read twice: first for who has what. A query
 * number stands for the begin or the end of a zone from its GPU_BEGIN or GPU_END to its GPU_TIME, and may be used again then.
 *
 * A zone is handed out when it has ended, no time can come for it any more, and its children were: what is held is what is
 * under way.  SPDX-License-Identifier: MIT */
#include "query/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/map.h"
#include "base/sort.h"
#include "query/walk.h"

enum {
    NOTE_REACH = 65536, /* zones that a note may be late by */
#ifdef __wasm__         /* there are no files */
    SORT_BYTES = 1 << 30,
#else
    SORT_BYTES = 16 << 20,
#endif
    NOBODY = 0, /* of slots, which count from 1 */
};

struct event {
    uint64_t tick;
    uint64_t query;
    uint64_t tid_or_host; /* BEGIN, END, NOTE: thread; CALIBRATION, SYNC: time of the process */
    uint64_t loc_or_time; /* BEGIN: location; TIME, CALIBRATION, SYNC: time; NOTE: note */
    union {
        int64_t delta_ns;
        double value;
    };
    int64_t own;
    uint32_t context;
    uint32_t kind;
};

/* A zone that is under way. */
struct slot {
    struct strobe_gpu_zone zone;
    uint32_t parent;   /* slot, or NOBODY; of a free one: the next free one */
    uint32_t n_waits;  /* times that may still come */
    uint32_t n_inside; /* children that were not handed out */
    uint8_t is_used;
};

/* One context. */
struct resolver {
    uint32_t thread; /* index + 1 of the one track that has its events, as far as is known */
    uint8_t is_mixed;
    uint8_t is_started;
    int64_t time_diff, calibrated_gpu, calibrated_cpu;
    double mod;
    int64_t last_time;
    uint64_t overflow, n_overflows;
    struct slot *slots; /* owned: slot 1 is the first */
    uint32_t n_slots, slots_room, free_slot;
    uint32_t n_zones;
    struct strobe_map waiting; /* query to the slot that wants its time */
    struct strobe_map stacks;  /* thread to the slot of its innermost open zone */
    struct strobe_map
        by_query;      /* with notes: query to the number of the last zone that began with it */
    uint64_t *queries; /* owned: of the last NOTE_REACH zones; NULL: no notes are wanted */
};

struct resolving {
    struct strobe_client_facts *facts;        /* borrowed */
    const struct strobe_gpu_visitor *visitor; /* borrowed */
    struct resolver *contexts;                /* owned: by index in facts->contexts */
    uint32_t contexts_room;
    struct strobe_sort *sort;             /* owned: events of mixed contexts; NULL: none */
    struct strobe_gpu_troubles *troubles; /* borrowed */
};

/* ---- events ---- */

static struct event read_event(const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    struct event out = {.tick = event->tick, .own = event->own, .kind = event->kind};
    switch (event->kind) {
    case STROBE_KIND_GPU_BEGIN:
        out.query = f[1].u, out.tid_or_host = f[2].u, out.loc_or_time = f[3].u;
        break;
    case STROBE_KIND_GPU_END:
        out.query = f[1].u, out.tid_or_host = f[2].u;
        break;
    case STROBE_KIND_GPU_TIME:
        out.query = f[1].u, out.loc_or_time = (uint64_t)f[2].i;
        break;
    case STROBE_KIND_GPU_CALIBRATION:
        out.loc_or_time = (uint64_t)f[1].i, out.tid_or_host = f[2].u, out.delta_ns = f[3].i;
        break;
    case STROBE_KIND_GPU_SYNC:
        out.loc_or_time = (uint64_t)f[1].i, out.tid_or_host = f[2].u;
        break;
    case STROBE_KIND_GPU_NOTE:
        out.query = f[1].u, out.tid_or_host = f[2].u, out.loc_or_time = f[3].u, out.value = f[4].d;
        break;
    }
    return out;
}

/* The context of an event, made if need be; STROBE_IDMAP_NONE without memory. */
static uint32_t context_of(struct resolving *resolving, const struct strobe_happening *happening)
{
    struct strobe_client_facts *facts = resolving->facts;
    uint32_t i = strobe_idmap_add_row(&facts->context_ids, happening->process,
                                      happening->event->fields[0].u, (void **)&facts->contexts,
                                      &facts->contexts_room, sizeof *facts->contexts);
    if (i == STROBE_IDMAP_NONE ||
        STROBE_ARRAY_REACH(resolving->contexts, resolving->contexts_room, i))
        return STROBE_IDMAP_NONE;
    facts->contexts[i].process = happening->process;
    facts->contexts[i].id = happening->event->fields[0].u;
    return i;
}

static enum strobe_err look_at_event(void *context, const struct strobe_happening *happening)
{
    struct resolving *resolving = context;
    uint32_t i = context_of(resolving, happening);
    if (i == STROBE_IDMAP_NONE)
        return STROBE_ERR_NOMEM;
    struct resolver *resolver = &resolving->contexts[i];
    resolver->is_mixed |= resolver->thread && resolver->thread != happening->thread + 1;
    resolver->thread = happening->thread + 1;
    return STROBE_OK;
}

/* ---- times ---- */

static const struct strobe_gpu_context_fact *fact_of(const struct resolving *resolving,
                                                     const struct resolver *resolver)
{
    return &resolving->facts->contexts[resolver - resolving->contexts];
}

static int64_t cpu_ns(const struct resolving *resolving, const struct resolver *resolver,
                      uint64_t host)
{
    return strobe_client_own_ns(resolving->facts, fact_of(resolving, resolver)->process, host);
}

static enum strobe_err start_context(struct resolving *resolving, struct resolver *resolver)
{
    const struct strobe_gpu_context_fact *fact = fact_of(resolving, resolver);
    resolver->calibrated_gpu = strobe_gpu_own_ns(fact, fact->time);
    resolver->calibrated_cpu = cpu_ns(resolving, resolver, fact->host);
    resolver->time_diff = resolver->calibrated_cpu - resolver->calibrated_gpu;
    resolver->mod = 1;
    resolver->is_started = 1;
    if (resolving->visitor->note &&
        !(resolver->queries = calloc(NOTE_REACH, sizeof *resolver->queries)))
        return STROBE_ERR_NOMEM;
    return STROBE_OK;
}

/* A counter that falls by more than 2^31 began anew at the next power of two above what it was. */
static int64_t unwrap(struct resolver *resolver, int64_t time)
{
    if (time < resolver->last_time - (1ll << 31)) {
        if (!resolver->overflow)
            resolver->overflow = resolver->last_time > 0
                                     ? 1ull << (64 - __builtin_clzll((uint64_t)resolver->last_time))
                                     : 0;
        resolver->n_overflows++;
    }
    resolver->last_time = time;
    return (int64_t)((uint64_t)time + resolver->overflow * resolver->n_overflows);
}

static int64_t resolve_time(const struct resolving *resolving, struct resolver *resolver,
                            int64_t time)
{
    const struct strobe_gpu_context_fact *fact = fact_of(resolving, resolver);
    double period = fact->period_ns;
    time = unwrap(resolver, time);
    if (!fact->calibrated)
        return strobe_gpu_own_ns(fact, time) + resolver->time_diff;
    double since = period == 1.0 ? (double)(time - resolver->calibrated_gpu)
                                 : period * (double)time - (double)resolver->calibrated_gpu;
    return (int64_t)(since * resolver->mod + (double)resolver->calibrated_cpu);
}

static void calibrate(const struct resolving *resolving, struct resolver *resolver,
                      const struct event *event)
{
    int64_t gpu = strobe_gpu_own_ns(fact_of(resolving, resolver), (int64_t)event->loc_or_time);
    int64_t passed = gpu - resolver->calibrated_gpu;
    if (passed)
        resolver->mod = (double)event->delta_ns / (double)passed;
    resolver->calibrated_gpu = gpu;
    resolver->calibrated_cpu = cpu_ns(resolving, resolver, event->tid_or_host);
}

static void sync_clock(const struct resolving *resolving, struct resolver *resolver,
                       const struct event *event)
{
    resolver->time_diff =
        cpu_ns(resolving, resolver, event->tid_or_host) -
        strobe_gpu_own_ns(fact_of(resolving, resolver), (int64_t)event->loc_or_time);
    resolver->last_time = 0;
    resolver->overflow = resolver->n_overflows = 0;
}

/* ---- zones ---- */

/* A slot, zeroed; NOBODY without memory. Slots that were found before may move. */
static uint32_t take_slot(struct resolver *resolver)
{
    uint32_t slot = resolver->free_slot;
    if (slot) {
        resolver->free_slot = resolver->slots[slot].parent;
    } else {
        if (STROBE_ARRAY_REACH(resolver->slots, resolver->slots_room, resolver->n_slots + 1ull))
            return NOBODY;
        slot = ++resolver->n_slots;
    }
    resolver->slots[slot] = (struct slot){.is_used = 1};
    return slot;
}

static void set_ticks(const struct resolving *resolving, struct resolver *resolver,
                      struct strobe_gpu_zone *zone)
{
    uint32_t process = fact_of(resolving, resolver)->process;
    if (zone->gpu_begin == STROBE_GPU_UNKNOWN)
        return;
    zone->begin_tick = strobe_client_tick(resolving->facts, process, zone->gpu_begin);
    if (zone->gpu_end == STROBE_GPU_UNKNOWN)
        return;
    zone->end_tick = strobe_client_tick(resolving->facts, process, zone->gpu_end);
    if (zone->end_tick < zone->begin_tick)
        zone->end_tick = zone->begin_tick;
}

/* Hand a zone out; its parent then knows what it took. */
static enum strobe_err give(struct resolving *resolving, struct resolver *resolver, uint32_t at)
{
    struct slot *slot = &resolver->slots[at];
    struct strobe_gpu_zone *zone = &slot->zone;
    struct slot *parent = slot->parent ? &resolver->slots[slot->parent] : NULL;
    STROBE_ASSERT(slot->is_used && (!parent || parent->is_used));
    if (resolving->visitor->with_ticks)
        set_ticks(resolving, resolver, zone);
    if (parent) {
        int is_whole = zone->gpu_begin != STROBE_GPU_UNKNOWN && zone->gpu_end != STROBE_GPU_UNKNOWN;
        parent->n_inside--;
        if (is_whole)
            parent->zone.children_ticks += zone->end_tick - zone->begin_tick;
        if (is_whole && zone->gpu_end >= zone->gpu_begin)
            parent->zone.children_ns += (uint64_t)zone->gpu_end - (uint64_t)zone->gpu_begin;
    }
    enum strobe_err err = resolving->visitor->zone(resolving->visitor->context, zone);
    *slot = (struct slot){.parent = resolver->free_slot};
    resolver->free_slot = at;
    return err;
}

/* Hand out a zone that is over, and those around it that only waited for it. */
static enum strobe_err settle(struct resolving *resolving, struct resolver *resolver, uint32_t at)
{
    enum strobe_err err = STROBE_OK;
    while (at && !err) {
        const struct slot *slot = &resolver->slots[at];
        uint32_t parent = slot->parent;
        if (!slot->zone.has_cpu_end || slot->n_waits || slot->n_inside)
            return STROBE_OK;
        err = give(resolving, resolver, at);
        at = parent;
    }
    return err;
}

/* From here on the time of this query is the zone's; the one that waited for it waits in vain. */
static enum strobe_err wait_for(struct resolving *resolving, struct resolver *resolver,
                                uint64_t query, uint32_t at)
{
    uint64_t *waiting;
    enum strobe_err err = strobe_map_add(&resolver->waiting, query, &waiting);
    if (err)
        return err;
    uint32_t before = (uint32_t)*waiting;
    *waiting = at;
    resolver->slots[at].n_waits++;
    if (!before)
        return STROBE_OK;
    resolver->slots[before].n_waits--;
    return before == at ? STROBE_OK : settle(resolving, resolver, before);
}

/* The innermost open zone of a thread: a slot, or NOBODY. NULL without memory. */
static uint64_t *top_of(const struct resolving *resolving, struct resolver *resolver, uint64_t tid)
{
    uint64_t *top;
    if (fact_of(resolving, resolver)->tid)
        tid = 0; /* all zones of the context are one thread's; ends say 0 */
    return strobe_map_add(&resolver->stacks, tid, &top) ? NULL : top;
}

/* A zone's notes name it by its query, for as long as few zones came since. */
static enum strobe_err keep_query(struct resolver *resolver, uint64_t query)
{
    uint32_t number = resolver->n_zones;
    if (!resolver->queries)
        return STROBE_OK;
    uint64_t *old = &resolver->queries[number % NOTE_REACH];
    if (number >= NOTE_REACH &&
        strobe_map_get(&resolver->by_query, *old, UINT64_MAX) == number - NOTE_REACH)
        strobe_map_remove(&resolver->by_query, *old);
    *old = query;
    return strobe_map_put(&resolver->by_query, query, number);
}

static enum strobe_err begin_zone(struct resolving *resolving, struct resolver *resolver,
                                  const struct event *event)
{
    const struct strobe_gpu_context_fact *fact = fact_of(resolving, resolver);
    uint64_t *top = top_of(resolving, resolver, event->tid_or_host);
    uint32_t at = top && resolver->n_zones < UINT32_MAX - 1 ? take_slot(resolver) : NOBODY;
    if (!at)
        return STROBE_ERR_NOMEM;
    struct slot *slot = &resolver->slots[at];
    struct slot *parent = *top ? &resolver->slots[*top] : NULL;
    slot->parent = (uint32_t)*top;
    slot->zone = (struct strobe_gpu_zone){
        .context = event->context,
        .parent = parent ? parent->zone.number : STROBE_IDMAP_NONE,
        .number = resolver->n_zones,
        .depth = parent ? parent->zone.depth + 1 : 0,
        .tid = fact->tid ? fact->tid : event->tid_or_host,
        .loc = event->loc_or_time,
        .query = event->query,
        .cpu_begin = event->tick,
        .cpu_begin_own = event->own,
        .gpu_begin = STROBE_GPU_UNKNOWN,
        .gpu_end = STROBE_GPU_UNKNOWN,
    };
    if (parent) {
        parent->zone.n_children++;
        parent->n_inside++;
    }
    *top = at;
    enum strobe_err err = keep_query(resolver, event->query);
    resolver->n_zones++;
    return err ? err : wait_for(resolving, resolver, event->query, at);
}

static enum strobe_err end_zone(struct resolving *resolving, struct resolver *resolver,
                                const struct event *event)
{
    uint64_t *top = top_of(resolving, resolver, event->tid_or_host);
    if (!top)
        return STROBE_ERR_NOMEM;
    if (!*top) {
        resolving->troubles->n_stray++;
        return STROBE_OK;
    }
    uint32_t at = (uint32_t)*top;
    struct slot *slot = &resolver->slots[at];
    slot->zone.cpu_end = event->tick;
    slot->zone.cpu_end_own = event->own;
    slot->zone.has_cpu_end = 1;
    *top = slot->parent;
    return wait_for(resolving, resolver, event->query, at);
}

static enum strobe_err take_time(struct resolving *resolving, struct resolver *resolver,
                                 const struct event *event)
{
    int64_t time = resolve_time(resolving, resolver, (int64_t)event->loc_or_time);
    uint32_t at = (uint32_t)strobe_map_get(&resolver->waiting, event->query, NOBODY);
    if (!at) {
        resolving->troubles->n_stray++;
        return STROBE_OK;
    }
    strobe_map_remove(&resolver->waiting, event->query);
    struct slot *slot = &resolver->slots[at];
    slot->n_waits--;
    if (slot->zone.gpu_begin == STROBE_GPU_UNKNOWN)
        slot->zone.gpu_begin = time;
    else
        slot->zone.gpu_end = time;
    return settle(resolving, resolver, at);
}

/* A note names a zone by the query of its begin: the last one that had it. */
static enum strobe_err take_note(struct resolving *resolving, const struct resolver *resolver,
                                 const struct event *event)
{
    const struct strobe_gpu_visitor *visitor = resolving->visitor;
    if (!visitor->note)
        return STROBE_OK;
    uint64_t number = strobe_map_get(&resolver->by_query, event->query, UINT64_MAX);
    if (number == UINT64_MAX) {
        resolving->troubles->n_stray++;
        return STROBE_OK;
    }
    return visitor->note(visitor->context, event->context, (uint32_t)number, event->loc_or_time,
                         event->value);
}

static enum strobe_err take_event(struct resolving *resolving, const struct event *event)
{
    struct resolver *resolver = &resolving->contexts[event->context];
    enum strobe_err err = resolver->is_started ? STROBE_OK : start_context(resolving, resolver);
    if (err)
        return err;
    switch (event->kind) {
    case STROBE_KIND_GPU_BEGIN:
        return begin_zone(resolving, resolver, event);
    case STROBE_KIND_GPU_END:
        return end_zone(resolving, resolver, event);
    case STROBE_KIND_GPU_TIME:
        return take_time(resolving, resolver, event);
    case STROBE_KIND_GPU_CALIBRATION:
        calibrate(resolving, resolver, event);
        return STROBE_OK;
    case STROBE_KIND_GPU_SYNC:
        sync_clock(resolving, resolver, event);
        return STROBE_OK;
    default:
        return take_note(resolving, resolver, event);
    }
}

/* ---- the order of events ---- */

static int by_tick(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->tick < y->tick ? -1 : x->tick > y->tick;
}

static enum strobe_err gather_event(void *context, const struct strobe_happening *happening)
{
    static const struct strobe_sort_options options = {
        .record_bytes = sizeof(struct event), .memory_bytes = SORT_BYTES, .compare = by_tick};
    struct resolving *resolving = context;
    struct event event = read_event(happening->event);
    enum strobe_err err = STROBE_OK;
    event.context = context_of(resolving, happening);
    if (event.context == STROBE_IDMAP_NONE)
        return STROBE_ERR_NOMEM;
    if (!resolving->contexts[event.context].is_mixed)
        return take_event(resolving, &event);
    if (!resolving->sort)
        err = strobe_sort_open(&options, &resolving->sort);
    return err ? err : strobe_sort_add(resolving->sort, &event, NULL, 0);
}

static enum strobe_err take_sorted(void *context, const void *record, const void *bytes,
                                   size_t n_bytes)
{
    struct event event;
    (void)bytes;
    (void)n_bytes;
    memcpy(&event, record, sizeof event);
    return take_event(context, &event);
}

struct rest {
    uint32_t number, slot;
};

static int latest_first(const void *a, const void *b)
{
    const struct rest *x = a, *y = b;
    return x->number > y->number ? -1 : x->number < y->number;
}

/* What is still under way: children, which began later, before their parents. */
static enum strobe_err give_rest(struct resolving *resolving, struct resolver *resolver)
{
    struct rest *rest = strobe_array_resize(NULL, resolver->n_slots + 1ull, sizeof *rest);
    enum strobe_err err = rest ? STROBE_OK : STROBE_ERR_NOMEM;
    uint32_t n = 0;
    for (uint32_t i = 1; i <= resolver->n_slots && !err; i++)
        if (resolver->slots[i].is_used)
            rest[n++] = (struct rest){resolver->slots[i].zone.number, i};
    if (n)
        qsort(rest, n, sizeof *rest, latest_first);
    for (uint32_t i = 0; i < n && !err; i++)
        err = give(resolving, resolver, rest[i].slot);
    free(rest);
    return err;
}

static void free_resolving(struct resolving *resolving)
{
    for (uint32_t i = 0; i < resolving->contexts_room; i++) {
        struct resolver *resolver = &resolving->contexts[i];
        free(resolver->slots);
        free(resolver->queries);
        strobe_map_free(&resolver->waiting);
        strobe_map_free(&resolver->stacks);
        strobe_map_free(&resolver->by_query);
    }
    free(resolving->contexts);
    strobe_sort_close(resolving->sort);
}

enum strobe_err strobe_gpu_each(struct strobe_trace *trace, struct strobe_client_facts *facts,
                                const struct strobe_gpu_visitor *visitor,
                                struct strobe_gpu_troubles *out)
{
    struct resolving resolving = {.facts = facts, .visitor = visitor, .troubles = out};
    const struct strobe_walk gpu = {
        .trace = trace,
        .context = &resolving,
        .kinds = 0x3full << STROBE_KIND_GPU_BEGIN, /* 39 to 44 */
    };
    struct strobe_walk walk = gpu;
    memset(out, 0, sizeof *out);
    walk.happens = look_at_event;
    enum strobe_err err = strobe_walk_run(&walk);
    walk = gpu;
    walk.happens = gather_event;
    if (!err)
        err = strobe_walk_run(&walk);
    out->n_bad_parts = walk.n_bad_parts;
    if (!err && resolving.sort)
        err = strobe_sort_all(resolving.sort, take_sorted, &resolving);
    for (uint32_t i = 0; i < resolving.contexts_room && !err; i++)
        err = give_rest(&resolving, &resolving.contexts[i]);
    free_resolving(&resolving);
    return err;
}
