/* path.c - the walk. One sweep over all events, backwards: the path's thread is charged for what lies between two of its events,
 * and when it waited, the first event (backwards) that can have ended the wait says where the path goes on.
 * Nothing is looked up: what a jump needs is the other threads' state at that moment, which the sweep has.
 * SPDX-License-Identifier: MIT */
#include "explain/path.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "explain/path_rows.h"

enum mode { NONE, RUN, SWITCH, LOCK, BARRIER, IDLE, DONE };

enum { MAX_HELD = 8 };

/* What ended a wait came at most so long before it: a thread that ended, a kernel; somebody who ran and is not in the events. */
#define END_NS 5000000ull
#define RAN_NS 200000ull

/* A thread, as the sweep stands. */
struct state {
    struct strobe_path_pending pending;
    struct {
        uint64_t lock, since; /* since: by a waiter's word, until there; 0: until its obtain */
    } held[MAX_HELD];         /* the last obtained last */
    struct {
        uint64_t lock, tick;
    } obtained;    /* the last obtain, until its wait is found */
    uint64_t flow; /* that ended here last */
    uint8_t n_held, has_flow, is_seen;
    uint8_t is_out, is_running; /* off its processor, on it; neither: not known */
};

struct walk {
    struct strobe_path *path;
    const struct strobe_path_options *options;
    const struct strobe_survey *survey;
    const struct strobe_trace *trace;
    struct state *states; /* owned: by thread */
    struct strobe_index rows;
    enum mode mode;
    uint32_t thread; /* where the path is */
    uint64_t at;     /* how far back it has been charged */
    uint64_t begun;  /* NONE: 0; the tick that the path, or the step, ends at */
    uint32_t step_thread;
    uint64_t step_begin;
    /* Of the wait: */
    uint64_t lock, wait_end, wait_begin; /* wait_begin 0: not known yet */
    uint32_t barrier;                    /* name */
    uint16_t reason;                     /* of a switch, 0: not known yet */
    uint8_t may_jump;                    /* SWITCH: it was not merely preempted */
    uint8_t somebody;                    /* SWITCH: another thread ran when it came back */
    uint8_t works_on;   /* SWITCH: a kernel was begun in the wait, and not awaited */
    uint8_t was_out;    /* LOCK: it left its processor */
    uint32_t n_running; /* threads that are on a processor at this moment */
    uint64_t end_ticks, ran_ticks;
    enum strobe_err err; /* of the stretches: no memory */
};

static uint32_t name_of(const struct walk *walk, uint32_t loc)
{
    if (loc == STROBE_IDMAP_NONE)
        return 0;
    const struct strobe_loc_row *row = &walk->trace->locs[loc];
    return row->name ? row->name : row->function;
}

static uint32_t process_of(const struct walk *walk, uint32_t thread)
{
    return strobe_items_process(walk->trace, walk->trace->threads[thread].process);
}

/* ---- locks that a thread holds, as the sweep stands ---- */

static void drop_held(struct state *state, uint32_t i)
{
    STROBE_ASSERT(i < state->n_held);
    memmove(&state->held[i], &state->held[i + 1], (--state->n_held - i) * sizeof state->held[0]);
}

/* Of those that waiters named, what lies further back than they know. */
static void drop_old(struct state *state, uint64_t tick)
{
    for (uint32_t i = state->n_held; i-- > 0;)
        if (state->held[i].since && state->held[i].since >= tick)
            drop_held(state, i);
}

static void add_held(struct state *state, uint64_t lock, uint64_t since, uint64_t tick)
{
    drop_old(state, tick);
    for (uint32_t i = 0; since && i < state->n_held; i++)
        if (state->held[i].lock == lock) {
            state->held[i].since = state->held[i].since < since ? state->held[i].since : since;
            return;
        }
    if (state->n_held == MAX_HELD)
        return;
    state->held[state->n_held].lock = lock;
    state->held[state->n_held++].since = since;
}

/* The thread got the lock: before, it did not have it. */
static void end_held(struct state *state, uint64_t lock)
{
    for (uint32_t i = state->n_held; i-- > 0;)
        if (state->held[i].lock == lock) {
            drop_held(state, i);
            return;
        }
}

