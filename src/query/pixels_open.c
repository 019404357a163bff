/* pixels_open.c - looks back from a tick for what is open there.
 *
 * For each thread: the last part that begins at or before the tick is replayed up to it. What was open before that part
 * and doesn't end in it (n_below) is only counted there, so it is looked up where it began: in the last part before with a
 * lower n_below, or in the list of open zones of an LOD block. A thread without events for long costs one look at each LOD block.
 * SPDX-License-Identifier: MIT */
#include "query/pixels_open.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { KNOWN = 4096 };

/* The zone of `thread` at `depth` is open from the end of block `from` to the start of block `to` at least. */
struct strobe_view_known {
    uint32_t thread, depth;
    uint32_t from, to;
    uint64_t begin, loc;
    uint8_t is_used;
};

struct strobe_view_known *strobe_pixels_known_new(void)
{
    return calloc(KNOWN, sizeof(struct strobe_view_known));
}

static struct strobe_view_known *known_at(struct strobe_view *view, uint32_t thread, uint32_t depth)
{
    return &view->known_open[(thread * 31u + depth) % KNOWN];
}

/* Where a thread is at the tick. */
struct place {
    uint32_t block;  /* of its part */
    uint32_t number; /* of the part + 1; 0: not found yet */
    uint32_t thread;
    int is_done;
    int is_inside; /* its part is in the LOD block's blocks that are looked at now */
};

struct search {
    struct strobe_view *view;
    uint64_t tick;
    const uint32_t *wanted;
    uint32_t n_wanted;
    struct strobe_open_list *lists;
    uint32_t n_lists;
    struct place *places; /* owned: n_lists */
    uint32_t n_left;
    uint32_t n_inside;
    struct strobe_replay replay;
};

static int set_open(struct strobe_open_list *list, uint32_t depth, uint64_t begin, uint64_t loc)
{
    if (STROBE_ARRAY_REACH(list->zones, list->room, depth))
        return 0;
    for (; list->n <= depth; list->n++)
        list->zones[list->n].is_known = 0;
    list->zones[depth] = (struct strobe_open_at){.begin = begin, .loc = loc, .is_known = 1};
    return 1;
}

static uint32_t wanted_of(const struct search *search, uint32_t thread)
{
    return thread < search->n_wanted ? search->wanted[thread] : 0;
}

/* ---- finding the parts ---- */

/* Parts of a block: the last of each thread that begins at or before the tick. */
static void look_at_parts(struct search *search, uint32_t block)
{
    uint32_t n;
    const struct strobe_view_part *parts = strobe_view_parts(search->view, block, &n);
    for (uint32_t i = n; i-- > 0;) {
        uint32_t at = wanted_of(search, parts[i].thread);
        if (!at || parts[i].first_tick > search->tick || search->places[at - 1].is_done)
            continue;
        struct place *place = &search->places[at - 1];
        search->n_inside -= place->is_inside != 0;
        search->n_left--;
        *place = (struct place){block, parts[i].number + 1, parts[i].thread, 1, 0};
    }
}

/* The next track of the LOD block that the view reads, and its thread. 0: there is no other. */
static int next_track(struct strobe_view *view, struct strobe_lod_track *track, uint32_t *thread)
{
    struct strobe_lod_lanes coarse, fine;
    if (strobe_lod_next(&view->lod_reader, track, &coarse, &fine) != STROBE_OK)
        return 0;
    *thread = strobe_view_thread(view, track->proc, track->track);
    return 1;
}

/* Where the end of a thread in an LOD block is before the tick, its list tells what is open; the others are marked as
 * inside. 0: the LOD block can't be read. */
static int look_at_lod(struct search *search, uint32_t lod)
{
    struct strobe_lod_track track;
    uint32_t thread;
    if (strobe_view_lod(search->view, lod, 0) != STROBE_OK)
        return 0;
    while (next_track(search->view, &track, &thread)) {
        uint32_t at = wanted_of(search, thread);
        if (!at || search->places[at - 1].is_done || track.first_tick > search->tick)
            continue;
        if (track.last_tick > search->tick || track.depth > track.n_open) {
            search->places[at - 1].is_inside = 1;
            search->n_inside++;
            continue;
        }
        for (uint32_t i = 0; i < track.n_open; i++)
            set_open(&search->lists[at - 1], i, track.open[i].begin, track.open[i].loc);
        search->places[at - 1].is_done = 1;
        search->n_left--;
    }
    return 1;
}

/* Threads that were not found though they should have been there are looked for in the blocks before. */
static void leave_lod(struct search *search)
{
    if (!search->n_inside)
        return;
    for (uint32_t i = 0; i < search->n_lists; i++)
        search->places[i].is_inside = 0;
    search->n_inside = 0;
}

static void find_places(struct search *search)
{
    struct strobe_view *view = search->view;
    int is_read = 0; /* the LOD block of these blocks was */
    for (uint32_t i = view->n_blocks; i-- > 0 && search->n_left;) {
        uint32_t lod = strobe_view_lod_of(view, i);
        const struct strobe_view_lod *node = lod ? &view->lods[lod - 1] : NULL;
        if (node && i == node->end - 1)
            is_read = node->tick_min > search->tick || look_at_lod(search, lod - 1);
        if (node && is_read && !search->n_inside) {
            i = node->first;
            continue;
        }
        if (strobe_view_block(view, i).tick_min <= search->tick)
            look_at_parts(search, i);
        if (node && i == node->first)
            leave_lod(search);
    }
}

/* ---- what is below ---- */

