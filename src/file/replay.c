/* replay.c - pairs the zones of a part.
 *
 * The loop has two cases that matter, a begin (sym 64 and up) and an end (sym 0); all else goes to replay_rare(). Room for the worst
 * case is made before it starts: a stack of what was open and what may begin, a row for every zone that may end or be given up.
 * SPDX-License-Identifier: MIT */
#include "file/replay.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

enum {
    MAX_CARRIED = 1 << 17, /* open zones that are carried one by one */
    MAX_GAP = 64, /* zones of a hole between those that are carried; over more of them nothing is */
};

/* An open zone during a replay. */
struct strobe_replay_frame {
    uint64_t begin;
    uint64_t children;
    uint32_t slot;
    uint32_t note;
    int8_t own;
    uint64_t place; /* with STROBE_REPLAY_PLACES */
};

struct run {
    const struct strobe_events *events;
    const struct strobe_part *part;
    const struct strobe_schema *schema;
    struct strobe_carry *carry; /* never NULL here */
    struct strobe_replay *out;
    struct strobe_bytes big, side;
    uint64_t tick;
    uint64_t fiber;
    uint32_t depth; /* frames in out->stack */
    uint32_t number;
    unsigned flags;
    bool finds_nested; /* is_nested is wanted, and the part may have some */
    bool shared;       /* another track has zones of this thread too: all are paired elsewhere */
};

void strobe_note_clear(struct strobe_note *note)
{
    free(note->text);
    free(note->name);
    memset(note, 0, sizeof *note);
}

/* Add a line to a note's text. Without memory the line is left out. */
static void add_text(struct strobe_note *note, const char *text, uint64_t n)
{
    size_t old = note->text ? note->n_text + (size_t)1 : 0, n_more = (size_t)n;
    if (n > STROBE_DECODE_MAX_TEXT || old + n_more > STROBE_DECODE_MAX_TEXT)
        return;
    char *more = strobe_array_resize(note->text, old + n_more + 1, 1);
    if (!more)
        return;
    if (old)
        more[old - 1] = '\n';
    memcpy(more + old, text, n_more);
    more[old + n_more] = 0;
    note->text = more;
    note->n_text = (uint32_t)(old + n_more);
}

static void set_name(struct strobe_note *note, const char *text, uint64_t n)
{
    char *copy = n < PTRDIFF_MAX ? malloc((size_t)n + 1) : NULL;
    if (!copy)
        return;
    memcpy(copy, text, (size_t)n);
    copy[n] = 0;
    free(note->name);
    note->name = copy;
    note->n_name = (uint32_t)n;
}

void strobe_note_merge(struct strobe_note *to, struct strobe_note *from)
{
    if (from->text)
        add_text(to, from->text, from->n_text);
    if (from->name) {
        free(to->name);
        to->name = from->name;
        to->n_name = from->n_name;
        from->name = NULL;
    }
    if (from->has_value) {
        to->value = from->value;
        to->has_value = 1;
    }
    if (from->has_color) {
        to->color = from->color;
        to->has_color = 1;
    }
    strobe_note_clear(from);
}

static void drop_notes(struct strobe_replay *replay)
{
    for (uint32_t i = 0; i < replay->n_notes; i++)
        strobe_note_clear(&replay->notes[i]);
    replay->n_notes = 0;
}

/* A new, empty note: its index + 1, 0 without memory. */
static uint32_t new_note(struct strobe_replay *replay)
{
    struct strobe_note *note =
        STROBE_ARRAY_PUSH(replay->notes, replay->n_notes, replay->notes_room);
    if (!note)
        return 0;
    memset(note, 0, sizeof *note);
    return replay->n_notes;
}

static struct strobe_loose *new_loose(struct run *run, unsigned kind, uint64_t id, uint64_t loc)
{
    struct strobe_replay *out = run->out;
    if (!(run->flags & STROBE_REPLAY_LOOSE))
        return NULL;
    struct strobe_loose *loose = STROBE_ARRAY_PUSH(out->loose, out->n_loose, out->loose_room);
    if (loose)
        *loose = (struct strobe_loose){run->tick, id, loc, run->number, (uint8_t)kind, 0, 0};
    return loose;
}

