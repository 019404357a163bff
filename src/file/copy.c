/* copy.c - see copy.h. A block goes one of four ways: as it is; with another head; made anew of some of its parts; made anew of
 * some of its records. Parts and records themselves are copied byte by byte.  SPDX-License-Identifier: MIT */
#include "file/copy.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "base/assert.h"
#include "file/copy_lod.h"
#include "file/decode.h"
#include "file/encode_internal.h"

struct copy {
    const struct strobe_copy_options *options;
    struct strobe_file_writer *to;
    struct strobe_schema schema;
    struct strobe_block block;
    struct strobe_events events;
    struct strobe_encoder enc; /* of parts that stay; made where some may not */
    struct strobe_record_walk walk;
    struct strobe_records records, pieces; /* that stay; whose record has not come yet */
    uint8_t *head, *stored;                /* owned: of a block whose processes get other numbers */
    size_t head_room, stored_room;
    struct strobe_retimer retimer; /* of a trace that gets another clock */
    struct strobe_copy_lod lod;    /* where blocks went */
};

static int keeps(const struct copy *copy, uint64_t proc)
{
    return copy->options->keeps(copy->options->context, proc);
}

static int keeps_track(const struct copy *copy, uint64_t proc, uint64_t track)
{
    return keeps(copy, proc) && (!copy->options->keeps_track || !track ||
                                 copy->options->keeps_track(copy->options->context, proc, track));
}

/* Whether a range of time is cut out, part by part: what is left of a track has no gaps then. */
static int cuts(const struct copy *copy)
{
    return copy->options->by_tick && copy->options->counts;
}

static int keeps_part(const struct copy *copy, const struct strobe_part *part)
{
    if (cuts(copy) && (part->last_tick < copy->options->tick_min ||
                       part->first_tick - part->start_early > copy->options->tick_max))
        return 0;
    return !copy->options->keeps || keeps_track(copy, part->proc, part->track);
}

/* ---- blocks as they are ---- */

static void count_kinds(struct copy *copy, struct strobe_index_entry *entry)
{
    uint64_t *by_kind = strobe_file_totals(copy->to)->by_kind;
    const uint8_t *sym = copy->events.stream[STROBE_SYM];
    for (uint32_t i = 0; i < copy->events.n_events; i++) {
        by_kind[strobe_kind_of_sym(sym[i])]++;
        entry->n_zones += sym[i] <= STROBE_KIND_ZONE_END_POP;
    }
    entry->n_events = copy->events.n_events;
}

static enum strobe_err put_block(struct copy *copy, const struct strobe_block_head *head,
                                 const uint8_t *stored)
{
    const struct strobe_block *block = &copy->block;
    struct strobe_index_entry entry = {.n_events = head->n_items};
    if (copy->options->counts) {
        entry.n_events = 0;
        if (head->type == STROBE_BLOCK_EVENTS) {
            enum strobe_err err = strobe_decode_parts(block, &copy->events);
            if (!err)
                err = strobe_decode_streams(block, 1u << STROBE_SYM, &copy->events);
            if (err)
                return err == STROBE_ERR_CORRUPT ? STROBE_OK : err;
            count_kinds(copy, &entry);
        }
    }
    uint64_t offset = strobe_file_n_bytes(copy->to);
    enum strobe_err err = strobe_file_put_block(copy->to, head, stored, &entry);
    if (!err && copy->options->lod && head->type == STROBE_BLOCK_EVENTS)
        err = strobe_copy_lod_moved(&copy->lod, block->ref.offset, offset);
    return err;
}

static enum strobe_err copy_block(struct copy *copy)
{
    return put_block(copy, &copy->block.ref.head, copy->block.stored);
}

/* ---- other numbers of processes ---- */

