/* answer_memory.c - memory in use: the figures of `strobe memory`.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "engine/tracks.h"
#include "query/heap_rows.h"

enum { MOST_BUCKETS = 4096, MOST_BLOCKS = 10000, MOST_ROWS = 100000 };

/* Of the last question. */
struct strobe_kept_memory {
    char *key; /* owned: of the question that it answers */
    struct strobe_heap heap;
};

void strobe_kept_memory_free(struct strobe_kept_memory *kept)
{
    if (!kept)
        return;
    strobe_heap_free(&kept->heap);
    free(kept->key);
    free(kept);
}

static uint32_t power_of_two(uint64_t n)
{
    uint32_t power = n ? 1 : 0;
    while (power && power < n)
        power *= 2;
    return power;
}

/* The figures that were kept, or new ones. */
static enum strobe_err keep(struct strobe_engine *engine, const struct strobe_json *question)
{
    static const char *const members[] = {"from", "to", "blocks", "buckets", NULL};
    char *key = strobe_engine_key(engine, question, members);
    if (!key)
        return STROBE_ERR_NOMEM;
    if (engine->memory && !strcmp(engine->memory->key, key)) {
        free(key);
        return STROBE_OK;
    }
    strobe_kept_memory_free(engine->memory);
    struct strobe_kept_memory *kept = engine->memory = calloc(1, sizeof *kept);
    if (!kept) {
        free(key);
        return STROBE_ERR_NOMEM;
    }
    kept->key = key;
    struct strobe_heap_options options = {
        .n_blocks = (uint32_t)strobe_engine_count(question, "blocks", 0, MOST_BLOCKS),
        .n_buckets = power_of_two(strobe_engine_count(question, "buckets", 0, MOST_BUCKETS))};
    strobe_engine_span(engine, question, &options.from, &options.to);
    enum strobe_err err = strobe_heap_run(engine->trace, &options, &kept->heap);
    if (!err)
        err = strobe_stack_symbols_load(engine->trace, &engine->symbols);
    if (err) {
        strobe_kept_memory_free(kept);
        engine->memory = NULL;
    }
    return err;
}

static void put_sums(struct strobe_reply *reply, const struct strobe_heap_sums *sums,
                     uint64_t peak_bytes)
{
    strobe_reply_u64(reply, "allocs", sums->n_allocs);
    strobe_reply_u64(reply, "frees", sums->n_frees);
    strobe_reply_u64(reply, "bytes", sums->bytes);
    strobe_reply_u64(reply, "temporary", sums->n_temporary);
    strobe_reply_u64(reply, "peak_bytes", peak_bytes);
    strobe_reply_u64(reply, "live", sums->n_live);
    strobe_reply_u64(reply, "live_bytes", sums->live_bytes);
    strobe_reply_u64(reply, "before", sums->n_before);
    strobe_reply_u64(reply, "before_bytes", sums->before_bytes);
}

static void put_pools(struct strobe_engine *engine, const struct strobe_heap *heap,
                      struct strobe_reply *reply)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    strobe_reply_open(reply, "pools", '[');
    for (uint32_t i = 0; i < heap->pool_ids.n; i++) {
        const struct strobe_heap_pool *pool = &heap->pools[i];
        const char *name = strobe_heap_pool_name(engine->trace, heap, i, room, &n);
        strobe_reply_open(reply, "", '{');
        strobe_reply_text(reply, "name", name, n);
        strobe_reply_u64(reply, "track", strobe_track_of_process(engine, pool->process));
        strobe_reply_u64(reply, "pid", engine->trace->processes[pool->process].pid);
        put_sums(reply, &pool->sums, pool->peak_bytes);
        strobe_reply_number(reply, "peak_at", strobe_engine_ns(engine, pool->peak_tick));
        strobe_reply_u64(reply, "unknown_frees", pool->n_unknown_frees);
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
}

/* The number that a text of the question stands for. */
static unsigned number_of(const struct strobe_json *question, const char *member,
                          const char *(*name)(unsigned))
{
    uint32_t value = strobe_json_member(question, 0, member);
    for (unsigned i = 0; value && name(i); i++)
        if (strobe_json_is(question, value, name(i)))
            return i;
    return 0;
}

static void put_row_arrays(struct strobe_reply *reply, const struct strobe_heap_rows *rows,
                           uint32_t n)
{
    double *allocs = strobe_reply_f64(reply, "allocs", n),
           *frees = strobe_reply_f64(reply, "frees", n),
           *bytes = strobe_reply_f64(reply, "bytes", n),
           *temporary = strobe_reply_f64(reply, "temporary", n),
           *peak = strobe_reply_f64(reply, "peak_bytes", n),
           *live = strobe_reply_f64(reply, "live", n),
           *live_bytes = strobe_reply_f64(reply, "live_bytes", n),
           *before_bytes = strobe_reply_f64(reply, "before_bytes", n);
    for (uint32_t i = 0; !reply->failed && i < n; i++) {
        const struct strobe_heap_row *row = &rows->rows[i];
        allocs[i] = (double)row->sums.n_allocs;
        frees[i] = (double)row->sums.n_frees;
        bytes[i] = (double)row->sums.bytes;
        temporary[i] = (double)row->sums.n_temporary;
        peak[i] = (double)row->peak_bytes;
        live[i] = (double)row->sums.n_live;
        live_bytes[i] = (double)row->sums.live_bytes;
        before_bytes[i] = (double)row->sums.before_bytes;
    }
}

