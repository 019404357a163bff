/* waits.c - mutexes, rwlocks, semaphores and conditions of the C library: who waited for which, how long, and for whom.
 *
 * A lock is tried first. Only if that fails the thread waits, and only then something is noted: one event when the wait is over, with how
 * long it took and who had the lock when it began (the C library keeps the owner's thread id in the lock), whether the lock was obtained or
 * the time was up. With STROBE_LOCKS=all every obtain and release is an event. A mutex with priority inheritance is left alone: trying it
 * first would pass over its queue. The mutexes of <threads.h> are those of <pthread.h> in the C library; their functions are not.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include "client/client.h"
#include "preload/note.h"
#include "preload/preload.h"

#define EXPORTED STROBE_PRELOAD_EXPORTED
#define FRAME    __builtin_frame_address(0)
#define RARE(x)  __builtin_expect(!!(x), 0)

/* Name, arguments: the functions behind ours. Those with a clock are not in every C library. */
#define NEXT_LIST(X)                                                                        \
    X(pthread_mutex_lock, (pthread_mutex_t *))                                              \
    X(pthread_mutex_trylock, (pthread_mutex_t *))                                           \
    X(pthread_mutex_timedlock, (pthread_mutex_t *, const struct timespec *))                \
    X(pthread_mutex_clocklock, (pthread_mutex_t *, clockid_t, const struct timespec *))     \
    X(pthread_mutex_unlock, (pthread_mutex_t *))                                            \
    X(pthread_rwlock_rdlock, (pthread_rwlock_t *))                                          \
    X(pthread_rwlock_tryrdlock, (pthread_rwlock_t *))                                       \
    X(pthread_rwlock_timedrdlock, (pthread_rwlock_t *, const struct timespec *))            \
    X(pthread_rwlock_clockrdlock, (pthread_rwlock_t *, clockid_t, const struct timespec *)) \
    X(pthread_rwlock_wrlock, (pthread_rwlock_t *))                                          \
    X(pthread_rwlock_trywrlock, (pthread_rwlock_t *))                                       \
    X(pthread_rwlock_timedwrlock, (pthread_rwlock_t *, const struct timespec *))            \
    X(pthread_rwlock_clockwrlock, (pthread_rwlock_t *, clockid_t, const struct timespec *)) \
    X(pthread_rwlock_unlock, (pthread_rwlock_t *))                                          \
    X(pthread_cond_clockwait,                                                               \
      (pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *))            \
    X(sem_wait, (sem_t *))                                                                  \
    X(sem_trywait, (sem_t *))                                                               \
    X(sem_timedwait, (sem_t *, const struct timespec *))                                    \
    X(sem_clockwait, (sem_t *, clockid_t, const struct timespec *))

