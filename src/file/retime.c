/* retime.c - see retime.h. The encoder pairs zones again with their new times, so that its sums are those of the new events to the
 * digit.  SPDX-License-Identifier: MIT */
#include "file/retime.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "file/encode_internal.h"

uint64_t strobe_retime_tick(const struct strobe_retime *map, uint64_t tick, uint32_t *hint)
{
    const struct strobe_retime_piece *pieces = map->pieces;
    uint32_t i = *hint;
    STROBE_ASSERT(map->n_pieces && i < map->n_pieces);
    if (tick < pieces[i].from || (i + 1 < map->n_pieces && tick >= pieces[i + 1].from))
        *hint = i =
            (uint32_t)STROBE_ARRAY_BISECT(1, map->n_pieces, at, pieces[at].from <= tick) - 1;
    const struct strobe_retime_piece *piece = &pieces[i];
    uint64_t size = tick >= piece->from ? tick - piece->from : piece->from - tick;
    uint64_t ticks = (uint64_t)((unsigned __int128)size * piece->mult >> STROBE_RETIME_SHIFT);
    if (tick < piece->from) /* the trace's begin may lie before the other clock's */
        return piece->to > ticks ? piece->to - ticks : 0;
    uint64_t to = piece->to + ticks;
    if (i + 1 < map->n_pieces && to > pieces[i + 1].to && pieces[i + 1].to >= piece->to)
        to = pieces[i + 1].to;
    return to;
}

static uint64_t place(struct strobe_retimer *r, uint64_t tick)
{
    return strobe_retime_tick(r->map, tick, &r->hint);
}

/* ---- fields that are ticks ---- */

/* Which fields of a kind are ticks, by index behind the process. */
enum tick_use {
    TICK = 1,  /* a tick */
    KNOWN = 2, /* a tick; 0: not known */
    SPAN = 4,  /* so many ticks up to the event */
    OWN = 8,   /* a time of the process's own clock: a tick where it has none */
};
struct tick_field {
    uint16_t kind;
    uint8_t index, use;
};
static const struct tick_field tick_fields[] = {
    {STROBE_KIND_GPU_CALIBRATION, 2, OWN}, {STROBE_KIND_GPU_SYNC, 2, OWN},
    {STROBE_KIND_LOCK_WAITED, 2, SPAN},    {STROBE_META_THREAD, 2, TICK},
    {STROBE_META_GPU_CONTEXT, 4, OWN},     {STROBE_META_LOCK_KIND, 2, OWN | KNOWN},
    {STROBE_META_DEVICE_OP, 3, KNOWN},     {STROBE_META_DEVICE_OP, 4, KNOWN},
    {STROBE_FACT_LOSS, 3, TICK},           {STROBE_FACT_LOSS, 4, TICK},
    {STROBE_FACT_PROCESS_END, 0, TICK},    {STROBE_FACT_THREAD_END, 1, TICK},
    {STROBE_FACT_RECORDING, 0, TICK},      {STROBE_FACT_KEPT, 0, TICK},
    {STROBE_FACT_UNRECORDED, 1, TICK},
};

static int use_of(uint64_t kind, uint32_t index)
{
    for (size_t i = 0; i < sizeof tick_fields / sizeof tick_fields[0]; i++)
        if (tick_fields[i].kind == kind && tick_fields[i].index == index)
            return tick_fields[i].use;
    return 0;
}

static int has_ticks(uint64_t kind)
{
    for (size_t i = 0; i < sizeof tick_fields / sizeof tick_fields[0]; i++)
        if (tick_fields[i].kind == kind)
            return 1;
    return 0;
}

/* A field's new value; `at`: the old tick of the event that has it. */
static uint64_t place_field(struct strobe_retimer *r, int use, uint64_t proc, uint64_t value,
                            uint64_t at)
{
    if (!use || ((use & KNOWN) && !value))
        return value;
    if (use & SPAN)
        return place(r, at) - place(r, value < at ? at - value : 0);
    if ((use & OWN) && r->has_own_clock && r->has_own_clock(r->context, proc))
        return value;
    return place(r, value);
}

/* Fields with their ticks put right, into r->fields. Their size, 0: no memory, or they can't be read. */
static size_t place_fields(struct strobe_retimer *r, uint64_t kind, uint64_t proc, uint64_t at,
                           const char *letters, struct strobe_bytes in)
{
    size_t n = strobe_bytes_left(&in), n_out = 0;
    if (STROBE_ARRAY_RESERVE(r->fields, r->fields_room, n + 4ull * STROBE_VARINT_MAX))
        return 0;
    for (uint32_t i = 0; letters[i]; i++) {
        const char one[2] = {letters[i], 0};
        const uint8_t *from = in.at;
        int use = letters[i] == 'u' ? use_of(kind, i) : 0;
        if (use) {
            uint64_t value = place_field(r, use, proc, strobe_get_varint(&in), at);
            n_out = (size_t)(strobe_varint_put(r->fields + n_out, value) - r->fields);
        } else {
            strobe_decode_skip_fields(&in, one);
            memcpy(r->fields + n_out, from, (size_t)(in.at - from));
            n_out += (size_t)(in.at - from);
        }
    }
    memcpy(r->fields + n_out, in.at, strobe_bytes_left(&in)); /* of a newer writer */
    n_out += strobe_bytes_left(&in);
    return in.bad ? 0 : n_out;
}

