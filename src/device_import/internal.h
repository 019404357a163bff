/* internal.h - what the files of this room share.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_IMPORT_INTERNAL_H
#define STROBE_DEVICE_IMPORT_INTERNAL_H

#include "base/map.h"
#include "base/out.h"
#include "build/build.h"
#include "build/clock_map.h"
#include "build/rows.h"
#include "device_import/device_log.h"
#include "report/devlog.h"
#include "report/host.h"
#include "report/summary.h"

enum {
    STROBE_LOG_DEVICES = 64,
    STROBE_LOG_OPS = 1 << 20,          /* whose first times are remembered */
    STROBE_LOG_NAMES = 1 << 16,        /* of source locations: as many as there are hashes */
    STROBE_LOG_NAMES_BYTES = 64 << 20, /* of a file of them that are read */
    STROBE_LOG_DEPTH = 512,            /* open zones of a lane */
    STROBE_LOG_BUDGET = 256 << 20,
    STROBE_LOG_MHZ = 100000,
    STROBE_LOG_TIME_BITS = 53, /* 104 days at 1 GHz; at 1 MHz still no overflow of ns */
};

#define STROBE_LOG_VALUES "{\"values\":[" /* how the meta data of such data begins */

/* A row's `name`: bits 0-31 run host id, 32-48 zone of the log, 49-63 trace counter. `kind`: bits 0-2 type, 3-18 timer id,
 * 19-31 trace id + 1. `value`: data. The text is the meta data, of counters and of data with
 * further values alone. */
static inline uint64_t strobe_log_reading_name(uint64_t run, uint32_t zone, int64_t counter)
{
    uint64_t replay = counter > 0 && counter < 1 << 15 ? (uint64_t)counter : 0;
    return (run & UINT32_MAX) | (uint64_t)(zone & 0x1ffff) << 32 | replay << 49;
}
static inline uint32_t strobe_log_reading_kind(uint8_t type, uint32_t timer, int64_t trace)
{
    uint32_t number = trace >= 0 && trace < (1 << 13) - 1 ? (uint32_t)trace + 1 : 0;
    return (type & 7u) | (timer & 0xffff) << 3 | number << 19;
}

/* Where a sample of a device's clock says that it is. */
struct strobe_log_sync {
    double delay, cycles_per_ns,
        ratio; /* cycles = delay + cycles_per_ns * ratio * (ticks - host_start) */
    double host_start, base_time; /* ticks of the host's clock */
    double scale, shift; /* to the root device's cycles, where it has no samples of its own */
    double error_ns;     /* the greatest distance of a sample from the line */
    bool has_line, has_link;
};

struct strobe_log_device {
    int64_t id;
    bool is_seen;         /* it has a marker */
    uint64_t first, last; /* cycles */
    struct strobe_log_sync sync;
    enum strobe_device_log_clock clock;
    double origin_ns, ns_per_cycle,
        error_ns;                 /* host ns = origin_ns + (cycles - first) * ns_per_cycle */
    struct strobe_build *build;   /* owned */
    struct strobe_clock_map *map; /* owned */
    uint64_t *locs;               /* owned: of the log's zones, 0: not yet */
    struct strobe_map mark_locs;  /* kind and timer to location */
};

/* A source location. */
struct strobe_log_name {
    size_t name_at, file_at;
    uint32_t n_name, n_file, line;
};

struct strobe_log_reading {
    const struct strobe_device_log_files *files; /* borrowed */
    struct strobe_device_log_import *out;        /* borrowed */
    struct strobe_report_faults faults;
    struct strobe_report_log log;
    struct strobe_report_host host;
    struct strobe_report report; /* of the same logs */
    struct strobe_report_summary ops;
    bool has_ops;                      /* both are there */
    struct strobe_rows *rows;          /* owned */
    struct strobe_log_device *devices; /* owned: STROBE_LOG_DEVICES */
    struct strobe_map first_times;     /* run host id -> first cycle */
    struct strobe_map host_times;      /* the same -> ns of the host's zone */
    struct strobe_map names_by_hash;   /* -> number + 1 */
    struct strobe_log_name *names;     /* owned */
    uint32_t n_names, names_room;
    struct strobe_out texts;
    uint64_t n_too_many; /* lines of devices or names above the limits */
    uint64_t n_no_op_time;
    bool has_host;
    double ticks_per_ns;
    enum strobe_err err;
};

/* ---- read.c: all lines become rows ---- */
void strobe_log_reading_names(struct strobe_log_reading *reading, const char *path);
/* NULL path: the log in memory. */
enum strobe_err strobe_log_reading_rows(struct strobe_log_reading *reading, const void *bytes,
                                        size_t n_bytes);

/* ---- align.c: the devices' clocks ---- */
void strobe_log_reading_sync(struct strobe_log_reading *reading);
/* Where each device's first marker is, on the host's clock; `last_ns`: of the capture, 0: none. */
void strobe_log_reading_align(struct strobe_log_reading *reading, int64_t last_ns);

/* ---- ops.c: the op report's rows ---- */
/* Read them. Without them, by whatever reason, the trace is made without figures of ops. */
void strobe_log_reading_ops(struct strobe_log_reading *reading);
/* Make records of them; the devices are open. */
void strobe_log_reading_put_ops(struct strobe_log_reading *reading);
void strobe_log_reading_free_ops(struct strobe_log_reading *reading);

/* ---- write.c: sorted rows become events ---- */
/* `first_tick`: of host time 0. */
enum strobe_err strobe_log_reading_write(struct strobe_log_reading *reading,
                                         struct strobe_file_writer *writer, uint64_t first_tick);

#endif
