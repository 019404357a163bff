/* encode.h - turns events into EVENTS blocks: columns of symbols and time differences, with the
 * summaries made on the way (docs/file-format.md).
 *
 * One encoder holds one block under construction, in memory of fixed size. The caller feeds it runs
 * of one thread's events (parts), between strobe_encode_begin_part and strobe_encode_end_part, and
 * writes it out when strobe_encode_is_full. Not thread-safe.  SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_ENCODE_H
#define STROBE_FILE_ENCODE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/varint.h"
#include "file/lod.h"
#include "wire/file_layout.h"
#include "wire/kinds.h"

/* A zone that is open on a track. */
struct strobe_open_zone {
    uint64_t loc;
    uint64_t begin;
    uint64_t child; /* ticks of its finished children */
    uint32_t dict;  /* index of loc in the part `serial` */
    uint32_t serial;
};

/* What is known of one thread between its parts. */
struct strobe_track {
    struct strobe_open_zone *stack; /* owned: cap entries, freed by strobe_track_free */
    uint32_t depth;
    uint32_t cap;
    uint64_t fiber;     /* that the thread runs, 0: none */
    uint64_t last_tick; /* of its last event */
    uint64_t block;     /* of the encoder, that its last part went into */
    uint64_t kept_tick; /* last tick of its last part before that block which got into the file */
    uint32_t lod_shift; /* that its next part begins with; 0: that of a first one */
};

void strobe_track_free(struct strobe_track *track);

enum {
    STROBE_STACK_MAX = 1 << 19, /* open zones kept per track; the ends of deeper ones are "lost" */
    STROBE_SIDE_BYTES = 1 << 20,
    STROBE_BIG_BYTES = STROBE_BLOCK_EVENTS_MAX * STROBE_VARINT_MAX,
    STROBE_STAT_LOCS = 256,
    STROBE_NEAR_LOCS = 64,
    STROBE_LOST_RUNS = 64, /* of blocks that were given up; after more there are no LOD blocks */
    STROBE_NESTED_SEEK = 4096, /* open zones that are searched for another of a location */
};

struct strobe_lod_bucket {
    uint32_t count;
    uint32_t loc; /* index in the part's list + 1, 0: none */
    uint64_t busy;
    uint64_t longest;
    uint64_t end; /* tick at which the longest ended */
};

/* A line of the cache: one is touched for every zone. */
struct strobe_loc_sum {
    unsigned __int128 squares;
    uint64_t count, total, self, min, max;
    uint32_t *histogram; /* borrowed from the encoder */
};
static_assert(sizeof(struct strobe_loc_sum) == 64, "as many as lines of the cache");

/* A location of the part whose zones were open at several depths: how many are now, and the time of those that ended in another
 * one. (Where all are at one depth, none can be in another.) */
struct strobe_loc_nest {
    uint64_t nested;
    uint32_t n_open;
};
#define STROBE_DEPTH_NONE    (UINT32_MAX - 1) /* no zone of the location was open yet */
#define STROBE_DEPTH_COUNTED UINT32_MAX       /* several depths: see strobe_loc_nest */
#define STROBE_DEPTH_FAR     (UINT32_MAX - 2) /* of a near location: it has no symbol of its own */

/* A location of the part that is found at once, with the depth of its zones. */
struct strobe_near_loc {
    uint64_t loc; /* UINT64_MAX: none */
    uint32_t index, depth;
};

struct strobe_encoder {
    /* the block */
    uint8_t *sym, *big, *side; /* owned */
    uint16_t *dt;     /* owned: time differences; cut into bytes when the block is written */
    uint8_t *lo, *hi; /* owned: made by strobe_encode_split */
    uint8_t *big_at, *side_at;
    uint32_t n_events;
    uint32_t n_parts;
    uint64_t n_zones;
    uint64_t tick_min, tick_max;
    uint8_t *head; /* owned: varints of the finished parts */
    size_t n_head, cap_head;
    uint8_t *ends; /* owned: of their longest zones, to go behind the head */
    size_t n_ends, cap_ends;
    uint8_t *nested; /* owned: their nested sums, to go behind the ends */
    size_t n_nested, cap_nested;
    uint64_t by_kind[STROBE_KIND_COUNT];
    bool failed;               /* out of memory: the block can't be written */
    struct strobe_lod_log log; /* what its parts look like from afar */
    uint64_t block;            /* its number, from 1 */

    /* blocks that were given up: runs of numbers, ascending */
    struct strobe_lost_run {
        uint64_t first, last;
    } lost[STROBE_LOST_RUNS];
    uint32_t n_lost; /* STROBE_LOST_RUNS + 1: more than are recorded */

