/* file_write.c - appends blocks to a trace file. The layout: docs/file-format.md.
 *
 * Each block is put together in one buffer and written with one pwrite where the kernel takes it
 * whole. A write that fails leaves the end of the file where it was, so the next block goes to the
 * same place. SPDX-License-Identifier: MIT */
#include "file/file_write.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "base/array.h"
#include "file/frame.h"

enum { LEVELS = 8 };

struct level {
    struct strobe_index_entry *entries; /* owned: not yet listed by an INDEX of this level */
    uint64_t n, cap;
};

struct strobe_file_writer {
    pthread_mutex_t
        lock; /* held by each public call: the buffers below serve one block at a time */
    int fd;
    uint64_t end; /* where the next block goes */
    uint64_t seq;
    uint64_t prev_index;
    uint64_t limit; /* how long the file may get (RLIMIT_FSIZE) */
    uint64_t ledger_seq;
    ZSTD_CCtx *zstd; /* owned */
    uint8_t *out;    /* owned: the block under construction */
    size_t n_out, cap_out;
    uint8_t modes[STROBE_N_STREAMS];      /* enum stream_mode, of the columns */
    uint32_t n_streams[STROBE_N_STREAMS]; /* compressed so far */
    struct level levels[LEVELS];
    struct strobe_lod *lod; /* owned: of the blocks since the last LOD block */
    struct strobe_file_totals totals;
};

/* ---- bytes to the file ---- */

static enum strobe_err write_all(int fd, const uint8_t *bytes, size_t n, uint64_t at)
{
    while (n) {
        ssize_t done = pwrite(fd, bytes, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done ? strobe_err_from_errno(errno) : STROBE_ERR_IO;
        bytes += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
    return STROBE_OK;
}

static bool out_room(struct strobe_file_writer *w, size_t n)
{
    if (w->n_out + n <= w->cap_out)
        return true;
    size_t cap = w->n_out + n + (w->n_out + n) / 2;
    uint8_t *out = realloc(w->out, cap);
    if (!out)
        return false;
    w->out = out;
    w->cap_out = cap;
    return true;
}

/* ---- compression ---- */

static bool is_constant(const uint8_t *bytes, size_t n)
{
    return n > 1 && !memcmp(bytes, bytes + 1, n - 1);
}

/* How a stream is compressed. Matches pay where a pattern repeats; in columns of noise they cost time
 * and bytes, and the entropy coder alone is better. Which of them a stream is, it shows by itself: every
 * PROBE_EVERY blocks both are tried. */
enum stream_mode { MODE_MATCHES, MODE_ENTROPY };
enum { PROBE_EVERY = 32 };

static size_t compress_as(struct strobe_file_writer *w, enum stream_mode mode, uint8_t *out,
                          size_t cap, const uint8_t *bytes, size_t n)
{
    /* a step over the whole block leaves no place where a match is looked for */
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_targetLength, mode == MODE_ENTROPY ? 1 << 17 : 0);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_minMatch, 7);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_literalCompressionMode, ZSTD_ps_enable);
    size_t size = ZSTD_compress2(w->zstd, out, cap, bytes, n);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_targetLength, 0);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_minMatch, 0);
    return size;
}

/* The columns of a block, each in the mode that suits it. */
static size_t compress_column(struct strobe_file_writer *w, int stream, size_t cap,
                              const uint8_t *bytes, size_t n)
{
    uint8_t *out = w->out + w->n_out;
    if (w->n_streams[stream]++ % PROBE_EVERY)
        return compress_as(w, w->modes[stream], out, cap, bytes, n);
    size_t entropy = compress_as(w, MODE_ENTROPY, out, cap, bytes, n);
    size_t matches = compress_as(w, MODE_MATCHES, out, cap, bytes, n);
    w->modes[stream] = !ZSTD_isError(entropy) && entropy <= matches ? MODE_ENTROPY : MODE_MATCHES;
    return matches;
}

