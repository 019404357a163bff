/* encode_zones.c - begins and ends of zones: paired here once, for sums, histogram and level of detail.
 *
 * One by one, in any order and of any kind; runs of simple ones: encode_runs.c.
 * SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "file/encode_sums.h"

static bool grow_stack(struct strobe_track *track)
{
    STROBE_ASSERT(track->depth == track->cap);
    if (track->depth >= STROBE_STACK_MAX)
        return false;
    uint32_t cap = track->cap ? 2 * track->cap : 16;
    struct strobe_open_zone *stack = strobe_array_resize(track->stack, cap, sizeof *stack);
    if (!stack)
        return false;
    track->stack = stack;
    track->cap = cap;
    return true;
}

/* ---- zones in zones of their location ---- */

/* Entries of earlier parts are below start_depth: they never move up. Those of this part have their locations in the list
 * already, so none of them is found here. */
uint32_t strobe_encode_first_depth(struct strobe_encoder *enc, uint64_t loc)
{
    const struct strobe_open_zone *stack = enc->track->stack;
    uint32_t depth = enc->track->depth, n = 0, at = STROBE_DEPTH_NONE;
    uint32_t end = enc->start_depth < depth ? enc->start_depth : depth;
    if (end > STROBE_NESTED_SEEK) {
        enc->lacks_nested = true;
        enc->nests[enc->n_locs] = (struct strobe_loc_nest){0, end}; /* not too few */
        return STROBE_DEPTH_COUNTED;
    }
    for (uint32_t i = 0; i < end; i++)
        if (stack[i].loc == loc) {
            at = i;
            n++;
        }
    enc->nests[enc->n_locs] = (struct strobe_loc_nest){0, n};
    return n > 1 ? STROBE_DEPTH_COUNTED : at;
}

/* Index of a location in the part's list; UINT32_MAX: it is not there. */
static uint32_t find_listed(const struct strobe_encoder *enc, uint64_t loc)
{
    uint32_t at = STROBE_DICT_PLACE(loc);
    while (enc->dict[at].serial == enc->serial && enc->dict[at].loc != loc)
        at = (at + 1) & (STROBE_DICT_SIZE - 1);
    return enc->dict[at].serial == enc->serial ? enc->dict[at].index : UINT32_MAX;
}

/* The zones of a location are counted from now on. */
static void set_counted(struct strobe_encoder *enc, uint32_t index, uint32_t n_open)
{
    struct strobe_near_loc *near = &enc->near[enc->locs[index] % STROBE_NEAR_LOCS];
    STROBE_ASSERT(index < enc->n_locs);
    if (near->loc == enc->locs[index] && near->depth != STROBE_DEPTH_FAR)
        near->depth = STROBE_DEPTH_COUNTED;
    enc->depths[index] = STROBE_DEPTH_COUNTED;
    enc->nests[index].n_open = n_open;
}

/* Count the open zones of a location from now on, all those of the lowest `depth` entries. */
static void count_open(struct strobe_encoder *enc, uint32_t index, uint32_t depth)
{
    struct strobe_open_zone *stack = enc->track->stack;
    uint32_t n = 0;
    for (uint32_t i = 0; i < depth; i++)
        if (stack[i].loc == enc->locs[index]) {
            n++;
            stack[i].dict |= STROBE_ZONE_COUNTED;
        }
    set_counted(enc, index, n);
}

void strobe_encode_change_depth(struct strobe_encoder *enc, uint32_t index, uint32_t depth)
{
    struct strobe_open_zone *stack = enc->track->stack;
    uint32_t at = enc->depths[index];
    if (at == STROBE_DEPTH_NONE) {
        enc->depths[index] = depth;
        return;
    }
    STROBE_ASSERT(at != STROBE_DEPTH_COUNTED && at != depth);
    bool is_open = at < depth && stack[at].loc == enc->locs[index];
    if (is_open)
        stack[at].dict |= STROBE_ZONE_COUNTED;
    set_counted(enc, index, is_open);
}

void strobe_encode_zone_begin(struct strobe_encoder *enc, uint64_t tick, uint64_t loc)
{
    struct strobe_track *track = enc->track;
    uint32_t index = strobe_encode_dict_index(enc, loc);
    if (__builtin_expect(index < STROBE_SYM_BEGIN_DIRECT, 1)) {
        strobe_encode_put_time(enc, tick, (uint8_t)(STROBE_SYM_BEGIN + index));
    } else {
        strobe_encode_put_time(enc, tick, STROBE_SYM_BEGIN_FAR);
        enc->side_at = strobe_varint_put(enc->side_at, index);
    }
    enc->by_kind[STROBE_KIND_ZONE_BEGIN]++;
    if (__builtin_expect(track->fiber != 0, 0))
        return;
    if (__builtin_expect(track->depth == track->cap, 0) && !grow_stack(track))
        return; /* its end will be recorded as lost */
    STROBE_ASSERT(track->depth < track->cap && enc->locs[index] == loc);
    uint32_t dict = strobe_encode_nest_begin(enc, index, track->depth);
    track->stack[track->depth++] = (struct strobe_open_zone){loc, tick, 0, dict, enc->serial};
}

