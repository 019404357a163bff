/* fields.c - the schema, fields of events and records, pieces of long texts.
 * SPDX-License-Identifier: MIT */
#include "file/decode.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "base/assert.h"
#include "file/frame.h"

static const struct {
    unsigned number;
    const char *name, *letters, *field_names;
} built_in[] = {
#define X(name, number, text, fields, field_names) {number, text, fields, field_names},
    STROBE_KIND_LIST(X) STROBE_KIND_LATER_LIST(X) STROBE_META_LIST(X) STROBE_LATER_LIST(X)
        STROBE_FACT_LIST(X) STROBE_FACT_LATER_LIST(X)
#undef X
};

static int letters_ok(const char *letters, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strchr("uidnlsa", letters[i]))
            return 0;
    return n <= STROBE_DECODE_MAX_FIELDS;
}

/* The word up to the next blank or the line's end; *at moves past it. */
static const char *next_word(const char **at, const char *end, uint32_t *n)
{
    const char *word = *at;
    const char *stop = word;
    while (stop < end && *stop != ' ')
        stop++;
    *n = (uint32_t)(stop - word);
    *at = stop < end ? stop + 1 : stop;
    return word;
}

static void read_line(const char *at, const char *end, struct strobe_schema *out)
{
    uint32_t n_number, n_name, n_letters, n_fields;
    const char *number = next_word(&at, end, &n_number);
    const char *name = next_word(&at, end, &n_name);
    const char *letters = next_word(&at, end, &n_letters);
    const char *fields = next_word(&at, end, &n_fields);
    unsigned kind = 0;
    for (uint32_t i = 0; i < n_number && kind < 1000; i++)
        kind =
            number[i] >= '0' && number[i] <= '9' ? 10 * kind + (unsigned)(number[i] - '0') : 1000;
    if (!n_number || !n_name || kind >= STROBE_FACT_COUNT || out->kind[kind].known)
        return;
    if (n_letters == 1 && letters[0] == '-')
        n_letters = n_fields = 0;
    if (!letters_ok(letters, n_letters))
        return;
    STROBE_ASSERT(n_letters < sizeof out->kind[kind].letters);
    memcpy(out->kind[kind].letters, letters, n_letters);
    out->kind[kind].name = name;
    out->kind[kind].n_name = n_name;
    out->kind[kind].field_names = fields;
    out->kind[kind].n_field_names = n_fields;
    out->kind[kind].known = 1;
}

void strobe_schema_read(const char *text, struct strobe_schema *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++) {
        unsigned kind = built_in[i].number;
        STROBE_ASSERT(kind < STROBE_FACT_COUNT && !out->kind[kind].known); /* a number of its own */
        STROBE_ASSERT(letters_ok(built_in[i].letters, strlen(built_in[i].letters)));
        strcpy(out->kind[kind].letters, built_in[i].letters);
        out->kind[kind].name = built_in[i].name;
        out->kind[kind].n_name = (uint32_t)strlen(built_in[i].name);
        out->kind[kind].field_names = built_in[i].field_names;
        out->kind[kind].n_field_names = (uint32_t)strlen(built_in[i].field_names);
        out->kind[kind].known = 1;
    }
    while (*text) {
        const char *end = strchr(text, '\n');
        if (!end)
            end = text + strlen(text);
        read_line(text, end, out);
        text = *end ? end + 1 : end;
    }
}

void strobe_joiner_free(struct strobe_joiner *joiner)
{
    free(joiner->text);
    free(joiner->whole);
    free(joiner->list);
    memset(joiner, 0, sizeof *joiner);
}

void strobe_joiner_add(struct strobe_joiner *joiner, const char *text, uint64_t n)
{
    if (n > STROBE_DECODE_MAX_TEXT - joiner->n_text) {
        n = STROBE_DECODE_MAX_TEXT - joiner->n_text;
        joiner->cut = 1;
    }
    if (!n)
        return;
    if (STROBE_ARRAY_RESERVE(joiner->text, joiner->text_room, joiner->n_text + n)) {
        joiner->cut = 1;
        return;
    }
    memcpy(joiner->text + joiner->n_text, text, (size_t)n);
    joiner->n_text += n;
    STROBE_ASSERT(joiner->n_text <= joiner->text_room && joiner->n_text <= STROBE_DECODE_MAX_TEXT);
}

