/* tables.c - gathers messages, frames, plots and locks from those blocks that have them, and pairs what one track alone
 * can't.  SPDX-License-Identifier: MIT */
#include "query/tables.h"

#include <stdlib.h>
#include <string.h>

#include "query/walk.h"

#define BIT(kind) (1ull << STROBE_KIND_##kind)
static const uint64_t wanted_kinds = BIT(MESSAGE) | BIT(PLOT_INT) | BIT(PLOT_DOUBLE) |
                                     BIT(FRAME_MARK) | BIT(FRAME_START) | BIT(FRAME_END) |
                                     BIT(LOCK_OBTAIN) | BIT(LOCK_RELEASE) | BIT(FLOW_BEGIN) |
                                     BIT(FLOW_STEP) | BIT(FLOW_END);

static struct strobe_table *table_of(struct strobe_tables *tables, enum strobe_table_kind kind,
                                     uint32_t process, uint64_t id)
{
    struct strobe_table *found =
        (struct strobe_table *)strobe_tables_find(tables, kind, process, id);
    if (found)
        return found;
    if (tables->n_tables >= 65536 ||
        !strobe_rows_reach((void **)&tables->tables, &tables->tables_room, tables->n_tables,
                           sizeof *tables->tables))
        return NULL;
    struct strobe_table *table = &tables->tables[tables->n_tables++];
    *table = (struct strobe_table){
        .kind = kind, .process = process, .id = id, .open_since = UINT64_MAX, .n_depths = 1};
    return table;
}

const struct strobe_table *strobe_tables_find(const struct strobe_tables *tables,
                                              enum strobe_table_kind kind, uint32_t process,
                                              uint64_t id)
{
    for (uint32_t i = 0; i < tables->n_tables; i++) {
        const struct strobe_table *table = &tables->tables[i];
        if (table->kind == kind && table->process == process && table->id == id)
            return table;
    }
    return NULL;
}

static void add_row(struct strobe_tables *tables, struct strobe_table *table,
                    struct strobe_pixel_row row)
{
    if (!table || tables->n_rows >= STROBE_TABLES_MAX_ROWS ||
        !strobe_rows_reach((void **)&table->rows, &table->rows_room, table->n_rows,
                           sizeof *table->rows)) {
        tables->n_left_out++;
        return;
    }
    table->rows[table->n_rows++] = row;
    table->n_depths = row.depth >= table->n_depths ? row.depth + 1 : table->n_depths;
    tables->n_rows++;
}

/* ---- messages and their like ---- */

static void add_message(struct strobe_tables *tables, uint32_t process, uint32_t thread,
                        const struct strobe_event *event)
{
    if (tables->n_messages >= STROBE_TABLES_MAX_ROWS ||
        !strobe_rows_reach((void **)&tables->messages, &tables->messages_room, tables->n_messages,
                           sizeof *tables->messages)) {
        tables->n_left_out++;
        return;
    }
    const struct strobe_field *f = event->fields;
    int has_room = tables->texts.n_bytes + f[2].u < STROBE_TABLES_MAX_TEXT;
    tables->messages[tables->n_messages++] = (struct strobe_message){
        .tick = event->tick,
        .process = process,
        .thread = thread,
        .severity = (uint32_t)f[0].u,
        .color = (uint32_t)f[1].u,
        .text = has_room ? strobe_texts_add(&tables->texts, f[2].text, f[2].u) : 0,
    };
    tables->n_left_out += !has_room;
    table_of(tables, STROBE_TABLE_MESSAGES, process, 0);
}

static void add_value(struct strobe_tables *tables, uint32_t process,
                      const struct strobe_event *event)
{
    struct strobe_table *table = table_of(tables, STROBE_TABLE_PLOT, process, event->fields[0].u);
    if (!table || tables->n_values >= STROBE_TABLES_MAX_ROWS ||
        !strobe_rows_reach((void **)&table->values, &table->values_room, table->n_values,
                           sizeof *table->values)) {
        tables->n_left_out++;
        return;
    }
    const struct strobe_field *value = &event->fields[1];
    table->values[table->n_values++] = (struct strobe_table_value){
        event->tick, event->kind == STROBE_KIND_PLOT_INT ? (double)value->i : value->d};
    tables->n_values++;
}

