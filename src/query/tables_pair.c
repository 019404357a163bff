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
    return strobe_tables_keep_text(tables, text, n);
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

/* As docs/file-format.md orders rows: those that ended, by begin, then depth; then those that are open. */
static int by_place(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    int is_open = x->row.end == UINT64_MAX, is_other_open = y->row.end == UINT64_MAX;
    if (is_open != is_other_open)
        return is_open - is_other_open;
    if (x->row.begin == y->row.begin && x->row.depth != y->row.depth)
        return x->row.depth < y->row.depth ? -1 : 1;
    return by_begin(a, b);
}

/* Spans may overlap: each gets the least depth that is free. */
static uint32_t stack_spans(struct ordered *rows, uint32_t n_rows)
{
    uint64_t busy_until[STROBE_PIXELS_MAX_DEPTHS] = {0};
    uint32_t n = 0;
    qsort(rows, n_rows, sizeof *rows, by_begin);
    for (uint32_t i = 0; i < n_rows; i++) {
        uint32_t depth = 0;
        while (depth < n && busy_until[depth] > rows[i].row.begin)
            depth++;
        depth = depth < STROBE_PIXELS_MAX_DEPTHS ? depth : STROBE_PIXELS_MAX_DEPTHS - 1;
        n = depth >= n ? depth + 1 : n;
        busy_until[depth] = rows[i].row.end;
        rows[i].row.depth = depth;
    }
    return n ? n : 1;
}

static void order_rows(struct strobe_table *table)
{
    struct ordered *rows = strobe_array_resize(NULL, table->n_rows + 1ull, sizeof *rows);
    if (!rows)
        return;
    for (uint32_t i = 0; i < table->n_rows; i++)
        rows[i] = (struct ordered){table->rows[i], i};
    if (table->kind == STROBE_TABLE_SPANS)
        table->n_depths = stack_spans(rows, table->n_rows);
    qsort(rows, table->n_rows, sizeof *rows, by_place);
    for (uint32_t i = 0; i < table->n_rows; i++)
        table->rows[i] = rows[i].row;
    free(rows);
}

static enum strobe_err pair_loose(struct strobe_tables *tables)
{
    struct strobe_walk walk = strobe_walk_of_paired(tables->view->trace, tables, take_batch);
    return strobe_walk_run(&walk);
}

/* ---- GPU contexts, device cores ---- */

