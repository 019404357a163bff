/* tables_pair.c - zones that no single track tells: of fibers, spans, threads that several clients saw (query/loose.h)
 * and GPU contexts (query/gpu.h).  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/gpu.h"
#include "query/tables_make.h"
#include "query/walk.h"

/* ---- fibers, spans, shared threads ---- */

static uint32_t keep_text(struct strobe_tables *tables, const char *text, uint32_t n)
{
    if (!text)
        return 0;
    if (!strobe_tables_has_room(tables, n)) {
        tables->n_left_out++;
        return 0;
    }
    return strobe_texts_add(&tables->texts, text, n);
}

/* Index + 1 of what was said of a zone, 0: nothing. */
static uint32_t keep_note(struct strobe_tables *tables, const struct strobe_note *note)
{
    if (!note || (!note->text && !note->name && !note->has_value && !note->has_color))
        return 0;
    if (!strobe_tables_has_room(tables, sizeof *tables->notes) ||
        STROBE_TABLES_RESERVE(tables->notes, tables->n_notes, tables->notes_room))
        return 0;
    tables->notes[tables->n_notes++] = (struct strobe_table_note){
        keep_text(tables, note->text, note->n_text), keep_text(tables, note->name, note->n_name),
        note->value, note->has_color ? note->color : 0, note->has_value};
    return tables->n_notes;
}

static struct strobe_table *table_of_batch(struct strobe_tables *tables,
                                           const struct strobe_batch *batch)
{
    const struct strobe_trace *trace = tables->view->trace;
    if (batch->kind == STROBE_BATCH_FIBER)
        return strobe_tables_make(tables, STROBE_TABLE_FIBER, batch->process, batch->id, 0);
    if (batch->kind == STROBE_BATCH_SPAN)
        return strobe_tables_make(tables, STROBE_TABLE_SPANS, batch->process, 0, 0);
    if (!trace->threads[batch->thread].twin)
        return NULL;
    uint32_t first = trace->threads[batch->thread].twin - 1;
    struct strobe_table *table =
        strobe_tables_make(tables, STROBE_TABLE_THREAD, trace->threads[first].process, first, 0);
    if (table)
        table->thread = first;
    return table;
}

static enum strobe_err take_batch(void *context, const struct strobe_batch *batch)
{
    struct strobe_tables *tables = context;
    struct strobe_table *table = table_of_batch(tables, batch);
    for (uint32_t i = 0; table && i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        uint64_t id;
        strobe_batch_loc(tables->view->trace, batch, zone, &id);
        if (zone->state == STROBE_ZONE_NO_BEGIN || zone->state == STROBE_ZONE_UNFINISHED)
            continue;
        strobe_tables_add(
            tables, table,
            (struct strobe_pixel_row){
                .begin = zone->begin,
                .end = zone->state == STROBE_ZONE_ENDED ? zone->begin + zone->ticks : UINT64_MAX,
                .loc = strobe_table_loc(batch->process, id),
                .depth = zone->depth,
                .note = zone->note ? keep_note(tables, &batch->notes[zone->note - 1]) : 0,
                .self = zone->self});
    }
    return STROBE_OK;
}

struct ordered {
    struct strobe_pixel_row row;
    uint32_t order;
};

static int by_begin(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->row.begin != y->row.begin)
        return x->row.begin < y->row.begin ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Spans may overlap: each gets the least depth that is free. */
static void stack_spans(struct strobe_table *table)
{
    uint64_t busy_until[STROBE_PIXELS_MAX_DEPTHS] = {0};
    uint32_t n = 0;
    struct ordered *rows = strobe_array_resize(NULL, table->n_rows + 1ull, sizeof *rows);
    if (!rows)
        return;
    for (uint32_t i = 0; i < table->n_rows; i++)
        rows[i] = (struct ordered){table->rows[i], i};
    qsort(rows, table->n_rows, sizeof *rows, by_begin);
    for (uint32_t i = 0; i < table->n_rows; i++) {
        uint32_t depth = 0;
        while (depth < n && busy_until[depth] > rows[i].row.begin)
            depth++;
        depth = depth < STROBE_PIXELS_MAX_DEPTHS ? depth : STROBE_PIXELS_MAX_DEPTHS - 1;
        n = depth >= n ? depth + 1 : n;
        busy_until[depth] = rows[i].row.end;
        table->rows[i] = rows[i].row;
        table->rows[i].depth = depth;
    }
    free(rows);
    table->n_depths = n ? n : 1;
}

