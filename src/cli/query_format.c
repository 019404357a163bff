/* query_format.c - the text of answers. A table holds back its first rows, finds the widths of its columns from them, and
 * lets the rest flow: an answer of a million rows takes no more memory than one of a thousand.
 * SPDX-License-Identifier: MIT */
#include "cli/query_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"

enum {
    HELD_ROWS = 1000,
    HELD_BYTES = 4 << 20,
    MAX_WIDTH = 72, /* of a column of a table; what is longer is cut, and marked */
};

int strobe_query_read_format(const char *name, enum strobe_query_format *out)
{
    static const char *const names[] = {"table", "csv", "jsonl", "markdown", "arrow", "parquet"};
    for (int i = 0; i < 6; i++)
        if (!strcmp(name, names[i])) {
            *out = (enum strobe_query_format)i;
            return 1;
        }
    return 0;
}

/* A value as text; NULL is empty in CSV, and a word elsewhere. */
static void put_plain(struct strobe_out *out, const struct strobe_sql_value *value)
{
    if (value->type == STROBE_SQL_INT)
        strobe_out_i(out, value->i);
    else if (value->type == STROBE_SQL_REAL)
        strobe_out_double(out, value->d);
    else if (value->type == STROBE_SQL_TEXT)
        strobe_out_utf8(out, value->text, value->n);
}

static void put_csv(struct strobe_out *out, const struct strobe_sql_value *values, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (i)
            strobe_out_char(out, ',');
        if (values[i].type == STROBE_SQL_TEXT)
            strobe_out_csv(out, values[i].text, values[i].n);
        else
            put_plain(out, &values[i]);
    }
    strobe_out_char(out, '\n');
}

static const char *nth_name(struct strobe_query_writer *writer, unsigned i)
{
    const char *name = strobe_out_string(&writer->names);
    while (i--)
        name += strlen(name) + 1;
    return name;
}

static void put_jsonl(struct strobe_query_writer *writer, const struct strobe_sql_value *values)
{
    struct strobe_out *out = writer->out;
    for (unsigned i = 0; i < writer->n_columns; i++) {
        const char *name = nth_name(writer, i);
        strobe_out_text(out, i ? "," : "{");
        strobe_out_json(out, name, strlen(name));
        strobe_out_char(out, ':');
        if (values[i].type == STROBE_SQL_NULL)
            strobe_out_text(out, "null");
        else if (values[i].type == STROBE_SQL_TEXT)
            strobe_out_json(out, values[i].text, values[i].n);
        else
            put_plain(out, &values[i]);
    }
    strobe_out_text(out, "}\n");
}

/* One line of a cell: what would break the table becomes a blank, a bar in Markdown is escaped. */
static void put_cell(struct strobe_out *out, const char *text, size_t n, int escapes)
{
    for (size_t i = 0, n_char = 1; i < n; i += n_char) {
        size_t n_bad = 1;
        if (escapes && (text[i] == '|' || text[i] == '\\'))
            strobe_out_char(out, '\\');
        n_char = strobe_utf8_length(text + i, n - i, &n_bad);
        if (n_char && !strobe_utf8_is_control(text + i, n_char))
            strobe_out_bytes(out, text + i, n_char);
        else
            strobe_out_char(out, ' ');
        n_char = n_char ? n_char : n_bad;
    }
}

static void put_markdown(struct strobe_query_writer *writer, const struct strobe_sql_value *values)
{
    struct strobe_out *out = writer->out, text = {0};
    for (unsigned i = 0; i < writer->n_columns; i++) {
        strobe_out_text(out, i ? " " : "| ");
        strobe_out_clear(&text);
        put_plain(&text, &values[i]);
        put_cell(out, text.at, text.len, 1);
        strobe_out_text(out, " |");
    }
    strobe_out_char(out, '\n');
    strobe_out_free(&text);
}

/* Characters of a text that is valid UTF-8, and its bytes up to the first `most` of them. */
static size_t count_characters(const char *text, size_t most, size_t *n_bytes)
{
    size_t n = 0, count = 0;
    *n_bytes = 0;
    for (; text[n]; count++) {
        if (count == most)
            *n_bytes = n;
        for (n++; (text[n] & 0xc0) == 0x80; n++)
            ;
    }
    if (count <= most)
        *n_bytes = n;
    return count;
}

/* A cell of a table, padded to its column's width; texts at the end of a row are not. */
static void put_padded(struct strobe_query_writer *writer, unsigned column, const char *text)
{
    struct strobe_out *out = writer->out;
    size_t n, length = count_characters(text, MAX_WIDTH, &n);
    int is_cut = length > MAX_WIDTH, is_last = column + 1 == writer->n_columns;
    if (is_cut) { /* the last one becomes the mark */
        count_characters(text, MAX_WIDTH - 1, &n);
        length = MAX_WIDTH;
    }
    size_t pad = writer->widths[column] > length ? writer->widths[column] - length : 0;
    strobe_out_text(out, column ? "  " : "");
    for (size_t i = 0; !writer->is_text[column] && i < pad; i++)
        strobe_out_char(out, ' ');
    put_cell(out, text, n, 0);
    strobe_out_text(out, is_cut ? "…" : "");
    for (size_t i = 0; writer->is_text[column] && !is_last && i < pad; i++)
        strobe_out_char(out, ' ');
    if (is_last)
        strobe_out_char(out, '\n');
}

static void widen(struct strobe_query_writer *writer, unsigned column, const char *text)
{
    size_t n, length = count_characters(text, MAX_WIDTH, &n);
    if (length > MAX_WIDTH)
        length = MAX_WIDTH;
    if (writer->widths[column] < length)
        writer->widths[column] = (uint32_t)length;
}

