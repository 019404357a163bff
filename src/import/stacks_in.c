/* stacks_in.c - see stacks_in.h.  SPDX-License-Identifier: MIT */
#include "import/stacks_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "build/build.h"
#include "build/rows.h"

#define TICK_BASE (1ull << 40)
enum {
    FRAMES_MAX = 1 << 20,
    FRAME_BYTES_MAX = 64 << 20,
    THREADS_MAX = 1 << 16,
    NAME_MAX_BYTES = 4096, /* of a function, a file or an image; the rest is cut off */
    SAMPLES_MAX = 1 << 20, /* that weights may stand for */
    STEP_NS = 1000000,     /* between samples without a time or a period */
    LEFT_OUT_MAX = 32,
    FRAME_BASE = 0x10000, /* made-up addresses: FRAME_BASE + 16 * number */
};

enum row_kind { ROW_SAMPLE, ROW_SWITCH_IN, ROW_SWITCH_OUT };

struct process {
    uint64_t pid;
    struct strobe_build *build; /* owned */
};

struct thread {
    uint32_t process;
    int is_named;
    struct strobe_build_track *track; /* borrowed from the build */
};

struct strobe_stacks_in {
    struct strobe_stacks_options options;
    struct strobe_stacks_result result;
    struct strobe_file_writer *writer; /* owned */
    struct strobe_build_store *store;  /* owned */
    struct strobe_rows *rows;          /* owned */
    struct process *processes;         /* owned */
    uint32_t n_processes, processes_room;
    struct thread *threads; /* owned */
    uint32_t n_threads, threads_room;
    struct strobe_map pids, tids;
    struct strobe_textmap frames; /* by process and texts */
    char *key;                    /* owned: a frame's */
    size_t key_room;
    uint64_t n_no_room, n_too_deep;
    uint64_t has_kernel;               /* 1: a frame is the kernel's */
    uint64_t weight_least, weight_sum; /* of rows that weigh something */
    int64_t first, last;               /* times */
    struct {
        const char *what;
        uint64_t n;
    } left_out[LEFT_OUT_MAX];
    uint32_t n_left_out;
    /* while writing: */
    uint64_t period; /* weight of a sample */
    uint32_t thread; /* the one that is written */
    uint64_t weight_done, n_done;
};

/* ---- life ---- */

static enum strobe_err open_trace(struct strobe_stacks_in *in)
{
    char folder[4096];
    const char *to = in->options.to, *slash = strrchr(to, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - to + 1) : 1, slash ? to : ".");
    enum strobe_err err = strobe_rows_open(folder, &in->rows);
    if (!err)
        err = strobe_file_create(to, in->options.from, 1000000000, &in->writer);
    struct strobe_build_store_options store = {.writer = in->writer};
    return err ? err : strobe_build_store_open(&store, &in->store);
}

enum strobe_err strobe_stacks_in_open(const struct strobe_stacks_options *options,
                                      struct strobe_stacks_in **out)
{
    struct strobe_stacks_in *in = *out = calloc(1, sizeof *in);
    if (!in)
        return STROBE_ERR_NOMEM;
    in->options = *options;
    in->frames.max = FRAMES_MAX;
    in->frames.max_bytes = FRAME_BYTES_MAX;
    in->tids.max = THREADS_MAX;
    in->first = INT64_MAX;
    in->last = INT64_MIN;
    in->weight_least = UINT64_MAX;
    enum strobe_err err = open_trace(in);
    if (err) {
        strobe_stacks_in_close(in);
        *out = NULL;
    }
    return err;
}

static void close_sinks(struct strobe_stacks_in *in)
{
    for (uint32_t i = 0; i < in->n_processes; i++)
        strobe_build_close(in->processes[i].build);
    in->n_processes = 0;
    strobe_build_store_close(in->store); /* writes the last block */
    in->store = NULL;
}

void strobe_stacks_in_close(struct strobe_stacks_in *in)
{
    if (!in)
        return;
    close_sinks(in);
    if (in->writer)
        strobe_file_abandon(in->writer);
    strobe_rows_close(in->rows);
    strobe_map_free(&in->pids);
    strobe_map_free(&in->tids);
    strobe_textmap_free(&in->frames);
    free(in->processes);
    free(in->threads);
    free(in->key);
    free(in);
}

struct strobe_stacks_options *strobe_stacks_in_options(struct strobe_stacks_in *in)
{
    return &in->options;
}

/* ---- names ---- */

