/* figures.c - the numbers of a row: durations in ns, latencies, utilisation.
 * Rounding is half to even throughout. Two ways of going from cycles to ns exist and differ in the
 * last digit: the full report divides by the rate of the analysis' own first sample, the
 * device-only report by the chip's frequency.  SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define COL(name) STROBE_REPORT_COL_##name

static_assert((int)STROBE_REPORT_N_COLUMNS <= 64, "one bit of `known` for each column");

static void set(struct strobe_report_figures *out, enum strobe_report_column column, int64_t value)
{
    out->values[column] = value;
    out->known |= 1ull << column;
}

static double to_ns(const struct strobe_report *report, uint64_t cycles)
{
    return (double)(cycles * 1000) / (double)report->log.freq_mhz;
}

static void set_duration(const struct strobe_report *report, struct strobe_report_figures *out,
                         int analysis, enum strobe_report_column column, uint64_t cycles)
{
    if (strobe_report_analysis_wanted(report, analysis))
        set(out, column, strobe_report_round_int(to_ns(report, cycles)));
}

static void set_range(const struct strobe_report *report, struct strobe_report_figures *out,
                      int analysis, enum strobe_report_column column,
                      const struct strobe_report_range *range)
{
    if (range->n >= 2)
        set_duration(report, out, analysis, column, range->last - range->first);
}

/* Cycles per ns, as a sample of so many cycles gives it. */
static double rate_of(const struct strobe_report *report, uint64_t cycles)
{
    return cycles ? (double)cycles / to_ns(report, cycles) : (double)report->log.freq_mhz / 1000;
}

static void set_per_core(const struct strobe_report *report,
                         const struct strobe_report_device_op *op,
                         struct strobe_report_figures *out)
{
    if (!op->per_core.n || !strobe_report_analysis_wanted(report, STROBE_REPORT_AN_PER_CORE))
        return;
    double values[3] = {(double)op->per_core.min, (double)op->per_core.max,
                        (double)op->per_core.sum / (double)op->per_core.n};
    double rate = rate_of(report, op->per_core.first_cycles);
    for (int i = 0; i < 3; i++) {
        double ns = report->is_device_only ? values[i] * 1000 / (double)report->log.freq_mhz
                                           : values[i] / rate;
        set(out, COL(PER_CORE_MIN) + i, strobe_report_round_int(ns));
    }
}

static bool has_dm(const struct strobe_report_device_op *op)
{
    return op->n_dm && op->kernel.n >= 2 && op->kernel.last >= op->dm_start;
}

void strobe_report_device_figures(const struct strobe_report *report,
                                  const struct strobe_report_device_op *op,
                                  struct strobe_report_figures *out)
{
    static const int riscs[] = {STROBE_REPORT_AN_BRISC,  STROBE_REPORT_AN_NCRISC,
                                STROBE_REPORT_AN_TRISC0, STROBE_REPORT_AN_TRISC1,
                                STROBE_REPORT_AN_TRISC2, STROBE_REPORT_AN_ERISC};
    out->has_device = true;
    set(out, COL(CORE_COUNT), op->n_cores);
    if (op->sub_device >= 0)
        set(out, COL(SUB_DEVICE), op->sub_device);
    set_range(report, out, STROBE_REPORT_AN_FW, COL(FW_DURATION), &op->fw);
    if (strobe_report_figure_known(out, COL(FW_DURATION))) {
        set(out, COL(FW_START), (int64_t)op->fw.first);
        set(out, COL(FW_END), (int64_t)op->fw.last);
    }
    set_range(report, out, STROBE_REPORT_AN_KERNEL, COL(KERNEL_DURATION), &op->kernel);
    if (has_dm(op))
        set_duration(report, out, STROBE_REPORT_AN_KERNEL_DM, COL(KERNEL_DM),
                     op->kernel.last - op->dm_start);
    set_per_core(report, op, out);
    set_range(report, out, STROBE_REPORT_AN_FIRST_TO_LAST, COL(FIRST_TO_LAST), &op->kernel_start);
    for (int i = 0; i < STROBE_REPORT_KERNEL_RISCS; i++)
        set_range(report, out, riscs[i], COL(BRISC) + i, &op->riscs[i]);
    if (op->wait_front)
        set_duration(report, out, STROBE_REPORT_AN_WAIT_FRONT, COL(WAIT_FRONT), op->wait_front);
    if (op->reserve_back)
        set_duration(report, out, STROBE_REPORT_AN_RESERVE_BACK, COL(RESERVE_BACK),
                     op->reserve_back);
    for (int i = 0; i < 2; i++)
        if (op->has_dispatch[i])
            set_duration(report, out, STROBE_REPORT_AN_DISPATCH_TOTAL + i, COL(DISPATCH_TOTAL) + i,
                         op->dispatch[i]);
    if (strobe_report_figure_known(out, COL(KERNEL_DURATION)))
        out->kernel_cycles = op->kernel.last - op->kernel.first;
}

