/* helpers.c - the recorder's two helper threads: one beats the heart, so that processes know their recorder lives even while it
 * writes; one syncs the file, so that a power cut loses a second and what two syncs take (docs/file-format.md, "Power
 * cuts").  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "recorder/internal.h"

#define BEAT_NS 40000000

/* Sleep until the helpers are asked to end: then true. They are never cancelled: that would load a
 * library, which takes memory that may not be there. */
static bool helper_sleep(struct strobe_recorder *r, uint64_t ns)
{
    struct timespec until = strobe_clock_timespec(strobe_clock_mono_ns() + ns);
    pthread_mutex_lock(&r->helpers_lock);
    while (!r->helpers_stop && pthread_cond_clockwait(&r->helpers_wake, &r->helpers_lock,
                                                      CLOCK_MONOTONIC, &until) != ETIMEDOUT)
        ;
    bool stop = r->helpers_stop;
    pthread_mutex_unlock(&r->helpers_lock);
    return stop;
}

static void *beat(void *context)
{
    struct strobe_recorder *r = context;
    STROBE_ASSERT(r->collector);
    do
        strobe_collector_beat(r->collector);
    while (!helper_sleep(r, BEAT_NS));
    return NULL;
}

static void *sync_file(void *context)
{
    struct strobe_recorder *r = context;
    STROBE_ASSERT(r->writer);
    while (!helper_sleep(r, STROBE_RECORDER_SYNC_NS * 7 / 10)) {
        enum strobe_err err = r->flight ? STROBE_OK : strobe_file_sync(r->writer);
        if (err)
            __atomic_store_n(&r->sync_error, (int)err, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void ask_to_stop(struct strobe_recorder *r)
{
    pthread_mutex_lock(&r->helpers_lock);
    STROBE_ASSERT(!r->helpers_stop); /* they are ended once */
    r->helpers_stop = true;
    pthread_cond_broadcast(&r->helpers_wake);
    pthread_mutex_unlock(&r->helpers_lock);
}

bool strobe_recorder_start_helpers(struct strobe_recorder *r)
{
    STROBE_ASSERT(r->state == STROBE_RECORDER_STARTING);
    STROBE_ASSERT(!r->threads_run && !r->helpers_stop);
    sigset_t all, old;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* the heart's own, when a pool was cut */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool heart = !pthread_create(&r->heart, NULL, beat, r);
    bool syncer = heart && !pthread_create(&r->syncer, NULL, sync_file, r);
    if (heart && !syncer) {
        ask_to_stop(r);
        pthread_join(r->heart, NULL);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return r->threads_run = heart && syncer;
}

void strobe_recorder_stop_helpers(struct strobe_recorder *r)
{
    if (!r->threads_run)
        return;
    STROBE_ASSERT(r->collector && r->writer); /* they use both to their end */
    ask_to_stop(r);
    pthread_join(r->heart, NULL);
    pthread_join(r->syncer, NULL);
    r->threads_run = false;
}