static struct {
#define X(name, arguments) int(*name) arguments;
    NEXT_LIST(X)
#undef X
    int (*pthread_cond_wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*pthread_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
} next;
static int is_ready;

/* All of it in one word, for calls that nobody waits in. 0: it is not known yet. */
enum { WAY_KNOWN = 1, WAY_WAITS = 2, WAY_ALL = 4 };
static int way;

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

void strobe_preload_waits_begin(void)
{
    ready();
    __atomic_store_n(&way,
                     WAY_KNOWN | (strobe_preload_wants.locks ? WAY_WAITS : 0) |
                         (strobe_preload_wants.locks_all ? WAY_ALL : 0),
                     __ATOMIC_RELEASE);
}

/* Until when a call waits at most; NULL in its place: for as long as it takes. */
struct limit {
    bool has_clock; /* else the clock is the one that the function or the condition has */
    clockid_t clock;
    const struct timespec *until;
};

/* The C library refuses some of these even where the lock is free: then it is not tried first. */
static inline bool is_odd(const struct limit *limit)
{
    if (!limit)
        return false;
    bool knows_clock =
        !limit->has_clock || limit->clock == CLOCK_REALTIME || limit->clock == CLOCK_MONOTONIC;
    return !knows_clock || (unsigned long)limit->until->tv_nsec >= 1000000000;
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
    bool shared, is_owned; /* is_owned: a thread has it, between an obtain and a release */
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

static __attribute__((noinline)) void note(const struct wait *wait, const void *frame, bool waited,
                                           bool obtained)
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
    if (strobe_preload_wants.locks_all && wait->is_owned && obtained)
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

/* What a call to lock gave. A wait is one whether it got the lock or its time was up. */
static int end_wait(const struct wait *wait, const void *frame, int result, bool waited)
{
    bool obtained = !result || result == EOWNERDEAD;
    waited = waited && (obtained || result == ETIMEDOUT);
    if (waited || (obtained && strobe_preload_wants.locks_all))
        note(wait, frame, waited, obtained);
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
                         .holder = (uint64_t)(unsigned)mutex->__data.__owner & 0x3fffffff,
                         .is_owned = true};
}

static inline int block_mutex(pthread_mutex_t *mutex, const struct limit *limit)
{
    if (!limit)
        return next.pthread_mutex_lock(mutex);
    if (!limit->has_clock)
        return next.pthread_mutex_timedlock(mutex, limit->until);
    return next.pthread_mutex_clocklock
               ? next.pthread_mutex_clocklock(mutex, limit->clock, limit->until)
               : EINVAL;
}

/* A plain mutex was tried, with this result. */
static __attribute__((noinline)) int lock_tried(pthread_mutex_t *mutex, const struct limit *limit,
                                                const void *frame, int result)
{
    if (!is_wanted())
        return result == EBUSY ? block_mutex(mutex, limit) : result;
    struct wait wait = mutex_wait(mutex);
    if (result != EBUSY)
        return end_wait(&wait, frame, result, false);
    return end_wait(&wait, frame, block_mutex(mutex, limit), true);
}

static __attribute__((noinline)) int lock_mutex(pthread_mutex_t *mutex, const struct limit *limit,
                                                const void *frame)
{
    ready();
    if (!strobe_preload_wants.locks || !is_plain(mutex) || is_odd(limit))
        return block_mutex(mutex, limit);
    int result = next.pthread_mutex_trylock(mutex);
    return result || strobe_preload_wants.locks_all ? lock_tried(mutex, limit, frame, result) : 0;
}

static inline int try_mutex(pthread_mutex_t *mutex, const void *frame)
{
    ready();
    int result = next.pthread_mutex_trylock(mutex);
    if (strobe_preload_wants.locks_all && is_wanted() && is_plain(mutex)) {
        struct wait wait = mutex_wait(mutex);
        end_wait(&wait, frame, result, false);
    }
    return result;
}

static __attribute__((noinline)) int unlock_mutex(pthread_mutex_t *mutex)
{
    ready();
    if (strobe_preload_wants.locks_all && is_wanted() && is_plain(mutex))
        note_release(mutex, 0);
    return next.pthread_mutex_unlock(mutex);
}

/* The two that programs call most: what is not needed where nobody waits is behind a call. */
EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (RARE(__atomic_load_n(&way, __ATOMIC_ACQUIRE) != (WAY_KNOWN | WAY_WAITS)) ||
        RARE(!is_plain(mutex)))
        return lock_mutex(mutex, NULL, FRAME);
    int result = next.pthread_mutex_trylock(mutex);
    return RARE(result) ? lock_tried(mutex, NULL, FRAME, result) : 0;
}

EXPORTED int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    const struct limit limit = {.until = until};
    return lock_mutex(mutex, &limit, FRAME);
}

EXPORTED int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                     const struct timespec *until)
{
    const struct limit limit = {true, clock, until};
    return lock_mutex(mutex, &limit, FRAME);
}

EXPORTED int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    return try_mutex(mutex, FRAME);
}

EXPORTED int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (RARE((__atomic_load_n(&way, __ATOMIC_ACQUIRE) & (WAY_KNOWN | WAY_ALL)) != WAY_KNOWN))
        return unlock_mutex(mutex);
    return next.pthread_mutex_unlock(mutex);
}

/* ---- rwlocks ---- */

