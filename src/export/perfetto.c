/* perfetto.c - see perfetto.h.
 *
 * Every track is a packet sequence of its own: its clock counts from its first event in steps between packets, its names are
 * numbered once, its track need not be said. That makes 27 bytes a zone of 42. Zones come in the order of their ends and are
 * written as begins and ends in the order of time: they are sorted by track and begin; a zone's end is known to be due when the
 * next one begins at its depth or above. Ties in time are no matter, since a zone's id is its place among the begins.
 *
 *   zone that ended       begin, end                      a slice
 *   zone still open       begin                           a slice without an end
 *   unfinished, no begin  instant                         a slice of 0 ns
 *   span                  begin, end on a track of its own, since spans may overlap
 *   flow                  instant "flow" with its id: the format binds flows to begins, and theirs have passed
 * SPDX-License-Identifier: MIT */
#include "export/perfetto.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/map.h"
#include "base/sort.h"
#include "export/proto.h"
#include "wire/perfetto_fields.h"

/* Numbers of fields in an event, as perfetto_trace.proto has them. */
enum {
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_DOUBLE = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
};
enum { CLOCK_STEPS = 64 };
enum { SORT_BYTES = 32 << 20 };

/* What tracks are known by. */
#define UUID_PROCESS 0x10000000000ull
#define UUID_TRACK   0x20000000000ull
#define UUID_COUNTER 0x30000000000ull
#define UUID_SPAN    0x40000000000ull

/* A zone on its way through the sort. */
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

struct writer {
    struct strobe_sql *sql;                /* borrowed */
    struct strobe_out *out;                /* borrowed */
    struct strobe_out packet, event, part; /* scratch */
    struct strobe_textmap names;
    uint32_t *seen; /* owned: by name, the sequence that has it */
    uint32_t seen_room;
    uint32_t sequence;
    int64_t track, last_ts; /* of the sequence */
    uint8_t has_track;
    struct open_zone *open; /* owned */
    uint32_t n_open, open_room;
    uint64_t n_spans;
};

static void end_packet(struct writer *writer)
{
    strobe_proto_message(writer->out, STROBE_PERFETTO_PACKET, &writer->packet);
}

/* ---- tracks ---- */

/* Texts and numbers of a batch, by column. */
static int64_t number_at(const struct strobe_column_batch *batch, unsigned column, uint32_t row,
                         int64_t otherwise)
{
    const struct strobe_column *values = &batch->columns[column];
    if (strobe_column_is_null(values, row))
        return otherwise;
    return values->type == STROBE_COLUMN_INT ? ((int64_t *)values->values)[row]
                                             : ((int32_t *)values->values)[row];
}

static const char *text_at(const struct strobe_column_batch *batch, unsigned column, uint32_t row,
                           size_t *n)
{
    const struct strobe_column *values = &batch->columns[column];
    uint32_t i = row;
    *n = 0;
    if (strobe_column_is_null(values, row))
        return "";
    if (values->type == STROBE_COLUMN_ENUM)
        i = (uint32_t)((int32_t *)values->values)[row];
    *n = (size_t)(values->texts.offsets[i + 1] - values->texts.offsets[i]);
    return values->texts.bytes ? values->texts.bytes + values->texts.offsets[i] : "";
}

typedef enum strobe_err take_batch(struct writer *writer, const struct strobe_column_batch *batch,
                                   void *context);