/* The zone at a depth that is carried; NULL: none is, or nothing is known of it. */
static struct strobe_carried_zone *carried_at(const struct strobe_carry *carry, uint64_t depth)
{
    return depth >= carry->n_under && depth - carry->n_under < carry->n_open
               ? &carry->open[depth - carry->n_under]
               : NULL;
}

/* The innermost open zone of a location (0: of any) among those that began in an earlier part and do not end in
 * this one; NULL: none. */
static struct strobe_carried_zone *carried_of(const struct run *run, uint64_t loc)
{
    const struct strobe_carry *carry = run->carry;
    uint64_t depth = run->part->n_below;
    if (loc && depth > (uint64_t)carry->n_under + carry->n_open)
        depth = (uint64_t)carry->n_under + carry->n_open; /* nothing is known of those above */
    while (depth > carry->n_under) {
        struct strobe_carried_zone *zone = carried_at(carry, --depth);
        if (!loc || (zone && !zone->is_unknown && zone->loc == loc))
            return zone;
    }
    return NULL;
}

/* Whether a zone of the location is open below `depth` frames. */
static bool is_open_below(const struct run *run, uint32_t depth, uint64_t loc)
{
    while (depth)
        if (strobe_slot_loc(run->part, run->out->stack[--depth].slot) == loc)
            return true;
    return carried_of(run, loc) != NULL;
}

/* The place of the zone around one that has `depth` frames below it. */
static uint64_t place_below(const struct run *run, uint32_t depth)
{
    if (depth)
        return run->out->stack[depth - 1].place;
    const struct strobe_carried_zone *zone =
        run->part->n_below ? carried_at(run->carry, run->part->n_below - 1) : NULL;
    return zone && !zone->is_unknown ? zone->place : STROBE_PLACE_NONE;
}

static void emit(struct run *run, const struct strobe_replay_frame *frame, uint64_t ticks,
                 uint64_t self, unsigned state)
{
    if (run->flags & STROBE_REPLAY_PLACES)
        run->out->places[run->out->n_zones] =
            (struct strobe_zone_place){frame->place, place_below(run, run->depth)};
    STROBE_ASSERT(run->out->n_zones < run->out->zones_room);
    STROBE_ASSERT(frame->note <= run->out->n_notes);
    run->out->zones[run->out->n_zones++] = (struct strobe_zone_row){
        .begin = frame->begin,
        .ticks = ticks,
        .self = self,
        .slot = frame->slot,
        .depth = (uint32_t)(run->part->n_below + run->depth),
        .note = frame->note,
        .state = (uint8_t)state,
        .begin_own = frame->own,
        .is_nested = run->finds_nested && state == STROBE_ZONE_ENDED &&
                     is_open_below(run, run->depth, strobe_slot_loc(run->part, frame->slot)),
    };
}

static void end_without_begin(struct run *run, uint64_t loc)
{
    if (run->shared)
        new_loose(run, STROBE_KIND_ZONE_END_AT, 0, loc);
    struct strobe_replay_frame frame = {
        .begin = run->tick, .slot = STROBE_SLOT_NONE, .place = run->part->pos + run->number};
    emit(run, &frame, 0, loc, STROBE_ZONE_NO_BEGIN);
}

/* A zone ended: its parent knows. The parent may be one that the part's head does not list. */
static inline void add_to_parent(struct run *run, uint64_t ticks)
{
    struct strobe_carried_zone *below;
    if (run->depth)
        run->out->stack[run->depth - 1].children += ticks;
    else if (run->part->n_below && (below = carried_at(run->carry, run->part->n_below - 1)))
        below->children_ticks += ticks;
}

static void end_zone(struct run *run)
{
    if (!run->depth) {
        end_without_begin(run, 0);
        return;
    }
    struct strobe_replay_frame *frame = &run->out->stack[--run->depth];
    uint64_t ticks = run->tick > frame->begin ? run->tick - frame->begin : 0;
    uint64_t self = ticks > frame->children ? ticks - frame->children : 0;
    add_to_parent(run, ticks);
    if (run->shared)
        new_loose(run, STROBE_KIND_ZONE_END_AT, 0, strobe_slot_loc(run->part, frame->slot));
    emit(run, frame, ticks, self, STROBE_ZONE_ENDED);
}

