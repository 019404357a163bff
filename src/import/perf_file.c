/* perf_file.c - see perf_file.h.
 *
 *   head: "PERFILE2", size, size of an attr, sections {offset, size} of attrs, data, event types; 256 bits of features
 *   attrs: a perf_event_attr and the section of its ids, each
 *   data: records; behind it a section for each feature that is there
 *
 * SPDX-License-Identifier: MIT */
#include "import/perf_file.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"

enum {
    HEAD_BYTES = 104,
    PIPE_HEAD_BYTES = 16,
    HEAD_ATTR_BYTES = 16,
    HEAD_ATTRS = 24,
    HEAD_DATA = 40,
    HEAD_FEATURES = 72,
    SECTION_BYTES = 16,
    ATTR_TYPE = 0,
    ATTR_CONFIG = 8,
    ATTR_PERIOD = 16,
    ATTR_SAMPLE_TYPE = 24,
    ATTR_READ_FORMAT = 32,
    ATTR_FLAGS = 40,
    RECORD_HEAD = 8,
    FEATURE_BUILD_ID = 2,
    BUILD_ID_PATH = RECORD_HEAD + 4 + 24, /* of a build id's record */
    BUILD_ID_MOST = 20,
    BUILD_ID_SIZED = 1 << 15, /* misc: byte 20 is its length */
    COMPRESSED = 81,
    COMPRESSED2 = 83,
    UNPACKED_FLOOR = 64 << 20,
    UNPACKED_RATIO = 256,
};

uint64_t strobe_perf_file_u64(const uint8_t *bytes, size_t n, size_t at)
{
    uint64_t value = 0;
    if (at <= n && n - at >= sizeof value)
        memcpy(&value, bytes + at, sizeof value);
    return value;
}

uint32_t strobe_perf_file_u32(const uint8_t *bytes, size_t n, size_t at)
{
    uint32_t value = 0;
    if (at <= n && n - at >= sizeof value)
        memcpy(&value, bytes + at, sizeof value);
    return value;
}

static uint64_t number(const struct strobe_perf_file *file, uint64_t at)
{
    return strobe_perf_file_u64(file->bytes, file->n, at < file->n ? (size_t)at : file->n);
}

static int is_inside(const struct strobe_perf_file *file, uint64_t at, uint64_t n)
{
    return at <= file->n && n <= file->n - at;
}

/* ---- the head ---- */

static enum strobe_err read_ids(struct strobe_perf_file *file, uint64_t at, uint64_t n_bytes,
                                uint32_t attr)
{
    if (!is_inside(file, at, n_bytes))
        return STROBE_ERR_CORRUPT;
    for (uint64_t i = 0; i + 8 <= n_bytes; i += 8) {
        enum strobe_err err = strobe_map_put(&file->ids, number(file, at + i), attr + 1ull);
        if (err)
            return err;
    }
    return STROBE_OK;
}

/* The fields of perf_event_attr that are needed: all of its first version. */
static void read_attr(struct strobe_perf_attr *out, const uint8_t *at, size_t n)
{
    *out = (struct strobe_perf_attr){.type = strobe_perf_file_u32(at, n, ATTR_TYPE),
                                     .config = strobe_perf_file_u64(at, n, ATTR_CONFIG),
                                     .period = strobe_perf_file_u64(at, n, ATTR_PERIOD),
                                     .sample_type = strobe_perf_file_u64(at, n, ATTR_SAMPLE_TYPE),
                                     .read_format = strobe_perf_file_u64(at, n, ATTR_READ_FORMAT),
                                     .flags = strobe_perf_file_u64(at, n, ATTR_FLAGS)};
}

