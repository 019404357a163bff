/* actors.c - who goes next: fibers, and the three ways to choose among them.  SPDX-License-Identifier: MIT */
#include "replay.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK_BYTES = 512 << 10, FUSE = 20000, CHOICES_MAX = 1 << 16, STEP_NS = 2000 };

struct replay replay;

/* A search: at the n-th choice, which of how many. */
static struct {
    uint8_t taken[CHOICES_MAX], n[CHOICES_MAX];
    uint32_t n_known, at;
} search;

uint32_t replay_random(uint32_t below)
{
    replay.random ^= replay.random << 13;
    replay.random ^= replay.random >> 7;
    replay.random ^= replay.random << 17;
    return (uint32_t)((replay.random >> 33) % below);
}

void replay_violation(const char *format, ...)
{
    va_list args;
    if (replay.violation[0])
        return;
    va_start(args, format);
    vsnprintf(replay.violation, sizeof replay.violation, format, args);
    va_end(args);
}

bool replay_is_one_of(const char *word, const char *list)
{
    size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

/* ---- fibers ---- */

static void enter(uint32_t number)
{
    struct actor *me = &replay.actors[number];
    me->run(me);
    replay_flush(me);
    me->state = DONE;
    swapcontext(&me->context, &replay.scheduler);
}

struct actor *replay_actor(const char *name, void (*run)(struct actor *))
{
    struct actor *actor = &replay.actors[replay.n_actors];
    char *stack = actor->stack;
    if (!stack)
        stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memset(actor, 0, sizeof *actor);
    actor->name = name;
    actor->run = run;
    actor->stack = stack;
    actor->number = replay.n_actors++;
    actor->tid = 20000000 + actor->number;
    actor->hot = NULL;
    actor->wake_ns = ~0ull;
    actor->acquired = replay_time();
    getcontext(&actor->context);
    actor->context.uc_stack.ss_sp = stack;
    actor->context.uc_stack.ss_size = STACK_BYTES;
    actor->context.uc_link = NULL;
    makecontext(&actor->context, (void (*)(void))enter, 1, actor->number);
    return actor;
}

struct actor *replay_find(const char *name)
{
    for (uint32_t i = 0; i < replay.n_actors; i++)
        if (!strcmp(replay.actors[i].name, name))
            return &replay.actors[i];
    return NULL;
}

static struct strobe_hot *first_hot;

static void resume(struct actor *actor)
{
    replay.current = actor;
    first_hot = strobe_hot_now;
    if (actor->hot)
        strobe_hot_now = actor->hot;
    swapcontext(&replay.scheduler, &actor->context);
    replay_settle(actor);
    actor->hot = strobe_hot_now;
    strobe_hot_now = first_hot;
    replay.current = NULL;
    if (replay.mode == GUIDED || replay.is_finishing || replay_random(2))
        actor->shown_run_ns = actor->run_ns; /* the kernel counts at a switch, or later */
}

static void leave_to_scheduler(struct actor *me)
{
    swapcontext(&me->context, &replay.scheduler);
}

void replay_kill(struct actor *actor)
{
    replay_flush(actor);
    if (actor->state != DONE)
        actor->state = KILLED;
}

void replay_block(uint32_t *futex, uint64_t until_ns)
{
    struct actor *me = replay.current;
    replay_flush(me);
    me->acquired = replay_time();
    me->futex = futex;
    me->wake_ns = until_ns;
    me->is_timed_out = false;
    me->state = BLOCKED;
    leave_to_scheduler(me);
    me->acquired = replay_time();
}

void replay_yield(void)
{
    struct actor *me = replay.current;
    if (me && !replay.is_quiet)
        leave_to_scheduler(me);
}

void replay_checkpoint(void)
{
    struct actor *me = replay.current;
    if (replay.mode == GUIDED && !replay.is_finishing && me->wanted && me->did &&
        replay_is_one_of(me->did, me->wanted))
        leave_to_scheduler(me);
}

void replay_boundary(void)
{
    struct actor *me = replay.current;
    if (me && !replay.is_quiet && replay.mode == GUIDED && !replay.is_finishing && me->wanted &&
        me->did) {
        replay_settle(me);
        leave_to_scheduler(me);
    }
}

/* ---- choosing ---- */

static uint32_t n_ready(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < replay.n_actors; i++)
        n += replay.actors[i].state == READY;
    return n;
}

static uint32_t choose(uint32_t n)
{
    if (n < 2 || search.at == CHOICES_MAX)
        return 0;
    if (search.at == search.n_known) {
        search.taken[search.at] = 0;
        search.n[search.at] = (uint8_t)n;
        search.n_known++;
    }
    return search.taken[search.at++];
}