/* Append one stream in the cheapest of its three forms. Its stored size, or 0 for no memory. */
static size_t put_stream(struct strobe_file_writer *w, int stream, const uint8_t *bytes, size_t n,
                         bool *failed)
{
    if (n == 0)
        return 0;
    if (is_constant(bytes, n) && (stream < STROBE_BIG || strobe_frame_fits(n, 1))) {
        if (!out_room(w, 1)) {
            *failed = true;
            return 0;
        }
        w->out[w->n_out++] = bytes[0];
        return 1;
    }
    size_t bound = ZSTD_compressBound(n);
    if (!out_room(w, bound)) {
        *failed = true;
        return 0;
    }
    size_t size = stream < STROBE_BIG ? compress_column(w, stream, bound, bytes, n)
                                      : ZSTD_compress2(w->zstd, w->out + w->n_out, bound, bytes, n);
    if (ZSTD_isError(size) || size >= n || size == 1) {
        memcpy(w->out + w->n_out, bytes, n);
        size = n;
    } else if (stream >= STROBE_BIG) {
        size += strobe_frame_pad(w->out + w->n_out + size, n, size);
    }
    w->n_out += size;
    return size;
}

/* ---- blocks ---- */

static void start_block(struct strobe_file_writer *w)
{
    w->n_out = sizeof(struct strobe_block_head);
}

static enum strobe_err add_entry(struct strobe_file_writer *w, uint32_t level,
                                 const struct strobe_index_entry *entry);

/* What the file must still take behind a block: with events the records, and always index and footer. */
static uint64_t kept_room(const struct strobe_file_writer *w, uint32_t type)
{
    enum { RECORDS_ROOM = 64 << 10, FOOTER_ROOM = 8192 };
    uint64_t room = FOOTER_ROOM + sizeof(struct strobe_file_trailer);
    if (type == STROBE_BLOCK_FOOTER)
        return sizeof(struct strobe_file_trailer);
    for (int i = 0; i < LEVELS; i++)
        room += w->levels[i].n * sizeof *w->levels[i].entries;
    return room + (type == STROBE_BLOCK_EVENTS ? RECORDS_ROOM
                   : type == STROBE_BLOCK_LOD  ? RECORDS_ROOM / 2
                                               : 0);
}

/* Hash and write the block that stands in w->out, its head filled but for the hashes. */
static enum strobe_err write_block(struct strobe_file_writer *w, struct strobe_block_head head,
                                   uint64_t n_events, uint64_t n_zones,
                                   struct strobe_index_entry *entry)
{
    size_t n_payload = w->n_out - sizeof head;
    size_t padded = (w->n_out + 7) & ~(size_t)7;
    if (!out_room(w, 8))
        return STROBE_ERR_NOMEM;
    if (w->end + padded + kept_room(w, head.type) > w->limit)
        return STROBE_ERR_LIMIT;
    memset(w->out + w->n_out, 0, padded - w->n_out);
    head.magic = STROBE_BLOCK_MAGIC;
    head.seq = w->seq;
    head.prev_index = w->prev_index;
    head.payload_hash = XXH64(w->out + sizeof head, n_payload, 0);
    head.header_hash = XXH64(&head, offsetof(struct strobe_block_head, header_hash), 0);
    memcpy(w->out, &head, sizeof head);
    enum strobe_err err = write_all(w->fd, w->out, padded, w->end);
    if (err)
        return err;
    *entry = (struct strobe_index_entry){w->end,    head.tick_min, head.tick_max,
                                         n_events,  n_zones,       (uint32_t)padded,
                                         head.type, head.level,    0};
    if (head.type == STROBE_BLOCK_INDEX)
        w->prev_index = w->end;
    w->end += padded;
    w->seq++;
    w->totals.n_bytes = w->end;
    return STROBE_OK;
}

/* Write a block and list it. */
static enum strobe_err finish_block(struct strobe_file_writer *w, struct strobe_block_head head,
                                    uint64_t n_events, uint64_t n_zones)
{
    struct strobe_index_entry entry;
    enum strobe_err err = write_block(w, head, n_events, n_zones, &entry);
    if (!err && head.type != STROBE_BLOCK_FOOTER)
        add_entry(w, head.level, &entry);
    return err;
}

/* ---- levels of detail ---- */