/* ---- charges ---- */

static void charge_stretch(struct walk *walk, enum strobe_path_class class, uint64_t tick,
                           uint64_t lock)
{
    struct state *state = &walk->states[walk->thread];
    STROBE_ASSERT(walk->mode != NONE);
    if (tick >= walk->at)
        return;
    int is_held = class != STROBE_PATH_LOCK && state->n_held;
    uint64_t held = is_held ? state->held[state->n_held - 1].lock : lock;
    strobe_path_charge(&state->pending, class, walk->at - tick, held, is_held);
    if (is_held) {
        uint32_t i = strobe_idmap_find(&walk->path->lock_ids, process_of(walk, walk->thread), held);
        if (i != STROBE_IDMAP_NONE)
            walk->path->locks[i].held += walk->at - tick;
    }
    if (walk->options->with_stretches && !walk->err)
        walk->err =
            strobe_path_note(walk->path, &(struct strobe_path_stretch){tick, walk->at, walk->thread,
                                                                       (uint8_t) class});
    walk->at = tick;
}

static void charge(struct walk *walk, enum strobe_path_class class, uint64_t tick, uint64_t lock)
{
    struct state *state = &walk->states[walk->thread];
    drop_old(state, walk->at);
    while (state->n_held && state->held[state->n_held - 1].since > tick) {
        charge_stretch(walk, class, state->held[state->n_held - 1].since, lock);
        drop_old(state, walk->at);
    }
    charge_stretch(walk, class, tick, lock);
}

static enum strobe_path_class running_class(const struct walk *walk)
{
    return walk->trace->threads[walk->thread].is_lane ? STROBE_PATH_DEVICE : STROBE_PATH_RUN;
}

/* What a wait off the processor was, when nobody is known who ended it. */
static enum strobe_path_class waiting_class(const struct walk *walk, uint16_t reason)
{
    if (reason == STROBE_ITEM_PREEMPTED)
        return STROBE_PATH_RUNNABLE;
    if (reason == STROBE_ITEM_DISK_SLEEP || reason == STROBE_ITEM_DISK)
        return STROBE_PATH_IO;
    if (walk->survey->n_of[STROBE_ITEM_WAKEUP] || !walk->somebody)
        return STROBE_PATH_OUTSIDE;
    return STROBE_PATH_BLOCKED;
}

/* ---- from thread to thread ---- */

static void enter_switch(struct walk *walk, uint64_t wait_begin, uint64_t wait_end, uint16_t reason)
{
    walk->mode = SWITCH;
    walk->wait_begin = wait_begin;
    walk->wait_end = wait_end;
    walk->reason = reason;
    walk->may_jump = reason != STROBE_ITEM_PREEMPTED;
    walk->works_on = 0;
    walk->somebody = walk->n_running > walk->states[walk->thread].is_running;
}

static void jump_to(struct walk *walk, uint32_t thread, uint64_t tick, enum strobe_path_way way)
{
    STROBE_ASSERT(thread < walk->survey->n_threads && way < STROBE_PATH_N_WAYS);
    walk->path->n_by_way[way]++;
    walk->thread = thread;
    walk->at = tick;
    walk->mode = RUN;
    if (walk->states[thread].is_out)
        enter_switch(walk, 0, tick, 0);
}

/* The thread that made this one: its process's first, or the parent's. STROBE_IDMAP_NONE: not in the trace. */
static uint32_t maker_of(const struct walk *walk, uint32_t thread)
{
    const struct strobe_trace *trace = walk->trace;
    const struct strobe_process *process = &trace->processes[process_of(walk, thread)];
    uint64_t tid = trace->threads[thread].tid;
    uint64_t pid = tid == process->pid ? process->parent_pid : process->pid;
    if (trace->threads[thread].is_lane || !tid || !pid)
        return STROBE_IDMAP_NONE;
    for (uint32_t i = 0; i < walk->survey->n_threads; i++) {
        const struct strobe_survey_thread *lived = &walk->survey->threads[i];
        if (i != thread && trace->threads[i].tid == pid && lived->first <= walk->at &&
            lived->last >= walk->at && strobe_items_thread(trace, i) == i)
            return i;
    }
    return STROBE_IDMAP_NONE;
}

