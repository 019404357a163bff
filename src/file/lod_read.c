/* lod_read.c - reads LOD blocks. Every number comes from a stranger: see file/decode.c.
 * SPDX-License-Identifier: MIT */
#include "file/lod.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "base/assert.h"
#include "file/decode.h"
#include "file/frame.h"

enum { MAX_SHIFT = 63 };

static enum strobe_err open_body(struct strobe_lod_reader *reader, const struct strobe_block *block)
{
    uint32_t size[2];
    if (block->n_body < sizeof size)
        return STROBE_ERR_CORRUPT;
    memcpy(size, block->body, sizeof size);
    if (size[0] > STROBE_FILE_MAX_PAYLOAD || size[1] > block->n_body - sizeof size)
        return STROBE_ERR_CORRUPT;
    const uint8_t *stored = block->body + sizeof size;
    if (size[0] == size[1]) {
        reader->body = strobe_bytes_over(stored, size[0]);
        return STROBE_OK;
    }
    if (!strobe_frame_fits(size[0], size[1]))
        return STROBE_ERR_CORRUPT;
    if (STROBE_ARRAY_RENEW(reader->raw, reader->raw_room, size[0]))
        return STROBE_ERR_NOMEM;
    enum strobe_err err = strobe_frame_open(&reader->zstd, reader->raw, size[0], stored, size[1]);
    if (!err)
        reader->body = strobe_bytes_over(reader->raw, size[0]);
    return err;
}

/* Ends lie at the end, with their size behind them. What is left is the tracks. */
static enum strobe_err split_ends(struct strobe_bytes *bytes, struct strobe_bytes *ends)
{
    uint32_t size;
    if (strobe_bytes_left(bytes) < sizeof size)
        return STROBE_ERR_CORRUPT;
    memcpy(&size, bytes->end - sizeof size, sizeof size);
    if (size > strobe_bytes_left(bytes) - sizeof size)
        return STROBE_ERR_CORRUPT;
    *ends = strobe_bytes_over(bytes->end - sizeof size - size, size);
    bytes->end = ends->at;
    return STROBE_OK;
}

/* The ends of the next track; none where there are none. */
static struct strobe_bytes take_ends(struct strobe_bytes *ends)
{
    uint32_t size = 0;
    const uint8_t *at = strobe_bytes_left(ends) ? strobe_get_bytes(ends, sizeof size) : NULL;
    if (at)
        memcpy(&size, at, sizeof size);
    at = strobe_get_bytes(ends, size);
    return strobe_bytes_over(at, at ? size : 0);
}

/* The end of a cell's longest zone; 0: not known. */
static uint64_t end_of(struct strobe_bytes *ends, const struct strobe_lod_cell *cell,
                       uint32_t shift)
{
    if (!strobe_bytes_left(ends) || !strobe_lod_has_end(cell->longest, shift))
        return 0;
    uint64_t end = (cell->bucket << shift) + (uint64_t)strobe_get_zigzag(ends);
    return ends->bad ? 0 : end;
}

static enum strobe_err read_masks(struct strobe_lod_reader *reader)
{
    uint64_t n = strobe_get_varint(&reader->head), offset = reader->first_offset;
    if (n > STROBE_LOD_MAX_MASKS)
        return STROBE_ERR_CORRUPT;
    if (n && !reader->masks &&
        !(reader->masks = malloc(STROBE_LOD_MAX_MASKS * sizeof *reader->masks)))
        return STROBE_ERR_NOMEM;
    for (uint64_t i = 0; i < n; i++) {
        offset += strobe_get_varint(&reader->head);
        reader->masks[i] = (struct strobe_lod_mask){offset, strobe_get_varint(&reader->head)};
    }
    STROBE_ASSERT(n <= STROBE_LOD_MAX_MASKS);
    reader->n_masks = (uint32_t)n;
    return reader->head.bad ? STROBE_ERR_CORRUPT : STROBE_OK;
}

