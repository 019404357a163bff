/* lanes.h - a device's cores in a .tracy file: GPU contexts, as tt-metal's own captures have them. A core is a context, its processors are
 * threads of it, their zones GPU zones, whose CPU times are the GPU's. Where that were more than a server has numbers for, a device is
 * one context. SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_LANES_H
#define STROBE_TRACY_FILE_LANES_H

#include <stdint.h>

#include "query/client_facts.h"
#include "tracy_file/blocks_out.h"

enum { STROBE_TRACY_MAX_CONTEXTS = 255 }; /* that live servers tell apart */

struct strobe_tracy_model;

struct strobe_tracy_lanes {
    uint32_t *context_of; /* owned: by thread of the trace, context + 1; 0: it is no lane */
    uint32_t *names;      /* owned: by context, strings */
    uint32_t n_contexts;
    uint32_t n_threads;          /* that `context_of` has */
    uint64_t n_zones, n_parents; /* of all lanes; zones with children */
    uint64_t n_folded;           /* cores that are no context of their own */
};

/* Whether a trace has lanes. */
int strobe_tracy_lanes_has(const struct strobe_trace *trace);

/* A context for each core, or for each device. 0 without memory. */
int strobe_tracy_lanes_start(struct strobe_tracy_model *model);
/* The context of a thread of the trace, + 1; 0: it is no lane. */
uint32_t strobe_tracy_lanes_find(const struct strobe_tracy_lanes *lanes, uint32_t thread);
/* The contexts behind those of GPUs, with their zones. 0 without memory. */
int strobe_tracy_lanes_write(struct strobe_tracy_model *model, struct strobe_tracy_out *out);
void strobe_tracy_lanes_free(struct strobe_tracy_lanes *lanes);

#endif
