/* view.c - opening, and stores of what was decoded of blocks.  SPDX-License-Identifier: MIT */
#include "query/view.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "base/assert.h"
#include "query/pixels_open.h"

struct strobe_view_stored {
    uint32_t block; /* index + 1, 0: none */
    uint64_t used;
    struct strobe_block bytes;
    struct strobe_events events;
};

struct strobe_view_table {
    uint32_t block; /* index + 1 */
    uint32_t n, room;
    struct strobe_view_part *parts; /* owned */
};

enum { SMALL_TABLE = 32 }; /* parts; larger ones are kept while there is room */

enum strobe_err strobe_view_open(struct strobe_trace *trace, struct strobe_view **out)
{
    *out = NULL;
    struct strobe_view *view = calloc(1, sizeof *view);
    if (!view)
        return STROBE_ERR_NOMEM;
    view->trace = trace;
    view->tick_first = UINT64_MAX;
    strobe_file_expect_jumps(trace->file);
    view->stored = calloc(STROBE_VIEW_STORED + 1, sizeof *view->stored);
    view->tables = calloc(STROBE_VIEW_TABLES + 1, sizeof *view->tables);
    view->known_open = strobe_pixels_known_new();
    enum strobe_err err = STROBE_ERR_NOMEM;
    if (view->stored && view->tables && view->known_open)
        err = strobe_view_list(view);
    if (err) {
        strobe_view_close(view);
        return err;
    }
    *out = view;
    return STROBE_OK;
}

void strobe_view_close(struct strobe_view *view)
{
    if (!view)
        return;
    for (int i = 0; view->stored && i <= STROBE_VIEW_STORED; i++) {
        strobe_block_free(&view->stored[i].bytes);
        strobe_events_free(&view->stored[i].events);
    }
    for (int i = 0; view->tables && i <= STROBE_VIEW_TABLES; i++)
        free(view->tables[i].parts);
    for (int i = 0; i < 2; i++)
        ZSTD_freeDCtx(view->zstd[i]);
    strobe_block_free(&view->scratch);
    strobe_events_free(&view->scratch_events);
    strobe_lod_reader_free(&view->lod_reader);
    free(view->stored);
    free(view->tables);
    free(view->known_open);
    strobe_view_unlist(view);
    free(view->depths);
    free(view);
}

enum strobe_err strobe_view_refresh(struct strobe_view *view, int *grown)
{
    const struct strobe_file_facts *facts = strobe_file_facts(view->trace->file);
    uint64_t n_bytes = facts->n_bytes;
    int closed = facts->closed;
    enum strobe_err err = strobe_trace_refresh(view->trace);
    if (!err)
        err = strobe_view_list(view);
    *grown = facts->n_bytes != n_bytes || facts->closed != closed;
    return err;
}

/* ---- threads ---- */

uint32_t strobe_view_thread(struct strobe_view *view, uint64_t proc, uint64_t track)
{
    uint32_t process = strobe_trace_process(view->trace, proc);
    return process == STROBE_IDMAP_NONE ? process
                                        : strobe_trace_thread(view->trace, process, track);
}

void strobe_view_note_depth(struct strobe_view *view, uint32_t thread, uint64_t n_depths)
{
    if (!STROBE_ARRAY_REACH(view->depths, view->depths_room, thread) &&
        view->depths[thread] < n_depths)
        view->depths[thread] = (uint32_t)n_depths;
}

uint32_t strobe_view_depths(const struct strobe_view *view, uint32_t thread)
{
    return thread < view->depths_room && view->depths[thread] ? view->depths[thread] : 1;
}

/* ---- blocks ---- */

enum strobe_err strobe_view_lod(struct strobe_view *view, uint32_t lod, int whole)
{
    struct strobe_block_ref ref;
    struct strobe_file *file = view->trace->file;
    enum strobe_err err = strobe_file_find(file, view->lods[lod].offset, &ref);
    view->head_block = 0;
    if (!err)
        err = whole ? strobe_file_load(file, &ref, &view->scratch)
                    : strobe_file_load_head(file, &ref, &view->scratch);
    return err ? err : strobe_lod_start(&view->lod_reader, &view->scratch);
}

const struct strobe_events *strobe_view_head(struct strobe_view *view, uint32_t block)
{
    struct strobe_block_ref ref;
    struct strobe_file *file = view->trace->file;
    if (view->head_block == block + 1)
        return &view->scratch_events;
    enum strobe_err err = strobe_file_find(file, strobe_view_block(view, block).offset, &ref);
    view->head_block = 0;
    if (!err)
        err = strobe_file_load_head(file, &ref, &view->scratch);
    if (!err)
        err = strobe_decode_parts(&view->scratch, &view->scratch_events);
    if (err)
        return NULL;
    view->head_block = block + 1;
    return &view->scratch_events;
}

/* The view's decoders go to a block for as long as it is decoded: each has 160 KiB. */
static void lend_decoders(struct strobe_view *view, struct strobe_view_stored *slot)
{
    STROBE_ASSERT(!slot->bytes.zstd && !slot->events.zstd);
    slot->bytes.zstd = view->zstd[0];
    slot->events.zstd = view->zstd[1];
    view->zstd[0] = view->zstd[1] = NULL;
}

static void take_decoders(struct strobe_view *view, struct strobe_view_stored *slot)
{
    STROBE_ASSERT(!view->zstd[0] && !view->zstd[1]);
    view->zstd[0] = slot->bytes.zstd;
    view->zstd[1] = slot->events.zstd;
    slot->bytes.zstd = slot->events.zstd = NULL;
}

