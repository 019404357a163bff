/* scan.c - looks for zones where the heads of blocks say that there may be some.  SPDX-License-Identifier: MIT */
#include "query/scan.h"

#include <stdlib.h>

/* Heads cost something, too: so many events are as much as one. */
enum { HEAD_EVENTS = 1024 };

/* 1: a zone of the part may be wanted. */
static int is_candidate(const struct strobe_scan *scan, const struct strobe_part *part,
                        uint32_t thread)
{
    const struct strobe_trace *trace = scan->view->trace;
    if (trace->threads[thread].twin)
        return 0; /* its zones are paired with those of its other tracks */
    if (scan->threads && (thread >= scan->n_threads || !scan->threads[thread]))
        return 0;
    if (!part->n_events || part->last_tick < scan->lo ||
        part->first_tick - part->start_early > scan->hi)
        return 0;
    if (!scan->locs)
        return 1;
    uint32_t process = trace->threads[thread].process;
    for (uint32_t i = 0; i < part->n_locs; i++)
        if (strobe_scan_has_loc(scan, strobe_trace_loc(trace, process, part->locs[i])))
            return 1;
    for (uint32_t i = 0; i < part->n_stack; i++)
        if (strobe_scan_has_loc(scan, strobe_trace_loc(trace, process, part->stack[i].loc)))
            return 1;
    return 0;
}

/* 1: the zone lies where it is wanted. */
static int is_inside(const struct strobe_scan *scan, const struct strobe_zone_row *zone)
{
    uint64_t first = scan->is_touching ? zone->begin + zone->ticks : zone->begin;
    return zone->state == STROBE_ZONE_ENDED && first >= scan->lo && zone->begin <= scan->hi;
}

static int show_part(struct strobe_scan *scan, const struct strobe_part *part, uint32_t thread,
                     const struct strobe_replay *replay)
{
    const struct strobe_trace *trace = scan->view->trace;
    uint32_t process = trace->threads[thread].process;
    for (uint32_t i = 0; i < replay->n_zones; i++) {
        const struct strobe_zone_row *zone = &replay->zones[i];
        if (!is_inside(scan, zone))
            continue;
        uint64_t id = strobe_zone_loc(part, zone);
        uint32_t loc = strobe_trace_loc(trace, process, id);
        if (strobe_scan_has_loc(scan, loc) &&
            !scan->zone(scan->context, thread, loc, id, zone,
                        zone->note ? &replay->notes[zone->note - 1] : NULL))
            return 0;
    }
    return 1;
}

/* Parts of one block; the events that were decoded. */
static uint64_t scan_block(struct strobe_scan *scan, uint32_t b, struct strobe_replay *replay,
                           int *goes_on)
{
    struct strobe_view *view = scan->view;
    const struct strobe_trace *trace = view->trace;
    const struct strobe_events *events = strobe_view_head(view, b), *whole = NULL;
    uint64_t n_events = HEAD_EVENTS;
    for (uint32_t i = 0; events && i < events->n_parts && *goes_on; i++) {
        const struct strobe_part *part = &events->parts[i];
        uint32_t thread = strobe_view_thread(view, part->proc, part->track);
        if (thread == STROBE_IDMAP_NONE || !is_candidate(scan, part, thread))
            continue;
        if (scan->skip && scan->skip(scan, part, trace->threads[thread].process))
            continue;
        if (!whole && !(whole = strobe_view_glance(view, b)))
            break;
        unsigned flags =
            (scan->want_notes ? STROBE_REPLAY_NOTES : 0) | (scan->carries ? STROBE_REPLAY_KEPT : 0);
        strobe_replay_part(whole, &whole->parts[i], &trace->schema, flags,
                           scan->carries ? &scan->carries[thread] : NULL, replay);
        scan->n_decoded++;
        n_events += part->n_events;
        *goes_on = show_part(scan, &whole->parts[i], thread, replay);
    }
    return n_events;
}

enum strobe_err strobe_scan_run(struct strobe_scan *scan)
{
    struct strobe_view *view = scan->view;
    struct strobe_replay replay = {0};
    uint64_t n_events = 0;
    uint32_t b = scan->next_block;
    int goes_on = 1;
    scan->is_cut = 0;
    while (goes_on && !scan->is_cut) {
        b = strobe_view_next(view, b, scan->lo, scan->hi);
        if (b == STROBE_VIEW_NO_BLOCK)
            break;
        if (scan->kinds && !(strobe_view_block(view, b).kinds & scan->kinds)) {
            b++;
            continue;
        }
        n_events += scan_block(scan, b++, &replay, &goes_on);
        scan->is_cut = scan->max_events && n_events >= scan->max_events && b < view->n_blocks;
    }
    scan->next_block = b == STROBE_VIEW_NO_BLOCK ? view->n_blocks : b;
    strobe_replay_free(&replay);
    return STROBE_OK;
}
