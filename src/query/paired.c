/* paired.c - reads parts of paired tracks, and keeps the last few.  SPDX-License-Identifier: MIT */
#include "query/paired.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

struct strobe_paired_slot {
    uint32_t part; /* number + 1 in the list, 0: none */
    uint64_t used;
    struct strobe_pixel_row *rows; /* owned: STROBE_PAIRED_PART */
    struct strobe_paired_notes notes;
    char *texts; /* owned: of the notes */
    size_t texts_room;
};

enum strobe_err strobe_paired_open(struct strobe_trace *trace, struct strobe_paired **out)
{
    struct strobe_paired_list list;
    *out = NULL;
    enum strobe_err err = strobe_paired_find(trace->file, &list);
    if (err)
        return err;
    struct strobe_paired *paired = calloc(1, sizeof *paired);
    if (!paired) {
        strobe_paired_list_free(&list);
        return STROBE_ERR_NOMEM;
    }
    paired->trace = trace;
    paired->list = list;
    paired->slots = calloc(STROBE_PAIRED_KEPT, sizeof *paired->slots);
    paired->decoded = malloc(STROBE_PAIRED_PART * sizeof *paired->decoded);
    paired->cells = malloc(STROBE_PAIRED_PART * sizeof *paired->cells);
    if (!paired->slots || !paired->decoded || !paired->cells) {
        strobe_paired_close(paired);
        return STROBE_ERR_NOMEM;
    }
    *out = paired;
    return STROBE_OK;
}

void strobe_paired_close(struct strobe_paired *paired)
{
    if (!paired)
        return;
    for (int i = 0; paired->slots && i < STROBE_PAIRED_KEPT; i++) {
        free(paired->slots[i].rows);
        free(paired->slots[i].notes.notes);
        free(paired->slots[i].texts);
    }
    free(paired->slots);
    free(paired->decoded);
    free(paired->cells);
    strobe_paired_body_free(&paired->body);
    strobe_paired_list_free(&paired->list);
    free(paired);
}

/* ---- parts ---- */

static enum strobe_err load(struct strobe_paired *paired, uint64_t offset,
                            enum strobe_block_type type)
{
    if (paired->body_offset == offset)
        return STROBE_OK;
    paired->body_offset = 0;
    enum strobe_err err = strobe_paired_load(paired->trace->file, offset, type, &paired->body);
    if (!err)
        paired->body_offset = offset;
    return err;
}

/* The rows of a part, to `decoded`. CORRUPT counts: answers lack them until somebody asks. */
static enum strobe_err get_rows(struct strobe_paired *paired, const struct strobe_paired_part *part,
                                const struct strobe_paired_track *track,
                                struct strobe_paired_notes *notes)
{
    enum strobe_err err = load(paired, part->offset, STROBE_BLOCK_PAIRED);
    if (!err)
        err = strobe_paired_get_rows(&paired->body, part, track->proc, paired->decoded, notes);
    for (uint32_t i = 0; i < part->n && !err; i++)
        if (paired->decoded[i].depth >= track->n_depths)
            err = STROBE_ERR_CORRUPT;
    paired->n_bad += err == STROBE_ERR_CORRUPT;
    return err;
}

/* The index of a process by its number; those of neighbours are mostly the same. */
struct process_of {
    uint64_t proc;
    uint32_t process; /* index + 1, 0: none yet */
};

static uint32_t process_of(struct strobe_trace *trace, struct process_of *last, uint64_t proc)
{
    if (!last->process || last->proc != proc) {
        uint32_t process = strobe_trace_process(trace, proc);
        *last = (struct process_of){proc, process == STROBE_IDMAP_NONE ? 1 : process + 1};
    }
    return last->process - 1;
}

/* The texts that the notes speak of, out of the body. 0 without memory. */
static int keep_texts(struct strobe_paired_slot *slot)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < slot->notes.n; i++)
        n += (uint64_t)slot->notes.notes[i].n_text + slot->notes.notes[i].n_name;
    if (STROBE_ARRAY_RENEW(slot->texts, slot->texts_room, n + 1))
        return 0;
    char *to = slot->texts;
    for (uint32_t i = 0; i < slot->notes.n; i++) {
        struct strobe_paired_note *note = &slot->notes.notes[i];
        if (note->n_text)
            memcpy(to, note->text, note->n_text);
        note->text = note->has & STROBE_SAID_TEXT ? to : NULL;
        to += note->n_text;
        if (note->n_name)
            memcpy(to, note->name, note->n_name);
        note->name = note->has & STROBE_SAID_NAME ? to : NULL;
        to += note->n_name;
    }
    return 1;
}

