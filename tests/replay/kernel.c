/* kernel.c - what the kernel does for the actors: futexes, clocks, signal masks, ids, /proc of their process. The linker
 * puts these functions in the place of the C library's (--wrap), for all that is linked; outside of a walk they pass on.
 * SPDX-License-Identifier: MIT */
#include "replay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void at_point(void);

/* The others go on meanwhile. */
static void nap(void)
{
    if (replay.mode != GUIDED || replay.is_finishing || !replay.scenario->sleeps_through)
        replay_yield();
}

void kernel_reset(void)
{
    replay.is_at_point = false;
}

/* The earliest sleeper wakes by the passing of time. */
bool kernel_advance(void)
{
    struct actor *first = NULL;
    for (uint32_t i = 0; i < replay.n_actors; i++) {
        struct actor *actor = &replay.actors[i];
        if (actor->state == BLOCKED && actor->wake_ns != ~0ull &&
            (!first || actor->wake_ns < first->wake_ns))
            first = actor;
    }
    if (!first)
        return false;
    if (first->wake_ns > replay.now_ns)
        replay.now_ns = first->wake_ns;
    first->state = READY;
    first->is_timed_out = true;
    return true;
}

static long wait_on(uint32_t *word, uint32_t value, const struct timespec *timeout)
{
    struct actor *me = replay.current;
    replay_pause(LOAD, word, value); /* a step; compare and sleep are one */
    replay_flush(me);
    if (*(volatile uint32_t *)word != value) {
        errno = EAGAIN;
        return -1;
    }
    at_point();
    replay_block(word, timeout ? replay.now_ns + (uint64_t)timeout->tv_sec * 1000000000ull +
                                     (uint64_t)timeout->tv_nsec
                               : ~0ull);
    at_point();
    if (!me->is_timed_out)
        return 0;
    errno = ETIMEDOUT;
    return -1;
}

static long wake(const uint32_t *word, uint32_t n_max)
{
    uint32_t n = 0;
    replay_pause(LOAD, word, 0);
    for (uint32_t i = 0; i < replay.n_actors && n < n_max; i++) {
        struct actor *actor = &replay.actors[i];
        if (actor->state == BLOCKED && actor->futex == word) {
            actor->state = READY;
            n++;
        }
    }
    return n;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    va_list args;
    long a[6];
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (!replay.current || (number != SYS_futex && number != SYS_tgkill))
        return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (number == SYS_futex) {
        if (replay.is_quiet)
            abort(); /* the test's own doing never waits */
        return (a[1] & 127) == FUTEX_WAIT
                   ? wait_on((uint32_t *)a[0], (uint32_t)a[2], (const struct timespec *)a[3])
                   : wake((uint32_t *)a[0], (uint32_t)a[2]);
    }
    for (uint32_t i = 0; i < replay.n_actors; i++)
        if (replay.actors[i].tid == (uint32_t)a[1] && replay.actors[i].state < DONE)
            return 0;
    errno = ESRCH;
    return -1;
}

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    if (!replay.scenario)
        return __real_clock_gettime(clock, out);
    *out =
        (struct timespec){(time_t)(replay.now_ns / 1000000000), (long)(replay.now_ns % 1000000000)};
    return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    replay.now_ns +=
        20 * (uint64_t)time->tv_nsec; /* the others take so long for what they do meanwhile */
    nap();
    return 0;
}

int __real_sigprocmask(int how, const sigset_t *set, sigset_t *old);
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *old);
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    struct actor *me = replay.current;
    if (!me)
        return __real_sigprocmask(how, set, old);
    if (old) {
        sigemptyset(old);
        if (me->has_blocked_signals)
            sigaddset(old, SIGUSR1);
    }
    if (set)
        me->has_blocked_signals = sigismember(set, SIGUSR1) == 1;
    return 0;
}

int __real_pthread_setcancelstate(int state, int *old);
int __wrap_pthread_setcancelstate(int state, int *old);
int __wrap_pthread_setcancelstate(int state, int *old)
{
    struct actor *me = replay.current;
    if (!me)
        return __real_pthread_setcancelstate(state, old);
    if (old)
        *old = me->is_uncancelable ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
    me->is_uncancelable = state == PTHREAD_CANCEL_DISABLE;
    return 0;
}

pid_t __real_gettid(void);
pid_t __wrap_gettid(void);
pid_t __wrap_gettid(void)
{
    return replay.current ? (pid_t)replay.current->tid : __real_gettid();
}

/* The stack's end, as src/ring/mend.c takes it. */
pthread_t __real_pthread_self(void);
pthread_t __wrap_pthread_self(void);
pthread_t __wrap_pthread_self(void)
{
    struct actor *me = replay.current;
    return me ? (pthread_t)(me->stack + me->context.uc_stack.ss_size) : __real_pthread_self();
}

int __wrap_pthread_getname_np(pthread_t thread, char *name, size_t n);
int __wrap_pthread_getname_np(pthread_t thread, char *name, size_t n)
{
    (void)thread;
    snprintf(name, n, "%s", replay.current ? replay.current->name : "");
    return 0;
}

/* ---- /proc/PID/task ---- */

static bool task_path(const char *path, const char **rest)
{
    char prefix[64];
    size_t n = (size_t)snprintf(prefix, sizeof prefix, "/proc/%d/task", (int)getpid());
    *rest = path + n;
    return replay.current && !strncmp(path, prefix, n);
}

static bool is_listed(const struct actor *actor)
{
    return !strncmp(actor->name, "Thread", 6) && actor->state < DONE;
}

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
    const char *rest;
    if (!task_path(path, &rest))
        return __real_opendir(path);
    char folder[128], name[192];
    snprintf(folder, sizeof folder, "%s.task", world.dir);
    mkdir(folder, 0700);
    for (uint32_t i = 0; i < replay.n_actors; i++) {
        snprintf(name, sizeof name, "%s/%u", folder, replay.actors[i].tid);
        if (is_listed(&replay.actors[i]))
            mkdir(name, 0700);
        else
            rmdir(name);
    }
    return __real_opendir(folder);
}

static int show(const char *text)
{
    int fd = memfd_create("task", MFD_CLOEXEC);
    if (write(fd, text, strlen(text)) < 0 || lseek(fd, 0, SEEK_SET) < 0)
        abort();
    return fd;
}

/* A call that is a cancellation point, in the deferred sense. */
static void at_point(void)
{
    if (!replay.current || replay.is_quiet || !replay.scenario->inject)
        return;
    replay.is_at_point = true;
    replay.scenario->inject(replay.current);
    replay.is_at_point = false;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list args;
    const char *rest;
    va_start(args, flags);
    int mode = va_arg(args, int);
    va_end(args);
    at_point();
    if (!task_path(path, &rest))
        return __real_open(path, flags, mode);
    unsigned tid = 0;
    char what[32] = "", text[128];
    sscanf(rest, "/%u/%31s", &tid, what);
    nap();
    for (uint32_t i = 0; i < replay.n_actors; i++) {
        const struct actor *actor = &replay.actors[i];
        if (actor->tid != tid || !is_listed(actor))
            continue;
        if (!strcmp(what, "stat"))
            snprintf(text, sizeof text, "%u (%s) %c 1 1 1", tid, actor->name,
                     actor->state == BLOCKED ? 'S' : 'R');
        else
            snprintf(text, sizeof text, "%llu 0 0\n", (unsigned long long)actor->shown_run_ns);
        replay.current->did = "heard";
        return show(text);
    }
    errno = ENOENT;
    return -1;
}