static enum strobe_err pair_loose(struct strobe_tables *tables)
{
    struct strobe_walk walk = {.trace = tables->view->trace,
                               .context = tables,
                               .zones = take_batch,
                               .want_notes = 1,
                               .want_fibers = 1,
                               .want_spans = 1,
                               .want_open = 1};
    enum strobe_err err = strobe_walk_run(&walk);
    for (uint32_t i = 0; i < tables->n_tables; i++)
        if (tables->tables[i].kind == STROBE_TABLE_SPANS)
            stack_spans(&tables->tables[i]);
    return err;
}

/* ---- GPU contexts, device cores ---- */

static uint32_t name_text(struct strobe_tables *tables, const char *format, const char *name,
                          uint64_t number)
{
    char text[256];
    snprintf(text, sizeof text, format, name, (unsigned long long)number);
    return strobe_texts_add(&tables->texts, text, strlen(text));
}

/* "Device: 3, Logical (1,2) …" is a core of a device: the number, and the rest behind the comma. NULL: it is not. */
static const char *core_of_name(const char *name, uint64_t *device)
{
    char *end;
    if (strncmp(name, "Device: ", 8))
        return NULL;
    *device = strtoull(name + 8, &end, 10);
    return end > name + 8 && !strncmp(end, ", ", 2) ? end + 2 : NULL;
}

static struct strobe_table *make_named(struct strobe_tables *tables, enum strobe_table_kind kind,
                                       uint32_t process, uint64_t id, uint64_t sub, uint32_t parent)
{
    struct strobe_table *table = strobe_tables_make(tables, kind, process, id, sub);
    if (table)
        table->parent = parent;
    return table;
}

static uint32_t number_of(const struct strobe_tables *tables, const struct strobe_table *table)
{
    return (uint32_t)(table - tables->tables) + 1;
}

/* The lane of one of a core's processors: the lowest three bits of the thread's number tell which. */
static struct strobe_table *make_risc(struct strobe_tables *tables,
                                      const struct strobe_gpu_context_fact *context,
                                      const char *core, uint64_t device, uint64_t tid)
{
    static const char *const riscs[] = {"BRISC",   "NCRISC", "TRISC_0", "TRISC_1",
                                        "TRISC_2", "ERISC",  "RISC 6",  "RISC 7"};
    struct strobe_table *table =
        make_named(tables, STROBE_TABLE_DEVICE, context->process, device, 0, 0);
    if (table && !table->name)
        table->name = name_text(tables, "%sDevice %llu", "", device);
    table = !table ? NULL
                   : make_named(tables, STROBE_TABLE_CORE, context->process, context->id, 0,
                                number_of(tables, table));
    if (table && !table->name)
        table->name = name_text(tables, "%s", core, 0);
    table = !table ? NULL
                   : make_named(tables, STROBE_TABLE_RISC, context->process, context->id, tid,
                                number_of(tables, table));
    if (table && !table->name)
        table->name = name_text(tables, "%s", riscs[tid & 7], 0);
    return table;
}

static struct strobe_table *table_of_zone(struct strobe_tables *tables,
                                          const struct strobe_client_facts *facts,
                                          const struct strobe_gpu_zone *zone)
{
    const struct strobe_gpu_context_fact *context = &facts->contexts[zone->context];
    uint32_t n;
    char name[200];
    const char *given = strobe_trace_text(facts->trace, context->name, &n);
    uint64_t device, tid = context->tid ? 0 : zone->tid;
    snprintf(name, sizeof name, "%.*s", (int)n, given);
    const char *core = core_of_name(name, &device);
    if (core)
        return make_risc(tables, context, core, device, zone->tid);
    struct strobe_table *table =
        make_named(tables, STROBE_TABLE_GPU, context->process, context->id, tid, 0);
    if (!table || table->name)
        return table;
    if (!n)
        snprintf(name, sizeof name, "GPU context %llu", (unsigned long long)context->id);
    table->name = name_text(tables, tid ? "%s, thread %llu" : "%s", name, tid);
    return table;
}