/* The block's head with its processes shifted, into copy->head. 0: no memory. */
static size_t shift_head(struct copy *copy)
{
    const struct strobe_events *events = &copy->events;
    const uint8_t *end = copy->block.head + copy->block.n_head;
    const uint8_t *from = copy->block.head;
    uint64_t room = copy->block.n_head + 10ull * (events->n_parts + 1ull);
    if (STROBE_ARRAY_RESERVE(copy->head, copy->head_room, room))
        return 0;
    uint8_t *to = copy->head;
    for (uint32_t i = 0; i < events->n_parts; i++) {
        const struct strobe_part *part = &events->parts[i];
        STROBE_ASSERT(part->head >= from && part->head < end);
        memcpy(to, from, (size_t)(part->head - from));
        to += part->head - from;
        struct strobe_bytes in = strobe_bytes_over(part->head, (size_t)(end - part->head));
        to = strobe_varint_put(to, strobe_get_varint(&in) + copy->options->proc_shift);
        from = in.at;
    }
    memcpy(to, from, (size_t)(end - from)); /* what stands behind the parts, too */
    to += end - from;
    STROBE_ASSERT((uint64_t)(to - copy->head) <= room);
    return (size_t)(to - copy->head);
}

/* The head as it is stored, before the body: compressed where that keeps the bounds of a block (docs/file-format.md). */
static enum strobe_err store_head(struct copy *copy, const uint8_t *raw, size_t n_head,
                                  struct strobe_block_head *head)
{
    const struct strobe_block *block = &copy->block;
    size_t bound = ZSTD_compressBound(n_head);
    if (STROBE_ARRAY_RESERVE(copy->stored, copy->stored_room, bound + n_head + block->n_body))
        return STROBE_ERR_NOMEM;
    size_t n = ZSTD_compress(copy->stored, bound, raw, n_head, 1);
    int is_small = ZSTD_isError(n) || n >= n_head || n_head > (1u << 20) + 256ull * n ||
                   block->ref.head.n_items > 1024 + 256ull * (n + block->n_body);
    if (is_small) {
        memcpy(copy->stored, raw, n_head);
        n = n_head;
    }
    head->head_raw = is_small ? 0 : (uint32_t)n_head;
    head->head_bytes = (uint32_t)n;
    memcpy(copy->stored + n, block->body, block->n_body);
    return n + block->n_body > STROBE_FILE_MAX_PAYLOAD ? STROBE_ERR_INVALID : STROBE_OK;
}

static enum strobe_err shift_events(struct copy *copy)
{
    struct strobe_block_head head = copy->block.ref.head;
    if (strobe_decode_parts(&copy->block, &copy->events))
        return STROBE_OK; /* damaged: nobody knows whose it is */
    size_t n_head = shift_head(copy);
    enum strobe_err err = n_head ? store_head(copy, copy->head, n_head, &head) : STROBE_ERR_NOMEM;
    return err ? err : put_block(copy, &head, copy->stored);
}

/* ---- levels of detail of many blocks ---- */

static enum strobe_err copy_lod(struct copy *copy)
{
    struct strobe_block_head head = copy->block.ref.head;
    enum strobe_err err = strobe_copy_lod_head(&copy->lod, &copy->block, copy->options->proc_shift);
    if (!err)
        err = store_head(copy, copy->lod.head, copy->lod.n_head, &head);
    return err == STROBE_ERR_NOTFOUND ? STROBE_OK
           : err                      ? err
                                      : put_block(copy, &head, copy->stored);
}

/* ---- some of the parts ---- */

static int fits(const struct strobe_encoder *enc, const struct strobe_part *part)
{
    return part->n_events <= STROBE_BLOCK_EVENTS_MAX - enc->n_events &&
           part->n_big <= STROBE_BIG_BYTES - (size_t)(enc->big_at - enc->big) &&
           part->n_side <= STROBE_SIDE_BYTES - (size_t)(enc->side_at - enc->side) &&
           enc->n_head + enc->n_ends + enc->n_nested + part->n_head + part->n_ends +
                   part->n_nested <
               STROBE_FILE_MAX_PAYLOAD;
}

