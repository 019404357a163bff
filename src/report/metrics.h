/* metrics.h - efficiency figures of ops from their performance counters.
 * A metric is a formula over the counters of one core; an op gets its least, median, greatest and
 * mean value over its cores.  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_METRICS_H
#define STROBE_REPORT_METRICS_H

#include "report/counters.h"

enum { STROBE_REPORT_METRICS_MAX = 96, STROBE_REPORT_STATS = 4 };

/* The two reports differ in their rules for counters that are missing. */
enum strobe_report_metrics_mode {
    STROBE_REPORT_METRICS_FULL,   /* missing is unknown */
    STROBE_REPORT_METRICS_DEVICE, /* the device-only report: a counter nobody has is zero */
};

/* One op's values: NaN is unknown. */
struct strobe_report_op_metrics {
    double stats[STROBE_REPORT_METRICS_MAX][STROBE_REPORT_STATS]; /* min, median, max, mean */
    double sums[3]; /* of SFPU, FPU and math counts over the cores; NaN: not counted */
    bool found;     /* the op has counters */
};

/* Metrics of one device. */
struct strobe_report_metrics {
    const struct strobe_report_counters *counters; /* borrowed: sorted, outlives this */
    enum strobe_report_metrics_mode mode;
    uint32_t device;
    size_t from, to; /* the device's values */
    bool active[STROBE_REPORT_METRICS_MAX];
    bool packer_busy, math_started, dest_write, unpacker_grants;
    /* The counter whose markers order the cores; UINT32_MAX: their places do. */
    uint32_t order[STROBE_REPORT_METRICS_MAX];
    uint32_t *kinds; /* owned: numbers of the metrics' counters; UINT32_MAX: absent */
};

/* Prepare the metrics of a device. False when it has no counters, or without memory. */
bool strobe_report_metrics_open(struct strobe_report_metrics *metrics,
                                const struct strobe_report_counters *counters, uint32_t device,
                                enum strobe_report_metrics_mode mode);
void strobe_report_metrics_op(const struct strobe_report_metrics *metrics, uint64_t run,
                              int64_t counter, struct strobe_report_op_metrics *out);
void strobe_report_metrics_close(struct strobe_report_metrics *metrics);

int strobe_report_metric_count(void);

/* The column of a metric's statistic, for example "FPU Util Min (%)". */
void strobe_report_metric_header(int metric, int stat, struct strobe_out *out);

/* True for metrics that only the device-only report has. */
bool strobe_report_metric_device_only(int metric);

#endif
