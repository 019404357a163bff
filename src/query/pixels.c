/* pixels.c - gathers the buckets of the lanes that a question asks for.
 *
 * All buckets of a track have one width, its level: what LOD blocks, summaries and events say is added up at that level, which
 * is exact since widths are powers of two. Of the longest zone of a bucket all three know when it ended. Items are made of
 * it in pixels_items.c.  SPDX-License-Identifier: MIT */
#include "query/pixels.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/pixels_gather.h"

void strobe_pixel_cell_add(struct strobe_pixel_cell *into, const struct strobe_pixel_cell *from)
{
    into->count += from->count;
    into->busy += from->busy;
    if (strobe_lod_is_longest(from->longest, into->longest))
        into->longest = from->longest;
}

static void add_cell(struct strobe_pixel_cell *into, const struct strobe_lod_cell *from)
{
    const struct strobe_pixel_cell cell = {
        from->busy, {from->longest, from->loc, from->end}, from->count};
    strobe_pixel_cell_add(into, &cell);
}

/* The buckets of a depth; NULL: not asked for, or no memory. */
static struct strobe_pixel_cell *row_of(struct strobe_gather *gather,
                                        struct strobe_pixel_lanes *lanes, uint64_t depth)
{
    if (depth < lanes->track->first_depth ||
        depth - lanes->track->first_depth >= lanes->track->n_depths)
        return NULL;
    uint64_t i = depth - lanes->track->first_depth;
    if (!lanes->rows[i]) {
        lanes->rows[i] = calloc(lanes->n_buckets, sizeof **lanes->rows);
        gather->failed |= !lanes->rows[i];
    }
    return lanes->rows[i];
}

static void add_at(struct strobe_gather *gather, struct strobe_pixel_lanes *lanes, uint64_t depth,
                   uint64_t bucket, const struct strobe_lod_cell *cell)
{
    if (bucket - lanes->base >= lanes->n_buckets)
        return;
    struct strobe_pixel_cell *row = row_of(gather, lanes, depth);
    if (row)
        add_cell(&row[bucket - lanes->base], cell);
}

/* A zone was open from `from` to `to`. */
static void add_busy(struct strobe_gather *gather, struct strobe_pixel_lanes *lanes, uint64_t depth,
                     uint64_t from, uint64_t to)
{
    uint64_t low = lanes->base << lanes->k, high = (lanes->base + lanes->n_buckets) << lanes->k;
    from = from > low ? from : low;
    to = to < high ? to : high;
    struct strobe_pixel_cell *row = from < to ? row_of(gather, lanes, depth) : NULL;
    while (row && from < to) {
        uint64_t bucket = from >> lanes->k, end = (bucket + 1) << lanes->k;
        end = end < to ? end : to;
        row[bucket - lanes->base].busy += end - from;
        from = end;
    }
}

/* A zone that ended, read from events. Times before `first` (of its part) were counted by the parts before. */
static void add_zone(struct strobe_gather *gather, struct strobe_pixel_lanes *lanes, uint64_t depth,
                     uint64_t begin, uint64_t end, uint64_t loc, uint64_t first)
{
    uint64_t counted = end > first ? end : first;
    struct strobe_lod_cell cell = {
        .count = 1, .longest = end > begin ? end - begin : 0, .loc = loc + 1, .end = end};
    add_at(gather, lanes, depth, counted >> lanes->k, &cell);
    add_busy(gather, lanes, depth, begin > first ? begin : first, end);
}

/* ---- parts ---- */

static void note_depth(struct strobe_pixel_lanes *lanes, uint32_t n_depths)
{
    lanes->n_seen = n_depths > lanes->n_seen ? n_depths : lanes->n_seen;
}

static void add_summary_lod(struct strobe_gather *gather, struct strobe_pixel_lanes *lanes,
                            const struct strobe_part *part, struct strobe_part_lod *lod)
{
    struct strobe_lod_cell cell;
    uint32_t by = lanes->k - lod->shift, depth;
    while (strobe_part_lod_next(lod, &depth, &cell) == STROBE_OK) {
        if (cell.loc)
            cell.loc = cell.loc <= part->n_locs ? part->locs[cell.loc - 1] + 1 : 0;
        add_at(gather, lanes, depth, cell.bucket >> by, &cell);
    }
    note_depth(lanes, lod->n_depths);
}