static struct wait rwlock_wait(const pthread_rwlock_t *lock, bool shared)
{
    return (struct wait){.lock = lock,
                         .what = "rwlock",
                         .begin = strobe_clock_now(),
                         .holder = (uint64_t)(unsigned)lock->__data.__cur_writer,
                         .shared = shared,
                         .is_owned = true};
}

static int block_reader(pthread_rwlock_t *lock, const struct limit *limit)
{
    if (!limit)
        return next.pthread_rwlock_rdlock(lock);
    if (!limit->has_clock)
        return next.pthread_rwlock_timedrdlock(lock, limit->until);
    return next.pthread_rwlock_clockrdlock
               ? next.pthread_rwlock_clockrdlock(lock, limit->clock, limit->until)
               : EINVAL;
}

static int block_writer(pthread_rwlock_t *lock, const struct limit *limit)
{
    if (!limit)
        return next.pthread_rwlock_wrlock(lock);
    if (!limit->has_clock)
        return next.pthread_rwlock_timedwrlock(lock, limit->until);
    return next.pthread_rwlock_clockwrlock
               ? next.pthread_rwlock_clockwrlock(lock, limit->clock, limit->until)
               : EINVAL;
}

static int lock_reader(pthread_rwlock_t *lock, const struct limit *limit, const void *frame)
{
    ready();
    if (!is_wanted() || is_odd(limit))
        return block_reader(lock, limit);
    struct wait wait = rwlock_wait(lock, true);
    int result = next.pthread_rwlock_tryrdlock(lock);
    if (result != EBUSY)
        return end_wait(&wait, frame, result, false);
    return end_wait(&wait, frame, block_reader(lock, limit), true);
}

static int lock_writer(pthread_rwlock_t *lock, const struct limit *limit, const void *frame)
{
    ready();
    if (!is_wanted() || is_odd(limit))
        return block_writer(lock, limit);
    struct wait wait = rwlock_wait(lock, false);
    int result = next.pthread_rwlock_trywrlock(lock);
    if (result != EBUSY)
        return end_wait(&wait, frame, result, false);
    return end_wait(&wait, frame, block_writer(lock, limit), true);
}

EXPORTED int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    return lock_reader(lock, NULL, FRAME);
}

EXPORTED int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    const struct limit limit = {.until = until};
    return lock_reader(lock, &limit, FRAME);
}

EXPORTED int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
                                        const struct timespec *until)
{
    const struct limit limit = {true, clock, until};
    return lock_reader(lock, &limit, FRAME);
}

EXPORTED int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    return lock_writer(lock, NULL, FRAME);
}

EXPORTED int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    const struct limit limit = {.until = until};
    return lock_writer(lock, &limit, FRAME);
}

EXPORTED int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
                                        const struct timespec *until)
{
    const struct limit limit = {true, clock, until};
    return lock_writer(lock, &limit, FRAME);
}

static int end_try(const pthread_rwlock_t *lock, bool shared, const void *frame, int result)
{
    struct wait wait = rwlock_wait(lock, shared);
    return end_wait(&wait, frame, result, false);
}

EXPORTED int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    ready();
    int result = next.pthread_rwlock_tryrdlock(lock);
    return strobe_preload_wants.locks_all && is_wanted() ? end_try(lock, true, FRAME, result)
                                                         : result;
}

EXPORTED int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    ready();
    int result = next.pthread_rwlock_trywrlock(lock);
    return strobe_preload_wants.locks_all && is_wanted() ? end_try(lock, false, FRAME, result)
                                                         : result;
}

EXPORTED int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    ready();
    if (strobe_preload_wants.locks_all && is_wanted())
        note_release(lock, !lock->__data.__cur_writer);
    return next.pthread_rwlock_unlock(lock);
}

/* ---- semaphores ---- */

static int block_semaphore(sem_t *semaphore, const struct limit *limit)
{
    if (!limit)
        return next.sem_wait(semaphore);
    if (!limit->has_clock)
        return next.sem_timedwait(semaphore, limit->until);
    if (next.sem_clockwait)
        return next.sem_clockwait(semaphore, limit->clock, limit->until);
    errno = EINVAL;
    return -1;
}

