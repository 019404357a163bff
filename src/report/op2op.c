/* op2op.c - finds the gaps between ops on each core.
 * A core's markers lie together in the log, RISC after RISC: they are collected, sorted by time and
 * walked when the next core begins. Only kernel starts and ends and FW starts matter.
 * SPDX-License-Identifier: MIT */
#include "report/op2op.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum kind { KERNEL_END = 1, KERNEL_START = 2, ITERATION = 3 };

static int compare_events(const void *a, const void *b)
{
    const struct strobe_report_gap_event *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool add_gap(struct strobe_report_op2op *op2op, struct strobe_report_gap gap)
{
    if (STROBE_ARRAY_RESERVE(op2op->gaps, op2op->cap, (uint64_t)op2op->n + 1))
        return false;
    op2op->gaps[op2op->n++] = gap;
    return true;
}

static bool walk_event(struct strobe_report_op2op *op2op, struct strobe_report_gap_state *state,
                       const struct strobe_report_gap_event *event)
{
    if (event->kind == ITERATION) {
        state->iteration = event->time;
        state->has_iteration = true;
    } else if (event->kind == KERNEL_END) {
        state->end_time = event->time;
        state->end_run = event->run;
        state->end_iteration = state->iteration;
        state->end_has_iteration = state->has_iteration;
        state->has_end = true;
    } else if (state->has_end) {
        bool other = state->end_has_iteration != state->has_iteration ||
                     state->end_iteration != state->iteration;
        state->has_end = false;
        return add_gap(op2op,
                       (struct strobe_report_gap){state->end_time, event->time - state->end_time,
                                                  state->end_run, event->run, op2op->core, other});
    }
    return true;
}

static bool walk_core(struct strobe_report_op2op *op2op)
{
    if (!op2op->n_events)
        return true;
    if (STROBE_ARRAY_REACH(op2op->states, op2op->n_states, op2op->core))
        return false;
    qsort(op2op->events, op2op->n_events, sizeof *op2op->events, compare_events);
    bool ok = true;
    for (size_t i = 0; ok && i < op2op->n_events; i++)
        ok = walk_event(op2op, &op2op->states[op2op->core], &op2op->events[i]);
    op2op->n_events = 0;
    return ok;
}

static uint8_t kind_of(const struct strobe_report_zone *zone)
{
    if (zone->type == STROBE_REPORT_ZONE_START && zone->flags & STROBE_REPORT_IS_ITERATION)
        return ITERATION;
    if (zone->type == STROBE_REPORT_ZONE_START && zone->flags & STROBE_REPORT_IS_BRNC_KERNEL)
        return KERNEL_START;
    if (zone->type == STROBE_REPORT_ZONE_END && zone->flags & STROBE_REPORT_IS_KERNEL)
        return KERNEL_END;
    return 0;
}

bool strobe_report_op2op_take(struct strobe_report_op2op *op2op,
                              const struct strobe_report_marker *marker)
{
    if (marker->series->core != op2op->core) {
        if (!walk_core(op2op))
            return false;
        op2op->core = marker->series->core;
    }
    uint8_t kind = kind_of(marker->zone);
    if (!kind)
        return true;
    if (STROBE_ARRAY_RESERVE(op2op->events, op2op->cap_events, (uint64_t)op2op->n_events + 1))
        return false;
    op2op->events[op2op->n_events] = (struct strobe_report_gap_event){
        marker->time, marker->run, (uint32_t)op2op->n_events, kind};
    op2op->n_events++;
    return true;
}

bool strobe_report_op2op_finish(struct strobe_report_op2op *op2op)
{
    return walk_core(op2op);
}

void strobe_report_op2op_reset(struct strobe_report_op2op *op2op)
{
    op2op->n = op2op->n_events = 0;
    if (op2op->n_states)
        memset(op2op->states, 0, op2op->n_states * sizeof *op2op->states);
}

void strobe_report_op2op_free(struct strobe_report_op2op *op2op)
{
    free(op2op->gaps);
    free(op2op->events);
    free(op2op->states);
    *op2op = (struct strobe_report_op2op){0};
}
