/* walk.c - one pass over all events: feeds parts to the replay, loose events to their pairing,
 * other events to whoever asked for them.  SPDX-License-Identifier: MIT */
#include "query/walk.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/feed.h"
#include "query/loose.h"
#include "query/walk_rows.h"

/* What a thread carries from part to part. */
struct track_state {
    struct strobe_carry carry;
    struct strobe_joiner joiner; /* of the cursor over other events */
    uint64_t *stack;             /* owned: call stack that waits for its event */
    uint64_t n_stack, stack_room;
    uint64_t next_pos; /* word after the last part */
};

/* From the block at `offset` on, no event is before `tick`. */
struct watermark {
    uint64_t offset;
    uint64_t tick;
};

struct pass {
    struct strobe_walk *walk; /* borrowed */
    struct strobe_trace *trace;
    struct track_state *tracks; /* owned: by thread index */
    uint32_t tracks_room;
    struct strobe_replay replay;
    struct strobe_looses *looses; /* owned; NULL: none wanted */
    struct strobe_paired *paired; /* owned: of fibers, instead of those; NULL: none */
    struct strobe_ahead *ahead;   /* owned: replays for us; NULL: we do, into `replay` */
    uint32_t *locs;               /* owned: by slot of the current part */
    uint64_t *loc_ids;            /* owned */
    uint32_t locs_room, loc_ids_room;
    struct watermark *marks; /* owned: by offset */
    uint32_t n_marks, marks_room;
    uint64_t n_loose;  /* zones of fibers and spans that were paired */
    uint64_t in_range; /* with by_tick: blocks behind this offset hold nothing of the range */
    uint8_t of_interest[256]; /* by sym: the cursor must see this part */
};

uint32_t strobe_batch_loc(const struct strobe_trace *trace, const struct strobe_batch *batch,
                          const struct strobe_zone_row *zone, uint64_t *id)
{
    if (zone->slot >= batch->n_slots) {
        *id = zone->slot == STROBE_SLOT_NONE ? zone->self : 0;
        return strobe_trace_loc(trace, batch->process, *id);
    }
    *id = batch->loc_ids[zone->slot];
    return batch->locs[zone->slot];
}

static int is_over(const struct strobe_walk *walk)
{
    return walk->is_over && walk->is_over(walk->context);
}

static int in_range(const struct strobe_walk *walk, uint64_t tick)
{
    return !walk->by_tick || (tick >= walk->tick_min && tick <= walk->tick_max);
}

/* Spans are told apart: theirs are not the zones' troubles. */
static void count_states(struct strobe_walk *walk, const struct strobe_batch *batch)
{
    bool is_span = batch->kind == STROBE_BATCH_SPAN;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        uint32_t state = batch->zones[i].state;
        walk->n_unfinished += !is_span && state == STROBE_ZONE_UNFINISHED;
        walk->n_no_begin += !is_span && state == STROBE_ZONE_NO_BEGIN;
        walk->n_open += !is_span && state == STROBE_ZONE_OPEN;
        walk->n_open_spans += is_span && state == STROBE_ZONE_OPEN;
    }
}

static enum strobe_err show_batch(struct pass *pass, const struct strobe_batch *batch)
{
    struct strobe_walk *walk = pass->walk;
    if (batch->n_zones)
        count_states(walk, batch);
    return walk->zones && batch->n_zones ? walk->zones(walk->context, batch) : STROBE_OK;
}

/* Sink of the loose pairing: one zone of a fiber or a shared thread, or one span. */
static enum strobe_err show_loose(void *context, const struct strobe_batch *batch)
{
    struct pass *pass = context;
    struct strobe_batch shown = *batch;
    shown.number = pass->n_loose++;
    if ((batch->kind == STROBE_BATCH_SPAN && !pass->walk->want_spans) ||
        (batch->kind == STROBE_BATCH_FIBER && !pass->walk->want_fibers) ||
        (batch->zones[0].state == STROBE_ZONE_OPEN && !pass->walk->want_open) ||
        !in_range(pass->walk, batch->zones[0].begin))
        return STROBE_OK;
    uint32_t loc = strobe_trace_loc(pass->trace, batch->process, batch->loc_ids[0]);
    shown.locs = &loc;
    return show_batch(pass, &shown);
}

