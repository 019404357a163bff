/* own_clock.c - processes with a clock of their own: between its times and the trace's ticks, exactly
 * as the writer computed them. docs/file-format.md, "Time".  SPDX-License-Identifier: MIT */
#include "query/own_clock.h"

#include <stdlib.h>

#include "base/array.h"

static int by_process(const void *a, const void *b)
{
    const struct strobe_own_row *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void strobe_own_pieces_sort(struct strobe_trace *trace)
{
    if (!trace->n_own_pieces)
        return;
    qsort(trace->own_pieces, trace->n_own_pieces, sizeof *trace->own_pieces, by_process);
    for (uint32_t i = 0; i < trace->n_own_pieces; i++) {
        struct strobe_process *process = &trace->processes[trace->own_pieces[i].process];
        if (!process->n_own++)
            process->own_first = i;
    }
}

/* The last piece that starts at or before a tick or a time, the first one if none does; NULL: the
 * process has the trace's clock. */
static const struct strobe_own_row *piece_of(const struct strobe_trace *trace, uint32_t process,
                                             int by_tick, uint64_t tick, int64_t time)
{
    if (process >= trace->n_processes || !trace->processes[process].n_own)
        return NULL;
    const struct strobe_own_row *pieces = trace->own_pieces + trace->processes[process].own_first;
    return &pieces[STROBE_ARRAY_BISECT(1, trace->processes[process].n_own, i,
                                       by_tick ? pieces[i].tick <= tick : pieces[i].time <= time) -
                   1];
}

int64_t strobe_trace_own_time(const struct strobe_trace *trace, uint32_t process, uint64_t tick)
{
    const struct strobe_own_row *piece = piece_of(trace, process, 1, tick, 0);
    if (!piece)
        return (int64_t)tick;
    __int128 scaled = (__int128)(int64_t)(tick - piece->tick) * ((__int128)1 << 32);
    __int128 mult = piece->mult, time = scaled / mult;
    if (scaled > 0 && time * mult != scaled) /* up; towards zero is up below it */
        time++;
    return (int64_t)((uint64_t)piece->time + (uint64_t)time);
}

uint64_t strobe_trace_own_tick(const struct strobe_trace *trace, uint32_t process, int64_t time)
{
    const struct strobe_own_row *piece = piece_of(trace, process, 0, 0, time);
    if (!piece)
        return (uint64_t)time;
    __int128 mult = piece->mult;
    return piece->tick + (uint64_t)(((__int128)time - piece->time) * mult >> 32);
}

uint64_t strobe_trace_own_error_ns(const struct strobe_trace *trace, uint32_t process,
                                   uint64_t tick)
{
    const struct strobe_own_row *piece = piece_of(trace, process, 1, tick, 0);
    return piece ? piece->error_ns : 0;
}

uint32_t strobe_trace_own_errors(const struct strobe_trace *trace, uint32_t process,
                                 struct strobe_own_errors *errors)
{
    *errors = (struct strobe_own_errors){.least_ns = UINT64_MAX};
    if (process >= trace->n_processes || !trace->processes[process].n_own)
        return 0;
    uint32_t n_pieces = trace->processes[process].n_own;
    const struct strobe_own_row *pieces = trace->own_pieces + trace->processes[process].own_first;
    for (uint32_t i = 0; i < n_pieces; i++) {
        if (pieces[i].error_ns > errors->most_ns)
            errors->most_ns = pieces[i].error_ns;
        if (pieces[i].error_ns < errors->least_ns)
            errors->least_ns = pieces[i].error_ns;
    }
    return n_pieces;
}
