/* zone.h - one zone in detail, found by a tick and a depth.
 * Reads at most STROBE_ZONE_MAX_PARTS parts of the thread: of a longer zone, what is inside is told in part.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_ZONE_H
#define STROBE_QUERY_ZONE_H

#include "file/replay.h"
#include "query/pixels_open.h"
#include "query/tables.h"

enum { STROBE_ZONE_MAX_PARTS = 256 };

/* Which zone of a track. */
struct strobe_zone_key {
    uint64_t begin, loc; /* loc: id; of a table's rows as there */
    uint32_t depth;
    uint32_t row; /* of a table */
};

/* Zones of one location. */
struct strobe_zone_sum {
    uint64_t loc;
    uint64_t count;
    uint64_t ticks;
};

struct strobe_zone_sums {
    struct strobe_zone_sum *rows; /* owned: by ticks, most first */
    uint32_t n, room;
};

struct strobe_zone_detail {
    uint64_t begin, end; /* end: if it ended */
    uint64_t loc;
    uint64_t self;
    uint32_t depth;
    enum strobe_zone_state state;
    uint64_t n_children;
    int is_cut; /* not all that is inside was read */
    struct strobe_note note;
    struct strobe_open_at *parents; /* owned: outermost first; some may not be known */
    uint32_t n_parents;
    struct strobe_zone_sums children, inside;
};

/* The zone of a thread's depth that is open at a tick, else the one that begins or ends nearest to it, within `slack`
 * ticks. STROBE_ERR_NOTFOUND: none. */
enum strobe_err strobe_zone_find(struct strobe_view *view, uint32_t thread, uint32_t depth,
                                 uint64_t tick, uint64_t slack, struct strobe_zone_key *out);

/* The zone that begins next after `tick` on a thread (is_next 0: last before it), among those that ended with a location
 * that `locs` marks (by index in trace->locs), or, where that is NULL, of `depth`.
 * STROBE_ERR_NOTFOUND: none within STROBE_ZONE_MAX_PARTS blocks that have the thread. */
enum strobe_err strobe_zone_step(struct strobe_view *view, uint32_t thread, uint64_t tick,
                                 int is_next, uint32_t depth, const uint8_t *locs, uint32_t n_locs,
                                 struct strobe_zone_key *out);

/* All about a zone that was found. Free the result in any case. */
enum strobe_err strobe_zone_look(struct strobe_view *view, uint32_t thread,
                                 const struct strobe_zone_key *key, struct strobe_zone_detail *out);

/* The same of the rows of a table (zone_rows.c). */
enum strobe_err strobe_zone_find_row(const struct strobe_rows_place *place, uint32_t depth,
                                     uint64_t tick, uint64_t slack, struct strobe_zone_key *out);
/* `is_wanted`: of a location; NULL: all of `depth`. */
enum strobe_err strobe_zone_step_row(const struct strobe_rows_place *place, uint64_t tick,
                                     int is_next, uint32_t depth,
                                     int (*is_wanted)(void *context, uint64_t loc), void *context,
                                     struct strobe_zone_key *out);
/* `is_nested` 0: rows overlap, none is inside another. */
enum strobe_err strobe_zone_look_row(const struct strobe_rows_place *place, int is_nested,
                                     const struct strobe_zone_key *key,
                                     struct strobe_zone_detail *out);

/* Ticks from a zone to a tick outside of it. */
static inline uint64_t strobe_zone_distance(uint64_t begin, uint64_t end, uint64_t tick)
{
    return begin > tick ? begin - tick : tick > end ? tick - end : 0;
}

/* One more zone of a location; both by ticks, most first. */
void strobe_zone_sums_add(struct strobe_zone_sums *sums, uint64_t loc, uint64_t ticks);
void strobe_zone_sums_sort(struct strobe_zone_detail *detail);

void strobe_zone_detail_free(struct strobe_zone_detail *detail);

#endif