static enum strobe_err put_rows(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply)
{
    const struct strobe_heap_names names = {engine, strobe_engine_functions};
    struct strobe_heap_rows rows = {0};
    uint64_t limit = strobe_engine_count(question, "limit", 1000, MOST_ROWS);
    enum strobe_err err = strobe_heap_rows_make(
        engine->trace, &engine->memory->heap, number_of(question, "by", strobe_heap_by_name),
        number_of(question, "order", strobe_heap_order_name), &names, &rows);
    uint32_t n = rows.ids.n < limit ? rows.ids.n : (uint32_t)limit, n_text;
    if (!err) {
        uint32_t *track = strobe_reply_u32(reply, "track", n);
        strobe_reply_open(reply, "names", '[');
        for (uint32_t i = 0; !reply->failed && i < n; i++) {
            const char *text = strobe_texts_get(&rows.texts, rows.rows[i].name, &n_text);
            strobe_reply_text(reply, "", text, n_text);
            track[i] = strobe_track_of_process(engine, rows.rows[i].process);
        }
        strobe_reply_close(reply, ']');
        put_row_arrays(reply, &rows, n);
        strobe_reply_u64(reply, "n_rows", rows.ids.n);
    }
    strobe_heap_rows_free(&rows);
    return err;
}

static enum strobe_err put_blocks(struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_heap *heap = &engine->memory->heap;
    const struct strobe_heap_names names = {engine, strobe_engine_functions};
    char *room = malloc(STROBE_HEAP_NAME_ROOM), address[32];
    if (!room)
        return STROBE_ERR_NOMEM;
    strobe_reply_open(reply, "blocks", '[');
    for (uint32_t i = 0; !reply->failed && i < heap->n_blocks; i++) {
        const struct strobe_heap_block *block = &heap->blocks[i];
        struct strobe_out text = {.at = NULL};
        size_t n = strobe_heap_site_name(engine->trace, heap, block->site, STROBE_HEAP_BY_STACK,
                                         &names, room);
        strobe_out_hex(&text, block->address);
        size_t n_address = text.len < sizeof address ? text.len : 0;
        memcpy(address, text.at ? text.at : "", n_address);
        strobe_out_free(&text);
        strobe_reply_open(reply, "", '{');
        strobe_reply_text(reply, "address", address, n_address);
        strobe_reply_u64(reply, "size", block->size);
        strobe_reply_u64(reply, "weight", block->weight);
        strobe_reply_number(reply, "t", strobe_engine_ns(engine, block->tick));
        strobe_reply_u64(reply, "track", strobe_track_of_thread(engine, block->thread));
        strobe_reply_text(reply, "stack", room, n);
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
    free(room);
    return STROBE_OK;
}

static void put_series(struct strobe_engine *engine, struct strobe_reply *reply)
{
    const struct strobe_heap *heap = &engine->memory->heap;
    uint32_t n = heap->series.n;
    double *t = strobe_reply_f64(reply, "t", n), *most = strobe_reply_f64(reply, "most", n),
           *last = strobe_reply_f64(reply, "last", n);
    for (uint32_t i = 0; !reply->failed && i < n; i++) {
        t[i] = strobe_engine_ns(engine, heap->series_first + ((uint64_t)i << heap->series_shift));
        most[i] = (double)heap->series.most[i];
        last[i] = (double)heap->series.last[i];
    }
    strobe_reply_number(reply, "bucket_ns",
                        strobe_engine_duration(engine, 1ull << heap->series_shift));
}

void strobe_engine_answer_memory(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply)
{
    enum strobe_err err = keep(engine, question);
    if (err) {
        strobe_engine_answer_error(reply, strobe_err_text(err));
        return;
    }
    const struct strobe_heap *heap = &engine->memory->heap;
    put_sums(reply, &heap->sums, heap->peak_bytes);
    strobe_reply_number(reply, "peak_at", strobe_engine_ns(engine, heap->peak_tick));
    strobe_reply_u64(reply, "unknown_frees", heap->n_unknown_frees);
    strobe_reply_u64(reply, "sampled", heap->n_sampled);
    put_pools(engine, heap, reply);
    put_series(engine, reply);
    if (put_rows(engine, question, reply) || put_blocks(engine, reply))
        reply->failed = 1;
}
