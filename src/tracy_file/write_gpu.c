/* write_gpu.c - GPU contexts of a .tracy file and their zones, whose times are resolved.  SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/array.h"
#include "base/assert.h"
#include "tracy_file/write_parts.h"

enum { GPU_GENERIC = 3, MOST_NOTED = UINT16_MAX };

/* Zones with notes, of all contexts: a file ties the two by a number, which each of them gets in its context. */
struct noted {
    struct noted_row {
        uint32_t row, number; /* number 0: there was none left */
    } * rows;                 /* owned: by row */
    uint32_t n;
    uint32_t at;  /* the first of the sorted notes that is not written */
    int is_known; /* the layout has notes */
};

static uint16_t number_of(const struct noted *noted, uint32_t row)
{
    size_t i = STROBE_ARRAY_BISECT(0, noted->n, k, noted->rows[k].row < row);
    return i < noted->n && noted->rows[i].row == row ? (uint16_t)noted->rows[i].number : 0;
}

static struct strobe_tracy_gpu_row *row_of(const struct strobe_tracy_model *model, uint32_t i)
{
    STROBE_ASSERT(i < model->gpu.rows.n);
    return strobe_spool_row(&model->gpu.rows, i);
}

static uint64_t gpu_known(int64_t time)
{
    return time == STROBE_GPU_UNKNOWN || time < 0 ? (uint64_t)STROBE_TRACY_ENDLESS : (uint64_t)time;
}

struct gpu_refs {
    int64_t cpu, gpu;
};

static void begin_gpu_zone(struct strobe_tracy_model *model, const struct strobe_tracy_gpu_row *row,
                           int is_bound, struct strobe_tracy_out *out, struct gpu_refs *refs)
{
    strobe_tracy_put_time(out, &refs->cpu, row->cpu_begin);
    strobe_tracy_put_time(out, &refs->gpu, (int64_t)gpu_known(row->gpu_begin));
    strobe_tracy_out_i16(out, (int16_t)row->loc);
    strobe_tracy_out_u24(out, row->stack);
    uint32_t number = 0;
    for (uint32_t t = 0; !is_bound && t < model->thread_ids.n && !number; t++)
        if (model->threads[t].tid == row->tid)
            number = strobe_tracy_model_number(model, t);
    strobe_tracy_out_u16(out, (uint16_t)number);
    strobe_tracy_out_u64(out, row->n_children);
}

/* The row around it. */
static uint32_t end_gpu_zone(struct strobe_tracy_model *model, const struct noted *noted,
                             uint32_t i, struct strobe_tracy_out *out, struct gpu_refs *refs)
{
    const struct strobe_tracy_gpu_row *row = row_of(model, i);
    strobe_tracy_put_time(out, &refs->cpu, row->cpu_end);
    strobe_tracy_put_time(out, &refs->gpu, (int64_t)gpu_known(row->gpu_end));
    if (noted->is_known)
        strobe_tracy_out_u16(out, number_of(noted, i));
    return row->parent;
}

/* Rows of a context. */
struct context_rows {
    uint32_t first, last; /* up to before `last` */
    int is_bound;         /* all are of one thread */
};

/* Those of one thread: they are in the order of their begins. */
static void put_gpu_timeline(struct strobe_tracy_model *model, const struct noted *noted,
                             const struct context_rows *rows, uint64_t tid,
                             struct strobe_tracy_out *out)
{
    struct gpu_refs refs = {0, 0};
    uint64_t n_roots = 0;
    uint32_t open = STROBE_IDMAP_NONE;
    for (uint32_t i = rows->first; i < rows->last; i++) {
        const struct strobe_tracy_gpu_row *row = row_of(model, i);
        n_roots += row->tid == tid && row->parent == STROBE_IDMAP_NONE;
        strobe_spool_visit(&model->gpu.rows);
    }
    strobe_tracy_out_u64(out, n_roots);
    for (uint32_t i = rows->first; i < rows->last; i++) {
        const struct strobe_tracy_gpu_row *row = row_of(model, i);
        strobe_spool_visit(&model->gpu.rows);
        if (row->tid != tid)
            continue;
        while (open != STROBE_IDMAP_NONE && open != row->parent)
            open = end_gpu_zone(model, noted, open, out, &refs);
        begin_gpu_zone(model, row, rows->is_bound, out, &refs);
        open = i;
    }
    while (open != STROBE_IDMAP_NONE)
        open = end_gpu_zone(model, noted, open, out, &refs);
}