/* The zone below the `n_above` innermost ones ends; those go on, one level lower. */
static void end_under(struct run *run, uint64_t n_above)
{
    if (n_above >= run->depth) {
        end_without_begin(run, 0);
        return;
    }
    uint32_t depth = run->depth - 1, at = depth - (uint32_t)n_above;
    STROBE_ASSERT(at < run->depth && depth < run->out->stack_room);
    struct strobe_replay_frame *stack = run->out->stack, frame = stack[at];
    uint64_t ticks = run->tick > frame.begin ? run->tick - frame.begin : 0;
    run->depth = at;
    add_to_parent(run, ticks);
    if (run->shared)
        new_loose(run, STROBE_KIND_ZONE_END_AT, 0, strobe_slot_loc(run->part, frame.slot));
    emit(run, &frame, ticks, ticks > frame.children ? ticks - frame.children : 0,
         STROBE_ZONE_ENDED);
    memmove(&stack[at], &stack[at + 1], (size_t)n_above * sizeof frame);
    run->depth = depth;
}

static void give_up(struct run *run, uint64_t n)
{
    for (; n && run->depth; n--) {
        struct strobe_replay_frame *frame = &run->out->stack[--run->depth];
        emit(run, frame, 0, run->tick > frame->begin ? run->tick - frame->begin : 0,
             STROBE_ZONE_UNFINISHED);
    }
}

static struct strobe_note *note_of_carried(struct run *run, uint64_t loc)
{
    struct strobe_carried_zone *zone = carried_of(run, loc);
    if (!zone)
        return NULL;
    if (!zone->note)
        zone->note = calloc(1, sizeof *zone->note);
    return zone->note;
}

/* The note of the innermost open zone of a location, 0: of any. NULL: no such zone is open. */
static struct strobe_note *note_of(struct run *run, uint64_t loc)
{
    uint32_t *place = NULL, depth = run->depth;
    while (depth && loc && strobe_slot_loc(run->part, run->out->stack[depth - 1].slot) != loc)
        depth--;
    if (run->fiber || run->shared) {
        struct strobe_loose *loose = new_loose(run, STROBE_KIND_ZONE_TEXT, run->fiber, loc);
        place = loose ? &loose->note : NULL;
    } else if (depth) {
        place = &run->out->stack[depth - 1].note;
    } else {
        return note_of_carried(run, loc);
    }
    if (!place || (!*place && !(*place = new_note(run->out))))
        return NULL;
    STROBE_ASSERT(*place && *place <= run->out->n_notes);
    return &run->out->notes[*place - 1];
}

static void add_note(struct run *run, unsigned kind, uint64_t loc, const struct strobe_field *field)
{
    struct strobe_note *note = run->flags & STROBE_REPLAY_NOTES ? note_of(run, loc) : NULL;
    if (!note)
        return;
    if (kind == STROBE_KIND_ZONE_TEXT)
        add_text(note, field->text, field->u);
    else if (kind == STROBE_KIND_ZONE_NAME)
        set_name(note, field->text, field->u);
    else if (kind == STROBE_KIND_ZONE_VALUE)
        note->value = field->u, note->has_value = 1;
    else
        note->color = (uint32_t)field->u, note->has_color = 1;
}

static void begin_zone(struct run *run, uint64_t index)
{
    if (run->fiber || run->shared)
        new_loose(run, STROBE_KIND_ZONE_BEGIN, run->fiber, run->part->locs[index]);
    STROBE_ASSERT(index < run->part->n_locs && run->depth < run->out->stack_room);
    if (!run->fiber)
        run->out->stack[run->depth++] = (struct strobe_replay_frame){
            run->tick, 0, (uint32_t)index, 0, 0, run->part->pos + run->number};
}

