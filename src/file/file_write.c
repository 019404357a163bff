/* file_write.c - appends blocks to a trace file. The layout: docs/file-format.md.
 *
 * Each block is put together in one buffer and written with one pwrite where the kernel takes it
 * whole. A write that fails leaves the end of the file where it was, so the next block goes to the
 * same place. The writer's other files: writer.h.  SPDX-License-Identifier: MIT */
#include "file/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "file/frame.h"

/* ---- blocks ---- */

/* What the file must still take behind a block: with events the records, and always index and footer. */
static uint64_t kept_room(const struct strobe_file_writer *w, uint32_t type)
{
    enum { RECORDS_ROOM = 64 << 10, FOOTER_ROOM = 8192 };
    uint64_t room = FOOTER_ROOM + sizeof(struct strobe_file_trailer);
    if (type == STROBE_BLOCK_FOOTER)
        return sizeof(struct strobe_file_trailer);
    for (int i = 0; i < STROBE_WRITER_LEVELS; i++)
        room += w->levels[i].n * sizeof *w->levels[i].entries;
    return room + (type == STROBE_BLOCK_EVENTS                               ? RECORDS_ROOM
                   : type == STROBE_BLOCK_LOD || type >= STROBE_BLOCK_PAIRED ? RECORDS_ROOM / 2
                                                                             : 0);
}

