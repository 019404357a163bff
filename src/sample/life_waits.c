/* life_waits.c - why threads wait and who wakes them. As root the kernel says both with tracepoints (perf.h); else the recorder looks into
 * /proc at threads that have waited for a round or two: a look counts if it was taken inside of the wait, which is known when the
 * thread comes back.  SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/descendants.h"
#include "sample/life_parts.h"

/* The thread of a number, whatever its process. NULL: it is none of ours. */
static struct strobe_life_thread *thread_of(struct strobe_life *life, uint32_t tid,
                                            struct strobe_life_process **process)
{
    uint64_t *pid = strobe_map_find(&life->owners, tid);
    *process = pid ? strobe_life_process(life, (uint32_t)*pid, false) : NULL;
    return *process ? strobe_life_thread(life, *process, tid, false) : NULL;
}

void strobe_life_off(struct strobe_life *life, const struct strobe_perf_record *record)
{
    STROBE_ASSERT(record->what == STROBE_PERF_OFF);
    struct strobe_life_process *process;
    struct strobe_life_thread *thread = thread_of(life, record->tid, &process);
    if (!thread)
        return;
    thread->reason = life->blocked.n
                         ? (uint8_t)strobe_blocked_find(&life->blocked, record->sample.chain,
                                                        record->sample.n_chain)
                         : STROBE_BLOCKED_UNKNOWN;
}

/* A thread's wait is over: it is ready. */
static void put_woken(struct strobe_life *life, const struct strobe_life_process *process,
                      struct strobe_life_thread *thread, uint64_t tick, uint32_t by, uint32_t cpu)
{
    STROBE_ASSERT(thread->track && thread->is_waiting);
    thread->is_waiting = false;
    struct strobe_pending_event event = {.build = process->build,
                                         .track = thread->track,
                                         .window = strobe_life_window(life, thread),
                                         .tick = tick,
                                         .proc = process->proc,
                                         .kind = STROBE_KIND_WOKEN,
                                         .cpu = cpu,
                                         .first = by};
    if (!strobe_pending_has_room(&life->pending, 0))
        strobe_life_flush(life);
    strobe_pending_switch(&life->pending, event);
    life->counts.n_wakes++;
}

static uint32_t reason_out(struct strobe_life *life, struct strobe_life_thread *thread,
                           const struct strobe_perf_record *record)
{
    uint32_t reason = record->turn.is_preempted ? STROBE_BLOCKED_PREEMPTED : thread->reason;
    thread->reason = 0;
    thread->left_ns = record->time;
    thread->is_waiting = !record->turn.is_preempted;
    if (!reason && life->n_waiting < STROBE_LIFE_WAITING)
        life->waiting[life->n_waiting++] = (struct strobe_life_fresh){record->pid, record->tid};
    return reason;
}

/* Whoever waits and runs again was woken. Where no wake-up came after it left, it came while it was leaving: between the moment in which it
 * can be woken and the record of its leaving other processors go on, and in a virtual machine much time may pass. */
uint32_t strobe_life_reason(struct strobe_life *life, struct strobe_life_process *process,
                            struct strobe_life_thread *thread,
                            const struct strobe_perf_record *record)
{
    STROBE_ASSERT(record->what == STROBE_PERF_SWITCH);
    uint32_t reason = 0;
    if (record->turn.is_out)
        return reason_out(life, thread, record);
    if (thread->is_waiting && thread->early_ns && thread->track)
        put_woken(life, process, thread, strobe_sample_clock_tick(life->clock, thread->left_ns),
                  thread->early_by, thread->early_cpu);
    else if (thread->is_waiting)
        life->counts.n_unwoken++;
    if (thread->asked_ns > thread->left_ns && thread->asked_ns < record->time)
        reason = thread->asked_reason;
    if (thread->asked_ns < record->time)
        thread->asked_ns = 0;
    thread->is_waiting = false;
    thread->early_ns = 0;
    return reason;
}

void strobe_life_wakes(struct strobe_life *life, const struct strobe_perf_record *record,
                       uint64_t tick)
{
    STROBE_ASSERT(record->what == STROBE_PERF_WAKES);
    struct strobe_life_process *process;
    struct strobe_life_thread *thread = thread_of(life, record->wake.tid, &process);
    uint32_t by = record->wake.is_interrupt ? 0 : record->tid;
    if (!thread)
        return;
    if (thread->is_waiting && thread->track) {
        put_woken(life, process, thread, tick, by, record->wake.cpu);
        return;
    }
    thread->early_ns = record->time;
    thread->early_by = by;
    thread->early_cpu = record->wake.cpu;
}

/* What the system says that a thread is in. False: it is not allowed to ask. */
static bool ask(const struct strobe_life_process *process, struct strobe_life_thread *thread)
{
    char path[96], text[256];
    snprintf(path, sizeof path, "/proc/%u/task/%u/syscall", process->pid, thread->tid);
    if (strobe_descendants_read_text(path, text, sizeof text) <= 0)
        return false;
    thread->asked_reason = (uint8_t)strobe_blocked_of_syscall(text);
    thread->asked_ns = strobe_clock_read_ns(CLOCK_MONOTONIC_RAW);
    return true;
}

void strobe_life_ask(struct strobe_life *life)
{
    enum { REFUSALS = 256 };
    STROBE_ASSERT(life->n_waiting <= STROBE_LIFE_WAITING);
    for (uint32_t i = 0; i < life->n_waiting && life->n_not_asked < REFUSALS; i++) {
        struct strobe_life_process *process =
            strobe_life_process(life, life->waiting[i].pid, false);
        struct strobe_life_thread *thread =
            process ? strobe_life_thread(life, process, life->waiting[i].tid, false) : NULL;
        if (thread && thread->is_waiting && !thread->asked_ns)
            life->n_not_asked += !ask(process, thread);
    }
    life->n_waiting = 0;
}
