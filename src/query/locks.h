/* locks.h - who waited for which lock, for how long, and who held it meanwhile; convoys, and locks that are acquired in two orders.
 * Made of LOCK_WAIT, LOCK_OBTAIN, LOCK_RELEASE, LOCK_GONE and LOCK_WAITED events. Memory grows with locks, threads and places
 * that wait, not with events.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_LOCKS_H
#define STROBE_QUERY_LOCKS_H

#include "query/ordered.h"

/* A wait that is counted in a row's n_waits. Times are ticks. */
struct strobe_lock_wait {
    uint32_t process, thread; /* of the waiter */
    uint64_t lock;            /* id */
    uint64_t begin, ticks;
    uint64_t holder_tid; /* of a holder that is no thread of the trace; 0: none */
    uint32_t holder;     /* the thread that had it when the wait began; STROBE_IDMAP_NONE: none */
    uint8_t has_ended;   /* 0: it went on at the end of the trace */
};

struct strobe_locks_options {
    const uint8_t *processes; /* borrowed: by index, 0: leave it out; NULL: all */
    uint32_t n_processes;
    uint64_t from,
        to; /* ticks, inclusive: waits that end and holds that begin in between; 0, UINT64_MAX: all */
    void *context; /* of what follows */
    /* Every wait, in the order of their ends; an error ends the run and is its result. NULL: not wanted. */
    enum strobe_err (*wait)(void *context, const struct strobe_lock_wait *wait);
    int (*is_over)(void *context); /* as of strobe_ordered */
};

/* A lock. Times are ticks. */
struct strobe_lock_row {
    uint32_t process;
    uint64_t id;
    uint64_t n_obtains, n_waits; /* n_waits: those that found it held, or that had to wait for it */
    uint64_t wait_ticks, longest_wait, longest_wait_at; /* at: where that wait began */
    uint32_t longest_waiter;                            /* thread */
    uint64_t n_holds, held_ticks, longest_held, longest_held_at;
    uint32_t longest_holder;
    uint64_t n_queued;     /* waits during which another thread waited for it too */
    uint32_t most_waiters; /* threads, during one wait */
    uint32_t stack;        /* of its first wait that has one; STROBE_IDMAP_NONE: not known */
    uint8_t
        is_convoy; /* at least half of its obtains wait, and at least half of these in company: 8 waits or more */
    uint8_t only_waits; /* obtains and holds were not recorded */
};

/* Time that one thread waited in one zone while another held the lock in one zone. */
struct strobe_lock_pair {
    uint32_t lock;           /* index */
    uint32_t waiter, holder; /* threads; holder STROBE_IDMAP_NONE: nobody, or not known */
    uint32_t waiter_process, holder_process; /* of the locations */
    uint64_t waiter_loc, holder_loc;         /* ids of zones' locations; 0: none was open */
    uint64_t holder_tid; /* of a holder that is no thread of the trace; 0: none */
    uint32_t stack;      /* of the waiter; STROBE_IDMAP_NONE: not known */
    uint64_t n, ticks, longest, longest_at; /* longest_at: where that stretch began */
};

/* A lock was obtained, or waited for, while its thread held another. */
struct strobe_lock_edge {
    uint32_t held, wanted; /* locks */
    uint32_t thread;       /* the first that did it, */
    uint64_t tick;         /* and when */
    uint64_t n;
    uint8_t
        is_inverted; /* there is a way back: some thread wants `held` while it holds `wanted`, over other locks maybe */
};

/* Zero-initialised by the run; free once. */
struct strobe_locks {
    struct strobe_ordered ordered; /* its stacks */
    struct strobe_lock_row *locks; /* owned */
    struct strobe_idmap lock_ids;  /* (process, id) */
    uint32_t locks_room;
    struct strobe_lock_pair *pairs; /* owned */
    struct strobe_textmap pair_ids;
    uint32_t n_pairs, pairs_room;
    struct strobe_lock_edge *edges; /* owned */
    struct strobe_map edge_ids;     /* held << 32 | wanted */
    uint32_t n_edges, edges_room;
    uint64_t n_edges_left; /* that were not kept: there are too many locks */
};

/* Read all. NOMEM and what reading gives; free it in any case. */
enum strobe_err strobe_locks_run(struct strobe_trace *trace,
                                 const struct strobe_locks_options *options,
                                 struct strobe_locks *out);
void strobe_locks_free(struct strobe_locks *locks);

/* Indices of locks by the time waited for them, the longest first; to be freed. NULL without memory. */
uint32_t *strobe_locks_sort(const struct strobe_locks *locks);
/* Likewise of pairs. */
uint32_t *strobe_locks_sort_pairs(const struct strobe_locks *locks);

#endif
