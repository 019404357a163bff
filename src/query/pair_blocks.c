/* pair_blocks.c - parts of paired tracks into blocks. A block takes parts until it has enough bytes, so a part's place is
 * known by the block's number first, and by its offset when all are written.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "query/pair_parts.h"
#include "query/paired.h"

enum {
    ROWS, /* numbers of out->blocks */
    CELLS,
    BLOCK_BYTES = 128 << 10, /* from here on a block is put */
    PART_TEXTS = 1 << 20,    /* a part's texts */
};

enum strobe_err strobe_pair_out_open(struct strobe_pair_out *out)
{
    out->track = UINT32_MAX;
    out->levels = strobe_pair_levels_new();
    for (int i = 0; i < 2; i++)
        out->rows[i].rows = malloc(STROBE_PAIRED_PART * sizeof *out->rows[i].rows);
    return out->levels && out->rows[0].rows && out->rows[1].rows ? STROBE_OK : STROBE_ERR_NOMEM;
}

void strobe_pair_out_free(struct strobe_pair_out *out)
{
    for (int i = 0; i < 2; i++) {
        strobe_paired_bytes_free(&out->blocks[i].bytes);
        free(out->blocks[i].offsets);
        free(out->rows[i].rows);
        free(out->rows[i].notes);
        free(out->rows[i].texts);
        free(out->rows[i].list.parts);
    }
    strobe_pair_levels_free(out->levels);
    strobe_paired_list_free(&out->list);
}

/* ---- blocks ---- */

static enum strobe_err put_block(struct strobe_pair_out *out, int which)
{
    struct strobe_pair_blocks *blocks = &out->blocks[which];
    if (!blocks->bytes.n)
        return STROBE_OK;
    if (STROBE_ARRAY_RESERVE(blocks->offsets, blocks->room, blocks->n + 1ull))
        return STROBE_ERR_NOMEM;
    enum strobe_err err = strobe_file_put_paired(
        out->writer, which == ROWS ? STROBE_BLOCK_PAIRED : STROBE_BLOCK_PAIRED_LOD, 0,
        blocks->n_items, blocks->bytes.bytes, blocks->bytes.n, &blocks->offsets[blocks->n]);
    blocks->n++;
    blocks->bytes.n = 0;
    blocks->n_items = 0;
    return err;
}

/* A part was appended at `at`. Its offset: the number of its block, and which sort of blocks. */
static enum strobe_err note_part(struct strobe_pair_out *out, int which,
                                 struct strobe_pair_list *list, struct strobe_paired_part part)
{
    struct strobe_pair_blocks *blocks = &out->blocks[which];
    if (STROBE_ARRAY_RESERVE(list->parts, list->room, list->n + 1ull))
        return STROBE_ERR_NOMEM;
    part.offset = (uint64_t)blocks->n << 1 | (uint64_t)which;
    list->parts[list->n++] = part;
    blocks->n_items += part.n;
    return blocks->bytes.n >= BLOCK_BYTES ? put_block(out, which) : STROBE_OK;
}

enum strobe_err strobe_pair_put_cells(struct strobe_pair_out *out, uint32_t shift,
                                      const struct strobe_paired_cell *cells, uint32_t n,
                                      struct strobe_pair_list *list)
{
    const struct strobe_paired_head head = {
        .track = out->track, .proc = out->list.tracks[out->track].proc, .n = n, .shift = shift};
    const struct strobe_paired_part part = {.at = (uint32_t)out->blocks[CELLS].bytes.n,
                                            .n = n,
                                            .first = cells[0].bucket,
                                            .last = cells[n - 1].bucket};
    enum strobe_err err = strobe_paired_put_cells(&out->blocks[CELLS].bytes, &head, cells);
    return err ? err : note_part(out, CELLS, list, part);
}

/* ---- rows ---- */

static enum strobe_err put_rows(struct strobe_pair_out *out, struct strobe_pair_rows *rows)
{
    const struct strobe_paired_head head = {.track = out->track,
                                            .proc = out->list.tracks[out->track].proc,
                                            .n = rows->n,
                                            .first_row = rows->n_before,
                                            .is_open = rows == &out->rows[1]};
    if (!rows->n)
        return STROBE_OK;
    const struct strobe_paired_part part = {.at = (uint32_t)out->blocks[ROWS].bytes.n,
                                            .n = rows->n,
                                            .first = rows->rows[0].begin,
                                            .last =
                                                head.is_open ? rows->rows[0].begin : rows->latest};
    for (uint32_t i = 0; i < rows->n_notes; i++) {
        struct strobe_paired_note *note = &rows->notes[i];
        note->text = rows->texts + (uintptr_t)note->text;
        note->name = rows->texts + (uintptr_t)note->name;
    }
    enum strobe_err err =
        strobe_paired_put_rows(&out->blocks[ROWS].bytes, &head, rows->rows, rows->notes);
    rows->n_before += rows->n;
    rows->n = rows->n_notes = 0;
    rows->n_texts = 0;
    rows->latest = 0;
    return err ? err : note_part(out, ROWS, &rows->list, part);
}

