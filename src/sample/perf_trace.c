/* perf_trace.c - see perf_trace.h.  SPDX-License-Identifier: MIT */
#include "sample/perf_trace.h"

#include <string.h>

static void find_waits(struct strobe_perf_trace *trace)
{
    char text[8192];
    if (strobe_tracefs_read("sched/sched_switch", text, sizeof text))
        trace->state_id = strobe_tracefs_id(text);
    if (trace->state_id && strobe_tracefs_read("sched/sched_waking", text, sizeof text) &&
        strobe_tracefs_field(text, "common_flags", &trace->flags) &&
        strobe_tracefs_field(text, "pid", &trace->woken) &&
        strobe_tracefs_field(text, "target_cpu", &trace->target))
        trace->wake_id = strobe_tracefs_id(text);
}

static void find_syscalls(struct strobe_perf_trace *trace)
{
    char text[8192];
    if (!strobe_tracefs_read("raw_syscalls/sys_exit", text, sizeof text) ||
        !strobe_tracefs_field(text, "id", &trace->left) ||
        !strobe_tracefs_field(text, "ret", &trace->result))
        return;
    uint32_t exit_id = strobe_tracefs_id(text);
    if (!strobe_tracefs_read("raw_syscalls/sys_enter", text, sizeof text) ||
        !strobe_tracefs_field(text, "id", &trace->entered))
        return;
    trace->enter_id = strobe_tracefs_id(text);
    trace->exit_id = exit_id;
}

void strobe_perf_trace_find(struct strobe_perf_trace *trace, bool has_waits, bool has_syscalls)
{
    memset(trace, 0, sizeof *trace);
    if (has_waits)
        find_waits(trace);
    if (has_syscalls)
        find_syscalls(trace);
}
