/* devlog.h - reads profile_log_device.csv, line by line, in bounded memory.
 * All forms since the oldest are read: 15 columns, 13 (no trace columns), 12 (no meta data, phases
 * "begin" and "end"). Names are interned, so a marker is a few numbers.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_DEVLOG_H
#define STROBE_REPORT_DEVLOG_H

#include "base/map.h"
#include "base/err.h"
#include "report/faults.h"

#define STROBE_REPORT_DEVICE_FILE "profile_log_device.csv"

/* Packet types, in the column "type". */
enum strobe_report_type {
    STROBE_REPORT_ZONE_START,
    STROBE_REPORT_ZONE_END,
    STROBE_REPORT_ZONE_TOTAL,
    STROBE_REPORT_TS_DATA,
    STROBE_REPORT_TS_EVENT,
    STROBE_REPORT_OTHER,
};

enum strobe_report_risc {
    STROBE_REPORT_BRISC,
    STROBE_REPORT_NCRISC,
    STROBE_REPORT_TRISC_0,
    STROBE_REPORT_TRISC_1,
    STROBE_REPORT_TRISC_2,
    STROBE_REPORT_ERISC,
    STROBE_REPORT_RISC_AGG,
    STROBE_REPORT_QUASAR_DM0,
    STROBE_REPORT_RISC_OTHER,
};

/* What a zone's name makes it. */
enum {
    STROBE_REPORT_IS_FW = 1 << 0,           /* "<RISC>-FW" of a known RISC */
    STROBE_REPORT_IS_KERNEL = 1 << 1,       /* "<RISC>-KERNEL" of a known RISC */
    STROBE_REPORT_IS_DM_KERNEL = 1 << 2,    /* of BRISC, NCRISC or ERISC */
    STROBE_REPORT_IS_BRNC_KERNEL = 1 << 3,  /* of BRISC or NCRISC */
    STROBE_REPORT_HAS_FW = 1 << 4,          /* "FW" anywhere in the name */
    STROBE_REPORT_IS_DISPATCH = 1 << 5,     /* "CQ-DISPATCH" or "CQ-PREFETCH" */
    STROBE_REPORT_IS_WAIT_FRONT = 1 << 6,   /* "CB-COMPUTE-WAIT-FRONT" */
    STROBE_REPORT_IS_RESERVE_BACK = 1 << 7, /* "CB-COMPUTE-RESERVE-BACK" */
    STROBE_REPORT_IS_ITERATION = 1 << 8,    /* "BRISC-FW" or "DM0-FW" */
};

enum {
    STROBE_REPORT_COUNTER_TIMER = 9090,
    STROBE_REPORT_NOC_TIMER = 12345,
    STROBE_REPORT_STACK = 32
};

/* Zone name, type, source line and file: one per different text of these four cells. */
struct strobe_report_zone {
    char *text; /* owned: the four cells as in the file */
    uint32_t len;
    uint32_t name_len, line_at, line_len, file_at, file_len;
    uint32_t source; /* same number: same name, line and file */
    uint32_t guess;  /* the zone that came next the last time */
    uint32_t timer;  /* the newest timer id that came with it */
    uint16_t flags;
    uint8_t type;     /* enum strobe_report_type */
    uint8_t own_risc; /* enum strobe_report_risc: whose "-KERNEL" or "-FW" zone it is */
    uint8_t master;   /* the RISC whose start or end of it brackets an op; else RISC_OTHER */
};

/* One RISC of one core of one device. */
struct strobe_report_series {
    int64_t device, x, y;
    uint32_t index; /* in the log's table */
    uint32_t device_index;
    uint32_t core;           /* over all devices */
    uint32_t core_in_device; /* 0 .. */
    uint8_t risc;            /* enum strobe_report_risc */
    char name[24];
    uint32_t depth; /* open zones, for orphans */
    struct {
        uint32_t source;
        uint64_t run, line;
    } stack[STROBE_REPORT_STACK];
};

struct strobe_report_core {
    int64_t device, x, y;
    uint32_t device_index, index; /* index in its device */
    bool dispatch;                /* has dispatch zones */
};

/* One line. */
struct strobe_report_marker {
    struct strobe_report_series *series;   /* borrowed: from the log */
    const struct strobe_report_zone *zone; /* borrowed: until the next marker or the log's end */
    struct strobe_report_span meta;        /* borrowed: until the next marker */
    uint64_t time, data, run, line;
    int64_t trace, counter; /* -1: not from a trace */
    uint32_t timer;
};

struct strobe_report_log {
    struct strobe_report_faults
        *faults; /* borrowed: outlives the log; NULL: faults are not noted */
    char arch[64];
    int64_t freq_mhz;
    int64_t max_cores; /* -1: not said */
    bool is_quasar;
    bool has_header, has_trace, has_meta;
    int n_columns;
    int *order; /* owned: place of each usual column, when they are in another order; else NULL */
    uint64_t n_lines, n_rows, n_aside;
    enum strobe_err copy_err;         /* why the copy stopped; the reading goes on */
    struct strobe_report_zone *zones; /* owned */
    uint32_t n_zones, cap_zones, n_sources;
    struct strobe_index zone_map;    /* by the text */
    struct strobe_map source_map;    /* by a hash of name, line and file */
    struct strobe_report_zone loose; /* for names beyond the limit of the table */
    struct strobe_out loose_text;
    struct strobe_report_series **series; /* owned, and what they point to */
    uint32_t n_series;
    struct strobe_index series_map;
    struct strobe_report_core *cores; /* owned */
    uint32_t n_cores;
    struct strobe_map core_map;
    struct {
        int64_t id;
        uint32_t n_cores;
    } * devices; /* owned */
    uint32_t n_devices;
    uint32_t *timers; /* owned: 65536 sources + 1 by hash; 0: none yet */
    char prefix[64];  /* the newest line's first four cells */
    uint32_t prefix_len;
    struct strobe_report_series *prefix_series;
    uint32_t last_zone;
    struct strobe_out scratch;
};

/* Called for every good line. False stops the reading. */
typedef bool strobe_report_take(void *context, const struct strobe_report_marker *marker);

/* Called now and then with how much was read. */
typedef void strobe_report_progress(void *context, uint64_t done, uint64_t total);

struct strobe_report_log_options {
    strobe_report_take *take;
    void *context;
    int copy_fd;                      /* every byte read is also written here; -1: no copy */
    strobe_report_progress *progress; /* NULL: none */
    void *progress_context;
};

void strobe_report_log_open(struct strobe_report_log *log, struct strobe_report_faults *faults);

/* Read a file from its start. The interned names stay from one reading to the next. NOTFOUND, IO
 * or NOMEM; all that is wrong inside the file goes to the ledger. */
enum strobe_err strobe_report_log_read(struct strobe_report_log *log, const char *path,
                                       const struct strobe_report_log_options *options);

/* The same from memory. */
enum strobe_err strobe_report_log_read_memory(struct strobe_report_log *log, const char *bytes,
                                              size_t len, strobe_report_take *take, void *context);
void strobe_report_log_close(struct strobe_report_log *log);

struct strobe_report_span strobe_report_zone_name(const struct strobe_report_zone *zone);
struct strobe_report_span strobe_report_zone_type(const struct strobe_report_zone *zone);

/* True for the start or end of the zone that brackets an op on its core's master RISC. */
static inline bool strobe_report_is_master(const struct strobe_report_series *series,
                                           const struct strobe_report_zone *zone)
{
    return zone->master == series->risc && zone->master != STROBE_REPORT_RISC_OTHER;
}

#endif
