/* fault_clock.c - to be preloaded: the kernel's clocks as a recorder or a program sees them go wrong.
 *
 *     FAULT_CLOCK=<who>:<what>:<ns>    who: recorder, program
 *     FAULT_CLOCK_AT=<path>            from the moment on at which this file is there
 *
 * wall     CLOCK_REALTIME is set, by so much
 * ahead    CLOCK_MONOTONIC is so much later: the counter stood still meanwhile
 * asleep   CLOCK_MONOTONIC stands still for so long, then goes on: the counter did not wait for it
 * back     CLOCK_MONOTONIC, as a program's tick source, starts anew so much earlier
 * apart    every other reading of it is so much later: CPUs that don't agree
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char what[16];
static long long by_ns;
static const char *at;
static int ours, begun;       /* begun: atomic */
static long long slept, turn; /* atomic */

__attribute__((constructor)) static void start(void)
{
    char who[16] = "", comm[32] = "";
    const char *text = getenv("FAULT_CLOCK");
    FILE *file = fopen("/proc/self/comm", "re");
    if (file && fgets(comm, sizeof comm, file))
        comm[strcspn(comm, "\n")] = 0;
    if (file)
        fclose(file);
    at = getenv("FAULT_CLOCK_AT");
    ours = at && text && sscanf(text, "%15[^:]:%15[^:]:%lld", who, what, &by_ns) == 3 &&
           !strcmp(who, strcmp(comm, "strobe") ? "program" : "recorder");
}

static int has_begun(void)
{
    if (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE) && !access(at, F_OK))
        __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
    return __atomic_load_n(&begun, __ATOMIC_ACQUIRE);
}

static long long wrong(clockid_t clock, long long ns)
{
    if (clock == CLOCK_REALTIME)
        return strcmp(what, "wall") ? ns : ns + by_ns;
    if (!strcmp(what, "ahead"))
        return ns + by_ns;
    if (!strcmp(what, "back"))
        return ns - by_ns;
    if (!strcmp(what, "apart"))
        return ns + (__atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % 2 ? by_ns : 0);
    if (strcmp(what, "asleep"))
        return ns;
    long long none = 0; /* when it fell asleep */
    __atomic_compare_exchange_n(&slept, &none, ns, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    long long since = __atomic_load_n(&slept, __ATOMIC_ACQUIRE);
    return ns - since < by_ns ? since : ns - by_ns;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *out)
{
    if (syscall(SYS_clock_gettime, clock, out))
        return -1;
    if (!ours || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME) || !has_begun())
        return 0;
    long long ns = wrong(clock, out->tv_sec * 1000000000ll + out->tv_nsec);
    *out = (struct timespec){ns / 1000000000, ns % 1000000000};
    return 0;
}
