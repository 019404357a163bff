/* internal.h - device_host's state, for its own files. An open device is a backend's unit, the sinks of its frames, its memory map
 * and its traces; all of it but the queue's lock is touched by the one thread that runs all devices (worker.c), and by callers
 * only where a field says so.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_HOST_INTERNAL_H
#define STROBE_DEVICE_HOST_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/backend.h"
#include "fifo/device_fifo.h"
#include "device_host/worker.h"

#define STROBE_HOST_MAX_LISTENERS 8
#define STROBE_HOST_PAGE_ALIGN    32 /* of pages in banks; kernels' address generators know it */

struct strobe_host_listener {
    strobe_device_frames *frames;    /* NULL: a free entry */
    void *context;                   /* borrowed: for frames */
    uint64_t n_dropped;              /* words that it refused */
    struct strobe_host_queue *queue; /* owned: of one with a thread of its own; else NULL */
};

/* Pieces of one pool that are in use, sorted by address. */
struct strobe_host_map {
    struct strobe_host_piece {
        uint64_t address, bytes;
    } * pieces; /* owned: n_pieces */
    uint32_t n_pieces, room;
    uint64_t first, end; /* what may be used */
};

struct strobe_host_trace {
    uint32_t id; /* 0: freed */
    struct strobe_host_step {
        struct strobe_device_job *job; /* shared: one reference */
        uint32_t runtime_id;
    } * steps; /* owned: n_steps */
    uint32_t n_steps, room;
};

/* Frames that the recorder did not take: a length, then its words, each. */
struct strobe_host_spool {
    uint32_t *words; /* owned: room for `room` */
    uint64_t first, n, room, n_most;
};

/* Messages from the root, the device that was opened first, to this one. */
struct strobe_host_link {
    struct strobe_device *next,
        *root; /* borrowed: in the list of linked devices; NULL: it is the root */
    struct strobe_clock_pair *pairs; /* owned: n_pairs */
    uint32_t n_pairs;
    bool is_listed;
};

struct strobe_device {
    const struct strobe_device_backend *backend; /* borrowed: lives for ever */
    void *unit;                                  /* owned: of the backend */
    struct strobe_device_setup setup;
    struct strobe_device_sink sink;
    struct strobe_host_listener listeners[STROBE_HOST_MAX_LISTENERS];
    strobe_device_words *words; /* of warnings; NULL: stderr */
    void *words_context;        /* borrowed: for words */
    uint32_t *facts; /* owned: frames that describe the device, for listeners that come later */
    uint64_t n_facts, room_facts;
    uint32_t *frame; /* owned: the frame under construction */
    char **named;    /* owned: objects whose names the sinks know */
    uint32_t n_named, room_named;
    struct strobe_device_fifo_writer fifo; /* to the recorder; zeroed: none */
    struct strobe_host_spool spool;        /* before it; n_most 0: none */
    struct strobe_host_link link;          /* links.c */
    struct strobe_device_files *files;     /* owned; NULL: none are written */
    char
        *kept_path; /* owned: of the stream that is kept while there are no files yet; NULL: none */
    int kept_fd;    /* -1: none */
    uint64_t n_flows;                        /* atomic */
    uint32_t told_unmarked;                  /* atomic: see strobe_host_tell_unmarked */
    uint64_t number;                         /* no two devices of a process have the same */
    uint32_t n_cores, epoch, firmware_named; /* firmware_named: epoch + 1 */
    uint64_t sequence, clocks_read_ns;
    struct strobe_host_map dram, l1;  /* callers, under `lock` */
    struct strobe_host_trace *traces; /* callers, under `lock` */
    uint32_t n_traces, room_traces;
    uint32_t capturing; /* trace + 1; callers, under `lock` */
    uint32_t n_replays; /* callers, under `lock` */
    pthread_mutex_t lock;
    enum strobe_device_result status; /* of what ran since the last finish */
    char reason[STROBE_DEVICE_REASON_BYTES];
};

/* ---- reason.c ---- */
/* Remember a sentence for strobe_device_reason of this thread; returns `result`. */
enum strobe_device_result strobe_host_fail(enum strobe_device_result result, const char *format,
                                           ...) __attribute__((format(printf, 2, 3)));
/* The result that fits a backend's error best. */
enum strobe_device_result strobe_host_result(enum strobe_err err);

/* ---- frames.c: what the host itself puts into the stream ---- */
/* Hand frames to all listeners. A listener that does not take them misses them, and no other does. LIMIT: the recorder did not take them, and it is
 * the only one: they may be offered again. Thread: the worker. */