static enum strobe_err load(struct strobe_view *view, struct strobe_view_stored *slot,
                            uint32_t block)
{
    struct strobe_block_ref ref;
    struct strobe_file *file = view->trace->file;
    enum strobe_err err = strobe_file_find(file, strobe_view_block(view, block).offset, &ref);
    lend_decoders(view, slot);
    if (!err)
        err = strobe_file_load(file, &ref, &slot->bytes);
    if (!err)
        err = strobe_decode_parts(&slot->bytes, &slot->events);
    if (!err)
        err = strobe_decode_streams(&slot->bytes, STROBE_ALL_STREAMS, &slot->events);
    take_decoders(view, slot);
    return err;
}

static size_t bytes_of(const struct strobe_view_stored *slot)
{
    const struct strobe_events *events = &slot->events;
    return slot->bytes.stored_room + slot->bytes.raw_room + events->raw_room +
           events->parts_room * sizeof *events->parts +
           events->stacks_room * sizeof *events->stacks + events->locs_room * sizeof *events->locs;
}

/* Blocks may be large: those that were not asked for lately go when all together are too large. */
static void forget_oldest(struct strobe_view *view)
{
    size_t n_bytes = 0;
    for (uint32_t i = 0; i < STROBE_VIEW_STORED; i++)
        n_bytes += bytes_of(&view->stored[i]);
    while (n_bytes > STROBE_VIEW_BYTES) {
        struct strobe_view_stored *oldest = NULL;
        for (uint32_t i = 0; i < STROBE_VIEW_STORED; i++)
            if (bytes_of(&view->stored[i]) && (!oldest || view->stored[i].used < oldest->used))
                oldest = &view->stored[i];
        if (!oldest || oldest->used + STROBE_VIEW_NEWEST > view->clock)
            return;
        n_bytes -= bytes_of(oldest);
        strobe_block_free(&oldest->bytes);
        strobe_events_free(&oldest->events);
        memset(oldest, 0, sizeof *oldest);
    }
}

const struct strobe_events *strobe_view_events(struct strobe_view *view, uint32_t block)
{
    struct strobe_view_stored *oldest = &view->stored[0];
    for (uint32_t i = 0; i < STROBE_VIEW_STORED; i++) {
        struct strobe_view_stored *slot = &view->stored[i];
        if (slot->block == block + 1) {
            slot->used = ++view->clock;
            return &slot->events;
        }
        if (slot->used < oldest->used)
            oldest = slot;
    }
    oldest->block = 0;
    if (load(view, oldest, block) != STROBE_OK)
        return NULL;
    oldest->block = block + 1;
    oldest->used = ++view->clock;
    forget_oldest(view);
    return &oldest->events;
}

const struct strobe_events *strobe_view_glance(struct strobe_view *view, uint32_t block)
{
    struct strobe_view_stored *slot = &view->stored[STROBE_VIEW_STORED];
    return load(view, slot, block) == STROBE_OK ? &slot->events : NULL;
}

static uint32_t part_depths(const struct strobe_part *part, uint32_t n_summed)
{
    uint64_t n_open = part->n_below + part->n_stack;
    return n_open > n_summed ? (uint32_t)n_open : n_summed;
}

/* As much as it needs and no more: there are many tables, mostly small ones. */
static int make_room(struct strobe_view *view, struct strobe_view_table *table, uint32_t n)
{
    if (n <= table->room)
        return 1;
    view->table_parts += n - table->room;
    struct strobe_view_part *parts = strobe_array_resize(table->parts, n, sizeof *parts);
    if (!parts)
        return 0;
    table->parts = parts;
    table->room = n;
    return 1;
}

const struct strobe_view_part *strobe_view_parts(struct strobe_view *view, uint32_t block,
                                                 uint32_t *n)
{
    struct strobe_view_table *table = &view->tables[block % STROBE_VIEW_TABLES];
    *n = 0;
    if (table->block == block + 1) {
        *n = table->n;
        return table->parts;
    }
    const struct strobe_events *events = strobe_view_head(view, block);
    if (events && events->n_parts > SMALL_TABLE && events->n_parts > table->room &&
        view->table_parts + events->n_parts > STROBE_VIEW_PARTS)
        table = &view->tables[STROBE_VIEW_TABLES]; /* there is no room to keep it */
    table->block = 0;
    table->n = 0;
    if (!events || !make_room(view, table, events->n_parts))
        return NULL;
    for (uint32_t i = 0; i < events->n_parts; i++) {
        const struct strobe_part *part = &events->parts[i];
        if (!part->n_events)
            continue;
        struct strobe_part_lod lod;
        int has_lod = strobe_part_lod_start(part, &lod) == STROBE_OK;
        table->parts[table->n++] = (struct strobe_view_part){
            .first_tick = part->first_tick,
            .last_tick = part->last_tick,
            .early_tick = part->first_tick - part->start_early,
            .thread = strobe_view_thread(view, part->proc, part->track),
            .n_below = (uint32_t)part->n_below,
            .depth = (uint32_t)part->n_below + part->n_stack,
            .number = i,
            .n_depths = part_depths(part, has_lod ? lod.n_depths : 0),
            .shift = has_lod ? lod.shift : STROBE_VIEW_NO_SUMMARY,
        };
    }
    if (table != &view->tables[STROBE_VIEW_TABLES])
        table->block = block + 1;
    *n = table->n;
    return table->parts;
}
