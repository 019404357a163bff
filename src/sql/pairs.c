/* pairs.c - tables whose rows are made of several events: frames, arrows of flows, waits for locks, turns of threads on their
 * processors, and the counters that a trace has. Runs in the pump's thread; what has to be kept until a row is whole is bounded by
 * the memory that a query may take.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/locks.h"
#include "sql/around.h"

#define BIT(kind) (1ull << STROBE_KIND_##kind)
#define NONE      STROBE_IDMAP_NONE

/* A time, and a duration from it that is known where it ended. */
static void put_time(struct strobe_sql_pump *pump, struct strobe_sql_cell *ts,
                     struct strobe_sql_cell *dur, uint64_t tick, uint64_t end, int has_ended)
{
    const struct strobe_clock *clock = &strobe_sql_pump_trace(pump)->clock;
    strobe_sql_put_i(ts, strobe_clock_rel(clock, tick));
    if (has_ended)
        strobe_sql_put_i(dur,
                         (int64_t)strobe_clock_span_ns(clock, tick, end > tick ? end - tick : 0));
}

static void put_string(struct strobe_sql_pump *pump, struct strobe_sql_cell *cell, uint32_t process,
                       uint64_t id)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *text = strobe_trace_string(strobe_sql_pump_model(pump), process, id, room, &n);
    strobe_sql_pump_name(pump, cell, text, n, room);
}

/* ---- frames ---- */

enum { FRAME_ID = 1, FRAME_NAME, FRAME_TS, FRAME_DUR, FRAME_PROCESS };

/* Frames of one name. A mark ends the frame before it and begins the next; start and end stand for one each. */
struct frame_set {
    uint64_t mark, start, n;
    uint8_t has_mark, has_start;
};

struct frames {
    struct strobe_sql_pump *pump;
    struct strobe_idmap ids; /* (process, string) */
    struct frame_set *sets;  /* owned */
    uint32_t sets_room;
};

static enum strobe_err put_frame(struct frames *frames, uint32_t i, uint64_t from, uint64_t to,
                                 int has_ended)
{
    struct strobe_sql_cell *row = strobe_sql_pump_row(frames->pump);
    if (!row)
        return STROBE_ERR_LIMIT;
    uint32_t process = (uint32_t)frames->ids.keys[i].scope;
    strobe_sql_put_i(&row[FRAME_ID], (int64_t)frames->sets[i].n++);
    put_string(frames->pump, &row[FRAME_NAME], process, frames->ids.keys[i].id);
    put_time(frames->pump, &row[FRAME_TS], &row[FRAME_DUR], from, to, has_ended);
    strobe_sql_put_i(&row[FRAME_PROCESS],
                     strobe_trace_first_process(strobe_sql_pump_trace(frames->pump), process));
    return STROBE_OK;
}

static enum strobe_err see_frame(void *context, const struct strobe_ordered_row *event)
{
    struct frames *frames = context;
    uint32_t i =
        strobe_idmap_add_row(&frames->ids, event->process, event->fields[0], (void **)&frames->sets,
                             &frames->sets_room, sizeof *frames->sets);
    if (i == NONE)
        return STROBE_ERR_NOMEM;
    struct frame_set *set = &frames->sets[i];
    enum strobe_err err = STROBE_OK;
    if (event->kind == STROBE_KIND_FRAME_MARK) {
        if (set->has_mark)
            err = put_frame(frames, i, set->mark, event->tick, 1);
        set->mark = event->tick;
        set->has_mark = 1;
    } else if (event->kind == STROBE_KIND_FRAME_START) {
        if (set->has_start) /* its end is missing */
            err = put_frame(frames, i, set->start, 0, 0);
        set->start = event->tick;
        set->has_start = 1;
    } else if (set->has_start) {
        err = put_frame(frames, i, set->start, event->tick, 1);
        set->has_start = 0;
    }
    return err;
}

static int frames_must_end(void *context)
{
    return strobe_sql_pump_must_end(((struct frames *)context)->pump);
}

