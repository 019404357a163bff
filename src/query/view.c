/* view.c - the blocks of a trace, and stores of what was decoded of them.  SPDX-License-Identifier: MIT */
#include "query/view.h"

#include <stdlib.h>
#include <string.h>

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

enum { MAX_TABLE_PARTS = 1024 }; /* kept; larger tables are made anew each time */

/* ---- the list of blocks ---- */

static enum strobe_err add_block(struct strobe_view *view, const struct strobe_block_ref *ref)
{
    if (!strobe_rows_reach((void **)&view->blocks, &view->blocks_room, view->n_blocks,
                           sizeof *view->blocks))
        return STROBE_ERR_NOMEM;
    view->blocks[view->n_blocks++] = (struct strobe_view_block){
        .offset = ref->offset,
        .tick_min = ref->head.tick_min,
        .tick_max = ref->head.tick_max,
        .kinds = ~0ull,
        .n_events = ref->head.n_items,
    };
    if (ref->head.n_items && ref->head.tick_min < view->tick_first)
        view->tick_first = ref->head.tick_min;
    if (ref->head.n_items && ref->head.tick_max > view->tick_last)
        view->tick_last = ref->head.tick_max;
    return STROBE_OK;
}

static uint32_t block_at(const struct strobe_view *view, uint64_t offset)
{
    uint32_t low = 0, high = view->n_blocks;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (view->blocks[mid].offset < offset)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void note_depth(struct strobe_view *view, uint32_t thread, uint64_t n_depths)
{
    if (strobe_rows_reach((void **)&view->depths, &view->depths_room, thread,
                          sizeof *view->depths) &&
        view->depths[thread] < n_depths)
        view->depths[thread] = (uint32_t)n_depths;
}

static void note_tracks(struct strobe_view *view)
{
    struct strobe_lod_track track;
    struct strobe_lod_lanes coarse, fine;
    while (strobe_lod_next(&view->lod_reader, &track, &coarse, &fine) == STROBE_OK) {
        uint32_t thread = strobe_view_thread(view, track.proc, track.track);
        if (thread != STROBE_IDMAP_NONE)
            note_depth(view, thread,
                       track.depth > coarse.n_depths ? (uint32_t)track.depth : coarse.n_depths);
    }
}

/* An LOD block covers what lies between its first block and itself, if as many are there as it says. */
static enum strobe_err add_lod(struct strobe_view *view, uint64_t offset)
{
    struct strobe_lod_reader *reader = &view->lod_reader;
    if (!strobe_rows_reach((void **)&view->lods, &view->lods_room, view->n_lods,
                           sizeof *view->lods))
        return STROBE_ERR_NOMEM;
    struct strobe_view_lod *lod = &view->lods[view->n_lods++];
    *lod = (struct strobe_view_lod){.offset = offset, .tick_min = UINT64_MAX};
    if (strobe_view_lod(view, view->n_lods - 1, 0) != STROBE_OK) {
        view->n_lods--;
        return STROBE_OK;
    }
    lod->first = block_at(view, reader->first_offset);
    lod->end = view->n_blocks;
    if (lod->end - lod->first != reader->n_blocks ||
        (lod->first < view->n_blocks && view->blocks[lod->first].lod)) {
        view->n_lods--;
        return STROBE_OK;
    }
    for (uint32_t i = lod->first; i < lod->end; i++) {
        struct strobe_view_block *block = &view->blocks[i];
        block->lod = view->n_lods;
        block->kinds = 0;
        lod->tick_min = block->tick_min < lod->tick_min ? block->tick_min : lod->tick_min;
        lod->tick_max = block->tick_max > lod->tick_max ? block->tick_max : lod->tick_max;
    }
    for (uint32_t i = 0; i < reader->n_masks; i++) {
        uint32_t block = block_at(view, reader->masks[i].offset);
        if (block >= lod->first && block < lod->end)
            view->blocks[block].kinds = reader->masks[i].kinds;
    }
    note_tracks(view);
    return STROBE_OK;
}

/* The newest blocks that no LOD block covers: their heads tell something of depths. */
static void note_loose(struct strobe_view *view)
{
    uint32_t n_looked = 0, n;
    for (uint32_t b = view->n_blocks; b-- > view->n_noted && n_looked < STROBE_VIEW_NOTED;) {
        if (view->blocks[b].lod)
            continue;
        const struct strobe_view_part *parts = strobe_view_parts(view, b, &n);
        for (uint32_t i = 0; i < n; i++)
            note_depth(view, parts[i].thread, parts[i].n_depths);
        n_looked++;
    }
    view->n_noted = view->n_blocks;
}

static enum strobe_err list_blocks(struct strobe_view *view)
{
    const struct strobe_block_filter filter = {
        .type = STROBE_BLOCK_EVENTS, .offset_min = view->next_offset, .with_lod = 1, .unread = 1};
    struct strobe_block_iter *iter;
    struct strobe_block_ref ref;
    enum strobe_err err = strobe_file_iterate(view->trace->file, &filter, &iter);
    while (!err && (err = strobe_file_next(iter, &ref)) == STROBE_OK) {
        err = ref.head.type == STROBE_BLOCK_LOD ? add_lod(view, ref.offset) : add_block(view, &ref);
        view->next_offset = ref.offset + ref.n_bytes;
    }
    strobe_file_end_iterate(iter);
    note_loose(view);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

enum strobe_err strobe_view_open(struct strobe_trace *trace, struct strobe_view **out)
{
    *out = NULL;
    struct strobe_view *view = calloc(1, sizeof *view);
    if (!view)
        return STROBE_ERR_NOMEM;
    view->trace = trace;
    view->tick_first = UINT64_MAX;
    strobe_file_expect_jumps(trace->file);
    view->stored = calloc(STROBE_VIEW_STORED, sizeof *view->stored);
    view->tables = calloc(STROBE_VIEW_TABLES, sizeof *view->tables);
    view->known_open = strobe_pixels_known_new();
    enum strobe_err err = STROBE_ERR_NOMEM;
    if (view->stored && view->tables && view->known_open)
        err = list_blocks(view);
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
    for (int i = 0; view->stored && i < STROBE_VIEW_STORED; i++) {
        strobe_block_free(&view->stored[i].bytes);
        strobe_events_free(&view->stored[i].events);
    }
    for (int i = 0; view->tables && i < STROBE_VIEW_TABLES; i++)
        free(view->tables[i].parts);
    strobe_block_free(&view->scratch);
    strobe_events_free(&view->scratch_events);
    strobe_lod_reader_free(&view->lod_reader);
    free(view->stored);
    free(view->tables);
    free(view->known_open);
    free(view->blocks);
    free(view->lods);
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
        err = list_blocks(view);
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
    enum strobe_err err = strobe_file_find(file, view->blocks[block].offset, &ref);
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

static enum strobe_err load(struct strobe_view *view, struct strobe_view_stored *slot,
                            uint32_t block)
{
    struct strobe_block_ref ref;
    struct strobe_file *file = view->trace->file;
    enum strobe_err err = strobe_file_find(file, view->blocks[block].offset, &ref);
    if (!err)
        err = strobe_file_load(file, &ref, &slot->bytes);
    if (!err)
        err = strobe_decode_parts(&slot->bytes, &slot->events);
    if (!err)
        err = strobe_decode_streams(&slot->bytes, STROBE_ALL_STREAMS, &slot->events);
    return err;
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
    return &oldest->events;
}

static uint32_t part_depths(const struct strobe_part *part, uint32_t n_summed)
{
    uint64_t n_open = part->n_below + part->n_stack;
    return n_open > n_summed ? (uint32_t)n_open : n_summed;
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
    table->block = 0;
    table->n = 0;
    for (uint32_t i = 0; events && i < events->n_parts; i++) {
        const struct strobe_part *part = &events->parts[i];
        if (!part->n_events)
            continue;
        if (!strobe_rows_reach((void **)&table->parts, &table->room, table->n,
                               sizeof *table->parts))
            return NULL;
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
    if (events && table->n <= MAX_TABLE_PARTS)
        table->block = block + 1;
    *n = table->n;
    return table->parts;
}