/* Sink of rows: zones of one fiber. */
static enum strobe_err show_row_batch(void *context, const struct strobe_batch *batch)
{
    return show_batch(context, batch);
}

/* Look up the locations of a part, by slot. */
static int find_locs(struct pass *pass, uint32_t process, const struct strobe_part *part)
{
    uint64_t n = (uint64_t)part->n_locs + part->n_stack;
    if (STROBE_ARRAY_REACH(pass->locs, pass->locs_room, n) ||
        STROBE_ARRAY_REACH(pass->loc_ids, pass->loc_ids_room, n))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        pass->loc_ids[i] = strobe_slot_loc(part, i);
        pass->locs[i] = strobe_trace_loc(pass->trace, process, pass->loc_ids[i]);
    }
    return 1;
}

static void keep_in_range(const struct strobe_walk *walk, struct strobe_replay *replay)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < replay->n_zones; i++) {
        if (!in_range(walk, replay->zones[i].begin))
            continue;
        if (walk->want_places)
            replay->places[kept] = replay->places[i];
        replay->zones[kept++] = replay->zones[i];
    }
    replay->n_zones = kept;
}

static unsigned replay_flags(const struct pass *pass, int is_shared)
{
    return (pass->walk->want_notes ? STROBE_REPLAY_NOTES : 0) |
           (pass->looses ? STROBE_REPLAY_LOOSE : 0) | (is_shared ? STROBE_REPLAY_SHARED : 0) |
           (pass->walk->want_nested ? STROBE_REPLAY_NESTED : 0) |
           (pass->walk->want_places ? STROBE_REPLAY_PLACES : 0) | STROBE_REPLAY_KEPT;
}

/* Loose events of a part: those of spans to whoever wants them, the others wait. */
static enum strobe_err take_loose(struct pass *pass, uint32_t process, uint32_t thread,
                                  struct strobe_replay *replay)
{
    const struct strobe_walk *walk = pass->walk;
    uint32_t twin = pass->trace->threads[thread].twin, n = walk->span_event ? 1 : replay->n_loose;
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < replay->n_loose && !err; i += n) {
        const struct strobe_loose *loose = &replay->loose[i];
        if (walk->span_event &&
            (loose->kind == STROBE_KIND_SPAN_BEGIN || loose->kind == STROBE_KIND_SPAN_END))
            err = walk->span_event(walk->context, process, loose, strobe_looses_pass(pass->looses));
        else if (!strobe_looses_add(pass->looses, process, thread, twin, loose, n, replay->notes))
            err = STROBE_ERR_NOMEM;
    }
    return err;
}

/* `made`: the part was replayed already; NULL: it is now. */
static enum strobe_err replay_part(struct pass *pass, const struct strobe_events *events,
                                   const struct strobe_part *part, struct strobe_ahead_part *made,
                                   uint32_t process, uint32_t thread)
{
    struct strobe_replay *replay = made ? &made->replay : &pass->replay;
    uint32_t twin = pass->trace->threads[thread].twin;
    STROBE_ASSERT(!made || (!pass->trace->has_twins && !pass->looses && !pass->walk->by_tick));
    enum strobe_err err =
        made ? made->err
             : strobe_replay_part(events, part, &pass->trace->schema, replay_flags(pass, twin != 0),
                                  &pass->tracks[thread].carry, replay);
    if (err == STROBE_ERR_CORRUPT)
        pass->walk->n_bad_parts++;
    else if (err)
        return err;
    if (pass->looses && replay->n_loose && (err = take_loose(pass, process, thread, replay)))
        return err;
    if (twin)
        return STROBE_OK; /* its zones are paired with those of its other tracks */
    if (pass->walk->by_tick)
        keep_in_range(pass->walk, replay);
    if (!replay->n_zones)
        return STROBE_OK;
    if (!find_locs(pass, process, part))
        return STROBE_ERR_NOMEM;
    struct strobe_batch batch = {
        .kind = STROBE_BATCH_THREAD,
        .process = process,
        .thread = thread,
        .zones = replay->zones,
        .n_zones = replay->n_zones,
        .locs = pass->locs,
        .loc_ids = pass->loc_ids,
        .n_slots = part->n_locs + part->n_stack,
        .notes = replay->notes,
        .places = pass->walk->want_places ? replay->places : NULL,
    };
    return show_batch(pass, &batch);
}