/* The event before was at so much more on its process's own clock. */
static void add_own(struct run *run, int64_t more)
{
    struct strobe_replay *out = run->out;
    const uint8_t *sym = run->events->stream[STROBE_SYM] + run->part->first_event;
    int8_t own = (int8_t)(more < -127 ? -127 : more > 127 ? 127 : more);
    if (!run->number)
        return;
    unsigned before = sym[run->number - 1];
    bool is_begin = before >= STROBE_SYM_BEGIN_FAR;
    if (!is_begin && before > STROBE_KIND_ZONE_END_AT)
        return;
    if (run->fiber || run->shared) {
        if (out->n_loose && out->loose[out->n_loose - 1].number + 1 == run->number)
            out->loose[out->n_loose - 1].own = own;
    } else if (is_begin && run->depth) {
        out->stack[run->depth - 1].own = own;
    } else if (!is_begin && out->n_zones) {
        out->zones[out->n_zones - 1].end_own = own;
    }
}

static void use_fields(struct run *run, unsigned kind, const struct strobe_field *fields)
{
    switch (kind) {
    case STROBE_KIND_ZONE_TEXT:
    case STROBE_KIND_ZONE_NAME:
    case STROBE_KIND_ZONE_VALUE:
    case STROBE_KIND_ZONE_COLOR:
        add_note(run, kind, 0, &fields[0]);
        break;
    case STROBE_KIND_ZONE_TEXT_AT:
    case STROBE_KIND_ZONE_NAME_AT:
    case STROBE_KIND_ZONE_VALUE_AT:
    case STROBE_KIND_ZONE_COLOR_AT:
        add_note(run, kind - STROBE_KIND_ZONE_TEXT_AT + STROBE_KIND_ZONE_TEXT, fields[0].u,
                 &fields[1]);
        break;
    case STROBE_KIND_FIBER_ENTER:
        run->fiber = fields[0].u;
        break;
    case STROBE_KIND_FIBER_LEAVE:
        run->fiber = 0;
        break;
    case STROBE_KIND_SPAN_BEGIN:
        new_loose(run, kind, fields[0].u, fields[1].u);
        break;
    case STROBE_KIND_SPAN_END:
        new_loose(run, kind, fields[0].u, 0);
        break;
    }
}

/* 1: the kind is one whose fields this replay looks at. */
static int of_interest(unsigned kind)
{
    return (kind >= STROBE_KIND_ZONE_TEXT && kind <= STROBE_KIND_MESSAGE) ||
           (kind >= STROBE_KIND_FIBER_ENTER && kind <= STROBE_KIND_SPAN_END) ||
           (kind >= STROBE_KIND_ZONE_TEXT_AT && kind <= STROBE_KIND_ZONE_COLOR_AT) ||
           kind == STROBE_KIND_TRIGGER || kind == STROBE_KIND_APP_INFO;
}

/* Every symbol but a plain end and a direct begin. */
static enum strobe_err replay_rare(struct run *run, unsigned sym)
{
    struct strobe_field fields[STROBE_DECODE_MAX_FIELDS];
    struct strobe_bytes *side = &run->side;
    if (sym >= STROBE_SYM_BEGIN_FAR) {
        uint64_t index =
            sym == STROBE_SYM_BEGIN_FAR ? strobe_get_varint(side) : sym - STROBE_SYM_BEGIN;
        if (side->bad || index >= run->part->n_locs)
            return STROBE_ERR_CORRUPT;
        begin_zone(run, index);
    } else if (sym == STROBE_KIND_ZONE_END) {
        end_zone(run);
    } else if (sym == STROBE_KIND_ZONE_END_POP) {
        give_up(run, strobe_get_varint(side));
        end_zone(run);
    } else if (sym == STROBE_KIND_ZONE_END_UNDER) {
        end_under(run, strobe_get_varint(side));
    } else if (sym == STROBE_KIND_ZONE_END_AT) {
        uint64_t loc = strobe_get_varint(side);
        if (run->fiber)
            new_loose(run, sym, run->fiber, loc);
        else
            end_without_begin(run, loc);
    } else if (sym == STROBE_KIND_STR_PIECE) {
        uint64_t n = strobe_get_varint(side);
        const uint8_t *text = strobe_get_bytes(side, n);
        if (text)
            strobe_joiner_add(&run->carry->joiner, (const char *)text, n);
    } else if (sym == STROBE_KIND_OWN_TIME) {
        add_own(run, strobe_get_zigzag(side));
    } else if (!run->schema->kind[sym].known) {
        return STROBE_ERR_CORRUPT;
    } else if (!of_interest(sym)) {
        strobe_decode_skip_fields(side, run->schema->kind[sym].letters);
    } else if (strobe_decode_fields(side, run->schema->kind[sym].letters, &run->carry->joiner,
                                    fields) >= 0) {
        use_fields(run, sym, fields);
    }
    return side->bad ? STROBE_ERR_CORRUPT : STROBE_OK;
}

