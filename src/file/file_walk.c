/* file_walk.c - iterators over the blocks of a trace, in file order.
 *
 * A walk goes down the indices like down a tree: frame 0 holds the roots, every other frame the
 * entries of one INDEX block. Offsets only ever grow, on every level, so no index can lead in
 * circles. Where an INDEX is damaged, the stretch it covers is scanned; after the last root, what
 * no index lists is scanned. SPDX-License-Identifier: MIT */
#include "file/reader.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

struct frame {
    struct strobe_index_entry *entries; /* owned */
    uint32_t n, at;
    uint8_t level; /* of the INDEX; roots: STROBE_FILE_MAX_LEVELS */
};

struct strobe_block_iter {
    struct strobe_file *file; /* borrowed */
    struct strobe_block_filter filter;
    struct frame frames[STROBE_FILE_MAX_LEVELS + 1];
    int n_frames;
    uint64_t index_at[STROBE_FILE_MAX_LEVELS]; /* by level: an INDEX before this was visited */
    uint64_t pos;                              /* blocks before this were visited */
    uint64_t scan_end;                         /* scanning [pos, scan_end) while pos is below */
    uint64_t tail;                             /* where the final scan starts */
    uint64_t seq;                              /* that the next scanned block should have */
    uint64_t tail_seq;
    uint64_t last; /* offset of the last block that an index listed, 0: none yet */
    int in_tail;
};

enum strobe_err strobe_file_iterate(struct strobe_file *file,
                                    const struct strobe_block_filter *filter,
                                    struct strobe_block_iter **out)
{
    *out = NULL;
    struct strobe_block_iter *iter = calloc(1, sizeof *iter);
    struct strobe_index_entry *roots = malloc((file->n_roots + 1) * sizeof *roots);
    if (!iter || !roots) {
        free(iter);
        free(roots);
        return STROBE_ERR_NOMEM;
    }
    if (file->n_roots)
        memcpy(roots, file->roots, file->n_roots * sizeof *roots);
    iter->file = file;
    if (filter)
        iter->filter = *filter;
    iter->frames[0] = (struct frame){roots, file->n_roots, 0, STROBE_FILE_MAX_LEVELS};
    iter->n_frames = 1;
    iter->pos = file->first_block;
    iter->tail = file->scan_from;
    iter->tail_seq = file->scan_seq;
    if (iter->filter.offset_min > iter->pos)
        iter->pos = iter->filter.offset_min;
    *out = iter;
    return STROBE_OK;
}

void strobe_file_end_iterate(struct strobe_block_iter *iter)
{
    if (!iter)
        return;
    for (int i = 0; i < iter->n_frames; i++)
        free(iter->frames[i].entries);
    free(iter);
}

uint64_t strobe_file_tell(const struct strobe_block_iter *iter)
{
    return iter->pos;
}

static int out_of_range(const struct strobe_block_filter *filter, uint64_t tick_min,
                        uint64_t tick_max)
{
    return filter->by_tick && (tick_max < filter->tick_min || tick_min > filter->tick_max);
}

static int wanted(const struct strobe_block_filter *filter, uint8_t type, uint64_t tick_min,
                  uint64_t tick_max)
{
    if (type == STROBE_BLOCK_LOD)
        return filter->with_lod && !out_of_range(filter, tick_min, tick_max);
    if (type == STROBE_BLOCK_PAIRED || type == STROBE_BLOCK_PAIRED_LOD)
        return filter->with_paired;
    if (type != STROBE_BLOCK_EVENTS && type != STROBE_BLOCK_RECORDS)
        return 0;
    if (filter->type && filter->type != type)
        return 0;
    return type == STROBE_BLOCK_RECORDS || !out_of_range(filter, tick_min, tick_max);
}

/* Go down into an INDEX. What a damaged one covers is scanned instead. */
static enum strobe_err descend(struct strobe_block_iter *iter, const struct frame *from,
                               const struct strobe_index_entry *entry)
{
    struct strobe_block_ref ref;
    STROBE_ASSERT(entry->level < STROBE_FILE_MAX_LEVELS && iter->n_frames > 0);
    if (entry->level >= from->level || entry->offset < iter->index_at[entry->level] ||
        entry->offset < iter->pos)
        return STROBE_OK;
    iter->index_at[entry->level] = entry->offset + 8;
    if (iter->filter.type == STROBE_BLOCK_EVENTS &&
        out_of_range(&iter->filter, entry->tick_min, entry->tick_max)) {
        iter->last = entry->offset; /* what it lists is passed over, and is no hole */
        iter->pos = entry->offset + strobe_file_pad(entry->bytes);
        return STROBE_OK;
    }
    struct frame next = {.level = entry->level};
    enum strobe_err err = strobe_file_read_ref(iter->file, entry->offset, &ref);
    if (!err && (ref.head.type != STROBE_BLOCK_INDEX || ref.head.level != entry->level))
        err = STROBE_ERR_CORRUPT;
    if (!err)
        err = strobe_file_read_index(iter->file, &ref, &next.entries, &next.n);
    if (err == STROBE_ERR_CORRUPT) {
        strobe_file_add_hole(iter->file, entry->offset, entry->bytes);
        iter->scan_end = entry->offset;
        iter->seq = STROBE_SEQ_UNKNOWN;
        return STROBE_OK;
    }
    if (err)
        return err;
    STROBE_ASSERT(iter->n_frames <= STROBE_FILE_MAX_LEVELS); /* levels only go down */
    iter->frames[iter->n_frames++] = next;
    return STROBE_OK;
}

