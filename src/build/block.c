/* block.c - names first, then the block that uses them, then what was lost.
 * SPDX-License-Identifier: MIT */
#include "build/block.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

enum { FIRST_PARTS = 256, RECORDS_SLACK = 128 << 10 };

enum strobe_err strobe_build_block_init(struct strobe_build_block *block,
                                        struct strobe_file_writer *writer,
                                        struct strobe_file_writer *records_writer,
                                        uint64_t max_file_bytes)
{
    memset(block, 0, sizeof *block);
    block->writer = writer;
    block->records_writer = records_writer ? records_writer : writer;
    block->max_file_bytes = max_file_bytes;
    strobe_records_reset(&block->records);
    if (strobe_encode_init(&block->enc) || strobe_build_losses_init(&block->losses) ||
        STROBE_ARRAY_RESERVE(block->parts, block->room_parts, FIRST_PARTS) ||
        !strobe_records_reserve(&block->records, STROBE_BUILD_RECORDS_BYTES + RECORDS_SLACK)) {
        strobe_build_block_free(block);
        return STROBE_ERR_NOMEM;
    }
    return STROBE_OK;
}

void strobe_build_block_free(struct strobe_build_block *block)
{
    strobe_encode_free(&block->enc);
    strobe_records_free(&block->records);
    strobe_build_losses_free(&block->losses);
    free(block->parts);
    memset(block, 0, sizeof *block);
}

void strobe_build_block_set_writer(struct strobe_build_block *block,
                                   struct strobe_file_writer *writer)
{
    STROBE_ASSERT(!block->enc.n_parts && !block->n_parts && !block->enc.track);
    if (block->records_writer == block->writer)
        block->records_writer = writer;
    block->writer = writer;
    block->file_full = block->size_limit = false;
}

void strobe_build_block_lose(struct strobe_build_block *block, uint32_t proc, uint64_t track,
                             uint32_t cause, uint64_t count, uint64_t first_tick,
                             uint64_t last_tick)
{
    STROBE_ASSERT(cause < STROBE_LOSS_COUNT && block->writer);
    if (!count)
        return;
    if (block->lose) {
        block->lose(block->arg, proc, track, cause, count, first_tick, last_tick);
        return;
    }
    strobe_build_losses_add(&block->losses, &(struct strobe_build_loss){proc, cause, track, count,
                                                                        first_tick, last_tick});
    strobe_file_count_lost(block->writer, cause, count);
}

uint64_t strobe_build_block_end_part(struct strobe_build_block *block, uint64_t n_words)
{
    const struct strobe_encoder *enc = &block->enc;
    const struct strobe_build_part part = {(uint32_t)enc->proc, enc->track_id, enc->part_events,
                                           enc->first_tick, enc->prev_tick};
    STROBE_ASSERT(enc->track); /* begun by strobe_encode_begin_part */
    STROBE_ASSERT(part.n_events <= n_words);
    bool has_room = !STROBE_ARRAY_RESERVE(block->parts, block->room_parts, block->n_parts + 1ull);
    if (part.n_events && has_room)
        block->parts[block->n_parts++] = part;
    else if (part.n_events &&
             block->n_parts) /* no memory for the note: the number at least stays right */
        block->parts[block->n_parts - 1].n_events += part.n_events;
    strobe_encode_end_part(&block->enc, n_words);
    STROBE_ASSERT(!enc->track && block->n_parts <= block->room_parts);
    return part.n_events;
}

static void lose_records(struct strobe_build_block *block, uint64_t tick)
{
    uint32_t n = block->records.n_records;
    STROBE_ASSERT(!block->records.is_open);
    strobe_records_reset(&block->records);
    strobe_build_block_lose(block, 0, 0, STROBE_LOSS_UNNAMED, n, tick, tick);
}

static void note_failure(struct strobe_build_block *block, enum strobe_err err)
{
    if (err && !block->disk_failed)
        block->disk_err = err == STROBE_ERR_LIMIT ? STROBE_ERR_LENGTH : err;
    block->disk_failed |= err != STROBE_OK;
}

enum strobe_err strobe_build_block_put_records(struct strobe_build_block *block, uint64_t tick)
{
    if (block->records.failed) /* no memory: start over, the names in it are lost to the file */
        lose_records(block, tick);
    enum strobe_err err = strobe_file_put_records(block->records_writer, &block->records);
    if (err && block->records.n_bytes > STROBE_BUILD_RECORDS_KEPT)
        lose_records(block, tick);
    note_failure(block, err);
    return err;
}

static void lose_events(struct strobe_build_block *block, uint32_t cause)
{
    uint64_t n_events = block->enc.n_events;
    for (uint32_t i = 0; i < block->n_parts; i++) {
        const struct strobe_build_part *part = &block->parts[i];
        STROBE_ASSERT(part->n_events && part->n_events <= n_events);
        n_events -= part->n_events;
        strobe_build_block_lose(block, part->proc, part->track, cause, part->n_events,
                                part->first_tick, part->last_tick);
    }
    STROBE_ASSERT(!n_events); /* emitted = stored + dropped */
    strobe_encode_give_up(&block->enc);
}

enum strobe_err strobe_build_block_put_events(struct strobe_build_block *block)
{
    enum strobe_err err = STROBE_OK;
    STROBE_ASSERT(!block->enc.track); /* no part is open */
    if (block->max_file_bytes && strobe_file_n_bytes(block->writer) >= block->max_file_bytes)
        block->file_full = true;
    if (!block->file_full && block->records.n_records)
        err = block->disk_failed ? block->disk_err
                                 : STROBE_ERR_IO; /* without its names it would have no meaning */
    else if (!block->file_full)
        err = strobe_file_put_events(block->writer, &block->enc);
    if (err == STROBE_ERR_LIMIT) {
        block->file_full = block->size_limit = true;
        err = STROBE_OK;
    }
    if (block->file_full || err)
        lose_events(block, err                 ? STROBE_LOSS_DISK
                           : block->size_limit ? STROBE_LOSS_TRACE_SIZE
                                               : STROBE_LOSS_FILE_LIMIT);
    note_failure(block, err);
    block->n_parts = 0;
    STROBE_ASSERT(!block->enc.n_events && !block->enc.n_parts);
    return err;
}

enum strobe_err strobe_build_block_put_losses(struct strobe_build_block *block)
{
    return strobe_build_losses_put(&block->losses, block->records_writer);
}
