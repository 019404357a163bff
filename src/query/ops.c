/* ops.c - finds the executions of devices' programs among the zones of their lanes, and the host's zones that launched them.
 *
 * Zones come in the order of their ends: what is inside an outermost zone comes before it, and waits in its lane until the outermost
 * one says which program it was. Lanes come in any order.  SPDX-License-Identifier: MIT */
#include "query/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "query/scan.h"

/* What a lane has seen since its last outermost zone. */
struct strobe_op_lane {
    struct strobe_op_range kernel, fw;
    uint32_t last; /* execution of its last outermost zone + 1 */
};

static const double most_ns = 9e18;

/* ---- names and times ---- */

enum strobe_op_kind strobe_ops_kind(struct strobe_ops *ops, uint32_t loc)
{
    const struct strobe_trace *trace = ops->view->trace;
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    if (loc >= trace->loc_ids.n)
        return STROBE_OP_OTHER;
    if (!strobe_rows_reach((void **)&ops->kinds, &ops->kinds_room, loc, 1))
        return STROBE_OP_OTHER;
    if (!ops->kinds[loc]) {
        const char *name = strobe_trace_loc_name(trace, loc, 0, room, &n);
        ops->kinds[loc] = memmem(name, n, "-KERNEL", 7)    ? STROBE_OP_KERNEL
                          : memmem(name, n, "-FW", 3)      ? STROBE_OP_FW
                          : memmem(name, n, "TT_DNN", 6)   ? STROBE_OP_HOST
                          : memmem(name, n, "TT_METAL", 8) ? STROBE_OP_HOST
                                                           : STROBE_OP_OTHER;
    }
    return (enum strobe_op_kind)ops->kinds[loc];
}

int64_t strobe_ops_ns(const struct strobe_trace *trace, uint32_t process, int64_t cycles)
{
    const struct strobe_process *row = &trace->processes[process];
    double mhz = row->n_own ? (double)row->khz / 1000 : 0;
    double ns = mhz > 0 ? rint((double)cycles * 1000 / mhz)
                        : (double)cycles * (double)trace->clock.mult / 4294967296.0;
    return fabs(ns) < most_ns ? (int64_t)ns : 0; /* a clock that says so is damaged */
}

int64_t strobe_ops_begin(const struct strobe_trace *trace, uint32_t process,
                         const struct strobe_zone_row *zone)
{
    uint64_t time = (uint64_t)strobe_trace_own_time(trace, process, zone->begin);
    return (int64_t)(time + (uint64_t)(int64_t)zone->begin_own);
}

int64_t strobe_ops_end(const struct strobe_trace *trace, uint32_t process,
                       const struct strobe_zone_row *zone)
{
    uint64_t time = (uint64_t)strobe_trace_own_time(trace, process, zone->begin + zone->ticks);
    return (int64_t)(time + (uint64_t)(int64_t)zone->end_own);
}

/* ---- executions ---- */

static uint64_t distance(const struct strobe_op *op, uint64_t from, uint64_t to)
{
    return from > op->to ? from - op->to : op->from > to ? op->from - to : 0;
}

uint32_t strobe_ops_find(const struct strobe_ops *ops, const struct strobe_op_program *program,
                         uint64_t from, uint64_t to, uint32_t except, uint32_t *at)
{
    uint32_t best = STROBE_IDMAP_NONE;
    uint64_t nearest = UINT64_MAX;
    *at = (uint32_t)STROBE_ARRAY_BISECT(0, program->n, i, ops->ops[program->runs[i]].from <= from);
    for (uint32_t i = *at ? *at - 1 : 0; i < program->n && i <= *at; i++) {
        const struct strobe_op *op = &ops->ops[program->runs[i]];
        uint64_t reach = op->to - op->from > to - from ? op->to - op->from : to - from;
        uint64_t far = distance(op, from, to);
        if (program->runs[i] != except && far <= reach && far < nearest) {
            nearest = far;
            best = i;
        }
    }
    return best;
}

