/* trace.c - reads the records of a trace into tables.  SPDX-License-Identifier: MIT */
#include "query/own_clock.h"
#include "query/twins.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "wire/device_op.h"

#define REACH(trace, rows, i) (!STROBE_ARRAY_REACH((trace)->rows, (trace)->rows##_room, i))
#define ADD_ROW(trace, ids, scope, id, rows)                                                       \
    strobe_idmap_add_row(&(trace)->ids, scope, id, (void **)&(trace)->rows, &(trace)->rows##_room, \
                         sizeof *(trace)->rows)

static uint32_t text_of(struct strobe_trace *trace, const struct strobe_field *field)
{
    return strobe_texts_add(&trace->texts, field->text, field->u);
}

uint32_t strobe_trace_process(struct strobe_trace *trace, uint64_t proc)
{
    uint32_t i = ADD_ROW(trace, process_ids, 0, proc, processes);
    if (i == STROBE_IDMAP_NONE)
        return STROBE_IDMAP_NONE;
    if (i >= trace->n_processes)
        trace->n_processes = i + 1;
    trace->processes[i].proc = proc;
    return i;
}

uint32_t strobe_trace_thread(struct strobe_trace *trace, uint32_t process, uint64_t track)
{
    uint32_t n = trace->thread_ids.n;
    uint32_t i = ADD_ROW(trace, thread_ids, process, track, threads);
    if (i == STROBE_IDMAP_NONE)
        return STROBE_IDMAP_NONE;
    trace->threads[i].process = process;
    trace->threads[i].track = track;
    if (i == n && process < trace->n_processes)
        trace->processes[process].n_threads++;
    return i;
}

uint32_t strobe_trace_loc(const struct strobe_trace *trace, uint32_t process, uint64_t id)
{
    return strobe_idmap_find(&trace->loc_ids, process, id);
}

static void add_process(struct strobe_trace *trace, struct strobe_process *process,
                        const struct strobe_field *f)
{
    process->pid = f[0].u;
    process->parent_pid = f[1].u;
    process->start_time = f[2].u;
    process->exe = text_of(trace, &f[3]);
    process->cwd = text_of(trace, &f[4]);
    process->argv = text_of(trace, &f[5]);
    process->is_known = 1;
}

static void add_thread(struct strobe_trace *trace, uint32_t process, const struct strobe_field *f)
{
    uint32_t i = strobe_trace_thread(trace, process, f[0].u);
    if (i == STROBE_IDMAP_NONE)
        return;
    trace->threads[i].is_known = 1;
    trace->threads[i].tid = f[1].u;
    trace->threads[i].start_tick = f[2].u;
    uint32_t name = text_of(trace, &f[3]);
    if (name)
        trace->threads[i].name = name;
}

static void add_loc(struct strobe_trace *trace, uint32_t process, const struct strobe_field *f)
{
    if (trace->flags & STROBE_TRACE_NO_LOCS &&
        (!trace->wanted_locs ||
         strobe_idmap_find(trace->wanted_locs, process, f[0].u) == STROBE_IDMAP_NONE))
        return;
    uint32_t i = ADD_ROW(trace, loc_ids, process, f[0].u, locs);
    if (i == STROBE_IDMAP_NONE)
        return;
    trace->locs[i] = (struct strobe_loc_row){
        .line = (uint32_t)f[1].u,
        .color = (uint32_t)f[2].u,
        .function = text_of(trace, &f[3]),
        .file = text_of(trace, &f[4]),
        .name = text_of(trace, &f[5]),
    };
}

/* A text under (process, id). */
static void add_text(struct strobe_trace *trace, struct strobe_idmap *ids, uint32_t **rows,
                     uint32_t *room, uint32_t process, uint64_t id, const struct strobe_field *text)
{
    uint32_t i = strobe_idmap_add_row(ids, process, id, (void **)rows, room, sizeof **rows);
    if (i != STROBE_IDMAP_NONE)
        (*rows)[i] = text_of(trace, text);
}

static void add_module(struct strobe_trace *trace, uint32_t process, const struct strobe_field *f)
{
    if (!REACH(trace, modules, trace->n_modules))
        return;
    trace->modules[trace->n_modules++] = (struct strobe_module){
        process, f[0].u, f[1].u, f[2].u, text_of(trace, &f[3]), text_of(trace, &f[4])};
}

