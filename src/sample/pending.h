/* pending.h - events that wait for their block, so that those of one thread go there together: a part of a block costs
 * twenty bytes, a sample three.
 * One thread. Memory: fixed.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PENDING_H
#define STROBE_SAMPLE_PENDING_H

#include "build/build.h"

enum { STROBE_PENDING_EVENTS = 1 << 14, STROBE_PENDING_ADDRESSES = 1 << 17 };

struct strobe_pending_event {
    struct strobe_build *build;       /* borrowed: open until the next flush */
    struct strobe_build_track *track; /* borrowed from the build */
    uint64_t tick;
    uint32_t proc, order;
    uint32_t cpu;
    uint32_t window; /* of whoever adds it: not looked at here */
    uint32_t
        first; /* of a sample, and of a value: in addresses; of a switch: its reason; of a zone: its location; of a text: errno */
    uint16_t n; /* of a sample: addresses; of a message: bytes, in addresses */
    uint8_t kind;
};

struct strobe_pending {
    struct strobe_pending_event *events; /* owned: STROBE_PENDING_EVENTS */
    uint64_t *addresses;                 /* owned: STROBE_PENDING_ADDRESSES */
    uint32_t n_events, n_addresses;
};

enum strobe_err strobe_pending_init(struct strobe_pending *pending);
void strobe_pending_free(struct strobe_pending *pending); /* zeroes are allowed */

/* Whether an event with so many addresses has room. */
bool strobe_pending_has_room(const struct strobe_pending *pending, uint32_t n_addresses);
/* There is room. */
void strobe_pending_sample(struct strobe_pending *pending, struct strobe_pending_event event,
                           const uint64_t *addresses, uint32_t n);
void strobe_pending_switch(struct strobe_pending *pending, struct strobe_pending_event event);
/* A step of a zone: begin with its location, value, text with an errno, end. There is room for one address. */
void strobe_pending_zone(struct strobe_pending *pending, struct strobe_pending_event event,
                         enum strobe_kind kind, uint64_t number);
/* A message. There is room for its bytes as addresses. */
void strobe_pending_message(struct strobe_pending *pending, struct strobe_pending_event event,
                            const char *text, size_t n_bytes);
/* To the builds, thread by thread. */
void strobe_pending_flush(struct strobe_pending *pending);

#endif