static enum strobe_err fill(struct strobe_paired *paired, uint32_t track, uint32_t number,
                            struct strobe_paired_slot *slot)
{
    const struct strobe_paired_part *part = &paired->list.parts[number];
    struct process_of last = {0};
    if (!slot->rows && !(slot->rows = malloc(STROBE_PAIRED_PART * sizeof *slot->rows)))
        return STROBE_ERR_NOMEM;
    enum strobe_err err = get_rows(paired, part, &paired->list.tracks[track], &slot->notes);
    if (!err && slot->notes.n && !keep_texts(slot))
        err = STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < part->n && !err; i++) {
        const struct strobe_paired_row *row = &paired->decoded[i];
        uint32_t process = process_of(paired->trace, &last, row->proc);
        slot->rows[i] =
            (struct strobe_pixel_row){row->begin, row->end,  strobe_table_loc(process, row->loc),
                                      row->depth, row->note, row->self};
    }
    return err;
}

static struct strobe_paired_slot *rows_of(struct strobe_paired *paired, uint32_t track,
                                          uint32_t number)
{
    struct strobe_paired_slot *oldest = &paired->slots[0];
    STROBE_ASSERT(number < paired->list.n_parts);
    for (uint32_t i = 0; i < STROBE_PAIRED_KEPT; i++) {
        struct strobe_paired_slot *slot = &paired->slots[i];
        if (slot->part == number + 1) {
            slot->used = ++paired->clock;
            return slot;
        }
        oldest = slot->used < oldest->used ? slot : oldest;
    }
    oldest->part = 0;
    oldest->used = ++paired->clock;
    if (fill(paired, track, number, oldest) != STROBE_OK)
        return NULL;
    oldest->part = number + 1;
    return oldest;
}

enum strobe_err strobe_paired_each(struct strobe_paired *paired, uint32_t number, int is_open,
                                   uint64_t lo, uint64_t hi, strobe_paired_take *take,
                                   void *context)
{
    const struct strobe_paired_track *track = &paired->list.tracks[number];
    const struct strobe_paired_part *parts =
        paired->list.parts + (is_open ? track->first_open : track->first_ended);
    uint32_t n_parts = is_open ? track->n_open_parts : track->n_ended_parts;
    struct strobe_paired_notes notes = {0};
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < n_parts && parts[i].first <= hi && !err; i++) {
        if (i + 1 < n_parts && parts[i + 1].first < lo)
            continue; /* rows are ordered by their begins */
        err = get_rows(paired, &parts[i], track, &notes);
        const struct strobe_paired_row *rows = paired->decoded;
        uint64_t from = err ? 0 : STROBE_ARRAY_BISECT(0, parts[i].n, k, rows[k].begin < lo);
        uint64_t to = err ? 0 : STROBE_ARRAY_BISECT(from, parts[i].n, k, rows[k].begin <= hi);
        if (from < to)
            err = take(context, track, rows + from, (uint32_t)(to - from), notes.notes);
    }
    free(notes.notes);
    return err;
}

/* ---- walks ---- */

/* The next part of the file that may have something of the ticks. 0: there is none. */
static int next_part(struct strobe_row_walk *walk)
{
    const struct strobe_paired_list *list = &walk->place->paired->list;
    const struct strobe_paired_track *track = &list->tracks[walk->place->track];
    uint32_t n = track->n_ended_parts + track->n_open_parts;
    for (; walk->step < n; walk->step++) {
        uint32_t i = walk->is_back ? n - 1 - walk->step : walk->step;
        int is_open = i >= track->n_ended_parts;
        uint32_t number =
            is_open ? track->first_open + (i - track->n_ended_parts) : track->first_ended + i;
        const struct strobe_paired_part *part = &list->parts[number];
        if (part->first > walk->hi || (!is_open && part->last < walk->lo) ||
            walk->only == (is_open ? STROBE_ROWS_ENDED : STROBE_ROWS_OPEN))
            continue;
        walk->is_cut = walk->max_parts && walk->n_read == walk->max_parts;
        if (walk->is_cut)
            return 0;
        walk->step++;
        walk->n_read++;
        walk->part = number;
        walk->n = part->n;
        walk->at = 0;
        walk->before = part->n_before + (is_open ? track->n_ended : 0);
        return 1;
    }
    return 0;
}

static int next_rows(struct strobe_row_walk *walk)
{
    const struct strobe_rows_place *place = walk->place;
    if (place->paired)
        return next_part(walk);
    if (walk->step || !place->n)
        return 0;
    uint32_t n_ended =
        (uint32_t)STROBE_ARRAY_BISECT(0, place->n, i, place->rows[i].end != UINT64_MAX);
    uint32_t first = walk->only == STROBE_ROWS_OPEN ? n_ended : 0;
    uint32_t end = walk->only == STROBE_ROWS_ENDED ? n_ended : place->n;
    if (place->is_flat) { /* those in between are not even looked at: they may lie in a file */
        first = (uint32_t)STROBE_ARRAY_BISECT(first, n_ended, i, place->rows[i].end < walk->lo);
        end = (uint32_t)STROBE_ARRAY_BISECT(first, end, i, place->rows[i].begin <= walk->hi);
    }
    walk->step = 1;
    walk->before = first;
    walk->rows = place->rows + first;
    walk->n = end - first;
    return walk->n != 0;
}

