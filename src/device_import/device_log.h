/* device_log.h - logs of tt-metal's device profiler as a trace; docs/device-logs.md says what becomes of what.
 * Memory is bounded, whatever the log's size: rows are sorted through files. Lines that make no sense are set aside and counted; the
 * trace's notes say why.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_IMPORT_DEVICE_LOG_H
#define STROBE_DEVICE_IMPORT_DEVICE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "tracy_file/import.h"

/* What a run left. Paths are borrowed for the call; all but the log may be NULL: it is not there. */
struct strobe_device_log_files {
    const char *log;                   /* profile_log_device.csv */
    const char *sync;                  /* sync_device_info.csv */
    const char *sources, *new_sources; /* zone source locations: of all runs, of this one */
    const char *folder;                /* that has tracy_ops_data.csv */
    const char *logs;                  /* the folder of all of them, for the figures of ops */
    const char *tracy;                 /* the host's capture */
};

enum strobe_device_log_clock {
    STROBE_LOG_CLOCK_OWN = 0,  /* the device's own time: nothing else is there */
    STROBE_LOG_CLOCK_SYNC = 1, /* by its samples */
    STROBE_LOG_CLOCK_OPS = 2,  /* by its ops: none begins before the host launched it */
    STROBE_LOG_CLOCK_NONE = 3, /* not at all: its first marker is at the host's start */
};

struct strobe_device_log_import {
    uint64_t n_rows, n_set_aside;                 /* lines of markers; those that make no sense */
    uint64_t n_zones, n_marks, n_open, n_orphans; /* orphans: ends without a begin, set aside too */
    uint32_t n_devices, n_lanes, n_ops, n_named_ops;
    uint32_t n_op_rows;                 /* with the figures of the op report */
    enum strobe_device_log_clock clock; /* the worst of all devices */
    double error_ns; /* likewise; how far off a device's time may be on the host's */
    bool has_host;
    struct strobe_tracy_import host;
    enum strobe_err host_err; /* of the capture: the trace is there without it, or with a part */
};

/* Read the files into a new trace at `to`. FORMAT: the log has not one line of a marker. */
enum strobe_err strobe_device_log_import(const struct strobe_device_log_files *files,
                                         const char *to, struct strobe_device_log_import *out);
/* The same of a log in memory alone. */
enum strobe_err strobe_device_log_import_bytes(const void *bytes, size_t n_bytes, const char *to,
                                               struct strobe_device_log_import *out);

/* Whether a file's first bytes may be those of such a log. */
bool strobe_device_log_is_file(const uint8_t *bytes, size_t n_bytes);

#endif
