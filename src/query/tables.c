/* tables.c - gathers messages, frames, plots, locks and flows from those blocks that have them. What one track alone
 * can't tell is paired in tables_pair.c.  SPDX-License-Identifier: MIT */
#include "query/tables_make.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

static const uint64_t wanted_kinds =
    STROBE_BIT(MESSAGE) | STROBE_BIT(PLOT_INT) | STROBE_BIT(PLOT_DOUBLE) | STROBE_BIT(FRAME_MARK) |
    STROBE_BIT(FRAME_START) | STROBE_BIT(FRAME_END) | STROBE_BIT(FRAME_IMAGE) |
    STROBE_BIT(LOCK_WAIT) | STROBE_BIT(LOCK_OBTAIN) | STROBE_BIT(LOCK_RELEASE) |
    STROBE_BIT(FLOW_BEGIN) | STROBE_BIT(FLOW_STEP) | STROBE_BIT(FLOW_END) | STROBE_BIT(STR_PIECE);

/* A text may begin in one part of a thread and end in the next. */
struct strobe_table_reader {
    struct strobe_joiner joiner;
    uint64_t next_pos;
    uint32_t since; /* block in which that text begins, if it does */
};

struct strobe_table *strobe_tables_make(struct strobe_tables *tables, enum strobe_table_kind kind,
                                        uint32_t process, uint64_t id, uint64_t sub)
{
    for (uint32_t i = 0; i < tables->n_tables; i++) {
        struct strobe_table *table = &tables->tables[i];
        if (table->kind == kind && table->process == process && table->id == id &&
            table->sub == sub)
            return table;
    }
    if (tables->n_tables >= 65536 ||
        STROBE_ARRAY_REACH(tables->tables, tables->tables_room, tables->n_tables))
        return NULL;
    struct strobe_table *table = &tables->tables[tables->n_tables++];
    *table = (struct strobe_table){
        .kind = kind, .process = process, .id = id, .sub = sub, .n_depths = 1};
    return table;
}

const struct strobe_table *strobe_tables_thread(const struct strobe_tables *tables, uint32_t thread)
{
    for (uint32_t i = 0; i < tables->n_tables; i++)
        if (tables->tables[i].kind == STROBE_TABLE_THREAD && tables->tables[i].thread == thread)
            return &tables->tables[i];
    return NULL;
}

int strobe_tables_has_room(const struct strobe_tables *tables, uint64_t n_bytes)
{
    uint64_t n =
        tables->n_rows * sizeof(struct strobe_pixel_row) +
        tables->n_values * sizeof(struct strobe_table_value) +
        tables->n_points * (sizeof(struct strobe_table_point) + sizeof(struct strobe_pixel_row)) +
        tables->n_messages * sizeof(struct strobe_message) +
        tables->n_flows * sizeof(struct strobe_flow_point) +
        tables->n_notes * sizeof(struct strobe_table_note) +
        tables->n_images * sizeof(struct strobe_table_image) + tables->texts.n_bytes;
    return n + n_bytes <= STROBE_TABLES_MAX_BYTES;
}

void strobe_tables_add(struct strobe_tables *tables, struct strobe_table *table,
                       struct strobe_pixel_row row)
{
    int is_zone = table && strobe_table_has_zones(table);
    if (!table || (is_zone && !strobe_tables_has_room(tables, sizeof row)) ||
        STROBE_TABLES_RESERVE(table->rows, table->n_rows, table->rows_room)) {
        tables->n_left_out++;
        return;
    }
    table->rows[table->n_rows++] = row;
    table->n_depths = row.depth >= table->n_depths ? row.depth + 1 : table->n_depths;
    tables->n_rows += is_zone != 0;
}

/* ---- texts ---- */