const struct strobe_pixel_row *strobe_row_walk_next(struct strobe_row_walk *walk, uint32_t *number)
{
    struct strobe_paired *paired = walk->place->paired;
    const struct strobe_paired_slot *slot = NULL;
    do {
        if (walk->at == walk->n && !next_rows(walk)) {
            walk->n = walk->at = 0;
            return NULL;
        }
        if (paired && !(slot = rows_of(paired, walk->place->track, walk->part)))
            walk->at = walk->n; /* damage, or no memory */
    } while (walk->at == walk->n);
    uint32_t i = walk->is_back ? walk->n - 1 - walk->at : walk->at;
    walk->at++;
    if (number)
        *number = (uint32_t)(walk->before + i);
    const struct strobe_pixel_row *row = slot ? &slot->rows[i] : &walk->rows[i];
    walk->note = slot && row->note ? &slot->notes.notes[row->note - 1] : NULL;
    return row;
}

const struct strobe_pixel_row *strobe_rows_get(const struct strobe_rows_place *place,
                                               uint32_t number,
                                               const struct strobe_paired_note **note)
{
    struct strobe_paired *paired = place->paired;
    *note = NULL;
    if (!paired)
        return number < place->n ? &place->rows[number] : NULL;
    const struct strobe_paired_track *track = &paired->list.tracks[place->track];
    int is_open = number >= track->n_ended;
    uint64_t at = is_open ? number - track->n_ended : number;
    const struct strobe_paired_part *parts =
        paired->list.parts + (is_open ? track->first_open : track->first_ended);
    uint64_t i = STROBE_ARRAY_BISECT(0, is_open ? track->n_open_parts : track->n_ended_parts, k,
                                     parts[k].n_before + parts[k].n <= at);
    if (i == (is_open ? track->n_open_parts : track->n_ended_parts))
        return NULL;
    const struct strobe_paired_slot *slot =
        rows_of(paired, place->track, (uint32_t)(parts + i - paired->list.parts));
    const struct strobe_pixel_row *row = slot ? &slot->rows[at - parts[i].n_before] : NULL;
    if (row && row->note)
        *note = &slot->notes.notes[row->note - 1];
    return row;
}

/* ---- cells ---- */

const struct strobe_paired_level *strobe_paired_level_for(const struct strobe_rows_place *place,
                                                          uint32_t shift)
{
    const struct strobe_paired_list *list = &place->paired->list;
    const struct strobe_paired_track *track = &list->tracks[place->track];
    const struct strobe_paired_level *found = NULL;
    for (uint32_t i = 0; i < track->n_levels; i++)
        if (list->levels[track->first_level + i].shift <= shift)
            found = &list->levels[track->first_level + i];
    return found;
}

static struct strobe_lod_cell cell_of(const struct strobe_paired_cell *from, uint32_t process)
{
    struct strobe_lod_cell cell = {.bucket = from->bucket,
                                   .busy = from->busy,
                                   .count = (uint32_t)from->count,
                                   .depth = from->depth};
    if (from->count) {
        cell.longest = from->longest;
        cell.loc = strobe_table_loc(process, from->loc) + 1;
        cell.end = from->end;
    }
    return cell;
}

enum strobe_err strobe_paired_cells(const struct strobe_rows_place *place,
                                    const struct strobe_paired_level *level, uint64_t lo,
                                    uint64_t hi,
                                    void (*take)(void *context, const struct strobe_lod_cell *cell),
                                    void *context)
{
    struct strobe_paired *paired = place->paired;
    struct process_of last = {0};
    for (uint32_t i = 0; i < level->n_parts; i++) {
        const struct strobe_paired_part *part = &paired->list.parts[level->first_part + i];
        if (part->first > hi || part->last < lo)
            continue;
        enum strobe_err err = load(paired, part->offset, STROBE_BLOCK_PAIRED_LOD);
        if (!err)
            err = strobe_paired_get_cells(&paired->body, part,
                                          paired->list.tracks[place->track].proc, paired->cells);
        if (err == STROBE_ERR_CORRUPT) {
            paired->n_bad++;
            continue;
        }
        if (err)
            return err;
        for (uint32_t k = 0; k < part->n; k++) {
            const struct strobe_paired_cell *from = &paired->cells[k];
            if (from->bucket < lo || from->bucket > hi)
                continue;
            struct strobe_lod_cell cell =
                cell_of(from, process_of(paired->trace, &last, from->proc));
            take(context, &cell);
        }
    }
    return STROBE_OK;
}