static enum strobe_err walk_frames(struct strobe_sql_pump *pump)
{
    struct frames frames = {.pump = pump};
    struct strobe_ordered ordered = {.trace = strobe_sql_pump_trace(pump),
                                     .context = &frames,
                                     .take = see_frame,
                                     .is_over = frames_must_end,
                                     .kinds = BIT(FRAME_MARK) | BIT(FRAME_START) | BIT(FRAME_END)};
    enum strobe_err err = strobe_ordered_run(&ordered);
    for (uint32_t i = 0; !err && i < frames.ids.n; i++) {
        if (frames.sets[i].has_mark)
            err = put_frame(&frames, i, frames.sets[i].mark, 0, 0);
        if (!err && frames.sets[i].has_start)
            err = put_frame(&frames, i, frames.sets[i].start, 0, 0);
    }
    strobe_ordered_free(&ordered);
    strobe_idmap_free(&frames.ids);
    free(frames.sets);
    return err;
}

/* ---- flows ---- */

enum {
    FLOW_ID = 1,
    FLOW_SLICE_OUT,
    FLOW_SLICE_IN,
    FLOW_TS_OUT,
    FLOW_TS_IN,
    FLOW_TRACK_OUT,
    FLOW_TRACK_IN,
    FLOW_NUMBER
};

struct flow_point {
    uint64_t flow, tick;
    uint32_t owner, thread, order;
    uint8_t is_in_fiber;
};

struct flows {
    struct flow_point *points; /* owned */
    uint32_t n, room;
};

/* As the viewer draws them: by owner, number, time. */
static int by_flow(const void *a, const void *b)
{
    const struct flow_point *x = a, *y = b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->flow != y->flow)
        return x->flow < y->flow ? -1 : 1;
    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static enum strobe_err see_flow(void *context, const struct strobe_happening *happening)
{
    struct strobe_sql_pump *pump = context;
    struct flows *flows = *strobe_sql_pump_state(pump);
    uint32_t order = flows->n;
    if (!strobe_sql_pump_may_keep(
            pump, (order + 1ull) * (sizeof *flows->points + sizeof(struct strobe_sql_spot))))
        return STROBE_ERR_NOMEM;
    struct flow_point *point = STROBE_ARRAY_PUSH(flows->points, flows->n, flows->room);
    if (!point)
        return STROBE_ERR_NOMEM;
    *point = (struct flow_point){
        happening->event->fields[0].u,
        happening->event->tick,
        strobe_trace_flow_owner(strobe_sql_pump_trace(pump), happening->process),
        happening->thread,
        order,
        happening->fiber != 0};
    return STROBE_OK;
}

static enum strobe_err put_arrow(struct strobe_sql_pump *pump, const struct flow_point *from,
                                 const struct strobe_sql_spot *spots, int64_t number)
{
    const struct strobe_clock *clock = &strobe_sql_pump_trace(pump)->clock;
    struct strobe_sql_cell *row = strobe_sql_pump_row(pump);
    if (!row)
        return STROBE_ERR_LIMIT;
    strobe_sql_put_i(&row[FLOW_ID], number);
    if (spots && spots[0].zone >= 0)
        strobe_sql_put_i(&row[FLOW_SLICE_OUT], spots[0].zone);
    if (spots && spots[1].zone >= 0)
        strobe_sql_put_i(&row[FLOW_SLICE_IN], spots[1].zone);
    strobe_sql_put_i(&row[FLOW_TS_OUT], strobe_clock_rel(clock, from[0].tick));
    strobe_sql_put_i(&row[FLOW_TS_IN], strobe_clock_rel(clock, from[1].tick));
    const struct strobe_trace *trace = strobe_sql_pump_trace(pump);
    strobe_sql_put_i(&row[FLOW_TRACK_OUT], strobe_trace_first_thread(trace, from[0].thread));
    strobe_sql_put_i(&row[FLOW_TRACK_IN], strobe_trace_first_thread(trace, from[1].thread));
    strobe_sql_put_i(&row[FLOW_NUMBER], (int64_t)from[0].flow);
    return STROBE_OK;
}

/* The zones that the points lie in. NULL, with *err: they could not be found. */
static struct strobe_sql_spot *find_ends(struct strobe_sql_pump *pump, const struct flows *flows,
                                         enum strobe_err *err)
{
    struct strobe_sql_spot *spots = strobe_array_resize(NULL, flows->n + 1ull, sizeof *spots);
    *err = spots ? STROBE_OK : STROBE_ERR_NOMEM;
    for (uint32_t i = 0; spots && i < flows->n; i++)
        spots[i] = (struct strobe_sql_spot){
            .tick = flows->points[i].tick,
            .thread = flows->points[i].is_in_fiber ? NONE : flows->points[i].thread,
            .number = i};
    if (spots)
        *err = strobe_sql_find_around(pump, spots, flows->n);
    return spots;
}