/* Most texts that come again come soon: the last ones are known by their hash. All of them would need more memory than the texts. */
uint32_t strobe_tables_keep_text(struct strobe_tables *tables, const char *text, uint64_t n)
{
    enum { RECENT = 4096 };
    struct strobe_texts *texts = &tables->texts;
    uint32_t n_known;
    if (!n || (!tables->recent && !(tables->recent = calloc(RECENT, sizeof *tables->recent))))
        return 0;
    uint32_t *recent = &tables->recent[strobe_hash_bytes(text, (size_t)n, 0) % RECENT];
    const char *known = strobe_texts_get(texts, *recent, &n_known);
    if (n_known == n && !memcmp(known, text, (size_t)n))
        return *recent;
    uint64_t end = strobe_texts_end(texts, n);
    if (!end || STROBE_SPILL_RESERVE(texts->bytes, texts->room, end))
        return 0;
    return *recent = strobe_texts_put(texts, text, n);
}

/* ---- messages and their like ---- */

static void add_message(struct strobe_tables *tables, uint32_t process, uint32_t thread,
                        const struct strobe_event *event)
{
    const struct strobe_field *f = event->fields;
    if (!strobe_tables_has_room(tables, sizeof *tables->messages + f[2].u) ||
        STROBE_TABLES_RESERVE(tables->messages, tables->n_messages, tables->messages_room)) {
        tables->n_left_out++;
        return;
    }
    tables->messages[tables->n_messages++] = (struct strobe_message){
        .tick = event->tick,
        .process = process,
        .thread = thread,
        .severity = (uint32_t)f[0].u,
        .color = (uint32_t)f[1].u,
        .text = strobe_tables_keep_text(tables, f[2].text, f[2].u),
        .order = tables->order,
    };
    strobe_tables_make(tables, STROBE_TABLE_MESSAGES, process, 0, 0);
}

static void add_value(struct strobe_tables *tables, uint32_t process,
                      const struct strobe_event *event)
{
    struct strobe_table *table =
        strobe_tables_make(tables, STROBE_TABLE_PLOT, process, event->fields[0].u, 0);
    if (!table || !strobe_tables_has_room(tables, sizeof *table->values) ||
        STROBE_TABLES_RESERVE(table->values, table->n_values, table->values_room)) {
        tables->n_left_out++;
        return;
    }
    const struct strobe_field *value = &event->fields[1];
    table->values[table->n_values++] = (struct strobe_table_value){
        event->tick, event->kind == STROBE_KIND_PLOT_INT ? (double)value->i : value->d,
        tables->order};
    tables->n_values++;
}

static void add_point(struct strobe_tables *tables, enum strobe_table_kind kind, uint32_t process,
                      uint32_t thread, const struct strobe_event *event)
{
    struct strobe_table *table = strobe_tables_make(tables, kind, process, event->fields[0].u, 0);
    if (!table || !strobe_tables_has_room(tables, sizeof *table->points + sizeof *table->rows) ||
        STROBE_TABLES_RESERVE(table->points, table->n_points, table->points_room)) {
        tables->n_left_out++;
        return;
    }
    table->points[table->n_points++] =
        (struct strobe_table_point){event->tick, tables->order, thread, event->kind};
    tables->n_points++;
}

/* A process that came since may be the owner of points that were read before it. */
static void renew_owners(struct strobe_tables *tables)
{
    const struct strobe_trace *trace = tables->view->trace;
    if (tables->n_owned_processes == trace->n_processes)
        return;
    for (uint32_t i = 0; i < tables->n_flows; i++) {
        struct strobe_flow_point *point = &tables->flows[i];
        uint32_t owner = strobe_trace_flow_owner(trace, trace->threads[point->thread].process);
        if (owner != point->owner)
            tables->sorted_flows = 0;
        point->owner = owner;
    }
    tables->n_owned_processes = trace->n_processes;
}

static void add_flow(struct strobe_tables *tables, uint32_t process, uint32_t thread,
                     uint64_t n_open, const struct strobe_event *event)
{
    if (!strobe_tables_has_room(tables, sizeof *tables->flows) ||
        STROBE_TABLES_RESERVE(tables->flows, tables->n_flows, tables->flows_room)) {
        tables->n_left_out++;
        return;
    }
    tables->flows[tables->n_flows++] =
        (struct strobe_flow_point){event->fields[0].u,
                                   event->tick,
                                   strobe_trace_flow_owner(tables->view->trace, process),
                                   thread,
                                   n_open ? (uint32_t)(n_open - 1) : 0,
                                   tables->order};
}

