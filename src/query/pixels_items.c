/* pixels_items.c - from buckets to what is drawn: zones, and cells of zones too short to be drawn one by one.
 * Where the items are too many, neighbouring buckets are added and all is done again.
 * SPDX-License-Identifier: MIT */
#include "query/pixels_gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* What is made of one lane. */
struct lane {
    struct strobe_gather *gather;
    struct strobe_pixel_lanes *lanes;
    const struct strobe_pixel_cell *row;
    uint32_t depth;
    struct strobe_pixel_item *zones; /* borrowed: room for all of the lane */
    uint32_t n_zones;
    uint64_t run_class; /* of the cell that may still grow, and where it ends */
    uint64_t run_end;   /* UINT64_MAX: none may */
    int is_full;        /* too many items, or no memory */
};

static struct strobe_pixel_item *new_item(struct lane *lane)
{
    struct strobe_pixels *out = lane->gather->out;
    if (out->n_items > lane->gather->ask->budget ||
        STROBE_ARRAY_REACH(out->items, out->items_room, out->n_items)) {
        lane->is_full = 1;
        return NULL;
    }
    return &out->items[out->n_items++];
}

/* The first bucket that a zone of the given length may touch when it ends in `bucket`: what is known is the same
 * whether it came from events or from a summary. */
static uint64_t touched_from(uint64_t bucket, uint64_t longest, uint32_t k)
{
    uint64_t earliest_end = bucket << k;
    return earliest_end > longest ? (earliest_end - longest) >> k : 0;
}

/* The zones of the lane; `busy` holds the first bucket that each touches. */
static void list_zones(struct lane *lane)
{
    const struct strobe_pixel_lanes *lanes = lane->lanes;
    lane->n_zones = 0;
    for (uint32_t i = 0; lane->row && i < lanes->n_buckets; i++) {
        const struct strobe_pixel_cell *cell = &lane->row[i];
        if (!cell->count || cell->longest.ticks >> lanes->k == 0)
            continue;
        int is_exact = cell->longest.end && cell->longest.end >> lanes->k == lanes->base + i;
        uint64_t end = is_exact ? cell->longest.end : (lanes->base + i + 1) << lanes->k;
        lane->zones[lane->n_zones++] = (struct strobe_pixel_item){
            .begin = end > cell->longest.ticks ? end - cell->longest.ticks : 0,
            .end = end,
            .busy = touched_from(lanes->base + i, cell->longest.ticks, lanes->k),
            .loc = cell->longest.loc,
            .count = 1,
            .flags = STROBE_PIXEL_ZONE | (is_exact ? 0u : STROBE_PIXEL_ABOUT),
        };
    }
    if (lane->depth >= lanes->open.n || !lanes->open.zones[lane->depth].is_known)
        return;
    const struct strobe_open_at *open = &lanes->open.zones[lane->depth];
    uint64_t hi = lanes->hi;
    lane->zones[lane->n_zones++] = (struct strobe_pixel_item){
        .begin = open->begin,
        .end = open->end ? open->end : hi + 1,
        .busy = open->begin >> lanes->k,
        .loc = open->loc + 1,
        .count = 1,
        .flags =
            STROBE_PIXEL_ZONE | STROBE_PIXEL_BEYOND |
            (!open->end && hi >= lane->gather->view->tick_last ? (unsigned)STROBE_PIXEL_OPEN : 0u),
    };
}

static void put_cell(struct lane *lane, uint64_t bucket, const struct strobe_pixel_cell *cell,
                     uint64_t count)
{
    uint32_t k = lane->lanes->k;
    struct strobe_pixels *out = lane->gather->out;
    uint64_t class = (uint64_t)((unsigned __int128)cell->busy * 8 >> k);
    struct strobe_pixel_item *last = out->n_items ? &out->items[out->n_items - 1] : NULL;
    if (last && lane->run_end == bucket << k && lane->run_class == class &&
        last->loc == cell->longest.loc) {
        last->end = lane->run_end = (bucket + 1) << k;
        last->count += count;
        last->busy += cell->busy;
        return;
    }
    struct strobe_pixel_item *item = new_item(lane);
    if (!item)
        return;
    *item = (struct strobe_pixel_item){.begin = bucket << k,
                                       .end = (bucket + 1) << k,
                                       .busy = cell->busy,
                                       .loc = cell->longest.loc,
                                       .count = count};
    lane->run_end = item->end;
    lane->run_class = class;
}

static void put_zone(struct lane *lane, const struct strobe_pixel_item *zone)
{
    struct strobe_pixel_item *item = new_item(lane);
    if (item) {
        *item = *zone;
        item->busy = 0;
    }
    lane->run_end = UINT64_MAX;
}

/* The last bucket that a zone touches. */
static uint64_t last_bucket(const struct strobe_pixel_item *zone, uint32_t k)
{
    int is_rounded = zone->flags & (STROBE_PIXEL_ABOUT | STROBE_PIXEL_BEYOND);
    return (is_rounded ? zone->end - 1 : zone->end) >> k;
}

/* What is busy in a bucket beside the zones from `first` on that are drawn one by one: zones that begin in it and are too short.
 * 0 where not all those ends are known so well. */
