/* waits.c - mutexes, rwlocks, semaphores and conditions of the C library: who waited for which, how long, and for whom.
 *
 * A lock is tried first. Only if that fails the thread waits, and only then something is noted: one event when it has the lock, with how
 * long it took and who had the lock when it began (the C library keeps the owner's thread id in the lock). With STROBE_LOCKS=all every obtain
 * and release is an event. A mutex with priority inheritance is left alone: trying it first would pass over its queue.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/client.h"
#include "preload/preload.h"

#define EXPORTED STROBE_PRELOAD_EXPORTED
#define FRAME    __builtin_frame_address(0)
#define RARE(x)  __builtin_expect(!!(x), 0)

/* Name, result, arguments: the functions behind ours. */
#define NEXT_LIST(X)                                                         \
    X(pthread_mutex_lock, (pthread_mutex_t *))                               \
    X(pthread_mutex_trylock, (pthread_mutex_t *))                            \
    X(pthread_mutex_timedlock, (pthread_mutex_t *, const struct timespec *)) \
    X(pthread_mutex_unlock, (pthread_mutex_t *))                             \
    X(pthread_rwlock_rdlock, (pthread_rwlock_t *))                           \
    X(pthread_rwlock_tryrdlock, (pthread_rwlock_t *))                        \
    X(pthread_rwlock_wrlock, (pthread_rwlock_t *))                           \
    X(pthread_rwlock_trywrlock, (pthread_rwlock_t *))                        \
    X(pthread_rwlock_unlock, (pthread_rwlock_t *))                           \
    X(sem_wait, (sem_t *))                                                   \
    X(sem_trywait, (sem_t *))

static struct {
#define X(name, arguments) int(*name) arguments;
    NEXT_LIST(X)
#undef X
    int (*pthread_cond_wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*pthread_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
} next;
static int is_ready;

static void find_next(void)
{
#define X(name, arguments) next.name = strobe_preload_next(#name);
    NEXT_LIST(X)
#undef X
    next.pthread_cond_wait = strobe_preload_next_version("pthread_cond_wait", "GLIBC_2.3.2");
    next.pthread_cond_timedwait =
        strobe_preload_next_version("pthread_cond_timedwait", "GLIBC_2.3.2");
    __atomic_store_n(&is_ready, 1, __ATOMIC_RELEASE);
}

static inline void ready(void)
{
    if (RARE(!__atomic_load_n(&is_ready, __ATOMIC_ACQUIRE)))
        find_next();
}

/* ---- names ---- */

enum { NAMED = 1 << 14 };
static uint64_t named[NAMED]; /* addresses of locks that have a name, 0: free */

/* A lock's name: what it is and where; of a variable that the loader knows, its name. */
static void make_name(char *out, size_t room, const char *what, const void *lock)
{
    Dl_info info;
    if (!dladdr(lock, &info) || !info.dli_fname) {
        snprintf(out, room, "%s %p", what, lock);
        return;
    }
    const char *slash = strrchr(info.dli_fname, '/'), *file = slash ? slash + 1 : info.dli_fname;
    if (info.dli_sname)
        snprintf(out, room, "%s %.40s", what, info.dli_sname);
    else
        snprintf(out, room, "%s %.32s+0x%zx", what, file,
                 (size_t)((const char *)lock - (const char *)info.dli_fbase));
}

static void name_lock(const void *lock, const char *what)
{
    uint64_t hash = ((uintptr_t)lock >> 3) * 0x9e3779b97f4a7c15u >> 50, empty;
    uint64_t numbers[2] = {(uintptr_t)lock, 0};
    char name[64];
    for (int i = 0; i < 16; i++) {
        uint64_t *place = &named[(hash + (uint64_t)i) % NAMED];
        if (__atomic_load_n(place, __ATOMIC_RELAXED) == (uintptr_t)lock)
            return;
        empty = 0;
        if (__atomic_compare_exchange_n(place, &empty, (uintptr_t)lock, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            break;
    }
    make_name(name, sizeof name, what, lock);
    strobe_client_tell(STROBE_META_LOCK_NAME, numbers, 2, name, strlen(name));
}

void strobe_preload_waits_forked(void)
{
    memset(named, 0, sizeof named);
}

/* ---- events ---- */

/* A lock that is being waited for. */
struct wait {
    const void *lock;
    const char *what;
    uint64_t begin, holder;
    int shared;
};

static bool is_wanted(void)
{
    return strobe_preload_wants.locks && !strobe_preload_busy && strobe_preload_records();
}

static void emit_lock(enum strobe_kind kind, const void *lock, int shared)
{
    uint64_t words[] = {STROBE_RECORD_WORD(kind, 3), (uintptr_t)lock, (uint64_t)shared};
    strobe_client_emit(words, 3);
}

/* It is obtained: `waited` 0 at once. */
static __attribute__((noinline)) void note(const struct wait *wait, const void *frame, int waited)
{
    int saved = errno;
    strobe_preload_busy++;
    name_lock(wait->lock, wait->what);
    if (waited) {
        uint64_t words[] = {STROBE_RECORD_WORD(STROBE_KIND_LOCK_WAITED, 6),
                            (uintptr_t)wait->lock,
                            (uint64_t)wait->shared,
                            strobe_clock_now() - wait->begin,
                            wait->holder,
                            strobe_preload_stack(frame)};
        strobe_client_emit(words, 6);
    }
    if (strobe_preload_wants.locks_all && wait->what[0] != 'c' && wait->what[0] != 's')
        emit_lock(STROBE_KIND_LOCK_OBTAIN, wait->lock, wait->shared);
    strobe_preload_busy--;
    errno = saved;
}

static void note_release(const void *lock, int shared)
{
    int saved = errno;
    strobe_preload_busy++;
    emit_lock(STROBE_KIND_LOCK_RELEASE, lock, shared);
    strobe_preload_busy--;
    errno = saved;
}

/* What a call to lock gave: noted where it succeeded. */
static int end_wait(struct wait *wait, const void *frame, int result, int waited)
{
    if ((!result || result == EOWNERDEAD) && (waited || strobe_preload_wants.locks_all))
        note(wait, frame, waited);
    return result;
}

/* ---- mutexes ---- */

enum { PRIO_INHERIT = 32 }; /* in the kind of a mutex */

static inline bool is_plain(const pthread_mutex_t *mutex)
{
    return !(__atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED) & PRIO_INHERIT);
}

static struct wait mutex_wait(const pthread_mutex_t *mutex)
{
    return (struct wait){.lock = mutex,
                         .what = "mutex",
                         .begin = strobe_clock_now(),
                         .holder = (uint64_t)(unsigned)mutex->__data.__owner & 0x3fffffff};
}

EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    ready();
    if (!strobe_preload_wants.locks || !is_plain(mutex))
        return next.pthread_mutex_lock(mutex);
    int result = next.pthread_mutex_trylock(mutex);
    if (!RARE(result) && !strobe_preload_wants.locks_all)
        return 0;
    if (!is_wanted())
        return result == EBUSY ? next.pthread_mutex_lock(mutex) : result;
    struct wait wait = mutex_wait(mutex);
    if (result != EBUSY)
        return end_wait(&wait, FRAME, result, 0);
    return end_wait(&wait, FRAME, next.pthread_mutex_lock(mutex), 1);
}

EXPORTED int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    ready();
    if (!is_wanted() || !is_plain(mutex))
        return next.pthread_mutex_timedlock(mutex, until);
    struct wait wait = mutex_wait(mutex);
    int result = next.pthread_mutex_trylock(mutex);
    if (result != EBUSY)
        return end_wait(&wait, FRAME, result, 0);
    return end_wait(&wait, FRAME, next.pthread_mutex_timedlock(mutex, until), 1);
}

