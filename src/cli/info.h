/* info.h - what the files of the info command share.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_INFO_H
#define STROBE_CLI_INFO_H

#include "cli/out.h"
#include "query/overview.h"

struct strobe_info {
    const char *path;
    struct strobe_trace *trace; /* borrowed */
    struct strobe_overview overview;
};

void strobe_info_put_text(struct strobe_out *out, const struct strobe_info *info); /* info_text.c */
void strobe_info_put_json(struct strobe_out *out, const struct strobe_info *info); /* info_json.c */

/* What Python's hooks cost, the writes of their events included, if each zone is theirs. 0: not known. */
uint64_t strobe_info_hooks_ns(const struct strobe_info *info);

/* "exit status 0", "signal 9", "running" ... into `room`. */
const char *strobe_info_end(const struct strobe_process *process, char room[64]);

/* 1: a process to be shown: a record names it, or a thread of it is there. Samples of a process that has a client are that one's. */
static inline int strobe_info_shows(const struct strobe_process *process)
{
    return (process->is_known || process->n_threads) && !(process->is_sampled && process->twin);
}

/* The first process that the recorder took samples of, or else one with timers of its own; NULL: none. */
static inline const struct strobe_process *strobe_info_sampled(const struct strobe_trace *trace)
{
    const struct strobe_process *timed = NULL;
    for (uint32_t i = 0; i < trace->n_processes; i++) {
        if (trace->processes[i].is_sampled)
            return &trace->processes[i];
        if (trace->processes[i].is_timed)
            timed = &trace->processes[i];
    }
    return timed;
}

/* When the recording started, on CLOCK_REALTIME; 0: nobody knows. */
int64_t strobe_info_started_unix_ns(const struct strobe_info *info);

/* Ns from the recording's start to the last event or the end of the recording. */
uint64_t strobe_info_duration_ns(const struct strobe_info *info);

#endif
