/* lanes.c - see the header.  SPDX-License-Identifier: MIT */
#include "tracy_file/lanes.h"

#include <stdlib.h>

#include "base/assert.h"
#include "tracy_file/write_parts.h"

enum { GPU_GENERIC = 3 }; /* a type with threads that every layout knows */

int strobe_tracy_lanes_has(const struct strobe_trace *trace)
{
    for (uint32_t i = 0; i < trace->thread_ids.n; i++)
        if (trace->threads[i].is_lane)
            return 1;
    return 0;
}

/* Number the contexts, a core or a device each. The number of them; UINT32_MAX without memory. */
static uint32_t number_contexts(const struct strobe_trace *trace, int by_core,
                                struct strobe_tracy_lanes *lanes)
{
    struct strobe_idmap ids = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < lanes->n_threads && n != UINT32_MAX; i++) {
        const struct strobe_trace_thread *lane = &trace->threads[i];
        if (!lane->is_lane)
            continue;
        uint64_t core = by_core ? (uint64_t)lane->y << 32 | lane->x : 0;
        uint32_t at = strobe_idmap_add(&ids, lane->process, core);
        lanes->context_of[i] = at + 1;
        n = at == STROBE_IDMAP_NONE ? UINT32_MAX : ids.n;
    }
    strobe_idmap_free(&ids);
    return n;
}

/* Device N of another program has the program's name in front, as all names of further processes have. */
static int name_contexts(struct strobe_tracy_model *model, int by_core)
{
    struct strobe_tracy_lanes *lanes = &model->lanes;
    char name[STROBE_CORE_NAME_ROOM];
    lanes->names = calloc(lanes->n_contexts + 1u, sizeof *lanes->names);
    for (uint32_t i = 0; lanes->names && i < lanes->n_threads; i++) {
        uint32_t context = lanes->context_of[i];
        if (context && !lanes->names[context - 1]) {
            uint32_t n = strobe_trace_core_name(model->trace, i, by_core, name);
            lanes->names[context - 1] = strobe_tracy_model_string(model, name, n);
        }
    }
    return lanes->names != NULL;
}

int strobe_tracy_lanes_start(struct strobe_tracy_model *model)
{
    struct strobe_tracy_lanes *lanes = &model->lanes;
    uint32_t n_gpu = model->facts.context_ids.n;
    int by_core = 1;
    if (!strobe_tracy_lanes_has(model->trace))
        return 1;
    strobe_tracy_model_string(model, "", 0); /* so that no context's name is string 0 */
    lanes->n_threads = model->trace->thread_ids.n;
    lanes->context_of = calloc(lanes->n_threads + 1u, sizeof *lanes->context_of);
    if (!lanes->context_of)
        return 0;
    uint32_t n = number_contexts(model->trace, 1, lanes);
    if (n != UINT32_MAX && n_gpu + (uint64_t)n > STROBE_TRACY_MAX_CONTEXTS) {
        lanes->n_folded = n;
        by_core = 0;
        n = number_contexts(model->trace, 0, lanes);
    }
    lanes->n_contexts = n == UINT32_MAX ? 0 : n;
    return n != UINT32_MAX && name_contexts(model, by_core);
}

uint32_t strobe_tracy_lanes_find(const struct strobe_tracy_lanes *lanes, uint32_t thread)
{
    return thread < lanes->n_threads ? lanes->context_of[thread] : 0;
}

void strobe_tracy_lanes_free(struct strobe_tracy_lanes *lanes)
{
    free(lanes->context_of);
    free(lanes->names);
}

/* ---- zones ----------------------------------------------------------------------------------- */

struct refs {
    int64_t cpu, gpu;
};

static void put_begin(const struct strobe_tracy_zone_row *zone, uint16_t number,
                      struct strobe_tracy_out *out, struct refs *refs)
{
    strobe_tracy_put_time(out, &refs->cpu, zone->begin);
    strobe_tracy_put_time(out, &refs->gpu, zone->begin);
    strobe_tracy_out_i16(out, zone->loc);
    strobe_tracy_out_u24(out, 0); /* no call stack */
    strobe_tracy_out_u16(out, number);
    strobe_tracy_out_u64(out, zone->n_children);
}

