/* csv_facts.c - rows of threads, processes, losses and all other records.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

struct counts {
    uint64_t n_stored, gap_words;
};

/* What is stored and missing of each thread, on all of its tracks. */
static struct counts *count_threads(const struct strobe_trace *trace)
{
    struct counts *counts = calloc(trace->thread_ids.n + 1ull, sizeof *counts);
    for (uint32_t i = 0; counts && i < trace->thread_ids.n; i++) {
        struct counts *first = &counts[strobe_trace_first_thread(trace, i)];
        first->n_stored += trace->threads[i].n_stored;
        first->gap_words += trace->threads[i].gap_words;
    }
    return counts;
}

static enum strobe_err put_threads(struct strobe_csv *csv)
{
    struct counts *counts = count_threads(csv->trace);
    if (!counts)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < csv->trace->thread_ids.n; i++) {
        const struct strobe_trace_thread *thread = &csv->trace->threads[i];
        if (!strobe_csv_wants_thread(csv, thread->process, i) ||
            strobe_trace_first_thread(csv->trace, i) != i)
            continue;
        strobe_csv_put_thread(csv, thread->process, i);
        strobe_out_format(csv->out, "%" PRIu64 ",", thread->track);
        put_time(csv, thread->start_tick);
        put_time(csv, thread->end_tick);
        strobe_out_format(csv->out, "%" PRIu64 ",%" PRIu64 "\n", counts[i].n_stored,
                          counts[i].gap_words);
    }
    free(counts);
    return STROBE_OK;
}

static enum strobe_err put_processes(struct strobe_csv *csv)
{
    static const char *const hows[] = {"unknown", "exit", "signal"};
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    for (uint32_t i = 0; i < csv->trace->n_processes; i++) {
        const struct strobe_process *process = &csv->trace->processes[i];
        if (!strobe_csv_wants(csv, i) || strobe_trace_first_process(csv->trace, i) != i)
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
    return STROBE_OK;
}

static enum strobe_err put_losses(struct strobe_csv *csv)
{
    char room[STROBE_NAME_ROOM];
    for (uint32_t i = 0; i < csv->trace->loss_ids.n; i++) {
        const struct strobe_loss_row *loss = &csv->trace->losses[i];
        uint32_t thread = strobe_idmap_find(&csv->trace->thread_ids, loss->process, loss->track), n;
        if (!strobe_csv_wants_thread(csv, loss->process, thread))
            continue;
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
    return STROBE_OK;
}

/* One field at `line`; the bytes put, 0 where it does not fit. */
static size_t show_field(const struct strobe_field *field, char *line, size_t room)
{
    int n = 0;
    if (field->letter == 's') {
        n = (int)(field->u < room ? field->u : room - 1);
        memcpy(line, field->text, (size_t)n);
    } else if (field->letter == 'd') {
        n = snprintf(line, room, "%.17g", field->d);
    } else if (field->letter == 'i') {
        n = snprintf(line, room, "%" PRId64, field->i);
    } else {
        n = snprintf(line, room, "%" PRIu64, field->u);
    }
    return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

/* name=value name=value, in one field of the table. */
static void put_record_fields(struct strobe_csv *csv, const struct strobe_record *record)
{
    char line[2048];
    size_t n = 0;
    const char *name = csv->trace->schema.kind[record->kind].field_names;
    const char *last = name + csv->trace->schema.kind[record->kind].n_field_names;
    for (unsigned i = 0; i < record->n_fields && n + 64 < sizeof line; i++) {
        size_t length = 0;
        while (name + length < last && name[length] != ',')
            length++;
        int put = snprintf(line + n, sizeof line - n, "%s%.*s=", i ? " " : "", (int)length, name);
        if (put < 0 || (size_t)put >= sizeof line - n)
            break;
        n += (size_t)put;
        n += show_field(&record->fields[i], line + n, sizeof line - n);
        name += length + (name + length < last);
    }
    strobe_out_csv(csv->out, line, n);
}

static void put_record(struct strobe_csv *csv, const struct strobe_record *record)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n, process = STROBE_IDMAP_NONE;
    if (record->kind < STROBE_META_COUNT)
        process = strobe_idmap_find(&csv->trace->process_ids, 0, record->proc);
    if (process != STROBE_IDMAP_NONE) {
        if (!strobe_csv_wants(csv, process))
            return;
        const char *name = strobe_trace_process_name(csv->trace, process, room, &n);
        strobe_out_csv(csv->out, name, n);
        strobe_out_format(csv->out, ",%" PRIu64 ",", csv->trace->processes[process].pid);
    } else {
        strobe_out_text(csv->out, ",,");
    }
    strobe_out_csv(csv->out, csv->trace->schema.kind[record->kind].name,
                   csv->trace->schema.kind[record->kind].n_name);
    strobe_out_char(csv->out, ',');
    put_record_fields(csv, record);
    strobe_out_char(csv->out, '\n');
}

static enum strobe_err put_block(struct strobe_csv *csv, const struct strobe_block *block,
                                 struct strobe_record_walk *walk)
{
    struct strobe_record record;
    if (strobe_record_walk_start(block, &csv->trace->schema, walk))
        return STROBE_OK; /* damage: told at the end */
    while (strobe_record_walk_next(walk, &record) == STROBE_OK)
        put_record(csv, &record);
    return csv->out->error ? STROBE_ERR_IO : STROBE_OK;
}

static enum strobe_err put_records(struct strobe_csv *csv)
{
    const struct strobe_block_filter filter = {.type = STROBE_BLOCK_RECORDS};
    struct strobe_block_iter *iter;
    struct strobe_block block = {0};
    struct strobe_record_walk walk = {0};
    enum strobe_err err = strobe_file_iterate(csv->trace->file, &filter, &iter);
    while (!err && (err = strobe_file_next_block(iter, &block)) == STROBE_OK)
        err = put_block(csv, &block, &walk);
    strobe_file_end_iterate(iter);
    strobe_record_walk_free(&walk);
    strobe_block_free(&block);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

const struct strobe_csv_facts strobe_csv_facts[] = {
    {"threads", "process,pid,thread,tid,track,start_ns,end_ns,n_events,n_missing_words\n",
     put_threads, 1, "threads, what is stored and missing of each"},
    {"processes", "process,pid,parent_pid,n_threads,exe,cwd,argv,end_ns,how,value\n", put_processes,
     0, "processes and how they ended"},
    {"losses", "process,pid,thread,tid,cause,why,count,first_ns,last_ns\n", put_losses, 0,
     "what was dropped, why and when"},
    {"gpu",
     "process,pid,context,context_name,tid,name,function,file,line,cpu_start_ns,cpu_duration_ns,"
     "gpu_start_ns,gpu_duration_ns,depth\n",
     strobe_csv_gpu, 0, "zones of GPU contexts, with their times on the CPU and on the GPU"},
    {"records", "process,pid,record,fields\n", put_records, 0,
     "every fact as it is in the file: names, plots, locks, GPU contexts, parameters"},
};
const size_t strobe_csv_n_facts = sizeof strobe_csv_facts / sizeof strobe_csv_facts[0];
