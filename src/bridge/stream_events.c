/* stream_events.c - events of the wire that are no zones: messages, plots, frames, locks, memory, GPU.
 * Locks and memory are held until they can be sent in the order of time, since a server keeps them so.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bridge/stream.h"

#define CPU_USAGE 1ull /* no pointer of ours */
enum { MAX_IMAGE_BYTES = 120000, MAX_CONTEXTS = 255, MAX_LOCK_THREADS = 64, N_QUERIES = 65536 };

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- of a zone ------------------------------------------------------------------------------- */

/* Texts, names, values, colours are the innermost zone's: there must be one. */
static void put_of_zone(struct strobe_bridge_stream *stream, uint32_t process,
                        struct strobe_bridge_thread *thread, const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    if (!strobe_bridge_open_zone(stream, process, thread))
        return;
    if (event->kind == STROBE_KIND_ZONE_VALUE) {
        strobe_wire_put(&stream->out, STROBE_TRACY_ZONE_VALUE, &f[0].u);
    } else if (event->kind == STROBE_KIND_ZONE_COLOR) {
        uint64_t color[] = {f[0].u & 255, f[0].u >> 8 & 255, f[0].u >> 16 & 255};
        strobe_wire_put(&stream->out, STROBE_TRACY_ZONE_COLOR, color);
    } else {
        strobe_wire_text(&stream->out, f[0].text, f[0].u);
        strobe_wire_put(&stream->out,
                        event->kind == STROBE_KIND_ZONE_TEXT ? STROBE_TRACY_ZONE_TEXT
                                                             : STROBE_TRACY_ZONE_NAME,
                        NULL);
    }
}

/* ---- messages, plots, frames ----------------------------------------------------------------- */

static void put_message(struct strobe_bridge_stream *stream, struct strobe_bridge_thread *thread,
                        const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    uint64_t color = f[1].u, raw = strobe_bridge_raw(stream, event->tick);
    uint64_t severity = (f[0].u & 255) < 6 ? f[0].u & 255 : 2;
    uint64_t meta = severity << 4 | (f[0].u & 256 ? 1 : 0);
    strobe_bridge_turn_to(stream, thread->tid);
    strobe_wire_text(&stream->out, f[2].text, f[2].u);
    if (color)
        strobe_wire_put(&stream->out, STROBE_TRACY_MESSAGE_COLOR,
                        (uint64_t[]){raw, color & 255, color >> 8 & 255, color >> 16 & 255, meta});
    else
        strobe_wire_put(&stream->out, STROBE_TRACY_MESSAGE, (uint64_t[]){raw, meta});
}

/* The plot of a name; how it is to be drawn is told at its first value. */
static int find_plot(struct strobe_bridge_stream *stream, uint32_t process, uint64_t id,
                     uint64_t *pointer)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n, before = stream->plot_ids.n;
    uint32_t i = strobe_idmap_add_row(&stream->plot_ids, process, id, (void **)&stream->plots,
                                      &stream->plots_room, sizeof *stream->plots);
    if (i == STROBE_IDMAP_NONE)
        return 0;
    if (i == before) {
        const char *name = strobe_trace_string(stream->trace, process, id, room, &n);
        stream->plots[i].pointer = strobe_bridge_name(stream, process, name, n);
        if (n == 9 && !memcmp(name, "CPU usage", n) && !process &&
            strobe_client_of(&stream->facts, process))
            stream->plots[i].pointer = CPU_USAGE; /* the client's own: an event of its own */
        uint32_t config = strobe_idmap_find(&stream->trace->plot_ids, process, id);
        if (config != STROBE_IDMAP_NONE && stream->plots[i].pointer != CPU_USAGE) {
            const struct strobe_plot *plot = &stream->trace->plots[config];
            uint64_t fields[] = {stream->plots[i].pointer, plot->format & 255, plot->step,
                                 !(plot->format & 256), plot->color};
            strobe_wire_put(&stream->out, STROBE_TRACY_PLOT_CONFIG, fields);
        }
    }
    *pointer = stream->plots[i].pointer;
    return 1;
}

