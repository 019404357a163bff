/* timeline.h - what importers of events with times share: processes, threads, names; zones, spans, messages, values, flows and switches, in any order, put
 * into a trace. Events become rows (build/rows.h), which are sorted by thread and time once all were read, and then written.
 *
 *   strobe_timeline_make ──► the reader's `read`: process, thread, loc, add … ──► rows in order ──► the trace
 *
 * Memory is bounded: what grows with what a file names shares 64 MiB; what finds no room there is counted and said in the trace.
 * timeline.c has its life and tables, timeline_write.c the way from rows to the trace.  SPDX-License-Identifier: MIT */
#ifndef STROBE_IMPORT_TIMELINE_H
#define STROBE_IMPORT_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "build/build.h"
#include "build/rows.h"

enum {
    STROBE_TIMELINE_DEPTH_MAX = 4096,    /* open zones of a thread */
    STROBE_TIMELINE_SPANS_MAX = 1 << 19, /* open spans of all, two entries each */
    STROBE_TIMELINE_NAMES_MAX = 1 << 18, /* names that are remembered; others are written again */
    STROBE_TIMELINE_TEXT_MAX = 64 << 10, /* of an event's text; the rest is cut off */
    STROBE_TIMELINE_LEFT_OUT_MAX = 48,   /* distinct reasons with a count of their own */
    STROBE_TIMELINE_STEPS = 256,         /* begins and ends that are put together */
};

/* How many of what a file had. */
struct strobe_timeline_result {
    uint64_t n_events; /* of the file */
    uint64_t n_zones, n_spans, n_messages, n_values, n_flows, n_switches, n_processes, n_threads;
    uint64_t n_set_aside; /* events that make no sense; the notes say why */
    uint64_t wall_ns;     /* when the trace starts, since 1970; 0: its times are of another clock */
    int is_cut;      /* the file ends too early or is damaged: what is before is in the trace */
    uint64_t offset; /* where that is */
};

/* What a row is; its `value` and `name`. */
enum strobe_timeline_kind {
    STROBE_TIMELINE_ZONE,       /* value: duration, UINT64_MAX: it never ends; name: location */
    STROBE_TIMELINE_BEGIN,      /* of a zone whose end is a row of its own; name: location */
    STROBE_TIMELINE_END,        /* the innermost BEGIN of the thread ends */
    STROBE_TIMELINE_MESSAGE,    /* its text */
    STROBE_TIMELINE_INT,        /* value; name: string of the plot */
    STROBE_TIMELINE_DOUBLE,     /* value: its bits; name: likewise */
    STROBE_TIMELINE_SPAN_BEGIN, /* value: number; name: location */
    STROBE_TIMELINE_SPAN_END,   /* value: number */
    STROBE_TIMELINE_FLOW,       /* value: flow; name: kind of event */
    STROBE_TIMELINE_SWITCH_IN,  /* value: cpu */
    STROBE_TIMELINE_SWITCH_OUT, /* value: cpu; name: reason */
    STROBE_TIMELINE_WOKEN,      /* value: cpu; name: tid of who woke it */
};

/* A process of the file. */
struct strobe_timeline_process {
    uint64_t pid;
    struct strobe_build *build; /* owned */
    uint32_t a_thread;          /* one of its threads + 1; 0: none yet */
};

/* A zone that was begun and has no end yet, of a file whose begins and ends come in order. */
struct strobe_timeline_open {
    int64_t time;
    uint64_t loc, text_at;
    uint32_t n_text;
};

/* What zones stand on. */
struct strobe_timeline_thread {
    uint32_t process;
    uint32_t carrier;                  /* + 1: its zones are spans on that thread; 0: its own */
    struct strobe_build_track *track;  /* borrowed from the build; NULL: a lane, not settled yet */
    struct strobe_timeline_open *open; /* owned: n_open of them */
    uint32_t n_open, open_room;
    uint64_t n_over; /* begins above those that found no room: their ends end nothing */
};

struct strobe_timeline {
    struct strobe_timeline_result *out;        /* borrowed */
    const char *folder;                        /* borrowed: where files without a name go */
    struct strobe_rows *rows;                  /* owned */
    struct strobe_file_writer *writer;         /* owned */
    struct strobe_build_store *store;          /* owned */
    struct strobe_timeline_process *processes; /* owned */
    uint32_t n_processes, processes_room;
    struct strobe_timeline_thread *threads; /* owned */
    uint32_t n_threads, threads_room;
    struct strobe_map pids, tids, names,
        spans; /* numbers by number or hash; the budget pays for them */
    uint64_t n_spans;
    int64_t first, last; /* times of all events */
    int64_t slack_ns;    /* by so much may zones seem to overlap that do not */
    uint64_t base_ns;    /* what times count from, since 1970; 0: the file does not say */
    uint64_t grain_ns;   /* of times */
    struct {
        const char *what; /* static: a sentence behind the number */
        uint64_t n;
    } left_out[STROBE_TIMELINE_LEFT_OUT_MAX];
    uint32_t n_left_out;
    /* while writing */
    uint32_t thread; /* the one that is written + 1 */
    int64_t *
        ends; /* owned: of its open zones, STROBE_TIMELINE_DEPTH_MAX; of a carried one: numbers of spans */
    uint32_t n_ends;
    uint64_t n_deeper; /* begins that found no room: their ends end nothing */
    uint64_t n_begun;  /* BEGINs that are open */
    int64_t shift;     /* from times to ticks */
    struct strobe_zone_step
        steps[STROBE_TIMELINE_STEPS]; /* of the thread, before any other event of it */
    uint32_t n_steps;
};

