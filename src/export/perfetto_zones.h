/* perfetto_zones.h - what the two files of Perfetto's export share.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_PERFETTO_ZONES_H
#define STROBE_EXPORT_PERFETTO_ZONES_H

#include "base/map.h"
#include "export/proto.h"
#include "sql/columns.h"
#include "wire/perfetto_fields.h"

/* Numbers of fields in an event, as perfetto_trace.proto has them. */
enum {
    STROBE_EVENT_TYPE = 9,
    STROBE_EVENT_NAME = 10,
    STROBE_EVENT_TRACK = 11,
    STROBE_EVENT_DOUBLE = 44,
    STROBE_EVENT_FLOW = 47,
    STROBE_EVENT_FLOW_END = 48,
};

/* What tracks are known by. */
#define STROBE_PERFETTO_UUID_PROCESS 0x10000000000ull
#define STROBE_PERFETTO_UUID_TRACK   0x20000000000ull
#define STROBE_PERFETTO_UUID_COUNTER 0x30000000000ull
#define STROBE_PERFETTO_UUID_SPAN    0x40000000000ull

struct strobe_perfetto_out {
    struct strobe_sql *sql;                /* borrowed */
    struct strobe_out *out;                /* borrowed */
    struct strobe_out packet, event, part; /* scratch */
    struct strobe_textmap names;           /* of zones */
    uint32_t n_sequences;                  /* of packets; the first has what no track has alone */
    uint64_t n_spans;
};

static inline void strobe_perfetto_end_packet(struct strobe_perfetto_out *writer)
{
    strobe_proto_message(writer->out, STROBE_PERFETTO_PACKET, &writer->packet);
}

/* Numbers and texts of a batch, by column. */
static inline int64_t strobe_perfetto_number_at(const struct strobe_column_batch *batch,
                                                unsigned column, uint32_t row, int64_t otherwise)
{
    const struct strobe_column *values = &batch->columns[column];
    if (strobe_column_is_null(values, row))
        return otherwise;
    return values->type == STROBE_COLUMN_INT ? ((int64_t *)values->values)[row]
                                             : ((int32_t *)values->values)[row];
}

static inline const char *strobe_perfetto_text_at(const struct strobe_column_batch *batch,
                                                  unsigned column, uint32_t row, size_t *n)
{
    const struct strobe_column *values = &batch->columns[column];
    uint32_t i =
        values->type == STROBE_COLUMN_ENUM ? (uint32_t)((int32_t *)values->values)[row] : row;
    *n = 0;
    if (strobe_column_is_null(values, row))
        return "";
    *n = (size_t)(values->texts.offsets[i + 1] - values->texts.offsets[i]);
    return values->texts.bytes ? values->texts.bytes + values->texts.offsets[i] : "";
}

/* perfetto_zones.c: begins and ends of all zones. */
enum strobe_err strobe_perfetto_zones(struct strobe_perfetto_out *writer);

#endif