static int put_gpu_threads(struct strobe_tracy_model *model, const struct noted *noted,
                           const struct context_rows *rows, struct strobe_tracy_out *out)
{
    struct strobe_idmap tids = {0};
    for (uint32_t i = rows->first; i < rows->last; i++) {
        if (strobe_idmap_add(&tids, 0, row_of(model, i)->tid) == STROBE_IDMAP_NONE)
            return 0;
        strobe_spool_visit(&model->gpu.rows);
    }
    strobe_tracy_out_u64(out, tids.n);
    for (uint32_t t = 0; t < tids.n; t++) {
        strobe_tracy_out_u64(out, rows->is_bound ? 0 : tids.keys[t].id);
        put_gpu_timeline(model, noted, rows, tids.keys[t].id, out);
    }
    strobe_idmap_free(&tids);
    return 1;
}

/* ---- notes ----------------------------------------------------------------------------------- */

static int compare_notes(const void *a, const void *b)
{
    const struct strobe_tracy_gpu_note *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->note < y->note ? -1 : x->note > y->note;
}

/* Number the zones that have notes. Notes of those for which there is no number are left out. 0 without memory. */
static int number_noted(struct strobe_tracy_model *model, struct noted *noted)
{
    struct strobe_tracy_gpu *gpu = &model->gpu;
    uint32_t context = 0, n = 0;
    if (model->layout < STROBE_TRACY_LAYOUT_14)
        return 1;
    noted->is_known = 1;
    noted->rows = calloc(gpu->n_notes + 1ull, sizeof *noted->rows);
    if (!noted->rows)
        return 0;
    if (gpu->n_notes)
        qsort(gpu->notes, gpu->n_notes, sizeof *gpu->notes, compare_notes);
    for (uint32_t i = 0; i < gpu->n_notes; i++) {
        uint32_t row = gpu->notes[i].row;
        STROBE_ASSERT(row < gpu->rows.n && (!i || gpu->notes[i - 1].row <= row));
        for (; row >= gpu->firsts[context + 1]; context++)
            n = 0;
        if (!noted->n || noted->rows[noted->n - 1].row != row)
            noted->rows[noted->n++] = (struct noted_row){row, n < MOST_NOTED ? ++n : 0};
        model->folds->n_gpu_notes += !noted->rows[noted->n - 1].number;
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
    const struct strobe_tracy_gpu_note *notes = model->gpu.notes;
    uint32_t end = noted->at;
    uint64_t n_zones = 0;
    for (; end < model->gpu.n_notes && notes[end].row < last; end++)
        n_zones += (end == noted->at || notes[end].row != notes[end - 1].row) &&
                   number_of(noted, notes[end].row);
    strobe_tracy_out_u64(out, n_zones);
    for (uint32_t next; noted->at < end; noted->at = next) {
        uint32_t row = notes[noted->at].row;
        uint16_t number = number_of(noted, row);
        for (next = noted->at; next < end && notes[next].row == row;)
            next++;
        if (!number)
            continue;
        strobe_tracy_out_u16(out, number);
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
    const struct strobe_tracy_gpu *gpu = &model->gpu;
    struct noted noted = {0};
    int ok = number_noted(model, &noted);
    strobe_tracy_out_u64(out, gpu->rows.n + model->lanes.n_zones);
    strobe_tracy_out_u64(out, gpu->n_parents + model->lanes.n_parents);
    strobe_tracy_out_u64(out, (uint64_t)model->facts.context_ids.n + model->lanes.n_contexts);
    for (uint32_t c = 0; ok && c < model->facts.context_ids.n; c++) {
        const struct strobe_gpu_context_fact *context = &model->facts.contexts[c];
        const struct context_rows rows = {(uint32_t)gpu->firsts[c], (uint32_t)gpu->firsts[c + 1],
                                          context->tid != 0};
        strobe_tracy_out_u64(out, context->tid);
        strobe_tracy_out_u8(out, 0); /* calibrated: the times are resolved */
        strobe_tracy_out_u64(out, rows.last - rows.first);
        strobe_tracy_out_f32(out, 1.0f);
        uint64_t last_type = noted.is_known ? 10 : 6; /* that the layout knows */
        strobe_tracy_out_u8(out, context->type >= 1 && context->type <= last_type
                                     ? (uint8_t)context->type
                                     : GPU_GENERIC);
        strobe_tracy_put_idx(out, names->contexts[c]);
        strobe_tracy_out_u64(out, 0); /* overflow */
        if (noted.is_known)
            put_note_names(model, c, out);
        ok = put_gpu_threads(model, &noted, &rows, out);
        if (noted.is_known)
            put_notes(model, &noted, rows.last, out);
    }
    free(noted.rows);
    return ok && strobe_tracy_lanes_write(model, out);
}
