/* answer_pixels.c - what to draw: threads from the view, other tracks from the tables.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/tracks.h"
#include "query/pixels.h"

/* A plot or the messages of a process: buckets that are made here. */
struct other {
    uint32_t track; /* its number */
    uint32_t table;
};

#define NO_PROCESS UINT32_MAX

struct drawing {
    struct strobe_engine *engine;
    struct strobe_reply *reply;
    struct strobe_pixel_ask ask;
    struct strobe_pixel_track *tracks; /* owned */
    uint32_t *ids;                     /* owned: number of each of ask.tracks */
    uint32_t *processes;  /* owned: whose locations they name; NO_PROCESS: of a table */
    struct other *others; /* owned */
    uint32_t n_others;
    struct strobe_pixels pixels;
};

/* Items of plots and messages, behind those of the lanes. */
struct strobe_pixel_mark {
    uint64_t bucket;
    double min, max, last;
    uint32_t count, level;
};

static void add_track(struct drawing *drawing, uint32_t id, uint32_t first, uint32_t n_depths)
{
    struct strobe_engine *engine = drawing->engine;
    const struct strobe_trace *trace = engine->trace;
    uint32_t kind = id >> 28, index = id & 0xfffffff, at = drawing->ask.n_tracks;
    struct strobe_pixel_track track = {
        .thread = UINT32_MAX, .first_depth = first, .n_depths = n_depths};
    const struct strobe_table *table = NULL;
    if (kind == STROBE_TRACK_THREAD && index < trace->thread_ids.n) {
        track.thread = index;
        drawing->processes[at] = trace->threads[index].process;
        table = strobe_track_table(engine, id);
        if (trace->threads[index].twin && !table)
            return;
    } else if (kind == STROBE_TRACK_TABLE && index < engine->tables.n_tables) {
        table = &engine->tables.tables[index];
        if (table->kind == STROBE_TABLE_PLOT || table->kind == STROBE_TABLE_MESSAGES) {
            drawing->others[drawing->n_others++] = (struct other){id, index};
            return;
        }
        if (table->kind == STROBE_TABLE_DEVICE || table->kind == STROBE_TABLE_CORE)
            return;
    } else {
        return;
    }
    static const struct strobe_pixel_row none = {0};
    if (table) {
        drawing->processes[at] = NO_PROCESS;
        track.place = strobe_table_place(&engine->tables, table);
        if (!strobe_rows_any(&track.place))
            track.place.rows = &none;
    }
    for (uint32_t i = 0; i < at; i++)
        if (drawing->ids[i] == id)
            return;
    drawing->ids[at] = id;
    drawing->tracks[drawing->ask.n_tracks++] = track;
}

/* The question's lanes. 0: no memory. */
static int read_lanes(struct drawing *drawing, const struct strobe_json *question)
{
    uint32_t list = strobe_json_member(question, 0, "lanes"), at = 0, lane, n = 0;
    drawing->tracks = calloc(STROBE_PIXELS_MAX_LANES, sizeof *drawing->tracks);
    drawing->ids = calloc(STROBE_PIXELS_MAX_LANES, sizeof *drawing->ids);
    drawing->processes = calloc(STROBE_PIXELS_MAX_LANES, sizeof *drawing->processes);
    drawing->others = calloc(STROBE_PIXELS_MAX_LANES, sizeof *drawing->others);
    if (!drawing->tracks || !drawing->ids || !drawing->processes || !drawing->others)
        return 0;
    drawing->ask.tracks = drawing->tracks;
    while ((lane = strobe_json_next(question, list, &at)) && n++ < STROBE_PIXELS_MAX_LANES) {
        uint64_t numbers[3] = {0, 0, 16};
        uint32_t in = 0, value;
        for (int i = 0; i < 3 && (value = strobe_json_next(question, lane, &in)); i++)
            numbers[i] = strobe_json_count(question, value, numbers[i], UINT32_MAX);
        uint64_t n_depths =
            numbers[2] < STROBE_PIXELS_MAX_DEPTHS ? numbers[2] : STROBE_PIXELS_MAX_DEPTHS;
        add_track(drawing, (uint32_t)numbers[0], (uint32_t)numbers[1], (uint32_t)n_depths);
    }
    return 1;
}

