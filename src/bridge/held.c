/* held.c - what a server wants in order of time: frames, locks, memory, switches.
 *
 * Threads come one after another in a block, and a thread's last events can be a block later than those of
 * others. So these are held: 128 K of them, or as long as a growing file may bring older ones. What is late all the
 * same is sent with the time of the one before it. A block that is freed before it was allocated, or allocated before it was freed,
 * stays held: its other half may still come.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "bridge/stream.h"

#define LATE_NS 2e9 /* a recorder writes a thread's events within a second or so */
enum { NOTHING = 0, FAR = 1024 };

/* ---- order ----------------------------------------------------------------------------------- */

int strobe_bridge_is_held(unsigned kind)
{
#define BIT(kind) (1ull << STROBE_KIND_##kind)
    static const uint64_t kinds = BIT(FRAME_MARK) | BIT(FRAME_START) | BIT(FRAME_END) |
                                  BIT(MEM_ALLOC) | BIT(MEM_FREE) | BIT(MEM_DISCARD) |
                                  BIT(LOCK_WAIT) | BIT(LOCK_OBTAIN) | BIT(LOCK_RELEASE) |
                                  BIT(LOCK_MARK) | BIT(LOCK_GONE) | BIT(CPU_SWITCH) | BIT(WAKEUP);
#undef BIT
    return kinds >> kind & 1;
}

int strobe_bridge_hold(struct strobe_bridge_stream *stream, uint32_t process,
                       struct strobe_bridge_thread *thread, const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    struct strobe_bridge_held *held =
        STROBE_ARRAY_PUSH(stream->held, stream->n_held, stream->held_room);
    if (!held)
        return 0;
    STROBE_ASSERT(strobe_bridge_is_held(event->kind));
    *held = (struct strobe_bridge_held){.tick = event->tick,
                                        .order = stream->n_held - 1,
                                        .id = f[0].u,
                                        .process = process,
                                        .tid = thread->tid,
                                        .kind = (uint8_t)event->kind};
    if (event->n_fields > 1 && f[1].letter != 's')
        held->a = f[1].u;
    if (event->n_fields > 2)
        held->b = f[2].u;
    if (event->kind >= STROBE_KIND_CPU_SWITCH)
        for (uint32_t i = 0; i < sizeof held->more; i++)
            held->more[i] = i + 3 < event->n_fields ? (int8_t)f[i + 3].u : 0;
    if (event->kind == STROBE_KIND_MEM_ALLOC || event->kind == STROBE_KIND_MEM_FREE)
        held->stack = strobe_bridge_take_stack(stream);
    held->is_shared = event->kind <= STROBE_KIND_LOCK_RELEASE &&
                      event->kind >= STROBE_KIND_LOCK_WAIT && f[1].u != 0;
    if (event->tick > stream->newest_tick)
        stream->newest_tick = event->tick;
    stream->is_sorted = 0;
    return 1;
}

