/* store.c - the block under construction that all Tracy clients of a recorder share.
 *
 * Names first, then the block that uses them. A block that can't be written is counted as lost, part
 * by part, and forgotten: a full disk must not stop a client.  SPDX-License-Identifier: MIT */
#include "tracy/store.h"

#include <stdlib.h>
#include <string.h>

enum {
    RECORDS_BYTES = 1 << 20, /* names are written at this size at the latest */
    DEFAULT_BUDGET = 32 << 20,
    LOSSES_MAX = 4096,
};

struct part_note {
    uint32_t proc;
    uint64_t track, n_events, first, last;
};

struct loss {
    uint32_t proc, cause;
    uint64_t track, count, first, last;
};

struct strobe_tracy_store {
    struct strobe_tracy_store_options options;
    struct strobe_encoder enc;
    struct strobe_records records;
    uint8_t *scratch; /* owned */
    int64_t budget;   /* bytes left */
    uint32_t last_proc;

    struct strobe_tracy_track *open; /* borrowed: whose part is open, NULL: none */
    uint32_t open_proc;

    struct part_note *parts; /* owned: of the block */
    uint32_t n_parts, cap_parts;
    struct loss *losses; /* owned: not yet in the file */
    uint32_t n_losses;
};

enum strobe_err strobe_tracy_store_open(const struct strobe_tracy_store_options *options,
                                        struct strobe_tracy_store **out)
{
    struct strobe_tracy_store *store = calloc(1, sizeof *store);
    if (!store)
        return STROBE_ERR_NOMEM;
    store->options = *options;
    if (!options->records_writer)
        store->options.records_writer = options->writer;
    store->budget = (int64_t)(options->budget_bytes ? options->budget_bytes : DEFAULT_BUDGET);
    store->scratch = malloc(STROBE_SIDE_BYTES / 4);
    store->cap_parts = 256;
    store->parts = malloc(store->cap_parts * sizeof *store->parts);
    store->losses = malloc(LOSSES_MAX * sizeof *store->losses);
    if (!store->scratch || !store->parts || !store->losses ||
        !strobe_records_reserve(&store->records, RECORDS_BYTES + (128 << 10)) ||
        strobe_encode_init(&store->enc)) {
        strobe_tracy_store_close(store);
        return STROBE_ERR_NOMEM;
    }
    *out = store;
    return STROBE_OK;
}

void strobe_tracy_store_close(struct strobe_tracy_store *store)
{
    if (!store)
        return;
    if (store->enc.sym)
        strobe_tracy_store_flush(store);
    strobe_encode_free(&store->enc);
    strobe_records_free(&store->records);
    free(store->scratch);
    free(store->parts);
    free(store->losses);
    free(store);
}

void strobe_tracy_store_set_writer(struct strobe_tracy_store *store,
                                   struct strobe_file_writer *writer)
{
    if (store->options.records_writer == store->options.writer)
        store->options.records_writer = writer;
    store->options.writer = writer;
}

bool strobe_tracy_store_charge(struct strobe_tracy_store *store, int64_t n_bytes)
{
    if (n_bytes > store->budget)
        return false;
    store->budget -= n_bytes;
    return true;
}

uint32_t strobe_tracy_store_new_proc(struct strobe_tracy_store *store)
{
    strobe_file_count(store->options.writer, 1, 0);
    if (store->options.new_proc)
        return store->options.new_proc(store->options.arg);
    return ++store->last_proc;
}

void strobe_tracy_store_count_thread(struct strobe_tracy_store *store)
{
    strobe_file_count(store->options.writer, 0, 1);
}

uint8_t *strobe_tracy_store_scratch(struct strobe_tracy_store *store)
{
    return store->scratch;
}

/* ---- losses ---- */

static bool same_loss(const struct loss *loss, uint32_t proc, uint64_t track, uint32_t cause)
{
    return loss->proc == proc && loss->track == track && loss->cause == cause;
}

/* The entry to add to: the same one, a new one, or (too many) the last one of all. */
static struct loss *loss_of(struct strobe_tracy_store *store, uint32_t proc, uint64_t track,
                            uint32_t cause)
{
    for (uint32_t i = store->n_losses; i-- > 0;)
        if (same_loss(&store->losses[i], proc, track, cause))
            return &store->losses[i];
    if (store->n_losses == LOSSES_MAX)
        return &store->losses[LOSSES_MAX - 1];
    store->losses[store->n_losses] = (struct loss){proc, cause, track, 0, ~0ull, 0};
    return &store->losses[store->n_losses++];
}

