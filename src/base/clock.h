/* clock.h - the kernel's clocks in nanoseconds. (The clock of a trace is query/clock.h.)
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_CLOCK_H
#define STROBE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t strobe_clock_read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Since some start; never goes back. For durations and deadlines. */
static inline uint64_t strobe_clock_mono_ns(void)
{
    return strobe_clock_read_ns(CLOCK_MONOTONIC);
}

/* Since 1970; goes back when somebody sets it. For dates. */
static inline uint64_t strobe_clock_real_ns(void)
{
    return strobe_clock_read_ns(CLOCK_REALTIME);
}

/* CPU time of all threads of this process. */
static inline uint64_t strobe_clock_cpu_ns(void)
{
    return strobe_clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* A time or a duration as the system calls want it. */
static inline struct timespec strobe_clock_timespec(uint64_t ns)
{
    struct timespec ts = {.tv_sec = (time_t)(ns / 1000000000u),
                          .tv_nsec = (long)(ns % 1000000000u)};
    return ts;
}

#endif
