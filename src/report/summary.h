/* summary.h - what the terminal shows of a report: slowest ops, what bounds them, gaps, sections,
 * devices, faults, coverage.  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_SUMMARY_H
#define STROBE_REPORT_SUMMARY_H

#include "report/report.h"

/* What an op's time is mostly made of. */
enum strobe_report_bound {
    STROBE_REPORT_BOUND_UNKNOWN,
    STROBE_REPORT_BOUND_HOST,     /* the device waited for the host */
    STROBE_REPORT_BOUND_DISPATCH, /* launch and firmware around the kernel */
    STROBE_REPORT_BOUND_KERNEL,
    STROBE_REPORT_BOUND_WAITING, /* kernels waiting for data or space in circular buffers */
};

/* One run of one op. */
struct strobe_report_item {
    uint32_t row; /* of the report; of the device-only report: index of the run */
    uint64_t id;
    int64_t device, session;
    int64_t kernel_ns, fw_ns, gap_ns, host_ns, waiting_ns; /* -1: unknown */
    enum strobe_report_bound bound;
};

struct strobe_report_section {
    uint32_t signpost; /* UINT32_MAX: before the first */
    uint64_t n_ops;
    int64_t kernel_ns, gap_ns, host_ns;
};

struct strobe_report_device_total {
    int64_t device;
    uint64_t n_ops, bounds[5];
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

const char *strobe_report_bound_name(enum strobe_report_bound bound);

/* An op's name, or "op <id>". */
void strobe_report_item_name(const struct strobe_report_summary *summary,
                             const struct strobe_report_item *item, struct strobe_out *out);

/* The line that ends every report. */
void strobe_report_coverage_line(const struct strobe_report *report, struct strobe_out *out);

/* A signpost's header, as in the report. */
struct strobe_report_span strobe_report_signpost_header(const struct strobe_report *report,
                                                        uint32_t signpost);

#endif