static enum strobe_err replay_events(struct run *run)
{
    const struct strobe_part *part = run->part;
    STROBE_ASSERT(part->first_event + part->n_events <= run->events->n_events);
    STROBE_ASSERT(run->depth + part->n_events <= run->out->stack_room);
    const uint8_t *sym = run->events->stream[STROBE_SYM] + part->first_event;
    const uint8_t *lo = run->events->stream[STROBE_LO] + part->first_event;
    const uint8_t *hi = run->events->stream[STROBE_HI] + part->first_event;
    struct strobe_replay_frame *stack = run->out->stack;
    struct strobe_zone_row *zones = run->out->zones;
    const bool slow = run->shared || run->finds_nested;
    for (uint32_t i = 0; i < part->n_events; i++) {
        uint64_t step = lo[i] | (uint32_t)hi[i] << 8;
        if (__builtin_expect(step == 65535, 0)) {
            step = (uint64_t)strobe_get_zigzag(&run->big);
            if (run->big.bad)
                return STROBE_ERR_CORRUPT;
        }
        uint64_t tick = run->tick += step;
        unsigned s = sym[i];
        if (s >= STROBE_SYM_BEGIN && s - STROBE_SYM_BEGIN < part->n_locs && !run->fiber && !slow) {
            STROBE_ASSERT(run->depth < run->out->stack_room);
            stack[run->depth++] =
                (struct strobe_replay_frame){tick, 0, s - STROBE_SYM_BEGIN, 0, 0, part->pos + i};
        } else if (s == 0 && run->depth && !slow) {
            struct strobe_replay_frame *frame = &stack[--run->depth];
            uint64_t ticks = tick > frame->begin ? tick - frame->begin : 0;
            STROBE_ASSERT(run->out->n_zones < run->out->zones_room);
            add_to_parent(run, ticks);
            if (run->flags & STROBE_REPLAY_PLACES)
                run->out->places[run->out->n_zones] =
                    (struct strobe_zone_place){frame->place, place_below(run, run->depth)};
            zones[run->out->n_zones++] = (struct strobe_zone_row){
                .begin = frame->begin,
                .ticks = ticks,
                .self = ticks > frame->children ? ticks - frame->children : 0,
                .slot = frame->slot,
                .depth = (uint32_t)part->n_below + run->depth,
                .note = frame->note,
                .begin_own = frame->own,
            };
        } else {
            run->number = i;
            enum strobe_err err = replay_rare(run, s);
            if (err)
                return err;
        }
    }
    return STROBE_OK;
}

/* What the part's nested sums say of zones whose location is open in a zone that nobody knows: the head does not list it, so
 * it is open during all of the part, and all zones of its location are nested. Only then the sum is as long as they are. */
static void mark_nested(struct run *run)
{
    const struct strobe_part *part = run->part;
    struct strobe_zone_row *zones = run->out->zones;
    struct strobe_nested nested;
    uint32_t index;
    uint64_t ticks;
    strobe_nested_start(part, &nested);
    while (strobe_nested_next(&nested, &index, &ticks) == STROBE_OK) {
        unsigned __int128 total = 0;
        for (uint32_t i = 0; i < run->out->n_zones; i++)
            if (strobe_slot_loc(part, zones[i].slot) == part->locs[index])
                total += zones[i].ticks;
        for (uint32_t i = 0; i < run->out->n_zones && total == ticks; i++)
            if (strobe_slot_loc(part, zones[i].slot) == part->locs[index])
                zones[i].is_nested = zones[i].state == STROBE_ZONE_ENDED;
    }
}

