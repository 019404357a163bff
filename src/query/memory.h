/* memory.h - blocks of memory: allocations and the frees that end them, paired by time over all
 * threads. Memory grows with the number of blocks.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_MEMORY_H
#define STROBE_QUERY_MEMORY_H

#include "query/trace.h"

struct strobe_mem_block {
    uint32_t pool;                /* index in memory->pools.keys */
    uint32_t thread, free_thread; /* indices in trace->threads */
    uint64_t address, size;
    uint64_t alloc_tick, free_tick;
    int64_t alloc_own, free_own; /* beyond the ticks, on the process's own clock */
    uint8_t is_freed;
};

struct strobe_memory {
    struct strobe_mem_block *blocks; /* owned: in the order of their allocations */
    uint64_t n_blocks, blocks_room;
    struct strobe_idmap pools; /* (process, text of the name): strobe_memory_pool_name */
    uint64_t n_unknown_frees;  /* of blocks that were made before the recording */
    uint64_t n_bad_parts;
};

/* Pair them. An address that is allocated again without a free ends the block before. Free after a
 * failure too. */
enum strobe_err strobe_memory_run(struct strobe_trace *trace, struct strobe_memory *out);
void strobe_memory_free(struct strobe_memory *memory);

/* The name of a pool; NULL: the default one. */
const char *strobe_memory_pool_name(const struct strobe_trace *trace,
                                    const struct strobe_memory *memory, uint32_t pool,
                                    char room[STROBE_NAME_ROOM], uint32_t *n_bytes);

#endif