/* The entry on top was open when the part started and ends now: it must be listed. */
static void list_entry(struct strobe_encoder *enc, const struct strobe_open_zone *zone)
{
    struct strobe_track *track = enc->track;
    STROBE_ASSERT(enc->low && track->depth == enc->low - 1); /* one after the other, top first */
    STROBE_ASSERT(enc->n_listed == enc->start_depth - enc->low);
    struct strobe_open_zone *listed =
        STROBE_ARRAY_PUSH(enc->listed, enc->n_listed, enc->cap_listed);
    if (!listed) {
        enc->failed = true;
        return;
    }
    *listed = *zone;
    listed->child = enc->low_child;
    enc->low = track->depth;
    enc->low_child = track->depth ? track->stack[track->depth - 1].child : 0;
}

/* Pop the top zone; it ended at `tick`. */
static inline void finish_zone(struct strobe_encoder *enc, uint64_t tick)
{
    struct strobe_track *track = enc->track;
    STROBE_ASSERT(track->depth && track->depth <= track->cap);
    struct strobe_open_zone *zone = &track->stack[track->depth - 1];
    uint32_t index = /* before it is gone: it counts as open */
        zone->serial == enc->serial ? zone->dict & ~STROBE_ZONE_COUNTED
                                    : strobe_encode_dict_index(enc, zone->loc);
    track->depth--;
    uint64_t duration = tick > zone->begin ? tick - zone->begin : 0;
    uint64_t self = duration > zone->child ? duration - zone->child : 0;
    if (__builtin_expect(track->depth < enc->low, 0))
        list_entry(enc, zone);
    if (track->depth)
        track->stack[track->depth - 1].child += duration;
    enc->n_zones++;
    if (strobe_encode_is_counted(enc, index))
        strobe_encode_nest_end(enc, index, duration);
    if (__builtin_expect(index < STROBE_STAT_LOCS, 1))
        strobe_encode_sum(&enc->sums[index], duration, self);
    strobe_encode_lod_zone(enc, track->depth, index, zone->begin, tick, duration);
}

/* Pop the top zone; its end is missing. It was open until now, but is in no sum. */
static void abandon_zone(struct strobe_encoder *enc, uint64_t tick)
{
    struct strobe_track *track = enc->track;
    STROBE_ASSERT(track->depth && track->depth <= track->cap);
    struct strobe_open_zone *zone = &track->stack[--track->depth];
    uint32_t index = find_listed(enc, zone->loc);
    if (index != UINT32_MAX && strobe_encode_is_counted(enc, index))
        enc->nests[index].n_open--;
    if (track->depth < enc->low)
        list_entry(enc, zone);
    uint64_t from = zone->begin > enc->first_tick ? zone->begin : enc->first_tick;
    if (track->depth >= STROBE_LOD_DEPTHS || tick <= from)
        return;
    strobe_encode_lod_rows(enc, track->depth);
    strobe_encode_busy(enc, track->depth, from, tick);
}

/* ---- zones that end in any order ---- */

/* Kept in `serial`, whose parts are far fewer: such a zone is looked up in the part's list anew. */
#define LOOSE (1u << 31)

/* Whether the end of the zone below the `n_above` on top leaves those open: it or one of them may end
 * in any order. Else their ends are missing. */
static bool leaves_others_open(const struct strobe_track *track, uint32_t n_above)
{
    STROBE_ASSERT(n_above < track->depth);
    for (uint32_t i = 0; i <= n_above; i++)
        if (track->stack[track->depth - 1 - i].serial & LOOSE)
            return true;
    return false;
}

/* List every zone that was open when the part started, down to the one at `at`. */
static void list_down_to(struct strobe_encoder *enc, uint32_t at)
{
    struct strobe_track *track = enc->track;
    uint32_t depth = track->depth;
    while (enc->low > at && !enc->failed) {
        track->depth = enc->low - 1; /* list_entry looks at what is below the one it lists */
        list_entry(enc, &track->stack[track->depth]);
        track->stack[track->depth].dict = UINT32_MAX; /* of an earlier part: not for the fast way */
    }
    track->depth = depth;
}

