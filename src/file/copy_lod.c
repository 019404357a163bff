/* copy_lod.c - see copy_lod.h.  SPDX-License-Identifier: MIT */
#include "file/copy_lod.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

enum strobe_err strobe_copy_lod_moved(struct strobe_copy_lod *lod, uint64_t from, uint64_t to)
{
    struct strobe_copy_moved *row = STROBE_ARRAY_PUSH(lod->moved, lod->n, lod->room);
    if (!row)
        return STROBE_ERR_NOMEM;
    STROBE_ASSERT(lod->n < 2 || (row[-1].from < from && row[-1].to < to));
    *row = (struct strobe_copy_moved){from, to};
    return STROBE_OK;
}

/* The first of the blocks that lie at or behind an offset. */
static uint32_t find(const struct strobe_copy_lod *lod, uint64_t offset)
{
    return (uint32_t)STROBE_ARRAY_BISECT(0, lod->n, i, lod->moved[i].from < offset);
}

/* What stands before the tracks. The end of it; NULL: a block that it names is not there. */
static uint8_t *put_blocks(const struct strobe_copy_lod *lod, uint32_t first, uint8_t *to)
{
    const struct strobe_lod_reader *reader = &lod->reader;
    uint64_t last = lod->moved[first].to;
    to = strobe_varint_put(to, last);
    to = strobe_varint_put(to, reader->n_blocks);
    to = strobe_varint_put(to, reader->n_masks);
    for (uint32_t i = 0; i < reader->n_masks; i++) {
        uint32_t at = find(lod, reader->masks[i].offset);
        if (at == lod->n || lod->moved[at].from != reader->masks[i].offset)
            return NULL;
        to = strobe_varint_put(to, lod->moved[at].to - last);
        to = strobe_varint_put(to, reader->masks[i].kinds);
        last = lod->moved[at].to;
    }
    return strobe_varint_put(to, reader->n_tracks);
}

enum strobe_err strobe_copy_lod_head(struct strobe_copy_lod *lod, const struct strobe_block *block,
                                     uint64_t proc_shift)
{
    struct strobe_lod_reader *reader = &lod->reader;
    struct strobe_block head_only = *block; /* the body is copied as it is */
    struct strobe_lod_track track;
    struct strobe_lod_lanes coarse, fine;
    head_only.body = NULL;
    enum strobe_err err = strobe_lod_start(reader, &head_only);
    if (err)
        return err == STROBE_ERR_NOMEM ? err : STROBE_ERR_NOTFOUND;
    uint32_t first = find(lod, reader->first_offset);
    uint32_t end = find(lod, block->ref.offset);
    if (first >= end || end - first != reader->n_blocks)
        return STROBE_ERR_NOTFOUND;
    uint64_t more = 20ull * (reader->n_masks + 2) + 10ull * (reader->n_tracks + 1);
    if (STROBE_ARRAY_RESERVE(lod->head, lod->head_room, block->n_head + more))
        return STROBE_ERR_NOMEM;
    uint8_t *to = put_blocks(lod, first, lod->head);
    const uint8_t *from = reader->head.at, *last = block->head + block->n_head;
    for (uint64_t i = 0; i < reader->n_tracks && to; i++) {
        from = reader->head.at;
        if (strobe_lod_next(reader, &track, &coarse, &fine))
            return STROBE_ERR_NOTFOUND;
        struct strobe_bytes in = strobe_bytes_over(from, (size_t)(reader->head.at - from));
        to = strobe_varint_put(to, strobe_get_varint(&in) + proc_shift);
        memcpy(to, in.at, strobe_bytes_left(&in));
        to += strobe_bytes_left(&in);
        from = reader->head.at;
    }
    if (!to)
        return STROBE_ERR_NOTFOUND;
    memcpy(to, from, (size_t)(last - from)); /* ends */
    lod->n_head = (size_t)(to - lod->head) + (size_t)(last - from);
    STROBE_ASSERT(lod->n_head <= lod->head_room);
    return STROBE_OK;
}

void strobe_copy_lod_free(struct strobe_copy_lod *lod)
{
    free(lod->moved);
    free(lod->head);
    strobe_lod_reader_free(&lod->reader);
    memset(lod, 0, sizeof *lod);
}