static uint32_t name_text(struct strobe_tables *tables, const char *format, const char *name,
                          uint64_t number)
{
    char text[256];
    snprintf(text, sizeof text, format, name, (unsigned long long)number);
    return strobe_tables_keep_text(tables, text, strlen(text));
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

/* The table of a context's zones of one thread, with what is above it. NULL: too many. */
static struct strobe_table *table_of_context(struct strobe_tables *tables,
                                             const struct strobe_client_facts *facts,
                                             const struct strobe_gpu_context_fact *context,
                                             uint64_t zone_tid)
{
    uint32_t n;
    char name[200];
    const char *given = strobe_trace_text(facts->trace, context->name, &n);
    uint64_t device, tid = context->tid ? 0 : zone_tid;
    snprintf(name, sizeof name, "%.*s", (int)n, given);
    const char *core = core_of_name(name, &device);
    if (core)
        return make_risc(tables, context, core, device, zone_tid);
    struct strobe_table *table =
        make_named(tables, STROBE_TABLE_GPU, context->process, context->id, tid, 0);
    if (!table || table->name)
        return table;
    if (!n)
        snprintf(name, sizeof name, "GPU context %llu", (unsigned long long)context->id);
    table->name = name_text(tables, tid ? "%s, thread %llu" : "%s", name, tid);
    return table;
}

/* Zones of one thread of a context: a table. */
struct gpu_lane {
    uint32_t process;
    uint32_t number; /* among the lanes as they came */
    uint64_t context, tid;
};

static int by_lane(const void *a, const void *b)
{
    const struct gpu_lane *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Make the tables of all lanes, in an order that is the same whatever came first. table_of: by number, index + 1. */
static void make_lanes(struct strobe_tables *tables, const struct strobe_client_facts *facts,
                       struct gpu_lane *lanes, uint32_t n, uint32_t *table_of)
{
    if (n)
        qsort(lanes, n, sizeof *lanes, by_lane);
    for (uint32_t i = 0; i < n; i++) {
        const struct strobe_gpu_context_fact unknown = {.process = lanes[i].process,
                                                        .id = lanes[i].context};
        uint32_t at = strobe_idmap_find(&facts->context_ids, lanes[i].process, lanes[i].context);
        const struct strobe_table *table = table_of_context(
            tables, facts, at == STROBE_IDMAP_NONE ? &unknown : &facts->contexts[at], lanes[i].tid);
        table_of[lanes[i].number] = table ? number_of(tables, table) : 0;
    }
}

struct gpu_row {
    struct strobe_pixel_row row;
    uint32_t lane;
};

/* GPU zones on their way to the tables: those are made when all lanes are known. */
struct gpu_rows {
    const struct strobe_client_facts *facts; /* borrowed */
    struct strobe_idmap lane_ids;            /* (index of the context, thread) */
    struct gpu_row *rows;                    /* owned */
    uint32_t n, room;
};

static enum strobe_err take_zone(void *context, const struct strobe_gpu_zone *zone)
{
    struct gpu_rows *rows = context;
    if (zone->gpu_begin == STROBE_GPU_UNKNOWN)
        return STROBE_OK;
    uint32_t lane = strobe_idmap_add(&rows->lane_ids, zone->context, zone->tid);
    struct gpu_row *row =
        lane == STROBE_IDMAP_NONE ? NULL : STROBE_ARRAY_PUSH(rows->rows, rows->n, rows->room);
    if (!row)
        return STROBE_ERR_NOMEM;
    uint32_t process = rows->facts->contexts[zone->context].process;
    *row =
        (struct gpu_row){{.begin = zone->begin_tick,
                          .end = zone->gpu_end == STROBE_GPU_UNKNOWN ? UINT64_MAX : zone->end_tick,
                          .loc = strobe_table_loc(process, zone->loc),
                          .depth = zone->depth,
                          .self = strobe_gpu_self_ticks(zone)},
                         lane};
    return STROBE_OK;
}

static enum strobe_err add_gpu_rows(struct strobe_tables *tables, const struct gpu_rows *rows)
{
    uint32_t n = rows->lane_ids.n;
    struct gpu_lane *lanes = strobe_array_resize(NULL, n + 1ull, sizeof *lanes);
    uint32_t *table_of = calloc(n + 1ull, sizeof *table_of);
    enum strobe_err err = lanes && table_of ? STROBE_OK : STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < n && !err; i++) {
        const struct strobe_idkey *key = &rows->lane_ids.keys[i];
        const struct strobe_gpu_context_fact *context = &rows->facts->contexts[key->scope];
        lanes[i] = (struct gpu_lane){context->process, i, context->id, key->id};
    }
    if (!err)
        make_lanes(tables, rows->facts, lanes, n, table_of);
    for (uint32_t i = 0; i < rows->n && !err; i++) {
        uint32_t table = table_of[rows->rows[i].lane];
        strobe_tables_add(tables, table ? &tables->tables[table - 1] : NULL, rows->rows[i].row);
    }
    free(lanes);
    free(table_of);
    return err;
}

static enum strobe_err pair_gpu(struct strobe_tables *tables)
{
    struct strobe_client_facts facts = {0};
    struct strobe_gpu_troubles troubles;
    struct gpu_rows rows = {.facts = &facts};
    const struct strobe_gpu_visitor visitor = {
        .context = &rows, .zone = take_zone, .with_ticks = 1};
    enum strobe_err err = strobe_client_facts_load(tables->view->trace, &facts);
    if (!err)
        err = strobe_gpu_each(tables->view->trace, &facts, &visitor, &troubles);
    if (!err)
        err = add_gpu_rows(tables, &rows);
    free(rows.rows);
    strobe_idmap_free(&rows.lane_ids);
    strobe_client_facts_free(&facts);
    return err;
}

/* ---- paired by the writer ---- */

static struct strobe_table *table_of_track(struct strobe_tables *tables,
                                           const struct strobe_paired_track *track)
{
    uint32_t process = strobe_trace_process(tables->view->trace, track->proc);
    if (process == STROBE_IDMAP_NONE)
        return NULL;
    if (track->kind == STROBE_PAIRED_FIBER)
        return strobe_tables_make(tables, STROBE_TABLE_FIBER, process, track->id, 0);
    if (track->kind == STROBE_PAIRED_SPANS)
        return strobe_tables_make(tables, STROBE_TABLE_SPANS, process, 0, 0);
    uint32_t first = strobe_view_thread(tables->view, track->proc, track->track);
    struct strobe_table *table =
        first == STROBE_IDMAP_NONE
            ? NULL
            : strobe_tables_make(tables, STROBE_TABLE_THREAD, process, first, 0);
    if (table)
        table->thread = first;
    return table;
}

static void set_stored(struct strobe_tables *tables, uint32_t track, struct strobe_table *table)
{
    if (!table)
        return;
    table->stored = track + 1;
    table->n_depths = tables->paired->list.tracks[track].n_depths;
}

static enum strobe_err use_gpu(struct strobe_tables *tables, struct gpu_lane *lanes,
                               uint32_t *table_of)
{
    const struct strobe_paired_list *list = &tables->paired->list;
    struct strobe_client_facts facts = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n_tracks; i++) {
        const struct strobe_paired_track *track = &list->tracks[i];
        uint32_t process = track->kind == STROBE_PAIRED_GPU
                               ? strobe_trace_process(tables->view->trace, track->proc)
                               : STROBE_IDMAP_NONE;
        if (process != STROBE_IDMAP_NONE)
            lanes[n++] = (struct gpu_lane){process, i, track->id, track->sub};
    }
    if (!n)
        return STROBE_OK;
    enum strobe_err err = strobe_client_facts_load(tables->view->trace, &facts);
    if (!err)
        make_lanes(tables, &facts, lanes, n, table_of);
    for (uint32_t i = 0; i < n && !err; i++) {
        uint32_t table = table_of[lanes[i].number];
        set_stored(tables, lanes[i].number, table ? &tables->tables[table - 1] : NULL);
    }
    strobe_client_facts_free(&facts);
    return err;
}

