/* fiber.h - stackful fibers: a RISC's kernel runs on one, so that it can stop anywhere. One thread runs them all.
 * A stack is mapped lazily with a guard page below it.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DEVICE_SIM_FIBER_H
#define STROBE_DEVICE_SIM_FIBER_H

#include <stddef.h>

#include "base/err.h"

/* Whether this machine's registers are known here. */
#if defined(__x86_64__) || defined(__aarch64__)
#define STROBE_FIBER_KNOWN 1
#else
#define STROBE_FIBER_KNOWN 0
#endif

#define STROBE_FIBER_STACK_BYTES (256u * 1024)

struct strobe_sim_fiber {
    void *sp;              /* where it stopped */
    char *mapping;         /* owned: guard page and stack */
    char *top;             /* end of the stack */
    void (*entry)(void *); /* what a started one runs */
    void *context;         /* borrowed: for entry */
};

/* Map a stack. NOMEM. */
enum strobe_err strobe_sim_fiber_open(struct strobe_sim_fiber *fiber);

/* Unmap it; what ran on it is gone. A fiber that is all zero is nothing. */
void strobe_sim_fiber_close(struct strobe_sim_fiber *fiber);

/* Let the fiber begin anew with entry(context) at the next resume. entry must not return: its last act is a
 * strobe_sim_fiber_leave that nobody resumes. */
void strobe_sim_fiber_start(struct strobe_sim_fiber *fiber, void (*entry)(void *), void *context);

/* Run the fiber until it leaves. Thread: the one that runs all. */
void strobe_sim_fiber_resume(struct strobe_sim_fiber *fiber);

/* Inside a fiber: go back to who resumed it. */
void strobe_sim_fiber_leave(struct strobe_sim_fiber *fiber);

#endif