/* All batches of a query. */
static enum strobe_err each_batch(struct writer *writer, const char *sql, take_batch *take,
                                  void *context)
{
    struct strobe_columns *reader;
    enum strobe_err err = strobe_columns_query(writer->sql, sql, 0, &reader);
    while (!err) {
        struct strobe_column_batch *batch;
        err = strobe_columns_next(reader, &batch);
        if (!err)
            err = take(writer, batch, context);
        strobe_column_batch_free(batch);
    }
    strobe_columns_close(reader);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

/* A device has no pid; Perfetto wants a number that no other process has. */
static uint64_t pid_of(int64_t pid, int64_t process)
{
    enum { NO_PID = 1 << 23 };
    return pid > 0 ? (uint64_t)pid : (uint64_t)(NO_PID + process);
}

/* Columns: id, pid, name. */
static enum strobe_err put_processes(struct writer *writer, const struct strobe_column_batch *batch,
                                     void *context)
{
    (void)context;
    for (uint32_t i = 0; i < batch->n_rows; i++) {
        size_t n;
        int64_t id = number_at(batch, 0, i, 0);
        const char *name = text_at(batch, 2, i, &n);
        strobe_proto_u(&writer->part, 1, pid_of(number_at(batch, 1, i, 0), id));
        strobe_proto_bytes(&writer->part, 6, name, n);
        strobe_proto_u(&writer->event, 1, UUID_PROCESS + (uint64_t)id);
        strobe_proto_message(&writer->event, 3, &writer->part);
        strobe_proto_message(&writer->packet, STROBE_PACKET_TRACK, &writer->event);
        end_packet(writer);
    }
    return STROBE_OK;
}

/* Columns: id, process_id, name, tid, pid; tid is NULL of what is no thread. */
static enum strobe_err put_tracks(struct writer *writer, const struct strobe_column_batch *batch,
                                  void *context)
{
    (void)context;
    for (uint32_t i = 0; i < batch->n_rows; i++) {
        size_t n;
        int64_t process = number_at(batch, 1, i, 0), tid = number_at(batch, 3, i, -1);
        const char *name = text_at(batch, 2, i, &n);
        strobe_proto_u(&writer->event, 1, UUID_TRACK + (uint64_t)number_at(batch, 0, i, 0));
        strobe_proto_u(&writer->event, 5, UUID_PROCESS + (uint64_t)process);
        if (tid > 0) {
            strobe_proto_u(&writer->part, 1, pid_of(number_at(batch, 4, i, 0), process));
            strobe_proto_u(&writer->part, 2, (uint64_t)tid);
            strobe_proto_bytes(&writer->part, 5, name, n);
            strobe_proto_message(&writer->event, 4, &writer->part);
        } else {
            strobe_proto_bytes(&writer->event, 2, name, n);
        }
        strobe_proto_message(&writer->packet, STROBE_PACKET_TRACK, &writer->event);
        end_packet(writer);
    }
    return STROBE_OK;
}

/* Columns: ts, value, track_id, name, process_id; `context` has the tracks that were described. */
static enum strobe_err put_counters(struct writer *writer, const struct strobe_column_batch *batch,
                                    void *context)
{
    struct strobe_map *described = context;
    for (uint32_t i = 0; i < batch->n_rows; i++) {
        uint64_t uuid = UUID_COUNTER + (uint64_t)number_at(batch, 2, i, 0), *mark;
        int64_t ts = number_at(batch, 0, i, 0);
        size_t n;
        const char *name = text_at(batch, 3, i, &n);
        if (strobe_map_add(described, uuid, &mark))
            return STROBE_ERR_NOMEM;
        if (!*mark) {
            *mark = 1;
            strobe_proto_u(&writer->event, 1, uuid);
            strobe_proto_bytes(&writer->event, 2, name, n);
            strobe_proto_u(&writer->event, 5, UUID_PROCESS + (uint64_t)number_at(batch, 4, i, 0));
            strobe_proto_message(&writer->event, 8, &writer->part); /* a counter, nothing more */
            strobe_proto_message(&writer->packet, STROBE_PACKET_TRACK, &writer->event);
            end_packet(writer);
        }
        strobe_proto_u(&writer->event, EVENT_TYPE, STROBE_PACKET_TYPE_COUNTER);
        strobe_proto_u(&writer->event, EVENT_TRACK, uuid);
        strobe_proto_double(&writer->event, EVENT_DOUBLE, ((double *)batch->columns[1].values)[i]);
        strobe_proto_u(&writer->packet, STROBE_PACKET_TIMESTAMP, ts > 0 ? (uint64_t)ts : 0);
        strobe_proto_u(&writer->packet, STROBE_PACKET_SEQUENCE, 1);
        strobe_proto_message(&writer->packet, STROBE_PACKET_EVENT, &writer->event);
        end_packet(writer);
    }
    return writer->out->error ? STROBE_ERR_IO : STROBE_OK;
}

/* ---- zones ---- */

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

/* Columns: id, ts, dur, depth, name, track_id, process_id, state. */
static enum strobe_err sort_zones(struct writer *writer, const struct strobe_column_batch *batch,
                                  void *context)
{
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; !err && i < batch->n_rows; i++) {
        size_t n, n_state;
        const char *name = text_at(batch, 4, i, &n), *state = text_at(batch, 7, i, &n_state);
        int64_t id = number_at(batch, 0, i, 0);
        struct item item = {.track = number_at(batch, 5, i, -1),
                            .process = number_at(batch, 6, i, 0),
                            .ts = number_at(batch, 1, i, 0),
                            .dur = number_at(batch, 2, i, -1),
                            .depth = (int32_t)number_at(batch, 3, i, 0)};
        item.order = id >> 62 ? item.ts : id; /* fibers and spans have no places */
        item.is_span = (item.track >> 24) == 2;
        item.is_instant = n_state && (*state == 'u' || *state == 'n');
        err = strobe_textmap_add(&writer->names, name, n, &item.name);
        item.name++;
        if (!err)
            err = strobe_sort_add(context, &item, NULL, 0);
    }
    return err;
}

