/* retime.h - ticks of one clock as ticks of another: a map of straight pieces, and what is in a block put through it.
 *
 * For traces that are merged (query/merge.h). Blocks of events are made anew, part by part: times, open zones, summaries and
 * levels of detail are those of the other clock, everything else stays as it was. Records likewise, but for those that only
 * their own trace has a use for.  SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_RETIME_H
#define STROBE_FILE_RETIME_H

#include <stdint.h>

#include "base/map.h"
#include "file/decode.h"
#include "file/encode.h"
#include "file/file_write.h"

/* From tick `from` on it is `to` + ((tick - from) * mult >> STROBE_RETIME_SHIFT); the first piece serves earlier ticks, too. */
struct strobe_retime_piece {
    uint64_t from, to, mult;
};
enum { STROBE_RETIME_SHIFT = 58 }; /* clocks whose rates differ by less than 64 times */

struct strobe_retime {
    struct strobe_retime_piece *pieces; /* owned by who made it: by `from`, at least one */
    uint32_t n_pieces;
};

/* The other clock's tick. *hint: a piece to begin the search with, 0 at first. Never decreases where the pieces do not. */
uint64_t strobe_retime_tick(const struct strobe_retime *map, uint64_t tick, uint32_t *hint);

/* What is known between the blocks of a trace. Zero-initialise but for what is said; free once. */
struct strobe_retimer {
    const struct strobe_retime *map; /* borrowed: set it first */
    uint64_t proc_shift;             /* set it first: added to numbers of processes */
    int (*has_own_clock)(void *context,
                         uint64_t proc); /* its records have times of that; NULL: none has */
    void *context;                       /* borrowed */
    uint32_t hint;
    struct strobe_encoder enc; /* made at the first block */
    struct strobe_retimer_track {
        uint64_t proc, id, next_pos;
        struct strobe_track track;
    } * tracks; /* owned */
    uint32_t n_tracks, tracks_room;
    struct strobe_index index; /* of tracks */
    uint8_t *fields;           /* owned: of an event that has ticks among its fields */
    size_t fields_room;
};

/* A block of EVENTS, whose parts and streams are decoded, to the end of `to`. NOMEM, errors of strobe_file_put_events. Parts
 * that can't be read are cut where they are damaged. */
enum strobe_err strobe_retimer_events(struct strobe_retimer *retimer,
                                      const struct strobe_events *events,
                                      const struct strobe_schema *schema,
                                      struct strobe_file_writer *to);

/* The fields of a record (without its process) to `to`. */
void strobe_retimer_fields(struct strobe_retimer *retimer, uint64_t kind, uint64_t proc,
                           struct strobe_bytes fields, const struct strobe_schema *schema,
                           struct strobe_records *to);

void strobe_retimer_free(struct strobe_retimer *retimer);

#endif
