/* join.c - puts host and device together: one row per op, replay and signpost.
 *
 * Upstream asserts that both sides have the same ops in the same order; here every op of the host
 * gets its row, and what the device has for it is looked up by id. A traced op has a row for its
 * capture (without device data) and one for each replay; a replay's number is the device's trace
 * counter, or, in logs without one, the count of runs so far.  SPDX-License-Identifier: MIT */
#include "base/map.h"
#include "base/array.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

static struct strobe_report_row *add_row(struct strobe_report *report, uint8_t kind, uint32_t item,
                                         int64_t ns)
{
    if (STROBE_ARRAY_RESERVE(report->rows, report->cap_rows, (uint64_t)report->n_rows + 1))
        return NULL;
    struct strobe_report_row *row = &report->rows[report->n_rows];
    *row = (struct strobe_report_row){.ns = ns,
                                      .trace = -1,
                                      .session = -1,
                                      .item = item,
                                      .device_op = UINT32_MAX,
                                      .cpp = UINT32_MAX,
                                      .order = report->n_rows++,
                                      .kind = kind};
    return row;
}

/* An op's own time: its zone's start, else its message's. */
static int64_t time_of(const struct strobe_report_op *op)
{
    return op->start_ns != STROBE_REPORT_NONE ? op->start_ns : op->message_ns;
}

static enum strobe_err add_op_rows(struct strobe_report *report)
{
    for (uint32_t i = 0; i < report->host.n_ops; i++)
        if (!add_row(report, STROBE_REPORT_ROW_OP, i, time_of(&report->host.ops[i])))
            return STROBE_ERR_NOMEM;
    return STROBE_OK;
}

static enum strobe_err add_replay(struct strobe_report *report, uint32_t item, int64_t trace,
                                  int64_t session, uint32_t device_op, uint32_t cpp)
{
    const struct strobe_report_op *op = &report->host.ops[item];
    int64_t ns = strobe_report_host_replay(&report->host, op->device, trace, session);
    if (ns == STROBE_REPORT_NONE) {
        if (report->host.n_replays)
            strobe_report_fault_add(&report->faults, STROBE_REPORT_FAULT_REPLAY,
                                    STROBE_REPORT_MESSAGES_FILE, op->line,
                                    "op %llu, trace %lld, replay %lld", (unsigned long long)op->id,
                                    (long long)trace, (long long)session);
        ns = op->message_ns != STROBE_REPORT_NONE ? op->message_ns : time_of(op);
    }
    struct strobe_report_row *row = add_row(report, STROBE_REPORT_ROW_REPLAY, item, ns);
    if (!row)
        return STROBE_ERR_NOMEM;
    row->trace = trace;
    row->session = session;
    row->device_op = device_op;
    row->cpp = cpp;
    return STROBE_OK;
}

/* ---- order of a device's ops ---- */

struct place {
    int64_t device_rank;
    uint64_t id;
    int64_t session;
    uint32_t item, run;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->device_rank != y->device_rank)
        return x->device_rank < y->device_rank ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->session != y->session)
        return x->session < y->session ? -1 : 1;
    return x->run < y->run ? -1 : x->run > y->run;
}

/* Devices rank by their first op. */
static int64_t rank_of(int64_t **seen, uint32_t *n, int64_t device)
{
    for (uint32_t i = 0; i < *n; i++)
        if ((*seen)[i] == device)
            return i;
    int64_t *rank = STROBE_ARRAY_PUSH_TIGHT(*seen, *n);
    if (!rank)
        return *n;
    *rank = device;
    return *n - 1;
}

/* The host's device ops by (device, id). Owned by the caller. */
static struct place *place_ops(const struct strobe_report *report, uint32_t *n_places)
{
    struct place *places = malloc((report->host.n_ops + 1) * sizeof *places);
    int64_t *seen = NULL;
    uint32_t n_seen = 0, n = 0;
    for (uint32_t i = 0; places && i < report->host.n_ops; i++) {
        const struct strobe_report_op *op = &report->host.ops[i];
        if (op->device != STROBE_REPORT_NONE)
            places[n++] =
                (struct place){rank_of(&seen, &n_seen, op->device), op->id, 0, i, UINT32_MAX};
    }
    free(seen);
    if (n)
        qsort(places, n, sizeof *places, compare_places);
    *n_places = n;
    return places;
}

/* ---- the C++ report ---- */

/* Rows with the op's own trace; where there are none, all rows of the op. */
static bool has_own_trace(const struct strobe_report *report, uint32_t first, int64_t trace)
{
    for (uint32_t i = first; i != UINT32_MAX; i = report->cpp.rows[i].next)
        if (report->cpp.rows[i].trace == trace)
            return true;
    return false;
}

