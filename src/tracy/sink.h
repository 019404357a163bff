/* sink.h - where the events of a Tracy client (live, or read from a file) go: into EVENTS and RECORDS
 * blocks of a trace.
 *
 * A store holds one block under construction and the names that it needs; all clients of a recorder
 * share it. A sink is one client process in it, a track one thread (or GPU context) of that process.
 * Names may come after their first use: an id is made first, with a stand-in text, and told again
 * when its text is known (docs/file-format.md: a later record of a key replaces an earlier one).
 *
 * Memory is bounded by the store's budget: what does not fit in it is set aside and counted as lost.
 * A store and its sinks belong to one thread at a time.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_SINK_H
#define STROBE_TRACY_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "file/encode.h"
#include "file/file_write.h"
#include "wire/kinds.h"

struct strobe_tracy_store;
struct strobe_tracy_sink;
struct strobe_tracy_track;

struct strobe_tracy_store_options {
    struct strobe_file_writer *writer; /* borrowed: must outlive the store */
    /* borrowed: takes the records (flight recorder). NULL: the same */
    struct strobe_file_writer *records_writer;
    /* Number for a process, unique in the trace. NULL: 1, 2, 3 … */
    uint32_t (*new_proc)(void *arg);
    /* Takes over a loss, so that one place keeps all of them. NULL: the store writes LOSS records. */
    void (*lose)(void *arg, uint32_t proc, uint64_t track, uint32_t cause, uint64_t count,
                 uint64_t first_tick, uint64_t last_tick);
    void *arg;
    uint64_t
        max_file_bytes;  /* events are lost (FILE_LIMIT) when the file is as long; 0: no limit */
    size_t budget_bytes; /* memory for names and threads of all clients; 0: 32 MiB */
};

enum strobe_err strobe_tracy_store_open(const struct strobe_tracy_store_options *options,
                                        struct strobe_tracy_store **out);
/* Write names and block now, if there are some. Errors are counted as losses and leave the store usable. */
enum strobe_err strobe_tracy_store_flush(struct strobe_tracy_store *store);
/* Events go to another writer from now on; flush first. */
void strobe_tracy_store_set_writer(struct strobe_tracy_store *store,
                                   struct strobe_file_writer *writer);
/* Flush and free. NULL is allowed. Sinks must be closed before. */
void strobe_tracy_store_close(struct strobe_tracy_store *store);

/* Take `n` bytes of the budget, or give them back (negative). False: it is used up. */
bool strobe_tracy_store_charge(struct strobe_tracy_store *store, int64_t n_bytes);

/* What a process is. Texts may be NULL. */
struct strobe_tracy_process {
    uint64_t pid, parent_pid, start_time;
    const char *exe, *cwd; /* borrowed for the call */
    const char *argv;      /* borrowed: n_argv bytes, NUL between the words */
    size_t n_argv;
};

/* What a client says of itself: docs/file-format.md, tracy_client. */
struct strobe_tracy_client {
    uint32_t protocol; /* 0: read from a file */
    double timer_mul;  /* ns per tick of its clock */
    int64_t init_begin, init_end;
    uint64_t delay, resolution, epoch, exec_time, pid;
    int64_t sampling;
    uint8_t flags, arch;
    uint32_t cpu_id;
    char maker[13], program[65], host[1025];
};

/* One process: PROCESS, PROGRAM_NAME and TRACY_CLIENT records; `client` NULL: only the first, it is not Tracy's. */
enum strobe_err strobe_tracy_sink_open(struct strobe_tracy_store *store,
                                       const struct strobe_tracy_process *process,
                                       const struct strobe_tracy_client *client,
                                       struct strobe_tracy_sink **out);
/* Free it; its events are in the store's block or in the file. NULL is allowed. */
void strobe_tracy_sink_close(struct strobe_tracy_sink *sink);
uint32_t strobe_tracy_sink_proc(const struct strobe_tracy_sink *sink);
/* Open zones of its fibers. */
uint64_t strobe_tracy_sink_n_open_in_fibers(const struct strobe_tracy_sink *sink);

/* ---- facts ---- */

/* A record of `kind`, its fields by the letters of the kind: `numbers` has one entry for each of u, i
 * (two's complement), n, l and d (its bits), `texts` and `sizes` one for each s, all in order. Kinds
 * 64–95 get the sink's process in front. */
