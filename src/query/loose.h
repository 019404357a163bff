/* loose.h - pairs what one track can't: zones of fibers, spans, and zones of a thread that several
 * tracks have; over all tracks by time.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_LOOSE_H
#define STROBE_QUERY_LOOSE_H

#include "query/walk.h"

struct strobe_looses; /* all loose events that wait, and what is open */

/* `max` events wait before some are paired. NULL without memory. */
struct strobe_looses *strobe_looses_new(uint32_t max);
void strobe_looses_free(struct strobe_looses *looses); /* NULL is allowed */

/* Take the loose events of a part; the notes' texts are moved away. `twin`: the first track of its
 * thread, where several have zones of it (those with id 0). 0 without memory. */
int strobe_looses_add(struct strobe_looses *looses, uint32_t process, uint32_t thread,
                      uint32_t twin, const struct strobe_loose *loose, uint32_t n,
                      struct strobe_note *notes);

/* An event that goes elsewhere: its place in the order of arrival. */
uint64_t strobe_looses_pass(struct strobe_looses *looses);

/* 1: it is time to pair some. */
int strobe_looses_full(const struct strobe_looses *looses);

/* A zone or span was paired, or given up. */
typedef enum strobe_err (*strobe_loose_sink)(void *context, const struct strobe_batch *batch);

/* Pair all events before `tick`, in the order of time. */
enum strobe_err strobe_looses_pair(struct strobe_looses *looses, uint64_t tick,
                                   strobe_loose_sink sink, void *context);

/* After the last pairing: what is still open. */
enum strobe_err strobe_looses_open(struct strobe_looses *looses, strobe_loose_sink sink,
                                   void *context);

#endif
