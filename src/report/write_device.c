/* write_device.c - writes the device-only report and the gaps between ops per core.
 * SPDX-License-Identifier: MIT */
#include "report/write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define COL(name) STROBE_REPORT_COL_##name
enum { OVERHEAD_NS = 1500 }; /* what profiling itself adds between two ops */

typedef struct strobe_out text;

/* Hands the runs of all devices out: devices as the log has them, runs in the order of detection.
 */
struct device_walk {
    const struct strobe_report *report;
    struct strobe_report_walk walk;
    uint32_t *order; /* owned */
    uint32_t device, next;
    uint32_t head, execution; /* the program of the newest run; which of its runs that is */
};

static enum strobe_err open_walk(struct device_walk *walk, const struct strobe_report *report)
{
    *walk = (struct device_walk){.report = report, .head = UINT32_MAX};
    strobe_report_walk_open(&walk->walk, report);
    walk->order = strobe_report_device_ops_order(&report->device);
    return walk->order ? STROBE_OK : STROBE_ERR_NOMEM;
}

static void close_walk(struct device_walk *walk)
{
    strobe_report_walk_close(&walk->walk);
    free(walk->order);
}

static const struct strobe_report_device_op *next_run(struct device_walk *walk)
{
    const struct strobe_report_device_ops *device = &walk->report->device;
    while (walk->device < walk->report->log.n_devices) {
        while (walk->next < device->n) {
            const struct strobe_report_device_op *op = &device->ops[walk->order[walk->next++]];
            if (op->device != walk->device)
                continue;
            walk->execution = op->head == walk->head ? walk->execution + 1 : 0;
            walk->head = op->head;
            return op;
        }
        walk->device++;
        walk->next = 0;
    }
    return NULL;
}

static void set_figure(struct strobe_report_figures *figures, int column, int64_t value)
{
    figures->values[column] = value;
    figures->known |= 1ull << column;
}

/* Like the figures of a row, but in the order and with the rounding of this report. */
static void set_figures(struct device_walk *walk, const struct strobe_report_device_op *op,
                        struct strobe_report_figures *out)
{
    memset(out, 0, sizeof *out);
    strobe_report_device_figures(walk->report, op, out);
    strobe_report_walk_run(&walk->walk, op, out);
    out->known &= ~(1ull << COL(CORE_COUNT));
    if (op->trace >= 0 || op->counter >= 0) /* looked up without a trace */
        out->known &= ~(1ull << COL(SUB_DEVICE));
    set_figure(out, COL(GLOBAL_CALL_COUNT), (int64_t)op->run);
}

struct columns {
    uint64_t fixed; /* a bit each */
    bool metrics[STROBE_REPORT_METRICS_MAX];
};

static enum strobe_err find_columns(const struct strobe_report *report, struct columns *columns)
{
    struct device_walk walk;
    struct strobe_report_figures figures;
    const struct strobe_report_device_op *op;
    enum strobe_err err = open_walk(&walk, report);
    while (!err && (op = next_run(&walk))) {
        set_figures(&walk, op, &figures);
        columns->fixed |= figures.known;
        for (int i = 0; figures.metrics && i < strobe_report_metric_count(); i++)
            columns->metrics[i] |= report->metrics[op->device].active[i];
    }
    close_walk(&walk);
    return err;
}

/* The row so far ends with a ',' too many. */
static void end_row(text *out)
{
    if (out->len && out->at[out->len - 1] == ',')
        out->len--;
    strobe_out_text(out, "\r\n");
}

static void write_header(const struct columns *columns, const struct strobe_report *report,
                         text *out)
{
    for (int i = 0; i < STROBE_REPORT_N_COLUMNS; i++)
        if (columns->fixed >> i & 1)
            strobe_out_format(out, "%s,", strobe_report_column_header(i));
    if (report->noc_ops.n)
        strobe_report_noc_own_header(out);
    for (int i = 0; i < strobe_report_metric_count(); i++)
        for (int stat = 0; columns->metrics[i] && stat < STROBE_REPORT_STATS; stat++) {
            strobe_report_metric_header(i, stat, out);
            strobe_out_char(out, ',');
        }
    end_row(out);
}

