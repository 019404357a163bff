/* ring_write.h - the producer's half of the rings: a process's pool, its threads' segments and
 * slots, its meta stream. All that is here is the slow path; the hot path is in
 * include/strobe/strobe.h.
 *
 * Runs inside the traced program: never allocates from the heap, prints, exits, or waits for good.
 * Every function but strobe_ring_count_loss is called between strobe_ring_block and
 * strobe_ring_unblock, and those that say "locked" with the pool's lock held. Layout and states: wire/ring_layout.h.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_RING_RING_WRITE_H
#define STROBE_RING_RING_WRITE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/group.h"
#include "ring/sanitizer.h"
#include "ring/session.h"
#include "strobe/strobe.h"
#include "wire/ring_layout.h"

/* Changes with the layout of struct strobe_pool. */
#define STROBE_POOL_MAGIC 0x3031304c4f4f5053ull

/* What the program lets happen to a thread: signals and cancellation. */
struct strobe_mask {
    sigset_t signals;
    int cancel;
};

/* Everything slow runs between these two: no handler runs, and no cancellation unwinds the thread while
 * it holds the lock. glibc never blocks the signal of pthread_cancel, so the mask alone is not enough. */
static inline void strobe_ring_block(struct strobe_mask *old)
{
    sigset_t all;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old->cancel);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old->signals);
    strobe_sanitizer_ignore();
}

/* Signals first: a cancellation that was asked for meanwhile runs the program's cleanup with its own mask. */
static inline void strobe_ring_unblock(const struct strobe_mask *old)
{
    int cancel;
    strobe_sanitizer_look();
    sigprocmask(SIG_SETMASK, &old->signals, NULL);
    pthread_setcancelstate(old->cancel, &cancel);
}

/* What a thread saw when it last looked for room, found none, and nobody was to wait: while recorder and n_given stand, and
 * for a moment, it need not look again. `until` 0: nothing. Written by its thread alone, with signals blocked. */
struct strobe_dry {
    uint64_t until; /* tick */
    uint32_t given, generation;
    enum strobe_loss loss; /* why there was none */
};

/* What every thread has, with a state or without. */
struct strobe_front {
    struct strobe_hot hot;
    struct strobe_dry dry;
};

/* Ends of zones that found no room, in their order: stored before anything else when there is some. Those behind the first
 * few have no place and no time of their own. Of one recorder; changed with signals blocked. */
enum { STROBE_OWED_MAX = 32 };
struct strobe_owed {
    struct {
        uint64_t id, tick;
    } ends[STROBE_OWED_MAX];
    uint32_t n, n_done;    /* ends kept; of them stored again */
    uint32_t n_more;       /* further ones */
    enum strobe_loss loss; /* why the first of them found none */
    uint32_t generation;
};

/* One thread of the process. In memory that a fork wipes. */
struct strobe_thread {
    struct strobe_hot hot;
    struct strobe_dry dry;               /* both as in struct strobe_front */
    struct strobe_segment_head *segment; /* shared: its open segment, NULL: none yet */
    struct strobe_slot *slot;            /* shared: NULL where the pool had no room */
    uint64_t track;
    uint64_t next_pos; /* stream position after the open segment */
    uint32_t tid;
    uint32_t n_filled;    /* segments filled so far: later ones are larger */
    uint32_t n_copies;    /* copies of the library that point here */
    uint32_t generation;  /* of the recorder that knows this thread's name; 0: none */
    uint32_t mono_epochs; /* on CLOCK_MONOTONIC: epochs since the segment was opened */
    uintptr_t
        waiting; /* asleep in the slow path: a handler that emits now drops; a value that stands in
                             the frame that sleeps, else 0 */
    struct strobe_mask mask; /* the program's own, in force again while this thread sleeps */
    const void *frame;       /* the outermost of ours on the stack then */
    uint64_t cut[8]; /* a record without its text, whose first pieces are stored and whose rest was
                        dropped */
    uint32_t n_cut;  /* its words: to be said before the next text, or the pieces would be taken for
                        its */
    struct strobe_owed owed;
    char *stack_low, *stack_high;      /* stack pages known to be readable */
    struct strobe_thread *prev, *next; /* in the pool's list */
    struct strobe_thread *tid_next;    /* in its chain of pool->by_tid */
};

_Static_assert(offsetof(struct strobe_thread, dry) == offsetof(struct strobe_front, dry),
               "a thread's state begins with its front");

/* What a name costs to say twice: id by hash of its content. Fixed size; a miss only says it again.
 */
struct strobe_name_cache_entry {
    uint64_t hash;
    uint64_t id;
};
enum { STROBE_NAME_CACHE = 4096, STROBE_TID_CHAINS = 256 };

/* The process's own state, shared by all copies of the library in it. In memory that a fork wipes:
 * a child finds `magic` 0 and joins anew. */