static void add_events(struct strobe_gather *gather, struct strobe_pixel_lanes *lanes,
                       uint32_t block, uint32_t number)
{
    const struct strobe_events *events = strobe_view_events(gather->view, block);
    struct strobe_carry carry = {0};
    if (!events || number >= events->n_parts)
        return;
    const struct strobe_part *part = &events->parts[number];
    gather->out->n_decoded++;
    strobe_replay_part(events, part, &gather->view->trace->schema, 0, &carry, &gather->replay);
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < gather->replay.n_zones; i++) {
        const struct strobe_zone_row *zone = &gather->replay.zones[i];
        if (zone->state == STROBE_ZONE_NO_BEGIN)
            continue;
        deepest = zone->depth >= deepest ? zone->depth + 1 : deepest;
        if (zone->state == STROBE_ZONE_UNFINISHED)
            add_busy(gather, lanes, zone->depth,
                     zone->begin > part->first_tick ? zone->begin : part->first_tick,
                     zone->begin + zone->self);
        else
            add_zone(gather, lanes, zone->depth, zone->begin, zone->begin + zone->ticks,
                     strobe_zone_loc(part, zone), part->first_tick);
    }
    for (uint32_t i = 0; i < carry.n_open; i++)
        add_busy(gather, lanes, i,
                 carry.open[i].is_unknown || carry.open[i].begin < part->first_tick
                     ? part->first_tick
                     : carry.open[i].begin,
                 part->last_tick);
    deepest = carry.n_open > deepest ? carry.n_open : deepest;
    strobe_carry_free(&carry);
    note_depth(lanes, deepest);
}

static void add_gap(struct strobe_gather *gather, struct strobe_pixel_lanes *lanes,
                    const struct strobe_part *part)
{
    uint64_t from = lanes->has_last ? lanes->last_tick : lanes->lo;
    uint64_t n = part->n_below + part->n_stack;
    n = n < STROBE_PIXELS_MAX_DEPTHS ? n : STROBE_PIXELS_MAX_DEPTHS;
    for (uint64_t depth = 0; depth < n && from < part->first_tick; depth++)
        add_busy(gather, lanes, depth, from, part->first_tick);
    lanes->has_last = 1;
    lanes->last_tick = part->last_tick;
}

/* Whether a block has parts of lanes that are asked for: where there are thousands of threads, most have none. */
static int has_lanes(struct strobe_gather *gather, uint32_t block, int only_marked)
{
    uint32_t n;
    const struct strobe_view_part *parts = strobe_view_parts(gather->view, block, &n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = parts[i].thread < gather->n_wanted ? gather->wanted[parts[i].thread] : 0;
        if (at && (!only_marked || gather->lanes[at - 1].is_marked))
            return 1;
    }
    return 0;
}

/* Whether a block has parts of lanes that are asked for, in the range. */
static int has_lanes_in_range(struct strobe_gather *gather, uint32_t block)
{
    uint32_t n;
    const struct strobe_view_part *parts = strobe_view_parts(gather->view, block, &n);
    for (uint32_t i = 0; i < n; i++)
        if (parts[i].thread < gather->n_wanted && gather->wanted[parts[i].thread] &&
            parts[i].first_tick <= gather->hi && parts[i].last_tick >= gather->lo)
            return 1;
    return 0;
}

/* Zones are looked for below a level of detail, or at the last of its depths: it may have left some out below. */
static int is_too_flat(const struct strobe_pixel_lanes *lanes, uint32_t n_depths)
{
    return lanes->is_deep && n_depths == STROBE_LOD_DEPTHS;
}

