/* arrow_file.c - see arrow_file.h. A flatbuffer is written front to back: a table has its vtable before it and what it points to
 * behind it, and offsets are filled in when that is there.  SPDX-License-Identifier: MIT */
#include "export/arrow_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

enum {
    VERSION_5 = 4, /* MetadataVersion */
    HEAD_SCHEMA = 1,
    HEAD_BATCH = 3, /* MessageHeader */
    TYPE_INT = 2,
    TYPE_FLOAT = 3,
    TYPE_UTF8 = 5, /* Type */
    DOUBLE = 2,    /* Precision */
    MAX_FIELDS = 8,
};

/* OFFSET SIZE FIELD         a struct of File.fbs
 *      0    8 offset        of the message in the file
 *      8    4 head_bytes    with the 8 before the head
 *     12    4 padding
 *     16    8 body_bytes */
struct block {
    int64_t offset;
    int32_t head_bytes, padding;
    int64_t body_bytes;
};
_Static_assert(sizeof(struct block) == 24 && offsetof(struct block, body_bytes) == 16,
               "File.fbs, Block");

/* OFFSET SIZE FIELD    structs of Message.fbs: Buffer (offset, bytes) and FieldNode (rows, n_nulls)
 *      0    8 first
 *      8    8 second */
struct pair {
    int64_t first, second;
};
_Static_assert(sizeof(struct pair) == 16, "Message.fbs, Buffer and FieldNode");

struct writer {
    struct strobe_out *out; /* borrowed */
    uint64_t n_bytes;       /* written so far */
    struct strobe_out head;
    const struct strobe_columns *reader; /* borrowed */
    unsigned n_columns;
    struct pair *nodes, *buffers; /* owned: one per column; three */
    int64_t n_body;               /* bytes of the buffers so far */
    struct block *blocks;         /* owned: of the batches */
    uint32_t n_blocks, blocks_room;
    int32_t *offsets; /* owned: of a column's texts */
    uint64_t offsets_room;
};

/* ---- flatbuffers ---- */

static void put_raw(struct strobe_out *out, const void *bytes, size_t n)
{
    strobe_out_bytes(out, bytes, n);
}

/* Zeros up to a place that is `more` behind a multiple of `to`. */
static void align(struct strobe_out *out, size_t to, size_t more)
{
    while ((out->len + to - more % to) % to && !out->error)
        strobe_out_char(out, 0);
}

/* A field of a table: a scalar, or an offset that is filled in later. Bytes 0: it is not there. */
struct field {
    size_t n_bytes;
    int64_t value;
    size_t at; /* result: where it stands */
};

/* A table; the place that offsets to it point to. */
static size_t put_table(struct strobe_out *out, struct field *fields, unsigned n)
{
    uint16_t vtable[2 + MAX_FIELDS] = {0};
    size_t n_vtable = (2 + n) * sizeof *vtable, size = 4;
    STROBE_ASSERT(n <= MAX_FIELDS);
    for (unsigned i = 0; i < n; i++) {
        if (!fields[i].n_bytes)
            continue;
        size = (size + fields[i].n_bytes - 1) / fields[i].n_bytes * fields[i].n_bytes;
        vtable[2 + i] = (uint16_t)size;
        size += fields[i].n_bytes;
    }
    vtable[0] = (uint16_t)n_vtable;
    vtable[1] = (uint16_t)size;
    align(out, 8, 8 - n_vtable % 8);
    put_raw(out, vtable, n_vtable);
    size_t table = out->len;
    int32_t back = (int32_t)n_vtable;
    put_raw(out, &back, sizeof back);
    for (unsigned i = 0; i < n; i++) {
        if (!fields[i].n_bytes)
            continue;
        while (out->len < table + vtable[2 + i] && !out->error)
            strobe_out_char(out, 0);
        fields[i].at = out->len;
        put_raw(out, &fields[i].value, fields[i].n_bytes);
    }
    return table;
}

/* The offset that stands at `at` is to lead to `to`. */
static void lead(struct strobe_out *out, size_t at, size_t to)
{
    uint32_t offset = (uint32_t)(to - at);
    STROBE_ASSERT(out->error || to > at);
    if (!out->error)
        memcpy(out->at + at, &offset, sizeof offset);
}