/* ---- life ---- */

/* Who reads a file. */
struct strobe_timeline_reader {
    /* All events of the file. CORRUPT: it is damaged or cut off from some place on; what came before is written. Others: there is no trace. */
    enum strobe_err (*read)(void *context, struct strobe_timeline *timeline);
    /* All was read: give back what was needed for it. May be called twice. */
    void (*drop)(void *context, struct strobe_timeline *timeline);
    void *context; /* borrowed */
};

/* Read the file called `from` into a new trace at `to`. Errors of `read` and of writing; with CORRUPT and is_cut the trace is there. */
enum strobe_err strobe_timeline_make(const char *from, const char *to,
                                     const struct strobe_timeline_reader *reader,
                                     struct strobe_timeline_result *out);

/* ---- memory ---- */

/* What took n_now bytes takes n_then. 0: that is over the budget of the import. */
int strobe_timeline_charge(struct strobe_timeline *timeline, uint64_t n_now, uint64_t n_then);
/* Room for `want` items in an array that the budget pays for. 0: there is none. */
int strobe_timeline_room(struct strobe_timeline *timeline, void **items, uint32_t *room,
                         uint64_t want, size_t item_bytes);
/* Free such an array. */
void strobe_timeline_free(struct strobe_timeline *timeline, void **items, uint32_t *room,
                          size_t item_bytes);
/* The value of a key, added (0) if need be; NULL: it is new, and there is no memory or budget, or more than `most`. */
uint64_t *strobe_timeline_map_at(struct strobe_timeline *timeline, struct strobe_map *map,
                                 uint64_t key, uint32_t most);
void strobe_timeline_map_free(struct strobe_timeline *timeline, struct strobe_map *map);

/* ---- what events are about ---- */

/* A process: index + 1; 0: there is no room for it. *is_new: this call made it. */
uint32_t strobe_timeline_process(struct strobe_timeline *timeline, uint64_t pid, int *is_new);
void strobe_timeline_name_process(struct strobe_timeline *timeline, uint32_t process,
                                  const char *name, size_t n);
/* A thread of a process (index + 1), likewise. */
uint32_t strobe_timeline_thread(struct strobe_timeline *timeline, uint32_t process, uint64_t tid,
                                int *is_new);
void strobe_timeline_name_thread(struct strobe_timeline *timeline, uint32_t thread,
                                 const char *name, size_t n);
/* Something else that zones stand on: a new one with each call, as a thread. strobe_timeline_settle says what it is before all was read. */
uint32_t strobe_timeline_lane(struct strobe_timeline *timeline, uint32_t process);
/* A lane is a track of its own, with a tid that no thread has; or (tid 0) its zones are spans of its process. */
void strobe_timeline_settle(struct strobe_timeline *timeline, uint32_t lane, uint64_t tid,
                            const char *name, size_t n);
struct strobe_build *strobe_timeline_build(const struct strobe_timeline *timeline, uint32_t thread);

/* ---- events ---- */

/* There is an event at that time. */
void strobe_timeline_see(struct strobe_timeline *timeline, int64_t time);
/* Keep a text for a row; what is too long of it is cut off. Errors of writing. */
enum strobe_err strobe_timeline_text(struct strobe_timeline *timeline, const char *text, size_t n,
                                     struct strobe_row *row);
enum strobe_err strobe_timeline_add(struct strobe_timeline *timeline, const struct strobe_row *row);
/* A zone from row.time to `end`; INT64_MAX: it does not end. */
enum strobe_err strobe_timeline_zone(struct strobe_timeline *timeline, struct strobe_row row,
                                     int64_t end);
/* Spans by what binds their begin to their end, in the order of the file; those of one binding nest. */
enum strobe_err strobe_timeline_span_begin(struct strobe_timeline *timeline, struct strobe_row row,
                                           uint64_t binding);
enum strobe_err strobe_timeline_span_end(struct strobe_timeline *timeline, struct strobe_row row,
                                         uint64_t binding);
/* Events that are not in the trace: `what` is a sentence behind the number. */
void strobe_timeline_leave_out(struct strobe_timeline *timeline, const char *what, uint64_t n);
/* The same of what is in it, but not as in the file. */
void strobe_timeline_say(struct strobe_timeline *timeline, const char *what, uint64_t n);

/* What several readers say. */
extern const char strobe_timeline_too_many[], strobe_timeline_no_begin[], strobe_timeline_no_end[],
    strobe_timeline_no_time[];

/* Write all rows. */
enum strobe_err strobe_timeline_write_rows(struct strobe_timeline *timeline);

#endif