/* Who else holds a lock at this moment: backwards, its release was seen and its obtain was not. */
static uint32_t holder_of(const struct walk *walk, uint64_t lock)
{
    uint32_t process = process_of(walk, walk->thread);
    for (uint32_t i = 0; i < walk->survey->n_threads; i++) {
        const struct state *state = &walk->states[i];
        for (uint32_t k = 0; k < state->n_held; k++)
            if (i != walk->thread && state->held[k].lock == lock && !state->held[k].since &&
                process_of(walk, i) == process)
                return i;
    }
    return STROBE_IDMAP_NONE;
}

/* ---- begin and end of a path ---- */

static int is_step(const struct walk *walk, const struct strobe_item *item)
{
    const char *name = strobe_trace_text(walk->trace, name_of(walk, item->loc), NULL);
    return item->what == STROBE_ITEM_ZONE_END && item->loc != STROBE_IDMAP_NONE &&
           !strcmp(name, walk->options->zone);
}

static void start_path(struct walk *walk, const struct strobe_item *item)
{
    int has_zones = !walk->options->zone && walk->step_thread != STROBE_IDMAP_NONE &&
                    walk->survey->threads[walk->step_thread].n_zones;
    if (walk->options->zone ? !is_step(walk, item) : item->thread != walk->step_thread)
        return;
    if (has_zones && item->what != STROBE_ITEM_ZONE_END)
        return; /* what comes behind the last zone is the program's end, not its work */
    walk->thread = item->thread;
    walk->at = walk->begun = item->tick;
    walk->mode = RUN;
    walk->path->n_steps++;
    walk->path->last_thread = item->thread;
    if (walk->options->zone) {
        walk->step_begin = item->begin;
        walk->step_thread = item->thread;
    }
}

static enum strobe_path_class mode_class(const struct walk *walk)
{
    switch (walk->mode) {
    case SWITCH:
        return waiting_class(walk, walk->reason);
    case LOCK:
        return STROBE_PATH_LOCK;
    case BARRIER:
        return STROBE_PATH_BARRIER;
    case IDLE:
        return STROBE_PATH_IDLE;
    default:
        return running_class(walk);
    }
}

/* The step began at this tick, or before it: what is left belongs to it. */
static void end_path(struct walk *walk, uint64_t tick)
{
    charge(walk, mode_class(walk), tick, walk->mode == LOCK ? walk->lock : 0);
    walk->path->wall += walk->begun - walk->at;
    walk->mode = walk->options->zone ? NONE : DONE;
    walk->begun = 0;
}

/* ---- an item of the path's own thread ---- */

static void leave_switch(struct walk *walk, const struct strobe_item *item)
{
    charge(walk, waiting_class(walk, item->reason ? item->reason : walk->reason), item->tick, 0);
    walk->mode = RUN;
}

static void leave_lock(struct walk *walk, const struct strobe_item *item)
{
    charge(walk, walk->was_out ? STROBE_PATH_LOCK : STROBE_PATH_RUN, item->tick,
           walk->was_out ? walk->lock : 0);
    walk->mode = RUN;
}

static void enter_lock(struct walk *walk, const struct strobe_item *item)
{
    uint32_t holder = holder_of(walk, item->id);
    if (holder != STROBE_IDMAP_NONE) { /* its release was written down after this obtain */
        jump_to(walk, holder, item->tick, STROBE_PATH_BY_LOCK);
        return;
    }
    walk->mode = LOCK;
    walk->lock = item->id;
    walk->was_out = 0;
}