static uint32_t process_of(struct strobe_stacks_in *in, uint64_t pid,
                           struct strobe_stacks_text name)
{
    char exe[NAME_MAX_BYTES];
    uint64_t *index = NULL;
    snprintf(exe, sizeof exe, "%.*s", (int)(name.n < sizeof exe ? name.n : sizeof exe - 1),
             name.n ? name.at : "");
    if (strobe_map_add(&in->pids, pid, &index))
        return STROBE_STACKS_IN_NONE;
    if (*index)
        return (uint32_t)*index;
    struct strobe_build_process what = {.pid = pid, .exe = exe};
    struct process *process = STROBE_ARRAY_PUSH(in->processes, in->n_processes, in->processes_room);
    if (!process)
        return STROBE_STACKS_IN_NONE;
    *process = (struct process){.pid = pid};
    if (strobe_build_open(in->store, &what, &process->build)) {
        in->n_processes--;
        strobe_map_remove(&in->pids, pid);
        return STROBE_STACKS_IN_NONE;
    }
    if (in->n_processes == 1)
        strobe_build_kinds(process->build);
    in->result.n_processes++;
    return (uint32_t)(*index = in->n_processes);
}

uint32_t strobe_stacks_in_thread(struct strobe_stacks_in *in, uint64_t pid,
                                 struct strobe_stacks_text process, uint64_t tid,
                                 struct strobe_stacks_text name)
{
    uint32_t owner = process_of(in, pid, process);
    uint64_t *index = NULL;
    if (!owner || strobe_map_add(&in->tids, (uint64_t)owner << 40 ^ tid, &index)) {
        in->n_no_room++;
        return STROBE_STACKS_IN_NONE;
    }
    struct strobe_build *build = in->processes[owner - 1].build;
    if (!*index) {
        struct strobe_build_track *track = strobe_build_thread(build, tid, TICK_BASE);
        struct thread *thread =
            track ? STROBE_ARRAY_PUSH(in->threads, in->n_threads, in->threads_room) : NULL;
        if (!thread) {
            in->n_no_room++;
            return STROBE_STACKS_IN_NONE;
        }
        *thread = (struct thread){.process = owner - 1, .track = track};
        *index = in->n_threads;
        in->result.n_threads++;
    }
    struct thread *thread = &in->threads[*index - 1];
    if (name.n && !thread->is_named)
        strobe_build_thread_name(build, thread->track, name.at, name.n);
    thread->is_named |= name.n != 0;
    return (uint32_t)*index;
}

static struct strobe_stacks_text cut(struct strobe_stacks_text text)
{
    if (text.n > NAME_MAX_BYTES)
        text.n = NAME_MAX_BYTES;
    if (!text.n)
        text.at = "";
    return text;
}

static size_t make_key(struct strobe_stacks_in *in, uint32_t process,
                       const struct strobe_stacks_text *texts, uint32_t line)
{
    size_t n = 2 * sizeof(uint32_t) + texts[0].n + texts[1].n + texts[2].n + 3;
    if (STROBE_ARRAY_RESERVE(in->key, in->key_room, n))
        return 0;
    memcpy(in->key, &process, sizeof process);
    memcpy(in->key + sizeof process, &line, sizeof line);
    char *at = in->key + 2 * sizeof process;
    for (int i = 0; i < 3; i++) {
        memcpy(at, texts[i].at, texts[i].n);
        at += texts[i].n;
        *at++ = 0;
    }
    return n;
}

uint64_t strobe_stacks_in_frame(struct strobe_stacks_in *in, uint32_t thread,
                                const struct strobe_stacks_frame *frame)
{
    STROBE_ASSERT(thread && thread <= in->n_threads);
    const struct strobe_stacks_text all[] = {cut(frame->function), cut(frame->file),
                                             cut(frame->image)};
    uint32_t entry, process = in->threads[thread - 1].process, n_before = in->frames.n;
    size_t n = make_key(in, process, all, frame->line);
    if (!n || strobe_textmap_add(&in->frames, in->key, n, &entry)) {
        strobe_stacks_in_leave_out(in, "frames were left out: the file names too many", 1);
        return 0;
    }
    uint64_t address = FRAME_BASE + 16ull * entry;
    if (entry == n_before) {
        const uint64_t numbers[] = {address, 0, frame->line, address};
        const char *const texts[] = {all[0].at, all[1].at, all[2].at};
        const size_t sizes[] = {all[0].n, all[1].n, all[2].n};
        strobe_build_record(in->processes[process].build, STROBE_META_SYMBOL, numbers, texts,
                            sizes);
        in->result.n_frames++;
        in->has_kernel |= all[2].n > 7 && !memcmp(all[2].at, "[kernel", 7);
    }
    return address;
}