static void add_note(struct strobe_trace *trace, struct strobe_fact_note **rows, uint32_t *n,
                     uint32_t *room, uint32_t process, const struct strobe_field *text)
{
    if (!STROBE_ARRAY_REACH(*rows, *room, *n))
        (*rows)[(*n)++] = (struct strobe_fact_note){process, text_of(trace, text)};
}

static void add_plot(struct strobe_trace *trace, uint32_t process, const struct strobe_field *f)
{
    uint32_t i = ADD_ROW(trace, plot_ids, process, f[0].u, plots);
    if (i != STROBE_IDMAP_NONE)
        trace->plots[i] = (struct strobe_plot){f[1].u, f[2].u, f[3].u};
}

static void add_lock(struct strobe_trace *trace, uint32_t process, const struct strobe_field *f)
{
    add_text(trace, &trace->lock_ids, &trace->locks, &trace->locks_room, process, f[0].u, &f[2]);
    uint32_t i = strobe_idmap_find(&trace->lock_ids, process, f[0].u);
    if (i != STROBE_IDMAP_NONE && REACH(trace, lock_locs, i))
        trace->lock_locs[i] = f[1].u;
}

static void add_taken(struct strobe_process *process, const struct strobe_field *f)
{
    process->has_taken = 1;
    process->n_zones_taken = f[0].u;
    process->n_events_taken = f[1].u;
    process->n_set_aside = f[2].u;
    process->n_unnamed = f[3].u;
}

static void add_unrecorded(struct strobe_trace *trace, const struct strobe_field *f)
{
    if (!STROBE_ARRAY_REACH(trace->unrecorded, trace->unrecorded_room, trace->n_unrecorded))
        trace->unrecorded[trace->n_unrecorded++] = (struct strobe_unrecorded){
            f[0].u, f[1].u, text_of(trace, &f[2]), text_of(trace, &f[3])};
}

static bool is_text(const struct strobe_field *field, const char *text)
{
    return field->u == strlen(text) && !memcmp(field->text, text, strlen(text));
}

/* Parameters of these names are a client's, not the program's: docs/file-format.md. */
static void add_parameter(struct strobe_trace *trace, struct strobe_process *process,
                          const struct strobe_field *f)
{
    uint64_t value = (uint64_t)f[2].i;
    if (f[2].i < 0)
        return;
    if (is_text(&f[3], "samples: a second of CPU time, by a timer in the program")) {
        process->is_timed = 1;
        process->sample_hz = value;
    } else if (is_text(&f[3], "python: picoseconds of a traced call")) {
        trace->has_python_hooks = 1;
        if (value > trace->python_call_ps)
            trace->python_call_ps = value;
    }
}

static void add_lane(struct strobe_trace *trace, uint32_t process, const struct strobe_field *f)
{
    uint32_t thread = strobe_trace_thread(trace, process, f[0].u);
    if (thread == STROBE_IDMAP_NONE)
        return;
    struct strobe_trace_thread *row = &trace->threads[thread];
    row->is_lane = 1;
    row->core_kind = (uint8_t)f[1].u;
    row->x = (uint32_t)f[2].u;
    row->y = (uint32_t)f[3].u;
    row->logical_x = (uint32_t)f[4].u;
    row->logical_y = (uint32_t)f[5].u;
    row->risc = (uint8_t)f[6].u;
}

static void add_op(struct strobe_trace *trace, uint32_t process, const struct strobe_field *f)
{
    if (STROBE_ARRAY_REACH(trace->ops, trace->ops_room, trace->n_ops))
        return;
    trace->ops[trace->n_ops++] = (struct strobe_op_record){
        .process = process,
        .op = f[0].u,
        .trace = (uint32_t)f[1].u,
        .session = f[2].u,
        .from = f[3].u,
        .to = f[4].u,
        .known = f[5].u,
        .host_ns = f[6].u,
        .kernel_ns = f[7].u,
        .fw_ns = f[8].u,
        .gap_ns = f[9].i,
        .cores = (uint32_t)f[10].u,
        .bound = f[11].u < STROBE_DEVICE_BOUND_COUNT ? (uint32_t)f[11].u : 0,
        .util = f[12].d,
        .name = text_of(trace, &f[13])};
}

