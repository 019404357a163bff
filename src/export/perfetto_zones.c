/* perfetto_zones.c - zones as begins and ends in the order of time.
 *
 * Every track is a packet sequence of its own: its clock counts from its first event in steps between packets, its names are
 * numbered once, its track need not be said. That makes 27 bytes a zone of 42.
 *
 * Zones come part by part, in the order of their ends, and are written in that of their begins; a zone's place is its number among the
 * events of its thread, and its end is due when the next one begins at its depth or above. Late are those that began in an earlier
 * part: long ones, and few. So there are two passes over the same parts:
 *
 *   1  keeps the late ones, MAX_LATE at the most
 *   2  writes the others, sorted by their places, and each late one before the first that began after it
 *
 * What has no place (fibers, spans, zones whose begin is not known), and everything where too many are late, is sorted in a file.
 *
 *   zone that ended       begin, end                      a slice
 *   zone still open       begin                           a slice without an end
 *   unfinished, no begin  instant                         a slice of 0 ns
 *   span                  begin, end on a track of its own, since spans may overlap
 * SPDX-License-Identifier: MIT */
#include "export/perfetto_zones.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/sort.h"
#include "export/row_order.h"
#include "sql/table.h"

enum { CLOCK_STEPS = 64 };
enum {
    SORT_BYTES = 32 << 20,
    MAX_LATE = 1 << 19, /* 56 bytes each */
    EVENT_ROOM = 64,    /* of a packet with an event and no name */
    MIDDLE_ROOM = 16,
};

/* A zone on its way. */
struct item {
    int64_t track, process;
    int64_t order;   /* on its track */
    int64_t ts, dur; /* dur -1: it did not end */
    int32_t depth;
    uint32_t name; /* its number among the names, from 1 on */
    uint8_t is_span, is_instant;
};

struct open_zone {
    int32_t depth;
    int64_t end_ts; /* -1: it did not end */
};

/* A packet sequence. */
struct sequence {
    uint32_t number; /* 0: not begun */
    int64_t last_ts;
    unsigned char middle[MIDDLE_ROOM]; /* of its events' packets: what is the same in all */
    uint32_t n_middle;
    struct open_zone *open; /* owned */
    uint32_t n_open, open_room;
    uint8_t *seen; /* owned: a bit per name that it has */
    uint32_t seen_room;
};

/* A track whose zones have places. */
struct track {
    struct sequence sequence;
    uint64_t n_places; /* of the parts so far: all are below */
    struct item *late; /* owned: in order in the second pass */
    uint32_t n_late, late_room;
    uint32_t n_written; /* of them */
};

struct zones {
    struct strobe_perfetto_out *writer; /* borrowed */
    const struct strobe_trace *trace;   /* borrowed: that is walked */
    struct strobe_clock_part part;      /* that the last time lay in */
    struct strobe_sort *sort;           /* owned: what has no place */
    struct strobe_row_order order;
    struct track *tracks; /* owned: by thread */
    uint32_t tracks_room;
    uint32_t n_late;
    uint8_t all_sorted; /* too many are late: all go to the sort */
    uint8_t is_second;
    uint32_t *names; /* owned: by location, number of its name; 0: not known yet */
    uint32_t names_room;
    /* Of the sort's output: */
    struct sequence sequence;
    int64_t track;
    uint8_t has_track;
};

static void free_sequence(struct sequence *sequence)
{
    free(sequence->open);
    free(sequence->seen);
}

/* ---- packets ---- */

static inline unsigned char *put_varint(unsigned char *at, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        *at++ = (unsigned char)(value | 128);
    *at++ = (unsigned char)value;
    return at;
}

static inline unsigned char *put_number(unsigned char *at, unsigned field, uint64_t value)
{
    *at++ = (unsigned char)(field << 3 | STROBE_PROTO_VARINT); /* fields below 16 */
    return put_varint(at, value);
}