/* A new execution in a program's list; STROBE_IDMAP_NONE: no room. */
static uint32_t add_op(struct strobe_ops *ops, struct strobe_op_program *program, uint32_t at,
                       const struct strobe_op *op)
{
    if (ops->n_ops >= STROBE_OPS_MAX) {
        ops->n_left_out++;
        return STROBE_IDMAP_NONE;
    }
    if (STROBE_ARRAY_RESERVE(program->runs, program->room, program->n + 1) ||
        STROBE_ARRAY_RESERVE(ops->ops, ops->ops_room, ops->n_ops + 1)) {
        ops->err = STROBE_ERR_NOMEM;
        return STROBE_IDMAP_NONE;
    }
    STROBE_ASSERT(at <= program->n);
    memmove(program->runs + at + 1, program->runs + at, (program->n - at) * sizeof *program->runs);
    program->runs[at] = ops->n_ops;
    program->n++;
    ops->ops[ops->n_ops] = *op;
    return ops->n_ops++;
}

static void widen(struct strobe_op_range *range, const struct strobe_op_range *by)
{
    if (!by->n)
        return;
    range->first = range->n && range->first < by->first ? range->first : by->first;
    range->last = range->n && range->last > by->last ? range->last : by->last;
    range->n += by->n;
}

/* A core's number on its device; those beyond what an execution has bits for share the last. */
static uint32_t core_of(struct strobe_ops *ops, const struct strobe_trace_thread *thread)
{
    uint32_t n_before = ops->core_ids.n, most = STROBE_OPS_CORE_WORDS * 64 - 1;
    uint64_t place = (uint64_t)thread->core_kind << 62 | (uint64_t)thread->x << 31 | thread->y;
    uint32_t i =
        strobe_idmap_add_row(&ops->core_ids, thread->process, place, (void **)&ops->core_numbers,
                             &ops->core_numbers_room, sizeof *ops->core_numbers);
    if (i == STROBE_IDMAP_NONE)
        return most;
    if (i == n_before) {
        uint32_t number = 0;
        for (uint32_t k = 0; k < i; k++)
            number += ops->core_ids.keys[k].scope == thread->process;
        ops->core_numbers[i] = number < most ? number : most;
    }
    return ops->core_numbers[i];
}

/* An outermost zone of a lane: one more of its program's execution. */
static void join(struct strobe_ops *ops, uint32_t thread, uint64_t program,
                 const struct strobe_zone_row *zone, const struct strobe_op_range *whole)
{
    const struct strobe_trace_thread *row = &ops->view->trace->threads[thread];
    struct strobe_op_lane *lane = &ops->lanes[thread];
    uint64_t from = zone->begin, to = zone->begin + zone->ticks;
    uint32_t at,
        i = strobe_idmap_add_row(&ops->program_ids, row->process, program, (void **)&ops->programs,
                                 &ops->programs_room, sizeof *ops->programs);
    if (i == STROBE_IDMAP_NONE) {
        ops->err = STROBE_ERR_NOMEM;
        return;
    }
    struct strobe_op_program *runs = &ops->programs[i];
    struct strobe_op_zone first = {zone->begin, zone->ticks, thread, 0};
    struct strobe_op op = {
        .program = program, .from = from, .to = to, .process = row->process, .first = first};
    uint32_t run = strobe_ops_find(ops, runs, from, to, lane->last - 1, &at);
    uint32_t number = run == STROBE_IDMAP_NONE ? add_op(ops, runs, at, &op) : runs->runs[run];
    if (number == STROBE_IDMAP_NONE)
        return;
    struct strobe_op *mine = &ops->ops[number];
    uint32_t core = core_of(ops, row);
    if (from < mine->from || (from == mine->from && thread < mine->first.thread))
        mine->first = first;
    mine->from = from < mine->from ? from : mine->from;
    mine->to = to > mine->to ? to : mine->to;
    mine->cores[core / 64] |= 1ull << core % 64;
    if ((lane->kernel.n || !lane->fw.n) && !row->core_kind)
        mine->riscs |= 1u << (row->risc & 31);
    widen(&mine->kernel, lane->kernel.n || lane->fw.n ? &lane->kernel : whole);
    widen(&mine->fw, &lane->fw);
    lane->last = number + 1;
}

