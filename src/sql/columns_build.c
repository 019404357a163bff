/* columns_build.c - cells of rows put into columns, one column at a time, so that the type is looked at once per batch.
 *
 * A dictionary grows from batch to batch, and every batch has all of it: codes stay the same as long as it is small. One
 * that has grown over MAX_NAMES texts or MAX_NAME_BYTES is begun anew with the next batch: memory stays bounded where every
 * zone has a name of its own.  SPDX-License-Identifier: MIT */
#include "sql/columns_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/number.h"
#include "base/out.h"

enum { MAX_NAMES = 1 << 16, MAX_NAME_BYTES = 4 << 20 };

static void free_column(struct strobe_column *column)
{
    free(column->valid);
    free(column->values);
    free(column->texts.offsets);
    free(column->texts.bytes);
}

void strobe_column_batch_clear(struct strobe_column_batch *batch)
{
    for (unsigned i = 0; batch->columns && i < batch->n_columns; i++)
        free_column(&batch->columns[i]);
    free(batch->columns);
    *batch = (struct strobe_column_batch){0};
}

void strobe_column_batch_free(struct strobe_column_batch *batch)
{
    if (!batch)
        return;
    strobe_column_batch_clear(batch);
    free(batch);
}

void strobe_column_build_free(struct strobe_column_build *build)
{
    free_column(&build->column);
    strobe_textmap_free(&build->names);
}

enum strobe_err strobe_column_build_start(struct strobe_column_build *build,
                                          enum strobe_column_type type, uint32_t max_rows)
{
    struct strobe_column *column = &build->column;
    size_t width = strobe_column_width(type);
    *column = (struct strobe_column){.type = type};
    build->max_rows = max_rows;
    column->valid = calloc(((size_t)max_rows + 7) / 8, 1);
    if (width)
        column->values = malloc(max_rows * width);
    else
        column->texts.offsets = calloc((size_t)max_rows + 1, sizeof *column->texts.offsets);
    return column->valid && (column->values || column->texts.offsets) ? STROBE_OK
                                                                      : STROBE_ERR_NOMEM;
}

static const char *text_of(const struct strobe_sql_cell *cell, const char *texts)
{
    return cell->type == STROBE_SQL_TEXT ? texts + cell->at : cell->kept;
}

static int is_text(const struct strobe_sql_cell *cell)
{
    return cell->type == STROBE_SQL_TEXT || cell->type == STROBE_SQL_KEPT;
}

static inline void set_valid(struct strobe_column *column, uint32_t row)
{
    column->valid[row >> 3] |= (uint8_t)(1 << (row & 7));
}

static enum strobe_err put_ints(struct strobe_column *column, const struct strobe_sql_cell *cells,
                                unsigned stride, const uint32_t *chosen, uint32_t n, uint32_t row)
{
    int is_wide = column->type == STROBE_COLUMN_INT;
    for (uint32_t i = 0; i < n; i++, row++) {
        const struct strobe_sql_cell *cell = &cells[(size_t)chosen[i] * stride];
        int64_t value = 0;
        if (cell->type == STROBE_SQL_INT) {
            value = cell->i;
            set_valid(column, row);
        } else if (cell->type == STROBE_SQL_NULL) {
            column->n_nulls++;
        } else {
            return STROBE_ERR_INVALID;
        }
        if (is_wide)
            ((int64_t *)column->values)[row] = value;
        else if (value == (int32_t)value)
            ((int32_t *)column->values)[row] = (int32_t)value;
        else
            return STROBE_ERR_INVALID;
    }
    return STROBE_OK;
}

static enum strobe_err put_reals(struct strobe_column *column, const struct strobe_sql_cell *cells,
                                 unsigned stride, const uint32_t *chosen, uint32_t n, uint32_t row)
{
    for (uint32_t i = 0; i < n; i++, row++) {
        const struct strobe_sql_cell *cell = &cells[(size_t)chosen[i] * stride];
        double value = cell->type == STROBE_SQL_REAL ? cell->d : 0;
        if (cell->type == STROBE_SQL_INT)
            value = (double)cell->i;
        else if (is_text(cell))
            return STROBE_ERR_INVALID;
        ((double *)column->values)[row] = value;
        if (cell->type == STROBE_SQL_NULL)
            column->n_nulls++;
        else
            set_valid(column, row);
    }
    return STROBE_OK;
}

/* A text behind the others: valid UTF-8 whatever it was, since readers refuse what is not. */
static enum strobe_err add_text(struct strobe_column_texts *texts, const char *text, uint32_t n)
{
    struct strobe_out clean = {0};
    strobe_out_utf8(&clean, text, n);
    enum strobe_err err = clean.error ? STROBE_ERR_NOMEM : STROBE_OK;
    if (!err)
        err = STROBE_ARRAY_RESERVE(texts->bytes, texts->room, texts->n_bytes + clean.len + 1);
    if (!err && clean.len) {
        memcpy(texts->bytes + texts->n_bytes, clean.at, clean.len);
        texts->n_bytes += clean.len;
    }
    strobe_out_free(&clean);
    return texts->n_bytes > INT32_MAX ? STROBE_ERR_LIMIT : err;
}

/* A number in a column of texts. */
static enum strobe_err add_number(struct strobe_column_texts *texts,
                                  const struct strobe_sql_cell *cell)
{
    struct strobe_out out = {0};
    if (cell->type == STROBE_SQL_INT)
        strobe_out_i(&out, cell->i);
    else
        strobe_out_double(&out, cell->d);
    enum strobe_err err = out.error ? STROBE_ERR_NOMEM : add_text(texts, out.at, (uint32_t)out.len);
    strobe_out_free(&out);
    return err;
}

