/* csv_trace.c - csvexport's tables of a trace: one walk over its events, times as the client
 * itself would give them.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracy_file/csv.h"
#include "tracy_file/lanes.h"
#include "tracy_file/order.h"
#include "query/client_facts.h"
#include "query/gpu.h"
#include "query/memory.h"
#include "query/sums.h"
#include "query/walk.h"

/* A row of -x that waits for the text of a zone around it. */
struct waiting {
    struct waiting *next;
    uint32_t row;   /* index in pass->rows */
    uint32_t depth; /* of the last zone around it that ended */
    struct strobe_tracy_row cells;
    char text[]; /* name, then text */
};

/* What a track carries: its zones come in the order of their ends. */
struct line {
    int64_t *child_ns; /* owned: by depth, of the zones that ended in the one around them */
    uint32_t child_room;
    uint64_t number;         /* in the column of threads */
    struct waiting *waiting; /* owned */
};

struct pass {
    struct strobe_tracy_csv_table table;
    struct strobe_trace *trace;
    struct strobe_client_facts facts;
    struct strobe_tracy_row_loc *rows; /* owned */
    uint32_t n_rows, rows_room;
    uint32_t *row_of_loc; /* owned: by index in trace->locs, row + 1 */
    uint32_t row_of_loc_room;
    struct strobe_idmap contents; /* (name, hash of the rest) to a row */
    uint32_t *row_of_content;     /* owned */
    uint32_t row_of_content_room;
    struct line *lines; /* owned */
    uint32_t lines_room;
    struct strobe_idmap line_ids; /* (process, thread) and (process | FIBERS, fiber) */
    uint64_t next_number, n_child_rows;
    int64_t last_time; /* of all events but the ends of locks */
    uint64_t n_messages;
};

enum { FIBERS = 1u << 31, CHILD_ROWS_MOST = 8 << 20 };

/* ---- locations ------------------------------------------------------------------------------- */

/* Locations with the same content are one row. */
static uint32_t row_of_content(struct pass *pass, const struct strobe_loc_row *loc)
{
    uint64_t rest = ((uint64_t)loc->file << 32 | loc->line) * 0x9e3779b97f4a7c15ull ^ loc->function;
    uint32_t shown = loc->name ? loc->name : loc->function;
    uint32_t before = pass->contents.n;
    uint32_t i = strobe_idmap_add_row(&pass->contents, shown, rest, (void **)&pass->row_of_content,
                                      &pass->row_of_content_room, sizeof *pass->row_of_content);
    if (i == STROBE_IDMAP_NONE)
        return STROBE_IDMAP_NONE;
    if (i < before)
        return pass->row_of_content[i];
    if (!strobe_rows_reach((void **)&pass->rows, &pass->rows_room, pass->n_rows,
                           sizeof *pass->rows))
        return STROBE_IDMAP_NONE;
    struct strobe_tracy_row_loc *row = &pass->rows[pass->n_rows];
    row->name = strobe_trace_text(pass->trace, shown, &row->n_name);
    row->file = strobe_trace_text(pass->trace, loc->file, &row->n_file);
    row->line = loc->line;
    strobe_tracy_csv_ready(&pass->table, row);
    return pass->row_of_content[i] = pass->n_rows++;
}

/* The row of a location; STROBE_IDMAP_NONE without memory. */
static uint32_t row_of(struct pass *pass, uint32_t loc)
{
    static const struct strobe_loc_row unknown;
    if (loc == STROBE_IDMAP_NONE)
        return row_of_content(pass, &unknown);
    if (!strobe_rows_reach((void **)&pass->row_of_loc, &pass->row_of_loc_room, loc,
                           sizeof *pass->row_of_loc))
        return STROBE_IDMAP_NONE;
    if (!pass->row_of_loc[loc])
        pass->row_of_loc[loc] = row_of_content(pass, &pass->trace->locs[loc]) + 1;
    return pass->row_of_loc[loc] - 1;
}