static void add_frame(struct strobe_tables *tables, uint32_t process,
                      const struct strobe_event *event)
{
    struct strobe_table *table = table_of(tables, STROBE_TABLE_FRAMES, process, event->fields[0].u);
    if (!table)
        return;
    if (event->kind != STROBE_KIND_FRAME_START && table->open_since <= event->tick)
        add_row(tables, table, (struct strobe_pixel_row){table->open_since, event->tick, 0, 0});
    table->open_since = event->kind == STROBE_KIND_FRAME_END ? UINT64_MAX : event->tick;
}

static void add_lock(struct strobe_tables *tables, uint32_t process,
                     const struct strobe_event *event)
{
    struct strobe_table *table = table_of(tables, STROBE_TABLE_LOCK, process, event->fields[0].u);
    if (!table)
        return;
    if (event->kind == STROBE_KIND_LOCK_RELEASE && table->open_since <= event->tick)
        add_row(tables, table, (struct strobe_pixel_row){table->open_since, event->tick, 0, 0});
    table->open_since = event->kind == STROBE_KIND_LOCK_OBTAIN ? event->tick : UINT64_MAX;
}

static void add_flow(struct strobe_tables *tables, uint32_t process, uint32_t thread,
                     uint64_t n_open, const struct strobe_event *event)
{
    if (tables->n_flows >= STROBE_TABLES_MAX_ROWS ||
        !strobe_rows_reach((void **)&tables->flows, &tables->flows_room, tables->n_flows,
                           sizeof *tables->flows)) {
        tables->n_left_out++;
        return;
    }
    tables->flows[tables->n_flows++] = (struct strobe_flow_point){
        event->fields[0].u, event->tick, process, thread, n_open ? (uint32_t)(n_open - 1) : 0};
}

static void add_event(struct strobe_tables *tables, uint32_t process, uint32_t thread,
                      uint64_t n_open, const struct strobe_event *event)
{
    switch (event->kind) {
    case STROBE_KIND_MESSAGE:
        add_message(tables, process, thread, event);
        break;
    case STROBE_KIND_PLOT_INT:
    case STROBE_KIND_PLOT_DOUBLE:
        add_value(tables, process, event);
        break;
    case STROBE_KIND_FRAME_MARK:
    case STROBE_KIND_FRAME_START:
    case STROBE_KIND_FRAME_END:
        add_frame(tables, process, event);
        break;
    case STROBE_KIND_LOCK_OBTAIN:
    case STROBE_KIND_LOCK_RELEASE:
        add_lock(tables, process, event);
        break;
    case STROBE_KIND_FLOW_BEGIN:
    case STROBE_KIND_FLOW_STEP:
    case STROBE_KIND_FLOW_END:
        add_flow(tables, process, thread, n_open, event);
        break;
    }
}

static int has_wanted(const struct strobe_events *events, const struct strobe_part *part)
{
    const uint8_t *sym = events->stream[STROBE_SYM] + part->first_event;
    for (uint32_t i = 0; i < part->n_events; i++)
        if (sym[i] < 63 && wanted_kinds >> sym[i] & 1)
            return 1;
    return 0;
}

/* Open zones after an event, of a thread that runs no fiber. */
static uint64_t open_after(uint64_t n_open, const struct strobe_event *event)
{
    uint64_t n_ended = event->kind == STROBE_KIND_ZONE_END       ? 1
                       : event->kind == STROBE_KIND_ZONE_END_POP ? 1 + event->fields[0].u
                                                                 : 0;
    if (event->kind == STROBE_KIND_ZONE_BEGIN)
        return n_open + 1;
    return n_ended < n_open ? n_open - n_ended : 0;
}

