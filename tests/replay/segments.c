/* segments.c - tests/model/segments.pml on the real code: a thread, a recorder, its successor; kills at any step.
 * SPDX-License-Identifier: MIT */
#include "replay.h"

#include <string.h>

#include "collector/internal.h"
#include "collector/recover.h"
#include "ring/ring_write.h"

enum { EVENTS = 7, SEGMENTS = 2, SEGMENT_BYTES = 8192 };

static bool successor_is_needed;

static void run_thread(struct actor *me)
{
    (void)me;
    for (uint32_t event = 0; event < EVENTS; event++) {
        world_emit(event);
        world_few_words(1);
    }
    world_end_thread();
}

static void run_recorder(struct actor *me)
{
    static const char *const ops[] = {"drain", "write", "poll"};
    const char *op;
    for (uint32_t n = 0; n < (replay.mode == SEARCH ? 3 : 60) && (op = replay_choice(ops, 3));
         n++) {
        if (strstr(op, "drain"))
            world_drain();
        else if (strstr(op, "write"))
            strobe_collector_flush_events(world.c);
        else if (strstr(op, "zero") || strstr(op, "free"))
            world_drain(), strobe_collector_flush_events(world.c);
        else
            strobe_collector_poll(world.c, true);
    }
    struct actor *thread = replay_find("Thread");
    while (thread->state < DONE) {
        strobe_collector_poll(world.c, true);
        replay_yield();
    }
    if (world.c)
        strobe_collector_stop(world.c);
    (void)me;
}

/* Another one that goes on where the file ends, while the thread runs on. */
static void run_successor(struct actor *me)
{
    struct strobe_recovery recovery;
    (void)me;
    enum strobe_err err = strobe_recover(world.trace, world.dir, NULL, NULL, NULL, &recovery);
    if (err)
        replay_violation("the trace can't be recovered: error %d", (int)err);
}

static void kill_recorder(void)
{
    struct actor *recorder = replay_find("Recorder");
    if (recorder->state >= DONE || successor_is_needed)
        return;
    replay_kill(recorder);
    world_abandon();
    successor_is_needed = true;
    replay_actor("Successor", run_successor);
}

static void kill_thread(void)
{
    struct actor *thread = replay_find("Thread");
    if (thread->state >= DONE)
        return;
    replay_kill(thread);
    world_die();
}

static void open_world(void)
{
    successor_is_needed = false;
    world_open(true);
    world_few_segments(SEGMENTS);
    world_record();
    replay_actor("Thread", run_thread);
    replay_actor("Recorder", run_recorder);
}

static const char *label(const struct actor *me, enum access access, const void *at, uint64_t value)
{
    uint64_t offset = (uint64_t)((const char *)at - world.pool->data);
    bool is_thread = !strcmp(me->name, "Thread");
    if (at == &world.pool->chunks[2].free_bits && access == CHANGE)
        return is_thread ? "take" : "free";
    if (is_thread && access == CHANGE && (const char *)at >= world.pool->data &&
        offset >= STROBE_CHUNK_BYTES && offset < 2 * STROBE_CHUNK_BYTES)
        return "drop";
    if ((const char *)at < world.pool->data || offset < 2 * STROBE_CHUNK_BYTES ||
        offset >= 3 * STROBE_CHUNK_BYTES)
        return NULL;
    uint64_t in_segment = offset % SEGMENT_BYTES;
    if (in_segment == 0 && access == STORE) {
        if (value && replay.mode == GUIDED) { /* the model keeps back the position alone */
            replay_flush_at((const char *)at + 4, 12);
            replay_flush_at((const char *)at + 24, 8);
        }
        return value ? "open" : "close";
    }
    if (in_segment == 0 && access == WRITE)
        return "zero";
    if (in_segment == 16)
        return is_thread && access == WRITE ? "fill" : NULL;
    if (in_segment < 64)
        return NULL;
    if (is_thread)
        return access == STORE ? "emit" : NULL;
    return access == LOAD && value ? "drain" : NULL;
}

/* Kills, and stores that arrive. */
static bool outside(const struct step *step)
{
    if (!strcmp(step->actor, "Memory")) {
        uint32_t i = (uint32_t)(step->label[strlen(step->label) - 1] - '0');
        char *segments = world.pool->data + 2 * STROBE_CHUNK_BYTES;
        if (!strncmp(step->label, "base", 4))
            return replay_flush_at(segments + SEGMENT_BYTES * i + 8, 24), true;
        /* words 0 and 1 of the model are the first and the last word of a segment */
        replay_flush_at(segments + SEGMENT_BYTES * (i / 2) + (i % 2 ? 128 : 64),
                        i % 2 ? SEGMENT_BYTES - 128 : 64);
        return true;
    }
    if (strcmp(step->label, "dies") && strcmp(step->label, "drop"))
        return false;
    struct actor *thread = replay_find("Thread");
    if (!strcmp(step->label, "drop")) {
        if (thread->state != BLOCKED || thread->wake_ns == ~0ull)
            return false;
        replay.now_ns += 1100000000ull;
        thread->state = READY;
        thread->is_timed_out = true;
        return false; /* ... and goes on until it has counted the loss */
    }
    if (!strcmp(step->actor, "Recorder"))
        kill_recorder();
    else
        kill_thread();
    return true;
}

/* By chance: a kill. */
static void inject(struct actor *me)
{
    if (replay.mode != RANDOM || replay.is_finishing || replay_random(replay.seed % 4 ? 400 : 80))
        return;
    if (replay_random(2)) {
        kill_thread();
    } else {
        kill_recorder();
    }
    if (me->state == KILLED)
        swapcontext(&me->context, &replay.scheduler);
}

static void close_world(void)
{
    struct actor *successor = replay_find("Successor");
    if (!replay.violation[0]) {
        if (!successor && world.c == NULL)
            replay_violation("no recorder is left");
        world_read();
        bool is_cut = replay_find("Thread")->state == KILLED;
        world_check_events(is_cut ? 1 : 0);
    }
    world_close();
}

const struct scenario scenario_segments = {
    .name = "segments",
    .open = open_world,
    .close = close_world,
    .label = label,
    .outside = outside,
    .inject = inject,
    .is_weak = true,
};
