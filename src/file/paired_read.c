/* paired_read.c - reads rows, cells and lists of paired tracks. Every number comes from a stranger: counts are compared
 * with the bytes that are left before anything is allocated by them.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "file/paired.h"

void strobe_paired_body_free(struct strobe_paired_body *body)
{
    strobe_block_free(&body->block);
    strobe_unpacked_free(&body->unpacked);
    memset(body, 0, sizeof *body);
}

void strobe_paired_list_free(struct strobe_paired_list *list)
{
    free(list->tracks);
    free(list->parts);
    free(list->levels);
    memset(list, 0, sizeof *list);
}

enum strobe_err strobe_paired_load(const struct strobe_file *file, uint64_t offset,
                                   enum strobe_block_type type, struct strobe_paired_body *out)
{
    struct strobe_block_ref ref;
    enum strobe_err err = strobe_file_find(file, offset, &ref);
    if (!err && ref.head.type != type)
        err = STROBE_ERR_CORRUPT;
    if (!err)
        err = strobe_file_load(file, &ref, &out->block);
    return err ? err : strobe_block_unpack(&out->block, &out->unpacked);
}

/* The part's bytes. `n_columns`: numbers that each of its items has at the least. */
static enum strobe_err start_part(const struct strobe_paired_body *body,
                                  const struct strobe_paired_part *part, uint32_t n_columns,
                                  struct strobe_bytes *in)
{
    if (part->at > body->unpacked.n || part->n > STROBE_PAIRED_PART ||
        (uint64_t)part->n * n_columns > body->unpacked.n - part->at)
        return STROBE_ERR_CORRUPT;
    *in = strobe_bytes_over(body->unpacked.bytes + part->at, body->unpacked.n - part->at);
    return STROBE_OK;
}

static void get_note(struct strobe_bytes *in, struct strobe_paired_note *note)
{
    if (note->has & STROBE_SAID_TEXT) {
        note->n_text = (uint32_t)strobe_get_varint(in);
        note->text = (const char *)strobe_get_bytes(in, note->n_text);
    }
    if (note->has & STROBE_SAID_NAME) {
        note->n_name = (uint32_t)strobe_get_varint(in);
        note->name = (const char *)strobe_get_bytes(in, note->n_name);
    }
    if (note->has & STROBE_SAID_VALUE)
        note->value = strobe_get_varint(in);
    if (note->has & STROBE_SAID_COLOR)
        note->color = (uint32_t)strobe_get_varint(in);
}

static void get_times(struct strobe_bytes *in, uint64_t begin, int is_open, uint32_t n,
                      struct strobe_paired_row *rows)
{
    for (uint32_t i = 0; i < n; i++)
        rows[i] =
            (struct strobe_paired_row){.begin = begin += strobe_get_varint(in), .end = UINT64_MAX};
    for (uint32_t i = 0; i < n && !is_open; i++) {
        rows[i].self = strobe_get_varint(in);
        rows[i].end = rows[i].begin + rows[i].self;
        in->bad |= rows[i].end < rows[i].begin;
    }
    for (uint32_t i = 0; i < n && !is_open; i++) {
        uint64_t inside = strobe_get_varint(in);
        in->bad |= inside > rows[i].self;
        rows[i].self -= inside;
    }
}

enum strobe_err strobe_paired_get_rows(const struct strobe_paired_body *body,
                                       const struct strobe_paired_part *part, uint64_t proc,
                                       struct strobe_paired_row *rows,
                                       struct strobe_paired_notes *notes)
{
    struct strobe_bytes in;
    enum strobe_err err = start_part(body, part, 5, &in);
    uint64_t loc = 0;
    notes->n = 0;
    if (err)
        return err;
    strobe_get_varint(&in); /* its track, which the list tells as well */
    int is_open = strobe_get_varint(&in) != 0;
    strobe_get_varint(&in);
    if (strobe_get_varint(&in) != part->n)
        return STROBE_ERR_CORRUPT;
    get_times(&in, strobe_get_varint(&in), is_open, part->n, rows);
    for (uint32_t i = 0; i < part->n; i++)
        rows[i].depth = (uint32_t)strobe_get_varint(&in);
    for (uint32_t i = 0; i < part->n; i++)
        rows[i].proc = proc += (uint64_t)strobe_get_zigzag(&in);
    for (uint32_t i = 0; i < part->n; i++)
        rows[i].loc = loc += (uint64_t)strobe_get_zigzag(&in);
    for (uint32_t i = 0; i < part->n; i++) {
        uint32_t has = (uint32_t)strobe_get_varint(&in);
        rows[i].is_nested = has & STROBE_ROW_NESTED ? 1 : 0;
        has &= ~(uint32_t)STROBE_ROW_NESTED;
        if (!has)
            continue;
        if (STROBE_ARRAY_RESERVE(notes->notes, notes->room, notes->n + 1ull))
            return STROBE_ERR_NOMEM;
        notes->notes[notes->n++] = (struct strobe_paired_note){.has = has};
        rows[i].note = notes->n;
    }
    for (uint32_t i = 0; i < notes->n; i++)
        get_note(&in, &notes->notes[i]);
    return in.bad ? STROBE_ERR_CORRUPT : STROBE_OK;
}

