/* perfetto.c - see perfetto.h. Processes, tracks, counters and flows; zones are perfetto_zones.c's.
 *
 *   flow      instant "flow" with its id: the format binds flows to begins, and theirs have passed
 *   message   instant of the category "message" with the text as its name
 * SPDX-License-Identifier: MIT */
#include "export/perfetto.h"

#include "export/perfetto_zones.h"

/* ---- tracks ---- */

typedef enum strobe_err take_batch(struct strobe_perfetto_out *writer,
                                   const struct strobe_column_batch *batch, void *context);

/* All batches of a query. */
static enum strobe_err each_batch(struct strobe_perfetto_out *writer, const char *sql,
                                  take_batch *take, void *context)
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
static enum strobe_err put_processes(struct strobe_perfetto_out *writer,
                                     const struct strobe_column_batch *batch, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < batch->n_rows; i++) {
        size_t n;
        int64_t id = strobe_perfetto_number_at(batch, 0, i, 0);
        const char *name = strobe_perfetto_text_at(batch, 2, i, &n);
        strobe_proto_u(&writer->part, 1, pid_of(strobe_perfetto_number_at(batch, 1, i, 0), id));
        strobe_proto_bytes(&writer->part, 6, name, n);
        strobe_proto_u(&writer->event, 1, STROBE_PERFETTO_UUID_PROCESS + (uint64_t)id);
        strobe_proto_message(&writer->event, 3, &writer->part);
        strobe_proto_message(&writer->packet, STROBE_PACKET_TRACK, &writer->event);
        strobe_perfetto_end_packet(writer);
    }
    return STROBE_OK;
}

/* Columns: id, process_id, name, tid, pid; tid is NULL of what is no thread. */
static enum strobe_err put_tracks(struct strobe_perfetto_out *writer,
                                  const struct strobe_column_batch *batch, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < batch->n_rows; i++) {
        size_t n;
        int64_t process = strobe_perfetto_number_at(batch, 1, i, 0),
                tid = strobe_perfetto_number_at(batch, 3, i, -1);
        const char *name = strobe_perfetto_text_at(batch, 2, i, &n);
        strobe_proto_u(&writer->event, 1,
                       STROBE_PERFETTO_UUID_TRACK +
                           (uint64_t)strobe_perfetto_number_at(batch, 0, i, 0));
        strobe_proto_u(&writer->event, 5, STROBE_PERFETTO_UUID_PROCESS + (uint64_t)process);
        if (tid > 0) {
            strobe_proto_u(&writer->part, 1,
                           pid_of(strobe_perfetto_number_at(batch, 4, i, 0), process));
            strobe_proto_u(&writer->part, 2, (uint64_t)tid);
            strobe_proto_bytes(&writer->part, 5, name, n);
            strobe_proto_message(&writer->event, 4, &writer->part);
        } else {
            strobe_proto_bytes(&writer->event, 2, name, n);
        }
        strobe_proto_message(&writer->packet, STROBE_PACKET_TRACK, &writer->event);
        strobe_perfetto_end_packet(writer);
    }
    return STROBE_OK;
}

/* Columns: ts, value, track_id, name, process_id; `context` has the tracks that were described. */
static enum strobe_err put_counters(struct strobe_perfetto_out *writer,
                                    const struct strobe_column_batch *batch, void *context)
{
    struct strobe_map *described = context;
    for (uint32_t i = 0; i < batch->n_rows; i++) {
        uint64_t uuid = STROBE_PERFETTO_UUID_COUNTER +
                        (uint64_t)strobe_perfetto_number_at(batch, 2, i, 0),
                 *mark;
        int64_t ts = strobe_perfetto_number_at(batch, 0, i, 0);
        size_t n;
        const char *name = strobe_perfetto_text_at(batch, 3, i, &n);
        if (strobe_map_add(described, uuid, &mark))
            return STROBE_ERR_NOMEM;
        if (!*mark) {
            *mark = 1;
            strobe_proto_u(&writer->event, 1, uuid);
            strobe_proto_bytes(&writer->event, 2, name, n);
            strobe_proto_u(&writer->event, 5,
                           STROBE_PERFETTO_UUID_PROCESS +
                               (uint64_t)strobe_perfetto_number_at(batch, 4, i, 0));
            strobe_proto_message(&writer->event, 8, &writer->part); /* a counter, nothing more */
            strobe_proto_message(&writer->packet, STROBE_PACKET_TRACK, &writer->event);
            strobe_perfetto_end_packet(writer);
        }
        strobe_proto_u(&writer->event, STROBE_EVENT_TYPE, STROBE_PACKET_TYPE_COUNTER);
        strobe_proto_u(&writer->event, STROBE_EVENT_TRACK, uuid);
        strobe_proto_double(&writer->event, STROBE_EVENT_DOUBLE,
                            ((double *)batch->columns[1].values)[i]);
        strobe_proto_u(&writer->packet, STROBE_PACKET_TIMESTAMP, ts > 0 ? (uint64_t)ts : 0);
        strobe_proto_u(&writer->packet, STROBE_PACKET_SEQUENCE, 1);
        strobe_proto_message(&writer->packet, STROBE_PACKET_EVENT, &writer->event);
        strobe_perfetto_end_packet(writer);
    }
    return writer->out->error ? STROBE_ERR_IO : STROBE_OK;
}

