/* answer_locks.c - locks, who waited for them and who held them: the figures of `strobe locks`.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "engine/tracks.h"
#include "query/heap_rows.h"
#include "query/locks.h"

enum { MOST_ROWS = 10000 };

/* Of the last question. */
struct strobe_kept_locks {
    char *key; /* owned: of the question that it answers */
    struct strobe_locks locks;
};

void strobe_kept_locks_free(struct strobe_kept_locks *kept)
{
    if (!kept)
        return;
    strobe_locks_free(&kept->locks);
    free(kept->key);
    free(kept);
}

static enum strobe_err keep(struct strobe_engine *engine, const struct strobe_json *question)
{
    static const char *const members[] = {"from", "to", NULL};
    char *key = strobe_engine_key(engine, question, members);
    if (!key)
        return STROBE_ERR_NOMEM;
    if (engine->locks && !strcmp(engine->locks->key, key)) {
        free(key);
        return STROBE_OK;
    }
    strobe_kept_locks_free(engine->locks);
    struct strobe_kept_locks *kept = engine->locks = calloc(1, sizeof *kept);
    if (!kept) {
        free(key);
        return STROBE_ERR_NOMEM;
    }
    struct strobe_locks_options options = {.processes = NULL};
    kept->key = key;
    strobe_engine_span(engine, question, &options.from, &options.to);
    enum strobe_err err = strobe_locks_run(engine->trace, &options, &kept->locks);
    if (!err)
        err = strobe_stack_symbols_load(engine->trace, &engine->symbols);
    if (err) {
        strobe_kept_locks_free(kept);
        engine->locks = NULL;
    }
    return err;
}

struct answer {
    struct strobe_engine *engine;
    const struct strobe_locks *locks;
    struct strobe_reply *reply;
    char *room; /* owned: STROBE_HEAP_NAME_ROOM, for stacks */
};

static void put_name(const struct answer *a, const char *member, uint32_t lock)
{
    const struct strobe_lock_row *row = &a->locks->locks[lock];
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *name = strobe_trace_lock_name(a->engine->trace, row->process, row->id, room, &n);
    strobe_reply_text(a->reply, member, name, n);
}

static void put_stack(const struct answer *a, uint32_t lock, uint32_t stack)
{
    const struct strobe_heap_names names = {a->engine, strobe_engine_functions};
    size_t n = 0;
    if (stack != STROBE_IDMAP_NONE)
        n = strobe_call_stacks_name(&a->locks->ordered.stacks, stack, a->locks->locks[lock].process,
                                    &names, a->room, STROBE_HEAP_NAME_ROOM);
    strobe_reply_text(a->reply, "stack", a->room, n);
}

/* Threads are tracks; 0: none. */
static void put_thread(const struct answer *a, const char *member, uint32_t thread)
{
    strobe_reply_u64(a->reply, member,
                     thread == STROBE_IDMAP_NONE ? 0 : strobe_track_of_thread(a->engine, thread));
}

static void put_loc(const struct answer *a, const char *member, uint32_t process, uint64_t loc)
{
    strobe_reply_u64(a->reply, member, loc ? strobe_engine_loc(a->engine, process, loc) : 0);
}

static void put_lock(const struct answer *a, uint32_t lock)
{
    const struct strobe_lock_row *row = &a->locks->locks[lock];
    const struct strobe_engine *engine = a->engine;
    struct strobe_reply *reply = a->reply;
    strobe_reply_open(reply, "", '{');
    strobe_reply_u64(reply, "lock", lock);
    put_name(a, "name", lock);
    strobe_reply_u64(reply, "process", strobe_track_of_process(engine, row->process));
    strobe_reply_u64(reply, "obtains", row->n_obtains);
    strobe_reply_u64(reply, "waits", row->n_waits);
    strobe_reply_number(reply, "wait", strobe_engine_duration(engine, row->wait_ticks));
    strobe_reply_number(reply, "longest", strobe_engine_duration(engine, row->longest_wait));
    strobe_reply_number(reply, "longest_at", strobe_engine_ns(engine, row->longest_wait_at));
    put_thread(a, "longest_track", row->longest_waiter);
    strobe_reply_u64(reply, "holds", row->n_holds);
    strobe_reply_number(reply, "held", strobe_engine_duration(engine, row->held_ticks));
    strobe_reply_number(reply, "longest_held", strobe_engine_duration(engine, row->longest_held));
    strobe_reply_u64(reply, "queued", row->n_queued);
    strobe_reply_u64(reply, "most_waiters", row->most_waiters);
    strobe_reply_bool(reply, "only_waits", row->only_waits);
    strobe_reply_bool(reply, "convoy", row->is_convoy);
    put_stack(a, lock, row->stack);
    strobe_reply_close(reply, '}');
}

