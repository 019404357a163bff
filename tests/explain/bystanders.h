/* bystanders.h - processor time that is spent whatever else runs on the machine, and two threads beside a planted cause: one is busy,
 * one waits all the time.  SPDX-License-Identifier: MIT */
#ifndef EXPLAIN_BYSTANDERS_H
#define EXPLAIN_BYSTANDERS_H

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <strobe/strobe.h>

static volatile int is_over;

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* So much processor time, whatever else runs on the machine. */
static void spin(unsigned us)
{
    uint64_t end = cpu_ns() + us * 1000ull;
    while (cpu_ns() < end)
        ;
}

static void *be_busy(void *none)
{
    STROBE_THREAD_NAME("bystander");
    while (!is_over) {
        {
            STROBE_SCOPE("housekeeping");
            spin(3000);
        }
        usleep(4000);
    }
    return none;
}

static void *be_idle(void *none)
{
    STROBE_THREAD_NAME("sleeper");
    while (!is_over) {
        STROBE_SCOPE("wait_for_nothing");
        usleep(20000);
    }
    return none;
}

static pthread_t bystanders[2];

static void start_bystanders(void)
{
    pthread_create(&bystanders[0], NULL, be_busy, NULL);
    pthread_create(&bystanders[1], NULL, be_idle, NULL);
}

static void end_bystanders(void)
{
    is_over = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(bystanders[i], NULL);
}

#endif