static void add_image(struct strobe_tables *tables, uint32_t thread, uint32_t block,
                      const struct strobe_event *event)
{
    if (!strobe_tables_has_room(tables, sizeof *tables->images) ||
        STROBE_TABLES_RESERVE(tables->images, tables->n_images, tables->images_room)) {
        tables->n_left_out++;
        return;
    }
    tables->images[tables->n_images++] = (struct strobe_table_image){
        .tick = event->tick,
        .frame = event->fields[0].u,
        .process = tables->view->trace->threads[thread].process,
        .thread = thread,
        .first_block = tables->readers[thread].since,
        .block = block,
        .order = ++tables->order,
    };
}

static void add_event(struct strobe_tables *tables, uint32_t process, uint32_t thread,
                      uint64_t n_open, const struct strobe_event *event)
{
    tables->order++;
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
        add_point(tables, STROBE_TABLE_FRAMES, process, thread, event);
        break;
    case STROBE_KIND_LOCK_WAIT:
    case STROBE_KIND_LOCK_OBTAIN:
    case STROBE_KIND_LOCK_RELEASE:
        add_point(tables, STROBE_TABLE_LOCK, process, thread, event);
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

/* Open zones of the thread itself after an event. */
static uint64_t open_after(uint64_t n_open, uint64_t fiber, const struct strobe_event *event)
{
    uint64_t n_ended = event->kind == STROBE_KIND_ZONE_END         ? 1
                       : event->kind == STROBE_KIND_ZONE_END_UNDER ? 1
                       : event->kind == STROBE_KIND_ZONE_END_POP   ? 1 + event->fields[0].u
                                                                   : 0;
    if (event->kind == STROBE_KIND_ZONE_BEGIN)
        return n_open + !fiber;
    return n_ended < n_open ? n_open - n_ended : 0;
}

static void read_part(struct strobe_tables *tables, const struct strobe_events *events,
                      const struct strobe_part *part, uint32_t thread, uint32_t block)
{
    struct strobe_view *view = tables->view;
    struct strobe_table_reader *reader = &tables->readers[thread];
    struct strobe_cursor cursor;
    struct strobe_event event;
    uint64_t n_open = part->n_below + part->n_stack, fiber = part->fiber;
    if (reader->next_pos != part->pos)
        reader->joiner.n_text = 0;
    if (!reader->joiner.n_text)
        reader->since = block;
    reader->next_pos = part->pos + part->n_words;
    strobe_cursor_start(&cursor, events, part, &view->trace->schema, &reader->joiner);
    while (strobe_cursor_next(&cursor, &event) == STROBE_OK) {
        n_open = open_after(n_open, fiber, &event);
        if (event.kind == STROBE_KIND_FIBER_ENTER)
            fiber = event.fields[0].u;
        else if (event.kind == STROBE_KIND_FIBER_LEAVE)
            fiber = 0;
        if (event.kind == STROBE_KIND_FRAME_IMAGE)
            add_image(tables, thread, block, &event);
        else if (event.kind < 63 && wanted_kinds >> event.kind & 1)
            add_event(tables, view->trace->threads[thread].process, thread, n_open, &event);
        if (!reader->joiner.n_text)
            reader->since = block;
    }
}

static void read_block(struct strobe_tables *tables, uint32_t block)
{
    const struct strobe_events *events = strobe_view_glance(tables->view, block);
    for (uint32_t i = 0; events && i < events->n_parts; i++) {
        const struct strobe_part *part = &events->parts[i];
        if (!part->n_events || !has_wanted(events, part))
            continue;
        uint32_t thread = strobe_view_thread(tables->view, part->proc, part->track);
        if (thread != STROBE_IDMAP_NONE &&
            !STROBE_ARRAY_REACH(tables->readers, tables->readers_room, thread))
            read_part(tables, events, part, thread, block);
    }
}

/* ---- order ---- */

/* Compare two of a sort by tick, then by order of reading. */
#define BY_TICK(name, type)                                    \
    static int name(const void *a, const void *b)              \
    {                                                          \
        const struct type *x = a, *y = b;                      \
        if (x->tick != y->tick)                                \
            return x->tick < y->tick ? -1 : 1;                 \
        return x->order < y->order ? -1 : x->order > y->order; \
    }
BY_TICK(by_message, strobe_message)
BY_TICK(by_value, strobe_table_value)
BY_TICK(by_point, strobe_table_point)
BY_TICK(by_flow_tick, strobe_flow_point)
BY_TICK(by_image, strobe_table_image)

static int by_flow(const void *a, const void *b)
{
    const struct strobe_flow_point *x = a, *y = b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->flow != y->flow)
        return x->flow < y->flow ? -1 : 1;
    return by_flow_tick(a, b);
}

