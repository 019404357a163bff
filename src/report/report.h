/* report.h - the op report: read a run's logs, join them, write the reports.
 *
 * 1. strobe_report_read      the host's logs, the device's log or the C++ report
 * 2. join.c                  rows: one per op, per replay of a traced op, per signpost
 * 3. figures.c               a row's numbers, in the order of the rows (latencies need the row
 * before)
 * 4. write_ops.c, write_device.c, summary.c   CSV files and what the terminal shows
 *
 * Nothing in the logs stops a report; the ledger has what was wrong.  SPDX-License-Identifier: MIT
 */
#ifndef STROBE_REPORT_REPORT_H
#define STROBE_REPORT_REPORT_H

#include "report/counters.h"
#include "report/cpp_report.h"
#include "report/devops.h"
#include "report/host.h"
#include "report/metrics.h"
#include "report/noc.h"
#include "report/noc_ops.h"
#include "report/op2op.h"

/* The device analyses that make columns; a bit each. Name as in -a, see docs/op-report.md. */
#define STROBE_REPORT_ANALYSES(X)                         \
    X(FIRST_TO_LAST, "device_kernel_first_to_last_start") \
    X(PER_CORE, "device_kernel_duration_per_core")        \
    X(FW, "device_fw_duration")                           \
    X(KERNEL, "device_kernel_duration")                   \
    X(KERNEL_DM, "device_kernel_duration_dm_start")       \
    X(BRISC, "device_brisc_kernel_duration")              \
    X(NCRISC, "device_ncrisc_kernel_duration")            \
    X(TRISC0, "device_trisc0_kernel_duration")            \
    X(TRISC1, "device_trisc1_kernel_duration")            \
    X(TRISC2, "device_trisc2_kernel_duration")            \
    X(ERISC, "device_erisc_kernel_duration")              \
    X(WAIT_FRONT, "device_compute_cb_wait_front")         \
    X(RESERVE_BACK, "device_compute_cb_reserve_back")     \
    X(DISPATCH_TOTAL, "dispatch_total_cq_cmd_op_time")    \
    X(DISPATCH_WAIT, "dispatch_go_send_wait_time")        \
    X(COUNTERS, "perf_counter_data")                      \
    X(OP2OP, "op2op")                                     \
    X(TRACE_FW, "trace_fw_duration")                      \
    X(TRACE_KERNEL, "trace_kernel_duration")              \
    X(TRACE_GAP_FW, "trace2trace - FW")                   \
    X(TRACE_GAP_KERNEL, "trace2trace - kernel")

enum {
#define X(name, text) STROBE_REPORT_AN_##name,
    STROBE_REPORT_ANALYSES(X)
#undef X
        STROBE_REPORT_N_ANALYSES
};

struct strobe_report_options {
    const char *logs;  /* borrowed: the .logs folder */
    bool force_legacy; /* not the C++ report, even where there is one */
    bool device_only;  /* only the device log */
    bool compatible;   /* upstream's known defects too */
    uint32_t analyses; /* a bit each; 0 is all */
    int copy_fd;       /* the device log is also written here while it is read; -1: no copy */
    strobe_report_progress *progress; /* NULL: none */
    void *progress_context;
};

enum strobe_report_row_kind {
    STROBE_REPORT_ROW_OP,
    STROBE_REPORT_ROW_REPLAY,
    STROBE_REPORT_ROW_SIGNPOST,
};

struct strobe_report_row {
    int64_t ns;             /* its place in time */
    int64_t trace, session; /* of a replay */
    uint32_t item;          /* op or signpost */
    uint32_t device_op;     /* account of the device log; UINT32_MAX: none */
    uint32_t cpp;           /* row of the C++ report; UINT32_MAX: none */
    uint32_t order;         /* of rows with the same time */
    uint8_t kind;
    bool is_left_out; /* choose.h: it has its part in latencies and is written nowhere */
};