static int put_plot(struct strobe_bridge_stream *stream, uint32_t process,
                    struct strobe_bridge_thread *thread, const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    uint64_t pointer, raw = strobe_bridge_raw(stream, event->tick);
    int is_int = event->kind == STROBE_KIND_PLOT_INT;
    uint64_t value = is_int ? (uint64_t)f[1].i : bits_of(f[1].d);
    if (!find_plot(stream, process, f[0].u, &pointer))
        return 0;
    if (pointer == CPU_USAGE) {
        strobe_wire_put(&stream->out, STROBE_TRACY_SYS_TIME_REPORT, (uint64_t[]){raw, value});
        return 1;
    }
    strobe_bridge_turn_to(stream, thread->tid);
    if (!strobe_wire_put(&stream->out,
                         is_int ? STROBE_TRACY_PLOT_DATA_INT : STROBE_TRACY_PLOT_DATA_DOUBLE,
                         (uint64_t[]){pointer, raw, value}))
        strobe_wire_put(&stream->out,
                        STROBE_TRACY_PLOT_DATA, /* up to 58: one event for all types */
                        (uint64_t[]){pointer, raw, is_int ? 2 : 1, value});
    return 1;
}

static void put_frame(struct strobe_bridge_stream *stream, uint32_t process,
                      const struct strobe_event *event)
{
    static const enum strobe_tracy_event events[] = {STROBE_TRACY_FRAME_MARK_MSG,
                                                     STROBE_TRACY_FRAME_MARK_MSG_START,
                                                     STROBE_TRACY_FRAME_MARK_MSG_END};
    char room[STROBE_NAME_ROOM];
    uint64_t id = event->fields[0].u, pointer = 0;
    uint32_t n = 5;
    const char *name = "Frame";
    if (id)
        name = strobe_trace_string(stream->trace, process, id, room, &n);
    if (id || process)
        pointer = strobe_bridge_name(stream, process, name, n);
    strobe_wire_put(&stream->out, events[event->kind - STROBE_KIND_FRAME_MARK],
                    (uint64_t[]){strobe_bridge_raw(stream, event->tick), pointer});
}

static void put_image(struct strobe_bridge_stream *stream, uint32_t process,
                      const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    if (process || f[4].u > MAX_IMAGE_BYTES || f[4].u != f[1].u * f[2].u / 2) {
        stream->n_left_out++;
        return;
    }
    strobe_wire_transfer(&stream->out, STROBE_TRACY_FRAME_IMAGE_DATA, 0, f[4].text, f[4].u);
    strobe_wire_put(&stream->out, STROBE_TRACY_FRAME_IMAGE,
                    (uint64_t[]){f[0].u, f[1].u, f[2].u, f[3].u});
}

static void put_section(struct strobe_bridge_stream *stream, struct strobe_bridge_thread *thread,
                        const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    uint64_t raw = strobe_bridge_raw(stream, event->tick);
    int is_enter = event->kind == STROBE_KIND_SECTION_ENTER;
    if (!strobe_wire_has(&stream->out,
                         is_enter ? STROBE_TRACY_SECTION_ENTER : STROBE_TRACY_SECTION_LEAVE)) {
        stream->n_left_out++;
        return;
    }
    strobe_bridge_turn_to(stream, thread->tid);
    if (is_enter) {
        strobe_wire_text(&stream->out, f[2].text, f[2].u);
        strobe_wire_put(&stream->out, STROBE_TRACY_SECTION_ENTER,
                        (uint64_t[]){raw, f[0].u, f[1].u});
    } else {
        strobe_wire_put(&stream->out, STROBE_TRACY_SECTION_LEAVE, (uint64_t[]){raw, f[0].u});
    }
}

/* ---- GPU ------------------------------------------------------------------------------------- */

/* A time of a process's own clock, as the server gets it. */
static uint64_t own_raw(struct strobe_bridge_stream *stream, uint32_t process, uint64_t time)
{
    if (stream->is_own)
        return time;
    return strobe_bridge_raw(stream, strobe_trace_own_tick(stream->trace, process, (int64_t)time));
}