/* ---- plots and messages ---- */

struct marks {
    struct strobe_pixel_mark *rows; /* owned */
    uint32_t n, room;
    uint32_t k;
};

static void add_mark(struct marks *marks, uint64_t tick, double value, uint32_t level)
{
    uint64_t bucket = tick >> marks->k;
    struct strobe_pixel_mark *last = marks->n ? &marks->rows[marks->n - 1] : NULL;
    if (last && last->bucket == bucket) {
        last->min = value < last->min ? value : last->min;
        last->max = value > last->max ? value : last->max;
        last->last = value;
        last->level = level > last->level ? level : last->level;
        last->count++;
        return;
    }
    if (strobe_rows_reach((void **)&marks->rows, &marks->room, marks->n, sizeof *marks->rows))
        marks->rows[marks->n++] = (struct strobe_pixel_mark){bucket, value, value, value, 1, level};
}

/* The values of a plot in [*first, *end), by tick: those in the buckets that are looked at, and all in the bucket of the last one before
 * and of the first one behind. Found by halves: the others may lie in a file. */
static void find_values(const struct drawing *drawing, const struct strobe_table *table, uint32_t k,
                        uint32_t *first, uint32_t *end)
{
    const struct strobe_table_value *values = table->values;
    uint64_t lo = drawing->ask.lo >> k, hi = drawing->ask.hi >> k;
    uint32_t n = table->n_values;
    uint32_t from = (uint32_t)STROBE_ARRAY_BISECT(0, n, i, values[i].tick >> k < lo);
    uint32_t to = (uint32_t)STROBE_ARRAY_BISECT(from, n, i, values[i].tick >> k <= hi);
    uint64_t before = from ? values[from - 1].tick >> k : 0;
    uint64_t behind = to < n ? values[to].tick >> k : 0;
    *first = (uint32_t)STROBE_ARRAY_BISECT(0, from, i, values[i].tick >> k < before);
    *end = (uint32_t)STROBE_ARRAY_BISECT(to, n, i, values[i].tick >> k <= behind);
}

static void mark_table(struct drawing *drawing, const struct strobe_table *table,
                       struct marks *marks)
{
    const struct strobe_tables *tables = &drawing->engine->tables;
    const struct strobe_message *messages = tables->messages;
    uint64_t lo = drawing->ask.lo >> marks->k, hi = drawing->ask.hi >> marks->k;
    uint32_t first, end;
    marks->n = 0;
    find_values(drawing, table, marks->k, &first, &end);
    for (uint32_t i = first; i < end; i++)
        add_mark(marks, table->values[i].tick, table->values[i].value, 0);
    if (table->kind != STROBE_TABLE_MESSAGES)
        return;
    first =
        (uint32_t)STROBE_ARRAY_BISECT(0, tables->n_messages, i, messages[i].tick >> marks->k < lo);
    for (uint32_t i = first; i < tables->n_messages && messages[i].tick >> marks->k <= hi; i++)
        if (messages[i].process == table->process)
            add_mark(marks, messages[i].tick, 0, (messages[i].severity & 255) + 1);
}

/* ---- the answer ---- */

struct columns {
    double *t0, *t1, *min, *max, *last;
    float *busy;
    uint32_t *loc, *count;
    uint8_t *flags;
};

static int make_columns(struct strobe_reply *reply, struct columns *columns, uint32_t n,
                        uint32_t n_values)
{
    columns->t0 = strobe_reply_f64(reply, "t0", n);
    columns->t1 = strobe_reply_f64(reply, "t1", n);
    columns->loc = strobe_reply_u32(reply, "loc", n);
    columns->count = strobe_reply_u32(reply, "count", n);
    columns->busy = strobe_reply_f32(reply, "busy", n);
    columns->flags = strobe_reply_u8(reply, "flags", n);
    columns->min = strobe_reply_f64(reply, "min", n_values);
    columns->max = strobe_reply_f64(reply, "max", n_values);
    columns->last = strobe_reply_f64(reply, "last", n_values);
    return !reply->failed;
}

