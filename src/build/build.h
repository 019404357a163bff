/* build.h - makes a trace of events from any source: Tracy's clients and files, Chrome's JSON, and
 * what else is not a ring of the client.
 *
 *   store ─┬─ build (a process) ─┬─ track (a thread, a GPU context)        strobe_build_store_open
 *          ├─ build              └─ track                                  strobe_build_open, _thread, _gpu
 *          └─ one block under construction, names that wait, losses        block.h, losses.h
 *
 * Order. Processes and tracks come mixed in any way. Events of one track come in the order in which
 * their thread made them; their ticks may go back, and are stored as they are. A name may come after
 * its first use: an id is made first, with a stand-in text, and gets its text later (docs/file-format.md:
 * a later record of a key replaces an earlier one). A source whose events come in no order at all sorts
 * them before, in files: rows.h.
 *
 * Memory is bounded by the store's budget. What a source makes grow (processes, tracks, open zones,
 * fibers) is charged before it grows; what does not fit is refused, never stored half, and counted as
 * REFUSED. One process may use 12 MiB of it, so that others have some.
 *
 * Failure. Events are void: they are stored or counted as lost. On a full disk blocks are counted as
 * DISK, beyond max_file_bytes as FILE_LIMIT, and the source goes on.
 *
 * Ownership. A store owns its block; builds are the caller's and are closed before their store; tracks
 * belong to their build. A store with all its builds belongs to one thread at a time. Several stores,
 * each in its own thread, may write one file.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BUILD_BUILD_H
#define STROBE_BUILD_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "file/encode.h"
#include "file/file_write.h"
#include "wire/kinds.h"
#include "wire/ring_layout.h"

struct strobe_build_store;
struct strobe_build;
struct strobe_build_track;

struct strobe_build_store_options {
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
    size_t budget_bytes; /* memory for names and threads of all processes; 0: 32 MiB */
};

enum strobe_err strobe_build_store_open(const struct strobe_build_store_options *options,
                                        struct strobe_build_store **out);
/* Write names, block and losses now, if there are some. Errors are counted as losses and leave the
 * store usable. */
enum strobe_err strobe_build_store_flush(struct strobe_build_store *store);
/* Events go to another writer from now on; flush first. */
void strobe_build_store_set_writer(struct strobe_build_store *store,
                                   struct strobe_file_writer *writer);
/* Flush and free. NULL is allowed. Its builds must be closed before. */
void strobe_build_store_close(struct strobe_build_store *store);

/* Events that are not stored, of a process and track or (0, 0) of none: for what a source can't give to one of them. */
void strobe_build_store_lose(struct strobe_build_store *store, uint32_t proc, uint64_t track,
                             uint32_t cause, uint64_t count, uint64_t first, uint64_t last);

/* Take `n` bytes of the budget, or give them back (negative). False: it is used up. */
bool strobe_build_store_charge(struct strobe_build_store *store, int64_t n_bytes);

/* What a process is. Texts may be NULL. */
struct strobe_build_process {
    uint64_t pid, parent_pid, start_time;
    const char *exe, *cwd; /* borrowed for the call */
    const char *argv;      /* borrowed: n_argv bytes, NUL between the words */
    size_t n_argv;
};

/* What a Tracy client says of itself: docs/file-format.md, tracy_client. */
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

/* One process, with its PROCESS record. LIMIT: over the budget. */
enum strobe_err strobe_build_open(struct strobe_build_store *store,
                                  const struct strobe_build_process *process,
                                  struct strobe_build **out);
/* It is a Tracy client: PROGRAM_NAME and TRACY_CLIENT records. */
void strobe_build_tracy_client(struct strobe_build *build,
                               const struct strobe_tracy_client *client);
/* Free it; its events are in the store's block or in the file. NULL is allowed. */
void strobe_build_close(struct strobe_build *build);
uint32_t strobe_build_proc(const struct strobe_build *build);
/* Open zones of its fibers. */
uint64_t strobe_build_n_open_in_fibers(const struct strobe_build *build);

/* ---- facts ---- */

/* A record of `kind`, its fields by the letters of the kind: `numbers` has one entry for each of u, i
 * (two's complement), n, l and d (its bits), `texts` and `sizes` one for each s, all in order. Kinds
 * 64–95 get the process in front. */
void strobe_build_record(struct strobe_build *build, uint32_t kind, const uint64_t *numbers,
                         const char *const *texts, const size_t *sizes);