static void copy_columns(struct strobe_encoder *enc, const struct strobe_events *events,
                         const struct strobe_part *part)
{
    const uint8_t *sym = events->stream[STROBE_SYM] + part->first_event;
    const uint8_t *lo = events->stream[STROBE_LO] + part->first_event;
    const uint8_t *hi = events->stream[STROBE_HI] + part->first_event;
    for (uint32_t i = 0; i < part->n_events; i++) {
        enc->sym[enc->n_events] = sym[i];
        enc->dt[enc->n_events++] = (uint16_t)(lo[i] | hi[i] << 8);
        enc->by_kind[strobe_kind_of_sym(sym[i])]++;
        enc->n_zones += sym[i] <= STROBE_KIND_ZONE_END_POP;
    }
    if (part->n_big)
        memcpy(enc->big_at, events->stream[STROBE_BIG] + part->big_at, part->n_big);
    if (part->n_side)
        memcpy(enc->side_at, events->stream[STROBE_SIDE] + part->side_at, part->n_side);
    enc->big_at += part->n_big;
    enc->side_at += part->n_side;
    STROBE_ASSERT(enc->n_events <= STROBE_BLOCK_EVENTS_MAX);
    STROBE_ASSERT(enc->big_at - enc->big <= STROBE_BIG_BYTES);
    STROBE_ASSERT(enc->side_at - enc->side <= STROBE_SIDE_BYTES);
}

/* A part as it is, behind those that the encoder has. INVALID: it does not fit. */
static enum strobe_err copy_part(struct strobe_encoder *enc, const struct strobe_events *events,
                                 const struct strobe_part *part)
{
    STROBE_ASSERT(!enc->track); /* none is under construction */
    STROBE_ASSERT(part->first_event + part->n_events <= events->n_events);
    STROBE_ASSERT(part->big_at + part->n_big <= events->n_stream[STROBE_BIG]);
    STROBE_ASSERT(part->side_at + part->n_side <= events->n_stream[STROBE_SIDE]);
    if (!fits(enc, part))
        return STROBE_ERR_INVALID;
    if (!strobe_encode_head_room(enc, part->n_head) ||
        !strobe_encode_ends_room(enc, part->n_ends + 2ull) ||
        !strobe_encode_nested_room(enc, part->n_nested))
        return STROBE_ERR_NOMEM;
    memcpy(enc->head + enc->n_head, part->head, part->n_head);
    enc->n_head += part->n_head;
    if (part->ends) {
        memcpy(enc->ends + enc->n_ends, part->ends - 2, part->n_ends + 2ull); /* with their size */
        enc->n_ends += part->n_ends + 2ull;
    }
    if (part->n_nested)
        memcpy(enc->nested + enc->n_nested, part->nested, part->n_nested);
    enc->n_nested += part->n_nested;
    if (part->n_events) {
        uint64_t begin = part->first_tick - part->start_early;
        enc->tick_min = begin < enc->tick_min ? begin : enc->tick_min;
        enc->tick_max = part->last_tick > enc->tick_max ? part->last_tick : enc->tick_max;
    }
    copy_columns(enc, events, part);
    enc->n_parts++;
    enc->log.failed = true; /* says nothing for LOD blocks: the file gets none */
    return STROBE_OK;
}

static enum strobe_err copy_some_parts(struct copy *copy)
{
    enum strobe_err err = strobe_decode_streams(&copy->block, STROBE_ALL_STREAMS, &copy->events);
    for (uint32_t i = 0; i < copy->events.n_parts && !err; i++)
        if (keeps_part(copy, &copy->events.parts[i]))
            err = copy_part(&copy->enc, &copy->events, &copy->events.parts[i]);
    if (err == STROBE_ERR_CORRUPT || err == STROBE_ERR_INVALID) {
        strobe_encode_give_up(&copy->enc);
        return STROBE_OK;
    }
    return err ? err : strobe_file_put_events(copy->to, &copy->enc);
}

static enum strobe_err copy_events(struct copy *copy)
{
    uint32_t n_kept = 0;
    if (strobe_decode_parts(&copy->block, &copy->events))
        return STROBE_OK; /* damaged: nobody knows whose it is */
    for (uint32_t i = 0; i < copy->events.n_parts; i++)
        n_kept += keeps_part(copy, &copy->events.parts[i]) != 0;
    if (!n_kept)
        return STROBE_OK;
    return n_kept == copy->events.n_parts ? copy_block(copy) : copy_some_parts(copy);
}

/* ---- some of the records ---- */