/* One block, part by part; only_marked: those lanes that the LOD block could not serve. */
static void gather_block(struct strobe_gather *gather, uint32_t block, int only_marked)
{
    if (!has_lanes(gather, block, only_marked))
        return;
    const struct strobe_events *events = strobe_view_head(gather->view, block);
    gather->out->n_heads++;
    for (uint32_t i = 0; events && i < events->n_parts; i++) {
        const struct strobe_part *part = &events->parts[i];
        struct strobe_pixel_lanes *lanes = strobe_gather_lanes(gather, part->proc, part->track);
        struct strobe_part_lod lod;
        if (!lanes || !part->n_events || (only_marked && !lanes->is_marked))
            continue;
        if (part->first_tick > lanes->hi)
            continue;
        add_gap(gather, lanes, part);
        if (part->last_tick < lanes->lo)
            continue;
        if (strobe_part_lod_start(part, &lod) == STROBE_OK && lod.shift <= lanes->k &&
            !is_too_flat(lanes, lod.n_depths)) {
            add_summary_lod(gather, lanes, part, &lod);
            continue;
        }
        add_events(gather, lanes, block, i);
    }
}

/* ---- LOD blocks ---- */

/* Millions of cells go through here for a large trace: the row is looked up once per depth. */
static void add_lanes(struct strobe_gather *gather, struct strobe_pixel_lanes *lanes,
                      struct strobe_lod_lanes *from)
{
    struct strobe_lod_at at = {0};
    struct strobe_lod_cell cell;
    struct strobe_pixel_cell *row = NULL;
    uint32_t by = lanes->k - from->shift, depth = UINT32_MAX;
    while (strobe_lod_cell(from, &at, &cell) == STROBE_OK) {
        uint64_t bucket = (cell.bucket >> by) - lanes->base;
        if (bucket >= lanes->n_buckets)
            continue;
        if (cell.depth != depth)
            row = row_of(gather, lanes, depth = cell.depth);
        if (row)
            add_cell(&row[bucket], &cell);
    }
}

enum which { COARSE, FINE, PARTS };

static enum which which_lanes(const struct strobe_pixel_lanes *lanes,
                              const struct strobe_lod_lanes *coarse, uint32_t fine_shift)
{
    if (is_too_flat(lanes, coarse->n_depths))
        return PARTS;
    return coarse->shift <= lanes->k ? COARSE : fine_shift <= lanes->k ? FINE : PARTS;
}

/* One pass over an LOD block; *need: what else has to be looked at (bit per enum which). */
static enum strobe_err pass_over(struct strobe_gather *gather, uint32_t lod, enum which take,
                                 unsigned *need)
{
    struct strobe_view *view = gather->view;
    struct strobe_lod_track track;
    struct strobe_lod_lanes coarse, fine;
    enum strobe_err err = strobe_view_lod(view, lod, take == FINE);
    gather->out->n_lods++;
    while (!err &&
           (err = strobe_lod_next(&view->lod_reader, &track, &coarse, &fine)) == STROBE_OK) {
        struct strobe_pixel_lanes *lanes = strobe_gather_lanes(gather, track.proc, track.track);
        if (!lanes)
            continue;
        enum which which = which_lanes(lanes, &coarse, track.fine_shift);
        *need |= 1u << which;
        if (take == COARSE)
            lanes->is_marked = which == PARTS;
        if (which != PARTS) {
            lanes->has_last = 1;
            lanes->last_tick = track.last_tick;
        }
        if (which == take)
            add_lanes(gather, lanes, take == FINE ? &fine : &coarse);
    }
    return err == STROBE_ERR_END ? STROBE_OK : err;
}

static int is_in_range(const struct strobe_gather *gather, uint64_t tick_min, uint64_t tick_max)
{
    return tick_min <= gather->hi && tick_max >= gather->lo;
}

static int is_block_in_range(const struct strobe_gather *gather, uint32_t i)
{
    struct strobe_view_block block = strobe_view_block(gather->view, i);
    return is_in_range(gather, block.tick_min, block.tick_max);
}