enum strobe_err strobe_paired_get_cells(const struct strobe_paired_body *body,
                                        const struct strobe_paired_part *part, uint64_t proc,
                                        struct strobe_paired_cell *cells)
{
    struct strobe_bytes in;
    enum strobe_err err = start_part(body, part, 8, &in);
    uint64_t loc = 0;
    if (err)
        return err;
    strobe_get_varint(&in);
    uint32_t shift = (uint32_t)strobe_get_varint(&in);
    if (strobe_get_varint(&in) != part->n || shift > 63)
        return STROBE_ERR_CORRUPT;
    uint64_t bucket = strobe_get_varint(&in);
    for (uint32_t i = 0; i < part->n; i++)
        cells[i].bucket = bucket += strobe_get_varint(&in);
    for (uint32_t i = 0; i < part->n; i++)
        cells[i].depth = (uint32_t)strobe_get_varint(&in);
    for (uint32_t i = 0; i < part->n; i++)
        cells[i].count = strobe_get_varint(&in);
    for (uint32_t i = 0; i < part->n; i++)
        cells[i].busy = strobe_get_varint(&in);
    for (uint32_t i = 0; i < part->n; i++)
        cells[i].longest = strobe_get_varint(&in);
    for (uint32_t i = 0; i < part->n; i++)
        cells[i].proc = proc += (uint64_t)strobe_get_zigzag(&in);
    for (uint32_t i = 0; i < part->n; i++)
        cells[i].loc = loc += (uint64_t)strobe_get_zigzag(&in);
    for (uint32_t i = 0; i < part->n; i++)
        cells[i].end = (cells[i].bucket << shift) + strobe_get_varint(&in);
    return in.bad ? STROBE_ERR_CORRUPT : STROBE_OK;
}

/* ---- the list ---- */

/* A count of items that have so many bytes each at the least. */
static uint32_t get_count(struct strobe_bytes *in, uint32_t n_least)
{
    uint64_t n = strobe_get_varint(in);
    if (n * n_least > strobe_bytes_left(in) || n > UINT32_MAX / 2)
        in->bad = 1;
    return in->bad ? 0 : (uint32_t)n;
}

static enum strobe_err get_parts(struct strobe_bytes *in, struct strobe_paired_list *list,
                                 int is_cells, uint64_t *offset, uint32_t *first, uint32_t *n)
{
    uint64_t before = 0;
    *n = get_count(in, 5);
    *first = list->n_parts;
    if (STROBE_ARRAY_RESERVE(list->parts, list->parts_room, (uint64_t)list->n_parts + *n))
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < *n; i++) {
        struct strobe_paired_part *part = &list->parts[list->n_parts++];
        part->offset = *offset += (uint64_t)strobe_get_zigzag(in);
        part->at = (uint32_t)strobe_get_varint(in);
        part->n = (uint32_t)strobe_get_varint(in);
        part->first = before + strobe_get_varint(in);
        part->last = part->first + strobe_get_varint(in);
        part->n_before = 0;
        in->bad |= !part->n || part->n > STROBE_PAIRED_PART || part->first < before ||
                   part->last < part->first;
        before = is_cells ? part->last : part->first;
    }
    return STROBE_OK;
}

static enum strobe_err get_levels(struct strobe_bytes *in, struct strobe_paired_list *list,
                                  struct strobe_paired_track *track, uint64_t *offset)
{
    enum strobe_err err = STROBE_OK;
    track->n_levels = get_count(in, 2);
    track->first_level = list->n_levels;
    if (STROBE_ARRAY_RESERVE(list->levels, list->levels_room,
                             (uint64_t)list->n_levels + track->n_levels))
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < track->n_levels && !err; i++) {
        struct strobe_paired_level *level = &list->levels[list->n_levels++];
        level->shift = (uint32_t)strobe_get_varint(in);
        in->bad |= level->shift > 63 || (i && level->shift <= level[-1].shift);
        err = get_parts(in, list, 1, offset, &level->first_part, &level->n_parts);
    }
    return err;
}

/* Number the rows of all parts; how many they are. */
static uint64_t number_rows(struct strobe_paired_part *parts, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        parts[i].n_before = sum;
        sum += parts[i].n;
    }
    return sum;
}