/* Tables of what the file has paired already. */
static enum strobe_err use_paired(struct strobe_tables *tables)
{
    const struct strobe_paired_list *list = &tables->paired->list;
    struct gpu_lane *lanes = strobe_array_resize(NULL, list->n_tracks + 1ull, sizeof *lanes);
    uint32_t *table_of = calloc(list->n_tracks + 1ull, sizeof *table_of);
    enum strobe_err err = lanes && table_of ? STROBE_OK : STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < list->n_tracks && !err; i++)
        if (list->tracks[i].kind != STROBE_PAIRED_GPU)
            set_stored(tables, i, table_of_track(tables, &list->tracks[i]));
    if (!err)
        err = use_gpu(tables, lanes, table_of);
    tables->n_left_out += list->n_left_out;
    free(lanes);
    free(table_of);
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
            tables->tables[i].stored = 0;
        }
    tables->n_notes = 0;
    strobe_paired_close(tables->paired);
    tables->paired = NULL;
}

/* Pair all events now: of a trace that is under way, or whose writer did not. */
static enum strobe_err pair_now(struct strobe_tables *tables, int by_loose, int by_gpu)
{
    enum strobe_err err = by_loose ? pair_loose(tables) : STROBE_OK;
    if (!err && by_gpu)
        err = pair_gpu(tables);
    for (uint32_t i = 0; i < tables->n_tables; i++)
        if (strobe_table_has_zones(&tables->tables[i]))
            order_rows(&tables->tables[i]);
    return err;
}

/* 1: a walk over all events takes too long, and too much memory. */
static int is_too_large(const struct strobe_tables *tables)
{
    return strobe_file_facts(tables->view->trace->file)->n_bytes > 4ull * STROBE_TABLES_MAX_EVENTS;
}

int strobe_tables_mend(struct strobe_tables *tables)
{
    if (!tables->paired || !tables->paired->n_bad || tables->lacks_rows)
        return 0;
    tables->lacks_rows = is_too_large(tables);
    if (tables->lacks_rows)
        return 1; /* with what can be read; and it is said */
    tables->no_paired = 1;
    tables->paired_bytes = 0;
    return strobe_tables_pair(tables) == STROBE_OK;
}

enum strobe_err strobe_tables_pair(struct strobe_tables *tables)
{
    struct strobe_trace *trace = tables->view->trace;
    const struct strobe_file_facts *facts = strobe_file_facts(trace->file);
    uint64_t n_bytes = facts->n_bytes;
    if (tables->paired_bytes == n_bytes)
        return STROBE_OK;
    int by_loose =
        trace->has_twins ||
        may_have(tables, STROBE_BIT(FIBER_ENTER) | STROBE_BIT(SPAN_BEGIN) | STROBE_BIT(SPAN_END));
    int by_gpu = may_have(tables, STROBE_BIT(GPU_BEGIN));
    int is_first = !tables->paired_bytes && !tables->is_unpaired;
    forget_paired(tables);
    tables->is_unpaired = 0;
    if ((by_loose || by_gpu) && (is_first || facts->closed) && !tables->no_paired &&
        strobe_paired_open(trace, &tables->paired) == STROBE_OK) {
        tables->paired_bytes = n_bytes;
        return use_paired(tables);
    }
    tables->is_unpaired = (by_loose || by_gpu) && is_too_large(tables);
    if (tables->is_unpaired)
        return STROBE_OK;
    tables->paired_bytes = n_bytes;
    return pair_now(tables, by_loose, by_gpu);
}