/* The zone at `at` ends, those above it move down: what is known of their depths does not hold any more. */
static void nest_end_under(struct strobe_encoder *enc, uint32_t at, uint32_t index,
                           uint64_t duration)
{
    const struct strobe_track *track = enc->track;
    uint32_t below = at;
    while (below && track->stack[below - 1].loc != track->stack[at].loc)
        below--;
    for (uint32_t i = at; i < track->depth; i++) {
        uint32_t moved = find_listed(enc, track->stack[i].loc);
        if (moved != UINT32_MAX && !strobe_encode_is_counted(enc, moved))
            count_open(enc, moved, track->depth);
    }
    STROBE_ASSERT(strobe_encode_is_counted(enc, index) && enc->nests[index].n_open);
    enc->nests[index].n_open--;
    if (below) {
        enc->nests[index].nested += duration;
        enc->has_nested = true;
    }
}

/* The zone below the `n_above` on top ends; those move down by one. */
static void end_under(struct strobe_encoder *enc, uint64_t tick, uint32_t n_above)
{
    struct strobe_track *track = enc->track;
    uint32_t at = track->depth - 1 - n_above;
    STROBE_ASSERT(n_above < track->depth && at + n_above + 1 == track->depth);
    strobe_encode_put_time(enc, tick, STROBE_KIND_ZONE_END_UNDER);
    enc->by_kind[STROBE_KIND_ZONE_END_UNDER]++;
    enc->side_at = strobe_varint_put(enc->side_at, n_above);
    struct strobe_open_zone zone = track->stack[at];
    uint32_t index = strobe_encode_dict_index(enc, zone.loc); /* while it counts as open */
    uint64_t duration = tick > zone.begin ? tick - zone.begin : 0;
    nest_end_under(enc, at, index, duration);
    list_down_to(enc, at);
    STROBE_ASSERT(enc->failed || enc->low <= at || at >= enc->start_depth);
    if (at)
        track->stack[at - 1].child += duration;
    memmove(&track->stack[at], &track->stack[at + 1], n_above * sizeof zone);
    track->depth--;
    enc->n_zones++;
    if (index < STROBE_STAT_LOCS)
        strobe_encode_sum(&enc->sums[index], duration,
                          duration > zone.child ? duration - zone.child : 0);
    strobe_encode_lod_zone(enc, at, index, zone.begin, tick, duration);
}

void strobe_encode_zone_loose(struct strobe_encoder *enc, uint64_t tick)
{
    struct strobe_track *track = enc->track;
    strobe_encode_event(enc, tick, STROBE_KIND_ZONE_LOOSE, NULL, 0);
    if (track->depth && !track->fiber)
        track->stack[track->depth - 1].serial |= LOOSE;
}

bool strobe_encode_is_innermost(const struct strobe_encoder *enc, uint64_t loc)
{
    const struct strobe_track *track = enc->track;
    return track->depth && !track->fiber && track->stack[track->depth - 1].loc == loc;
}

/* An end that is not that of the top zone. */
static void end_elsewhere(struct strobe_encoder *enc, uint64_t tick, uint64_t loc)
{
    struct strobe_track *track = enc->track;
    uint32_t n_above = 0;
    if (!track->fiber)
        while (n_above < track->depth && track->stack[track->depth - 1 - n_above].loc != loc)
            n_above++;
    if (track->fiber || n_above == track->depth) {
        strobe_encode_put_time(enc, tick, STROBE_KIND_ZONE_END_AT);
        enc->by_kind[STROBE_KIND_ZONE_END_AT]++;
        enc->side_at = strobe_varint_put(enc->side_at, loc);
        return;
    }
    if (leaves_others_open(track, n_above)) {
        end_under(enc, tick, n_above);
        return;
    }
    strobe_encode_put_time(enc, tick, STROBE_KIND_ZONE_END_POP);
    enc->by_kind[STROBE_KIND_ZONE_END_POP]++;
    enc->side_at = strobe_varint_put(enc->side_at, n_above);
    for (uint32_t i = 0; i < n_above; i++)
        abandon_zone(enc, tick);
    finish_zone(enc, tick);
}

void strobe_encode_zone_end(struct strobe_encoder *enc, uint64_t tick, uint64_t loc)
{
    struct strobe_track *track = enc->track;
    if (__builtin_expect(!track->depth || track->fiber || track->stack[track->depth - 1].loc != loc,
                         0)) {
        end_elsewhere(enc, tick, loc);
        return;
    }
    strobe_encode_put_time(enc, tick, STROBE_KIND_ZONE_END);
    enc->by_kind[STROBE_KIND_ZONE_END]++;
    finish_zone(enc, tick);
}