/* A new sequence for a track. */
static void start_sequence(struct strobe_perfetto_out *writer, struct sequence *sequence,
                           int64_t ts, uint64_t uuid)
{
    STROBE_ASSERT(!sequence->n_open);
    sequence->number = ++writer->n_sequences;
    sequence->last_ts = ts > 0 ? ts : 0;
    unsigned char *middle = put_number(sequence->middle, STROBE_PACKET_SEQUENCE, sequence->number);
    middle = put_number(middle, STROBE_PACKET_FLAGS, STROBE_PACKET_NEEDS_STATE);
    *middle++ = STROBE_PACKET_EVENT << 3 | STROBE_PROTO_BYTES;
    sequence->n_middle = (uint32_t)(middle - sequence->middle);
    STROBE_ASSERT(sequence->n_middle <= MIDDLE_ROOM);
    if (sequence->seen)
        memset(sequence->seen, 0, sequence->seen_room);
    strobe_proto_u(&writer->part, 1, STROBE_PERFETTO_BOOTTIME);
    strobe_proto_u(&writer->part, 2, (uint64_t)sequence->last_ts);
    strobe_proto_message(&writer->event, 1, &writer->part);
    strobe_proto_u(&writer->part, 1, CLOCK_STEPS);
    strobe_proto_u(&writer->part, 2, 0);
    strobe_proto_u(&writer->part, 3, 1); /* timestamps are steps */
    strobe_proto_message(&writer->event, 1, &writer->part);
    strobe_proto_message(&writer->packet, STROBE_PACKET_CLOCKS, &writer->event);
    strobe_proto_u(&writer->packet, STROBE_PACKET_SEQUENCE, sequence->number);
    strobe_proto_u(&writer->packet, STROBE_PACKET_FLAGS, STROBE_PACKET_IS_CLEARED);
    strobe_perfetto_end_packet(writer);
    strobe_proto_u(&writer->part, STROBE_EVENT_TRACK, uuid);
    strobe_proto_message(&writer->event, 11, &writer->part); /* defaults of events */
    strobe_proto_u(&writer->event, STROBE_PACKET_CLOCK, CLOCK_STEPS);
    strobe_proto_message(&writer->packet, STROBE_PACKET_DEFAULTS, &writer->event);
    strobe_proto_u(&writer->packet, STROBE_PACKET_SEQUENCE, sequence->number);
    strobe_proto_u(&writer->packet, STROBE_PACKET_FLAGS, STROBE_PACKET_NEEDS_STATE);
    strobe_perfetto_end_packet(writer);
}

/* An event; name 0: none. Lengths stay below 128: a byte each. */
static void put_event(struct strobe_perfetto_out *writer, struct sequence *sequence, int64_t ts,
                      unsigned type, uint32_t name)
{
    uint64_t step = ts > sequence->last_ts ? (uint64_t)(ts - sequence->last_ts) : 0;
    unsigned char *packet = (unsigned char *)strobe_out_need(writer->out, EVENT_ROOM);
    if (!packet)
        return;
    sequence->last_ts += (int64_t)step;
    unsigned char *at = packet + 2;
    at = put_number(at, STROBE_PACKET_TIMESTAMP, step);
    memcpy(at, sequence->middle, MIDDLE_ROOM); /* and what is written over */
    at += sequence->n_middle;
    unsigned char *event = at++;
    at = put_number(at, STROBE_EVENT_TYPE, type);
    if (name)
        at = put_number(at, STROBE_EVENT_NAME, name);
    *event = (unsigned char)(at - event - 1);
    packet[0] = STROBE_PERFETTO_PACKET << 3 | STROBE_PROTO_BYTES;
    packet[1] = (unsigned char)(at - packet - 2);
    STROBE_ASSERT(at - packet <= EVENT_ROOM);
    writer->out->len += (size_t)(at - packet);
}

/* Ends that are due before something begins at `depth`. */
static void put_ends(struct strobe_perfetto_out *writer, struct sequence *sequence, int32_t depth)
{
    while (sequence->n_open && sequence->open[sequence->n_open - 1].depth >= depth) {
        int64_t end_ts = sequence->open[--sequence->n_open].end_ts;
        if (end_ts >= 0)
            put_event(writer, sequence, end_ts, STROBE_PACKET_TYPE_END, 0);
    }
}

static inline int has_name(const struct sequence *sequence, uint32_t name)
{
    return name >> 3 < sequence->seen_room && sequence->seen[name >> 3] >> (name & 7) & 1;
}

