/* jsonl.c - see jsonl.h.  SPDX-License-Identifier: MIT */
#include "export/jsonl.h"

#include <math.h>
#include <string.h>

static void put_text(struct strobe_out *out, const struct strobe_column_texts *texts, uint32_t i)
{
    strobe_out_json(out, texts->bytes ? texts->bytes + texts->offsets[i] : "",
                    (size_t)(texts->offsets[i + 1] - texts->offsets[i]));
}

static void put_real(struct strobe_out *out, double value)
{
    if (isfinite(value)) /* JSON has no word for the others */
        strobe_out_double(out, value);
    else
        strobe_out_text(out, "null");
}

static void put_value(struct strobe_out *out, const struct strobe_column *column, uint32_t row)
{
    switch (column->type) {
    case STROBE_COLUMN_INT:
        strobe_out_i(out, ((int64_t *)column->values)[row]);
        break;
    case STROBE_COLUMN_INT4:
        strobe_out_i(out, ((int32_t *)column->values)[row]);
        break;
    case STROBE_COLUMN_REAL:
        put_real(out, ((double *)column->values)[row]);
        break;
    case STROBE_COLUMN_TEXT:
        put_text(out, &column->texts, row);
        break;
    case STROBE_COLUMN_ENUM:
        put_text(out, &column->texts, (uint32_t)((int32_t *)column->values)[row]);
    }
}

static void put_batch(struct strobe_out *out, const char *table,
                      const struct strobe_columns *reader, const struct strobe_column_batch *batch)
{
    enum strobe_column_type type;
    for (uint32_t row = 0; row < batch->n_rows; row++) {
        strobe_out_text(out, "{\"table\":\"");
        strobe_out_text(out, table);
        strobe_out_char(out, '"');
        for (unsigned i = 1; i < batch->n_columns; i++) { /* trace_id says nothing of one trace */
            if (strobe_column_is_null(&batch->columns[i], row))
                continue;
            strobe_out_text(out, ",\"");
            strobe_out_text(out, strobe_columns_name(reader, i, &type));
            strobe_out_text(out, "\":");
            put_value(out, &batch->columns[i], row);
        }
        strobe_out_text(out, "}\n");
    }
}

static enum strobe_err write_table(struct strobe_sql *sql, const char *table,
                                   struct strobe_out *out)
{
    const struct strobe_columns_ask ask = STROBE_COLUMNS_ALL(table);
    struct strobe_columns *reader;
    enum strobe_err err = strobe_columns_open(sql, &ask, &reader);
    while (!err) {
        struct strobe_column_batch *batch;
        err = strobe_columns_next(reader, &batch);
        if (!err)
            put_batch(out, table, reader, batch);
        strobe_column_batch_free(batch);
        if (!err && out->error)
            err = STROBE_ERR_IO;
    }
    strobe_columns_close(reader);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

enum strobe_err strobe_jsonl_write(struct strobe_sql *sql, struct strobe_out *out)
{
    const char *table, *columns, *help;
    enum strobe_err err = STROBE_OK;
    for (unsigned i = 0; !err && (table = strobe_sql_table(i, &columns, &help)); i++)
        if (strcmp(table, "zone_sum")) /* its rows depend on the question */
            err = write_table(sql, table, out);
    return err;
}