static int wait_semaphore(sem_t *semaphore, const struct limit *limit, const void *frame)
{
    ready();
    int saved = errno;
    if (!is_wanted() || is_odd(limit))
        return block_semaphore(semaphore, limit);
    if (!next.sem_trywait(semaphore))
        return 0;
    if (errno != EAGAIN)
        return -1;
    errno = saved;
    struct wait wait = {.lock = semaphore, .what = "semaphore", .begin = strobe_clock_now()};
    int result = block_semaphore(semaphore, limit);
    if (!result || errno == ETIMEDOUT || errno == EINTR)
        note(&wait, frame, true, !result);
    return result;
}

EXPORTED int sem_wait(sem_t *semaphore)
{
    return wait_semaphore(semaphore, NULL, FRAME);
}

EXPORTED int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    const struct limit limit = {.until = until};
    return wait_semaphore(semaphore, &limit, FRAME);
}

EXPORTED int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    const struct limit limit = {true, clock, until};
    return wait_semaphore(semaphore, &limit, FRAME);
}

/* ---- conditions ---- */

static int block_cond(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct limit *limit)
{
    if (!limit)
        return next.pthread_cond_wait(cond, mutex);
    if (!limit->has_clock)
        return next.pthread_cond_timedwait(cond, mutex, limit->until);
    return next.pthread_cond_clockwait
               ? next.pthread_cond_clockwait(cond, mutex, limit->clock, limit->until)
               : EINVAL;
}

/* The mutex is released for as long as the thread waits. */
static int wait_cond(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct limit *limit,
                     const void *frame)
{
    ready();
    if (!is_wanted() || is_odd(limit))
        return block_cond(cond, mutex, limit);
    const bool all = strobe_preload_wants.locks_all && is_plain(mutex);
    struct wait wait = {.lock = cond, .what = "condition", .begin = strobe_clock_now()};
    if (all)
        note_release(mutex, 0);
    int result = block_cond(cond, mutex, limit);
    end_wait(&wait, frame, result, true);
    if (all) {
        wait = mutex_wait(mutex);
        note(&wait, frame, false, true);
    }
    return result;
}

EXPORTED int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return wait_cond(cond, mutex, NULL, FRAME);
}

EXPORTED int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                    const struct timespec *until)
{
    const struct limit limit = {.until = until};
    return wait_cond(cond, mutex, &limit, FRAME);
}

EXPORTED int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                                    const struct timespec *until)
{
    const struct limit limit = {true, clock, until};
    return wait_cond(cond, mutex, &limit, FRAME);
}

/* ---- the same by the names of C11 ---- */

static int thrd_of(int result)
{
    switch (result) {
    case 0:
        return thrd_success;
    case EBUSY:
        return thrd_busy;
    case ENOMEM:
        return thrd_nomem;
    case ETIMEDOUT:
        return thrd_timedout;
    default:
        return thrd_error;
    }
}

EXPORTED int mtx_lock(mtx_t *mutex)
{
    return thrd_of(lock_mutex((pthread_mutex_t *)mutex, NULL, FRAME));
}

EXPORTED int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until)
{
    const struct limit limit = {.until = until};
    return thrd_of(lock_mutex((pthread_mutex_t *)mutex, &limit, FRAME));
}

EXPORTED int mtx_trylock(mtx_t *mutex)
{
    return thrd_of(try_mutex((pthread_mutex_t *)mutex, FRAME));
}

EXPORTED int mtx_unlock(mtx_t *mutex)
{
    return thrd_of(unlock_mutex((pthread_mutex_t *)mutex));
}

EXPORTED int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
    return thrd_of(wait_cond((pthread_cond_t *)cond, (pthread_mutex_t *)mutex, NULL, FRAME));
}

EXPORTED int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex,
                           const struct timespec *restrict until)
{
    const struct limit limit = {.until = until};
    return thrd_of(wait_cond((pthread_cond_t *)cond, (pthread_mutex_t *)mutex, &limit, FRAME));
}