static enum strobe_err join_cpp_op(struct strobe_report *report, uint32_t item)
{
    const struct strobe_report_op *op = &report->host.ops[item];
    uint32_t first = strobe_report_cpp_find(&report->cpp, op->device, op->id);
    bool exact = has_own_trace(report, first, op->trace);
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = first; !err && i != UINT32_MAX; i = report->cpp.rows[i].next) {
        struct strobe_report_cpp_row *row = &report->cpp.rows[i];
        if (exact && row->trace != op->trace)
            continue;
        row->used = true;
        if (row->session < 0)
            report->rows[item].cpp = i; /* op rows are the first, in the order of ops */
        else
            err = add_replay(report, item, row->trace >= 0 ? row->trace : op->trace, row->session,
                             UINT32_MAX, i);
    }
    return err;
}

static enum strobe_err join_cpp(struct strobe_report *report)
{
    uint32_t n;
    struct place *places = place_ops(report, &n);
    enum strobe_err err = places ? STROBE_OK : STROBE_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < n; i++)
        err = join_cpp_op(report, places[i].item);
    free(places);
    for (uint32_t i = 0; !err && i < report->cpp.n; i++) {
        const struct strobe_report_cpp_row *row = &report->cpp.rows[i];
        if (!row->id)
            continue;
        report->coverage.n_programs++;
        report->coverage.n_joined += row->used;
        if (!row->used)
            strobe_report_fault_add(&report->faults, STROBE_REPORT_FAULT_NO_HOST_OP,
                                    STROBE_REPORT_CPP_FILE, row->line, "device %lld, op %llu",
                                    (long long)row->device, (unsigned long long)row->id);
    }
    return err;
}

/* ---- the device log ---- */

/* How far the replays of one trace have been counted, in logs without a trace counter. */
struct trace_count {
    int64_t device, trace, session;
    struct strobe_map seen; /* ops of the replay under way, by (id, session) */
};

struct trace_counts {
    struct trace_count *all;
    uint32_t n;
};

static struct trace_count *find_count(struct trace_counts *counts, int64_t device, int64_t trace)
{
    for (uint32_t i = 0; i < counts->n; i++)
        if (counts->all[i].device == device && counts->all[i].trace == trace)
            return &counts->all[i];
    if (STROBE_ARRAY_RESERVE_TIGHT(counts->all, counts->n))
        return NULL;
    counts->all[counts->n] = (struct trace_count){device, trace, 1, {0}};
    return &counts->all[counts->n++];
}

/* A repeated op starts the next replay. */
static int64_t count_session(struct trace_counts *counts, const struct strobe_report_op *op)
{
    struct trace_count *count = find_count(counts, op->device, op->trace);
    if (!count)
        return 1;
    uint64_t key = op->id | (uint64_t)count->session << 32;
    if (strobe_map_find(&count->seen, key))
        key = op->id | (uint64_t)++count->session << 32;
    strobe_map_put(&count->seen, key, 0);
    return count->session;
}

static void free_counts(struct trace_counts *counts)
{
    for (uint32_t i = 0; i < counts->n; i++)
        strobe_map_free(&counts->all[i].seen);
    free(counts->all);
}

struct run_time {
    uint64_t time;
    uint32_t index;
};

static int compare_times(const void *a, const void *b)
{
    const struct run_time *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static struct run_time *runs_by_time(const struct strobe_report_device_ops *device)
{
    struct run_time *runs = malloc((device->n + 1) * sizeof *runs);
    for (uint32_t i = 0; runs && i < device->n; i++)
        runs[i] = (struct run_time){device->ops[i].first_time, i};
    if (runs && device->n)
        qsort(runs, device->n, sizeof *runs, compare_times);
    return runs;
}

static struct strobe_report_op *host_op_of(const struct strobe_report *report,
                                           const struct strobe_report_device_op *run)
{
    struct strobe_report_op *op = strobe_report_host_find(&report->host, run->run);
    int64_t device = report->log.devices[run->device].id;
    return op && op->device == device ? op : NULL;
}

/* A run that is the op's own, not a replay. */
static void join_plain(struct strobe_report *report, struct strobe_report_op *op, uint32_t index)
{
    struct strobe_report_row *row = &report->rows[op - report->host.ops];
    if (row->device_op == UINT32_MAX) {
        row->device_op = index;
        return;
    }
    strobe_report_fault_add(&report->faults, STROBE_REPORT_FAULT_MORE_RUNS,
                            STROBE_REPORT_DEVICE_FILE, report->device.ops[index].line,
                            "op %llu; its first run is reported", (unsigned long long)op->id);
}

/* Find each run's op. Replays are collected to be sorted by (device, id, session). */
static uint32_t join_runs(struct strobe_report *report, const struct run_time *runs,
                          struct place *replays, struct trace_counts *counts)
{
    uint32_t n = 0;
    bool has_traces = report->host.n_replays > 0;
    for (uint32_t i = 0; i < report->device.n; i++) {
        const struct strobe_report_device_op *run = &report->device.ops[runs[i].index];
        struct strobe_report_op *op = host_op_of(report, run);
        report->coverage.n_programs++;
        if (!op) {
            strobe_report_fault_add(&report->faults, STROBE_REPORT_FAULT_NO_HOST_OP,
                                    STROBE_REPORT_DEVICE_FILE, run->line, "device %lld, op %llu",
                                    (long long)report->log.devices[run->device].id,
                                    (unsigned long long)run->run);
            continue;
        }
        report->coverage.n_joined++;
        int64_t session = run->counter;
        if (session < 0 && has_traces && op->trace >= 0)
            session = count_session(counts, op);
        if (session < 0)
            join_plain(report, op, runs[i].index);
        else
            replays[n++] = (struct place){0, op->id, session, (uint32_t)(op - report->host.ops),
                                          runs[i].index};
    }
    return n;
}

static enum strobe_err add_replays(struct strobe_report *report, struct place *replays, uint32_t n)
{
    int64_t *seen = NULL;
    uint32_t n_seen = 0;
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < report->host.n_ops; i++)
        if (report->host.ops[i].device != STROBE_REPORT_NONE)
            rank_of(&seen, &n_seen, report->host.ops[i].device);
    for (uint32_t i = 0; i < n; i++)
        replays[i].device_rank = rank_of(&seen, &n_seen, report->host.ops[replays[i].item].device);
    free(seen);
    if (n)
        qsort(replays, n, sizeof *replays, compare_places);
    for (uint32_t i = 0; !err && i < n; i++) {
        int64_t trace = report->host.ops[replays[i].item].trace;
        if (trace < 0)
            trace = report->device.ops[replays[i].run].trace;
        err = add_replay(report, replays[i].item, trace, replays[i].session, replays[i].run,
                         UINT32_MAX);
    }
    return err;
}

