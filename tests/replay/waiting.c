/* waiting.c - tests/model/waiting.pml on the real code: three threads want segments, none is free, the consumer's half gives
 * three back. Nobody may need the passing of time.  SPDX-License-Identifier: MIT */
#include "replay.h"

#include <string.h>

#include "ring/ring_read.h"
#include "ring/ring_write.h"

enum { THREADS = 3 };

static struct {
    struct strobe_ring ring;
    struct strobe_segment segments[THREADS];
    uint32_t n_segments, n_served;
} test;

static void run_thread(struct actor *me)
{
    world_emit(8 + me->number);
    test.n_served += world.result[8 + me->number] & 1;
}

static void run_recorder(struct actor *me)
{
    (void)me;
    for (uint32_t i = 0; i < THREADS; i++) {
        strobe_segment_move(&test.segments[i], STROBE_SEGMENT_DRAINED);
        strobe_ring_give_back(&test.ring, &test.segments[i]);
        strobe_ring_wake(&test.ring);
    }
}

static bool keep(void *context, const struct strobe_segment *segment)
{
    (void)context;
    if (segment->track == STROBE_META_TRACK)
        return false;
    test.segments[test.n_segments++] = *segment;
    return true;
}

/* A thread that is gone filled all the segments there are. */
static void open_world(void)
{
    memset(&test, 0, sizeof test);
    world_open(true);
    world_few_segments(THREADS);
    struct actor *gone = replay_actor("Gone", NULL);
    replay.is_quiet = true;
    replay.current = gone;
    for (uint32_t i = 0; i < THREADS; i++) {
        world_emit(i);
        world_few_words(0);
    }
    world_end_thread();
    strobe_hot_now = replay_no_hot();
    replay.current = NULL;
    gone->state = DONE;
    if (strobe_ring_open(world.dir, strrchr(world.pool->path, '/') + 1, &test.ring))
        replay_violation("the pool can't be opened");
    strobe_ring_scan(&test.ring, keep, NULL);
    replay.is_quiet = false;
    if (test.n_segments != THREADS)
        replay_violation("%u segments are taken", test.n_segments);
    replay_actor("Thread0", run_thread);
    replay_actor("Thread1", run_thread);
    replay_actor("Thread2", run_thread);
    replay_actor("Recorder", run_recorder);
}

static const char *label(const struct actor *me, enum access access, const void *at, uint64_t value)
{
    struct strobe_control *control = world.control;
    bool is_thread = me->name[0] == 'T';
    (void)value;
    if (at == &world.pool->chunks[2].free_bits && access == CHANGE)
        return is_thread ? "take" : "free";
    if (at == &control->n_given)
        return access == LOAD ? (is_thread ? "seen" : NULL) : "given";
    if (at == &control->n_waiting)
        return is_thread ? "wait" : "wake";
    return NULL;
}

static void close_world(void)
{
    if (!replay.violation[0] && test.n_served != THREADS)
        replay_violation("%u of %d threads got a segment", test.n_served, THREADS);
    if (test.ring.control)
        strobe_ring_close(&test.ring);
    world_close();
}

const struct scenario scenario_waiting = {
    .name = "waiting",
    .open = open_world,
    .close = close_world,
    .label = label,
    .is_weak = true,
    .needs_no_timeout = true,
};
