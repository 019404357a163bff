/* perf_file.h - the parts of a perf.data file: its head, the kinds of its events, build ids, and its records one by one, unpacked where perf compressed them. Bytes come from
 * strangers: every place and length is held against the file's.  SPDX-License-Identifier: MIT */
#ifndef STROBE_IMPORT_PERF_FILE_H
#define STROBE_IMPORT_PERF_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"

enum { STROBE_PERF_ATTRS_MAX = 4096 };

/* Numbers of the format, as the kernel's header has them: which fields a record has, how values are read, kinds of records and of events. */
enum {
    STROBE_PERF_SAMPLE_IP = 1 << 0,
    STROBE_PERF_SAMPLE_TID = 1 << 1,
    STROBE_PERF_SAMPLE_TIME = 1 << 2,
    STROBE_PERF_SAMPLE_ADDR = 1 << 3,
    STROBE_PERF_SAMPLE_READ = 1 << 4,
    STROBE_PERF_SAMPLE_CALLCHAIN = 1 << 5,
    STROBE_PERF_SAMPLE_ID = 1 << 6,
    STROBE_PERF_SAMPLE_CPU = 1 << 7,
    STROBE_PERF_SAMPLE_PERIOD = 1 << 8,
    STROBE_PERF_SAMPLE_STREAM_ID = 1 << 9,
    STROBE_PERF_SAMPLE_STACK_USER = 1 << 13,
    STROBE_PERF_SAMPLE_IDENTIFIER = 1 << 16,
    STROBE_PERF_FORMAT_TOTAL_TIME_ENABLED = 1 << 0,
    STROBE_PERF_FORMAT_TOTAL_TIME_RUNNING = 1 << 1,
    STROBE_PERF_FORMAT_ID = 1 << 2,
    STROBE_PERF_FORMAT_GROUP = 1 << 3,
    STROBE_PERF_RECORD_MMAP = 1,
    STROBE_PERF_RECORD_LOST = 2,
    STROBE_PERF_RECORD_COMM = 3,
    STROBE_PERF_RECORD_EXIT = 4,
    STROBE_PERF_RECORD_THROTTLE = 5,
    STROBE_PERF_RECORD_UNTHROTTLE = 6,
    STROBE_PERF_RECORD_FORK = 7,
    STROBE_PERF_RECORD_SAMPLE = 9,
    STROBE_PERF_RECORD_MMAP2 = 10,
    STROBE_PERF_RECORD_LOST_SAMPLES = 13,
    STROBE_PERF_RECORD_SWITCH = 14,
    STROBE_PERF_RECORD_SWITCH_CPU_WIDE = 15,
    STROBE_PERF_TYPE_SOFTWARE = 1,
    STROBE_PERF_COUNT_SW_TASK_CLOCK = 1, /* 0 is the processor's clock */
};

/* What a record of an event looks like. */
struct strobe_perf_attr {
    uint32_t type;
    uint64_t config, period, sample_type, read_format, flags;
};

/* A record, its head included. Valid during the call. */
struct strobe_perf_record_in {
    uint32_t type;
    uint16_t misc;
    const uint8_t *body; /* behind its head */
    size_t n;
};

struct strobe_perf_file {
    const uint8_t *bytes; /* borrowed */
    size_t n;
    uint64_t data_at, data_bytes;
    struct strobe_perf_attr *attrs; /* owned */
    uint32_t n_attrs;
    struct strobe_map ids;           /* of events: index of its attr + 1 */
    struct strobe_textmap build_ids; /* by path: place in the file << 8 | bytes */
    uint64_t n_cut;                  /* records that end behind the data */
    uint64_t n_bad_packed;           /* compressed records that can't be unpacked */
};

/* Read the head over bytes that outlive it. FORMAT: it is no perf.data. INVALID: it was written to a pipe, which is another form. CORRUPT: places lie outside of it. Free it in any case. */
enum strobe_err strobe_perf_file_open(const void *bytes, size_t n, struct strobe_perf_file *out);
void strobe_perf_file_free(struct strobe_perf_file *file);

typedef enum strobe_err strobe_perf_file_call(void *context,
                                              const struct strobe_perf_record_in *record);

/* Hand out all records, in the order of the file. BOMB: they unpack to more than 64 MiB and 256 times their size. Ends with the first error of `call`. */
enum strobe_err strobe_perf_file_each(struct strobe_perf_file *file, strobe_perf_file_call *call,
                                      void *context);

/* A number of the file; 0 where it ends before. */
uint64_t strobe_perf_file_u64(const uint8_t *bytes, size_t n, size_t at);
uint32_t strobe_perf_file_u32(const uint8_t *bytes, size_t n, size_t at);

#endif
