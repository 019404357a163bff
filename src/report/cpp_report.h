/* cpp_report.h - reads cpp_device_perf_report.csv: times per program that the run itself worked
 * out. SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_CPP_REPORT_H
#define STROBE_REPORT_CPP_REPORT_H

#include "base/map.h"
#include "base/err.h"
#include "report/columns.h"
#include "report/faults.h"

#define STROBE_REPORT_CPP_FILE "cpp_device_perf_report.csv"

/* Columns that are also the report's. */
#define STROBE_REPORT_CPP_SHARED(X) \
    X(CORE_COUNT)                   \
    X(AVAILABLE_CORES)              \
    X(FIRST_TO_LAST)                \
    X(FW_DURATION)                  \
    X(FW_START)                     \
    X(FW_END)                       \
    X(KERNEL_DURATION)              \
    X(KERNEL_DM)                    \
    X(BRISC)                        \
    X(NCRISC)                       \
    X(TRISC0)                       \
    X(TRISC1)                       \
    X(TRISC2)                       \
    X(ERISC)                        \
    X(LATENCY)                      \
    X(LATENCY_DM)                   \
    X(Q_DM_KERNEL)                  \
    X(Q_TRISC_KERNEL)               \
    X(Q_DM_FW)                      \
    X(Q_TRISC_FW)

/* Columns of its own. */
#define STROBE_REPORT_CPP_OWN(X)                                   \
    X(KERNEL_START, "DEVICE KERNEL START CYCLE")                   \
    X(KERNEL_END, "DEVICE KERNEL END CYCLE")                       \
    X(DM_START, "DEVICE KERNEL DM START CYCLE")                    \
    X(DM_END, "DEVICE KERNEL DM END CYCLE")                        \
    X(Q_DM_START, "DEVICE QUASAR_DM KERNEL START CYCLE")           \
    X(Q_DM_END, "DEVICE QUASAR_DM KERNEL END CYCLE")               \
    X(Q_TRISC_START, "DEVICE QUASAR_NEO_TRISC KERNEL START CYCLE") \
    X(Q_TRISC_END, "DEVICE QUASAR_NEO_TRISC KERNEL END CYCLE")

enum strobe_report_cpp_column {
#define X(name) STROBE_REPORT_CPP_##name,
    STROBE_REPORT_CPP_SHARED(X)
#undef X
#define X(name, header) STROBE_REPORT_CPP_##name,
        STROBE_REPORT_CPP_OWN(X)
#undef X
            STROBE_REPORT_CPP_N
};

struct strobe_report_cpp_row {
    uint64_t id;
    int64_t device, trace, session; /* trace and session -1: not replayed */
    uint64_t line;
    int64_t values[STROBE_REPORT_CPP_N];
    uint32_t known; /* a bit per value */
    uint32_t arch;  /* into texts */
    uint32_t next;  /* the next row of the same op on the same device; UINT32_MAX: none */
    bool used;
};

/* All zero is empty. */
struct strobe_report_cpp {
    struct strobe_report_cpp_row *rows; /* owned */
    uint32_t n, cap;
    struct strobe_index by_op; /* first row of (device, op) */
    struct strobe_out texts;
    uint64_t n_aside;
};

/* Read a folder's file. NOTFOUND when there is none; what is wrong inside goes to the ledger. */
enum strobe_err strobe_report_cpp_read(struct strobe_report_cpp *cpp, const char *folder,
                                       struct strobe_report_faults *faults);

/* First row of an op on a device; UINT32_MAX for none. */
uint32_t strobe_report_cpp_find(const struct strobe_report_cpp *cpp, int64_t device, uint64_t id);

/* The report's column that a value belongs to; -1 for those of its own. */
int strobe_report_cpp_shared(enum strobe_report_cpp_column column);

static inline bool strobe_report_cpp_has(const struct strobe_report_cpp_row *row,
                                         enum strobe_report_cpp_column column)
{
    return row->known >> column & 1;
}
void strobe_report_cpp_free(struct strobe_report_cpp *cpp);

#endif