EXPORTED int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    ready();
    int result = next.pthread_mutex_trylock(mutex);
    if (strobe_preload_wants.locks_all && is_wanted()) {
        struct wait wait = mutex_wait(mutex);
        end_wait(&wait, FRAME, result, 0);
    }
    return result;
}

EXPORTED int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    ready();
    if (strobe_preload_wants.locks_all && is_wanted() && is_plain(mutex))
        note_release(mutex, 0);
    return next.pthread_mutex_unlock(mutex);
}

/* ---- rwlocks ---- */

static struct wait rwlock_wait(const pthread_rwlock_t *lock, int shared)
{
    return (struct wait){.lock = lock,
                         .what = "rwlock",
                         .begin = strobe_clock_now(),
                         .holder = (uint64_t)(unsigned)lock->__data.__cur_writer,
                         .shared = shared};
}

EXPORTED int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    ready();
    if (!is_wanted())
        return next.pthread_rwlock_rdlock(lock);
    struct wait wait = rwlock_wait(lock, 1);
    int result = next.pthread_rwlock_tryrdlock(lock);
    if (result != EBUSY)
        return end_wait(&wait, FRAME, result, 0);
    return end_wait(&wait, FRAME, next.pthread_rwlock_rdlock(lock), 1);
}

EXPORTED int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    ready();
    if (!is_wanted())
        return next.pthread_rwlock_wrlock(lock);
    struct wait wait = rwlock_wait(lock, 0);
    int result = next.pthread_rwlock_trywrlock(lock);
    if (result != EBUSY)
        return end_wait(&wait, FRAME, result, 0);
    return end_wait(&wait, FRAME, next.pthread_rwlock_wrlock(lock), 1);
}

EXPORTED int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    ready();
    if (strobe_preload_wants.locks_all && is_wanted())
        note_release(lock, !lock->__data.__cur_writer);
    return next.pthread_rwlock_unlock(lock);
}

/* ---- semaphores ---- */

EXPORTED int sem_wait(sem_t *semaphore)
{
    ready();
    int saved = errno;
    if (!is_wanted())
        return next.sem_wait(semaphore);
    if (!next.sem_trywait(semaphore))
        return 0;
    if (errno != EAGAIN)
        return -1;
    errno = saved;
    struct wait wait = {.lock = semaphore, .what = "semaphore", .begin = strobe_clock_now()};
    int result = next.sem_wait(semaphore);
    return result ? result : end_wait(&wait, FRAME, 0, 1);
}

/* ---- conditions ---- */

static int end_cond(const pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t begin,
                    const void *frame, int result)
{
    struct wait wait = {.lock = cond, .what = "condition", .begin = begin};
    if (!result || result == ETIMEDOUT)
        note(&wait, frame, 1);
    if (strobe_preload_wants.locks_all) {
        wait = mutex_wait(mutex);
        note(&wait, frame, 0);
    }
    return result;
}

EXPORTED int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    ready();
    if (!is_wanted())
        return next.pthread_cond_wait(cond, mutex);
    uint64_t begin = strobe_clock_now();
    if (strobe_preload_wants.locks_all)
        note_release(mutex, 0);
    return end_cond(cond, mutex, begin, FRAME, next.pthread_cond_wait(cond, mutex));
}

EXPORTED int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                    const struct timespec *until)
{
    ready();
    if (!is_wanted())
        return next.pthread_cond_timedwait(cond, mutex, until);
    uint64_t begin = strobe_clock_now();
    if (strobe_preload_wants.locks_all)
        note_release(mutex, 0);
    return end_cond(cond, mutex, begin, FRAME, next.pthread_cond_timedwait(cond, mutex, until));
}
