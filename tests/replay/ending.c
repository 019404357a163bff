/* ending.c - tests/model/ending.pml on the real code: a recorder leaves while threads emit; one of them is new.
 * SPDX-License-Identifier: MIT */
#include "replay.h"

#include <string.h>

#include "collector/internal.h"
#include "ring/ring_write.h"

enum { ROUNDS = 4, PER_THREAD = 8, LATE_FROM = 16 };

static void emit_some(struct actor *me, uint32_t from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        world_emit(from + i);
        if (world.control->policy == STROBE_POLICY_DROP)
            world_few_words(1);
    }
    for (uint32_t i = 0; i < 60 && world.c; i++) { /* it computes: time in which it is heard */
        me->run_ns += 20000;
        replay_yield();
    }
    world_end_thread();
}

/* Its first event is a slow one, the others are fast. */
static void run_thread(struct actor *me)
{
    emit_some(me, me->name[6] == '0' ? 0 : PER_THREAD, ROUNDS);
}

static void run_recorder(struct actor *me)
{
    static const char *const ops[] = {"drain", "poll", "shut"};
    const char *op = NULL;
    for (uint32_t n = 0; n < (replay.mode == SEARCH ? 1 : 20) && (op = replay_choice(ops, 3)) &&
                         !strstr(op, "shut");
         n++) {
        if (strstr(op, "poll"))
            strobe_collector_poll(world.c, true);
        else
            world_drain();
    }
    strobe_collector_stop(world.c);
    me->did = "over";
}

static void open_world(void)
{
    world_open(true);
    world_few_segments(world.control->policy == STROBE_POLICY_DROP ? 1 : 8);
    world_record();
    replay_actor("Thread0", run_thread);
    replay_actor("Thread1", run_thread);
    replay_actor("Recorder", run_recorder);
    /* both have emitted before: a walk of the model begins with fast emits */
    for (uint32_t i = 0; i < 2 && (replay.mode != RANDOM || replay.seed % 2 == 0); i++)
        world_warm(&replay.actors[i], LATE_FROM + i);
}

static const char *label(const struct actor *me, enum access access, const void *at, uint64_t value)
{
    uint64_t offset = (uint64_t)((const char *)at - world.pool->data);
    bool is_word = (const char *)at >= world.pool->data && offset >= 2 * STROBE_CHUNK_BYTES &&
                   offset % 8192 >= 64;
    if (!strcmp(me->name, "Recorder")) {
        if (at == &world.control->active && access == STORE)
            return "shut";
        return is_word && access == LOAD && value ? "drain" : NULL;
    }
    if (at == &world.control->active && access == LOAD)
        return value ? "test" : "idle";
    return is_word && access == STORE && STROBE_WORD_IS_BEGIN(value) ? "emit" : NULL;
}

static bool outside(const struct step *step)
{
    if (!strcmp(step->label, "named"))
        replay.now_ns += 3000000000ull; /* the bound is over */
    return !strcmp(step->label, "named");
}

/* Each that was dropped is counted, in this recording; of a thread that is named one may be missing. */
static void check_dropped(void)
{
    uint64_t n_dropped = 0, n_counted = world.n_lost - world.lost[STROBE_LOSS_UNHEARD];
    for (uint32_t i = 0; i < EVENTS_MAX; i++)
        n_dropped += world.result[i] > 0 && !(world.result[i] & 1) &&
                     world.result[i] != 2 + 4 * STROBE_LOSS_IN_SLOT;
    if (n_counted > n_dropped || n_counted + world.n_unheard < n_dropped)
        replay_violation("%llu events were dropped, %llu are counted, %u threads are named",
                         (unsigned long long)n_dropped, (unsigned long long)n_counted,
                         world.n_unheard);
}

static void close_world(void)
{
    if (!replay.violation[0]) {
        world_read();
        check_dropped();
        uint32_t n_missing[2] = {0, 0};
        for (uint32_t i = 0; i < 2 * PER_THREAD; i++)
            n_missing[i / PER_THREAD] +=
                world.result[i] > 0 && world.result[i] & 1 && !world.n_stored[i];
        for (uint32_t t = 0; t < 2; t++) {
            bool is_named = false;
            for (uint32_t i = 0; i < world.n_unheard && i < 16; i++)
                is_named |= world.unheard_tid[i] == replay.actors[t].tid || !world.unheard_tid[i];
            if (n_missing[t] && !is_named)
                replay_violation(
                    "Thread%u emitted %u events that are not in the trace, and is not named", t,
                    n_missing[t]);
            if (n_missing[t] > 1)
                replay_violation("Thread%u was named, and %u events are missing", t, n_missing[t]);
        }
        for (uint32_t i = 0; i < EVENTS_MAX; i++)
            if (world.n_stored[i] > 1)
                replay_violation("event %u is stored %u times", i + 1, world.n_stored[i]);
    }
    world_close();
}

const struct scenario scenario_ending = {
    .name = "ending",
    .open = open_world,
    .close = close_world,
    .label = label,
    .outside = outside,
    .is_weak = true,
};
