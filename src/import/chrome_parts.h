/* chrome_parts.h - what the importer's files share: chrome.c (life), chrome_read.c (events become rows), chrome_write.c (rows, in
 * order, become a trace).  SPDX-License-Identifier: MIT */
#ifndef STROBE_IMPORT_CHROME_PARTS_H
#define STROBE_IMPORT_CHROME_PARTS_H

#include "base/map.h"
#include "import/chrome.h"
#include "import/events_in.h"
#include "import/json_fields.h"
#include "build/rows.h"
#include "build/build.h"

enum {
    STROBE_CHROME_DEPTH_MAX = 4096,    /* open zones of a thread */
    STROBE_CHROME_SPANS_MAX = 1 << 19, /* open spans of all, two entries each */
    STROBE_CHROME_NAMES_MAX = 1 << 18, /* names that are remembered; others are written again */
    STROBE_CHROME_TEXT_MAX = 64 << 10, /* of an event's text; the rest is cut off */
};

/* What a row is; its `value` and `name`. */
enum strobe_chrome_kind {
    STROBE_CHROME_ZONE,       /* value: duration, UINT64_MAX: it never ends; name: location */
    STROBE_CHROME_MESSAGE,    /* its text */
    STROBE_CHROME_INT,        /* value; name: string of the plot */
    STROBE_CHROME_DOUBLE,     /* value: its bits; name: likewise */
    STROBE_CHROME_SPAN_BEGIN, /* value: number; name: location */
    STROBE_CHROME_SPAN_END,   /* value: number */
    STROBE_CHROME_FLOW,       /* value: flow; name: kind of event */
};

/* A process of the file. */
struct strobe_chrome_process {
    uint64_t pid;
    struct strobe_build *build; /* owned */
    uint32_t a_thread;          /* one of its threads + 1; 0: none yet */
};

/* A 'B' without its 'E' yet. */
struct strobe_chrome_open {
    int64_t time;
    uint64_t loc, text_at;
    uint32_t n_text;
};

struct strobe_chrome_thread {
    uint32_t process;
    struct strobe_build_track *track; /* borrowed from the build */
    struct strobe_chrome_open *open;  /* owned: n_open of them */
    uint32_t n_open, open_room;
    uint64_t n_over; /* begins above those that found no room: their ends end nothing */
};

struct strobe_chrome {
    struct strobe_chrome_import *out;        /* borrowed */
    struct strobe_events_in *in;             /* owned */
    struct strobe_rows *rows;                /* owned */
    struct strobe_file_writer *writer;       /* owned */
    struct strobe_build_store *store;        /* owned */
    struct strobe_chrome_process *processes; /* owned */
    uint32_t n_processes, processes_room;
    struct strobe_chrome_thread *threads; /* owned */
    uint32_t n_threads, threads_room;
    struct strobe_map pids, tids, names,
        spans; /* numbers by number or hash; the budget pays for them */
    uint64_t n_spans;
    int64_t first, last; /* times of all events */
    int has_fraction;    /* times finer than us */
    char *scratch;       /* owned: texts without escapes */
    size_t scratch_room;
    /* what was set aside, by reason */
    uint64_t n_no_phase, n_no_time, n_no_begin, n_no_end, n_too_many, n_unknown;
    /* while writing */
    uint32_t thread; /* the one that is written + 1 */
    int64_t *ends;   /* owned: of its open zones, STROBE_CHROME_DEPTH_MAX */
    uint32_t n_ends;
    uint64_t n_overlapping, n_unfinished;
    int64_t shift; /* from times to ticks */
};

/* What took n_now bytes takes n_then. 0: that is over the budget of the import. */
int strobe_chrome_charge(struct strobe_chrome *chrome, uint64_t n_now, uint64_t n_then);

/* The value of a key, added (0) if need be; NULL: it is new, and there is no memory or budget, or more than `most`. */
uint64_t *strobe_chrome_map_at(struct strobe_chrome *chrome, struct strobe_map *map, uint64_t key,
                               uint32_t most);

/* Read all events. Errors as of strobe_events_in_next, but for END; LIMIT and NOMEM too. */
enum strobe_err strobe_chrome_read(struct strobe_chrome *chrome);

/* Write all rows. */
enum strobe_err strobe_chrome_write_rows(struct strobe_chrome *chrome);

#endif
