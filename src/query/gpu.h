/* gpu.h - zones of GPU contexts, with their times on the CPU and on the GPU, made of the raw events
 * (kinds 39-44) as docs/file-format.md says. The one place that knows calibration, overflow and sync.
 * Memory grows with the number of GPU events.  SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_GPU_H
#define STROBE_QUERY_GPU_H

#include "query/client_facts.h"

#define STROBE_GPU_UNKNOWN INT64_MIN /* a time that the GPU never told */

struct strobe_gpu_zone {
    uint32_t context; /* index in facts->contexts */
    uint32_t parent;  /* index of the zone around it, STROBE_IDMAP_NONE: none */
    uint32_t depth;
    uint32_t n_children;
    uint64_t tid;
    uint64_t loc; /* id */
    uint64_t query;
    uint64_t cpu_begin, cpu_end;        /* ticks */
    int64_t cpu_begin_own, cpu_end_own; /* beyond them, on the process's own clock */
    int64_t gpu_begin, gpu_end; /* ns on the axis of strobe_client_ns, or STROBE_GPU_UNKNOWN */
    uint8_t has_cpu_end;
};

struct strobe_gpu_note {
    uint32_t zone;
    uint64_t note;
    double value;
};

struct strobe_gpu {
    struct strobe_gpu_zone *zones; /* owned: by context, in the order of their begins */
    uint32_t n_zones, zones_room;
    struct strobe_gpu_note *notes; /* owned */
    uint32_t n_notes, notes_room;
    uint64_t n_stray; /* ends, times and notes that belong to no zone */
    uint64_t n_bad_parts;
};

/* Resolve all GPU zones of a trace. Free after a failure too. */
enum strobe_err strobe_gpu_run(struct strobe_trace *trace, struct strobe_client_facts *facts,
                               struct strobe_gpu *out);
void strobe_gpu_free(struct strobe_gpu *gpu);

#endif