static size_t put_text(struct strobe_out *out, const char *text)
{
    uint32_t n = (uint32_t)strlen(text);
    align(out, 4, 0);
    size_t place = out->len;
    put_raw(out, &n, sizeof n);
    put_raw(out, text, n + 1);
    return place;
}

/* A vector of structs, whose first one is aligned to 8. */
static size_t put_vector(struct strobe_out *out, const void *items, uint32_t n, size_t item_bytes)
{
    align(out, 8, 4);
    size_t place = out->len;
    put_raw(out, &n, sizeof n);
    if (n)
        put_raw(out, items, n * item_bytes);
    return place;
}

/* ---- the schema ---- */

static size_t put_type(struct strobe_out *out, enum strobe_column_type type)
{
    if (type == STROBE_COLUMN_INT || type == STROBE_COLUMN_INT4) {
        struct field fields[] = {{4, type == STROBE_COLUMN_INT ? 64 : 32, 0}, {1, 1, 0}};
        return put_table(out, fields, 2);
    }
    struct field fields[] = {{2, DOUBLE, 0}};
    return put_table(out, fields, type == STROBE_COLUMN_REAL ? 1 : 0);
}

static uint8_t type_number(enum strobe_column_type type)
{
    return type == STROBE_COLUMN_INT || type == STROBE_COLUMN_INT4 ? TYPE_INT
           : type == STROBE_COLUMN_REAL                            ? TYPE_FLOAT
                                                                   : TYPE_UTF8;
}

/* Field: name, nullable, type_type, type, dictionary, children. */
static size_t put_column(struct strobe_out *out, const char *name, enum strobe_column_type type)
{
    struct field fields[] = {{4, 0, 0}, {1, 1, 0}, {1, type_number(type), 0},
                             {4, 0, 0}, {0, 0, 0}, {4, 0, 0}};
    size_t place = put_table(out, fields, 6);
    lead(out, fields[0].at, put_text(out, name));
    lead(out, fields[3].at, put_type(out, type));
    lead(out, fields[5].at, put_vector(out, NULL, 0, 0));
    return place;
}

/* Schema: endianness, fields. */
static size_t put_schema(struct strobe_out *out, const struct writer *writer)
{
    struct field fields[] = {{2, 0, 0}, {4, 0, 0}};
    size_t place = put_table(out, fields, 2);
    align(out, 4, 0);
    lead(out, fields[1].at, out->len);
    uint32_t n = writer->n_columns, none = 0;
    put_raw(out, &n, sizeof n);
    size_t first = out->len;
    for (unsigned i = 0; i < n; i++)
        put_raw(out, &none, sizeof none);
    for (unsigned i = 0; i < n; i++) {
        enum strobe_column_type type;
        const char *name = strobe_columns_name(writer->reader, i, &type);
        lead(out, first + i * sizeof none, put_column(out, name, type));
    }
    return place;
}

/* ---- messages ---- */

static void put_out(struct writer *writer, const void *bytes, size_t n)
{
    strobe_out_bytes(writer->out, bytes, n);
    writer->n_bytes += n;
}

static void pad_out(struct writer *writer)
{
    static const char zeros[8];
    put_out(writer, zeros, (8 - writer->n_bytes % 8) % 8);
}

/* Message: version, header_type, header, bodyLength; the header's place is to be filled in at *at. */
static void begin_head(struct writer *writer, int type, int64_t n_body, size_t *at)
{
    struct field fields[] = {{2, VERSION_5, 0}, {1, type, 0}, {4, 0, 0}, {8, n_body, 0}};
    uint32_t none = 0;
    strobe_out_clear(&writer->head);
    put_raw(&writer->head, &none, sizeof none);
    lead(&writer->head, 0, put_table(&writer->head, fields, 4));
    *at = fields[2].at;
}

/* The head goes out. How many bytes it takes. */
static int32_t put_head(struct writer *writer)
{
    align(&writer->head, 8, 0);
    const struct {
        uint32_t mark;
        int32_t n;
    } before = {UINT32_MAX, (int32_t)writer->head.len};
    put_out(writer, &before, sizeof before);
    put_out(writer, writer->head.at, writer->head.len);
    return (int32_t)(sizeof before + writer->head.len);
}

