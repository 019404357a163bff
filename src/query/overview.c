/* overview.c - see overview.h.  SPDX-License-Identifier: MIT */
#include "query/overview.h"

#include <stdlib.h>
#include <string.h>

#include "query/feed.h"

/* Sink: list the zones that are open. */
static enum strobe_err list_open(void *context, const struct strobe_batch *batch)
{
    struct strobe_overview *out = context;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        if (zone->state != STROBE_ZONE_OPEN || out->n_listed == STROBE_OVERVIEW_OPEN)
            continue;
        out->open[out->n_listed++] = (struct strobe_open_row){
            batch->process, batch->thread, batch->kind, batch->id, batch->loc_ids[zone->slot],
            zone->begin,    zone->depth};
    }
    return STROBE_OK;
}

static void take_totals(const struct strobe_trace_totals *totals, struct strobe_overview *out)
{
    out->has_kinds = 1;
    memcpy(out->n_of_kind, totals->n_of_kind, sizeof out->n_of_kind);
    for (int i = 0; i < STROBE_KIND_COUNT; i++)
        out->n_events += totals->n_of_kind[i];
    out->tick_first = totals->tick_first;
    out->tick_last = totals->tick_last;
}

enum strobe_err strobe_overview_count(struct strobe_trace *trace, int whole,
                                      struct strobe_overview *out)
{
    const struct strobe_feed_options options = {.heads_only = !whole};
    struct strobe_feed *feed;
    const struct strobe_fed *fed;
    strobe_trace_forget_parts(trace);
    enum strobe_err err = strobe_feed_start(trace->file, &options, &feed);
    while (!err && (err = strobe_feed_next(feed, &fed)) == STROBE_OK) {
        for (uint32_t i = 0; i < fed->events.n_parts; i++) {
            const struct strobe_part *part = &fed->events.parts[i];
            uint32_t process = strobe_trace_process(trace, part->proc);
            uint32_t thread = process == STROBE_IDMAP_NONE
                                  ? process
                                  : strobe_trace_thread(trace, process, part->track);
            if (thread != STROBE_IDMAP_NONE)
                strobe_trace_note_part(trace, thread, part);
            if (part->n_events && (!out->n_events || part->first_tick < out->tick_first))
                out->tick_first = part->first_tick;
            if (part->n_events && part->last_tick > out->tick_last)
                out->tick_last = part->last_tick;
            out->n_events += part->n_events;
        }
    }
    strobe_feed_stop(feed);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

static void take_walk(const struct strobe_walk *walk, struct strobe_overview *out)
{
    out->n_open = walk->n_open + walk->n_open_unknown;
    out->n_open_spans = walk->n_open_spans;
    out->n_bad_parts = walk->n_bad_parts;
    if (!out->is_whole)
        return;
    out->has_kinds = 1;
    memcpy(out->n_of_kind, walk->n_of_kind, sizeof out->n_of_kind);
    out->n_events = walk->n_events;
    out->n_unfinished = walk->n_unfinished;
    out->n_no_begin = walk->n_no_begin;
    out->tick_first = walk->tick_first;
    out->tick_last = walk->tick_last;
}

static enum strobe_err walk_open(struct strobe_trace *trace, uint64_t from,
                                 struct strobe_overview *out)
{
    struct strobe_walk walk = {.trace = trace,
                               .context = out,
                               .zones = list_open,
                               .want_open = 1,
                               .want_fibers = out->is_whole,
                               .want_spans = out->is_whole,
                               .want_kinds = out->is_whole,
                               .offset_min = from};
    enum strobe_err err = strobe_walk_run(&walk);
    take_walk(&walk, out);
    return err;
}

static uint64_t zones_ended(const uint64_t *n_of_kind)
{
    return n_of_kind[STROBE_KIND_ZONE_END] + n_of_kind[STROBE_KIND_ZONE_END_POP] +
           n_of_kind[STROBE_KIND_ZONE_END_UNDER];
}

/* Of a large file: the footer, and what the last blocks say about open zones if there may be any.
 */
static enum strobe_err look_at_large(struct strobe_trace *trace, struct strobe_overview *out)
{
    const struct strobe_trace_totals *totals = &strobe_file_facts(trace->file)->totals;
    const uint64_t end = strobe_file_facts(trace->file)->end;
    enum strobe_err err = STROBE_OK;
    if (totals->has_totals)
        take_totals(totals, out);
    else
        err = strobe_overview_count(trace, 0, out);
    const uint64_t *n = out->n_of_kind;
    if (err || (out->has_kinds && n[STROBE_KIND_ZONE_BEGIN] == zones_ended(n)))
        return err;
    return walk_open(trace, end > STROBE_OVERVIEW_TAIL ? (end - STROBE_OVERVIEW_TAIL) & ~7ull : 8,
                     out);
}

/* The locations of the listed zones, where they were not read. */
static enum strobe_err name_open(struct strobe_trace *trace, const struct strobe_overview *out)
{
    struct strobe_idmap wanted = {0};
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < out->n_listed && !err; i++)
        if (strobe_idmap_add(&wanted, out->open[i].process, out->open[i].loc_id) ==
            STROBE_IDMAP_NONE)
            err = STROBE_ERR_NOMEM;
    if (!err && wanted.n && trace->flags & STROBE_TRACE_NO_LOCS)
        err = strobe_trace_load_locs(trace, &wanted);
    strobe_idmap_free(&wanted);
    return err;
}

static enum strobe_err add_gap(void *context, const struct strobe_happening *happening)
{
    struct strobe_overview *out = context;
    out->n_unsampled += happening->event->fields[0].u;
    out->n_cut += happening->event->fields[1].u != 0;
    return STROBE_OK;
}

/* What is missing of samples by timers. */
static enum strobe_err count_gaps(struct strobe_trace *trace, struct strobe_overview *out)
{
    struct strobe_walk walk = {.trace = trace,
                               .context = out,
                               .happens = add_gap,
                               .kinds = 1ull << STROBE_KIND_SAMPLE_GAP};
    return out->n_of_kind[STROBE_KIND_SAMPLE_GAP] ? strobe_walk_run(&walk) : STROBE_OK;
}

enum strobe_err strobe_overview_run(struct strobe_trace *trace, int whole,
                                    void (*progress)(uint64_t done, uint64_t all),
                                    struct strobe_overview *out)
{
    memset(out, 0, sizeof *out);
    out->is_whole = whole || strobe_file_facts(trace->file)->n_bytes <= STROBE_OVERVIEW_SMALL;
    enum strobe_err err = STROBE_OK;
    if (out->is_whole) {
        err = strobe_file_check(trace->file, progress);
        if (!err)
            err = walk_open(trace, 0, out);
    } else {
        err = look_at_large(trace, out);
    }
    out->n_zones_begun = out->n_of_kind[STROBE_KIND_ZONE_BEGIN];
    out->n_zones_ended = zones_ended(out->n_of_kind);
    if (!err)
        err = count_gaps(trace, out);
    return err ? err : name_open(trace, out);
}