/* Between two blocks that are listed there may be INDEX blocks, a trailer, or nothing. Else it is a hole that was there
 * when the file was mended: numbers are missing. */
static void look_between(struct strobe_block_iter *iter, uint64_t offset)
{
    struct strobe_block_ref ref;
    uint64_t at = iter->pos, seq = 0;
    if (at >= offset || iter->filter.offset_min > iter->file->first_block)
        return;
    if (iter->last) {
        if (strobe_file_read_ref(iter->file, iter->last, &ref) != STROBE_OK)
            return; /* told when it was visited */
        seq = ref.head.seq + 1;
    }
    while (strobe_file_scan(iter->file, &at, offset, &seq, &ref) == STROBE_OK)
        if (ref.head.type == STROBE_BLOCK_EVENTS || ref.head.type == STROBE_BLOCK_RECORDS ||
            ref.head.type == STROBE_BLOCK_LOD)
            strobe_file_note_hole(
                iter->file,
                &ref); /* its header is right, but nobody listed it: its payload is not */
    if (strobe_file_read_ref(iter->file, offset, &ref) == STROBE_OK && ref.head.seq > seq)
        strobe_file_add_hole(iter->file, at, offset - at);
}

/* 1: `entry` is a block to be shown, and its header is right. */
static int visit(struct strobe_block_iter *iter, const struct strobe_index_entry *entry,
                 struct strobe_block_ref *out)
{
    if (entry->offset < iter->pos)
        return 0;
    look_between(iter, entry->offset);
    iter->last = entry->offset;
    iter->pos = entry->offset + strobe_file_pad(entry->bytes);
    if (!wanted(&iter->filter, entry->type, entry->tick_min, entry->tick_max))
        return 0;
    if (iter->filter.unread) {
        *out = (struct strobe_block_ref){.offset = entry->offset, .n_bytes = entry->bytes};
        out->head.type = entry->type;
        out->head.tick_min = entry->tick_min;
        out->head.tick_max = entry->tick_max;
        out->head.n_items = (uint32_t)entry->n_events;
        return 1;
    }
    if (strobe_file_read_ref(iter->file, entry->offset, out) != STROBE_OK ||
        out->head.type != entry->type) {
        strobe_file_add_hole(iter->file, entry->offset, strobe_file_pad(entry->bytes));
        return 0;
    }
    STROBE_ASSERT(out->offset == entry->offset);
    if (out->offset + out->n_bytes >
        iter->pos) /* else blocks could stand inside one another, each hashed with all in it */
        iter->pos = out->offset + out->n_bytes;
    return 1;
}

static int scan(struct strobe_block_iter *iter, struct strobe_block_ref *out)
{
    while (strobe_file_scan(iter->file, &iter->pos, iter->scan_end, &iter->seq, out) == STROBE_OK)
        if (wanted(&iter->filter, out->head.type, out->head.tick_min, out->head.tick_max))
            return 1;
    if (!iter->in_tail && iter->pos < iter->scan_end)
        strobe_file_add_hole(iter->file, iter->pos, iter->scan_end - iter->pos);
    iter->scan_end = 0;
    return 0;
}

static int start_tail(struct strobe_block_iter *iter)
{
    if (!iter->in_tail) {
        iter->seq = iter->pos > iter->tail ? STROBE_SEQ_UNKNOWN : iter->tail_seq;
        iter->pos = iter->pos > iter->tail ? iter->pos : iter->tail;
    }
    iter->in_tail = 1;
    iter->scan_end = iter->file->facts.end;
    return iter->pos < iter->scan_end;
}

enum strobe_err strobe_file_next(struct strobe_block_iter *iter, struct strobe_block_ref *out)
{
    for (;;) {
        if (iter->pos < iter->scan_end && scan(iter, out))
            return STROBE_OK;
        if (iter->n_frames == 0) {
            if (!start_tail(iter) || !scan(iter, out))
                return STROBE_ERR_END;
            return STROBE_OK;
        }
        struct frame *frame = &iter->frames[iter->n_frames - 1];
        STROBE_ASSERT(frame->at <= frame->n);
        if (frame->at == frame->n) {
            free(frame->entries);
            iter->n_frames--;
            continue;
        }
        struct strobe_index_entry entry = frame->entries[frame->at++];
        if (entry.type == STROBE_BLOCK_INDEX) {
            enum strobe_err err = descend(iter, frame, &entry);
            if (err)
                return err;
        } else if (visit(iter, &entry, out)) {
            return STROBE_OK;
        }
    }
}

enum strobe_err strobe_file_find(const struct strobe_file *file, uint64_t offset,
                                 struct strobe_block_ref *out)
{
    return strobe_file_read_ref(file, offset, out);
}

enum strobe_err strobe_file_next_block(struct strobe_block_iter *iter, struct strobe_block *block)
{
    struct strobe_block_ref ref;
    for (;;) {
        enum strobe_err err = strobe_file_next(iter, &ref);
        if (err)
            return err;
        err = strobe_file_load(iter->file, &ref, block);
        if (err != STROBE_ERR_CORRUPT)
            return err;
        strobe_file_note_hole(iter->file, &ref);
    }
}
