/* dry.c - what a thread that found no room remembers of it, so that it drops what follows without the lock, a system call or a
 * blocked signal: a program that can't be recorded is not to be slowed for it. Runs inside the traced program, signal handlers
 * included. Why nothing is lost by it: docs/ring-protocol.md, "Room"; tests/model/dropping.pml.  SPDX-License-Identifier: MIT */
#include "ring/ring_write.h"

uint64_t strobe_ring_dry_ticks(uint32_t clock)
{
    uint64_t ticks = 1 << 18; /* ns; a time-stamp counter has 2 to 4 of them per ns */
    if (clock != STROBE_CLOCK_TSC)
        return ticks;
#if defined(__aarch64__)
    __asm__("mrs %0, cntfrq_el0" : "=r"(ticks)); /* per second */
    return ticks / 4000 + 1;
#else
    return 2 * ticks;
#endif
}

void strobe_ring_note_dry(const struct strobe_pool *pool, struct strobe_dry *dry, uint32_t given,
                          enum strobe_loss loss)
{
    dry->given = given;
    dry->generation = pool->control->active;
    dry->loss = loss;
    dry->until = strobe_ring_now(pool) + pool->dry_ticks;
}

bool strobe_ring_is_dry(const struct strobe_pool *pool, const struct strobe_dry *dry, uint64_t now)
{
    const struct strobe_control *control = pool->control;
    uint32_t generation = __atomic_load_n(&control->active, __ATOMIC_ACQUIRE);
    return generation && generation == dry->generation &&
           __atomic_load_n(&control->n_given, __ATOMIC_ACQUIRE) == dry->given &&
           dry->until - now <= pool->dry_ticks; /* a clock that jumps ends it too */
}