static enum strobe_err keep_note(struct strobe_pair_rows *rows,
                                 const struct strobe_paired_note *note)
{
    uint64_t n = (uint64_t)note->n_text + note->n_name;
    if (STROBE_ARRAY_RESERVE(rows->notes, rows->notes_room, rows->n_notes + 1ull) ||
        STROBE_ARRAY_RESERVE(rows->texts, rows->texts_room, rows->n_texts + n + 1))
        return STROBE_ERR_NOMEM;
    struct strobe_paired_note *kept = &rows->notes[rows->n_notes++];
    *kept = *note;
    kept->text = (const char *)(uintptr_t)rows->n_texts;
    kept->name = (const char *)(uintptr_t)(rows->n_texts + note->n_text);
    if (note->n_text)
        memcpy(rows->texts + rows->n_texts, note->text, note->n_text);
    if (note->n_name)
        memcpy(rows->texts + rows->n_texts + note->n_text, note->name, note->n_name);
    rows->n_texts += n;
    return STROBE_OK;
}

enum strobe_err strobe_pair_put_row(struct strobe_pair_out *out,
                                    const struct strobe_paired_row *row,
                                    const struct strobe_paired_note *note)
{
    struct strobe_paired_track *track = &out->list.tracks[out->track];
    struct strobe_pair_rows *rows = &out->rows[row->end == UINT64_MAX];
    enum strobe_err err = note ? keep_note(rows, note) : STROBE_OK;
    if (err)
        return err;
    rows->rows[rows->n] = *row;
    rows->rows[rows->n++].note = note ? rows->n_notes : 0;
    rows->latest = row->end > rows->latest ? row->end : rows->latest;
    track->n_depths = row->depth >= track->n_depths ? row->depth + 1 : track->n_depths;
    *(row->end == UINT64_MAX ? &track->n_open : &track->n_ended) += 1;
    return rows->n == STROBE_PAIRED_PART || rows->n_texts >= PART_TEXTS ? put_rows(out, rows)
                                                                        : STROBE_OK;
}

enum strobe_err strobe_pair_keep_parts(struct strobe_pair_out *out, struct strobe_pair_list *list,
                                       uint32_t *first, uint32_t *n)
{
    struct strobe_paired_list *to = &out->list;
    *first = to->n_parts;
    *n = list->n;
    if (STROBE_ARRAY_RESERVE(to->parts, to->parts_room, (uint64_t)to->n_parts + list->n))
        return STROBE_ERR_NOMEM;
    if (list->n)
        memcpy(to->parts + to->n_parts, list->parts, list->n * sizeof *list->parts);
    to->n_parts += list->n;
    list->n = 0;
    return STROBE_OK;
}

enum strobe_err strobe_pair_end_track(struct strobe_pair_out *out)
{
    if (out->track == UINT32_MAX)
        return STROBE_OK;
    struct strobe_paired_track *track = &out->list.tracks[out->track];
    enum strobe_err err = put_rows(out, &out->rows[0]);
    if (!err)
        err = put_rows(out, &out->rows[1]);
    if (!err)
        err = strobe_pair_keep_parts(out, &out->rows[0].list, &track->first_ended,
                                     &track->n_ended_parts);
    if (!err)
        err = strobe_pair_keep_parts(out, &out->rows[1].list, &track->first_open,
                                     &track->n_open_parts);
    if (!err)
        err = strobe_pair_levels_end(out->levels, out);
    out->rows[0].n_before = out->rows[1].n_before = 0;
    out->track = UINT32_MAX;
    return err;
}

enum strobe_err strobe_pair_out_finish(struct strobe_pair_out *out)
{
    struct strobe_paired_bytes bytes = {0};
    uint64_t offset;
    enum strobe_err err = put_block(out, ROWS);
    if (!err)
        err = put_block(out, CELLS);
    for (uint32_t i = 0; i < out->list.n_parts && !err; i++) {
        struct strobe_paired_part *part = &out->list.parts[i];
        const struct strobe_pair_blocks *blocks = &out->blocks[part->offset & 1];
        STROBE_ASSERT(part->offset >> 1 < blocks->n);
        part->offset = blocks->offsets[part->offset >> 1];
    }
    if (!err)
        err = strobe_paired_put_list(&bytes, &out->list);
    if (!err)
        err = strobe_file_put_paired(out->writer, STROBE_BLOCK_PAIRED_LOD, STROBE_PAIRED_LIST,
                                     out->list.n_tracks, bytes.bytes, bytes.n, &offset);
    strobe_paired_bytes_free(&bytes);
    return err;
}
