/* cancel.c - tests/model/cancel.pml on the real code: a thread is cancelled somewhere in its emits, with the process's lock in
 * reach. Where cancellation is off, nothing happens; else it is unwound, at a cancellation point or anywhere.
 * SPDX-License-Identifier: MIT */
#include "replay.h"

#include <setjmp.h>
#include <string.h>

#include "collector/internal.h"
#include "ring/ring_write.h"

enum { ROUNDS = 3, PER_THREAD = 8 };

static jmp_buf top;
static uint32_t n_unwound;

static void run_thread(struct actor *me)
{
    static volatile uint32_t event[2];
    uint32_t which = (uint32_t)(me->name[6] - '0');
    if (which == 0 && setjmp(top)) {
        me->is_cancelled = false;
        n_unwound++;
        event[0] = ROUNDS;
    } else {
        event[which] = 0;
    }
    for (; event[which] < ROUNDS; event[which]++) {
        world_emit(which * PER_THREAD + event[which]);
        world_few_words(0); /* each event takes a segment, with the lock */
    }
    world_end_thread();
}

static void run_canceller(struct actor *me)
{
    struct actor *victim = replay_find("Thread0");
    static const char *const ops[] = {"cancel", "asynchronous"};
    const char *op = replay_choice(ops, 2);
    victim->is_asynchronous |= op && !strcmp(op, "asynchronous");
    victim->is_cancelled = true;
    me->did = op;
    if (victim->state == BLOCKED &&
        !victim->is_uncancelable) /* in its sleep, which is a cancellation point */
        victim->state = READY;
}

static void run_recorder(struct actor *me)
{
    (void)me;
    while (replay_find("Thread0")->state < DONE || replay_find("Thread1")->state < DONE) {
        strobe_collector_poll(world.c, true);
        replay_yield();
    }
    strobe_collector_stop(world.c);
}

static void inject(struct actor *me)
{
    if (!me->is_cancelled || me->is_uncancelable || strcmp(me->name, "Thread0"))
        return;
    if (!me->is_asynchronous && !replay.is_at_point)
        return;
    replay.is_at_point = false;
    longjmp(top, 1);
}

static void open_world(void)
{
    n_unwound = 0;
    world_open(true);
    world_few_segments(replay.mode == GUIDED ? 7 : 3); /* by chance they also wait */
    world_record();
    replay_actor("Thread0", run_thread);
    replay_actor("Thread1", run_thread);
    replay_actor("Canceller", run_canceller);
    replay_actor("Recorder", run_recorder);
}

static bool outside(const struct step *step)
{
    if (strcmp(step->label, "asynchronous") && strcmp(step->label, "deferred"))
        return false;
    replay_find("Thread0")->is_asynchronous = step->label[0] == 'a';
    return true;
}

static const char *label(const struct actor *me, enum access access, const void *at, uint64_t value)
{
    (void)me;
    (void)access;
    return at != &world.pool->lock ? NULL : value ? "lock" : "unlock";
}

static void close_world(void)
{
    if (!replay.violation[0]) {
        if (world.pool->lock)
            replay_violation("a thread died with the lock");
        world_read();
        world_check_events(n_unwound);
    }
    world_close();
}

const struct scenario scenario_cancel = {
    .name = "cancel",
    .open = open_world,
    .close = close_world,
    .label = label,
    .outside = outside,
    .inject = inject,
};
