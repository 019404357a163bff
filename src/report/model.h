/* model.h - a whole device log in memory, for the device statistics.
 * The op report streams; this keeps every marker, because the statistics' JSON lists them all.
 * Per device, core and RISC the markers by time; per core all RISCs together ("TENSIX"); per device
 * all cores together ("DEVICE").  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_MODEL_H
#define STROBE_REPORT_MODEL_H

#include "report/devlog.h"

struct strobe_report_mark {
    uint64_t time, data, run;
    int64_t trace, counter;
    uint32_t series, zone, timer;
    uint32_t meta, meta_len; /* into texts */
    uint32_t name;           /* into texts: the command that renamed it; UINT32_MAX: its zone's */
};

/* Markers by time: indices into the model's. */
struct strobe_report_times {
    uint32_t *marks; /* owned */
    uint32_t n;
};

struct strobe_report_model_ops {
    struct strobe_report_times *all; /* owned, and what they hold */
    uint32_t n;
};

struct strobe_report_model_core {
    uint32_t core; /* of the log */
    struct strobe_report_times tensix;
    struct strobe_report_model_ops ops;
};

struct strobe_report_model_device {
    int64_t id;
    struct strobe_report_model_core *cores; /* owned: as the log has them */
    uint32_t n_cores;
    struct strobe_report_times tensix;
    struct strobe_report_model_ops ops, dispatch_ops;
};

struct strobe_report_model {
    struct strobe_report_log log;
    struct strobe_report_mark *marks; /* owned: as the file has them */
    uint32_t n, cap;
    struct strobe_out texts;
    uint32_t last_meta, last_meta_len;
    struct strobe_report_times *series;         /* owned: by the log's series */
    struct strobe_report_model_device *devices; /* owned */
    uint32_t n_devices;
    enum strobe_err err;
};

/* Read a log and sort it; with `detect` also find its ops. NOTFOUND, IO, NOMEM, LIMIT (4 billion
 * markers). Close it in any case. */
enum strobe_err strobe_report_model_open(struct strobe_report_model *model, const char *path,
                                         struct strobe_report_faults *faults, bool detect);
void strobe_report_model_close(struct strobe_report_model *model);

/* A marker's zone name, as its command renamed it. */
struct strobe_report_span strobe_report_mark_name(const struct strobe_report_model *model,
                                                  const struct strobe_report_mark *mark);

/* Ops of markers by time: model_ops.c. */
enum strobe_err strobe_report_model_find_ops(struct strobe_report_model *model);

#endif
