/* threads.c - what is known of a process's threads, their end, and what each of them lost. Runs inside the traced program.
 * SPDX-License-Identifier: MIT */
#include "base/assert.h"
#include "ring/ring_write.h"

struct strobe_thread *strobe_ring_find_thread(struct strobe_pool *pool, uint32_t tid)
{
    struct strobe_thread *thread = pool->by_tid[tid % STROBE_TID_CHAINS];
    while (thread && thread->tid != tid)
        thread = thread->tid_next;
    return thread;
}

void strobe_ring_end_thread(struct strobe_pool *pool, struct strobe_thread *thread)
{
    STROBE_ASSERT(__atomic_load_n(&pool->lock, __ATOMIC_RELAXED) && pool->n_threads);
    STROBE_ASSERT(thread->prev ? thread->prev->next == thread : pool->threads == thread);
    *(thread->prev ? &thread->prev->next : &pool->threads) = thread->next;
    if (thread->next)
        thread->next->prev = thread->prev;
    struct strobe_thread **link = &pool->by_tid[thread->tid % STROBE_TID_CHAINS];
    while (*link != thread)
        link = &(*link)->tid_next;
    *link = thread->tid_next;
    pool->n_threads--;
    if (thread->slot)
        __atomic_store_n(&thread->slot->state, STROBE_SLOT_ENDED, __ATOMIC_RELEASE);
    __atomic_add_fetch(&pool->control->n_taken, 1, __ATOMIC_RELEASE);
    thread->hot.cursor = 0;
    thread->next = pool->free_threads;
    pool->free_threads = thread;
}

void strobe_ring_count_loss_at(struct strobe_pool *pool, struct strobe_thread *thread,
                               enum strobe_loss loss, uint64_t now)
{
    uint64_t none = 0;
    STROBE_ASSERT(loss < STROBE_LOSS_IN_CONTROL);
    struct strobe_control *control = pool->control;
    struct strobe_slot *slot = thread ? thread->slot : NULL;
    if (loss >= STROBE_LOSS_IN_SLOT)
        slot = NULL;
    uint64_t *first = slot ? &slot->drop_first_tick : &control->lost_first_tick;
    uint64_t *last = slot ? &slot->drop_last_tick : &control->lost_last_tick;
    uint64_t *count = slot ? &slot->n_dropped[loss] : &control->n_lost[loss];
    if (!__atomic_load_n(first, __ATOMIC_RELAXED))
        __atomic_compare_exchange_n(first, &none, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    __atomic_store_n(last, now, __ATOMIC_RELAXED);
    __atomic_add_fetch(count, 1, __ATOMIC_RELEASE);
}

void strobe_ring_count_loss(struct strobe_pool *pool, struct strobe_thread *thread,
                            enum strobe_loss loss)
{
    strobe_ring_count_loss_at(pool, thread, loss, strobe_ring_now(pool));
}
