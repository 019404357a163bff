/* ahead.h - zones of a block, made by the thread that decodes it: what uses them, text as a rule, has its core for that alone.
 * Not for other rooms.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_AHEAD_H
#define STROBE_QUERY_AHEAD_H

#include "file/replay.h"

/* What the tracks of a file carry from part to part. */
struct strobe_ahead;

/* The zones of one part: of its replay only zones and notes are there. */
struct strobe_ahead_part {
    struct strobe_replay replay; /* owned: its notes; borrowed from the block: its zones */
    enum strobe_err err;         /* of strobe_replay_part: OK or CORRUPT */
};

/* The zones of a block, part by part, one behind the other. Zero-initialise; free once. */
struct strobe_ahead_block {
    struct strobe_ahead_part *parts; /* owned */
    uint32_t n_parts, parts_room;
    struct strobe_zone_row *zones; /* owned */
    uint32_t zones_room;
};

/* `flags` of strobe_replay_part, without LOOSE and PLACES; `schema` is borrowed. NULL without memory. */
struct strobe_ahead *strobe_ahead_new(const struct strobe_schema *schema, unsigned flags);
void strobe_ahead_free(struct strobe_ahead *ahead); /* NULL is allowed */

/* Make the zones of a block's parts; what `out` had before is gone. Only OK or NOMEM. Blocks come in the order of the file, from one
 * thread at a time. */
enum strobe_err strobe_ahead_replay(struct strobe_ahead *ahead, const struct strobe_events *events,
                                    struct strobe_ahead_block *out);
void strobe_ahead_block_free(struct strobe_ahead_block *block);

/* What a track carries after the last block; NULL: no part was its own. Not while another thread replays. */
const struct strobe_carry *strobe_ahead_carry(const struct strobe_ahead *ahead, uint64_t proc,
                                              uint64_t track);

#endif
