/* ops_rows.c - the list of ops: what the events say of each, or what the op report said, and where it is on the timeline.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "query/ops.h"
#include "query/scan.h"

enum { DEVICE_BITS = 10 }; /* of an op's number; above them is the program's */

static const struct strobe_op_zone no_zone = {.thread = STROBE_IDMAP_NONE};

static uint32_t count_cores(const struct strobe_op *op)
{
    uint32_t n = 0;
    for (int i = 0; i < STROBE_OPS_CORE_WORDS; i++)
        n += (uint32_t)__builtin_popcountll(op->cores[i]);
    return n;
}

static struct strobe_op_zone host_of(const struct strobe_ops *ops, uint32_t scope, uint64_t id)
{
    uint32_t i = strobe_idmap_find(&ops->host_ids, scope, id);
    return i == STROBE_IDMAP_NONE ? no_zone : ops->hosts[i];
}

/* ---- rows of events ---- */

static int64_t length_of(const struct strobe_ops *ops, uint32_t process,
                         const struct strobe_op_range *range)
{
    return range->n ? strobe_ops_ns(ops->view->trace, process,
                                    strobe_ops_cycles(range->first, range->last))
                    : -1;
}

/* Kernels of one sort alone say what the op does; of workers with five processors. */
static enum strobe_device_work work_of(const struct strobe_op *op)
{
    enum { MOVING = 3, COMPUTING = 7 << 2 };
    if (op->riscs & ~(uint32_t)(MOVING | COMPUTING) || !op->riscs)
        return STROBE_DEVICE_WORK_UNKNOWN;
    return !(op->riscs & COMPUTING) ? STROBE_DEVICE_WORK_MOVING
           : !(op->riscs & MOVING)  ? STROBE_DEVICE_WORK_COMPUTE
                                    : STROBE_DEVICE_WORK_UNKNOWN;
}

static struct strobe_op_row row_of_op(const struct strobe_ops *ops, const struct strobe_op *op)
{
    const struct strobe_trace *trace = ops->view->trace;
    uint32_t name = strobe_idmap_find(&trace->program_ids, op->process, op->program);
    uint64_t device = trace->processes[op->process].device;
    return (struct strobe_op_row){.op = op->program << DEVICE_BITS | (device & 1023),
                                  .program = op->program,
                                  .known = STROBE_DEVICE_HAS_DEVICE | STROBE_DEVICE_HAS_CORES |
                                           (op->kernel.n ? STROBE_DEVICE_HAS_KERNEL : 0) |
                                           (op->fw.n ? STROBE_DEVICE_HAS_FW : 0),
                                  .from = op->from,
                                  .to = op->to,
                                  .kernels = op->first,
                                  .host = no_zone,
                                  .times = {length_of(ops, op->process, &op->kernel),
                                            length_of(ops, op->process, &op->fw), -1, -1, -1,
                                            work_of(op)},
                                  .process = op->process,
                                  .name = name == STROBE_IDMAP_NONE ? 0 : trace->programs[name],
                                  .trace = UINT32_MAX,
                                  .cores = count_cores(op)};
}

/* Rows are by process and time: the gap before each is that to the kernels of the one before it on its device. */
static void set_gaps(const struct strobe_ops *ops, const struct strobe_op *const *list)
{
    const struct strobe_op *last = NULL;
    for (uint32_t i = 0; i < ops->n_rows; i++) {
        const struct strobe_op *op = list[i];
        struct strobe_op_row *row = &ops->rows[i];
        if (last && last->process != op->process)
            last = NULL;
        if (!op->kernel.n)
            continue;
        row->known |= STROBE_DEVICE_HAS_GAP;
        row->times.gap_ns =
            last ? strobe_ops_ns(ops->view->trace, op->process,
                                 strobe_ops_cycles(last->kernel.last, op->kernel.first))
                 : 0;
        last = op;
    }
}

/* The row of a device that was running at a tick; NULL: none. */
static struct strobe_op_row *row_at(const struct strobe_ops *ops, uint32_t process, uint64_t tick)
{
    uint64_t i =
        STROBE_ARRAY_BISECT(0, ops->n_rows, k,
                            ops->rows[k].process < process ||
                                (ops->rows[k].process == process && ops->rows[k].from <= tick));
    struct strobe_op_row *row = i ? &ops->rows[i - 1] : NULL;
    return row && row->process == process && row->to >= tick ? row : NULL;
}

