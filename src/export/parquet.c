/* parquet.c - see parquet.h.
 *
 * A file is "PAR1", row groups, the footer, its length, "PAR1". A row group has a chunk per column: a dictionary page, where it
 * has one, and one data page, both packed by zstd where that gains something. Every column may be NULL: a bit per row says so (definition level).
 * Which encoding: times and ids as differences, other numbers as codes of a dictionary as long as that is small, else plain;
 * ENUM columns always by a dictionary. All are encodings that readers of 2015 know, but for the differences (2016).
 * SPDX-License-Identifier: MIT */
#include "export/parquet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"
#include "base/assert.h"
#include "export/parquet_encode.h"
#include "export/parquet_numbers.h"
#include "export/thrift.h"

enum { PLAIN = 0, PLAIN_DICTIONARY = 2, RLE = 3, DELTA = 5, RLE_DICTIONARY = 8 }; /* encodings */
enum { CODEC_NONE = 0, CODEC_ZSTD = 6, ZSTD_LEVEL = 1 };
/* WORTH: packing saves one byte in so many; if not, UNPACKED: groups until the next trial. FEW: numbers of a dictionary whose order is no
 * matter to the packer. */
enum { WORTH = 32, UNPACKED = 15, FEW = 16 };

/* The parts of a column chunk that the footer needs. */
struct chunk {
    uint64_t at, dictionary_at; /* of its pages in the file; dictionary_at 0: none */
    uint64_t n_bytes, n_raw;    /* of the pages with their heads, packed and not */
    uint32_t n_values, n_nulls;
    int encoding, codec;
    uint8_t has_range;
    uint8_t n_range;        /* bytes of least and most */
    char least[8], most[8]; /* little-endian */
};

/* What a chunk is made of: rows of a column, by their numbers; NULL: all. */
struct picked {
    const struct strobe_column *column; /* borrowed */
    const uint32_t *rows;               /* borrowed */
    uint32_t n_rows, n_nulls;
    int is_same; /* no row is NULL, and all are the same */
};

struct column {
    char *name; /* owned */
    enum strobe_column_type type;
    uint8_t
        n_unpacked; /* row groups to come that are not packed, since the last one gained nothing */
};

struct strobe_parquet {
    char *path, *part; /* owned: its name, and the one that it has until the close */
    int fd;
    uint64_t at;               /* bytes written */
    struct column *columns;    /* owned: n_columns */
    unsigned n_columns, first; /* columns of the reader that are left out in front */
    struct chunk *chunks;      /* owned: n_columns of every row group */
    uint32_t *n_rows;          /* owned: n_groups */
    uint64_t n_groups, groups_room, n_chunks, chunks_room;
    /* Scratch: */
    int64_t *values; /* owned: max_rows */
    uint32_t *codes; /* owned: max_rows */
    uint32_t max_rows;
    struct strobe_out page, head;
    char *packed; /* owned */
    size_t packed_room;
    ZSTD_CCtx *zstd; /* owned */
    struct strobe_parquet_numbers numbers;
};

