/* internal.h - what the files of this room share.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_FILES_INTERNAL_H
#define STROBE_DEVICE_FILES_INTERNAL_H

#include "base/map.h"
#include "base/out.h"
#include "base/sort.h"
#include "device/classic.h"
#include "device/clock_fit.h"
#include "device/stream.h"
#include "device_files/files.h"

enum {
    STROBE_FILES_SORT_BYTES = 16 << 20,
    STROBE_FILES_LAUNCHES = 1 << 20, /* between two dumps; later ones are not told apart */
    STROBE_FILES_SAMPLES = 512,      /* of a clock; when there are more, every other one goes */
    STROBE_FILES_NAMES = 1 << 18,
    STROBE_FILES_PATH = 4096,
};

/* A site. */
struct strobe_files_name {
    uint32_t line;
    uint16_t hash; /* of the classic form */
    bool is_fw, is_kernel;
    size_t name_at, file_at; /* in texts */
    uint32_t n_name, n_file;
};

/* A launch, as the host enqueued it. */
struct strobe_files_launch {
    uint32_t program, execution; /* execution: launches of the program before it */
    uint32_t trace, counter; /* trace UINT32_MAX: not replayed; counter: replays of that trace */
    uint32_t replay;         /* replays of all traces so far */
};

struct strobe_files_core {
    uint32_t core_yx, logical_yx, kind, n_riscs;
    bool has_facts;
    struct strobe_files_lane {
        uint64_t last_start; /* of its newest zone: the time of sums */
    } lanes[STROBE_DEVICE_MAX_RISCS];
};

/* A marker on its way through the sort. */
struct strobe_files_marker {
    uint64_t time, data, data_two;
    uint32_t id, program;
    uint32_t core; /* index */
    uint16_t x, y, trace_counter;
    uint8_t risc, packet, flags;
};
enum {
    STROBE_FILES_CLASSIC = 1,    /* the id is a hash; trace_counter is the buffer's */
    STROBE_FILES_IS_COUNTER = 2, /* data_two: the counter's type */
    STROBE_FILES_TRACE_FW = 4,   /* of a whole replay */
    STROBE_FILES_TRACE_KERNEL = 8,
};

/* A command of a dispatch core whose zone has not ended: its rows, which get their name at the end (dispatch.c). */
enum { STROBE_FILES_COMMAND_ROWS = 32, STROBE_FILES_COMMAND_TEXT = 256 };
struct strobe_files_command {
    struct strobe_files_marker rows[STROBE_FILES_COMMAND_ROWS];
    uint32_t n, type, worker; /* UINT32_MAX: not said yet */
    uint32_t current;         /* of the commands before: the program that they work for; 0: none */
    bool is_over;
};

/* One run of a program on one RISC. */
struct strobe_files_run {
    uint32_t program, execution, trace, counter;
    uint32_t core_yx, risc, kind;
    uint32_t flags;
    uint64_t fw_start, fw_end, kernel_start, kernel_end;
};
enum { STROBE_RUN_FW = 1, STROBE_RUN_KERNEL = 2, STROBE_RUN_AGGREGATE = 4 };

/* A zone's begin or end, or a transfer over the NoC. */
struct strobe_files_noc {
    struct strobe_files_run run; /* that it belongs to: who ran */
    uint64_t time, data;
    uint32_t name; /* number + 1 of a zone; 0: a transfer */
    uint32_t packet;
};

/* A file that is appended to. */
struct strobe_files_out {
    char path[STROBE_FILES_PATH]; /* "": none */
    struct strobe_out out;        /* open during a dump */
    int fd;                       /* -1: closed */
    bool is_new, has_failed;
};

