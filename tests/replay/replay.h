/* replay.h - real ring code, one step at a time: what the files of the step scheduler share.
 *
 * The sources of src/ring, src/client and src/collector are compiled a second time with the compiler's instrumentation for
 * races, and linked with a runtime of our own (hooks.c) in place of the sanitizer's. So every access to shared memory calls a
 * hook before it is executed: that is a step. Threads, signal handlers and recorders are actors: fibers of one thread, of which
 * one runs at a time, and which change only in a hook (actors.c). What the kernel would do (futexes, clocks, signal masks, /proc)
 * is played by kernel.c. Who goes next is decided by a walk of a SPIN model, by a seed, or by a search of all orders.
 *
 * Memory is weaker than this machine's: a plain store may stay in its actor's buffer until the actor's next release, and a load
 * may return what was there before, back to the actor's last acquire.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_REPLAY_H
#define STROBE_TESTS_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "strobe/strobe.h"

enum access { READ, WRITE, LOAD, STORE, CHANGE }; /* plain ones, then atomic ones */

/* states of an actor: READY <──► BLOCKED, READY ──► DONE; any ──► KILLED */
enum actor_state { READY, BLOCKED, DONE, KILLED };

enum { ACTORS_MAX = 5, BUFFER_MAX = 96, SEEN_MAX = 256, LOG_MAX = 1024, EVENTS_MAX = 24 };

struct buffered {
    char *at; /* of a plain store that others do not see yet */
    uint64_t value;
    uint32_t size;
};

struct actor {
    const char *name;
    void (*run)(struct actor *);
    enum actor_state state;
    uint32_t number, tid;
    ucontext_t context;
    char *stack; /* owned: STACK_BYTES, kept for the next walk */
    struct strobe_hot *hot;
    bool is_fresh; /* guided: the step was given to it and no operation was begun for it */
    const char *wanted, *did; /* guided: up to which step it runs; the step that it executed last */
    uint32_t n_steps, fuse;
    /* the kernel's view */
    uint32_t *futex;  /* while it is blocked */
    uint64_t wake_ns; /* ~0: never by itself */
    bool is_timed_out, has_blocked_signals, is_uncancelable, is_asynchronous, is_cancelled;
    uint64_t run_ns, shown_run_ns;
    /* memory */
    struct buffered buffer[BUFFER_MAX];
    uint32_t n_buffer;
    struct buffered
        fresh; /* a plain store that is executed until the next hook: its place, and what was there */
    uint64_t *lent,
        lent_value; /* an old value that stands in memory until the next hook, and the true one */
    const void *loaded_at; /* its last atomic load, and what it returned */
    uint64_t loaded;
    uint64_t acquired; /* no load is older than that */
    struct {
        const uint64_t *at;
        uint64_t time;
    } seen[SEEN_MAX];
    uint64_t *
        stale_at; /* guided: the next load from there is as old as stale_time, where that is allowed */
    uint64_t stale_time;
};

enum replay_mode { GUIDED, RANDOM, SEARCH };

/* One order of steps. A scenario is what the model of the same name speaks of. */
struct step {
    char actor[16], label[24];
};

struct scenario {
    const char *name;
    void (*open)(void);  /* makes the world and the actors */
    void (*close)(void); /* all actors have come to rest: check */
    /* What the model calls this access; NULL: nothing */
    const char *(*label)(const struct actor *, enum access, const void *at, uint64_t value);
    /* A step of the model that is none of an actor's own. True: done */
    bool (*outside)(const struct step *);
    /* Before an actor goes on: signals and the like */
    void (*inject)(struct actor *);
    bool is_weak;
    bool sleeps_through;   /* guided: who sleeps for a time goes on at once */
    bool needs_no_timeout; /* that only the passing of time lets somebody go on is a violation */
};

