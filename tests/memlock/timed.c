/* timed.c - a program that knows nothing of Strobe and waits for locks in every way that the C library has: until a time, by a clock, by the
 * names of C11; each of them is kept by another thread, or nobody signals it, until the time is up. Then a mutex whose owners die, and one
 * that is obtained twice. Prints whether each call gave what it gives without us.
 *
 * usage: timed
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t until_mutex = PTHREAD_MUTEX_INITIALIZER, clock_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t around = PTHREAD_MUTEX_INITIALIZER, robust, twice;
pthread_rwlock_t until_read = PTHREAD_RWLOCK_INITIALIZER, clock_read = PTHREAD_RWLOCK_INITIALIZER;
pthread_rwlock_t until_write = PTHREAD_RWLOCK_INITIALIZER, clock_write = PTHREAD_RWLOCK_INITIALIZER;
pthread_rwlock_t tried = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t until_cond = PTHREAD_COND_INITIALIZER, clock_cond = PTHREAD_COND_INITIALIZER;
sem_t until_sem, clock_sem;
mtx_t c11_mutex, c11_around;
cnd_t c11_cond;

static int n_wrong;

static void expect(int is_so, const char *what)
{
    if (!is_so)
        printf("changed: %s\n", what);
    n_wrong += !is_so;
}

#define EXPECT(what) expect(what, #what)

static const struct timespec *soon(clockid_t clock)
{
    static struct timespec at;
    clock_gettime(clock, &at);
    at.tv_nsec += 5000000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return &at;
}

/* ---- kept by another thread ---- */

struct kept {
    pthread_mutex_t *mutex; /* one of these */
    pthread_rwlock_t *rwlock;
    mtx_t *c11;
    int obtained[2], enough[2]; /* pipes */
};

static void *keep(void *argument)
{
    struct kept *kept = argument;
    char byte = 0;
    if (kept->mutex)
        pthread_mutex_lock(kept->mutex);
    else if (kept->rwlock)
        pthread_rwlock_wrlock(kept->rwlock);
    else
        mtx_lock(kept->c11);
    EXPECT(write(kept->obtained[1], &byte, 1) == 1);
    EXPECT(read(kept->enough[0], &byte, 1) == 1);
    if (kept->mutex)
        pthread_mutex_unlock(kept->mutex);
    else if (kept->rwlock)
        pthread_rwlock_unlock(kept->rwlock);
    else
        mtx_unlock(kept->c11);
    return NULL;
}

/* `call` is made while another thread has the lock. */
#define WHILE_KEPT(member, lock, call)                                      \
    do {                                                                    \
        struct kept kept = {.member = (lock)};                              \
        pthread_t keeper;                                                   \
        char byte = 0;                                                      \
        EXPECT(!pipe(kept.obtained) && !pipe(kept.enough));                 \
        pthread_create(&keeper, NULL, keep, &kept);                         \
        EXPECT(read(kept.obtained[0], &byte, 1) == 1);                      \
        EXPECT(call);                                                       \
        EXPECT(write(kept.enough[1], &byte, 1) == 1);                       \
        pthread_join(keeper, NULL);                                         \
        for (int end = 0; end < 2; end++)                                   \
            EXPECT(!close(kept.obtained[end]) && !close(kept.enough[end])); \
    } while (0)

static void wait_for_locks(void)
{
    const clockid_t real = CLOCK_REALTIME, steady = CLOCK_MONOTONIC;
    WHILE_KEPT(mutex, &until_mutex, pthread_mutex_timedlock(&until_mutex, soon(real)) == ETIMEDOUT);
    WHILE_KEPT(mutex, &clock_mutex,
               pthread_mutex_clocklock(&clock_mutex, steady, soon(steady)) == ETIMEDOUT);
    WHILE_KEPT(rwlock, &until_read,
               pthread_rwlock_timedrdlock(&until_read, soon(real)) == ETIMEDOUT);
    WHILE_KEPT(rwlock, &clock_read,
               pthread_rwlock_clockrdlock(&clock_read, steady, soon(steady)) == ETIMEDOUT);
    WHILE_KEPT(rwlock, &until_write,
               pthread_rwlock_timedwrlock(&until_write, soon(real)) == ETIMEDOUT);
    WHILE_KEPT(rwlock, &clock_write,
               pthread_rwlock_clockwrlock(&clock_write, steady, soon(steady)) == ETIMEDOUT);
    WHILE_KEPT(c11, &c11_mutex, mtx_timedlock(&c11_mutex, soon(real)) == thrd_timedout);
    sem_init(&until_sem, 0, 0);
    sem_init(&clock_sem, 0, 0);
    EXPECT(sem_timedwait(&until_sem, soon(real)) == -1 && errno == ETIMEDOUT);
    EXPECT(sem_clockwait(&clock_sem, steady, soon(steady)) == -1 && errno == ETIMEDOUT);
}

static void wait_for_conditions(void)
{
    const clockid_t steady = CLOCK_MONOTONIC;
    pthread_mutex_lock(&around);
    EXPECT(pthread_cond_timedwait(&until_cond, &around, soon(CLOCK_REALTIME)) == ETIMEDOUT);
    EXPECT(pthread_cond_clockwait(&clock_cond, &around, steady, soon(steady)) == ETIMEDOUT);
    pthread_mutex_unlock(&around);
    mtx_lock(&c11_around);
    EXPECT(cnd_timedwait(&c11_cond, &c11_around, soon(CLOCK_REALTIME)) == thrd_timedout);
    mtx_unlock(&c11_around);
}

/* ---- the rest ---- */

static void *die(void *unused)
{
    pthread_mutex_lock(&robust);
    return unused;
}

static void lose_owners(void)
{
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &how);
    for (int i = 0; i < 2; i++) {
        pthread_t owner;
        pthread_create(&owner, NULL, die, NULL);
        pthread_join(owner, NULL);
        EXPECT(pthread_mutex_lock(&robust) == EOWNERDEAD);
        EXPECT(!pthread_mutex_consistent(&robust) && !pthread_mutex_unlock(&robust));
    }
}

static void lock_twice(void)
{
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&twice, &how);
    for (int i = 0; i < 3; i++)
        EXPECT(!(i % 2 ? pthread_mutex_trylock(&twice) : pthread_mutex_lock(&twice)));
    for (int i = 0; i < 3; i++)
        EXPECT(!pthread_mutex_unlock(&twice));
}

/* The C library refuses these although the lock is free. */
static void be_refused(void)
{
    const struct timespec bad = {0, 2000000000}, *at = soon(CLOCK_MONOTONIC);
    EXPECT(pthread_mutex_clocklock(&until_mutex, CLOCK_PROCESS_CPUTIME_ID, at) == EINVAL);
    EXPECT(pthread_rwlock_timedrdlock(&until_read, &bad) == EINVAL);
    EXPECT(pthread_rwlock_clockwrlock(&until_read, CLOCK_PROCESS_CPUTIME_ID, at) == EINVAL);
}

int main(void)
{
    mtx_init(&c11_mutex, mtx_timed);
    mtx_init(&c11_around, mtx_timed);
    cnd_init(&c11_cond);
    wait_for_locks();
    wait_for_conditions();
    EXPECT(!pthread_rwlock_tryrdlock(&tried) && pthread_rwlock_trywrlock(&tried) == EBUSY);
    EXPECT(!pthread_rwlock_unlock(&tried));
    lose_owners();
    lock_twice();
    be_refused();
    puts(n_wrong ? "changed" : "as ever");
    return n_wrong != 0;
}