/* The zone at `depth` that a part left open. 0: none. */
static int left_open(struct search *search, uint32_t block, uint32_t number, uint32_t depth,
                     struct strobe_open_at *out)
{
    const struct strobe_events *events = strobe_view_events(search->view, block);
    struct strobe_carry carry = {0};
    int found = 0;
    if (!events || number >= events->n_parts)
        return 0;
    strobe_replay_part(events, &events->parts[number], &search->view->trace->schema, 0, &carry,
                       &search->replay);
    if (depth < carry.n_open && !carry.open[depth].is_unknown) {
        *out = (struct strobe_open_at){carry.open[depth].begin, carry.open[depth].loc, 1, 0};
        found = 1;
    }
    strobe_carry_free(&carry);
    return found;
}

/* The list of an LOD block. 1: the thread is in it, and *found tells whether it knows the zone. */
static int below_in_lod(struct search *search, uint32_t lod, uint32_t thread, uint32_t depth,
                        struct strobe_open_at *out, int *found)
{
    struct strobe_lod_track track;
    uint32_t of;
    if (strobe_view_lod(search->view, lod, 0) != STROBE_OK)
        return 0;
    while (next_track(search->view, &track, &of)) {
        if (of != thread)
            continue;
        *found = depth < track.n_open;
        if (*found)
            *out = (struct strobe_open_at){track.open[depth].begin, track.open[depth].loc, 1, 0};
        return 1;
    }
    return 0;
}

/* The last part of a thread in a block, before part `before`, that reached down to `depth`. */
static int reaches(struct search *search, uint32_t block, uint32_t before, uint32_t thread,
                   uint32_t depth, uint32_t *number)
{
    uint32_t n;
    const struct strobe_view_part *parts = strobe_view_parts(search->view, block, &n);
    for (uint32_t i = n; i-- > 0;)
        if (parts[i].thread == thread && parts[i].number < before && parts[i].n_below <= depth) {
            *number = parts[i].number;
            return 1;
        }
    return 0;
}

/* Who began the zone at `depth` that was open when the part in `block` started. */
static int find_below(struct search *search, const struct place *place, uint32_t depth,
                      struct strobe_open_at *out)
{
    struct strobe_view *view = search->view;
    struct strobe_view_known *known = known_at(view, place->thread, depth);
    uint32_t number, before = place->number - 1;
    int is_same = known->is_used && known->thread == place->thread && known->depth == depth;
    for (uint32_t i = place->block + 1; i-- > 0; before = UINT32_MAX) {
        uint32_t lod = strobe_view_lod_of(view, i);
        int found = 0;
        if (is_same && i < place->block && known->from < i && i < known->to) {
            *out = (struct strobe_open_at){known->begin, known->loc, 1, 0};
            known->to = place->block > known->to ? place->block : known->to;
            return 1;
        }
        if (lod && i != place->block && i == view->lods[lod - 1].end - 1) {
            if (!below_in_lod(search, lod - 1, place->thread, depth, out, &found)) {
                i = view->lods[lod - 1].first;
                continue;
            }
            if (found) {
                *known = (struct strobe_view_known){place->thread, depth,    i, place->block,
                                                    out->begin,    out->loc, 1};
                return 1;
            }
        }
        if (!reaches(search, i, before, place->thread, depth, &number))
            continue;
        if (!left_open(search, i, number, depth, out))
            return 0;
        *known = (struct strobe_view_known){place->thread, depth,    i, place->block,
                                            out->begin,    out->loc, 1};
        return 1;
    }
    return 0;
}

/* ---- the part itself ---- */

static void open_in_part(struct search *search, const struct place *place,
                         struct strobe_open_list *list)
{
    const struct strobe_events *events = strobe_view_events(search->view, place->block);
    struct strobe_carry carry = {0};
    if (!events || place->number > events->n_parts)
        return;
    const struct strobe_part *part = &events->parts[place->number - 1];
    strobe_replay_part(events, part, &search->view->trace->schema, 0, &carry, &search->replay);
    for (uint32_t i = 0; i < search->replay.n_zones; i++) {
        const struct strobe_zone_row *zone = &search->replay.zones[i];
        if (zone->state == STROBE_ZONE_ENDED && zone->begin <= search->tick &&
            zone->begin + zone->ticks > search->tick)
            set_open(list, zone->depth, zone->begin, strobe_zone_loc(part, zone));
    }
    for (uint32_t i = 0; i < carry.n_open; i++)
        if (!carry.open[i].is_unknown && carry.open[i].begin <= search->tick)
            set_open(list, i, carry.open[i].begin, carry.open[i].loc);
    uint32_t n_below = (uint32_t)part->n_below;
    strobe_carry_free(&carry);
    for (uint32_t depth = 0; depth < n_below && depth < 512; depth++) {
        struct strobe_open_at below;
        if (find_below(search, place, depth, &below))
            set_open(list, depth, below.begin, below.loc);
    }
}

enum strobe_err strobe_pixels_open(struct strobe_view *view, uint64_t tick, const uint32_t *wanted,
                                   uint32_t n_wanted, struct strobe_open_list *lists,
                                   uint32_t n_lists)
{
    struct search search = {.view = view,
                            .tick = tick,
                            .wanted = wanted,
                            .n_wanted = n_wanted,
                            .lists = lists,
                            .n_lists = n_lists};
    search.places = calloc(n_lists + 1ull, sizeof *search.places);
    if (!search.places)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < n_wanted; i++)
        search.n_left += wanted[i] != 0;
    find_places(&search);
    for (uint32_t i = 0; i < n_lists; i++)
        if (search.places[i].number)
            open_in_part(&search, &search.places[i], &lists[i]);
    free(search.places);
    strobe_replay_free(&search.replay);
    return STROBE_OK;
}