static enum strobe_err put_bytes(struct strobe_parquet *file, const void *bytes, size_t n)
{
    const char *at = bytes;
    file->at += n;
    while (n) {
        ssize_t done = write(file->fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done ? strobe_err_from_errno(errno) : STROBE_ERR_IO;
        at += done;
        n -= (size_t)done;
    }
    return STROBE_OK;
}

void strobe_parquet_drop(struct strobe_parquet *file)
{
    if (!file)
        return;
    if (file->fd >= 0) {
        close(file->fd);
        unlink(file->part);
    }
    for (unsigned i = 0; file->columns && i < file->n_columns; i++)
        free(file->columns[i].name);
    free(file->columns);
    free(file->chunks);
    free(file->n_rows);
    free(file->values);
    free(file->codes);
    free(file->packed);
    free(file->path);
    free(file->part);
    strobe_out_free(&file->page);
    strobe_out_free(&file->head);
    strobe_parquet_numbers_free(&file->numbers);
    ZSTD_freeCCtx(file->zstd);
    free(file);
}

static enum strobe_err name_columns(struct strobe_parquet *file,
                                    const struct strobe_columns *reader)
{
    file->n_columns = strobe_columns_count(reader) - file->first;
    file->columns = calloc(file->n_columns + 1, sizeof *file->columns);
    for (unsigned i = 0; file->columns && i < file->n_columns; i++) {
        struct column *column = &file->columns[i];
        column->name = strdup(strobe_columns_name(reader, file->first + i, &column->type));
        if (!column->name)
            return STROBE_ERR_NOMEM;
    }
    return file->columns ? STROBE_OK : STROBE_ERR_NOMEM;
}

enum strobe_err strobe_parquet_open(const char *path, const struct strobe_columns *reader,
                                    unsigned first, struct strobe_parquet **out)
{
    struct strobe_parquet *file = calloc(1, sizeof *file);
    *out = NULL;
    if (!file)
        return STROBE_ERR_NOMEM;
    file->fd = -1;
    file->first = first;
    file->path = strdup(path);
    file->zstd = ZSTD_createCCtx();
    enum strobe_err err = file->path && file->zstd &&
                                  !strobe_parquet_numbers_start(&file->numbers) &&
                                  asprintf(&file->part, "%s.part", path) > 0
                              ? name_columns(file, reader)
                              : STROBE_ERR_NOMEM;
    if (!err) {
        file->fd = open(file->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        err = file->fd < 0 ? strobe_err_from_errno(errno) : put_bytes(file, "PAR1", 4);
    }
    if (err)
        strobe_parquet_drop(file);
    else
        *out = file;
    return err;
}

/* Room for the rows of a group. */
static enum strobe_err make_room(struct strobe_parquet *file, uint32_t n_rows)
{
    if (n_rows <= file->max_rows)
        return STROBE_OK;
    free(file->values);
    free(file->codes);
    file->values = malloc(n_rows * sizeof *file->values);
    file->codes = malloc(n_rows * sizeof *file->codes);
    file->max_rows = file->values && file->codes ? n_rows : 0;
    return file->max_rows ? STROBE_OK : STROBE_ERR_NOMEM;
}

/* ---- pages ---- */

/* The bytes of the page at hand as the chunk's codec has them. */
static enum strobe_err pack_page(struct strobe_parquet *file, const struct chunk *chunk,
                                 const char **out, size_t *n_out)
{
    size_t room = ZSTD_compressBound(file->page.len);
    *out = file->page.at;
    *n_out = file->page.len;
    if (file->page.error)
        return STROBE_ERR_NOMEM;
    if (file->page.len > INT32_MAX)
        return STROBE_ERR_LIMIT;
    if (chunk->codec == CODEC_NONE)
        return STROBE_OK;
    if (STROBE_ARRAY_RESERVE(file->packed, file->packed_room, room))
        return STROBE_ERR_NOMEM;
    *out = file->packed;
    *n_out = ZSTD_compressCCtx(file->zstd, file->packed, file->packed_room, file->page.at,
                               file->page.len, ZSTD_LEVEL);
    return ZSTD_isError(*n_out) ? STROBE_ERR_NOMEM : STROBE_OK;
}

/* The head of a page, and the page. */
static enum strobe_err put_page(struct strobe_parquet *file, struct chunk *chunk, int is_dictionary,
                                uint32_t n_values)
{
    struct strobe_out *head = &file->head;
    const char *bytes;
    size_t n;
    enum strobe_err err = pack_page(file, chunk, &bytes, &n);
    if (err)
        return err;
    strobe_out_clear(head);
    strobe_thrift_i32(head, 1, is_dictionary ? 2 : 0); /* type of the page */
    strobe_thrift_i32(head, 1, (int32_t)file->page.len);
    strobe_thrift_i32(head, 1, (int32_t)n);
    strobe_thrift_field(head, is_dictionary ? 4 : 2, STROBE_THRIFT_STRUCT);
    strobe_thrift_i32(head, 1, (int32_t)n_values);
    strobe_thrift_i32(head, 1, is_dictionary ? PLAIN : chunk->encoding);
    if (!is_dictionary) { /* how the two kinds of levels are written */
        strobe_thrift_i32(head, 1, RLE);
        strobe_thrift_i32(head, 1, RLE);
    }
    strobe_thrift_end(head);
    strobe_thrift_end(head);
    if (head->error)
        return STROBE_ERR_NOMEM;
    chunk->n_raw += head->len + file->page.len;
    chunk->n_bytes += head->len + n;
    err = put_bytes(file, head->at, head->len);
    return err ? err : put_bytes(file, bytes, n);
}

static void put_u32(struct strobe_out *out, uint32_t value)
{
    const char bytes[4] = {(char)value, (char)(value >> 8), (char)(value >> 16),
                           (char)(value >> 24)};
    strobe_out_bytes(out, bytes, 4);
}

static int is_null(const struct picked *picked, uint32_t i)
{
    return strobe_column_is_null(picked->column, picked->rows ? picked->rows[i] : i);
}

/* Begin a data page: which rows are not NULL. */
static void put_levels(struct strobe_parquet *file, const struct picked *picked)
{
    struct strobe_out *page = &file->page;
    strobe_out_clear(page);
    put_u32(page, 0);
    if (!picked->n_nulls || picked->n_nulls == picked->n_rows) {
        strobe_parquet_run(page, !picked->n_nulls, picked->n_rows, 1);
    } else {
        uint64_t n_groups = ((uint64_t)picked->n_rows + 7) / 8;
        strobe_thrift_varint(page, n_groups << 1 | 1);
        char *room = strobe_out_need(page, n_groups);
        for (uint64_t i = 0; room && i < n_groups; i++) {
            unsigned bits = 0;
            for (uint32_t k = 0; k < 8 && i * 8 + k < picked->n_rows; k++)
                bits |= (unsigned)!is_null(picked, (uint32_t)i * 8 + k) << k;
            room[i] = (char)bits;
        }
        page->len += room ? n_groups : 0;
    }
    if (page->error)
        return;
    size_t n = page->len - 4;
    for (int i = 0; i < 4; i++)
        page->at[i] = (char)(n >> 8 * i);
}

/* The values that are not NULL, as numbers, in file->values. Their number. */
static uint32_t gather(struct strobe_parquet *file, const struct picked *picked)
{
    const struct strobe_column *column = picked->column;
    const uint32_t *rows = picked->rows;
    int is_wide = strobe_column_width(column->type) == 8;
    const int64_t *wide = column->values;
    const int32_t *narrow = column->values;
    int64_t *values = file->values;
    uint32_t n = 0;
    if (picked->n_nulls == picked->n_rows)
        return 0;
    if (!picked->n_nulls && rows && is_wide) {
        for (uint32_t i = 0; i < picked->n_rows; i++)
            values[i] = wide[rows[i]];
        return picked->n_rows;
    }
    if (!picked->n_nulls && rows) {
        for (uint32_t i = 0; i < picked->n_rows; i++)
            values[i] = narrow[rows[i]];
        return picked->n_rows;
    }
    for (uint32_t i = 0; i < picked->n_rows; i++) {
        uint32_t row = rows ? rows[i] : i;
        values[n] = is_wide ? wide[row] : narrow[row];
        n += picked->n_nulls ? !strobe_column_is_null(column, row) : 1;
    }
    return n;
}

/* Little-endian, as the format is. */
static void put_plain(struct strobe_out *page, const int64_t *values, uint32_t n, size_t width)
{
    char *room = strobe_out_need(page, n * width);
    if (!room)
        return;
    if (width == sizeof *values)
        memcpy(room, values, n * width);
    for (uint32_t i = 0; width != sizeof *values && i < n; i++)
        memcpy(room + i * width, &values[i], width);
    page->len += n * width;
}

/* The range of numbers, for readers that skip row groups. */
static void note_range(struct chunk *chunk, const int64_t *values, uint32_t n, size_t width)
{
    int64_t least = n ? values[0] : 0, most = least;
    for (uint32_t i = 1; i < n; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    chunk->has_range = n > 0;
    chunk->n_range = (uint8_t)width;
    memcpy(chunk->least, &least, width);
    memcpy(chunk->most, &most, width);
}

/* 1: numbers that go on from row to row: times, ids; and depths, which are those of 32 bits whose differences stay below 32. */
static int is_steady(const struct column *column)
{
    size_t n = strlen(column->name);
    if (column->type == STROBE_COLUMN_INT4)
        return !strcmp(column->name, "depth");
    return column->type == STROBE_COLUMN_INT && n >= 2 &&
           (!strcmp(column->name + n - 2, "ts") || !strcmp(column->name + n - 2, "id"));
}

/* The dictionary page, then the data page with its codes: file->codes, or all 0. */
static enum strobe_err put_coded(struct strobe_parquet *file, struct chunk *chunk,
                                 const struct picked *picked, uint32_t n, uint32_t n_dictionary)
{
    chunk->dictionary_at = file->at;
    chunk->encoding = RLE_DICTIONARY;
    enum strobe_err err = put_page(file, chunk, 1, n_dictionary);
    chunk->at = file->at;
    put_levels(file, picked);
    unsigned width = strobe_parquet_width(n_dictionary ? n_dictionary - 1 : 0);
    strobe_out_char(&file->page, (char)width);
    if (n_dictionary > 1)
        strobe_parquet_hybrid(&file->page, file->codes, n, width);
    else
        strobe_parquet_run(&file->page, 0, n, width);
    return err ? err : put_page(file, chunk, 0, picked->n_rows);
}

/* 1: no row of the column is NULL, and all are the same. */
static int is_same(const struct picked *picked, uint32_t n_batch)
{
    const struct strobe_column *column = picked->column;
    size_t width = strobe_column_width(column->type);
    const char *values = column->values;
    return n_batch && width && !column->n_nulls &&
           !memcmp(values, values + width, (n_batch - 1) * width);
}

/* Numbers by a dictionary. 0: it would be too large to be worth it. */
static int code_numbers(struct strobe_parquet *file, const struct picked *picked, uint32_t *n)
{
    const struct strobe_column *column = picked->column;
    if (picked->is_same) {
        *n = picked->n_rows;
        file->numbers.values[0] = strobe_column_width(column->type) == 8
                                      ? *(const int64_t *)column->values
                                      : *(const int32_t *)column->values;
        file->numbers.n = *n > 0;
        return 1;
    }
    *n = gather(file, picked);
    return strobe_parquet_numbers_code(&file->numbers, file->values, *n, file->codes);
}

static enum strobe_err put_numbers(struct strobe_parquet *file, struct chunk *chunk,
                                   const struct column *what, const struct picked *picked)
{
    size_t width = strobe_column_width(what->type);
    uint32_t n;
    int is_real = what->type == STROBE_COLUMN_REAL;
    int is_delta = is_steady(what);
    if (!is_real && !is_delta && code_numbers(file, picked, &n)) {
        struct strobe_parquet_numbers *numbers = &file->numbers;
        if (numbers->n > FEW && chunk->codec != CODEC_NONE)
            strobe_parquet_numbers_rank(numbers, file->codes, n);
        note_range(chunk, numbers->values, numbers->n, width);
        strobe_out_clear(&file->page);
        put_plain(&file->page, numbers->values, numbers->n, width);
        return put_coded(file, chunk, picked, n, numbers->n);
    }
    if (is_real || is_delta)
        n = gather(file, picked);
    if (!is_real)
        note_range(chunk, file->values, n, width);
    put_levels(file, picked);
    chunk->encoding = is_delta ? DELTA : PLAIN;
    if (is_delta)
        strobe_parquet_delta(&file->page, file->values, n, chunk->codec != CODEC_NONE);
    else
        put_plain(&file->page, file->values, n, width);
    return put_page(file, chunk, 0, picked->n_rows);
}

static void put_text(struct strobe_out *page, const struct strobe_column_texts *texts, uint32_t i)
{
    uint32_t n = (uint32_t)(texts->offsets[i + 1] - texts->offsets[i]);
    put_u32(page, n);
    if (n)
        strobe_out_bytes(page, texts->bytes + texts->offsets[i], n);
}

/* A dictionary with the texts that occur. */
static enum strobe_err put_names(struct strobe_parquet *file, struct chunk *chunk,
                                 const struct picked *picked)
{
    const struct strobe_column_texts *texts = &picked->column->texts;
    uint32_t n = picked->is_same ? picked->n_rows : gather(file, picked), n_used = 0;
    uint32_t *places = calloc((size_t)texts->n + 1, sizeof *places);
    if (!places)
        return STROBE_ERR_NOMEM;
    strobe_out_clear(&file->page);
    if (picked->is_same && n) {
        put_text(&file->page, texts, (uint32_t) * (const int32_t *)picked->column->values);
        n_used = 1;
    }
    for (uint32_t i = 0; !picked->is_same && i < n; i++) {
        uint32_t code = (uint32_t)file->values[i];
        STROBE_ASSERT(code < texts->n);
        if (!places[code]) {
            places[code] = ++n_used;
            put_text(&file->page, texts, code);
        }
        file->codes[i] = places[code] - 1;
    }
    free(places);
    return put_coded(file, chunk, picked, n, n_used);
}

static enum strobe_err put_texts(struct strobe_parquet *file, struct chunk *chunk,
                                 const struct picked *picked)
{
    put_levels(file, picked);
    chunk->encoding = PLAIN;
    for (uint32_t i = 0; picked->n_nulls < picked->n_rows && i < picked->n_rows; i++)
        if (!is_null(picked, i))
            put_text(&file->page, &picked->column->texts, picked->rows ? picked->rows[i] : i);
    return put_page(file, chunk, 0, picked->n_rows);
}

/* NULLs among the rows of a batch. */
static uint32_t count_nulls(const struct picked *picked, uint32_t n_batch)
{
    uint32_t n = 0;
    if (!picked->column->n_nulls || picked->column->n_nulls == n_batch)
        return picked->column->n_nulls ? picked->n_rows : 0;
    for (uint32_t i = 0; i < picked->n_rows; i++)
        n += (uint32_t)is_null(picked, i);
    return n;
}

static enum strobe_err put_values(struct strobe_parquet *file, struct chunk *chunk,
                                  const struct column *what, const struct picked *picked)
{
    if (what->type == STROBE_COLUMN_ENUM)
        return put_names(file, chunk, picked);
    if (what->type == STROBE_COLUMN_TEXT)
        return put_texts(file, chunk, picked);
    return put_numbers(file, chunk, what, picked);
}

/* A chunk, packed where that is worth its time: what gained nothing is tried again after some groups. */
static enum strobe_err put_chunk(struct strobe_parquet *file, struct column *what,
                                 const struct picked *picked)
{
    struct chunk *chunk = STROBE_ARRAY_PUSH(file->chunks, file->n_chunks, file->chunks_room);
    if (!chunk)
        return STROBE_ERR_NOMEM;
    *chunk = (struct chunk){.at = file->at,
                            .n_values = picked->n_rows,
                            .n_nulls = picked->n_nulls,
                            .codec = what->n_unpacked ? CODEC_NONE : CODEC_ZSTD};
    enum strobe_err err = put_values(file, chunk, what, picked);
    if (what->n_unpacked)
        what->n_unpacked--;
    else if (chunk->n_bytes > chunk->n_raw - chunk->n_raw / WORTH)
        what->n_unpacked = UNPACKED;
    return err;
}

enum strobe_err strobe_parquet_put(struct strobe_parquet *file,
                                   const struct strobe_column_batch *batch, const uint32_t *rows,
                                   uint32_t n_rows)
{
    STROBE_ASSERT(batch->n_columns == file->first + file->n_columns);
    uint32_t *group = STROBE_ARRAY_PUSH(file->n_rows, file->n_groups, file->groups_room);
    if (!group)
        return STROBE_ERR_NOMEM;
    *group = n_rows;
    enum strobe_err err = make_room(file, n_rows);
    for (unsigned i = 0; !err && i < file->n_columns; i++) {
        struct picked picked = {
            .column = &batch->columns[file->first + i], .rows = rows, .n_rows = n_rows};
        picked.n_nulls = count_nulls(&picked, batch->n_rows);
        picked.is_same = is_same(&picked, batch->n_rows);
        err = put_chunk(file, &file->columns[i], &picked);
    }
    return err;
}

/* ---- footer ---- */

static int physical_type(enum strobe_column_type type)
{
    static const int types[] = {2, 1, 5, 6, 6}; /* INT64, INT32, DOUBLE, BYTE_ARRAY */
    return types[type];
}

static int is_text(const struct column *column)
{
    return column->type == STROBE_COLUMN_TEXT || column->type == STROBE_COLUMN_ENUM;
}

/* The list of columns, below a root. */
static void put_schema(struct strobe_out *out, const struct strobe_parquet *file)
{
    strobe_thrift_list(out, 1, STROBE_THRIFT_STRUCT, file->n_columns + 1);
    strobe_thrift_text(out, 4, "schema");
    strobe_thrift_i32(out, 1, (int32_t)file->n_columns);
    strobe_thrift_end(out);
    for (unsigned i = 0; i < file->n_columns; i++) {
        const struct column *column = &file->columns[i];
        strobe_thrift_i32(out, 1, physical_type(column->type));
        strobe_thrift_i32(out, 2, 1); /* optional */
        strobe_thrift_text(out, 1, column->name);
        if (is_text(column)) {
            strobe_thrift_i32(out, 2, 0); /* UTF8, and the same as a logical type: STRING */
            strobe_thrift_field(out, 4, STROBE_THRIFT_STRUCT);
            strobe_thrift_field(out, 1, STROBE_THRIFT_STRUCT);
            strobe_thrift_end(out);
            strobe_thrift_end(out);
        }
        strobe_thrift_end(out);
    }
}

static void put_statistics(struct strobe_out *out, const struct chunk *chunk)
{
    strobe_thrift_field(out, chunk->dictionary_at ? 1 : 3, STROBE_THRIFT_STRUCT);
    strobe_thrift_int(out, 3, chunk->n_nulls);
    if (chunk->has_range) {
        strobe_thrift_field(out, 2, STROBE_THRIFT_BINARY);
        strobe_thrift_bytes(out, chunk->most, chunk->n_range);
        strobe_thrift_field(out, 1, STROBE_THRIFT_BINARY);
        strobe_thrift_bytes(out, chunk->least, chunk->n_range);
    }
    strobe_thrift_end(out);
}

static void put_chunk_facts(struct strobe_out *out, const struct column *column,
                            const struct chunk *chunk)
{
    uint64_t at = chunk->dictionary_at ? chunk->dictionary_at : chunk->at;
    strobe_thrift_int(out, 2, (int64_t)at);
    strobe_thrift_field(out, 1, STROBE_THRIFT_STRUCT);
    strobe_thrift_i32(out, 1, physical_type(column->type));
    strobe_thrift_list(out, 1, STROBE_THRIFT_I32, chunk->dictionary_at ? 3 : 2);
    strobe_thrift_varint(out, strobe_thrift_zigzag(chunk->encoding));
    strobe_thrift_varint(out, strobe_thrift_zigzag(RLE));
    if (chunk->dictionary_at)
        strobe_thrift_varint(out, strobe_thrift_zigzag(PLAIN));
    strobe_thrift_list(out, 1, STROBE_THRIFT_BINARY, 1);
    strobe_thrift_bytes(out, column->name, strlen(column->name));
    strobe_thrift_i32(out, 1, chunk->codec);
    strobe_thrift_int(out, 1, chunk->n_values);
    strobe_thrift_int(out, 1, (int64_t)chunk->n_raw);
    strobe_thrift_int(out, 1, (int64_t)chunk->n_bytes);
    strobe_thrift_int(out, 2, (int64_t)chunk->at);
    if (chunk->dictionary_at)
        strobe_thrift_int(out, 2, (int64_t)chunk->dictionary_at);
    put_statistics(out, chunk);
    strobe_thrift_end(out);
    strobe_thrift_end(out);
}

static void put_groups(struct strobe_out *out, const struct strobe_parquet *file)
{
    const struct chunk *chunk = file->chunks;
    strobe_thrift_list(out, 1, STROBE_THRIFT_STRUCT, (uint32_t)file->n_groups);
    for (uint64_t i = 0; i < file->n_groups; i++) {
        uint64_t n_raw = 0;
        strobe_thrift_list(out, 1, STROBE_THRIFT_STRUCT, file->n_columns);
        for (unsigned k = 0; k < file->n_columns; k++, chunk++) {
            put_chunk_facts(out, &file->columns[k], chunk);
            n_raw += chunk->n_raw;
        }
        strobe_thrift_int(out, 1, (int64_t)n_raw);
        strobe_thrift_int(out, 1, file->n_rows[i]);
        strobe_thrift_end(out);
    }
}

static void put_footer(struct strobe_out *out, const struct strobe_parquet *file)
{
    uint64_t n_rows = 0;
    for (uint64_t i = 0; i < file->n_groups; i++)
        n_rows += file->n_rows[i];
    strobe_thrift_i32(out, 1, 2); /* version */
    put_schema(out, file);
    strobe_thrift_int(out, 1, (int64_t)n_rows);
    put_groups(out, file);
    strobe_thrift_text(out, 2, "strobe version " STROBE_VERSION);
    strobe_thrift_list(out, 1, STROBE_THRIFT_STRUCT, file->n_columns); /* order of least and most */
    for (unsigned i = 0; i < file->n_columns; i++) {
        strobe_thrift_field(out, 1, STROBE_THRIFT_STRUCT);
        strobe_thrift_end(out);
        strobe_thrift_end(out);
    }
    strobe_thrift_end(out);
}

enum strobe_err strobe_parquet_close(struct strobe_parquet *file)
{
    struct strobe_out footer = {0};
    put_footer(&footer, file);
    put_u32(&footer, (uint32_t)footer.len);
    strobe_out_bytes(&footer, "PAR1", 4);
    enum strobe_err err = footer.error ? STROBE_ERR_NOMEM : put_bytes(file, footer.at, footer.len);
    strobe_out_free(&footer);
    if (!err) {
        int fd = file->fd;
        file->fd = -1;
        if (close(fd) || rename(file->part, file->path)) {
            err = strobe_err_from_errno(errno);
            unlink(file->part);
        }
    }
    strobe_parquet_drop(file);
    return err;
}

enum strobe_err strobe_parquet_write(struct strobe_columns *reader, const char *path,
                                     uint64_t *n_rows)
{
    struct strobe_parquet *file;
    enum strobe_err err = strobe_parquet_open(path, reader, 0, &file);
    *n_rows = 0;
    while (!err) {
        struct strobe_column_batch *batch;
        err = strobe_columns_next(reader, &batch);
        if (err == STROBE_ERR_END)
            return strobe_parquet_close(file);
        if (!err) {
            *n_rows += batch->n_rows;
            err = strobe_parquet_put(file, batch, NULL, batch->n_rows);
        }
        strobe_columns_return(reader, batch);
    }
    strobe_parquet_drop(file);
    return err;
}