/* ---- frames and locks ---- */

/* Frames go on where they ended, unless points came before: what was made long ago stays where it lies. */
static void make_frames(struct strobe_tables *tables, struct strobe_table *table, uint32_t n_same)
{
    if (n_same < table->n_framed)
        table->n_rows = table->n_framed = 0;
    uint64_t since = table->n_framed ? table->since : UINT64_MAX;
    for (uint32_t i = table->n_framed; i < table->n_points; i++) {
        const struct strobe_table_point *point = &table->points[i];
        if (point->kind != STROBE_KIND_FRAME_START && since != UINT64_MAX)
            strobe_tables_add(tables, table,
                              (struct strobe_pixel_row){.begin = since,
                                                        .end = point->tick,
                                                        .loc = STROBE_TABLE_NO_LOC,
                                                        .self = point->tick - since});
        since = point->kind == STROBE_KIND_FRAME_END ? UINT64_MAX : point->tick;
    }
    table->n_framed = table->n_points;
    table->since = since;
}

enum { MAX_HOLDERS = 256 }; /* of one lock at a time */

/* A lock is held from the moment that somebody has it until nobody does. */
static void make_holds(struct strobe_tables *tables, struct strobe_table *table)
{
    uint32_t holders[MAX_HOLDERS], n = 0;
    struct strobe_pixel_row row = {.loc = STROBE_TABLE_NO_LOC};
    table->n_rows = 0;
    for (uint32_t i = 0; i < table->n_points; i++) {
        const struct strobe_table_point *point = &table->points[i];
        uint32_t at = 0;
        while (at < n && holders[at] != point->thread)
            at++;
        if (point->kind == STROBE_KIND_LOCK_OBTAIN && at == n && n < MAX_HOLDERS) {
            row.begin = n ? row.begin : point->tick;
            holders[n++] = point->thread;
        } else if (point->kind == STROBE_KIND_LOCK_RELEASE && at < n) {
            holders[at] = holders[--n];
            row.end = point->tick;
            row.self = row.end - row.begin;
            if (!n)
                strobe_tables_add(tables, table, row);
        }
    }
    row.end = UINT64_MAX;
    row.self = 0;
    if (n)
        strobe_tables_add(tables, table, row);
}

/* Sort an array whose first *n_sorted items are in order already: of those only what the new ones go before is touched, since
 * a sort takes as much memory again as what it sorts. How many are where they were. */
static uint32_t sort_on(void *items, uint32_t n, size_t size, uint32_t *n_sorted,
                        int (*order)(const void *, const void *))
{
    char *all = items;
    uint32_t low = 0, high = *n_sorted, first;
    const char *least = all + high * size;
    for (uint32_t i = high; i + 1 < n; i++)
        if (order(all + (i + 1ull) * size, least) < 0)
            least = all + (i + 1ull) * size;
    while (low < high) { /* the first one behind the least of the new ones */
        uint32_t middle = low + (high - low) / 2;
        if (order(all + middle * size, least) > 0)
            high = middle;
        else
            low = middle + 1;
    }
    for (first = low; first + 1 < n; first++)
        if (order(all + first * size, all + (first + 1ull) * size) > 0)
            break;
    if (first + 1 < n)
        qsort(all + low * size, n - low, size, order);
    *n_sorted = n;
    return low;
}