static enum strobe_err put_lod_bytes(struct strobe_file_writer *w, struct strobe_block_head *head,
                                     const uint8_t *bytes, size_t n_bytes)
{
    size_t bound = ZSTD_compressBound(n_bytes);
    if (!out_room(w, bound))
        return STROBE_ERR_NOMEM;
    size_t size = ZSTD_compress2(w->zstd, w->out + w->n_out, bound, bytes, n_bytes);
    if (ZSTD_isError(size) || size >= n_bytes) {
        memcpy(w->out + w->n_out, bytes, n_bytes);
        size = n_bytes;
    } else {
        size += strobe_frame_pad(w->out + w->n_out + size, n_bytes, size);
        if (head)
            head->head_raw = (uint32_t)n_bytes;
    }
    w->n_out += size;
    return STROBE_OK;
}

/* Write what the blocks since the last LOD block look like from afar. Where that can't be done there is none:
 * readers do without. */
static void put_lod(struct strobe_file_writer *w)
{
    struct strobe_block_head head = {.type = STROBE_BLOCK_LOD, .tick_min = ~0ull};
    uint8_t *parts[2] = {NULL, NULL};
    size_t n[2] = {0, 0};
    uint32_t sizes[2];
    enum strobe_err err =
        strobe_lod_write(w->lod, &parts[0], &n[0], &parts[1], &n[1], &head.n_items);
    strobe_lod_reset(w->lod);
    if (err)
        return;
    start_block(w);
    err = put_lod_bytes(w, &head, parts[0], n[0]);
    head.head_bytes = (uint32_t)(w->n_out - sizeof head);
    size_t body = w->n_out;
    if (!err && !out_room(w, sizeof sizes))
        err = STROBE_ERR_NOMEM;
    w->n_out += sizeof sizes;
    if (!err)
        err = put_lod_bytes(w, NULL, parts[1], n[1]);
    head.body_bytes = (uint32_t)(w->n_out - body);
    sizes[0] = (uint32_t)n[1];
    sizes[1] = (uint32_t)(head.body_bytes - sizeof sizes);
    for (uint64_t i = 0; i < w->levels[0].n; i++) {
        const struct strobe_index_entry *e = &w->levels[0].entries[i];
        if (e->type != STROBE_BLOCK_EVENTS || !e->n_events)
            continue;
        head.tick_min = e->tick_min < head.tick_min ? e->tick_min : head.tick_min;
        head.tick_max = e->tick_max > head.tick_max ? e->tick_max : head.tick_max;
    }
    if (!err) {
        memcpy(w->out + body, sizes, sizeof sizes);
        finish_block(w, head, 0, 0);
    }
    free(parts[0]);
    free(parts[1]);
}

/* ---- the index ---- */

/* An INDEX block of `level` (from 1) over the entries that wait for it. */
static enum strobe_err put_index(struct strobe_file_writer *w, uint32_t level)
{
    struct level *from = &w->levels[level - 1];
    struct strobe_block_head head = {.type = STROBE_BLOCK_INDEX, .level = (uint8_t)level};
    uint64_t n_events = 0, n_zones = 0;
    head.tick_min = ~0ull;
    head.n_items = (uint32_t)from->n;
    head.body_bytes = (uint32_t)(from->n * sizeof *from->entries);
    for (uint64_t i = 0; i < from->n; i++) {
        const struct strobe_index_entry *e = &from->entries[i];
        head.tick_min = e->tick_min < head.tick_min ? e->tick_min : head.tick_min;
        head.tick_max = e->tick_max > head.tick_max ? e->tick_max : head.tick_max;
        n_events += e->n_events;
        n_zones += e->n_zones;
    }
    start_block(w);
    if (!out_room(w, head.body_bytes))
        return STROBE_ERR_NOMEM;
    memcpy(w->out + w->n_out, from->entries, head.body_bytes);
    w->n_out += head.body_bytes;
    enum strobe_err err = finish_block(w, head, n_events, n_zones);
    if (!err)
        from->n = 0;
    return err;
}

/* An entry waits at level 0 for the INDEX of level 1, and so on. An index that can't be written
 * waits too: the list only grows, and the footer takes what is left of it. */