static enum strobe_err read_attrs(struct strobe_perf_file *file)
{
    uint64_t each = number(file, HEAD_ATTR_BYTES), at = number(file, HEAD_ATTRS);
    uint64_t n_bytes = number(file, HEAD_ATTRS + 8);
    enum strobe_err err = STROBE_OK;
    if (each <= SECTION_BYTES || !is_inside(file, at, n_bytes) || n_bytes < each)
        return STROBE_ERR_CORRUPT;
    if (n_bytes / each > STROBE_PERF_ATTRS_MAX)
        return STROBE_ERR_LIMIT;
    file->n_attrs = (uint32_t)(n_bytes / each);
    file->attrs = calloc(file->n_attrs, sizeof *file->attrs);
    if (!file->attrs)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < file->n_attrs; i++) {
        uint64_t here = at + i * each, ids = here + each - SECTION_BYTES;
        read_attr(&file->attrs[i], file->bytes + here, (size_t)(each - SECTION_BYTES));
        err = read_ids(file, number(file, ids), number(file, ids + 8), i);
    }
    return err;
}

/* The section of build ids: a record with a path for each. What makes no sense there is left out. */
static void read_build_ids(struct strobe_perf_file *file, uint64_t at, uint64_t n_bytes)
{
    while (n_bytes > BUILD_ID_PATH && is_inside(file, at, n_bytes)) {
        const uint8_t *record = file->bytes + at;
        uint16_t misc, size;
        memcpy(&misc, record + 4, sizeof misc);
        memcpy(&size, record + 6, sizeof size);
        if (size <= BUILD_ID_PATH || size > n_bytes)
            return;
        size_t n_id =
            misc & BUILD_ID_SIZED ? record[RECORD_HEAD + 4 + BUILD_ID_MOST] : BUILD_ID_MOST;
        size_t n_path = strnlen((const char *)record + BUILD_ID_PATH, size - BUILD_ID_PATH);
        uint32_t entry;
        if (n_id <= BUILD_ID_MOST &&
            !strobe_textmap_add(&file->build_ids, record + BUILD_ID_PATH, n_path, &entry))
            file->build_ids.entries[entry].value = (at + RECORD_HEAD + 4) << 8 | n_id;
        at += size;
        n_bytes -= size;
    }
}

static void read_features(struct strobe_perf_file *file)
{
    uint64_t features = number(file, HEAD_FEATURES), at = file->data_at + file->data_bytes;
    for (int i = 0; i < FEATURE_BUILD_ID; i++)
        at += features >> i & 1 ? SECTION_BYTES : 0;
    if (features >> FEATURE_BUILD_ID & 1)
        read_build_ids(file, number(file, at), number(file, at + 8));
}

enum strobe_err strobe_perf_file_open(const void *bytes, size_t n, struct strobe_perf_file *out)
{
    *out = (struct strobe_perf_file){.bytes = bytes, .n = n};
    out->build_ids.max_bytes = 16 << 20;
    if (n >= 16 && !memcmp(bytes, "PERFILE2", 8) && number(out, 8) == PIPE_HEAD_BYTES)
        return STROBE_ERR_INVALID;
    if (n < HEAD_BYTES || memcmp(bytes, "PERFILE2", 8) || number(out, 8) < HEAD_BYTES)
        return STROBE_ERR_FORMAT;
    out->data_at = number(out, HEAD_DATA);
    out->data_bytes = number(out, HEAD_DATA + 8);
    if (out->data_at > n)
        return STROBE_ERR_CORRUPT;
    if (!out->data_bytes || out->data_bytes > n - out->data_at)
        out->data_bytes = n - out->data_at; /* perf was killed, or the file is cut off */
    enum strobe_err err = read_attrs(out);
    if (!err)
        read_features(out);
    return err;
}

void strobe_perf_file_free(struct strobe_perf_file *file)
{
    free(file->attrs);
    strobe_map_free(&file->ids);
    strobe_textmap_free(&file->build_ids);
}

/* ---- records ---- */

struct walk {
    struct strobe_perf_file *file;
    strobe_perf_file_call *call;
    void *context;
    ZSTD_DStream *zstd; /* owned; NULL: nothing was compressed yet */
    uint8_t *unpacked;  /* owned: what was unpacked and not handed out */
    size_t n, room;
    uint64_t n_packed, n_unpacked;
};

static enum strobe_err take_record(struct walk *walk, const struct strobe_perf_record_in *record,
                                   int is_packed);

