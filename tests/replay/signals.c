/* signals.c - tests/model/signals.pml on the real code: a thread whose handler emits in the middle of an emit, returns or jumps
 * out of it, and a recorder that asks for what stays unwritten.  SPDX-License-Identifier: MIT */
#include "replay.h"

#include <setjmp.h>
#include <string.h>

#include "collector/internal.h"
#include "ring/ring_write.h"

enum { EVENTS = 5, HANDLERS_FROM = 12 };

static struct {
    jmp_buf top;
    bool is_in_handler;
    uint32_t n_handled, n_left;
} thread;

/* The next emit finds another epoch, and so goes through the slow path. */
static void maybe_slow(const struct actor *me)
{
    const char *next = replay_peek(me);
    bool is_slow = replay.mode == GUIDED ? next && strstr(next, "mend") != NULL
                                         : replay.mode == RANDOM && !replay_random(3);
    if (is_slow)
        client_new_epoch();
}

/* On the interrupted emit's own stack, below what the kernel would save of its registers. */
static __attribute__((noinline)) void handle(struct actor *me)
{
    ucontext_t saved;
    getcontext(&saved);
    thread.is_in_handler = true;
    uint32_t event = HANDLERS_FROM + thread.n_handled++;
    maybe_slow(me);
    world_emit(event);
    replay_checkpoint();
    const char *next = replay_peek(me);
    bool jumps = replay.mode == GUIDED ? next && !strcmp(next, "jump")
                                       : !replay.is_finishing && !replay_random(3);
    thread.is_in_handler = false;
    if (jumps) {
        me->did = "jump";
        thread.n_left++;
        longjmp(thread.top, 1);
    }
    __asm__ volatile("" : : "r"(&saved) : "memory");
}

static void run_thread(struct actor *me)
{
    static volatile uint32_t event;
    for (event = 0; event < EVENTS; event++) {
        if (setjmp(thread.top))
            continue;
        maybe_slow(me);
        world_emit(event);
    }
    world_end_thread();
}

static void run_recorder(struct actor *me)
{
    static const char *const ops[] = {"drain", "ask", "poll"};
    const char *op;
    (void)me;
    for (uint32_t n = 0; n < (replay.mode == SEARCH ? 3 : 60) && (op = replay_choice(ops, 3));
         n++) {
        if (strcmp(op, "poll"))
            for (int i = 0; i < (strcmp(op, "ask") ? 1 : 3);
                 i++) /* what stands still at the second look is asked for */
                world_drain();
        else
            strobe_collector_poll(world.c, true);
    }
    while (replay_find("Thread")->state < DONE) {
        strobe_collector_poll(world.c, true);
        replay_yield();
    }
    strobe_collector_stop(world.c);
}

/* A word of the thread's stream. */
static bool is_word(const void *at)
{
    uint64_t offset = (uint64_t)((const char *)at - world.pool->data);
    return (const char *)at >= world.pool->data && offset >= 2 * STROBE_CHUNK_BYTES &&
           offset % 8192 >= 64;
}

static bool is_between; /* the thread has reserved and not stored */

static const char *label(const struct actor *me, enum access access, const void *at, uint64_t value)
{
    if (!strcmp(me->name, "Recorder")) {
        if (at == &world.control->holes_used && access == STORE)
            return value ? "ask" : NULL;
        return is_word(at) && access == LOAD && value ? "drain" : NULL;
    }
    if (at == strobe_hot_now && access == CHANGE) {
        is_between = !me->has_blocked_signals;
        return thread.is_in_handler ? "hreserve" : "reserve";
    }
    if (!is_word(at) || access != STORE)
        return NULL;
    is_between = false;
    if (value >> 56 == STROBE_WORD_ABANDONED >> 56)
        return "mend";
    if (value >> 60 == STROBE_WORD_EPOCH >> 60)
        return NULL;
    return thread.is_in_handler ? "hemit" : "emit";
}

static void inject(struct actor *me)
{
    if (strcmp(me->name, "Thread") || me->has_blocked_signals || thread.is_in_handler ||
        !is_between || thread.n_handled == EVENTS)
        return;
    const char *next = replay_peek(me);
    bool comes = replay.mode == GUIDED
                     ? next && next[0] == 'h' && !me->is_uncancelable
                     : !replay.is_finishing && !replay_random(replay.mode == SEARCH ? 1 : 3);
    if (!comes)
        return;
    is_between = false;
    handle(me);
}

static void open_world(void)
{
    memset(&thread, 0, sizeof thread);
    is_between = false;
    world_open(true);
    world_few_segments(2);
    world_record();
    struct actor *actor = replay_actor("Thread", run_thread);
    replay_actor("Recorder", run_recorder);
    world_warm(actor, EVENTS);
}

static void close_world(void)
{
    if (!replay.violation[0]) {
        world_read();
        uint64_t n_counted = world.lost[STROBE_LOSS_ABANDONED] + world.lost[STROBE_LOSS_UNFINISHED];
        if (n_counted != thread.n_left)
            replay_violation("%u reservations were jumped out of, %llu are counted", thread.n_left,
                             (unsigned long long)n_counted);
        world_check_events(thread.n_left);
    }
    world_close();
}

const struct scenario scenario_signals = {
    .name = "signals",
    .open = open_world,
    .close = close_world,
    .label = label,
    .inject = inject,
    .is_weak = true,
};