static enum strobe_err add_entry(struct strobe_file_writer *w, uint32_t level,
                                 const struct strobe_index_entry *entry)
{
    struct level *to = &w->levels[level];
    if (to->n == to->cap) {
        uint64_t cap = to->cap ? 2 * to->cap : STROBE_INDEX_FANOUT;
        struct strobe_index_entry *entries = strobe_array_resize(to->entries, cap, sizeof *entries);
        if (!entries)
            return STROBE_ERR_NOMEM; /* the block itself is there; a reader finds it by scanning */
        to->entries = entries;
        to->cap = cap;
    }
    to->entries[to->n++] = *entry;
    if (to->n < STROBE_INDEX_FANOUT || level + 1 >= LEVELS || entry->type == STROBE_BLOCK_LOD)
        return STROBE_OK;
    if (!level)
        put_lod(w);
    return put_index(w, level + 1);
}

/* ---- the kinds of blocks ---- */

static void count_ticks(struct strobe_file_writer *w, uint64_t first, uint64_t last)
{
    struct strobe_file_totals *totals = &w->totals;
    if (first < totals->first_tick || !totals->first_tick)
        totals->first_tick = first;
    if (last > totals->last_tick)
        totals->last_tick = last;
}

/* A bit per kind of the block's events, zones left out. */
static uint64_t other_kinds(const struct strobe_encoder *enc)
{
    uint64_t mask = 0;
    for (int i = STROBE_KIND_STR_PIECE; i < STROBE_KIND_ZONE_BEGIN; i++)
        mask |= (uint64_t)(enc->by_kind[i] != 0) << i;
    return mask;
}

/* Zeros behind the streams, so that the block is large enough for its events. 0 without memory. */
static int pad_body(struct strobe_file_writer *w, uint64_t n_events)
{
    size_t n = w->n_out - sizeof(struct strobe_block_head);
    if (strobe_block_holds(n_events, n))
        return 1;
    size_t want = (size_t)(n_events - STROBE_EVENTS_FLOOR + STROBE_EVENTS_RATIO - 1) / STROBE_EVENTS_RATIO;
    if (!out_room(w, want - n))
        return 0;
    memset(w->out + w->n_out, 0, want - n);
    w->n_out += want - n;
    return 1;
}

static enum strobe_err put_events(struct strobe_file_writer *w, struct strobe_encoder *enc)
{
    if (!enc->n_parts)
        return STROBE_OK;
    if (enc->failed)
        return STROBE_ERR_NOMEM;
    struct strobe_block_head head = {.type = STROBE_BLOCK_EVENTS, .n_items = enc->n_events};
    const uint8_t *streams[] = {enc->sym, enc->lo, enc->hi, enc->big, enc->side};
    size_t raw[] = {enc->n_events, enc->n_events, enc->n_events, (size_t)(enc->big_at - enc->big),
                    (size_t)(enc->side_at - enc->side)};
    uint32_t sizes[STROBE_N_STREAMS][2];
    bool failed = false;
    uint8_t parts[STROBE_VARINT_MAX];
    size_t n_parts = (size_t)(strobe_varint_put(parts, enc->n_parts) - parts);

    strobe_encode_split(enc);
    start_block(w);
    size_t n_head = n_parts + enc->n_head;
    if (!out_room(w, n_head + ZSTD_compressBound(n_head) + sizeof sizes))
        return STROBE_ERR_NOMEM;
    uint8_t *raw_head = w->out + w->n_out + ZSTD_compressBound(n_head);
    memcpy(raw_head, parts, n_parts);
    memcpy(raw_head + n_parts, enc->head, enc->n_head);
    size_t stored =
        ZSTD_compress2(w->zstd, w->out + w->n_out, ZSTD_compressBound(n_head), raw_head, n_head);
    if (ZSTD_isError(stored) || stored >= n_head) {
        memmove(w->out + w->n_out, raw_head, n_head);
        stored = n_head;
    } else {
        stored += strobe_frame_pad(w->out + w->n_out + stored, n_head, stored);
        head.head_raw = (uint32_t)n_head;
    }
    head.head_bytes = (uint32_t)stored;
    w->n_out += stored;