/* The number of a context on the wire; it is told of at its first event. -1: there is no room. */
static int find_context(struct strobe_bridge_stream *stream, uint32_t process, uint64_t id)
{
    uint32_t i = strobe_idmap_find(&stream->context_ids, process, id);
    uint32_t fact = strobe_idmap_find(&stream->facts.context_ids, process, id);
    if (i == STROBE_IDMAP_NONE && stream->context_ids.n < MAX_CONTEXTS)
        i = strobe_idmap_add_row(&stream->context_ids, process, id, (void **)&stream->contexts,
                                 &stream->contexts_room, sizeof *stream->contexts);
    if (i == STROBE_IDMAP_NONE || fact == STROBE_IDMAP_NONE)
        return -1;
    struct strobe_bridge_context *context = &stream->contexts[i];
    if (context->is_announced)
        return (int)i;
    const struct strobe_gpu_context_fact *facts = &stream->facts.contexts[fact];
    uint32_t n;
    const char *name = strobe_trace_text(stream->trace, facts->name, &n);
    context->pending = calloc(N_QUERIES / 8, 1);
    if (!context->pending)
        return -1;
    context->is_announced = 1;
    uint64_t fields[] = {own_raw(stream, process, facts->host),
                         (uint64_t)facts->time,
                         (uint32_t)facts->tid,
                         bits_of(facts->period_ns),
                         i,
                         facts->calibrated != 0,
                         facts->type ? facts->type : 3};
    strobe_wire_put(&stream->out, STROBE_TRACY_GPU_NEW_CONTEXT, fields);
    if (n) {
        strobe_wire_text(&stream->out, name, n);
        strobe_wire_put(&stream->out, STROBE_TRACY_GPU_CONTEXT_NAME, (uint64_t[]){i});
    }
    return (int)i;
}

static int is_pending(const struct strobe_bridge_context *context, uint64_t query)
{
    return context->pending[query / 8] >> query % 8 & 1;
}

static uint32_t *gpu_depth(struct strobe_bridge_stream *stream, int context, uint64_t tid)
{
    uint32_t i = strobe_idmap_add_row(&stream->gpu_stacks, (uint32_t)context, tid,
                                      (void **)&stream->gpu_depths, &stream->gpu_depths_room,
                                      sizeof *stream->gpu_depths);
    return i == STROBE_IDMAP_NONE ? NULL : &stream->gpu_depths[i];
}

/* The thread that the server files a zone under: 0 for all of a context that is bound to one. */
static uint64_t gpu_tid(struct strobe_bridge_stream *stream, uint32_t process, uint64_t id,
                        uint64_t tid)
{
    uint32_t fact = strobe_idmap_find(&stream->facts.context_ids, process, id);
    return stream->facts.contexts[fact].tid ? 0 : (uint32_t)tid;
}

static int put_gpu_zone(struct strobe_bridge_stream *stream, uint32_t process, int number,
                        const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    struct strobe_bridge_context *context = &stream->contexts[number];
    uint64_t query = f[1].u % N_QUERIES, tid = gpu_tid(stream, process, f[0].u, f[2].u);
    uint32_t *depth = gpu_depth(stream, number, tid);
    int is_begin = event->kind == STROBE_KIND_GPU_BEGIN, is_over;
    if (!depth)
        return 0;
    if (is_pending(context, query) || (!is_begin && !*depth)) {
        stream->n_left_out++;
        return 1;
    }
    context->pending[query / 8] |= (uint8_t)(1u << query % 8);
    uint64_t raw = strobe_bridge_raw(stream, event->tick);
    if (is_begin) {
        ++*depth;
        uint64_t loc = strobe_bridge_loc(stream, process, f[3].u, &is_over);
        strobe_wire_put(&stream->out, STROBE_TRACY_GPU_ZONE_BEGIN_SERIAL,
                        (uint64_t[]){raw, tid, query, (uint64_t)number, loc});
    } else {
        --*depth;
        strobe_wire_put(&stream->out, STROBE_TRACY_GPU_ZONE_END_SERIAL,
                        (uint64_t[]){raw, tid, query, (uint64_t)number});
    }
    return 1;
}

