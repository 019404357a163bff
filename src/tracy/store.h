/* store.h - what sink.c needs of the store: the part that is open, records, losses.
 * Inside src/tracy only.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_STORE_H
#define STROBE_TRACY_STORE_H

#include "tracy/sink.h"
#include "wire/ring_layout.h"

struct strobe_tracy_track {
    struct strobe_track track;
    uint64_t tid;
    uint64_t id;     /* number in the process, from 1 */
    uint64_t pos;    /* events so far: a "word" of such a track is one event */
    uint64_t n_over; /* innermost open zones that were refused */
};

/* The encoder with a part of `track` open and room for an event. */
struct strobe_encoder *strobe_tracy_store_part(struct strobe_tracy_store *store, uint32_t proc,
                                               struct strobe_tracy_track *track);
/* The same if its part has an event and room for one more, which is never in another part; else NULL.
 */
struct strobe_encoder *strobe_tracy_store_same_part(struct strobe_tracy_store *store,
                                                    const struct strobe_tracy_track *track);
void strobe_tracy_store_end_part(struct strobe_tracy_store *store);

/* Records under construction, written before the block that may need them. */
struct strobe_records *strobe_tracy_store_records(struct strobe_tracy_store *store);
/* STROBE_SIDE_BYTES / 4 bytes for the fields of one event. */
uint8_t *strobe_tracy_store_scratch(struct strobe_tracy_store *store);

void strobe_tracy_store_lose(struct strobe_tracy_store *store, uint32_t proc, uint64_t track,
                             uint32_t cause, uint64_t count, uint64_t first, uint64_t last);
uint32_t strobe_tracy_store_new_proc(struct strobe_tracy_store *store);
void strobe_tracy_store_count_thread(struct strobe_tracy_store *store);

#endif