    size_t body = w->n_out;
    w->n_out += sizeof sizes;
    for (int i = 0; i < STROBE_N_STREAMS; i++) {
        sizes[i][0] = (uint32_t)raw[i];
        sizes[i][1] = (uint32_t)put_stream(w, i, streams[i], raw[i], &failed);
    }
    if (failed || !pad_body(w, enc->n_events))
        return STROBE_ERR_NOMEM;
    memcpy(w->out + body, sizes, sizeof sizes);
    head.body_bytes = (uint32_t)(w->n_out - body);
    head.tick_min = enc->n_events ? enc->tick_min : 0;
    head.tick_max = enc->tick_max;
    struct strobe_index_entry entry;
    enum strobe_err err = write_block(w, head, enc->n_events, enc->n_zones, &entry);
    if (err)
        return err;
    strobe_lod_add(w->lod, &enc->log, entry.offset, other_kinds(enc));
    add_entry(w, 0, &entry);
    for (int i = 0; i < STROBE_KIND_COUNT; i++)
        w->totals.by_kind[i] += enc->by_kind[i];
    w->totals.n_events += enc->n_events;
    w->totals.n_zones += enc->n_zones;
    if (enc->n_events)
        count_ticks(w, enc->tick_min, enc->tick_max);
    strobe_encode_reset(enc);
    return STROBE_OK;
}

enum strobe_err strobe_file_put_events(struct strobe_file_writer *w, struct strobe_encoder *enc)
{
    pthread_mutex_lock(&w->lock);
    enum strobe_err err = put_events(w, enc);
    pthread_mutex_unlock(&w->lock);
    return err;
}

static enum strobe_err put_records(struct strobe_file_writer *w, struct strobe_records *records)
{
    if (records->failed)
        return STROBE_ERR_NOMEM;
    if (!records->n_records)
        return STROBE_OK;
    struct strobe_block_head head = {.type = STROBE_BLOCK_RECORDS, .n_items = records->n_records};
    uint32_t sizes[2] = {(uint32_t)records->n_bytes, 0};
    bool failed = false;
    start_block(w);
    if (!out_room(w, sizeof sizes))
        return STROBE_ERR_NOMEM;
    size_t body = w->n_out;
    w->n_out += sizeof sizes;
    size_t bound = ZSTD_compressBound(records->n_bytes);
    if (!out_room(w, bound))
        return STROBE_ERR_NOMEM;
    size_t size =
        ZSTD_compress2(w->zstd, w->out + w->n_out, bound, records->bytes, records->n_bytes);
    if (ZSTD_isError(size) || size >= records->n_bytes) {
        memcpy(w->out + w->n_out, records->bytes, records->n_bytes);
        size = records->n_bytes;
    } else {
        size += strobe_frame_pad(w->out + w->n_out + size, records->n_bytes, size);
    }
    w->n_out += size;
    sizes[1] = (uint32_t)size;
    if (failed)
        return STROBE_ERR_NOMEM;
    memcpy(w->out + body, sizes, sizeof sizes);
    head.body_bytes = (uint32_t)(w->n_out - body);
    head.tick_min = records->tick_min == ~0ull ? 0 : records->tick_min;
    head.tick_max = records->tick_max;
    enum strobe_err err = finish_block(w, head, 0, 0);
    if (!err)
        strobe_records_reset(records);
    return err;
}

enum strobe_err strobe_file_put_records(struct strobe_file_writer *w,
                                        struct strobe_records *records)
{
    pthread_mutex_lock(&w->lock);
    enum strobe_err err = put_records(w, records);
    pthread_mutex_unlock(&w->lock);
    return err;
}