/* The last of these records holds: its counts grow. */
static void set_python(struct strobe_process *process, const struct strobe_field *f)
{
    process->has_python = 1;
    process->python_minor = (uint8_t)f[0].u;
    process->python_state = (uint8_t)f[1].u;
    process->n_python_joined = f[2].u;
    process->n_python_missed = f[3].u;
    process->python_late_ns = f[4].u;
    process->python_late_max_ns = f[5].u;
}

/* What makes a process a Tracy client or a device. */
static void add_kind_of_process(struct strobe_trace *trace, uint32_t process,
                                const struct strobe_record *record)
{
    const struct strobe_field *f = record->fields;
    switch (record->kind) {
    case STROBE_META_TRACY_CLIENT:
        trace->processes[process].is_tracy = 1;
        trace->processes[process].tracy_protocol = f[0].u;
        break;
    case STROBE_META_TRACY_TAKEN:
        add_taken(&trace->processes[process], f);
        break;
    case STROBE_META_DEVICE:
        trace->processes[process].is_device = 1;
        trace->processes[process].device = (uint32_t)f[0].u;
        trace->processes[process].grid_x = (uint32_t)f[3].u;
        trace->processes[process].grid_y = (uint32_t)f[4].u;
        trace->processes[process].host_pid = f[5].u;
        trace->processes[process].khz = f[2].u;
        break;
    case STROBE_META_DEVICE_PROGRAM:
        add_text(trace, &trace->program_ids, &trace->programs, &trace->programs_room, process,
                 f[0].u, &f[2]);
        break;
    case STROBE_META_DEVICE_OP:
        add_op(trace, process, f);
        break;
    case STROBE_META_DEVICE_LANE:
        add_lane(trace, process, f);
        break;
    case STROBE_META_SAMPLED:
        trace->processes[process].is_sampled = 1;
        trace->processes[process].sample_hz = f[0].u;
        trace->processes[process].sample_error_ns = f[1].u;
        trace->processes[process].has_kernel_frames = f[2].u != 0;
        break;
    case STROBE_META_PYTHON_FRAMES:
        set_python(&trace->processes[process], f);
        break;
    }
}

static void add_meta(struct strobe_trace *trace, const struct strobe_record *record)
{
    const struct strobe_field *f = record->fields;
    uint32_t process = strobe_trace_process(trace, record->proc);
    uint32_t thread;
    if (process == STROBE_IDMAP_NONE)
        return;
    switch (record->kind) {
    case STROBE_META_PROCESS:
        add_process(trace, &trace->processes[process], f);
        break;
    case STROBE_META_THREAD:
        add_thread(trace, process, f);
        break;
    case STROBE_META_THREAD_NAME:
        thread = strobe_trace_thread(trace, process, f[0].u);
        if (thread != STROBE_IDMAP_NONE)
            trace->threads[thread].name = text_of(trace, &f[1]);
        break;
    case STROBE_META_LOC:
        add_loc(trace, process, f);
        break;
    case STROBE_META_STRING:
        add_text(trace, &trace->string_ids, &trace->strings, &trace->strings_room, process, f[0].u,
                 &f[1]);
        break;
    case STROBE_META_MODULE:
        add_module(trace, process, f);
        break;
    case STROBE_META_PROGRAM_NAME:
        trace->processes[process].program_name = text_of(trace, &f[0]);
        break;
    case STROBE_META_PLOT_CONFIG:
        add_plot(trace, process, f);
        break;
    case STROBE_META_PARAMETER:
        add_parameter(trace, &trace->processes[process], f);
        break;
    case STROBE_META_LOCK_NAME:
        add_lock(trace, process, f);
        break;
    case STROBE_META_FIBER_NAME:
        add_text(trace, &trace->fiber_ids, &trace->fibers, &trace->fibers_room, process, f[0].u,
                 &f[1]);
        break;
    case STROBE_META_ENVIRONMENT:
        add_note(trace, &trace->environment, &trace->n_environment, &trace->environment_room,
                 process, &f[0]);
        break;
    default:
        add_kind_of_process(trace, process, record);
        break;
    }
}

