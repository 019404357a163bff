/* classic.c - what a device's classic buffers held, as tracks: the same lanes as those of streaming (lanes.c).
 *
 * A CLASSIC frame has whole runs, so when it is read nothing that began before its last end is still to come: that is what a table of
 * open zones says of a stream, and it is handed on in the same way. A run that was pushed in pieces repeats its guaranteed zones;
 * what came before is skipped.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "device/classic.h"
#include "device_record/internal.h"

enum { TRACE_FW = 0x10000, TRACE_KERNEL = 0x10001 }; /* above all hashes: zones of a whole replay */

/* ---- a frame's zones and marks ---- */

/* Room for one more of what a frame had; NULL: no memory. */
static struct strobe_nest_zone *new_item(struct strobe_device_trace *t)
{
    return STROBE_ARRAY_PUSH(t->items, t->n_items, t->items_room);
}

static bool was_seen(const struct strobe_device_track *lane, const struct strobe_device_zone *zone)
{
    const struct strobe_device_buffer_lane *buffer = lane->buffer;
    for (uint32_t i = 0; i < STROBE_DEVICE_RECENT; i++)
        if (buffer->recent[i].id == zone->id && buffer->recent[i].start == zone->start &&
            buffer->recent[i].end == zone->end)
            return true;
    return false;
}

static void take_zones(struct strobe_device_trace *t, struct strobe_device_track *lane,
                       const struct strobe_device_classic_words *words)
{
    enum { BATCH = 256 };
    struct strobe_device_zone zones[BATCH];
    for (size_t at = 0, used = 0; at < words->n_words; at += used) {
        size_t n = strobe_device_classic_zones(&lane->buffer->pairs, words->words + at,
                                               words->n_words - at, &used, zones, BATCH);
        STROBE_ASSERT(used && n <= BATCH);
        for (size_t i = 0; i < n; i++) {
            struct strobe_nest_zone *item = was_seen(lane, &zones[i]) ? NULL : new_item(t);
            if (item)
                *item = (struct strobe_nest_zone){zones[i].start, zones[i].end, zones[i].id,
                                                  STROBE_NEST_ZONE, zones[i].program};
        }
    }
}

/* Nobody asks for the program of a mark: its place in the buffer is there. */
static void take_marks(struct strobe_device_trace *t, struct strobe_device_track *lane,
                       const struct strobe_device_classic_words *words)
{
    uint64_t n_bad = 0; /* the zones' reader has counted them */
    if (STROBE_ARRAY_RESERVE(t->markers, t->markers_room, words->n_words / 2 + 1))
        return;
    size_t n = strobe_device_classic_markers(words->words, words->n_words, t->markers, &n_bad);
    for (size_t i = 0; i < n; i++) {
        const struct strobe_device_marker *marker = &t->markers[i];
        bool is_event = marker->packet == STROBE_CP_EVENT;
        uint64_t values[] = {marker->data, marker->data_two};
        uint32_t n_values = marker->packet == STROBE_CP_DATA_16 ? 2 : 1;
        for (uint32_t k = 0; k < n_values && marker->packet > STROBE_CP_ZONE_END; k++) {
            struct strobe_nest_zone *item = new_item(t);
            if (!item)
                continue;
            *item =
                (struct strobe_nest_zone){.start = marker->time,
                                          .end = values[k],
                                          .id = marker->id,
                                          .kind = is_event ? STROBE_NEST_EVENT : STROBE_NEST_DATA,
                                          .program = t->n_items};
            lane->n_marks += !k; /* a record, however many values it has */
        }
    }
}

/* By begin; a parent before what begins with it; marks as they were in the buffer. */
static int by_start(const void *left, const void *right)
{
    const struct strobe_nest_zone *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->kind)
        return a->program < b->program ? -1 : a->program > b->program;
    return a->end > b->end ? -1 : a->end < b->end;
}

static bool is_same(const struct strobe_nest_zone *a, const struct strobe_nest_zone *b)
{
    return !a->kind && !b->kind && a->id == b->id && a->start == b->start && a->end == b->end;
}

/* In order, each once; and what a further piece of the last run would repeat is remembered. */
static void put_in_order(struct strobe_device_trace *t, struct strobe_device_track *lane)
{
    uint32_t n = 0;
    qsort(t->items, t->n_items, sizeof *t->items, by_start);
    for (uint32_t i = 0; i < t->n_items; i++)
        if (!n || !is_same(&t->items[i], &t->items[n - 1]))
            t->items[n++] = t->items[i];
    STROBE_ASSERT(n <= t->n_items);
    t->n_items = n;
    struct strobe_device_buffer_lane *buffer = lane->buffer;
    for (uint32_t i = 0; i < n; i++) {
        STROBE_ASSERT(!i || t->items[i - 1].start <= t->items[i].start);
        if (t->items[i].kind)
            continue;
        buffer->recent[buffer->n_recent++ % STROBE_DEVICE_RECENT] = t->items[i];
        lane->n_zones++;
    }
}

/* ---- the call ---- */

/* Main and kernel zone of a replay have names of their own. */
static void name_replays(struct strobe_device_trace *t)
{
    static const struct strobe_build_loc fw = {.function = "TRACE-FW", .n_function = 8},
                                         kernel = {.function = "TRACE-KERNEL", .n_function = 12};
    if (t->is_trace_only)
        return;
    t->is_trace_only = true;
    strobe_build_set_loc(t->build, strobe_device_loc(t, TRACE_FW, true), &fw);
    strobe_build_set_loc(t->build, strobe_device_loc(t, TRACE_KERNEL, true), &kernel);
}

