/* perf_ring.h - one buffer of the kernel's, read in place. A record that goes over the buffer's end is copied.
 * Inside src/sample only.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PERF_RING_H
#define STROBE_SAMPLE_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strobe_perf_ring {
    void *page;          /* owned: the mapping; NULL: none */
    const uint8_t *data; /* in it */
    uint64_t n_bytes;    /* of data, a power of two */
    uint64_t at, head;   /* position of the next record, and where this round ends */
    uint64_t next_time;
    bool has_next;
    uint8_t *joined; /* owned: a record that went over the end */
};

/* Map a buffer of `n_bytes` of data on an event. 0 or errno. */
int strobe_perf_ring_map(struct strobe_perf_ring *ring, int fd, uint64_t n_bytes);
void strobe_perf_ring_unmap(struct strobe_perf_ring *ring); /* zeroes are allowed */

/* See what was written until now. */
void strobe_perf_ring_begin(struct strobe_perf_ring *ring);
/* The next record's bytes, aligned to 8, until the next call; there is one. NULL: it can't be right, and the rest of the round is left out. */
const void *strobe_perf_ring_take(struct strobe_perf_ring *ring, size_t *n_bytes);
/* Give back what was taken. */
void strobe_perf_ring_end(struct strobe_perf_ring *ring);

#endif
