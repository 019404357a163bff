/* devops.h - ops as the device ran them, from a stream of markers.
 *
 * The log is ordered core by core, so an op's markers are spread over all of it. Each op therefore
 * has an account of fixed size (first and last times, counts, sums) into which every marker is
 * booked as it passes; nothing else is kept. A core's part of an account is closed when the op's
 * next core starts. A log that comes back to a core is not ordered: it is sorted in memory instead.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_DEVOPS_H
#define STROBE_REPORT_DEVOPS_H

#include "base/map.h"
#include "report/counters.h"
#include "report/devlog.h"

enum { STROBE_REPORT_KERNEL_RISCS = 6, STROBE_REPORT_CORE_WORDS = 4 };

/* First and last time of the markers of one kind. n 0: none seen. */
struct strobe_report_range {
    uint64_t first, last, n;
};

struct strobe_report_device_op {
    uint64_t run;
    int64_t trace, counter; /* -1: not replayed from a trace */
    uint32_t device;        /* index into the log's devices */
    uint32_t next;          /* the same program's next run; UINT32_MAX: none */
    uint32_t head;          /* the program's first run */
    uint32_t cursor;        /* of a head: the run that the newest marker belonged to */
    uint64_t first_time, line;
    struct strobe_report_range fw, kernel, kernel_start, riscs[STROBE_REPORT_KERNEL_RISCS];
    uint64_t dm_start; /* first marker of a BRISC, NCRISC or ERISC kernel; n_dm of them */
    uint64_t n_dm;
    uint64_t wait_front, reserve_back; /* sums of data */
    uint64_t seen[STROBE_REPORT_CORE_WORDS], fw_cores[STROBE_REPORT_CORE_WORDS];
    uint32_t n_cores;   /* with a FW zone */
    int32_t sub_device; /* -1: not said */
    struct {
        uint32_t core; /* UINT32_MAX: none open */
        uint64_t first_time, fw_start, fw_end;
        struct strobe_report_range kernel;
    } open; /* the core under way */
    struct {
        uint64_t min, max, sum, n;
        uint64_t first_time, first_cycles; /* of the core that began first */
    } per_core;
    uint64_t dispatch[2]; /* cycles: total command time, go send wait */
    bool has_dispatch[2];
};

/* What is collected beside the ops. */
struct strobe_report_op2op;

struct strobe_report_device_ops {
    struct strobe_report_log *log;           /* borrowed: outlives this */
    struct strobe_report_faults *faults;     /* borrowed; NULL: faults are not noted */
    struct strobe_report_counters *counters; /* borrowed: perf counters go here; NULL: not wanted */
    struct strobe_report_op2op *op2op;       /* borrowed: per-core gaps go here; NULL: not wanted */
    struct strobe_report_device_op *ops;     /* owned */
    uint32_t n, cap;
    struct strobe_index by_key;
    uint32_t last; /* head of the newest marker's op */
    struct strobe_out last_meta;
    int32_t last_sub_device;
    bool scattered;                            /* seen to be out of order */
    bool sorted;                               /* comes in order by now */
    bool out_of_memory, has_dispatch, has_noc; /* has_noc: rows of transfers */
    bool only_sub_devices; /* the C++ report has the times: just find the sub devices */
};

void strobe_report_device_ops_open(struct strobe_report_device_ops *ops,
                                   struct strobe_report_log *log);

/* Read a device log and book all of it. NOTFOUND, IO, NOMEM. */
enum strobe_err strobe_report_device_ops_read(struct strobe_report_device_ops *ops,
                                              const char *path,
                                              const struct strobe_report_log_options *options);

/* Book one marker: a strobe_report_take. False when the log must be sorted first. */
bool strobe_report_device_ops_take(void *context, const struct strobe_report_marker *marker);

/* Close the accounts; after the last marker. */
void strobe_report_device_ops_finish(struct strobe_report_device_ops *ops);

/* The op with this key; UINT32_MAX when there is none. */
uint32_t strobe_report_device_ops_find(const struct strobe_report_device_ops *ops, uint32_t device,
                                       uint64_t run, int64_t trace, int64_t counter);

/* Indices of all ops in the order of detection: programs by their first marker, the runs of one
 * program together. Owned by the caller; NULL without memory. */
uint32_t *strobe_report_device_ops_order(const struct strobe_report_device_ops *ops);
void strobe_report_device_ops_close(struct strobe_report_device_ops *ops);

#endif
