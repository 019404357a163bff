/* summary.c - sums a report up. What bounds an op: wire/device_op.h.  SPDX-License-Identifier: MIT */
#include "report/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define COL(name) STROBE_REPORT_COL_##name

static int64_t value_of(const struct strobe_report_figures *figures, int column)
{
    return strobe_report_figure_known(figures, column) ? figures->values[column] : -1;
}

/* What the kernels do: those of one sort alone ran; or cores were seen to compute rather than to wait; or the program's own model
 * says what takes longer. */
static enum strobe_device_work find_work(const struct strobe_report_figures *figures,
                                         const struct strobe_report_desc *desc)
{
    const uint64_t computing = 7ull << COL(TRISC0),
                   moving = 3ull << COL(BRISC) | 1ull << COL(ERISC);
    int computes = (figures->known & computing) != 0, moves = (figures->known & moving) != 0;
    if (computes != moves)
        return computes ? STROBE_DEVICE_WORK_COMPUTE : STROBE_DEVICE_WORK_MOVING;
    if (strobe_report_figure_known(figures, COL(WAIT_FRONT)) ||
        strobe_report_figure_known(figures, COL(RESERVE_BACK)))
        return STROBE_DEVICE_WORK_COMPUTE;
    if (!desc || !desc->has_pm || desc->pm_compute <= 1 || desc->pm_bandwidth <= 1)
        return STROBE_DEVICE_WORK_UNKNOWN; /* 1 is what programs say that have no model */
    return desc->pm_compute >= desc->pm_bandwidth ? STROBE_DEVICE_WORK_COMPUTE
                                                  : STROBE_DEVICE_WORK_MOVING;
}

static struct strobe_report_item make_item(uint32_t row, uint64_t id, int64_t device,
                                           int64_t session,
                                           const struct strobe_report_figures *figures,
                                           const struct strobe_report_desc *desc)
{
    struct strobe_report_item item = {.row = row, .id = id, .device = device, .session = session};
    int64_t cores = value_of(figures, COL(CORE_COUNT));
    int64_t waits = strobe_device_at_least_0(value_of(figures, COL(WAIT_FRONT))) +
                    strobe_device_at_least_0(value_of(figures, COL(RESERVE_BACK)));
    item.cores = cores;
    item.times = (struct strobe_device_times){.kernel_ns = value_of(figures, COL(KERNEL_DURATION)),
                                              .fw_ns = value_of(figures, COL(FW_DURATION)),
                                              .gap_ns = value_of(figures, COL(LATENCY)),
                                              .host_ns = value_of(figures, COL(HOST_DURATION)),
                                              .waiting_ns = cores > 0 ? waits / cores : -1,
                                              .work = find_work(figures, desc)};
    item.has_gap = strobe_report_figure_known(figures, COL(LATENCY));
    item.pm_util = figures->has_pm_util ? figures->pm_util : NAN;
    item.start_cycle = value_of(figures, COL(FW_START));
    item.end_cycle = value_of(figures, COL(FW_END));
    item.host_start_ns = value_of(figures, COL(HOST_START));
    item.bound = strobe_device_op_bound(&item.times);
    return item;
}

static struct strobe_report_device_total *total_of(struct strobe_report_summary *summary,
                                                   int64_t device)
{
    for (uint32_t i = 0; i < summary->n_devices; i++)
        if (summary->devices[i].device == device)
            return &summary->devices[i];
    if (STROBE_ARRAY_RESERVE_TIGHT(summary->devices, summary->n_devices))
        return NULL;
    summary->devices[summary->n_devices] = (struct strobe_report_device_total){.device = device};
    return &summary->devices[summary->n_devices++];
}

static void count_item(struct strobe_report_summary *summary, const struct strobe_report_item *item)
{
    struct strobe_report_section *section = &summary->sections[summary->n_sections - 1];
    section->n_ops++;
    section->kernel_ns += strobe_device_at_least_0(item->times.kernel_ns);
    section->gap_ns += strobe_device_at_least_0(item->times.gap_ns);
    section->host_ns += strobe_device_at_least_0(item->times.host_ns);
    summary->kernel_ns += strobe_device_at_least_0(item->times.kernel_ns);
    struct strobe_report_device_total *total =
        item->device >= 0 ? total_of(summary, item->device) : NULL;
    if (!total)
        return;
    total->n_ops++;
    total->bounds[item->bound]++;
    total->kernel_ns += strobe_device_at_least_0(item->times.kernel_ns);
    total->fw_ns += strobe_device_at_least_0(item->times.fw_ns);
    total->gap_ns += strobe_device_at_least_0(item->times.gap_ns);
}

static void add_rows(struct strobe_report_summary *summary)
{
    const struct strobe_report *report = summary->report;
    struct strobe_report_walk walk;
    struct strobe_report_figures figures;
    strobe_report_walk_open(&walk, report);
    for (uint32_t i = 0; i < report->n_rows; i++) {
        const struct strobe_report_row *row = &report->rows[i];
        strobe_report_walk_row(&walk, row, &figures);
        if (row->is_left_out)
            continue;
        if (row->kind == STROBE_REPORT_ROW_SIGNPOST) {
            summary->sections[summary->n_sections++] =
                (struct strobe_report_section){.signpost = row->item};
            continue;
        }
        const struct strobe_report_op *op = &report->host.ops[row->item];
        summary->items[summary->n_items] =
            make_item(i, op->id, op->device, row->session, &figures,
                      op->desc == UINT32_MAX ? NULL : report->host.descs.all[op->desc]);
        count_item(summary, &summary->items[summary->n_items++]);
    }
    strobe_report_walk_close(&walk);
}

