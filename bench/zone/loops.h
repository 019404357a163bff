/* loops.h - what each tracer under test provides to zone/driver.c.  SPDX-License-Identifier: MIT */
#ifndef BENCH_ZONE_LOOPS_H
#define BENCH_ZONE_LOOPS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_API __attribute__((visibility("default"), noinline))

/* `n` empty zones, one after another. */
BENCH_API void bench_zones(uint64_t n);

/* The same, each one between two clock reads; the difference goes to ticks[i]. */
BENCH_API void bench_zone_costs(uint64_t n, uint32_t *ticks);

/* 1 once somebody takes the events. */
BENCH_API int bench_is_recorded(void);

static inline uint64_t bench_ticks(void)
{
#if defined(__x86_64__)
    uint32_t lo, hi;
    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
    return (uint64_t)hi << 32 | lo;
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

/* Keeps the compiler from moving memory accesses across it. */
#define BENCH_BARRIER() __asm__ volatile("" ::: "memory")

/* The limit that no tracer can beat: two clock reads, two stores of 16 bytes, in a buffer that
 * stays in the first-level cache. */
struct bench_pair {
    uint64_t ticks, what;
};
enum { BENCH_LIMIT_PAIRS = 1024 };

static inline __attribute__((always_inline)) void bench_limit_store(struct bench_pair *slot,
                                                                    uint64_t what)
{
    slot->ticks = bench_ticks();
    slot->what = what;
    BENCH_BARRIER();
}

#ifdef __cplusplus
}
#endif

#endif