/* Whether the running actor is to be left here. */
static bool is_preempted(struct actor *me)
{
    if (replay.is_finishing)
        return false;
    if (replay.mode == RANDOM)
        return !replay_random(replay.seed % 3 ? 6 : 40);
    if (replay.mode == SEARCH && replay.n_preemptions < replay.preemptions_max && n_ready() > 1) {
        bool leaves = choose(2);
        replay.n_preemptions += leaves;
        return leaves;
    }
    (void)me;
    return false;
}

static void shake_memory(void)
{
    if (replay.mode != RANDOM || !replay.scenario->is_weak || replay_random(4))
        return;
    struct actor *actor = &replay.actors[replay_random(replay.n_actors)];
    if (actor->n_buffer) {
        struct buffered *one = &actor->buffer[replay_random(actor->n_buffer)];
        replay_flush_at(one->at, one->size);
    }
}

/* For who looks into a walk. */
static void print_step(const struct actor *me, enum access access, const void *at,
                       const char *label)
{
    static const char *const names[] = {"read", "write", "load", "store", "change"};
    for (uint32_t i = 0; i < replay.n_shared; i++)
        if ((const char *)at >= replay.shared[i] && (const char *)at < replay.shared_end[i])
            fprintf(stderr, "%-10s %-6s %u+%#zx %s\n", me->name, names[access], i,
                    (size_t)((const char *)at - replay.shared[i]), label ? label : "");
}

void replay_pause(enum access access, const void *at, uint64_t value)
{
    struct actor *me = replay.current;
    me->n_steps++;
    me->run_ns += STEP_NS;
    replay.now_ns += STEP_NS;
    replay.n_hooks++;
    shake_memory();
    if (replay.mode == GUIDED && !replay.is_finishing) {
        if ((me->wanted && me->did && replay_is_one_of(me->did, me->wanted)) ||
            (me->wanted && !--me->fuse))
            leave_to_scheduler(me);
    } else if ((replay.mode != SEARCH || (access >= LOAD && replay_is_shared(at))) &&
               is_preempted(me)) {
        leave_to_scheduler(me);
    }
    if (replay.scenario->inject)
        replay.scenario->inject(me);
    if (replay.scenario->label) {
        const char *label = replay.scenario->label(me, access, at, value);
        if (label)
            me->did = label;
        if (replay.is_verbose)
            print_step(me, access, at, label);
    }
    if (me->n_steps > 2000000)
        replay_violation("%s never comes to its end", me->name);
}

const char *replay_peek(const struct actor *actor)
{
    if (actor->wanted && !replay.is_finishing &&
        !(actor->did && replay_is_one_of(actor->did, actor->wanted)))
        return actor->wanted;
    for (uint32_t i = replay.at_step; i < replay.n_steps && !replay.is_finishing; i++)
        if (!strcmp(replay.steps[i].actor, actor->name))
            return replay.steps[i].label;
    return NULL;
}

const char *replay_choice(const char *const *labels, uint32_t n)
{
    struct actor *me = replay.current;
    replay_settle(me);
    if (replay.is_finishing)
        return NULL;
    if (replay.mode == GUIDED) {
        if (!me->is_fresh)
            leave_to_scheduler(me);
        me->is_fresh = false;
        return replay.is_finishing ? NULL : me->wanted;
    }
    if (replay.mode == SEARCH)
        return labels[choose(n)];
    if (is_preempted(me))
        leave_to_scheduler(me);
    return replay.is_finishing ? NULL : labels[replay_random(n)];
}

/* ---- walks ---- */

static void begin(const struct scenario *scenario, enum replay_mode mode)
{
    replay.scenario = scenario;
    replay.mode = mode;
    replay.n_actors = 0;
    replay.n_shared = 0;
    replay.current = NULL;
    replay.is_quiet = replay.is_finishing = false;
    replay.at_step = replay.n_followed = replay.n_left_out = 0;
    replay.n_preemptions = 0;
    replay.violation[0] = 0;
    replay.now_ns = 1000000000000ull;
    replay_forget();
    kernel_reset();
    scenario->open();
}

/* Everybody runs to the end; time passes where nobody can. */
static void finish(void)
{
    uint32_t n_late = 0;
    replay.is_finishing = true;
    for (uint32_t i = 0; i < replay.n_actors; i++)
        replay_flush(&replay.actors[i]);
    for (;;) {
        bool any = false, waits = false;
        for (uint32_t i = 0; i < replay.n_actors && !replay.violation[0]; i++) {
            struct actor *actor = &replay.actors[i];
            if (actor->state == READY) {
                resume(actor);
                any = true;
            }
            waits |= actor->state == BLOCKED;
        }
        if (replay.violation[0] || (!any && !waits))
            return;
        if (!any && replay.scenario->needs_no_timeout)
            replay_violation("nobody goes on unless time passes: a wake-up is lost");
        else if (!any && (!kernel_advance() || ++n_late > 100000))
            replay_violation("nobody goes on: deadlock");
    }
}

