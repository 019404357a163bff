/* life_turns.c - when a thread's turn on a processor began, by its CPU clock.
 *
 * The kernel writes its record of a turn's begin when it has started the thread's events, and that of its end before it stops them. Its clock
 * of the thread's CPU time runs from one decision of the scheduler to the next: what lies between is in the clock and in no record,
 * microseconds that are half of a turn which only sleeps again.
 *
 *   decision ──── switch, events start ──── record "in" ──── the thread's code ──── decision, record "out"
 *   └────────────── CPU time of the thread (schedstat) ──────────────────────────┘
 *
 * So the clocks of threads that have turns are read now and then (/proc/PID/task/TID/schedstat, which anyone may), where the thread is off
 * its processor, and what a turn lacks on average is known. The begins of turns that are pending are moved that much towards the
 * past, never before the event before, or the end of the turn before on that processor. All turns together are then what the clock
 * says; a single one has the average.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/descendants.h"
#include "sample/life_parts.h"

enum { TURNS_MIN = 8 };       /* between two readings that say something */
#define SOON_NS  80000000ull  /* between two readings, until something is known */
#define LATER_NS 250000000ull /* and then */
#define LACK_MAX 1e6          /* ns: what is above is no switch */

/* ---- windows ---- */

uint32_t strobe_life_window(struct strobe_life *life, struct strobe_life_thread *thread)
{
    struct strobe_life_window *window;
    if (thread->turns.window)
        return thread->turns.window;
    if (life->free_window) {
        thread->turns.window = life->free_window;
        window = &life->windows[life->free_window - 1];
        life->free_window = window->next_free;
    } else {
        window = STROBE_ARRAY_PUSH(life->windows, life->n_windows, life->windows_room);
        if (!window)
            return 0;
        thread->turns.window = life->n_windows;
    }
    *window = (struct strobe_life_window){.thread = thread, .last_tick = thread->last_tick};
    return thread->turns.window;
}

/* How far the begins in a window are to be moved: what the clock has more than the file, evenly, and not far off the average. */
static void settle(const struct strobe_life *life, struct strobe_life_window *window)
{
    const struct strobe_life_turns *turns = &window->thread->turns;
    double lack = turns->is_known ? turns->lack_ns : life->lack_ns;
    bool is_on = window->thread->on_ns != 0;
    double all = turns->lacked_ns + lack * (double)(turns->n + is_on - turns->base_n);
    double each = window->n_in && turns->is_known ? (all - turns->given_ns) / window->n_in : lack;
    window->more_ns = each < 0 ? 0 : each > 2 * lack ? 2 * lack : each;
}

void strobe_life_close_window(struct strobe_life *life, struct strobe_life_thread *thread)
{
    STROBE_ASSERT(thread->turns.window <= life->n_windows);
    if (!thread->turns.window)
        return;
    struct strobe_life_window *window = &life->windows[thread->turns.window - 1];
    settle(life, window);
    window->thread = NULL;
}

/* ---- readings ---- */

void strobe_life_clock(struct strobe_life *life, uint32_t pid, uint32_t tid, uint64_t before_ns,
                       uint64_t after_ns, uint64_t cpu_ns)
{
    struct strobe_life_process *process = strobe_life_process(life, pid, false);
    struct strobe_life_thread *thread =
        process ? strobe_life_thread(life, process, tid, false) : NULL;
    STROBE_ASSERT(before_ns <= after_ns);
    if (!thread || !cpu_ns) /* a kernel that has no such clock says 0 */
        return;
    thread->turns.before_ns = before_ns;
    thread->turns.after_ns = after_ns;
    thread->turns.cpu_ns = cpu_ns;
}

void strobe_life_read_clocks(struct strobe_life *life)
{
    char path[96], text[128];
    STROBE_ASSERT(life->n_turned <= STROBE_LIFE_TURNED);
    for (uint32_t i = 0; i < life->n_turned; i++) {
        const struct strobe_life_fresh *who = &life->turned[i];
        snprintf(path, sizeof path, "/proc/%u/task/%u/schedstat", who->pid, who->tid);
        uint64_t before = strobe_clock_read_ns(CLOCK_MONOTONIC_RAW);
        long n = strobe_descendants_read_text(path, text, sizeof text);
        uint64_t after = strobe_clock_read_ns(CLOCK_MONOTONIC_RAW);
        if (n > 0)
            strobe_life_clock(life, who->pid, who->tid, before, after, strtoull(text, NULL, 10));
    }
    life->n_turned = 0;
}

