/* around.c - see around.h. The spots are sorted by thread and time; each zone that comes by claims those within it that no deeper
 * one has claimed.  SPDX-License-Identifier: MIT */
#include "sql/around.h"

#include <stdlib.h>

#include "base/assert.h"

struct claim {
    struct strobe_sql_spot *spots; /* borrowed: by thread, then tick */
    uint32_t n_spots;
};

static int by_place(const void *a, const void *b)
{
    const struct strobe_sql_spot *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_number(const void *a, const void *b)
{
    const struct strobe_sql_spot *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* The first spot of the thread at or after the tick, or of a thread behind it. */
static uint32_t first_at(const struct claim *claim, uint32_t thread, uint64_t tick)
{
    uint32_t low = 0, high = claim->n_spots;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const struct strobe_sql_spot *spot = &claim->spots[mid];
        if (spot->thread < thread || (spot->thread == thread && spot->tick < tick))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void claim_zone(const struct claim *claim, const struct strobe_batch *batch, uint32_t i)
{
    const struct strobe_zone_row *zone = &batch->zones[i];
    uint64_t end = zone->state == STROBE_ZONE_ENDED        ? zone->begin + zone->ticks
                   : zone->state == STROBE_ZONE_UNFINISHED ? zone->begin + zone->self
                                                           : UINT64_MAX;
    int64_t id = -1, parent;
    uint32_t at = first_at(claim, batch->thread, zone->begin);
    for (; at < claim->n_spots; at++) {
        struct strobe_sql_spot *spot = &claim->spots[at];
        if (spot->thread != batch->thread || spot->tick > end)
            break;
        if (spot->zone >= 0 && spot->depth > zone->depth)
            continue;
        if (id < 0)
            strobe_sql_zone_ids(batch, i, &id, &parent);
        spot->zone = id;
        spot->depth = zone->depth;
    }
}

static enum strobe_err see_zones(void *context, const struct strobe_batch *batch)
{
    const struct claim *claim = *strobe_sql_pump_state(context);
    uint32_t first = first_at(claim, batch->thread, 0);
    if (batch->kind != STROBE_BATCH_THREAD || first == claim->n_spots ||
        claim->spots[first].thread != batch->thread)
        return STROBE_OK;
    for (uint32_t i = 0; i < batch->n_zones; i++)
        if (batch->zones[i].state != STROBE_ZONE_NO_BEGIN)
            claim_zone(claim, batch, i);
    return STROBE_OK;
}

enum strobe_err strobe_sql_find_around(struct strobe_sql_pump *pump, struct strobe_sql_spot *spots,
                                       uint32_t n_spots)
{
    struct claim claim = {spots, n_spots};
    struct strobe_walk walk = {.zones = see_zones, .want_places = 1, .want_open = 1};
    void *before = *strobe_sql_pump_state(pump);
    for (uint32_t i = 0; i < n_spots; i++) {
        STROBE_ASSERT(spots[i].number == i);
        spots[i].zone = -1;
        spots[i].depth = 0;
    }
    if (!n_spots)
        return STROBE_OK;
    qsort(spots, n_spots, sizeof *spots, by_place);
    *strobe_sql_pump_state(pump) = &claim;
    enum strobe_err err = strobe_sql_pump_walk(pump, &walk);
    *strobe_sql_pump_state(pump) = before;
    qsort(spots, n_spots, sizeof *spots, by_number);
    return err;
}