static bool end_walk(void)
{
    if (!replay.violation[0])
        finish();
    replay.current = NULL;
    replay.scenario->close();
    return !replay.violation[0];
}

/* It waits for the process's lock, which the model does not have: whoever holds it goes on until it is free. */
static void help(const struct actor *actor)
{
    for (uint32_t i = 0; i < 400 && actor->state == BLOCKED && actor->futex == replay.lock; i++) {
        struct actor *other = &replay.actors[i % replay.n_actors];
        if (other->state != READY || other == actor || strncmp(other->name, "Thread", 6))
            continue;
        other->wanted = "lock unlock";
        other->fuse = 20;
        resume(other);
        other->wanted = NULL;
    }
}

static void follow(const struct step *step)
{
    if (replay.scenario->outside && replay.scenario->outside(step)) {
        replay.n_followed++;
        return;
    }
    struct actor *actor = replay_find(step->actor);
    if (actor)
        help(actor);
    if (!actor || actor->state != READY) {
        replay.n_left_out++;
        if (replay.is_verbose)
            fprintf(stderr, "%s %s: left out, can't go on (%d)\n", step->actor, step->label,
                    actor ? (int)actor->state : -1);
        return;
    }
    actor->wanted = step->label;
    actor->did = NULL;
    actor->fuse = FUSE;
    actor->is_fresh = true;
    resume(actor);
    actor->is_fresh = false;
    bool is_followed = actor->did && replay_is_one_of(actor->did, step->label);
    replay.n_followed += is_followed;
    replay.n_left_out += !is_followed;
    if (replay.is_verbose)
        fprintf(stderr, "%s %s: %s, in state %d\n", step->actor, step->label,
                is_followed ? "done" : "left out", (int)actor->state);
    actor->wanted = NULL;
}

bool replay_walk(const struct scenario *scenario, const struct step *steps, uint32_t n_steps)
{
    replay.steps = steps;
    replay.n_steps = n_steps;
    replay.random = 88172645463325252ull;
    begin(scenario, GUIDED);
    for (; replay.at_step < n_steps && !replay.violation[0];) {
        const struct step *step = &steps[replay.at_step++];
        follow(step);
    }
    return end_walk();
}

/* In the order in which they come after the one that ran last: one that only waits does not run for ever. */
static struct actor *ready_after(const struct actor *last, uint32_t which)
{
    uint32_t first = last ? last->number + 1 : 0;
    for (uint32_t i = 0; i < replay.n_actors; i++) {
        struct actor *actor = &replay.actors[(first + i) % replay.n_actors];
        if (actor->state == READY && !which--)
            return actor;
    }
    return NULL;
}

static void run_freely(void)
{
    struct actor *last = NULL;
    while (!replay.violation[0]) {
        uint32_t n = n_ready();
        if (!n) {
            bool waits = false;
            for (uint32_t i = 0; i < replay.n_actors; i++)
                waits |= replay.actors[i].state == BLOCKED;
            if (!waits || replay.scenario->needs_no_timeout || !kernel_advance())
                return; /* finish() says what that means */
            continue;
        }
        last = ready_after(last, replay.mode == SEARCH ? choose(n) : replay_random(n));
        resume(last);
    }
}

bool replay_random_walk(const struct scenario *scenario, uint64_t seed)
{
    replay.n_steps = 0;
    replay.seed = seed;
    replay.random = seed * 0x9e3779b97f4a7c15ull | 1;
    for (int i = 0; i < 8; i++)
        replay_random(2);
    begin(scenario, RANDOM);
    run_freely();
    return end_walk();
}

uint64_t replay_search(const struct scenario *scenario, uint32_t preemptions, uint64_t max)
{
    uint64_t n = 0;
    memset(&search, 0, sizeof search);
    replay.preemptions_max = preemptions;
    replay.n_steps = 0;
    while (n < max) {
        search.at = 0;
        replay.random = 88172645463325252ull;
        begin(scenario, SEARCH);
        run_freely();
        n++;
        if (!end_walk())
            return n;
        search.n_known = search.at < search.n_known ? search.at : search.n_known;
        while (search.n_known &&
               search.taken[search.n_known - 1] + 1 >= search.n[search.n_known - 1])
            search.n_known--;
        if (!search.n_known)
            return n;
        search.taken[search.n_known - 1]++;
    }
    return n;
}
