/* loose.c - fibers, spans and shared threads: events wait in an array, are sorted by time and go
 * through a stack per fiber or shared thread, or an open span per id. Rules: docs/file-format.md,
 * "Fibers", "Spans" and "One thread, several tracks".
 * SPDX-License-Identifier: MIT */
#include "query/loose.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct item {
    uint64_t tick;
    uint64_t seq; /* order of arrival, among equal ticks */
    uint64_t id;  /* of a fiber or a span; of a shared thread its first track */
    uint64_t loc;
    struct strobe_note *note; /* owned; NULL: none */
    uint32_t process, thread;
    uint8_t kind;
    uint8_t lane; /* enum strobe_batch_kind */
    int8_t own;
};

struct open_zone {
    uint64_t begin, loc, children;
    struct strobe_note note;
    uint32_t process, thread;
    int8_t own;
};

/* What is open in one fiber or shared thread, or under one id of a span (at most one entry). */
struct lane {
    struct open_zone *open; /* owned */
    uint32_t n, room;
    int is_known; /* it had an event, the first of them then: */
    uint64_t first_tick, first_seq;
};

struct strobe_looses {
    struct item *items; /* owned */
    uint32_t n_items, items_room;
    uint32_t limit; /* items that make it full: more when pairing has left many */
    uint32_t max;
    uint64_t seq;
    struct strobe_idmap lane_ids; /* (process << 2 | kind, id); of shared threads (kind, id) */
    struct lane *lanes;           /* owned */
    uint32_t lanes_room;
};

struct strobe_looses *strobe_looses_new(uint32_t max)
{
    struct strobe_looses *looses = calloc(1, sizeof *looses);
    if (looses)
        looses->max = looses->limit = max;
    return looses;
}

static void free_note(struct strobe_note *note)
{
    if (note)
        strobe_note_clear(note);
    free(note);
}

void strobe_looses_free(struct strobe_looses *looses)
{
    if (!looses)
        return;
    for (uint32_t i = 0; i < looses->n_items; i++)
        free_note(looses->items[i].note);
    for (uint32_t i = 0; i < looses->lane_ids.n; i++) {
        for (uint32_t k = 0; k < looses->lanes[i].n; k++)
            strobe_note_clear(&looses->lanes[i].open[k].note);
        free(looses->lanes[i].open);
    }
    free(looses->items);
    free(looses->lanes);
    strobe_idmap_free(&looses->lane_ids);
    free(looses);
}

static uint8_t lane_kind(const struct strobe_loose *loose)
{
    if (loose->kind == STROBE_KIND_SPAN_BEGIN || loose->kind == STROBE_KIND_SPAN_END)
        return STROBE_BATCH_SPAN;
    return loose->id ? STROBE_BATCH_FIBER : STROBE_BATCH_THREAD;
}

int strobe_looses_add(struct strobe_looses *looses, uint32_t process, uint32_t thread,
                      uint32_t twin, const struct strobe_loose *loose, uint32_t n,
                      struct strobe_note *notes)
{
    for (uint32_t i = 0; i < n; i++) {
        if (STROBE_ARRAY_REACH(looses->items, looses->items_room, looses->n_items))
            return 0;
        struct item *item = &looses->items[looses->n_items++];
        uint8_t lane = lane_kind(&loose[i]);
        *item = (struct item){.tick = loose[i].tick,
                              .seq = looses->seq++,
                              .id = lane == STROBE_BATCH_THREAD ? twin : loose[i].id,
                              .loc = loose[i].loc,
                              .process = process,
                              .thread = thread,
                              .kind = loose[i].kind,
                              .lane = lane,
                              .own = loose[i].own};
        if (loose[i].note && (item->note = malloc(sizeof *item->note))) {
            *item->note = notes[loose[i].note - 1];
            memset(&notes[loose[i].note - 1], 0, sizeof *notes);
        }
    }
    return 1;
}

uint64_t strobe_looses_pass(struct strobe_looses *looses)
{
    return looses->seq++;
}

int strobe_looses_full(const struct strobe_looses *looses)
{
    return looses->n_items >= looses->limit;
}

