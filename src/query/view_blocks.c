/* view_blocks.c - the list of a trace's blocks.
 *
 *   number   0 ............ 255 | 256 ....... 511 | 512 513 514 | 515 ...
 *            LOD block 0          LOD block 1       loose         LOD block 2 ...
 *
 * Of the blocks under an LOD block only their range, their ticks and kinds all together are kept. Their page, a list
 * with a line for each, is read from the file's index when somebody asks for one of them.  SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/array.h"
#include "query/view.h"

struct strobe_view_page {
    uint32_t lod; /* index + 1 of the LOD block, 0: none */
    uint32_t n, room;
    struct strobe_view_block *blocks; /* owned */
};

static const struct strobe_view_block nothing = {.tick_min = UINT64_MAX};

static int is_in(const struct strobe_view_block *block, uint64_t lo, uint64_t hi)
{
    return block->tick_min <= hi && block->tick_max >= lo;
}

/* ---- growing ---- */

static enum strobe_err add_block(struct strobe_view *view, const struct strobe_block_ref *ref)
{
    if (STROBE_ARRAY_REACH(view->loose, view->loose_room, view->n_loose))
        return STROBE_ERR_NOMEM;
    view->loose[view->n_loose++] = (struct strobe_view_block){
        .offset = ref->offset,
        .tick_min = ref->head.tick_min,
        .tick_max = ref->head.tick_max,
        .kinds = ~0ull,
        .n_events = ref->head.n_items,
    };
    view->n_blocks++;
    view->n_events += ref->head.n_items;
    if (ref->head.n_items && ref->head.tick_min < view->tick_first)
        view->tick_first = ref->head.tick_min;
    if (ref->head.n_items && ref->head.tick_max > view->tick_last)
        view->tick_last = ref->head.tick_max;
    return STROBE_OK;
}

/* Loose blocks before the last LOD block. */
static uint32_t n_settled(const struct strobe_view *view)
{
    return view->n_lods ? view->lods[view->n_lods - 1].n_loose : 0;
}

/* The first of the loose blocks after the last LOD block that does not lie before `offset`. */
static uint32_t loose_at(const struct strobe_view *view, uint64_t offset)
{
    return (uint32_t)STROBE_ARRAY_BISECT(n_settled(view), view->n_loose, i,
                                         view->loose[i].offset < offset);
}

static void note_tracks(struct strobe_view *view)
{
    struct strobe_lod_track track;
    struct strobe_lod_lanes coarse, fine;
    while (strobe_lod_next(&view->lod_reader, &track, &coarse, &fine) == STROBE_OK) {
        uint32_t thread = strobe_view_thread(view, track.proc, track.track);
        if (thread != STROBE_IDMAP_NONE)
            strobe_view_note_depth(view, thread,
                                   track.depth > coarse.n_depths ? track.depth : coarse.n_depths);
    }
}

/* An LOD block covers what lies between its first block and itself, if as many are there as it says. */
static enum strobe_err add_lod(struct strobe_view *view, uint64_t offset)
{
    struct strobe_lod_reader *reader = &view->lod_reader;
    if (STROBE_ARRAY_REACH(view->lods, view->lods_room, view->n_lods))
        return STROBE_ERR_NOMEM;
    struct strobe_view_lod *lod = &view->lods[view->n_lods];
    *lod = (struct strobe_view_lod){.offset = offset, .tick_min = UINT64_MAX};
    if (strobe_view_lod(view, view->n_lods, 0) != STROBE_OK)
        return STROBE_OK;
    uint32_t first = loose_at(view, reader->first_offset);
    if (first == view->n_loose || view->n_loose - first != reader->n_blocks)
        return STROBE_OK;
    lod->first_offset = view->loose[first].offset;
    lod->first = view->n_blocks - (view->n_loose - first);
    lod->end = view->n_blocks;
    lod->n_loose = first;
    for (uint32_t i = first; i < view->n_loose; i++) {
        const struct strobe_view_block *block = &view->loose[i];
        lod->tick_min = block->tick_min < lod->tick_min ? block->tick_min : lod->tick_min;
        lod->tick_max = block->tick_max > lod->tick_max ? block->tick_max : lod->tick_max;
        lod->n_events += block->n_events;
    }
    for (uint32_t i = 0; i < reader->n_masks; i++)
        lod->kinds |= reader->masks[i].kinds;
    view->n_loose = first;
    view->n_lods++;
    note_tracks(view);
    return STROBE_OK;
}

/* The newest blocks that no LOD block covers: their heads tell something of depths. */
static void note_loose(struct strobe_view *view)
{
    uint32_t n_tail = view->n_loose - n_settled(view), n_new = view->n_blocks - view->n_noted, n;
    n_new = n_new < n_tail ? n_new : n_tail;
    n_new = n_new < STROBE_VIEW_NOTED ? n_new : STROBE_VIEW_NOTED;
    for (uint32_t b = view->n_blocks; n_new-- > 0;) {
        const struct strobe_view_part *parts = strobe_view_parts(view, --b, &n);
        for (uint32_t i = 0; i < n; i++)
            strobe_view_note_depth(view, parts[i].thread, parts[i].n_depths);
    }
    view->n_noted = view->n_blocks;
}