/* Number a name that the sequence does not have. */
static enum strobe_err put_name(struct strobe_perfetto_out *writer, struct sequence *sequence,
                                uint32_t name)
{
    if (STROBE_ARRAY_REACH(sequence->seen, sequence->seen_room, name >> 3))
        return STROBE_ERR_NOMEM;
    sequence->seen[name >> 3] |= (uint8_t)(1 << (name & 7));
    strobe_proto_u(&writer->part, 1, name);
    strobe_proto_bytes(&writer->part, 2, strobe_textmap_key(&writer->names, name - 1),
                       writer->names.entries[name - 1].n_key);
    strobe_proto_message(&writer->event, 2, &writer->part);
    strobe_proto_message(&writer->packet, STROBE_PACKET_INTERNED, &writer->event);
    strobe_proto_u(&writer->packet, STROBE_PACKET_SEQUENCE, sequence->number);
    strobe_proto_u(&writer->packet, STROBE_PACKET_FLAGS, STROBE_PACKET_NEEDS_STATE);
    strobe_perfetto_end_packet(writer);
    return STROBE_OK;
}

/* The next zone of a sequence. */
static enum strobe_err put_zone(struct strobe_perfetto_out *writer, struct sequence *sequence,
                                const struct item *item)
{
    put_ends(writer, sequence, item->depth);
    if (!has_name(sequence, item->name) && put_name(writer, sequence, item->name))
        return STROBE_ERR_NOMEM;
    put_event(writer, sequence, item->ts,
              item->is_instant ? STROBE_PACKET_TYPE_INSTANT : STROBE_PACKET_TYPE_BEGIN, item->name);
    if (!item->is_instant) {
        struct open_zone *open =
            STROBE_ARRAY_PUSH(sequence->open, sequence->n_open, sequence->open_room);
        if (!open)
            return STROBE_ERR_NOMEM;
        *open = (struct open_zone){item->depth, item->dur < 0 ? -1 : item->ts + item->dur};
    }
    return writer->out->error ? STROBE_ERR_IO : STROBE_OK;
}

/* A span's own track, below that of its process. */
static uint64_t put_span_track(struct strobe_perfetto_out *writer, const struct item *item)
{
    uint64_t uuid = STROBE_PERFETTO_UUID_SPAN + writer->n_spans++;
    strobe_proto_u(&writer->event, 1, uuid);
    strobe_proto_bytes(&writer->event, 2, strobe_textmap_key(&writer->names, item->name - 1),
                       writer->names.entries[item->name - 1].n_key);
    strobe_proto_u(&writer->event, 5, STROBE_PERFETTO_UUID_PROCESS + (uint64_t)item->process);
    strobe_proto_message(&writer->packet, STROBE_PACKET_TRACK, &writer->event);
    strobe_perfetto_end_packet(writer);
    return uuid;
}

/* ---- what is sorted in a file ---- */

