/* gpu_run.c - all GPU zones of a trace by context and begin: in arrays, or one by one.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "query/gpu.h"

enum { SORT_BYTES = 32 << 20 };

struct numbered_note {
    struct strobe_gpu_note note; /* zone: number in its context */
    uint32_t context, order;
};

struct filling {
    struct strobe_gpu *gpu;      /* borrowed */
    struct numbered_note *notes; /* owned */
    uint32_t n_notes, notes_room;
};

static enum strobe_err take_zone(void *context, const struct strobe_gpu_zone *zone)
{
    struct strobe_gpu *gpu = ((struct filling *)context)->gpu;
    if (gpu->n_zones >= UINT32_MAX - 1 ||
        STROBE_ARRAY_RESERVE(gpu->zones, gpu->zones_room, gpu->n_zones + 1ull))
        return STROBE_ERR_NOMEM;
    gpu->zones[gpu->n_zones++] = *zone;
    return STROBE_OK;
}

static enum strobe_err take_note(void *context, uint32_t gpu_context, uint32_t zone_number,
                                 uint64_t note, double value)
{
    struct filling *filling = context;
    if (STROBE_ARRAY_RESERVE(filling->notes, filling->notes_room, filling->n_notes + 1ull))
        return STROBE_ERR_NOMEM;
    filling->notes[filling->n_notes] =
        (struct numbered_note){{zone_number, note, value}, gpu_context, filling->n_notes};
    filling->n_notes++;
    return STROBE_OK;
}

static int by_begin(const void *a, const void *b)
{
    const struct strobe_gpu_zone *x = a, *y = b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_context(const void *a, const void *b)
{
    const struct numbered_note *x = a, *y = b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Numbers in a context become indices: a context's zones follow each other, numbered from 0. */
static enum strobe_err set_indices(struct filling *filling)
{
    struct strobe_gpu *gpu = filling->gpu;
    uint32_t first = 0, at = 0;
    if (STROBE_ARRAY_RESERVE(gpu->notes, gpu->notes_room, filling->n_notes))
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < gpu->n_zones; i++) {
        struct strobe_gpu_zone *zone = &gpu->zones[i];
        first = zone->number ? first : i;
        if (zone->parent != STROBE_IDMAP_NONE)
            zone->parent += first;
        if (zone->number)
            continue;
        for (; at < filling->n_notes && filling->notes[at].context == zone->context; at++) {
            gpu->notes[gpu->n_notes] = filling->notes[at].note;
            gpu->notes[gpu->n_notes++].zone += first;
        }
    }
    return STROBE_OK;
}

enum strobe_err strobe_gpu_run(struct strobe_trace *trace, struct strobe_client_facts *facts,
                               struct strobe_gpu *out)
{
    struct filling filling = {.gpu = out};
    struct strobe_gpu_troubles troubles = {0};
    const struct strobe_gpu_visitor visitor = {&filling, take_zone, take_note};
    memset(out, 0, sizeof *out);
    enum strobe_err err = strobe_gpu_each(trace, facts, &visitor, &troubles);
    out->n_stray = troubles.n_stray;
    out->n_bad_parts = troubles.n_bad_parts;
    if (out->n_zones)
        qsort(out->zones, out->n_zones, sizeof *out->zones, by_begin);
    if (filling.n_notes)
        qsort(filling.notes, filling.n_notes, sizeof *filling.notes, by_context);
    if (!err)
        err = set_indices(&filling);
    free(filling.notes);
    return err;
}

void strobe_gpu_free(struct strobe_gpu *gpu)
{
    free(gpu->zones);
    free(gpu->notes);
    memset(gpu, 0, sizeof *gpu);
}

/* ---- one by one ---- */

struct sorting {
    struct strobe_sort *sort;                 /* owned: of zones */
    const struct strobe_gpu_visitor *visitor; /* borrowed */
};

static enum strobe_err keep_zone(void *context, const struct strobe_gpu_zone *zone)
{
    return strobe_sort_add(((struct sorting *)context)->sort, zone, NULL, 0);
}

static enum strobe_err give_zone(void *context, const void *record, const void *bytes,
                                 size_t n_bytes)
{
    const struct strobe_gpu_visitor *visitor = ((struct sorting *)context)->visitor;
    struct strobe_gpu_zone zone;
    (void)bytes;
    (void)n_bytes;
    memcpy(&zone, record, sizeof zone);
    return visitor->zone(visitor->context, &zone);
}

enum strobe_err strobe_gpu_each_in_order(struct strobe_trace *trace,
                                         struct strobe_client_facts *facts,
                                         const struct strobe_gpu_visitor *visitor,
                                         struct strobe_gpu_troubles *out)
{
    static const struct strobe_sort_options order = {sizeof(struct strobe_gpu_zone), SORT_BYTES,
                                                     by_begin, NULL};
    struct sorting sorting = {.visitor = visitor};
    const struct strobe_gpu_visitor keeper = {.context = &sorting, .zone = keep_zone};
    memset(out, 0, sizeof *out);
    enum strobe_err err = strobe_sort_open(&order, &sorting.sort);
    if (!err)
        err = strobe_gpu_each(trace, facts, &keeper, out);
    if (!err)
        err = strobe_sort_all(sorting.sort, give_zone, &sorting);
    strobe_sort_close(sorting.sort);
    return err;
}