/* A note that was carried, moved to this replay; its index + 1. */
static uint32_t move_note(struct run *run, struct strobe_carried_zone *zone)
{
    uint32_t note = zone->note ? new_note(run->out) : 0;
    if (note) {
        run->out->notes[note - 1] = *zone->note;
        free(zone->note);
        zone->note = NULL;
    }
    return note;
}

/* A zone that was open after the part before, but is not at the start of this one: its end is in a
 * hole. */
static void give_up_carried(struct run *run, uint32_t depth)
{
    struct strobe_carried_zone *zone = carried_at(run->carry, depth);
    if (!zone || zone->is_unknown)
        return;
    STROBE_ASSERT(run->out->n_zones < run->out->zones_room);
    if (run->flags & STROBE_REPLAY_PLACES)
        run->out->places[run->out->n_zones] =
            (struct strobe_zone_place){zone->place, STROBE_PLACE_NONE};
    run->out->zones[run->out->n_zones++] = (struct strobe_zone_row){
        .begin = zone->begin,
        .self = zone->loc,
        .slot = STROBE_SLOT_NONE,
        .depth = depth,
        .note = move_note(run, zone),
        .state = STROBE_ZONE_UNFINISHED,
        .begin_own = zone->own,
    };
}

/* What a zone of the part's stack got in an earlier part: its note, its own time. */
static void take_carried(struct run *run, uint64_t depth, const struct strobe_part_zone *zone,
                         struct strobe_replay_frame *frame)
{
    struct strobe_carried_zone *carried = carried_at(run->carry, depth);
    if (!carried)
        return;
    if (!carried->is_unknown && carried->loc == zone->loc && carried->begin == zone->begin) {
        frame->own = carried->own;
        frame->place = carried->place;
        frame->note = move_note(run, carried);
    } else {
        give_up_carried(run, (uint32_t)depth);
    }
}

/* What was carried above the zones that the part's head speaks of. */
static void compare_carried(struct run *run)
{
    uint64_t n = run->part->n_below + run->part->n_stack;
    if (n < run->part->n_below)
        n = UINT64_MAX;
    for (uint32_t i = run->carry->n_under + run->carry->n_open; i > n && i > run->carry->n_under;
         i--)
        give_up_carried(run, i - 1);
    if (run->carry->next_pos != run->part->pos)
        run->carry->joiner.n_text = 0;
    run->carry->next_pos = run->part->pos + run->part->n_words;
}

static enum strobe_err start(struct run *run)
{
    const struct strobe_part *part = run->part;
    struct strobe_replay *out = run->out;
    uint64_t most = (uint64_t)part->n_stack + part->n_events;
    enum strobe_err err = STROBE_ARRAY_RESERVE(out->stack, out->stack_room, most);
    if (!err) /* every zone that is or gets open may be given up, every event may end one */
        err =
            STROBE_ARRAY_RESERVE(out->zones, out->zones_room, strobe_replay_most(part, run->carry));
    if (!err && run->flags & STROBE_REPLAY_PLACES)
        err = STROBE_ARRAY_RESERVE(out->places, out->places_room, out->zones_room);
    if (err)
        return err;
    out->n_zones = out->n_loose = 0;
    drop_notes(out);
    run->big = strobe_bytes_over(run->events->stream[STROBE_BIG] + part->big_at, part->n_big);
    run->side = strobe_bytes_over(run->events->stream[STROBE_SIDE] + part->side_at, part->n_side);
    run->tick = part->first_tick;
    run->fiber = part->fiber;
    compare_carried(run);
    for (uint32_t i = 0; i < part->n_stack; i++) {
        const struct strobe_part_zone *zone = &part->stack[i];
        struct strobe_replay_frame frame = {zone->begin, zone->children_ticks, part->n_locs + i, 0,
                                            0,           STROBE_PLACE_NONE};
        take_carried(run, part->n_below + i, zone, &frame);
        STROBE_ASSERT(run->depth < out->stack_room);
        out->stack[run->depth++] = frame;
    }
    return STROBE_OK;
}