static void put_pair(const struct answer *a, const struct strobe_lock_pair *pair)
{
    const struct strobe_engine *engine = a->engine;
    struct strobe_reply *reply = a->reply;
    strobe_reply_open(reply, "", '{');
    strobe_reply_u64(reply, "lock", pair->lock);
    put_thread(a, "waiter", pair->waiter);
    put_loc(a, "waiter_loc", pair->waiter_process, pair->waiter_loc);
    put_thread(a, "holder", pair->holder);
    strobe_reply_u64(reply, "holder_tid", pair->holder_tid);
    put_loc(a, "holder_loc", pair->holder_process, pair->holder_loc);
    strobe_reply_u64(reply, "count", pair->n);
    strobe_reply_number(reply, "wait", strobe_engine_duration(engine, pair->ticks));
    strobe_reply_number(reply, "longest", strobe_engine_duration(engine, pair->longest));
    strobe_reply_number(reply, "longest_at", strobe_engine_ns(engine, pair->longest_at));
    put_stack(a, pair->lock, pair->stack);
    strobe_reply_close(reply, '}');
}

static void put_edge(const struct answer *a, const struct strobe_lock_edge *edge)
{
    strobe_reply_open(a->reply, "", '{');
    strobe_reply_u64(a->reply, "held", edge->held);
    strobe_reply_u64(a->reply, "wanted", edge->wanted);
    put_name(a, "held_name", edge->held);
    put_name(a, "wanted_name", edge->wanted);
    put_thread(a, "track", edge->thread);
    strobe_reply_number(a->reply, "t", strobe_engine_ns(a->engine, edge->tick));
    strobe_reply_u64(a->reply, "count", edge->n);
    strobe_reply_bool(a->reply, "inverted", edge->is_inverted);
    strobe_reply_close(a->reply, '}');
}

static void put_all(const struct answer *a, const uint32_t *order, const uint32_t *pair_order,
                    uint64_t limit)
{
    const struct strobe_locks *locks = a->locks;
    strobe_reply_open(a->reply, "locks", '[');
    for (uint32_t i = 0; !a->reply->failed && i < locks->lock_ids.n && i < limit; i++)
        put_lock(a, order[i]);
    strobe_reply_close(a->reply, ']');
    strobe_reply_open(a->reply, "waits", '[');
    for (uint32_t i = 0; !a->reply->failed && i < locks->n_pairs && i < limit; i++)
        put_pair(a, &locks->pairs[pair_order[i]]);
    strobe_reply_close(a->reply, ']');
    strobe_reply_open(a->reply, "orders", '[');
    for (uint32_t i = 0; !a->reply->failed && i < locks->n_edges && i < limit; i++)
        put_edge(a, &locks->edges[i]);
    strobe_reply_close(a->reply, ']');
    strobe_reply_u64(a->reply, "n_locks", locks->lock_ids.n);
    strobe_reply_u64(a->reply, "n_waits", locks->n_pairs);
    strobe_reply_u64(a->reply, "n_orders", locks->n_edges);
}

void strobe_engine_answer_locks(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply)
{
    enum strobe_err err = keep(engine, question);
    if (err) {
        strobe_engine_answer_error(reply, strobe_err_text(err));
        return;
    }
    const struct strobe_locks *locks = &engine->locks->locks;
    uint32_t *order = strobe_locks_sort(locks), *pair_order = strobe_locks_sort_pairs(locks);
    struct answer answer = {engine, locks, reply, malloc(STROBE_HEAP_NAME_ROOM)};
    if (order && pair_order && answer.room)
        put_all(&answer, order, pair_order,
                strobe_engine_count(question, "limit", 1000, MOST_ROWS));
    else
        reply->failed = 1;
    free(order);
    free(pair_order);
    free(answer.room);
}