/* ---- the walk ---- */

void strobe_report_walk_open(struct strobe_report_walk *walk, const struct strobe_report *report)
{
    *walk = (struct strobe_report_walk){.report = report};
    if (report->metrics)
        walk->metrics = malloc(sizeof *walk->metrics);
}

void strobe_report_walk_close(struct strobe_report_walk *walk)
{
    free(walk->ends);
    free(walk->metrics);
    *walk = (struct strobe_report_walk){0};
}

static struct strobe_report_gap_end *end_of(struct strobe_report_walk *walk, int64_t device)
{
    for (uint32_t i = 0; i < walk->n_ends; i++)
        if (walk->ends[i].device == device)
            return &walk->ends[i];
    if (STROBE_ARRAY_RESERVE_TIGHT(walk->ends, walk->n_ends))
        return NULL;
    walk->ends[walk->n_ends] = (struct strobe_report_gap_end){.device = device};
    return &walk->ends[walk->n_ends++];
}

/* Gap to the kernel before on the same device; the first op has none. `*last` moves on. */
static int64_t gap(const struct strobe_report *report, int64_t start, int64_t end, double rate,
                   int64_t *last, bool *has_last)
{
    double cycles = (double)(start - *last);
    double ns =
        report->is_device_only ? 1000 * cycles / (double)report->log.freq_mhz : cycles / rate;
    int64_t latency = *has_last ? strobe_report_round_int(ns) : 0;
    *last = end;
    *has_last = true;
    return latency;
}

static void set_log_latency(struct strobe_report_walk *walk, int64_t device,
                            const struct strobe_report_device_op *op,
                            struct strobe_report_figures *out)
{
    const struct strobe_report *report = walk->report;
    struct strobe_report_gap_end *end = end_of(walk, device);
    if (!end)
        return;
    bool kernel = strobe_report_figure_known(out, COL(KERNEL_DURATION));
    double rate = rate_of(report, op->kernel.last - op->kernel.first);
    int64_t last = (int64_t)op->kernel.last;
    if (kernel)
        set(out, COL(LATENCY),
            gap(report, (int64_t)op->kernel.first, last, rate, &end->kernel_end, &end->has_kernel));
    if (strobe_report_figure_known(out, COL(KERNEL_DM)) && (kernel || report->is_device_only))
        set(out, COL(LATENCY_DM),
            gap(report, (int64_t)op->dm_start, last, rate, &end->dm_end, &end->has_dm));
}

static void add_metrics(struct strobe_report_walk *walk, uint32_t device, uint64_t run,
                        int64_t session, struct strobe_report_figures *out)
{
    const struct strobe_report *report = walk->report;
    const struct strobe_report_metrics *metrics = &report->metrics[device];
    if (!walk->metrics || !metrics->kinds)
        return;
    strobe_report_metrics_op(metrics, run, session, walk->metrics);
    out->metrics = walk->metrics;
    for (int i = 0; i < 3; i++)
        out->grid[i] = out->kernel_cycles && report->log.max_cores > 0
                           ? walk->metrics->sums[i] / (double)report->log.max_cores /
                                 (double)out->kernel_cycles * 100
                           : NAN;
}

