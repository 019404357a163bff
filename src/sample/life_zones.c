/* life_zones.c - system calls of threads as zones. A call is stored when it is over: its begin waits here, so that one whose end the kernel
 * had no room for leaves nothing that would stay open. Zones are of a second process of the trace with the same pid (life.h).
 * SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/syscall.h>

#include "base/assert.h"
#include "sample/life_parts.h"
#include "sample/syscalls.h"

enum { CALL_COLOR = 0x5f7f9f, ERRNO_MAX = 4095, CALLS_MAX = 4096 };

/* The location of a system call's zones in a process. 0: there are too many. */
static uint64_t loc_of(struct strobe_life_process *process, int64_t number)
{
    char name[STROBE_SYSCALL_NAME];
    uint64_t *loc;
    STROBE_ASSERT(process->zones);
    process->calls.max = CALLS_MAX;
    if (strobe_map_add(&process->calls, (uint64_t)number, &loc))
        return 0;
    if (*loc)
        return *loc;
    strobe_syscalls_name(number, name, sizeof name);
    struct strobe_build_loc what = {.color = CALL_COLOR,
                                    .function = name,
                                    .n_function = strlen(name),
                                    .file = "[system call]",
                                    .n_file = strlen("[system call]"),
                                    .name = name,
                                    .n_name = strlen(name)};
    return *loc = strobe_build_loc(process->zones, &what);
}

static void put_step(struct strobe_life *life, struct strobe_pending_event event,
                     enum strobe_kind kind, uint64_t number)
{
    if (!strobe_pending_has_room(&life->pending, 1))
        strobe_life_flush(life);
    strobe_pending_zone(&life->pending, event, kind, number);
}

/* Begin of the call that a thread is in, as an event. False: it has no location. */
static bool begin_call(struct strobe_life *life, struct strobe_life_process *process,
                       const struct strobe_life_thread *thread, struct strobe_pending_event event)
{
    uint64_t loc = loc_of(process, thread->call);
    if (!loc)
        return false;
    event.tick = thread->call_tick;
    put_step(life, event, STROBE_KIND_ZONE_BEGIN, loc);
    life->counts.n_calls++;
    return true;
}

void strobe_life_call(struct strobe_life *life, const struct strobe_perf_record *record,
                      uint64_t tick)
{
    struct strobe_life_process *process;
    struct strobe_pending_event event;
    STROBE_ASSERT(record->what == STROBE_PERF_CALLS || record->what == STROBE_PERF_RETURNS);
    if (!life->has_zones || !strobe_life_zone_owner(life, record, tick, &process, &event))
        return;
    struct strobe_life_thread *thread = strobe_life_thread(life, process, record->tid, false);
    if (record->what == STROBE_PERF_CALLS) {
        thread->call = record->call.number;
        thread->call_tick = tick;
        return;
    }
    int64_t result = record->call.result;
    bool is_same = thread->call >= 0 && thread->call == record->call.number;
    if (is_same && begin_call(life, process, thread, event)) {
        bool is_error = result < 0 && result >= -ERRNO_MAX;
        put_step(life, event, is_error ? STROBE_KIND_ZONE_TEXT : STROBE_KIND_ZONE_VALUE,
                 (uint64_t)(is_error ? -result : result));
        put_step(life, event, STROBE_KIND_ZONE_END, 0);
    }
    thread->call = -1;
}

void strobe_life_leave_calls(struct strobe_life *life, struct strobe_life_process *process,
                             struct strobe_life_thread *thread)
{
    bool never_returns = thread->call == SYS_exit || thread->call == SYS_exit_group;
    if (thread->call < 0 || !thread->zone_track || never_returns)
        return;
    begin_call(life, process, thread,
               (struct strobe_pending_event){.build = process->zones,
                                             .track = thread->zone_track,
                                             .proc = process->zones_proc});
    thread->call = -1;
}
