/* collector.h - the recorder's heart: finds the processes of a session, drains their rings, writes
 * the file.
 *
 * Life of a recording:
 *   1. strobe_collector_open      file and buffers are ready, nothing runs yet
 *   2. strobe_collector_poll      again and again: new processes, full segments, deaths, losses
 *   3. strobe_collector_stop      gates shut; once all that passed them is stored, the last words are drained
 *   4. strobe_collector_close     footer, pools removed
 * Memory is bounded: one block under construction, and per live thread its open zones.
 * Not thread-safe, but for what says so.  SPDX-License-Identifier: MIT */
#ifndef STROBE_COLLECTOR_COLLECTOR_H
#define STROBE_COLLECTOR_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "build/mapped.h"
#include "file/file_write.h"
#include "ring/ring_read.h"

struct strobe_collector;

/* In the session's folder: the losses of a trace that could not be written any more. */
#define STROBE_LEDGER_FILE "ledger"

/* Who hears of the code of programs: the files that they have mapped, and the stacks that they record. Called on the collector's thread.
 * A stack may come before its files. NULL: nobody. */
struct strobe_collector_listener {
    void (*module)(void *context, const struct strobe_mapped_file *file);
    void (*stack)(void *context, uint32_t proc, const uint64_t *addresses, uint32_t n);
    /* A location whose file is "PATH+0xADDRESS": a function of that file, `id` in its process. */
    void (*function)(void *context, uint32_t proc, uint64_t id, const char *path, uint64_t vaddr);
    void *context; /* borrowed: must outlive the collector */
};

struct strobe_collector_options {
    const char *session_dir; /* borrowed for the call */
    uint32_t policy;
    uint32_t stack_depth;
    uint64_t max_file_bytes; /* 0: no limit */
    uint32_t only_pid;       /* 0: every process of the session */
    bool post_mortem;        /* recovery: drain what is there, attach to nothing */
    struct strobe_file_writer
        *records_writer; /* borrowed: where records go, NULL: where events go */
    /* a zone over its limit triggers: name (NULL: none) and limit */
    const char *trigger_zone;
    uint64_t trigger_ns;
    struct strobe_collector_listener listener;
};

/* A thread that stood still while the recording ended: its last event may be missing. */
struct strobe_unheard {
    uint32_t pid, tid; /* tid 0: it is not known which */
    char name[32];
};
enum { STROBE_UNHEARD_NAMED = 16 };

/* What the status line and the last lines show. */
struct strobe_collector_status {
    uint64_t n_events, n_zones, n_bytes, n_lost;
    uint32_t n_clients; /* processes with a ring, seen so far */
    uint32_t n_live, n_procs, n_threads;
    bool triggered;
    bool disk_failed;
    bool no_memory;  /* at the end: the session's folder has more than the recorder could read */
    uint32_t n_left; /* at the end: processes that stay there for want of file descriptors */
    bool size_limit; /* the file is as long as this process may make it (RLIMIT_FSIZE) */
    uint64_t n_pool_full;  /* of the lost: a pool had no room for them */
    uint32_t n_unrecorded; /* processes that could not take part */
    uint32_t n_unheard;
    struct strobe_unheard unheard[STROBE_UNHEARD_NAMED]; /* the first of them */
};

/* `writer` is borrowed; blocks go to it. */
enum strobe_err strobe_collector_open(const struct strobe_collector_options *options,
                                      struct strobe_file_writer *writer,
                                      struct strobe_collector **out);

/* Recovery: (proc, track) of the file was stored up to word `pos`, with these zones open, and so
 * much of what its slot counts as lost (track 0: of events that had no thread). The track is
 * copied. */
enum strobe_err strobe_collector_resume_track(struct strobe_collector *c, const char *pool_name,
                                              uint32_t proc, uint64_t track, uint64_t pos,
                                              const struct strobe_track *state,
                                              const uint64_t lost[STROBE_LOSS_COUNT]);
void strobe_collector_resume_meta(struct strobe_collector *c, const char *pool_name, uint32_t proc,
                                  uint64_t meta_pos);

/* One round. `flush`: take partly filled segments too. The number of events taken. */
uint64_t strobe_collector_poll(struct strobe_collector *c, bool flush);

/* Sleep for `ns`; less when a process joins or a signal comes, so that it is seen while it lives.
 */
void strobe_collector_wait(struct strobe_collector *c, uint64_t ns);

/* Whether nobody takes part at present, and who comes ends strobe_collector_wait. */
bool strobe_collector_is_quiet(const struct strobe_collector *c);

/* Tell the processes that their recorder lives. Thread-safe. */
void strobe_collector_beat(struct strobe_collector *c);

/* A number for a process that comes from elsewhere (Tracy's clients), in the same count. Thread-safe.
 */
uint32_t strobe_collector_new_proc_id(struct strobe_collector *c);

/* Events that did not get into the file, of a track or of all (0). Thread-safe: the losses of all
 * who write to the file are kept here. */
void strobe_collector_lose(struct strobe_collector *c, uint32_t proc, uint64_t track,
                           uint32_t cause, uint64_t count, uint64_t first, uint64_t last);

/* A child of ours was reaped: how its process ended. */
void strobe_collector_exit_status(struct strobe_collector *c, uint32_t pid, int wait_status);

/* A process that can't be recorded: who, and why. */
void strobe_collector_unrecorded(struct strobe_collector *c, uint32_t pid, const char *what,
                                 const char *why);

/* Whether a process that /proc calls `pid` joined, by now or before. */
bool strobe_collector_knows(const struct strobe_collector *c, uint32_t pid);

/* The tick now, on the trace's clock. */
uint64_t strobe_collector_now(const struct strobe_collector *c);

/* Note a clock sync point; one that is off the line starts a new piece. */
void strobe_collector_sync_clock(struct strobe_collector *c);

/* Once per round, `mono_ns` just read: whether counter and clock still advance together. If not, a sync point is noted. */
void strobe_collector_check_clock(struct strobe_collector *c, uint64_t mono_ns);

/* A remark for the file. */
void strobe_collector_note(struct strobe_collector *c, uint32_t proc, const char *text);

void strobe_collector_stop(struct strobe_collector *c);
struct strobe_collector_status strobe_collector_status(struct strobe_collector *c);

/* Write what is under construction, so that the file has all that was taken. */
void strobe_collector_flush(struct strobe_collector *c);

/* Events go to another writer from now on (flight recorder); flush first. */
void strobe_collector_set_writer(struct strobe_collector *c, struct strobe_file_writer *writer);

/* A trigger was seen and dealt with. */
void strobe_collector_clear_trigger(struct strobe_collector *c);

/* Write what is left and free it. What could not be written is in the ledger; `unlink_pools`: all
 * was written, so the pools of dead processes go. */
enum strobe_err strobe_collector_close(struct strobe_collector *c);

#endif
