/* emitter.c - a host's program: zones every few milliseconds, each with the real tick at which it began.
 *
 *     emitter FILE        emits until the file is there, two minutes at most
 *     emitter             prints a real tick and the real counter's rate: what the test's clocks are made of
 *
 * The tick is read before and after the begin, and the zone carries the later one: what is checked is wider by the distance,
 * which a second value says.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "strobe/strobe.h"

static double mono(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int print_rate(void)
{
    double begin = mono();
    uint64_t tick = strobe_real_ticks();
    while (mono() - begin < 0.2)
        ;
    double seconds = mono() - begin;
    printf("%llu %.0f\n", (unsigned long long)tick, (double)(strobe_real_ticks() - tick) / seconds);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return print_rate();
    double end = mono() + 120;
    while (mono() < end && access(argv[1], F_OK)) {
        uint64_t before = strobe_real_ticks();
        {
            STROBE_SCOPE("beat");
            uint64_t after = strobe_real_ticks();
            strobe_zone_value(before);
            char text[32];
            snprintf(text, sizeof text, "%llu", (unsigned long long)(after - before));
            strobe_zone_text(text, strlen(text));
        }
        struct timespec pause = {0, 3000000};
        nanosleep(&pause, NULL);
    }
    return 0;
}