static int by_time(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static struct lane *lane_of(struct strobe_looses *looses, const struct item *item)
{
    uint32_t scope = item->lane == STROBE_BATCH_THREAD ? 0 : item->process << 2;
    uint32_t i =
        strobe_idmap_add_row(&looses->lane_ids, scope | item->lane, item->id,
                             (void **)&looses->lanes, &looses->lanes_room, sizeof *looses->lanes);
    struct lane *lane = i == STROBE_IDMAP_NONE ? NULL : &looses->lanes[i];
    if (lane && !lane->is_known) {
        lane->is_known = 1;
        lane->first_tick = item->tick;
        lane->first_seq = item->seq;
    }
    return lane;
}

struct pairing {
    strobe_loose_sink sink;
    void *context;
    enum strobe_batch_kind kind;
    uint32_t process, thread;
    uint64_t id;
    uint64_t place_tick, place_seq;
};

/* Show one zone. */
static enum strobe_err show(const struct pairing *pairing, const struct strobe_zone_row *zone,
                            uint64_t loc, const struct strobe_note *note)
{
    struct strobe_batch batch = {
        .kind = pairing->kind,
        .process = pairing->process,
        .thread = pairing->thread,
        .id = pairing->id,
        .zones = zone,
        .n_zones = 1,
        .loc_ids = &loc,
        .n_slots = 1,
        .notes = note,
        .place_tick = pairing->place_tick,
        .place_seq = pairing->place_seq,
    };
    return pairing->sink(pairing->context, &batch);
}

static enum strobe_err show_open(const struct pairing *pairing, struct open_zone *zone,
                                 uint32_t depth, enum strobe_zone_state state)
{
    struct strobe_zone_row row = {.begin = zone->begin,
                                  .depth = depth,
                                  .note = 1,
                                  .state = (uint8_t)state,
                                  .begin_own = zone->own};
    enum strobe_err err = show(pairing, &row, zone->loc, &zone->note);
    strobe_note_clear(&zone->note);
    return err;
}

static enum strobe_err open_zone(struct lane *lane, const struct item *item)
{
    if (STROBE_ARRAY_REACH(lane->open, lane->room, lane->n))
        return STROBE_ERR_NOMEM;
    lane->open[lane->n++] = (struct open_zone){
        .begin = item->tick,
        .loc = item->loc,
        .process = item->process,
        .thread = item->thread,
        .own = item->own,
    };
    return STROBE_OK;
}

/* Take a zone out of the lane, wherever it is. */
static struct open_zone take_out(struct lane *lane, uint32_t at)
{
    struct open_zone zone = lane->open[at];
    lane->n--;
    memmove(&lane->open[at], &lane->open[at + 1], (lane->n - at) * sizeof zone);
    return zone;
}

static enum strobe_err end_at(const struct pairing *pairing, struct lane *lane, uint32_t at,
                              const struct item *item)
{
    struct open_zone zone = take_out(lane, at);
    uint64_t ticks = item->tick > zone.begin ? item->tick - zone.begin : 0;
    struct strobe_zone_row row = {.begin = zone.begin,
                                  .ticks = ticks,
                                  .self = ticks > zone.children ? ticks - zone.children : 0,
                                  .depth = at,
                                  .note = 1,
                                  .begin_own = zone.own,
                                  .end_own = item->own};
    if (at)
        lane->open[at - 1].children += ticks;
    for (uint32_t i = at; i && !row.is_nested; i--)
        row.is_nested =
            lane->open[i - 1].loc == zone.loc && lane->open[i - 1].process == zone.process;
    enum strobe_err err = show(pairing, &row, zone.loc, &zone.note);
    strobe_note_clear(&zone.note);
    return err;
}

/* The zone on top ends. */
static enum strobe_err end_top(const struct pairing *pairing, struct lane *lane,
                               const struct item *item)
{
    return end_at(pairing, lane, lane->n - 1, item);
}

static enum strobe_err no_begin(const struct pairing *pairing, const struct item *item,
                                uint32_t depth)
{
    struct strobe_zone_row row = {.begin = item->tick,
                                  .self = item->loc,
                                  .slot = STROBE_SLOT_NONE,
                                  .depth = depth,
                                  .state = STROBE_ZONE_NO_BEGIN};
    return show(pairing, &row, item->loc, NULL);
}

static enum strobe_err end_in_fiber(const struct pairing *pairing, struct lane *lane,
                                    const struct item *item)
{
    uint32_t at = lane->n;
    while (at && lane->open[at - 1].loc != item->loc)
        at--;
    if (!at)
        return no_begin(pairing, item, lane->n);
    while (lane->n > at) {
        struct open_zone *zone = &lane->open[--lane->n];
        enum strobe_err err = show_open(pairing, zone, lane->n, STROBE_ZONE_UNFINISHED);
        if (err)
            return err;
    }
    return end_top(pairing, lane, item);
}

/* Each track of a shared thread nests for itself: what is open above is unfinished if it is of the
 * same track, and goes on if it is of another. */
static enum strobe_err end_in_thread(const struct pairing *pairing, struct lane *lane,
                                     const struct item *item)
{
    uint32_t at = lane->n;
    while (at && (lane->open[at - 1].loc != item->loc || lane->open[at - 1].thread != item->thread))
        at--;
    if (!at)
        return no_begin(pairing, item, lane->n);
    for (uint32_t i = lane->n; i > at; i--) {
        if (lane->open[i - 1].thread != item->thread)
            continue;
        struct open_zone zone = take_out(lane, i - 1);
        enum strobe_err err = show_open(pairing, &zone, i - 1, STROBE_ZONE_UNFINISHED);
        if (err)
            return err;
    }
    return end_at(pairing, lane, at - 1, item);
}

/* The zone that a note speaks of: the innermost one of the location that it names, if any; of a shared thread the
 * innermost of the track. */
static struct open_zone *noted_zone(struct lane *lane, const struct item *item)
{
    uint32_t at = lane->n;
    while (at &&
           ((item->lane == STROBE_BATCH_THREAD && lane->open[at - 1].thread != item->thread) ||
            (item->loc && lane->open[at - 1].loc != item->loc)))
        at--;
    return at ? &lane->open[at - 1] : NULL;
}

static enum strobe_err begin_span(const struct pairing *pairing, struct lane *lane,
                                  const struct item *item)
{
    while (lane->n) {
        struct open_zone *zone = &lane->open[--lane->n];
        enum strobe_err err = show_open(pairing, zone, 0, STROBE_ZONE_UNFINISHED);
        if (err)
            return err;
    }
    return open_zone(lane, item);
}

static enum strobe_err pair_item(struct strobe_looses *looses, struct pairing *pairing,
                                 struct item *item)
{
    struct lane *lane = lane_of(looses, item);
    struct open_zone *zone;
    if (!lane)
        return STROBE_ERR_NOMEM;
    pairing->kind = item->lane;
    pairing->process = item->process;
    pairing->thread = item->thread;
    pairing->id = item->id;
    pairing->place_tick = item->tick;
    pairing->place_seq = item->seq;
    switch (item->kind) {
    case STROBE_KIND_ZONE_BEGIN:
        return open_zone(lane, item);
    case STROBE_KIND_ZONE_END_AT:
        return item->lane == STROBE_BATCH_THREAD ? end_in_thread(pairing, lane, item)
                                                 : end_in_fiber(pairing, lane, item);
    case STROBE_KIND_SPAN_BEGIN:
        return begin_span(pairing, lane, item);
    case STROBE_KIND_SPAN_END:
        return lane->n ? end_top(pairing, lane, item) : no_begin(pairing, item, 0);
    default: /* a note */
        if (item->note && (zone = noted_zone(lane, item)))
            strobe_note_merge(&zone->note, item->note);
        return STROBE_OK;
    }
}

enum strobe_err strobe_looses_pair(struct strobe_looses *looses, uint64_t tick,
                                   strobe_loose_sink sink, void *context)
{
    struct pairing pairing = {.sink = sink, .context = context};
    enum strobe_err err = STROBE_OK;
    uint32_t n = 0;
    if (looses->n_items)
        qsort(looses->items, looses->n_items, sizeof *looses->items, by_time);
    while (n < looses->n_items && !err && (looses->items[n].tick < tick || tick == UINT64_MAX)) {
        err = pair_item(looses, &pairing, &looses->items[n]);
        free_note(looses->items[n].note);
        looses->items[n++].note = NULL;
    }
    looses->n_items -= n;
    if (looses->n_items)
        memmove(looses->items, looses->items + n, looses->n_items * sizeof *looses->items);
    looses->limit = looses->n_items < looses->max / 2 ? looses->max : 2 * looses->n_items;
    return err;
}

enum strobe_err strobe_looses_open(struct strobe_looses *looses, strobe_loose_sink sink,
                                   void *context)
{
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < looses->lane_ids.n && !err; i++) {
        const struct strobe_idkey *key = &looses->lane_ids.keys[i];
        struct pairing pairing = {.sink = sink,
                                  .context = context,
                                  .kind = key->scope & 3,
                                  .id = key->id,
                                  .place_tick = looses->lanes[i].first_tick,
                                  .place_seq = looses->lanes[i].first_seq};
        for (uint32_t k = 0; k < looses->lanes[i].n && !err; k++) {
            pairing.thread = looses->lanes[i].open[k].thread;
            pairing.process = looses->lanes[i].open[k].process;
            err = show_open(&pairing, &looses->lanes[i].open[k], k, STROBE_ZONE_OPEN);
        }
    }
    return err;
}
