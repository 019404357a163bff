/* pulse.c - so many zones a second, one after the other: N of them, or (N 0) until stdin ends.
 *   pulse PER_SECOND N   SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "strobe/strobe.h"

int main(int argc, char **argv)
{
    long per_second = argc > 1 ? atol(argv[1]) : 10, n = argc > 2 ? atol(argv[2]) : 100, i = 0;
    struct timespec at;
    struct pollfd in = {.fd = 0, .events = POLLIN};
    if (per_second < 1 || per_second > 1000000)
        return 2;
    clock_gettime(CLOCK_MONOTONIC, &at);
    STROBE_THREAD_NAME("heart");
    for (; n ? i < n : poll(&in, 1, 0) == 0; i++) {
        at.tv_nsec += 1000000000 / per_second;
        at.tv_sec += at.tv_nsec / 1000000000;
        at.tv_nsec %= 1000000000;
        {
            STROBE_SCOPE("beat");
            STROBE_TEXTF("number %ld", i);
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    }
    printf("%ld\n", i);
    return 0;
}