static enum strobe_err walk_flows(struct strobe_sql_pump *pump)
{
    const struct strobe_sql_ask *ask = strobe_sql_pump_ask(pump);
    struct flows flows = {0};
    struct strobe_sql_spot *spots = NULL;
    struct strobe_walk walk = {.happens = see_flow,
                               .kinds = BIT(FLOW_BEGIN) | BIT(FLOW_STEP) | BIT(FLOW_END)};
    int64_t number = 0;
    *strobe_sql_pump_state(pump) = &flows;
    if (!strobe_ordered_may_have(strobe_sql_pump_trace(pump), walk.kinds))
        return STROBE_OK;
    enum strobe_err err = strobe_sql_pump_walk(pump, &walk);
    if (!err && flows.n)
        qsort(flows.points, flows.n, sizeof *flows.points, by_flow);
    if (!err && (strobe_sql_wants(ask, FLOW_SLICE_OUT) || strobe_sql_wants(ask, FLOW_SLICE_IN)))
        spots = find_ends(pump, &flows, &err);
    for (uint32_t i = 1; !err && i < flows.n; i++)
        if (flows.points[i].owner == flows.points[i - 1].owner &&
            flows.points[i].flow == flows.points[i - 1].flow)
            err = put_arrow(pump, &flows.points[i - 1], spots ? &spots[i - 1] : NULL, number++);
    free(spots);
    free(flows.points);
    return err;
}

/* ---- waits for locks ---- */

enum {
    WAIT_LOCK = 1,
    WAIT_NAME,
    WAIT_TRACK,
    WAIT_PROCESS,
    WAIT_TS,
    WAIT_DUR,
    WAIT_HOLDER,
    WAIT_HOLDER_ZONE,
    WAIT_HOLDER_TID
};

struct waits {
    struct strobe_sql_pump *pump;
    struct strobe_lock_wait *rows; /* owned */
    uint32_t n, room;
};

static enum strobe_err see_wait(void *context, const struct strobe_lock_wait *wait)
{
    struct waits *waits = context;
    if (!strobe_sql_pump_may_keep(waits->pump, (waits->n + 1ull) *
                                                   (sizeof *wait + sizeof(struct strobe_sql_spot))))
        return STROBE_ERR_NOMEM;
    struct strobe_lock_wait *row = STROBE_ARRAY_PUSH(waits->rows, waits->n, waits->room);
    if (!row)
        return STROBE_ERR_NOMEM;
    *row = *wait;
    return STROBE_OK;
}

static int waits_must_end(void *context)
{
    return strobe_sql_pump_must_end(((struct waits *)context)->pump);
}

static enum strobe_err put_wait(struct strobe_sql_pump *pump, const struct strobe_lock_wait *wait,
                                const struct strobe_sql_spot *spot)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    struct strobe_sql_cell *row = strobe_sql_pump_row(pump);
    if (!row)
        return STROBE_ERR_LIMIT;
    strobe_sql_put_i(&row[WAIT_LOCK], (int64_t)wait->lock);
    const char *name =
        strobe_trace_lock_name(strobe_sql_pump_model(pump), wait->process, wait->lock, room, &n);
    strobe_sql_pump_name(pump, &row[WAIT_NAME], name, n, room);
    const struct strobe_trace *trace = strobe_sql_pump_trace(pump);
    strobe_sql_put_i(&row[WAIT_TRACK], strobe_trace_first_thread(trace, wait->thread));
    strobe_sql_put_i(&row[WAIT_PROCESS], strobe_trace_first_process(trace, wait->process));
    put_time(pump, &row[WAIT_TS], &row[WAIT_DUR], wait->begin, wait->begin + wait->ticks,
             wait->has_ended);
    if (wait->holder != NONE)
        strobe_sql_put_i(&row[WAIT_HOLDER], strobe_trace_first_thread(trace, wait->holder));
    if (spot && spot->zone >= 0)
        strobe_sql_put_i(&row[WAIT_HOLDER_ZONE], spot->zone);
    if (wait->holder != NONE)
        strobe_sql_put_i(&row[WAIT_HOLDER_TID], (int64_t)trace->threads[wait->holder].tid);
    else if (wait->holder_tid)
        strobe_sql_put_i(&row[WAIT_HOLDER_TID], (int64_t)wait->holder_tid);
    return STROBE_OK;
}

