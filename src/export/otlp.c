/* otlp.c - see otlp.h. The JSON form has rules of its own: ids in hex, numbers of 64 bits as texts. One pass over the zones per
 * process, since a resource has its spans in it.  SPDX-License-Identifier: MIT */
#include "export/otlp.h"

#include <inttypes.h>

#include "query/trace.h"

enum { KIND_INTERNAL = 1 };
enum { ID, TS, DUR, NAME, TRACK, PARENT, VALUE, TEXT, N_COLUMNS };
static const char *const columns[N_COLUMNS] = {"id",       "ts",        "dur",   "name",
                                               "track_id", "parent_id", "value", "text"};

struct writer {
    struct strobe_out *out; /* borrowed */
    int64_t start_unix_ns;
    uint64_t trace_id[2];
    int has_span;
};

static int64_t number_at(const struct strobe_column *column, uint32_t row)
{
    return column->type == STROBE_COLUMN_INT ? ((int64_t *)column->values)[row]
                                             : ((int32_t *)column->values)[row];
}

static void put_text(struct strobe_out *out, const struct strobe_column *column, uint32_t row)
{
    uint32_t i = column->type == STROBE_COLUMN_ENUM ? (uint32_t)number_at(column, row) : row;
    const struct strobe_column_texts *texts = &column->texts;
    strobe_out_json(out, texts->bytes ? texts->bytes + texts->offsets[i] : "",
                    (size_t)(texts->offsets[i + 1] - texts->offsets[i]));
}

/* An id of a span: never 0, which means none. */
static void put_id(struct strobe_out *out, const char *key, int64_t id)
{
    strobe_out_format(out, "\"%s\":\"%016" PRIx64 "\"", key, (uint64_t)id + 1);
}

static void put_attributes(struct strobe_out *out, const struct strobe_column_batch *batch,
                           uint32_t row)
{
    strobe_out_format(
        out, ",\"attributes\":[{\"key\":\"thread.id\",\"value\":{\"intValue\":\"%" PRId64 "\"}}",
        number_at(&batch->columns[TRACK], row));
    if (!strobe_column_is_null(&batch->columns[VALUE], row))
        strobe_out_format(out,
                          ",{\"key\":\"strobe.value\",\"value\":{\"intValue\":\"%" PRId64 "\"}}",
                          number_at(&batch->columns[VALUE], row));
    if (!strobe_column_is_null(&batch->columns[TEXT], row)) {
        strobe_out_text(out, ",{\"key\":\"strobe.text\",\"value\":{\"stringValue\":");
        put_text(out, &batch->columns[TEXT], row);
        strobe_out_text(out, "}}");
    }
    strobe_out_char(out, ']');
}

static void put_span(struct writer *writer, const struct strobe_column_batch *batch, uint32_t row)
{
    struct strobe_out *out = writer->out;
    uint64_t start = (uint64_t)(writer->start_unix_ns + number_at(&batch->columns[TS], row));
    strobe_out_format(out, "%s\n{\"traceId\":\"%016" PRIx64 "%016" PRIx64 "\",",
                      writer->has_span ? "," : "", writer->trace_id[0], writer->trace_id[1]);
    writer->has_span = 1;
    put_id(out, "spanId", number_at(&batch->columns[ID], row));
    if (!strobe_column_is_null(&batch->columns[PARENT], row)) {
        strobe_out_char(out, ',');
        put_id(out, "parentSpanId", number_at(&batch->columns[PARENT], row));
    }
    strobe_out_text(out, ",\"name\":");
    put_text(out, &batch->columns[NAME], row);
    strobe_out_format(out,
                      ",\"kind\":%d,\"startTimeUnixNano\":\"%" PRIu64
                      "\",\"endTimeUnixNano\":\"%" PRIu64 "\"",
                      KIND_INTERNAL, start, start + (uint64_t)number_at(&batch->columns[DUR], row));
    put_attributes(out, batch, row);
    strobe_out_char(out, '}');
}

static enum strobe_err put_spans(struct writer *writer, struct strobe_sql *sql, uint32_t process)
{
    struct strobe_columns_ask ask = STROBE_COLUMNS_ALL("zone");
    struct strobe_columns *reader;
    ask.columns = columns;
    ask.n_columns = N_COLUMNS;
    ask.process = process;
    enum strobe_err err = strobe_columns_open(sql, &ask, &reader);
    writer->has_span = 0;
    while (!err) {
        struct strobe_column_batch *batch;
        err = strobe_columns_next(reader, &batch);
        for (uint32_t i = 0; !err && i < batch->n_rows; i++)
            if (!strobe_column_is_null(&batch->columns[DUR], i) &&
                !strobe_column_is_null(&batch->columns[ID], i))
                put_span(writer, batch, i);
        strobe_column_batch_free(batch);
        if (!err && writer->out->error)
            err = STROBE_ERR_IO;
    }
    strobe_columns_close(reader);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

static enum strobe_err put_process(struct writer *writer, struct strobe_sql *sql,
                                   const struct strobe_trace *trace, uint32_t process)
{
    struct strobe_out *out = writer->out;
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *name = strobe_trace_process_name(trace, process, room, &n);
    strobe_out_text(out, process ? ",\n" : "");
    strobe_out_text(out, "{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{"
                         "\"stringValue\":");
    strobe_out_json(out, name, n);
    strobe_out_format(out,
                      "}},{\"key\":\"process.pid\",\"value\":{\"intValue\":\"%" PRIu64
                      "\"}},{\"key\":\"host.name\",\"value\":{\"stringValue\":",
                      trace->processes[process].pid);
    const char *host = strobe_trace_text(trace, trace->hostname, &n);
    strobe_out_json(out, host, n);
    strobe_out_text(out, "}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"strobe\"},\"spans\":[");
    enum strobe_err err = put_spans(writer, sql, process);
    strobe_out_text(out, "]}]}");
    return err;
}

enum strobe_err strobe_otlp_write(struct strobe_sql *sql, struct strobe_out *out)
{
    const struct strobe_trace *trace = strobe_sql_trace(sql, 0);
    struct writer writer = {.out = out,
                            .start_unix_ns =
                                strobe_clock_at(&trace->clock, trace->clock.origin_tick) +
                                (int64_t)trace->clock.real_offset_ns};
    enum strobe_err err = STROBE_OK;
    writer.trace_id[0] = (uint64_t)writer.start_unix_ns;
    writer.trace_id[1] = trace->n_processes ? trace->processes[0].pid + 1 : 1;
    strobe_out_text(out, "{\"resourceSpans\":[");
    for (uint32_t i = 0; !err && i < trace->n_processes; i++)
        err = put_process(&writer, sql, trace, i);
    strobe_out_text(out, "]}\n");
    return err;
}