void strobe_retimer_fields(struct strobe_retimer *r, uint64_t kind, uint64_t proc,
                           struct strobe_bytes fields, const struct strobe_schema *schema,
                           struct strobe_records *to)
{
    size_t n = 0;
    if (has_ticks(kind) && kind < STROBE_FACT_COUNT && schema->kind[kind].known) {
        const char *letters = schema->kind[kind].letters;
        int is_first = kind >= STROBE_META_COUNT && /* the process is one of the letters there */
                       (kind == STROBE_FACT_LOSS || kind == STROBE_FACT_PROCESS_END ||
                        kind == STROBE_FACT_THREAD_END);
        n = place_fields(r, kind, proc, 0, letters + is_first, fields);
    }
    if (n)
        strobe_records_raw(to, r->fields, n);
    else
        strobe_records_raw(to, fields.at, strobe_bytes_left(&fields));
}

/* ---- parts ---- */

static struct strobe_retimer_track *track_of(struct strobe_retimer *r, uint64_t proc, uint64_t id)
{
    uint64_t hash = strobe_hash_pair(proc, id, strobe_index_seed(&r->index));
    STROBE_INDEX_EACH (row, at, &r->index, hash) {
        if (r->tracks[row].proc == proc && r->tracks[row].id == id)
            return &r->tracks[row];
    }
    if (STROBE_ARRAY_REACH(r->tracks, r->tracks_room, r->n_tracks) ||
        strobe_index_add(&r->index, hash, r->n_tracks))
        return NULL;
    r->tracks[r->n_tracks].proc = proc;
    r->tracks[r->n_tracks].id = id;
    return &r->tracks[r->n_tracks++];
}

/* The zones that are open when the part begins, as its head has them. 0: no memory, or more than there can be. */
static int open_zones(struct strobe_retimer *r, struct strobe_retimer_track *track,
                      const struct strobe_part *part)
{
    struct strobe_track *state = &track->track;
    uint64_t depth = part->n_below + part->n_stack;
    if (depth > STROBE_STACK_MAX)
        return 0;
    if (part->pos == track->next_pos && state->depth == depth)
        return 1;
    if (STROBE_ARRAY_RESERVE(state->stack, state->cap, depth))
        return 0;
    state->fiber = part->fiber;
    for (uint64_t i = state->depth; i < part->n_below; i++) /* their begins are in a hole */
        state->stack[i] = (struct strobe_open_zone){.begin = place(r, part->first_tick)};
    for (uint32_t i = 0; i < part->n_stack; i++) {
        const struct strobe_part_zone *zone = &part->stack[i];
        uint64_t begin = place(r, zone->begin);
        state->stack[part->n_below + i] = (struct strobe_open_zone){
            .loc = zone->loc,
            .begin = begin,
            .child = place(r, zone->begin + zone->children_ticks) - begin,
        };
    }
    state->depth = (uint32_t)depth;
    return 1;
}

/* The location of the zone below the `n_above` innermost ones. 0: there is none. */
static int open_loc(const struct strobe_track *track, uint64_t n_above, uint64_t *loc)
{
    if (track->fiber || n_above >= track->depth)
        return 0;
    *loc = track->stack[track->depth - 1 - n_above].loc;
    return 1;
}

/* For an event without fields of its own, and for what fields grow by. */
enum { LEAST_ROOM = 4 * STROBE_VARINT_MAX };

static size_t side_room(const struct strobe_encoder *enc)
{
    return STROBE_SIDE_BYTES - (size_t)(enc->side_at - enc->side);
}

