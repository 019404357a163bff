/* internal.h - what the collector's files share.  SPDX-License-Identifier: MIT */
#ifndef STROBE_COLLECTOR_INTERNAL_H
#define STROBE_COLLECTOR_INTERNAL_H

#include <pthread.h>

#include "build/block.h"
#include "collector/collector.h"

/* states of strobe_stream_life, moved by strobe_stream_move:
 *
 *   RUNNING <──► WAITING ──► ASKED ──► RUNNING          any ──► ENDED ──► freed
 *
 *   RUNNING -> WAITING   drain: the next word is not written; its position is in waits_at
 *   WAITING -> ASKED     drain: still so, and something is written behind it; the thread is asked by the table of holes
 *   WAITING -> RUNNING   drain: the stream stands elsewhere now
 *   ASKED -> RUNNING     likewise, or its thread is over; the entry of the table is free again
 *   RUNNING, WAITING -> ENDED   its slot says that the thread is over, or its process is dead: what is not written never
 *                        will be
 *
 * The end of a recording changes no stream: what is unwritten then is given up by strobe_collector.ending. */
enum strobe_stream_life {
    STROBE_STREAM_RUNNING,
    STROBE_STREAM_WAITING,
    STROBE_STREAM_ASKED,
    STROBE_STREAM_ENDED,
};

/* One thread's stream, between the ring and the file. The meta stream of a process is one that only runs. */
struct strobe_stream_state {
    uint64_t id; /* track number in its process */
    enum strobe_stream_life state;
    struct strobe_track track;
    uint64_t pos; /* next word to take */
    uint64_t prev_tick;
    uint32_t epoch;
    bool epoch_known;
    bool slot_seen;
    bool named;                      /* the file has a record of this thread */
    bool begun;                      /* something of it was taken */
    struct strobe_segment *segments; /* owned: by base_pos, all FOUND */
    uint32_t n_segments, cap_segments;
    uint64_t lost_seen[STROBE_LOSS_IN_SLOT];
    uint64_t lost_tick; /* up to which losses are recorded */
    uint64_t waited_seen;
    uint64_t waits_at; /* while it waits or is asked: the position of the word */
    uint32_t hole;     /* while it is asked: the entry of the table, + 1; else 0 */
};

/* states of strobe_proc_state, moved by strobe_proc_move:
 *
 *   FOUND ──► LIVE ──► DEAD ──► DRAINED ──► CLOSED
 *
 *   FOUND -> LIVE      join, recovery: its image runs, or nothing proves its death; its gate is open unless this is a recovery
 *   FOUND -> DEAD      join, recovery: its image no longer runs
 *   FOUND -> CLOSED    it is refused (a newer client, another clock), or the pool that a recovery looks for is gone
 *   LIVE -> DEAD       check_death: its image no longer runs
 *   LIVE -> DRAINED    check_memory: its pool broke, so its part of the recording ends
 *   DEAD -> DRAINED    drain_dead: all that it left is taken, and its end is in the records
 *   DRAINED -> CLOSED  release_gone: all that was taken is in the file, so its pool is removed
 *   LIVE, DEAD, DRAINED -> CLOSED   strobe_collector_close: the recorder leaves
 *
 * From FOUND to DRAINED its ring is mapped. Only the collector's thread moves it; strobe_collector_beat looks, under
 * procs_lock, which is held when the ring is unmapped. */
enum strobe_proc_state {
    STROBE_PROC_FOUND,
    STROBE_PROC_LIVE,
    STROBE_PROC_DEAD,
    STROBE_PROC_DRAINED,
    STROBE_PROC_CLOSED,
};

