/* cut.c - copies the blocks of a range as they are. Where only some processes are wanted, blocks that others are in, too,
 * and records are made anew without those: what was not chosen is not in the file.
 * SPDX-License-Identifier: MIT */
#include "query/cut.h"

#include "file/decode.h"
#include "file/file_write.h"

struct cut {
    const struct strobe_trace *trace;
    const struct strobe_cut_options *options;
    struct strobe_file_writer *to;
    struct strobe_block block;
    struct strobe_events events;
    struct strobe_encoder enc; /* of parts that go on */
    struct strobe_record_walk walk;
    struct strobe_records records, pieces; /* that go on; whose record has not come yet */
};

/* One that the trace doesn't know is not somebody else's. */
static int is_chosen(const struct cut *cut, uint64_t proc)
{
    uint32_t process = strobe_idmap_find(&cut->trace->process_ids, 0, proc);
    return process == STROBE_IDMAP_NONE || process >= cut->options->n_processes ||
           cut->options->processes[process];
}

static enum strobe_err copy_block(struct cut *cut)
{
    const struct strobe_block *block = &cut->block;
    const struct strobe_index_entry entry = {.n_events = block->ref.head.n_items};
    return strobe_file_put_block(cut->to, &block->ref.head, block->stored, &entry);
}

/* ---- events ---- */

static enum strobe_err copy_parts(struct cut *cut)
{
    enum strobe_err err = strobe_decode_streams(&cut->block, STROBE_ALL_STREAMS, &cut->events);
    for (uint32_t i = 0; i < cut->events.n_parts && !err; i++)
        if (is_chosen(cut, cut->events.parts[i].proc))
            err = strobe_encode_copy_part(&cut->enc, &cut->events, &cut->events.parts[i]);
    if (err == STROBE_ERR_CORRUPT || err == STROBE_ERR_INVALID) { /* as every reader does with it */
        strobe_encode_give_up(&cut->enc);
        return STROBE_OK;
    }
    return err ? err : strobe_file_put_events(cut->to, &cut->enc);
}

static enum strobe_err copy_events(struct cut *cut)
{
    uint32_t n_chosen = 0;
    if (strobe_decode_parts(&cut->block, &cut->events))
        return STROBE_OK; /* damaged: nobody knows whose it is */
    for (uint32_t i = 0; i < cut->events.n_parts; i++)
        n_chosen += is_chosen(cut, cut->events.parts[i].proc) != 0;
    if (!n_chosen)
        return STROBE_OK;
    return n_chosen == cut->events.n_parts ? copy_block(cut) : copy_parts(cut);
}

/* ---- records ---- */

/* Kinds whose first field is a process. */
static int has_process(uint64_t kind)
{
    return (kind >= STROBE_META_PROCESS && kind <= STROBE_FACT_POOL) || kind == STROBE_FACT_LOSS ||
           kind == STROBE_FACT_PROCESS_END || kind == STROBE_FACT_THREAD_END ||
           kind == STROBE_FACT_NOTE || kind == STROBE_FACT_CLOCK_MAP ||
           kind == STROBE_FACT_OUTER_PID;
}

static void put_record(struct strobe_records *to, uint64_t kind, const uint8_t *data, size_t n)
{
    strobe_records_begin(to, (uint32_t)kind);
    strobe_records_raw(to, data, n);
    strobe_records_end(to);
}

/* Pieces of a long text go where the record that they belong to goes. */
static void take_pieces(struct cut *cut, int is_wanted)
{
    if (is_wanted && cut->pieces.n_records) {
        struct strobe_bytes in = strobe_bytes_over(cut->pieces.bytes, cut->pieces.n_bytes);
        while (strobe_bytes_left(&in)) {
            uint64_t kind = strobe_get_varint(&in), n = strobe_get_varint(&in);
            const uint8_t *data = strobe_get_bytes(&in, n);
            if (data)
                put_record(&cut->records, kind, data, (size_t)n);
        }
    }
    strobe_records_reset(&cut->pieces);
}

static enum strobe_err copy_records(struct cut *cut)
{
    if (strobe_record_walk_start(&cut->block, &cut->trace->schema, &cut->walk))
        return STROBE_OK;
    struct strobe_bytes in = cut->walk.in;
    while (strobe_bytes_left(&in)) {
        uint64_t kind = strobe_get_varint(&in), n = strobe_get_varint(&in);
        const uint8_t *data = strobe_get_bytes(&in, n);
        if (!data)
            break;
        if (kind == STROBE_KIND_STR_PIECE) {
            put_record(&cut->pieces, kind, data, (size_t)n);
            continue;
        }
        struct strobe_bytes fields = strobe_bytes_over(data, (size_t)n);
        int is_wanted = !has_process(kind) || is_chosen(cut, strobe_get_varint(&fields));
        take_pieces(cut, is_wanted);
        if (is_wanted)
            put_record(&cut->records, kind, data, (size_t)n);
    }
    return strobe_file_put_records(cut->to, &cut->records);
}

/* ---- all ---- */

static enum strobe_err copy_all(struct cut *cut)
{
    const struct strobe_cut_options *options = cut->options;
    const struct strobe_block_filter filter = {
        .by_tick = options->by_tick, .tick_min = options->tick_min, .tick_max = options->tick_max};
    struct strobe_block_iter *iter = NULL;
    enum strobe_err err = strobe_file_iterate(cut->trace->file, &filter, &iter);
    while (!err && (err = strobe_file_next_block(iter, &cut->block)) == STROBE_OK)
        err = !options->processes                               ? copy_block(cut)
              : cut->block.ref.head.type == STROBE_BLOCK_EVENTS ? copy_events(cut)
                                                                : copy_records(cut);
    strobe_file_end_iterate(iter);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

static void free_cut(struct cut *cut)
{
    strobe_block_free(&cut->block);
    strobe_events_free(&cut->events);
    strobe_encode_free(&cut->enc);
    strobe_record_walk_free(&cut->walk);
    strobe_records_free(&cut->records);
    strobe_records_free(&cut->pieces);
}

enum strobe_err strobe_cut_write(struct strobe_trace *trace,
                                 const struct strobe_cut_options *options, const char *path)
{
    struct cut cut = {.trace = trace, .options = options};
    enum strobe_err err = strobe_encode_init(&cut.enc);
    if (!err)
        err = strobe_file_create(path, "", 0, &cut.to);
    if (!err) {
        err = copy_all(&cut);
        /* the totals of a footer would have to be counted from the events */
        strobe_file_abandon(cut.to);
    }
    free_cut(&cut);
    return err;
}