static void run_item(struct walk *walk, const struct strobe_item *item)
{
    const struct strobe_trace_thread *thread = &walk->trace->threads[item->thread];
    charge(walk, running_class(walk), item->tick, 0);
    switch (item->what) {
    case STROBE_ITEM_SWITCH_IN:
        enter_switch(walk, item->begin, item->tick, item->begin ? item->reason : 0);
        break;
    case STROBE_ITEM_LOCK_OBTAIN: /* where no wait has a begin, an obtain is at once */
        if (walk->survey->n_of[STROBE_ITEM_LOCK_WAIT])
            enter_lock(walk, item);
        break;
    case STROBE_ITEM_LOCK_WAITED:
        if (item->holder < walk->survey->n_threads && item->holder != item->thread)
            jump_to(walk, item->holder, item->tick, STROBE_PATH_BY_LOCK);
        break;
    case STROBE_ITEM_ZONE_END:
        if (strobe_survey_find_barrier(walk->survey, name_of(walk, item->loc))) {
            walk->mode = BARRIER;
            walk->barrier = name_of(walk, item->loc);
        }
        break;
    case STROBE_ITEM_ZONE_BEGIN:
        if (!item->depth && (thread->is_lane || walk->states[item->thread].has_flow))
            walk->mode = IDLE;
        break;
    case STROBE_ITEM_ALLOC:
        walk->states[item->thread].pending.n_allocs++;
        break;
    default:
        break;
    }
}

static void own_item(struct walk *walk, const struct strobe_item *item)
{
    int is_edge = item->what <= STROBE_ITEM_ZONE_END;
    switch (walk->mode) {
    case SWITCH:
        if (item->what == STROBE_ITEM_SWITCH_OUT)
            leave_switch(walk, item);
        else if (item->what == STROBE_ITEM_WAKEUP) { /* it says when, and not by whom */
            charge(walk, STROBE_PATH_RUNNABLE, item->tick, 0);
            walk->wait_end = item->tick;
        }
        break;
    case LOCK:
        walk->was_out |= item->what == STROBE_ITEM_SWITCH_OUT;
        if ((item->what == STROBE_ITEM_LOCK_WAIT && item->id == walk->lock) || is_edge)
            leave_lock(walk, item);
        break;
    case BARRIER: /* its own begin: it came last; anything before the barrier: the begin is lost */
        if (item->what == STROBE_ITEM_ZONE_BEGIN && name_of(walk, item->loc) == walk->barrier) {
            charge(walk, STROBE_PATH_BARRIER, item->tick, 0);
            walk->mode = RUN;
        }
        break;
    case IDLE:
        if (item->what == STROBE_ITEM_SWITCH_IN || item->what == STROBE_ITEM_ZONE_END) {
            int is_lane = walk->trace->threads[item->thread].is_lane;
            charge(walk, is_lane ? STROBE_PATH_IDLE : STROBE_PATH_RUN, item->tick, 0);
            walk->mode = RUN;
            if (item->what == STROBE_ITEM_SWITCH_IN)
                run_item(walk, item);
        }
        break;
    default:
        run_item(walk, item);
    }
}

/* ---- an item of another thread, while the path's waits ---- */

/* 1: the flow that ended on the path's thread goes out here. */
static int is_flow(const struct walk *walk, const struct strobe_item *item)
{
    const struct state *state = &walk->states[walk->thread];
    const struct strobe_trace *trace = walk->trace;
    return (item->what == STROBE_ITEM_FLOW_OUT || item->what == STROBE_ITEM_FLOW_STEP) &&
           state->has_flow && state->flow == item->id &&
           strobe_trace_flow_owner(trace, trace->threads[item->thread].process) ==
               strobe_trace_flow_owner(trace, trace->threads[walk->thread].process);
}

/* 1: what happens here can have ended the wait: not long before its end, or late in it, where processors are short. */
static int is_late(const struct walk *walk, const struct strobe_item *item)
{
    uint64_t before = walk->wait_end - item->tick;
    return before <= walk->end_ticks ||
           (walk->wait_begin && before <= (walk->wait_end - walk->wait_begin) / 5);
}

/* 1: the item is the last of a thread that the path's may have waited for to end. */
static int is_awaited_end(const struct walk *walk, const struct strobe_item *item)
{
    const struct strobe_trace *trace = walk->trace;
    uint32_t mine = process_of(walk, walk->thread), its = process_of(walk, item->thread);
    if (walk->states[item->thread].is_seen || trace->threads[item->thread].is_lane ||
        !is_late(walk, item))
        return 0;
    return mine == its || trace->processes[its].parent_pid == trace->processes[mine].pid;
}