struct strobe_proc {
    struct strobe_ring ring;
    char name[96]; /* of its pool file */
    uint32_t id;
    struct strobe_reach reach; /* how it is called here, when it was found */
    int pidfd;
    enum strobe_proc_state state; /* atomic */
    bool attached;                /* it ran before this recorder came */
    bool resumed;                 /* the file knows it from before (recovery) */
    bool no_memory;               /* a segment found no memory to be kept in */
    bool described;               /* it said who it is */
    bool meta_dirty;
    bool modules_due;   /* its modules are to be listed */
    bool news;          /* segments were found that nobody looked at yet */
    uint64_t old_below; /* ids below it were named to an earlier recorder, or by the parent */
    uint8_t *old_named; /* owned: a bit for each of them that was met; NULL: none yet */
    uint64_t lost_seen[STROBE_LOSS_IN_CONTROL]; /* of what its control page counts */
    uint32_t holes_used;                        /* a bit for each entry of its table of holes */
    uint64_t n_damaged;
    uint64_t n_late_ends; /* of zones, stored when there was room again */
    uint64_t n_refused;   /* segments of more threads than there can be, not counted yet */
    int how, value;       /* how it ended: 0 not known, 1 exit status, 2 signal */
    struct strobe_stream_state meta;
    struct strobe_stream_state **streams; /* owned: hash by id, n_slots entries */
    uint32_t n_streams, n_slots;
    uint64_t slots_scanned_ns, next_alive_check_ns, joined_ns;
    uint32_t slots_seen; /* segments taken, when its slots were last looked at */
    uint64_t
        slots_end; /* behind the last slot in use while n_taken_seen was slots_end_taken; 0: not known */
    uint32_t slots_end_taken;
};

/* Its pid in /proc as this recorder sees it; 0: it can't be reached. */
static inline uint32_t strobe_collector_pid(const struct strobe_proc *proc)
{
    return proc->reach.in_proc;
}

/* Its ring is mapped, and it takes part in the recording. */
static inline bool strobe_proc_is_open(const struct strobe_proc *proc)
{
    enum strobe_proc_state state = __atomic_load_n(&proc->state, __ATOMIC_RELAXED);
    return state >= STROBE_PROC_LIVE && state <= STROBE_PROC_DRAINED;
}

/* Nothing more is taken from it. */
static inline bool strobe_proc_is_over(const struct strobe_proc *proc)
{
    return proc->state >= STROBE_PROC_DRAINED;
}

static inline bool strobe_proc_is_dead(const struct strobe_proc *proc)
{
    return proc->state == STROBE_PROC_DEAD;
}

static inline bool strobe_proc_is_live(const struct strobe_proc *proc)
{
    return proc->state == STROBE_PROC_LIVE;
}

struct give_back {
    struct strobe_proc *proc;
    struct strobe_segment segment;
};

enum { N_EARLY = 8 };

/* Events that one thread can lose between two looks; more is a lie. */
#define STROBE_LOST_MAX (1ull << 40)

struct strobe_collector {
    struct strobe_build_block block; /* under construction, and what is lost of all sources */
    char dir[STROBE_PATH_MAX];
    uint32_t policy, stack_depth, only_pid;
    uint32_t pid_ns; /* of the recorder; 0: not known */
    bool no_memory;  /* something in the folder could not be read for want of memory */
    bool ending;     /* the last look: what is unwritten stays so */
    bool post_mortem, stopping, triggered;
    uint64_t end_tick; /* when the recording ended; 0: it goes on */
    struct trigger_loc {
        uint32_t proc;
        uint64_t loc;
    } trigger_locs[64];
    uint32_t n_trigger_locs;
    struct strobe_collector_listener listener;
    bool has_later_kinds; /* the file says what kinds are that its head does not list */
    char trigger_zone[128];
    uint64_t trigger_ns, trigger_ticks;
    int inotify;
    bool dir_changed;
    bool find_all;    /* the folder is looked through in one round */
    bool find_failed; /* a process could not be joined for want of memory */
    void *scan; /* owned: DIR of a look at the folder that goes on in the next round, NULL: none */
    uint64_t *seen; /* owned: names that need no second look, n_seen_slots entries */
    uint32_t n_seen, n_seen_slots;
    struct early {
        uint32_t pid;
        int pidfd;    /* owned; 0 or less: none */
    } early[N_EARLY]; /* processes whose files were just made */
    uint32_t n_early;
    bool
        crowded; /* no descriptors left: those of processes that are gone have to be closed first */
    bool names_left; /* the last look at the folder: who finds no descriptor stays in it */
    uint32_t n_left; /* processes that stay so: `strobe recover` adds them */
    int n_files_max; /* descriptors below this number may be a pool's */
    struct give_back *pending; /* owned: of the block under construction */
    uint32_t n_pending, cap_pending;
    struct give_back *meta_pending; /* owned: of the records under construction */
    uint32_t n_meta_pending, cap_meta_pending;
    struct strobe_proc **procs; /* owned */
    uint32_t n_procs, cap_procs;
    uint32_t n_live;            /* of them not gone, at the last round */
    uint32_t next_proc_id;      /* atomic */
    pthread_mutex_t procs_lock; /* held while the list changes; strobe_collector_beat reads it */
    uint64_t beat;
    uint64_t n_taken_events;
    uint32_t n_unrecorded; /* processes that could not take part */
    uint64_t opened_real_ns;
    struct strobe_unheard unheard[STROBE_UNHEARD_NAMED]; /* the first of n_unheard */
    uint32_t n_unheard;
    uint64_t waited_ns;
    uint64_t next_records_flush_ns, block_started_ns, next_dir_scan_ns;
    uint64_t sync_tick, sync_mono; /* first sync point */
    uint64_t last_sync_tick, last_sync_mono;
    uint64_t rate_ticks, rate_ns; /* between sync points of the same piece, all together */
    uint32_t n_jumps_noted;
    uint64_t checked_mono; /* counter and clock were seen to agree */
    uint32_t clock;
};