struct strobe_device_files {
    struct strobe_device_files_options options; /* its texts are not used after open */
    struct strobe_device_stream *stream;        /* owned */
    struct strobe_files_out log, zones, ops, perf, sync, sources, new_sources;
    /* what the stream said */
    uint32_t device, arch, mhz, n_riscs, pid, max_cores;
    bool is_classic;
    struct strobe_files_core *cores; /* owned */
    uint32_t n_cores, cores_room;
    struct strobe_map names_by_id;   /* id, classic << 32 -> number + 1 */
    struct strobe_files_name *names; /* owned */
    uint32_t n_names, names_room, n_names_written;
    struct strobe_out texts;              /* of all names */
    struct strobe_textmap op_names;       /* not used for lookups: owns texts of programs */
    struct strobe_map programs;           /* program -> entry of op_names + 1 */
    struct strobe_map sub_devices;        /* program -> sub device << 32 | manager, + 1 << 63 */
    struct strobe_map executions;         /* program -> launches so far */
    struct strobe_map trace_replays;      /* trace -> replays so far */
    struct strobe_files_launch *launches; /* owned: since the last dump */
    uint32_t n_launches, launches_room, last_replay, last_counter;
    struct strobe_device_marker *classic; /* owned: of one frame */
    uint32_t classic_room;
    /* clock */
    struct {
        uint64_t cycles, before_ns, after_ns;
    } samples[STROBE_FILES_SAMPLES];
    uint32_t n_samples, sample_step, sample_skip, sample_core_yx;
    struct strobe_device_link link; /* n_messages 0: none */
    bool has_sample_core;
    /* what waits for a dump */
    struct strobe_sort *markers;        /* owned */
    struct strobe_sort *runs;           /* owned; NULL: nobody asked for them */
    struct strobe_sort *noc;            /* owned; likewise */
    char noc_folder[STROBE_FILES_PATH]; /* "": no such files */
    enum strobe_err err;                /* the first that kept something out */
    uint64_t last_kernel_end, last_dm_end;
    bool has_last_op;
};

/* ---- files.c ---- */
void strobe_files_warn(struct strobe_device_files *files, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Open for appending; false: there is no such file. */
bool strobe_files_begin(struct strobe_device_files *files, struct strobe_files_out *file);
void strobe_files_end(struct strobe_device_files *files, struct strobe_files_out *file);

/* True for the first that asks for a path in this process. */
bool strobe_files_is_first(const char *path);
void strobe_files_remove(const char *path);

/* ---- markers.c: frames to markers ---- */
void strobe_files_calls(struct strobe_device_calls *calls);
/* The site of an id; NULL: it has no name. */
const struct strobe_files_name *strobe_files_name(const struct strobe_device_files *files,
                                                  uint32_t id, bool is_classic);
enum strobe_err strobe_files_sorts_open(struct strobe_device_files *files);

/* ---- dump.c: sorted markers to lines, and to runs ---- */
enum strobe_err strobe_files_dump_markers(struct strobe_device_files *files);

/* ---- ops.c: runs to lines per op ---- */
int strobe_files_run_compare(const void *a, const void *b);
enum strobe_err strobe_files_dump_ops(struct strobe_device_files *files);

/* ---- noc.c ---- */
int strobe_files_noc_compare(const void *a, const void *b);
/* A marker of a run, if it belongs into its file; `name` may be NULL. */
enum strobe_err strobe_files_noc_add(struct strobe_device_files *files,
                                     const struct strobe_files_marker *marker,
                                     const struct strobe_files_name *name,
                                     const struct strobe_files_run *run);
enum strobe_err strobe_files_dump_noc(struct strobe_device_files *files);

/* ---- sync.c ---- */
void strobe_files_sample(struct strobe_device_files *files,
                         const struct strobe_device_clock *clock);
void strobe_files_dump_sync(struct strobe_device_files *files);

/* ---- sources.c ---- */
void strobe_files_dump_sources(struct strobe_device_files *files);

/* ---- dispatch.c ---- */
/* Keep a marker that is in a command's zone, or begins or ends one. False: it is in none. A command that is over must be written before the next
 * marker. */
bool strobe_files_command_take(struct strobe_device_files *files,
                               struct strobe_files_command *command,
                               const struct strobe_files_marker *marker,
                               const struct strobe_files_name *name);
/* Its zone has ended, or there is no room for more rows. */
bool strobe_files_command_is_over(const struct strobe_files_command *command);
/* It was written. */
void strobe_files_command_end(struct strobe_files_command *command);
/* The name of its zone, and the program that it works for; 0: not said. */
uint32_t strobe_files_command_name(const struct strobe_device_files *files,
                                   const struct strobe_files_command *command,
                                   char name[STROBE_FILES_COMMAND_TEXT]);
/* The last column of one of its rows; "": nothing. */
void strobe_files_command_meta(const struct strobe_device_files *files,
                               const struct strobe_files_marker *marker,
                               const struct strobe_files_name *name,
                               char meta[STROBE_FILES_COMMAND_TEXT]);

#endif
