/* devices.c - tables of what a trace was recorded on and of what ran on devices: hosts, devices, programs, ops; and locks by name.
 * Ops are those of the viewer and of the op report (query/ops.h).  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "query/ops.h"
#include "query/view.h"
#include "sql/table.h"

static void put_fixed(struct strobe_sql_cell *cell, const char *text)
{
    strobe_sql_put_kept(cell, text, (uint32_t)strlen(text));
}

/* ---- hosts ---- */

static uint64_t one_row(const struct strobe_sql_file *file)
{
    (void)file;
    return 1;
}

/* One per file so far: files of several hosts are several traces here. */
static void put_host(const struct strobe_sql_file *file, uint64_t row, int column,
                     struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM])
{
    const struct strobe_trace *trace = file->trace;
    (void)room;
    const uint32_t texts[] = {trace->hostname, trace->kernel, trace->cpu};
    if (column == 1)
        strobe_sql_put_i(cell, (int64_t)row);
    else if (column < 5)
        strobe_sql_put_model(cell, trace, texts[column - 2]);
    else if (column == 5)
        strobe_sql_put_i(cell, 0);
    else if (column == 6)
        strobe_sql_put_i(cell, (int64_t)trace->clock.error_ns);
}

/* ---- locks ---- */

static uint64_t n_locks(const struct strobe_sql_file *file)
{
    return file->trace->lock_ids.n;
}

static void put_lock(const struct strobe_sql_file *file, uint64_t row, int column,
                     struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM])
{
    const struct strobe_idkey *key = &file->trace->lock_ids.keys[row];
    uint32_t n;
    if (column == 1) {
        strobe_sql_put_i(cell, (int64_t)key->id);
    } else if (column == 2) {
        const char *name = strobe_trace_lock_name(file->trace, key->scope, key->id, room, &n);
        strobe_sql_put_kept(cell, name, n);
        if (name == room)
            cell->type = STROBE_SQL_TEXT;
    } else {
        strobe_sql_put_i(cell, strobe_trace_first_process(file->trace, (uint32_t)key->scope));
    }
}

/* ---- devices ---- */

/* The process that stands for the n-th device; n_processes: there are no more. */
static uint32_t find_device(const struct strobe_trace *trace, uint64_t n)
{
    uint32_t i = 0;
    for (; i < trace->n_processes; i++)
        if (trace->processes[i].is_device && n-- == 0)
            break;
    return i;
}

static uint64_t n_devices(const struct strobe_sql_file *file)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < file->trace->n_processes; i++)
        n += file->trace->processes[i].is_device;
    return n;
}

static uint64_t count_lanes(const struct strobe_trace *trace, uint32_t process)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < trace->thread_ids.n; i++)
        n += trace->threads[i].process == process && trace->threads[i].is_lane;
    return n;
}

static void put_device(const struct strobe_sql_file *file, uint64_t row, int column,
                       struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM])
{
    uint32_t i = find_device(file->trace, row), n;
    const struct strobe_process *process = &file->trace->processes[i];
    const uint64_t numbers[] = {process->device, process->grid_x,   process->grid_y,
                                process->khz,    process->host_pid, 0};
    if (column == 1) {
        strobe_sql_put_i(cell, i);
    } else if (column == 2) {
        const char *name = strobe_trace_process_name(file->trace, i, room, &n);
        strobe_sql_put_kept(cell, name, n);
        if (name == room)
            cell->type = STROBE_SQL_TEXT;
    } else if (column == 8) {
        strobe_sql_put_i(cell, (int64_t)count_lanes(file->trace, i));
    } else if (column == 3 || numbers[column - 3]) {
        strobe_sql_put_i(cell, (int64_t)numbers[column - 3]);
    }
}

static uint64_t n_programs(const struct strobe_sql_file *file)
{
    return file->trace->program_ids.n;
}

static void put_program(const struct strobe_sql_file *file, uint64_t row, int column,
                        struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM])
{
    (void)room;
    if (column == 1)
        strobe_sql_put_i(cell, (int64_t)file->trace->program_ids.keys[row].id);
    else if (column == 2)
        strobe_sql_put_model(cell, file->trace, file->trace->programs[row]);
    else
        strobe_sql_put_i(cell, file->trace->program_ids.keys[row].scope);
}

/* ---- ops ---- */

struct strobe_sql_ops {
    struct strobe_view *view; /* owned */
    struct strobe_tables tables;
    struct strobe_ops ops;
};

void strobe_sql_ops_free(struct strobe_sql_ops *ops)
{
    if (!ops)
        return;
    strobe_ops_free(&ops->ops);
    strobe_tables_free(&ops->tables);
    strobe_view_close(ops->view);
    free(ops);
}

/* Read the whole trace, step by step. */
static enum strobe_err read_ops(struct strobe_sql *sql, struct strobe_sql_ops *ops)
{
    enum { STEP = 1 << 18 };
    enum strobe_err err = STROBE_OK;
    ops->tables.view = ops->ops.view = ops->view;
    ops->ops.tables = &ops->tables;
    do
        err = strobe_sql_is_over(sql) ? STROBE_ERR_LIMIT : strobe_tables_update(&ops->tables);
    while (!err && strobe_tables_share(&ops->tables) < 1);
    while (!err && !ops->ops.is_whole)
        err = strobe_sql_is_over(sql) ? STROBE_ERR_LIMIT : strobe_ops_step(&ops->ops, STEP);
    return err;
}

