/* paired_write.c - rows, cells and lists of paired tracks as bytes. See paired.h.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "file/paired.h"

void strobe_paired_bytes_free(struct strobe_paired_bytes *out)
{
    free(out->bytes);
    memset(out, 0, sizeof *out);
}

static enum strobe_err reserve(struct strobe_paired_bytes *out, uint64_t n_numbers,
                               uint64_t n_bytes)
{
    return STROBE_ARRAY_RESERVE(out->bytes, out->room,
                                out->n + n_numbers * STROBE_VARINT_MAX + n_bytes);
}

static void put(struct strobe_paired_bytes *out, uint64_t value)
{
    STROBE_ASSERT(out->n + STROBE_VARINT_MAX <= out->room);
    out->n = (size_t)(strobe_varint_put(out->bytes + out->n, value) - out->bytes);
}

static void put_difference(struct strobe_paired_bytes *out, uint64_t value, uint64_t before)
{
    put(out, strobe_zigzag((int64_t)(value - before)));
}

static void put_text(struct strobe_paired_bytes *out, const char *text, uint32_t n)
{
    put(out, n);
    STROBE_ASSERT(out->n + n <= out->room);
    if (n)
        memcpy(out->bytes + out->n, text, n);
    out->n += n;
}

static void put_note(struct strobe_paired_bytes *out, const struct strobe_paired_note *note)
{
    if (note->has & STROBE_SAID_TEXT)
        put_text(out, note->text, note->n_text);
    if (note->has & STROBE_SAID_NAME)
        put_text(out, note->name, note->n_name);
    if (note->has & STROBE_SAID_VALUE)
        put(out, note->value);
    if (note->has & STROBE_SAID_COLOR)
        put(out, note->color);
}

static void put_times(struct strobe_paired_bytes *out, const struct strobe_paired_head *head,
                      const struct strobe_paired_row *rows)
{
    for (uint32_t i = 0; i < head->n; i++) {
        STROBE_ASSERT(!i || rows[i].begin >= rows[i - 1].begin);
        STROBE_ASSERT((rows[i].end == UINT64_MAX) == !!head->is_open);
        put(out, i ? rows[i].begin - rows[i - 1].begin : 0);
    }
    for (uint32_t i = 0; i < head->n && !head->is_open; i++)
        put(out, rows[i].end - rows[i].begin);
    for (uint32_t i = 0; i < head->n && !head->is_open; i++)
        put(out, rows[i].end - rows[i].begin - rows[i].self);
}

enum strobe_err strobe_paired_put_rows(struct strobe_paired_bytes *out,
                                       const struct strobe_paired_head *head,
                                       const struct strobe_paired_row *rows,
                                       const struct strobe_paired_note *notes)
{
    uint64_t n_text = 0;
    STROBE_ASSERT(head->n && head->n <= STROBE_PAIRED_PART);
    for (uint32_t i = 0; i < head->n; i++)
        n_text += rows[i].note ? (uint64_t)notes[rows[i].note - 1].n_text +
                                     notes[rows[i].note - 1].n_name + 4ull * STROBE_VARINT_MAX
                               : 0;
    enum strobe_err err = reserve(out, 5 + 7ull * head->n, n_text);
    if (err)
        return err;
    put(out, head->track);
    put(out, !!head->is_open);
    put(out, head->first_row);
    put(out, head->n);
    put(out, rows[0].begin);
    put_times(out, head, rows);
    for (uint32_t i = 0; i < head->n; i++)
        put(out, rows[i].depth);
    for (uint32_t i = 0; i < head->n; i++)
        put_difference(out, rows[i].proc, i ? rows[i - 1].proc : head->proc);
    for (uint32_t i = 0; i < head->n; i++)
        put_difference(out, rows[i].loc, i ? rows[i - 1].loc : 0);
    for (uint32_t i = 0; i < head->n; i++)
        put(out, (rows[i].note ? notes[rows[i].note - 1].has : 0) |
                     (rows[i].is_nested ? STROBE_ROW_NESTED : 0u));
    for (uint32_t i = 0; i < head->n; i++)
        if (rows[i].note)
            put_note(out, &notes[rows[i].note - 1]);
    return STROBE_OK;
}

enum strobe_err strobe_paired_put_cells(struct strobe_paired_bytes *out,
                                        const struct strobe_paired_head *head,
                                        const struct strobe_paired_cell *cells)
{
    uint64_t proc = head->proc, loc = 0;
    STROBE_ASSERT(head->n && head->n <= STROBE_PAIRED_PART);
    enum strobe_err err = reserve(out, 4 + 8ull * head->n, 0);
    if (err)
        return err;
    put(out, head->track);
    put(out, head->shift);
    put(out, head->n);
    put(out, cells[0].bucket);
    for (uint32_t i = 0; i < head->n; i++)
        put(out, i ? cells[i].bucket - cells[i - 1].bucket : 0);
    for (uint32_t i = 0; i < head->n; i++)
        put(out, cells[i].depth);
    for (uint32_t i = 0; i < head->n; i++)
        put(out, cells[i].count);
    for (uint32_t i = 0; i < head->n; i++)
        put(out, cells[i].busy);
    for (uint32_t i = 0; i < head->n; i++)
        put(out, cells[i].count ? cells[i].longest : 0);
    for (uint32_t i = 0; i < head->n; i++) {
        put_difference(out, cells[i].count ? cells[i].proc : proc, proc);
        proc = cells[i].count ? cells[i].proc : proc;
    }
    for (uint32_t i = 0; i < head->n; i++) {
        put_difference(out, cells[i].count ? cells[i].loc : loc, loc);
        loc = cells[i].count ? cells[i].loc : loc;
    }
    for (uint32_t i = 0; i < head->n; i++)
        put(out, cells[i].count ? cells[i].end - (cells[i].bucket << head->shift) : 0);
    return STROBE_OK;
}

/* Parts of one kind; `offset` goes on from part to part of the whole list. */
static void put_parts(struct strobe_paired_bytes *out, const struct strobe_paired_part *parts,
                      uint32_t n, int is_cells, uint64_t *offset)
{
    uint64_t before = 0;
    put(out, n);
    for (uint32_t i = 0; i < n; i++) {
        put_difference(out, parts[i].offset, *offset);
        put(out, parts[i].at);
        put(out, parts[i].n);
        put(out, parts[i].first - before);
        put(out, parts[i].last - parts[i].first);
        *offset = parts[i].offset;
        before = is_cells ? parts[i].last : parts[i].first;
    }
}

