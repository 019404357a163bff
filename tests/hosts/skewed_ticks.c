/* skewed_ticks.c - see skewed_ticks.h.  SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "strobe/strobe.h"

static struct {
    long long zero, offset, step;
    double ppm;
    const long long *at; /* shared with the test; NULL: never */
    int is_read;
} skew;

/* Threads may all read it at once: they read the same. */
static void read_skew(void)
{
    char path[512] = "";
    const char *text = getenv("STROBE_TEST_TICKS");
    if (!text || sscanf(text, "%lld:%lld:%lf:%lld:%511s", &skew.zero, &skew.offset, &skew.ppm,
                        &skew.step, path) < 4)
        skew.ppm = 0;
    int fd = *path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *at = fd >= 0 ? mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    skew.at = at == MAP_FAILED ? NULL : at;
    __atomic_store_n(&skew.is_read, 1, __ATOMIC_RELEASE);
}

uint64_t skewed_of(uint64_t real)
{
    if (!__atomic_load_n(&skew.is_read, __ATOMIC_ACQUIRE))
        read_skew();
    long long since = (long long)real - skew.zero;
    long long more = skew.offset + (long long)((double)since * skew.ppm / 1e6);
    long long at = skew.at ? __atomic_load_n(skew.at, __ATOMIC_ACQUIRE) : 0;
    if (at && (long long)real >= at)
        more += skew.step;
    return real + (uint64_t)more;
}

uint64_t skewed_ticks(void)
{
    return skewed_of(strobe_real_ticks());
}
