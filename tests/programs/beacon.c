/* beacon.c - a program that runs until its stdin ends, for recorders that come and go.
 * It says "ready" when it runs, and at the end how many ticks it emitted.
 *   beacon [IGNORED]...   SPDX-License-Identifier: MIT */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "strobe/strobe.h"

static atomic_int stop;

static void *help(void *unused)
{
    STROBE_THREAD_NAME("helper");
    while (!atomic_load(&stop)) {
        STROBE_SCOPE("help");
        STROBE_PLOT("level", 1.5);
        usleep(500);
    }
    return unused;
}

static long tick_until_stdin_ends(void)
{
    struct pollfd in = {.fd = 0, .events = POLLIN};
    long n = 0;
    while (poll(&in, 1, 0) == 0) {
        STROBE_SCOPE("tick");
        n++;
        for (int i = 0; i < 10; i++) {
            STROBE_SCOPE("part");
        }
        STROBE_FRAME_NAMED("beat");
        char name[24];
        int n_bytes = snprintf(name, sizeof name, "turn %ld", n % 4);
        struct strobe_zone turn = strobe_zone_begin_at(NULL, 0, NULL, name, (size_t)n_bytes, 0);
        strobe_zone_end(&turn);
        usleep(500);
    }
    return n;
}

int main(void)
{
    pthread_t helper;
    STROBE_PROGRAM_NAME("the beacon");
    STROBE_THREAD_NAME("keeper");
    pthread_create(&helper, NULL, help, NULL);
    STROBE_ZONE(whole, "whole life");
    STROBE_ZONE(nested, "inner life");
    puts("ready");
    fflush(stdout);
    long n = tick_until_stdin_ends();
    STROBE_ZONE_END(nested);
    STROBE_ZONE_END(whole);
    atomic_store(&stop, 1);
    pthread_join(helper, NULL);
    printf("%ld\n", n);
    return 0;
}
