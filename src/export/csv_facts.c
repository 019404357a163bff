/* csv_facts.c - rows of threads, processes and losses.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "export/csv.h"

static void put_text(struct strobe_csv *csv, uint32_t text)
{
    uint32_t n;
    const char *bytes = strobe_trace_text(csv->trace, text, &n);
    strobe_out_csv(csv->out, bytes, n); /* a NUL between words of argv becomes a blank */
}

/* A tick's time and a comma; nothing but the comma where there is no tick. */
static void put_time(struct strobe_csv *csv, uint64_t tick)
{
    if (tick)
        strobe_out_i(csv->out, strobe_clock_rel(&csv->trace->clock, tick));
    strobe_out_char(csv->out, ',');
}

static void put_threads(struct strobe_csv *csv)
{
    for (uint32_t i = 0; i < csv->trace->thread_ids.n; i++) {
        const struct strobe_thread *thread = &csv->trace->threads[i];
        if (!strobe_csv_wants(csv, thread->process))
            continue;
        strobe_csv_put_thread(csv, thread->process, i);
        strobe_out_format(csv->out, "%" PRIu64 ",", thread->track);
        put_time(csv, thread->start_tick);
        put_time(csv, thread->end_tick);
        strobe_out_format(csv->out, "%" PRIu64 ",%" PRIu64 "\n", thread->n_stored,
                          thread->gap_words);
    }
}

static void put_processes(struct strobe_csv *csv)
{
    static const char *const hows[] = {"unknown", "exit", "signal"};
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    for (uint32_t i = 0; i < csv->trace->n_processes; i++) {
        const struct strobe_process *process = &csv->trace->processes[i];
        if (!strobe_csv_wants(csv, i))
            continue;
        const char *name = strobe_trace_process_name(csv->trace, i, room, &n);
        strobe_out_csv(csv->out, name, n);
        strobe_out_format(csv->out, ",%" PRIu64 ",%" PRIu64 ",%u,", process->pid,
                          process->parent_pid, process->n_threads);
        put_text(csv, process->exe);
        strobe_out_char(csv->out, ',');
        put_text(csv, process->cwd);
        strobe_out_char(csv->out, ',');
        put_text(csv, process->argv);
        strobe_out_char(csv->out, ',');
        put_time(csv, process->has_ended ? process->end_tick : 0);
        if (process->has_ended)
            strobe_out_format(csv->out, "%s,%" PRIu64,
                              process->how < 3 ? hows[process->how] : hows[0], process->end_value);
        else
            strobe_out_char(csv->out, ',');
        strobe_out_char(csv->out, '\n');
    }
}

static void put_losses(struct strobe_csv *csv)
{
    char room[STROBE_NAME_ROOM];
    for (uint32_t i = 0; i < csv->trace->loss_ids.n; i++) {
        const struct strobe_loss_row *loss = &csv->trace->losses[i];
        if (!strobe_csv_wants(csv, loss->process))
            continue;
        uint32_t thread = strobe_idmap_find(&csv->trace->thread_ids, loss->process, loss->track), n;
        if (thread != STROBE_IDMAP_NONE) {
            strobe_csv_put_thread(csv, loss->process, thread);
        } else {
            const char *name = strobe_trace_process_name(csv->trace, loss->process, room, &n);
            strobe_out_csv(csv->out, name, n);
            strobe_out_format(csv->out, ",%" PRIu64 ",,,",
                              csv->trace->processes[loss->process].pid);
        }
        const char *cause = strobe_loss_text(loss->cause);
        strobe_out_format(csv->out, "%" PRIu64 ",", loss->cause);
        strobe_out_csv(csv->out, cause, strlen(cause));
        strobe_out_format(csv->out, ",%" PRIu64 ",", loss->count);
        put_time(csv, loss->first_tick);
        if (loss->last_tick)
            strobe_out_i(csv->out, strobe_clock_rel(&csv->trace->clock, loss->last_tick));
        strobe_out_char(csv->out, '\n');
    }
}

const struct strobe_csv_facts strobe_csv_facts[] = {
    {"threads", "process,pid,thread,tid,track,start_ns,end_ns,n_events,n_missing_words\n",
     put_threads, 1, "threads, what is stored and missing of each"},
    {"processes", "process,pid,parent_pid,n_threads,exe,cwd,argv,end_ns,how,value\n", put_processes,
     0, "processes and how they ended"},
    {"losses", "process,pid,thread,tid,cause,why,count,first_ns,last_ns\n", put_losses, 0,
     "what was dropped, why and when"},
};
const size_t strobe_csv_n_facts = sizeof strobe_csv_facts / sizeof strobe_csv_facts[0];
