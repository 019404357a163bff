/* perfetto_args.c - debug annotations of an event as an object of JSON, as Chrome's files have them: queries find members by their path.  SPDX-License-Identifier: MIT */
#include "base/json_write.h"
#include "import/perfetto_parts.h"

enum { DEPTH_MAX = 24, EVENT_ANNOTATION = 4 };
enum {
    ARG_NAME_IID = 1,
    ARG_BOOL,
    ARG_UINT,
    ARG_INT,
    ARG_DOUBLE,
    ARG_STRING,
    ARG_POINTER,
    ARG_JSON = 9,
    ARG_NAME,
    ARG_DICT,
    ARG_ARRAY,
    ARG_STRING_IID = 17,
};

struct writer {
    const struct strobe_perfetto *perfetto;
    const struct strobe_perfetto_sequence *sequence;
    struct strobe_json_writer json;
};

static void put_name(struct writer *writer, struct strobe_protobuf message)
{
    struct strobe_perfetto_text name = {"", 0};
    while (strobe_protobuf_next(&message)) {
        if (message.field == ARG_NAME && message.bytes)
            name =
                (struct strobe_perfetto_text){(const char *)message.bytes, (size_t)message.number};
        else if (message.field == ARG_NAME_IID)
            name = strobe_perfetto_interned(writer->perfetto, writer->sequence,
                                            STROBE_PERFETTO_ARG_NAME, message.number);
    }
    strobe_json_write_name(&writer->json, name.at, name.n);
}

static void put_value(struct writer *writer, struct strobe_protobuf message, int depth);

/* Members of an object, or elements of an array. */
static void put_nested(struct writer *writer, struct strobe_protobuf message, int depth,
                       uint32_t field)
{
    int is_object = field != ARG_ARRAY;
    strobe_json_write_open(&writer->json, NULL, is_object ? '{' : '[');
    while (depth < DEPTH_MAX && !writer->json.out->error && strobe_protobuf_next(&message)) {
        if (message.field != field || !message.bytes)
            continue;
        if (is_object)
            put_name(writer, strobe_protobuf_inner(&message));
        put_value(writer, strobe_protobuf_inner(&message), depth + 1);
    }
    strobe_json_write_close(&writer->json, is_object ? '}' : ']');
}

/* A value of one field; 0: it is none that JSON has. */
static int put_plain(struct writer *writer, const struct strobe_protobuf *field)
{
    struct strobe_perfetto_text text = {(const char *)field->bytes, (size_t)field->number};
    switch (field->field) {
    case ARG_BOOL:
        strobe_json_write_bool(&writer->json, NULL, field->number != 0);
        return 1;
    case ARG_UINT:
    case ARG_POINTER:
        strobe_json_write_u(&writer->json, NULL, field->number);
        return 1;
    case ARG_INT:
        strobe_json_write_i(&writer->json, NULL, (int64_t)field->number);
        return 1;
    case ARG_DOUBLE:
        strobe_json_write_double(&writer->json, NULL, strobe_protobuf_double(field->number));
        return 1;
    case ARG_STRING:
    case ARG_JSON:
        strobe_json_write_text(&writer->json, NULL, text.at ? text.at : "", text.at ? text.n : 0);
        return 1;
    case ARG_STRING_IID:
        text = strobe_perfetto_interned(writer->perfetto, writer->sequence,
                                        STROBE_PERFETTO_ARG_TEXT, field->number);
        strobe_json_write_text(&writer->json, NULL, text.at, text.n);
        return 1;
    default:
        return 0;
    }
}

static void put_value(struct writer *writer, struct strobe_protobuf message, int depth)
{
    struct strobe_protobuf at = message;
    while (strobe_protobuf_next(&at)) {
        if (put_plain(writer, &at))
            return;
        if (at.field == ARG_DICT || at.field == ARG_ARRAY) {
            put_nested(writer, message, depth, at.field);
            return;
        }
    }
    strobe_json_write_null(&writer->json, NULL);
}

struct strobe_perfetto_text strobe_perfetto_args(struct strobe_perfetto *perfetto,
                                                 const struct strobe_perfetto_sequence *sequence,
                                                 struct strobe_protobuf event)
{
    struct writer writer = {perfetto, sequence, {.out = &perfetto->args}};
    struct strobe_perfetto_text none = {"", 0};
    strobe_out_clear(&perfetto->args);
    perfetto->args.error = 0;
    perfetto->args.max = STROBE_TIMELINE_TEXT_MAX;
    put_nested(&writer, event, 0, EVENT_ANNOTATION);
    if (perfetto->args.error) {
        strobe_timeline_leave_out(perfetto->timeline, "events' arguments are too long", 1);
        return none;
    }
    return (struct strobe_perfetto_text){perfetto->args.at, perfetto->args.len};
}
