/* walk_rows.h - zones of fibers for a walk, by the rows that the trace's writer made of them (query/pair.h): nothing waits to be
 * paired.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_WALK_ROWS_H
#define STROBE_QUERY_WALK_ROWS_H

#include "query/paired.h"
#include "query/walk.h"

/* The rows of a trace, where they are all that the walk wants and every one can be read; NULL: its events must be paired. */
struct strobe_paired *strobe_walk_rows_open(const struct strobe_walk *walk);

/* The zones of fibers that ended, or those that are open, fiber by fiber, in the order of their begins: batches without a thread, which
 * rows do not know, to `show`; an error of it is the result. */
enum strobe_err
strobe_walk_rows_show(struct strobe_paired *paired, const struct strobe_walk *walk, int is_open,
                      enum strobe_err (*show)(void *context, const struct strobe_batch *batch),
                      void *context);

#endif