/* What was found, missing, joined. Every report ends with it. */
struct strobe_report_coverage {
    uint64_t n_ops, n_named, n_timed;     /* host ops; with a message; with a host zone */
    uint64_t n_device_ops, n_with_device; /* ops of a device; those with device data */
    uint64_t n_untried;                   /* captured into a trace that was never replayed */
    uint64_t n_replays, n_signposts, n_rows;
    uint64_t n_programs, n_joined; /* runs in the device data; those with an op */
    uint64_t n_log_rows, n_log_aside;
};

struct strobe_report {
    struct strobe_report_options options;
    struct strobe_report_faults faults;
    struct strobe_report_host host;
    struct strobe_report_log log;
    struct strobe_report_device_ops device;
    struct strobe_report_counters counters;
    struct strobe_report_op2op op2op;
    struct strobe_report_cpp cpp;
    struct strobe_report_noc noc;          /* tt-npe's figures */
    struct strobe_report_noc_ops noc_ops;  /* ours */
    struct strobe_report_metrics *metrics; /* owned: by device index of the log; mode by report */
    bool has_device_log, uses_cpp;
    bool is_device_only; /* no ops: the report of 2.6 */
    bool is_quasar;
    struct strobe_report_row *rows; /* owned: in the report's order */
    uint32_t n_rows, cap_rows;
    struct strobe_report_coverage coverage;
};

/* A row's numbers. */
struct strobe_report_figures {
    int64_t values[STROBE_REPORT_N_COLUMNS];
    uint64_t known; /* a bit per column */
    double pm_util;
    bool has_pm_util;
    bool has_device;
    uint64_t kernel_cycles;
    const struct strobe_report_op_metrics *metrics; /* NULL: none; valid until the next row */
    double grid[3]; /* counts on the full grid in percent; NaN: unknown */
};

/* Latencies need the rows before: one state for a walk over all rows. */
struct strobe_report_walk {
    const struct strobe_report *report; /* borrowed */
    struct strobe_report_gap_end {
        int64_t device;
        int64_t kernel_end, dm_end, q_dm_end, q_trisc_end;
        bool has_kernel, has_dm, has_q_dm, has_q_trisc, has_rate;
        double ns_per_cycle;
    } * ends; /* owned: per device */
    uint32_t n_ends;
    struct strobe_report_op_metrics *metrics; /* owned */
};

static inline bool strobe_report_figure_known(const struct strobe_report_figures *figures,
                                              enum strobe_report_column column)
{
    return figures->known >> column & 1;
}

/* Read all logs and make the rows. NOTFOUND when the folder has no log at all; IO, NOMEM. */
enum strobe_err strobe_report_read(struct strobe_report *report,
                                   const struct strobe_report_options *options);
void strobe_report_close(struct strobe_report *report);

/* Make the rows; called by strobe_report_read. */
enum strobe_err strobe_report_join(struct strobe_report *report);

/* The bit of an analysis by its name; -1 for a name that is none. */
int strobe_report_analysis_find(const char *name);
const char *strobe_report_analysis_name(int analysis);
bool strobe_report_analysis_wanted(const struct strobe_report *report, int analysis);

void strobe_report_walk_open(struct strobe_report_walk *walk, const struct strobe_report *report);

/* The numbers of the next row; call for every row in order. */
void strobe_report_walk_row(struct strobe_report_walk *walk, const struct strobe_report_row *row,
                            struct strobe_report_figures *out);

/* Latencies and counters of a run of the device-only report; call for every run in order. */
void strobe_report_walk_run(struct strobe_report_walk *walk,
                            const struct strobe_report_device_op *op,
                            struct strobe_report_figures *out);
void strobe_report_walk_close(struct strobe_report_walk *walk);

/* The numbers of an account of the device log, without latencies. */
void strobe_report_device_figures(const struct strobe_report *report,
                                  const struct strobe_report_device_op *op,
                                  struct strobe_report_figures *out);

#endif