static void gather_blocks(struct strobe_gather *gather, uint32_t first, uint32_t end,
                          int only_marked)
{
    for (uint32_t i = first; i < end && !gather->failed; i++)
        if (is_block_in_range(gather, i))
            gather_block(gather, i, only_marked);
}

static void gather_lod(struct strobe_gather *gather, uint32_t lod)
{
    const struct strobe_view_lod node = gather->view->lods[lod];
    unsigned need = 0;
    if (!is_in_range(gather, node.tick_min, node.tick_max))
        return;
    if (pass_over(gather, lod, COARSE, &need) != STROBE_OK) {
        gather_blocks(gather, node.first, node.end, 0);
        return;
    }
    if (need & 1u << FINE)
        pass_over(gather, lod, FINE, &need);
    if (need & 1u << PARTS)
        gather_blocks(gather, node.first, node.end, 1);
}

static void add_row(struct strobe_gather *gather, struct strobe_pixel_lanes *lanes,
                    const struct strobe_pixel_row *row)
{
    if (row->begin > lanes->hi || row->end < lanes->lo)
        return;
    if (row->end == UINT64_MAX)
        add_busy(gather, lanes, row->depth, row->begin, lanes->hi + 1);
    else
        add_zone(gather, lanes, row->depth, row->begin, row->end, row->loc, 0);
}

struct cells {
    struct strobe_gather *gather;
    struct strobe_pixel_lanes *lanes;
    uint32_t by; /* shifts of the lanes less that of the cells */
};

static void take_cell(void *context, const struct strobe_lod_cell *cell)
{
    const struct cells *cells = context;
    add_at(cells->gather, cells->lanes, cell->depth, cell->bucket >> cells->by, cell);
}

/* Rows that are paired: from afar the file's cells, and of its rows only those that are open. */
static void gather_rows(struct strobe_gather *gather, struct strobe_pixel_lanes *lanes)
{
    const struct strobe_rows_place *place = &lanes->track->place;
    const struct strobe_paired_level *level =
        place->paired && lanes->track->first_depth + lanes->track->n_depths <= STROBE_PAIRED_DEPTHS
            ? strobe_paired_level_for(place, lanes->k)
            : NULL;
    struct strobe_row_walk walk = {.place = place, .lo = lanes->lo, .hi = lanes->hi};
    const struct strobe_pixel_row *row;
    if (level) {
        struct cells cells = {gather, lanes, lanes->k - level->shift};
        gather->failed |=
            strobe_paired_cells(place, level, lanes->lo >> level->shift, lanes->hi >> level->shift,
                                take_cell, &cells) != STROBE_OK;
        walk.step = place->paired->list.tracks[place->track].n_ended_parts;
    }
    while (!gather->failed && (row = strobe_row_walk_next(&walk, NULL)))
        add_row(gather, lanes, row);
}

static void gather_all(struct strobe_gather *gather)
{
    struct strobe_view *view = gather->view;
    for (uint32_t i = 0; i < gather->n_lanes; i++)
        if (strobe_rows_any(&gather->lanes[i].track->place))
            gather_rows(gather, &gather->lanes[i]);
    for (uint32_t i = 0; i < view->n_blocks && !gather->failed && gather->n_threads;) {
        uint32_t lod = strobe_view_lod_of(view, i);
        uint32_t end = lod ? view->lods[lod - 1].end : i + 1;
        if (lod)
            gather_lod(gather, lod - 1);
        else
            gather_blocks(gather, i, end, 0);
        i = end;
    }
}

/* ---- levels ---- */

static void raise_level(struct strobe_gather *gather, uint32_t thread, uint32_t shift)
{
    uint32_t at = thread < gather->n_wanted ? gather->wanted[thread] : 0;
    if (at && shift > gather->lanes[at - 1].k && shift < 63)
        gather->lanes[at - 1].k = shift;
}

static void raise_by_lod(struct strobe_gather *gather, uint32_t lod)
{
    struct strobe_view *view = gather->view;
    struct strobe_lod_track track;
    struct strobe_lod_lanes coarse, fine;
    if (strobe_view_lod(view, lod, 0) != STROBE_OK)
        return;
    while (strobe_lod_next(&view->lod_reader, &track, &coarse, &fine) == STROBE_OK)
        raise_level(gather, strobe_view_thread(view, track.proc, track.track), track.fine_shift);
}