static enum strobe_err put_block(struct strobe_file_writer *w, const struct strobe_block_head *from,
                                 const uint8_t *payload, const struct strobe_index_entry *entry)
{
    struct strobe_block_head head = *from;
    head.level = 0; /* of all but INDEX blocks; what a stranger's block says must not choose a list */
    size_t n = (size_t)head.head_bytes + head.body_bytes;
    start_block(w);
    if (!out_room(w, n))
        return STROBE_ERR_NOMEM;
    memcpy(w->out + w->n_out, payload, n);
    w->n_out += n;
    if (head.type == STROBE_BLOCK_EVENTS)
        strobe_lod_spoil(w->lod); /* its parts are not at hand */
    enum strobe_err err = finish_block(w, head, entry->n_events, entry->n_zones);
    if (!err && head.type == STROBE_BLOCK_EVENTS && head.n_items) {
        w->totals.n_events += entry->n_events;
        w->totals.n_zones += entry->n_zones;
        count_ticks(w, head.tick_min, head.tick_max);
    }
    return err;
}

enum strobe_err strobe_file_put_block(struct strobe_file_writer *w,
                                      const struct strobe_block_head *from, const uint8_t *payload,
                                      const struct strobe_index_entry *entry)
{
    pthread_mutex_lock(&w->lock);
    enum strobe_err err = put_block(w, from, payload, entry);
    pthread_mutex_unlock(&w->lock);
    return err;
}

enum strobe_err strobe_file_put_ledger(struct strobe_file_writer *w,
                                       const struct strobe_records *records)
{
    struct strobe_ledger_slot slot = {.magic = STROBE_LEDGER_MAGIC};
    size_t n = records->n_bytes;
    if (records->failed)
        return STROBE_ERR_NOMEM;
    if (n > STROBE_FILE_LEDGER_SLOT - sizeof slot)
        return STROBE_ERR_LIMIT;
    uint8_t *bytes = calloc(1, sizeof slot + n);
    if (!bytes)
        return STROBE_ERR_NOMEM;
    slot.n_bytes = (uint32_t)n;
    slot.hash = XXH64(records->bytes, n, 0);
    memcpy(bytes + sizeof slot, records->bytes, n);
    pthread_mutex_lock(&w->lock);
    slot.seq = ++w->ledger_seq;
    uint64_t at = STROBE_FILE_HEAD_BYTES + (w->ledger_seq & 1) * STROBE_FILE_LEDGER_SLOT;
    memcpy(bytes, &slot, sizeof slot);
    enum strobe_err err = write_all(w->fd, bytes, sizeof slot + n, at);
    pthread_mutex_unlock(&w->lock);
    free(bytes);
    return err;
}

struct strobe_file_totals *strobe_file_totals(struct strobe_file_writer *w)
{
    return &w->totals;
}

void strobe_file_read_totals(struct strobe_file_writer *w, struct strobe_file_totals *out)
{
    pthread_mutex_lock(&w->lock);
    *out = w->totals;
    pthread_mutex_unlock(&w->lock);
}

uint64_t strobe_file_n_bytes(struct strobe_file_writer *w)
{
    pthread_mutex_lock(&w->lock);
    uint64_t n = w->totals.n_bytes;
    pthread_mutex_unlock(&w->lock);
    return n;
}

void strobe_file_count(struct strobe_file_writer *w, uint64_t n_procs, uint64_t n_threads)
{
    pthread_mutex_lock(&w->lock);
    w->totals.n_procs += n_procs;
    w->totals.n_threads += n_threads;
    pthread_mutex_unlock(&w->lock);
}

void strobe_file_count_lost(struct strobe_file_writer *w, uint32_t cause, uint64_t count)
{
    pthread_mutex_lock(&w->lock);
    w->totals.lost[cause] += count;
    pthread_mutex_unlock(&w->lock);
}

enum strobe_err strobe_file_sync(struct strobe_file_writer *w)
{
    return fdatasync(w->fd) ? strobe_err_from_errno(errno) : STROBE_OK;
}

/* ---- opening ---- */

static size_t put_schema(char *out, size_t cap)
{
    size_t n = 0;
#define X(name, number, text, fields, names)                                                       \
    n += (size_t)snprintf(out + n, cap - n, "%d %s %s %s\n", number, text, *fields ? fields : "-", \
                          *names ? names : "-");
    STROBE_KIND_LIST(X)
    STROBE_META_LIST(X)
    STROBE_FACT_LIST(X)
#undef X
    assert(n < cap); /* a head that can't hold its own schema must not be written */
    return n;
}