/* The zones that those were in who held the locks. */
static struct strobe_sql_spot *find_holders(struct strobe_sql_pump *pump, const struct waits *waits,
                                            enum strobe_err *err)
{
    struct strobe_sql_spot *spots = strobe_array_resize(NULL, waits->n + 1ull, sizeof *spots);
    *err = spots ? STROBE_OK : STROBE_ERR_NOMEM;
    for (uint32_t i = 0; spots && i < waits->n; i++)
        spots[i] = (struct strobe_sql_spot){
            .tick = waits->rows[i].begin, .thread = waits->rows[i].holder, .number = i};
    if (spots)
        *err = strobe_sql_find_around(pump, spots, waits->n);
    return spots;
}

static enum strobe_err walk_waits(struct strobe_sql_pump *pump)
{
    struct waits waits = {.pump = pump};
    struct strobe_sql_spot *spots = NULL;
    struct strobe_locks locks;
    const struct strobe_locks_options options = {
        .to = UINT64_MAX, .context = &waits, .wait = see_wait, .is_over = waits_must_end};
    enum strobe_err err = strobe_locks_run(strobe_sql_pump_trace(pump), &options, &locks);
    strobe_locks_free(&locks);
    if (!err && waits.n && strobe_sql_wants(strobe_sql_pump_ask(pump), WAIT_HOLDER_ZONE))
        spots = find_holders(pump, &waits, &err);
    for (uint32_t i = 0; !err && i < waits.n; i++)
        err = put_wait(pump, &waits.rows[i], spots ? &spots[i] : NULL);
    free(spots);
    free(waits.rows);
    return err;
}

/* ---- turns on processors ---- */

enum {
    SCHED_TS = 1,
    SCHED_DUR,
    SCHED_CPU,
    SCHED_THREAD,
    SCHED_END_STATE,
    SCHED_PRIORITY,
    SCHED_UTID,
    SCHED_PROCESS
};

/* A thread on a processor. */
struct turn {
    uint64_t since, cpu;
    uint32_t thread; /* of CPU_SWITCH; NONE: it is none of the trace's */
    uint8_t is_on;
};

struct sched {
    struct turn *turns; /* owned: by thread, or by processor */
    uint32_t turns_room;
    struct strobe_idmap tids; /* (0, tid): index in tid_threads */
    uint32_t *tid_threads;    /* owned */
    uint32_t tid_threads_room;
};

/* What a thread was when it left: the letters of Linux, NULL: not known. Numbers are Tracy's (docs/file-format.md, kinds 29, 47). */
static const char *end_state_of(uint64_t reason, uint64_t state)
{
    static const char *const states[] = {"D", "I", "R", "S", "T", "t", "W", "X", "Z"};
    enum { FIRST_STATE = 101, PREEMPTED = 32, YIELDED = 33 };
    if (reason == PREEMPTED)
        return "R+";
    if (reason == YIELDED)
        return "R";
    state = state ? state : reason; /* imports of kernel traces know no more than the state */
    if (state >= FIRST_STATE && state < FIRST_STATE + sizeof states / sizeof states[0])
        return states[state - FIRST_STATE];
    return NULL;
}

static enum strobe_err put_turn(struct strobe_sql_pump *pump, const struct turn *turn, uint64_t end,
                                const char *end_state, const int64_t *priority, int has_ended)
{
    struct strobe_sql_cell *row = strobe_sql_pump_row(pump);
    if (!row)
        return STROBE_ERR_LIMIT;
    put_time(pump, &row[SCHED_TS], &row[SCHED_DUR], turn->since, end, has_ended);
    strobe_sql_put_i(&row[SCHED_CPU], (int64_t)turn->cpu);
    if (turn->thread != NONE) {
        const struct strobe_trace *trace = strobe_sql_pump_trace(pump);
        uint32_t thread = strobe_trace_first_thread(trace, turn->thread);
        strobe_sql_put_i(&row[SCHED_THREAD], thread);
        strobe_sql_put_i(&row[SCHED_UTID], thread);
        strobe_sql_put_i(&row[SCHED_PROCESS],
                         strobe_trace_first_process(trace, trace->threads[thread].process));
    }
    if (end_state)
        strobe_sql_put_kept(&row[SCHED_END_STATE], end_state, (uint32_t)strlen(end_state));
    if (priority)
        strobe_sql_put_i(&row[SCHED_PRIORITY], *priority);
    return STROBE_OK;
}

