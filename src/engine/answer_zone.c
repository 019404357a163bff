/* answer_zone.c - one zone in detail: its times, what was said of it, its parents, what is inside, its call stack and what
 * its thread waited for.  SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tracks.h"
#include "query/zone.h"

enum { MOST_ROWS = 100, FOUND_BYTES = 4096 };

/* A track with zones: a thread of its own, or a table. */
struct place {
    struct strobe_engine *engine;
    const struct strobe_table *table; /* NULL: a thread's own events */
    uint32_t track, thread;           /* thread: UINT32_MAX: none */
    struct strobe_rows_place rows;    /* of the table */
};

static uint32_t loc_of(const struct place *place, uint64_t loc)
{
    struct strobe_engine *engine = place->engine;
    return place->table
               ? strobe_engine_row_loc(engine, loc)
               : strobe_engine_loc(engine, engine->trace->threads[place->thread].process, loc);
}

static void put_sums(const struct place *place, struct strobe_reply *reply, const char *name,
                     const struct strobe_zone_sums *sums)
{
    strobe_reply_open(reply, name, '[');
    for (uint32_t i = 0; i < sums->n && i < MOST_ROWS; i++) {
        strobe_reply_open(reply, "", '{');
        strobe_reply_u64(reply, "loc", loc_of(place, sums->rows[i].loc));
        strobe_reply_u64(reply, "count", sums->rows[i].count);
        strobe_reply_number(reply, "total",
                            strobe_engine_duration(place->engine, sums->rows[i].ticks));
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
}

/* ---- what was said ---- */

/* Of a table's zone, as that of a thread; texts stay the table's. */
static struct strobe_note note_of_row(const struct strobe_tables *tables,
                                      const struct strobe_rows_place *rows, uint32_t number)
{
    struct strobe_note out = {0};
    const struct strobe_paired_note *said;
    const struct strobe_pixel_row *row = strobe_rows_get(rows, number, &said);
    if (said) {
        out = (struct strobe_note){.text = (char *)said->text,
                                   .name = (char *)said->name,
                                   .n_text = said->n_text,
                                   .n_name = said->n_name,
                                   .value = said->value,
                                   .color = said->color,
                                   .has_value = (said->has & STROBE_SAID_VALUE) != 0};
        return out;
    }
    if (!row || !row->note || rows->paired)
        return out;
    const struct strobe_table_note *from = &tables->notes[row->note - 1];
    out.text = (char *)strobe_texts_get(&tables->texts, from->text, &out.n_text);
    out.name = (char *)strobe_texts_get(&tables->texts, from->name, &out.n_name);
    out.value = from->value;
    out.has_value = from->has_value;
    out.color = from->color;
    return out;
}

static void put_note(struct strobe_reply *reply, const struct strobe_note *note)
{
    char value[32] = "";
    strobe_reply_text(reply, "text", note->text, note->text ? note->n_text : 0);
    strobe_reply_text(reply, "name", note->name, note->name ? note->n_name : 0);
    if (note->has_value)
        snprintf(value, sizeof value, "%llu", (unsigned long long)note->value);
    strobe_reply_string(reply, "value", value);
    strobe_reply_u64(reply, "color", note->color & 0xffffff);
}

/* 1: what happened on a thread happened on this track. */
static int is_own(const struct place *place, uint32_t thread)
{
    return place->thread != UINT32_MAX &&
           strobe_track_of_thread(place->engine, thread) == place->track;
}

static void put_messages(const struct place *place, struct strobe_reply *reply, uint64_t begin,
                         uint64_t end)
{
    const struct strobe_tables *tables = &place->engine->tables;
    uint32_t n_put = 0, n;
    strobe_reply_open(reply, "messages", '[');
    for (uint32_t i = 0; i < tables->n_messages && n_put < MOST_ROWS; i++) {
        const struct strobe_message *message = &tables->messages[i];
        if (message->tick < begin || message->tick > end || !is_own(place, message->thread))
            continue;
        const char *text = strobe_texts_get(&tables->texts, message->text, &n);
        strobe_reply_open(reply, "", '{');
        strobe_reply_number(reply, "t", strobe_engine_ns(place->engine, message->tick));
        strobe_reply_text(reply, "text", text, n);
        strobe_reply_u64(reply, "severity", message->severity & 255);
        strobe_reply_close(reply, '}');
        n_put++;
    }
    strobe_reply_close(reply, ']');
}

/* ---- waits ---- */

struct wait {
    uint64_t from, to; /* to UINT64_MAX: it did not get the lock */
    uint32_t table, order;
};

struct waits {
    struct wait *rows; /* owned */
    uint32_t n, room;
};

static int by_time(const void *a, const void *b)
{
    const struct wait *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Waits that began in [begin, end]: each until its thread has the lock. */
static void find_waits(const struct place *place, uint32_t table, uint64_t begin, uint64_t end,
                       struct waits *waits)
{
    const struct strobe_table *lock = &place->engine->tables.tables[table];
    for (uint32_t i = 0; i < lock->n_points; i++) {
        const struct strobe_table_point *point = &lock->points[i];
        if (point->kind != STROBE_KIND_LOCK_WAIT || point->tick < begin || point->tick > end ||
            !is_own(place, point->thread) ||
            !strobe_rows_reach((void **)&waits->rows, &waits->room, waits->n, sizeof *waits->rows))
            continue;
        uint32_t k = i + 1;
        while (k < lock->n_points && (lock->points[k].thread != point->thread ||
                                      lock->points[k].kind == STROBE_KIND_LOCK_RELEASE))
            k++;
        int is_held = k < lock->n_points && lock->points[k].kind == STROBE_KIND_LOCK_OBTAIN;
        waits->rows[waits->n++] = (struct wait){
            point->tick, is_held ? lock->points[k].tick : UINT64_MAX, table, point->order};
    }
}

static void put_wait(struct strobe_engine *engine, struct strobe_reply *reply,
                     const struct wait *wait)
{
    const struct strobe_table *lock = &engine->tables.tables[wait->table];
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *name = strobe_trace_lock_name(engine->trace, lock->process, lock->id, room, &n);
    double from = strobe_engine_ns(engine, wait->from);
    strobe_reply_open(reply, "", '{');
    strobe_reply_number(reply, "t0", from);
    if (wait->to == UINT64_MAX)
        strobe_reply_null(reply, "t1");
    else
        strobe_reply_number(reply, "t1",
                            from + strobe_engine_duration(engine, wait->to - wait->from));
    strobe_reply_text(reply, "lock", name, n);
    strobe_reply_u64(reply, "track", strobe_track_id(STROBE_TRACK_TABLE, wait->table));
    strobe_reply_close(reply, '}');
}

static void put_waits(const struct place *place, struct strobe_reply *reply, uint64_t begin,
                      uint64_t end)
{
    struct strobe_engine *engine = place->engine;
    struct waits waits = {0};
    uint64_t n_ended = 0, ticks = 0;
    for (uint32_t i = 0; i < engine->tables.n_tables; i++)
        if (engine->tables.tables[i].kind == STROBE_TABLE_LOCK)
            find_waits(place, i, begin, end, &waits);
    if (waits.n)
        qsort(waits.rows, waits.n, sizeof *waits.rows, by_time);
    strobe_reply_open(reply, "waits", '[');
    for (uint32_t i = 0; i < waits.n; i++) {
        n_ended += waits.rows[i].to != UINT64_MAX;
        ticks += waits.rows[i].to != UINT64_MAX ? waits.rows[i].to - waits.rows[i].from : 0;
        if (i < MOST_ROWS)
            put_wait(engine, reply, &waits.rows[i]);
    }
    strobe_reply_close(reply, ']');
    strobe_reply_u64(reply, "n_waits", n_ended);
    strobe_reply_number(reply, "waited", strobe_engine_duration(engine, ticks));
    free(waits.rows);
}

/* ---- call stack ---- */

static void put_address(struct strobe_reply *reply, uint64_t address)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
    strobe_reply_string(reply, "address", text);
}

static void put_symbol_text(struct strobe_reply *reply, const char *name,
                            const struct strobe_texts *texts, uint32_t text)
{
    uint32_t n;
    const char *bytes = strobe_texts_get(texts, text, &n);
    strobe_reply_text(reply, name, bytes, n);
}

static void put_frame(struct strobe_engine *engine, struct strobe_reply *reply, uint32_t process,
                      uint64_t address, const struct strobe_stack_symbol *symbol)
{
    static const struct strobe_stack_symbol none;
    const struct strobe_stack_symbol *known = symbol ? symbol : &none;
    const struct strobe_texts *texts = &engine->symbols.texts;
    const struct strobe_engine_host *host = engine->host;
    char room[FOUND_BYTES];
    strobe_reply_open(reply, "", '{');
    put_address(reply, address);
    if (!symbol && host && host->name_address &&
        host->name_address(host->context, process, address, room, sizeof room) &&
        room[0] != '[') /* that is the file alone, which has a member of its own */
        strobe_reply_string(reply, "name", room);
    else
        put_symbol_text(reply, "name", texts, known->function);
    put_symbol_text(reply, "file", texts, known->file);
    strobe_reply_u64(reply, "line", known->line);
    if (known->image)
        put_symbol_text(reply, "image", texts, known->image);
    else
        put_symbol_text(reply, "image", &engine->trace->texts,
                        strobe_stack_module_of(engine->trace, process, address));
    strobe_reply_close(reply, '}');
}

void strobe_engine_put_frames(struct strobe_engine *engine, struct strobe_reply *reply,
                              uint32_t process, uint64_t address)
{
    const struct strobe_stack_symbol *symbol =
        strobe_stack_symbol_of(&engine->symbols, process, address);
    do {
        put_frame(engine, reply, process, address, symbol);
        symbol = symbol && symbol->next ? &engine->symbols.rows[symbol->next - 1] : NULL;
    } while (symbol);
}

static void put_stack(const struct place *place, struct strobe_reply *reply,
                      const struct strobe_zone_detail *zone)
{
    struct strobe_engine *engine = place->engine;
    struct strobe_stack stack = {0};
    uint32_t process = 0;
    if (!place->table) {
        process = engine->trace->threads[place->thread].process;
        strobe_stack_find(engine->view, place->thread, zone->begin, zone->loc, &stack);
    }
    if (stack.n)
        strobe_stack_symbols_load(engine->trace, &engine->symbols);
    strobe_reply_open(reply, "stack", '[');
    for (uint32_t i = 0; i < stack.n; i++)
        strobe_engine_put_frames(engine, reply, process, stack.addresses[i]);
    strobe_reply_close(reply, ']');
    strobe_stack_free(&stack);
}

/* ---- the answer ---- */

static void put_zone(const struct place *place, struct strobe_reply *reply,
                     const struct strobe_zone_detail *zone, const struct strobe_note *note)
{
    static const char *const states[] = {"ended", "open", "unfinished", "unfinished"};
    struct strobe_engine *engine = place->engine;
    double begin = strobe_engine_ns(engine, zone->begin);
    strobe_reply_open(reply, "zone", '{');
    strobe_reply_u64(reply, "track", place->track);
    strobe_reply_number(reply, "t0", begin);
    if (zone->state == STROBE_ZONE_ENDED) {
        strobe_reply_number(reply, "t1",
                            begin +
                                strobe_engine_length(engine, zone->begin, zone->end - zone->begin));
        strobe_reply_number(reply, "self", strobe_engine_length(engine, zone->begin, zone->self));
    } else {
        strobe_reply_null(reply, "t1");
        strobe_reply_null(reply, "self");
    }
    strobe_reply_u64(reply, "loc", loc_of(place, zone->loc));
    strobe_reply_u64(reply, "depth", zone->depth);
    strobe_reply_string(reply, "state", states[zone->state & 3]);
    strobe_reply_u64(reply, "children", zone->n_children);
    strobe_reply_bool(reply, "whole", !zone->is_cut);
    put_note(reply, note);
    strobe_reply_close(reply, '}');
}

static void put_parents(const struct place *place, struct strobe_reply *reply,
                        const struct strobe_zone_detail *zone)
{
    strobe_reply_open(reply, "parents", '[');
    for (uint32_t i = 0; i < zone->n_parents; i++) {
        if (!zone->parents[i].is_known)
            continue;
        strobe_reply_open(reply, "", '{');
        strobe_reply_number(reply, "t0", strobe_engine_ns(place->engine, zone->parents[i].begin));
        strobe_reply_u64(reply, "loc", loc_of(place, zone->parents[i].loc));
        strobe_reply_u64(reply, "depth", i);
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
}

/* Tell all about the zone that was found. */
static void describe(const struct place *place, struct strobe_reply *reply, enum strobe_err err,
                     const struct strobe_zone_key *key)
{
    struct strobe_zone_detail zone = {0};
    if (!err)
        err = place->table ? strobe_zone_look_row(
                                 &place->rows, place->table->kind != STROBE_TABLE_SPANS, key, &zone)
                           : strobe_zone_look(place->engine->view, place->thread, key, &zone);
    if (err == STROBE_ERR_NOTFOUND) {
        strobe_reply_null(reply, "zone");
    } else if (err) {
        strobe_engine_answer_error(reply, strobe_err_text(err));
    } else {
        struct strobe_note note =
            place->table ? note_of_row(&place->engine->tables, &place->rows, key->row) : zone.note;
        uint64_t end = zone.state == STROBE_ZONE_ENDED ? zone.end : UINT64_MAX;
        put_zone(place, reply, &zone, &note);
        put_parents(place, reply, &zone);
        put_sums(place, reply, "children", &zone.children);
        put_sums(place, reply, "inside", &zone.inside);
        put_messages(place, reply, zone.begin, end);
        put_waits(place, reply, zone.begin, end);
        put_stack(place, reply, &zone);
    }
    strobe_zone_detail_free(&zone);
}

/* The track of the question. 0: it has no zones, and the answer says so. */
static int read_place(struct strobe_engine *engine, const struct strobe_json *question,
                      struct strobe_reply *reply, struct place *place)
{
    uint32_t track = (uint32_t)strobe_engine_count(question, "track", 0, UINT32_MAX);
    uint32_t thread = track & 0xfffffff;
    strobe_tables_update(&engine->tables);
    int is_thread = track >> 28 == STROBE_TRACK_THREAD && thread < engine->trace->thread_ids.n;
    *place = (struct place){
        engine, strobe_track_table(engine, track), track, is_thread ? thread : UINT32_MAX, {0}};
    if (place->table)
        place->rows = strobe_table_place(&engine->tables, place->table);
    if (place->table || (is_thread && !engine->trace->threads[thread].twin))
        return 1;
    strobe_engine_answer_error(reply, "that track has no zones");
    return 0;
}

void strobe_engine_answer_zone(struct strobe_engine *engine, const struct strobe_json *question,
                               struct strobe_reply *reply)
{
    struct place place;
    struct strobe_zone_key key = {0};
    uint32_t depth = (uint32_t)strobe_engine_count(question, "depth", 0, STROBE_PIXELS_MAX_DEPTHS);
    double at = strobe_json_number(question, strobe_json_member(question, 0, "at"), 0);
    double slack = strobe_json_number(question, strobe_json_member(question, 0, "slack"), 0);
    uint64_t tick = strobe_engine_tick(engine, at);
    uint64_t slack_ticks = strobe_engine_tick(engine, at + (slack > 0 ? slack : 0)) - tick;
    if (!read_place(engine, question, reply, &place))
        return;
    describe(&place, reply,
             place.table
                 ? strobe_zone_find_row(&place.rows, depth, tick, slack_ticks, &key)
                 : strobe_zone_find(engine->view, place.thread, depth, tick, slack_ticks, &key),
             &key);
}

struct wanted_loc {
    struct strobe_engine *engine;
    uint32_t number;
};

static int is_wanted(void *context, uint64_t loc)
{
    const struct wanted_loc *wanted = context;
    return strobe_engine_row_loc(wanted->engine, loc) == wanted->number;
}

void strobe_engine_answer_step(struct strobe_engine *engine, const struct strobe_json *question,
                               struct strobe_reply *reply)
{
    struct place place;
    struct strobe_zone_key key = {0};
    uint32_t depth = (uint32_t)strobe_engine_count(question, "depth", 0, STROBE_PIXELS_MAX_DEPTHS);
    struct wanted_loc wanted = {engine,
                                (uint32_t)strobe_engine_count(question, "loc", 0, UINT32_MAX)};
    double at = strobe_json_number(question, strobe_json_member(question, 0, "at"), 0);
    int is_next = !strobe_json_is(question, strobe_json_member(question, 0, "to"), "previous");
    int by_loc = strobe_json_is(question, strobe_json_member(question, 0, "same"), "loc");
    uint64_t tick = strobe_engine_tick(engine, is_next ? floor(at) + 1 : at);
    if (!read_place(engine, question, reply, &place))
        return;
    /* several ticks may be one ns: those of `at` itself are stepped over */
    tick -= is_next && tick ? 1 : 0;
    uint8_t *locs = by_loc && !place.table ? strobe_engine_mark(engine, wanted.number) : NULL;
    enum strobe_err err =
        place.table       ? strobe_zone_step_row(&place.rows, tick, is_next, depth,
                                           by_loc ? is_wanted : NULL, &wanted, &key)
        : by_loc && !locs ? STROBE_ERR_NOMEM
                          : strobe_zone_step(engine->view, place.thread, tick, is_next, depth, locs,
                                             engine->n_canon, &key);
    free(locs);
    describe(&place, reply, err, &key);
}
