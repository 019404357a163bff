/* build_events.c - the events of a process, into the block that its store has under construction.
 *
 * The encoder has one part open at a time; a change of track closes it. What grows is charged before
 * it grows: a zone whose begin was refused has its end refused too.  SPDX-License-Identifier: MIT */
#include "build/store.h"

#include <string.h>

#include "base/array.h"
#include "base/assert.h"

enum { PIECE_BYTES = 192 << 10, STACK_MAX = 4096, FIBER_DEPTH_MAX = 1 << 16 };

/* ---- fibers ---- */

/* The open zones of a fiber, NULL when they are over the budget. */
static struct strobe_build_fiber *fiber_of(struct strobe_build *build, uint64_t id)
{
    for (uint32_t i = build->n_fibers; i-- > 0;)
        if (build->fibers[i].id == id)
            return &build->fibers[i];
    if (build->n_fibers == build->cap_fibers) {
        uint32_t cap = build->cap_fibers ? 2 * build->cap_fibers : 16;
        if (!strobe_build_charge(build,
                                 (int64_t)((cap - build->cap_fibers) * sizeof *build->fibers)))
            return NULL;
        struct strobe_build_fiber *fibers = strobe_array_resize(build->fibers, cap, sizeof *fibers);
        if (!fibers)
            return NULL;
        build->fibers = fibers;
        build->cap_fibers = cap;
    }
    build->fibers[build->n_fibers] = (struct strobe_build_fiber){.id = id};
    return &build->fibers[build->n_fibers++];
}

static bool push_fiber(struct strobe_build *build, struct strobe_build_fiber *fiber, uint64_t loc)
{
    if (fiber->depth == fiber->cap) {
        uint32_t cap = fiber->cap ? 2 * fiber->cap : 16;
        if (cap > FIBER_DEPTH_MAX ||
            !strobe_build_charge(build, (int64_t)((cap - fiber->cap) * sizeof loc)))
            return false;
        uint64_t *locs = strobe_array_resize(fiber->locs, cap, sizeof *locs);
        if (!locs)
            return false;
        fiber->locs = locs;
        fiber->cap = cap;
    }
    STROBE_ASSERT(fiber->depth < fiber->cap && !fiber->n_over);
    fiber->locs[fiber->depth++] = loc;
    return true;
}

void strobe_build_fiber(struct strobe_build *build, struct strobe_build_track *track, uint64_t tick,
                        uint64_t fiber)
{
    if (fiber)
        strobe_build_event(build, track, tick, STROBE_KIND_FIBER_ENTER, &fiber, NULL, 0);
    else
        strobe_build_event(build, track, tick, STROBE_KIND_FIBER_LEAVE, NULL, NULL, 0);
}

/* ---- zones ---- */

static uint64_t unknown_loc(struct strobe_build *build)
{
    if (!build->unknown_loc) {
        const char *text = "begin not seen";
        build->unknown_loc = strobe_build_loc(
            build, &(struct strobe_build_loc){.function = text, .n_function = strlen(text)});
    }
    return build->unknown_loc;
}

static void refuse(struct strobe_build *build, struct strobe_build_track *track, uint64_t tick)
{
    strobe_build_lose(build, track, STROBE_LOSS_REFUSED, 1, tick);
}

/* Room for one more open zone, charged before the encoder takes it. */
static bool room_for_zone(struct strobe_build *build, struct strobe_build_track *track)
{
    const struct strobe_track *inner = &track->track;
    if (inner->depth < inner->cap)
        return !track->n_over;
    uint32_t more = inner->cap ? inner->cap : 16;
    STROBE_ASSERT(inner->depth == inner->cap);
    return !track->n_over && inner->depth < STROBE_STACK_MAX &&
           strobe_build_charge(build, (int64_t)(more * sizeof *inner->stack));
}

void strobe_build_zone_begin(struct strobe_build *build, struct strobe_build_track *track,
                             uint64_t tick, uint64_t loc)
{
    if (strobe_build_is_skipped(track))
        return;
    struct strobe_build_fiber *fiber =
        track->track.fiber ? fiber_of(build, track->track.fiber) : NULL;
    bool taken = fiber ? !fiber->n_over && push_fiber(build, fiber, loc)
                       : !track->track.fiber && room_for_zone(build, track);
    if (!taken) {
        if (fiber)
            fiber->n_over++;
        else
            track->n_over++;
        refuse(build, track, tick);
        return;
    }
    strobe_encode_zone_begin(strobe_build_store_part(build->store, build->proc, track), tick, loc);
}

static bool end_in_fiber(struct strobe_build *build, struct strobe_build_track *track,
                         uint64_t tick)
{
    struct strobe_build_fiber *fiber = fiber_of(build, track->track.fiber);
    if (!fiber || fiber->n_over) {
        if (fiber)
            fiber->n_over--;
        refuse(build, track, tick);
        return true;
    }
    bool known = fiber->depth > 0;
    STROBE_ASSERT(fiber->depth <= fiber->cap);
    uint64_t loc = known ? fiber->locs[--fiber->depth] : unknown_loc(build);
    strobe_encode_zone_end(strobe_build_store_part(build->store, build->proc, track), tick, loc);
    return known;
}

