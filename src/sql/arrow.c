/* arrow.c - see arrow.h. A batch's buffers are handed over as they are. Each column is an array with its own release, since a
 * consumer may keep one and drop the others; the struct of all owns only what is left.  SPDX-License-Identifier: MIT */
#include "sql/arrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

struct stream {
    struct strobe_sql *sql;        /* owned */
    struct strobe_columns *reader; /* owned */
    const char *error;             /* borrowed: of the connection, or a constant */
};

/* ---- schema ---- */

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    if (schema->dictionary && schema->dictionary->release)
        schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
    free(schema->private_data);
    schema->release = NULL;
}

/* A field; its name is copied. 0: no memory, and there is nothing to release. */
static int make_field(struct ArrowSchema *out, const char *format, const char *name)
{
    char *copy = strdup(name);
    *out = (struct ArrowSchema){.format = format, .name = copy, .flags = ARROW_FLAG_NULLABLE};
    out->private_data = copy;
    out->release = copy ? release_schema : NULL;
    return copy != NULL;
}

static int make_column_field(struct ArrowSchema *out, const char *name,
                             enum strobe_column_type type)
{
    static const char *const formats[] = {"l", "i", "g", "u", "i"};
    if (!make_field(out, formats[type], name))
        return 0;
    if (type != STROBE_COLUMN_ENUM)
        return 1;
    out->dictionary = calloc(1, sizeof *out->dictionary);
    return out->dictionary && make_field(out->dictionary, "u", "");
}

static int get_schema(struct ArrowArrayStream *base, struct ArrowSchema *out)
{
    struct stream *stream = base->private_data;
    unsigned n = strobe_columns_count(stream->reader);
    if (!make_field(out, "+s", ""))
        return ENOMEM;
    out->flags = 0;
    out->children = calloc(n + 1, sizeof *out->children);
    for (unsigned i = 0; out->children && i < n; i++) {
        enum strobe_column_type type;
        const char *name = strobe_columns_name(stream->reader, i, &type);
        out->children[i] = calloc(1, sizeof *out->children[i]);
        if (!out->children[i])
            break;
        out->n_children = i + 1;
        if (!make_column_field(out->children[i], name, type))
            break;
        if (i + 1 == n)
            return 0;
    }
    int is_empty = out->children && !n;
    if (!is_empty)
        out->release(out);
    return is_empty ? 0 : ENOMEM;
}

/* ---- arrays ---- */

enum { MAX_BUFFERS = 3 };

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    if (array->dictionary && array->dictionary->release)
        array->dictionary->release(array->dictionary);
    free(array->dictionary);
    for (int64_t i = 0; i < array->n_buffers; i++)
        free((void *)array->buffers[i]);
    free(array->buffers);
    array->release = NULL;
}

static int make_array(struct ArrowArray *out, int64_t length, int64_t n_buffers)
{
    *out = (struct ArrowArray){.length = length};
    out->buffers = calloc(MAX_BUFFERS, sizeof *out->buffers);
    if (!out->buffers)
        return 0;
    out->n_buffers = n_buffers;
    out->release = release_array;
    return 1;
}

/* Texts with a byte at least: some readers refuse a buffer that is not there. */
static int move_texts(struct ArrowArray *out, struct strobe_column_texts *texts)
{
    if (!texts->bytes && !(texts->bytes = calloc(1, 1)))
        return 0;
    out->buffers[1] = texts->offsets;
    out->buffers[2] = texts->bytes;
    texts->offsets = NULL;
    texts->bytes = NULL;
    return 1;
}

/* Move a column's buffers into an array. */
static int move_column(struct ArrowArray *out, struct strobe_column *column, uint32_t n_rows)
{
    int is_text = column->type == STROBE_COLUMN_TEXT;
    if (!make_array(out, n_rows, is_text ? 3 : 2))
        return 0;
    out->null_count = column->n_nulls;
    if (column->n_nulls) {
        out->buffers[0] = column->valid;
        column->valid = NULL;
    }
    if (is_text)
        return move_texts(out, &column->texts);
    out->buffers[1] = column->values;
    column->values = NULL;
    if (column->type != STROBE_COLUMN_ENUM)
        return 1;
    out->dictionary = calloc(1, sizeof *out->dictionary);
    return out->dictionary && make_array(out->dictionary, column->texts.n, 3) &&
           move_texts(out->dictionary, &column->texts);
}

static int move_batch(struct ArrowArray *out, struct strobe_column_batch *batch)
{
    if (!make_array(out, batch->n_rows, 1))
        return 0;
    out->children = calloc(batch->n_columns + 1, sizeof *out->children);
    for (unsigned i = 0; out->children && i < batch->n_columns; i++) {
        out->children[i] = calloc(1, sizeof *out->children[i]);
        if (!out->children[i])
            return 0;
        out->n_children = i + 1;
        if (!move_column(out->children[i], &batch->columns[i], batch->n_rows))
            return 0;
    }
    return out->children != NULL;
}

static int fail(struct stream *stream, enum strobe_err err)
{
    const char *words = strobe_sql_error(stream->sql);
    stream->error = *words ? words : strobe_err_text(err);
    return err == STROBE_ERR_NOMEM ? ENOMEM : err == STROBE_ERR_INVALID ? EINVAL : EIO;
}

static int get_next(struct ArrowArrayStream *base, struct ArrowArray *out)
{
    struct stream *stream = base->private_data;
    struct strobe_column_batch *batch;
    *out = (struct ArrowArray){0};
    enum strobe_err err = strobe_columns_next(stream->reader, &batch);
    if (err == STROBE_ERR_END)
        return 0; /* an array that is released marks the end */
    if (err)
        return fail(stream, err);
    int is_whole = move_batch(out, batch);
    if (!is_whole && out->release)
        out->release(out);
    strobe_column_batch_free(batch);
    return is_whole ? 0 : fail(stream, STROBE_ERR_NOMEM);
}

static const char *get_last_error(struct ArrowArrayStream *base)
{
    return ((struct stream *)base->private_data)->error;
}

static void release_stream(struct ArrowArrayStream *base)
{
    struct stream *stream = base->private_data;
    strobe_columns_close(stream->reader);
    strobe_sql_close(stream->sql);
    free(stream);
    base->release = NULL;
}

enum strobe_err strobe_arrow_stream(struct strobe_sql *sql, struct strobe_columns *reader,
                                    struct ArrowArrayStream *out)
{
    struct stream *stream = calloc(1, sizeof *stream);
    *out = (struct ArrowArrayStream){0};
    if (!stream) {
        strobe_columns_close(reader);
        strobe_sql_close(sql);
        return STROBE_ERR_NOMEM;
    }
    *stream = (struct stream){.sql = sql, .reader = reader};
    *out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, stream};
    return STROBE_OK;
}