/* ---- tracks ---------------------------------------------------------------------------------- */

static int is_key(const struct strobe_idkey *key, const struct strobe_batch *batch)
{
    return key->scope == batch->process && key->id == batch->id;
}

/* The number of a track as csvexport prints it: the one in a .tracy file of the trace. */
static uint64_t number_of(struct pass *pass, const struct strobe_batch *batch)
{
    const struct strobe_trace *trace = pass->trace;
    int is_fiber = batch->kind == STROBE_BATCH_FIBER;
    uint32_t twin = is_fiber ? 0 : trace->threads[batch->thread].twin;
    uint32_t thread = twin ? twin - 1 : batch->thread;
    struct strobe_tracy_order order;
    strobe_tracy_order_start(trace, &pass->facts, &order);
    while (strobe_tracy_order_next(&order))
        if (order.is_fiber == is_fiber &&
            (is_fiber ? is_key(&trace->fiber_ids.keys[order.index], batch) : order.index == thread))
            return order.number;
    return order.number - 1 + ++pass->next_number;
}

static struct line *line_of(struct pass *pass, const struct strobe_batch *batch)
{
    int is_fiber = batch->kind == STROBE_BATCH_FIBER;
    uint32_t before = pass->line_ids.n;
    uint32_t i = strobe_idmap_add_row(&pass->line_ids, batch->process | (is_fiber ? FIBERS : 0),
                                      is_fiber ? batch->id : batch->thread, (void **)&pass->lines,
                                      &pass->lines_room, sizeof *pass->lines);
    if (i == STROBE_IDMAP_NONE)
        return NULL;
    if (i == before)
        pass->lines[i].number = number_of(pass, batch);
    return &pass->lines[i];
}

/* Self time in whole ns: the zone's less those of its children, each cut to ns as they are shown. The lists of all lines are
 * bounded: a zone that says to be deeper than that keeps its whole time. */
static int64_t self_of(struct pass *pass, struct line *line, uint32_t depth, int64_t time)
{
    uint32_t before = line->child_room;
    if (depth > 16 && depth >= before && pass->n_child_rows + 2ull * depth > CHILD_ROWS_MOST)
        return time;
    if (!strobe_rows_reach((void **)&line->child_ns, &line->child_room, depth + 1ull,
                           sizeof *line->child_ns))
        return time;
    pass->n_child_rows += line->child_room - before;
    int64_t self = time - line->child_ns[depth + 1ull];
    line->child_ns[depth + 1ull] = 0;
    line->child_ns[depth] += time > 0 ? time : 0;
    return self;
}

/* ---- rows that wait for a parent's text ------------------------------------------------------ */

static int keep_waiting(struct line *line, uint32_t row, uint32_t depth,
                        const struct strobe_tracy_row *cells)
{
    struct waiting *waiting = malloc(sizeof *waiting + (size_t)cells->n_name + cells->n_text);
    if (!waiting)
        return 0;
    *waiting = (struct waiting){line->waiting, row, depth, *cells};
    if (cells->name)
        waiting->cells.name = memcpy(waiting->text, cells->name, cells->n_name);
    if (cells->text)
        waiting->cells.text = memcpy(waiting->text + cells->n_name, cells->text, cells->n_text);
    line->waiting = waiting;
    return 1;
}

/* A zone at `depth` ended: it is around all that waits deeper. `text` NULL: it has none. */
static int settle(struct pass *pass, struct line *line, uint32_t row, uint32_t depth,
                  const char *text, uint32_t n_text)
{
    int is_parent = pass->rows[row].is_parent, ok = 1;
    for (struct waiting **at = &line->waiting; *at;) {
        struct waiting *waiting = *at;
        if (waiting->depth <= depth || !(is_parent || !depth)) {
            if (waiting->depth > depth)
                waiting->depth = depth;
            at = &waiting->next;
            continue;
        }
        if (is_parent) {
            waiting->cells.parent_text = text;
            waiting->cells.n_parent_text = text ? n_text : 0;
        }
        ok &= strobe_tracy_put_zone(&pass->table, &pass->rows[waiting->row], &waiting->cells);
        *at = waiting->next;
        free(waiting);
    }
    return ok;
}