struct strobe_pool {
    uint64_t magic;
    uint32_t pid;
    uint32_t lock;                       /* futex: 0 free, 1 held, 2 held and waited for */
    struct strobe_control *control;      /* shared */
    struct strobe_chunk *chunks;         /* shared */
    char *data;                          /* shared: chunk 0 */
    struct strobe_session_page *session; /* shared, NULL: no limit over all processes */
    uint32_t session_recorder, session_recorder_ns; /* its pid and namespace, 0: none */
    uint64_t session_recorder_start;
    struct strobe_group group; /* looked for at the first chunk */
    uint32_t n_chunks_max;
    uint32_t hint[5]; /* by class: where a free segment was found last */
    uint32_t slot_hint;
    uint32_t n_slot_chunks;
    uint64_t next_track;
    uint32_t described; /* generation of the recorder that knows this process */
    uint32_t n_copies;
    uint64_t stalled_heartbeat;       /* the recorder's heartbeat when it was last given up, + 1 */
    uint64_t no_pages_until_ns;       /* a full tmpfs is not asked again before */
    uint64_t given_up_at;             /* n_given at that time, + 1: nobody waits until it moves */
    uint64_t dry_ticks;               /* how long a look that found no room holds */
    struct strobe_segment_head *meta; /* shared: open segment of the meta stream */
    uint64_t *meta_at;
    uint32_t meta_left;
    uint64_t meta_pos; /* stream position after the open segment */
    bool meta_cut;     /* likewise: pieces of a fact are stored whose rest found no room */
    struct strobe_thread *threads; /* all live ones */
    uint32_t n_threads;
    struct strobe_thread *free_threads;
    struct strobe_thread *by_tid[STROBE_TID_CHAINS]; /* chains by tid % STROBE_TID_CHAINS */
    uint32_t n_added;        /* threads since the gone ones were last looked for */
    uint64_t next_look_ns;   /* before then nobody looks for them for want of room */
    char *arena, *arena_end; /* where further thread structs come from */
    uint64_t next_dynamic;
    uint32_t cache_generation;
    char path[STROBE_PATH_MAX];             /* of the process's file */
    uint64_t record[STROBE_META_WORDS_MAX]; /* a fact under construction: a signal stack is too
                                               small for it */
    char text[6144];                        /* likewise */
    struct strobe_name_cache_entry cache[STROBE_NAME_CACHE];
};

/* The pool of this process where the client is linked in, for a recorder in the same process (tests). */
struct strobe_pool *strobe_ring_own_pool(void);

/* The tick now, on the process's clock. */
uint64_t strobe_ring_now(const struct strobe_pool *pool);

/* Whether `word` lies in a chunk of this pool. */
bool strobe_ring_owns(const struct strobe_pool *pool, const uint64_t *word);

/* Not a chunk could be allocated a moment ago: nothing can be told or emitted. */
bool strobe_ring_is_hopeless(const struct strobe_pool *pool);

/* About a quarter of a millisecond of that clock. */
uint64_t strobe_ring_dry_ticks(uint32_t clock);

/* No room, with n_given as it was before the look, and nobody waits for any. Signals blocked. */
void strobe_ring_note_dry(const struct strobe_pool *pool, struct strobe_dry *dry, uint32_t given,
                          enum strobe_loss loss);

/* Whether that still holds at `now`: an event that finds no word left is dropped, under dry->loss. Any context, without the lock. */
bool strobe_ring_is_dry(const struct strobe_pool *pool, const struct strobe_dry *dry, uint64_t now);

/* Why a name found no room: UNNAMED, or what keeps the file from having any chunk at all. */
enum strobe_loss strobe_ring_unnamed_cause(const struct strobe_pool *pool);

/* The recorder's end waits for a thread from enter to leave. Enter first, then test the gate: either the
 * thread sees that it is shut, or the recorder sees the thread. True: it is open. Leave in any case. */
bool strobe_ring_enter(struct strobe_pool *pool);
void strobe_ring_leave(struct strobe_pool *pool);

void strobe_ring_lock(struct strobe_pool *pool);
void strobe_ring_unlock(struct strobe_pool *pool);

/* Give `thread` a segment with words left. Takes the lock; waits as the policy says. False: the
 * caller's event is lost, its cause in *loss. */
bool strobe_ring_next_segment(struct strobe_pool *pool, struct strobe_thread *thread,
                              enum strobe_loss *loss);

/* Put one record of `n_words` words (first one without its tick) into the meta stream. Locked, also
 * while it waits: what belongs together stays together. False: no room. */
bool strobe_ring_meta(struct strobe_pool *pool, const uint64_t *words, uint32_t n_words);

/* The struct of the live thread `tid`, NULL: none. Locked. */
struct strobe_thread *strobe_ring_find_thread(struct strobe_pool *pool, uint32_t tid);

/* A slot and a struct for the calling thread; an older one of the same tid is over. Locked. NULL: no memory. */
struct strobe_thread *strobe_ring_add_thread(struct strobe_pool *pool, uint32_t tid);

/* The thread is over: its slot says so, its struct is free again. Locked. */
void strobe_ring_end_thread(struct strobe_pool *pool, struct strobe_thread *thread);

/* Close what a signal handler left unwritten when it jumped away: words that the recorder asks for, and that
 * no frame above `frame` (the outermost of ours) will write. */
void strobe_ring_mend(struct strobe_pool *pool, struct strobe_thread *thread, const void *frame);

/* Likewise a sleep for room that a handler jumped out of: the thread is counted off and may wait again. */
void strobe_ring_forget_sleep(struct strobe_pool *pool, struct strobe_thread *thread,
                              const void *frame);

/* Whether the calling thread's stack, from `frame` up, may hold a value v with v or v >> 16 in [low, high]. */
bool strobe_ring_stack_holds(const void *frame, uintptr_t low, uintptr_t high);

/* Whether the 8 bytes at `at` can be read. */
bool strobe_ring_is_readable(const char *at);

/* Count one lost event of `thread` (NULL: of a thread that has no slot). Any context. What its slot has no
 * count for is in the control page. */
void strobe_ring_count_loss(struct strobe_pool *pool, struct strobe_thread *thread,
                            enum strobe_loss loss);
void strobe_ring_count_loss_at(struct strobe_pool *pool, struct strobe_thread *thread,
                               enum strobe_loss loss, uint64_t now);

#endif