/* The process that a loss or a note names; number 0 with no such process is nobody's. */
static uint32_t named_process(const struct strobe_trace *trace, uint64_t proc)
{
    return strobe_idmap_find(&trace->process_ids, 0, proc);
}

static void add_loss(struct strobe_trace *trace, const struct strobe_field *f)
{
    uint32_t process = strobe_trace_process(trace, f[0].u);
    uint32_t cause = f[2].u < 255 ? (uint32_t)f[2].u : 255;
    if (process == STROBE_IDMAP_NONE || process >= 1u << 24)
        return;
    uint32_t i = ADD_ROW(trace, loss_ids, process << 8 | cause, f[1].u, losses);
    if (i == STROBE_IDMAP_NONE)
        return;
    struct strobe_loss_row *row = &trace->losses[i];
    if (!row->count || f[4].u < row->first_tick)
        row->first_tick = f[4].u;
    if (!row->count || f[5].u > row->last_tick)
        row->last_tick = f[5].u;
    row->process = process;
    row->track = f[1].u;
    row->cause = f[2].u;
    row->count += f[3].u;
}

static void add_thread_end(struct strobe_trace *trace, const struct strobe_field *f)
{
    uint32_t process = strobe_trace_process(trace, f[0].u);
    uint32_t i =
        process == STROBE_IDMAP_NONE ? process : strobe_trace_thread(trace, process, f[1].u);
    if (i != STROBE_IDMAP_NONE)
        trace->threads[i].end_tick = f[2].u;
}

static void add_process_end(struct strobe_trace *trace, const struct strobe_field *f)
{
    uint32_t i = strobe_trace_process(trace, f[0].u);
    if (i == STROBE_IDMAP_NONE)
        return;
    trace->processes[i].has_ended = 1;
    trace->processes[i].end_tick = f[1].u;
    trace->processes[i].how = f[2].u;
    trace->processes[i].end_value = f[3].u;
}

static void add_outer_pid(struct strobe_trace *trace, const struct strobe_field *f)
{
    uint32_t i = strobe_trace_process(trace, f[0].u);
    if (i == STROBE_IDMAP_NONE)
        return;
    trace->processes[i].outer_pid = f[1].u;
    trace->processes[i].pid_ns = f[2].u;
}

static void add_own_piece(struct strobe_trace *trace, const struct strobe_field *f)
{
    uint32_t process = strobe_trace_process(trace, f[0].u);
    if (process == STROBE_IDMAP_NONE || !f[3].u || !REACH(trace, own_pieces, trace->n_own_pieces))
        return;
    uint32_t order = trace->n_own_pieces++;
    trace->own_pieces[order] =
        (struct strobe_own_row){process, order, f[1].i, f[2].u, f[3].u, f[4].u};
}

static void add_moment(struct strobe_moment **rows, uint32_t *n, uint32_t *room,
                       struct strobe_moment moment)
{
    if (!STROBE_ARRAY_REACH(*rows, *room, *n))
        (*rows)[(*n)++] = moment;
}

/* Several recorders add up; the cost of an event is the mean over all events. */
static void add_overhead(struct strobe_trace *trace, const struct strobe_field *f)
{
    unsigned __int128 cost = (unsigned __int128)trace->event_ps * trace->n_overhead_events;
    cost += (unsigned __int128)f[1].u * f[3].u;
    trace->n_overhead_events += f[3].u;
    trace->event_ps =
        trace->n_overhead_events ? (uint64_t)(cost / trace->n_overhead_events) : f[1].u;
    trace->recorder_cpu_ns += f[0].u;
    trace->waited_ns += f[2].u;
    trace->has_overhead = 1;
}

