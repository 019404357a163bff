/* around.h - which zone was open on a thread at a time: for tables that name zones by events that are none.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_SQL_AROUND_H
#define STROBE_SQL_AROUND_H

#include "sql/pump.h"

/* A place on a thread. */
struct strobe_sql_spot {
    uint64_t tick;
    uint32_t thread; /* STROBE_IDMAP_NONE: none, it has no zone */
    uint32_t number; /* the caller's: its index */
    uint32_t depth;
    int64_t zone; /* result: the id of the innermost zone around it; -1: none */
};

/* Find the zones of all spots, by a walk over the trace that the pump is at; the spots are in the order of their numbers
 * afterwards. In the pump's thread. */
enum strobe_err strobe_sql_find_around(struct strobe_sql_pump *pump, struct strobe_sql_spot *spots,
                                       uint32_t n_spots);

#endif