/* A new sequence for a track. */
static void start_track(struct writer *writer, const struct item *item, uint64_t uuid)
{
    writer->sequence++;
    writer->last_ts = item->ts > 0 ? item->ts : 0;
    strobe_proto_u(&writer->part, 1, STROBE_PERFETTO_BOOTTIME);
    strobe_proto_u(&writer->part, 2, (uint64_t)writer->last_ts);
    strobe_proto_message(&writer->event, 1, &writer->part);
    strobe_proto_u(&writer->part, 1, CLOCK_STEPS);
    strobe_proto_u(&writer->part, 2, 0);
    strobe_proto_u(&writer->part, 3, 1); /* timestamps are steps */
    strobe_proto_message(&writer->event, 1, &writer->part);
    strobe_proto_message(&writer->packet, STROBE_PACKET_CLOCKS, &writer->event);
    strobe_proto_u(&writer->packet, STROBE_PACKET_SEQUENCE, writer->sequence);
    strobe_proto_u(&writer->packet, STROBE_PACKET_FLAGS, STROBE_PACKET_IS_CLEARED);
    end_packet(writer);
    strobe_proto_u(&writer->part, EVENT_TRACK, uuid);
    strobe_proto_message(&writer->event, 11, &writer->part); /* defaults of events */
    strobe_proto_u(&writer->event, STROBE_PACKET_CLOCK, CLOCK_STEPS);
    strobe_proto_message(&writer->packet, STROBE_PACKET_DEFAULTS, &writer->event);
    strobe_proto_u(&writer->packet, STROBE_PACKET_SEQUENCE, writer->sequence);
    strobe_proto_u(&writer->packet, STROBE_PACKET_FLAGS, STROBE_PACKET_NEEDS_STATE);
    end_packet(writer);
}

/* Time, sequence and the event that was made. */
static void put_event(struct writer *writer, int64_t ts)
{
    uint64_t step = ts > writer->last_ts ? (uint64_t)(ts - writer->last_ts) : 0;
    writer->last_ts += (int64_t)step;
    strobe_proto_u(&writer->packet, STROBE_PACKET_TIMESTAMP, step);
    strobe_proto_u(&writer->packet, STROBE_PACKET_SEQUENCE, writer->sequence);
    strobe_proto_u(&writer->packet, STROBE_PACKET_FLAGS, STROBE_PACKET_NEEDS_STATE);
    strobe_proto_message(&writer->packet, STROBE_PACKET_EVENT, &writer->event);
    end_packet(writer);
}

/* Ends that are due before something begins at `depth`. */
static void put_ends(struct writer *writer, int32_t depth)
{
    while (writer->n_open && writer->open[writer->n_open - 1].depth >= depth) {
        int64_t end_ts = writer->open[--writer->n_open].end_ts;
        if (end_ts < 0)
            continue;
        strobe_proto_u(&writer->event, EVENT_TYPE, STROBE_PACKET_TYPE_END);
        put_event(writer, end_ts);
    }
}

/* Number the name where the sequence does not have it. */
static enum strobe_err put_name(struct writer *writer, uint32_t name)
{
    if (STROBE_ARRAY_REACH(writer->seen, writer->seen_room, name))
        return STROBE_ERR_NOMEM;
    if (writer->seen[name] == writer->sequence)
        return STROBE_OK;
    writer->seen[name] = writer->sequence;
    strobe_proto_u(&writer->part, 1, name);
    strobe_proto_bytes(&writer->part, 2, strobe_textmap_key(&writer->names, name - 1),
                       writer->names.entries[name - 1].n_key);
    strobe_proto_message(&writer->event, 2, &writer->part);
    strobe_proto_message(&writer->packet, STROBE_PACKET_INTERNED, &writer->event);
    return STROBE_OK;
}

/* A span's own track, below that of its process. */
static uint64_t put_span_track(struct writer *writer, const struct item *item)
{
    uint64_t uuid = UUID_SPAN + writer->n_spans++;
    strobe_proto_u(&writer->event, 1, uuid);
    strobe_proto_bytes(&writer->event, 2, strobe_textmap_key(&writer->names, item->name - 1),
                       writer->names.entries[item->name - 1].n_key);
    strobe_proto_u(&writer->event, 5, UUID_PROCESS + (uint64_t)item->process);
    strobe_proto_message(&writer->packet, STROBE_PACKET_TRACK, &writer->event);
    end_packet(writer);
    return uuid;
}

