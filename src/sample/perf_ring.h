/* perf_ring.h - one buffer of the kernel's, read in place. A record that goes over the buffer's end is copied.
 * Inside src/sample only.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PERF_RING_H
#define STROBE_SAMPLE_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a glance at a record shows. */
struct strobe_perf_glance {
    uint32_t pid, tid;
    uint64_t time;
    bool is_sample, is_out; /* out: it left its processor */
    bool is_preempted;      /* and could have gone on */
};

struct strobe_perf_ring {
    void *page;          /* owned: the mapping; NULL: none */
    const uint8_t *data; /* in it */
    uint64_t n_bytes;    /* of data, a power of two */
    uint64_t at, head;   /* position of the next record, and where this round ends */
    uint64_t grown;      /* bytes that came between the last two rounds' begins */
    uint64_t glanced;    /* position up to which records were glanced at */
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
/* Glance at the next record that was written since the last glance, taken or not: who it is of, without its contents. False: none is new. */
bool strobe_perf_ring_glance(struct strobe_perf_ring *ring, struct strobe_perf_glance *out);
/* Give back what was taken. */
void strobe_perf_ring_end(struct strobe_perf_ring *ring);

#endif