/* What is known of other hosts' clocks. */
static void add_clocks(struct strobe_trace *trace, const struct strobe_record *record)
{
    const struct strobe_field *f = record->fields;
    if (record->kind == STROBE_FACT_CLOCK_ID && REACH(trace, clock_names, trace->n_clock_names))
        trace->clock_names[trace->n_clock_names++] = (struct strobe_clock_name){
            f[0].u, f[1].u, (uint32_t)f[2].u, text_of(trace, &f[3]), text_of(trace, &f[4])};
    if (record->kind == STROBE_FACT_CLOCK_EXCHANGE && REACH(trace, exchanges, trace->n_exchanges))
        trace->exchanges[trace->n_exchanges++] = (struct strobe_clock_exchange){
            f[0].u, f[1].u, f[2].u, f[3].u, f[4].u, f[5].u, (uint32_t)f[6].u};
    if (record->kind == STROBE_FACT_CLOCK_PLACED && REACH(trace, placed, trace->n_placed))
        trace->placed[trace->n_placed++] =
            (struct strobe_clock_placed){f[0].u, f[1].u, f[3].u,           f[4].u,
                                         f[5].u, f[6].u, (uint32_t)f[2].u, text_of(trace, &f[7])};
}

static void add_fact(struct strobe_trace *trace, const struct strobe_record *record)
{
    const struct strobe_field *f = record->fields;
    switch (record->kind) {
    case STROBE_FACT_CLOCK_SYNC:
        strobe_clock_add(&trace->clock, f[0].u,
                         &(struct strobe_sync){f[1].u, f[2].u, f[4].u, f[5].u != 0}, f[3].u);
        break;
    case STROBE_FACT_LOSS:
        add_loss(trace, f);
        break;
    case STROBE_FACT_PROCESS_END:
        add_process_end(trace, f);
        break;
    case STROBE_FACT_THREAD_END:
        add_thread_end(trace, f);
        break;
    case STROBE_FACT_HOST:
        trace->hostname = text_of(trace, &f[0]);
        trace->kernel = text_of(trace, &f[1]);
        trace->cpu = text_of(trace, &f[2]);
        break;
    case STROBE_FACT_OVERHEAD:
        add_overhead(trace, f);
        break;
    case STROBE_FACT_NOTE:
        add_note(trace, &trace->notes, &trace->n_notes, &trace->notes_room,
                 named_process(trace, f[0].u), &f[1]);
        break;
    case STROBE_FACT_CLOCK_MAP:
        add_own_piece(trace, f);
        break;
    case STROBE_FACT_RECORDING:
        add_moment(&trace->recordings, &trace->n_recordings, &trace->recordings_room,
                   (struct strobe_moment){f[0].u, f[1].u, 0});
        break;
    case STROBE_FACT_UNRECORDED:
        add_unrecorded(trace, f);
        break;
    case STROBE_FACT_OUTER_PID:
        add_outer_pid(trace, f);
        break;
    case STROBE_FACT_KEPT:
        add_moment(&trace->kept, &trace->n_kept, &trace->kept_room,
                   (struct strobe_moment){f[0].u, 0, text_of(trace, &f[1])});
        break;
    default:
        add_clocks(trace, record);
        break;
    }
}

static void add_record(struct strobe_trace *trace, const struct strobe_record *record)
{
    if (trace->wanted_locs) {
        if (record->kind == STROBE_META_LOC)
            add_loc(trace, strobe_trace_process(trace, record->proc), record->fields);
    } else if (record->kind < STROBE_META_COUNT) {
        add_meta(trace, record);
    } else {
        add_fact(trace, record);
    }
}

static enum strobe_err read_records(struct strobe_trace *trace, struct strobe_record_walk *walk)
{
    struct strobe_record record;
    enum strobe_err err;
    while ((err = strobe_record_walk_next(walk, &record)) == STROBE_OK)
        add_record(trace, &record);
    trace->n_bad_records += err != STROBE_ERR_END;
    return STROBE_OK;
}