static enum strobe_err put_texts(struct strobe_column *column, const struct strobe_sql_cell *cells,
                                 unsigned stride, const char *texts, const uint32_t *chosen,
                                 uint32_t n, uint32_t row)
{
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; !err && i < n; i++, row++) {
        const struct strobe_sql_cell *cell = &cells[(size_t)chosen[i] * stride];
        if (cell->type == STROBE_SQL_NULL) {
            column->n_nulls++;
        } else {
            set_valid(column, row);
            err = is_text(cell) ? add_text(&column->texts, text_of(cell, texts), cell->n)
                                : add_number(&column->texts, cell);
        }
        column->texts.offsets[row + 1] = (int32_t)column->texts.n_bytes;
    }
    return err;
}

/* The code of a text; of those that live with the connection it is known by their place. */
static enum strobe_err find_code(struct strobe_column_build *build,
                                 const struct strobe_sql_cell *cell, const char *texts,
                                 uint32_t *code)
{
    const char *text = text_of(cell, texts);
    if (cell->type != STROBE_SQL_KEPT)
        return strobe_textmap_add(&build->names, text, cell->n, code);
    struct strobe_column_kept *kept =
        &build->kept[((uintptr_t)text ^ (uintptr_t)text >> 9) % STROBE_COLUMNS_CACHE];
    if (kept->text == text && kept->n == cell->n) {
        *code = kept->code;
        return STROBE_OK;
    }
    enum strobe_err err = strobe_textmap_add(&build->names, text, cell->n, code);
    if (!err)
        *kept = (struct strobe_column_kept){text, cell->n, *code};
    return err;
}

static enum strobe_err put_codes(struct strobe_column_build *build,
                                 const struct strobe_sql_cell *cells, unsigned stride,
                                 const char *texts, const uint32_t *chosen, uint32_t n,
                                 uint32_t row)
{
    struct strobe_column *column = &build->column;
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; !err && i < n; i++, row++) {
        const struct strobe_sql_cell *cell = &cells[(size_t)chosen[i] * stride];
        uint32_t code = 0;
        if (cell->type == STROBE_SQL_NULL) {
            column->n_nulls++;
        } else {
            err = is_text(cell) ? find_code(build, cell, texts, &code) : STROBE_ERR_INVALID;
            set_valid(column, row);
        }
        ((int32_t *)column->values)[row] = (int32_t)code;
    }
    return err;
}

enum strobe_err strobe_column_build_put(struct strobe_column_build *build,
                                        const struct strobe_sql_cell *cells, unsigned stride,
                                        const char *texts, const uint32_t *chosen,
                                        uint32_t n_chosen, uint32_t n_rows)
{
    struct strobe_column *column = &build->column;
    STROBE_ASSERT(n_rows + n_chosen <= build->max_rows);
    switch (column->type) {
    case STROBE_COLUMN_INT:
    case STROBE_COLUMN_INT4:
        return put_ints(column, cells, stride, chosen, n_chosen, n_rows);
    case STROBE_COLUMN_REAL:
        return put_reals(column, cells, stride, chosen, n_chosen, n_rows);
    case STROBE_COLUMN_TEXT:
        return put_texts(column, cells, stride, texts, chosen, n_chosen, n_rows);
    case STROBE_COLUMN_ENUM:
        break;
    }
    return put_codes(build, cells, stride, texts, chosen, n_chosen, n_rows);
}

uint64_t strobe_column_build_bytes(const struct strobe_column_build *build)
{
    return build->column.texts.n_bytes + build->names.n_bytes;
}

/* The dictionary as it is now. */
static enum strobe_err copy_names(const struct strobe_textmap *names,
                                  struct strobe_column_texts *out)
{
    enum strobe_err err = STROBE_OK;
    out->offsets = calloc((size_t)names->n + 1, sizeof *out->offsets);
    if (!out->offsets)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < names->n; i++) {
        err = add_text(out, strobe_textmap_key(names, i), names->entries[i].n_key);
        out->offsets[i + 1] = (int32_t)out->n_bytes;
    }
    out->n = names->n;
    return err;
}

/* Begin with the memory of a column that was made before. */
static void start_again(struct strobe_column_build *build, struct strobe_column *old)
{
    free(old->texts.bytes);
    if (old->type == STROBE_COLUMN_ENUM) {
        free(old->texts.offsets);
        old->texts.offsets = NULL;
    }
    build->column = (struct strobe_column){.type = old->type,
                                           .valid = old->valid,
                                           .values = old->values,
                                           .texts.offsets = old->texts.offsets};
    memset(old->valid, 0, ((size_t)build->max_rows + 7) / 8);
}

enum strobe_err strobe_column_build_end(struct strobe_column_build *build, uint32_t n_rows,
                                        struct strobe_column *out)
{
    struct strobe_column old = *out;
    enum strobe_err err = STROBE_OK;
    if (build->column.type == STROBE_COLUMN_ENUM)
        err = copy_names(&build->names, &build->column.texts);
    else if (build->column.type == STROBE_COLUMN_TEXT)
        build->column.texts.n = n_rows;
    *out = build->column;
    build->column = (struct strobe_column){.type = out->type};
    if (build->names.n > MAX_NAMES || build->names.n_bytes > MAX_NAME_BYTES) {
        strobe_textmap_free(&build->names);
        memset(build->kept, 0, sizeof build->kept);
    }
    if (old.valid)
        start_again(build, &old);
    return err || old.valid ? err : strobe_column_build_start(build, out->type, build->max_rows);
}
