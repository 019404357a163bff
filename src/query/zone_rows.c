/* zone_rows.c - zones of tables: fibers, spans, GPU contexts, shared threads; frames and locks, too.
 * SPDX-License-Identifier: MIT */
#include "query/zone.h"

#include <stdlib.h>
#include <string.h>

static void set_key(const struct strobe_table *table, uint32_t row, struct strobe_zone_key *out)
{
    *out = (struct strobe_zone_key){table->rows[row].begin, table->rows[row].loc,
                                    table->rows[row].depth, row};
}

/* The row of a depth that is open at a tick: of several the last to begin, then the first listed. UINT32_MAX: none. */
static uint32_t open_row(const struct strobe_table *table, uint32_t depth, uint64_t tick)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < table->n_rows; i++) {
        const struct strobe_pixel_row *row = &table->rows[i];
        if (row->depth == depth && row->begin <= tick && row->end > tick &&
            (found == UINT32_MAX || row->begin > table->rows[found].begin))
            found = i;
    }
    return found;
}

enum strobe_err strobe_zone_find_row(const struct strobe_table *table, uint32_t depth,
                                     uint64_t tick, uint64_t slack, struct strobe_zone_key *out)
{
    uint32_t found = open_row(table, depth, tick);
    uint64_t best = UINT64_MAX;
    for (uint32_t i = 0; found == UINT32_MAX && slack && i < table->n_rows; i++) {
        const struct strobe_pixel_row *row = &table->rows[i];
        uint64_t far = strobe_zone_distance(row->begin, row->end, tick);
        if (row->depth != depth || row->end == UINT64_MAX || far > slack || far > best ||
            (far == best && row->begin >= out->begin))
            continue;
        best = far;
        set_key(table, i, out);
    }
    if (found != UINT32_MAX)
        set_key(table, found, out);
    return found == UINT32_MAX && best == UINT64_MAX ? STROBE_ERR_NOTFOUND : STROBE_OK;
}

enum strobe_err strobe_zone_step_row(const struct strobe_table *table, uint64_t tick, int is_next,
                                     uint32_t depth, int (*is_wanted)(void *context, uint64_t loc),
                                     void *context, struct strobe_zone_key *out)
{
    int is_found = 0;
    for (uint32_t i = 0; i < table->n_rows; i++) {
        const struct strobe_pixel_row *row = &table->rows[i];
        if (row->end == UINT64_MAX || (is_next ? row->begin <= tick : row->begin >= tick) ||
            (is_wanted ? !is_wanted(context, row->loc) : row->depth != depth))
            continue;
        if (is_found && (is_next ? row->begin >= out->begin : row->begin <= out->begin))
            continue;
        set_key(table, i, out);
        is_found = 1;
    }
    return is_found ? STROBE_OK : STROBE_ERR_NOTFOUND;
}

static void add_inside(const struct strobe_table *table, const struct strobe_pixel_row *of,
                       struct strobe_zone_detail *out)
{
    for (uint32_t i = 0; i < table->n_rows; i++) {
        const struct strobe_pixel_row *row = &table->rows[i];
        if (row->depth <= of->depth || row->begin < of->begin || row->end > of->end ||
            row->end == UINT64_MAX)
            continue;
        strobe_zone_sums_add(&out->inside, row->loc, row->end - row->begin);
        if (row->depth != of->depth + 1)
            continue;
        strobe_zone_sums_add(&out->children, row->loc, row->end - row->begin);
        out->n_children++;
    }
}

static enum strobe_err add_parents(const struct strobe_table *table,
                                   const struct strobe_pixel_row *of,
                                   struct strobe_zone_detail *out)
{
    out->parents = calloc(of->depth + 1ull, sizeof *out->parents);
    if (!out->parents)
        return STROBE_ERR_NOMEM;
    for (uint32_t depth = 0; depth < of->depth; depth++) {
        uint32_t found = open_row(table, depth, of->begin);
        if (found != UINT32_MAX)
            out->parents[depth] =
                (struct strobe_open_at){table->rows[found].begin, table->rows[found].loc, 1, 0};
    }
    out->n_parents = of->depth;
    return STROBE_OK;
}

enum strobe_err strobe_zone_look_row(const struct strobe_table *table,
                                     const struct strobe_zone_key *key,
                                     struct strobe_zone_detail *out)
{
    const struct strobe_pixel_row *row = &table->rows[key->row];
    memset(out, 0, sizeof *out);
    out->begin = row->begin;
    out->end = row->end;
    out->loc = row->loc;
    out->self = row->self;
    out->depth = row->depth;
    out->state = row->end == UINT64_MAX ? STROBE_ZONE_OPEN : STROBE_ZONE_ENDED;
    if (table->kind == STROBE_TABLE_SPANS) /* they overlap: none is inside another */
        return STROBE_OK;
    add_inside(table, row, out);
    strobe_zone_sums_sort(out);
    return add_parents(table, row, out);
}
