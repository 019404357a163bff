/* zone.c - finds a zone: who is open at the tick (pixels_open.c), then part by part until it ends.
 * SPDX-License-Identifier: MIT */
#include "query/zone.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct look {
    struct strobe_view *view;
    uint32_t thread, depth;
    struct strobe_zone_detail *out;
    struct strobe_replay replay;
    struct strobe_carry carry;
    uint32_t n_parts;
    int is_done;
};

void strobe_zone_sums_add(struct strobe_zone_sums *sums, uint64_t loc, uint64_t ticks)
{
    uint32_t i = 0;
    while (i < sums->n && sums->rows[i].loc != loc)
        i++;
    if (i == sums->n) {
        if (sums->n >= 4096 || STROBE_ARRAY_REACH(sums->rows, sums->room, i))
            return;
        sums->rows[sums->n++] = (struct strobe_zone_sum){.loc = loc};
    }
    sums->rows[i].count++;
    sums->rows[i].ticks += ticks;
}

static int by_ticks(const void *a, const void *b)
{
    const struct strobe_zone_sum *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks > y->ticks ? -1 : 1;
    return x->loc < y->loc ? -1 : x->loc > y->loc;
}

void strobe_zone_sums_sort(struct strobe_zone_detail *detail)
{
    if (detail->children.n)
        qsort(detail->children.rows, detail->children.n, sizeof *detail->children.rows, by_ticks);
    if (detail->inside.n)
        qsort(detail->inside.rows, detail->inside.n, sizeof *detail->inside.rows, by_ticks);
}

static void take_note(struct strobe_note *to, struct strobe_note *from)
{
    strobe_note_clear(to);
    *to = *from;
    memset(from, 0, sizeof *from);
}

/* The zones that end in a part: the one that is looked for, and those inside it. */
static void look_at_rows(struct look *look, const struct strobe_part *part)
{
    struct strobe_zone_detail *out = look->out;
    for (uint32_t i = 0; i < look->replay.n_zones && !look->is_done; i++) {
        const struct strobe_zone_row *zone = &look->replay.zones[i];
        if (zone->depth == look->depth && zone->begin == out->begin &&
            strobe_zone_loc(part, zone) == out->loc) {
            out->state = (enum strobe_zone_state)zone->state;
            out->end = zone->begin + zone->ticks;
            out->self = zone->state == STROBE_ZONE_ENDED ? zone->self : 0;
            if (zone->note)
                take_note(&out->note, &look->replay.notes[zone->note - 1]);
            look->is_done = 1;
        } else if (zone->depth > look->depth && zone->begin >= out->begin &&
                   zone->state == STROBE_ZONE_ENDED) {
            uint64_t loc = strobe_zone_loc(part, zone);
            strobe_zone_sums_add(&out->inside, loc, zone->ticks);
            if (zone->depth == look->depth + 1) {
                strobe_zone_sums_add(&out->children, loc, zone->ticks);
                out->n_children++;
            }
        }
    }
}

static void look_at_part(struct look *look, uint32_t block, uint32_t number)
{
    const struct strobe_events *events = strobe_view_events(look->view, block);
    if (!events || number >= events->n_parts)
        return;
    strobe_replay_part(events, &events->parts[number], &look->view->trace->schema,
                       STROBE_REPLAY_NOTES, &look->carry, &look->replay);
    look_at_rows(look, &events->parts[number]);
    look->n_parts++;
}

/* 1: the blocks of an LOD block need not be looked at: the thread is not in them, or the zone goes on all through them and
 * enough was read of it. */
static int can_skip(struct look *look, uint32_t lod)
{
    struct strobe_view *view = look->view;
    struct strobe_lod_track track;
    struct strobe_lod_lanes coarse, fine;
    if (strobe_view_lod(view, lod, 0) != STROBE_OK)
        return 0;
    while (strobe_lod_next(&view->lod_reader, &track, &coarse, &fine) == STROBE_OK) {
        if (strobe_view_thread(view, track.proc, track.track) != look->thread)
            continue;
        if (track.low <= look->depth || look->n_parts < STROBE_ZONE_MAX_PARTS)
            return 0;
        look->out->is_cut = 1;
        return 1;
    }
    return 1;
}

static void look_at_block(struct look *look, uint32_t block)
{
    uint32_t n, numbers[64], n_numbers = 0;
    const struct strobe_view_part *parts = strobe_view_parts(look->view, block, &n);
    for (uint32_t i = 0; i < n && n_numbers < 64; i++) {
        if (parts[i].thread != look->thread || parts[i].last_tick < look->out->begin)
            continue;
        int ends_here = parts[i].n_below <= look->depth;
        if (look->n_parts + n_numbers < STROBE_ZONE_MAX_PARTS || ends_here)
            numbers[n_numbers++] = parts[i].number;
        else
            look->out->is_cut = 1;
    }
    for (uint32_t i = 0; i < n_numbers && !look->is_done; i++)
        look_at_part(look, block, numbers[i]);
}