/* Put the pieces that wait in front of the last text field. */
static void join(struct strobe_joiner *joiner, struct strobe_field *last)
{
    size_t n_pieces = joiner->n_text;
    strobe_joiner_add(joiner, last->text, last->u);
    char *text =
        joiner->text; /* what was joined becomes the event's; the other buffer waits next */
    size_t room = joiner->text_room, n = joiner->n_text;
    joiner->text = joiner->whole;
    joiner->text_room = joiner->whole_room;
    joiner->whole = text;
    joiner->whole_room = room;
    joiner->n_text = 0;
    if (n_pieces) {
        last->text = text;
        last->u = n;
    }
}

static void read_list(struct strobe_bytes *in, struct strobe_joiner *joiner,
                      struct strobe_field *field)
{
    uint64_t n = strobe_get_varint(in), value = 0;
    if (n >
        strobe_bytes_left(in)) { /* at most STROBE_FILE_MAX_PAYLOAD: 8 times as many fit 32 bits */
        in->bad = 1;
        return;
    }
    if (STROBE_ARRAY_RENEW(joiner->list, joiner->list_room, n)) {
        in->bad = 1;
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        STROBE_ASSERT(i < joiner->list_room),
            joiner->list[i] = value += (uint64_t)strobe_get_zigzag(in);
    field->u = n;
    field->list = joiner->list;
}

static void read_field(struct strobe_bytes *in, struct strobe_joiner *joiner,
                       struct strobe_field *field)
{
    switch (field->letter) {
    case 'i':
        field->i = strobe_get_zigzag(in);
        field->u = (uint64_t)field->i;
        break;
    case 'd':
        field->d = strobe_bytes_get_double(in);
        break;
    case 's':
        field->u = strobe_get_varint(in);
        field->text = (const char *)strobe_get_bytes(in, field->u);
        break;
    case 'a':
        read_list(in, joiner, field);
        break;
    default:
        field->u = strobe_get_varint(in);
    }
}

int strobe_decode_fields(struct strobe_bytes *in, const char *letters, struct strobe_joiner *joiner,
                         struct strobe_field *fields)
{
    struct strobe_field *last_text = NULL;
    int n = 0;
    for (; letters[n] && !in->bad; n++) {
        STROBE_ASSERT(n < STROBE_DECODE_MAX_FIELDS);
        memset(&fields[n], 0, sizeof fields[n]);
        fields[n].letter = letters[n];
        read_field(in, joiner, &fields[n]);
        if (letters[n] == 's')
            last_text = &fields[n];
    }
    if (in->bad)
        return -1;
    if (last_text && joiner->n_text)
        join(joiner, last_text);
    return n;
}

void strobe_decode_skip_fields(struct strobe_bytes *in, const char *letters)
{
    for (; *letters; letters++) {
        if (*letters == 'd')
            strobe_get_bytes(in, sizeof(double));
        else if (*letters == 's')
            strobe_get_bytes(in, strobe_get_varint(in));
        else if (*letters != 'a')
            strobe_get_varint(in);
        else
            for (uint64_t n = strobe_get_varint(in); n && !in->bad; n--)
                strobe_get_varint(in);
    }
}

void strobe_cursor_start(struct strobe_cursor *cursor, const struct strobe_events *events,
                         const struct strobe_part *part, const struct strobe_schema *schema,
                         struct strobe_joiner *joiner)
{
    STROBE_ASSERT(part->first_event + part->n_events <= events->n_events);
    STROBE_ASSERT(part->big_at + part->n_big <= events->n_stream[STROBE_BIG]);
    STROBE_ASSERT(part->side_at + part->n_side <= events->n_stream[STROBE_SIDE]);
    cursor->events = events;
    cursor->part = part;
    cursor->schema = schema;
    cursor->joiner = joiner;
    cursor->big = strobe_bytes_over(events->stream[STROBE_BIG] + part->big_at, part->n_big);
    cursor->side = strobe_bytes_over(events->stream[STROBE_SIDE] + part->side_at, part->n_side);
    cursor->tick = part->first_tick;
    cursor->at = 0;
}

static enum strobe_err cursor_begin(struct strobe_cursor *cursor, unsigned sym,
                                    struct strobe_event *out)
{
    uint64_t index =
        sym == STROBE_SYM_BEGIN_FAR ? strobe_get_varint(&cursor->side) : sym - STROBE_SYM_BEGIN;
    if (cursor->side.bad || index >= cursor->part->n_locs)
        return STROBE_ERR_CORRUPT;
    out->kind = STROBE_KIND_ZONE_BEGIN;
    out->loc = cursor->part->locs[index];
    return STROBE_OK;
}

static enum strobe_err cursor_fields(struct strobe_cursor *cursor, struct strobe_event *out)
{
    if (!cursor->schema->kind[out->kind].known)
        return STROBE_ERR_CORRUPT;
    int n = strobe_decode_fields(&cursor->side, cursor->schema->kind[out->kind].letters,
                                 cursor->joiner, out->fields);
    if (n < 0)
        return STROBE_ERR_CORRUPT;
    out->n_fields = (unsigned)n;
    for (int i = 0; i < n; i++)
        if (out->fields[i].letter == 'l')
            out->loc = out->fields[i].u;
    return STROBE_OK;
}

/* An OWN_TIME belongs to the event before it: taken along with that. */
static void cursor_own(struct strobe_cursor *cursor, struct strobe_event *out)
{
    const struct strobe_events *events = cursor->events;
    uint32_t i = cursor->part->first_event + cursor->at;
    if (cursor->at >= cursor->part->n_events ||
        events->stream[STROBE_SYM][i] != STROBE_KIND_OWN_TIME)
        return;
    uint64_t step = events->stream[STROBE_LO][i] + 256u * events->stream[STROBE_HI][i];
    if (step == 65535)
        step = (uint64_t)strobe_get_zigzag(&cursor->big);
    cursor->tick += step;
    cursor->at++;
    out->own = strobe_get_zigzag(&cursor->side);
}

static enum strobe_err cursor_event(struct strobe_cursor *cursor, unsigned sym,
                                    struct strobe_event *out)
{
    enum strobe_err err;
    out->kind = sym;
    err = sym >= STROBE_SYM_BEGIN_FAR ? cursor_begin(cursor, sym, out) : cursor_fields(cursor, out);
    if (!err)
        cursor_own(cursor, out);
    return err;
}

enum strobe_err strobe_cursor_next(struct strobe_cursor *cursor, struct strobe_event *out)
{
    const struct strobe_events *events = cursor->events;
    STROBE_ASSERT(cursor->at <= cursor->part->n_events);
    while (cursor->at < cursor->part->n_events) {
        uint32_t i = cursor->part->first_event + cursor->at;
        uint64_t step = events->stream[STROBE_LO][i] + 256u * events->stream[STROBE_HI][i];
        if (step == 65535)
            step = (uint64_t)strobe_get_zigzag(&cursor->big);
        cursor->tick += step;
        unsigned sym = events->stream[STROBE_SYM][i];
        out->tick = cursor->tick;
        out->number = cursor->at++;
        out->n_fields = 0;
        out->loc = 0;
        out->own = 0;
        if (cursor->big.bad)
            return STROBE_ERR_CORRUPT;
        if (sym == STROBE_KIND_STR_PIECE) {
            uint64_t n = strobe_get_varint(&cursor->side);
            const uint8_t *text = strobe_get_bytes(&cursor->side, n);
            if (!text)
                return STROBE_ERR_CORRUPT;
            strobe_joiner_add(cursor->joiner, (const char *)text, n);
            continue;
        }
        return cursor_event(cursor, sym, out);
    }
    return STROBE_ERR_END;
}

void strobe_record_walk_over(const uint8_t *data, size_t n_bytes,
                             const struct strobe_schema *schema, struct strobe_record_walk *records)
{
    records->in = strobe_bytes_over(data, n_bytes);
    records->schema = schema;
}

enum strobe_err strobe_block_unpack(const struct strobe_block *block, struct strobe_unpacked *out)
{
    uint32_t size[2];
    out->n = 0;
    if (!block->body || block->n_body < sizeof size)
        return STROBE_ERR_CORRUPT;
    memcpy(size, block->body, sizeof size);
    const uint8_t *stored = block->body + sizeof size;
    if (size[0] > STROBE_FILE_MAX_PAYLOAD || size[1] > block->n_body - sizeof size)
        return STROBE_ERR_CORRUPT;
    if (size[0] != size[1]) {
        if (!strobe_frame_fits(size[0], size[1]))
            return STROBE_ERR_CORRUPT;
        if (STROBE_ARRAY_RENEW(out->raw, out->raw_room, size[0]))
            return STROBE_ERR_NOMEM;
        enum strobe_err err = strobe_frame_open(&out->zstd, out->raw, size[0], stored, size[1]);
        if (err)
            return err;
    }
    out->bytes = size[0] == size[1] ? stored : out->raw;
    out->n = size[0];
    return STROBE_OK;
}

void strobe_unpacked_free(struct strobe_unpacked *unpacked)
{
    free(unpacked->raw);
    ZSTD_freeDCtx(unpacked->zstd);
    memset(unpacked, 0, sizeof *unpacked);
}

enum strobe_err strobe_record_walk_start(const struct strobe_block *block,
                                         const struct strobe_schema *schema,
                                         struct strobe_record_walk *records)
{
    strobe_record_walk_over(NULL, 0, schema, records);
    enum strobe_err err = strobe_block_unpack(block, &records->unpacked);
    if (!err)
        strobe_record_walk_over(records->unpacked.bytes, records->unpacked.n, schema, records);
    return err;
}

/* 1: the record makes sense and is to be shown. */
static int read_record(struct strobe_record_walk *records, struct strobe_bytes *in,
                       struct strobe_record *out)
{
    if (out->kind == STROBE_KIND_STR_PIECE) {
        uint64_t n = strobe_get_varint(in);
        const uint8_t *text = strobe_get_bytes(in, n);
        if (text)
            strobe_joiner_add(&records->joiner, (const char *)text, n);
        return 0;
    }
    if (out->kind >= STROBE_FACT_COUNT || !records->schema->kind[out->kind].known)
        return 0;
    out->proc = 0;
    if (out->kind >= STROBE_KIND_COUNT && out->kind < STROBE_META_COUNT)
        out->proc = strobe_get_varint(in);
    int n = strobe_decode_fields(in, records->schema->kind[out->kind].letters, &records->joiner,
                                 out->fields);
    out->n_fields = n < 0 ? 0 : (unsigned)n;
    return n >= 0;
}

enum strobe_err strobe_record_walk_next(struct strobe_record_walk *records,
                                        struct strobe_record *out)
{
    while (strobe_bytes_left(&records->in)) {
        uint64_t kind = strobe_get_varint(&records->in);
        uint64_t n = strobe_get_varint(&records->in);
        const uint8_t *data = strobe_get_bytes(&records->in, n);
        if (!data)
            return STROBE_ERR_CORRUPT;
        struct strobe_bytes in = strobe_bytes_over(data, (size_t)n);
        out->kind = kind < STROBE_FACT_COUNT ? (unsigned)kind : STROBE_FACT_COUNT;
        if (read_record(records, &in, out))
            return STROBE_OK;
    }
    return STROBE_ERR_END;
}

void strobe_record_walk_free(struct strobe_record_walk *records)
{
    strobe_joiner_free(&records->joiner);
    strobe_unpacked_free(&records->unpacked);
    memset(records, 0, sizeof *records);
}
