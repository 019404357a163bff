/* feed_thread.c - a ring of three blocks between the thread that decodes and the one that uses.
 *
 *   slot    FREE ──► FULL   by the decoder, which then signals `filled`
 *           FULL ──► FREE   by the user's next call, which then signals `freed`
 *
 * SPDX-License-Identifier: MIT */
#include "query/feed_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { N_SLOTS = 3 };

struct strobe_feed_thread {
    struct strobe_feed *feed; /* borrowed */
    struct strobe_fed slot[N_SLOTS];
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t filled, freed;
    uint64_t n_filled, n_used; /* slots so far */
    enum strobe_err end;       /* what comes after the last full slot; STROBE_OK while going on */
    int stop;
    int holds; /* the user has a slot */
};

static void *run(void *arg)
{
    struct strobe_feed_thread *thread = arg;
    enum strobe_err err = STROBE_OK;
    pthread_mutex_lock(&thread->lock);
    while (!err && !thread->stop) {
        if (thread->n_filled - thread->n_used == N_SLOTS) {
            pthread_cond_wait(&thread->freed, &thread->lock);
            continue;
        }
        pthread_mutex_unlock(&thread->lock);
        err = strobe_feed_fill(thread->feed, &thread->slot[thread->n_filled % N_SLOTS]);
        pthread_mutex_lock(&thread->lock);
        if (err)
            thread->end = err;
        else
            thread->n_filled++;
        pthread_cond_signal(&thread->filled);
    }
    pthread_mutex_unlock(&thread->lock);
    return NULL;
}

static void free_thread(struct strobe_feed_thread *thread)
{
    pthread_mutex_destroy(&thread->lock);
    pthread_cond_destroy(&thread->filled);
    pthread_cond_destroy(&thread->freed);
    for (int i = 0; i < N_SLOTS; i++)
        strobe_fed_free(&thread->slot[i]);
    free(thread);
}

struct strobe_feed_thread *strobe_feed_thread_start(struct strobe_feed *feed)
{
    struct strobe_feed_thread *thread = calloc(1, sizeof *thread);
    sigset_t all, old;
    if (!thread)
        return NULL;
    thread->feed = feed;
    pthread_mutex_init(&thread->lock, NULL);
    pthread_cond_init(&thread->filled, NULL);
    pthread_cond_init(&thread->freed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&thread->thread, NULL, run, thread);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!failed)
        return thread;
    free_thread(thread);
    return NULL;
}

enum strobe_err strobe_feed_thread_next(struct strobe_feed_thread *thread,
                                        const struct strobe_fed **out)
{
    enum strobe_err err = STROBE_OK;
    pthread_mutex_lock(&thread->lock);
    if (thread->holds) {
        thread->n_used++;
        thread->holds = 0;
        pthread_cond_signal(&thread->freed);
    }
    while (thread->n_filled == thread->n_used && !thread->end)
        pthread_cond_wait(&thread->filled, &thread->lock);
    if (thread->n_filled == thread->n_used) {
        err = thread->end;
    } else {
        thread->holds = 1;
        *out = &thread->slot[thread->n_used % N_SLOTS];
    }
    pthread_mutex_unlock(&thread->lock);
    return err;
}

void strobe_feed_thread_stop(struct strobe_feed_thread *thread)
{
    if (!thread)
        return;
    pthread_mutex_lock(&thread->lock);
    thread->stop = 1;
    pthread_cond_signal(&thread->freed);
    pthread_mutex_unlock(&thread->lock);
    pthread_join(thread->thread, NULL);
    free_thread(thread);
}
