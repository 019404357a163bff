/* worker.c - the one thread that runs all devices of this process: a queue of things to do, in order. One thread, so that what
 * devices do depends on the order of calls alone.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "device_host/internal.h"

#define MOST_PENDING 4096

struct task {
    void (*fn)(void *context);
    void *context; /* borrowed until fn has run */
    struct task *next;
    int *done; /* set when it has run; NULL: nobody waits, and the task is freed */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct task *first, **last = &first;
static uint32_t n_pending, n_users;
static int stops;
static pthread_t thread;
static uint64_t virtual_ns = 1000000000;

static void *run(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!first && !stops)
            pthread_cond_wait(&changed, &lock);
        struct task *task = first;
        if (!task)
            break;
        first = task->next;
        if (!first)
            last = &first;
        pthread_mutex_unlock(&lock);
        task->fn(task->context);
        pthread_mutex_lock(&lock);
        n_pending--;
        if (task->done)
            *task->done = 1;
        else
            free(task);
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

enum strobe_device_result strobe_worker_open(void)
{
    pthread_mutex_lock(&lock);
    int failed = 0;
    if (!n_users) {
        stops = 0;
        virtual_ns = 1000000000;
        failed = pthread_create(&thread, NULL, run, NULL);
    }
    n_users += !failed;
    pthread_mutex_unlock(&lock);
    return failed ? strobe_host_fail(STROBE_DEVICE_NOMEM, "can't start a thread")
                  : STROBE_DEVICE_OK;
}

void strobe_worker_close(void)
{
    pthread_mutex_lock(&lock);
    int ends = --n_users == 0;
    if (ends) {
        stops = 1;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    if (ends)
        pthread_join(thread, NULL);
}

/* Under the lock. */
static void append(struct task *task)
{
    task->next = NULL;
    *last = task;
    last = &task->next;
    n_pending++;
    pthread_cond_broadcast(&changed);
}

void strobe_worker_call(void (*fn)(void *context), void *context)
{
    int done = 0;
    struct task task = {.fn = fn, .context = context, .done = &done};
    pthread_mutex_lock(&lock);
    append(&task);
    while (!done)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

enum strobe_device_result strobe_worker_push(void (*fn)(void *context), void *context)
{
    struct task *task = calloc(1, sizeof *task);
    if (!task)
        return strobe_host_fail(STROBE_DEVICE_NOMEM, "no memory for a launch");
    task->fn = fn;
    task->context = context;
    pthread_mutex_lock(&lock);
    while (n_pending >= MOST_PENDING)
        pthread_cond_wait(&changed, &lock);
    append(task);
    pthread_mutex_unlock(&lock);
    return STROBE_DEVICE_OK;
}

uint64_t strobe_worker_host_ns(const struct strobe_device *device, uint64_t cost_ns)
{
    if (device->setup.options.clock != STROBE_DEVICE_CLOCK_VIRTUAL)
        return strobe_clock_mono_ns();
    pthread_mutex_lock(&lock);
    uint64_t now = virtual_ns += cost_ns;
    pthread_mutex_unlock(&lock);
    return now;
}

void strobe_worker_reach_ns(const struct strobe_device *device, uint64_t ns)
{
    if (device->setup.options.clock == STROBE_DEVICE_CLOCK_VIRTUAL) {
        pthread_mutex_lock(&lock);
        virtual_ns = ns > virtual_ns ? ns : virtual_ns;
        pthread_mutex_unlock(&lock);
        return;
    }
    struct timespec until = strobe_clock_timespec(ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}