static int put_gpu(struct strobe_bridge_stream *stream, uint32_t process,
                   const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    int number = find_context(stream, process, f[0].u);
    if (number < 0) {
        stream->n_left_out++;
        return 1;
    }
    struct strobe_bridge_context *context = &stream->contexts[number];
    uint64_t query = f[1].u % N_QUERIES, context_id = (uint64_t)number;
    switch (event->kind) {
    case STROBE_KIND_GPU_BEGIN:
    case STROBE_KIND_GPU_END:
        return put_gpu_zone(stream, process, number, event);
    case STROBE_KIND_GPU_TIME:
        if (!is_pending(context, query)) {
            stream->n_left_out++;
            return 1;
        }
        context->pending[query / 8] &= (uint8_t) ~(1u << query % 8);
        strobe_wire_put(&stream->out, STROBE_TRACY_GPU_TIME,
                        (uint64_t[]){(uint64_t)f[2].i, query, context_id});
        return 1;
    case STROBE_KIND_GPU_CALIBRATION:
        strobe_wire_put(&stream->out, STROBE_TRACY_GPU_CALIBRATION,
                        (uint64_t[]){(uint64_t)f[1].i, own_raw(stream, process, f[2].u),
                                     (uint64_t)f[3].i, context_id});
        return 1;
    case STROBE_KIND_GPU_SYNC:
        stream->n_left_out += !strobe_wire_put(
            &stream->out, STROBE_TRACY_GPU_TIME_SYNC,
            (uint64_t[]){(uint64_t)f[1].i, own_raw(stream, process, f[2].u), context_id});
        return 1;
    default: /* notes */
        stream->n_left_out++;
        return 1;
    }
}

/* ---- locks and memory: held, then sent in order ---------------------------------------------- */

static int hold(struct strobe_bridge_stream *stream, const struct strobe_bridge_held *held)
{
    if (stream->n_held == stream->held_room) {
        uint32_t room = stream->held_room ? stream->held_room * 2 : 1024;
        struct strobe_bridge_held *grown = realloc(stream->held, room * sizeof *grown);
        if (!grown)
            return 0;
        stream->held = grown;
        stream->held_room = room;
    }
    stream->held[stream->n_held] = *held;
    stream->held[stream->n_held].order = stream->n_held;
    stream->n_held++;
    return 1;
}

static int hold_event(struct strobe_bridge_stream *stream, uint32_t process,
                      struct strobe_bridge_thread *thread, const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    struct strobe_bridge_held held = {
        .tick = event->tick, .id = f[0].u, .process = process, .tid = thread->tid};
    held.kind = (uint8_t)event->kind;
    if (event->n_fields > 1 && f[1].letter != 's')
        held.a = f[1].u;
    if (event->n_fields > 2)
        held.b = f[2].u;
    held.is_shared = event->kind <= STROBE_KIND_LOCK_RELEASE &&
                     event->kind >= STROBE_KIND_LOCK_WAIT && f[1].u != 0;
    return hold(stream, &held);
}