static void add_runs(struct strobe_report_summary *summary, const uint32_t *order)
{
    const struct strobe_report *report = summary->report;
    struct strobe_report_walk walk;
    struct strobe_report_figures figures;
    strobe_report_walk_open(&walk, report);
    for (uint32_t i = 0; order && i < report->device.n; i++) {
        const struct strobe_report_device_op *op = &report->device.ops[order[i]];
        memset(&figures, 0, sizeof figures);
        strobe_report_device_figures(report, op, &figures);
        strobe_report_walk_run(&walk, op, &figures);
        summary->items[summary->n_items] = make_item(
            order[i], op->run, report->log.devices[op->device].id, op->counter, &figures, NULL);
        count_item(summary, &summary->items[summary->n_items++]);
    }
    strobe_report_walk_close(&walk);
}

static const struct strobe_report_item *sorted_items; /* for qsort; set by sort_items alone */

static int compare(int64_t a, int64_t b, uint32_t x, uint32_t y)
{
    if (a != b)
        return a > b ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int compare_kernels(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return compare(sorted_items[x].times.kernel_ns, sorted_items[y].times.kernel_ns, x, y);
}

static int compare_gaps(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return compare(sorted_items[x].times.gap_ns, sorted_items[y].times.gap_ns, x, y);
}

static void sort_items(struct strobe_report_summary *summary)
{
    for (uint32_t i = 0; i < summary->n_items; i++)
        summary->slowest[i] = summary->gaps[i] = i;
    sorted_items = summary->items;
    if (!summary->n_items)
        return;
    qsort(summary->slowest, summary->n_items, sizeof *summary->slowest, compare_kernels);
    qsort(summary->gaps, summary->n_items, sizeof *summary->gaps, compare_gaps);
}

enum strobe_err strobe_report_summary_make(struct strobe_report_summary *summary,
                                           const struct strobe_report *report)
{
    uint32_t n = report->is_device_only ? report->device.n : report->n_rows;
    *summary = (struct strobe_report_summary){.report = report};
    summary->items = malloc((n + 1) * sizeof *summary->items);
    summary->slowest = malloc((n + 1) * sizeof *summary->slowest);
    summary->gaps = malloc((n + 1) * sizeof *summary->gaps);
    summary->sections = calloc(report->host.n_signposts + 1, sizeof *summary->sections);
    if (!summary->items || !summary->slowest || !summary->gaps || !summary->sections)
        return STROBE_ERR_NOMEM;
    summary->n_sections = 1;
    summary->sections[0].signpost = UINT32_MAX;
    if (report->is_device_only) {
        uint32_t *order = strobe_report_device_ops_order(&report->device);
        add_runs(summary, order);
        free(order);
    } else {
        add_rows(summary);
    }
    sort_items(summary);
    return STROBE_OK;
}

void strobe_report_summary_free(struct strobe_report_summary *summary)
{
    free(summary->items);
    free(summary->slowest);
    free(summary->gaps);
    free(summary->sections);
    free(summary->devices);
    *summary = (struct strobe_report_summary){0};
}

void strobe_report_item_name(const struct strobe_report_summary *summary,
                             const struct strobe_report_item *item, struct strobe_out *out)
{
    const struct strobe_report *report = summary->report;
    if (!report->is_device_only) {
        const struct strobe_report_op *op = &report->host.ops[report->rows[item->row].item];
        const struct strobe_report_desc *desc =
            op->desc == UINT32_MAX ? NULL : report->host.descs.all[op->desc];
        if (desc && desc->cells[COL(OP_CODE)].len) {
            strobe_out_bytes(out, desc->text.at + desc->cells[COL(OP_CODE)].at,
                             desc->cells[COL(OP_CODE)].len);
            return;
        }
    }
    strobe_out_format(out, "op %llu", (unsigned long long)item->id);
}

struct strobe_report_span strobe_report_signpost_header(const struct strobe_report *report,
                                                        uint32_t signpost)
{
    const struct strobe_report_signpost *found = &report->host.signposts[signpost];
    const char *at = report->host.texts.at + found->at, *end = at + found->len;
    const char *word = memmem(at, found->len, "TT_SIGNPOST", 11);
    at = word ? word + 11 : at;
    at += at < end && *at == ':';
    at += at < end && *at == ' ';
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    return (struct strobe_report_span){at, (size_t)((line_end ? line_end : end) - at)};
}

void strobe_report_coverage_line(const struct strobe_report *report, struct strobe_out *out)
{
    const struct strobe_report_coverage *c = &report->coverage;
    unsigned long long faults = strobe_report_faults_total(&report->faults);
    strobe_out_text(out, "coverage: ");
    if (report->is_device_only) {
        strobe_out_format(out, "%llu device runs, no host ops; ",
                          (unsigned long long)c->n_programs);
    } else {
        strobe_out_format(out, "%llu of %llu host ops in %llu rows (%llu named, %llu timed); ",
                          (unsigned long long)c->n_ops, (unsigned long long)c->n_ops,
                          (unsigned long long)c->n_rows, (unsigned long long)c->n_named,
                          (unsigned long long)c->n_timed);
        strobe_out_format(
            out, "%llu of %llu device ops with device data; %llu of %llu device runs joined; ",
            (unsigned long long)c->n_with_device, (unsigned long long)c->n_device_ops,
            (unsigned long long)c->n_joined, (unsigned long long)c->n_programs);
    }
    strobe_out_format(out, "%llu of %llu device log lines used; %llu %s",
                      (unsigned long long)c->n_log_rows,
                      (unsigned long long)(c->n_log_rows + c->n_log_aside), faults,
                      faults == 1 ? "fault" : "faults");
}
