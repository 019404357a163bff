/* stack.h - the call stack that a program gave with the begin of a zone.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_STACK_H
#define STROBE_QUERY_STACK_H

#include "query/view.h"

/* Addresses, innermost first. Zero-initialise; free once. */
struct strobe_stack {
    uint64_t *addresses; /* owned */
    uint32_t n, room;
};

/* The stack of the zone of a thread that begins at a tick with a location (id); empty if it has none. */
enum strobe_err strobe_stack_find(struct strobe_view *view, uint32_t thread, uint64_t begin,
                                  uint64_t loc, struct strobe_stack *out);
void strobe_stack_free(struct strobe_stack *stack);

#endif
