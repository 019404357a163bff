/* gather_gpu.c - GPU zones of a trace as rows of a .tracy file, in a spool: by context, in the order of their begins. Their notes, which are
 * few, stay in memory.  SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/array.h"
#include "base/assert.h"
#include "query/gpu.h"
#include "tracy_file/model.h"

struct gathering {
    struct strobe_tracy_model *model; /* borrowed */
    uint32_t *contexts;               /* owned: of the notes */
    uint32_t contexts_room;
};

static enum strobe_err take_note(void *context, uint32_t gpu_context, uint32_t zone_number,
                                 uint64_t note, double value)
{
    struct gathering *gathering = context;
    struct strobe_tracy_gpu *gpu = &gathering->model->gpu;
    if (STROBE_ARRAY_RESERVE(gpu->notes, gpu->notes_room, gpu->n_notes + 1ull) ||
        STROBE_ARRAY_RESERVE(gathering->contexts, gathering->contexts_room, gpu->n_notes + 1ull))
        return STROBE_ERR_NOMEM;
    gathering->contexts[gpu->n_notes] = gpu_context;
    gpu->notes[gpu->n_notes++] = (struct strobe_tracy_gpu_note){zone_number, note, value};
    return STROBE_OK;
}

/* Where the rows of a context begin, by its first zone; those without one begin where the next one does. NOMEM. */
static enum strobe_err begin_context(struct strobe_tracy_gpu *gpu, uint32_t context)
{
    if (STROBE_ARRAY_RESERVE(gpu->firsts, gpu->firsts_room, context + 1ull))
        return STROBE_ERR_NOMEM;
    while (gpu->n_firsts <= context)
        gpu->firsts[gpu->n_firsts++] = gpu->rows.n;
    return STROBE_OK;
}

static enum strobe_err take_zone(void *context, const struct strobe_gpu_zone *zone)
{
    struct strobe_tracy_model *model = ((struct gathering *)context)->model;
    struct strobe_tracy_gpu *gpu = &model->gpu;
    uint32_t process = model->facts.contexts[zone->context].process;
    if (gpu->rows.n >= UINT32_MAX - 1 || begin_context(gpu, zone->context))
        return STROBE_ERR_NOMEM;
    uint64_t first = gpu->firsts[zone->context];
    struct strobe_tracy_gpu_row *row = strobe_spool_add(&gpu->rows);
    if (!row)
        return STROBE_ERR_NOSPACE;
    STROBE_ASSERT(gpu->n_firsts == zone->context + 1 && first + zone->number + 1 == gpu->rows.n);
    *row = (struct strobe_tracy_gpu_row){
        .cpu_begin = strobe_tracy_when(model, process, zone->cpu_begin, zone->cpu_begin_own),
        .cpu_end = zone->has_cpu_end
                       ? strobe_tracy_when(model, process, zone->cpu_end, zone->cpu_end_own)
                       : STROBE_TRACY_ENDLESS,
        .gpu_begin = zone->gpu_begin,
        .gpu_end = zone->gpu_end,
        .tid = zone->tid,
        .loc = strobe_trace_loc(model->trace, process, zone->loc),
        .parent =
            zone->parent == STROBE_IDMAP_NONE ? zone->parent : (uint32_t)(first + zone->parent),
        .n_children = zone->n_children,
        .stack = strobe_tracy_stack_of(model, process, STROBE_KIND_GPU_BEGIN, zone->cpu_begin,
                                       zone->query),
    };
    gpu->n_parents += zone->n_children != 0;
    if (zone->gpu_end != STROBE_GPU_UNKNOWN && zone->gpu_end > model->last_time)
        model->last_time = zone->gpu_end;
    return STROBE_OK;
}

enum strobe_err strobe_tracy_gpu_gather(struct strobe_tracy_model *model, const char *folder)
{
    struct gathering gathering = {.model = model};
    struct strobe_tracy_gpu *gpu = &model->gpu;
    struct strobe_gpu_troubles troubles;
    const struct strobe_gpu_visitor visitor = {&gathering, take_zone, take_note, 0};
    gpu->rows.row_bytes = sizeof(struct strobe_tracy_gpu_row);
    gpu->rows.folder = folder;
    enum strobe_err err =
        strobe_gpu_each_in_order(model->trace, &model->facts, &visitor, &troubles);
    if (!err)
        err = begin_context(gpu, model->facts.context_ids.n); /* and where the last one ends */
    for (uint32_t i = 0; i < gpu->n_notes && !err; i++)
        gpu->notes[i].row = (uint32_t)gpu->firsts[gathering.contexts[i]] + gpu->notes[i].row;
    free(gathering.contexts);
    return err;
}

void strobe_tracy_gpu_free(struct strobe_tracy_gpu *gpu)
{
    strobe_spool_free(&gpu->rows);
    free(gpu->notes);
    free(gpu->firsts);
}