/* ---- rows of the C++ report ---- */

#define CPP(name) STROBE_REPORT_CPP_##name

static double cpp_rate(const struct strobe_report_cpp_row *row)
{
    int64_t cycles = row->values[CPP(FW_END)] - row->values[CPP(FW_START)];
    if (!strobe_report_cpp_has(row, CPP(FW_START)) || !strobe_report_cpp_has(row, CPP(FW_END)) ||
        !strobe_report_cpp_has(row, CPP(FW_DURATION)) || cycles <= 0)
        return 0;
    return (double)row->values[CPP(FW_DURATION)] / (double)cycles;
}

/* The run's own latency, else one from the cycles, else 0. */
static void set_cpp_gap(const struct strobe_report_cpp_row *row, struct strobe_report_figures *out,
                        const int columns[3], enum strobe_report_column column, double ns_per_cycle,
                        int64_t *last, bool *has_last)
{
    int latency = columns[0], start = columns[1], end = columns[2];
    if (strobe_report_cpp_has(row, latency))
        set(out, column, row->values[latency]);
    else if (ns_per_cycle > 0 && *has_last && strobe_report_cpp_has(row, start) &&
             strobe_report_cpp_has(row, end))
        set(out, column,
            strobe_report_round_int((double)(row->values[start] - *last) * ns_per_cycle));
    else
        set(out, column, 0);
    if (strobe_report_cpp_has(row, end)) {
        *last = row->values[end];
        *has_last = true;
    }
}

/* Quasar: gaps per kind of processor, each with its own clock. */
static void set_quasar_gap(const struct strobe_report_cpp_row *row,
                           struct strobe_report_figures *out, const int columns[3],
                           enum strobe_report_column column, int64_t *last, bool *has_last)
{
    int duration = columns[0], start = columns[1], end = columns[2];
    if (strobe_report_cpp_has(row, start)) {
        int64_t span = strobe_report_cpp_has(row, end) ? row->values[end] - row->values[start] : 0;
        bool rated = span > 0 && strobe_report_cpp_has(row, duration) && row->values[duration];
        double rate = rated ? (double)row->values[duration] / (double)span : 0;
        set(out, column,
            *has_last && rated
                ? strobe_report_round_int((double)(row->values[start] - *last) * rate)
                : 0);
    }
    if (strobe_report_cpp_has(row, end)) {
        *last = row->values[end];
        *has_last = true;
    }
}

static void set_cpp_latencies(struct strobe_report_walk *walk,
                              const struct strobe_report_cpp_row *row,
                              struct strobe_report_figures *out)
{
    static const int kernel[] = {CPP(LATENCY), CPP(KERNEL_START), CPP(KERNEL_END)};
    static const int dm[] = {CPP(LATENCY_DM), CPP(DM_START), CPP(DM_END)};
    static const int q_dm[] = {CPP(Q_DM_KERNEL), CPP(Q_DM_START), CPP(Q_DM_END)};
    static const int q_trisc[] = {CPP(Q_TRISC_KERNEL), CPP(Q_TRISC_START), CPP(Q_TRISC_END)};
    struct strobe_report_gap_end *end = end_of(walk, row->device);
    if (!end)
        return;
    if (!end->has_rate) {
        end->ns_per_cycle = cpp_rate(row);
        end->has_rate = end->ns_per_cycle > 0;
    }
    set_cpp_gap(row, out, kernel, COL(LATENCY), end->ns_per_cycle, &end->kernel_end,
                &end->has_kernel);
    set_cpp_gap(row, out, dm, COL(LATENCY_DM), end->ns_per_cycle, &end->dm_end, &end->has_dm);
    if (!walk->report->is_quasar)
        return;
    set_quasar_gap(row, out, q_dm, COL(Q_LATENCY_DM), &end->q_dm_end, &end->has_q_dm);
    set_quasar_gap(row, out, q_trisc, COL(Q_LATENCY_TRISC), &end->q_trisc_end, &end->has_q_trisc);
}