/* A buffer of the body: its place is noted, and its bytes are written later in the same order. */
static void note_buffer(struct writer *writer, unsigned *n, int64_t n_bytes)
{
    writer->buffers[(*n)++] = (struct pair){writer->n_body, n_bytes};
    writer->n_body += (n_bytes + 7) / 8 * 8;
}

/* Bytes of the texts of a column, row by row. */
static int64_t count_text_bytes(const struct strobe_column *column, uint32_t n_rows)
{
    const struct strobe_column_texts *texts = &column->texts;
    const int32_t *codes = column->values;
    int64_t n = 0;
    if (column->type == STROBE_COLUMN_TEXT)
        return texts->offsets[n_rows];
    for (uint32_t i = 0; i < n_rows; i++)
        if (!strobe_column_is_null(column, i))
            n += texts->offsets[codes[i] + 1] - texts->offsets[codes[i]];
    return n;
}

static void put_texts(struct writer *writer, const struct strobe_column *column, uint32_t n_rows)
{
    const struct strobe_column_texts *texts = &column->texts;
    const int32_t *codes = column->values;
    if (column->type == STROBE_COLUMN_TEXT) {
        put_out(writer, texts->offsets, (n_rows + 1ull) * sizeof *texts->offsets);
        pad_out(writer);
        put_out(writer, texts->bytes, (size_t)texts->offsets[n_rows]);
        pad_out(writer);
        return;
    }
    int32_t at = 0;
    for (uint32_t i = 0; i < n_rows; i++) {
        writer->offsets[i] = at;
        if (!strobe_column_is_null(column, i))
            at += texts->offsets[codes[i] + 1] - texts->offsets[codes[i]];
    }
    writer->offsets[n_rows] = at;
    put_out(writer, writer->offsets, (n_rows + 1ull) * sizeof *writer->offsets);
    pad_out(writer);
    for (uint32_t i = 0; i < n_rows; i++)
        if (!strobe_column_is_null(column, i))
            put_out(writer, texts->bytes + texts->offsets[codes[i]],
                    (size_t)(texts->offsets[codes[i] + 1] - texts->offsets[codes[i]]));
    pad_out(writer);
}

static int is_text(const struct strobe_column *column)
{
    return column->type == STROBE_COLUMN_TEXT || column->type == STROBE_COLUMN_ENUM;
}

/* Where the buffers of a batch will be. LIMIT: texts of a column are over 2 GiB. */
static enum strobe_err note_batch(struct writer *writer, const struct strobe_column_batch *batch,
                                  unsigned *n_buffers)
{
    uint32_t n = batch->n_rows;
    writer->n_body = 0;
    *n_buffers = 0;
    for (unsigned i = 0; i < writer->n_columns; i++) {
        const struct strobe_column *column = &batch->columns[i];
        writer->nodes[i] = (struct pair){n, column->n_nulls};
        note_buffer(writer, n_buffers, column->n_nulls ? (n + 7) / 8 : 0);
        if (!is_text(column)) {
            note_buffer(writer, n_buffers, (int64_t)strobe_column_width(column->type) * n);
            continue;
        }
        int64_t n_text = count_text_bytes(column, n);
        if (n_text > INT32_MAX)
            return STROBE_ERR_LIMIT;
        note_buffer(writer, n_buffers, ((int64_t)n + 1) * (int64_t)sizeof *writer->offsets);
        note_buffer(writer, n_buffers, n_text);
    }
    return STROBE_OK;
}

static void put_body(struct writer *writer, const struct strobe_column_batch *batch)
{
    for (unsigned i = 0; i < writer->n_columns; i++) {
        const struct strobe_column *column = &batch->columns[i];
        if (column->n_nulls)
            put_out(writer, column->valid, (batch->n_rows + 7) / 8);
        pad_out(writer);
        if (is_text(column))
            put_texts(writer, column, batch->n_rows);
        else
            put_out(writer, column->values, strobe_column_width(column->type) * batch->n_rows);
        pad_out(writer);
    }
}