static int compare_held(const void *a, const void *b)
{
    const struct strobe_bridge_held *x = a, *y = b;
    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* How many of the sorted events nothing can come before any more. */
static uint32_t count_old(const struct strobe_bridge_stream *stream)
{
    double tick_ns = (double)stream->trace->clock.mult / 4294967296.0;
    uint64_t late = (uint64_t)(LATE_NS / (tick_ns > 0 ? tick_ns : 1)), n = 0;
    while (n < stream->n_held && stream->held[n].tick + late < stream->newest_tick)
        n++;
    return (uint32_t)n;
}

int strobe_bridge_sort_held(struct strobe_bridge_stream *stream)
{
    if (!stream->n_held)
        return 0;
    if (!stream->is_sorted)
        qsort(stream->held, stream->n_held, sizeof *stream->held, compare_held);
    stream->is_sorted = 1;
    stream->held_at = stream->n_kept = 0;
    stream->held_end = stream->is_final                           ? stream->n_held
                       : stream->n_held >= STROBE_BRIDGE_MAX_HELD ? (stream->n_held + 1) / 2
                                                                  : count_old(stream);
    return stream->held_end != 0;
}

/* Try it again with the next ones. 0: there is no more to come, or no room. */
static int keep(struct strobe_bridge_stream *stream, const struct strobe_bridge_held *held)
{
    if (stream->is_final || stream->n_kept >= STROBE_BRIDGE_MAX_HELD / 4)
        return 0;
    STROBE_ASSERT(stream->n_kept < stream->held_at);
    stream->held[stream->n_kept++] = *held; /* at or before its own place */
    return 1;
}

/* The pointer of the event's name; `unnamed` is what id 0 is called, and needs no pointer in the first process. */
static uint64_t name_pointer(struct strobe_bridge_stream *stream,
                             const struct strobe_bridge_held *held, const char *unnamed)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n = (uint32_t)strlen(unnamed), process = strobe_bridge_first(stream, held->process);
    const char *name = unnamed;
    if (held->id)
        name = strobe_trace_string(stream->trace, held->process, held->id, room, &n);
    return held->id || process ? strobe_bridge_name(stream, process, name, n) : 0;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* A set has marks, or spans that begin and end in turn: anything else is the end of a server. */
static int step_frames(struct strobe_bridge_frame_set *set, unsigned kind)
{
    enum strobe_bridge_frames form =
        kind == STROBE_KIND_FRAME_MARK ? STROBE_FRAMES_MARKS : STROBE_FRAMES_SPANS;
    if (set->form && set->form != form)
        return 0;
    if (kind == STROBE_KIND_FRAME_START ? set->is_open
                                        : kind == STROBE_KIND_FRAME_END && !set->is_open)
        return 0;
    set->form = (uint8_t)form;
    set->is_open = kind == STROBE_KIND_FRAME_START;
    return 1;
}

static void put_frame(struct strobe_bridge_stream *stream, const struct strobe_bridge_held *held,
                      uint64_t raw)
{
    static const enum strobe_tracy_event events[] = {STROBE_TRACY_FRAME_MARK_MSG,
                                                     STROBE_TRACY_FRAME_MARK_MSG_START,
                                                     STROBE_TRACY_FRAME_MARK_MSG_END};
    uint64_t pointer = name_pointer(stream, held, "Frame");
    uint32_t i = strobe_idmap_add_row(&stream->frame_ids, 0, pointer, (void **)&stream->frames,
                                      &stream->frames_room, sizeof *stream->frames);
    if (i == STROBE_IDMAP_NONE || !step_frames(&stream->frames[i], held->kind)) {
        strobe_bridge_leave_out(stream, held->kind);
        return;
    }
    strobe_wire_put(&stream->out, events[held->kind - STROBE_KIND_FRAME_MARK],
                    (uint64_t[]){raw, pointer});
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void name_lock(struct strobe_bridge_stream *stream, struct strobe_bridge_lock *lock,
                      uint32_t number, uint32_t fact)
{
    uint32_t n = 0;
    const char *name = fact == STROBE_IDMAP_NONE
                           ? ""
                           : strobe_trace_text(stream->trace, stream->facts.locks[fact].name, &n);
    if (!n)
        return;
    lock->is_named = 1;
    strobe_wire_text(&stream->out, name, n);
    strobe_wire_put(&stream->out, STROBE_TRACY_LOCK_NAME, (uint64_t[]){number});
}

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
    if (lock->is_named)
        return lock;
    uint32_t fact = strobe_idmap_find(&stream->facts.lock_ids, held->process, held->id);
    if (!lock->is_announced) {
        int is_known = fact != STROBE_IDMAP_NONE;
        uint64_t loc = is_known ? stream->facts.locks[fact].loc : 0;
        uint64_t made = is_known ? stream->facts.locks[fact].made : 0;
        uint64_t fields[] = {i,
                             made ? strobe_bridge_own_raw(stream, held->process, made)
                                  : strobe_bridge_raw(stream, held->tick),
                             strobe_bridge_loc(stream, held->process, loc, &is_over),
                             is_known && stream->facts.locks[fact].is_shared};
        lock->is_announced = 1;
        strobe_wire_put(&stream->out, STROBE_TRACY_LOCK_ANNOUNCE, fields);
    }
    name_lock(stream, lock, i, fact); /* it may get its name later */
    return lock;
}

static struct strobe_bridge_holder *find_holder(struct strobe_bridge_lock *lock, uint32_t tid)
{
    for (uint32_t i = 0; i < lock->n_threads; i++)
        if (lock->threads[i].tid == tid)
            return &lock->threads[i];
    if (lock->n_threads == STROBE_BRIDGE_LOCK_THREADS)
        return NULL;
    STROBE_ASSERT(lock->n_threads < STROBE_BRIDGE_LOCK_THREADS);
    struct strobe_bridge_holder *holder = &lock->threads[lock->n_threads++];
    *holder = (struct strobe_bridge_holder){.tid = tid};
    return holder;
}

/* A release on the wire names no thread (from protocol 58 on), and a recorder may take it for that of who came next. */
static uint32_t *find_any(struct strobe_bridge_lock *lock, int is_shared)
{
    for (uint32_t i = 0; i < lock->n_threads; i++)
        if (lock->threads[i].n[is_shared])
            return &lock->threads[i].n[is_shared];
    return NULL;
}

/* Whether the server's idea of the lock allows this; it moves on. It counts who has the lock, and must
 * never count below none. */
static int step_lock(struct strobe_bridge_lock *lock, const struct strobe_bridge_held *held)
{
    struct strobe_bridge_holder *holder = find_holder(lock, held->tid);
    if (!holder)
        return 0;
    uint32_t *n = &holder->n[held->is_shared];
    if (held->kind == STROBE_KIND_LOCK_OBTAIN) {
        ++*n;
    } else if (held->kind == STROBE_KIND_LOCK_RELEASE) {
        n = *n ? n : find_any(lock, held->is_shared);
        if (!n)
            return 0;
        STROBE_ASSERT(*n);
        --*n;
    }
    return 1;
}

static void put_lock_event(struct strobe_bridge_stream *stream,
                           const struct strobe_bridge_held *held, uint32_t number, uint64_t raw)
{
    uint64_t id = number, tid = held->tid;
    int is_over, is_old = stream->out.table.protocol < 58;
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

/* Programs read the time of a release after it: the next one may have the lock before that. The
 * releases of those who have it go first, each the next event of its thread at this lock. */
static void release_early(struct strobe_bridge_stream *stream, struct strobe_bridge_lock *lock,
                          const struct strobe_bridge_held *wanted, uint32_t number, uint64_t raw)
{
    for (uint32_t h = 0; h < lock->n_threads; h++) {
        struct strobe_bridge_holder *holder = &lock->threads[h];
        uint32_t i = stream->held_at, end = stream->held_at + FAR;
        if (holder->tid == wanted->tid || !holder->n[0])
            continue;
        for (; i < stream->n_held && i < end; i++) {
            struct strobe_bridge_held *held = &stream->held[i];
            if (held->id != wanted->id || held->process != wanted->process ||
                held->tid != holder->tid ||
                (held->kind != STROBE_KIND_LOCK_RELEASE && held->kind != STROBE_KIND_LOCK_OBTAIN))
                continue;
            if (held->kind == STROBE_KIND_LOCK_RELEASE && !held->is_shared &&
                step_lock(lock, held)) {
                put_lock_event(stream, held, number, raw);
                held->kind = NOTHING;
            }
            break;
        }
    }
}

static void put_lock(struct strobe_bridge_stream *stream, const struct strobe_bridge_held *held,
                     uint64_t raw)
{
    uint32_t number;
    struct strobe_bridge_lock *lock = find_lock(stream, held, &number);
    if (lock && held->kind == STROBE_KIND_LOCK_OBTAIN && !held->is_shared)
        release_early(stream, lock, held, number, raw);
    if (!lock || !step_lock(lock, held)) {
        strobe_bridge_leave_out(stream, held->kind);
        return;
    }
    put_lock_event(stream, held, number, raw);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Whether a block is live, 1 or 0; NULL without memory. A discard makes all its pool's new. */
static uint8_t *find_block(struct strobe_bridge_stream *stream, uint32_t pool, uint64_t address)
{
    STROBE_ASSERT(pool < stream->pool_ids.n);
    uint64_t key = address ^ stream->pool_epochs[pool] * 0x9e3779b97f4a7c15ull;
    uint32_t i = strobe_idmap_add_row(&stream->live_ids, pool, key, (void **)&stream->live,
                                      &stream->live_room, sizeof *stream->live);
    return i == STROBE_IDMAP_NONE ? NULL : &stream->live[i];
}

static void put_block(struct strobe_bridge_stream *stream, const struct strobe_bridge_held *held,
                      uint64_t pool, uint64_t raw)
{
    static const enum strobe_tracy_event events[2][2][2] = {
        /* free or alloc, bare or with a call stack, in a pool without or with a name */
        {{STROBE_TRACY_MEM_FREE, STROBE_TRACY_MEM_FREE_NAMED},
         {STROBE_TRACY_MEM_FREE_CALLSTACK, STROBE_TRACY_MEM_FREE_CALLSTACK_NAMED}},
        {{STROBE_TRACY_MEM_ALLOC, STROBE_TRACY_MEM_ALLOC_NAMED},
         {STROBE_TRACY_MEM_ALLOC_CALLSTACK, STROBE_TRACY_MEM_ALLOC_CALLSTACK_NAMED}}};
    bool has_stack = strobe_bridge_put_stack(stream, held->stack, true);
    if (pool)
        strobe_wire_put(&stream->out, STROBE_TRACY_MEM_NAME_PAYLOAD, &pool);
    strobe_wire_put(&stream->out, events[held->kind == STROBE_KIND_MEM_ALLOC][has_stack][pool != 0],
                    (uint64_t[]){raw, held->tid, held->a, held->b});
}

static void put_memory(struct strobe_bridge_stream *stream, const struct strobe_bridge_held *held,
                       uint64_t raw)
{
    /* A pool is its name: each place in a program that names it has a string id of its own. */
    uint64_t pointer = name_pointer(stream, held, "default");
    int is_alloc = held->kind == STROBE_KIND_MEM_ALLOC;
    uint32_t pool =
        strobe_idmap_add_row(&stream->pool_ids, 0, pointer, (void **)&stream->pool_epochs,
                             &stream->pool_epochs_room, sizeof *stream->pool_epochs);
    if (pool == STROBE_IDMAP_NONE) {
        strobe_bridge_leave_out(stream, held->kind);
    } else if (held->kind == STROBE_KIND_MEM_DISCARD) {
        stream->pool_epochs[pool]++;
        if (!strobe_wire_put(&stream->out, STROBE_TRACY_MEM_DISCARD,
                             (uint64_t[]){raw, held->tid, pointer}))
            strobe_bridge_leave_out(stream, held->kind);
    } else {
        uint8_t *is_live = held->a || is_alloc ? find_block(stream, pool, held->a) : NULL;
        if (is_live && *is_live != is_alloc) {
            *is_live = (uint8_t)is_alloc;
            put_block(stream, held, pointer, raw);
        } else if (!is_live || !keep(stream, held)) {
            strobe_bridge_leave_out(stream, held->kind);
        }
    }
}

/* ---- the scheduler --------------------------------------------------------------------------- */

static uint64_t byte_of(int8_t value)
{
    return (uint8_t)value;
}

static void put_turn(struct strobe_bridge_stream *stream, const struct strobe_bridge_held *held)
{
    uint64_t raw = strobe_bridge_raw(stream, held->tick);
    const int8_t *more = held->more;
    raw = raw < stream->ctx_tick ? stream->ctx_tick : raw;
    stream->ctx_tick = raw;
    STROBE_ASSERT(held->kind == STROBE_KIND_WAKEUP || held->kind == STROBE_KIND_CPU_SWITCH);
    if (held->kind == STROBE_KIND_WAKEUP)
        strobe_wire_put(&stream->out, STROBE_TRACY_THREAD_WAKEUP,
                        (uint64_t[]){raw, held->id, byte_of((int8_t)held->a),
                                     byte_of((int8_t)held->b), byte_of(more[0])});
    else
        strobe_wire_put(&stream->out, STROBE_TRACY_CONTEXT_SWITCH,
                        (uint64_t[]){raw, held->a, held->b, byte_of((int8_t)held->id),
                                     byte_of(more[0]), byte_of(more[1]), byte_of(more[2]),
                                     byte_of(more[3]), byte_of(more[4])});
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void put_one(struct strobe_bridge_stream *stream, const struct strobe_bridge_held *held)
{
    if (held->kind >= STROBE_KIND_CPU_SWITCH) {
        put_turn(stream, held);
        return;
    }
    uint64_t raw = strobe_bridge_raw(stream, held->tick);
    raw = raw < stream->serial_tick ? stream->serial_tick : raw; /* a late one: no way back */
    stream->serial_tick = raw;
    switch (held->kind) {
    case NOTHING:
        break;
    case STROBE_KIND_FRAME_MARK:
    case STROBE_KIND_FRAME_START:
    case STROBE_KIND_FRAME_END:
        put_frame(stream, held, raw);
        break;
    case STROBE_KIND_MEM_ALLOC:
    case STROBE_KIND_MEM_FREE:
    case STROBE_KIND_MEM_DISCARD:
        put_memory(stream, held, raw);
        break;
    default:
        put_lock(stream, held, raw);
    }
}

void strobe_bridge_put_held(struct strobe_bridge_stream *stream)
{
    STROBE_ASSERT(stream->is_sorted && stream->held_end <= stream->n_held);
    while (stream->held_at < stream->held_end && !strobe_wire_out_full(&stream->out)) {
        struct strobe_bridge_held held = stream->held[stream->held_at++];
        put_one(stream, &held);
    }
    if (stream->held_at < stream->held_end)
        return;
    STROBE_ASSERT(stream->n_kept <= stream->held_end);
    stream->n_held -= stream->held_end;
    memmove(stream->held + stream->n_kept, stream->held + stream->held_end,
            stream->n_held * sizeof *stream->held);
    stream->n_held += stream->n_kept;
    for (uint32_t i = 0; i < stream->n_held; i++)
        stream->held[i].order = i;
    stream->is_sorted &= !stream->n_kept;
    stream->held_at = stream->held_end = stream->n_kept = 0;
}
