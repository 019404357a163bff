/* life.h - processes and threads of a recording as perf's records tell them, and what becomes of their samples.
 *
 *   record (in the order of time) ─► process, by pid ─► thread, by tid ─► pending.h ─► build/build.h
 *                                    maps: what its addresses are         wanted.h: addresses that need a name
 *
 * A process is one of the trace's per image: exec ends it and begins another. It is told when its first sample or switch is
 * there, with the same pid and start time as its client has, if there is one, so that readers see one process and one
 * track per thread (docs/file-format.md, "One thread, several tracks").
 * Bounded: at most STROBE_LIFE_PROCESSES live at once; what is beyond them is counted.
 * One thread.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_LIFE_H
#define STROBE_SAMPLE_LIFE_H

#include "build/build.h"
#include "sample/blocked.h"
#include "sample/clock.h"
#include "sample/pending.h"
#include "sample/perf_ring.h"
#include "sample/perf_record.h"
#include "sample/py_watch.h"
#include "sample/wanted.h"

enum {
    STROBE_LIFE_PROCESSES = 8192,
    STROBE_LIFE_THREADS = 65536,
    STROBE_LIFE_DEEP = 256,
    STROBE_LIFE_FRESH = 256,
    STROBE_LIFE_WAITING = 64, /* threads that /proc is asked about in a round */
    STROBE_LIFE_TURNED = 8,   /* whose clocks are read in a round */
    STROBE_LIFE_CPUS = 1024
};

struct strobe_life_thread {
    uint32_t tid;
    char name[16];
    uint64_t start_tick;              /* 0: not known */
    uint64_t last_tick;               /* of its last event */
    struct strobe_build_track *track; /* borrowed from the build; NULL: nothing of it yet */
    struct strobe_unwind_stack
        *deep; /* owned: the last whole stack that nearly filled its copy; NULL: none */
    struct strobe_py_thread *python; /* owned: how its Python frames are read; NULL: not at all */
    uint64_t sample_ns,
        out_ns; /* the last sample of it at a glance, and when it left its processor after that; 0: it did not */
    uint64_t on_ns;   /* since when it runs, RAW; 0: it does not, or it is not known */
    uint32_t on_cpu;  /* where */
    uint8_t reason;   /* why it leaves its processor now: the record of that comes next */
    bool is_waiting;  /* it left, and nobody woke it yet */
    uint64_t left_ns; /* when, RAW */
    uint64_t
        early_ns; /* when it was woken though it was not seen to wait; 0: not since it came in */
    uint32_t early_by, early_cpu; /* by whom (0: an interrupt), to run where */
    uint64_t asked_ns;            /* when /proc was asked what it waits for; 0: not */
    uint8_t asked_reason;
    bool is_fresh, has_waited; /* its frames are to be read; it left by itself */
    bool
        is_loading; /* exec gave it an image that was not seen to run: its registers may still be the old one's */
    struct strobe_build_track
        *zone_track; /* borrowed from the process's zones; NULL: nothing of it yet */
    struct strobe_life_probe {
        uint64_t sp;
        uint32_t number;
    } * probed; /* owned: probed functions that it is in; NULL: none yet */
    uint32_t n_probed, probed_room;
    int64_t call;       /* number of the system call that it is in; -1: none is known */
    uint64_t call_tick; /* when that began */
    struct strobe_life_turns {
        uint64_t n, on_ns;                /* turns that were seen to end, and their time */
        uint64_t n_asked, asked_ns;       /* turns when its clock was last to be read; when, RAW */
        uint64_t before_ns, after_ns;     /* around the last reading, RAW; 0: none to be used */
        uint64_t cpu_ns;                  /* what was read */
        uint64_t base_ns;                 /* RAW time of the reading that was used last; 0: none */
        uint64_t base_cpu_ns, base_on_ns; /* and what the clock and the records said then */
        uint64_t base_n;                  /* turns by then */
        bool is_known;                    /* two readings were used: */
        double lack_ns, lacked_ns;        /* what a turn lacks on average, and all by base_n */
        double given_ns;                  /* of that the file has */
        uint32_t window;                  /* number, from 1 on; 0: none yet */
    } turns;                              /* life_turns.c */
};

#define STROBE_LIFE_PROBE (1ull << 32)

/* The pending events of a thread. */
struct strobe_life_window {
    struct strobe_life_thread *thread; /* borrowed; NULL: it has ended */
    uint64_t last_tick;                /* of the event before */
    uint32_t n_in;                     /* turns that began since the last flush */
    bool is_free;
    uint32_t next_free; /* of those that are: number of the next one; 0: none */
    double more_ns;     /* by which each of them began before its record */
};

struct strobe_life_process {
    uint32_t pid, parent_pid;
    uint64_t start_time, born_raw_ns; /* born: 0: not seen */
    struct strobe_build *build;       /* owned; NULL: nothing of it yet */
    uint32_t proc;                    /* its number in the trace */
    struct strobe_build *
        zones; /* owned: the same process once more, for what has zones, which no sampled process has; NULL: none */
    uint32_t zones_proc;
    struct strobe_map
        calls; /* number of a system call, or STROBE_LIFE_PROBE and of a probe: its location in zones */
    bool is_elsewhere;  /* in another pid namespace */
    uint32_t inner_pid; /* its number there */
    bool is_refused;    /* the trace has no room for it */
    bool has_ended;     /* to be closed with the next flush */
    int status;         /* as wait gives it; -1: not known */
    const struct strobe_sample_module
        *image; /* borrowed: the first file that it mapped; NULL: none */
    const struct strobe_sample_module *dump; /* borrowed: names of code that it makes; NULL: none */
    struct strobe_maps maps;
    struct strobe_map threads;        /* tid to struct strobe_life_thread *, owned */
    struct strobe_py_process *python; /* owned: the Python in it; NULL: none was found */
    uint32_t n_maps_seen;             /* mappings when it was looked for */
};