static enum strobe_err put_item(void *context, const void *record, const void *bytes,
                                size_t n_bytes)
{
    struct writer *writer = context;
    const struct item *item = record;
    (void)bytes;
    (void)n_bytes;
    if (item->is_span || !writer->has_track || item->track != writer->track) {
        put_ends(writer, INT32_MIN);
        start_track(writer, item,
                    item->is_span ? put_span_track(writer, item)
                                  : UUID_TRACK + (uint64_t)item->track);
        writer->track = item->track;
        writer->has_track = 1;
    }
    put_ends(writer, item->depth);
    if (put_name(writer, item->name))
        return STROBE_ERR_NOMEM;
    strobe_proto_u(&writer->event, EVENT_TYPE,
                   item->is_instant ? STROBE_PACKET_TYPE_INSTANT : STROBE_PACKET_TYPE_BEGIN);
    strobe_proto_u(&writer->event, EVENT_NAME, item->name);
    put_event(writer, item->ts);
    if (!item->is_instant) {
        struct open_zone *open = STROBE_ARRAY_PUSH(writer->open, writer->n_open, writer->open_room);
        if (!open)
            return STROBE_ERR_NOMEM;
        *open = (struct open_zone){item->depth, item->dur < 0 ? -1 : item->ts + item->dur};
    }
    return writer->out->error ? STROBE_ERR_IO : STROBE_OK;
}

static enum strobe_err write_zones(struct writer *writer)
{
    const struct strobe_sort_options options = {
        .record_bytes = sizeof(struct item), .memory_bytes = SORT_BYTES, .compare = compare};
    struct strobe_sort *sort;
    enum strobe_err err = strobe_sort_open(&options, &sort);
    if (!err)
        err = each_batch(writer,
                         "SELECT id, ts, dur, depth, name, track_id, process_id, state FROM zone "
                         "WHERE trace_id = 0 AND track_id IS NOT NULL",
                         sort_zones, sort);
    if (!err)
        err = strobe_sort_all(sort, put_item, writer);
    put_ends(writer, INT32_MIN);
    strobe_sort_close(sort);
    return err;
}

/* Columns: ts, track_id, flow_id, whether it ends there. A sequence per event would be waste: they name their track. */
static enum strobe_err put_flows(struct writer *writer, const struct strobe_column_batch *batch,
                                 void *context)
{
    (void)context;
    for (uint32_t i = 0; i < batch->n_rows; i++) {
        int64_t ts = number_at(batch, 0, i, 0);
        strobe_proto_u(&writer->event, EVENT_TYPE, STROBE_PACKET_TYPE_INSTANT);
        strobe_proto_u(&writer->event, EVENT_TRACK,
                       UUID_TRACK + (uint64_t)number_at(batch, 1, i, 0));
        strobe_proto_bytes(&writer->event, 23, "flow", 4);
        strobe_proto_fixed(&writer->event, number_at(batch, 3, i, 0) ? EVENT_FLOW_END : EVENT_FLOW,
                           (uint64_t)number_at(batch, 2, i, 0));
        strobe_proto_u(&writer->packet, STROBE_PACKET_TIMESTAMP, ts > 0 ? (uint64_t)ts : 0);
        strobe_proto_u(&writer->packet, STROBE_PACKET_SEQUENCE, 1);
        strobe_proto_message(&writer->packet, STROBE_PACKET_EVENT, &writer->event);
        end_packet(writer);
    }
    return writer->out->error ? STROBE_ERR_IO : STROBE_OK;
}

static enum strobe_err write_all(struct writer *writer)
{
    struct strobe_map described = {0};
    enum strobe_err err = each_batch(writer, "SELECT id, pid, name FROM process WHERE trace_id = 0",
                                     put_processes, NULL);
    if (!err)
        err =
            each_batch(writer,
                       "SELECT t.id, t.process_id, t.name, CASE WHEN t.kind = 'thread' THEN h.tid "
                       "END, p.pid FROM track t LEFT JOIN thread h ON h.trace_id = 0 AND h.id = "
                       "t.thread_id LEFT JOIN process p ON p.trace_id = 0 AND p.id = "
                       "t.process_id WHERE t.trace_id = 0 AND t.kind != 'span'",
                       put_tracks, NULL);
    if (!err)
        err = each_batch(writer,
                         "SELECT ts, value, track_id, name, process_id FROM counter WHERE trace_id "
                         "= 0 AND track_id IS NOT NULL",
                         put_counters, &described);
    if (!err)
        err = each_batch(writer,
                         "SELECT ts, track_id, flow_id, what = 'flow_end' FROM flow_event WHERE "
                         "trace_id = 0 ORDER BY ts",
                         put_flows, NULL);
    if (!err)
        err = write_zones(writer);
    strobe_map_free(&described);
    return err;
}

enum strobe_err strobe_perfetto_write(struct strobe_sql *sql, struct strobe_out *out)
{
    struct writer writer = {.sql = sql, .out = out, .sequence = 1};
    enum strobe_err err = write_all(&writer);
    strobe_out_free(&writer.packet);
    strobe_out_free(&writer.event);
    strobe_out_free(&writer.part);
    strobe_textmap_free(&writer.names);
    free(writer.seen);
    free(writer.open);
    return err;
}
