/* short.c - a program that lives 5 ms: ten zones, then busy until the time is over. With STROBE_OFF
 * it has nothing of Strobe.  SPDX-License-Identifier: MIT */
#include <strobe/strobe.h>

#include <time.h>

static double now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

int main(void)
{
    double start = now_ms();
    for (int i = 0; i < 10; i++) {
        STROBE_SCOPE("short");
        while (now_ms() < start + 0.5 * (i + 1)) {
        }
    }
    return 0;
}