static int settle_rest(struct pass *pass, struct line *line)
{
    int ok = 1;
    while (line->waiting) {
        struct waiting *waiting = line->waiting;
        line->waiting = waiting->next;
        ok &= strobe_tracy_put_zone(&pass->table, &pass->rows[waiting->row], &waiting->cells);
        free(waiting);
    }
    return ok;
}

/* ---- zones ----------------------------------------------------------------------------------- */

/* One zone that ended. */
struct ended {
    const struct strobe_batch *batch;
    const struct strobe_zone_row *zone;
    int64_t start, time, self;
    uint32_t row;
};

static int put_row(struct pass *pass, struct line *line, const struct ended *ended)
{
    static const struct strobe_note nothing;
    const struct strobe_zone_row *zone = ended->zone;
    const struct strobe_note *note = zone->note ? &ended->batch->notes[zone->note - 1] : &nothing;
    char *made = NULL;
    struct strobe_tracy_row cells = {
        .start = ended->start,
        .time = pass->table.options->self ? ended->self : ended->time,
        .thread = line->number,
        .name = note->name,
        .n_name = note->name ? note->n_name : 0,
    };
    cells.text =
        strobe_tracy_note_text(&pass->facts, ended->batch->process, note, &made, &cells.n_text);
    int ok =
        !line->waiting || settle(pass, line, ended->row, zone->depth, cells.text, cells.n_text);
    struct strobe_tracy_row_loc *loc = &pass->rows[ended->row];
    if (ended->time > 0 && loc->is_wanted)
        ok &= loc->is_special && zone->depth ? keep_waiting(line, ended->row, zone->depth, &cells)
                                             : strobe_tracy_put_zone(&pass->table, loc, &cells);
    free(made);
    return ok;
}

/* How long a zone took: both its times are cut to ns first, as a .tracy file has them. */
static inline int64_t time_of(const struct pass *pass, uint32_t process,
                              const struct strobe_client_fact *client,
                              const struct strobe_zone_row *zone)
{
    const struct strobe_clock *clock = &pass->trace->clock;
    uint64_t end_tick = zone->begin + zone->ticks;
    if (client && pass->trace->processes[process].n_own)
        return strobe_client_ns(&pass->facts, process, end_tick, zone->end_own) -
               strobe_client_ns(&pass->facts, process, zone->begin, zone->begin_own);
    if (client) {
        int64_t begin = (int64_t)(zone->begin - client->init_begin);
        int64_t end = (int64_t)(end_tick - client->init_begin);
        return (int64_t)((double)end * client->timer_mul) -
               (int64_t)((double)begin * client->timer_mul);
    }
    if (clock->n_pieces == 1) { /* nearly always: no search for the piece */
        __int128 begin = (__int128)(int64_t)(zone->begin - clock->pieces[0].tick) * clock->mult;
        __int128 end = (__int128)(int64_t)(end_tick - clock->pieces[0].tick) * clock->mult;
        return (int64_t)(end >> 32) - (int64_t)(begin >> 32);
    }
    return strobe_clock_rel(clock, end_tick) - strobe_clock_rel(clock, zone->begin);
}

