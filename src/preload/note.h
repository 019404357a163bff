/* note.h - events of allocators, and whether they are wanted. Runs in any thread of the program.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PRELOAD_NOTE_H
#define STROBE_PRELOAD_NOTE_H

#include "client/fast.h"
#include "preload/preload.h"

/* Whether events of the calling thread are wanted at present. A program with a client of its own shares its pool with ours. What that
 * client calls under the pool's lock may come here on the same thread, which would then wait for itself: such a call is passed on and
 * not noted. */
static inline bool strobe_preload_records(void)
{
    const volatile struct strobe_gate *gate = strobe_gate_now;
    if (!gate->active || gate == &strobe_client_first_gate)
        return false;
    const struct strobe_control *control =
        (const struct strobe_control *)((uintptr_t)gate - offsetof(struct strobe_control, active));
    const struct strobe_pool *pool = (const struct strobe_pool *)(uintptr_t)control->private_block;
    return __atomic_load_n(&pool->n_copies, __ATOMIC_RELAXED) < 2 ||
           !__atomic_load_n(&pool->lock, __ATOMIC_RELAXED);
}

/* The gate is open. */
static inline uint64_t strobe_preload_pool_id(struct strobe_name *pool)
{
    uint64_t id = strobe_client_known_id(pool);
    return id ? id : strobe_client_name_id(pool);
}

/* A record at a tick (0: now). False: it has another tick, or was dropped. */
static inline bool strobe_preload_put(const uint64_t *words, uint32_t n_words, uint64_t tick)
{
    if (__builtin_expect(strobe_client_put_fast_at(words, n_words, tick ? tick : strobe_ticks()),
                         1))
        return true;
    strobe_client_emit(words, n_words);
    return false;
}

/* Pool and address in one word; 0: they do not fit. */
static inline uint64_t strobe_preload_where(uint64_t id, const void *at)
{
    enum { ROOM = 64 - STROBE_SHORT_POOL_BITS };
    bool fits = !((uintptr_t)at >> ROOM) && !(id >> STROBE_SHORT_POOL_BITS);
    return fits ? id << ROOM | (uintptr_t)at : 0;
}

/* What was allocated; errno stays. `tick` and result as above. */
static inline bool strobe_preload_emit_block(struct strobe_name *pool, const void *frame,
                                             const void *at, size_t size, uint64_t weight,
                                             const void *old, uint64_t tick)
{
    enum { N = 7, SHORT = STROBE_SHORT_BLOCK_WORDS, ROOM = 64 - STROBE_SHORT_STACK_BITS };
    uint64_t id = strobe_preload_pool_id(pool), stack = strobe_preload_stack(frame);
    uint64_t where = strobe_preload_where(id, at);
    if (!id)
        return false;
    if (where && !weight && !old && !(size >> ROOM) && !(stack >> STROBE_SHORT_STACK_BITS)) {
        uint64_t words[SHORT] = {STROBE_RECORD_WORD(STROBE_KIND_MEM_BLOCK, SHORT), where,
                                 stack << ROOM | size};
        return strobe_preload_put(words, SHORT, tick);
    }
    uint64_t words[N] = {STROBE_RECORD_WORD(STROBE_KIND_MEM_BLOCK, N),
                         id,
                         (uintptr_t)at,
                         size,
                         weight,
                         stack,
                         (uintptr_t)old};
    return strobe_preload_put(words, N, tick);
}

/* What is about to be given back; the same. */
static inline bool strobe_preload_emit_free(struct strobe_name *pool, const void *at, uint64_t tick)
{
    enum { N = 3, SHORT = STROBE_SHORT_FREE_WORDS };
    uint64_t id = strobe_preload_pool_id(pool), where = strobe_preload_where(id, at);
    uint64_t brief[SHORT] = {STROBE_RECORD_WORD(STROBE_KIND_MEM_FREE, SHORT), where};
    uint64_t words[N] = {STROBE_RECORD_WORD(STROBE_KIND_MEM_FREE, N), id, (uintptr_t)at};
    if (!id)
        return false;
    return where ? strobe_preload_put(brief, SHORT, tick) : strobe_preload_put(words, N, tick);
}

#endif
