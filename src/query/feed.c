/* feed.c - blocks one after the other, decoded by a thread (feed_thread.c) or, without one, by the user.
 * SPDX-License-Identifier: MIT */
#include "query/feed.h"

#include <stdlib.h>

#include "query/feed_thread.h"

struct strobe_feed {
    struct strobe_file *file; /* borrowed */
    struct strobe_feed_options options;
    struct strobe_block_iter *iter;    /* owned */
    struct strobe_feed_thread *thread; /* owned; NULL: the user decodes into `own` */
    struct strobe_fed own;
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
    if (!err && feed->options.ahead)
        err = strobe_ahead_replay(feed->options.ahead, &fed->events, &fed->ahead);
    return err;
}

void strobe_fed_free(struct strobe_fed *fed)
{
    strobe_block_free(&fed->block);
    strobe_events_free(&fed->events);
    strobe_ahead_block_free(&fed->ahead);
}

enum strobe_err strobe_feed_fill(struct strobe_feed *feed, struct strobe_fed *fed)
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
    if (!options->heads_only)
        feed->thread = strobe_feed_thread_start(feed);
    *out = feed;
    return STROBE_OK;
}

enum strobe_err strobe_feed_next(struct strobe_feed *feed, const struct strobe_fed **out)
{
    *out = NULL;
    if (feed->thread)
        return strobe_feed_thread_next(feed->thread, out);
    enum strobe_err err = strobe_feed_fill(feed, &feed->own);
    if (!err)
        *out = &feed->own;
    return err;
}

void strobe_feed_stop(struct strobe_feed *feed)
{
    if (!feed)
        return;
    strobe_feed_thread_stop(feed->thread);
    strobe_fed_free(&feed->own);
    strobe_file_end_iterate(feed->iter);
    free(feed);
}