/* One event, old tick `tick`. 0: it can't be read, or a stranger's block has more than ours can have. */
static int put_event(struct strobe_retimer *r, const struct strobe_part *part, unsigned sym,
                     uint64_t tick, const struct strobe_schema *schema, struct strobe_bytes *side)
{
    struct strobe_encoder *enc = &r->enc;
    uint64_t at = place(r, tick), loc = 0;
    if (side_room(enc) < LEAST_ROOM)
        return 0;
    if (sym >= STROBE_SYM_BEGIN_FAR) {
        uint64_t index =
            sym == STROBE_SYM_BEGIN_FAR ? strobe_get_varint(side) : sym - STROBE_SYM_BEGIN;
        if (side->bad || index >= part->n_locs)
            return 0;
        strobe_encode_zone_begin(enc, at, part->locs[index]);
        return 1;
    }
    if (sym == STROBE_KIND_ZONE_END || sym == STROBE_KIND_ZONE_END_POP ||
        sym == STROBE_KIND_ZONE_END_UNDER) {
        uint64_t n_above = sym == STROBE_KIND_ZONE_END ? 0 : strobe_get_varint(side);
        if (side->bad || !open_loc(enc->track, n_above, &loc))
            return 0;
        strobe_encode_zone_end(enc, at, loc);
        return 1;
    }
    if (sym == STROBE_KIND_ZONE_END_AT) {
        loc = strobe_get_varint(side);
        strobe_encode_zone_end(enc, at, loc);
        return !side->bad;
    }
    if (sym == STROBE_KIND_ZONE_LOOSE) {
        strobe_encode_zone_loose(enc, at);
        return 1;
    }
    struct strobe_bytes fields = *side;
    if (!schema->kind[sym].known)
        return 0;
    strobe_decode_skip_fields(side, schema->kind[sym].letters);
    fields.end = side->at;
    if (side->bad || strobe_bytes_left(&fields) > STROBE_SIDE_BYTES / 4 - LEAST_ROOM ||
        strobe_bytes_left(&fields) > side_room(enc) - LEAST_ROOM)
        return 0;
    size_t n = !has_ticks(sym)
                   ? 0
                   : place_fields(r, sym, part->proc, tick, schema->kind[sym].letters, fields);
    strobe_encode_event(enc, at, (enum strobe_kind)sym, n ? r->fields : fields.at,
                        n ? n : strobe_bytes_left(&fields));
    return 1;
}

static void put_events(struct strobe_retimer *r, const struct strobe_events *events,
                       const struct strobe_part *part, const struct strobe_schema *schema)
{
    struct strobe_bytes big =
        strobe_bytes_over(events->stream[STROBE_BIG] + part->big_at, part->n_big);
    struct strobe_bytes side =
        strobe_bytes_over(events->stream[STROBE_SIDE] + part->side_at, part->n_side);
    uint64_t tick = part->first_tick;
    for (uint32_t i = part->first_event; i < part->first_event + part->n_events; i++) {
        uint64_t step = events->stream[STROBE_LO][i] + 256u * events->stream[STROBE_HI][i];
        if (step == 65535)
            step = (uint64_t)strobe_get_zigzag(&big);
        tick += step;
        if (big.bad || !put_event(r, part, events->stream[STROBE_SYM][i], tick, schema, &side))
            return;
    }
}

/* Whether a part's events have room in the block. */
static int has_room(const struct strobe_encoder *enc, const struct strobe_part *part)
{
    return part->n_events <= STROBE_BLOCK_EVENTS_MAX - enc->n_events &&
           part->n_side + LEAST_ROOM < side_room(enc);
}

static enum strobe_err put_part(struct strobe_retimer *r, const struct strobe_events *events,
                                const struct strobe_part *part, const struct strobe_schema *schema,
                                struct strobe_file_writer *to)
{
    struct strobe_retimer_track *track = track_of(r, part->proc, part->track);
    if (!track)
        return STROBE_ERR_NOMEM;
    if (!has_room(&r->enc, part)) {
        enum strobe_err err = strobe_file_put_events(to, &r->enc);
        if (err || !has_room(&r->enc, part))
            return err; /* none of our writers makes such a part: readers count its words as a hole */
    }
    if (!open_zones(r, track, part))
        return STROBE_OK;
    strobe_encode_begin_part(&r->enc, &track->track, part->proc + r->proc_shift, part->track,
                             part->pos);
    put_events(r, events, part, schema);
    strobe_encode_end_part(&r->enc, part->n_words);
    track->next_pos = part->pos + part->n_words;
    return STROBE_OK;
}

enum strobe_err strobe_retimer_events(struct strobe_retimer *r, const struct strobe_events *events,
                                      const struct strobe_schema *schema,
                                      struct strobe_file_writer *to)
{
    enum strobe_err err = r->enc.sym ? STROBE_OK : strobe_encode_init(&r->enc);
    for (uint32_t i = 0; i < events->n_parts && !err; i++)
        err = put_part(r, events, &events->parts[i], schema, to);
    return err ? err : strobe_file_put_events(to, &r->enc);
}

void strobe_retimer_free(struct strobe_retimer *r)
{
    for (uint32_t i = 0; i < r->n_tracks; i++)
        strobe_track_free(&r->tracks[i].track);
    free(r->tracks);
    free(r->fields);
    strobe_index_free(&r->index);
    strobe_encode_free(&r->enc);
    memset(r, 0, sizeof *r);
}
