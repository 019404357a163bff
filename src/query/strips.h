/* strips.h - when each thread ran, was ready or waited, which thread each processor ran, and when samples were taken.
 *
 * A trace's switches and samples are read once, block by block, into rows of items in the order of time. An item is one stretch
 * of a state, or the sums of the short ones in a bucket (the ticks with the same `tick >> level`). All rows together have at
 * most STROBE_STRIPS_ITEMS items: when there are more, the level rises, and what is shorter than a bucket is added up. Sums
 * stay exact. What is finer than the level is read again from the blocks of the range that is looked at (the close-up): the
 * stretches longer than a bucket of the rows are known, so all that may be missing begins and ends near the range.
 * One thread.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_STRIPS_H
#define STROBE_QUERY_STRIPS_H

#include "base/map.h"
#include "query/view.h"

enum {
    STROBE_STRIPS_ITEMS = 1 << 19,
    STROBE_STRIPS_STEP = 1 << 21,  /* events that one step reads */
    STROBE_STRIPS_CLOSE = 1 << 20, /* events that a close-up reads at the most */
};

enum strobe_strip_state {
    STROBE_STRIP_RUN = 0,
    STROBE_STRIP_READY = 1, /* it could run: it was preempted, or woken */
    STROBE_STRIP_WAIT = 2,
    STROBE_STRIP_STATES = 3,
};

enum strobe_strip_kind {
    STROBE_STRIP_THREAD = 0,  /* states of a thread (its index) */
    STROBE_STRIP_SAMPLES = 1, /* of a thread */
    STROBE_STRIP_CPU = 2,     /* runs on a processor (its number) */
};

/* A thread of the system that the trace has no track of, in `who`. */
#define STROBE_STRIP_FOREIGN 0x80000000u

struct strobe_strip_item {
    uint64_t at; /* first tick; of samples: of the first of them */
    uint64_t
        ticks[STROBE_STRIP_STATES]; /* by state. Of a processor: runs, and the longest of them */
    uint32_t n; /* stretches in it, those that go on in the next bucket once; samples */
    uint32_t
        who; /* of a processor: index + 1 of the thread of the longest run, or FOREIGN + its tid; of a
              * thread that is ready, or waited: who woke it, likewise; 0: nobody, or not known */
    uint32_t most;  /* of a bucket: ticks of its longest wait, cut to 32 bits */
    uint16_t cpu;   /* of one run */
    uint8_t reason; /* of one wait, or of being ready: why it was switched out; of a bucket: of its
                     * longest wait */
    uint8_t is_one; /* 1: one stretch, from `at` on as long as its ticks are; 0: a bucket */
};

struct strobe_strip_row {
    struct strobe_strip_item *items; /* owned: by `at` */
    uint32_t n_items, items_room;
    /* Where the reader is: */
    struct strobe_strip_item open; /* `at` and who, cpu, reason of the stretch that is open */
    uint8_t is_open, state;
    uint8_t is_unsorted; /* until the step's end */
};

/* Zero-initialise, set view; free once. */
struct strobe_strips {
    struct strobe_view *view;      /* borrowed */
    struct strobe_idmap ids;       /* (enum strobe_strip_kind, number): index in rows */
    struct strobe_strip_row *rows; /* owned */
    uint32_t rows_room;
    uint64_t n_items;              /* of all rows */
    uint32_t level;                /* shift of the buckets */
    uint64_t below;                /* not 0: only stretches shorter than this are kept */
    uint32_t next_block;           /* those before were read */
    struct strobe_strip_run *runs; /* owned: runs on processors in the block at hand */
    uint32_t n_runs, runs_room;
    struct strobe_idmap tids;   /* (process or host, tid): index in tid_threads */
    uint32_t *tid_threads;      /* owned: index of a thread + 1 */
    uint32_t tids_room, n_tids; /* n_tids: threads that are in the map */
    struct strobe_joiner joiner;
    struct strobe_strips *close; /* owned: the close-up; NULL: none yet */
    uint64_t close_lo, close_hi; /* ticks that the close-up is of */
    uint32_t close_blocks;       /* blocks that there were when it was made */
    int is_held;                 /* no event can be read yet, and none is looked for */
    int failed;                  /* no memory: something is missing */
};

/* Read on, STROBE_STRIPS_STEP events at the most. NOMEM. */
enum strobe_err strobe_strips_step(struct strobe_strips *strips);
/* The share of the blocks that was read. */
double strobe_strips_share(const struct strobe_strips *strips);
void strobe_strips_free(struct strobe_strips *strips);

/* The row of a kind and number; NULL: there is none. */
struct strobe_strip_row *strobe_strips_row(const struct strobe_strips *strips,
                                           enum strobe_strip_kind kind, uint64_t number);

/* What a row has in the ticks lo to hi, at level k or the least that is known (*level): items in the order of time. A stretch that is
 * open reaches to the end of its thread or of the trace; before all is read it is left out. In `out`, whose items the caller frees
 * (zero-initialise). NOMEM. */
enum strobe_err strobe_strips_look(struct strobe_strips *strips, enum strobe_strip_kind kind,
                                   uint64_t number, uint64_t lo, uint64_t hi, uint32_t k,
                                   struct strobe_strip_row *out, uint32_t *level);

/* ---- between the two files ---- */

struct strobe_strip_run {
    uint64_t at, ticks;
    uint32_t who;
    uint16_t cpu;
};

/* Add an item to the end of a row at a level; NOMEM. */
enum strobe_err strobe_strips_put(struct strobe_strip_row *row, enum strobe_strip_kind kind,
                                  uint32_t level, const struct strobe_strip_item *item);
/* Read a block into the rows. */
void strobe_strips_read(struct strobe_strips *strips, uint32_t block);
/* The row of a kind and number, made if need be; NULL without memory. */
struct strobe_strip_row *strobe_strips_reach(struct strobe_strips *strips,
                                             enum strobe_strip_kind kind, uint64_t number);
/* Raise the level where there are too many items. */
void strobe_strips_settle(struct strobe_strips *strips);
/* The kinds of events that are read. */
uint64_t strobe_strips_kinds(void);
/* 1: a thread that is switched out for this reason could go on running. */
int strobe_strips_is_ready(uint64_t reason);

#endif
