/* walk_rows.c - see the header. A block of rows that is damaged is noticed before the first zone is shown.  SPDX-License-Identifier: MIT */
#include "query/walk_rows.h"

#include <stdlib.h>

enum { CHUNK = 512 }; /* zones of a batch */

/* A batch under construction; each zone has a slot and a note of its own. */
struct showing {
    struct strobe_trace *trace; /* borrowed */
    enum strobe_err (*show)(void *context, const struct strobe_batch *batch);
    void *context; /* borrowed: of show */
    struct strobe_zone_row zones[CHUNK];
    struct strobe_note notes[CHUNK]; /* texts are borrowed */
    uint32_t locs[CHUNK];
    uint64_t loc_ids[CHUNK];
};

static enum strobe_err look_at_rows(void *context, const struct strobe_paired_track *track,
                                    const struct strobe_paired_row *rows, uint32_t n_rows,
                                    const struct strobe_paired_note *notes)
{
    (void)context, (void)track, (void)rows, (void)n_rows, (void)notes;
    return STROBE_OK;
}

/* Each fiber's rows, one fiber behind the other. */
static enum strobe_err each_fiber(struct strobe_paired *paired, const struct strobe_walk *walk,
                                  int is_open, strobe_paired_take *take, void *context)
{
    uint64_t lo = walk->by_tick ? walk->tick_min : 0;
    uint64_t hi = walk->by_tick ? walk->tick_max : UINT64_MAX;
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < paired->list.n_tracks && !err; i++)
        if (paired->list.tracks[i].kind == STROBE_PAIRED_FIBER)
            err = strobe_paired_each(paired, i, is_open, lo, hi, take, context);
    return err;
}

struct strobe_paired *strobe_walk_rows_open(const struct strobe_walk *walk)
{
    struct strobe_paired *paired;
    if (!walk->any_order || !walk->want_fibers || walk->want_spans || walk->want_places ||
        walk->offset_min || walk->settles || walk->trace->has_twins ||
        !strobe_file_facts(walk->trace->file)->totals.has_totals ||
        strobe_paired_open(walk->trace, &paired))
        return NULL;
    const struct strobe_paired_list *list = &paired->list;
    int is_all =
        list->knows_nested && !list->n_left_out && !list->n_unfinished && !list->n_no_begin;
    if (is_all && !each_fiber(paired, walk, 0, look_at_rows, NULL) &&
        !each_fiber(paired, walk, 1, look_at_rows, NULL))
        return paired;
    strobe_paired_close(paired);
    return NULL;
}

static struct strobe_note note_of(const struct strobe_paired_note *from)
{
    return (struct strobe_note){
        .text = from->has & STROBE_SAID_TEXT ? (char *)(uintptr_t)from->text : NULL,
        .name = from->has & STROBE_SAID_NAME ? (char *)(uintptr_t)from->name : NULL,
        .n_text = from->n_text,
        .n_name = from->n_name,
        .value = from->value,
        .color = from->color,
        .has_value = (from->has & STROBE_SAID_VALUE) != 0,
        .has_color = (from->has & STROBE_SAID_COLOR) != 0,
    };
}

static enum strobe_err show_chunk(struct showing *showing, const struct strobe_paired_track *track,
                                  const struct strobe_paired_row *rows, uint32_t n,
                                  const struct strobe_paired_note *notes)
{
    uint32_t process = strobe_trace_process(showing->trace, track->proc);
    if (process == STROBE_IDMAP_NONE)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        int has_ended = rows[i].end != UINT64_MAX;
        showing->zones[i] = (struct strobe_zone_row){
            .begin = rows[i].begin,
            .ticks = has_ended ? rows[i].end - rows[i].begin : 0,
            .self = has_ended ? rows[i].self : 0,
            .slot = i,
            .depth = rows[i].depth,
            .note = rows[i].note ? i + 1 : 0,
            .state = has_ended ? STROBE_ZONE_ENDED : STROBE_ZONE_OPEN,
            .is_nested = rows[i].is_nested,
        };
        if (rows[i].note)
            showing->notes[i] = note_of(&notes[rows[i].note - 1]);
        showing->loc_ids[i] = rows[i].loc;
        showing->locs[i] = i && rows[i].loc == rows[i - 1].loc
                               ? showing->locs[i - 1]
                               : strobe_trace_loc(showing->trace, process, rows[i].loc);
    }
    const struct strobe_batch batch = {.kind = STROBE_BATCH_FIBER,
                                       .process = process,
                                       .thread = STROBE_IDMAP_NONE,
                                       .id = track->id,
                                       .zones = showing->zones,
                                       .n_zones = n,
                                       .locs = showing->locs,
                                       .loc_ids = showing->loc_ids,
                                       .n_slots = n,
                                       .notes = showing->notes};
    return showing->show(showing->context, &batch);
}

static enum strobe_err show_rows(void *context, const struct strobe_paired_track *track,
                                 const struct strobe_paired_row *rows, uint32_t n_rows,
                                 const struct strobe_paired_note *notes)
{
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < n_rows && !err; i += CHUNK)
        err = show_chunk(context, track, rows + i, n_rows - i < CHUNK ? n_rows - i : CHUNK, notes);
    return err;
}

enum strobe_err
strobe_walk_rows_show(struct strobe_paired *paired, const struct strobe_walk *walk, int is_open,
                      enum strobe_err (*show)(void *context, const struct strobe_batch *batch),
                      void *context)
{
    struct showing *showing = calloc(1, sizeof *showing);
    if (!showing)
        return STROBE_ERR_NOMEM;
    showing->trace = walk->trace;
    showing->show = show;
    showing->context = context;
    enum strobe_err err = each_fiber(paired, walk, is_open, show_rows, showing);
    free(showing);
    return err;
}