static void settle_table(struct strobe_tables *tables, struct strobe_table *table)
{
    if (table->n_values > table->sorted_values)
        sort_on(table->values, table->n_values, sizeof *table->values, &table->sorted_values,
                by_value);
    if (table->n_points == table->sorted_points)
        return;
    uint32_t n_same = sort_on(table->points, table->n_points, sizeof *table->points,
                              &table->sorted_points, by_point);
    if (table->kind == STROBE_TABLE_FRAMES)
        make_frames(tables, table, n_same);
    else
        make_holds(tables, table);
}

/* All that was read is sorted, and what is made of it made anew. */
static void settle(struct strobe_tables *tables)
{
    if (tables->n_messages > tables->sorted_messages)
        sort_on(tables->messages, tables->n_messages, sizeof *tables->messages,
                &tables->sorted_messages, by_message);
    if (tables->n_images > tables->sorted_images)
        sort_on(tables->images, tables->n_images, sizeof *tables->images, &tables->sorted_images,
                by_image);
    renew_owners(tables);
    if (tables->n_flows > tables->sorted_flows)
        sort_on(tables->flows, tables->n_flows, sizeof *tables->flows, &tables->sorted_flows,
                by_flow);
    for (uint32_t i = 0; i < tables->n_tables; i++)
        settle_table(tables, &tables->tables[i]);
}

static void read_blocks(struct strobe_tables *tables)
{
    struct strobe_view *view = tables->view;
    uint32_t first = tables->next_block;
    uint64_t n_events = 0;
    for (; tables->next_block < view->n_blocks && n_events < STROBE_TABLES_STEP;
         tables->next_block++) {
        uint32_t lod = strobe_view_lod_of(view, tables->next_block);
        if (lod && !(view->lods[lod - 1].kinds & wanted_kinds)) {
            tables->next_block = view->lods[lod - 1].end - 1;
            continue;
        }
        struct strobe_view_block block = strobe_view_block(view, tables->next_block);
        if (!(block.kinds & wanted_kinds))
            continue;
        read_block(tables, tables->next_block);
        n_events += block.n_events;
    }
    if (first != tables->next_block)
        settle(tables);
}

double strobe_tables_share(const struct strobe_tables *tables)
{
    uint32_t n = tables->view->n_blocks;
    return n ? (double)tables->next_block / n : 1;
}

enum strobe_err strobe_tables_update(struct strobe_tables *tables)
{
    if (tables->is_held)
        return STROBE_OK;
    read_blocks(tables);
    return strobe_tables_pair(tables);
}

void strobe_tables_rest(struct strobe_tables *tables)
{
    for (uint32_t i = 0; i < tables->n_tables; i++) {
        strobe_spill_rest(tables->tables[i].rows);
        strobe_spill_rest(tables->tables[i].values);
        strobe_spill_rest(tables->tables[i].points);
    }
    strobe_spill_rest(tables->notes);
    strobe_spill_rest(tables->messages);
    strobe_spill_rest(tables->flows);
    strobe_spill_rest(tables->images);
    strobe_spill_rest(tables->texts.bytes);
}

void strobe_tables_free(struct strobe_tables *tables)
{
    for (uint32_t i = 0; i < tables->n_tables; i++) {
        strobe_spill_free(tables->tables[i].rows);
        strobe_spill_free(tables->tables[i].values);
        strobe_spill_free(tables->tables[i].points);
    }
    for (uint32_t i = 0; i < tables->readers_room; i++)
        strobe_joiner_free(&tables->readers[i].joiner);
    strobe_paired_close(tables->paired);
    free(tables->readers);
    free(tables->tables);
    strobe_spill_free(tables->notes);
    strobe_spill_free(tables->messages);
    strobe_spill_free(tables->flows);
    strobe_spill_free(tables->images);
    strobe_spill_free(tables->texts.bytes);
    free(tables->recent);
    memset(tables, 0, sizeof *tables);
}