/* 1: the item is a kernel's, on a device that the path's process has open. */
static int is_own_kernel(const struct walk *walk, const struct strobe_item *item)
{
    const struct strobe_trace *trace = walk->trace;
    return item->what <= STROBE_ITEM_ZONE_END && !item->depth &&
           trace->threads[item->thread].is_lane &&
           strobe_trace_flow_owner(trace, trace->threads[item->thread].process) ==
               strobe_trace_flow_owner(trace, trace->threads[walk->thread].process);
}

/* 1: a kernel ends in the wait, and no other one began from there to the wait's end: where processors are short that may be long after. A
 * device that works on is not what was waited for, but at about the end of the wait. */
static int is_awaited_kernel(struct walk *walk, const struct strobe_item *item)
{
    if (!is_own_kernel(walk, item))
        return 0;
    if (item->what == STROBE_ITEM_ZONE_BEGIN)
        walk->works_on = 1;
    return item->what == STROBE_ITEM_ZONE_END && (!walk->works_on || is_late(walk, item));
}

static void switch_item(struct walk *walk, const struct strobe_item *item)
{
    const struct strobe_trace_thread *mine = &walk->trace->threads[walk->thread];
    if (item->what == STROBE_ITEM_SWITCH_OUT && walk->wait_end - item->tick <= walk->ran_ticks)
        walk->somebody = 1;
    if (!walk->may_jump)
        return;
    if (item->what == STROBE_ITEM_WAKEUP && item->id == mine->tid) {
        charge(walk, STROBE_PATH_RUNNABLE, item->tick, 0);
        jump_to(walk, item->thread, item->tick, STROBE_PATH_BY_WAKEUP);
    } else if (is_flow(walk, item)) {
        charge(walk, STROBE_PATH_RUNNABLE, item->tick, 0);
        jump_to(walk, item->thread, item->tick, STROBE_PATH_BY_FLOW);
    } else if (is_awaited_end(walk, item)) {
        charge(walk, STROBE_PATH_RUNNABLE, item->tick, 0);
        jump_to(walk, item->thread, item->tick, STROBE_PATH_BY_END);
    } else if (is_awaited_kernel(walk, item)) {
        charge(walk, STROBE_PATH_RUNNABLE, item->tick, 0);
        jump_to(walk, item->thread, item->tick, STROBE_PATH_BY_DEVICE);
    }
}

/* A device's processor without a kernel: another kernel of the device, or the launch, whichever is later. */
static void idle_item(struct walk *walk, const struct strobe_item *item)
{
    const struct strobe_trace *trace = walk->trace;
    int is_same_device =
        trace->threads[item->thread].is_lane && trace->threads[walk->thread].is_lane &&
        trace->threads[item->thread].process == trace->threads[walk->thread].process;
    struct state *state = &walk->states[walk->thread];
    if (is_flow(walk, item)) {
        charge(walk, STROBE_PATH_IDLE, item->tick, 0);
        jump_to(walk, item->thread, item->tick, STROBE_PATH_BY_FLOW);
    } else if (is_same_device && item->what == STROBE_ITEM_ZONE_END && !item->depth) {
        charge(walk, STROBE_PATH_IDLE, item->tick, 0);
        jump_to(walk, item->thread, item->tick, STROBE_PATH_BY_DEVICE);
    } else if (is_same_device && item->what == STROBE_ITEM_FLOW_IN && !state->has_flow) {
        state->has_flow = 1; /* one processor of a program has its launch */
        state->flow = item->id;
    }
}

static void other_item(struct walk *walk, const struct strobe_item *item)
{
    if (walk->mode == SWITCH) {
        switch_item(walk, item);
    } else if (walk->mode == IDLE) {
        idle_item(walk, item);
    } else if (walk->mode == LOCK && item->what == STROBE_ITEM_LOCK_RELEASE &&
               item->id == walk->lock &&
               process_of(walk, item->thread) == process_of(walk, walk->thread)) {
        charge(walk, STROBE_PATH_LOCK, item->tick, walk->lock);
        jump_to(walk, item->thread, item->tick, STROBE_PATH_BY_LOCK);
    } else if (walk->mode == BARRIER && item->what == STROBE_ITEM_ZONE_BEGIN &&
               name_of(walk, item->loc) == walk->barrier) {
        charge(walk, STROBE_PATH_BARRIER, item->tick, 0);
        jump_to(walk, item->thread, item->tick, STROBE_PATH_BY_BARRIER);
    }
}