static int take_zone(struct pass *pass, struct line *line, const struct strobe_batch *batch,
                     const struct strobe_zone_row *zone)
{
    uint64_t id;
    struct ended ended = {batch, zone, 0, 0, 0, 0};
    ended.row = row_of(pass, strobe_batch_loc(pass->trace, batch, zone, &id));
    if (ended.row == STROBE_IDMAP_NONE)
        return 0;
    ended.start = strobe_client_ns(&pass->facts, batch->process, zone->begin, zone->begin_own);
    ended.time =
        time_of(pass, batch->process, strobe_client_of(&pass->facts, batch->process), zone);
    if (pass->table.options->self)
        ended.self = self_of(pass, line, zone->depth, ended.time);
    if (pass->table.options->unwrap)
        return put_row(pass, line, &ended);
    return ended.time <= 0 ||
           strobe_tracy_sum_add(&pass->table, &pass->rows[ended.row].sum, ended.time, ended.self);
}

/* A device's processors are GPU contexts' threads, as in a .tracy file. */
static int is_lane(const struct pass *pass, const struct strobe_batch *batch)
{
    return batch->kind == STROBE_BATCH_THREAD && pass->trace->threads[batch->thread].is_lane;
}

static enum strobe_err take_zones(void *context, const struct strobe_batch *batch)
{
    struct pass *pass = context;
    if (is_lane(pass, batch))
        return STROBE_OK;
    struct line *line = line_of(pass, batch);
    if (!line)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < batch->n_zones; i++)
        if (batch->zones[i].state == STROBE_ZONE_ENDED &&
            !take_zone(pass, line, batch, &batch->zones[i]))
            return STROBE_ERR_NOMEM;
    return pass->table.out->error ? STROBE_ERR_IO : STROBE_OK;
}

/* ---- messages, GPU zones --------------------------------------------------------------------- */

static enum strobe_err take_message(void *context, const struct strobe_happening *happening)
{
    struct pass *pass = context;
    const struct strobe_field *text = &happening->event->fields[2];
    if (!pass->n_messages++)
        strobe_tracy_put_head(&pass->table);
    strobe_tracy_put_message(&pass->table, text->text, (uint32_t)text->u,
                             strobe_client_ns(&pass->facts, happening->process,
                                              happening->event->tick, happening->event->own));
    return pass->table.out->error ? STROBE_ERR_IO : STROBE_OK;
}

static enum strobe_err take_lane_zones(void *context, const struct strobe_batch *batch)
{
    struct pass *pass = context;
    for (uint32_t i = 0; is_lane(pass, batch) && i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        uint64_t id;
        int64_t time = time_of(pass, batch->process, NULL, zone);
        uint32_t row = row_of(pass, strobe_batch_loc(pass->trace, batch, zone, &id));
        if (row == STROBE_IDMAP_NONE)
            return STROBE_ERR_NOMEM;
        if (zone->state == STROBE_ZONE_ENDED && time > 0 && pass->rows[row].is_wanted)
            strobe_tracy_put_gpu(&pass->table, &pass->rows[row],
                                 strobe_client_ns(&pass->facts, batch->process, zone->begin, 0),
                                 time);
    }
    return pass->table.out->error ? STROBE_ERR_IO : STROBE_OK;
}

static enum strobe_err put_lane_zones(struct pass *pass, uint64_t *n_bad_parts)
{
    struct strobe_walk walk = {.trace = pass->trace, .context = pass, .zones = take_lane_zones};
    if (!strobe_tracy_lanes_has(pass->trace))
        return STROBE_OK;
    enum strobe_err err = strobe_walk_run(&walk);
    *n_bad_parts += walk.n_bad_parts;
    return err;
}

static enum strobe_err take_gpu_zone(void *context, const struct strobe_gpu_zone *zone)
{
    struct pass *pass = context;
    if (zone->gpu_begin == STROBE_GPU_UNKNOWN || zone->gpu_end == STROBE_GPU_UNKNOWN ||
        zone->gpu_end <= zone->gpu_begin)
        return STROBE_OK;
    uint32_t process = pass->facts.contexts[zone->context].process;
    uint32_t row = row_of(pass, strobe_trace_loc(pass->trace, process, zone->loc));
    if (row == STROBE_IDMAP_NONE)
        return STROBE_ERR_NOMEM;
    if (pass->rows[row].is_wanted)
        strobe_tracy_put_gpu(&pass->table, &pass->rows[row], zone->gpu_begin,
                             zone->gpu_end - zone->gpu_begin);
    return pass->table.out->error ? STROBE_ERR_IO : STROBE_OK;
}

