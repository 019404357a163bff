/* stats_gpu.c - statistics of GPU zones, by the times that the GPU told: gpu.h resolves them. Their durations are sorted, in a file
 * where they are many, so percentiles are exact.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/sort.h"
#include "query/gpu.h"
#include "query/stats.h"

enum { SORT_BYTES = 16 << 20 };

struct measured {
    uint64_t ns;
    uint32_t row;
};

struct adding {
    struct strobe_stats *stats; /* borrowed, as are the next two */
    const struct strobe_stats_options *options;
    const struct strobe_client_facts *facts;
    struct strobe_sort *sort; /* owned: of struct measured */
    uint32_t row;             /* whose durations come in order */
    uint64_t n;               /* of them that came */
};

static int compare(const void *a, const void *b)
{
    const struct measured *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static int is_wanted(const struct strobe_stats_options *options, uint32_t process,
                     const struct strobe_gpu_zone *zone)
{
    if (options->processes && process < options->n_processes && !options->processes[process])
        return 0;
    return !options->by_tick ||
           (zone->cpu_begin >= options->tick_min && zone->cpu_begin <= options->tick_max);
}

/* Add a zone to its row. One that never began or never ended, for the GPU, is in no sum. */
static enum strobe_err take_zone(void *context, const struct strobe_gpu_zone *zone)
{
    struct adding *adding = context;
    struct strobe_stats *stats = adding->stats;
    uint32_t process = adding->facts->contexts[zone->context].process;
    if (zone->gpu_begin == STROBE_GPU_UNKNOWN || zone->gpu_end == STROBE_GPU_UNKNOWN ||
        zone->gpu_end < zone->gpu_begin || !is_wanted(adding->options, process, zone))
        return STROBE_OK;
    uint64_t ns = (uint64_t)zone->gpu_end - (uint64_t)zone->gpu_begin;
    uint64_t self = ns > zone->children_ns ? ns - zone->children_ns : 0;
    uint32_t row = strobe_stats_row_of(
        stats, process, strobe_trace_loc(stats->trace, process, zone->loc), zone->loc);
    if (row == UINT32_MAX || !strobe_stats_add(&stats->rows[row], ns, self, 0))
        return STROBE_ERR_NOMEM;
    const struct measured measured = {ns, row};
    return strobe_sort_add(adding->sort, &measured, NULL, 0);
}

/* The next duration of a row, in order. */
static enum strobe_err take_measured(void *context, const void *record, const void *bytes,
                                     size_t n_bytes)
{
    struct adding *adding = context;
    struct measured measured;
    (void)bytes;
    (void)n_bytes;
    memcpy(&measured, record, sizeof measured);
    if (adding->row != measured.row)
        adding->n = 0;
    adding->row = measured.row;
    adding->n++;
    struct strobe_stats_row *row = &adding->stats->rows[measured.row];
    for (int i = 0; i < STROBE_STATS_N_PERCENTILES; i++)
        if (strobe_stats_rank(strobe_percentiles[i], row->count) == adding->n)
            row->percentile[i] = measured.ns;
    return STROBE_OK;
}

enum strobe_err strobe_stats_gpu(struct strobe_stats *stats,
                                 const struct strobe_stats_options *options)
{
    const struct strobe_sort_options order = {
        .record_bytes = sizeof(struct measured), .memory_bytes = SORT_BYTES, .compare = compare};
    struct strobe_client_facts facts;
    struct strobe_gpu_troubles troubles = {0};
    struct adding adding = {stats, options, &facts, NULL, UINT32_MAX, 0};
    const struct strobe_gpu_visitor visitor = {.context = &adding, .zone = take_zone};
    enum strobe_err err = strobe_client_facts_load(stats->trace, &facts);
    if (!err)
        err = strobe_sort_open(&order, &adding.sort);
    if (!err)
        err = strobe_gpu_each(stats->trace, &facts, &visitor, &troubles);
    if (!err)
        err = strobe_sort_all(adding.sort, take_measured, &adding);
    stats->n_bad_parts = troubles.n_bad_parts;
    stats->is_exact = stats->is_ns = 1;
    strobe_sort_close(adding.sort);
    strobe_client_facts_free(&facts);
    return err;
}