/* The outer one of two is the firmware's. */
static void rename_replays(struct strobe_device_trace *t)
{
    for (uint32_t i = 0; i < t->n_items; i++) {
        bool is_inner =
            i && t->items[i].end <= t->items[i - 1].end && t->items[i - 1].id == TRACE_FW;
        t->items[i].id = is_inner ? TRACE_KERNEL : TRACE_FW;
    }
}

static void note_full(struct strobe_device_trace *t, const struct strobe_device_lane *at,
                      const struct strobe_device_classic_words *words)
{
    struct strobe_device_full_buffer full = {.device = t->options.device,
                                             .core_yx = at->core_yx,
                                             .end_words = words->end_words,
                                             .needed_words = words->needed_words,
                                             .program_words = words->program_words};
    if (t->full.program_words &&
        strobe_device_classic_support(&full) <= strobe_device_classic_support(&t->full))
        return;
    t->full = full;
    STROBE_ASSERT(at->core < t->n_cores && at->risc < STROBE_DEVICE_RISCS);
    t->full_core = at->core;
    t->full_risc = at->risc;
}

void strobe_device_classic_take(void *context, const struct strobe_device_lane *at,
                                const struct strobe_device_classic_words *words)
{
    struct strobe_device_trace *t = context;
    t->n_unread = 0;
    if (words->flags & STROBE_CLASSIC_TRACE_ONLY)
        name_replays(t);
    struct strobe_device_track *lane = strobe_device_lanes_track(t, at);
    if (lane && !lane->buffer)
        lane->buffer = calloc(1, sizeof *lane->buffer);
    if (!lane || !lane->buffer) {
        strobe_device_lanes_refuse(t, words->n_words / 4);
        return;
    }
    if (words->flags & STROBE_CLASSIC_DROPPED) {
        t->n_full += !lane->buffer->is_full;
        lane->buffer->is_full = true;
        note_full(t, at, words);
    }
    STROBE_ASSERT(words->words || !words->n_words);
    uint64_t last = lane->table_time;
    t->n_items = 0;
    take_zones(t, lane, words);
    take_marks(t, lane, words);
    put_in_order(t, lane);
    if (t->is_trace_only)
        rename_replays(t);
    for (uint32_t i = 0; i < t->n_items; i++) {
        uint64_t end = t->items[i].kind ? t->items[i].start : t->items[i].end;
        last = end > last ? end : last;
    }
    strobe_device_lanes_add(t, at, t->items, t->n_items, last);
}

/* ---- the end ---- */

void strobe_device_classic_open(struct strobe_device_track *lane)
{
    STROBE_ASSERT(lane->buffer);
    const struct strobe_device_pairs *pairs = &lane->buffer->pairs;
    lane->n_table = 0;
    if (pairs->has_main)
        lane->table[lane->n_table++] = (struct strobe_nest_zone){
            pairs->main_start, STROBE_NEST_OPEN, pairs->main_id, STROBE_NEST_ZONE, pairs->program};
    if (pairs->has_child)
        lane->table[lane->n_table++] =
            (struct strobe_nest_zone){pairs->child_start, STROBE_NEST_OPEN, pairs->child_id,
                                      STROBE_NEST_ZONE, pairs->program};
    for (uint32_t i = 0; i < pairs->n_open && lane->n_table < STROBE_DEVICE_TABLE; i++)
        lane->table[lane->n_table++] = (struct strobe_nest_zone){
            pairs->starts[i], STROBE_NEST_OPEN, pairs->ids[i], STROBE_NEST_ZONE, pairs->program};
    STROBE_ASSERT(lane->n_table <= STROBE_DEVICE_TABLE);
    lane->has_table = lane->has_table || lane->n_table;
}

/* Counts of all lanes, as notes. */
void strobe_device_classic_end(struct strobe_device_trace *t)
{
    uint64_t n_unfinished = 0, n_orphans = 0, n_bad = 0;
    for (uint32_t core = 0; core < t->n_cores; core++)
        for (uint32_t risc = 0; risc < STROBE_DEVICE_RISCS; risc++) {
            struct strobe_device_track *lane = t->cores[core].lanes[risc];
            if (!lane || !lane->buffer)
                continue;
            n_unfinished += lane->buffer->pairs.n_unfinished;
            n_orphans += lane->buffer->pairs.n_orphans;
            n_bad += lane->buffer->pairs.n_bad;
        }
    if (n_unfinished || n_orphans)
        strobe_build_note(t->build,
                          "device %u: %" PRIu64 " zones whose end is missing and %" PRIu64
                          " whose begin is were left out",
                          t->options.device, n_unfinished, n_orphans);
    if (n_bad)
        strobe_build_note(t->build, "device %u: %" PRIu64 " words of its buffers are no markers",
                          t->options.device, n_bad);
    if (n_unfinished + n_orphans + n_bad)
        strobe_device_lanes_refuse(t, n_unfinished + n_orphans + n_bad);
    if (t->n_full) {
        char text[512], name[24];
        t->full.risc = strobe_device_lanes_risc(t, t->full_core, t->full_risc, name);
        strobe_device_classic_warning(&t->full, text, sizeof text);
        strobe_build_note(t->build, "%s", text);
        if (t->n_full > 1)
            strobe_build_note(t->build, "device %u: so it was on %u RISCs", t->options.device,
                              t->n_full);
    }
    free(t->items);
    free(t->markers);
    t->items = NULL;
    t->markers = NULL;
}