static enum strobe_err put_gpu_zones(struct pass *pass, uint64_t *n_bad_parts)
{
    const struct strobe_gpu_visitor visitor = {.context = pass, .zone = take_gpu_zone};
    struct strobe_gpu_troubles troubles = {0};
    enum strobe_err err = strobe_gpu_each_in_order(pass->trace, &pass->facts, &visitor, &troubles);
    *n_bad_parts = troubles.n_bad_parts;
    return err ? err : put_lane_zones(pass, n_bad_parts);
}

/* ---- plots ----------------------------------------------------------------------------------- */

static enum strobe_err take_plot(void *context, const struct strobe_happening *happening)
{
    struct pass *pass = context;
    const struct strobe_event *event = happening->event;
    int64_t time = strobe_client_ns(&pass->facts, happening->process, event->tick, event->own);
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *name =
        strobe_trace_string(pass->trace, happening->process, event->fields[0].u, room, &n);
    if (n == 9 && !memcmp(name, "CPU usage", n) &&
        strobe_client_of(&pass->facts, happening->process))
        name = "Frame", n = 5; /* the client's own plot has no name: called as pointer 0 is */
    double value =
        event->kind == STROBE_KIND_PLOT_INT ? (double)event->fields[1].i : event->fields[1].d;
    strobe_tracy_put_point(&pass->table, name, n, time, value);
    return pass->table.out->error ? STROBE_ERR_IO : STROBE_OK;
}

/* A client that was joined later begins then. */
static int64_t first_time(const struct pass *pass)
{
    for (uint32_t i = 0; i < pass->trace->n_recordings; i++)
        if (pass->trace->recordings[i].what == 3 && pass->trace->n_processes == 1)
            return strobe_client_ns(&pass->facts, 0, pass->trace->recordings[i].tick, 0);
    return 0;
}

static size_t pool_changes(const struct pass *pass, const struct strobe_memory *memory,
                           uint32_t pool, struct strobe_tracy_change *out)
{
    uint32_t process = memory->pools.keys[pool].scope;
    size_t n = 0;
    for (uint64_t i = 0; i < memory->n_blocks; i++) {
        const struct strobe_mem_block *block = &memory->blocks[i];
        if (block->pool != pool)
            continue;
        out[n++] = (struct strobe_tracy_change){
            strobe_client_ns(&pass->facts, process, block->alloc_tick, block->alloc_own),
            (int64_t)block->size};
        if (block->is_freed)
            out[n++] = (struct strobe_tracy_change){
                strobe_client_ns(&pass->facts, process, block->free_tick, block->free_own),
                -(int64_t)block->size};
    }
    return n;
}

/* Pool 0 is called as every Tracy trace calls it. */
static enum strobe_err put_pools(struct pass *pass)
{
    struct strobe_memory memory;
    enum strobe_err err = strobe_memory_run(pass->trace, &memory);
    struct strobe_tracy_change *changes =
        err ? NULL : malloc((2 * memory.n_blocks + 1) * sizeof *changes);
    if (!err && !changes)
        err = STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < memory.pools.n && !err; i++) {
        char room[STROBE_NAME_ROOM];
        uint32_t n;
        const char *name = strobe_memory_pool_name(pass->trace, &memory, i, room, &n);
        if (!name)
            name = "Frame", n = 5;
        size_t n_changes = pool_changes(pass, &memory, i, changes);
        if (n_changes)
            strobe_tracy_put_memory(&pass->table, name, n, first_time(pass), changes, n_changes);
    }
    free(changes);
    strobe_memory_free(&memory);
    return err;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static enum strobe_err note_time(void *context, const struct strobe_happening *happening)
{
    struct pass *pass = context;
    int64_t time = strobe_client_ns(&pass->facts, happening->process, happening->event->tick,
                                    happening->event->own);
    pass->last_time = time > pass->last_time ? time : pass->last_time;
    return STROBE_OK;
}

