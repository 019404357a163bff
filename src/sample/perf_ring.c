/* perf_ring.c - see perf_ring.h. The kernel's order: data_head is read with acquire, data_tail written with release.
 * SPDX-License-Identifier: MIT */
#include "sample/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "sample/perf_record.h"

int strobe_perf_ring_map(struct strobe_perf_ring *ring, int fd, uint64_t n_bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    STROBE_ASSERT(!ring->page && n_bytes && !(n_bytes & (n_bytes - 1)));
    n_bytes = n_bytes < page ? page : n_bytes;
    uint8_t *joined = malloc(STROBE_PERF_RECORD_MAX);
    if (!joined)
        return ENOMEM;
    void *at = mmap(NULL, page + n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        int error = errno;
        free(joined);
        return error;
    }
    *ring = (struct strobe_perf_ring){
        .page = at, .data = (const uint8_t *)at + page, .n_bytes = n_bytes, .joined = joined};
    return 0;
}

void strobe_perf_ring_unmap(struct strobe_perf_ring *ring)
{
    if (ring->page)
        munmap(ring->page, ring->n_bytes + (uint64_t)sysconf(_SC_PAGESIZE));
    free(ring->joined);
    memset(ring, 0, sizeof *ring);
}

/* The record at `at`, whole. NULL: it can't be right. */
static const void *record_at(struct strobe_perf_ring *ring, size_t *n_bytes)
{
    struct perf_event_header head;
    uint64_t from = ring->at & (ring->n_bytes - 1), left = ring->n_bytes - from;
    STROBE_ASSERT(!(from & 7) && ring->at < ring->head);
    memcpy(&head, ring->data + from,
           sizeof head); /* records are aligned: it does not go over the end */
    *n_bytes = head.size;
    if (head.size < sizeof head || head.size & 7 || head.size > ring->head - ring->at)
        return NULL;
    if (head.size <= left)
        return ring->data + from;
    memcpy(ring->joined, ring->data + from, left);
    memcpy(ring->joined + left, ring->data, head.size - left);
    return ring->joined;
}

static void look_ahead(struct strobe_perf_ring *ring)
{
    size_t n_bytes;
    ring->has_next = ring->page && ring->at < ring->head;
    if (!ring->has_next)
        return;
    /* The time may be behind the buffer's end: then the record is joined, once more when it is taken. */
    const void *record = record_at(ring, &n_bytes);
    ring->next_time = record ? strobe_perf_record_time(record, n_bytes) : 0;
}

void strobe_perf_ring_begin(struct strobe_perf_ring *ring)
{
    const struct perf_event_mmap_page *page = ring->page;
    if (!page)
        return;
    ring->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    STROBE_ASSERT(ring->head >= ring->at && ring->head - ring->at <= ring->n_bytes);
    look_ahead(ring);
}

const void *strobe_perf_ring_take(struct strobe_perf_ring *ring, size_t *n_bytes)
{
    STROBE_ASSERT(ring->has_next);
    const void *record = record_at(ring, n_bytes);
    if (!record) {
        ring->at = ring->head;
        ring->has_next = false;
        return NULL;
    }
    ring->at += *n_bytes;
    look_ahead(ring); /* a round goes over the end once, so this never joins over a joined record */
    return record;
}

void strobe_perf_ring_end(struct strobe_perf_ring *ring)
{
    STROBE_ASSERT(ring->at <= ring->head);
    struct perf_event_mmap_page *page = ring->page;
    if (page)
        __atomic_store_n(&page->data_tail, ring->at, __ATOMIC_RELEASE);
}
