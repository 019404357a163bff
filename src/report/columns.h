/* columns.h - the fixed columns of the op report, in their order.
 * The columns of the tensors, the kernel sizes, the counters and the child calls come between and
 * after them and depend on the data: write_ops.c.  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_COLUMNS_H
#define STROBE_REPORT_COLUMNS_H

/* Before the tensors: name, header. */
#define STROBE_REPORT_HEAD_COLUMNS(X)                           \
    X(OP_CODE, "OP CODE")                                       \
    X(OP_TYPE, "OP TYPE")                                       \
    X(GLOBAL_CALL_COUNT, "GLOBAL CALL COUNT")                   \
    X(DEVICE_ID, "DEVICE ID")                                   \
    X(DEVICE_ARCH, "DEVICE ARCH")                               \
    X(ATTRIBUTES, "ATTRIBUTES")                                 \
    X(MATH_FIDELITY, "MATH FIDELITY")                           \
    X(CORE_COUNT, "CORE COUNT")                                 \
    X(AVAILABLE_CORES, "AVAILABLE WORKER CORE COUNT")           \
    X(SUB_DEVICE, "SUB DEVICE ID")                              \
    X(PARALLELIZATION, "PARALLELIZATION STRATEGY")              \
    X(HOST_START, "HOST START TS")                              \
    X(HOST_END, "HOST END TS")                                  \
    X(HOST_DURATION, "HOST DURATION [ns]")                      \
    X(FW_START, "DEVICE FW START CYCLE")                        \
    X(FW_END, "DEVICE FW END CYCLE")                            \
    X(LATENCY, "OP TO OP LATENCY [ns]")                         \
    X(LATENCY_DM, "OP TO OP LATENCY BR/NRISC START [ns]")       \
    X(FW_DURATION, "DEVICE FW DURATION [ns]")                   \
    X(KERNEL_DURATION, "DEVICE KERNEL DURATION [ns]")           \
    X(KERNEL_DM, "DEVICE KERNEL DURATION DM START [ns]")        \
    X(PER_CORE_MIN, "DEVICE KERNEL DURATION PER CORE MIN [ns]") \
    X(PER_CORE_MAX, "DEVICE KERNEL DURATION PER CORE MAX [ns]") \
    X(PER_CORE_AVG, "DEVICE KERNEL DURATION PER CORE AVG [ns]") \
    X(FIRST_TO_LAST, "DEVICE KERNEL FIRST TO LAST START [ns]")  \
    X(BRISC, "DEVICE BRISC KERNEL DURATION [ns]")               \
    X(NCRISC, "DEVICE NCRISC KERNEL DURATION [ns]")             \
    X(TRISC0, "DEVICE TRISC0 KERNEL DURATION [ns]")             \
    X(TRISC1, "DEVICE TRISC1 KERNEL DURATION [ns]")             \
    X(TRISC2, "DEVICE TRISC2 KERNEL DURATION [ns]")             \
    X(ERISC, "DEVICE ERISC KERNEL DURATION [ns]")               \
    X(WAIT_FRONT, "DEVICE COMPUTE CB WAIT FRONT [ns]")          \
    X(RESERVE_BACK, "DEVICE COMPUTE CB RESERVE BACK [ns]")      \
    X(DISPATCH_TOTAL, "DISPATCH TOTAL CQ CMD OP TIME [ns]")     \
    X(DISPATCH_WAIT, "DISPATCH GO SEND WAIT TIME [ns]")

/* After the tensors, up to the kernel sizes. */
#define STROBE_REPORT_MID_COLUMNS(X)                  \
    X(TRACE_ID, "METAL TRACE ID")                     \
    X(SESSION_ID, "METAL TRACE REPLAY SESSION ID")    \
    X(COMPUTE_SOURCE, "COMPUTE KERNEL SOURCE")        \
    X(COMPUTE_HASH, "COMPUTE KERNEL HASH")            \
    X(MOVEMENT_SOURCE, "DATA MOVEMENT KERNEL SOURCE") \
    X(MOVEMENT_HASH, "DATA MOVEMENT KERNEL HASH")     \
    X(PROGRAM_HASH, "PROGRAM HASH")                   \
    X(CACHE_HIT, "PROGRAM CACHE HIT")

/* After the kernel sizes. */
#define STROBE_REPORT_TAIL_COLUMNS(X)            \
    X(PM_IDEAL, "PM IDEAL [ns]")                 \
    X(PM_COMPUTE, "PM COMPUTE [ns]")             \
    X(PM_BANDWIDTH, "PM BANDWIDTH [ns]")         \
    X(PM_INPUT_BW, "PM REQ I BW")                \
    X(PM_OUTPUT_BW, "PM REQ O BW")               \
    X(PM_UTIL, "PM FPU UTIL (%)")                \
    X(NOC_UTIL, "NOC UTIL (%)")                  \
    X(NOC_MCAST, "MULTICAST NOC UTIL (%)")       \
    X(DRAM_BW, "DRAM BW UTIL (%)")               \
    X(DRAM_BW_CTRL, "DRAM BW UTIL PER CTRL (%)") \
    X(ETH_BW, "ETH BW UTIL (%)")                 \
    X(NPE_IMPACT, "NPE CONG IMPACT (%)")

/* Only in reports of Quasar devices, in the place of others: write_ops.c. */
#define STROBE_REPORT_QUASAR_COLUMNS(X)                               \
    X(Q_DM_KERNEL, "DEVICE QUASAR_DM KERNEL DURATION [ns]")           \
    X(Q_TRISC_KERNEL, "DEVICE QUASAR_NEO_TRISC KERNEL DURATION [ns]") \
    X(Q_DM_FW, "DEVICE DM FW DURATION [ns]")                          \
    X(Q_TRISC_FW, "DEVICE TRISC FW DURATION [ns]")                    \
    X(Q_LATENCY_DM, "OP TO OP DM LATENCY [ns]")                       \
    X(Q_LATENCY_TRISC, "OP TO OP TRISC LATENCY [ns]")

#define STROBE_REPORT_COLUMNS(X)  \
    STROBE_REPORT_HEAD_COLUMNS(X) \
    STROBE_REPORT_MID_COLUMNS(X)  \
    STROBE_REPORT_TAIL_COLUMNS(X) \
    STROBE_REPORT_QUASAR_COLUMNS(X)

enum strobe_report_column {
#define X(name, header) STROBE_REPORT_COL_##name,
    STROBE_REPORT_COLUMNS(X)
#undef X
        STROBE_REPORT_N_COLUMNS
};

/* The header of a fixed column. */
const char *strobe_report_column_header(enum strobe_report_column column);

/* The fixed column with this header, letters of either case and '_' for ' ' allowed; -1 for none.
 */
int strobe_report_column_find(const char *name, unsigned len);

#endif
