/* sched.c - runs a program on the grid: the lane that is furthest behind runs next, for a short stretch, until all came to their
 * end, or no one can go on. Order depends on times and numbers alone, so every run is the same.
 * What a lane's states mean: internal.h.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "device_sim/costs.h"
#include "device_sim/internal.h"

/* ---- events: a binary heap by time, then order ---- */

static int before(const struct strobe_sim_event *a, const struct strobe_sim_event *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

void strobe_sim_event_push(struct strobe_sim_unit *unit, struct strobe_sim_event event)
{
    if (STROBE_ARRAY_RESERVE(unit->heap, unit->room_heap, (uint64_t)unit->n_heap + 1))
        return; /* reserved for all lanes and relays when the unit was opened: arrivals alone can get here */
    event.order = ++unit->n_events;
    uint32_t i = unit->n_heap++;
    while (i && before(&event, &unit->heap[(i - 1) / 2])) {
        unit->heap[i] = unit->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    unit->heap[i] = event;
}

static struct strobe_sim_event pop_event(struct strobe_sim_unit *unit)
{
    STROBE_ASSERT(unit->n_heap);
    struct strobe_sim_event first = unit->heap[0], last = unit->heap[--unit->n_heap];
    uint32_t i = 0, child;
    while ((child = 2 * i + 1) < unit->n_heap) {
        if (child + 1 < unit->n_heap && before(&unit->heap[child + 1], &unit->heap[child]))
            child++;
        if (!before(&unit->heap[child], &last))
            break;
        unit->heap[i] = unit->heap[child];
        i = child;
    }
    if (unit->n_heap)
        unit->heap[i] = last;
    return first;
}

/* ---- lanes ---- */

static struct strobe_sim_lane *running; /* one thread runs all units */

struct strobe_sim_lane *strobe_sim_lane_running(void)
{
    STROBE_ASSERT(running);
    return running;
}

static uint32_t number_of(const struct strobe_sim_lane *lane)
{
    return lane->core->is->index * STROBE_SIM_RISCS + (uint32_t)(lane - lane->core->lanes);
}

void strobe_sim_lane_yield(struct strobe_sim_lane *lane)
{
    struct strobe_sim_unit *unit = lane->core->unit;
    if (unit->n_heap && unit->heap[0].at < lane->hot.now) {
        strobe_sim_fiber_leave(&lane->fiber);
        return;
    }
    lane->hot.until = (unit->n_heap ? unit->heap[0].at : lane->hot.now) + STROBE_SIM_QUANTUM;
    if (lane->hot.until <= lane->hot.now)
        lane->hot.until = lane->hot.now + STROBE_SIM_QUANTUM;
    if (lane->hot.now - lane->launched > unit->board.setup.options.hang_cycles)
        strobe_sim_fiber_leave(&lane->fiber); /* for give_up() to look at */
}

void strobe_sim_lane_park(struct strobe_sim_lane *lane, enum strobe_sim_wait wait, uint32_t on)
{
    lane->state = STROBE_SIM_PARKED;
    lane->wait = wait;
    lane->wait_on = on;
    uint64_t from = lane->hot.now;
    strobe_sim_fiber_leave(&lane->fiber);
    lane->wait = STROBE_SIM_WAIT_NOTHING;
    struct strobe_sim_perf *perf = &lane->core->perf;
    from = from > perf->started ? from : perf->started;
    if (perf->started && lane->hot.now > from)
        perf->waited[lane->hot.risc][wait] += lane->hot.now - from;
}

static void make_ready(struct strobe_sim_lane *lane)
{
    lane->state = STROBE_SIM_READY;
    strobe_sim_event_push(lane->core->unit,
                          (struct strobe_sim_event){.at = lane->hot.now, .who = number_of(lane)});
}

void strobe_sim_lane_wake(struct strobe_sim_lane *lane, uint64_t at)
{
    STROBE_ASSERT(lane->state == STROBE_SIM_PARKED);
    if (at > lane->hot.now)
        lane->hot.now = at;
    make_ready(lane);
}

/* The last act of a lane's fiber: nobody resumes it. */
static void end_lane(struct strobe_sim_lane *lane)
{
    struct strobe_sim_core *core = lane->core;
    lane->state = STROBE_SIM_DONE;
    core->n_running--;
    core->unit->n_running--;
    for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++) {
        struct strobe_sim_lane *other = &core->lanes[risc];
        if (other->state == STROBE_SIM_PARKED && other->wait == STROBE_SIM_WAIT_OTHERS &&
            core->n_running == 1)
            strobe_sim_lane_wake(other, lane->hot.now);
    }
    strobe_sim_fiber_leave(&lane->fiber);
}

static void enter_lane(void *context)
{
    struct strobe_sim_lane *lane = context;
    lane->code->launch();
    end_lane(lane);
}

static void run_fiber(struct strobe_sim_unit *unit, struct strobe_sim_lane *lane)
{
    STROBE_ASSERT(lane->state == STROBE_SIM_READY);
    lane->hot.until = (unit->n_heap ? unit->heap[0].at : lane->hot.now) + STROBE_SIM_QUANTUM;
    if (lane->hot.until < lane->hot.now)
        lane->hot.until = lane->hot.now;
    running = lane;
    *lane->code->self = &lane->hot;
    if (lane->hot.wall_page) { /* the page is one for all cores: whoever runs sees its own clock */
        uint64_t wall = lane->hot.now + lane->hot.wall;
        lane->hot.wall_page[STROBE_SIM_WALL_LOW / 4] = (uint32_t)wall;
        lane->hot.wall_page[STROBE_SIM_WALL_HIGH / 4] = (uint32_t)(wall >> 32);
    }
    strobe_sim_fiber_resume(&lane->fiber);
    running = NULL;
    if (lane->state == STROBE_SIM_READY)
        make_ready(lane);
    else if (lane->hot.now > unit->now)
        unit->now = lane->hot.now;
}

/* ---- a program ---- */

/* One sentence about a lane that did not come to its end. */
static void say_where(const struct strobe_sim_lane *lane, char *text, size_t bytes)
{
    char what[96];
    strobe_board_say_wait(lane->wait, lane->wait_on, what, sizeof what);
    snprintf(text, bytes, "device %u, core %u,%u (logical %u,%u), %s, kernel %s: %s",
             lane->core->unit->board.setup.index, lane->core->is->x, lane->core->is->y,
             lane->core->is->logical_x, lane->core->is->logical_y,
             strobe_board_risc_name(lane->hot.risc), lane->kernel ? lane->kernel->source : "none",
             what);
}

/* Give up all lanes that are not done: their cores are hung. Returns how many. */
static uint32_t give_up(struct strobe_sim_unit *unit, char *reason)
{
    uint32_t n = 0;
    size_t length = 0;
    for (uint32_t i = 0; i < unit->board.n_cores; i++)
        for (uint32_t risc = 0; risc < STROBE_SIM_RISCS; risc++) {
            struct strobe_sim_lane *lane = &unit->cores[i].lanes[risc];
            if (lane->state != STROBE_SIM_READY && lane->state != STROBE_SIM_PARKED)
                continue;
            char text[400];
            say_where(lane, text, sizeof text);
            unit->board.setup.warn(unit->board.setup.warn_context, text);
            if (n++ < 4 && length < STROBE_DEVICE_REASON_BYTES)
                length += (size_t)snprintf(reason + length, STROBE_DEVICE_REASON_BYTES - length,
                                           "%s%s", n > 1 ? "; " : "", text);
            lane->state = STROBE_SIM_HUNG;
            unit->cores[i].is->hung = 1;
            unit->cores[i].n_running = 0;
            if (lane->hot.now > unit->now)
                unit->now = lane->hot.now;
        }
    unit->n_running = 0;
    unit->n_heap = 0;
    return n;
}

/* Whether no lane will ever end: nobody is ready and nothing is on its way, or all who are ready are over the bound. */
static int is_stuck(const struct strobe_sim_unit *unit)
{
    for (uint32_t i = 0; i < unit->n_heap; i++) {
        const struct strobe_sim_event *event = &unit->heap[i];
        if (event->what == STROBE_SIM_ARRIVE)
            return 0;
        if (event->what == STROBE_SIM_RUN) {
            const struct strobe_sim_lane *lane =
                &unit->cores[event->who / STROBE_SIM_RISCS].lanes[event->who % STROBE_SIM_RISCS];
            if (lane->hot.now - lane->launched <= unit->board.setup.options.hang_cycles)
                return 0;
        }
    }
    return 1;
}

static void arrive(struct strobe_sim_unit *unit, const struct strobe_sim_event *event)
{
    struct strobe_sim_core *core = &unit->cores[event->who];
    *(uint32_t *)(void *)(core->is->l1 + event->address) += event->value;
    strobe_sim_semaphore_changed(core, event->address, event->at);
}

enum strobe_err strobe_sim_lane_run_all(struct strobe_sim_unit *unit, char *reason)
{
    uint64_t looked = 0;
    while (unit->n_running) {
        if (!unit->n_heap || (++looked & 0xFFF) == 0 || unit->n_heap <= unit->n_relays) {
            if (is_stuck(unit)) {
                give_up(unit, reason);
                return STROBE_ERR_BUSY;
            }
        }
        struct strobe_sim_event event = pop_event(unit);
        if (event.what == STROBE_SIM_RUN)
            run_fiber(
                unit,
                &unit->cores[event.who / STROBE_SIM_RISCS].lanes[event.who % STROBE_SIM_RISCS]);
        else if (event.what == STROBE_SIM_ARRIVE)
            arrive(unit, &event);
        else
            strobe_sim_relay_sweep(unit, event.who, event.at);
    }
    while (
        unit->n_heap) { /* what is still on its way arrives; the relays sleep until the next launch */
        struct strobe_sim_event event = pop_event(unit);
        if (event.what == STROBE_SIM_ARRIVE)
            arrive(unit, &event);
    }
    return STROBE_OK;
}

void strobe_sim_lane_launch(struct strobe_sim_lane *lane, const struct strobe_device_built *kernel,
                            const struct strobe_sim_kernel *code, uint64_t at)
{
    STROBE_ASSERT(lane->state == STROBE_SIM_IDLE || lane->state == STROBE_SIM_DONE);
    lane->kernel = kernel;
    lane->code = code;
    lane->hot.now = lane->launched = at;
    lane->done_reads = lane->done_writes = lane->done_atomics = at;
    lane->core->n_running++;
    lane->core->unit->n_running++;
    strobe_sim_fiber_start(&lane->fiber, enter_lane, lane);
    make_ready(lane);
}