extern struct replay {
    enum replay_mode mode;
    const struct scenario *scenario;
    struct actor actors[ACTORS_MAX];
    uint32_t n_actors;
    struct actor *current; /* NULL: the scheduler or the test itself */
    bool is_quiet;         /* what runs is the test's own doing: no steps */
    bool is_at_point;      /* the running actor is in a call that is a cancellation point */
    bool is_verbose;       /* every step is printed */
    bool is_finishing;     /* the walk is over: all run to their ends, memory is strong */
    const struct step *steps;
    uint32_t n_steps, at_step, n_followed, n_left_out;
    uint64_t random, seed;
    uint64_t now_ns, n_hooks;
    ucontext_t scheduler;
    char *shared[4], *shared_end[4];
    uint32_t n_shared;
    char *dull, *dull_end; /* of it: slots that nobody has */
    const uint32_t *lock;  /* the pool's */
    uint32_t preemptions_max, n_preemptions;
    char violation[400]; /* the first one; empty: none */
} replay;

/* hooks.c */
void replay_settle(struct actor *actor);
void replay_flush(struct actor *actor);
bool replay_flush_at(const void *at, uint32_t n_bytes); /* whosever it is; false: nobody's */
bool replay_is_shared(const void *at);
uint64_t replay_time(void);
void replay_forget(void);

/* actors.c */
struct actor *replay_actor(const char *name, void (*run)(struct actor *));
struct actor *replay_find(const char *name);
void replay_pause(enum access access, const void *at, uint64_t value);
void replay_block(uint32_t *futex, uint64_t until_ns);
void replay_yield(void);
void replay_checkpoint(void); /* guided: what was wanted is done, as after a hook */
void replay_boundary(
    void); /* guided: between two operations; one that did another step than it should goes no further */
void replay_kill(struct actor *actor);
/* Guided: the label of the calling actor's next step; else one of `labels` (n) by chance. */
const char *replay_choice(const char *const *labels, uint32_t n);
const char *replay_peek(const struct actor *actor);
uint32_t replay_random(uint32_t below);
bool replay_is_one_of(const char *word, const char *list);
void replay_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* One walk. False: a violation. */
bool replay_walk(const struct scenario *scenario, const struct step *steps, uint32_t n_steps);
bool replay_random_walk(const struct scenario *scenario, uint64_t seed);
/* All orders of at most `preemptions` switches away from an actor that could go on; the number of them, up to `max`. */
uint64_t replay_search(const struct scenario *scenario, uint32_t preemptions, uint64_t max);

/* world.c: a process with a pool, a recorder with a trace, events with numbers */
struct collector_handle;
extern struct world {
    char dir[64], trace[96];
    struct strobe_pool *pool;
    struct strobe_control *control;
    struct strobe_file_writer *writer;
    struct strobe_collector *c;
    struct strobe_loc locs[EVENTS_MAX];
    int result[EVENTS_MAX];        /* of an emit, -1: it was not finished, or not begun */
    uint32_t n_stored[EVENTS_MAX]; /* in the trace */
    uint64_t n_lost, lost[16];
    uint32_t n_unheard;
    uint32_t unheard_tid[16];
    uint64_t named, used; /* ids, by bit: that the trace has a name of, and an event of */
    bool ids_move; /* the scenario registers its location anew: ids are no numbers of events */
    bool is_dead;  /* the process */
} world;
void world_open(bool is_recording);
void world_close(void);
void world_die(void);
void world_record(void);
void world_abandon(void);
void world_few_words(uint32_t n_left);
void world_few_segments(uint32_t n);
void world_emit(uint32_t event);
/* The actor has emitted once before the walk, and so has a segment. */
void world_warm(struct actor *actor, uint32_t event);
void world_end_thread(void);
void world_drain(void);
void world_read(void);
void world_check_events(uint32_t n_maybe);
struct strobe_proc *world_proc(void);

/* kernel.c */
void kernel_reset(void);
bool kernel_advance(void); /* time passes until somebody wakes; false: nobody would */

/* client_side.c, alive_side.c */
struct strobe_pool *client_join(const char *dir, uint32_t n_chunks);
void client_start_recording(void);
void client_leave(void);
int client_emit(struct strobe_loc *loc);
void client_new_epoch(void);
void client_end(struct strobe_loc *loc, int on);
int client_emit_record(uint64_t value);
void client_end_thread(void);
void alive_release(void);
void alive_close(void); /* the process closes all its descriptors */
struct strobe_hot *replay_no_hot(void);

extern const struct scenario scenario_segments, scenario_signals, scenario_ending, scenario_attach,
    scenario_waiting, scenario_cancel, scenario_liveness;

#endif