/* Flows lead from the zone that launched an op to its first kernel. */
static void set_hosts(const struct strobe_ops *ops)
{
    const struct strobe_tables *tables = ops->tables;
    const struct strobe_trace *trace = ops->view->trace;
    for (uint32_t i = 1; i < tables->n_flows; i++) {
        const struct strobe_flow_point *a = &tables->flows[i - 1], *b = &tables->flows[i];
        if (a->owner != b->owner || a->flow != b->flow || !trace->threads[b->thread].is_lane)
            continue;
        struct strobe_op_row *row = row_at(ops, trace->threads[b->thread].process, b->tick);
        struct strobe_op_zone host = host_of(ops, a->owner + 1, a->flow);
        if (!row || host.thread == STROBE_IDMAP_NONE || row->host.thread != STROBE_IDMAP_NONE)
            continue;
        row->host = host;
        row->known |= STROBE_DEVICE_HAS_HOST;
        row->times.host_ns = (int64_t)strobe_clock_span_ns(&trace->clock, host.begin, host.ticks);
    }
}

static int by_device(const void *a, const void *b)
{
    const struct strobe_op *x = *(const struct strobe_op *const *)a;
    const struct strobe_op *y = *(const struct strobe_op *const *)b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->program < y->program ? -1 : x->program > y->program;
}

static int by_time(const void *a, const void *b)
{
    const struct strobe_op_row *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static enum strobe_err rows_of_events(struct strobe_ops *ops)
{
    const struct strobe_op **list = malloc((ops->n_ops + 1ull) * sizeof(struct strobe_op *));
    if (!list)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < ops->n_ops; i++)
        list[i] = &ops->ops[i];
    if (ops->n_ops)
        qsort(list, ops->n_ops, sizeof *list, by_device);
    ops->n_rows = ops->n_ops;
    for (uint32_t i = 0; i < ops->n_rows; i++)
        ops->rows[i] = row_of_op(ops, list[i]);
    set_gaps(ops, list);
    set_hosts(ops);
    for (uint32_t i = 0; i < ops->n_rows; i++)
        ops->rows[i].bound = strobe_device_op_bound(&ops->rows[i].times);
    if (ops->n_rows)
        qsort(ops->rows, ops->n_rows, sizeof *ops->rows, by_time);
    free(list);
    return STROBE_OK;
}

/* ---- rows of a report ---- */

static uint64_t program_of(const struct strobe_op_record *record)
{
    return (record->op & UINT32_MAX) >> DEVICE_BITS;
}

/* Where a report's row ran, by its program and its ticks; NULL: the events do not have it. */
static const struct strobe_op *op_of_record(const struct strobe_ops *ops,
                                            const struct strobe_op_record *record)
{
    uint32_t at, i = strobe_idmap_find(&ops->program_ids, record->process, program_of(record));
    if (i == STROBE_IDMAP_NONE || !record->from || record->to < record->from)
        return NULL;
    uint32_t run =
        strobe_ops_find(ops, &ops->programs[i], record->from, record->to, STROBE_IDMAP_NONE, &at);
    return run == STROBE_IDMAP_NONE ? NULL : &ops->ops[ops->programs[i].runs[run]];
}

static struct strobe_op_row row_of_record(const struct strobe_ops *ops,
                                          const struct strobe_op_record *record)
{
    const struct strobe_op *op = op_of_record(ops, record);
    uint64_t known = record->known;
    return (struct strobe_op_row){
        .op = record->op,
        .program = program_of(record),
        .session = record->session,
        .known = known,
        .from = op ? op->from : 0,
        .to = op ? op->to : 0,
        .kernels = op ? op->first : no_zone,
        .host = host_of(ops, 0, record->op),
        .times = {known & STROBE_DEVICE_HAS_KERNEL ? (int64_t)record->kernel_ns : -1,
                  known & STROBE_DEVICE_HAS_FW ? (int64_t)record->fw_ns : -1, record->gap_ns,
                  known & STROBE_DEVICE_HAS_HOST ? (int64_t)record->host_ns : -1, -1,
                  STROBE_DEVICE_WORK_UNKNOWN},
        .util = record->util,
        .process = record->process,
        .name = record->name,
        .trace = record->trace,
        .cores = record->cores,
        .bound = (enum strobe_device_bound)record->bound};
}

