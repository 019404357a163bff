/* replay.h - the zones of a part: begins and ends paired as docs/file-format.md says.
 * One pass, no allocation per event. What can't be paired within one thread (zones of fibers,
 * spans) comes out as loose events, for a reader that brings all threads together (query/loose.h).
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_REPLAY_H
#define STROBE_FILE_REPLAY_H

#include "file/decode.h"

enum strobe_zone_state {
    STROBE_ZONE_ENDED = 0,
    STROBE_ZONE_OPEN = 1,       /* still open at the end of the trace */
    STROBE_ZONE_UNFINISHED = 2, /* its end is missing */
    STROBE_ZONE_NO_BEGIN = 3,   /* its begin is not known: `begin` is the tick of its end */
};

/* What a program said about a zone: kinds 4 to 7, and 50 to 53. */
struct strobe_note {
    char *text; /* owned, several texts with '\n' between; NULL: none */
    char *name; /* owned; NULL: none */
    uint32_t n_text, n_name;
    uint64_t value;
    uint32_t color;
    uint8_t has_value, has_color;
};

/* A zone. `slot` names its location: below part->n_locs an index in part->locs, from there on an
 * index in part->stack, STROBE_SLOT_NONE: see `self`. */
struct strobe_zone_row {
    uint64_t begin;
    uint64_t ticks; /* duration; 0 unless ENDED */
    uint64_t self;  /* with STROBE_SLOT_NONE: the id of its location, and no time;
                       UNFINISHED: ticks from its begin to where that was seen */
    uint32_t slot;
    uint32_t depth;
    uint32_t note; /* index + 1 in replay->notes, 0: none */
    uint8_t state; /* enum strobe_zone_state */
    /* What its process's own clock says beyond the ticks of begin and end (OWN_TIME). */
    int8_t begin_own, end_own;
    uint8_t is_nested; /* with REPLAY_NESTED: at its end, one of its location was open below it */
};
#define STROBE_SLOT_NONE UINT32_MAX

/* Where on its track a zone began, and the zone around it: part->pos + the number of the event. Stable, and larger the
 * later it began. STROBE_PLACE_NONE: not known, or there is none. */
struct strobe_zone_place {
    uint64_t begin, parent;
};
#define STROBE_PLACE_NONE UINT64_MAX

/* An event to be paired over all threads by time. `note` as above; the taker moves its texts away.
 */
struct strobe_loose {
    uint64_t tick;
    uint64_t id;  /* of the fiber or the span; 0: of the thread itself */
    uint64_t loc; /* begin: its location; end of a fiber's zone, note: the one it names, 0: none */
    uint32_t number; /* of the event in its part */
    uint8_t kind; /* ZONE_BEGIN, ZONE_END_AT (fibers), SPAN_BEGIN, SPAN_END, ZONE_TEXT: note only */
    int8_t own;   /* as in strobe_zone_row */
    uint32_t note;
};

/* What is open on a track after a part, carried to the track's next part. Zero-initialise; free
 * once. */
struct strobe_carried_zone {
    uint64_t loc;
    uint64_t begin;
    uint64_t children_ticks;
    uint64_t place;           /* with STROBE_REPLAY_PLACES */
    struct strobe_note *note; /* owned; NULL: none */
    uint8_t is_unknown;       /* it is open, but its begin is in a hole */
    int8_t own;
};
struct strobe_carry {
    struct strobe_carried_zone *open; /* owned: lowest first, above the n_under */
    uint32_t n_open, open_room;
    uint32_t n_under;   /* lowest ones, whose begins are in a hole; 0 without STROBE_REPLAY_KEPT */
    uint64_t n_unknown; /* zones above those, of which nothing is known */
    uint64_t next_pos;  /* word after the last part */
    uint64_t fiber;     /* that the thread runs, 0: none */
    struct strobe_joiner joiner;
};

/* Buffers of a replay and its results, valid until the next part. Zero-initialise; free once. */
struct strobe_replay {
    struct strobe_zone_row *zones; /* owned: in the order in which they ended */
    uint32_t n_zones, zones_room;
    struct strobe_zone_place *places; /* owned: of the zones, with STROBE_REPLAY_PLACES */
    uint32_t places_room;
    struct strobe_loose *loose; /* owned */
    uint32_t n_loose, loose_room;
    struct strobe_note *notes; /* owned */
    uint32_t n_notes, notes_room;
    struct strobe_replay_frame *stack; /* owned */
    uint32_t stack_room;
};

enum {
    STROBE_REPLAY_NOTES = 1,   /* texts, names, values, colours */
    STROBE_REPLAY_LOOSE = 2,   /* fibers and spans */
    STROBE_REPLAY_NESTED = 16, /* strobe_zone_row.is_nested: slower where some are */
    STROBE_REPLAY_KEPT = 8, /* the carry stays while others are made: no memory for holes' zones */
    STROBE_REPLAY_PLACES = 32, /* strobe_replay.places: slower */
    STROBE_REPLAY_SHARED = 4, /* with LOOSE: the thread's own zones are loose events too, of id 0 */
};

/* How many zones a part may end at the most: every zone that is or gets open may be given up, every event may end one. With room for
 * those, and for what is open, `replay` is not moved. */
static inline uint64_t strobe_replay_most(const struct strobe_part *part,
                                          const struct strobe_carry *carry)
{
    return (uint64_t)part->n_stack + 2 * (uint64_t)part->n_events + (carry ? carry->n_open : 0);
}

/* Replay a part whose streams are decoded. `carry` is the track's, after the part before; with
 * NULL, zones that began earlier have no notes. STROBE_ERR_CORRUPT: the events up to the damage are
 * in the result. */
enum strobe_err strobe_replay_part(const struct strobe_events *events,
                                   const struct strobe_part *part,
                                   const struct strobe_schema *schema, unsigned flags,
                                   struct strobe_carry *carry, struct strobe_replay *replay);

/* The id of the location that a slot names, 0 for STROBE_SLOT_NONE. */
static inline uint64_t strobe_slot_loc(const struct strobe_part *part, uint32_t slot)
{
    if (slot < part->n_locs)
        return part->locs[slot];
    return slot - part->n_locs < part->n_stack ? part->stack[slot - part->n_locs].loc : 0;
}

/* The id of a zone's location. */
static inline uint64_t strobe_zone_loc(const struct strobe_part *part,
                                       const struct strobe_zone_row *zone)
{
    return zone->slot == STROBE_SLOT_NONE ? zone->self : strobe_slot_loc(part, zone->slot);
}

/* Put what `from` says on top of `to`; `from` is empty afterwards. */
void strobe_note_merge(struct strobe_note *to, struct strobe_note *from);

/* Empty a note's texts. */
void strobe_note_clear(struct strobe_note *note);

void strobe_replay_free(struct strobe_replay *replay);
void strobe_carry_free(struct strobe_carry *carry);

#endif