static void read_block(struct strobe_tables *tables, uint32_t block)
{
    struct strobe_view *view = tables->view;
    const struct strobe_events *events = strobe_view_events(view, block);
    for (uint32_t i = 0; events && i < events->n_parts; i++) {
        const struct strobe_part *part = &events->parts[i];
        struct strobe_joiner joiner = {0};
        struct strobe_cursor cursor;
        struct strobe_event event;
        if (!part->n_events || !has_wanted(events, part))
            continue;
        uint32_t thread = strobe_view_thread(view, part->proc, part->track);
        if (thread == STROBE_IDMAP_NONE)
            continue;
        strobe_cursor_start(&cursor, events, part, &view->trace->schema, &joiner);
        uint64_t n_open = part->n_below + part->n_stack;
        while (strobe_cursor_next(&cursor, &event) == STROBE_OK) {
            n_open = open_after(n_open, &event);
            if (event.kind < 63 && wanted_kinds >> event.kind & 1)
                add_event(tables, view->trace->threads[thread].process, thread, n_open, &event);
        }
        strobe_joiner_free(&joiner);
    }
}

static int by_tick(const void *a, const void *b)
{
    const struct strobe_message *x = a, *y = b;
    return x->tick < y->tick ? -1 : x->tick > y->tick;
}

static int by_value_tick(const void *a, const void *b)
{
    const struct strobe_table_value *x = a, *y = b;
    return x->tick < y->tick ? -1 : x->tick > y->tick;
}

static int by_flow(const void *a, const void *b)
{
    const struct strobe_flow_point *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->flow != y->flow)
        return x->flow < y->flow ? -1 : 1;
    return x->tick < y->tick ? -1 : x->tick > y->tick;
}

static void read_blocks(struct strobe_tables *tables)
{
    struct strobe_view *view = tables->view;
    uint32_t first = tables->next_block;
    for (; tables->next_block < view->n_blocks; tables->next_block++)
        if (view->blocks[tables->next_block].kinds & wanted_kinds)
            read_block(tables, tables->next_block);
    if (first == tables->next_block)
        return;
    if (tables->n_messages)
        qsort(tables->messages, tables->n_messages, sizeof *tables->messages, by_tick);
    if (tables->n_flows)
        qsort(tables->flows, tables->n_flows, sizeof *tables->flows, by_flow);
    for (uint32_t i = 0; i < tables->n_tables; i++)
        if (tables->tables[i].n_values)
            qsort(tables->tables[i].values, tables->tables[i].n_values,
                  sizeof *tables->tables[i].values, by_value_tick);
}

/* ---- what is paired over all threads ---- */

static enum strobe_err take_batch(void *context, const struct strobe_batch *batch)
{
    struct strobe_tables *tables = context;
    const struct strobe_trace *trace = tables->view->trace;
    struct strobe_table *table = NULL;
    uint32_t process = batch->process;
    if (batch->kind == STROBE_BATCH_FIBER)
        table = table_of(tables, STROBE_TABLE_FIBER, process, batch->id);
    else if (batch->kind == STROBE_BATCH_SPAN)
        table = table_of(tables, STROBE_TABLE_SPANS, process, 0);
    else if (trace->threads[batch->thread].twin) {
        uint32_t first = trace->threads[batch->thread].twin - 1;
        table = table_of(tables, STROBE_TABLE_THREAD, trace->threads[first].process, first);
        if (table)
            table->thread = first;
    } else {
        return STROBE_OK;
    }
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        uint64_t id, end = UINT64_MAX;
        strobe_batch_loc(trace, batch, zone, &id);
        if (zone->state == STROBE_ZONE_NO_BEGIN || zone->state == STROBE_ZONE_UNFINISHED)
            continue;
        if (zone->state == STROBE_ZONE_ENDED)
            end = zone->begin + zone->ticks;
        add_row(tables, table, (struct strobe_pixel_row){zone->begin, end, id, zone->depth});
    }
    return STROBE_OK;
}