static void cut_carry(struct strobe_carry *carry, uint64_t n)
{
    carry->n_under = carry->n_under < n ? carry->n_under : (uint32_t)n;
    STROBE_ASSERT(carry->n_under <= n && carry->n_open <= carry->open_room);
    while (carry->n_open > n - carry->n_under) {
        struct strobe_carried_zone *zone = &carry->open[--carry->n_open];
        if (zone->note) {
            strobe_note_clear(zone->note);
            free(zone->note);
        }
    }
}

static struct strobe_carried_zone *carry_one(struct strobe_carry *carry)
{
    struct strobe_carried_zone *zone =
        carry->n_open < MAX_CARRIED
            ? STROBE_ARRAY_PUSH(carry->open, carry->n_open, carry->open_room)
            : NULL;
    if (zone)
        memset(zone, 0, sizeof *zone);
    else
        carry->n_unknown++;
    return zone;
}

static void carry_zone(struct run *run, const struct strobe_replay_frame *frame)
{
    struct strobe_carried_zone *zone = carry_one(run->carry);
    if (!zone)
        return;
    zone->loc = strobe_slot_loc(run->part, frame->slot);
    zone->begin = frame->begin;
    zone->children_ticks = frame->children;
    zone->own = frame->own;
    zone->place = frame->place;
    if (frame->note && (zone->note = malloc(sizeof *zone->note))) {
        *zone->note = run->out->notes[frame->note - 1];
        memset(&run->out->notes[frame->note - 1], 0, sizeof *zone->note);
    }
}

/* What is open now is what the next part starts with. Zones that began in a hole are there, but
 * unknown. */
static void finish(struct run *run)
{
    struct strobe_carry *carry = run->carry;
    uint64_t n_below = run->part->n_below;
    cut_carry(carry, n_below);
    carry->n_unknown = 0;
    if (run->flags & STROBE_REPLAY_KEPT &&
        (!carry->n_open || n_below - carry->n_under - carry->n_open > MAX_GAP)) {
        cut_carry(carry, 0);
        carry->n_under = (uint32_t)n_below;
    }
    n_below -= carry->n_under;
    while (carry->n_open < n_below && carry->n_open < MAX_CARRIED) {
        struct strobe_carried_zone *zone = carry_one(carry);
        if (!zone)
            break;
        zone->is_unknown = 1;
    }
    if (carry->n_open < n_below)
        carry->n_unknown = n_below - carry->n_open;
    STROBE_ASSERT(carry->n_open <= MAX_CARRIED && run->depth <= run->out->stack_room);
    for (uint32_t i = 0; i < run->depth; i++)
        carry_zone(run, &run->out->stack[i]);
    carry->fiber = run->fiber;
}

enum strobe_err strobe_replay_part(const struct strobe_events *events,
                                   const struct strobe_part *part,
                                   const struct strobe_schema *schema, unsigned flags,
                                   struct strobe_carry *carry, struct strobe_replay *replay)
{
    struct strobe_carry none = {0};
    struct run run = {.events = events,
                      .part = part,
                      .schema = schema,
                      .carry = carry ? carry : &none,
                      .out = replay,
                      .flags = flags,
                      .finds_nested =
                          flags & STROBE_REPLAY_NESTED && (part->nested || !part->knows_nested),
                      .shared = flags & STROBE_REPLAY_SHARED};
    enum strobe_err err = start(&run);
    if (!err)
        err = replay_events(&run);
    if (!err && run.finds_nested)
        mark_nested(&run);
    if (carry && err != STROBE_ERR_NOMEM)
        finish(&run);
    strobe_carry_free(&none);
    return err;
}

void strobe_replay_free(struct strobe_replay *replay)
{
    drop_notes(replay);
    free(replay->zones);
    free(replay->places);
    free(replay->loose);
    free(replay->notes);
    free(replay->stack);
    memset(replay, 0, sizeof *replay);
}

void strobe_carry_free(struct strobe_carry *carry)
{
    cut_carry(carry, 0);
    free(carry->open);
    strobe_joiner_free(&carry->joiner);
    memset(carry, 0, sizeof *carry);
}