static enum strobe_err join_log(struct strobe_report *report)
{
    struct trace_counts counts = {0};
    struct run_time *runs = runs_by_time(&report->device);
    struct place *replays = malloc((report->device.n + 1) * sizeof *replays);
    enum strobe_err err = runs && replays ? STROBE_OK : STROBE_ERR_NOMEM;
    if (!err)
        err = add_replays(report, replays, join_runs(report, runs, replays, &counts));
    free(runs);
    free(replays);
    free_counts(&counts);
    return err;
}

/* ---- signposts, order, coverage ---- */

static int compare_rows(const void *a, const void *b)
{
    const struct strobe_report_row *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* A traced op has its device data in its replays. */
static void count_op(struct strobe_report *report, uint32_t item, const bool *replayed)
{
    struct strobe_report_coverage *coverage = &report->coverage;
    const struct strobe_report_op *op = &report->host.ops[item];
    const struct strobe_report_row *row = &report->rows[item];
    coverage->n_ops++;
    coverage->n_named += op->has_message;
    coverage->n_timed += op->start_ns != STROBE_REPORT_NONE;
    if (op->device == STROBE_REPORT_NONE)
        return;
    coverage->n_device_ops++;
    if (row->device_op != UINT32_MAX || row->cpp != UINT32_MAX || replayed[item]) {
        coverage->n_with_device++;
        return;
    }
    bool never_replayed =
        op->trace >= 0 && !strobe_report_host_replays(&report->host, op->device, op->trace);
    coverage->n_untried += never_replayed;
    if (!never_replayed && (report->has_device_log || report->uses_cpp))
        strobe_report_fault_add(
            &report->faults, STROBE_REPORT_FAULT_NO_DEVICE_ROWS,
            op->has_message ? STROBE_REPORT_MESSAGES_FILE : STROBE_REPORT_TIMES_FILE, op->line,
            "op %llu on device %lld", (unsigned long long)op->id, (long long)op->device);
}

static enum strobe_err count_all(struct strobe_report *report)
{
    bool *replayed = calloc(report->host.n_ops + 1, sizeof *replayed);
    if (!replayed)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = report->host.n_ops; i < report->n_rows; i++)
        replayed[report->rows[i].item] = true;
    report->coverage.n_replays = report->n_rows - report->host.n_ops;
    for (uint32_t i = 0; i < report->host.n_ops; i++)
        count_op(report, i, replayed);
    free(replayed);
    return STROBE_OK;
}

static enum strobe_err add_signposts(struct strobe_report *report)
{
    for (uint32_t i = 0; i < report->host.n_signposts; i++)
        if (!add_row(report, STROBE_REPORT_ROW_SIGNPOST, i, report->host.signposts[i].ns))
            return STROBE_ERR_NOMEM;
    report->coverage.n_signposts = report->host.n_signposts;
    return STROBE_OK;
}

enum strobe_err strobe_report_join(struct strobe_report *report)
{
    enum strobe_err err = STROBE_OK;
    report->coverage.n_log_rows = report->log.n_rows;
    report->coverage.n_log_aside = report->log.n_aside;
    if (report->is_device_only) {
        report->coverage.n_programs = report->coverage.n_rows = report->device.n;
        return STROBE_OK;
    }
    if (!(err = add_op_rows(report)))
        err = report->uses_cpp ? join_cpp(report) : join_log(report);
    if (!err)
        err = count_all(report);
    if (!err)
        err = add_signposts(report);
    if (!err && report->n_rows)
        qsort(report->rows, report->n_rows, sizeof *report->rows, compare_rows);
    report->coverage.n_rows = report->n_rows;
    return err;
}
