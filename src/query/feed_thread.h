/* feed_thread.h - a thread that decodes blocks ahead of whoever uses a feed. Not for other rooms.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_FEED_THREAD_H
#define STROBE_QUERY_FEED_THREAD_H

#include "query/feed.h"

struct strobe_feed_thread;

/* Decode the next block that can be used. */
enum strobe_err strobe_feed_fill(struct strobe_feed *feed, struct strobe_fed *fed);

#ifdef __wasm__ /* has no threads: the user decodes */
static inline struct strobe_feed_thread *strobe_feed_thread_start(struct strobe_feed *feed)
{
    (void)feed;
    return NULL;
}
static inline enum strobe_err strobe_feed_thread_next(struct strobe_feed_thread *thread,
                                                      const struct strobe_fed **out)
{
    (void)thread, (void)out;
    return STROBE_ERR_END;
}
static inline void strobe_feed_thread_stop(struct strobe_feed_thread *thread)
{
    (void)thread;
}
#else
/* NULL: none is available, and the user decodes. */
struct strobe_feed_thread *strobe_feed_thread_start(struct strobe_feed *feed);
enum strobe_err strobe_feed_thread_next(struct strobe_feed_thread *thread,
                                        const struct strobe_fed **out);
void strobe_feed_thread_stop(struct strobe_feed_thread *thread); /* NULL is allowed */
#endif

#endif
