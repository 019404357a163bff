/* platform.h - the simulator as a platform of the profiler's writer (strobe_device_platform.h). Markers are not charged by their
 * instructions on this machine but by those counted on rv32: a clock read of a begin or a close stands for the whole marker.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SIM_PLATFORM_H
#define STROBE_SIM_PLATFORM_H

#include "strobe_sim.h"

#ifdef __cplusplus
extern "C" {
#endif
extern __attribute__((visibility("hidden"))) struct strobe_sim_risc *strobe_sim_self;
extern __attribute__((visibility("hidden"))) const struct strobe_sim_calls *strobe_sim_call;
#ifdef __cplusplus
}
#endif

#if defined(__clang__)
#define STROBE_SIM_FREE __attribute__((no_sanitize("coverage")))
#else
#define STROBE_SIM_FREE __attribute__((no_sanitize_coverage))
#endif

/* Instructions of a marker, counted on rv32 (-O2, minstret): 30.1 per classic pair, 43.0 per dense streaming zone;
 * less what the blocks around it are charged anyway: the calls of begin and close. */
#if STROBE_SIM_MODE == 2
#define STROBE_SIM_COST_OPEN  6
#define STROBE_SIM_COST_CLOSE 20
#else
#define STROBE_SIM_COST_OPEN  7
#define STROBE_SIM_COST_CLOSE 7
#endif

#define STROBE_DEVICE_N_RISCS 5
#define STROBE_DEVICE_RISC    STROBE_SIM_RISC
#define STROBE_DEVICE_BASE    (strobe_sim_self->mailbox)
/* Whatever stands in L1, a marker stays in the L1 of its core. */
#define STROBE_DEVICE_AT(address) \
    ((void *)(uintptr_t)(strobe_sim_self->l1 | ((uint32_t)(address)&STROBE_SIM_L1_MASK)))
#define STROBE_SIM_CLOCK(low, high, cost)                               \
    do {                                                                \
        uint64_t clock_ = strobe_sim_self->now + strobe_sim_self->wall; \
        (low) = (uint32_t)clock_, (high) = (uint32_t)(clock_ >> 32);    \
        strobe_sim_self->now += (cost);                                 \
    } while (0)
#define STROBE_DEVICE_CLOCK(low, high)        STROBE_SIM_CLOCK(low, high, STROBE_SIM_COST_OPEN)
#define STROBE_DEVICE_CLOCK_QUICK(low, high)  STROBE_SIM_CLOCK(low, high, STROBE_SIM_COST_CLOSE)
#define STROBE_SIM_WALL(low, high)            STROBE_SIM_CLOCK(low, high, 0) /* as a register shows it */
#define STROBE_DEVICE_FENCE()                 __asm__ volatile("" ::: "memory")
#define STROBE_DEVICE_INVALIDATE()            __asm__ volatile("" ::: "memory")
#define STROBE_DEVICE_WAIT()                  (strobe_sim_self->now += 24, strobe_sim_call->yield())
#define STROBE_DEVICE_PUSH(risc, at, from, n) strobe_sim_call->dram_push(risc, at, from, n)
#define STROBE_DEVICE_COUNTERS_START()        strobe_sim_call->perf_switch(1)
#define STROBE_DEVICE_COUNTERS_STOP()         strobe_sim_call->perf_switch(0)
#define STROBE_DEVICE_COUNTER(i, type, ref, value) \
    strobe_sim_call->perf_counter(i, type, ref, value)
#define STROBE_DEVICE_COUNT

/* Not inlined, since what is inlined would be charged by its blocks. */
#define STROBE_DEVICE_INLINE_ static STROBE_SIM_FREE __attribute__((noinline, unused))
#define STROBE_DEVICE_CALL_   static STROBE_SIM_FREE __attribute__((noinline, unused))
#define STROBE_DEVICE_RARE_   static STROBE_SIM_FREE __attribute__((noinline, cold, unused))

#endif