/* By track, then by place; spans each have a track of their own, and need no order. */
static int compare(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

static enum strobe_err put_sorted(void *context, const void *record, const void *bytes,
                                  size_t n_bytes)
{
    struct zones *zones = context;
    const struct item *item = record;
    (void)bytes;
    (void)n_bytes;
    if (item->is_span || !zones->has_track || item->track != zones->track) {
        put_ends(zones->writer, &zones->sequence, INT32_MIN);
        start_sequence(zones->writer, &zones->sequence, item->ts,
                       item->is_span ? put_span_track(zones->writer, item)
                                     : STROBE_PERFETTO_UUID_TRACK + (uint64_t)item->track);
        zones->track = item->track;
        zones->has_track = 1;
    }
    return put_zone(zones->writer, &zones->sequence, item);
}

/* ---- rows ---- */

static enum strobe_err find_name(struct zones *zones, const struct strobe_batch *batch,
                                 const struct strobe_zone_row *zone, uint32_t *name)
{
    const struct strobe_note *note =
        zone->note && batch->notes ? &batch->notes[zone->note - 1] : NULL;
    struct strobe_textmap *names = &zones->writer->names;
    uint64_t id;
    uint32_t n, loc = strobe_batch_loc(zones->trace, batch, zone, &id);
    char room[STROBE_NAME_ROOM];
    enum strobe_err err;
    int is_kept = !(note && note->name) && loc < zones->trace->loc_ids.n;
    if (is_kept && STROBE_ARRAY_REACH(zones->names, zones->names_room, loc))
        return STROBE_ERR_NOMEM;
    if (is_kept && zones->names[loc]) {
        *name = zones->names[loc];
        return STROBE_OK;
    }
    if (note && note->name) {
        err = strobe_textmap_add(names, note->name, note->n_name, name);
    } else {
        const char *text = strobe_trace_loc_name(
            zones->trace, loc < zones->trace->loc_ids.n ? loc : STROBE_IDMAP_NONE, id, room, &n);
        err = strobe_textmap_add(names, text, n, name);
    }
    ++*name;
    if (!err && is_kept)
        zones->names[loc] = *name;
    return err;
}

static enum strobe_err make_item(struct zones *zones, const struct strobe_batch *batch, uint32_t i,
                                 int64_t track, struct item *out)
{
    const struct strobe_zone_row *zone = &batch->zones[i];
    const struct strobe_clock *clock = &zones->trace->clock;
    struct strobe_clock_part *part = &zones->part;
    if (!strobe_clock_part_has(part, zone->begin))
        strobe_clock_find_part(clock, zone->begin, part);
    int has = strobe_clock_part_has(part, zone->begin);
    out->track = track;
    out->process = strobe_trace_first_process(zones->trace, batch->process);
    out->order = strobe_sql_has_places(batch) ? (int64_t)batch->places[i].begin : -1;
    out->ts = has ? strobe_clock_part_rel(part, zone->begin) : strobe_clock_rel(clock, zone->begin);
    out->dur = -1;
    if (zone->state == STROBE_ZONE_ENDED)
        out->dur = (int64_t)(has ? strobe_clock_part_span_ns(part, zone->begin, zone->ticks)
                                 : strobe_clock_span_ns(clock, zone->begin, zone->ticks));
    out->depth = (int32_t)zone->depth;
    out->is_span = batch->kind == STROBE_BATCH_SPAN;
    out->is_instant = zone->state == STROBE_ZONE_UNFINISHED || zone->state == STROBE_ZONE_NO_BEGIN;
    return find_name(zones, batch, zone, &out->name);
}

/* 1: the zone has a place on its thread. */
static int has_place(const struct strobe_batch *batch, uint32_t i)
{
    return strobe_sql_has_places(batch) &&
           strobe_sql_place_id(batch->thread, batch->places[i].begin) >= 0;
}

static enum strobe_err sort_zone(struct zones *zones, const struct strobe_batch *batch, uint32_t i,
                                 int64_t track)
{
    struct item item = {0};
    enum strobe_err err = make_item(zones, batch, i, track, &item);
    if (!has_place(batch, i))
        item.order = item.ts;
    return err ? err : strobe_sort_add(zones->sort, &item, NULL, 0);
}

/* First pass: keep the late ones. */
static enum strobe_err keep_late(struct zones *zones, struct track *track,
                                 const struct strobe_batch *batch, int64_t id)
{
    enum strobe_err err = STROBE_OK;
    uint64_t n_places = track->n_places;
    for (uint32_t i = 0; !err && i < batch->n_zones; i++) {
        uint64_t place = batch->places[i].begin;
        if (!has_place(batch, i))
            continue;
        if (place >= track->n_places) {
            n_places = place >= n_places ? place + 1 : n_places;
            continue;
        }
        struct item *late = STROBE_ARRAY_PUSH(track->late, track->n_late, track->late_room);
        err = late ? make_item(zones, batch, i, id, late) : STROBE_ERR_NOMEM;
        if (++zones->n_late > MAX_LATE)
            return STROBE_ERR_LIMIT;
    }
    track->n_places = n_places;
    return err;
}

static enum strobe_err put_placed(struct zones *zones, struct track *track, const struct item *item)
{
    if (!track->sequence.number)
        start_sequence(zones->writer, &track->sequence, item->ts,
                       STROBE_PERFETTO_UUID_TRACK + (uint64_t)item->track);
    return put_zone(zones->writer, &track->sequence, item);
}

/* Late ones that began before `order`. */
static enum strobe_err put_late(struct zones *zones, struct track *track, int64_t order)
{
    enum strobe_err err = STROBE_OK;
    while (!err && track->n_written < track->n_late && track->late[track->n_written].order < order)
        err = put_placed(zones, track, &track->late[track->n_written++]);
    return err;
}

static enum strobe_err put_one(struct zones *zones, struct track *track,
                               const struct strobe_batch *batch, uint32_t i, int64_t id)
{
    struct item item;
    enum strobe_err err = make_item(zones, batch, i, id, &item);
    if (!err && track->n_written < track->n_late &&
        track->late[track->n_written].order < item.order)
        err = put_late(zones, track, item.order);
    return err ? err : put_placed(zones, track, &item);
}

/* The zones of a part that are not late, in the order of their places. */
static enum strobe_err put_timely(struct zones *zones, struct track *track,
                                  const struct strobe_batch *batch, int64_t id)
{
    enum strobe_err err = strobe_row_order_start(&zones->order, batch->n_zones);
    uint32_t n = 0;
    for (uint32_t i = 0; !err && i < batch->n_zones; i++) {
        if (!has_place(batch, i) || batch->places[i].begin < track->n_places)
            continue;
        zones->order.rows[n] = i;
        zones->order.keys[n++] = batch->places[i].begin;
    }
    if (!err)
        strobe_row_order_sort(&zones->order, 0, n);
    for (uint32_t i = 0; !err && i < n; i++)
        err = put_one(zones, track, batch, zones->order.rows[i], id);
    return err;
}

/* Second pass: write what is not late, and late ones in their turn. */
static enum strobe_err put_zones(struct zones *zones, struct track *track,
                                 const struct strobe_batch *batch, int64_t id)
{
    uint64_t n_places = track->n_places;
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; !err && i < batch->n_zones; i++) {
        if (!has_place(batch, i))
            err = sort_zone(zones, batch, i, id);
        else if (batch->places[i].begin >= n_places)
            n_places = batch->places[i].begin + 1;
    }
    if (!err)
        err = put_timely(zones, track, batch, id);
    track->n_places = n_places;
    return err;
}

