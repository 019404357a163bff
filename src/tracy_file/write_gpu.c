/* write_gpu.c - GPU contexts of a .tracy file and their zones, whose times are resolved.  SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/assert.h"
#include "tracy_file/write_parts.h"

enum { GPU_GENERIC = 3, MOST_NOTED = UINT16_MAX };

/* Zones with notes, of all contexts: a file ties the two by a number, which each of them gets in its context. */
struct noted {
    uint16_t *numbers; /* owned: by zone; 0: it has none */
    uint32_t at;       /* the first of the sorted notes that is not written */
};

static uint64_t gpu_known(int64_t time)
{
    return time == STROBE_GPU_UNKNOWN || time < 0 ? (uint64_t)STROBE_TRACY_ENDLESS : (uint64_t)time;
}

struct gpu_refs {
    int64_t cpu, gpu;
};

static void begin_gpu_zone(struct strobe_tracy_model *model, const struct strobe_tracy_names *names,
                           uint32_t i, struct strobe_tracy_out *out, struct gpu_refs *refs)
{
    const struct strobe_gpu_zone *zone = &model->gpu.zones[i];
    const struct strobe_gpu_context_fact *context = &model->facts.contexts[zone->context];
    strobe_tracy_put_time(
        out, &refs->cpu,
        strobe_tracy_when(model, context->process, zone->cpu_begin, zone->cpu_begin_own));
    strobe_tracy_put_time(out, &refs->gpu, (int64_t)gpu_known(zone->gpu_begin));
    strobe_tracy_out_i16(out, names->gpu_locs[i]);
    strobe_tracy_out_u24(out, strobe_tracy_stack_of(model, context->process, STROBE_KIND_GPU_BEGIN,
                                                    zone->cpu_begin, zone->query));
    uint32_t number = 0;
    for (uint32_t t = 0; !context->tid && t < model->thread_ids.n && !number; t++)
        if (model->threads[t].tid == zone->tid)
            number = strobe_tracy_model_number(model, t);
    strobe_tracy_out_u16(out, (uint16_t)number);
    strobe_tracy_out_u64(out, zone->n_children);
}

static void end_gpu_zone(struct strobe_tracy_model *model, const struct noted *noted, uint32_t i,
                         struct strobe_tracy_out *out, struct gpu_refs *refs)
{
    const struct strobe_gpu_zone *zone = &model->gpu.zones[i];
    uint32_t process = model->facts.contexts[zone->context].process;
    strobe_tracy_put_time(out, &refs->cpu,
                          zone->has_cpu_end
                              ? strobe_tracy_when(model, process, zone->cpu_end, zone->cpu_end_own)
                              : STROBE_TRACY_ENDLESS);
    strobe_tracy_put_time(out, &refs->gpu, (int64_t)gpu_known(zone->gpu_end));
    if (noted->numbers)
        strobe_tracy_out_u16(out, noted->numbers[i]);
}

/* Zones of one thread of a context, first..last: they are in the order of their begins. */
static void put_gpu_timeline(struct strobe_tracy_model *model,
                             const struct strobe_tracy_names *names, const struct noted *noted,
                             uint32_t first, uint32_t last, uint64_t tid,
                             struct strobe_tracy_out *out)
{
    const struct strobe_gpu_zone *zones = model->gpu.zones;
    struct gpu_refs refs = {0, 0};
    uint64_t n_roots = 0;
    uint32_t open = STROBE_IDMAP_NONE;
    for (uint32_t i = first; i < last; i++)
        n_roots += zones[i].tid == tid && zones[i].parent == STROBE_IDMAP_NONE;
    strobe_tracy_out_u64(out, n_roots);
    for (uint32_t i = first; i < last; i++) {
        if (zones[i].tid != tid)
            continue;
        while (open != STROBE_IDMAP_NONE && open != zones[i].parent) {
            end_gpu_zone(model, noted, open, out, &refs);
            open = zones[open].parent;
        }
        begin_gpu_zone(model, names, i, out, &refs);
        open = i;
    }
    for (; open != STROBE_IDMAP_NONE; open = zones[open].parent)
        end_gpu_zone(model, noted, open, out, &refs);
}

static int put_gpu_threads(struct strobe_tracy_model *model, const struct strobe_tracy_names *names,
                           const struct noted *noted, uint32_t first, uint32_t last, int is_bound,
                           struct strobe_tracy_out *out)
{
    struct strobe_idmap tids = {0};
    for (uint32_t i = first; i < last; i++)
        if (strobe_idmap_add(&tids, 0, model->gpu.zones[i].tid) == STROBE_IDMAP_NONE)
            return 0;
    strobe_tracy_out_u64(out, tids.n);
    for (uint32_t t = 0; t < tids.n; t++) {
        strobe_tracy_out_u64(out, is_bound ? 0 : tids.keys[t].id);
        put_gpu_timeline(model, names, noted, first, last, tids.keys[t].id, out);
    }
    strobe_idmap_free(&tids);
    return 1;
}

/* ---- notes ----------------------------------------------------------------------------------- */

static int compare_notes(const void *a, const void *b)
{
    const struct strobe_gpu_note *x = a, *y = b;
    if (x->zone != y->zone)
        return x->zone < y->zone ? -1 : 1;
    return x->note < y->note ? -1 : x->note > y->note;
}