/* RecordBatch: length, nodes, buffers. */
static enum strobe_err put_batch(struct writer *writer, const struct strobe_column_batch *batch)
{
    struct field fields[] = {{8, batch->n_rows, 0}, {4, 0, 0}, {4, 0, 0}};
    unsigned n_buffers;
    size_t at;
    enum strobe_err err = note_batch(writer, batch, &n_buffers);
    if (!err)
        err = STROBE_ARRAY_RESERVE(writer->offsets, writer->offsets_room, batch->n_rows + 1ull);
    struct block *block =
        err ? NULL : STROBE_ARRAY_PUSH(writer->blocks, writer->n_blocks, writer->blocks_room);
    if (!block)
        return err ? err : STROBE_ERR_NOMEM;
    begin_head(writer, HEAD_BATCH, writer->n_body, &at);
    struct strobe_out *head = &writer->head;
    lead(head, at, put_table(head, fields, 3));
    lead(head, fields[1].at,
         put_vector(head, writer->nodes, writer->n_columns, sizeof(struct pair)));
    lead(head, fields[2].at, put_vector(head, writer->buffers, n_buffers, sizeof(struct pair)));
    block->offset = (int64_t)writer->n_bytes;
    block->head_bytes = put_head(writer);
    block->padding = 0;
    block->body_bytes = writer->n_body;
    uint64_t before = writer->n_bytes;
    put_body(writer, batch);
    STROBE_ASSERT(head->error || writer->n_bytes - before == (uint64_t)writer->n_body);
    (void)before;
    return head->error ? STROBE_ERR_NOMEM : writer->out->error ? STROBE_ERR_IO : STROBE_OK;
}

/* Footer: version, schema, dictionaries, recordBatches. */
static void put_footer(struct writer *writer)
{
    static const uint32_t end[] = {UINT32_MAX, 0};
    struct field fields[] = {{2, VERSION_5, 0}, {4, 0, 0}, {4, 0, 0}, {4, 0, 0}};
    struct strobe_out *head = &writer->head;
    uint32_t none = 0;
    put_out(writer, end, sizeof end);
    strobe_out_clear(head);
    put_raw(head, &none, sizeof none);
    lead(head, 0, put_table(head, fields, 4));
    lead(head, fields[1].at, put_schema(head, writer));
    lead(head, fields[2].at, put_vector(head, NULL, 0, 0));
    lead(head, fields[3].at,
         put_vector(head, writer->blocks, writer->n_blocks, sizeof *writer->blocks));
    int32_t n = (int32_t)head->len;
    put_out(writer, head->at, head->len);
    put_out(writer, &n, sizeof n);
    put_out(writer, "ARROW1", 6);
}

static void put_start(struct writer *writer)
{
    size_t at;
    put_out(writer, "ARROW1\0\0", 8);
    begin_head(writer, HEAD_SCHEMA, 0, &at);
    lead(&writer->head, at, put_schema(&writer->head, writer));
    put_head(writer);
}

enum strobe_err strobe_arrow_file_write(struct strobe_columns *reader, struct strobe_out *out,
                                        uint64_t *n_rows)
{
    struct writer writer = {
        .out = out, .reader = reader, .n_columns = strobe_columns_count(reader)};
    struct strobe_column_batch *batch;
    enum strobe_err err = STROBE_OK;
    *n_rows = 0;
    writer.nodes = calloc(writer.n_columns + 1ull, sizeof *writer.nodes);
    writer.buffers = calloc(3 * (writer.n_columns + 1ull), sizeof *writer.buffers);
    if (!writer.nodes || !writer.buffers)
        err = STROBE_ERR_NOMEM;
    else
        put_start(&writer);
    while (!err && !(err = strobe_columns_next(reader, &batch))) {
        err = put_batch(&writer, batch);
        *n_rows += batch->n_rows;
        strobe_column_batch_free(batch);
    }
    if (err == STROBE_ERR_END) {
        put_footer(&writer);
        err = writer.head.error ? STROBE_ERR_NOMEM : out->error ? STROBE_ERR_IO : STROBE_OK;
    }
    free(writer.nodes);
    free(writer.buffers);
    free(writer.blocks);
    free(writer.offsets);
    strobe_out_free(&writer.head);
    return err;
}