/* Hash and write the block that stands in w->out, its head filled but for the hashes. */
static enum strobe_err write_block(struct strobe_file_writer *w, struct strobe_block_head head,
                                   uint64_t n_events, uint64_t n_zones,
                                   struct strobe_index_entry *entry)
{
    size_t n_payload = w->n_out - sizeof head;
    STROBE_ASSERT(w->n_out >= sizeof head && w->n_out <= w->cap_out);
    STROBE_ASSERT((uint64_t)head.head_bytes + head.body_bytes == n_payload);
    STROBE_ASSERT(head.type >= STROBE_BLOCK_EVENTS &&
                  (head.type == STROBE_BLOCK_INDEX) == (head.level > 0));
    STROBE_ASSERT(w->end % 8 == 0 && w->end >= STROBE_FILE_FIRST_BLOCK && w->prev_index < w->end);
    size_t padded = (w->n_out + 7) & ~(size_t)7;
    if (!strobe_writer_room(w, 8))
        return STROBE_ERR_NOMEM;
    if (w->end + padded + kept_room(w, head.type) > w->limit)
        return STROBE_ERR_LIMIT;
    memset(w->out + w->n_out, 0, padded - w->n_out);
    head.magic = STROBE_BLOCK_MAGIC;
    head.seq = w->seq;
    head.prev_index = head.type == STROBE_BLOCK_INDEX && w->relists ? w->end : w->prev_index;
    head.payload_hash = XXH64(w->out + sizeof head, n_payload, 0);
    head.header_hash = XXH64(&head, offsetof(struct strobe_block_head, header_hash), 0);
    memcpy(w->out, &head, sizeof head);
    enum strobe_err err = strobe_writer_write(w, w->out, padded, w->end);
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

enum strobe_err strobe_writer_finish_block(struct strobe_file_writer *w,
                                           struct strobe_block_head head, uint64_t n_events,
                                           uint64_t n_zones)
{
    struct strobe_index_entry entry;
    enum strobe_err err = write_block(w, head, n_events, n_zones, &entry);
    if (!err && head.type != STROBE_BLOCK_FOOTER)
        strobe_writer_add_entry(w, head.level, &entry);
    return err;
}

/* ---- levels of detail ---- */

/* Ticks of the blocks with events that wait for an INDEX of level 1. */
static void span_of_events(const struct strobe_file_writer *w, struct strobe_block_head *head)
{
    head->tick_min = ~0ull;
    for (uint64_t i = 0; i < w->levels[0].n; i++) {
        const struct strobe_index_entry *e = &w->levels[0].entries[i];
        if (e->type != STROBE_BLOCK_EVENTS || !e->n_events)
            continue;
        head->tick_min = e->tick_min < head->tick_min ? e->tick_min : head->tick_min;
        head->tick_max = e->tick_max > head->tick_max ? e->tick_max : head->tick_max;
    }
}

void strobe_writer_put_lod(struct strobe_file_writer *w)
{
    struct strobe_block_head head = {.type = STROBE_BLOCK_LOD, .flags = STROBE_LOD_ENDS};
    uint8_t *parts[2] = {NULL, NULL};
    size_t n[2] = {0, 0}, stored[2] = {0, 0};
    uint32_t sizes[2];
    enum strobe_err err =
        strobe_lod_write(w->lod, &parts[0], &n[0], &parts[1], &n[1], &head.n_items);
    strobe_lod_reset(w->lod);
    if (err)
        return;
    strobe_writer_start(w);
    bool ok =
        strobe_writer_pack(w, parts[0], n[0], &stored[0]) && strobe_writer_room(w, sizeof sizes);
    size_t body = w->n_out;
    w->n_out += ok ? sizeof sizes : 0;
    ok = ok && strobe_writer_pack(w, parts[1], n[1], &stored[1]);
    if (ok) {
        head.head_bytes = (uint32_t)stored[0];
        head.head_raw = stored[0] < n[0] ? (uint32_t)n[0] : 0;
        head.body_bytes = (uint32_t)(sizeof sizes + stored[1]);
        sizes[0] = (uint32_t)n[1];
        sizes[1] = (uint32_t)stored[1];
        memcpy(w->out + body, sizes, sizeof sizes);
        span_of_events(w, &head);
        strobe_writer_finish_block(w, head, 0, 0);
    }
    free(parts[0]);
    free(parts[1]);
}

/* ---- the index ---- */

/* An INDEX block of `level` (from 1) over the entries that wait for it. */
static enum strobe_err put_index(struct strobe_file_writer *w, uint32_t level)
{
    STROBE_ASSERT(level && level < STROBE_WRITER_LEVELS);
    struct strobe_writer_level *from = &w->levels[level - 1];
    STROBE_ASSERT(from->n);
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
    strobe_writer_start(w);
    if (!strobe_writer_room(w, head.body_bytes))
        return STROBE_ERR_NOMEM;
    memcpy(w->out + w->n_out, from->entries, head.body_bytes);
    w->n_out += head.body_bytes;
    enum strobe_err err = strobe_writer_finish_block(w, head, n_events, n_zones);
    if (!err)
        from->n = 0;
    return err;
}

/* An entry waits at level 0 for the INDEX of level 1, and so on. An index that can't be written
 * waits too: the list only grows, and the footer takes what is left of it. */
enum strobe_err strobe_writer_add_entry(struct strobe_file_writer *w, uint32_t level,
                                        const struct strobe_index_entry *entry)
{
    STROBE_ASSERT(level < STROBE_WRITER_LEVELS);
    struct strobe_writer_level *to = &w->levels[level];
    STROBE_ASSERT(to->n <= to->cap);
    STROBE_ASSERT(!to->n || to->entries[to->n - 1].offset < entry->offset); /* in file order */
    if (to->n == to->cap) {
        uint64_t cap = to->cap ? 2 * to->cap : STROBE_INDEX_FANOUT;
        struct strobe_index_entry *entries = strobe_array_resize(to->entries, cap, sizeof *entries);
        if (!entries)
            return STROBE_ERR_NOMEM; /* the block itself is there; a reader finds it by scanning */
        to->entries = entries;
        to->cap = cap;
    }
    to->entries[to->n++] = *entry;
    if (to->n < STROBE_INDEX_FANOUT || level + 1 >= STROBE_WRITER_LEVELS ||
        entry->type == STROBE_BLOCK_LOD)
        return STROBE_OK;
    if (!level)
        strobe_writer_put_lod(w);
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
    size_t want =
        (size_t)(n_events - STROBE_EVENTS_FLOOR + STROBE_EVENTS_RATIO - 1) / STROBE_EVENTS_RATIO;
    STROBE_ASSERT(want > n);
    if (!strobe_writer_room(w, want - n))
        return 0;
    memset(w->out + w->n_out, 0, want - n);
    w->n_out += want - n;
    return 1;
}

enum { HEAD_STEP = 8 };

/* Append what the parts have in front of their events: their number, then the encoder's bytes, ends, nested sums. */
static enum strobe_err put_part_heads(struct strobe_file_writer *w,
                                      const struct strobe_encoder *enc,
                                      struct strobe_block_head *head)
{
    uint8_t number[STROBE_VARINT_MAX];
    size_t n_number = (size_t)(strobe_varint_put(number, enc->n_parts) - number);
    size_t n = n_number + enc->n_head + enc->n_ends + enc->n_nested;
    size_t bound = ZSTD_compressBound(n), stored;
    if (!strobe_writer_room(w, bound + n))
        return STROBE_ERR_NOMEM;
    uint8_t *raw = w->out + w->n_out + bound;
    STROBE_ASSERT(enc->n_head <= enc->cap_head && w->n_out + bound + n <= w->cap_out);
    memcpy(raw, number, n_number);
    memcpy(raw + n_number, enc->head, enc->n_head);
    memcpy(raw + n_number + enc->n_head, enc->ends, enc->n_ends);
    memcpy(raw + n_number + enc->n_head + enc->n_ends, enc->nested, enc->n_nested);
    /* Heads of many small parts are as long as their events: matches are looked for at every eighth place, in half the time. */
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_targetLength, HEAD_STEP);
    bool ok = strobe_writer_pack(w, raw, n, &stored);
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_targetLength, 0);
    if (!ok)
        return STROBE_ERR_NOMEM;
    head->head_bytes = (uint32_t)stored;
    head->head_raw = stored < n ? (uint32_t)n : 0;
    return STROBE_OK;
}