bool strobe_build_zone_end(struct strobe_build *build, struct strobe_build_track *track,
                           uint64_t tick)
{
    if (strobe_build_is_skipped(track))
        return true;
    if (track->track.fiber)
        return end_in_fiber(build, track, tick);
    if (track->n_over) {
        track->n_over--;
        refuse(build, track, tick);
        return true;
    }
    bool known = track->track.depth > 0;
    uint64_t loc = known ? track->track.stack[track->track.depth - 1].loc : unknown_loc(build);
    strobe_encode_zone_end(strobe_build_store_part(build->store, build->proc, track), tick, loc);
    return known;
}

void strobe_build_zone_end_of(struct strobe_build *build, struct strobe_build_track *track,
                              uint64_t tick, uint64_t loc)
{
    strobe_encode_zone_end(strobe_build_store_part(build->store, build->proc, track), tick, loc);
}

/* A step that is not for the fast way. Each of its events may be in the file already. */
static void put_step(struct strobe_build *build, struct strobe_build_track *track,
                     const struct strobe_zone_step *step)
{
    if (step->loc == STROBE_STEP_END) {
        strobe_build_zone_end(build, track, step->tick);
    } else if (step->loc == STROBE_STEP_VALUE) {
        strobe_build_event(build, track, step->tick, STROBE_KIND_ZONE_VALUE, &step->end, NULL, 0);
    } else {
        strobe_build_zone_begin(build, track, step->tick, step->loc);
        if (step->end)
            strobe_build_zone_end(build, track, step->end);
    }
}

void strobe_build_steps(struct strobe_build *build, struct strobe_build_track *track,
                        const struct strobe_zone_step *steps, size_t n_steps)
{
    const struct strobe_zone_step *at = steps, *end = steps + n_steps;
    while (at < end) {
        if (!track->n_skip && !track->n_over)
            at = strobe_encode_steps(strobe_build_store_part(build->store, build->proc, track), at,
                                     end);
        STROBE_ASSERT(at >= steps && at <= end);
        if (at < end)
            put_step(build, track, at++);
    }
}

/* ---- other events ---- */

static uint8_t *put_number(uint8_t *at, char letter, uint64_t number)
{
    if (letter == 'd') {
        memcpy(at, &number, sizeof number);
        return at + sizeof number;
    }
    return strobe_varint_put(at, letter == 'i' ? strobe_zigzag((int64_t)number) : number);
}

static uint8_t *put_text(uint8_t *at, const char *text, size_t n_bytes)
{
    STROBE_ASSERT(n_bytes <= PIECE_BYTES);
    at = strobe_varint_put(at, n_bytes);
    if (n_bytes)
        memcpy(at, text, n_bytes);
    return at + n_bytes;
}

static void put_event(struct strobe_build *build, struct strobe_build_track *track, uint64_t tick,
                      enum strobe_kind kind, const uint8_t *end)
{
    if (strobe_build_is_skipped(track))
        return;
    const uint8_t *fields = strobe_build_store_scratch(build->store);
    STROBE_ASSERT(end >= fields && end - fields <= STROBE_SIDE_BYTES / 4);
    strobe_encode_event(strobe_build_store_part(build->store, build->proc, track), tick, kind,
                        fields, (size_t)(end - fields));
}

void strobe_build_event(struct strobe_build *build, struct strobe_build_track *track, uint64_t tick,
                        enum strobe_kind kind, const uint64_t *numbers, const char *text,
                        size_t n_bytes)
{
    while (n_bytes > PIECE_BYTES) {
        uint8_t *piece = put_text(strobe_build_store_scratch(build->store), text, PIECE_BYTES);
        put_event(build, track, tick, STROBE_KIND_STR_PIECE, piece);
        text += PIECE_BYTES;
        n_bytes -= PIECE_BYTES;
    }
    uint8_t *at = strobe_build_store_scratch(build->store);
    STROBE_ASSERT(kind < STROBE_KIND_COUNT && strobe_build_letters[kind]);
    for (const char *letter = strobe_build_letters[kind]; *letter; letter++)
        at = *letter == 's' ? put_text(at, text, n_bytes) : put_number(at, *letter, *numbers++);
    put_event(build, track, tick, kind, at);
}

void strobe_build_own_time(struct strobe_build *build, struct strobe_build_track *track,
                           int64_t more)
{
    uint8_t field[STROBE_VARINT_MAX];
    uint8_t *end = strobe_varint_put(field, strobe_zigzag(more));
    struct strobe_encoder *enc = strobe_build_store_same_part(build->store, track);
    if (enc) /* else the event before it was refused */
        strobe_encode_event(enc, enc->prev_tick, STROBE_KIND_OWN_TIME, field,
                            (size_t)(end - field));
}

void strobe_build_stack(struct strobe_build *build, struct strobe_build_track *track, uint64_t tick,
                        enum strobe_kind kind, uint64_t cpu, const uint64_t *addresses,
                        size_t n_addresses)
{
    uint8_t *at = strobe_build_store_scratch(build->store);
    size_t n = n_addresses < STACK_MAX ? n_addresses : STACK_MAX;
    uint64_t last = 0;
    if (kind == STROBE_KIND_SAMPLE)
        at = strobe_varint_put(at, cpu);
    at = strobe_varint_put(at, n);
    for (size_t i = 0; i < n; i++) {
        at = strobe_varint_put(at, strobe_zigzag((int64_t)(addresses[i] - last)));
        last = addresses[i];
    }
    put_event(build, track, tick, kind, at);
}