uint64_t strobe_collector_mono_ns(void);

/* states.c: see the drawings above */
void strobe_proc_move(struct strobe_proc *proc, enum strobe_proc_state to);
void strobe_stream_move(struct strobe_stream_state *stream, enum strobe_stream_life to);
/* Its thread is over; nobody asks it any more. It may be over already. */
void strobe_stream_end(struct strobe_proc *proc, struct strobe_stream_state *stream);

/* process.c: the session's folder, joining and leaving */
/* The clock of those who are there already, if any; a trace has one. */
void strobe_collector_choose_clock(struct strobe_collector *c);
void strobe_collector_find_processes(struct strobe_collector *c);
struct strobe_stream_state *strobe_collector_stream(struct strobe_proc *proc, uint64_t id);
void strobe_collector_check_death(struct strobe_collector *c, struct strobe_proc *proc,
                                  uint64_t now);
/* Step over the losses that an earlier recorder counted. */
void strobe_collector_skip_losses(struct strobe_collector *c, struct strobe_proc *proc);
/* The next slot from `*at` on that a thread has, and its stream. NULL: no more. */
struct strobe_slot *strobe_collector_next_slot(struct strobe_proc *proc, uint64_t *at,
                                               struct strobe_stream_state **stream);
/* Ends of zones that the process owes (owed.c): those of an earlier recorder; the location of one that has lost its time and comes now; at the end
 * of the process or of the recording, all that are left are lost. */
void strobe_collector_forget_owed(struct strobe_proc *proc);
uint64_t strobe_collector_late_end(struct strobe_proc *proc, const struct strobe_track *track);
void strobe_collector_lose_owed(struct strobe_collector *c, struct strobe_proc *proc);

/* Count what its threads lost since the last look. */
void strobe_collector_read_losses(struct strobe_collector *c, struct strobe_proc *proc);
void strobe_collector_scan_slots(struct strobe_collector *c, struct strobe_proc *proc);
void strobe_collector_describe_modules(struct strobe_collector *c, struct strobe_proc *proc);
void strobe_collector_free_proc(struct strobe_proc *proc);
void strobe_collector_drop_stream(struct strobe_proc *proc, struct strobe_stream_state *stream);
bool strobe_collector_add_segment(void *context, const struct strobe_segment *segment);

/* learn.c: what passes through on its way to the file */
/* An event of several words, checked. */
void strobe_collector_learn_event(struct strobe_collector *c, uint32_t kind, const uint64_t *words);
/* A file that a process has mapped. */
void strobe_collector_learn_module(struct strobe_collector *c, const struct strobe_proc *proc,
                                   uint64_t base, uint64_t size, uint64_t offset,
                                   const char *build_id, const char *path);