static enum strobe_err get_track(struct strobe_bytes *in, struct strobe_paired_list *list,
                                 struct strobe_paired_track *track, uint64_t *offset)
{
    track->kind = (uint32_t)strobe_get_varint(in);
    track->proc = strobe_get_varint(in);
    track->track = strobe_get_varint(in);
    track->id = strobe_get_varint(in);
    track->sub = strobe_get_varint(in);
    uint64_t n_depths = strobe_get_varint(in);
    track->n_ended = strobe_get_varint(in);
    track->n_open = strobe_get_varint(in);
    enum strobe_err err =
        get_parts(in, list, 0, offset, &track->first_ended, &track->n_ended_parts);
    if (!err)
        err = get_parts(in, list, 0, offset, &track->first_open, &track->n_open_parts);
    if (!err)
        err = get_levels(in, list, track, offset);
    if (err)
        return err;
    track->n_depths = (uint32_t)n_depths;
    in->bad |=
        track->kind < STROBE_PAIRED_THREAD || track->kind > STROBE_PAIRED_GPU || !n_depths ||
        n_depths > STROBE_FILE_OPEN_MAX || in->bad ||
        number_rows(list->parts + track->first_ended, track->n_ended_parts) != track->n_ended ||
        number_rows(list->parts + track->first_open, track->n_open_parts) != track->n_open;
    return in->bad ? STROBE_ERR_CORRUPT : STROBE_OK;
}

static enum strobe_err get_tracks(struct strobe_bytes *in, struct strobe_paired_list *list)
{
    uint64_t offset = 0;
    enum strobe_err err = STROBE_OK;
    uint64_t version = strobe_get_varint(in);
    if (!version || version > STROBE_PAIRED_VERSION)
        return STROBE_ERR_NOTFOUND;
    list->knows_nested = version > 1;
    list->n_left_out = strobe_get_varint(in);
    uint32_t n = get_count(in, 11);
    if (n > STROBE_PAIRED_TRACKS)
        return STROBE_ERR_CORRUPT;
    if (STROBE_ARRAY_RESERVE(list->tracks, list->tracks_room, n))
        return STROBE_ERR_NOMEM;
    while (list->n_tracks < n && !err)
        err = get_track(in, list, &list->tracks[list->n_tracks++], &offset);
    if (!err && list->knows_nested) {
        list->n_unfinished = strobe_get_varint(in);
        list->n_no_begin = strobe_get_varint(in);
    }
    return err ? err : in->bad ? STROBE_ERR_CORRUPT : STROBE_OK;
}

enum strobe_err strobe_paired_get_list(const uint8_t *bytes, size_t n, uint64_t n_file,
                                       struct strobe_paired_list *out)
{
    struct strobe_bytes in = strobe_bytes_over(bytes, n);
    uint64_t n_items = 0;
    memset(out, 0, sizeof *out);
    enum strobe_err err = get_tracks(&in, out);
    for (uint32_t i = 0; i < out->n_parts && !err; i++)
        n_items += out->parts[i].n;
    if (!err && n_items / STROBE_FRAME_RATIO > n_file) /* or a part could be listed without end */
        err = STROBE_ERR_CORRUPT;
    if (err)
        strobe_paired_list_free(out);
    return err;
}

/* The last PAIRED_LOD block, if nothing that it would have to list is behind it and the file has no holes. 0: none. */
static uint64_t last_block(struct strobe_file *file)
{
    const struct strobe_block_filter filter = {.with_paired = 1, .unread = 1};
    struct strobe_block_iter *iter;
    struct strobe_block_ref ref;
    uint64_t found = 0;
    enum strobe_err err = strobe_file_iterate(file, &filter, &iter);
    while (!err && (err = strobe_file_next(iter, &ref)) == STROBE_OK)
        found = ref.head.type == STROBE_BLOCK_PAIRED_LOD ? ref.offset
                : ref.head.type == STROBE_BLOCK_PAIRED   ? found
                                                         : 0;
    strobe_file_end_iterate(iter);
    return strobe_file_facts(file)->n_holes ? 0 : found;
}

enum strobe_err strobe_paired_find(struct strobe_file *file, struct strobe_paired_list *out)
{
    struct strobe_paired_body body = {0};
    uint64_t offset = last_block(file);
    memset(out, 0, sizeof *out);
    enum strobe_err err = offset ? STROBE_OK : STROBE_ERR_NOTFOUND;
    if (!err)
        err = strobe_paired_load(file, offset, STROBE_BLOCK_PAIRED_LOD, &body);
    if (!err && !(body.block.ref.head.flags & STROBE_PAIRED_LIST))
        err = STROBE_ERR_NOTFOUND;
    if (!err)
        err = strobe_paired_get_list(body.unpacked.bytes, body.unpacked.n,
                                     strobe_file_facts(file)->n_bytes, out);
    strobe_paired_body_free(&body);
    return err == STROBE_ERR_CORRUPT ? STROBE_ERR_NOTFOUND : err;
}
