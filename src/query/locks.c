/* locks.c - see locks.h. A lock has the threads that hold it and those that wait; whenever the holders change, the time since the
 * change before is charged to each waiter and the holder of that time. A wait that was recorded as a whole (LOCK_WAITED) names its
 * holder itself.  SPDX-License-Identifier: MIT */
#include "query/locks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

#define BIT(kind) (1ull << STROBE_KIND_##kind)
#define NONE      STROBE_IDMAP_NONE

enum {
    MOST_EDGES = 1 << 16,
    RECENT = 32,      /* ends of waits that are remembered per lock */
    CONVOY_WAITS = 8, /* the fewest waits that make one */
};

struct holder {
    uint32_t root, thread, loc_process;
    uint64_t loc, since;
    uint32_t n_more; /* obtains by the same thread, on top of the first */
};

struct waiter {
    uint32_t root, thread, loc_process, stack;
    uint64_t loc, since, mark; /* mark: charged until then */
    uint64_t n_changes;        /* of the lock when it began */
    uint8_t is_blocked;        /* somebody held the lock when it began: */
    uint32_t holder;
    uint64_t holder_tid;
};

struct lock_state {
    struct holder *holders; /* owned */
    struct waiter *waiters; /* owned */
    uint32_t n_holders, holders_room, n_waiters, waiters_room;
    uint64_t n_changes; /* of holders */
    struct ended {
        uint64_t tick;
        uint32_t thread;
    } ends[RECENT]; /* of waits, the last ones */
    uint32_t n_ends;
};

/* Locks that a thread holds. */
struct thread_state {
    uint32_t *held; /* owned: indices of locks */
    uint32_t n, room;
};

struct pass {
    struct strobe_trace *trace; /* borrowed */
    const struct strobe_locks_options *options;
    struct strobe_locks *out;
    struct lock_state *states; /* owned: by lock */
    uint32_t states_room;
    struct thread_state *threads; /* owned: by root thread */
    uint32_t threads_room;
    struct strobe_idmap tids; /* (process, tid): index in tid_threads */
    uint32_t *tid_threads;    /* owned */
    uint32_t tid_threads_room;
    enum strobe_err err; /* of options->wait */
};

static int in_range(const struct pass *pass, uint64_t tick)
{
    return tick >= pass->options->from && tick <= pass->options->to;
}