/* Zones in ticks, with the self times that follow. */
static void take_zones(struct strobe_tables *tables, const struct strobe_client_facts *facts,
                       const struct strobe_gpu *gpu, struct strobe_pixel_row *rows)
{
    for (uint32_t i = 0; i < gpu->n_zones; i++) {
        const struct strobe_gpu_zone *zone = &gpu->zones[i];
        uint32_t process = facts->contexts[zone->context].process;
        if (zone->gpu_begin == STROBE_GPU_UNKNOWN)
            continue;
        struct strobe_pixel_row *row = &rows[i];
        row->begin = strobe_client_tick(facts, process, zone->gpu_begin);
        row->end = UINT64_MAX;
        row->loc = strobe_table_loc(process, zone->loc);
        row->depth = zone->depth;
        if (zone->gpu_end == STROBE_GPU_UNKNOWN)
            continue;
        row->end = strobe_client_tick(facts, process, zone->gpu_end);
        row->end = row->end < row->begin ? row->begin : row->end;
        row->self += row->end - row->begin;
        if (zone->parent != STROBE_IDMAP_NONE)
            rows[zone->parent].self -= row->end - row->begin;
    }
    for (uint32_t i = 0; i < gpu->n_zones; i++) {
        if (gpu->zones[i].gpu_begin == STROBE_GPU_UNKNOWN)
            continue;
        if (rows[i].end == UINT64_MAX || (int64_t)rows[i].self < 0)
            rows[i].self = 0;
        strobe_tables_add(tables, table_of_zone(tables, facts, &gpu->zones[i]), rows[i]);
    }
}

static enum strobe_err pair_gpu(struct strobe_tables *tables)
{
    struct strobe_client_facts facts = {0};
    struct strobe_gpu gpu = {0};
    enum strobe_err err = strobe_client_facts_load(tables->view->trace, &facts);
    if (!err)
        err = strobe_gpu_run(tables->view->trace, &facts, &gpu);
    struct strobe_pixel_row *rows = calloc(gpu.n_zones + 1ull, sizeof *rows);
    if (!err && !rows)
        err = STROBE_ERR_NOMEM;
    if (!err)
        take_zones(tables, &facts, &gpu, rows);
    free(rows);
    strobe_gpu_free(&gpu);
    strobe_client_facts_free(&facts);
    return err;
}

/* ---- when ---- */

/* 1: the trace may have events of these kinds. */
static int may_have(const struct strobe_tables *tables, uint64_t kinds)
{
    const struct strobe_file_facts *facts = strobe_file_facts(tables->view->trace->file);
    for (uint32_t i = 0; facts->totals.has_totals && i < 64; i++)
        if (kinds >> i & 1 && facts->totals.n_of_kind[i])
            return 1;
    if (facts->totals.has_totals)
        return 0;
    for (uint32_t i = 0; i < tables->view->n_lods; i++)
        if (tables->view->lods[i].kinds & kinds)
            return 1;
    return facts->n_bytes < 8 << 20;
}

static void forget_paired(struct strobe_tables *tables)
{
    for (uint32_t i = 0; i < tables->n_tables; i++)
        if (strobe_table_has_zones(&tables->tables[i])) {
            tables->n_rows -= tables->tables[i].n_rows;
            tables->tables[i].n_rows = 0;
        }
    tables->n_notes = 0;
}

enum strobe_err strobe_tables_pair(struct strobe_tables *tables)
{
    const struct strobe_trace *trace = tables->view->trace;
    uint64_t n_bytes = strobe_file_facts(trace->file)->n_bytes;
    if (tables->paired_bytes == n_bytes)
        return STROBE_OK;
    int by_loose =
        trace->has_twins ||
        may_have(tables, STROBE_BIT(FIBER_ENTER) | STROBE_BIT(SPAN_BEGIN) | STROBE_BIT(SPAN_END));
    int by_gpu = may_have(tables, STROBE_BIT(GPU_BEGIN));
    tables->is_unpaired = (by_loose || by_gpu) && n_bytes > 4ull * STROBE_TABLES_MAX_EVENTS;
    if (tables->is_unpaired)
        return STROBE_OK;
    tables->paired_bytes = n_bytes;
    forget_paired(tables);
    enum strobe_err err = by_loose ? pair_loose(tables) : STROBE_OK;
    return err || !by_gpu ? err : pair_gpu(tables);
}
