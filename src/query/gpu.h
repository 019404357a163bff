/* gpu.h - zones of GPU contexts, with their times on the CPU and on the GPU, made of the raw events
 * (kinds 39-44) as docs/file-format.md says. The one place that knows calibration, overflow and sync.
 *
 *   strobe_gpu_each   one by one, in bounded memory
 *   strobe_gpu_each_in_order   likewise, sorted
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_GPU_H
#define STROBE_QUERY_GPU_H

#include "query/client_facts.h"

#define STROBE_GPU_UNKNOWN INT64_MIN /* a time that the GPU never told */

/* A time of the GPU in ns of the GPU. The period is a float on Tracy's wire, and times are cut. */
static inline int64_t strobe_gpu_own_ns(const struct strobe_gpu_context_fact *fact, int64_t time)
{
    return fact->period_ns == 1.0 ? time : (int64_t)(fact->period_ns * (double)time);
}

struct strobe_gpu_zone {
    uint32_t context; /* index in facts->contexts */
    uint32_t parent;  /* number of the zone around it, STROBE_IDMAP_NONE: none */
    uint32_t number;  /* of its context, in the order of begins */
    uint32_t depth;
    uint32_t n_children;
    uint64_t tid;
    uint64_t loc; /* id */
    uint64_t query;
    uint64_t cpu_begin, cpu_end;        /* ticks */
    int64_t cpu_begin_own, cpu_end_own; /* beyond them, on the process's own clock */
    int64_t gpu_begin, gpu_end; /* ns on the axis of strobe_client_ns, or STROBE_GPU_UNKNOWN */
    uint8_t has_cpu_end;
    uint64_t begin_tick,
        end_tick; /* of the GPU's times, where these are known; the end not before the begin. Where the visitor asks for ticks */
    uint64_t children_ns;    /* of those children that the GPU told both times of, in order */
    uint64_t children_ticks; /* of those that it told both times of */
};

/* Ticks that no child had, as the GPU told; 0 where it never told the end. */
static inline uint64_t strobe_gpu_self_ticks(const struct strobe_gpu_zone *zone)
{
    uint64_t ticks = zone->end_tick - zone->begin_tick;
    int is_whole = zone->gpu_begin != STROBE_GPU_UNKNOWN && zone->gpu_end != STROBE_GPU_UNKNOWN;
    return is_whole && ticks > zone->children_ticks ? ticks - zone->children_ticks : 0;
}

/* Whom strobe_gpu_each calls; an error ends it and is its result. */
struct strobe_gpu_visitor {
    void *context;
    /* A zone of which nothing more can come. Children come before their parents, else there is no order. */
    enum strobe_err (*zone)(void *context, const struct strobe_gpu_zone *zone);
    /* NULL: not wanted. In the order of their events. */
    enum strobe_err (*note)(void *context, uint32_t gpu_context, uint32_t zone_number,
                            uint64_t note, double value);
    int with_ticks; /* of the GPU's times: to find them takes longer than all else */
};

/* What belongs to no zone, and what could not be read. */
struct strobe_gpu_troubles {
    uint64_t n_stray; /* ends, times and notes */
    uint64_t n_bad_parts;
};

/* Resolve all GPU zones of a trace. Memory grows with what is open or waits for its times; the events of a context that
 * several threads have are sorted in a file. */
enum strobe_err strobe_gpu_each(struct strobe_trace *trace, struct strobe_client_facts *facts,
                                const struct strobe_gpu_visitor *visitor,
                                struct strobe_gpu_troubles *out);

/* The same by context and in the order of their begins, numbered from 0: sorted, in a file where they are many. All notes come before the zones. */
enum strobe_err strobe_gpu_each_in_order(struct strobe_trace *trace,
                                         struct strobe_client_facts *facts,
                                         const struct strobe_gpu_visitor *visitor,
                                         struct strobe_gpu_troubles *out);

#endif