static void put_track(struct strobe_paired_bytes *out, const struct strobe_paired_list *list,
                      const struct strobe_paired_track *track, uint64_t *offset)
{
    const uint64_t fields[] = {track->kind, track->proc,     track->track,   track->id,
                               track->sub,  track->n_depths, track->n_ended, track->n_open};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        put(out, fields[i]);
    put_parts(out, list->parts + track->first_ended, track->n_ended_parts, 0, offset);
    put_parts(out, list->parts + track->first_open, track->n_open_parts, 0, offset);
    put(out, track->n_levels);
    for (uint32_t i = 0; i < track->n_levels; i++) {
        const struct strobe_paired_level *level = &list->levels[track->first_level + i];
        put(out, level->shift);
        put_parts(out, list->parts + level->first_part, level->n_parts, 1, offset);
    }
}

enum strobe_err strobe_paired_put_list(struct strobe_paired_bytes *out,
                                       const struct strobe_paired_list *list)
{
    uint64_t offset = 0;
    enum strobe_err err =
        reserve(out, 5 + 12ull * list->n_tracks + 2ull * list->n_levels + 5ull * list->n_parts, 0);
    if (err)
        return err;
    put(out, STROBE_PAIRED_VERSION);
    put(out, list->n_left_out);
    put(out, list->n_tracks);
    for (uint32_t i = 0; i < list->n_tracks; i++)
        put_track(out, list, &list->tracks[i], &offset);
    put(out, list->n_unfinished);
    put(out, list->n_no_begin);
    return STROBE_OK;
}
