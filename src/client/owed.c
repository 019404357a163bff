/* owed.c - ends of zones that found no room. Their begins are in the stream, so they have to come, or all that follows would seem to lie
 * in those zones: the thread keeps them, with their times, and stores them when there is room again, before anything else.
 *
 * An end that is owed is neither stored nor dropped: the thread's slot counts it. What is still owed at the thread's end it drops itself, when
 * the recording ends the recorder does (src/collector/owed.c). Runs inside the traced thread, with signals blocked.  SPDX-License-Identifier: MIT */
#include "base/assert.h"
#include "client/client.h"

uint64_t strobe_client_end_id(const uint64_t *words)
{
    if (STROBE_WORD_IS_END(words[0]))
        return (words[0] >> 32) & STROBE_WORD_ID_MAX;
    return words[0] >> 32 == STROBE_RECORD_WORD(STROBE_KIND_ZONE_END_AT, 2) >> 32 ? words[1] : 0;
}

/* Those of an earlier recorder were dropped when it left. */
static void forget_former(const struct strobe_pool *pool, struct strobe_owed *owed)
{
    uint32_t generation = pool->control->active;
    if (owed->generation == generation)
        return;
    owed->n = owed->n_done = owed->n_more = 0;
    owed->generation = generation;
}

static uint32_t count(const struct strobe_owed *owed)
{
    STROBE_ASSERT(owed->n_done <= owed->n);
    return owed->n - owed->n_done + owed->n_more;
}

/* Say in the slot how many there are. */
static void publish(struct strobe_thread *thread)
{
    uint32_t n = count(&thread->owed), loss = thread->owed.loss;
    STROBE_ASSERT(n <= STROBE_SLOT_OWED_MAX && loss < STROBE_LOSS_IN_CONTROL);
    __atomic_store_n(&thread->slot->owed, (uint16_t)(n ? loss << STROBE_SLOT_OWED_SHIFT | n : 0),
                     __ATOMIC_RELEASE);
}

bool strobe_client_owe(struct strobe_pool *pool, struct strobe_thread *thread, uint64_t id,
                       uint64_t tick, enum strobe_loss loss)
{
    struct strobe_owed *owed = &thread->owed;
    STROBE_ASSERT(id && loss < STROBE_LOSS_IN_CONTROL);
    forget_former(pool, owed);
    if (!thread->slot || count(owed) == STROBE_SLOT_OWED_MAX)
        return false;
    if (!count(owed))
        owed->loss = loss;
    if (owed->n < STROBE_OWED_MAX && !owed->n_more) {
        owed->ends[owed->n].id = id;
        owed->ends[owed->n++].tick = tick;
    } else {
        owed->n_more++;
    }
    publish(thread);
    return true;
}

/* Who is killed between the store and the count has one too many counted. */
bool strobe_client_settle(struct strobe_pool *pool, struct strobe_thread *thread,
                          enum strobe_loss *loss)
{
    struct strobe_owed *owed = &thread->owed;
    if (!owed->n)
        return true;
    forget_former(pool, owed);
    while (owed->n_done < owed->n) {
        uint64_t id = owed->ends[owed->n_done].id, tick = owed->ends[owed->n_done].tick;
        bool is_word = id <= STROBE_WORD_ID_MAX;
        uint64_t words[] = {is_word ? STROBE_WORD_END | id << 32
                                    : STROBE_RECORD_WORD(STROBE_KIND_ZONE_END_AT, 2),
                            id};
        if (!strobe_client_put(pool, thread, words, is_word ? 1 : 2, tick, loss))
            return false;
        owed->n_done++;
        publish(thread);
    }
    while (owed->n_more) { /* of the innermost open zone */
        const uint64_t word = STROBE_WORD_END;
        if (!strobe_client_put(pool, thread, &word, 1, 0, loss))
            return false;
        owed->n_more--;
        publish(thread);
    }
    owed->n = owed->n_done = 0;
    return true;
}

/* There was no room to the last. */
static void drop_all(struct strobe_pool *pool, struct strobe_thread *thread)
{
    struct strobe_owed *owed = &thread->owed;
    while (count(owed)) {
        if (owed->n_more)
            owed->n_more--;
        else
            owed->n--;
        publish(thread);
        strobe_ring_count_loss(pool, thread, owed->loss);
    }
    owed->n = owed->n_done = 0;
}

void strobe_client_settle_last(struct strobe_pool *pool, struct strobe_thread *thread,
                               const struct strobe_mask *old)
{
    enum strobe_loss loss;
    if (!thread->owed.n)
        return;
    if (strobe_ring_enter(pool)) {
        thread->mask = *old;
        thread->frame = old;
        if (!strobe_client_settle(pool, thread, &loss) && pool->control->active)
            drop_all(pool, thread);
    }
    strobe_ring_leave(pool);
}