void strobe_tracy_store_lose(struct strobe_tracy_store *store, uint32_t proc, uint64_t track,
                             uint32_t cause, uint64_t count, uint64_t first, uint64_t last)
{
    if (!count)
        return;
    if (store->options.lose) {
        store->options.lose(store->options.arg, proc, track, cause, count, first, last);
        return;
    }
    strobe_file_count_lost(store->options.writer, cause, count);
    struct loss *loss = loss_of(store, proc, track, cause);
    loss->count += count;
    loss->first = first < loss->first ? first : loss->first;
    loss->last = last > loss->last ? last : loss->last;
}

static void put_losses(struct strobe_tracy_store *store)
{
    for (uint32_t i = 0; i < store->n_losses; i++) {
        const struct loss *loss = &store->losses[i];
        uint64_t numbers[] = {loss->proc,  loss->track, loss->cause,
                              loss->count, loss->first, loss->last};
        strobe_records_numbers(&store->records, STROBE_FACT_LOSS, numbers, 6);
        strobe_records_tick(&store->records, loss->last);
    }
    store->n_losses = 0;
}

/* ---- blocks ---- */

static enum strobe_err put_records(struct strobe_tracy_store *store)
{
    put_losses(store);
    enum strobe_err err = strobe_file_put_records(store->options.records_writer, &store->records);
    if (!err)
        return STROBE_OK;
    /* they are kept for another try, within bounds; a failed buffer starts over */
    if (store->records.failed || store->records.n_bytes > 4 * RECORDS_BYTES) {
        uint32_t n_lost = store->records.n_records;
        strobe_records_reset(&store->records);
        strobe_tracy_store_lose(store, 0, 0, STROBE_LOSS_UNNAMED, n_lost, 0, 0);
    }
    return err;
}

struct strobe_records *strobe_tracy_store_records(struct strobe_tracy_store *store)
{
    if (store->records.n_bytes >= RECORDS_BYTES)
        put_records(store);
    return &store->records;
}

void strobe_tracy_store_end_part(struct strobe_tracy_store *store)
{
    struct strobe_tracy_track *track = store->open;
    if (!track)
        return;
    struct strobe_encoder *enc = &store->enc;
    uint64_t n = enc->part_events;
    if (store->n_parts == store->cap_parts) {
        struct part_note *parts = realloc(store->parts, 2 * store->cap_parts * sizeof *parts);
        if (parts) {
            store->parts = parts;
            store->cap_parts *= 2;
        }
    }
    if (n && store->n_parts < store->cap_parts)
        store->parts[store->n_parts++] =
            (struct part_note){store->open_proc, track->id, n, enc->first_tick, enc->prev_tick};
    else if (n) /* no memory for the note: the number at least stays right */
        store->parts[store->n_parts - 1].n_events += n;
    strobe_encode_end_part(enc, n);
    track->pos += n;
    store->open = NULL;
}

static void lose_block(struct strobe_tracy_store *store, uint32_t cause)
{
    for (uint32_t i = 0; i < store->n_parts; i++) {
        const struct part_note *part = &store->parts[i];
        strobe_tracy_store_lose(store, part->proc, part->track, cause, part->n_events, part->first,
                                part->last);
    }
    strobe_encode_give_up(&store->enc);
}

enum strobe_err strobe_tracy_store_flush(struct strobe_tracy_store *store)
{
    struct strobe_file_writer *writer = store->options.writer;
    strobe_tracy_store_end_part(store);
    enum strobe_err err = put_records(store);
    bool full = store->options.max_file_bytes &&
                strobe_file_n_bytes(writer) >= store->options.max_file_bytes;
    if (!err && !full) /* without its names a block would have no meaning */
        err = strobe_file_put_events(writer, &store->enc);
    if (err || full)
        lose_block(store, full ? STROBE_LOSS_FILE_LIMIT : STROBE_LOSS_DISK);
    store->n_parts = 0;
    return err;
}

struct strobe_encoder *strobe_tracy_store_part(struct strobe_tracy_store *store, uint32_t proc,
                                               struct strobe_tracy_track *track)
{
    struct strobe_encoder *enc = &store->enc;
    /* one place is left for what belongs to the last event */
    bool full = strobe_encode_is_full(enc) || enc->n_events + 1 >= STROBE_BLOCK_EVENTS_MAX;
    if (store->open == track && !full)
        return enc;
    strobe_tracy_store_end_part(store);
    if (full || strobe_encode_is_full(enc))
        strobe_tracy_store_flush(store);
    strobe_encode_begin_part(enc, &track->track, proc, track->id, track->pos);
    store->open = track;
    store->open_proc = proc;
    return enc;
}

struct strobe_encoder *strobe_tracy_store_same_part(struct strobe_tracy_store *store,
                                                    const struct strobe_tracy_track *track)
{
    struct strobe_encoder *enc = &store->enc;
    bool room = enc->n_events < STROBE_BLOCK_EVENTS_MAX;
    return store->open == track && enc->part_events && room ? enc : NULL;
}
