/* ghosts.c - see ghosts.h. The frames of the last sample are open; the next one closes those that it lacks.  SPDX-License-Identifier: MIT */
#include "query/ghosts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/strips.h"

enum { APART = 3 }; /* periods */

struct open {
    struct strobe_ghost frames[STROBE_GHOST_DEPTHS];
    uint32_t n;
    uint64_t last; /* tick of the last sample */
    int failed;
};

static void close_from(struct strobe_ghosts *ghosts, struct open *open, uint32_t depth,
                       uint64_t end)
{
    for (uint32_t d = depth; d < open->n; d++) {
        struct strobe_ghost ghost = open->frames[d], *row = NULL;
        ghost.end = end > ghost.begin ? end : ghost.begin + 1;
        if (ghosts->n_rows >= STROBE_GHOSTS_MAX)
            ghosts->is_cut = 1;
        else if ((row = STROBE_ARRAY_PUSH(ghosts->rows, ghosts->n_rows, ghosts->rows_room)))
            *row = ghost;
        else
            open->failed = 1;
    }
    open->n = depth < open->n ? depth : open->n;
}

/* Nothing goes on from the last sample. */
static void close_all(struct strobe_ghosts *ghosts, struct open *open, uint64_t tick)
{
    uint64_t end = open->last + ghosts->period;
    close_from(ghosts, open, 0, tick < end ? tick : end);
}

static void take_sample(struct strobe_ghosts *ghosts, struct open *open, uint32_t process,
                        const struct strobe_event *event)
{
    uint32_t path[STROBE_GHOST_DEPTHS], same = 0;
    uint32_t n = strobe_sample_tree_path(ghosts->names, process, event->fields[1].list,
                                         (uint32_t)event->fields[1].u, path, STROBE_GHOST_DEPTHS);
    if (event->tick - open->last > APART * ghosts->period)
        close_all(ghosts, open, event->tick);
    while (same < n && same < open->n && open->frames[same].function == path[same])
        open->frames[same++].n++;
    close_from(ghosts, open, same, event->tick);
    for (; open->n < n; open->n++)
        open->frames[open->n] = (struct strobe_ghost){
            .begin = event->tick, .function = path[open->n], .depth = open->n, .n = 1};
    open->last = event->tick;
    ghosts->n_depths = n > ghosts->n_depths ? n : ghosts->n_depths;
    ghosts->n_samples++;
}

static void do_part(struct strobe_ghosts *ghosts, const struct strobe_events *events,
                    const struct strobe_part *part, uint32_t thread, struct open *open)
{
    const struct strobe_trace *trace = ghosts->view->trace;
    struct strobe_joiner joiner = {0};
    struct strobe_cursor cursor;
    struct strobe_event event;
    uint64_t early = APART * ghosts->period;
    strobe_cursor_start(&cursor, events, part, &trace->schema, &joiner);
    while (strobe_cursor_next(&cursor, &event) == STROBE_OK) {
        if (event.tick + early < ghosts->lo || event.tick > ghosts->hi + early)
            continue;
        if (event.kind == STROBE_KIND_SWITCH_OUT && !strobe_strips_is_ready(event.fields[1].u))
            close_all(ghosts, open, event.tick);
        else if (event.kind == STROBE_KIND_SAMPLE && ghosts->n_samples >= ghosts->max_samples)
            ghosts->is_cut = 1;
        else if (event.kind == STROBE_KIND_SAMPLE)
            take_sample(ghosts, open, trace->threads[thread].process, &event);
    }
    strobe_joiner_free(&joiner);
}

static uint32_t first_of(const struct strobe_trace *trace, uint32_t thread)
{
    return trace->threads[thread].twin ? trace->threads[thread].twin - 1 : thread;
}

enum strobe_err strobe_ghosts_run(struct strobe_ghosts *ghosts)
{
    struct strobe_view *view = ghosts->view;
    struct open *open = calloc(1, sizeof *open);
    uint64_t early = APART * ghosts->period, lo = ghosts->lo > early ? ghosts->lo - early : 0;
    uint64_t hi = ghosts->hi < UINT64_MAX - early ? ghosts->hi + early : UINT64_MAX;
    if (!open)
        return STROBE_ERR_NOMEM;
    for (uint32_t b = 0;
         !ghosts->is_cut && (b = strobe_view_next(view, b, lo, hi)) != STROBE_VIEW_NO_BLOCK; b++) {
        if (!(strobe_view_block(view, b).kinds & strobe_strips_kinds()))
            continue;
        const struct strobe_events *events = strobe_view_events(view, b);
        for (uint32_t i = 0; events && i < events->n_parts; i++) {
            const struct strobe_part *part = &events->parts[i];
            uint32_t thread = strobe_view_thread(view, part->proc, part->track);
            if (part->n_events && part->last_tick >= lo && part->first_tick <= hi &&
                thread != STROBE_IDMAP_NONE &&
                first_of(view->trace, thread) == first_of(view->trace, ghosts->thread))
                do_part(ghosts, events, part, thread, open);
        }
    }
    close_all(ghosts, open, UINT64_MAX);
    enum strobe_err err = open->failed ? STROBE_ERR_NOMEM : STROBE_OK;
    free(open);
    return err;
}

void strobe_ghosts_free(struct strobe_ghosts *ghosts)
{
    free(ghosts->rows);
    memset(ghosts, 0, sizeof *ghosts);
}
