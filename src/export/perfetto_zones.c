/* perfetto_zones.c - zones as begins and ends in the order of time.
 *
 * Every track is a packet sequence of its own: its clock counts from its first event in steps between packets, its names are
 * numbered once, its track need not be said. That makes 27 bytes a zone of 42.
 *
 * Zones come in the order of their ends and are written in that of their begins; a zone's id is its place among the begins of its
 * track, and its end is due when the next one begins at its depth or above. A batch of zones is sorted by track and id. Late are
 * those that began before a zone of an earlier batch: long ones, and few. So there are two passes over the same batches:
 *
 *   1  keeps the late ones, MAX_LATE at the most
 *   2  writes the others, and each late one before the first that began after it
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

enum { CLOCK_STEPS = 64 };
enum {
    SORT_BYTES = 32 << 20,
    MAX_LATE = 1 << 19, /* 56 bytes each */
    PLACE_BITS = 40,    /* of an id: above them is the thread (sql/table.h) */
    EVENT_ROOM = 64,    /* of a packet with an event and no name */
};

/* Columns of a batch. */
enum { ID, TS, DUR, DEPTH, NAME, TRACK, PROCESS, STATE, N_COLUMNS };
static const char *const columns[N_COLUMNS] = {"id",   "ts",       "dur",        "depth",
                                               "name", "track_id", "process_id", "state"};

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
    struct open_zone *open; /* owned */
    uint32_t n_open, open_room;
    uint8_t *seen; /* owned: a bit per name that it has */
    uint32_t seen_room;
};

/* A track whose zones have places. */
struct track {
    struct sequence sequence;
    int64_t most;      /* the latest order of the batches so far; -1: none */
    struct item *late; /* owned: in order in the second pass */
    uint32_t n_late, late_room;
    uint32_t n_written; /* of them */
};

