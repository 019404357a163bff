/* ops.c - the rows of the op report as DEVICE_OP records, so that a viewer of the trace has the very figures of `strobe report`.
 * The logs are read once more for it, by the report's own code.  SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "device_import/internal.h"

void strobe_log_reading_ops(struct strobe_log_reading *r)
{
    struct strobe_report_options options = {.logs = r->files->logs, .copy_fd = -1};
    if (!r->files->logs)
        return;
    r->has_ops = !strobe_report_read(&r->report, &options) &&
                 !strobe_report_summary_make(&r->ops, &r->report) && r->report.has_device_log;
}

void strobe_log_reading_free_ops(struct strobe_log_reading *r)
{
    if (!r->files->logs)
        return;
    strobe_report_summary_free(&r->ops);
    strobe_report_close(&r->report);
}

/* The device of a row; the first one keeps those of the host alone. NULL: it has no process. */
static const struct strobe_log_device *device_of(const struct strobe_log_reading *r, int64_t id)
{
    for (uint32_t i = 0; i < r->out->n_devices; i++)
        if (r->devices[i].build && (id < 0 || r->devices[i].id == id))
            return &r->devices[i];
    return NULL;
}

/* A cycle as a tick of the trace; 0: not known. */
static uint64_t tick_of(const struct strobe_log_device *device, int64_t cycle)
{
    return cycle < 0 || cycle >> STROBE_LOG_TIME_BITS ? 0
                                                      : strobe_clock_map_tick(device->map, cycle);
}

static uint64_t known_of(const struct strobe_report_item *item)
{
    const struct strobe_device_times *times = &item->times;
    uint64_t known = item->device >= 0 ? STROBE_DEVICE_HAS_DEVICE : 0;
    known |= times->host_ns >= 0 ? STROBE_DEVICE_HAS_HOST : 0;
    known |= times->kernel_ns >= 0 ? STROBE_DEVICE_HAS_KERNEL : 0;
    known |= times->fw_ns >= 0 ? STROBE_DEVICE_HAS_FW : 0;
    known |= item->has_gap ? STROBE_DEVICE_HAS_GAP : 0;
    known |= item->cores >= 0 ? STROBE_DEVICE_HAS_CORES : 0;
    known |= isnan(item->pm_util) ? 0 : STROBE_DEVICE_HAS_UTIL;
    return known;
}

/* The op's code; of a report without host ops, what the capture's messages said. */
static void name_of(const struct strobe_log_reading *r, const struct strobe_report_item *item,
                    struct strobe_out *out)
{
    const struct strobe_report_op *op = strobe_report_host_find(&r->host, item->id);
    if (r->report.is_device_only && op && op->desc != UINT32_MAX) {
        const struct strobe_report_desc *desc = r->host.descs.all[op->desc];
        struct strobe_report_cell cell = desc->cells[STROBE_REPORT_COL_OP_CODE];
        strobe_out_bytes(out, desc->text.at + cell.at, cell.len);
    }
    if (!out->len)
        strobe_report_item_name(&r->ops, item, out);
}

static void put_op(struct strobe_log_reading *r, const struct strobe_report_item *item,
                   const struct strobe_log_device *device)
{
    const struct strobe_report *report = &r->report;
    int64_t trace = report->is_device_only ? report->device.ops[item->row].trace
                                           : report->rows[item->row].trace;
    const struct strobe_device_times *times = &item->times;
    struct strobe_out name = {0};
    uint64_t util = 0;
    bool is_replay =
        report->is_device_only || report->rows[item->row].kind == STROBE_REPORT_ROW_REPLAY;
    memcpy(&util, &item->pm_util, sizeof util);
    uint64_t numbers[] = {item->id,
                          is_replay && trace >= 0 ? (uint64_t)trace : UINT32_MAX,
                          is_replay && item->session > 0 ? (uint64_t)item->session : 0,
                          tick_of(device, item->start_cycle),
                          tick_of(device, item->end_cycle),
                          known_of(item),
                          (uint64_t)strobe_device_at_least_0(times->host_ns),
                          (uint64_t)strobe_device_at_least_0(times->kernel_ns),
                          (uint64_t)strobe_device_at_least_0(times->fw_ns),
                          item->has_gap ? (uint64_t)times->gap_ns : 0,
                          (uint64_t)strobe_device_at_least_0(item->cores),
                          item->bound,
                          isnan(item->pm_util) ? 0 : util};
    name_of(r, item, &name);
    const char *texts[] = {name.at ? name.at : ""};
    size_t sizes[] = {name.len};
    if (!name.error) {
        strobe_build_record(device->build, STROBE_META_DEVICE_OP, numbers, texts, sizes);
        r->out->n_op_rows++;
    }
    strobe_out_free(&name);
}

void strobe_log_reading_put_ops(struct strobe_log_reading *r)
{
    for (uint32_t i = 0; r->has_ops && i < r->ops.n_items; i++) {
        const struct strobe_report_item *item = &r->ops.items[i];
        const struct strobe_log_device *device = device_of(r, item->device);
        STROBE_ASSERT(item->bound < STROBE_DEVICE_BOUND_COUNT);
        if (device)
            put_op(r, item, device);
    }
}