static void find_end(struct look *look)
{
    struct strobe_view *view = look->view;
    for (uint32_t i = 0; i < view->n_blocks && !look->is_done; i++) {
        uint32_t lod = strobe_view_lod_of(view, i);
        const struct strobe_view_lod *node = lod ? &view->lods[lod - 1] : NULL;
        if (node && i == node->first &&
            (node->tick_max < look->out->begin || can_skip(look, lod - 1)))
            i = node->end - 1;
        else if (strobe_view_block(view, i).tick_max >= look->out->begin)
            look_at_block(look, i);
    }
}

/* The zone of the depth that begins or ends nearest to the tick, and at most `slack` from it. */
static int nearest_within(struct look *look, uint64_t tick, uint64_t slack,
                          struct strobe_zone_key *out)
{
    uint64_t lo = tick > slack ? tick - slack : 0, hi = tick + slack, best = UINT64_MAX;
    hi = hi < tick ? UINT64_MAX : hi;
    struct strobe_view *view = look->view;
    for (uint32_t b = 0; (b = strobe_view_next(view, b, lo, hi)) != STROBE_VIEW_NO_BLOCK; b++) {
        uint32_t n;
        const struct strobe_view_part *parts = strobe_view_parts(view, b, &n);
        for (uint32_t i = 0; i < n; i++) {
            const struct strobe_events *events;
            if (parts[i].thread != look->thread || parts[i].last_tick < lo ||
                parts[i].early_tick > hi || !(events = strobe_view_events(view, b)))
                continue;
            const struct strobe_part *part = &events->parts[parts[i].number];
            strobe_replay_part(events, part, &view->trace->schema, 0, NULL, &look->replay);
            for (uint32_t k = 0; k < look->replay.n_zones; k++) {
                const struct strobe_zone_row *zone = &look->replay.zones[k];
                uint64_t far = strobe_zone_distance(zone->begin, zone->begin + zone->ticks, tick);
                if (zone->depth != look->depth || zone->state != STROBE_ZONE_ENDED || far > slack ||
                    far > best || (far == best && zone->begin >= out->begin))
                    continue;
                best = far;
                *out = (struct strobe_zone_key){zone->begin, strobe_zone_loc(part, zone),
                                                look->depth, 0};
            }
        }
    }
    return best != UINT64_MAX;
}

/* As before, looked for in wider and wider rings: what lies near costs little, however far one may look. */
static int nearest(struct look *look, uint64_t tick, uint64_t slack, struct strobe_zone_key *out)
{
    for (int i = 12; i < 64 && 1ull << i < slack; i += 4)
        if (nearest_within(look, tick, 1ull << i, out))
            return 1;
    return nearest_within(look, tick, slack, out);
}

/* The zones of a thread that are open at a tick. */
static enum strobe_err open_at(struct strobe_view *view, uint32_t thread, uint64_t tick,
                               struct strobe_open_list *list)
{
    uint32_t n_threads = view->trace->thread_ids.n;
    uint32_t *wanted = calloc(n_threads + 1ull, sizeof *wanted);
    if (!wanted)
        return STROBE_ERR_NOMEM;
    wanted[thread] = 1;
    enum strobe_err err = strobe_pixels_open(view, tick, wanted, n_threads, list, 1);
    free(wanted);
    return err;
}

enum strobe_err strobe_zone_find(struct strobe_view *view, uint32_t thread, uint32_t depth,
                                 uint64_t tick, uint64_t slack, struct strobe_zone_key *out)
{
    struct look look = {.view = view, .thread = thread, .depth = depth};
    struct strobe_open_list list = {0};
    enum strobe_err err = open_at(view, thread, tick, &list);
    if (!err && depth < list.n && list.zones[depth].is_known)
        *out = (struct strobe_zone_key){list.zones[depth].begin, list.zones[depth].loc, depth, 0};
    else if (!err && (!slack || !nearest(&look, tick, slack, out)))
        err = STROBE_ERR_NOTFOUND;
    free(list.zones);
    strobe_replay_free(&look.replay);
    return err;
}