static int compare_held(const void *a, const void *b)
{
    const struct strobe_bridge_held *x = a, *y = b;
    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void strobe_bridge_sort_held(struct strobe_bridge_stream *stream, int all)
{
    if (!stream->n_held)
        return;
    qsort(stream->held, stream->n_held, sizeof *stream->held, compare_held);
    stream->held_at = 0;
    stream->held_end = all ? stream->n_held : (stream->n_held + 1) / 2;
}

/* ---- locks ---- */

static struct strobe_bridge_lock *find_lock(struct strobe_bridge_stream *stream,
                                            const struct strobe_bridge_held *held, uint32_t *number)
{
    uint32_t i =
        strobe_idmap_add_row(&stream->lock_ids, held->process, held->id, (void **)&stream->locks,
                             &stream->locks_room, sizeof *stream->locks);
    int is_over;
    if (i == STROBE_IDMAP_NONE)
        return NULL;
    struct strobe_bridge_lock *lock = &stream->locks[i];
    *number = i;
    if (lock->is_announced)
        return lock;
    lock->is_announced = 1;
    uint32_t fact = strobe_idmap_find(&stream->facts.lock_ids, held->process, held->id), n = 0;
    int is_known = fact != STROBE_IDMAP_NONE;
    uint64_t loc = is_known ? stream->facts.locks[fact].loc : 0;
    uint64_t made = is_known ? stream->facts.locks[fact].made : 0;
    uint64_t fields[] = {
        i, made ? own_raw(stream, held->process, made) : strobe_bridge_raw(stream, held->tick),
        strobe_bridge_loc(stream, held->process, loc, &is_over),
        is_known && stream->facts.locks[fact].is_shared};
    strobe_wire_put(&stream->out, STROBE_TRACY_LOCK_ANNOUNCE, fields);
    const char *name =
        is_known ? strobe_trace_text(stream->trace, stream->facts.locks[fact].name, &n) : "";
    if (n) {
        strobe_wire_text(&stream->out, name, n);
        strobe_wire_put(&stream->out, STROBE_TRACY_LOCK_NAME, (uint64_t[]){i});
    }
    return lock;
}

/* A server has room for 64 threads a lock. */
static int has_room(struct strobe_bridge_lock *lock, uint32_t tid)
{
    for (uint32_t i = 0; i < lock->n_threads; i++)
        if (lock->threads[i] == tid)
            return 1;
    if (lock->n_threads == MAX_LOCK_THREADS)
        return 0;
    lock->threads[lock->n_threads++] = tid;
    return 1;
}

/* Whether the server's idea of the lock allows this; it moves on. It counts who has the lock, and must
 * never count below none. */
static int step_lock(struct strobe_bridge_lock *lock, const struct strobe_bridge_held *held)
{
    uint32_t *n = held->is_shared ? &lock->n_shared : &lock->n_exclusive;
    if (!has_room(lock, held->tid))
        return 0;
    if (held->kind == STROBE_KIND_LOCK_OBTAIN) {
        ++*n;
        if (!held->is_shared)
            lock->holder = held->tid + 1;
    } else if (held->kind == STROBE_KIND_LOCK_RELEASE) {
        if (!*n)
            return 0;
        if (!--*n && !held->is_shared)
            lock->holder = 0;
    }
    return 1;
}

static void put_lock(struct strobe_bridge_stream *stream, const struct strobe_bridge_held *held,
                     uint64_t raw);

/* Programs read the time of a release after it: the next one may have the lock before that. Such a
 * release goes first. */
static void release_early(struct strobe_bridge_stream *stream,
                          const struct strobe_bridge_lock *lock,
                          const struct strobe_bridge_held *wanted, uint64_t raw)
{
    enum { FAR = 1024, NOTHING = 0 };
    for (uint32_t i = stream->held_at; i < stream->n_held && i < stream->held_at + FAR; i++) {
        struct strobe_bridge_held *held = &stream->held[i];
        if (held->kind != STROBE_KIND_LOCK_RELEASE || held->id != wanted->id ||
            held->process != wanted->process || held->is_shared || held->tid + 1 != lock->holder)
            continue;
        put_lock(stream, held, raw);
        held->kind = NOTHING;
        return;
    }
}

static void put_lock(struct strobe_bridge_stream *stream, const struct strobe_bridge_held *held,
                     uint64_t raw)
{
    uint32_t number;
    int is_over, is_old = stream->out.table.protocol < 58;
    struct strobe_bridge_lock *lock = find_lock(stream, held, &number);
    uint64_t id = number, tid = held->tid;
    if (lock && lock->holder && held->kind == STROBE_KIND_LOCK_OBTAIN && !held->is_shared)
        release_early(stream, lock, held, raw);
    if (!lock || !step_lock(lock, held)) {
        stream->n_left_out++;
        return;
    }
    switch (held->kind) {
    case STROBE_KIND_LOCK_WAIT:
        strobe_wire_put(&stream->out,
                        held->is_shared ? STROBE_TRACY_LOCK_SHARED_WAIT : STROBE_TRACY_LOCK_WAIT,
                        (uint64_t[]){tid, id, raw});
        break;
    case STROBE_KIND_LOCK_OBTAIN:
        strobe_wire_put(&stream->out,
                        held->is_shared ? STROBE_TRACY_LOCK_SHARED_OBTAIN
                                        : STROBE_TRACY_LOCK_OBTAIN,
                        (uint64_t[]){tid, id, raw});
        break;
    case STROBE_KIND_LOCK_RELEASE:
        strobe_wire_put(&stream->out,
                        held->is_shared ? STROBE_TRACY_LOCK_SHARED_RELEASE
                                        : STROBE_TRACY_LOCK_RELEASE,
                        is_old ? (uint64_t[]){tid, id, raw} : (uint64_t[]){id, raw, tid});
        break;
    case STROBE_KIND_LOCK_MARK:
        strobe_wire_put(
            &stream->out, STROBE_TRACY_LOCK_MARK,
            (uint64_t[]){tid, id, strobe_bridge_loc(stream, held->process, held->a, &is_over)});
        break;
    default:
        strobe_wire_put(&stream->out, STROBE_TRACY_LOCK_TERMINATE, (uint64_t[]){id, raw});
    }
}

/* ---- memory ---- */

/* How often a pool was discarded; NULL without memory. */
static uint32_t *find_epoch(struct strobe_bridge_stream *stream,
                            const struct strobe_bridge_held *held)
{
    uint32_t i = strobe_idmap_add_row(&stream->pool_ids, held->process, held->id,
                                      (void **)&stream->pool_epochs, &stream->pool_epochs_room,
                                      sizeof *stream->pool_epochs);
    return i == STROBE_IDMAP_NONE ? NULL : &stream->pool_epochs[i];
}

/* Whether a block is live, 1 or 0; NULL without memory. A discard makes all its pool's new. */
static uint8_t *find_block(struct strobe_bridge_stream *stream,
                           const struct strobe_bridge_held *held, uint64_t address)
{
    const uint32_t *epoch = find_epoch(stream, held);
    if (!epoch)
        return NULL;
    uint64_t key = address ^ ((held->id << 32 | *epoch) * 0x9e3779b97f4a7c15ull);
    uint32_t i = strobe_idmap_add_row(&stream->live_ids, held->process, key, (void **)&stream->live,
                                      &stream->live_room, sizeof *stream->live);
    return i == STROBE_IDMAP_NONE ? NULL : &stream->live[i];
}

static uint64_t pool_pointer(struct strobe_bridge_stream *stream,
                             const struct strobe_bridge_held *held)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n = 7;
    const char *name = "default";
    if (!held->id && !held->process)
        return 0;
    if (held->id)
        name = strobe_trace_string(stream->trace, held->process, held->id, room, &n);
    return strobe_bridge_name(stream, held->process, name, n);
}

