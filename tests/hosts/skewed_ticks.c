/* skewed_ticks.c - see skewed_ticks.h.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "strobe/strobe.h"

static struct {
    long long zero, offset, at, step;
    double ppm;
    int is_read;
} skew;

/* Threads may all read it at once: they read the same. */
static void read_skew(void)
{
    const char *text = getenv("STROBE_TEST_TICKS");
    if (!text || sscanf(text, "%lld:%lld:%lf:%lld:%lld", &skew.zero, &skew.offset, &skew.ppm,
                        &skew.at, &skew.step) != 5)
        skew.ppm = 0;
    __atomic_store_n(&skew.is_read, 1, __ATOMIC_RELEASE);
}

uint64_t skewed_of(uint64_t real)
{
    if (!__atomic_load_n(&skew.is_read, __ATOMIC_ACQUIRE))
        read_skew();
    long long since = (long long)real - skew.zero;
    long long more = skew.offset + (long long)((double)since * skew.ppm / 1e6);
    if (skew.at && (long long)real >= skew.at)
        more += skew.step;
    return real + (uint64_t)more;
}

uint64_t skewed_ticks(void)
{
    return skewed_of(strobe_real_ticks());
}