static uint64_t busy_beside(const struct lane *lane, uint32_t first, uint64_t bucket, uint64_t busy)
{
    enum { LOOKED_AT = 8 };
    uint64_t low = bucket << lane->lanes->k, high = (bucket + 1) << lane->lanes->k;
    for (uint32_t i = first; i < lane->n_zones && lane->zones[i].busy <= bucket; i++) {
        const struct strobe_pixel_item *zone = &lane->zones[i];
        if (zone->flags & STROBE_PIXEL_ABOUT || i - first == LOOKED_AT)
            return 0;
        uint64_t from = zone->begin > low ? zone->begin : low;
        uint64_t to = zone->end < high ? zone->end : high;
        uint64_t part = from < to ? to - from : 0;
        busy = busy > part ? busy - part : 0;
    }
    return busy;
}

/* Zones and cells in the order of their ends; a zone goes before the cell of its last bucket. Zones may overlap: of each
 * `busy` becomes the first bucket that it or one behind it touches. */
static void make_lane(struct lane *lane)
{
    const struct strobe_pixel_lanes *lanes = lane->lanes;
    uint32_t next = 0, touching = 0, k = lanes->k;
    for (uint32_t i = lane->n_zones; i-- > 1;)
        if (lane->zones[i].busy < lane->zones[i - 1].busy)
            lane->zones[i - 1].busy = lane->zones[i].busy;
    uint32_t n_ended = lane->n_zones && (lane->zones[lane->n_zones - 1].flags & STROBE_PIXEL_BEYOND)
                           ? lane->n_zones - 1
                           : lane->n_zones;
    for (uint32_t i = 0; lane->row && i < lanes->n_buckets && !lane->is_full; i++) {
        const struct strobe_pixel_cell *cell = &lane->row[i];
        uint64_t bucket = lanes->base + i;
        uint64_t count = cell->count;
        if (next < n_ended && cell->count && cell->longest.ticks >> k) {
            put_zone(lane, &lane->zones[next++]);
            count--;
        }
        while (touching < lane->n_zones && last_bucket(&lane->zones[touching], k) < bucket)
            touching++;
        int is_touched = touching < lane->n_zones && lane->zones[touching].busy <= bucket;
        uint64_t least = (1ull << k) / 256; /* less is not seen */
        if (count || (cell->busy &&
                      (!is_touched || busy_beside(lane, touching, bucket, cell->busy) > least)))
            put_cell(lane, bucket, cell, count);
    }
    if (n_ended < lane->n_zones && !lane->is_full)
        put_zone(lane, &lane->zones[n_ended]);
}

/* Items of all lanes. 0: too many, or no memory. */
static int make_all(struct strobe_gather *gather, struct strobe_pixel_item *zones)
{
    struct strobe_pixels *out = gather->out;
    out->n_items = out->n_lanes = 0;
    out->k = gather->k;
    for (uint32_t i = 0; i < gather->n_lanes; i++) {
        struct strobe_pixel_lanes *lanes = &gather->lanes[i];
        for (uint32_t d = 0; d < lanes->track->n_depths; d++) {
            struct lane lane = {
                gather,     lanes, lanes->rows[d], lanes->track->first_depth + d, zones, 0, 0,
                UINT64_MAX, 0};
            uint32_t first = out->n_items;
            list_zones(&lane);
            make_lane(&lane);
            if (lane.is_full || out->n_items > gather->ask->budget)
                return 0;
            if (out->n_items == first)
                continue;
            if (STROBE_ARRAY_REACH(out->lanes, out->lanes_room, out->n_lanes))
                return 0;
            out->lanes[out->n_lanes++] =
                (struct strobe_pixel_lane){i, lane.depth, first, out->n_items - first, lanes->k};
        }
    }
    return 1;
}

/* Buckets twice as wide, where they are not wider than the question's already. */
static void coarsen(struct strobe_gather *gather)
{
    gather->k++;
    for (uint32_t i = 0; i < gather->n_lanes; i++) {
        struct strobe_pixel_lanes *lanes = &gather->lanes[i];
        if (lanes->k >= gather->k)
            continue;
        uint64_t base = lanes->base >> 1;
        uint32_t n = (uint32_t)(((lanes->base + lanes->n_buckets - 1) >> 1) - base) + 1;
        for (uint32_t d = 0; d < lanes->track->n_depths; d++) {
            struct strobe_pixel_cell *row = lanes->rows[d];
            for (uint32_t b = 0; row && b < lanes->n_buckets; b++) {
                uint32_t to = (uint32_t)(((lanes->base + b) >> 1) - base);
                struct strobe_pixel_cell from = row[b];
                if (to == b)
                    continue;
                memset(&row[b], 0, sizeof row[b]);
                strobe_pixel_cell_add(&row[to], &from);
            }
        }
        lanes->base = base; /* lo and hi stay: what is open was looked up at hi */
        lanes->n_buckets = n;
        lanes->k++;
    }
}

enum strobe_err strobe_pixels_make_items(struct strobe_gather *gather)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < gather->n_lanes; i++)
        most = gather->lanes[i].n_buckets > most ? gather->lanes[i].n_buckets : most;
    struct strobe_pixel_item *zones = strobe_array_resize(NULL, most + 2ull, sizeof *zones);
    if (!zones)
        return STROBE_ERR_NOMEM;
    int is_made = make_all(gather, zones);
    while (!is_made && gather->k < 62) {
        coarsen(gather);
        is_made = make_all(gather, zones);
    }
    free(zones);
    return is_made ? STROBE_OK : STROBE_ERR_LIMIT;
}