/* A thread's own switches. */
static enum strobe_err see_switch(void *context, const struct strobe_happening *happening)
{
    struct strobe_sql_pump *pump = context;
    struct sched *sched = *strobe_sql_pump_state(pump);
    const struct strobe_event *event = happening->event;
    enum strobe_err err = STROBE_OK;
    if (STROBE_ARRAY_REACH(sched->turns, sched->turns_room, happening->thread))
        return STROBE_ERR_NOMEM;
    struct turn *turn = &sched->turns[happening->thread];
    if (turn->is_on) {
        int is_out = event->kind == STROBE_KIND_SWITCH_OUT;
        err = put_turn(pump, turn, event->tick, is_out ? end_state_of(event->fields[1].u, 0) : NULL,
                       NULL, is_out);
    }
    *turn = (struct turn){event->tick, event->fields[0].u, happening->thread,
                          event->kind == STROBE_KIND_SWITCH_IN};
    return err;
}

/* What a processor runs, one thread after the other; 0 is nobody. */
static enum strobe_err see_cpu_switch(void *context, const struct strobe_happening *happening)
{
    enum { MOST_CPUS = 1 << 16 };
    struct strobe_sql_pump *pump = context;
    struct sched *sched = *strobe_sql_pump_state(pump);
    const struct strobe_event *event = happening->event;
    const struct strobe_field *f = event->fields;
    enum strobe_err err = STROBE_OK;
    if (f[0].u >= MOST_CPUS || STROBE_ARRAY_REACH(sched->turns, sched->turns_room, f[0].u))
        return f[0].u >= MOST_CPUS ? STROBE_OK : STROBE_ERR_NOMEM;
    struct turn *turn = &sched->turns[f[0].u];
    if (turn->is_on)
        err = put_turn(pump, turn, event->tick, end_state_of(f[3].u, f[4].u), &f[7].i, 1);
    uint32_t entry = strobe_idmap_find(&sched->tids, 0, f[2].u);
    *turn = (struct turn){event->tick, f[0].u, entry == NONE ? NONE : sched->tid_threads[entry],
                          f[2].u != 0};
    return err;
}

static enum strobe_err index_tids(struct sched *sched, const struct strobe_trace *trace)
{
    for (uint32_t i = 0; i < trace->thread_ids.n; i++) {
        uint32_t row = strobe_idmap_add_row(&sched->tids, 0, trace->threads[i].tid,
                                            (void **)&sched->tid_threads, &sched->tid_threads_room,
                                            sizeof *sched->tid_threads);
        if (row == NONE)
            return STROBE_ERR_NOMEM;
        sched->tid_threads[row] = i;
    }
    return STROBE_OK;
}

/* Where threads have switches of their own, those of processors say the same once more. */
static enum strobe_err walk_sched(struct strobe_sql_pump *pump)
{
    struct strobe_trace *trace = strobe_sql_pump_trace(pump);
    struct sched sched = {0};
    int has_own = strobe_ordered_may_have(trace, BIT(SWITCH_IN));
    struct strobe_walk walk = {.happens = has_own ? see_switch : see_cpu_switch,
                               .kinds =
                                   has_own ? BIT(SWITCH_IN) | BIT(SWITCH_OUT) : BIT(CPU_SWITCH)};
    *strobe_sql_pump_state(pump) = &sched;
    if (!strobe_ordered_may_have(trace, walk.kinds))
        return STROBE_OK;
    enum strobe_err err = has_own ? STROBE_OK : index_tids(&sched, trace);
    if (!err)
        err = strobe_sql_pump_walk(pump, &walk);
    for (uint32_t i = 0; !err && i < sched.turns_room; i++)
        if (sched.turns[i].is_on)
            err = put_turn(pump, &sched.turns[i], 0, NULL, NULL, 0);
    free(sched.turns);
    free(sched.tid_threads);
    strobe_idmap_free(&sched.tids);
    return err;
}

/* ---- counters ---- */

enum { PLOT_ID = 1, PLOT_NAME, PLOT_UNIT, PLOT_PROCESS, PLOT_UPID };

