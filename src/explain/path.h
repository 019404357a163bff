/* path.h - the critical path of a stretch of time: from its end back to its begin, always on what the rest waited for.
 *
 * A thread that runs is charged. One that waits hands the path to whoever it waited for: the holder of the lock, the begin of
 * the flow, the thread that woke it, the last one at the barrier, the thread or child that ended, the device's kernel, the host
 * that launched late. Where that is not known the wait is charged, as such. Method: docs/explain.md.
 *
 *   mode      the path's thread …                       left by
 *   NONE      there is none (before the first step)     start_path
 *   RUN       runs                                      a switch, a lock, a barrier, an idle lane: enter_…
 *   SWITCH    is off its processor                      jump_to, or the switch that took it off: leave_switch
 *   LOCK      waits for a lock                          jump_to, or the begin of the wait: leave_lock
 *   BARRIER   is in a barrier                           jump_to, or its own begin: it came last
 *   IDLE      is a device's processor without a kernel  jump_to, to a kernel or to the launch
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPLAIN_PATH_H
#define STROBE_EXPLAIN_PATH_H

#include "explain/survey.h"

/* What a stretch of the path was spent with. Explicit numbers: they index tables of words. */
enum strobe_path_class {
    STROBE_PATH_RUN = 0,      /* on a processor, as far as the trace knows */
    STROBE_PATH_DEVICE = 1,   /* in a device's kernel */
    STROBE_PATH_RUNNABLE = 2, /* could run, had no processor */
    STROBE_PATH_LOCK =
        3,              /* waited for a lock; from whom is not known, or it was being handed over */
    STROBE_PATH_IO = 4, /* waited for a disk, by the scheduler's word */
    STROBE_PATH_OUTSIDE = 5, /* waited while nothing of the trace ran that could have woken it */
    STROBE_PATH_BLOCKED = 6, /* waited; for whom is not known */
    STROBE_PATH_BARRIER = 7, /* left a barrier after the last one had come */
    STROBE_PATH_IDLE = 8,    /* a device between launch and kernel */
    STROBE_PATH_N_CLASSES = 9,
};

/* Ways in which the path went from one track to another. */
enum strobe_path_way {
    STROBE_PATH_BY_LOCK,
    STROBE_PATH_BY_FLOW,
    STROBE_PATH_BY_WAKEUP,
    STROBE_PATH_BY_BARRIER,
    STROBE_PATH_BY_END,    /* of a thread or a child */
    STROBE_PATH_BY_START,  /* of a thread or a process */
    STROBE_PATH_BY_DEVICE, /* the host waited for a kernel, or one kernel for another */
    STROBE_PATH_N_WAYS,
};

enum { STROBE_PATH_PLACES = 3 };

/* An instance of a zone on the path. */
struct strobe_path_place {
    uint64_t begin; /* tick of the zone */
    uint64_t ticks; /* of the path */
    uint32_t thread;
};

/* What the path spent in the zones of one location of one process, in one way. */
struct strobe_path_row {
    uint32_t process, thread; /* thread: that of its longest place */
    uint32_t loc;             /* STROBE_IDMAP_NONE: outside of zones */
    enum strobe_path_class class;
    uint64_t ticks;
    uint64_t n_places;
    uint64_t n_allocs;
    uint64_t held; /* ticks of them with a lock held, */
    uint64_t lock; /* and which one, of the last place; of LOCK: the one waited for */
    struct strobe_path_place places[STROBE_PATH_PLACES]; /* the longest; ticks 0: none */
};

/* A lock, by all threads: how long it was waited for, and how long its holders were on the path. */
struct strobe_path_lock {
    uint32_t process;
    uint64_t lock;
    uint64_t waited, held; /* ticks */
    uint64_t n_waits;
};

/* A stretch of the path: one thread, spent in one way. */
struct strobe_path_stretch {
    uint64_t begin, end; /* ticks */
    uint32_t thread;
    uint8_t class; /* enum strobe_path_class */
};
enum { STROBE_PATH_STRETCHES = 1 << 15 };

struct strobe_path_options {
    uint64_t tick_min, tick_max;
    int with_stretches;
    const atomic_int *stop; /* borrowed: as of strobe_items_options */
    const char *
        zone; /* borrowed: steps are zones of this name, each has a path of its own; NULL: one path */
};

struct strobe_path {
    struct strobe_path_row *rows; /* owned: by ticks, most first */
    uint32_t n_rows, rows_room;
    struct strobe_path_lock *locks; /* owned: by index in lock_ids */
    struct strobe_idmap lock_ids;   /* (process, lock) */
    uint32_t locks_room;
    uint64_t ticks; /* of all rows */
    uint64_t wall;  /* from the begin to the end of the path, or of all steps together */
    uint64_t by_class[STROBE_PATH_N_CLASSES];
    uint64_t n_by_way[STROBE_PATH_N_WAYS];
    struct strobe_path_stretch *stretches; /* owned: the latest first; where they are asked for */
    uint32_t n_stretches, stretches_room;
    uint64_t least_ticks; /* of a stretch: shorter ones are left out, for there were too many */
    uint64_t n_steps;
    uint32_t last_thread; /* where it began, at the end; STROBE_IDMAP_NONE: nowhere */
};

/* Walk. NOMEM, and what strobe_items_sweep gives; free it in any case. */
enum strobe_err strobe_path_run(struct strobe_view *view, const struct strobe_survey *survey,
                                const struct strobe_path_options *options,
                                struct strobe_path *path);
void strobe_path_free(struct strobe_path *path);

#endif