enum strobe_err strobe_view_list(struct strobe_view *view)
{
    const struct strobe_block_filter filter = {
        .type = STROBE_BLOCK_EVENTS, .offset_min = view->next_offset, .with_lod = 1, .unread = 1};
    struct strobe_block_iter *iter;
    struct strobe_block_ref ref;
    if (!view->pages && !(view->pages = calloc(STROBE_VIEW_PAGES, sizeof *view->pages)))
        return STROBE_ERR_NOMEM;
    enum strobe_err err = strobe_file_iterate(view->trace->file, &filter, &iter);
    while (!err && (err = strobe_file_next(iter, &ref)) == STROBE_OK) {
        err = ref.head.type == STROBE_BLOCK_LOD ? add_lod(view, ref.offset) : add_block(view, &ref);
        view->next_offset = ref.offset + ref.n_bytes;
    }
    strobe_file_end_iterate(iter);
    note_loose(view);
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

void strobe_view_unlist(struct strobe_view *view)
{
    for (int i = 0; view->pages && i < STROBE_VIEW_PAGES; i++)
        free(view->pages[i].blocks);
    free(view->pages);
    free(view->loose);
    free(view->lods);
    strobe_block_free(&view->page_head);
    strobe_lod_reader_free(&view->page_reader);
}

/* ---- pages ---- */

/* The kinds that the LOD block's masks tell of. */
static void set_kinds(struct strobe_view *view, uint64_t lod_offset, struct strobe_view_page *page)
{
    struct strobe_block_ref ref;
    struct strobe_file *file = view->trace->file;
    const struct strobe_lod_reader *reader = &view->page_reader;
    enum strobe_err err = strobe_file_find(file, lod_offset, &ref);
    if (!err)
        err = strobe_file_load_head(file, &ref, &view->page_head);
    if (!err)
        err = strobe_lod_start(&view->page_reader, &view->page_head);
    if (err) /* not known any more */
        return;
    for (uint32_t i = 0; i < page->n; i++)
        page->blocks[i].kinds = 0;
    for (uint32_t i = 0, at = 0; i < reader->n_masks; i++) { /* both in the order of the file */
        while (at < page->n && page->blocks[at].offset < reader->masks[i].offset)
            at++;
        if (at < page->n && page->blocks[at].offset == reader->masks[i].offset)
            page->blocks[at].kinds = reader->masks[i].kinds;
    }
}

static void make_page(struct strobe_view *view, uint32_t lod, struct strobe_view_page *page)
{
    const struct strobe_view_lod *node = &view->lods[lod];
    const struct strobe_block_filter filter = {
        .type = STROBE_BLOCK_EVENTS, .offset_min = node->first_offset, .unread = 1};
    struct strobe_block_iter *iter;
    struct strobe_block_ref ref;
    page->lod = lod + 1;
    page->n = 0;
    enum strobe_err err = strobe_file_iterate(view->trace->file, &filter, &iter);
    while (!err && page->n < node->end - node->first &&
           (err = strobe_file_next(iter, &ref)) == STROBE_OK && ref.offset < node->offset) {
        if (STROBE_ARRAY_REACH(page->blocks, page->room, page->n))
            break;
        page->blocks[page->n++] = (struct strobe_view_block){
            ref.offset, ref.head.tick_min, ref.head.tick_max, ~0ull, ref.head.n_items};
    }
    strobe_file_end_iterate(iter);
    if (node->kinds)
        set_kinds(view, node->offset, page);
    else
        for (uint32_t i = 0; i < page->n; i++)
            page->blocks[i].kinds = 0;
}

static const struct strobe_view_page *page_of(struct strobe_view *view, uint32_t lod)
{
    struct strobe_view_page *page = &view->pages[lod % STROBE_VIEW_PAGES];
    if (page->lod != lod + 1)
        make_page(view, lod, page);
    return page;
}

/* ---- asking ---- */

/* How many LOD blocks begin at or before a block. */
static uint32_t n_lods_to(const struct strobe_view *view, uint32_t block)
{
    return (uint32_t)STROBE_ARRAY_BISECT(0, view->n_lods, i, view->lods[i].first <= block);
}

uint32_t strobe_view_lod_of(const struct strobe_view *view, uint32_t block)
{
    uint32_t n = n_lods_to(view, block);
    return n && block < view->lods[n - 1].end ? n : 0;
}

struct strobe_view_block strobe_view_block(struct strobe_view *view, uint32_t block)
{
    uint32_t n = n_lods_to(view, block);
    const struct strobe_view_lod *lod = n ? &view->lods[n - 1] : NULL;
    if (!lod || block >= lod->end)
        return view->loose[lod ? lod->n_loose + (block - lod->end) : block];
    const struct strobe_view_page *page = page_of(view, n - 1);
    return block - lod->first < page->n ? page->blocks[block - lod->first] : nothing;
}

uint32_t strobe_view_next(struct strobe_view *view, uint32_t from, uint64_t lo, uint64_t hi)
{
    for (uint32_t i = from; i < view->n_blocks; i++) {
        uint32_t lod = strobe_view_lod_of(view, i);
        const struct strobe_view_lod *node = lod ? &view->lods[lod - 1] : NULL;
        if (node && (node->tick_min > hi || node->tick_max < lo)) {
            i = node->end - 1;
            continue;
        }
        struct strobe_view_block block = strobe_view_block(view, i);
        if (is_in(&block, lo, hi))
            return i;
    }
    return STROBE_VIEW_NO_BLOCK;
}

uint32_t strobe_view_prev(struct strobe_view *view, uint32_t from, uint64_t lo, uint64_t hi)
{
    for (uint32_t i = from; i-- > 0;) {
        uint32_t lod = strobe_view_lod_of(view, i);
        const struct strobe_view_lod *node = lod ? &view->lods[lod - 1] : NULL;
        if (node && (node->tick_min > hi || node->tick_max < lo)) {
            i = node->first;
            continue;
        }
        struct strobe_view_block block = strobe_view_block(view, i);
        if (is_in(&block, lo, hi))
            return i;
    }
    return STROBE_VIEW_NO_BLOCK;
}
