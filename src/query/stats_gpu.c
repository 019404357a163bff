/* stats_gpu.c - statistics of GPU zones, by the times that the GPU told: gpu.h resolves them.
 * All of them are in memory by then, so percentiles are exact.  SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/array.h"
#include "query/gpu.h"
#include "query/stats.h"

struct measured {
    uint32_t row;
    uint64_t ns;
};

static int compare(const void *a, const void *b)
{
    const struct measured *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* 0: it never began or never ended, for the GPU; such zones are in no sum. */
static int duration(const struct strobe_gpu_zone *zone, uint64_t *ns)
{
    if (zone->gpu_begin == STROBE_GPU_UNKNOWN || zone->gpu_end == STROBE_GPU_UNKNOWN ||
        zone->gpu_end < zone->gpu_begin)
        return 0;
    *ns = (uint64_t)zone->gpu_end - (uint64_t)zone->gpu_begin;
    return 1;
}

/* By zone: what its children took. NULL without memory. */
static uint64_t *children_of(const struct strobe_gpu *gpu)
{
    uint64_t *sums = calloc(gpu->n_zones + 1ull, sizeof *sums), ns;
    for (uint32_t i = 0; sums && i < gpu->n_zones; i++)
        if (gpu->zones[i].parent < gpu->n_zones && duration(&gpu->zones[i], &ns))
            sums[gpu->zones[i].parent] += ns;
    return sums;
}

static int is_wanted(const struct strobe_stats_options *options, uint32_t process,
                     const struct strobe_gpu_zone *zone)
{
    if (options->processes && process < options->n_processes && !options->processes[process])
        return 0;
    return !options->by_tick ||
           (zone->cpu_begin >= options->tick_min && zone->cpu_begin <= options->tick_max);
}

/* Add the zones that are wanted to their rows; *n of them are in `out`, which has room for all. */
static enum strobe_err add_all(struct strobe_stats *stats,
                               const struct strobe_stats_options *options,
                               const struct strobe_client_facts *facts,
                               const struct strobe_gpu *gpu, struct measured *out, uint32_t *n)
{
    uint64_t *children = children_of(gpu), ns;
    enum strobe_err err = children ? STROBE_OK : STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < gpu->n_zones && !err; i++) {
        const struct strobe_gpu_zone *zone = &gpu->zones[i];
        uint32_t process = facts->contexts[zone->context].process;
        if (!is_wanted(options, process, zone) || !duration(zone, &ns))
            continue;
        uint32_t row = strobe_stats_row_of(
            stats, process, strobe_trace_loc(stats->trace, process, zone->loc), zone->loc);
        if (row == UINT32_MAX ||
            !strobe_stats_add(&stats->rows[row], ns, ns > children[i] ? ns - children[i] : 0, 0))
            err = STROBE_ERR_NOMEM;
        out[(*n)++] = (struct measured){row, ns};
    }
    free(children);
    return err;
}

static void set_percentiles(struct strobe_stats *stats, struct measured *list, uint32_t n)
{
    qsort(list, n, sizeof *list, compare);
    for (uint32_t at = 0; at < n;) {
        struct strobe_stats_row *row = &stats->rows[list[at].row];
        for (int i = 0; i < STROBE_STATS_N_PERCENTILES; i++) {
            uint64_t rank = strobe_stats_rank(strobe_percentiles[i], row->count);
            row->percentile[i] = list[at + rank - 1].ns;
        }
        at += (uint32_t)row->count;
    }
}

enum strobe_err strobe_stats_gpu(struct strobe_stats *stats,
                                 const struct strobe_stats_options *options)
{
    struct strobe_client_facts facts;
    struct strobe_gpu gpu = {0};
    struct measured *list = NULL;
    uint32_t n = 0;
    enum strobe_err err = strobe_client_facts_load(stats->trace, &facts);
    if (!err)
        err = strobe_gpu_run(stats->trace, &facts, &gpu);
    if (!err && !(list = strobe_array_resize(NULL, gpu.n_zones + 1ull, sizeof *list)))
        err = STROBE_ERR_NOMEM;
    if (!err)
        err = add_all(stats, options, &facts, &gpu, list, &n);
    if (!err)
        set_percentiles(stats, list, n);
    stats->n_bad_parts = gpu.n_bad_parts;
    stats->is_exact = stats->is_ns = 1;
    free(list);
    strobe_gpu_free(&gpu);
    strobe_client_facts_free(&facts);
    return err;
}