static enum strobe_err write_head(struct strobe_file_writer *w, const char *session,
                                  uint64_t sync_ns)
{
    struct strobe_file_head head = {
        .magic = STROBE_FILE_MAGIC,
        .version = STROBE_FILE_VERSION,
        .head_bytes = STROBE_FILE_HEAD_BYTES,
        .ledger_off = STROBE_FILE_HEAD_BYTES,
        .ledger_bytes = STROBE_FILE_LEDGER_BYTES,
        .first_block = STROBE_FILE_FIRST_BLOCK,
        .sync_ns = sync_ns,
    };
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    head.created_ns = (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
    if (getrandom(head.uuid, sizeof head.uuid, GRND_NONBLOCK) < 0)
        memcpy(head.uuid, &head.created_ns, sizeof head.created_ns);
    snprintf(head.session, sizeof head.session, "%s", session ? session : "");
    put_schema(head.schema, sizeof head.schema);
    head.hash = XXH64(&head, offsetof(struct strobe_file_head, hash), 0);
    return write_all(w->fd, (const uint8_t *)&head, sizeof head, 0);
}

static enum strobe_err reserve_space(int fd)
{
    int err = posix_fallocate(fd, 0, STROBE_FILE_FIRST_BLOCK);
    if (err == EOPNOTSUPP || err == EINVAL)
        return ftruncate(fd, STROBE_FILE_FIRST_BLOCK) ? strobe_err_from_errno(errno) : STROBE_OK;
    return strobe_err_from_errno(err);
}

static enum strobe_err open_writer(const char *path, int flags, struct strobe_file_writer **out)
{
    struct strobe_file_writer *w = calloc(1, sizeof *w);
    if (!w)
        return STROBE_ERR_NOMEM;
    enum strobe_err err = STROBE_ERR_NOMEM;
    struct rlimit limit;
    pthread_mutex_init(&w->lock, NULL);
    w->limit = getrlimit(RLIMIT_FSIZE, &limit) ? UINT64_MAX : limit.rlim_cur;
    w->fd = open(path, flags | O_CLOEXEC, 0600);
    if (w->fd < 0) {
        err = strobe_err_from_errno(errno);
        goto fail;
    }
    w->zstd = ZSTD_createCCtx();
    w->cap_out = 1 << 20;
    w->out = malloc(w->cap_out);
    w->lod = strobe_lod_new();
    if (!w->zstd || !w->out || !w->lod)
        goto fail;
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_hashLog,
                           13); /* for inputs of 64 KiB; stays in the first cache */
    /* the context's tables are made now, so that they can't fail later */
    uint8_t probe[256] = {0};
    if (ZSTD_isError(ZSTD_compress2(w->zstd, w->out, w->cap_out, probe, sizeof probe)))
        goto fail;
    *out = w;
    return STROBE_OK;
fail:
    strobe_file_abandon(w);
    return err;
}

bool strobe_file_is_foreign(const char *path)
{
    struct stat st;
    uint64_t magic = 0;
    if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size == 0)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false; /* the making of a trace says what is wrong */
    ssize_t n = read(fd, &magic, sizeof magic);
    close(fd);
    return n != sizeof magic || magic != STROBE_FILE_MAGIC;
}

/* A device or a pipe can't be a trace, but it is not ours to remove. */
static void unlink_regular(const char *path)
{
    struct stat st;
    if (!stat(path, &st) && S_ISREG(st.st_mode))
        unlink(path);
}

enum strobe_err strobe_file_create(const char *path, const char *session, uint64_t sync_ns,
                                   struct strobe_file_writer **out)
{
    struct strobe_file_writer *w = NULL;
    enum strobe_err err = open_writer(path, O_RDWR | O_CREAT | O_TRUNC, &w);
    if (err)
        return err;
    err = reserve_space(w->fd);
    if (!err)
        err = write_head(w, session, sync_ns);
    if (err) {
        strobe_file_abandon(w);
        unlink_regular(path);
        return err;
    }
    w->end = w->totals.n_bytes = STROBE_FILE_FIRST_BLOCK;
    *out = w;
    return STROBE_OK;
}

