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

/* A sample's registers and the inner part of its stack, which another processor wrote: they are on their way while the record before is
 * worked on. */
static void fetch_ahead(const uint8_t *record, size_t n_bytes)
{
    enum { LINE = 64, AHEAD = 24 * LINE, LARGE = 2048 };
    if (n_bytes < LARGE)
        return;
    for (size_t at = LINE; at < AHEAD; at += LINE)
        __builtin_prefetch(record + at);
    __builtin_prefetch(record + n_bytes - sizeof(uint64_t)); /* how much of the copy is valid */
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
    if (record)
        fetch_ahead(record, n_bytes);
}

void strobe_perf_ring_begin(struct strobe_perf_ring *ring)
{
    const struct perf_event_mmap_page *page = ring->page;
    if (!page)
        return;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    STROBE_ASSERT(head >= ring->head);
    ring->grown = head - ring->head;
    ring->head = head;
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

/* A word of the buffer; words do not go over its end. */
static uint64_t word_at(const struct strobe_perf_ring *ring, uint64_t at)
{
    uint64_t word;
    memcpy(&word, ring->data + (at & (ring->n_bytes - 1)), sizeof word);
    return word;
}

bool strobe_perf_ring_glance(struct strobe_perf_ring *ring, struct strobe_perf_glance *out)
{
    enum { WHO_OF_SAMPLE = 8, WHO_FROM_END = 24 };
    const struct perf_event_mmap_page *page = ring->page;
    struct perf_event_header head;
    if (!page)
        return false;
    if (ring->glanced < ring->at)
        ring->glanced = ring->at;
    uint64_t end = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = ring->glanced;
    STROBE_ASSERT(end >= at && end - at <= ring->n_bytes);
    if (at >= end)
        return false;
    uint64_t word = word_at(ring, at);
    memcpy(&head, &word, sizeof head);
    ring->glanced = end; /* if it can't be right, the rest is left out */
    if (head.size < 32 || head.size & 7 || head.size > end - at)
        return false;
    ring->glanced = at + head.size;
    out->is_sample = head.type == PERF_RECORD_SAMPLE;
    out->is_out = head.type == PERF_RECORD_SWITCH && head.misc & PERF_RECORD_MISC_SWITCH_OUT;
    out->is_preempted = head.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    uint64_t who_at = out->is_sample ? at + WHO_OF_SAMPLE : at + head.size - WHO_FROM_END;
    uint64_t who = word_at(ring, who_at);
    out->time = word_at(ring, who_at + sizeof who);
    out->pid = (uint32_t)who;
    out->tid = (uint32_t)(who >> 32);
    return true;
}

void strobe_perf_ring_end(struct strobe_perf_ring *ring)
{
    STROBE_ASSERT(ring->at <= ring->head);
    struct perf_event_mmap_page *page = ring->page;
    if (page)
        __atomic_store_n(&page->data_tail, ring->at, __ATOMIC_RELEASE);
}