void strobe_stacks_in_module(struct strobe_stacks_in *in, uint32_t thread, uint64_t base,
                             uint64_t size, uint64_t offset, struct strobe_stacks_text build_id,
                             struct strobe_stacks_text path)
{
    STROBE_ASSERT(thread && thread <= in->n_threads);
    const uint64_t numbers[] = {base, size, offset};
    const char *const texts[] = {cut(build_id).at, cut(path).at};
    const size_t sizes[] = {cut(build_id).n, cut(path).n};
    strobe_build_record(in->processes[in->threads[thread - 1].process].build, STROBE_META_MODULE,
                        numbers, texts, sizes);
}

/* ---- rows ---- */

static enum strobe_err add_row(struct strobe_stacks_in *in, const struct strobe_row *row)
{
    in->first = row->time < in->first ? row->time : in->first;
    in->last = row->time > in->last ? row->time : in->last;
    return strobe_rows_add(in->rows, row);
}

enum strobe_err strobe_stacks_in_sample(struct strobe_stacks_in *in, uint32_t thread,
                                        int64_t time_ns, uint64_t cpu, uint64_t weight,
                                        const uint64_t *addresses, size_t n)
{
    STROBE_ASSERT(thread && thread <= in->n_threads);
    struct strobe_row row = {
        .group = thread, .time = time_ns, .kind = ROW_SAMPLE, .value = weight, .name = cpu};
    if (n > STROBE_STACKS_IN_DEPTH) {
        in->n_too_deep++;
        n = STROBE_STACKS_IN_DEPTH;
    }
    if (weight > UINT64_MAX / 4 || in->weight_sum > UINT64_MAX / 4) {
        strobe_stacks_in_leave_out(in, "samples were left out: they weigh too much", 1);
        return STROBE_OK;
    }
    if (n) {
        enum strobe_err err = strobe_rows_put_text(in->rows, (const char *)addresses,
                                                   (uint32_t)(n * sizeof *addresses), &row);
        if (err)
            return err;
    }
    for (size_t i = 0; i < n; i++)
        in->has_kernel |= addresses[i] >> 63;
    in->weight_sum += weight;
    in->weight_least = weight && weight < in->weight_least ? weight : in->weight_least;
    in->result.n_rows++;
    return add_row(in, &row);
}

enum strobe_err strobe_stacks_in_switch(struct strobe_stacks_in *in, uint32_t thread,
                                        int64_t time_ns, uint64_t cpu, int is_in)
{
    STROBE_ASSERT(thread && thread <= in->n_threads);
    return add_row(in, &(struct strobe_row){.group = thread,
                                            .time = time_ns,
                                            .kind = is_in ? ROW_SWITCH_IN : ROW_SWITCH_OUT,
                                            .name = cpu});
}

void strobe_stacks_in_leave_out(struct strobe_stacks_in *in, const char *what, uint64_t n)
{
    uint32_t i = 0;
    if (!n)
        return;
    in->result.n_set_aside += n;
    while (i < in->n_left_out && strcmp(in->left_out[i].what, what))
        i++;
    if (i == LEFT_OUT_MAX)
        return;
    in->left_out[i].what = what;
    in->left_out[i].n += n;
    in->n_left_out += i == in->n_left_out;
}

void strobe_stacks_in_say(struct strobe_stacks_in *in, const char *sentence)
{
    if (in->n_processes)
        strobe_build_note(in->processes[0].build, "%s", sentence);
}

/* ---- writing ---- */

/* What one sample weighs: as few samples as say the same, and never more than SAMPLES_MAX of them. */
static uint64_t choose_period(const struct strobe_stacks_in *in)
{
    uint64_t least =
        in->options.weight == STROBE_STACKS_TIME && in->weight_sum ? in->weight_least : 1;
    uint64_t most = (in->weight_sum + SAMPLES_MAX - 1) / SAMPLES_MAX;
    if (in->options.weight == STROBE_STACKS_COUNT && in->weight_sum <= 4 * in->result.n_rows)
        most = 0; /* rows are samples: none is put together */
    return least > most ? least : most;
}

static uint64_t step_ns(const struct strobe_stacks_in *in)
{
    if (in->options.weight == STROBE_STACKS_TIME)
        return in->period;
    return in->options.period_ns ? in->options.period_ns * in->period : STEP_NS;
}

static uint64_t tick_of(const struct strobe_stacks_in *in, int64_t time)
{
    return TICK_BASE + ((uint64_t)time - (uint64_t)in->first);
}

