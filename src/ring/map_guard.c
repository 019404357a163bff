/* map_guard.c - see the header.
 *
 * The list is guarded by a lock that the handler takes too: between lock and unlock nothing guarded is touched, so a
 * fault never happens there.  SPDX-License-Identifier: MIT */
#include "ring/map_guard.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"

static struct strobe_map_guard *guards;
static uint32_t locked;
static struct sigaction before_us;

static void lock_guards(void)
{
    while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock_guards(void)
{
    STROBE_ASSERT(__atomic_load_n(&locked, __ATOMIC_RELAXED));
    __atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
}

/* Zeros in place of the mapping that `at` is in. False: it is in none of ours. */
static bool mend(uintptr_t at)
{
    lock_guards();
    struct strobe_map_guard *guard = guards;
    while (guard && at - guard->from >= guard->n_bytes)
        guard = guard->next;
    bool done =
        guard && mmap((void *)guard->from, guard->n_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
    if (done)
        __atomic_store_n(&guard->is_broken, 1, __ATOMIC_RELEASE);
    unlock_guards();
    return done;
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    (void)context;
    if (info->si_code <= 0 || !mend((uintptr_t)info->si_addr)) {
        sigaction(SIGBUS, &before_us, NULL);
        if (info->si_code <= 0)
            raise(number); /* somebody sent it; a fault comes again by itself */
    }
    errno = saved_errno;
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, &before_us);
}

void strobe_map_guard_add(struct strobe_map_guard *guard, void *at, uint64_t n_bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    STROBE_ASSERT(at && n_bytes);
    *guard = (struct strobe_map_guard){.from = (uintptr_t)at, .n_bytes = n_bytes};
    lock_guards();
    for (const struct strobe_map_guard *other = guards; other; other = other->next)
        STROBE_ASSERT(other != guard && (guard->from >= other->from + other->n_bytes ||
                                         other->from >= guard->from + n_bytes));
    guard->next = guards;
    if (guards)
        guards->prev = guard;
    guards = guard;
    unlock_guards();
}

void strobe_map_guard_remove(struct strobe_map_guard *guard)
{
    if (!guard->n_bytes)
        return;
    lock_guards();
    STROBE_ASSERT(guard->prev ? guard->prev->next == guard : guards == guard);
    STROBE_ASSERT(!guard->next || guard->next->prev == guard);
    *(guard->prev ? &guard->prev->next : &guards) = guard->next;
    if (guard->next)
        guard->next->prev = guard->prev;
    guard->n_bytes = 0;
    unlock_guards();
}