static enum strobe_err load_ops(struct strobe_sql *sql, struct strobe_sql_file *file)
{
    if (file->ops)
        return STROBE_OK;
    struct strobe_sql_ops *ops = calloc(1, sizeof *ops);
    enum strobe_err err = ops ? strobe_sql_open_work(file) : STROBE_ERR_NOMEM;
    if (!err && (n_devices(file) || file->trace->n_ops)) {
        err = strobe_view_open(file->work, &ops->view);
        if (!err)
            err = read_ops(sql, ops);
    }
    if (err)
        strobe_sql_ops_free(ops);
    else
        file->ops = ops;
    return err;
}

static uint64_t n_ops(const struct strobe_sql_file *file)
{
    return file->ops->ops.n_rows;
}

enum {
    OP_ID = 1,
    OP_NUMBER,
    OP_NAME,
    OP_PROGRAM,
    OP_PROCESS,
    OP_TS,
    OP_DUR,
    OP_KERNEL,
    OP_FW,
    OP_GAP,
    OP_HOST,
    OP_UTIL,
    OP_CORES,
    OP_BOUND,
    OP_HOST_TRACK,
    OP_HOST_TS,
    OP_REPLAY
};

/* The figures of an op report, where they are known. */
static void put_figure(const struct strobe_op_row *op, int column, struct strobe_sql_cell *cell)
{
    const struct {
        uint64_t bit;
        int64_t ns;
    } figures[] = {{STROBE_DEVICE_HAS_KERNEL, op->times.kernel_ns},
                   {STROBE_DEVICE_HAS_FW, op->times.fw_ns},
                   {STROBE_DEVICE_HAS_GAP, op->times.gap_ns},
                   {STROBE_DEVICE_HAS_HOST, op->times.host_ns}};
    if (column <= OP_HOST && op->known & figures[column - OP_KERNEL].bit)
        strobe_sql_put_i(cell, figures[column - OP_KERNEL].ns);
    else if (column == OP_UTIL && op->known & STROBE_DEVICE_HAS_UTIL)
        strobe_sql_put_d(cell, op->util);
    else if (column == OP_CORES && op->known & STROBE_DEVICE_HAS_CORES)
        strobe_sql_put_i(cell, op->cores);
}

static void put_op_time(const struct strobe_trace *trace, const struct strobe_op_row *op,
                        int column, struct strobe_sql_cell *cell)
{
    if (column == OP_HOST_TRACK || column == OP_HOST_TS) {
        if (op->host.thread != STROBE_IDMAP_NONE)
            strobe_sql_put_i(cell, column == OP_HOST_TRACK
                                       ? strobe_trace_first_thread(trace, op->host.thread)
                                       : strobe_clock_rel(&trace->clock, op->host.begin));
        return;
    }
    if (op->from && column == OP_TS)
        strobe_sql_put_i(cell, strobe_clock_rel(&trace->clock, op->from));
    else if (op->from && op->to >= op->from)
        strobe_sql_put_i(cell,
                         (int64_t)strobe_clock_span_ns(&trace->clock, op->from, op->to - op->from));
}

static void put_op(const struct strobe_sql_file *file, uint64_t row, int column,
                   struct strobe_sql_cell *cell, char room[STROBE_NAME_ROOM])
{
    const struct strobe_op_row *op = &file->ops->ops.rows[row];
    (void)room;
    switch (column) {
    case OP_ID:
        strobe_sql_put_i(cell, (int64_t)row);
        break;
    case OP_NUMBER:
        strobe_sql_put_i(cell, (int64_t)op->op);
        break;
    case OP_NAME:
        strobe_sql_put_model(cell, file->work, op->name);
        break;
    case OP_PROGRAM:
        strobe_sql_put_i(cell, (int64_t)op->program);
        break;
    case OP_PROCESS:
        strobe_sql_put_i(cell, op->process);
        break;
    case OP_BOUND:
        put_fixed(cell, strobe_device_bound_name(op->bound));
        break;
    case OP_REPLAY:
        if (op->session)
            strobe_sql_put_i(cell, (int64_t)op->session);
        break;
    case OP_TS:
    case OP_DUR:
    case OP_HOST_TRACK:
    case OP_HOST_TS:
        put_op_time(file->work, op, column, cell);
        break;
    default:
        put_figure(op, column, cell);
    }
}

#define FACTS(name, columns, help, load, n_rows, put, ...)                                      \
    {                                                                                           \
        name, "trace_id INT4, " columns, help, {__VA_ARGS__}, load, n_rows, put, NULL, 0, NULL, \
            NULL                                                                                \
    }

const struct strobe_sql_table strobe_sql_devices[] = {
    FACTS("host",
          "id INT4, name TEXT, kernel TEXT, cpu TEXT, clock_offset_ns INT, clock_error_ns INT",
          "machines that the traces come from", NULL, one_row, put_host, .id = 1),
    FACTS("lock", "id INT, name ENUM TEXT, process_id INT4", "locks that were named", NULL, n_locks,
          put_lock, .id = 0),
    FACTS("device",
          "process_id INT4, name ENUM TEXT, device INT4, grid_x INT4, grid_y INT4, khz INT, "
          "host_pid INT, lanes INT4",
          "devices, and how many of their processors are in the trace", NULL, n_devices, put_device,
          .id = 0),
    FACTS("program", "id INT, name TEXT, process_id INT4", "programs of devices", NULL, n_programs,
          put_program, .id = 0),
    FACTS("op",
          "id INT, op INT, name ENUM TEXT, program_id INT, process_id INT4, ts INT, dur INT, "
          "kernel_ns INT, fw_ns INT, gap_ns INT, host_ns INT, util REAL, cores INT4, bound ENUM "
          "TEXT, host_track_id INT4, host_ts INT, replay INT",
          "executions of programs on devices, with the figures of the op report", load_ops, n_ops,
          put_op, .id = 1),
};
const unsigned strobe_sql_n_devices = sizeof strobe_sql_devices / sizeof strobe_sql_devices[0];