static void put_end(const struct strobe_tracy_zone_row *zone, int has_notes,
                    struct strobe_tracy_out *out, struct refs *refs)
{
    strobe_tracy_put_time(out, &refs->cpu, zone->end);
    strobe_tracy_put_time(out, &refs->gpu, zone->end);
    if (has_notes)
        strobe_tracy_out_u16(out, 0);
}

/* A lane's zones depth first, without recursion: `way` holds the zones around. 0 without memory. */
static int put_timeline(struct strobe_tracy_model *model, uint32_t thread,
                        struct strobe_tracy_out *out)
{
    const struct strobe_tracy_zone_row *rows = model->zones.rows;
    const struct strobe_tracy_list *roots = model->threads[thread].pending;
    int has_notes = model->layout >= STROBE_TRACY_LAYOUT_14;
    uint16_t number = strobe_tracy_model_number(model, thread);
    uint32_t *way = NULL, depth = 0, room = 0, at = roots->first;
    struct refs refs = {0, 0};
    strobe_tracy_out_u64(out, roots->n);
    while (at || depth) {
        if (!at) {
            uint32_t parent = way[--depth];
            put_end(&rows[parent - 1], has_notes, out, &refs);
            at = rows[parent - 1].next;
            continue;
        }
        STROBE_ASSERT(at <= model->zones.n);
        const struct strobe_tracy_zone_row *zone = &rows[at - 1];
        strobe_spool_visit(&model->zones);
        put_begin(zone, number, out, &refs);
        if (!zone->n_children) {
            put_end(zone, has_notes, out, &refs);
            at = zone->next;
            continue;
        }
        if (!strobe_rows_reach((void **)&way, &room, depth, sizeof *way)) {
            free(way);
            return 0;
        }
        way[depth++] = at;
        at = zone->first;
    }
    free(way);
    return 1;
}

/* Lanes of a context that have zones, by thread of the model. */
static int is_of(const struct strobe_tracy_model_thread *thread, uint32_t context)
{
    return thread->lane == context + 1 && thread->n_zones;
}

static int put_context(struct strobe_tracy_model *model, uint32_t context,
                       struct strobe_tracy_out *out)
{
    int has_notes = model->layout >= STROBE_TRACY_LAYOUT_14, ok = 1;
    uint64_t n_zones = 0, n_threads = 0;
    for (uint32_t t = 0; t < model->thread_ids.n; t++)
        if (is_of(&model->threads[t], context)) {
            n_zones += model->threads[t].n_zones;
            n_threads++;
        }
    strobe_tracy_out_u64(out, 0); /* bound to no thread */
    strobe_tracy_out_u8(out, 0);  /* calibrated: the times are resolved */
    strobe_tracy_out_u64(out, n_zones);
    strobe_tracy_out_f32(out, 1.0f);
    strobe_tracy_out_u8(out, GPU_GENERIC);
    strobe_tracy_put_idx(out, model->lanes.names[context]);
    strobe_tracy_out_u64(out, 0); /* overflow */
    if (has_notes)
        strobe_tracy_out_u64(out, 0); /* names of notes */
    strobe_tracy_out_u64(out, n_threads);
    for (uint32_t t = 0; ok && t < model->thread_ids.n; t++)
        if (is_of(&model->threads[t], context)) {
            strobe_tracy_out_u64(out, model->threads[t].tid);
            ok = put_timeline(model, t, out);
        }
    if (has_notes)
        strobe_tracy_out_u64(out, 0); /* notes */
    return ok;
}

int strobe_tracy_lanes_write(struct strobe_tracy_model *model, struct strobe_tracy_out *out)
{
    int ok = 1;
    for (uint32_t c = 0; ok && c < model->lanes.n_contexts; c++)
        ok = put_context(model, c, out);
    return ok;
}