static void write_row(const struct columns *columns, const struct device_walk *walk,
                      const struct strobe_report_device_op *op,
                      const struct strobe_report_figures *figures, text *out)
{
    const struct strobe_report *report = walk->report;
    bool is_traced = op->trace >= 0;
    for (int i = 0; i < STROBE_REPORT_N_COLUMNS; i++) {
        if (!(columns->fixed >> i & 1))
            continue;
        if (strobe_report_figure_known(figures, i))
            strobe_out_i(out, figures->values[i]);
        strobe_out_char(out, ',');
    }
    if (report->noc_ops.n)
        strobe_report_noc_own_cells(strobe_report_noc_ops_find(&report->noc_ops, op->run,
                                                               is_traced ? op->trace : -1,
                                                               is_traced ? op->counter : -1,
                                                               is_traced ? 0 : walk->execution),
                                    out);
    for (int i = 0; i < strobe_report_metric_count(); i++)
        for (int stat = 0; columns->metrics[i] && stat < STROBE_REPORT_STATS; stat++) {
            if (figures->metrics && report->metrics[op->device].active[i])
                strobe_report_text_double(out, figures->metrics->stats[i][stat]);
            strobe_out_char(out, ',');
        }
    end_row(out);
}

enum strobe_err strobe_report_write_device(const struct strobe_report *report, const char *path)
{
    struct columns columns = {0};
    struct device_walk walk;
    struct strobe_report_out out;
    struct strobe_report_figures figures;
    const struct strobe_report_device_op *op;
    enum strobe_err err = find_columns(report, &columns);
    if (!err)
        err = strobe_report_out_open(&out, path);
    if (err)
        return err;
    err = open_walk(&walk, report);
    write_header(&columns, report, &out.text);
    while (!err && (op = next_run(&walk))) {
        set_figures(&walk, op, &figures);
        write_row(&columns, &walk, op, &figures, &out.text);
        strobe_report_out_flush(&out, false);
    }
    close_walk(&walk);
    enum strobe_err closed = strobe_report_out_close(&out);
    return err ? err : closed;
}

/* ---- gaps per core ---- */

struct queue {
    int64_t x, y;
    size_t *gaps; /* owned: indices, in the order of time */
    size_t n, next;
};

/* One device's gaps; sorted by time, with a queue per core. */
struct gaps {
    const struct strobe_report *report;
    uint32_t device;
    size_t *all; /* owned: indices */
    size_t n;
    bool *picked;         /* owned: by index */
    struct queue *queues; /* owned: cores in the order of (x, y) */
    uint32_t n_queues;
};

static const struct strobe_report *sorted_report; /* for qsort; set by sort_gaps alone */