enum strobe_err strobe_frames_put(struct strobe_device *device, const uint32_t *words,
                                  size_t n_words);
/* HELLO and CORE frames, first readings of clocks. */
void strobe_frames_hello(struct strobe_device *device);
/* Names and program of a job, where the sinks do not know them; then its launch. */
void strobe_frames_launch(struct strobe_device *device, struct strobe_device_job *job,
                          const struct strobe_job_launch *run, uint32_t trace, uint64_t flow,
                          uint32_t tid);
/* Names of firmware's own zones, where the sinks do not know them. */
void strobe_frames_firmware(struct strobe_device *device);
/* Readings of clocks, when the last are old; with `now` at once. */
void strobe_frames_clocks(struct strobe_device *device, int now);
/* With STROBE_DEVICE_RECORD_CLOCKS: many readings of the first core's clock, at once. */
void strobe_frames_sync(struct strobe_device *device);
void strobe_frames_memory(struct strobe_device *device, int is_alloc, enum strobe_device_pool pool,
                          uint64_t address, uint64_t bytes);
/* This device's clock against that of device `other`: other's = scale * its + shift. */
void strobe_frames_link(struct strobe_device *device, uint32_t other, uint32_t n_messages,
                        const struct strobe_clock_link *link, double error_ns);
/* Counts of all lanes, so far. */
void strobe_frames_totals(struct strobe_device *device);
/* The last frame: counts of all lanes. */
void strobe_frames_bye(struct strobe_device *device, uint32_t reason);

/* ---- program.c ---- */
/* The program as it is now, built for the device; one reference more. */
enum strobe_device_result strobe_program_job(struct strobe_program *program,
                                             struct strobe_device *device,
                                             struct strobe_device_job **job);
void strobe_device_job_release(struct strobe_device_job *job);
/* Give the program a number if it has none, and return it. */
uint32_t strobe_program_number(struct strobe_program *program);

/* ---- memory.c ---- */
/* Warn of buffers that were not freed, where allocations are recorded. */
void strobe_host_leaks(struct strobe_device *device);

/* ---- apart.c: a consumer with a thread of its own ---- */

struct strobe_host_queue;
/* Its thread and queue. NULL: no memory. */
struct strobe_host_queue *strobe_host_queue_open(strobe_device_frames *frames, void *context,
                                                 size_t n_bytes);
struct strobe_host_listener strobe_host_queue_listener(struct strobe_host_queue *queue);
/* Hand out what waits, end the thread, free. Nobody puts any more; not on the consumer's own thread. NULL is allowed. */
void strobe_host_queue_close(struct strobe_host_queue *queue);

/* ---- recorded.c: the recorder of this program's session ---- */

bool strobe_host_is_recorded(void);
/* A launch on a device whose kernels have no markers, while a recorder is there: once, a message in its trace. */
void strobe_host_tell_unmarked(struct strobe_device *device);
/* A way to it, as the first listener; nothing happens where the program takes part in no session. */
void strobe_host_record_open(struct strobe_device *device);
void strobe_host_record_close(struct strobe_device *device);
/* Whether listener `index` is the way to the recorder. */
bool strobe_host_is_recorder(const struct strobe_device *device, uint32_t index);
/* The next frames are the last: there is room for them. */
void strobe_host_record_end(struct strobe_device *device);
/* Begin a flow on the calling thread, in its innermost zone. Its number, 0: nobody records. */
uint64_t strobe_host_flow(struct strobe_device *device);

/* ---- links.c: devices' clocks against each other, with TT_METAL_PROFILER_SYNC=1 ---- */

void strobe_host_link_open(struct strobe_device *device);
/* Messages once more; the line through all of them goes to the stream. Of the root: for all that are linked to it. */
void strobe_host_link_close(struct strobe_device *device);

/* ---- spool.c: what a relay keeps while the recorder takes nothing ---- */

void strobe_host_spool_open(struct strobe_device *device);
void strobe_host_spool_close(struct strobe_device *device);
/* Frames of the backend. LIMIT: neither the recorder nor the spool has room; they may be offered again. */
enum strobe_err strobe_host_spool_put(struct strobe_device *device, const uint32_t *words,
                                      size_t n_words);
/* Hand on what it holds, as far as it is taken. */
void strobe_host_spool_pump(struct strobe_device *device);

/* ---- files.c: the files of a run ---- */

/* A listener that writes them, where they are asked for. */
void strobe_host_files_open(struct strobe_device *device);
/* Write what came so far. */
void strobe_host_files_dump(struct strobe_device *device);
void strobe_host_files_close(struct strobe_device *device);

#endif
