/* gpu.c - resolves GPU zones: first all raw events, context by context, then one pass over each.
 *
 * The events of a context are taken in the order of the file where one track has them all (a Tracy
 * client's: that is the order in which they came), else by tick. A query number stands for the begin
 * or the end of a zone from its GPU_BEGIN or GPU_END to its GPU_TIME, and may be used again then.
 * SPDX-License-Identifier: MIT */
#include "query/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/walk.h"

struct event {
    uint64_t tick;
    uint64_t key; /* what it is sorted by: the tick, 0 where the order of the file counts */
    uint64_t order;
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

struct gather {
    struct strobe_client_facts *facts; /* borrowed */
    struct event *events;              /* owned */
    uint64_t n, room;
    struct context_state {
        uint32_t thread; /* index + 1 of the one track so far */
        uint8_t is_mixed;
    } * states; /* owned: by context */
    uint32_t states_room;
};

/* ---- gathering ------------------------------------------------------------------------------- */

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

static enum strobe_err gather_event(void *context, const struct strobe_happening *happening)
{
    struct gather *gather = context;
    struct strobe_client_facts *facts = gather->facts;
    uint32_t i = strobe_idmap_add_row(&facts->context_ids, happening->process,
                                      happening->event->fields[0].u, (void **)&facts->contexts,
                                      &facts->contexts_room, sizeof *facts->contexts);
    if (i == STROBE_IDMAP_NONE || STROBE_ARRAY_REACH(gather->states, gather->states_room, i))
        return STROBE_ERR_NOMEM;
    facts->contexts[i].process = happening->process;
    facts->contexts[i].id = happening->event->fields[0].u;
    struct context_state *state = &gather->states[i];
    state->is_mixed |= state->thread && state->thread != happening->thread + 1;
    state->thread = happening->thread + 1;
    if (STROBE_ARRAY_RESERVE(gather->events, gather->room, gather->n + 1))
        return STROBE_ERR_NOMEM;
    struct event *event = &gather->events[gather->n];
    *event = read_event(happening->event);
    event->context = i;
    event->order = gather->n++;
    return STROBE_OK;
}

static int compare_events(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* ---- resolving ------------------------------------------------------------------------------- */

/* One context, and what waits for its time. */
struct resolver {
    const struct strobe_client_facts *facts;
    struct strobe_gpu *gpu;
    const struct strobe_gpu_context_fact *context;
    uint32_t index;
    int64_t time_diff, calibrated_gpu, calibrated_cpu;
    double mod;
    int64_t last_time;
    uint64_t overflow, n_overflows;
    struct strobe_idmap waiting; /* query to the zone that wants its time */
    uint32_t *zone_of;           /* owned: by index in waiting: zone + 1, 0: none */
    uint32_t zone_of_room;
    struct strobe_idmap stacks; /* thread to its innermost open zone */
    uint32_t *top_of;           /* owned: zone + 1 */
    uint32_t top_of_room;
};

static int64_t cpu_ns(const struct resolver *resolver, uint64_t host)
{
    return strobe_client_own_ns(resolver->facts, resolver->context->process, host);
}

/* A time of the GPU in ns of the GPU. The period is a float on Tracy's wire, and times are cut. */
static int64_t gpu_ns(const struct resolver *resolver, int64_t time)
{
    double period = resolver->context->period_ns;
    return period == 1.0 ? time : (int64_t)(period * (double)time);
}

static void start_context(struct resolver *resolver, uint32_t index)
{
    resolver->index = index;
    resolver->context = &resolver->facts->contexts[index];
    resolver->calibrated_gpu = gpu_ns(resolver, resolver->context->time);
    resolver->calibrated_cpu = cpu_ns(resolver, resolver->context->host);
    resolver->time_diff = resolver->calibrated_cpu - resolver->calibrated_gpu;
    resolver->mod = 1;
    resolver->last_time = 0;
    resolver->overflow = resolver->n_overflows = 0;
    strobe_idmap_free(&resolver->waiting);
    strobe_idmap_free(&resolver->stacks);
    resolver->waiting = resolver->stacks = (struct strobe_idmap){0};
    free(resolver->zone_of);
    free(resolver->top_of);
    resolver->zone_of = resolver->top_of = NULL;
    resolver->zone_of_room = resolver->top_of_room = 0;
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

static int64_t resolve_time(struct resolver *resolver, int64_t time)
{
    double period = resolver->context->period_ns;
    time = unwrap(resolver, time);
    if (!resolver->context->calibrated)
        return gpu_ns(resolver, time) + resolver->time_diff;
    double since = period == 1.0 ? (double)(time - resolver->calibrated_gpu)
                                 : period * (double)time - (double)resolver->calibrated_gpu;
    return (int64_t)(since * resolver->mod + (double)resolver->calibrated_cpu);
}

static void calibrate(struct resolver *resolver, const struct event *event)
{
    int64_t gpu = gpu_ns(resolver, (int64_t)event->loc_or_time);
    int64_t passed = gpu - resolver->calibrated_gpu;
    if (passed)
        resolver->mod = (double)event->delta_ns / (double)passed;
    resolver->calibrated_gpu = gpu;
    resolver->calibrated_cpu = cpu_ns(resolver, event->tid_or_host);
}

static void sync_clock(struct resolver *resolver, const struct event *event)
{
    resolver->time_diff =
        cpu_ns(resolver, event->tid_or_host) - gpu_ns(resolver, (int64_t)event->loc_or_time);
    resolver->last_time = 0;
    resolver->overflow = resolver->n_overflows = 0;
}

/* From here on the time of this query is the zone's. */
static int wait_for(struct resolver *resolver, uint64_t query, uint32_t zone)
{
    uint32_t i = strobe_idmap_add_row(&resolver->waiting, 0, query, (void **)&resolver->zone_of,
                                      &resolver->zone_of_room, sizeof *resolver->zone_of);
    if (i == STROBE_IDMAP_NONE)
        return 0;
    resolver->zone_of[i] = zone + 1;
    return 1;
}

static uint32_t *top_of(struct resolver *resolver, uint64_t tid)
{
    if (resolver->context->tid)
        tid = 0; /* all zones of the context are one thread's; ends say 0 */
    uint32_t i = strobe_idmap_add_row(&resolver->stacks, 0, tid, (void **)&resolver->top_of,
                                      &resolver->top_of_room, sizeof *resolver->top_of);
    return i == STROBE_IDMAP_NONE ? NULL : &resolver->top_of[i];
}

static int begin_zone(struct resolver *resolver, const struct event *event)
{
    struct strobe_gpu *gpu = resolver->gpu;
    uint32_t *top = top_of(resolver, event->tid_or_host);
    if (!top || gpu->n_zones >= UINT32_MAX - 1 ||
        STROBE_ARRAY_REACH(gpu->zones, gpu->zones_room, gpu->n_zones))
        return 0;
    struct strobe_gpu_zone *parent = *top ? &gpu->zones[*top - 1] : NULL;
    gpu->zones[gpu->n_zones] = (struct strobe_gpu_zone){
        .context = resolver->index,
        .parent = *top ? *top - 1 : STROBE_IDMAP_NONE,
        .depth = parent ? parent->depth + 1 : 0,
        .tid = resolver->context->tid ? resolver->context->tid : event->tid_or_host,
        .loc = event->loc_or_time,
        .query = event->query,
        .cpu_begin = event->tick,
        .cpu_begin_own = event->own,
        .gpu_begin = STROBE_GPU_UNKNOWN,
        .gpu_end = STROBE_GPU_UNKNOWN,
    };
    if (parent)
        parent->n_children++;
    *top = ++gpu->n_zones;
    return wait_for(resolver, event->query, gpu->n_zones - 1);
}

static int end_zone(struct resolver *resolver, const struct event *event)
{
    uint32_t *top = top_of(resolver, event->tid_or_host);
    if (!top)
        return 0;
    if (!*top) {
        resolver->gpu->n_stray++;
        return 1;
    }
    uint32_t i = *top - 1;
    struct strobe_gpu_zone *zone = &resolver->gpu->zones[i];
    zone->cpu_end = event->tick;
    zone->cpu_end_own = event->own;
    zone->has_cpu_end = 1;
    *top = zone->parent == STROBE_IDMAP_NONE ? 0 : zone->parent + 1;
    return wait_for(resolver, event->query, i);
}

static void take_time(struct resolver *resolver, const struct event *event)
{
    int64_t time = resolve_time(resolver, (int64_t)event->loc_or_time);
    uint32_t i = strobe_idmap_find(&resolver->waiting, 0, event->query);
    if (i == STROBE_IDMAP_NONE || !resolver->zone_of[i]) {
        resolver->gpu->n_stray++;
        return;
    }
    struct strobe_gpu_zone *zone = &resolver->gpu->zones[resolver->zone_of[i] - 1];
    resolver->zone_of[i] = 0;
    if (zone->gpu_begin == STROBE_GPU_UNKNOWN)
        zone->gpu_begin = time;
    else
        zone->gpu_end = time;
}

/* A note names a zone by the query of its begin: the last one that had it. */
static int take_note(struct resolver *resolver, const struct event *event)
{
    struct strobe_gpu *gpu = resolver->gpu;
    for (uint32_t i = gpu->n_zones, looked = 0; i && looked < 65536; i--, looked++) {
        const struct strobe_gpu_zone *zone = &gpu->zones[i - 1];
        if (zone->context != resolver->index)
            break;
        if (zone->query != event->query)
            continue;
        if (STROBE_ARRAY_REACH(gpu->notes, gpu->notes_room, gpu->n_notes))
            return 0;
        gpu->notes[gpu->n_notes++] =
            (struct strobe_gpu_note){i - 1, event->loc_or_time, event->value};
        return 1;
    }
    gpu->n_stray++;
    return 1;
}

static int take_event(struct resolver *resolver, const struct event *event)
{
    switch (event->kind) {
    case STROBE_KIND_GPU_BEGIN:
        return begin_zone(resolver, event);
    case STROBE_KIND_GPU_END:
        return end_zone(resolver, event);
    case STROBE_KIND_GPU_TIME:
        take_time(resolver, event);
        return 1;
    case STROBE_KIND_GPU_CALIBRATION:
        calibrate(resolver, event);
        return 1;
    case STROBE_KIND_GPU_SYNC:
        sync_clock(resolver, event);
        return 1;
    default:
        return take_note(resolver, event);
    }
}

static void sort_events(struct gather *gather)
{
    for (uint64_t i = 0; i < gather->n; i++) {
        struct event *event = &gather->events[i];
        event->key = gather->states[event->context].is_mixed ? event->tick : 0;
    }
    if (gather->n)
        qsort(gather->events, (size_t)gather->n, sizeof *gather->events, compare_events);
}

static enum strobe_err resolve(struct gather *gather, struct strobe_gpu *out)
{
    struct resolver resolver = {.facts = gather->facts, .gpu = out, .index = STROBE_IDMAP_NONE};
    int ok = 1;
    sort_events(gather);
    for (uint64_t i = 0; i < gather->n && ok; i++) {
        if (gather->events[i].context != resolver.index)
            start_context(&resolver, gather->events[i].context);
        ok = take_event(&resolver, &gather->events[i]);
    }
    strobe_idmap_free(&resolver.waiting);
    strobe_idmap_free(&resolver.stacks);
    free(resolver.zone_of);
    free(resolver.top_of);
    return ok ? STROBE_OK : STROBE_ERR_NOMEM;
}

enum strobe_err strobe_gpu_run(struct strobe_trace *trace, struct strobe_client_facts *facts,
                               struct strobe_gpu *out)
{
    struct gather gather = {.facts = facts};
    struct strobe_walk walk = {
        .trace = trace,
        .context = &gather,
        .happens = gather_event,
        .kinds = 0x3full << STROBE_KIND_GPU_BEGIN, /* 39 to 44 */
    };
    memset(out, 0, sizeof *out);
    enum strobe_err err = strobe_walk_run(&walk);
    out->n_bad_parts = walk.n_bad_parts;
    if (!err)
        err = resolve(&gather, out);
    free(gather.events);
    free(gather.states);
    return err;
}

void strobe_gpu_free(struct strobe_gpu *gpu)
{
    free(gpu->zones);
    free(gpu->notes);
    memset(gpu, 0, sizeof *gpu);
}
