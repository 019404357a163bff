/* thread.h - what the tracer knows of each thread: small, in the static TLS block, no locks.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_PY_THREAD_H
#define STROBE_PY_THREAD_H

#include "py.h"

struct strobe_loc;       /* strobe.h */
struct strobe_py_code;   /* code.h */
struct strobe_py_stack;  /* shadow.c: the open calls, where they must be known */
struct strobe_py_fibers; /* tasks.c: the tasks that run on the thread, one inside the other */
struct strobe_py_away;   /* away.c: what ran when another tool took our seat */

enum { STROBE_PY_NAME_TRIES = 64 };

struct strobe_py_thread {
    /* Frame hook: a stack pointer below this takes the slow way. All ones until the thread was met. */
    uintptr_t stack_mark;
    uintptr_t stack_end;  /* three quarters of its stack are below this; 0: not known */
    uintptr_t stack_last; /* an eighth is */
    uint32_t n_met;       /* events at which its name was looked for; NAME_TRIES: no more */
    uint32_t
        n_aside; /* open calls told by the profile function, while the frame hook stands aside */
    bool apart;  /* the profile function was heard last of it, and the frame hook not since */
    uint32_t n_profiled; /* open calls told by the profile function */
    void *frame;         /* profile function: borrowed and only compared, the frame that runs */
    struct strobe_py_code *frame_code; /* borrowed: its code's, while that lives: ... */
    uint32_t frame_version;            /* ... strobe_py_code_version when it was asked for */
    const void *called; /* borrowed and only compared: the C function that runs; NULL: not known */
    struct strobe_loc *called_loc; /* borrowed: its place in callable.c's table ... */
    uint32_t called_version;       /* ... if that is still of this version */
    uint32_t profile_generation;   /* of the tracing that they belong to */
    uint32_t n_open;       /* sys.monitoring: calls told to have begun, coroutines not counted */
    uint32_t n_coroutines; /* running coroutines, one inside the other */
    uint32_t
        suspending; /* a coroutine of the task that runs was just left by an await: so will be those around it */
    uint32_t busy;                   /* the tracer itself calls Python code */
    struct strobe_py_stack *stack;   /* owned: given up at the thread's end */
    struct strobe_py_fibers *fibers; /* owned: likewise */
    struct strobe_py_away *away;     /* owned: likewise */
};

extern __thread struct strobe_py_thread strobe_py_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Look for the thread's Python name and give it to the trace; from NAME_TRIES on it is known, has none, or the program gave it one of its
 * own. GIL held; keeps a pending exception. */
void strobe_py_meet_thread(void);

/* Find the ends of the calling thread's stack. */
void strobe_py_measure_stack(void);

/* Have what the thread owns freed at its end. */
void strobe_py_own_thread(void);

#endif
