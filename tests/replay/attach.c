/* attach.c - tests/model/attach.pml on the real code: a second recorder comes, and names must be registered again.
 * SPDX-License-Identifier: MIT */
#include "replay.h"

#include <string.h>

#include "collector/internal.h"
#include "ring/ring_write.h"

enum { ROUNDS = 8 };

static bool second_is_there;
static uint64_t gate_seen; /* by the thread, in its last test of it */

static void run_thread(struct actor *me)
{
    (void)me;
    for (uint32_t i = 0; i < ROUNDS; i++)
        world_emit(0);
    while (!second_is_there)
        replay_yield();
    world_emit(0);
    world_end_thread();
}

static void run_recorders(struct actor *me)
{
    struct strobe_collector_options options = {.session_dir = world.dir};
    (void)me;
    strobe_collector_stop(world.c);
    world_abandon(); /* the first trace is whole; nobody looks at it */
    if (strobe_file_create(world.trace, world.dir, 0, &world.writer) ||
        strobe_collector_open(&options, world.writer, &world.c))
        replay_violation("no second recorder");
    strobe_collector_poll(world.c, true);
    second_is_there = true;
    while (replay_find("Thread")->state < DONE) {
        strobe_collector_poll(world.c, true);
        replay_yield();
    }
    strobe_collector_stop(world.c);
}

static void open_world(void)
{
    second_is_there = false;
    gate_seen = 0;
    world_open(true);
    world.ids_move = true;
    for (uint32_t i = 0; i < EVENTS_MAX; i++)
        world.locs[i].word = 0;
    world_few_segments(8);
    world_record();
    replay_actor("Thread", run_thread);
    replay_actor("Recorders", run_recorders);
    world_warm(&replay.actors[0], 0); /* its location is registered with the first recorder */
}

static const char *label(const struct actor *me, enum access access, const void *at, uint64_t value)
{
    if (at == &world.control->active && access == STORE)
        return value ? "open" : "leave";
    if (at == &world.control->floor && access == WRITE)
        return "floor";
    if (at == &world.control->next_id && access == LOAD)
        return "skip";
    if (strcmp(me->name, "Thread"))
        return NULL;
    if (me->loaded_at == &world.control->active)
        gate_seen = me->loaded;
    if (access == STORE && STROBE_WORD_IS_BEGIN(value) && replay_is_shared(at) && gate_seen == 2 &&
        (value & ~0xffffffffull) < world.control->floor && at != &world.locs[0].word)
        replay_violation("the thread saw the second recorder's gate, and emits an id that was "
                         "registered with the first");
    if (at == &world.control->active && access == LOAD)
        return "gate";
    if (at == &world.control->floor && access == READ)
        return "least";
    if (at == &world.control->next_id && access == WRITE)
        return "id";
    if (at == &world.locs[0].word && access == STORE)
        return "name";
    return NULL;
}

static bool outside(const struct step *step)
{
    struct strobe_control *control = world.control;
    if (!strcmp(step->actor, "Memory")) {
        replay_flush_at(
            strcmp(step->label, "floor") ? (void *)&control->active : (void *)&control->floor, 8);
        return true;
    }
    if (strcmp(step->label, "early"))
        return false;
    struct actor *thread =
        replay_find("Thread"); /* its next load of the floor is as old as this moment */
    thread->stale_at = &control->floor;
    thread->stale_time = replay_time();
    return true;
}

static void close_world(void)
{
    if (!replay.violation[0]) {
        world_read();
        if (world.used & ~world.named)
            replay_violation("the second recorder has events of an id that was registered with the "
                             "first (ids used %#llx, named %#llx)",
                             (unsigned long long)world.used, (unsigned long long)world.named);
        if (!world.used)
            replay_violation("the second recorder has no event");
    }
    world_close();
}

const struct scenario scenario_attach = {
    .name = "attach",
    .open = open_world,
    .close = close_world,
    .label = label,
    .outside = outside,
    .is_weak = true,
    .sleeps_through = true,
};