enum strobe_err strobe_lod_start(struct strobe_lod_reader *reader, const struct strobe_block *block)
{
    int has_ends = block->ref.head.flags & STROBE_LOD_ENDS;
    reader->head = strobe_bytes_over(block->head, block->n_head);
    reader->head_ends = reader->body_ends = strobe_bytes_over(NULL, 0);
    enum strobe_err err = has_ends ? split_ends(&reader->head, &reader->head_ends) : STROBE_OK;
    reader->has_fine = block->body != NULL;
    reader->n_masks = 0;
    reader->first_offset = strobe_get_varint(&reader->head);
    reader->n_blocks = strobe_get_varint(&reader->head);
    if (!err)
        err = read_masks(reader);
    reader->n_tracks = reader->n_left = strobe_get_varint(&reader->head);
    if (!err && (reader->head.bad || reader->n_tracks > STROBE_LOD_MAX_TRACKS))
        err = STROBE_ERR_CORRUPT;
    if (!err && reader->has_fine)
        err = open_body(reader, block);
    if (!err && reader->has_fine && has_ends)
        err = split_ends(&reader->body, &reader->body_ends);
    if (err)
        reader->n_left = 0;
    return err;
}

/* Take the lanes of a track, and step over them. */
static void take_lanes(struct strobe_bytes *in, const struct strobe_lod_track *track,
                       struct strobe_lod_lanes *out)
{
    uint64_t shift = strobe_get_varint(in), n_depths = strobe_get_varint(in);
    if (shift > MAX_SHIFT || n_depths > STROBE_LOD_DEPTHS)
        in->bad = 1;
    *out = (struct strobe_lod_lanes){
        .in = *in, .shift = (uint32_t)shift, .n_depths = (uint32_t)n_depths};
    if (in->bad)
        return;
    out->base = track->first_tick >> shift;
    for (uint64_t i = 0; i < n_depths && !in->bad; i++) {
        uint64_t n = strobe_get_varint(in);
        if (n > strobe_bytes_left(in))
            in->bad = 1;
        else
            strobe_bytes_skip_varints(in, 5 * n);
    }
    STROBE_ASSERT(out->in.at <= in->at && out->shift <= MAX_SHIFT);
    out->in.end = in->at;
}

static void take_open(struct strobe_bytes *in, struct strobe_lod_track *track)
{
    uint64_t n = strobe_get_varint(in);
    if (n > STROBE_LOD_OPEN)
        in->bad = 1;
    track->n_open = in->bad ? 0 : (uint32_t)n;
    for (uint32_t i = 0; i < track->n_open; i++) {
        track->open[i].loc = strobe_get_varint(in);
        track->open[i].begin = track->last_tick - (uint64_t)strobe_get_zigzag(in);
    }
}

enum strobe_err strobe_lod_next(struct strobe_lod_reader *reader, struct strobe_lod_track *track,
                                struct strobe_lod_lanes *coarse, struct strobe_lod_lanes *fine)
{
    struct strobe_bytes *in = &reader->head;
    STROBE_ASSERT(reader->n_left <= reader->n_tracks);
    if (!reader->n_left)
        return STROBE_ERR_END;
    reader->n_left--;
    uint64_t *fields[] = {&track->proc,     &track->track,   &track->n_parts,
                          &track->n_events, &track->n_zones, &track->first_tick};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        *fields[i] = strobe_get_varint(in);
    track->last_tick = track->first_tick + (uint64_t)strobe_get_zigzag(in);
    track->low = strobe_get_varint(in);
    track->depth = strobe_get_varint(in);
    take_open(in, track);
    track->fine_shift = (uint32_t)strobe_get_varint(in);
    take_lanes(in, track, coarse);
    coarse->ends = take_ends(&reader->head_ends);
    if (reader->has_fine)
        take_lanes(&reader->body, track, fine);
    else
        memset(fine, 0, sizeof *fine);
    fine->ends = take_ends(&reader->body_ends);
    if (!in->bad && !reader->body.bad)
        return STROBE_OK;
    reader->n_left = 0;
    return STROBE_ERR_CORRUPT;
}