static void put_memory(struct strobe_bridge_stream *stream, const struct strobe_bridge_held *held,
                       uint64_t raw)
{
    uint64_t pool = pool_pointer(stream, held);
    int is_alloc = held->kind == STROBE_KIND_MEM_ALLOC;
    if (held->kind == STROBE_KIND_MEM_DISCARD) {
        uint32_t *epoch = find_epoch(stream, held);
        if (epoch)
            ++*epoch;
        stream->n_left_out += !strobe_wire_put(&stream->out, STROBE_TRACY_MEM_DISCARD,
                                               (uint64_t[]){raw, held->tid, pool});
        return;
    }
    uint8_t *is_live = find_block(stream, held, held->a);
    if (!is_live || *is_live == is_alloc || (!is_alloc && !held->a)) {
        stream->n_left_out++;
        return;
    }
    *is_live = (uint8_t)is_alloc;
    if (pool)
        strobe_wire_put(&stream->out, STROBE_TRACY_MEM_NAME_PAYLOAD, &pool);
    if (is_alloc)
        strobe_wire_put(&stream->out, pool ? STROBE_TRACY_MEM_ALLOC_NAMED : STROBE_TRACY_MEM_ALLOC,
                        (uint64_t[]){raw, held->tid, held->a, held->b});
    else
        strobe_wire_put(&stream->out, pool ? STROBE_TRACY_MEM_FREE_NAMED : STROBE_TRACY_MEM_FREE,
                        (uint64_t[]){raw, held->tid, held->a});
}