/* The widths are known: head and held rows go out. */
static void let_flow(struct strobe_query_writer *writer)
{
    const char *cell = writer->held.len ? strobe_out_string(&writer->held) : NULL;
    writer->is_flowing = 1;
    for (unsigned i = 0; i < writer->n_columns; i++)
        put_padded(writer, i, nth_name(writer, i));
    for (uint32_t row = 0; row < writer->n_held; row++)
        for (unsigned i = 0; i < writer->n_columns; i++) {
            put_padded(writer, i, cell);
            cell += strlen(cell) + 1;
        }
    strobe_out_clear(&writer->held);
    writer->n_held = 0;
}

/* The text of a value in a table, ended by a NUL; texts with a NUL in them end there. */
static const char *show(struct strobe_out *text, const struct strobe_sql_value *value)
{
    strobe_out_clear(text);
    if (value->type == STROBE_SQL_NULL)
        strobe_out_text(text, "NULL");
    else
        put_plain(text, value);
    return strobe_out_string(text);
}

static enum strobe_err put_table(struct strobe_query_writer *writer,
                                 const struct strobe_sql_value *values)
{
    struct strobe_out text = {0};
    for (unsigned i = 0; i < writer->n_columns; i++) {
        const char *shown = show(&text, &values[i]);
        if (writer->is_flowing) {
            put_padded(writer, i, shown);
            continue;
        }
        writer->is_text[i] |= values[i].type == STROBE_SQL_TEXT;
        widen(writer, i, shown);
        strobe_out_bytes(&writer->held, shown, strlen(shown) + 1);
    }
    enum strobe_err err = text.error || writer->held.error ? STROBE_ERR_NOMEM : STROBE_OK;
    strobe_out_free(&text);
    if (!writer->is_flowing && !err &&
        (++writer->n_held == HELD_ROWS || writer->held.len > HELD_BYTES))
        let_flow(writer);
    return err;
}

static void put_heads(struct strobe_query_writer *writer, const char *const *names)
{
    struct strobe_out *out = writer->out;
    int is_csv = writer->format == STROBE_QUERY_CSV;
    for (unsigned i = 0; i < writer->n_columns; i++) {
        strobe_out_text(out, is_csv ? (i ? "," : "") : (i ? " " : "| "));
        if (is_csv)
            strobe_out_csv(out, names[i], strlen(names[i]));
        else
            put_cell(out, names[i], strlen(names[i]), 1);
        strobe_out_text(out, is_csv ? "" : " |");
    }
    strobe_out_char(out, '\n');
    for (unsigned i = 0; !is_csv && i < writer->n_columns; i++)
        strobe_out_text(out, i ? "---|" : "|---|");
    strobe_out_text(out, is_csv ? "" : "\n");
}

static enum strobe_err take_head(void *context, const char *const *names, unsigned n_columns)
{
    struct strobe_query_writer *writer = context;
    if (writer->n_answers++ && writer->format != STROBE_QUERY_JSONL)
        strobe_out_char(writer->out, '\n');
    writer->n_columns = n_columns;
    writer->is_flowing = 0;
    writer->n_held = 0;
    free(writer->widths);
    free(writer->is_text);
    writer->widths = calloc(n_columns + 1, sizeof *writer->widths);
    writer->is_text = calloc(n_columns + 1, sizeof *writer->is_text);
    if (!writer->widths || !writer->is_text)
        return STROBE_ERR_NOMEM;
    strobe_out_clear(&writer->names);
    for (unsigned i = 0; i < n_columns; i++) {
        strobe_out_bytes(&writer->names, names[i], strlen(names[i]) + 1);
        widen(writer, i, names[i]);
    }
    if (writer->format == STROBE_QUERY_CSV || writer->format == STROBE_QUERY_MARKDOWN)
        put_heads(writer, names);
    return writer->names.error ? STROBE_ERR_NOMEM : STROBE_OK;
}

static enum strobe_err take_row(void *context, const struct strobe_sql_value *values,
                                unsigned n_columns)
{
    struct strobe_query_writer *writer = context;
    enum strobe_err err = STROBE_OK;
    switch (writer->format) {
    case STROBE_QUERY_CSV:
        put_csv(writer->out, values, n_columns);
        break;
    case STROBE_QUERY_JSONL:
        put_jsonl(writer, values);
        break;
    case STROBE_QUERY_MARKDOWN:
        put_markdown(writer, values);
        break;
    case STROBE_QUERY_TABLE:
        err = put_table(writer, values);
        break;
    case STROBE_QUERY_ARROW:
    case STROBE_QUERY_PARQUET:
        return STROBE_ERR_INVALID;
    }
    return writer->out->error ? STROBE_ERR_IO : err;
}

static enum strobe_err take_end(void *context, uint64_t n_rows)
{
    struct strobe_query_writer *writer = context;
    if (writer->format != STROBE_QUERY_TABLE)
        return writer->out->error ? STROBE_ERR_IO : STROBE_OK;
    if (!writer->is_flowing)
        let_flow(writer);
    strobe_out_format(writer->out, "(%llu row%s)\n", (unsigned long long)n_rows,
                      n_rows == 1 ? "" : "s");
    return writer->out->error ? STROBE_ERR_IO : STROBE_OK;
}

struct strobe_sql_sink strobe_query_sink(struct strobe_query_writer *writer)
{
    return (struct strobe_sql_sink){writer, take_head, take_row, take_end};
}

void strobe_query_writer_free(struct strobe_query_writer *writer)
{
    strobe_out_free(&writer->names);
    strobe_out_free(&writer->held);
    free(writer->widths);
    free(writer->is_text);
}