/* ---- what every thread's state needs ---- */

static enum strobe_err note_lock(struct walk *walk, const struct strobe_item *item)
{
    struct state *state = &walk->states[item->thread];
    uint32_t process = process_of(walk, item->thread);
    uint32_t i =
        strobe_idmap_add_row(&walk->path->lock_ids, process, item->id, (void **)&walk->path->locks,
                             &walk->path->locks_room, sizeof *walk->path->locks);
    if (i == STROBE_IDMAP_NONE)
        return STROBE_ERR_NOMEM;
    struct strobe_path_lock *lock = &walk->path->locks[i];
    lock->process = process;
    lock->lock = item->id;
    if (item->what == STROBE_ITEM_LOCK_RELEASE) {
        add_held(state, item->id, 0, item->tick);
    } else if (item->what == STROBE_ITEM_LOCK_WAITED) {
        end_held(state, item->id);
        if (item->holder < walk->survey->n_threads && item->begin)
            add_held(&walk->states[item->holder], item->id, item->begin, item->tick);
        lock->waited += item->tick - item->begin;
        lock->n_waits++;
    } else if (item->what == STROBE_ITEM_LOCK_OBTAIN) {
        end_held(state, item->id);
        state->obtained.lock = item->id;
        state->obtained.tick = item->tick;
    } else if (item->what == STROBE_ITEM_LOCK_WAIT && state->obtained.tick &&
               state->obtained.lock == item->id) {
        lock->waited += state->obtained.tick - item->tick;
        lock->n_waits++;
        state->obtained.tick = 0;
    }
    return STROBE_OK;
}

static enum strobe_err note_item(struct walk *walk, const struct strobe_item *item)
{
    struct state *state = &walk->states[item->thread];
    state->is_seen = 1;
    switch (item->what) {
    case STROBE_ITEM_ZONE_BEGIN:
    case STROBE_ITEM_ZONE_END: {
        int began = item->what == STROBE_ITEM_ZONE_BEGIN;
        return strobe_path_settle(walk->path, &state->pending, process_of(walk, item->thread),
                                  item->thread, began ? item->loc : item->outer,
                                  began ? item->begin : item->outer_begin, &walk->rows);
    }
    case STROBE_ITEM_SWITCH_IN: /* before it, it was off */
        walk->n_running -= state->is_running;
        state->is_running = 0;
        state->is_out = 1;
        return STROBE_OK;
    case STROBE_ITEM_SWITCH_OUT:
        walk->n_running += !state->is_running;
        state->is_running = 1;
        state->is_out = 0;
        return STROBE_OK;
    case STROBE_ITEM_FLOW_IN:
    case STROBE_ITEM_FLOW_STEP:
        state->has_flow = 1;
        state->flow = item->id;
        return STROBE_OK;
    case STROBE_ITEM_LOCK_WAIT:
    case STROBE_ITEM_LOCK_OBTAIN:
    case STROBE_ITEM_LOCK_RELEASE:
    case STROBE_ITEM_LOCK_WAITED:
        return note_lock(walk, item);
    default:
        return STROBE_OK;
    }
}

/* The path's thread begins here: on with who made it. */
static void reach_start(struct walk *walk, const struct strobe_item *item)
{
    if (walk->mode == NONE || walk->mode == DONE || item->thread != walk->thread ||
        item->tick != walk->survey->threads[item->thread].first)
        return;
    uint32_t maker = maker_of(walk, item->thread);
    charge(walk, mode_class(walk), item->tick, 0);
    if (maker != STROBE_IDMAP_NONE)
        jump_to(walk, maker, item->tick, STROBE_PATH_BY_START);
}

static enum strobe_err take_item(void *context, const struct strobe_item *item)
{
    struct walk *walk = context;
    if (item->thread >= walk->survey->n_threads)
        return STROBE_OK;
    if (walk->mode != NONE && walk->options->zone && item->tick <= walk->step_begin)
        end_path(walk, walk->step_begin);
    if (walk->mode == NONE)
        start_path(walk, item);
    if (walk->mode != NONE && walk->mode != DONE) {
        if (item->thread == walk->thread)
            own_item(walk, item);
        else
            other_item(walk, item);
    }
    enum strobe_err err = note_item(walk, item);
    reach_start(walk, item);
    return err ? err : walk->err;
}