/* What is counted of what came and went. */
struct strobe_life_counts {
    uint32_t n_processes, n_tracks; /* in the trace */
    uint64_t n_begun; /* atomic: processes that were forked, and programs that were executed */
    uint64_t n_samples, n_switches, n_wakes; /* stored; n_switches: from a processor */
    uint64_t n_calls;                        /* system calls, likewise */
    uint64_t n_probed;                       /* records of probes */
    uint64_t n_unwoken;                      /* waits that ended without a record of the wake-up */
    uint64_t n_out_of_cpu[STROBE_LIFE_CPUS]; /* switches out, by processor */
    uint64_t n_cut;                          /* samples whose outer frames are missing */
    uint64_t n_joined;                       /* of which they were found in the sample before */
    uint64_t n_refused;   /* samples and switches of processes that the trace has no room for */
    uint64_t n_throttled; /* times that the kernel slowed the clock down */
    uint64_t n_lost_told; /* by LOST records: less than all */
};

struct strobe_life {
    struct strobe_build_store *store;        /* borrowed */
    const struct strobe_sample_clock *clock; /* borrowed */
    uint32_t hz;
    bool has_kernel, has_turns;         /* the kernel's frames are seen; switches are */
    uint64_t gap_ns;                    /* switches before may be missing, RAW */
    bool has_zones;                     /* there are system calls, or calls of probes */
    const struct strobe_probes *probes; /* borrowed: NULL: none */
    bool told_kinds;                    /* the trace has the lines of kinds that its head lacks */
    struct strobe_map processes;        /* pid to struct strobe_life_process *, owned */
    struct strobe_life_process **ended; /* owned */
    uint32_t n_ended, ended_room, n_threads;
    struct strobe_modules modules;
    struct strobe_unwinder *unwinder; /* owned */
    struct strobe_pending pending;
    struct strobe_wanted wanted;
    struct strobe_life_counts counts;
    struct strobe_blocked_names blocked;
    struct strobe_map owners;       /* tid to pid, of all threads */
    struct strobe_py_watch *python; /* owned */
    struct strobe_life_fresh {
        uint32_t pid, tid;
    } fresh[STROBE_LIFE_FRESH]; /* threads with a sample in this glance */
    uint32_t n_fresh;
    struct strobe_life_fresh waiting[STROBE_LIFE_WAITING]; /* that left since the last round */
    uint32_t n_waiting, n_not_asked;
    struct strobe_life_fresh turned[STROBE_LIFE_TURNED]; /* whose clocks are to be read */
    uint32_t n_turned;
    struct strobe_life_window *windows;            /* owned */
    uint32_t n_windows, windows_room, free_window; /* free_window: number of one; 0: none */
    double lack_ns;                                /* what a turn lacked where it was known last */
    uint64_t out_ticks[STROBE_LIFE_CPUS];          /* when the last thread left, by processor */
    uint32_t n_deep;                               /* threads with a stack kept */
    struct strobe_unwind_stack user;               /* scratch */
    uint64_t stack[STROBE_PERF_CHAIN_MAX + STROBE_UNWIND_MAX]; /* scratch */
};

enum strobe_err strobe_life_init(struct strobe_life *life, struct strobe_build_store *store,
                                 const struct strobe_sample_clock *clock);
/* Frees; what is pending is lost. Zeroes are allowed. */
void strobe_life_free(struct strobe_life *life);

/* The command's process, which waits for its exec: its start time is read while it surely lives. */
void strobe_life_begin(struct strobe_life *life, uint32_t pid);
/* A process that runs already: its mappings and threads are read from /proc. */
void strobe_life_attach(struct strobe_life *life, uint32_t pid);
/* Take one record. */
void strobe_life_take(struct strobe_life *life, const struct strobe_perf_record *record);
/* Ask what those wait for whose reason is not known. */
void strobe_life_ask(struct strobe_life *life);
/* Read the clocks of threads that had turns since. */
void strobe_life_read_clocks(struct strobe_life *life);
/* A clock's reading, taken between two RAW times. */
void strobe_life_clock(struct strobe_life *life, uint32_t pid, uint32_t tid, uint64_t before_ns,
                       uint64_t after_ns, uint64_t cpu_ns);
/* A glance at a record that is not due yet: whose Python frames are to be read. Then strobe_life_shoot reads them all. */
void strobe_life_glance(struct strobe_life *life, const struct strobe_perf_glance *glance);
void strobe_life_shoot(struct strobe_life *life);
/* Whether there is a Python whose frames are read: then glances should come often. */
bool strobe_life_has_python(const struct strobe_life *life);
/* The recording ends: what threads are still in is stored as open. Then strobe_life_flush. */
void strobe_life_end(struct strobe_life *life);
/* How a process ended, as wait gives it. */
void strobe_life_exit_status(struct strobe_life *life, uint32_t pid, int status);
/* Events to the store's block; processes that have ended are closed. */
void strobe_life_flush(struct strobe_life *life);
/* Whether nothing lives of this pid. */
bool strobe_life_is_over(const struct strobe_life *life, uint32_t pid);

#endif