/* Kinds whose first field is a process: all of wire/kinds.h, and those of the trace's facts that name one. */
static int has_process(uint64_t kind)
{
    static const char *const field_names[STROBE_FACT_COUNT] = {
#define X(name, number, text, fields, field_names) [number] = field_names,
        STROBE_FACT_LIST(X) STROBE_FACT_LATER_LIST(X)
#undef X
    };
    if (kind >= STROBE_META_PROCESS && kind < STROBE_META_COUNT)
        return 1;
    return kind < STROBE_FACT_COUNT && field_names[kind] &&
           !strncmp(field_names[kind], "proc,", strlen("proc,"));
}

/* What only the trace has that the others are put to: one clock, one host. */
static int is_of_file(uint64_t kind)
{
    return kind == STROBE_FACT_CLOCK_SYNC || kind == STROBE_FACT_HOST || kind == STROBE_FACT_POOL ||
           kind == STROBE_FACT_CLOCK_ID || kind == STROBE_FACT_CLOCK_EXCHANGE ||
           kind == STROBE_FACT_CLOCK_PLACED;
}

/* Whether the field behind the process is one of its tracks. */
static int has_track(uint64_t kind)
{
    return kind == STROBE_META_THREAD || kind == STROBE_META_THREAD_NAME ||
           kind == STROBE_META_THREAD_GROUP || kind == STROBE_META_DEVICE_LANE ||
           kind == STROBE_FACT_THREAD_END || kind == STROBE_FACT_LOSS;
}

/* Whether a record is in the result at all; `fields`: those behind its process. */
static int keeps_record(const struct copy *copy, uint64_t kind, uint64_t proc,
                        struct strobe_bytes fields)
{
    const struct strobe_copy_options *options = copy->options;
    if (options->no_clock && is_of_file(kind))
        return 0;
    if (options->retime && kind == STROBE_FACT_CLOCK_MAP)
        return 0;
    if (kind == STROBE_FACT_CLOCK_PLACED)
        return 1; /* of a host, whichever of its processes stay */
    if (!has_process(kind) || !options->keeps)
        return 1;
    return keeps_track(copy, proc, has_track(kind) ? strobe_get_varint(&fields) : 0);
}

static void put_record(struct strobe_records *to, uint64_t kind, const uint8_t *data, size_t n)
{
    strobe_records_begin(to, (uint32_t)kind);
    strobe_records_raw(to, data, n);
    strobe_records_end(to);
}

/* Pieces of a long text go where the record that they belong to goes. */
static void take_pieces(struct copy *copy, int is_kept)
{
    if (is_kept && copy->pieces.n_records) {
        struct strobe_bytes in = strobe_bytes_over(copy->pieces.bytes, copy->pieces.n_bytes);
        while (strobe_bytes_left(&in)) {
            uint64_t kind = strobe_get_varint(&in), n = strobe_get_varint(&in);
            const uint8_t *data = strobe_get_bytes(&in, n);
            STROBE_ASSERT(copy->pieces.failed || (data && kind == STROBE_KIND_STR_PIECE));
            if (data)
                put_record(&copy->records, kind, data, (size_t)n);
        }
    }
    strobe_records_reset(&copy->pieces);
}

static enum strobe_err copy_records(struct copy *copy)
{
    STROBE_ASSERT(!copy->records.n_records);
    if (strobe_record_walk_start(&copy->block, &copy->schema, &copy->walk))
        return STROBE_OK;
    struct strobe_bytes in = copy->walk.in;
    while (strobe_bytes_left(&in)) {
        uint64_t kind = strobe_get_varint(&in), n = strobe_get_varint(&in);
        const uint8_t *data = strobe_get_bytes(&in, n);
        if (!data)
            break;
        if (kind == STROBE_KIND_STR_PIECE) {
            put_record(&copy->pieces, kind, data, (size_t)n);
            continue;
        }
        struct strobe_bytes fields = strobe_bytes_over(data, (size_t)n);
        uint64_t proc = has_process(kind) ? strobe_get_varint(&fields) : 0;
        int is_kept = keeps_record(copy, kind, proc, fields);
        take_pieces(copy, is_kept);
        if (!is_kept)
            continue;
        strobe_records_begin(&copy->records, (uint32_t)kind);
        if (has_process(kind))
            strobe_records_u(&copy->records, proc + copy->options->proc_shift);
        if (copy->options->retime)
            strobe_retimer_fields(&copy->retimer, kind, proc, fields, &copy->schema,
                                  &copy->records);
        else
            strobe_records_raw(&copy->records, fields.at, strobe_bytes_left(&fields));
        strobe_records_end(&copy->records);
    }
    return strobe_file_put_records(copy->to, &copy->records);
}