/* Append the streams, their sizes in front of them. */
static enum strobe_err put_streams(struct strobe_file_writer *w, struct strobe_encoder *enc,
                                   struct strobe_block_head *head)
{
    const uint8_t *streams[STROBE_N_STREAMS] = {enc->sym, enc->lo, enc->hi, enc->big, enc->side};
    const size_t raw[STROBE_N_STREAMS] = {enc->n_events, enc->n_events, enc->n_events,
                                          (size_t)(enc->big_at - enc->big),
                                          (size_t)(enc->side_at - enc->side)};
    uint32_t sizes[STROBE_N_STREAMS][2];
    size_t body = w->n_out, stored;
    if (!strobe_writer_room(w, sizeof sizes))
        return STROBE_ERR_NOMEM;
    strobe_encode_split(enc);
    w->n_out += sizeof sizes;
    for (int i = 0; i < STROBE_N_STREAMS; i++) {
        if (i == STROBE_HI && strobe_writer_put_hi_by_lo(w, enc->lo, enc->hi, raw[i], &stored))
            head->flags |= STROBE_EVENTS_HI_BY_LO;
        else if (!strobe_writer_put_stream(w, i, streams[i], raw[i], &stored))
            return STROBE_ERR_NOMEM;
        sizes[i][0] = (uint32_t)raw[i];
        sizes[i][1] = (uint32_t)stored;
    }
    if (!pad_body(w, enc->n_events))
        return STROBE_ERR_NOMEM;
    memcpy(w->out + body, sizes, sizeof sizes);
    head->body_bytes = (uint32_t)(w->n_out - body);
    STROBE_ASSERT(strobe_block_holds(enc->n_events, w->n_out - sizeof *head));
    return STROBE_OK;
}

static void count_events(struct strobe_file_writer *w, const struct strobe_encoder *enc)
{
    uint64_t n = 0;
    for (int i = 0; i < STROBE_KIND_COUNT; i++) {
        w->totals.by_kind[i] += enc->by_kind[i];
        n += enc->by_kind[i];
    }
    STROBE_ASSERT(n == enc->n_events);
    w->totals.n_events += enc->n_events;
    w->totals.n_zones += enc->n_zones;
    if (enc->n_events)
        count_ticks(w, enc->tick_min, enc->tick_max);
}