    /* the part under construction */
    struct strobe_track *track; /* borrowed, NULL: no part is open */
    uint64_t proc, track_id, pos, fiber_at_start;
    uint64_t first_tick, prev_tick;
    uint32_t part_events, part_start;
    uint64_t zones_before; /* n_zones when it began */
    uint8_t *part_big, *part_side;
    uint32_t serial;
    uint64_t *locs; /* owned: the part's list */
    uint32_t n_locs;
    uint32_t *depths;               /* owned: by index in the list, at which its zones are open */
    struct strobe_loc_nest *nests;  /* owned, likewise: of those that are counted */
    bool has_nested, lacks_nested;  /* some are; too many zones were open to know all */
    struct strobe_dict_entry *dict; /* owned: loc id to index, entries of other parts are stale */
    struct strobe_near_loc near[STROBE_NEAR_LOCS]; /* by loc id, of the part `near_serial` */
    uint32_t near_serial;
    uint32_t low; /* lowest depth reached in this part */
    uint32_t start_depth;
    uint64_t low_child;              /* child ticks at the part's start of the entry below `low` */
    struct strobe_open_zone *listed; /* owned: entries open at the start that ended, top first */
    uint32_t n_listed, cap_listed;

    /* its summary */
    struct strobe_loc_sum *sums; /* owned: STROBE_STAT_LOCS */
    uint32_t *histograms; /* owned: STROBE_STAT_LOCS * STROBE_HIST_BUCKETS; zero between parts */
    bool too_many_locs;
    uint32_t first_shift, lod_shift, lod_depths,
        lod_used; /* the shift that it began with, and now */
    uint64_t lod_base;
    struct strobe_lod_bucket (*lod)[STROBE_LOD_BUCKETS]; /* owned: STROBE_LOD_DEPTHS rows */
};

struct strobe_dict_entry {
    uint64_t loc;
    uint32_t serial;
    uint32_t index;
};
enum { STROBE_DICT_SIZE = 1 << 17 };
#define STROBE_DICT_PLACE(loc) ((uint32_t)(((loc)*0x9e3779b97f4a7c15ull) >> 47)) /* its first try */

enum strobe_err strobe_encode_init(struct strobe_encoder *enc);
void strobe_encode_free(struct strobe_encoder *enc);

/* Begin another block: this one was written, or is given up and will not be in the file. */
void strobe_encode_reset(struct strobe_encoder *enc);
void strobe_encode_give_up(struct strobe_encoder *enc);

/* Whether the block has to be written before another event goes in. */
static inline bool strobe_encode_is_full(const struct strobe_encoder *enc)
{
    return enc->n_events >= STROBE_BLOCK_EVENTS_MAX ||
           enc->side_at - enc->side > STROBE_SIDE_BYTES / 2 ||
           enc->n_head > STROBE_FILE_MAX_PAYLOAD / 8;
}

void strobe_encode_begin_part(struct strobe_encoder *enc, struct strobe_track *track, uint64_t proc,
                              uint64_t track_id, uint64_t pos);
/* Close the part, which covers `n_words` words. One without events leaves nothing but its
 * positions, one without words nothing at all. */
void strobe_encode_end_part(struct strobe_encoder *enc, uint64_t n_words);

/* One event each. A part is open and the block is not full. */
void strobe_encode_zone_begin(struct strobe_encoder *enc, uint64_t tick, uint64_t loc);
void strobe_encode_zone_end(struct strobe_encoder *enc, uint64_t tick, uint64_t loc);
/* The innermost open zone may end before those that begin in it, and after those that it began in. */
void strobe_encode_zone_loose(struct strobe_encoder *enc, uint64_t tick);
/* Whether the thread's innermost open zone has this location. False while the thread runs a fiber, whose zones are
 * not paired here. */
bool strobe_encode_is_innermost(const struct strobe_encoder *enc, uint64_t loc);
/* Begins and ends of zones straight from the words of a ring (wire/ring_layout.h), as many as come
 * in a row and need nothing special: the fast way. Ticks have the upper half `epoch`; *prev_tick is
 * the last one and never goes back. Where it stopped: at `end`, at a full block, or at a word for
 * the functions above. */
const uint64_t *strobe_encode_words(struct strobe_encoder *enc, const uint64_t *at,
                                    const uint64_t *end, uint32_t epoch, uint64_t *prev_tick);

/* A begin or an end of a zone, which is that of the innermost one; a whole zone with nothing in it; or the value of the innermost one. */
struct strobe_zone_step {
    uint64_t tick;
    uint64_t loc; /* STROBE_STEP_END: an end; STROBE_STEP_VALUE */
    uint64_t end; /* of a begin: its end, 0: that is a step of its own; of a value: the value */
};
#define STROBE_STEP_END   (~0ull)
#define STROBE_STEP_VALUE (~0ull - 1)
/* The same for steps in memory, whose ticks may go anywhere. Where it stopped: at `end`, at a full
 * block, or at a step for the functions above. */
const struct strobe_zone_step *strobe_encode_steps(struct strobe_encoder *enc,
                                                   const struct strobe_zone_step *at,
                                                   const struct strobe_zone_step *end);

/* Fill lo and hi from dt. */
void strobe_encode_split(struct strobe_encoder *enc);

/* An event of another kind, its fields as the file stores them: at most STROBE_SIDE_BYTES / 4
 * bytes. */
void strobe_encode_event(struct strobe_encoder *enc, uint64_t tick, enum strobe_kind kind,
                         const uint8_t *fields, size_t n_bytes);

#endif