static int compare_gaps(const void *a, const void *b)
{
    const struct strobe_report_gap *x = &sorted_report->op2op.gaps[*(const size_t *)a];
    const struct strobe_report_gap *y = &sorted_report->op2op.gaps[*(const size_t *)b];
    const struct strobe_report_core *p = &sorted_report->log.cores[x->core];
    const struct strobe_report_core *q = &sorted_report->log.cores[y->core];
    const uint64_t left[] = {x->start, x->from_run, x->to_run, x->cycles};
    const uint64_t right[] = {y->start, y->from_run, y->to_run, y->cycles};
    for (int i = 0; i < 4; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p->y < q->y ? -1 : p->y > q->y;
}

static int compare_cores(const void *a, const void *b)
{
    const struct queue *x = a, *y = b;
    if (x->x != y->x)
        return x->x < y->x ? -1 : 1;
    return x->y < y->y ? -1 : x->y > y->y;
}

/* All cores of all devices, each place once, by (x, y). */
static struct queue *list_cores(const struct strobe_report *report, uint32_t *n_cores)
{
    struct queue *cores = calloc(report->log.n_cores + 1, sizeof *cores);
    uint32_t n = 0;
    for (uint32_t i = 0; cores && i < report->log.n_cores; i++)
        cores[i] = (struct queue){.x = report->log.cores[i].x, .y = report->log.cores[i].y};
    if (cores && report->log.n_cores)
        qsort(cores, report->log.n_cores, sizeof *cores, compare_cores);
    for (uint32_t i = 0; cores && i < report->log.n_cores; i++)
        if (!n || compare_cores(&cores[n - 1], &cores[i]))
            cores[n++] = cores[i];
    *n_cores = n;
    return cores;
}

static void fill_queues(struct gaps *gaps, uint32_t *queue_of)
{
    const struct strobe_report *report = gaps->report;
    for (uint32_t i = 0; i < report->log.n_cores; i++) {
        struct queue key = {.x = report->log.cores[i].x, .y = report->log.cores[i].y};
        struct queue *queue =
            bsearch(&key, gaps->queues, gaps->n_queues, sizeof key, compare_cores);
        queue_of[i] = (uint32_t)(queue - gaps->queues);
    }
    for (size_t i = 0; i < report->op2op.n; i++) {
        const struct strobe_report_gap *gap = &report->op2op.gaps[i];
        struct queue *queue = &gaps->queues[queue_of[gap->core]];
        if (report->log.cores[gap->core].device_index != gaps->device || !gap->other_iteration)
            continue;
        gaps->all[gaps->n++] = i;
        if (STROBE_ARRAY_RESERVE_TIGHT(queue->gaps, queue->n))
            continue;
        queue->gaps[queue->n++] = i;
    }
}

static enum strobe_err open_gaps(struct gaps *gaps, const struct strobe_report *report,
                                 uint32_t device)
{
    *gaps = (struct gaps){.report = report, .device = device};
    gaps->all = malloc((report->op2op.n + 1) * sizeof *gaps->all);
    gaps->picked = calloc(report->op2op.n + 1, sizeof *gaps->picked);
    gaps->queues = list_cores(report, &gaps->n_queues);
    uint32_t *queue_of = malloc((report->log.n_cores + 1) * sizeof *queue_of);
    if (!gaps->all || !gaps->picked || !gaps->queues || !queue_of) {
        free(queue_of);
        return STROBE_ERR_NOMEM;
    }
    fill_queues(gaps, queue_of);
    free(queue_of);
    sorted_report = report;
    if (gaps->n)
        qsort(gaps->all, gaps->n, sizeof *gaps->all, compare_gaps);
    return STROBE_OK;
}

static void close_gaps(struct gaps *gaps)
{
    for (uint32_t i = 0; i < gaps->n_queues; i++)
        free(gaps->queues[i].gaps);
    free(gaps->queues);
    free(gaps->picked);
    free(gaps->all);
}

/* In ns. Upstream takes the overhead off the cycles and calls that ns. */
static int64_t gap_ns(const struct strobe_report *report, const struct strobe_report_gap *gap)
{
    if (report->options.compatible)
        return (int64_t)gap->cycles - OVERHEAD_NS;
    double ns = (double)(gap->cycles * 1000) / (double)report->log.freq_mhz;
    return strobe_report_round_int(ns) - OVERHEAD_NS;
}

/* One row: the gap between two ops on every core whose next gap this is. */
static void write_gap(struct gaps *gaps, const struct strobe_report_gap *gap, text *out)
{
    const struct strobe_report *report = gaps->report;
    strobe_out_format(out, "%lld,%llu -> %llu", (long long)report->log.devices[gaps->device].id,
                      (unsigned long long)gap->from_run, (unsigned long long)gap->to_run);
    for (uint32_t i = 0; i < gaps->n_queues; i++) {
        struct queue *queue = &gaps->queues[i];
        strobe_out_char(out, ',');
        if (queue->next == queue->n)
            continue;
        size_t index = queue->gaps[queue->next];
        const struct strobe_report_gap *own = &report->op2op.gaps[index];
        if (own->from_run != gap->from_run || own->to_run != gap->to_run)
            continue;
        strobe_out_i(out, gap_ns(report, own));
        gaps->picked[index] = true;
        queue->next++;
    }
    strobe_out_text(out, "\r\n");
}

static enum strobe_err write_gaps_header(const struct strobe_report *report, text *out)
{
    uint32_t n;
    struct queue *cores = list_cores(report, &n);
    if (!cores)
        return STROBE_ERR_NOMEM;
    strobe_out_text(out, "device ID,op2op ID");
    for (uint32_t i = 0; i < n; i++)
        strobe_out_format(out, ",%lld; %lld [ns]", (long long)cores[i].x, (long long)cores[i].y);
    strobe_out_text(out, "\r\n");
    free(cores);
    return STROBE_OK;
}

enum strobe_err strobe_report_write_op2op(const struct strobe_report *report, const char *path)
{
    struct strobe_report_out out;
    enum strobe_err err = strobe_report_out_open(&out, path);
    if (err)
        return err;
    err = write_gaps_header(report, &out.text);
    for (uint32_t device = 0; !err && device < report->log.n_devices; device++) {
        struct gaps gaps;
        err = open_gaps(&gaps, report, device);
        for (size_t i = 0; !err && i < gaps.n; i++) {
            if (!gaps.picked[gaps.all[i]])
                write_gap(&gaps, &report->op2op.gaps[gaps.all[i]], &out.text);
            strobe_report_out_flush(&out, false);
        }
        close_gaps(&gaps);
    }
    enum strobe_err closed = strobe_report_out_close(&out);
    return err ? err : closed;
}
