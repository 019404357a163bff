/* py_watch.h - Python frames for samples: read from outside, and put in the place of the evaluator's.
 *
 *   the kernel takes a sample ─► as soon as the recorder runs, the thread's Python frames are read: a shot (strobe_py_watch_shoot)
 *   the sample's turn comes   ─► the native stack's frames of the evaluator are replaced by those of its shot
 *                                (strobe_py_watch_join)
 *
 * As root the kernel itself reads them with the sample (py_kernel.h): such a shot is of that very moment, and nobody is woken for it.
 *
 * Else the thread runs on meanwhile, so a shot is late by what the trace says. An activation of the evaluator is known by its place in
 * the C stack: where the shot has another one there, the native frame stays. A thread that has left its processor since the sample
 * is at the place where it left it, most often a system call: then there is no shot, unless it left it at once.
 * One thread. Memory: fixed, and bounded names.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PY_WATCH_H
#define STROBE_SAMPLE_PY_WATCH_H

#include "sample/module.h"
#include "sample/py_image.h"
#include "sample/py_kernel.h"
#include "sample/py_names.h"
#include "sample/unwind.h"

/* A thread that was preempted within this time is where the sample was. */
#define STROBE_PY_NEAR_NS 100000ull
/* A shot that is later is not kept. The later it is, the more samples shortly before a system call lack one, for there threads leave their
 * processors: a recorder that is woken with each sample keeps the prompt ones alone. */
#define STROBE_PY_PROMPT_NS 500000ull
#define STROBE_PY_LATE_NS   2000000ull
#define STROBE_PY_FIND_NS   20000000ull /* between two looks for a thread's state */
enum { STROBE_PY_SHOTS = 1 << 11, STROBE_PY_WORDS = 1 << 16, STROBE_PY_LAST_PLACES = 64 };

/* Why a Python has samples with its frames or without; on disk, docs/file-format.md. */
enum strobe_py_state {
    STROBE_PY_READ = 0,
    STROBE_PY_UNKNOWN = 1, /* a version or a build whose frames are laid out otherwise */
    STROBE_PY_REFUSED = 2, /* its memory may not be read */
    STROBE_PY_TRACED = 3,  /* its functions are traced: they are zones */
};

/* A Python in a process. */
struct strobe_py_process {
    uint32_t id; /* never used again */
    enum strobe_py_state state;
    struct strobe_py_target target;
    struct strobe_py_range evaluators[STROBE_PY_EVALUATORS]; /* addresses in the process */
    uint32_t n_evaluators;
    uint64_t n_joined;             /* samples with Python frames */
    uint64_t n_missed;             /* without: there was no shot */
    uint64_t late_ns, late_max_ns; /* of those with: sum and largest */
    uint64_t n_told;               /* samples that the trace's record counts */
};

/* A thread of one. */
struct strobe_py_thread {
    uint64_t state;     /* its thread state; 0: not found yet */
    uint32_t inner_tid; /* its number in its own pid namespace */
    struct strobe_py_spans again;
    uint64_t looked_ns;   /* when all addresses below were last looked up */
    uint64_t exact;       /* number of the kernel's shot for the next sample, + 1; 0: none */
    uint64_t found_ns;    /* when its state was last looked for, for the kernel */
    uint32_t watched_pid; /* of its process, where the kernel watches it; 0: it does not */
    uint32_t n;
    struct strobe_py_place {
        uint64_t code, address;
        uint32_t at;
    } last
        [STROBE_PY_LAST_PLACES]; /* of its last shot, the outermost first: most are the same in the next */
};

struct strobe_py_watch {
    struct strobe_py_memory memory;
    struct strobe_py_names names;
    struct strobe_py_stack stack; /* scratch */
    struct strobe_py_shot {
        uint32_t pid, tid;
        uint64_t sample_ns; /* of the sample that it is for; times are CLOCK_MONOTONIC_RAW */
        uint64_t out_ns;    /* when the thread left its processor after that; 0: it did not */
        uint64_t late_ns;   /* how long the thread ran on after the sample */
        uint64_t first;     /* of its frames: two words each, address and activation */
        uint32_t n;
    } shots[STROBE_PY_SHOTS]; /* a ring, by the time taken */
    uint64_t n_shots, n_gone; /* ever taken, and of these no longer wanted */
    uint64_t words[STROBE_PY_WORDS];
    uint64_t n_words; /* ever */
    struct strobe_map
        images;           /* module's id: struct strobe_py_image *, owned, or 0: it is no Python */
    uint64_t late_max_ns; /* one of the two above */
    uint32_t n_opened, n_read;       /* processes ever; of these alive with frames to be read */
    uint64_t n_asked;                /* threads that the kernel was asked to watch, ever */
    struct strobe_py_kernel *kernel; /* owned: reads frames with each sample; NULL: nothing does */
};

void strobe_py_watch_free(struct strobe_py_watch *watch);

/* Find the Python in a mapped file. NULL: there is none, or no memory. The caller owns it: strobe_py_watch_close. */
struct strobe_py_process *strobe_py_watch_open(struct strobe_py_watch *watch, uint32_t pid,
                                               const struct strobe_mapping *mapping);
void strobe_py_watch_close(struct strobe_py_watch *watch,
                           struct strobe_py_process *process); /* NULL is allowed */
void strobe_py_watch_set(struct strobe_py_watch *watch, struct strobe_py_process *process,
                         enum strobe_py_state state);

/* Read the frames of a thread; `what` has the thread, its sample and when it left its processor. */
void strobe_py_watch_shoot(struct strobe_py_watch *watch, struct strobe_py_process *process,
                           struct strobe_py_thread *thread, const struct strobe_py_shot *what);
/* What the kernel read of a thread, for its next sample. */
void strobe_py_watch_take(struct strobe_py_watch *watch, struct strobe_py_process *process,
                          struct strobe_py_thread *thread, const void *bytes, size_t n_bytes,
                          uint32_t pid);
/* Have the kernel read the frames of a thread from now on, if it does not yet; at a time of the samples' clock. */
void strobe_py_watch_ask_kernel(struct strobe_py_watch *watch, struct strobe_py_process *process,
                                struct strobe_py_thread *thread, uint32_t pid, uint32_t tid,
                                uint64_t now_ns);
/* Shots of samples from before this time are no longer wanted. */
void strobe_py_watch_forget(struct strobe_py_watch *watch, uint64_t before_ns);

/* The native stack with Python frames, to `out`, which has room for STROBE_UNWIND_MAX: how many. What new frames are goes to the build.
 * `thread` may be NULL. */
uint32_t strobe_py_watch_join(struct strobe_py_watch *watch, struct strobe_py_process *process,
                              struct strobe_py_thread *thread, uint32_t tid, uint64_t sample_ns,
                              const struct strobe_unwind_stack *native, struct strobe_build *build,
                              uint64_t *out);

/* Say in the trace what became of a process's samples, if there are more since the last time. */
void strobe_py_watch_tell(struct strobe_py_process *process, struct strobe_build *build);

#endif
