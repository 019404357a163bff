/* summary.h - what the terminal shows of a report: slowest ops, what bounds them, gaps, sections,
 * devices, faults, coverage.  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_SUMMARY_H
#define STROBE_REPORT_SUMMARY_H

#include "report/report.h"
#include "wire/device_op.h"

/* One run of one op. */
struct strobe_report_item {
    uint32_t row; /* of the report; of the device-only report: index of the run */
    uint64_t id;
    int64_t device, session;
    int64_t cores;                    /* -1: unknown */
    struct strobe_device_times times; /* unknown ones are -1, the gap too */
    bool has_gap;
    int64_t start_cycle, end_cycle; /* of its firmware; -1: unknown */
    int64_t host_start_ns;          /* of its zone, likewise */
    double pm_util;                 /* percent; NaN: unknown */
    enum strobe_device_bound bound;
};

struct strobe_report_section {
    uint32_t signpost; /* UINT32_MAX: before the first */
    uint64_t n_ops;
    int64_t kernel_ns, gap_ns, host_ns;
};

struct strobe_report_device_total {
    int64_t device;
    uint64_t n_ops, bounds[STROBE_DEVICE_BOUND_COUNT];
    int64_t kernel_ns, fw_ns, gap_ns;
};

struct strobe_report_summary {
    const struct strobe_report *report; /* borrowed */
    struct strobe_report_item *items;   /* owned: in the report's order */
    uint32_t n_items;
    uint32_t *slowest;                      /* owned: items by kernel time, longest first */
    uint32_t *gaps;                         /* owned: items by the gap before them, longest first */
    struct strobe_report_section *sections; /* owned */
    uint32_t n_sections;
    struct strobe_report_device_total *devices; /* owned */
    uint32_t n_devices;
    int64_t kernel_ns; /* of all */
};

struct strobe_report_view {
    uint32_t n_top;    /* slowest ops and gaps shown */
    uint32_t n_places; /* faults shown of one kind */
    const char *csv;   /* borrowed: the report's path, or NULL */
};

enum strobe_err strobe_report_summary_make(struct strobe_report_summary *summary,
                                           const struct strobe_report *report);
void strobe_report_summary_free(struct strobe_report_summary *summary);

void strobe_report_summary_text(const struct strobe_report_summary *summary,
                                const struct strobe_report_view *view, struct strobe_out *out);
void strobe_report_summary_json(const struct strobe_report_summary *summary,
                                const struct strobe_report_view *view, struct strobe_out *out);
void strobe_report_summary_md(const struct strobe_report_summary *summary,
                              const struct strobe_report_view *view, struct strobe_out *out);

/* An op's name, or "op <id>". */
void strobe_report_item_name(const struct strobe_report_summary *summary,
                             const struct strobe_report_item *item, struct strobe_out *out);

/* The line that ends every report. */
void strobe_report_coverage_line(const struct strobe_report *report, struct strobe_out *out);

/* A signpost's header, as in the report. */
struct strobe_report_span strobe_report_signpost_header(const struct strobe_report *report,
                                                        uint32_t signpost);

#endif
