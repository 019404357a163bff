/* liveness.c - tests/model/liveness.pml on the real code and the kernel's real locks: a process of another pid namespace forks,
 * closes its descriptors, dies; a recorder asks whether it lives.  SPDX-License-Identifier: MIT */
#include "replay.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring/ring_read.h"
#include "ring/ring_write.h"

static struct {
    struct strobe_ring ring;
    pid_t child;
    bool was_dead;
} test;

static void fork_child(void)
{
    test.child = fork();
    if (test.child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
}

static void run_process(struct actor *me)
{
    static const char *const forks[] = {"fork", "no"}, *const closes[] = {"close", "no"},
                             *const dies[] = {"dies"};
    const char *op = replay_choice(forks, 2);
    if (op && !strcmp(op, "fork"))
        fork_child();
    me->did = op;
    op = replay_choice(closes, 2);
    if (op && !strcmp(op, "close"))
        alive_close();
    me->did = op;
    op = replay_choice(dies, 1);
    alive_release();
    world.is_dead = true;
    me->did = op;
}

static void run_recorder(struct actor *me)
{
    static const char *const asks[] = {"ask"};
    const char *name = strrchr(world.pool->path, '/') + 1;
    for (uint32_t n = 0; n < 6 && !test.was_dead; n++) {
        const char *op = replay_choice(asks, 1);
        bool is_alive = strobe_ring_is_alive(&test.ring, name);
        me->did = op;
        if (!is_alive && !world.is_dead)
            replay_violation("a live process is taken for dead");
        test.was_dead |= !is_alive;
    }
}

static void open_world(void)
{
    memset(&test, 0, sizeof test);
    world_open(false);
    if (strobe_ring_open(world.dir, strrchr(world.pool->path, '/') + 1, &test.ring))
        replay_violation("the pool can't be opened");
    world.control->pid = 1u << 30; /* of another namespace: nobody has it here */
    world.control->pid_ns ^= 1;
    replay_actor("Process", run_process);
    replay_actor("Recorder", run_recorder);
}

static void close_world(void)
{
    if (!replay.violation[0] && world.is_dead &&
        strobe_ring_is_alive(&test.ring, strrchr(world.pool->path, '/') + 1))
        replay_violation("a dead process is taken for alive%s",
                         test.child ? ", while a child of it lives" : "");
    if (test.child > 0) {
        kill(test.child, SIGKILL);
        waitpid(test.child, NULL, 0);
    }
    strobe_ring_close(&test.ring);
    world_close();
}

const struct scenario scenario_liveness = {
    .name = "liveness",
    .open = open_world,
    .close = close_world,
};