static enum strobe_err keep_stack(struct track_state *track, const struct strobe_event *event)
{
    uint64_t n = event->fields[0].u;
    if (STROBE_ARRAY_RENEW(track->stack, track->stack_room, n))
        return STROBE_ERR_NOMEM;
    if (n)
        memcpy(track->stack, event->fields[0].list, (size_t)n * sizeof *track->stack);
    track->n_stack = n;
    return STROBE_OK;
}

static enum strobe_err show_event(struct pass *pass, struct track_state *track,
                                  struct strobe_happening *happening)
{
    const struct strobe_walk *walk = pass->walk;
    happening->stack = track->stack;
    happening->n_stack = track->n_stack;
    track->n_stack = 0;
    uint64_t wanted = 1ull << happening->event->kind;
    if (happening->n_stack)
        wanted |= 1ull << STROBE_KIND_CALLSTACK;
    if (!(walk->kinds & wanted) || !in_range(walk, happening->event->tick))
        return STROBE_OK;
    return walk->happens(walk->context, happening);
}

static enum strobe_err show_events(struct pass *pass, const struct strobe_events *events,
                                   const struct strobe_part *part, uint32_t process,
                                   uint32_t thread)
{
    struct track_state *track = &pass->tracks[thread];
    struct strobe_cursor cursor;
    struct strobe_event event;
    struct strobe_happening happening = {
        .process = process, .thread = thread, .event = &event, .fiber = part->fiber, .part = part};
    enum strobe_err err;
    strobe_cursor_start(&cursor, events, part, &pass->trace->schema, &track->joiner);
    while ((err = strobe_cursor_next(&cursor, &event)) == STROBE_OK) {
        if (event.kind == STROBE_KIND_CALLSTACK)
            err = keep_stack(track, &event);
        else
            err = show_event(pass, track, &happening);
        if (event.kind == STROBE_KIND_FIBER_ENTER)
            happening.fiber = event.fields[0].u;
        else if (event.kind == STROBE_KIND_FIBER_LEAVE)
            happening.fiber = 0;
        if (err)
            return err;
    }
    return err == STROBE_ERR_CORRUPT || err == STROBE_ERR_END ? STROBE_OK : err;
}

static int is_interesting(const struct pass *pass, const struct strobe_events *events,
                          const struct strobe_part *part)
{
    const uint8_t *sym = events->stream[STROBE_SYM] + part->first_event;
    for (uint32_t i = 0; i < part->n_events; i++)
        if (pass->of_interest[sym[i]])
            return 1;
    return 0;
}

static void count_kinds(struct strobe_walk *walk, const struct strobe_events *events,
                        const struct strobe_part *part)
{
    const uint8_t *sym = events->stream[STROBE_SYM] + part->first_event;
    for (uint32_t i = 0; i < part->n_events; i++)
        walk->n_of_kind[strobe_kind_of_sym(sym[i])]++;
}

static void note_ticks(struct strobe_walk *walk, const struct strobe_part *part)
{
    uint64_t low = part->first_tick < part->last_tick ? part->first_tick : part->last_tick;
    uint64_t high = part->first_tick < part->last_tick ? part->last_tick : part->first_tick;
    if (!part->n_events)
        return;
    if (!walk->n_events || low < walk->tick_first)
        walk->tick_first = low;
    if (!walk->n_events || high > walk->tick_last)
        walk->tick_last = high;
    walk->n_events += part->n_events;
}

static enum strobe_err do_part(struct pass *pass, const struct strobe_events *events,
                               const struct strobe_part *part, struct strobe_ahead_part *made)
{
    struct strobe_walk *walk = pass->walk;
    uint32_t process = strobe_trace_process(pass->trace, part->proc);
    uint32_t thread = process == STROBE_IDMAP_NONE
                          ? process
                          : strobe_trace_thread(pass->trace, process, part->track);
    if (thread == STROBE_IDMAP_NONE || STROBE_ARRAY_REACH(pass->tracks, pass->tracks_room, thread))
        return STROBE_ERR_NOMEM;
    if (!walk->by_tick && !walk->offset_min)
        strobe_trace_note_part(pass->trace, thread, part);
    note_ticks(walk, part);
    struct track_state *track = &pass->tracks[thread];
    if (track->next_pos != part->pos) /* what waits for its event waits in vain */
        track->joiner.n_text = track->n_stack = 0;
    track->next_pos = part->pos + part->n_words;
    if (walk->want_kinds)
        count_kinds(walk, events, part);
    enum strobe_err err = STROBE_OK;
    if (walk->zones || walk->want_open)
        err = replay_part(pass, events, part, made, process, thread);
    if (!err && walk->happens &&
        (pass->tracks[thread].n_stack || is_interesting(pass, events, part)))
        err = show_events(pass, events, part, process, thread);
    return err;
}

