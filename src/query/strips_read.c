/* strips_read.c - switches and samples of a block, as stretches and marks of rows.
 *
 * A thread is, from its first switch on, in one state at a time: a switch_in begins a run, a switch_out ends it and begins a wait, or a time
 * of being ready if it was preempted; a wake-up ends a wait. What lies between two switches of the same direction (one between them
 * was lost) is in no state. Before its first switch nothing is known.  SPDX-License-Identifier: MIT */
#include "query/strips.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/assert.h"

#define BIT(kind) (1ull << STROBE_KIND_##kind)

/* Reasons of a switch_out after which the thread can run: docs/file-format.md, kind 29. */
enum { QUANTUM_END = 30, DISPATCH = 31, PREEMPTED = 32, YIELD = 33, DEFERRED_PREEMPT = 38 };

uint64_t strobe_strips_kinds(void)
{
    return BIT(SAMPLE) | BIT(SWITCH_IN) | BIT(SWITCH_OUT) | BIT(CPU_SWITCH) | BIT(WAKEUP) |
           BIT(WOKEN);
}

int strobe_strips_is_ready(uint64_t reason)
{
    return (reason >= QUANTUM_END && reason <= YIELD) || reason == DEFERRED_PREEMPT;
}

/* ---- stretches ---- */

/* The stretch of a row that is open ends at a tick. */
static void end_stretch(struct strobe_strips *strips, enum strobe_strip_kind kind, uint64_t number,
                        uint64_t tick)
{
    struct strobe_strip_row *row = strobe_strips_row(strips, kind, number);
    if (!row || !row->is_open)
        return;
    struct strobe_strip_item item = row->open;
    uint64_t ticks = tick > item.at ? tick - item.at : 0;
    row->is_open = 0;
    if (!ticks || (strips->below && ticks >= strips->below))
        return;
    item.ticks[row->state] = ticks;
    if (kind == STROBE_STRIP_CPU)
        item.ticks[STROBE_STRIP_READY] = ticks;
    item.n = item.is_one = 1;
    if (strobe_strips_put(row, kind, strips->level, &item))
        strips->failed = 1;
}

static void begin_stretch(struct strobe_strips *strips, enum strobe_strip_kind kind,
                          uint64_t number, enum strobe_strip_state state,
                          struct strobe_strip_item open)
{
    struct strobe_strip_row *row = strobe_strips_reach(strips, kind, number);
    if (!row) {
        strips->failed = 1;
        return;
    }
    row->open = open;
    row->state = (uint8_t)state;
    row->is_open = 1;
}

/* Whether the runs of a process's threads are all that is known of its processors. A Tracy client tells of processors by cpu_switch events; a
 * file of Tracy may have those, or not. */
static int has_runs_alone(const struct strobe_strips *strips, uint32_t process)
{
    const struct strobe_trace *trace = strips->view->trace;
    const struct strobe_process *row = &trace->processes[process];
    return !row->is_tracy ||
           (!row->tracy_protocol &&
            !strobe_file_facts(trace->file)->totals.n_of_kind[STROBE_KIND_CPU_SWITCH]);
}

/* A run of a thread that ended is one of its processor, too; they are sorted when the block is read. */
static void note_run(struct strobe_strips *strips, uint32_t thread,
                     const struct strobe_strip_row *row, uint64_t tick)
{
    if (!has_runs_alone(strips, strips->view->trace->threads[thread].process) ||
        tick <= row->open.at || (strips->below && tick - row->open.at >= strips->below))
        return;
    struct strobe_strip_run *run =
        STROBE_ARRAY_PUSH(strips->runs, strips->n_runs, strips->runs_room);
    if (run)
        *run =
            (struct strobe_strip_run){row->open.at, tick - row->open.at, thread + 1, row->open.cpu};
    else
        strips->failed = 1;
}

static void come_in(struct strobe_strips *strips, uint32_t thread, uint64_t tick, uint64_t cpu,
                    uint64_t reason)
{
    struct strobe_strip_row *row = strobe_strips_row(strips, STROBE_STRIP_THREAD, thread);
    if (row && row->is_open && row->state != STROBE_STRIP_RUN && reason)
        row->open.reason = (uint8_t)reason; /* it was found out meanwhile */
    if (row && row->is_open && row->state == STROBE_STRIP_RUN)
        row->is_open = 0; /* where it left is not known */
    end_stretch(strips, STROBE_STRIP_THREAD, thread, tick);
    begin_stretch(strips, STROBE_STRIP_THREAD, thread, STROBE_STRIP_RUN,
                  (struct strobe_strip_item){.at = tick, .who = thread + 1, .cpu = (uint16_t)cpu});
}

