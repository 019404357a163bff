/* feed.h - EVENTS blocks one after the other, read, decompressed and, if wanted, replayed by a thread of their own, so
 * that whoever uses them has a whole core for that. Holds at most three blocks.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_FEED_H
#define STROBE_QUERY_FEED_H

#include "file/decode.h"
#include "query/ahead.h"

struct strobe_feed;

struct strobe_feed_options {
    int by_tick;
    uint64_t tick_min, tick_max;
    uint64_t offset_min; /* only blocks from this offset on */
    int heads_only;      /* 1: parts without streams, hashes of payloads unchecked */
    unsigned streams;    /* to decompress; 0: none, but payloads are checked */
    struct strobe_ahead
        *ahead; /* borrowed: replays each block where it is decoded; NULL: nobody does */
};

/* A decoded block, until the next call of strobe_feed_next. */
struct strobe_fed {
    struct strobe_block block;
    struct strobe_events events;
    struct strobe_ahead_block ahead; /* its zones, with options.ahead */
};

void strobe_fed_free(struct strobe_fed *fed);

enum strobe_err strobe_feed_start(struct strobe_file *file,
                                  const struct strobe_feed_options *options,
                                  struct strobe_feed **out);

/* The next block; STROBE_ERR_END after the last. Blocks that are damaged are noted as holes. The
 * reader belongs to the feed until strobe_feed_stop. */
enum strobe_err strobe_feed_next(struct strobe_feed *feed, const struct strobe_fed **out);

/* NULL is allowed. May be called before the end. */
void strobe_feed_stop(struct strobe_feed *feed);

#endif
