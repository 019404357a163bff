/* zone_rows.c - zones of tables: fibers, spans, GPU contexts, shared threads; frames and locks, too.
 * SPDX-License-Identifier: MIT */
#include "query/zone.h"

#include <stdlib.h>
#include <string.h>

static void set_key(const struct strobe_pixel_row *row, uint32_t number,
                    struct strobe_zone_key *out)
{
    *out = (struct strobe_zone_key){row->begin, row->loc, row->depth, number};
}

/* The row of a depth that is open at a tick: of several the last to begin, then the first listed. 0: none. */
static int open_row(const struct strobe_rows_place *place, uint32_t depth, uint64_t tick,
                    struct strobe_zone_key *out)
{
    struct strobe_row_walk walk = {.place = place, .lo = tick, .hi = tick};
    const struct strobe_pixel_row *row;
    uint32_t number;
    int is_found = 0;
    while ((row = strobe_row_walk_next(&walk, &number)))
        if (row->depth == depth && row->begin <= tick && row->end > tick &&
            (!is_found || row->begin > out->begin)) {
            set_key(row, number, out);
            is_found = 1;
        }
    return is_found;
}

/* The row of a depth that is nearest to a tick, within `slack`. 0: none. */
static int near_row(const struct strobe_rows_place *place, uint32_t depth, uint64_t tick,
                    uint64_t slack, struct strobe_zone_key *out)
{
    struct strobe_row_walk walk = {.place = place,
                                   .lo = tick > slack ? tick - slack : 0,
                                   .hi = tick < UINT64_MAX - slack ? tick + slack : UINT64_MAX};
    const struct strobe_pixel_row *row;
    uint64_t best = UINT64_MAX;
    uint32_t number;
    while (slack && (row = strobe_row_walk_next(&walk, &number))) {
        uint64_t far = strobe_zone_distance(row->begin, row->end, tick);
        if (row->depth != depth || row->end == UINT64_MAX || far > slack || far > best ||
            (far == best && row->begin >= out->begin))
            continue;
        best = far;
        set_key(row, number, out);
    }
    return best != UINT64_MAX;
}

enum strobe_err strobe_zone_find_row(const struct strobe_rows_place *place, uint32_t depth,
                                     uint64_t tick, uint64_t slack, struct strobe_zone_key *out)
{
    return open_row(place, depth, tick, out) || near_row(place, depth, tick, slack, out)
               ? STROBE_OK
               : STROBE_ERR_NOTFOUND;
}

enum strobe_err strobe_zone_step_row(const struct strobe_rows_place *place, uint64_t tick,
                                     int is_next, uint32_t depth,
                                     int (*is_wanted)(void *context, uint64_t loc), void *context,
                                     struct strobe_zone_key *out)
{
    struct strobe_row_walk walk = {.place = place,
                                   .lo = is_next ? tick : 0,
                                   .hi = is_next ? UINT64_MAX : tick,
                                   .is_back = !is_next,
                                   .only = STROBE_ROWS_ENDED,
                                   .max_parts = STROBE_ZONE_MAX_PARTS};
    const struct strobe_pixel_row *row;
    uint32_t number;
    while ((row = strobe_row_walk_next(&walk, &number))) {
        if ((is_next ? row->begin <= tick : row->begin >= tick) ||
            (is_wanted ? !is_wanted(context, row->loc) : row->depth != depth))
            continue;
        set_key(row, number, out);
        return STROBE_OK;
    }
    return STROBE_ERR_NOTFOUND;
}

static void add_inside(const struct strobe_rows_place *place, const struct strobe_pixel_row *of,
                       struct strobe_zone_detail *out)
{
    struct strobe_row_walk walk = {.place = place,
                                   .lo = of->begin,
                                   .hi = of->end,
                                   .only = STROBE_ROWS_ENDED,
                                   .max_parts = STROBE_ZONE_MAX_PARTS};
    const struct strobe_pixel_row *row;
    while ((row = strobe_row_walk_next(&walk, NULL))) {
        if (row->depth <= of->depth || row->begin < of->begin || row->end > of->end)
            continue;
        strobe_zone_sums_add(&out->inside, row->loc, row->end - row->begin);
        if (row->depth != of->depth + 1)
            continue;
        strobe_zone_sums_add(&out->children, row->loc, row->end - row->begin);
        out->n_children++;
    }
    out->is_cut = walk.is_cut;
}

static enum strobe_err add_parents(const struct strobe_rows_place *place,
                                   const struct strobe_pixel_row *of,
                                   struct strobe_zone_detail *out)
{
    struct strobe_zone_key found;
    out->parents = calloc(of->depth + 1ull, sizeof *out->parents);
    if (!out->parents)
        return STROBE_ERR_NOMEM;
    for (uint32_t depth = 0; depth < of->depth; depth++)
        if (open_row(place, depth, of->begin, &found))
            out->parents[depth] = (struct strobe_open_at){found.begin, found.loc, 1, 0};
    out->n_parents = of->depth;
    return STROBE_OK;
}

enum strobe_err strobe_zone_look_row(const struct strobe_rows_place *place, int is_nested,
                                     const struct strobe_zone_key *key,
                                     struct strobe_zone_detail *out)
{
    const struct strobe_paired_note *note;
    const struct strobe_pixel_row *found = strobe_rows_get(place, key->row, &note);
    memset(out, 0, sizeof *out);
    if (!found)
        return STROBE_ERR_CORRUPT;
    const struct strobe_pixel_row row = *found;
    out->begin = row.begin;
    out->end = row.end;
    out->loc = row.loc;
    out->self = row.self;
    out->depth = row.depth;
    out->state = row.end == UINT64_MAX ? STROBE_ZONE_OPEN : STROBE_ZONE_ENDED;
    if (!is_nested)
        return STROBE_OK;
    add_inside(place, &row, out);
    strobe_zone_sums_sort(out);
    return add_parents(place, &row, out);
}