/* A record of a process, as it goes to the file. */
void strobe_collector_learn_record(struct strobe_collector *c, const struct strobe_proc *proc,
                                   uint32_t kind, const uint8_t *fields, size_t n_bytes);

/* reach.c: by which ids a process can be reached from here, and what they tell of its end */
void strobe_collector_hold_early(struct strobe_collector *c, const char *name);
void strobe_collector_reach(struct strobe_collector *c, struct strobe_proc *proc);
void strobe_collector_note_outer(struct strobe_collector *c, const struct strobe_proc *proc);
bool strobe_collector_is_wanted(const struct strobe_collector *c, const struct strobe_ring *ring);
bool strobe_collector_is_exiting(const struct strobe_proc *proc);
bool strobe_collector_is_killed(const struct strobe_proc *proc);
bool strobe_collector_pid_lives(const struct strobe_proc *proc);
void strobe_collector_learn_exit(struct strobe_proc *proc);

/* The file gets a record of this thread: count it once. */
void strobe_collector_count_thread(struct strobe_collector *c, struct strobe_proc *proc,
                                   uint64_t track);

/* denied.c: a process is missing from the trace, for `reason`: a note and a loss. `name`: of its file. */
void strobe_collector_miss(struct strobe_collector *c, const char *name, const char *reason);
/* denied.c: a file that says of a process that it could not take part. False: `name` is none. */
bool strobe_collector_consider_denied(struct strobe_collector *c, const char *name);

/* holes.c: words that a live thread left unwritten */
/* The stream stands still at `at` of its first segment: ask its thread, once that is no passing moment. */
void strobe_collector_ask_for(struct strobe_proc *proc, struct strobe_stream_state *stream,
                              const uint64_t *at, const uint64_t *end);
/* It moves again, or is over. */
void strobe_collector_ask_no_more(struct strobe_proc *proc, struct strobe_stream_state *stream);

/* One file of the folder that was not seen yet. False: look again soon. */
bool strobe_collector_consider(struct strobe_collector *c, const char *name);

/* folder.c: the folder once through, in as many rounds as it takes. False: it is not through yet, or can't be read. */
bool strobe_collector_look_through(struct strobe_collector *c, uint64_t now);
/* A file that is no pool yet, and not old enough to be none. */
bool strobe_collector_is_being_made(const struct strobe_collector *c, const char *name);
/* Names of the folder that need no second look. False: it could not be kept. */
bool strobe_collector_has_seen(const struct strobe_collector *c, const char *name);
bool strobe_collector_mark_seen(struct strobe_collector *c, const char *name);
/* Its file was removed: another one may have its name. */
void strobe_collector_forget_seen(struct strobe_collector *c, const char *name);

/* broken.c: true: its shared memory broke, and so its part of the recording ended */
bool strobe_collector_check_memory(struct strobe_collector *c, struct strobe_proc *proc);

/* collector.c */
void strobe_collector_end_process(struct strobe_collector *c, struct strobe_proc *proc);

/* hearing.c: after the gates were shut, until all that passed them is stored */
void strobe_collector_hear(struct strobe_collector *c);

/* drain.c: words to events */
uint64_t strobe_collector_drain(struct strobe_collector *c, struct strobe_proc *proc,
                                struct strobe_stream_state *stream);
/* Step over the words that were there before this recorder: they belong to an earlier one. */
void strobe_collector_skip_old(struct strobe_proc *proc);
void strobe_collector_drain_meta(struct strobe_collector *c, struct strobe_proc *proc);

/* store.c: blocks to the file, segments back to their process */
void strobe_collector_flush_events(struct strobe_collector *c);
void strobe_collector_flush_records(struct strobe_collector *c);
bool strobe_collector_reserve(struct strobe_collector *c);
void strobe_collector_keep_losses(struct strobe_collector *c);
bool strobe_collector_pend(struct strobe_collector *c, struct strobe_proc *proc,
                           const struct strobe_segment *segment, bool meta);

#endif
