/* gpu_clocks.c - calibrations of GPU contexts, added up.  SPDX-License-Identifier: MIT */
#include "query/gpu_clocks.h"

#include <stdlib.h>

#include "base/array.h"
#include "query/gpu.h"
#include "query/walk.h"

static void calibrate(struct strobe_gpu_clock *clock, const struct strobe_client_facts *facts,
                      const struct strobe_gpu_context_fact *fact, const struct strobe_event *event)
{
    int64_t gpu = strobe_gpu_own_ns(fact, event->fields[1].i);
    int64_t host = strobe_client_own_ns(facts, fact->process, event->fields[2].u);
    double passed = (double)gpu - (double)clock->last_gpu, delta_ns = (double)event->fields[3].i;
    if (clock->n_calibrations++) {
        double off = (double)host - ((double)clock->last_host + passed * clock->mod);
        clock->gpu_ns += passed;
        clock->host_ns += delta_ns;
        if (off > (double)llabs(clock->step_ns) || -off > (double)llabs(clock->step_ns)) {
            clock->step_ns = off > 9e18 ? INT64_MAX : off < -9e18 ? -INT64_MAX : (int64_t)off;
            clock->step_tick = event->tick;
        }
    }
    if (passed != 0)
        clock->mod = delta_ns / passed;
    clock->last_gpu = gpu;
    clock->last_host = host;
}

static enum strobe_err take(void *context, const struct strobe_happening *happening)
{
    struct strobe_gpu_clocks *clocks = context;
    struct strobe_client_facts *facts = clocks->facts;
    const struct strobe_event *event = happening->event;
    uint32_t i = strobe_idmap_find(&facts->context_ids, happening->process, event->fields[0].u);
    if (i == STROBE_IDMAP_NONE)
        return STROBE_OK; /* no record tells of it */
    if (event->kind == STROBE_KIND_GPU_SYNC)
        clocks->rows[i].n_syncs++;
    else
        calibrate(&clocks->rows[i], facts, &facts->contexts[i], event);
    return STROBE_OK;
}

/* 1: the trace has no such event for certain. */
static int has_none(const struct strobe_trace *trace)
{
    const struct strobe_trace_totals *totals = &strobe_file_facts(trace->file)->totals;
    return totals->has_totals && !totals->n_of_kind[STROBE_KIND_GPU_CALIBRATION] &&
           !totals->n_of_kind[STROBE_KIND_GPU_SYNC];
}

enum strobe_err strobe_gpu_clocks_run(struct strobe_trace *trace, struct strobe_client_facts *facts,
                                      struct strobe_gpu_clocks *out)
{
    struct strobe_walk walk = {
        .trace = trace,
        .context = out,
        .happens = take,
        .kinds = 1ull << STROBE_KIND_GPU_CALIBRATION | 1ull << STROBE_KIND_GPU_SYNC,
    };
    out->facts = facts;
    out->n = facts->context_ids.n;
    if (out->n && STROBE_ARRAY_REACH(out->rows, out->room, out->n - 1))
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < out->n; i++) {
        const struct strobe_gpu_context_fact *fact = &facts->contexts[i];
        out->rows[i].last_gpu = strobe_gpu_own_ns(fact, fact->time);
        out->rows[i].last_host = strobe_client_own_ns(facts, fact->process, fact->host);
        out->rows[i].mod = 1;
    }
    return has_none(trace) ? STROBE_OK : strobe_walk_run(&walk);
}

void strobe_gpu_clocks_free(struct strobe_gpu_clocks *clocks)
{
    free(clocks->rows);
    *clocks = (struct strobe_gpu_clocks){0};
}
