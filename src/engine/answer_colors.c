/* answer_colors.c - colours that a program gave single zones and messages while it ran. Those of a source location are in
 * `names`.  SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "engine/tracks.h"
#include "query/scan.h"

enum { MOST_ROWS = 1 << 16, MOST_EVENTS = 1 << 21 };

struct row {
    uint64_t tick;
    uint32_t track, depth, color;
};

struct coloring {
    struct strobe_engine *engine; /* borrowed */
    struct row *rows;             /* owned */
    uint32_t n, room;
    uint64_t lo, hi;
    uint64_t least; /* ticks of a zone, at least */
    int is_cut;
};

int strobe_engine_has_colors(const struct strobe_engine *engine)
{
    const struct strobe_trace_totals *totals = &strobe_file_facts(engine->trace->file)->totals;
    const uint64_t *n = totals->n_of_kind;
    return !totals->has_totals || n[STROBE_KIND_ZONE_COLOR] || n[STROBE_KIND_ZONE_COLOR_AT] ||
           n[STROBE_KIND_MESSAGE];
}

/* 0: there is no room for more. */
static int add(struct coloring *coloring, const struct row *row)
{
    coloring->is_cut = coloring->is_cut || coloring->n >= MOST_ROWS ||
                       !strobe_rows_reach((void **)&coloring->rows, &coloring->room, coloring->n,
                                          sizeof *coloring->rows);
    if (!coloring->is_cut)
        coloring->rows[coloring->n++] = *row;
    return !coloring->is_cut;
}

static int take_zone(void *context, uint32_t thread, uint32_t loc, uint64_t loc_id,
                     const struct strobe_zone_row *zone, const struct strobe_note *note)
{
    struct coloring *coloring = context;
    (void)loc;
    (void)loc_id;
    if (!note || !note->has_color || zone->ticks < coloring->least)
        return 1;
    return add(coloring,
               &(struct row){zone->begin, strobe_track_of_thread(coloring->engine, thread),
                             zone->depth, note->color});
}

enum { MOST_PARTS = 64 }; /* of a track in the file */

/* Zones of fibers, spans, shared threads and GPU contexts. */
static void take_tables(struct coloring *coloring, const struct strobe_choice *choice)
{
    const struct strobe_engine *engine = coloring->engine;
    for (uint32_t i = 0; i < engine->tables.n_tables; i++) {
        const struct strobe_table *table = &engine->tables.tables[i];
        if (!strobe_table_has_zones(table) || !strobe_choice_has_table(choice, engine, i))
            continue;
        const struct strobe_rows_place place = strobe_table_place(&engine->tables, table);
        struct strobe_row_walk walk = {
            .place = &place, .lo = coloring->lo, .hi = coloring->hi, .max_parts = MOST_PARTS};
        const struct strobe_pixel_row *row;
        while ((row = strobe_row_walk_next(&walk, NULL))) {
            uint32_t color = walk.note ? walk.note->color
                             : row->note && !place.paired
                                 ? engine->tables.notes[row->note - 1].color
                                 : 0;
            if (color && row->begin <= coloring->hi && row->end >= coloring->lo &&
                row->end - row->begin >= coloring->least)
                add(coloring,
                    &(struct row){row->begin, strobe_track_of_table(engine, i), row->depth, color});
        }
    }
}

/* The track of messages of a process, 0: none. */
static uint32_t messages_of(const struct strobe_engine *engine, uint32_t process)
{
    for (uint32_t i = 0; i < engine->tables.n_tables; i++)
        if (engine->tables.tables[i].kind == STROBE_TABLE_MESSAGES &&
            engine->tables.tables[i].process == process)
            return strobe_track_id(STROBE_TRACK_TABLE, i);
    return 0;
}

static void take_messages(struct coloring *coloring)
{
    const struct strobe_engine *engine = coloring->engine;
    uint32_t process = UINT32_MAX, track = 0;
    for (uint32_t i = 0; i < engine->tables.n_messages; i++) {
        const struct strobe_message *message = &engine->tables.messages[i];
        if (!message->color || message->tick < coloring->lo || message->tick > coloring->hi)
            continue;
        if (message->process != process)
            track = messages_of(engine, process = message->process);
        if (!add(coloring, &(struct row){message->tick, track, 0, message->color}))
            return;
    }
}

static void put_rows(const struct coloring *coloring, struct strobe_reply *reply)
{
    double *t0 = strobe_reply_f64(reply, "t0", coloring->n);
    uint32_t *track = strobe_reply_u32(reply, "track", coloring->n),
             *depth = strobe_reply_u32(reply, "depth", coloring->n),
             *color = strobe_reply_u32(reply, "color", coloring->n);
    for (uint32_t i = 0; !reply->failed && i < coloring->n; i++) {
        t0[i] = strobe_engine_ns(coloring->engine, coloring->rows[i].tick);
        track[i] = coloring->rows[i].track;
        depth[i] = coloring->rows[i].depth;
        color[i] = coloring->rows[i].color & 0xffffff;
    }
}

void strobe_engine_answer_colors(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply)
{
    struct coloring coloring = {.engine = engine};
    struct strobe_choice choice;
    strobe_tables_update(&engine->tables);
    strobe_engine_span(engine, question, &coloring.lo, &coloring.hi);
    double least = strobe_json_number(question, strobe_json_member(question, 0, "min"), 0);
    coloring.least =
        least > 0 ? strobe_engine_tick(engine, least) - strobe_engine_tick(engine, 0) : 0;
    if (!strobe_choice_read(engine, question, &choice)) {
        strobe_engine_answer_error(reply, strobe_err_text(STROBE_ERR_NOMEM));
        strobe_choice_free(&choice);
        return;
    }
    struct strobe_scan scan = {.view = engine->view,
                               .lo = coloring.lo,
                               .hi = coloring.hi,
                               .is_touching = 1,
                               .kinds = 1ull << STROBE_KIND_ZONE_COLOR |
                                        1ull << STROBE_KIND_ZONE_COLOR_AT,
                               .threads = choice.threads,
                               .n_threads = choice.n_threads,
                               .want_notes = 1,
                               .max_events = MOST_EVENTS,
                               .context = &coloring,
                               .zone = take_zone};
    enum strobe_err err = strobe_engine_has_colors(engine) ? strobe_scan_run(&scan) : STROBE_OK;
    take_tables(&coloring, &choice);
    take_messages(&coloring);
    if (err)
        strobe_engine_answer_error(reply, strobe_err_text(err));
    strobe_reply_bool(reply, "exact", !coloring.is_cut && !scan.is_cut);
    put_rows(&coloring, reply);
    strobe_choice_free(&choice);
    free(coloring.rows);
}
