/* own_clock.h - inside query/: the maps of processes with a clock of their own, made ready.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_OWN_CLOCK_H
#define STROBE_QUERY_OWN_CLOCK_H

#include "query/trace.h"

/* All records were read: put the pieces of each process together. */
void strobe_own_pieces_sort(struct strobe_trace *trace);

#endif