static void set_cpp(struct strobe_report_walk *walk, const struct strobe_report_cpp_row *row,
                    struct strobe_report_figures *out)
{
    const struct strobe_report *report = walk->report;
    out->has_device = true;
    for (int i = 0; i < (int)STROBE_REPORT_CPP_N; i++) {
        int column = strobe_report_cpp_shared(i);
        if (column >= 0 && i != CPP(LATENCY) && i != CPP(LATENCY_DM) &&
            strobe_report_cpp_has(row, i))
            set(out, column, row->values[i]);
    }
    for (uint32_t i = 0; i < report->log.n_devices; i++) {
        if (report->log.devices[i].id != row->device)
            continue;
        uint32_t op =
            strobe_report_device_ops_find(&report->device, i, row->id, row->trace, row->session);
        if (op != UINT32_MAX && report->device.ops[op].sub_device >= 0)
            set(out, COL(SUB_DEVICE), report->device.ops[op].sub_device);
    }
    if (strobe_report_cpp_has(row, CPP(KERNEL_START)) &&
        strobe_report_cpp_has(row, CPP(KERNEL_END)))
        out->kernel_cycles =
            (uint64_t)(row->values[CPP(KERNEL_END)] - row->values[CPP(KERNEL_START)]);
    set_cpp_latencies(walk, row, out);
}

/* ---- one row ---- */

static void set_model(const struct strobe_report *report, const struct strobe_report_op *op,
                      struct strobe_report_figures *out)
{
    if (op->desc == UINT32_MAX || !strobe_report_figure_known(out, COL(KERNEL_DURATION)))
        return;
    const struct strobe_report_desc *desc = report->host.descs.all[op->desc];
    int64_t duration = out->values[COL(KERNEL_DURATION)];
    if (!desc->has_pm)
        return;
    out->has_pm_util = true;
    out->pm_util =
        duration ? strobe_report_round(100.0 * desc->pm_compute / (double)duration, 3) : 0;
}

static void set_host(const struct strobe_report_op *op, struct strobe_report_figures *out)
{
    set(out, COL(GLOBAL_CALL_COUNT), (int64_t)op->id);
    if (op->start_ns == STROBE_REPORT_NONE)
        return;
    set(out, COL(HOST_START), op->start_ns);
    set(out, COL(HOST_END), op->start_ns + op->exec_ns);
    set(out, COL(HOST_DURATION), op->exec_ns);
}

void strobe_report_walk_row(struct strobe_report_walk *walk, const struct strobe_report_row *row,
                            struct strobe_report_figures *out)
{
    const struct strobe_report *report = walk->report;
    memset(out, 0, sizeof *out);
    if (row->kind == STROBE_REPORT_ROW_SIGNPOST) {
        set(out, COL(HOST_START), report->host.signposts[row->item].ns);
        return;
    }
    const struct strobe_report_op *op = &report->host.ops[row->item];
    set_host(op, out);
    if (row->device_op != UINT32_MAX) {
        const struct strobe_report_device_op *run = &report->device.ops[row->device_op];
        strobe_report_device_figures(report, run, out);
        set_log_latency(walk, op->device, run, out);
        if (report->metrics)
            add_metrics(walk, run->device, run->run, row->session, out);
    }
    if (row->cpp != UINT32_MAX)
        set_cpp(walk, &report->cpp.rows[row->cpp], out);
    if (row->kind == STROBE_REPORT_ROW_REPLAY) {
        set(out, COL(TRACE_ID), row->trace);
        set(out, COL(SESSION_ID), row->session);
    }
    set_model(report, op, out);
}

void strobe_report_walk_run(struct strobe_report_walk *walk,
                            const struct strobe_report_device_op *op,
                            struct strobe_report_figures *out)
{
    const struct strobe_report *report = walk->report;
    set_log_latency(walk, report->log.devices[op->device].id, op, out);
    if (report->metrics)
        add_metrics(walk, op->device, op->run, -1, out);
}
