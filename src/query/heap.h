/* heap.h - memory in use: what each place of the program allocated, what lives at a time, the peak, what was never freed.
 * Made of MEM_ALLOC, MEM_FREE, MEM_DISCARD and MEM_BLOCK events. Memory grows with the blocks that live at once and the places
 * that allocate, not with the events; query/memory.h keeps every block instead.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_HEAP_H
#define STROBE_QUERY_HEAP_H

#include "query/ordered.h"

/* What is wanted. */
struct strobe_heap_options {
    const uint8_t *processes; /* borrowed: by index, 0: leave it out; NULL: all */
    uint32_t n_processes;
    uint64_t from,
        to; /* ticks, inclusive: only allocations in between are counted; 0, UINT64_MAX: all */
    uint32_t n_blocks;  /* live blocks that are listed, the largest; 0: none */
    uint32_t n_buckets; /* of the use over time, a power of two; 0: none */
};

/* Figures of a pool or of a place. Bytes of blocks that stand for others (a sample's weight) count as what they stand for. */
struct strobe_heap_sums {
    uint64_t n_allocs, bytes; /* in the range */
    uint64_t n_frees;         /* in the range, of blocks that are known */
    uint64_t n_temporary;     /* freed in the range, before their thread allocated anything else */
    uint64_t n_live, live_bytes;     /* at the end of the range: not freed until then */
    uint64_t n_before, before_bytes; /* at its start */
};

struct strobe_heap_pool {
    uint32_t process;
    uint32_t name;    /* text of the trace; 0: the default pool, or one that no record names */
    uint64_t name_id; /* then: the id of the string */
    struct strobe_heap_sums sums;
    uint64_t peak_bytes, peak_tick; /* in the range */
    uint64_t n_unknown_frees;       /* of blocks that were made before the recording */
};

/* Where memory came from: a pool, a call stack, the zone that was open. */
struct strobe_heap_site {
    uint32_t pool;
    uint32_t stack;       /* in heap->ordered.stacks; STROBE_IDMAP_NONE: not known */
    uint32_t loc_process; /* of loc */
    uint64_t loc;         /* id of the innermost zone's location; 0: none was open */
    struct strobe_heap_sums sums;
    uint64_t peak_bytes, n_peak; /* that lived when all pools together were at their peak */
    uint64_t seen_peak;          /* number of the peak that peak_bytes is of */
};

struct strobe_heap_block {
    uint64_t address, size, weight; /* weight: bytes that it stands for */
    uint64_t tick;
    uint32_t site, thread;
    uint32_t next_free; /* in the store: of a free place */
    uint8_t is_before;  /* allocated before the range */
};

/* Use over time: the greatest and the last use in each bucket of 2^shift ticks from `first` on. */
struct strobe_heap_series {
    uint64_t *most, *last; /* owned: n_buckets each */
    uint32_t n;            /* buckets in use */
};

/* Zero-initialised by the run; free once. */
struct strobe_heap {
    struct strobe_ordered ordered;  /* its stacks */
    struct strobe_heap_pool *pools; /* owned */
    struct strobe_idmap pool_ids;   /* (process, name) */
    uint32_t pools_room;
    struct strobe_heap_site *sites; /* owned */
    struct strobe_textmap site_ids;
    uint32_t n_sites, sites_room;
    struct strobe_heap_block
        *blocks; /* owned: that live at the end of the range, the largest first */
    uint32_t n_blocks;
    struct strobe_heap_sums sums;   /* of all */
    uint64_t peak_bytes, peak_tick; /* of all pools together */
    uint64_t n_unknown_frees;
    uint64_t n_sampled; /* blocks that stand for others: all figures are estimates */
    struct strobe_heap_series series;
    uint64_t series_first, series_shift;
};

/* Read all. NOMEM and what reading gives; free it in any case. */
enum strobe_err strobe_heap_run(struct strobe_trace *trace,
                                const struct strobe_heap_options *options, struct strobe_heap *out);
void strobe_heap_free(struct strobe_heap *heap);

/* The name of a pool, never NULL. */
const char *strobe_heap_pool_name(const struct strobe_trace *trace, const struct strobe_heap *heap,
                                  uint32_t pool, char room[STROBE_NAME_ROOM], uint32_t *n_bytes);

#endif