/* The earliest tick that a block after the one at `offset` may hold. */
static uint64_t watermark_after(const struct pass *pass, uint64_t offset)
{
    uint64_t at = STROBE_ARRAY_BISECT(0, pass->n_marks, i, pass->marks[i].offset <= offset);
    return at < pass->n_marks ? pass->marks[at].tick : pass->n_marks ? UINT64_MAX : 0;
}

static uint64_t earliest_tick(const struct strobe_events *events)
{
    uint64_t earliest = UINT64_MAX;
    for (uint32_t i = 0; i < events->n_parts; i++) {
        const struct strobe_part *part = &events->parts[i];
        uint64_t tick = part->first_tick < part->last_tick ? part->first_tick : part->last_tick;
        earliest = tick < earliest ? tick : earliest;
    }
    return earliest;
}

/* Read the heads of all blocks: with them loose events can be paired before the end. */
static enum strobe_err find_watermarks(struct pass *pass, const struct strobe_feed_options *options)
{
    struct strobe_feed_options heads = *options;
    struct strobe_feed *feed;
    const struct strobe_fed *fed;
    heads.heads_only = 1;
    enum strobe_err err = strobe_feed_start(pass->trace->file, &heads, &feed);
    while (!err && (err = strobe_feed_next(feed, &fed)) == STROBE_OK) {
        if (STROBE_ARRAY_REACH(pass->marks, pass->marks_room, pass->n_marks))
            err = STROBE_ERR_NOMEM;
        else
            pass->marks[pass->n_marks++] =
                (struct watermark){fed->block.ref.offset, earliest_tick(&fed->events)};
    }
    strobe_feed_stop(feed);
    for (uint32_t i = pass->n_marks; i-- > 1;)
        if (pass->marks[i].tick < pass->marks[i - 1].tick)
            pass->marks[i - 1].tick = pass->marks[i].tick;
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

/* 1: there may be more loose events than are kept waiting. */
static int may_be_many(const struct strobe_walk *walk, uint32_t max)
{
    const struct strobe_trace *trace = walk->trace;
    const struct strobe_file_facts *facts = strobe_file_facts(trace->file);
    const uint64_t *n = facts->totals.n_of_kind;
    if (!facts->totals.has_totals || trace->has_twins)
        return facts->n_bytes > 4ull * max; /* an event takes about that */
    uint64_t n_spans = walk->span_event ? 0 : n[STROBE_KIND_SPAN_BEGIN] + n[STROBE_KIND_SPAN_END];
    return n_spans + 2 * n[STROBE_KIND_ZONE_END_AT] >= max;
}

/* 1: the trace may have zones of fibers, or spans, as far as they are wanted. */
static int may_have_loose(const struct strobe_walk *walk)
{
    const struct strobe_trace_totals *totals = &strobe_file_facts(walk->trace->file)->totals;
    if (walk->trace->has_twins && (walk->zones || walk->want_open))
        return 1;
    if (!walk->want_fibers && !walk->want_spans)
        return 0;
    if (!totals->has_totals)
        return 1;
    return (walk->want_fibers && totals->n_of_kind[STROBE_KIND_FIBER_ENTER]) ||
           (walk->want_spans &&
            (totals->n_of_kind[STROBE_KIND_SPAN_BEGIN] || totals->n_of_kind[STROBE_KIND_SPAN_END]));
}

static enum strobe_err do_block(struct pass *pass, const struct strobe_fed *fed)
{
    STROBE_ASSERT(!pass->ahead || fed->ahead.n_parts == fed->events.n_parts);
    for (uint32_t i = 0; i < fed->events.n_parts; i++) {
        enum strobe_err err = do_part(pass, &fed->events, &fed->events.parts[i],
                                      pass->ahead ? &fed->ahead.parts[i] : NULL);
        if (err)
            return err;
    }
    uint64_t settled = watermark_after(pass, fed->block.ref.offset);
    enum strobe_err err = STROBE_OK;
    if (pass->looses && strobe_looses_full(pass->looses))
        err = strobe_looses_pair(pass->looses, settled, show_loose, pass);
    if (!err && pass->walk->settles)
        err = pass->walk->settles(pass->walk->context, settled);
    return err;
}

/* What a thread carries after the last part; NULL: it had none. */
static const struct strobe_carry *carry_at_end(const struct pass *pass, uint32_t thread)
{
    const struct strobe_trace_thread *row = &pass->trace->threads[thread];
    if (!pass->ahead)
        return &pass->tracks[thread].carry;
    return strobe_ahead_carry(pass->ahead, pass->trace->processes[row->process].proc, row->track);
}

/* Zones that are open at the end of one thread. */
static enum strobe_err show_open(struct pass *pass, uint32_t thread)
{
    const struct strobe_carry *carry = carry_at_end(pass, thread);
    uint32_t process = pass->trace->threads[thread].process;
    if (!carry)
        return STROBE_OK;
    struct strobe_note none = {0};
    pass->walk->n_open_unknown += carry->n_under + carry->n_unknown;
    if (pass->trace->threads[thread].twin)
        return STROBE_OK;
    for (uint32_t i = 0; i < carry->n_open; i++) {
        const struct strobe_carried_zone *zone = &carry->open[i];
        pass->walk->n_open_unknown += zone->is_unknown;
        if (zone->is_unknown || !in_range(pass->walk, zone->begin))
            continue;
        struct strobe_zone_row row = {.begin = zone->begin,
                                      .depth = carry->n_under + i,
                                      .note = 1,
                                      .state = STROBE_ZONE_OPEN,
                                      .begin_own = zone->own};
        const struct strobe_carried_zone *below = i ? zone - 1 : NULL;
        struct strobe_zone_place place = {
            zone->place, below && !below->is_unknown ? below->place : STROBE_PLACE_NONE};
        uint32_t loc = strobe_trace_loc(pass->trace, process, zone->loc);
        struct strobe_batch batch = {.kind = STROBE_BATCH_THREAD,
                                     .process = process,
                                     .thread = thread,
                                     .zones = &row,
                                     .n_zones = 1,
                                     .locs = &loc,
                                     .loc_ids = &zone->loc,
                                     .n_slots = 1,
                                     .notes = zone->note ? zone->note : &none,
                                     .places = pass->walk->want_places ? &place : NULL};
        enum strobe_err err = show_batch(pass, &batch);
        if (err)
            return err;
    }
    return STROBE_OK;
}

static enum strobe_err finish(struct pass *pass)
{
    enum strobe_err err = STROBE_OK;
    if (pass->looses)
        err = strobe_looses_pair(pass->looses, UINT64_MAX, show_loose, pass);
    if (pass->paired)
        err = strobe_walk_rows_show(pass->paired, pass->walk, 0, show_row_batch, pass);
    if (err || !pass->walk->want_open)
        return err;
    for (uint32_t i = 0; !err && i < pass->tracks_room && i < pass->trace->thread_ids.n; i++)
        err = show_open(pass, i);
    if (!err && pass->looses)
        err = strobe_looses_open(pass->looses, show_loose, pass);
    if (!err && pass->paired)
        err = strobe_walk_rows_show(pass->paired, pass->walk, 1, show_row_batch, pass);
    return err;
}

static void set_interest(struct pass *pass)
{
    for (int sym = 0; sym < 256; sym++) {
        unsigned kind = strobe_kind_of_sym((uint8_t)sym);
        pass->of_interest[sym] = (pass->walk->kinds >> kind & 1) || kind == STROBE_KIND_STR_PIECE;
    }
}

static void free_pass(struct pass *pass)
{
    for (uint32_t i = 0; i < pass->tracks_room; i++) {
        strobe_carry_free(&pass->tracks[i].carry);
        strobe_joiner_free(&pass->tracks[i].joiner);
        free(pass->tracks[i].stack);
    }
    free(pass->tracks);
    strobe_replay_free(&pass->replay);
    strobe_looses_free(pass->looses);
    strobe_paired_close(pass->paired);
    strobe_ahead_free(pass->ahead);
    free(pass->locs);
    free(pass->loc_ids);
    free(pass->marks);
}

/* Where the last block of the range is: from there on only ends of its zones are of interest. */
static enum strobe_err find_range(struct pass *pass)
{
    const struct strobe_block_filter filter = {.type = STROBE_BLOCK_EVENTS,
                                               .by_tick = 1,
                                               .tick_min = pass->walk->tick_min,
                                               .tick_max = pass->walk->tick_max,
                                               .offset_min = pass->walk->offset_min,
                                               .unread = 1};
    struct strobe_block_iter *iter;
    struct strobe_block_ref ref;
    enum strobe_err err = strobe_file_iterate(pass->trace->file, &filter, &iter);
    while (!err && (err = strobe_file_next(iter, &ref)) == STROBE_OK)
        pass->in_range = ref.offset;
    strobe_file_end_iterate(iter);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

/* 1: a zone that began in the range is still open somewhere. */
static int is_waiting(const struct pass *pass)
{
    for (uint32_t i = 0; i < pass->tracks_room; i++) {
        const struct strobe_carry *carry = &pass->tracks[i].carry;
        for (uint32_t k = 0; k < carry->n_open; k++)
            if (!carry->open[k].is_unknown && in_range(pass->walk, carry->open[k].begin))
                return 1;
    }
    return 0;
}

/* 1: what follows this block can't be of the range. Blocks are walked in the order of the file. */
static int is_enough(const struct pass *pass, const struct strobe_fed *fed)
{
    return pass->walk->by_tick && !pass->looses && fed->block.ref.offset >= pass->in_range &&
           !is_waiting(pass);
}

static enum strobe_err run(struct pass *pass, const struct strobe_feed_options *options)
{
    struct strobe_feed *feed;
    const struct strobe_fed *fed;
    enum strobe_err err = strobe_feed_start(pass->trace->file, options, &feed);
    while (!err && (err = strobe_feed_next(feed, &fed)) == STROBE_OK) {
        err = is_over(pass->walk) ? STROBE_ERR_LIMIT : do_block(pass, fed);
        if (!err && is_enough(pass, fed))
            err = STROBE_ERR_END;
    }
    strobe_feed_stop(feed);
    return err == STROBE_ERR_END ? finish(pass) : err;
}

/* 1: how a part is replayed depends on nothing but the parts before it. A range ends where what is open then says so. */
static int can_run_ahead(const struct pass *pass)
{
    const struct strobe_walk *walk = pass->walk;
    return (walk->zones || walk->want_open) && !walk->by_tick && !pass->looses &&
           !walk->want_places && !walk->trace->has_twins;
}

enum strobe_err strobe_walk_run(struct strobe_walk *walk)
{
    struct pass pass = {.walk = walk, .trace = walk->trace};
    struct strobe_feed_options options = {.streams = STROBE_ALL_STREAMS,
                                          .offset_min = walk->offset_min};
    enum strobe_err err = STROBE_OK;
    set_interest(&pass);
    if (!walk->by_tick && !walk->offset_min)
        strobe_trace_forget_parts(walk->trace);
    int has_loose = may_have_loose(walk);
    pass.paired = has_loose ? strobe_walk_rows_open(walk) : NULL;
    if (has_loose && !pass.paired) {
        uint32_t max = walk->max_loose ? walk->max_loose : 1 << 18;
        pass.looses = strobe_looses_new(max);
        err = pass.looses ? STROBE_OK : STROBE_ERR_NOMEM;
        if (!err && may_be_many(walk, max))
            err = find_watermarks(&pass, &options);
    } else if (walk->by_tick) {
        options.by_tick = 1;
        options.tick_min = walk->tick_min;
        options.tick_max = walk->want_open ? UINT64_MAX : walk->tick_max;
        err = find_range(&pass);
    }
    if (!err && walk->settles && !pass.n_marks)
        err = find_watermarks(&pass, &options);
    if (!err && can_run_ahead(&pass))
        options.ahead = pass.ahead =
            strobe_ahead_new(&walk->trace->schema, replay_flags(&pass, 0)); /* NULL: without */
    if (!err)
        err = run(&pass, &options);
    free_pass(&pass);
    return err;
}