/* ---- another clock ---- */

static enum strobe_err retime_events(struct copy *copy)
{
    enum strobe_err err = strobe_decode_parts(&copy->block, &copy->events);
    if (!err)
        err = strobe_decode_streams(&copy->block, STROBE_ALL_STREAMS, &copy->events);
    if (err)
        return err == STROBE_ERR_CORRUPT ? STROBE_OK : err;
    return strobe_retimer_events(&copy->retimer, &copy->events, &copy->schema, copy->to);
}

/* ---- all ---- */

static enum strobe_err copy_one(struct copy *copy)
{
    const struct strobe_copy_options *options = copy->options;
    if (copy->block.ref.head.type == STROBE_BLOCK_LOD)
        return copy_lod(copy);
    if (!options->keeps && !options->proc_shift && !options->no_clock && !options->retime &&
        !(cuts(copy) && copy->block.ref.head.type == STROBE_BLOCK_EVENTS))
        return copy_block(copy);
    if (copy->block.ref.head.type != STROBE_BLOCK_EVENTS)
        return copy_records(copy);
    return options->retime                ? retime_events(copy)
           : options->proc_shift          ? shift_events(copy)
           : options->keeps || cuts(copy) ? copy_events(copy)
                                          : copy_block(copy);
}

static void free_copy(struct copy *copy)
{
    strobe_block_free(&copy->block);
    strobe_events_free(&copy->events);
    strobe_encode_free(&copy->enc);
    strobe_record_walk_free(&copy->walk);
    strobe_records_free(&copy->records);
    strobe_records_free(&copy->pieces);
    free(copy->head);
    free(copy->stored);
    strobe_retimer_free(&copy->retimer);
    strobe_copy_lod_free(&copy->lod);
}

enum strobe_err strobe_copy_blocks(struct strobe_file *from,
                                   const struct strobe_copy_options *options,
                                   struct strobe_file_writer *to)
{
    const struct strobe_block_filter filter = {.type = options->type,
                                               .by_tick = options->by_tick,
                                               .tick_min = options->tick_min,
                                               .tick_max = options->tick_max,
                                               .with_lod = options->lod};
    struct copy copy = {.options = options, .to = to};
    struct strobe_block_iter *iter = NULL;
    STROBE_ASSERT(!options->type || options->type == STROBE_BLOCK_EVENTS ||
                  options->type == STROBE_BLOCK_RECORDS);
    STROBE_ASSERT(!options->keeps || !options->proc_shift);
    STROBE_ASSERT(!options->keeps || !options->retime);
    STROBE_ASSERT(!options->lod || (!options->keeps && !options->retime && !options->by_tick));
    copy.retimer = (struct strobe_retimer){.map = options->retime,
                                           .proc_shift = options->proc_shift,
                                           .has_own_clock = options->has_own_clock,
                                           .context = options->context};
    strobe_schema_read(strobe_file_facts(from)->schema, &copy.schema);
    STROBE_ASSERT(!cuts(&copy) || (!options->proc_shift && !options->retime));
    enum strobe_err err = options->keeps || cuts(&copy) ? strobe_encode_init(&copy.enc) : STROBE_OK;
    if (!err)
        err = strobe_file_iterate(from, &filter, &iter);
    while (!err && (err = strobe_file_next_block(iter, &copy.block)) == STROBE_OK)
        err = copy_one(&copy);
    STROBE_ASSERT(err != STROBE_ERR_END || (!copy.enc.n_parts && !copy.records.n_records));
    strobe_file_end_iterate(iter);
    free_copy(&copy);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}