/* As many samples as the row weighs: what is left over counts for the next of the thread. */
static void put_samples(struct strobe_stacks_in *in, const struct strobe_row *row)
{
    const struct thread *thread = &in->threads[row->group - 1];
    const char *text = row->n_text ? strobe_rows_text(in->rows, row) : NULL;
    uint64_t addresses[STROBE_STACKS_IN_DEPTH], step = step_ns(in);
    uint64_t before = in->weight_done / in->period;
    in->weight_done += row->value;
    uint64_t n = in->weight_done / in->period - before;
    if (text)
        memcpy(addresses, text, row->n_text);
    for (uint64_t i = 0; i < n; i++, in->n_done++) {
        uint64_t tick = in->options.has_times ? tick_of(in, row->time) + i * step
                                              : TICK_BASE + in->n_done * step;
        strobe_build_stack(in->processes[thread->process].build, thread->track, tick,
                           STROBE_KIND_SAMPLE, row->name, addresses,
                           text ? row->n_text / sizeof *addresses : 0);
    }
    in->result.n_samples += n;
}

static enum strobe_err take_row(void *context, const struct strobe_row *row)
{
    struct strobe_stacks_in *in = context;
    const struct thread *thread = &in->threads[row->group - 1];
    if (in->thread != row->group) {
        in->thread = (uint32_t)row->group;
        in->weight_done = in->n_done = 0;
    }
    if (row->kind == ROW_SAMPLE) {
        put_samples(in, row);
        return STROBE_OK;
    }
    const uint64_t numbers[] = {row->name, 0};
    strobe_build_event(in->processes[thread->process].build, thread->track, tick_of(in, row->time),
                       row->kind == ROW_SWITCH_IN ? STROBE_KIND_SWITCH_IN : STROBE_KIND_SWITCH_OUT,
                       numbers, NULL, 0);
    in->result.n_switches++;
    return STROBE_OK;
}

static enum strobe_err put_facts(struct strobe_stacks_in *in)
{
    struct strobe_records records = {0};
    uint64_t zero = TICK_BASE;
    uint64_t last =
        in->options.has_times ? tick_of(in, in->last) : zero + in->result.n_samples * step_ns(in);
    uint64_t sync[] = {STROBE_CLOCK_MONO, zero, zero, 0, 0, 0};
    strobe_records_numbers(&records, STROBE_FACT_CLOCK_SYNC, sync, 6);
    strobe_records_numbers(&records, STROBE_FACT_RECORDING, (uint64_t[]){zero, 0}, 2);
    strobe_records_numbers(&records, STROBE_FACT_RECORDING, (uint64_t[]){last, 1}, 2);
    strobe_records_tick(&records, zero);
    enum strobe_err err = strobe_file_put_records(in->writer, &records);
    strobe_records_free(&records);
    return err;
}

/* The rate, and what can't be seen in the trace. */
static void put_notes(struct strobe_stacks_in *in)
{
    uint64_t period_ns =
        in->options.weight == STROBE_STACKS_TIME ? in->period : in->options.period_ns * in->period;
    uint64_t sampled[] = {period_ns ? (1000000000 + period_ns / 2) / period_ns : 0, 0,
                          in->has_kernel};
    for (uint32_t i = 0; i < in->n_processes; i++)
        strobe_build_record(in->processes[i].build, STROBE_META_SAMPLED, sampled, NULL, NULL);
    struct strobe_build *build = in->processes[0].build;
    if (in->period > 1)
        strobe_build_note(build, "a sample stands for %llu %s of the file",
                          (unsigned long long)in->period,
                          in->options.weight == STROBE_STACKS_TIME ? "ns" : "units");
    if (in->n_too_deep)
        strobe_build_note(build, "%llu stacks were cut after %d frames",
                          (unsigned long long)in->n_too_deep, STROBE_STACKS_IN_DEPTH);
    if (in->n_no_room)
        strobe_build_note(build, "%llu events were left out: too many processes or threads",
                          (unsigned long long)in->n_no_room);
    in->result.n_set_aside += in->n_no_room;
    for (uint32_t i = 0; i < in->n_left_out; i++)
        strobe_build_note(build, "%llu %s", (unsigned long long)in->left_out[i].n,
                          in->left_out[i].what);
}

enum strobe_err strobe_stacks_in_write(struct strobe_stacks_in *in,
                                       struct strobe_stacks_result *out)
{
    *out = in->result;
    if (!in->result.n_rows || !in->n_processes)
        return STROBE_ERR_FORMAT;
    in->period = choose_period(in);
    STROBE_ASSERT(in->period);
    enum strobe_err err = strobe_rows_sorted(in->rows, take_row, in);
    if (!err)
        err = put_facts(in);
    put_notes(in);
    *out = in->result;
    close_sinks(in);
    if (err)
        return err;
    err = strobe_file_finish(in->writer);
    in->writer = NULL;
    return err;
}