void strobe_tracy_sink_record(struct strobe_tracy_sink *sink, uint32_t kind,
                              const uint64_t *numbers, const char *const *texts,
                              const size_t *sizes);
/* Something to be told, printf-like: a NOTE. At most 100 per sink; the rest is counted in the last. */
void strobe_tracy_sink_note(struct strobe_tracy_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Events that were set aside. `track` may be NULL: not known which. */
void strobe_tracy_sink_lose(struct strobe_tracy_sink *sink, const struct strobe_tracy_track *track,
                            uint32_t cause, uint64_t count, uint64_t tick);

struct strobe_tracy_loc {
    uint32_t line, color;
    const char *function, *file, *name; /* borrowed for the call; no NUL at the end */
    size_t n_function, n_file, n_name;
};
/* A new id (from 1), with a stand-in for its text: `pointer` in hex. */
uint64_t strobe_tracy_sink_new_loc(struct strobe_tracy_sink *sink, uint64_t pointer);
uint64_t strobe_tracy_sink_new_string(struct strobe_tracy_sink *sink, uint64_t pointer);
/* Tell what an id is. */
void strobe_tracy_sink_set_loc(struct strobe_tracy_sink *sink, uint64_t id,
                               const struct strobe_tracy_loc *loc);
void strobe_tracy_sink_set_string(struct strobe_tracy_sink *sink, uint64_t id, const char *text,
                                  size_t n_bytes);
/* The id of this content: one that is known already, or a new one (always, when the cache of known
 * ones is full or has forgotten it; readers put equal locations together). */
uint64_t strobe_tracy_sink_loc(struct strobe_tracy_sink *sink, const struct strobe_tracy_loc *loc);
uint64_t strobe_tracy_sink_string(struct strobe_tracy_sink *sink, const char *text, size_t n_bytes);

/* ---- tracks ---- */

/* The track of a thread, made at its first use with a THREAD record. NULL: over the budget. Valid
 * until the sink is closed. */
struct strobe_tracy_track *strobe_tracy_sink_thread(struct strobe_tracy_sink *sink, uint64_t tid,
                                                    uint64_t tick);
/* The track of a GPU context: a thread with tid 0. */
struct strobe_tracy_track *strobe_tracy_sink_gpu(struct strobe_tracy_sink *sink, uint8_t context,
                                                 uint64_t tick);
void strobe_tracy_sink_thread_name(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                                   const char *name, size_t n_bytes);
uint64_t strobe_tracy_track_id(const struct strobe_tracy_track *track); /* its number in the file */
uint32_t strobe_tracy_track_depth(const struct strobe_tracy_track *track); /* open zones */

/* ---- events, in the order in which their thread made them ---- */

void strobe_tracy_sink_zone_begin(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                                  uint64_t tick, uint64_t loc);
/* The innermost zone of the thread (of the fiber that it runs) ends. False: none is open; the end is
 * stored as one whose begin is not known. */
bool strobe_tracy_sink_zone_end(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                                uint64_t tick);
/* Many of them: the fast way (file/encode.h). */
void strobe_tracy_sink_steps(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                             const struct strobe_zone_step *steps, size_t n_steps);
/* From here on the thread's zones are those of `fiber`; 0: its own again. */
void strobe_tracy_sink_fiber(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                             uint64_t tick, uint64_t fiber);
/* Any other event: `numbers` by its letters, as in strobe_tracy_sink_record; `text` for its s. Texts
 * of more than 192 KiB go in pieces. */
void strobe_tracy_sink_event(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                             uint64_t tick, enum strobe_kind kind, const uint64_t *numbers,
                             const char *text, size_t n_bytes);
/* The last event of the track was so much later on its process's own clock than its tick says: only
 * straight after that event. */
void strobe_tracy_sink_own_time(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                                int64_t more);
/* CALLSTACK (`cpu` is not used) and SAMPLE. At most 4,096 addresses are kept. */
void strobe_tracy_sink_stack(struct strobe_tracy_sink *sink, struct strobe_tracy_track *track,
                             uint64_t tick, enum strobe_kind kind, uint64_t cpu,
                             const uint64_t *addresses, size_t n_addresses);

#endif