struct zones {
    struct strobe_perfetto_out *writer; /* borrowed */
    struct strobe_sort *sort;           /* owned: what has no place */
    struct strobe_row_order order;
    struct strobe_map track_ids; /* index in tracks, by id */
    struct track *tracks;        /* owned */
    uint32_t tracks_room;
    uint32_t n_late;
    uint8_t all_sorted; /* too many are late: all go to the sort */
    uint32_t *names;    /* owned: of a batch's codes, numbers of names; 0: not known yet */
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

/* A new sequence for a track. */
static void start_sequence(struct strobe_perfetto_out *writer, struct sequence *sequence,
                           int64_t ts, uint64_t uuid)
{
    STROBE_ASSERT(!sequence->n_open);
    sequence->number = ++writer->n_sequences;
    sequence->last_ts = ts > 0 ? ts : 0;
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
    at = put_number(at, STROBE_PACKET_SEQUENCE, sequence->number);
    at = put_number(at, STROBE_PACKET_FLAGS, STROBE_PACKET_NEEDS_STATE);
    *at++ = STROBE_PACKET_EVENT << 3 | STROBE_PROTO_BYTES;
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

/* Number the name where the sequence does not have it. */
static enum strobe_err put_name(struct strobe_perfetto_out *writer, struct sequence *sequence,
                                uint32_t name)
{
    if (STROBE_ARRAY_REACH(sequence->seen, sequence->seen_room, name >> 3))
        return STROBE_ERR_NOMEM;
    if (sequence->seen[name >> 3] >> (name & 7) & 1)
        return STROBE_OK;
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
    if (put_name(writer, sequence, item->name))
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

static enum strobe_err make_item(struct zones *zones, const struct strobe_column_batch *batch,
                                 uint32_t row, struct item *out)
{
    uint32_t code = (uint32_t)((int32_t *)batch->columns[NAME].values)[row];
    size_t n;
    if (!zones->names[code]) {
        const char *name = strobe_perfetto_text_at(batch, NAME, row, &n);
        enum strobe_err err =
            strobe_textmap_add(&zones->writer->names, name, n, &zones->names[code]);
        if (err)
            return err;
        zones->names[code]++;
    }
    const char *state = strobe_perfetto_text_at(batch, STATE, row, &n);
    int64_t track = strobe_perfetto_number_at(batch, TRACK, row, -1);
    *out = (struct item){.track = track,
                         .process = strobe_perfetto_number_at(batch, PROCESS, row, 0),
                         .order = strobe_perfetto_number_at(batch, ID, row, 0),
                         .ts = strobe_perfetto_number_at(batch, TS, row, 0),
                         .dur = strobe_perfetto_number_at(batch, DUR, row, -1),
                         .depth = (int32_t)strobe_perfetto_number_at(batch, DEPTH, row, 0),
                         .name = zones->names[code],
                         .is_span = track >> 24 == 2,
                         .is_instant = n && (*state == 'u' || *state == 'n')};
    return STROBE_OK;
}

/* 1: the row has a place on its track. */
static int has_place(const struct strobe_column_batch *batch, uint32_t row)
{
    return strobe_perfetto_number_at(batch, ID, row, INT64_MAX) >> 62 == 0;
}

static enum strobe_err sort_row(struct zones *zones, const struct strobe_column_batch *batch,
                                uint32_t row)
{
    struct item item;
    enum strobe_err err = make_item(zones, batch, row, &item);
    if (!has_place(batch, row))
        item.order = item.ts;
    return err ? err : strobe_sort_add(zones->sort, &item, NULL, 0);
}

/* The rows with a place, by track and id: the id has the track's number in its upper bits. Their number. The
 * others go to the sort in the second pass; those without a track nowhere. */
static enum strobe_err sort_batch(struct zones *zones, const struct strobe_column_batch *batch,
                                  int is_second, uint32_t *n_placed)
{
    const int64_t *ids = batch->columns[ID].values;
    enum strobe_err err = strobe_row_order_start(&zones->order, batch->n_rows);
    uint32_t n = 0;
    for (uint32_t i = 0; !err && i < batch->n_rows; i++) {
        if (strobe_column_is_null(&batch->columns[TRACK], i))
            continue;
        if (has_place(batch, i) && !zones->all_sorted) {
            zones->order.rows[n] = i;
            zones->order.keys[n++] = (uint64_t)ids[i];
        } else if (is_second) {
            err = sort_row(zones, batch, i);
        }
    }
    if (!err)
        strobe_row_order_sort(&zones->order, n);
    *n_placed = n;
    return err;
}

/* The track of an id. */
static struct track *find_track(struct zones *zones, int64_t id)
{
    uint64_t *index;
    uint32_t n = zones->track_ids.n;
    if (strobe_map_add(&zones->track_ids, (uint64_t)id >> PLACE_BITS, &index))
        return NULL;
    if (zones->track_ids.n > n) {
        if (STROBE_ARRAY_REACH(zones->tracks, zones->tracks_room, n))
            return NULL;
        *index = n;
        zones->tracks[n].most = -1;
    }
    return &zones->tracks[*index];
}

/* Rows from..to of the order are one track's. */
typedef enum strobe_err take_rows(struct zones *zones, struct track *track,
                                  const struct strobe_column_batch *batch, uint32_t from,
                                  uint32_t to);

/* Each track's rows of a batch, n in all; afterwards its latest order is known. */
static enum strobe_err each_track(struct zones *zones, const struct strobe_column_batch *batch,
                                  uint32_t n, take_rows *take)
{
    const uint64_t *keys = zones->order.keys;
    enum strobe_err err = STROBE_OK;
    for (uint32_t from = 0, to; !err && from < n; from = to) {
        struct track *track = find_track(zones, (int64_t)keys[from]);
        for (to = from + 1; to < n && keys[to] >> PLACE_BITS == keys[from] >> PLACE_BITS; to++)
            ;
        err = track ? take(zones, track, batch, from, to) : STROBE_ERR_NOMEM;
        if (track && (int64_t)keys[to - 1] > track->most)
            track->most = (int64_t)keys[to - 1];
    }
    return err;
}

/* First pass: keep the late ones. */
static enum strobe_err keep_late(struct zones *zones, struct track *track,
                                 const struct strobe_column_batch *batch, uint32_t from,
                                 uint32_t to)
{
    const struct strobe_row_order *order = &zones->order;
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = from; !err && i < to && (int64_t)order->keys[i] < track->most; i++) {
        struct item *late = STROBE_ARRAY_PUSH(track->late, track->n_late, track->late_room);
        err = late ? make_item(zones, batch, order->rows[i], late) : STROBE_ERR_NOMEM;
        if (++zones->n_late > MAX_LATE)
            return STROBE_ERR_LIMIT;
    }
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

/* Second pass: write what is not late, and late ones in their turn. */
static enum strobe_err put_rows(struct zones *zones, struct track *track,
                                const struct strobe_column_batch *batch, uint32_t from, uint32_t to)
{
    const struct strobe_row_order *order = &zones->order;
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = from; !err && i < to; i++) {
        struct item item;
        if ((int64_t)order->keys[i] < track->most) /* it was written */
            continue;
        err = make_item(zones, batch, order->rows[i], &item);
        if (!err)
            err = put_late(zones, track, item.order);
        if (!err)
            err = put_placed(zones, track, &item);
    }
    return err;
}

static enum strobe_err pass(struct zones *zones, int is_second)
{
    struct strobe_columns_ask ask = STROBE_COLUMNS_ALL("zone");
    struct strobe_columns *reader;
    ask.columns = columns;
    ask.n_columns = N_COLUMNS;
    enum strobe_err err = strobe_columns_open(zones->writer->sql, &ask, &reader);
    while (!err) {
        struct strobe_column_batch *batch;
        uint32_t n;
        err = strobe_columns_next(reader, &batch);
        if (!err &&
            STROBE_ARRAY_REACH(zones->names, zones->names_room, batch->columns[NAME].texts.n))
            err = STROBE_ERR_NOMEM;
        if (!err) {
            memset(zones->names, 0, zones->names_room * sizeof *zones->names);
            err = sort_batch(zones, batch, is_second, &n);
        }
        if (!err)
            err = each_track(zones, batch, n, is_second ? put_rows : keep_late);
        strobe_columns_return(reader, batch);
    }
    strobe_columns_close(reader);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

/* Between the passes: late ones in their order. Where they are too many, none is kept. */
static void turn_to_second(struct zones *zones)
{
    for (uint32_t i = 0; i < zones->track_ids.n; i++) {
        struct track *track = &zones->tracks[i];
        track->most = -1;
        if (zones->all_sorted)
            track->n_late = 0;
        if (track->n_late)
            qsort(track->late, track->n_late, sizeof *track->late, compare);
    }
}

static enum strobe_err write_zones(struct zones *zones)
{
    enum strobe_err err = pass(zones, 0);
    zones->all_sorted = err == STROBE_ERR_LIMIT && zones->n_late > MAX_LATE;
    if (err && !zones->all_sorted)
        return err;
    turn_to_second(zones);
    err = pass(zones, 1);
    for (uint32_t i = 0; !err && i < zones->track_ids.n; i++) {
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
    strobe_map_free(&zones.track_ids);
    free(zones.tracks);
    free(zones.names);
    return err;
}