/* Number the zones that have notes. Notes of those for which there is no number are left out. 0 without memory. */
static int number_noted(struct strobe_tracy_model *model, struct noted *noted)
{
    struct strobe_gpu *gpu = &model->gpu;
    uint32_t context = STROBE_IDMAP_NONE, n = 0;
    if (model->layout < STROBE_TRACY_LAYOUT_14)
        return 1;
    noted->numbers = calloc(gpu->n_zones + 1, sizeof *noted->numbers);
    if (!noted->numbers)
        return 0;
    if (gpu->n_notes)
        qsort(gpu->notes, gpu->n_notes, sizeof *gpu->notes, compare_notes);
    for (uint32_t i = 0; i < gpu->n_notes; i++) {
        uint32_t zone = gpu->notes[i].zone;
        STROBE_ASSERT(zone < gpu->n_zones && (!i || gpu->notes[i - 1].zone <= zone));
        if (gpu->zones[zone].context != context)
            n = 0;
        context = gpu->zones[zone].context;
        if (!noted->numbers[zone] && n < MOST_NOTED)
            noted->numbers[zone] = (uint16_t)++n;
        model->folds->n_gpu_notes += !noted->numbers[zone];
    }
    return 1;
}

static void put_note_names(const struct strobe_tracy_model *model, uint32_t context,
                           struct strobe_tracy_out *out)
{
    const struct strobe_tracy_code *code = &model->code;
    uint64_t n = 0;
    for (uint32_t i = 0; i < code->n_notes; i++)
        n += code->notes[i].context == context;
    strobe_tracy_out_u64(out, n);
    for (uint32_t i = 0; i < code->n_notes; i++) {
        if (code->notes[i].context != context)
            continue;
        strobe_tracy_out_u64(out, code->notes[i].note);
        strobe_tracy_put_idx(out, code->notes[i].name);
    }
}

/* Notes of the zones up to `last`; they are in the order of the zones. */
static void put_notes(const struct strobe_tracy_model *model, struct noted *noted, uint32_t last,
                      struct strobe_tracy_out *out)
{
    const struct strobe_gpu_note *notes = model->gpu.notes;
    uint32_t end = noted->at;
    uint64_t n_zones = 0;
    for (; end < model->gpu.n_notes && notes[end].zone < last; end++)
        n_zones += noted->numbers[notes[end].zone] &&
                   (end == noted->at || notes[end].zone != notes[end - 1].zone);
    strobe_tracy_out_u64(out, n_zones);
    for (uint32_t next; noted->at < end; noted->at = next) {
        uint32_t zone = notes[noted->at].zone;
        for (next = noted->at; next < end && notes[next].zone == zone;)
            next++;
        if (!noted->numbers[zone])
            continue;
        strobe_tracy_out_u16(out, noted->numbers[zone]);
        strobe_tracy_out_u64(out, next - noted->at);
        for (uint32_t i = noted->at; i < next; i++) {
            strobe_tracy_out_u64(out, notes[i].note);
            strobe_tracy_out_f64(out, notes[i].value);
        }
    }
}

/* ---- contexts -------------------------------------------------------------------------------- */

int strobe_tracy_write_gpu(struct strobe_tracy_model *model, const struct strobe_tracy_names *names,
                           struct strobe_tracy_out *out)
{
    const struct strobe_gpu_zone *zones = model->gpu.zones;
    struct noted noted = {0};
    uint64_t n_parents = 0;
    int ok = number_noted(model, &noted);
    for (uint32_t i = 0; i < model->gpu.n_zones; i++)
        n_parents += zones[i].n_children != 0;
    strobe_tracy_out_u64(out, model->gpu.n_zones + model->lanes.n_zones);
    strobe_tracy_out_u64(out, n_parents + model->lanes.n_parents);
    strobe_tracy_out_u64(out, (uint64_t)model->facts.context_ids.n + model->lanes.n_contexts);
    uint32_t at = 0;
    for (uint32_t c = 0; ok && c < model->facts.context_ids.n; c++) {
        const struct strobe_gpu_context_fact *context = &model->facts.contexts[c];
        uint32_t first = at;
        while (at < model->gpu.n_zones && zones[at].context == c)
            at++;
        strobe_tracy_out_u64(out, context->tid);
        strobe_tracy_out_u8(out, 0); /* calibrated: the times are resolved */
        strobe_tracy_out_u64(out, at - first);
        strobe_tracy_out_f32(out, 1.0f);
        uint64_t last_type = noted.numbers ? 10 : 6; /* that the layout knows */
        strobe_tracy_out_u8(out, context->type >= 1 && context->type <= last_type
                                     ? (uint8_t)context->type
                                     : GPU_GENERIC);
        strobe_tracy_put_idx(out, names->contexts[c]);
        strobe_tracy_out_u64(out, 0); /* overflow */
        if (noted.numbers)
            put_note_names(model, c, out);
        ok = put_gpu_threads(model, names, &noted, first, at, context->tid != 0, out);
        if (noted.numbers)
            put_notes(model, &noted, at, out);
    }
    free(noted.numbers);
    return ok && strobe_tracy_lanes_write(model, out);
}