enum strobe_err strobe_file_append(const char *path, uint64_t end, uint64_t seq,
                                   const struct strobe_file_totals *totals,
                                   const struct strobe_index_entry *entries, uint64_t n_entries,
                                   struct strobe_file_writer **out)
{
    struct strobe_file_writer *w = NULL;
    enum strobe_err err = open_writer(path, O_RDWR, &w);
    if (err)
        return err;
    w->end = end;
    w->seq = seq;
    w->totals = *totals;
    w->ledger_seq = 1000000; /* above any that the dead writer used */
    if (ftruncate(w->fd, (off_t)end)) {
        err = strobe_err_from_errno(errno);
        strobe_file_abandon(w);
        return err;
    }
    strobe_lod_spoil(w->lod);
    for (uint64_t i = 0; i < n_entries && !err; i++)
        err = add_entry(w, 0, &entries[i]);
    *out = w;
    return STROBE_OK;
}

/* ---- closing ---- */

static void put_number(struct strobe_file_writer *w, uint64_t value)
{
    w->n_out = (size_t)(strobe_varint_put(w->out + w->n_out, value) - w->out);
}

static enum strobe_err put_footer(struct strobe_file_writer *w)
{
    struct strobe_block_head head = {.type = STROBE_BLOCK_FOOTER};
    const struct strobe_file_totals *totals = &w->totals;
    uint64_t n_kinds = 0, n_lost = 0, n_entries = 0;
    for (int i = 0; i < STROBE_KIND_COUNT; i++)
        n_kinds += totals->by_kind[i] != 0;
    for (int i = 0; i < 16; i++)
        n_lost += totals->lost[i] != 0;
    for (int i = 0; i < LEVELS; i++)
        n_entries += w->levels[i].n;
    start_block(w);
    if (!out_room(w, 4096 + (size_t)n_entries * sizeof(struct strobe_index_entry)))
        return STROBE_ERR_NOMEM;
    put_number(w, n_kinds);
    for (uint64_t i = 0; i < STROBE_KIND_COUNT; i++)
        if (totals->by_kind[i])
            put_number(w, i), put_number(w, totals->by_kind[i]);
    put_number(w, n_lost);
    for (uint64_t i = 0; i < 16; i++)
        if (totals->lost[i])
            put_number(w, i), put_number(w, totals->lost[i]);
    put_number(w, totals->n_procs);
    put_number(w, totals->n_threads);
    put_number(w, totals->first_tick);
    put_number(w, totals->last_tick);
    put_number(w, LEVELS);
    for (int i = 0; i < LEVELS; i++) {
        const struct level *level = &w->levels[i];
        put_number(w, level->n);
        if (level->n)
            memcpy(w->out + w->n_out, level->entries, (size_t)level->n * sizeof *level->entries);
        w->n_out += (size_t)level->n * sizeof *level->entries;
    }
    head.n_items = (uint32_t)n_entries;
    head.body_bytes = (uint32_t)(w->n_out - sizeof head);
    head.tick_min = totals->first_tick;
    head.tick_max = totals->last_tick;
    return finish_block(w, head, 0, 0);
}

enum strobe_err strobe_file_finish(struct strobe_file_writer *w)
{
    struct strobe_file_trailer trailer = {.magic = STROBE_TRAILER_MAGIC};
    put_lod(w);
    trailer.footer = w->end;
    enum strobe_err err = put_footer(w);
    if (!err) {
        trailer.self = w->end;
        trailer.hash = XXH64(&trailer, offsetof(struct strobe_file_trailer, hash), 0);
        err = write_all(w->fd, (const uint8_t *)&trailer, sizeof trailer, w->end);
    }
    if (fdatasync(w->fd) && !err)
        err = strobe_err_from_errno(errno);
    strobe_file_abandon(w);
    return err;
}

void strobe_file_abandon(struct strobe_file_writer *w)
{
    if (!w)
        return;
    if (w->fd >= 0)
        close(w->fd);
    ZSTD_freeCCtx(w->zstd);
    strobe_lod_free(w->lod);
    free(w->out);
    for (int i = 0; i < LEVELS; i++)
        free(w->levels[i].entries);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