static void take_lane(struct strobe_ops *ops, uint32_t thread, uint32_t loc,
                      const struct strobe_zone_row *zone, const struct strobe_note *note)
{
    const struct strobe_trace *trace = ops->view->trace;
    struct strobe_op_lane *lane = &ops->lanes[thread];
    enum strobe_op_kind kind = strobe_ops_kind(ops, loc);
    if (!zone->ticks || (zone->depth && kind == STROBE_OP_OTHER))
        return; /* a mark, or a zone that a kernel made */
    uint32_t process = trace->threads[thread].process;
    struct strobe_op_range range = {strobe_ops_begin(trace, process, zone),
                                    strobe_ops_end(trace, process, zone), 1};
    if (kind == STROBE_OP_KERNEL)
        widen(&lane->kernel, &range);
    else if (kind == STROBE_OP_FW)
        widen(&lane->fw, &range);
    if (zone->depth)
        return;
    if (note && note->has_value && note->value)
        join(ops, thread, note->value, zone, &range);
    lane->kernel = lane->fw = (struct strobe_op_range){0};
}

/* ---- what the host did ---- */

/* The number behind the last colon of a text; 0: none. */
static uint64_t number_in(const char *text, uint32_t n_text)
{
    const char *at = n_text ? memrchr(text, ':', n_text) : NULL, *end = text + n_text;
    uint64_t number = 0;
    for (at = at ? at + 1 : end; at < end && *at >= '0' && *at <= '9' && number < UINT32_MAX; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return number;
}

/* The first zone that a number or a flow names counts. */
static void note_host(struct strobe_ops *ops, uint32_t scope, uint64_t id, uint32_t thread,
                      const struct strobe_zone_row *zone)
{
    uint32_t n_before = ops->host_ids.n;
    if (n_before >= STROBE_OPS_MAX)
        return;
    uint32_t i = strobe_idmap_add_row(&ops->host_ids, scope, id, (void **)&ops->hosts,
                                      &ops->hosts_room, sizeof *ops->hosts);
    if (i == STROBE_IDMAP_NONE)
        ops->err = STROBE_ERR_NOMEM;
    else if (i == n_before)
        ops->hosts[i] = (struct strobe_op_zone){zone->begin, zone->ticks, thread, zone->depth};
}

/* Flows that begin in the zone, and in none of its children. */
static void take_launches(struct strobe_ops *ops, uint32_t thread,
                          const struct strobe_zone_row *zone)
{
    uint64_t i = STROBE_ARRAY_BISECT(
        0, ops->n_points, k,
        ops->points[k]->thread < thread ||
            (ops->points[k]->thread == thread && ops->points[k]->tick < zone->begin));
    for (; i < ops->n_points; i++) {
        const struct strobe_flow_point *point = ops->points[i];
        if (point->thread != thread || point->tick > zone->begin + zone->ticks)
            return;
        if (point->depth == zone->depth)
            note_host(ops, point->owner + 1, point->flow, thread, zone);
    }
}

static int take_zone(void *context, uint32_t thread, uint32_t loc, uint64_t loc_id,
                     const struct strobe_zone_row *zone, const struct strobe_note *note)
{
    struct strobe_ops *ops = context;
    (void)loc_id;
    if (strobe_ops_is_lane(&ops->view->trace->threads[thread])) {
        take_lane(ops, thread, loc, zone, note);
    } else {
        uint64_t number = note && note->text && strobe_ops_kind(ops, loc) == STROBE_OP_HOST
                              ? number_in(note->text, note->n_text)
                              : 0;
        if (number)
            note_host(ops, 0, number, thread, zone);
        take_launches(ops, thread, zone);
    }
    return !ops->err;
}

/* ---- a step ---- */

static int by_thread(const void *a, const void *b)
{
    const struct strobe_flow_point *x = *(const struct strobe_flow_point *const *)a;
    const struct strobe_flow_point *y = *(const struct strobe_flow_point *const *)b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The points that lead from a host to a lane. */
static enum strobe_err list_points(struct strobe_ops *ops)
{
    const struct strobe_tables *tables = ops->tables;
    const struct strobe_trace *trace = ops->view->trace;
    free(ops->points);
    ops->n_points = 0;
    ops->points = malloc((tables->n_flows + 1ull) * sizeof(struct strobe_flow_point *));
    if (!ops->points)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 1; i < tables->n_flows; i++) {
        const struct strobe_flow_point *a = &tables->flows[i - 1], *b = &tables->flows[i];
        if (a->owner == b->owner && a->flow == b->flow && !trace->threads[a->thread].is_lane &&
            trace->threads[b->thread].is_lane)
            ops->points[ops->n_points++] = a;
    }
    if (ops->n_points)
        qsort(ops->points, ops->n_points, sizeof *ops->points, by_thread);
    return STROBE_OK;
}

/* Lanes, hosts that launch, and, where the rows are those of a report, all threads: their texts have the ops' numbers. */
static enum strobe_err choose_threads(struct strobe_ops *ops)
{
    const struct strobe_trace *trace = ops->view->trace;
    uint32_t n = trace->thread_ids.n;
    if (!strobe_rows_reach((void **)&ops->lanes, &ops->lanes_room, n, sizeof *ops->lanes) ||
        !strobe_rows_reach((void **)&ops->carries, &ops->carries_room, n, sizeof *ops->carries) ||
        !strobe_rows_reach((void **)&ops->threads, &ops->threads_room, n, 1))
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        ops->threads[i] =
            strobe_ops_is_lane(&trace->threads[i]) || (trace->n_ops && !trace->threads[i].is_lane);
    for (uint32_t i = 0; i < ops->n_points; i++)
        ops->threads[ops->points[i]->thread] = 1;
    return STROBE_OK;
}

static int has_lanes(const struct strobe_trace *trace)
{
    for (uint32_t i = 0; i < trace->thread_ids.n; i++)
        if (strobe_ops_is_lane(&trace->threads[i]))
            return 1;
    return 0;
}

enum strobe_err strobe_ops_step(struct strobe_ops *ops, uint64_t max_events)
{
    struct strobe_view *view = ops->view;
    if (ops->is_whole && ops->next_block == view->n_blocks)
        return STROBE_OK;
    if (!has_lanes(view->trace) && !view->trace->n_ops) {
        ops->next_block = view->n_blocks;
        ops->is_whole = 1;
        return STROBE_OK;
    }
    enum strobe_err err = list_points(ops);
    if (!err)
        err = choose_threads(ops);
    if (err)
        return err;
    struct strobe_scan scan = {.view = view,
                               .hi = UINT64_MAX,
                               .threads = ops->threads,
                               .n_threads = view->trace->thread_ids.n,
                               .want_notes = 1,
                               .carries = ops->carries,
                               .max_events = max_events,
                               .context = ops,
                               .zone = take_zone,
                               .next_block = ops->next_block};
    err = strobe_scan_run(&scan);
    ops->next_block = scan.next_block;
    ops->is_whole = !err && !ops->err && !scan.is_cut;
    if (ops->is_whole)
        err = strobe_ops_make_rows(ops);
    return err ? err : ops->err;
}

double strobe_ops_share(const struct strobe_ops *ops)
{
    uint32_t n = ops->view->n_blocks;
    return ops->is_whole ? 1 : n ? (double)ops->next_block / n : 1;
}

void strobe_ops_free(struct strobe_ops *ops)
{
    for (uint32_t i = 0; i < ops->program_ids.n && ops->programs; i++)
        free(ops->programs[i].runs);
    for (uint32_t i = 0; i < ops->carries_room; i++)
        strobe_carry_free(&ops->carries[i]);
    strobe_idmap_free(&ops->program_ids);
    strobe_idmap_free(&ops->core_ids);
    strobe_idmap_free(&ops->host_ids);
    void *owned[] = {ops->rows,    ops->ops,           ops->programs,     ops->lanes,
                     ops->carries, ops->threads,       ops->core_numbers, ops->kinds,
                     ops->hosts,   (void *)ops->points};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        free(owned[i]);
    memset(ops, 0, sizeof *ops);
}