static uint32_t loc_of(struct drawing *drawing, uint32_t track, uint64_t loc)
{
    uint32_t process = drawing->processes[track];
    return process == NO_PROCESS ? strobe_engine_row_loc(drawing->engine, loc)
                                 : strobe_engine_loc(drawing->engine, process, loc);
}

static void fill_items(struct drawing *drawing, const struct columns *columns)
{
    struct strobe_engine *engine = drawing->engine;
    const struct strobe_pixels *pixels = &drawing->pixels;
    for (uint32_t l = 0; l < pixels->n_lanes; l++) {
        const struct strobe_pixel_lane *lane = &pixels->lanes[l];
        for (uint32_t i = lane->first; i < lane->first + lane->n; i++) {
            const struct strobe_pixel_item *item = &pixels->items[i];
            columns->t0[i] = strobe_engine_ns(engine, item->begin);
            columns->t1[i] = item->flags & STROBE_PIXEL_ZONE
                                 ? columns->t0[i] + strobe_engine_length(engine, item->begin,
                                                                         item->end - item->begin)
                                 : strobe_engine_ns(engine, item->end);
            columns->loc[i] = item->loc ? loc_of(drawing, lane->track, item->loc - 1) : 0;
            columns->count[i] = item->count < UINT32_MAX ? (uint32_t)item->count : UINT32_MAX;
            double busy = item->end > item->begin
                              ? (double)item->busy / (double)(item->end - item->begin)
                              : 0;
            columns->busy[i] = (float)(busy < 1 ? busy : 1);
            columns->flags[i] = (uint8_t)item->flags;
        }
    }
}

static void put_lanes(struct drawing *drawing)
{
    struct strobe_reply *reply = drawing->reply;
    const struct strobe_pixels *pixels = &drawing->pixels;
    for (uint32_t i = 0; i < pixels->n_lanes; i++) {
        const struct strobe_pixel_lane *lane = &pixels->lanes[i];
        strobe_reply_key(reply, "");
        strobe_reply_printf(reply, "[%u,%u,%u,%u,%u]", drawing->ids[lane->track], lane->depth,
                            lane->first, lane->n, lane->k);
    }
}

static void put_depths(struct drawing *drawing)
{
    struct strobe_engine *engine = drawing->engine;
    strobe_reply_open(drawing->reply, "n_depths", '[');
    for (uint32_t i = 0; i < drawing->ask.n_tracks; i++) {
        const struct strobe_pixel_track *track = &drawing->tracks[i];
        const struct strobe_table *table = strobe_track_table(engine, drawing->ids[i]);
        uint32_t n = table ? table->n_depths : strobe_view_depths(engine->view, track->thread);
        n = drawing->pixels.n_depths[i] > n ? drawing->pixels.n_depths[i] : n;
        strobe_reply_key(drawing->reply, "");
        strobe_reply_printf(drawing->reply, "[%u,%u]", drawing->ids[i], n);
    }
    strobe_reply_close(drawing->reply, ']');
}