/* What kinds are that a file's head does not list: before the first record of one of them. */
void strobe_build_kinds(struct strobe_build *build);
/* A NOTE for the reader, printf-like. At most 100 per process; the last says that there were more. */
void strobe_build_note(struct strobe_build *build, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Events that are not stored. `track` may be NULL: not known which. */
void strobe_build_lose(struct strobe_build *build, struct strobe_build_track *track, uint32_t cause,
                       uint64_t count, uint64_t tick);

struct strobe_build_loc {
    uint32_t line, color;
    const char *function, *file, *name; /* borrowed for the call; no NUL at the end */
    size_t n_function, n_file, n_name;
};
/* A new id (from 1), with a stand-in for its text: `pointer` in hex. */
uint64_t strobe_build_new_loc(struct strobe_build *build, uint64_t pointer);
uint64_t strobe_build_new_string(struct strobe_build *build, uint64_t pointer);
/* Say what an id is. */
void strobe_build_set_loc(struct strobe_build *build, uint64_t id,
                          const struct strobe_build_loc *loc);
void strobe_build_set_string(struct strobe_build *build, uint64_t id, const char *text,
                             size_t n_bytes);
/* The id of this content: one that is known already, or a new one (always, when the cache of known
 * ones is full or has forgotten it; readers put equal locations together). */
uint64_t strobe_build_loc(struct strobe_build *build, const struct strobe_build_loc *loc);
uint64_t strobe_build_string(struct strobe_build *build, const char *text, size_t n_bytes);

/* ---- tracks ---- */

/* The track of a thread, made at its first use with a THREAD record. NULL: over the budget. Valid
 * until the build is closed. */
struct strobe_build_track *strobe_build_thread(struct strobe_build *build, uint64_t tid,
                                               uint64_t tick);
/* The track of a GPU context: a thread with tid 0. */
struct strobe_build_track *strobe_build_gpu(struct strobe_build *build, uint8_t context,
                                            uint64_t tick);
void strobe_build_thread_name(struct strobe_build *build, struct strobe_build_track *track,
                              const char *name, size_t n_bytes);
uint64_t strobe_build_track_id(const struct strobe_build_track *track); /* its number in the file */
uint32_t strobe_build_track_depth(const struct strobe_build_track *track); /* open zones */

/* ---- going on with a process of a file that somebody else began ---- */

/* Where a process stands: for a source that can make the same events again from a point that it remembers, to be stored with that point. */
struct strobe_build_saved {
    uint32_t proc, n_notes;
    uint64_t last_loc, last_string, last_track;
    uint64_t lost[STROBE_LOSS_COUNT]; /* of no track */
};
struct strobe_build_saved_track {
    uint64_t tid, id, pos; /* pos: events so far */
    uint64_t lost[STROBE_LOSS_COUNT];
};
void strobe_build_save(const struct strobe_build *build, struct strobe_build_saved *out);
void strobe_build_track_save(const struct strobe_build_track *track,
                             struct strobe_build_saved_track *out);

/* What the file has of a track (0: of no track): more than the source remembers, where it was killed in between. */
struct strobe_build_known {
    uint64_t pos;              /* events */
    struct strobe_track state; /* borrowed: its open zones, its last tick */
    const uint64_t *lost;      /* borrowed: STROBE_LOSS_COUNT, by cause; NULL: none */
};
/* Whether the file has something of it. What is borrowed is valid until the next call. */
typedef bool strobe_build_ask(void *context, uint32_t proc, uint64_t track,
                              struct strobe_build_known *out);

/* A process of the file, from the point that was saved. Its tracks are asked for (`ask`, during the life of the process): events and
 * losses that the file has already are left out when they come again, losses that it lacks by that point are put there. LIMIT, NOMEM. */
enum strobe_err strobe_build_resume(struct strobe_build_store *store,
                                    const struct strobe_build_saved *saved, strobe_build_ask *ask,
                                    void *context, struct strobe_build **out);
/* A track of it that was saved. NULL: over the budget. */
struct strobe_build_track *strobe_build_resume_thread(struct strobe_build *build,
                                                      const struct strobe_build_saved_track *saved);

/* ---- events, in the order in which their thread made them ---- */

void strobe_build_zone_begin(struct strobe_build *build, struct strobe_build_track *track,
                             uint64_t tick, uint64_t loc);
/* The innermost zone of the thread (of the fiber that it runs) ends. False: none is open; the end is
 * stored as one whose begin is not known. */
bool strobe_build_zone_end(struct strobe_build *build, struct strobe_build_track *track,
                           uint64_t tick);
/* The innermost open zone of `loc` ends; those that are open in it lost their ends. Not in a fiber. */
void strobe_build_zone_end_of(struct strobe_build *build, struct strobe_build_track *track,
                              uint64_t tick, uint64_t loc);
/* Many of them: the fast way (file/encode.h). */
void strobe_build_steps(struct strobe_build *build, struct strobe_build_track *track,
                        const struct strobe_zone_step *steps, size_t n_steps);
/* From here on the thread's zones are those of `fiber`; 0: its own again. */
void strobe_build_fiber(struct strobe_build *build, struct strobe_build_track *track, uint64_t tick,
                        uint64_t fiber);
/* Any other event: `numbers` by its letters, as in strobe_build_record; `text` for its s. Texts
 * of more than 192 KiB go in pieces. */
void strobe_build_event(struct strobe_build *build, struct strobe_build_track *track, uint64_t tick,
                        enum strobe_kind kind, const uint64_t *numbers, const char *text,
                        size_t n_bytes);
/* The last event of the track was so much later on its process's own clock than its tick says: only
 * straight after that event. */
void strobe_build_own_time(struct strobe_build *build, struct strobe_build_track *track,
                           int64_t more);
/* CALLSTACK (`cpu` is not used) and SAMPLE. At most 4,096 addresses are kept. */
void strobe_build_stack(struct strobe_build *build, struct strobe_build_track *track, uint64_t tick,
                        enum strobe_kind kind, uint64_t cpu, const uint64_t *addresses,
                        size_t n_addresses);

#endif