/* A reading that is of this moment between two turns: what the turns since the one before lack. */
static void use_reading(struct strobe_life *life, struct strobe_life_turns *turns)
{
    uint64_t n = turns->n - turns->base_n;
    bool has_base = turns->base_ns && life->gap_ns < turns->base_ns;
    if (has_base && n < TURNS_MIN)
        return;
    double lacked = (double)(int64_t)(turns->cpu_ns - turns->base_cpu_ns) -
                    (double)(int64_t)(turns->on_ns - turns->base_on_ns);
    if (has_base && lacked / (double)n < LACK_MAX) {
        turns->lack_ns = lacked > 0 ? lacked / (double)n : 0;
        if (!turns->is_known) /* those before the first reading are as these */
            turns->lacked_ns = turns->lack_ns * (double)turns->base_n;
        turns->is_known = true;
        life->lack_ns = lacked > 0 ? turns->lack_ns : life->lack_ns;
        turns->lacked_ns += lacked;
    } else if (turns->is_known) { /* switches are missing in between */
        turns->lacked_ns += turns->lack_ns * (double)n;
    }
    turns->base_ns = turns->before_ns;
    turns->base_cpu_ns = turns->cpu_ns;
    turns->base_on_ns = turns->on_ns;
    turns->base_n = turns->n;
}

static void end_turn(struct strobe_life *life, struct strobe_life_thread *thread,
                     const struct strobe_perf_record *record)
{
    struct strobe_life_turns *turns = &thread->turns;
    if (!thread->on_ns || thread->on_ns <= life->gap_ns || record->time < thread->on_ns)
        return;
    turns->n++;
    turns->on_ns += record->time - thread->on_ns;
    if (turns->before_ns && record->time >= turns->before_ns)
        turns->before_ns = 0; /* it ran when its clock was read */
    if (turns->before_ns)     /* its turn has not come: records are a round late, or two */
        return;
    if (turns->n - turns->n_asked < TURNS_MIN || life->n_turned == STROBE_LIFE_TURNED ||
        record->time - turns->asked_ns < (turns->is_known ? LATER_NS : SOON_NS))
        return;
    turns->n_asked = turns->n;
    turns->asked_ns = record->time;
    life->turned[life->n_turned++] = (struct strobe_life_fresh){record->pid, record->tid};
}

void strobe_life_turn(struct strobe_life *life, struct strobe_life_thread *thread,
                      const struct strobe_perf_record *record)
{
    struct strobe_life_turns *turns = &thread->turns;
    STROBE_ASSERT(record->what == STROBE_PERF_SWITCH);
    if (record->turn.is_out) {
        end_turn(life, thread, record);
        return;
    }
    if (turns->before_ns && !thread->on_ns && thread->left_ns < turns->before_ns &&
        record->time > turns->after_ns)
        use_reading(life, turns);
    if (record->time > turns->before_ns)
        turns->before_ns = 0;
    if (turns->window)
        life->windows[turns->window - 1].n_in++;
}

/* ---- at a flush ---- */

/* Move the begin of a turn; how far, in ticks. */
static uint64_t move_begin(const struct strobe_life *life, const struct strobe_life_window *window,
                           struct strobe_pending_event *event, double ticks_per_ns)
{
    uint64_t out = life->out_ticks[event->cpu % STROBE_LIFE_CPUS];
    uint64_t least = window->last_tick > out ? window->last_tick : out;
    uint64_t more = (uint64_t)(window->more_ns * ticks_per_ns);
    if (least >= event->tick)
        return 0;
    more = more < event->tick - least ? more : event->tick - least;
    event->tick -= more;
    return more;
}

static void end_windows(struct strobe_life *life)
{
    for (uint32_t i = 0; i < life->n_windows; i++) {
        struct strobe_life_window *window = &life->windows[i];
        window->n_in = 0;
        window->more_ns = 0;
        if (window->thread || window->is_free)
            continue;
        window->is_free = true;
        window->next_free = life->free_window;
        life->free_window = i + 1;
    }
}

void strobe_life_mend_turns(struct strobe_life *life)
{
    double ticks_per_ns = life->pending.n_events ? strobe_sample_clock_rate(life->clock) : 0;
    for (uint32_t i = 0; i < life->n_windows; i++)
        if (life->windows[i].thread && life->windows[i].n_in)
            settle(life, &life->windows[i]);
    for (uint32_t i = 0; i < life->pending.n_events; i++) {
        struct strobe_pending_event *event = &life->pending.events[i];
        STROBE_ASSERT(event->window <= life->n_windows);
        struct strobe_life_window *window =
            event->window ? &life->windows[event->window - 1] : NULL;
        if (window && event->kind == STROBE_KIND_SWITCH_IN) {
            uint64_t moved = move_begin(life, window, event, ticks_per_ns);
            if (window->thread)
                window->thread->turns.given_ns += (double)moved / ticks_per_ns;
        }
        if (window)
            window->last_tick = event->tick;
        if (event->kind == STROBE_KIND_SWITCH_OUT)
            life->out_ticks[event->cpu % STROBE_LIFE_CPUS] = event->tick;
    }
    end_windows(life);
}