/* Plots and messages go behind the items of the lanes. */
static void fill_others(struct drawing *drawing, const struct columns *columns, struct marks *all,
                        const uint32_t *ends)
{
    struct strobe_engine *engine = drawing->engine;
    uint32_t at = drawing->pixels.n_items, value = 0, first = 0;
    for (uint32_t i = 0; i < drawing->n_others; i++) {
        const struct strobe_table *table = &engine->tables.tables[drawing->others[i].table];
        strobe_reply_key(drawing->reply, "");
        strobe_reply_printf(drawing->reply, "[%u,0,%u,%u,%u,%u]", drawing->others[i].track, at,
                            ends[i] - first, all->k, value);
        for (uint32_t m = first; m < ends[i]; m++, at++) {
            const struct strobe_pixel_mark *mark = &all->rows[m];
            columns->t0[at] = strobe_engine_ns(engine, mark->bucket << all->k);
            columns->t1[at] = strobe_engine_ns(engine, (mark->bucket + 1) << all->k);
            columns->count[at] = mark->count;
            columns->loc[at] = mark->level;
            if (table->kind != STROBE_TABLE_PLOT)
                continue;
            columns->min[value] = mark->min;
            columns->max[value] = mark->max;
            columns->last[value++] = mark->last;
        }
        first = ends[i];
    }
}

static void put_answer(struct drawing *drawing)
{
    struct strobe_reply *reply = drawing->reply;
    struct strobe_engine *engine = drawing->engine;
    struct marks all = {.k = drawing->pixels.k}, one = {.k = drawing->pixels.k};
    uint32_t *ends = calloc(drawing->n_others + 1ull, sizeof *ends), n_values = 0;
    struct columns columns;
    for (uint32_t i = 0; ends && i < drawing->n_others; i++) {
        const struct strobe_table *table = &engine->tables.tables[drawing->others[i].table];
        mark_table(drawing, table, &one);
        for (uint32_t m = 0; m < one.n; m++)
            if (strobe_rows_reach((void **)&all.rows, &all.room, all.n, sizeof *all.rows))
                all.rows[all.n++] = one.rows[m];
        ends[i] = all.n;
        n_values += table->kind == STROBE_TABLE_PLOT ? one.n : 0;
    }
    strobe_reply_u64(reply, "k", drawing->pixels.k);
    if (drawing->pixels.seen_depths)
        strobe_reply_u64(reply, "seen_depths", drawing->pixels.seen_depths);
    strobe_reply_number(reply, "bucket_ns",
                        (double)strobe_clock_ns(&engine->trace->clock, 1ull << drawing->pixels.k));
    put_depths(drawing);
    if (ends && make_columns(reply, &columns, drawing->pixels.n_items + all.n, n_values)) {
        fill_items(drawing, &columns);
        strobe_reply_open(reply, "lanes", '[');
        put_lanes(drawing);
        fill_others(drawing, &columns, &all, ends);
        strobe_reply_close(reply, ']');
    }
    free(ends);
    free(all.rows);
    free(one.rows);
}

void strobe_engine_answer_pixels(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply)
{
    struct drawing drawing = {.engine = engine, .reply = reply};
    struct strobe_pixel_ask *ask = &drawing.ask;
    strobe_engine_range(engine, question, &ask->lo, &ask->hi);
    ask->width = (uint32_t)strobe_json_count(question, strobe_json_member(question, 0, "width"),
                                             1000, STROBE_PIXELS_MAX_WIDTH);
    ask->budget = (uint32_t)strobe_json_count(question, strobe_json_member(question, 0, "budget"),
                                              5000, 1000000);
    ask->width = ask->width ? ask->width : 1;
    ask->budget = ask->budget < 100 ? 100 : ask->budget;
    ask->lo = ask->lo < 1ull << 62 ? ask->lo : 1ull << 62;
    ask->hi = ask->hi < 1ull << 62 ? ask->hi : 1ull << 62;
    ask->hi = ask->hi < ask->lo ? ask->lo : ask->hi;
    ask->from_afar = engine->tables.is_held;
    strobe_tables_update(&engine->tables);
    enum strobe_err err = read_lanes(&drawing, question) ? STROBE_OK : STROBE_ERR_NOMEM;
    if (!err)
        err = strobe_pixels_run(engine->view, ask, &drawing.pixels);
    if (err)
        strobe_engine_answer_error(reply, strobe_err_text(err));
    else
        put_answer(&drawing);
    strobe_pixels_free(&drawing.pixels);
    free(drawing.tracks);
    free(drawing.ids);
    free(drawing.processes);
    free(drawing.others);
}
