/* analysis.h - the analyses of a device log: what they look for, what they found.
 * A setup is a list of analyses: the default one and those of the profiler's own tests.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_ANALYSIS_H
#define STROBE_REPORT_ANALYSIS_H

#include "report/model.h"

enum strobe_report_across {
    STROBE_REPORT_ACROSS_OPS,
    STROBE_REPORT_ACROSS_DEVICE,
    STROBE_REPORT_ACROSS_CORE,
    STROBE_REPORT_ACROSS_DISPATCH,
};

enum strobe_report_form {
    STROBE_REPORT_FIRST_LAST,      /* first start .. last end in an op */
    STROBE_REPORT_CORE_FIRST_LAST, /* the same on each core */
    STROBE_REPORT_ADJACENT,        /* a start and the next end */
    STROBE_REPORT_SUM,             /* the data of all markers */
    STROBE_REPORT_EVENT,           /* all timestamped data */
};

enum { STROBE_REPORT_NAMES_MAX = 7 };

/* Which markers count. */
struct strobe_report_matcher {
    const char *
        names[STROBE_REPORT_NAMES_MAX]; /* any of these; one with '*' at its end: its stem inside */
    const char *risc;                   /* or "ANY" */
    const char *phase;                  /* type; NULL: any */
    bool no_core;                       /* says nothing of the core */
    bool list;                          /* names are a list, even when there is one */
};

struct strobe_report_analysis {
    const char *name;
    enum strobe_report_across across;
    enum strobe_report_form form;
    struct strobe_report_matcher start, end; /* of sums and events: start is the marker */
};

struct strobe_report_setup {
    const char *name;
    struct strobe_report_analysis const **analyses; /* owned: in the order they are printed */
    uint32_t n;
    bool detect; /* look for ops */
};

struct strobe_report_duration {
    int64_t cycles;
    uint32_t start, end;           /* markers; of sums: none */
    uint32_t start_mark, end_mark; /* FW iterations of adjacent ones; UINT32_MAX: none */
};

struct strobe_report_stats {
    uint64_t count;
    double average, median;
    int64_t max, min, sum, first;
};

/* What an analysis found in one series of markers. */
struct strobe_report_found {
    const struct strobe_report_analysis *analysis;
    struct strobe_report_duration *all; /* owned */
    uint32_t n;
    struct strobe_report_stats stats;
};

/* All that was found in a series: analyses by name. */
struct strobe_report_findings {
    struct strobe_report_found *all; /* owned */
    uint32_t n;
};

struct strobe_report_device_findings {
    struct strobe_report_findings device, *cores, *ops, *dispatch_ops; /* owned */
    struct strobe_report_findings total; /* of all of them: statistics only */
};

/* Make a setup by its name; NOTFOUND, NOMEM. */
enum strobe_err strobe_report_setup_open(struct strobe_report_setup *setup, const char *name);
void strobe_report_setup_close(struct strobe_report_setup *setup);

/* The name of setup `i`; NULL after the last. */
const char *strobe_report_setup_name(int i);

/* Run all analyses of a setup on a device. */
enum strobe_err strobe_report_analyse(const struct strobe_report_model *model,
                                      const struct strobe_report_setup *setup, uint32_t device,
                                      struct strobe_report_device_findings *out);
void strobe_report_findings_free(const struct strobe_report_model *model, uint32_t device,
                                 struct strobe_report_device_findings *findings);

/* What an analysis found; NULL for nothing. */
const struct strobe_report_found *
strobe_report_findings_get(const struct strobe_report_findings *findings,
                           const struct strobe_report_analysis *analysis);

/* Does the marker count for this event analysis? */
bool strobe_report_is_event(const struct strobe_report_model *model,
                            const struct strobe_report_analysis *analysis,
                            const struct strobe_report_mark *mark);

/* The statistics file. */
void strobe_report_stats_text(const struct strobe_report_setup *setup,
                              const struct strobe_report_device_findings *findings,
                              uint32_t n_devices, struct strobe_out *out);

/* What the JSON says about the run itself. */
struct strobe_report_json_setup {
    const char *input_log, *output_folder; /* borrowed */
};

struct strobe_report_out;

/* The JSON of everything: device_json.c. */
void strobe_report_device_json(const struct strobe_report_model *model,
                               const struct strobe_report_setup *setup,
                               const struct strobe_report_device_findings *findings,
                               const struct strobe_report_json_setup *names,
                               struct strobe_report_out *out);

#endif