enum strobe_err strobe_ops_make_rows(struct strobe_ops *ops)
{
    const struct strobe_trace *trace = ops->view->trace;
    uint64_t n = trace->n_ops ? trace->n_ops : ops->n_ops;
    struct strobe_op_row *rows = strobe_array_resize(ops->rows, n + 1, sizeof *rows);
    if (!rows)
        return STROBE_ERR_NOMEM;
    ops->rows = rows;
    if (!trace->n_ops)
        return rows_of_events(ops);
    ops->n_rows = trace->n_ops;
    for (uint32_t i = 0; i < ops->n_rows; i++)
        rows[i] = row_of_record(ops, &trace->ops[i]);
    return STROBE_OK;
}

/* ---- a row's processors ---- */

struct parting {
    struct strobe_ops *ops;
    const struct strobe_op_row *row;
    struct strobe_op_part *parts; /* by thread */
    int64_t *kernel, *busy;       /* cycles, likewise */
};

static int take_part(void *context, uint32_t thread, uint32_t loc, uint64_t loc_id,
                     const struct strobe_zone_row *zone, const struct strobe_note *note)
{
    const struct parting *p = context;
    const struct strobe_trace *trace = p->ops->view->trace;
    uint32_t process = p->row->process;
    (void)loc_id;
    if (!zone->depth && note && note->has_value && zone->ticks && note->value != p->row->program)
        return 1; /* another one's, at the same time */
    if (zone->begin + zone->ticks > p->row->to)
        return 1;
    int64_t cycles = strobe_ops_cycles(strobe_ops_begin(trace, process, zone),
                                       strobe_ops_end(trace, process, zone));
    enum strobe_op_kind kind = strobe_ops_kind(p->ops, loc);
    if (kind == STROBE_OP_KERNEL || (!zone->depth && kind == STROBE_OP_OTHER))
        p->kernel[thread] += cycles;
    if (!zone->depth)
        p->busy[thread] += cycles;
    return 1;
}

/* From cycles by thread to the list. */
static uint32_t list_parts(const struct parting *p, uint32_t n_threads)
{
    const struct strobe_trace *trace = p->ops->view->trace;
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_threads; i++) {
        if (p->kernel[i] <= 0 && p->busy[i] <= 0)
            continue;
        int64_t kernel = p->kernel[i] > 0 ? p->kernel[i] : 0;
        int64_t busy = p->busy[i] > kernel ? p->busy[i] : kernel;
        p->parts[n++] =
            (struct strobe_op_part){i, (uint64_t)strobe_ops_ns(trace, p->row->process, kernel),
                                    (uint64_t)strobe_ops_ns(trace, p->row->process, busy)};
    }
    return n;
}

enum strobe_err strobe_ops_parts(struct strobe_ops *ops, const struct strobe_op_row *row,
                                 struct strobe_op_part **out, uint32_t *n)
{
    const struct strobe_trace *trace = ops->view->trace;
    uint32_t n_threads = trace->thread_ids.n;
    uint8_t *threads = calloc(n_threads + 1ull, 1);
    struct parting p = {ops, row, calloc(n_threads + 1ull, sizeof *p.parts),
                        calloc(n_threads + 1ull, sizeof *p.kernel),
                        calloc(n_threads + 1ull, sizeof *p.busy)};
    enum strobe_err err = threads && p.parts && p.kernel && p.busy ? STROBE_OK : STROBE_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < n_threads; i++)
        threads[i] =
            trace->threads[i].process == row->process && strobe_ops_is_lane(&trace->threads[i]);
    struct strobe_scan scan = {.view = ops->view,
                               .lo = row->from,
                               .hi = row->to,
                               .threads = threads,
                               .n_threads = n_threads,
                               .want_notes = 1,
                               .context = &p,
                               .zone = take_part};
    if (!err && row->from)
        err = strobe_scan_run(&scan);
    *n = err ? 0 : list_parts(&p, n_threads);
    *out = p.parts;
    free(threads);
    free(p.kernel);
    free(p.busy);
    return err;
}