int strobe_bridge_put_held(struct strobe_bridge_stream *stream)
{
    while (stream->held_at < stream->held_end && !strobe_wire_out_full(&stream->out)) {
        const struct strobe_bridge_held *held = &stream->held[stream->held_at++];
        uint64_t raw = strobe_bridge_raw(stream, held->tick);
        raw = raw < stream->serial_tick ? stream->serial_tick : raw; /* a late one: no way back */
        stream->serial_tick = raw;
        if (held->kind == STROBE_KIND_MEM_ALLOC || held->kind == STROBE_KIND_MEM_FREE ||
            held->kind == STROBE_KIND_MEM_DISCARD)
            put_memory(stream, held, raw);
        else if (held->kind)
            put_lock(stream, held, raw);
    }
    if (stream->held_at < stream->held_end)
        return 1;
    stream->n_held -= stream->held_end;
    memmove(stream->held, stream->held + stream->held_end, stream->n_held * sizeof *stream->held);
    for (uint32_t i = 0; i < stream->n_held; i++)
        stream->held[i].order = i;
    stream->held_at = stream->held_end = 0;
    return 1;
}

/* ---- all of it ------------------------------------------------------------------------------- */

int strobe_bridge_put_event(struct strobe_bridge_stream *stream, uint32_t process,
                            struct strobe_bridge_thread *thread, const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    uint64_t raw = strobe_bridge_raw(stream, event->tick);
    switch (event->kind) {
    case STROBE_KIND_ZONE_TEXT:
    case STROBE_KIND_ZONE_NAME:
    case STROBE_KIND_ZONE_VALUE:
    case STROBE_KIND_ZONE_COLOR:
        put_of_zone(stream, process, thread, event);
        return 1;
    case STROBE_KIND_MESSAGE:
        put_message(stream, thread, event);
        return 1;
    case STROBE_KIND_PLOT_INT:
    case STROBE_KIND_PLOT_DOUBLE:
        return put_plot(stream, process, thread, event);
    case STROBE_KIND_FRAME_MARK:
    case STROBE_KIND_FRAME_START:
    case STROBE_KIND_FRAME_END:
        put_frame(stream, process, event);
        return 1;
    case STROBE_KIND_FRAME_IMAGE:
        put_image(stream, process, event);
        return 1;
    case STROBE_KIND_SECTION_ENTER:
    case STROBE_KIND_SECTION_LEAVE:
        put_section(stream, thread, event);
        return 1;
    case STROBE_KIND_APP_INFO:
        strobe_wire_text(&stream->out, f[0].text, f[0].u);
        strobe_wire_put(&stream->out, STROBE_TRACY_MESSAGE_APP_INFO, &raw);
        return 1;
    case STROBE_KIND_MEM_ALLOC:
    case STROBE_KIND_MEM_FREE:
    case STROBE_KIND_MEM_DISCARD:
    case STROBE_KIND_LOCK_WAIT:
    case STROBE_KIND_LOCK_OBTAIN:
    case STROBE_KIND_LOCK_RELEASE:
    case STROBE_KIND_LOCK_MARK:
    case STROBE_KIND_LOCK_GONE:
        return hold_event(stream, process, thread, event);
    case STROBE_KIND_GPU_BEGIN:
    case STROBE_KIND_GPU_END:
    case STROBE_KIND_GPU_TIME:
    case STROBE_KIND_GPU_CALIBRATION:
    case STROBE_KIND_GPU_SYNC:
    case STROBE_KIND_GPU_NOTE:
        return put_gpu(stream, process, event);
    default:
        stream->n_left_out++;
        return 1;
    }
}