static void raise_by_parts(struct strobe_gather *gather, uint32_t block)
{
    uint32_t n;
    const struct strobe_view_part *parts = strobe_view_parts(gather->view, block, &n);
    for (uint32_t i = 0; i < n; i++)
        if (parts[i].shift != STROBE_VIEW_NO_SUMMARY && parts[i].first_tick <= gather->ask->hi &&
            parts[i].last_tick >= gather->ask->lo)
            raise_level(gather, parts[i].thread, parts[i].shift);
}

/* How much there is in the range. LOD blocks that lie in it whole tell of their blocks. */
static void count_in_range(const struct strobe_gather *gather, uint64_t *n_blocks,
                           uint64_t *n_events)
{
    struct strobe_view *view = gather->view;
    *n_blocks = *n_events = 0;
    for (uint32_t i = 0; i < view->n_blocks; i++) {
        uint32_t number = strobe_view_lod_of(view, i);
        const struct strobe_view_lod *lod = number ? &view->lods[number - 1] : NULL;
        int is_whole = lod && lod->tick_min >= gather->lo && lod->tick_max <= gather->hi;
        if (is_whole) {
            *n_blocks += lod->end - lod->first;
            *n_events += lod->n_events;
        }
        if (is_whole || (lod && !is_in_range(gather, lod->tick_min, lod->tick_max))) {
            i = lod->end - 1;
        } else if (is_block_in_range(gather, i)) {
            ++*n_blocks;
            *n_events += strobe_view_block(view, i).n_events;
        }
    }
}

/* Events of the blocks in the range that would have to be read for the lanes alone: of thousands of threads a few are in sight. */
static uint64_t count_wanted(struct strobe_gather *gather)
{
    uint64_t n_events = 0;
    for (uint32_t i = 0; i < gather->view->n_blocks && n_events <= STROBE_PIXELS_MAX_EVENTS; i++)
        if (is_block_in_range(gather, i) && has_lanes_in_range(gather, i))
            n_events += strobe_view_block(gather->view, i).n_events;
    return n_events;
}

/* A range with much in it is shown at the level that LOD blocks have, or summaries: to read the heads of all blocks, or
 * all events, would take too long. */
static void raise_levels(struct strobe_gather *gather)
{
    struct strobe_view *view = gather->view;
    uint64_t n_blocks, n_events;
    count_in_range(gather, &n_blocks, &n_events);
    int by_lod = n_blocks > STROBE_PIXELS_MAX_BLOCKS || gather->ask->from_afar,
        by_parts = n_events > STROBE_PIXELS_MAX_EVENTS &&
                   (by_lod || count_wanted(gather) > STROBE_PIXELS_MAX_EVENTS);
    for (uint32_t i = 0; i < view->n_lods && by_lod; i++)
        if (is_in_range(gather, view->lods[i].tick_min, view->lods[i].tick_max))
            raise_by_lod(gather, i);
    for (uint32_t i = 0; i < view->n_blocks && by_parts; i++) {
        uint32_t lod = by_lod ? strobe_view_lod_of(view, i) : 0;
        if (lod)
            i = view->lods[lod - 1].end - 1;
        else if (is_block_in_range(gather, i))
            raise_by_parts(gather, i);
    }
    for (uint32_t i = 0; i < gather->n_lanes; i++) {
        const struct strobe_pixel_track *track = gather->lanes[i].track;
        uint32_t n_depths = track->first_depth + track->n_depths;
        gather->lanes[i].is_deep = n_depths >= STROBE_LOD_DEPTHS && !by_lod && !by_parts;
        if (n_depths > STROBE_LOD_DEPTHS && (by_lod || by_parts))
            gather->out->seen_depths = STROBE_LOD_DEPTHS;
    }
}