/* The end of the trace as Tracy has it: what an imported file said; else the last event, but for the
 * ends of locks, which do not count there. */
static enum strobe_err find_last_time(struct pass *pass, uint64_t n_events, uint64_t tick_last)
{
    const struct strobe_client_fact *client = strobe_client_of(&pass->facts, 0);
    for (uint32_t i = 0; client && !client->protocol && i < pass->trace->n_recordings; i++)
        if (pass->trace->recordings[i].what == 1) {
            pass->last_time = strobe_client_ns(&pass->facts, 0, pass->trace->recordings[i].tick, 0);
            return STROBE_OK;
        }
    const struct strobe_trace_totals *totals = &strobe_file_facts(pass->trace->file)->totals;
    if (totals->has_totals && !totals->n_of_kind[STROBE_KIND_LOCK_GONE]) {
        if (n_events)
            pass->last_time = strobe_client_ns(&pass->facts, 0, tick_last, 0);
        return STROBE_OK;
    }
    struct strobe_walk walk = {.trace = pass->trace, .context = pass, .happens = note_time};
    walk.kinds = ~(1ull << STROBE_KIND_LOCK_GONE);
    return strobe_walk_run(&walk);
}

static enum strobe_err put_sums(struct pass *pass)
{
    struct strobe_tracy_row_loc **all = malloc((pass->n_rows + 1ull) * sizeof(*all));
    if (!all)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < pass->n_rows; i++)
        all[i] = &pass->rows[i];
    int ok = strobe_tracy_put_sums(&pass->table, all, pass->n_rows, pass->last_time);
    free(all);
    return ok ? STROBE_OK : STROBE_ERR_NOMEM;
}

/* Locations with the same content have their sums together. */
static enum strobe_err take_sums(struct pass *pass, const struct strobe_sums *sums)
{
    struct strobe_ns_sum *joined = calloc(sums->n_rows, sizeof *joined);
    if (!joined)
        return STROBE_ERR_NOMEM;
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < sums->n_rows && !err; i++) {
        if (!sums->rows[i].n)
            continue;
        uint32_t row = row_of(pass, i + 1 < sums->n_rows ? i : STROBE_IDMAP_NONE);
        if (row == STROBE_IDMAP_NONE)
            err = STROBE_ERR_NOMEM;
        else
            strobe_ns_sum_join(&joined[row], &sums->rows[i]);
    }
    for (uint32_t i = 0; i < pass->n_rows && !err; i++)
        pass->rows[i].sum = (struct strobe_tracy_sum){.n = joined[i].n,
                                                      .total = (int64_t)joined[i].total,
                                                      .min = joined[i].min,
                                                      .max = joined[i].max,
                                                      .squares = (double)joined[i].squares};
    free(joined);
    return err;
}

/* Plain statistics where parts alone tell all. */
static enum strobe_err sum_zones(struct pass *pass, uint64_t *n_bad_parts)
{
    struct strobe_sums sums;
    enum strobe_err err = strobe_sums_run(pass->trace, &pass->facts, &sums);
    *n_bad_parts = sums.n_bad_parts;
    if (!err)
        err = take_sums(pass, &sums);
    if (!err)
        err = find_last_time(pass, sums.n_events, sums.tick_last);
    strobe_sums_free(&sums);
    return err;
}