/* All records that are whole. *n_used: bytes of them. */
static enum strobe_err take_run(struct walk *walk, const uint8_t *at, size_t n, int is_packed,
                                size_t *n_used)
{
    enum strobe_err err = STROBE_OK;
    for (*n_used = 0; !err && n - *n_used >= RECORD_HEAD;) {
        const uint8_t *head = at + *n_used;
        struct strobe_perf_record_in record = {.type = strobe_perf_file_u32(head, RECORD_HEAD, 0)};
        uint16_t size;
        memcpy(&record.misc, head + 4, sizeof record.misc);
        memcpy(&size, head + 6, sizeof size);
        if (size < RECORD_HEAD) /* nothing behind it can be found */
            return STROBE_ERR_CORRUPT;
        if (size > n - *n_used)
            break;
        record.body = head + RECORD_HEAD;
        record.n = size - RECORD_HEAD;
        *n_used += size;
        err = take_record(walk, &record, is_packed);
    }
    return err;
}

static enum strobe_err unpack(struct walk *walk, ZSTD_inBuffer *in)
{
    enum { STEP = 1 << 17 };
    if (STROBE_ARRAY_RESERVE(walk->unpacked, walk->room, walk->n + STEP))
        return STROBE_ERR_NOMEM;
    ZSTD_outBuffer out = {walk->unpacked + walk->n, STEP, 0};
    size_t left = ZSTD_decompressStream(walk->zstd, &out, in);
    walk->n += out.pos;
    walk->n_unpacked += out.pos;
    if (walk->n_unpacked > UNPACKED_FLOOR + UNPACKED_RATIO * walk->n_packed)
        return STROBE_ERR_BOMB;
    if (ZSTD_isError(left))
        return STROBE_ERR_CORRUPT;
    return in->pos == in->size && out.pos < STEP ? STROBE_ERR_END : STROBE_OK;
}

/* Records may begin in one compressed record and end in the next. */
static enum strobe_err take_packed(struct walk *walk, const uint8_t *bytes, size_t n)
{
    ZSTD_inBuffer in = {bytes, n, 0};
    enum strobe_err err = STROBE_OK;
    size_t n_used = 0;
    if (!walk->zstd && !(walk->zstd = ZSTD_createDStream()))
        return STROBE_ERR_NOMEM;
    walk->n_packed += n;
    while (!err && !(err = unpack(walk, &in))) {
        err = take_run(walk, walk->unpacked, walk->n, 1, &n_used);
        memmove(walk->unpacked, walk->unpacked + n_used, walk->n - n_used);
        walk->n -= n_used;
    }
    if (err == STROBE_ERR_END) {
        err = take_run(walk, walk->unpacked, walk->n, 1, &n_used);
        memmove(walk->unpacked, walk->unpacked + n_used, walk->n - n_used);
        walk->n -= n_used;
    }
    walk->file->n_bad_packed += err == STROBE_ERR_CORRUPT;
    return err;
}

static enum strobe_err take_record(struct walk *walk, const struct strobe_perf_record_in *record,
                                   int is_packed)
{
    if (record->type == COMPRESSED && !is_packed)
        return take_packed(walk, record->body, record->n);
    if (record->type == COMPRESSED2 && !is_packed) {
        uint64_t n = strobe_perf_file_u64(record->body, record->n, 0);
        return record->n >= 8 && n <= record->n - 8 ? take_packed(walk, record->body + 8, (size_t)n)
                                                    : STROBE_ERR_CORRUPT;
    }
    return walk->call(walk->context, record);
}

enum strobe_err strobe_perf_file_each(struct strobe_perf_file *file, strobe_perf_file_call *call,
                                      void *context)
{
    struct walk walk = {.file = file, .call = call, .context = context};
    size_t n_used;
    enum strobe_err err =
        take_run(&walk, file->bytes + file->data_at, (size_t)file->data_bytes, 0, &n_used);
    file->n_cut = !err && n_used < file->data_bytes;
    ZSTD_freeDStream(walk.zstd);
    free(walk.unpacked);
    return err;
}