static enum strobe_err set_buckets(struct strobe_gather *gather)
{
    for (uint32_t i = 0; i < gather->n_lanes; i++) {
        struct strobe_pixel_lanes *lanes = &gather->lanes[i];
        lanes->base = gather->ask->lo >> lanes->k;
        lanes->n_buckets = (uint32_t)((gather->ask->hi >> lanes->k) - lanes->base) + 1;
        lanes->lo = lanes->base << lanes->k;
        lanes->hi = ((lanes->base + lanes->n_buckets) << lanes->k) - 1;
        gather->lo = lanes->lo < gather->lo ? lanes->lo : gather->lo;
        gather->hi = lanes->hi > gather->hi ? lanes->hi : gather->hi;
        lanes->rows = calloc(lanes->track->n_depths + 1ull, sizeof *lanes->rows);
        if (!lanes->rows)
            return STROBE_ERR_NOMEM;
    }
    return STROBE_OK;
}

/* The level that the question starts with. */
static uint32_t first_level(const struct strobe_pixel_ask *ask)
{
    uint64_t n_rows = 0, range = ask->hi - ask->lo;
    uint32_t k = 0;
    for (uint32_t i = 0; i < ask->n_tracks; i++)
        n_rows += ask->tracks[i].n_depths;
    while (k < 62 && (uint64_t)ask->width <= range >> (k + 1))
        k++;
    while (k < 62 && n_rows * ((ask->hi >> k) - (ask->lo >> k) + 1) > STROBE_PIXELS_MAX_CELLS)
        k++;
    return k;
}

static enum strobe_err set_lanes(struct strobe_gather *gather)
{
    const struct strobe_pixel_ask *ask = gather->ask;
    gather->k = first_level(ask);
    gather->lo = ask->lo;
    gather->hi = ask->hi;
    gather->lanes = calloc(ask->n_tracks + 1ull, sizeof *gather->lanes);
    gather->n_wanted = gather->view->trace->thread_ids.n;
    gather->wanted = calloc(gather->n_wanted + 1ull, sizeof *gather->wanted);
    if (!gather->lanes || !gather->wanted)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < ask->n_tracks; i++) {
        struct strobe_pixel_lanes *lanes = &gather->lanes[gather->n_lanes++];
        lanes->track = &ask->tracks[i];
        lanes->k = gather->k;
        uint32_t thread = ask->tracks[i].thread;
        if (!strobe_rows_any(&lanes->track->place) && thread < gather->n_wanted &&
            !gather->wanted[thread]) {
            gather->wanted[thread] = i + 1;
            gather->n_threads++;
        }
    }
    if (gather->n_threads)
        raise_levels(gather);
    return set_buckets(gather);
}

struct strobe_pixel_lanes *strobe_gather_lanes(struct strobe_gather *gather, uint64_t proc,
                                               uint64_t track)
{
    uint32_t thread = strobe_view_thread(gather->view, proc, track);
    uint32_t at = thread < gather->n_wanted ? gather->wanted[thread] : 0;
    return at ? &gather->lanes[at - 1] : NULL;
}

static void free_gather(struct strobe_gather *gather)
{
    for (uint32_t i = 0; gather->lanes && i < gather->n_lanes; i++) {
        struct strobe_pixel_lanes *lanes = &gather->lanes[i];
        for (uint32_t k = 0; lanes->rows && k < lanes->track->n_depths; k++)
            free(lanes->rows[k]);
        free(lanes->rows);
        free(lanes->open.zones);
    }
    free(gather->lanes);
    free(gather->wanted);
    strobe_replay_free(&gather->replay);
}

/* Zones that are open at the end of the last bucket, for all threads whose buckets end there. */
static enum strobe_err open_at(struct strobe_gather *gather, uint64_t tick, uint32_t *wanted,
                               struct strobe_open_list *lists)
{
    uint32_t n = 0;
    memset(wanted, 0, gather->n_wanted * sizeof *wanted);
    for (uint32_t i = 0; i < gather->n_wanted; i++) {
        uint32_t at = gather->wanted[i];
        if (at && gather->lanes[at - 1].hi == tick)
            wanted[i] = at, n++;
    }
    return n ? strobe_pixels_open(gather->view, tick, wanted, gather->n_wanted, lists,
                                  gather->n_lanes)
             : STROBE_OK;
}