static enum strobe_err put_plot(struct strobe_sql_pump *pump, uint32_t process, uint64_t id)
{
    static const char *const units[] = {"number", "bytes", "percent", "watt"};
    const struct strobe_trace *model = strobe_sql_pump_model(pump);
    uint32_t string = strobe_idmap_find(&model->string_ids, process, id);
    uint32_t config = strobe_idmap_find(&model->plot_ids, process, id);
    uint64_t format = config == NONE ? 0 : model->plots[config].format;
    struct strobe_sql_cell *row = strobe_sql_pump_row(pump);
    if (!row)
        return STROBE_ERR_LIMIT;
    if (string != NONE)
        strobe_sql_put_i(&row[PLOT_ID], STROBE_SQL_PLOT + (int64_t)string);
    put_string(pump, &row[PLOT_NAME], process, id);
    const char *unit = units[format < 4 ? format : 0];
    strobe_sql_put_kept(&row[PLOT_UNIT], unit, (uint32_t)strlen(unit));
    uint32_t first = strobe_trace_first_process(strobe_sql_pump_trace(pump), process);
    strobe_sql_put_i(&row[PLOT_PROCESS], first);
    strobe_sql_put_i(&row[PLOT_UPID], first);
    return STROBE_OK;
}

static enum strobe_err see_plot(void *context, const struct strobe_happening *happening)
{
    struct strobe_sql_pump *pump = context;
    struct strobe_idmap *seen = *strobe_sql_pump_state(pump);
    uint32_t n = seen->n;
    uint64_t id = happening->event->fields[0].u;
    uint32_t i = strobe_idmap_add(seen, happening->process, id);
    if (i == NONE)
        return STROBE_ERR_NOMEM;
    return i < n ? STROBE_OK : put_plot(pump, happening->process, id);
}

/* Plots that were configured, then others as they come. */
static enum strobe_err walk_plots(struct strobe_sql_pump *pump)
{
    const struct strobe_trace *model = strobe_sql_pump_model(pump);
    struct strobe_idmap seen = {0};
    struct strobe_walk walk = {.happens = see_plot, .kinds = BIT(PLOT_INT) | BIT(PLOT_DOUBLE)};
    enum strobe_err err = STROBE_OK;
    *strobe_sql_pump_state(pump) = &seen;
    for (uint32_t i = 0; !err && i < model->plot_ids.n; i++) {
        uint32_t process = (uint32_t)model->plot_ids.keys[i].scope;
        uint64_t id = model->plot_ids.keys[i].id;
        err = strobe_idmap_add(&seen, process, id) == NONE ? STROBE_ERR_NOMEM
                                                           : put_plot(pump, process, id);
    }
    if (!err && strobe_ordered_may_have(strobe_sql_pump_trace(pump), walk.kinds))
        err = strobe_sql_pump_walk(pump, &walk);
    strobe_idmap_free(&seen);
    return err;
}

const struct strobe_sql_table strobe_sql_pairs[] = {
    STROBE_SQL_WALKED("flow",
                      "trace_id INT4, id INT, slice_out INT, slice_in INT, ts_out INT, ts_in INT, "
                      "track_out INT4, "
                      "track_in INT4, flow_id INT",
                      "arrows from one point of a flow to the next, with the zones that they join",
                      walk_flows),
    STROBE_SQL_WALKED("frame",
                      "trace_id INT4, id INT, name ENUM TEXT, ts INT, dur INT, process_id INT4",
                      "frames, numbered by name", walk_frames),
    STROBE_SQL_WALKED("lock_wait",
                      "trace_id INT4, lock_id INT, name ENUM TEXT, track_id INT4, process_id INT4, "
                      "ts INT, dur INT, held_by_track INT4, held_by_zone INT, held_by_tid INT",
                      "waits for locks, and who held them", walk_waits),
    STROBE_SQL_WALKED("sched",
                      "trace_id INT4, ts INT, dur INT, cpu INT4, thread_id INT4, end_state ENUM "
                      "TEXT, priority INT4, utid INT4, process_id INT4",
                      "turns of threads on processors", walk_sched),
    STROBE_SQL_WALKED("arg",
                      "trace_id INT4, zone_id INT, key ENUM TEXT, value_type ENUM TEXT, int_value "
                      "INT, real_value REAL, string_value TEXT",
                      "what zones carry: values, texts, members of JSON", strobe_sql_walk_args),
    STROBE_SQL_WALKED(
        "counter_track",
        "trace_id INT4, id INT, name ENUM TEXT, unit ENUM TEXT, process_id INT4, upid "
        "INT4",
        "plots", walk_plots),
};
const unsigned strobe_sql_n_pairs = sizeof strobe_sql_pairs / sizeof strobe_sql_pairs[0];