static void go_out(struct strobe_strips *strips, uint32_t thread, uint64_t tick, uint64_t reason)
{
    struct strobe_strip_row *row = strobe_strips_row(strips, STROBE_STRIP_THREAD, thread);
    if (row && row->is_open && row->state == STROBE_STRIP_RUN)
        note_run(strips, thread, row, tick);
    else if (row)
        row->is_open = 0;
    end_stretch(strips, STROBE_STRIP_THREAD, thread, tick);
    begin_stretch(strips, STROBE_STRIP_THREAD, thread,
                  strobe_strips_is_ready(reason) ? STROBE_STRIP_READY : STROBE_STRIP_WAIT,
                  (struct strobe_strip_item){.at = tick, .reason = (uint8_t)reason});
}

static void wake(struct strobe_strips *strips, uint32_t thread, uint64_t tick, uint32_t by)
{
    struct strobe_strip_row *row = strobe_strips_row(strips, STROBE_STRIP_THREAD, thread);
    if (!row || !row->is_open || row->state != STROBE_STRIP_WAIT || tick < row->open.at)
        return;
    uint8_t reason = row->open.reason;
    row->open.who = by;
    end_stretch(strips, STROBE_STRIP_THREAD, thread, tick);
    begin_stretch(strips, STROBE_STRIP_THREAD, thread, STROBE_STRIP_READY,
                  (struct strobe_strip_item){.at = tick, .reason = reason, .who = by});
}

/* ---- threads by their number in the system ---- */

/* In the place of a process: all of a host, in a trace of several that number their threads alike. */
static uint32_t host_of(const struct strobe_trace *trace, uint32_t thread)
{
    return UINT32_MAX - trace->processes[trace->threads[thread].process].source;
}

/* Threads that are new since the last call. */
static void learn_tids(struct strobe_strips *strips)
{
    const struct strobe_trace *trace = strips->view->trace;
    for (; strips->n_tids < trace->thread_ids.n; strips->n_tids++) {
        const struct strobe_trace_thread *thread = &trace->threads[strips->n_tids];
        if (!thread->tid)
            continue;
        uint32_t i = strobe_idmap_add_row(&strips->tids, thread->process, thread->tid,
                                          (void **)&strips->tid_threads, &strips->tids_room,
                                          sizeof *strips->tid_threads);
        if (i != STROBE_IDMAP_NONE)
            strips->tid_threads[i] = strips->n_tids + 1;
        i = strobe_idmap_add_row(&strips->tids, host_of(trace, strips->n_tids), thread->tid,
                                 (void **)&strips->tid_threads, &strips->tids_room,
                                 sizeof *strips->tid_threads);
        if (i != STROBE_IDMAP_NONE)
            strips->tid_threads[i] = strips->n_tids + 1;
    }
}

/* The thread of a process, or of a host, with a tid: its index + 1; 0: it is none of its. */
static uint32_t thread_of(struct strobe_strips *strips, uint32_t process, uint64_t tid)
{
    learn_tids(strips);
    uint32_t i = tid ? strobe_idmap_find(&strips->tids, process, tid) : STROBE_IDMAP_NONE;
    return i == STROBE_IDMAP_NONE ? 0 : strips->tid_threads[i];
}

/* Who woke a thread, by its number in the system; 0: no thread did. */
static uint32_t waker_of(struct strobe_strips *strips, uint32_t thread, uint64_t tid)
{
    uint32_t known = tid ? thread_of(strips, host_of(strips->view->trace, thread), tid) : 0;
    return known || !tid ? known : STROBE_STRIP_FOREIGN + (uint32_t)(tid & 0x7fffffff);
}

/* ---- events ---- */

static void put_sample(struct strobe_strips *strips, uint32_t thread, uint64_t tick)
{
    struct strobe_strip_row *row = strobe_strips_reach(strips, STROBE_STRIP_SAMPLES, thread);
    struct strobe_strip_item item = {.at = tick, .n = 1};
    if (!row || strobe_strips_put(row, STROBE_STRIP_SAMPLES, strips->level, &item))
        strips->failed = 1;
}