static enum strobe_err put_events(struct strobe_file_writer *w, struct strobe_encoder *enc)
{
    STROBE_ASSERT(!enc->track); /* all parts are ended */
    if (!enc->n_parts)
        return STROBE_OK;
    if (enc->failed)
        return STROBE_ERR_NOMEM;
    struct strobe_block_head head = {.type = STROBE_BLOCK_EVENTS,
                                     .n_items = enc->n_events,
                                     .tick_min = enc->n_events ? enc->tick_min : 0,
                                     .tick_max = enc->tick_max};
    strobe_writer_start(w);
    enum strobe_err err = put_part_heads(w, enc, &head);
    if (!err)
        err = put_streams(w, enc, &head);
    if (err)
        return err;
    struct strobe_index_entry entry;
    err = write_block(w, head, enc->n_events, enc->n_zones, &entry);
    if (err)
        return err;
    strobe_lod_add(w->lod, &enc->log, entry.offset, other_kinds(enc));
    strobe_writer_add_entry(w, 0, &entry);
    count_events(w, enc);
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

/* A block that is one run of bytes, behind its sizes. */
static enum strobe_err put_bytes(struct strobe_file_writer *w, struct strobe_block_head head,
                                 const uint8_t *bytes, size_t n)
{
    uint32_t sizes[2];
    size_t stored;
    strobe_writer_start(w);
    size_t body = w->n_out;
    if (!strobe_writer_room(w, sizeof sizes))
        return STROBE_ERR_NOMEM;
    w->n_out += sizeof sizes;
    if (!strobe_writer_pack(w, bytes, n, &stored))
        return STROBE_ERR_NOMEM;
    sizes[0] = (uint32_t)n;
    sizes[1] = (uint32_t)stored;
    memcpy(w->out + body, sizes, sizeof sizes);
    head.body_bytes = (uint32_t)(w->n_out - body);
    return strobe_writer_finish_block(w, head, 0, 0);
}

enum strobe_err strobe_file_put_paired(struct strobe_file_writer *w, enum strobe_block_type type,
                                       uint16_t flags, uint32_t n_items, const uint8_t *bytes,
                                       size_t n, uint64_t *offset)
{
    const struct strobe_block_head head = {
        .type = (uint8_t)type, .flags = flags, .n_items = n_items};
    STROBE_ASSERT(type == STROBE_BLOCK_PAIRED || type == STROBE_BLOCK_PAIRED_LOD);
    if (n > STROBE_FILE_MAX_PAYLOAD)
        return STROBE_ERR_LIMIT;
    pthread_mutex_lock(&w->lock);
    *offset = w->end;
    enum strobe_err err = put_bytes(w, head, bytes, n);
    pthread_mutex_unlock(&w->lock);
    return err;
}

static enum strobe_err put_records(struct strobe_file_writer *w, struct strobe_records *records)
{
    STROBE_ASSERT(!records->is_open);
    if (records->failed)
        return STROBE_ERR_NOMEM;
    STROBE_ASSERT(!records->n_records == !records->n_bytes);
    if (!records->n_records)
        return STROBE_OK;
    const struct strobe_block_head head = {.type = STROBE_BLOCK_RECORDS,
                                           .n_items = records->n_records,
                                           .tick_min =
                                               records->tick_min == ~0ull ? 0 : records->tick_min,
                                           .tick_max = records->tick_max};
    enum strobe_err err = put_bytes(w, head, records->bytes, records->n_bytes);
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
    head.level =
        0; /* of all but INDEX blocks; what a stranger's block says must not choose a list */
    size_t n = (size_t)head.head_bytes + head.body_bytes;
    strobe_writer_start(w);
    if (!strobe_writer_room(w, n))
        return STROBE_ERR_NOMEM;
    memcpy(w->out + w->n_out, payload, n);
    w->n_out += n;
    if (head.type == STROBE_BLOCK_EVENTS)
        strobe_lod_spoil(w->lod); /* its parts are not at hand */
    enum strobe_err err = strobe_writer_finish_block(w, head, entry->n_events, entry->n_zones);
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
    STROBE_ASSERT(!records->is_open);
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
    /* one of the slots is whole on the disk at any moment */
    if (w->ledger_seq > 1 && !w->ledger_is_synced)
        fdatasync(w->fd);
    enum strobe_err err = strobe_writer_write(w, bytes, sizeof slot + n, at);
    w->ledger_is_synced = false;
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
    STROBE_ASSERT(cause < STROBE_WRITER_CAUSES);
    w->totals.lost[cause] += count;
    pthread_mutex_unlock(&w->lock);
}

/* The name before the bytes: what a sync promised must be found under it. */
static void sync_name(struct strobe_file_writer *w)
{
    pthread_mutex_lock(&w->lock);
    int folder = w->folder;
    w->folder = -1;
    pthread_mutex_unlock(&w->lock);
    if (folder < 0)
        return;
    fsync(folder); /* there are file systems that have none of this for folders */
    close(folder);
}

enum strobe_err strobe_file_sync(struct strobe_file_writer *w)
{
    sync_name(w);
    pthread_mutex_lock(&w->lock);
    uint64_t ledger_seq = w->ledger_seq;
    pthread_mutex_unlock(&w->lock);
    if (fdatasync(w->fd))
        return strobe_err_from_errno(errno);
    pthread_mutex_lock(&w->lock);
    w->ledger_is_synced |= w->ledger_seq == ledger_seq;
    pthread_mutex_unlock(&w->lock);
    return STROBE_OK;
}

void strobe_file_uuid(const struct strobe_file_writer *w, uint8_t out[16])
{
    memset(out, 0, 16);
    if (pread(w->fd, out, 16, offsetof(struct strobe_file_head, uuid)) != 16)
        memset(out, 0, 16);
}

int strobe_file_dup(const struct strobe_file_writer *w)
{
    return fcntl(w->fd, F_DUPFD_CLOEXEC, 0);
}