static enum strobe_err read_blocks(struct strobe_trace *trace, uint64_t from)
{
    const struct strobe_block_filter filter = {.type = STROBE_BLOCK_RECORDS, .offset_min = from};
    struct strobe_block_iter *iter;
    struct strobe_block block = {0};
    struct strobe_record_walk walk = {0};
    enum strobe_err err = strobe_file_iterate(trace->file, &filter, &iter);
    while (!err && (err = strobe_file_next_block(iter, &block)) == STROBE_OK) {
        if (strobe_record_walk_start(&block, &trace->schema, &walk) == STROBE_OK)
            read_records(trace, &walk);
        else
            strobe_file_note_hole(trace->file, &block.ref);
        if (!trace->wanted_locs)
            trace->records_end = block.ref.offset + block.ref.n_bytes;
    }
    strobe_file_end_iterate(iter);
    strobe_record_walk_free(&walk);
    strobe_block_free(&block);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

static enum strobe_err read_ledger(struct strobe_trace *trace)
{
    struct strobe_record_walk walk = {0};
    size_t n;
    uint8_t *slot = malloc(STROBE_FILE_LEDGER_SLOT);
    if (!slot)
        return STROBE_ERR_NOMEM;
    if (strobe_file_ledger(trace->file, slot, &n) == STROBE_OK) {
        strobe_record_walk_over(slot, n, &trace->schema, &walk);
        read_records(trace, &walk);
    }
    strobe_record_walk_free(&walk);
    free(slot);
    return STROBE_OK;
}

static void set_origin(struct strobe_trace *trace)
{
    const struct strobe_trace_totals *totals = &strobe_file_facts(trace->file)->totals;
    uint64_t tick = trace->clock.n_syncs ? trace->clock.syncs[0].tick : 0;
    if (trace->n_recordings)
        tick = trace->recordings[0].tick;
    else if (totals->has_totals)
        tick = totals->tick_first;
    strobe_clock_set_origin(&trace->clock, tick);
}

enum strobe_err strobe_trace_open_file(struct strobe_file *file, unsigned flags,
                                       struct strobe_trace **out)
{
    *out = NULL;
    struct strobe_trace *trace = calloc(1, sizeof *trace);
    if (!trace) {
        strobe_file_close(file);
        return STROBE_ERR_NOMEM;
    }
    trace->flags = flags;
    trace->file = file;
    strobe_schema_read(strobe_file_facts(trace->file)->schema, &trace->schema);
    enum strobe_err err = read_blocks(trace, 0);
    if (!err)
        err = read_ledger(trace);
    if (!err && !strobe_clock_fix(&trace->clock))
        err = STROBE_ERR_NOMEM;
    if (!err && !strobe_trace_find_twins(trace))
        err = STROBE_ERR_NOMEM;
    if (err)
        goto fail;
    strobe_own_pieces_sort(trace);
    set_origin(trace);
    *out = trace;
    return STROBE_OK;
fail:
    strobe_trace_close(trace);
    return err;
}

enum strobe_err strobe_trace_refresh(struct strobe_trace *trace)
{
    enum strobe_err err = strobe_file_refresh(trace->file);
    if (!err)
        err = read_blocks(trace, trace->records_end);
    if (!err && !strobe_clock_fix(&trace->clock))
        err = STROBE_ERR_NOMEM;
    if (!err && !strobe_trace_find_twins(trace))
        err = STROBE_ERR_NOMEM;
    if (!err)
        set_origin(trace);
    return err;
}

enum strobe_err strobe_trace_load_locs(struct strobe_trace *trace,
                                       const struct strobe_idmap *wanted)
{
    trace->wanted_locs = wanted;
    enum strobe_err err = read_blocks(trace, 0);
    trace->wanted_locs = NULL;
    return err;
}

void strobe_trace_close(struct strobe_trace *trace)
{
    if (!trace)
        return;
    strobe_file_close(trace->file);
    strobe_texts_free(&trace->texts);
    strobe_clock_free(&trace->clock);
    struct strobe_idmap *maps[] = {&trace->process_ids, &trace->thread_ids, &trace->loc_ids,
                                   &trace->string_ids,  &trace->fiber_ids,  &trace->lock_ids,
                                   &trace->plot_ids,    &trace->loss_ids,   &trace->program_ids};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        strobe_idmap_free(maps[i]);
    void *rows[] = {trace->processes, trace->threads,    trace->locs,        trace->strings,
                    trace->fibers,    trace->locks,      trace->plots,       trace->modules,
                    trace->losses,    trace->notes,      trace->environment, trace->recordings,
                    trace->kept,      trace->own_pieces, trace->unrecorded,  trace->lock_locs,
                    trace->programs,  trace->ops,        trace->clock_names, trace->exchanges,
                    trace->placed};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        free(rows[i]);
    free(trace);
}
