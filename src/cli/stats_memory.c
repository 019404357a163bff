/* stats_memory.c - see the header. A pool's use changes at each allocation and free, in the order of time; its peak is the greatest use. What
 * is live at the end of the trace was not freed while it was recorded.  SPDX-License-Identifier: MIT */
#include "cli/stats_memory.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/input.h"
#include "cli/out.h"
#include "query/memory.h"

struct change {
    uint64_t tick;
    int64_t own, bytes; /* own: of the process's clock, beyond the tick */
};

struct pool {
    uint64_t n_allocs, n_frees, n_live;
    uint64_t bytes, peak_bytes, live_bytes;
    int64_t peak_ns; /* after the start */
};

static int compare(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->tick != y->tick)
        return x->tick < y->tick ? -1 : 1;
    if (x->own != y->own)
        return x->own < y->own ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes; /* what is freed at once makes room */
}

/* The changes of a pool; they are sorted in `changes`, which has room for all. */
static void sum_up(const struct strobe_trace *trace, const struct strobe_memory *memory,
                   uint32_t index, struct change *changes, struct pool *pool)
{
    size_t n = 0;
    int64_t use = 0;
    *pool = (struct pool){0};
    for (uint64_t i = 0; i < memory->n_blocks; i++) {
        const struct strobe_mem_block *block = &memory->blocks[i];
        if (block->pool != index)
            continue;
        pool->n_allocs++;
        pool->bytes += block->size;
        pool->n_frees += block->is_freed;
        pool->n_live += !block->is_freed;
        pool->live_bytes += block->is_freed ? 0 : block->size;
        changes[n++] = (struct change){block->alloc_tick, block->alloc_own, (int64_t)block->size};
        if (block->is_freed)
            changes[n++] =
                (struct change){block->free_tick, block->free_own, -(int64_t)block->size};
    }
    if (n)
        qsort(changes, n, sizeof *changes, compare);
    for (size_t i = 0; i < n; i++) {
        use += changes[i].bytes;
        if (use > 0 && (uint64_t)use > pool->peak_bytes) {
            pool->peak_bytes = (uint64_t)use;
            pool->peak_ns = strobe_clock_rel(&trace->clock, changes[i].tick);
        }
    }
}

static void put_pool(struct strobe_out *out, const struct strobe_trace *trace,
                     const struct strobe_memory *memory, uint32_t index, const struct pool *pool,
                     enum strobe_stats_memory_form form)
{
    char room[STROBE_NAME_ROOM], process_room[STROBE_NAME_ROOM];
    uint32_t n, n_process, process = memory->pools.keys[index].scope;
    const char *name = strobe_memory_pool_name(trace, memory, index, room, &n);
    const char *owner = strobe_trace_process_name(trace, process, process_room, &n_process);
    if (!name)
        name = "default", n = 7;
    if (form == STROBE_STATS_MEMORY_CSV) {
        strobe_out_csv(out, owner, n_process);
        strobe_out_char(out, ',');
        strobe_out_csv(out, name, n);
        strobe_out_format(out, ",%llu,%llu,%llu,%llu,%lld,%llu,%llu\r\n",
                          (unsigned long long)pool->n_allocs, (unsigned long long)pool->n_frees,
                          (unsigned long long)pool->bytes, (unsigned long long)pool->peak_bytes,
                          (long long)pool->peak_ns, (unsigned long long)pool->n_live,
                          (unsigned long long)pool->live_bytes);
        return;
    }
    strobe_out_format(out, "%10llu %10llu %15llu %15llu %12.6f %10llu %15llu  ",
                      (unsigned long long)pool->n_allocs, (unsigned long long)pool->n_frees,
                      (unsigned long long)pool->bytes, (unsigned long long)pool->peak_bytes,
                      (double)pool->peak_ns / 1e9, (unsigned long long)pool->n_live,
                      (unsigned long long)pool->live_bytes);
    strobe_out_terminal(out, name, n);
    strobe_out_text(out, "  ");
    strobe_out_terminal(out, owner, n_process);
    strobe_out_char(out, '\n');
}

static void put_head(struct strobe_out *out, enum strobe_stats_memory_form form)
{
    if (form == STROBE_STATS_MEMORY_CSV)
        strobe_out_text(out, "process,pool,allocations,frees,bytes,peak_bytes,peak_ns,live_blocks,"
                             "live_bytes\r\n");
    else
        strobe_out_format(out, "%10s %10s %15s %15s %12s %10s %15s  %s\n", "allocs", "frees",
                          "bytes", "peak bytes", "peak at [s]", "live", "live bytes",
                          "pool  process");
}

int strobe_cli_stats_memory(struct strobe_trace *trace, const char *path,
                            enum strobe_stats_memory_form form)
{
    struct strobe_memory memory;
    struct strobe_out out;
    struct pool pool;
    enum strobe_err err = strobe_memory_run(trace, &memory);
    struct change *changes = err ? NULL : malloc((2 * memory.n_blocks + 1) * sizeof *changes);
    if (!err && (!changes || !strobe_out_open(&out, 1)))
        err = STROBE_ERR_NOMEM;
    if (err) {
        free(changes);
        strobe_memory_free(&memory);
        return strobe_cli_fail("stats", path, err);
    }
    put_head(&out, form);
    for (uint32_t i = 0; i < memory.pools.n; i++) {
        sum_up(trace, &memory, i, changes, &pool);
        if (pool.n_allocs)
            put_pool(&out, trace, &memory, i, &pool, form);
    }
    strobe_cli_warn_damage("stats", trace, memory.n_bad_parts);
    free(changes);
    strobe_memory_free(&memory);
    return strobe_out_close(&out, "stats");
}