static uint64_t since(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* ---- rows ---- */

static uint32_t find_lock(struct pass *pass, uint32_t process, uint64_t id)
{
    struct strobe_locks *out = pass->out;
    uint32_t known = out->lock_ids.n;
    uint32_t i = strobe_idmap_add_row(&out->lock_ids, process, id, (void **)&out->locks,
                                      &out->locks_room, sizeof *out->locks);
    if (i == NONE || STROBE_ARRAY_REACH(pass->states, pass->states_room, i))
        return NONE;
    if (i >= known)
        out->locks[i] = (struct strobe_lock_row){.process = process,
                                                 .id = id,
                                                 .longest_waiter = NONE,
                                                 .longest_holder = NONE,
                                                 .stack = NONE,
                                                 .only_waits = 1};
    return i;
}

static struct strobe_lock_pair *find_pair(struct strobe_locks *out,
                                          const struct strobe_lock_pair *key)
{
    const struct {
        uint64_t waiter_loc, holder_loc, holder_tid;
        uint32_t lock, waiter, holder, stack;
    } bytes = {key->waiter_loc, key->holder_loc, key->holder_tid, key->lock,
               key->waiter,     key->holder,     key->stack};
    uint32_t i;
    if (strobe_textmap_add(&out->pair_ids, &bytes, sizeof bytes, &i) ||
        STROBE_ARRAY_REACH(out->pairs, out->pairs_room, i))
        return NULL;
    if (i >= out->n_pairs)
        out->pairs[i] = *key;
    out->n_pairs = out->pair_ids.n;
    return &out->pairs[i];
}

static int add_stretch(struct strobe_locks *out, const struct strobe_lock_pair *key, uint64_t from,
                       uint64_t ticks)
{
    struct strobe_lock_pair *pair = find_pair(out, key);
    if (!pair)
        return 0;
    pair->n++;
    pair->ticks += ticks;
    if (ticks >= pair->longest) {
        pair->longest = ticks;
        pair->longest_at = from;
    }
    return 1;
}

static void add_wait(struct pass *pass, uint32_t lock, const struct waiter *waiter, uint64_t tick,
                     int has_ended)
{
    struct strobe_lock_row *row = &pass->out->locks[lock];
    uint64_t ticks = since(waiter->since, tick);
    const struct strobe_lock_wait wait = {.process = row->process,
                                          .thread = waiter->thread,
                                          .lock = row->id,
                                          .begin = waiter->since,
                                          .ticks = ticks,
                                          .holder = waiter->holder,
                                          .holder_tid = waiter->holder_tid,
                                          .has_ended = (uint8_t)has_ended};
    if (pass->options->wait && !pass->err)
        pass->err = pass->options->wait(pass->options->context, &wait);
    row->n_waits++;
    row->wait_ticks += ticks;
    if (row->stack == NONE)
        row->stack = waiter->stack;
    if (ticks >= row->longest_wait) {
        row->longest_wait = ticks;
        row->longest_wait_at = waiter->since;
        row->longest_waiter = waiter->thread;
    }
}

/* ---- waits ---- */

/* Whether the wait that ended i-th was, after `begin`, the first of its thread among those that are remembered. */
static int is_company(const struct lock_state *state, uint32_t i, uint64_t begin, uint32_t thread)
{
    if (state->ends[i].tick <= begin || state->ends[i].thread == thread)
        return 0;
    for (uint32_t k = 0; k < i; k++)
        if (state->ends[k].thread == state->ends[i].thread && state->ends[k].tick > begin)
            return 0;
    for (uint32_t k = 0; k < state->n_waiters; k++)
        if (state->waiters[k].thread == state->ends[i].thread)
            return 0;
    return 1;
}

/* Other threads that waited too: they go on, or came to an end after this wait began. */
static void note_company(struct pass *pass, uint32_t lock, const struct waiter *waiter,
                         uint64_t tick)
{
    struct lock_state *state = &pass->states[lock];
    struct strobe_lock_row *row = &pass->out->locks[lock];
    uint32_t n = state->n_waiters;
    for (uint32_t i = 0; i < RECENT && i < state->n_ends; i++)
        n += (uint32_t)is_company(state, i, waiter->since, waiter->thread);
    row->n_queued += n > 0;
    if (n + 1 > row->most_waiters)
        row->most_waiters = n + 1;
    state->ends[state->n_ends++ % RECENT] = (struct ended){tick, waiter->thread};
}

/* Charge the waiters of a lock up to now. */
static int charge(struct pass *pass, uint32_t lock, uint64_t tick)
{
    struct lock_state *state = &pass->states[lock];
    const struct holder *holder = state->n_holders ? &state->holders[0] : NULL;
    for (uint32_t i = 0; i < state->n_waiters; i++) {
        struct waiter *waiter = &state->waiters[i];
        const struct strobe_lock_pair key = {.lock = lock,
                                             .waiter = waiter->thread,
                                             .waiter_process = waiter->loc_process,
                                             .waiter_loc = waiter->loc,
                                             .holder = holder ? holder->thread : NONE,
                                             .holder_process = holder ? holder->loc_process : 0,
                                             .holder_loc = holder ? holder->loc : 0,
                                             .stack = waiter->stack};
        uint64_t ticks = since(waiter->mark, tick);
        if (ticks && in_range(pass, tick) && holder &&
            !add_stretch(pass->out, &key, waiter->mark, ticks))
            return 0;
        waiter->mark = tick > waiter->mark ? tick : waiter->mark;
    }
    return 1;
}

static enum strobe_err begin_wait(struct pass *pass, uint32_t lock,
                                  const struct strobe_ordered_row *row)
{
    struct lock_state *state = &pass->states[lock];
    struct waiter *waiter =
        STROBE_ARRAY_PUSH(state->waiters, state->n_waiters, state->waiters_room);
    if (!waiter)
        return STROBE_ERR_NOMEM;
    *waiter = (struct waiter){.root = row->root,
                              .thread = row->thread,
                              .loc_process = row->loc_process,
                              .stack = row->stack,
                              .loc = row->loc,
                              .since = row->tick,
                              .mark = row->tick,
                              .n_changes = state->n_changes,
                              .holder = NONE};
    for (uint32_t i = state->n_holders; i-- > 0;)
        if (state->holders[i].root != row->root) {
            waiter->is_blocked = 1;
            waiter->holder = state->holders[i].thread;
        }
    return STROBE_OK;
}

/* The thread's wait ends. 0 without memory. */
static int end_wait(struct pass *pass, uint32_t lock, const struct strobe_ordered_row *row)
{
    struct lock_state *state = &pass->states[lock];
    for (uint32_t i = 0; i < state->n_waiters; i++) {
        struct waiter waiter = state->waiters[i];
        if (waiter.root != row->root)
            continue;
        if (!charge(pass, lock, row->tick))
            return 0;
        state->waiters[i] = state->waiters[--state->n_waiters];
        if ((waiter.is_blocked || waiter.n_changes != state->n_changes) &&
            in_range(pass, row->tick)) {
            add_wait(pass, lock, &waiter, row->tick, 1);
            note_company(pass, lock, &waiter, row->tick);
        }
        return 1;
    }
    return 1;
}

/* ---- what a thread holds ---- */

static int add_edge(struct pass *pass, uint32_t held, uint32_t wanted,
                    const struct strobe_ordered_row *row)
{
    struct strobe_locks *out = pass->out;
    uint64_t key = (uint64_t)held << 32 | wanted, *number;
    if (held == wanted)
        return 1;
    if (out->n_edges >= MOST_EDGES && !strobe_map_find(&out->edge_ids, key)) {
        out->n_edges_left++;
        return 1;
    }
    if (strobe_map_add(&out->edge_ids, key, &number))
        return 0;
    if (!*number) {
        struct strobe_lock_edge *edge =
            STROBE_ARRAY_PUSH(out->edges, out->n_edges, out->edges_room);
        if (!edge)
            return 0;
        *edge = (struct strobe_lock_edge){held, wanted, row->thread, row->tick, 0, 0};
        *number = out->n_edges;
    }
    out->edges[*number - 1].n++;
    return 1;
}

static void add_hold(struct pass *pass, uint32_t lock, const struct holder *holder, uint64_t tick)
{
    struct strobe_lock_row *row = &pass->out->locks[lock];
    uint64_t ticks = since(holder->since, tick);
    if (!in_range(pass, holder->since))
        return;
    row->n_holds++;
    row->held_ticks += ticks;
    if (ticks >= row->longest_held) {
        row->longest_held = ticks;
        row->longest_held_at = holder->since;
        row->longest_holder = holder->thread;
    }
}

static struct holder *find_holder(struct lock_state *state, uint32_t root)
{
    for (uint32_t i = state->n_holders; i-- > 0;)
        if (state->holders[i].root == root)
            return &state->holders[i];
    return NULL;
}

/* The hold ends at `tick`; its place is taken by the last one. */
static void end_hold(struct pass *pass, uint32_t lock, struct holder *holder, uint64_t tick)
{
    struct lock_state *state = &pass->states[lock];
    STROBE_ASSERT(holder->root < pass->threads_room);
    struct thread_state *thread = &pass->threads[holder->root];
    add_hold(pass, lock, holder, tick);
    for (uint32_t i = thread->n; i-- > 0;)
        if (thread->held[i] == lock) {
            memmove(&thread->held[i], &thread->held[i + 1],
                    (thread->n - i - 1) * sizeof *thread->held);
            thread->n--;
            break;
        }
    *holder = state->holders[--state->n_holders];
}

/* A thread has the lock for itself: whoever had it before has it no longer. It died (a robust mutex), or its release was dropped. */
static void end_others(struct pass *pass, uint32_t lock, const struct strobe_ordered_row *row)
{
    struct lock_state *state = &pass->states[lock];
    for (uint32_t i = state->n_holders; i-- > 0;) {
        struct holder *holder = &state->holders[i];
        uint64_t death = pass->trace->threads[holder->thread].end_tick;
        int has_died = death >= holder->since && death < row->tick;
        if (holder->root == row->root)
            continue;
        end_hold(pass, lock, holder, has_died ? death : row->tick);
        state->n_changes++;
    }
}

static enum strobe_err obtain(struct pass *pass, uint32_t lock,
                              const struct strobe_ordered_row *row)
{
    struct lock_state *state = &pass->states[lock];
    if (STROBE_ARRAY_REACH(pass->threads, pass->threads_room, row->root) ||
        !end_wait(pass, lock, row) || !charge(pass, lock, row->tick))
        return STROBE_ERR_NOMEM;
    if (!row->fields[1])
        end_others(pass, lock, row);
    pass->out->locks[lock].only_waits = 0;
    pass->out->locks[lock].n_obtains += (uint64_t)in_range(pass, row->tick);
    struct holder *own = find_holder(state, row->root);
    if (own) {
        own->n_more++;
        return STROBE_OK;
    }
    struct thread_state *thread = &pass->threads[row->root];
    for (uint32_t i = 0; i < thread->n; i++)
        if (!add_edge(pass, thread->held[i], lock, row))
            return STROBE_ERR_NOMEM;
    uint32_t *held = STROBE_ARRAY_PUSH(thread->held, thread->n, thread->room);
    struct holder *holder =
        STROBE_ARRAY_PUSH(state->holders, state->n_holders, state->holders_room);
    if (!held || !holder)
        return STROBE_ERR_NOMEM;
    *held = lock;
    *holder = (struct holder){row->root, row->thread, row->loc_process, row->loc, row->tick, 0};
    return STROBE_OK;
}

static enum strobe_err release(struct pass *pass, uint32_t lock,
                               const struct strobe_ordered_row *row)
{
    struct lock_state *state = &pass->states[lock];
    struct holder *own = find_holder(state, row->root);
    if (own && own->n_more) {
        own->n_more--;
        return STROBE_OK;
    }
    if (!charge(pass, lock, row->tick))
        return STROBE_ERR_NOMEM;
    state->n_changes++;
    if (own)
        end_hold(pass, lock, own, row->tick);
    return STROBE_OK;
}

/* ---- a wait that was recorded as a whole ---- */

static int index_tids(struct pass *pass)
{
    for (uint32_t i = 0; i < pass->trace->thread_ids.n; i++) {
        const struct strobe_trace_thread *thread = &pass->trace->threads[i];
        uint32_t row = strobe_idmap_add_row(&pass->tids, thread->process, thread->tid,
                                            (void **)&pass->tid_threads, &pass->tid_threads_room,
                                            sizeof *pass->tid_threads);
        if (row == NONE)
            return 0;
        pass->tid_threads[row] = i;
    }
    return 1;
}

static enum strobe_err add_whole(struct pass *pass, uint32_t lock,
                                 const struct strobe_ordered_row *row)
{
    uint64_t ticks = row->fields[2], tid = row->fields[3], begin = row->tick - ticks;
    uint32_t i = tid ? strobe_idmap_find(&pass->tids, row->process, tid) : NONE;
    const struct waiter waiter = {.thread = row->thread,
                                  .stack = row->stack,
                                  .since = begin,
                                  .holder = i == NONE ? NONE : pass->tid_threads[i],
                                  .holder_tid = i == NONE ? tid : 0};
    const struct strobe_lock_pair key = {.lock = lock,
                                         .waiter = row->thread,
                                         .waiter_process = row->loc_process,
                                         .waiter_loc = row->loc,
                                         .holder = waiter.holder,
                                         .holder_tid = waiter.holder_tid,
                                         .stack = row->stack};
    if (ticks > row->tick || !in_range(pass, row->tick))
        return STROBE_OK;
    add_wait(pass, lock, &waiter, row->tick, 1);
    note_company(pass, lock, &waiter, row->tick);
    return add_stretch(pass->out, &key, begin, ticks) ? STROBE_OK : STROBE_ERR_NOMEM;
}

static enum strobe_err take_one(struct pass *pass, uint32_t lock,
                                const struct strobe_ordered_row *row)
{
    switch (row->kind) {
    case STROBE_KIND_LOCK_WAIT:
        return begin_wait(pass, lock, row);
    case STROBE_KIND_LOCK_OBTAIN:
        return obtain(pass, lock, row);
    case STROBE_KIND_LOCK_RELEASE:
        return release(pass, lock, row);
    default:
        return add_whole(pass, lock, row);
    }
}

static enum strobe_err take(void *context, const struct strobe_ordered_row *row)
{
    struct pass *pass = context;
    uint32_t lock = find_lock(pass, row->process, row->fields[0]);
    enum strobe_err err = lock == NONE ? STROBE_ERR_NOMEM : take_one(pass, lock, row);
    return err ? err : pass->err;
}

static int is_over(void *context)
{
    const struct strobe_locks_options *options = ((struct pass *)context)->options;
    return options->is_over && options->is_over(options->context);
}

/* ---- the end ---- */

/* Locks that are held or waited for at the end, up to there. */
static enum strobe_err end_all(struct pass *pass, uint64_t tick)
{
    struct strobe_locks *out = pass->out;
    for (uint32_t lock = 0; lock < out->lock_ids.n; lock++) {
        struct lock_state *state = &pass->states[lock];
        if (!charge(pass, lock, tick))
            return STROBE_ERR_NOMEM;
        for (uint32_t i = 0; i < state->n_waiters; i++)
            if (state->waiters[i].is_blocked && in_range(pass, tick))
                add_wait(pass, lock, &state->waiters[i], tick, 0);
        for (uint32_t i = 0; i < state->n_holders; i++)
            add_hold(pass, lock, &state->holders[i], tick);
    }
    return pass->err;
}

static int is_convoy(const struct strobe_lock_row *row)
{
    int waits_mostly = row->only_waits || 2 * row->n_waits >= row->n_obtains;
    return row->n_waits >= CONVOY_WAITS && waits_mostly && row->most_waiters > 1 &&
           2 * row->n_queued >= row->n_waits;
}

/* Whether `to` can be reached from `from` along edges: `seen` and `waiting` have a place per lock. */
static int reaches(const struct strobe_locks *out, uint32_t from, uint32_t to, uint8_t *seen,
                   uint32_t *waiting)
{
    uint32_t n = 0;
    memset(seen, 0, out->lock_ids.n);
    waiting[n++] = from;
    seen[from] = 1;
    while (n) {
        uint32_t at = waiting[--n];
        if (at == to)
            return 1;
        for (uint32_t i = 0; i < out->n_edges; i++)
            if (out->edges[i].held == at && !seen[out->edges[i].wanted]) {
                seen[out->edges[i].wanted] = 1;
                waiting[n++] = out->edges[i].wanted;
            }
    }
    return 0;
}

static enum strobe_err find_inversions(struct strobe_locks *out)
{
    enum { SMALL = 2048 }; /* edges for which ways over other locks are looked for */
    uint8_t *seen = malloc(out->lock_ids.n + 1ull);
    uint32_t *waiting = strobe_array_resize(NULL, out->lock_ids.n + 1ull, sizeof *waiting);
    for (uint32_t i = 0; seen && waiting && i < out->n_edges; i++) {
        struct strobe_lock_edge *edge = &out->edges[i];
        uint64_t back = (uint64_t)edge->wanted << 32 | edge->held;
        edge->is_inverted =
            strobe_map_find(&out->edge_ids, back) ||
            (out->n_edges <= SMALL && reaches(out, edge->wanted, edge->held, seen, waiting));
    }
    enum strobe_err err = seen && waiting ? STROBE_OK : STROBE_ERR_NOMEM;
    free(seen);
    free(waiting);
    return err;
}

static void free_pass(struct pass *pass)
{
    for (uint32_t i = 0; i < pass->states_room; i++) {
        free(pass->states[i].holders);
        free(pass->states[i].waiters);
    }
    for (uint32_t i = 0; i < pass->threads_room; i++)
        free(pass->threads[i].held);
    free(pass->states);
    free(pass->threads);
    free(pass->tid_threads);
    strobe_idmap_free(&pass->tids);
}

enum strobe_err strobe_locks_run(struct strobe_trace *trace,
                                 const struct strobe_locks_options *options,
                                 struct strobe_locks *out)
{
    struct pass pass = {.trace = trace, .options = options, .out = out};
    memset(out, 0, sizeof *out);
    out->ordered = (struct strobe_ordered){.trace = trace,
                                           .context = &pass,
                                           .take = take,
                                           .is_over = is_over,
                                           .kinds = BIT(LOCK_WAIT) | BIT(LOCK_OBTAIN) |
                                                    BIT(LOCK_RELEASE) | BIT(LOCK_WAITED),
                                           .processes = options->processes,
                                           .n_processes = options->n_processes};
    enum strobe_err err = index_tids(&pass) ? STROBE_OK : STROBE_ERR_NOMEM;
    if (!err)
        err = strobe_ordered_run(&out->ordered);
    if (!err)
        err = end_all(&pass, out->ordered.tick_last);
    if (!err)
        err = find_inversions(out);
    for (uint32_t i = 0; i < out->lock_ids.n; i++)
        out->locks[i].is_convoy = (uint8_t)is_convoy(&out->locks[i]);
    free_pass(&pass);
    return err;
}

void strobe_locks_free(struct strobe_locks *locks)
{
    strobe_ordered_free(&locks->ordered);
    strobe_idmap_free(&locks->lock_ids);
    strobe_textmap_free(&locks->pair_ids);
    strobe_map_free(&locks->edge_ids);
    free(locks->locks);
    free(locks->pairs);
    free(locks->edges);
    memset(locks, 0, sizeof *locks);
}

/* ---- orders ---- */

struct place {
    uint64_t weight;
    uint32_t index;
};

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Indices in the order of weights; frees `places`. */
static uint32_t *order_of(struct place *places, uint32_t n)
{
    uint32_t *order = places ? strobe_array_resize(NULL, n + 1ull, sizeof *order) : NULL;
    if (order && n)
        qsort(places, n, sizeof *places, compare);
    for (uint32_t i = 0; order && i < n; i++)
        order[i] = places[i].index;
    free(places);
    return order;
}

uint32_t *strobe_locks_sort(const struct strobe_locks *locks)
{
    struct place *places = strobe_array_resize(NULL, locks->lock_ids.n + 1ull, sizeof *places);
    for (uint32_t i = 0; places && i < locks->lock_ids.n; i++)
        places[i] = (struct place){locks->locks[i].wait_ticks, i};
    return order_of(places, locks->lock_ids.n);
}

uint32_t *strobe_locks_sort_pairs(const struct strobe_locks *locks)
{
    struct place *places = strobe_array_resize(NULL, locks->n_pairs + 1ull, sizeof *places);
    for (uint32_t i = 0; places && i < locks->n_pairs; i++)
        places[i] = (struct place){locks->pairs[i].ticks, i};
    return order_of(places, locks->n_pairs);
}