enum strobe_err strobe_lod_cell(struct strobe_lod_lanes *lanes, struct strobe_lod_at *state,
                                struct strobe_lod_cell *out)
{
    struct strobe_bytes *in = &lanes->in;
    STROBE_ASSERT(lanes->n_depths <= STROBE_LOD_DEPTHS && lanes->shift <= MAX_SHIFT);
    while (!state->n_left) {
        if (state->started)
            state->depth++;
        if (state->depth >= lanes->n_depths)
            return STROBE_ERR_END;
        state->started = 1;
        state->n_left = (uint32_t)strobe_get_varint(in);
        state->bucket = lanes->base;
        if (in->bad)
            return STROBE_ERR_CORRUPT;
    }
    state->n_left--;
    state->bucket += (uint64_t)strobe_get_zigzag(in);
    out->depth = state->depth;
    out->bucket = state->bucket;
    out->count = (uint32_t)strobe_get_varint(in);
    out->busy = strobe_get_varint(in);
    out->longest = strobe_get_varint(in);
    out->loc = strobe_get_varint(in);
    out->end = end_of(&lanes->ends, out, lanes->shift);
    return in->bad ? STROBE_ERR_CORRUPT : STROBE_OK;
}

enum strobe_err strobe_part_lod_start(const struct strobe_part *part, struct strobe_part_lod *lod)
{
    if (!part->summary)
        return STROBE_ERR_NOTFOUND;
    *lod = (struct strobe_part_lod){.in = strobe_bytes_over(part->summary, part->n_summary),
                                    .ends = strobe_bytes_over(part->ends, part->n_ends)};
    uint64_t n_rows = strobe_get_varint(&lod->in);
    for (uint64_t i = 0; i < n_rows && !lod->in.bad; i++) {
        strobe_bytes_skip_varints(&lod->in, 8);
        strobe_bytes_skip_varints(&lod->in, 2 * (strobe_get_varint(&lod->in) & 0xffff));
    }
    uint64_t shift = strobe_get_varint(&lod->in), n_depths = strobe_get_varint(&lod->in);
    if (lod->in.bad || shift > MAX_SHIFT || n_depths > STROBE_LOD_DEPTHS)
        return STROBE_ERR_CORRUPT;
    lod->shift = (uint32_t)shift;
    lod->n_depths = (uint32_t)n_depths;
    lod->base = part->first_tick >> shift;
    return STROBE_OK;
}

enum strobe_err strobe_part_lod_next(struct strobe_part_lod *lod, uint32_t *depth,
                                     struct strobe_lod_cell *out)
{
    struct strobe_bytes *in = &lod->in;
    struct strobe_lod_at *at = &lod->at;
    while (!at->n_left) {
        if (at->started)
            at->depth++;
        if (at->depth >= lod->n_depths)
            return STROBE_ERR_END;
        at->started = 1;
        at->n_left = (uint32_t)strobe_get_varint(in) & 0xffff;
        at->bucket = lod->base;
    }
    at->n_left--;
    at->bucket += strobe_get_varint(in);
    *depth = out->depth = at->depth;
    out->bucket = at->bucket;
    out->count = (uint32_t)strobe_get_varint(in);
    out->busy = strobe_get_varint(in);
    out->longest = strobe_get_varint(in);
    out->loc = strobe_get_varint(in);
    out->end = end_of(&lod->ends, out, lod->shift);
    return in->bad ? STROBE_ERR_CORRUPT : STROBE_OK;
}

void strobe_lod_reader_free(struct strobe_lod_reader *reader)
{
    free(reader->masks);
    free(reader->raw);
    ZSTD_freeDCtx(reader->zstd);
    memset(reader, 0, sizeof *reader);
}