/* ---- flows and messages ---- */

/* The head of an instant. A sequence per event would be waste: they name their track. */
static void begin_instant(struct strobe_perfetto_out *writer, int64_t track, const char *name,
                          size_t n)
{
    strobe_proto_u(&writer->event, STROBE_EVENT_TYPE, STROBE_PACKET_TYPE_INSTANT);
    strobe_proto_u(&writer->event, STROBE_EVENT_TRACK,
                   STROBE_PERFETTO_UUID_TRACK + (uint64_t)track);
    strobe_proto_bytes(&writer->event, 23, name, n);
}

static void end_instant(struct strobe_perfetto_out *writer, int64_t ts)
{
    strobe_proto_u(&writer->packet, STROBE_PACKET_TIMESTAMP, ts > 0 ? (uint64_t)ts : 0);
    strobe_proto_u(&writer->packet, STROBE_PACKET_SEQUENCE, 1);
    strobe_proto_message(&writer->packet, STROBE_PACKET_EVENT, &writer->event);
    strobe_perfetto_end_packet(writer);
}

/* Columns: ts, track_id, text. */
static enum strobe_err put_messages(struct strobe_perfetto_out *writer,
                                    const struct strobe_column_batch *batch, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < batch->n_rows; i++) {
        size_t n;
        const char *text = strobe_perfetto_text_at(batch, 2, i, &n);
        begin_instant(writer, strobe_perfetto_number_at(batch, 1, i, 0), text, n);
        strobe_proto_bytes(&writer->event, 22, "message", 7); /* its category */
        end_instant(writer, strobe_perfetto_number_at(batch, 0, i, 0));
    }
    return writer->out->error ? STROBE_ERR_IO : STROBE_OK;
}

/* Columns: ts, track_id, flow_id, whether it ends there. */
static enum strobe_err put_flows(struct strobe_perfetto_out *writer,
                                 const struct strobe_column_batch *batch, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < batch->n_rows; i++) {
        begin_instant(writer, strobe_perfetto_number_at(batch, 1, i, 0), "flow", 4);
        strobe_proto_fixed(&writer->event,
                           strobe_perfetto_number_at(batch, 3, i, 0) ? STROBE_EVENT_FLOW_END
                                                                     : STROBE_EVENT_FLOW,
                           (uint64_t)strobe_perfetto_number_at(batch, 2, i, 0));
        end_instant(writer, strobe_perfetto_number_at(batch, 0, i, 0));
    }
    return writer->out->error ? STROBE_ERR_IO : STROBE_OK;
}

static enum strobe_err write_all(struct strobe_perfetto_out *writer)
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
        err = each_batch(writer,
                         "SELECT ts, track_id, text FROM message WHERE trace_id = 0 AND track_id "
                         "IS NOT NULL ORDER BY ts",
                         put_messages, NULL);
    if (!err)
        err = strobe_perfetto_zones(writer);
    strobe_map_free(&described);
    return err;
}

enum strobe_err strobe_perfetto_write(struct strobe_sql *sql, struct strobe_out *out)
{
    struct strobe_perfetto_out writer = {.sql = sql, .out = out, .n_sequences = 1};
    enum strobe_err err = write_all(&writer);
    strobe_out_free(&writer.packet);
    strobe_out_free(&writer.event);
    strobe_out_free(&writer.part);
    strobe_textmap_free(&writer.names);
    return err;
}