/* What is open after the last part goes on to the end of the last bucket. */
static void add_last_gap(struct strobe_gather *gather, struct strobe_pixel_lanes *lanes)
{
    uint64_t from = lanes->has_last ? lanes->last_tick : lanes->lo;
    for (uint32_t i = 0; i < lanes->open.n; i++) {
        const struct strobe_open_at *open = &lanes->open.zones[i];
        if (open->is_known)
            add_busy(gather, lanes, i, open->begin > from ? open->begin : from, lanes->hi + 1);
    }
}

static enum strobe_err find_open(struct strobe_gather *gather)
{
    struct strobe_open_list *lists = calloc(gather->n_lanes + 1ull, sizeof *lists);
    uint32_t *wanted = strobe_array_resize(NULL, gather->n_wanted + 1ull, sizeof *wanted);
    enum strobe_err err = lists && wanted ? STROBE_OK : STROBE_ERR_NOMEM;
    for (uint32_t k = 0; k < 64 && !err; k++) {
        uint32_t i = 0;
        while (i < gather->n_lanes &&
               (gather->lanes[i].k != k || strobe_rows_any(&gather->lanes[i].track->place)))
            i++;
        if (i < gather->n_lanes)
            err = open_at(gather, gather->lanes[i].hi, wanted, lists);
    }
    for (uint32_t i = 0; lists && i < gather->n_lanes; i++) {
        gather->lanes[i].open = lists[i];
        add_last_gap(gather, &gather->lanes[i]);
    }
    free(lists);
    free(wanted);
    return err;
}

/* Rows that are paired elsewhere: those open at the end of the range. */
static void open_rows(struct strobe_pixel_lanes *lanes)
{
    struct strobe_row_walk walk = {
        .place = &lanes->track->place, .lo = lanes->hi + 1, .hi = lanes->hi};
    const struct strobe_pixel_row *row;
    while ((row = strobe_row_walk_next(&walk, NULL))) {
        if (row->begin > lanes->hi || row->end <= lanes->hi ||
            row->depth >= lanes->track->first_depth + lanes->track->n_depths)
            continue;
        if (STROBE_ARRAY_REACH(lanes->open.zones, lanes->open.room, row->depth))
            return;
        lanes->open.n = row->depth >= lanes->open.n ? row->depth + 1 : lanes->open.n;
        lanes->open.zones[row->depth] =
            (struct strobe_open_at){row->begin, row->loc, 1, row->end == UINT64_MAX ? 0 : row->end};
    }
}

enum strobe_err strobe_pixels_run(struct strobe_view *view, const struct strobe_pixel_ask *ask,
                                  struct strobe_pixels *out)
{
    struct strobe_gather gather = {.view = view, .ask = ask, .out = out};
    if (ask->hi < ask->lo || !ask->width)
        return STROBE_ERR_INVALID;
    enum strobe_err err = set_lanes(&gather);
    if (!err)
        gather_all(&gather);
    if (!err && gather.failed)
        err = STROBE_ERR_NOMEM;
    if (!err && gather.n_threads)
        err = find_open(&gather);
    for (uint32_t i = 0; !err && i < gather.n_lanes; i++)
        if (strobe_rows_any(&gather.lanes[i].track->place))
            open_rows(&gather.lanes[i]);
    if (!err)
        err = strobe_pixels_make_items(&gather);
    if (!err && !(out->n_depths = calloc(ask->n_tracks + 1ull, sizeof *out->n_depths)))
        err = STROBE_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < gather.n_lanes; i++)
        out->n_depths[i] = gather.lanes[i].n_seen;
    free_gather(&gather);
    return err;
}

void strobe_pixels_free(struct strobe_pixels *pixels)
{
    free(pixels->items);
    free(pixels->lanes);
    free(pixels->n_depths);
    memset(pixels, 0, sizeof *pixels);
}