static int by_begin(const void *a, const void *b)
{
    const struct strobe_pixel_row *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Spans may overlap: each gets the least depth that is free. */
static void stack_spans(struct strobe_table *table)
{
    uint64_t busy_until[STROBE_PIXELS_MAX_DEPTHS] = {0};
    uint32_t n = 0;
    qsort(table->rows, table->n_rows, sizeof *table->rows, by_begin);
    for (uint32_t i = 0; i < table->n_rows; i++) {
        uint32_t depth = 0;
        while (depth < n && busy_until[depth] > table->rows[i].begin)
            depth++;
        depth = depth < STROBE_PIXELS_MAX_DEPTHS ? depth : STROBE_PIXELS_MAX_DEPTHS - 1;
        n = depth >= n ? depth + 1 : n;
        busy_until[depth] = table->rows[i].end;
        table->rows[i].depth = depth;
    }
    table->n_depths = n ? n : 1;
}

static int needs_pairing(const struct strobe_tables *tables)
{
    const struct strobe_trace *trace = tables->view->trace;
    const struct strobe_trace_totals *totals = &strobe_file_facts(trace->file)->totals;
    const uint64_t *n = totals->n_of_kind;
    const uint64_t mask = BIT(FIBER_ENTER) | BIT(SPAN_BEGIN) | BIT(SPAN_END);
    if (trace->has_twins)
        return 1;
    if (totals->has_totals)
        return n[STROBE_KIND_FIBER_ENTER] || n[STROBE_KIND_SPAN_BEGIN] || n[STROBE_KIND_SPAN_END];
    for (uint32_t i = 0; i < tables->view->n_blocks; i++)
        if (tables->view->blocks[i].lod && tables->view->blocks[i].kinds & mask)
            return 1;
    return strobe_file_facts(trace->file)->n_bytes < 8 << 20;
}

static void forget_paired(struct strobe_tables *tables)
{
    for (uint32_t i = 0; i < tables->n_tables; i++)
        if (tables->tables[i].kind <= STROBE_TABLE_SPANS) {
            tables->n_rows -= tables->tables[i].n_rows;
            tables->tables[i].n_rows = 0;
        }
}

static enum strobe_err pair(struct strobe_tables *tables)
{
    struct strobe_trace *trace = tables->view->trace;
    uint64_t n_bytes = strobe_file_facts(trace->file)->n_bytes;
    if (tables->paired_bytes == n_bytes || !needs_pairing(tables))
        return STROBE_OK;
    tables->is_unpaired = n_bytes > 4ull * STROBE_TABLES_MAX_EVENTS;
    if (tables->is_unpaired)
        return STROBE_OK;
    tables->paired_bytes = n_bytes;
    forget_paired(tables);
    struct strobe_walk walk = {.trace = trace,
                               .context = tables,
                               .zones = take_batch,
                               .want_fibers = 1,
                               .want_spans = 1,
                               .want_open = 1};
    enum strobe_err err = strobe_walk_run(&walk);
    for (uint32_t i = 0; i < tables->n_tables; i++)
        if (tables->tables[i].kind == STROBE_TABLE_SPANS)
            stack_spans(&tables->tables[i]);
    return err;
}

enum strobe_err strobe_tables_update(struct strobe_tables *tables)
{
    read_blocks(tables);
    return pair(tables);
}

void strobe_tables_free(struct strobe_tables *tables)
{
    for (uint32_t i = 0; i < tables->n_tables; i++) {
        free(tables->tables[i].rows);
        free(tables->tables[i].values);
    }
    free(tables->tables);
    free(tables->messages);
    free(tables->flows);
    strobe_texts_free(&tables->texts);
    memset(tables, 0, sizeof *tables);
}