enum strobe_err strobe_zone_look(struct strobe_view *view, uint32_t thread,
                                 const struct strobe_zone_key *key, struct strobe_zone_detail *out)
{
    struct look look = {.view = view, .thread = thread, .depth = key->depth, .out = out};
    struct strobe_open_list list = {0};
    memset(out, 0, sizeof *out);
    out->begin = key->begin;
    out->loc = key->loc;
    out->depth = key->depth;
    out->state = STROBE_ZONE_OPEN;
    enum strobe_err err = open_at(view, thread, key->begin, &list);
    out->parents = list.zones;
    out->n_parents = list.n < key->depth ? list.n : key->depth;
    if (!err)
        find_end(&look);
    strobe_zone_sums_sort(out);
    strobe_replay_free(&look.replay);
    strobe_carry_free(&look.carry);
    return err;
}

struct stepping {
    struct strobe_view *view;
    uint32_t thread, depth;
    uint64_t tick;
    int is_next;
    const uint8_t *locs;
    uint32_t n_locs;
    struct strobe_zone_key best;
    uint32_t n_looked;
    int is_found;
    struct strobe_replay replay;
};

static int fits(const struct stepping *stepping, const struct strobe_part *part,
                const struct strobe_zone_row *zone)
{
    const struct strobe_trace *trace = stepping->view->trace;
    if (zone->state != STROBE_ZONE_ENDED ||
        (stepping->is_next ? zone->begin <= stepping->tick : zone->begin >= stepping->tick))
        return 0;
    if (stepping->is_found && (stepping->is_next ? zone->begin >= stepping->best.begin
                                                 : zone->begin <= stepping->best.begin))
        return 0;
    if (!stepping->locs)
        return zone->depth == stepping->depth;
    uint32_t loc = strobe_trace_loc(trace, trace->threads[stepping->thread].process,
                                    strobe_zone_loc(part, zone));
    return loc < stepping->n_locs && stepping->locs[loc];
}

static void step_block(struct stepping *stepping, uint32_t block)
{
    uint32_t n, numbers[64], n_numbers = 0;
    const struct strobe_view_part *parts = strobe_view_parts(stepping->view, block, &n);
    for (uint32_t i = 0; i < n && n_numbers < 64; i++)
        if (parts[i].thread == stepping->thread)
            numbers[n_numbers++] = parts[i].number;
    stepping->n_looked += n_numbers > 0;
    const struct strobe_events *events =
        n_numbers ? strobe_view_events(stepping->view, block) : NULL;
    for (uint32_t i = 0; events && i < n_numbers; i++) {
        const struct strobe_part *part = &events->parts[numbers[i]];
        strobe_replay_part(events, part, &stepping->view->trace->schema, 0, NULL,
                           &stepping->replay);
        for (uint32_t k = 0; k < stepping->replay.n_zones; k++) {
            const struct strobe_zone_row *zone = &stepping->replay.zones[k];
            if (!fits(stepping, part, zone))
                continue;
            stepping->best =
                (struct strobe_zone_key){zone->begin, strobe_zone_loc(part, zone), zone->depth, 0};
            stepping->is_found = 1;
        }
    }
}

/* The next block that may hold a zone nearer than the best so far. */
static uint32_t next_block(const struct stepping *stepping, uint32_t from)
{
    uint64_t tick = stepping->tick, begin = stepping->best.begin;
    return stepping->is_next
               ? strobe_view_next(stepping->view, from, tick,
                                  stepping->is_found ? begin : UINT64_MAX)
               : strobe_view_prev(stepping->view, from, stepping->is_found ? begin : 0, tick);
}

enum strobe_err strobe_zone_step(struct strobe_view *view, uint32_t thread, uint64_t tick,
                                 int is_next, uint32_t depth, const uint8_t *locs, uint32_t n_locs,
                                 struct strobe_zone_key *out)
{
    struct stepping stepping = {.view = view,
                                .thread = thread,
                                .depth = depth,
                                .tick = tick,
                                .is_next = is_next,
                                .locs = locs,
                                .n_locs = n_locs};
    uint32_t block = next_block(&stepping, is_next ? 0 : view->n_blocks);
    while (block != STROBE_VIEW_NO_BLOCK && stepping.n_looked < STROBE_ZONE_MAX_PARTS) {
        step_block(&stepping, block);
        block = next_block(&stepping, is_next ? block + 1 : block);
    }
    strobe_replay_free(&stepping.replay);
    *out = stepping.best;
    return stepping.is_found ? STROBE_OK : STROBE_ERR_NOTFOUND;
}

void strobe_zone_detail_free(struct strobe_zone_detail *detail)
{
    strobe_note_clear(&detail->note);
    free(detail->parents);
    free(detail->children.rows);
    free(detail->inside.rows);
    memset(detail, 0, sizeof *detail);
}
