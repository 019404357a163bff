/* maps.c - see maps.h.  SPDX-License-Identifier: MIT */
#include "sample/maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

void strobe_maps_free(struct strobe_maps *maps)
{
    free(maps->items);
    memset(maps, 0, sizeof *maps);
}

/* Index of the first mapping that ends behind the address. */
static uint32_t first_behind(const struct strobe_maps *maps, uint64_t address)
{
    STROBE_ASSERT(maps->n <= maps->room);
    return (uint32_t)STROBE_ARRAY_BISECT(0, maps->n, i, maps->items[i].end <= address);
}

static void insert(struct strobe_maps *maps, uint32_t at, struct strobe_mapping mapping)
{
    STROBE_ASSERT(maps->n < maps->room && at <= maps->n);
    memmove(maps->items + at + 1, maps->items + at, (maps->n - at) * sizeof *maps->items);
    maps->items[at] = mapping;
    maps->n++;
}

enum strobe_err strobe_maps_add(struct strobe_maps *maps, struct strobe_mapping mapping)
{
    STROBE_ASSERT(maps->n <= STROBE_MAPS_MAX);
    if (mapping.start >= mapping.end)
        return STROBE_OK;
    enum strobe_err err = STROBE_ARRAY_RESERVE_MAX(maps->items, maps->room, maps->n + 2ull,
                                                   (uint64_t)STROBE_MAPS_MAX);
    if (err)
        return err;
    uint32_t at = first_behind(maps, mapping.start), gone = at;
    struct strobe_mapping *items = maps->items;
    if (at < maps->n && items[at].start < mapping.start) { /* its front stays */
        struct strobe_mapping rest = items[at];
        items[at].end = mapping.start;
        gone = ++at;
        if (rest.end > mapping.end) { /* and its back */
            rest.offset += mapping.end - rest.start;
            rest.start = mapping.end;
            rest.is_told = false;
            insert(maps, at, rest);
        }
    }
    while (gone < maps->n && items[gone].end <= mapping.end)
        gone++;
    if (gone < maps->n && items[gone].start < mapping.end) {
        items[gone].offset += mapping.end - items[gone].start;
        items[gone].start = mapping.end;
        items[gone].is_told = false;
    }
    memmove(items + at, items + gone, (maps->n - gone) * sizeof *items);
    maps->n -= gone - at;
    insert(maps, at, mapping);
    STROBE_ASSERT(!at || items[at - 1].end <= mapping.start);
    STROBE_ASSERT(at + 1 == maps->n || items[at + 1].start >= mapping.end);
    return STROBE_OK;
}

enum strobe_err strobe_maps_copy(struct strobe_maps *to, const struct strobe_maps *from)
{
    STROBE_ASSERT(to != from);
    strobe_maps_free(to);
    if (STROBE_ARRAY_RESERVE(to->items, to->room, from->n))
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < from->n; i++) {
        to->items[i] = from->items[i];
        to->items[i].is_told = false; /* the child is a process of its own in the trace */
    }
    to->n = from->n;
    return STROBE_OK;
}

struct strobe_mapping *strobe_maps_find(struct strobe_maps *maps, uint64_t address)
{
    STROBE_ASSERT(maps->n <= maps->room);
    uint32_t at = maps->last; /* most addresses of a stack are in the mapping of the one before */
    if (at >= maps->n || address < maps->items[at].start || address >= maps->items[at].end)
        at = first_behind(maps, address);
    if (at >= maps->n || address < maps->items[at].start)
        return NULL;
    maps->last = at;
    return &maps->items[at];
}
