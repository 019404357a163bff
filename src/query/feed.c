/* feed.c - a ring of three blocks between the thread that decodes and the one that uses.
 *
 *   slot    FREE ──► FULL   by the decoder, which then signals `filled`
 *           FULL ──► FREE   by the user's next call, which then signals `freed`
 *
 * With STROBE_ERR_NOMEM for the thread the work is done in the caller.  SPDX-License-Identifier:
 * MIT */
#include "query/feed.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { N_SLOTS = 3 };

struct strobe_feed {
    struct strobe_file *file; /* borrowed */
    struct strobe_feed_options options;
    struct strobe_block_iter *iter; /* owned */
    struct strobe_fed slot[N_SLOTS];
    pthread_t thread;
    int has_thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t filled, freed;
    uint64_t n_filled, n_used; /* slots so far */
    enum strobe_err end;       /* what comes after the last full slot; STROBE_OK while going on */
    int stop;
    int holds; /* the user has a slot */
};

static enum strobe_err decode(struct strobe_feed *feed, const struct strobe_block_ref *ref,
                              struct strobe_fed *fed)
{
    enum strobe_err err = feed->options.heads_only
                              ? strobe_file_load_head(feed->file, ref, &fed->block)
                              : strobe_file_load(feed->file, ref, &fed->block);
    if (!err)
        err = strobe_decode_parts(&fed->block, &fed->events);
    if (!err && !feed->options.heads_only && feed->options.streams)
        err = strobe_decode_streams(&fed->block, feed->options.streams, &fed->events);
    return err;
}

/* Fill a slot with the next block that can be used. */
static enum strobe_err fill(struct strobe_feed *feed, struct strobe_fed *fed)
{
    struct strobe_block_ref ref;
    for (;;) {
        enum strobe_err err = strobe_file_next(feed->iter, &ref);
        if (err)
            return err;
        err = decode(feed, &ref, fed);
        if (err != STROBE_ERR_CORRUPT)
            return err;
        strobe_file_note_hole(feed->file, &ref);
    }
}

static void *run(void *arg)
{
    struct strobe_feed *feed = arg;
    enum strobe_err err = STROBE_OK;
    pthread_mutex_lock(&feed->lock);
    while (!err && !feed->stop) {
        if (feed->n_filled - feed->n_used == N_SLOTS) {
            pthread_cond_wait(&feed->freed, &feed->lock);
            continue;
        }
        pthread_mutex_unlock(&feed->lock);
        err = fill(feed, &feed->slot[feed->n_filled % N_SLOTS]);
        pthread_mutex_lock(&feed->lock);
        if (err)
            feed->end = err;
        else
            feed->n_filled++;
        pthread_cond_signal(&feed->filled);
    }
    pthread_mutex_unlock(&feed->lock);
    return NULL;
}

static void start_thread(struct strobe_feed *feed)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    feed->has_thread = pthread_create(&feed->thread, NULL, run, feed) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

enum strobe_err strobe_feed_start(struct strobe_file *file,
                                  const struct strobe_feed_options *options,
                                  struct strobe_feed **out)
{
    *out = NULL;
    struct strobe_feed *feed = calloc(1, sizeof *feed);
    if (!feed)
        return STROBE_ERR_NOMEM;
    feed->file = file;
    feed->options = *options;
    struct strobe_block_filter filter = {.type = STROBE_BLOCK_EVENTS,
                                         .by_tick = options->by_tick,
                                         .tick_min = options->tick_min,
                                         .tick_max = options->tick_max,
                                         .offset_min = options->offset_min};
    enum strobe_err err = strobe_file_iterate(file, &filter, &feed->iter);
    if (err) {
        free(feed);
        return err;
    }
    pthread_mutex_init(&feed->lock, NULL);
    pthread_cond_init(&feed->filled, NULL);
    pthread_cond_init(&feed->freed, NULL);
    if (!options->heads_only)
        start_thread(feed);
    *out = feed;
    return STROBE_OK;
}

static enum strobe_err wait_for_slot(struct strobe_feed *feed, const struct strobe_fed **out)
{
    enum strobe_err err = STROBE_OK;
    pthread_mutex_lock(&feed->lock);
    if (feed->holds) {
        feed->n_used++;
        feed->holds = 0;
        pthread_cond_signal(&feed->freed);
    }
    while (feed->n_filled == feed->n_used && !feed->end)
        pthread_cond_wait(&feed->filled, &feed->lock);
    if (feed->n_filled == feed->n_used) {
        err = feed->end;
    } else {
        feed->holds = 1;
        *out = &feed->slot[feed->n_used % N_SLOTS];
    }
    pthread_mutex_unlock(&feed->lock);
    return err;
}

enum strobe_err strobe_feed_next(struct strobe_feed *feed, const struct strobe_fed **out)
{
    *out = NULL;
    if (feed->has_thread)
        return wait_for_slot(feed, out);
    enum strobe_err err = fill(feed, &feed->slot[0]);
    if (!err)
        *out = &feed->slot[0];
    return err;
}

void strobe_feed_stop(struct strobe_feed *feed)
{
    if (!feed)
        return;
    if (feed->has_thread) {
        pthread_mutex_lock(&feed->lock);
        feed->stop = 1;
        pthread_cond_signal(&feed->freed);
        pthread_mutex_unlock(&feed->lock);
        pthread_join(feed->thread, NULL);
    }
    pthread_mutex_destroy(&feed->lock);
    pthread_cond_destroy(&feed->filled);
    pthread_cond_destroy(&feed->freed);
    for (int i = 0; i < N_SLOTS; i++) {
        strobe_block_free(&feed->slot[i].block);
        strobe_events_free(&feed->slot[i].events);
    }
    strobe_file_end_iterate(feed->iter);
    free(feed);
}