static enum strobe_err take_batch(void *context, const struct strobe_batch *batch)
{
    struct zones *zones = context;
    int64_t id = strobe_sql_track_of(zones->trace, batch);
    enum strobe_err err = STROBE_OK;
    if (id < 0) /* it has no track */
        return STROBE_OK;
    if (strobe_sql_has_places(batch) && !zones->all_sorted) {
        if (STROBE_ARRAY_REACH(zones->tracks, zones->tracks_room, batch->thread))
            return STROBE_ERR_NOMEM;
        struct track *track = &zones->tracks[batch->thread];
        return zones->is_second ? put_zones(zones, track, batch, id)
                                : keep_late(zones, track, batch, id);
    }
    for (uint32_t i = 0; zones->is_second && !err && i < batch->n_zones; i++)
        err = sort_zone(zones, batch, i, id);
    return err;
}

static enum strobe_err pass(struct zones *zones)
{
    struct strobe_walk walk = strobe_walk_of_paired(NULL, zones, take_batch);
    walk.want_places = 1;
    zones->part = (struct strobe_clock_part){0};
    return strobe_sql_walk(zones->writer->sql, &walk, &zones->trace);
}

/* Between the passes: late ones in their order. Where they are too many, none is kept. */
static void turn_to_second(struct zones *zones)
{
    zones->is_second = 1;
    for (uint32_t i = 0; i < zones->tracks_room; i++) {
        struct track *track = &zones->tracks[i];
        track->n_places = 0;
        if (zones->all_sorted)
            track->n_late = 0;
        if (track->n_late)
            qsort(track->late, track->n_late, sizeof *track->late, compare);
    }
}

static enum strobe_err write_zones(struct zones *zones)
{
    enum strobe_err err = pass(zones);
    zones->all_sorted = err == STROBE_ERR_LIMIT && zones->n_late > MAX_LATE;
    if (err && !zones->all_sorted)
        return err;
    turn_to_second(zones);
    err = pass(zones);
    for (uint32_t i = 0; !err && i < zones->tracks_room; i++) {
        err = put_late(zones, &zones->tracks[i], INT64_MAX);
        put_ends(zones->writer, &zones->tracks[i].sequence, INT32_MIN);
    }
    if (!err)
        err = strobe_sort_all(zones->sort, put_sorted, zones);
    put_ends(zones->writer, &zones->sequence, INT32_MIN);
    return err;
}

enum strobe_err strobe_perfetto_zones(struct strobe_perfetto_out *writer)
{
    const struct strobe_sort_options options = {
        .record_bytes = sizeof(struct item), .memory_bytes = SORT_BYTES, .compare = compare};
    struct zones zones = {.writer = writer};
    enum strobe_err err = strobe_sort_open(&options, &zones.sort);
    if (!err)
        err = write_zones(&zones);
    for (uint32_t i = 0; i < zones.tracks_room; i++) {
        free_sequence(&zones.tracks[i].sequence);
        free(zones.tracks[i].late);
    }
    free_sequence(&zones.sequence);
    strobe_sort_close(zones.sort);
    strobe_row_order_free(&zones.order);
    free(zones.tracks);
    free(zones.names);
    return err;
}