static enum strobe_err walk_zones(struct pass *pass, uint64_t *n_bad_parts)
{
    const struct strobe_tracy_csv_options *options = pass->table.options;
    struct strobe_walk walk = {.trace = pass->trace, .context = pass, .zones = take_zones};
    walk.want_fibers = 1;
    walk.want_notes = options->unwrap && options->flavor != STROBE_TRACY_FLAVOR_0_11;
    enum strobe_err err = strobe_walk_run(&walk);
    *n_bad_parts = walk.n_bad_parts;
    for (uint32_t i = 0; i < pass->line_ids.n && !err; i++)
        err = settle_rest(pass, &pass->lines[i]) ? STROBE_OK : STROBE_ERR_NOMEM;
    return err || options->unwrap ? err : find_last_time(pass, walk.n_events, walk.tick_last);
}

static enum strobe_err put_zones(struct pass *pass, uint64_t *n_bad_parts)
{
    const struct strobe_tracy_csv_options *options = pass->table.options;
    int is_plain = !options->unwrap && !options->self && !options->truncate &&
                   !strobe_tracy_lanes_has(pass->trace);
    enum strobe_err err = is_plain && strobe_sums_serve(pass->trace)
                              ? sum_zones(pass, n_bad_parts)
                              : walk_zones(pass, n_bad_parts);
    return err || options->unwrap ? err : put_sums(pass);
}

static enum strobe_err put_plots(struct pass *pass, uint64_t *n_bad_parts)
{
    struct strobe_walk walk = {.trace = pass->trace, .context = pass, .happens = take_plot};
    walk.kinds = 1ull << STROBE_KIND_PLOT_INT | 1ull << STROBE_KIND_PLOT_DOUBLE;
    enum strobe_err err = strobe_walk_run(&walk);
    *n_bad_parts = walk.n_bad_parts;
    return err ? err : put_pools(pass);
}

static enum strobe_err put_messages(struct pass *pass, uint64_t *n_bad_parts)
{
    struct strobe_walk walk = {.trace = pass->trace, .context = pass, .happens = take_message};
    walk.kinds = 1ull << STROBE_KIND_MESSAGE;
    enum strobe_err err = strobe_walk_run(&walk);
    *n_bad_parts = walk.n_bad_parts;
    if (!err && !pass->n_messages)
        strobe_out_text(pass->table.out, "There are currently no messages!\n");
    return err;
}

static enum strobe_err put_tables(struct pass *pass, uint64_t *n_bad_parts)
{
    const struct strobe_tracy_csv_options *options = pass->table.options;
    if (options->messages)
        return put_messages(pass, n_bad_parts);
    strobe_tracy_put_head(&pass->table);
    if (options->gpu)
        return put_gpu_zones(pass, n_bad_parts);
    enum strobe_err err = put_zones(pass, n_bad_parts);
    return err || !options->unwrap || !options->plot ? err : put_plots(pass, n_bad_parts);
}

static void free_pass(struct pass *pass)
{
    for (uint32_t i = 0; i < pass->n_rows; i++)
        strobe_tracy_row_loc_free(&pass->rows[i]);
    for (uint32_t i = 0; i < pass->line_ids.n; i++) {
        free(pass->lines[i].child_ns);
        while (pass->lines[i].waiting) {
            struct waiting *next = pass->lines[i].waiting->next;
            free(pass->lines[i].waiting);
            pass->lines[i].waiting = next;
        }
    }
    free(pass->rows);
    free(pass->row_of_loc);
    free(pass->row_of_content);
    free(pass->lines);
    strobe_idmap_free(&pass->contents);
    strobe_idmap_free(&pass->line_ids);
    strobe_client_facts_free(&pass->facts);
}

enum strobe_err strobe_tracy_csv_of_trace(struct strobe_trace *trace,
                                          const struct strobe_tracy_csv_options *options,
                                          struct strobe_out *out, uint64_t *n_bad_parts)
{
    struct pass pass = {.table = {options, out, strlen(options->sep)}, .trace = trace};
    *n_bad_parts = 0;
    enum strobe_err err = strobe_client_facts_load(trace, &pass.facts);
    if (!err)
        err = put_tables(&pass, n_bad_parts);
    free_pass(&pass);
    return err;
}
