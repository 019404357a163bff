/* functions.h - functions as zones, by what compilers put into their begins and ends. Inside of src/preload only.
 *
 *   __cyg_profile_func_enter (hooks.c), or a sled that was patched (patch.c)
 *     ─► strobe_function_enter (functions.c) ─► the function by its address, named once (function_names.c)
 *                                            ─► the thread's open functions (function_stacks.c) ─► an event
 *
 * With nobody recording, the hook is a test of one flag.  SPDX-License-Identifier: MIT */
#ifndef STROBE_PRELOAD_FUNCTIONS_H
#define STROBE_PRELOAD_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "strobe/strobe.h"

/* A function of the program. `address` is written last: who sees it sees the rest. */
struct strobe_function {
    uint64_t address;      /* 0: nothing is here yet */
    struct strobe_loc loc; /* its texts stay as long as the process */
    uint32_t n_bytes;      /* of its code; 0: not known */
    bool is_left_out;      /* by the user's patterns */
    bool is_stale;         /* its file is gone: what is there now has another name */
};

/* A function that is open on a stack. */
struct strobe_function_open {
    uint64_t sp;           /* of its frame, when the hook was called */
    uint64_t back;         /* where the hook returns to: which call of the hook it was */
    uint64_t address, end; /* of the function's code */
    struct strobe_loc *loc;
    uint64_t word; /* the begin's, as in struct strobe_zone */
    int on;
};

/* The functions that are open on one stack: a thread's own, or a fiber's. */
struct strobe_function_stack {
    struct strobe_function_stack
        *above;          /* owned: of handlers that interrupted a hook here; NULL: none did */
    uint64_t low, high;  /* of the memory that it is in */
    uint32_t n;          /* of `open` */
    uint32_t generation; /* of the recorder that they were emitted to */
    uint32_t is_taken;   /* 0: free */
    bool is_own;         /* a thread's; else a fiber's */
    struct strobe_name fiber;
    char text[32];
    uint32_t room;                     /* of `open` */
    struct strobe_function_open *open; /* owned: what is not touched takes no memory */
};

/* What the hot path needs of the calling thread. */
struct strobe_function_thread {
    uint64_t low, n_bytes; /* of the memory where it runs: a stack, or an alternate signal stack */
    uint64_t inside;       /* the stack pointer of the hook that runs; 0: none */
    uint64_t word;         /* what stands below it as long as that hook has not returned */
    struct strobe_function_stack *stack; /* shared with who runs the fiber next; NULL: none yet */
    uint32_t
        first; /* of its open functions: those that a signal handler on its own stack has begun */
    bool is_rare; /* that hook runs what is rare, and may hold locks; then */
    int n_busy;   /* is what strobe_preload_busy was */
};
extern __thread struct strobe_function_thread strobe_function_thread
    __attribute__((tls_model("initial-exec")));
/* The same of signal handlers that interrupted a hook. `low`: the `inside` of that hook. */
extern __thread struct strobe_function_thread strobe_function_handler
    __attribute__((tls_model("initial-exec")));

/* A function begins, or ends. `sp`: the stack pointer of whoever called the hook; `back`: where that goes on; `call`: where the function
 * returns to. Somebody records. Any context. */
void strobe_function_enter(uint64_t address, uint64_t sp, uint64_t back, uint64_t call);
void strobe_function_exit(uint64_t address, uint64_t sp);
/* End what is open above the first `n`. */
void strobe_function_end_above(struct strobe_function_stack *stack, uint32_t n);

/* Name a function whose address is new, or whose file is gone. False: it can't be known at present. One thread at a time, signals as they
 * are. */
bool strobe_function_name(struct strobe_function *function, uint64_t address);
/* Whether a function is wanted by the user's patterns: `module` is a file's path, `name` as in the file; or the one at an address. */
bool strobe_function_is_wanted(const char *module, const char *name);
bool strobe_function_is_wanted_at(uint64_t address);
/* Where a section of the file around an address is in memory. False: it has none of this name. One thread at a time. */
bool strobe_function_section(uint64_t pc, const char *name, uint64_t *start, uint64_t *n_bytes);

/* Sleds of this program were patched: hooks are called with the program's vector registers alive. Written before main. */
extern int strobe_function_is_patched;
/* The calling thread runs on another stack than before, where `sp` is; its open functions. NULL: no room, what happens there is lost. */
struct strobe_function_stack *strobe_function_change_stack(uint64_t sp);

/* The list for handlers that interrupt hooks on this stack; NULL: no memory. */
struct strobe_function_stack *strobe_function_stack_above(struct strobe_function_stack *stack);
/* Whether the calling thread is in a signal handler on the alternate stack, and `sp` too. */
bool strobe_function_is_on_signal_stack(uint64_t sp);
/* A hook was jumped away from: give back what it had locked. */
void strobe_function_stacks_mend(void);

/* More room for open functions of the thread that runs. False: no memory. */
bool strobe_function_grow_stack(struct strobe_function_stack *stack);

/* In a forked child: nothing is open, nothing is locked. */
void strobe_function_forked(void);
void strobe_function_stacks_forked(void);
/* A file was unmapped from there: names of what comes in its place are looked up anew. */
void strobe_function_unloaded(uint64_t low, uint64_t high);
void strobe_function_forget_file(uint64_t low,
                                 uint64_t high); /* likewise; in the lock of who names */

#endif
