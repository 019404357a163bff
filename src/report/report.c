/* report.c - reads all logs of a run.  SPDX-License-Identifier: MIT */
#include "report/report.h"
#include "report/dispatch.h"
#include "report/noc_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ready.h"

static const char *const analyses[] = {
#define X(name, text) text,
    STROBE_REPORT_ANALYSES(X)
#undef X
};

int strobe_report_analysis_find(const char *name)
{
    for (int i = 0; i < STROBE_REPORT_N_ANALYSES; i++)
        if (!strcmp(analyses[i], name))
            return i;
    return -1;
}

const char *strobe_report_analysis_name(int analysis)
{
    return analyses[analysis];
}

bool strobe_report_analysis_wanted(const struct strobe_report *report, int analysis)
{
    return !report->options.analyses || report->options.analyses >> analysis & 1;
}

static bool has_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return strobe_ready_has(path);
}

static enum strobe_err read_host(struct strobe_report *report)
{
    const char *folder = report->options.logs;
    bool any =
        has_file(folder, STROBE_REPORT_MESSAGES_FILE) || has_file(folder, STROBE_REPORT_TIMES_FILE);
    report->is_device_only = report->options.device_only || !any;
    if (report->is_device_only)
        return STROBE_OK;
    enum strobe_err err = strobe_report_host_read_messages(&report->host, folder);
    strobe_report_host_resolve(&report->host);
    if (!err)
        err = strobe_report_host_read_times(&report->host, folder);
    if (!err)
        err = strobe_report_noc_read(&report->noc, folder, &report->faults);
    /* a run of the host alone may have signposts and no op: they are its report */
    report->is_device_only = !report->host.n_ops && (!report->host.n_signposts ||
                                                     has_file(folder, STROBE_REPORT_DEVICE_FILE));
    return err;
}

static enum strobe_err read_cpp(struct strobe_report *report)
{
    if (report->options.force_legacy || report->is_device_only)
        return STROBE_OK;
    enum strobe_err err =
        strobe_report_cpp_read(&report->cpp, report->options.logs, &report->faults);
    if (err == STROBE_ERR_NOTFOUND)
        return STROBE_OK;
    report->uses_cpp = !err;
    return err;
}

static enum strobe_err read_device(struct strobe_report *report)
{
    char path[4096];
    struct strobe_report_log_options options = {.copy_fd = report->options.copy_fd,
                                                .progress = report->options.progress,
                                                .progress_context =
                                                    report->options.progress_context};
    snprintf(path, sizeof path, "%s/" STROBE_REPORT_DEVICE_FILE, report->options.logs);
    report->device.only_sub_devices = report->uses_cpp;
    if (!report->uses_cpp && strobe_report_analysis_wanted(report, STROBE_REPORT_AN_COUNTERS))
        report->device.counters = &report->counters;
    if (report->is_device_only && strobe_report_analysis_wanted(report, STROBE_REPORT_AN_OP2OP))
        report->device.op2op = &report->op2op;
    enum strobe_err err = strobe_report_device_ops_read(&report->device, path, &options);
    if (err == STROBE_ERR_NOTFOUND) {
        if (!report->uses_cpp)
            strobe_report_fault_add(&report->faults, STROBE_REPORT_FAULT_NO_DEVICE_LOG,
                                    STROBE_REPORT_DEVICE_FILE, 0, "no op has device times");
        return STROBE_OK;
    }
    report->has_device_log = !err;
    report->is_quasar = report->log.is_quasar;
    if (!err && report->device.has_dispatch && !report->uses_cpp)
        err = strobe_report_dispatch_attach(&report->device, path, report->host.n_replays > 0);
    return err;
}

/* The grid of a chip that is not known is at least as large as its cores' coordinates say. */
static enum strobe_err read_noc_traces(struct strobe_report *report)
{
    struct strobe_report_noc_grid grid = strobe_report_noc_grid_of(report->log.arch);
    for (uint32_t i = 0; i < report->log.n_cores; i++) {
        const struct strobe_report_core *core = &report->log.cores[i];
        if (core->x >= (int64_t)grid.n_x && core->x < STROBE_REPORT_NOC_SIDE)
            grid.n_x = (uint32_t)core->x + 1;
        if (core->y >= (int64_t)grid.n_y && core->y < STROBE_REPORT_NOC_SIDE)
            grid.n_y = (uint32_t)core->y + 1;
    }
    enum strobe_err err =
        strobe_report_noc_ops_read(&report->noc_ops, report->options.logs, grid, &report->faults);
    if (err || report->noc_ops.n || !report->device.has_noc)
        return err;
    char path[4096];
    snprintf(path, sizeof path, "%s/" STROBE_REPORT_DEVICE_FILE, report->options.logs);
    return strobe_report_noc_log_read(&report->noc_ops, &report->device, path, grid);
}

static enum strobe_err open_metrics(struct strobe_report *report)
{
    strobe_report_counters_sort(&report->counters);
    if (!report->counters.n)
        return STROBE_OK;
    report->metrics = calloc(report->log.n_devices, sizeof *report->metrics);
    if (!report->metrics)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < report->log.n_devices; i++)
        strobe_report_metrics_open(&report->metrics[i], &report->counters, i,
                                   report->is_device_only ? STROBE_REPORT_METRICS_DEVICE
                                                          : STROBE_REPORT_METRICS_FULL);
    return STROBE_OK;
}

enum strobe_err strobe_report_read(struct strobe_report *report,
                                   const struct strobe_report_options *options)
{
    *report = (struct strobe_report){.options = *options};
    strobe_report_host_open(&report->host, &report->faults);
    strobe_report_log_open(&report->log, &report->faults);
    strobe_report_device_ops_open(&report->device, &report->log);
    enum strobe_err err = read_host(report);
    if (!err)
        err = read_cpp(report);
    if (!err)
        err = read_device(report);
    if (!err && report->is_device_only && !report->has_device_log)
        return STROBE_ERR_NOTFOUND;
    if (!err)
        err = read_noc_traces(report);
    if (!err)
        err = open_metrics(report);
    if (!err)
        err = strobe_report_join(report);
    return err;
}

void strobe_report_close(struct strobe_report *report)
{
    for (uint32_t i = 0; report->metrics && i < report->log.n_devices; i++)
        strobe_report_metrics_close(&report->metrics[i]);
    free(report->metrics);
    free(report->rows);
    strobe_report_noc_free(&report->noc);
    strobe_report_noc_ops_free(&report->noc_ops);
    strobe_report_cpp_free(&report->cpp);
    strobe_report_op2op_free(&report->op2op);
    strobe_report_counters_free(&report->counters);
    strobe_report_device_ops_close(&report->device);
    strobe_report_log_close(&report->log);
    strobe_report_host_close(&report->host);
    strobe_report_faults_free(&report->faults);
    *report = (struct strobe_report){0};
}