/* A processor goes from one thread to another. A Tracy file has the runs of threads beside it, a live client has not. */
static void switch_cpu(struct strobe_strips *strips, uint32_t process,
                       const struct strobe_event *event)
{
    uint64_t cpu = event->fields[0].u, from = event->fields[1].u, to = event->fields[2].u;
    uint32_t who = thread_of(strips, process, to), left = thread_of(strips, process, from);
    end_stretch(strips, STROBE_STRIP_CPU, cpu, event->tick);
    if (to)
        begin_stretch(strips, STROBE_STRIP_CPU, cpu, STROBE_STRIP_RUN,
                      (struct strobe_strip_item){
                          .at = event->tick,
                          .who = who ? who : STROBE_STRIP_FOREIGN + (uint32_t)(to & 0x7fffffff),
                          .cpu = (uint16_t)cpu});
    if (strips->view->trace->processes[process].tracy_protocol == 0)
        return;
    if (left)
        go_out(strips, left - 1, event->tick, event->fields[3].u);
    if (who)
        come_in(strips, who - 1, event->tick, cpu, 0);
}

static void take_event(struct strobe_strips *strips, uint32_t thread,
                       const struct strobe_event *event)
{
    uint32_t process = strips->view->trace->threads[thread].process, woken;
    switch (event->kind) {
    case STROBE_KIND_SAMPLE:
        put_sample(strips, thread, event->tick);
        break;
    case STROBE_KIND_SWITCH_IN:
        come_in(strips, thread, event->tick, event->fields[0].u, event->fields[1].u);
        break;
    case STROBE_KIND_SWITCH_OUT:
        go_out(strips, thread, event->tick, event->fields[1].u);
        break;
    case STROBE_KIND_CPU_SWITCH:
        switch_cpu(strips, process, event);
        break;
    case STROBE_KIND_WAKEUP:
        if ((woken = thread_of(strips, process, event->fields[0].u)))
            wake(strips, woken - 1, event->tick, thread + 1);
        break;
    case STROBE_KIND_WOKEN:
        wake(strips, thread, event->tick, waker_of(strips, thread, event->fields[1].u));
        break;
    }
}

static int has_wanted(const struct strobe_events *events, const struct strobe_part *part)
{
    const uint8_t *sym = events->stream[STROBE_SYM] + part->first_event;
    uint64_t kinds = strobe_strips_kinds();
    for (uint32_t i = 0; i < part->n_events; i++)
        if (sym[i] < 63 && kinds >> sym[i] & 1)
            return 1;
    return 0;
}

static void read_part(struct strobe_strips *strips, const struct strobe_events *events,
                      const struct strobe_part *part, uint32_t thread)
{
    struct strobe_cursor cursor;
    struct strobe_event event;
    strips->joiner.n_text = 0;
    strobe_cursor_start(&cursor, events, part, &strips->view->trace->schema, &strips->joiner);
    while (strobe_cursor_next(&cursor, &event) == STROBE_OK)
        take_event(strips, thread, &event);
}

/* ---- processors ---- */

static int by_time(const void *a, const void *b)
{
    const struct strobe_strip_run *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->who < y->who ? -1 : x->who > y->who;
}

static void put_runs(struct strobe_strips *strips)
{
    if (strips->n_runs)
        qsort(strips->runs, strips->n_runs, sizeof *strips->runs, by_time);
    for (uint32_t i = 0; i < strips->n_runs; i++) {
        const struct strobe_strip_run *run = &strips->runs[i];
        struct strobe_strip_row *row = strobe_strips_reach(strips, STROBE_STRIP_CPU, run->cpu);
        struct strobe_strip_item item = {.at = run->at,
                                         .ticks = {run->ticks, run->ticks},
                                         .n = 1,
                                         .who = run->who,
                                         .cpu = run->cpu,
                                         .is_one = 1};
        if (!row || strobe_strips_put(row, STROBE_STRIP_CPU, strips->level, &item))
            strips->failed = 1;
    }
    strips->n_runs = 0;
}

void strobe_strips_read(struct strobe_strips *strips, uint32_t block)
{
    const struct strobe_events *events = strobe_view_glance(strips->view, block);
    STROBE_ASSERT(!strips->n_runs);
    for (uint32_t i = 0; events && i < events->n_parts; i++) {
        const struct strobe_part *part = &events->parts[i];
        if (!part->n_events || !has_wanted(events, part))
            continue;
        uint32_t thread = strobe_view_thread(strips->view, part->proc, part->track);
        if (thread != STROBE_IDMAP_NONE)
            read_part(strips, events, part, thread);
    }
    put_runs(strips);
    strobe_strips_settle(strips);
}
