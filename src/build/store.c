/* store.c - the block under construction that all sources of one thread share.
 *
 * What a source can make grow is charged to the budget before it grows. Blocks and their failures:
 * block.c.  SPDX-License-Identifier: MIT */
#include "build/store.h"

#include <stdlib.h>

#include "base/assert.h"

enum { DEFAULT_BUDGET = 32 << 20 };

struct strobe_build_store {
    struct strobe_build_store_options options;
    struct strobe_build_block block;
    uint8_t *scratch; /* owned */
    int64_t budget;   /* bytes left */
    int64_t n_charged;
    uint32_t last_proc;
    struct strobe_build_track *open; /* borrowed: whose part is open, NULL: none */
};

enum strobe_err strobe_build_store_open(const struct strobe_build_store_options *options,
                                        struct strobe_build_store **out)
{
    struct strobe_build_store *store = calloc(1, sizeof *store);
    if (!store)
        return STROBE_ERR_NOMEM;
    store->options = *options;
    store->budget = (int64_t)(options->budget_bytes ? options->budget_bytes : DEFAULT_BUDGET);
    store->scratch = malloc(STROBE_SIDE_BYTES / 4);
    enum strobe_err err = strobe_build_block_init(&store->block, options->writer,
                                                  options->records_writer, options->max_file_bytes);
    store->block.lose = options->lose;
    store->block.arg = options->arg;
    if (err || !store->scratch) {
        strobe_build_block_free(&store->block);
        free(store->scratch);
        free(store);
        return STROBE_ERR_NOMEM;
    }
    *out = store;
    return STROBE_OK;
}

void strobe_build_store_close(struct strobe_build_store *store)
{
    if (!store)
        return;
    strobe_build_store_flush(store);
    strobe_build_block_free(&store->block);
    free(store->scratch);
    free(store);
}

void strobe_build_store_set_writer(struct strobe_build_store *store,
                                   struct strobe_file_writer *writer)
{
    strobe_build_block_set_writer(&store->block, writer);
}

bool strobe_build_store_charge(struct strobe_build_store *store, int64_t n_bytes)
{
    if (n_bytes > store->budget)
        return false;
    store->budget -= n_bytes;
    store->n_charged += n_bytes;
    STROBE_ASSERT(store->budget >= 0 && store->n_charged >= 0); /* nothing is given back twice */
    return true;
}

uint32_t strobe_build_store_new_proc(struct strobe_build_store *store)
{
    strobe_file_count(store->block.writer, 1, 0);
    if (store->options.new_proc)
        return store->options.new_proc(store->options.arg);
    return ++store->last_proc;
}

void strobe_build_store_count_thread(struct strobe_build_store *store)
{
    strobe_file_count(store->block.writer, 0, 1);
}

uint8_t *strobe_build_store_scratch(struct strobe_build_store *store)
{
    return store->scratch;
}

void strobe_build_store_lose(struct strobe_build_store *store, uint32_t proc, uint64_t track,
                             uint32_t cause, uint64_t count, uint64_t first, uint64_t last)
{
    strobe_build_block_lose(&store->block, proc, track, cause, count, first, last);
}

struct strobe_records *strobe_build_store_records(struct strobe_build_store *store)
{
    if (store->block.records.n_bytes >= STROBE_BUILD_RECORDS_BYTES)
        strobe_build_block_put_records(&store->block, 0);
    return &store->block.records;
}

/* ---- parts ---- */

void strobe_build_store_end_part(struct strobe_build_store *store)
{
    struct strobe_build_track *track = store->open;
    STROBE_ASSERT(!track == !store->block.enc.track);
    if (!track)
        return;
    STROBE_ASSERT(store->block.enc.track == &track->track);
    STROBE_ASSERT(store->block.enc.pos == track->pos);
    track->pos += strobe_build_block_end_part(&store->block, store->block.enc.part_events);
    store->open = NULL;
}

enum strobe_err strobe_build_store_flush(struct strobe_build_store *store)
{
    strobe_build_store_end_part(store);
    enum strobe_err err = strobe_build_block_put_records(&store->block, 0);
    enum strobe_err events_err = strobe_build_block_put_events(&store->block);
    strobe_build_block_put_losses(&store->block);
    STROBE_ASSERT(!store->open && !store->block.enc.n_events);
    return err ? err : events_err;
}

struct strobe_encoder *strobe_build_store_part(struct strobe_build_store *store, uint32_t proc,
                                               struct strobe_build_track *track)
{
    struct strobe_encoder *enc = &store->block.enc;
    /* one place is left for what belongs to the last event */
    bool full = strobe_encode_is_full(enc) || enc->n_events + 1 >= STROBE_BLOCK_EVENTS_MAX;
    if (store->open == track && !full)
        return enc;
    strobe_build_store_end_part(store);
    if (full || strobe_encode_is_full(enc))
        strobe_build_store_flush(store);
    STROBE_ASSERT(track->id && !strobe_encode_is_full(enc));
    strobe_encode_begin_part(enc, &track->track, proc, track->id, track->pos);
    store->open = track;
    return enc;
}

struct strobe_encoder *strobe_build_store_same_part(struct strobe_build_store *store,
                                                    const struct strobe_build_track *track)
{
    struct strobe_encoder *enc = &store->block.enc;
    bool room = enc->n_events < STROBE_BLOCK_EVENTS_MAX;
    STROBE_ASSERT(!store->open || enc->track == &store->open->track);
    return store->open == track && enc->part_events && room ? enc : NULL;
}