/* ---- the thread that a path of all begins on ---- */

/* 1: the first thread of the process above this one has zones. */
static int has_marked_parent(const struct walk *walk, uint32_t thread)
{
    const struct strobe_trace *trace = walk->trace;
    uint64_t parent = trace->processes[process_of(walk, thread)].parent_pid;
    for (uint32_t i = 0; parent && i < walk->survey->n_threads; i++)
        if (walk->survey->threads[i].n_zones && trace->threads[i].tid == parent &&
            trace->processes[process_of(walk, i)].pid == parent)
            return 1;
    return 0;
}

/* A first thread with zones that lives for half of the time and has no parent like that; else whichever ended last. */
static uint32_t find_last(const struct walk *walk)
{
    uint32_t best = STROBE_IDMAP_NONE, any = STROBE_IDMAP_NONE;
    const struct strobe_survey_thread *threads = walk->survey->threads;
    uint64_t half = (walk->options->tick_max - walk->options->tick_min) / 2;
    for (uint32_t i = 0; i < walk->survey->n_threads; i++) {
        if (threads[i].first > threads[i].last || walk->trace->threads[i].is_lane)
            continue;
        int is_first =
            walk->trace->threads[i].tid == walk->trace->processes[process_of(walk, i)].pid;
        if (any == STROBE_IDMAP_NONE || threads[i].last > threads[any].last)
            any = i;
        if (is_first && threads[i].n_zones && threads[i].last - threads[i].first >= half &&
            !has_marked_parent(walk, i) &&
            (best == STROBE_IDMAP_NONE || threads[i].last > threads[best].last))
            best = i;
    }
    return best != STROBE_IDMAP_NONE ? best : any;
}

/* What is still without a zone lay outside of all. */
static enum strobe_err settle_rest(struct walk *walk)
{
    enum strobe_err err = STROBE_OK;
    if (walk->mode != NONE && walk->mode != DONE)
        end_path(walk, walk->at);
    for (uint32_t i = 0; !err && i < walk->survey->n_threads; i++)
        err = strobe_path_settle(walk->path, &walk->states[i].pending, process_of(walk, i), i,
                                 STROBE_IDMAP_NONE, 0, &walk->rows);
    return err;
}

static uint64_t ticks_of(const struct strobe_trace *trace, uint64_t ns)
{
    return trace->clock.mult ? (uint64_t)(((unsigned __int128)ns << 32) / trace->clock.mult) : ns;
}

enum strobe_err strobe_path_run(struct strobe_view *view, const struct strobe_survey *survey,
                                const struct strobe_path_options *options, struct strobe_path *path)
{
    struct strobe_items_options range = {options->tick_min, options->tick_max, 0, options->stop};
    struct walk walk = {.path = path,
                        .options = options,
                        .survey = survey,
                        .trace = view->trace,
                        .states = calloc(survey->n_threads + 1ull, sizeof *walk.states),
                        .end_ticks = ticks_of(view->trace, END_NS),
                        .ran_ticks = ticks_of(view->trace, RAN_NS)};
    path->last_thread = STROBE_IDMAP_NONE;
    walk.step_thread = STROBE_IDMAP_NONE;
    enum strobe_err err = walk.states ? STROBE_OK : STROBE_ERR_NOMEM;
    if (!err && !options->zone)
        walk.step_thread = find_last(&walk);
    if (walk.step_thread != STROBE_IDMAP_NONE && survey->threads[walk.step_thread].first_zone)
        range.tick_min =
            survey->threads[walk.step_thread].first_zone; /* what is before is its start */
    if (!err)
        err = strobe_items_sweep(view, &range, take_item, &walk, NULL);
    if (!err)
        err = settle_rest(&walk);
    strobe_path_sort(path);
    free(walk.states);
    strobe_index_free(&walk.rows);
    return err;
}

void strobe_path_free(struct strobe_path *path)
{
    free(path->rows);
    free(path->stretches);
    free(path->locks);
    strobe_idmap_free(&path->lock_ids);
    *path = (struct strobe_path){0};
}
