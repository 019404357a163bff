/* answer_zone.c - one zone in detail: its times, what was said of it, its parents, what is inside.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/zone.h"
#include "serve/engine.h"

static void put_sums(struct strobe_engine *engine, struct strobe_reply *reply, const char *name,
                     const struct strobe_zone_sum *sums, uint32_t n, uint32_t process)
{
    strobe_reply_open(reply, name, '[');
    for (uint32_t i = 0; i < n && i < 100; i++) {
        strobe_reply_open(reply, "", '{');
        strobe_reply_u64(reply, "loc", strobe_engine_loc(engine, process, sums[i].loc));
        strobe_reply_u64(reply, "count", sums[i].count);
        strobe_reply_number(reply, "total",
                            (double)strobe_clock_ns(&engine->trace->clock, sums[i].ticks));
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
}

static void put_note(struct strobe_reply *reply, const struct strobe_note *note)
{
    char value[32];
    if (note->text)
        strobe_reply_text(reply, "text", note->text, note->n_text);
    if (note->name)
        strobe_reply_text(reply, "name", note->name, note->n_name);
    if (note->has_value) {
        snprintf(value, sizeof value, "%llu", (unsigned long long)note->value);
        strobe_reply_string(reply, "value", value);
    }
    if (note->has_color)
        strobe_reply_u64(reply, "color", note->color);
}

static void put_messages(struct strobe_engine *engine, struct strobe_reply *reply,
                         const struct strobe_zone_detail *zone, uint32_t thread)
{
    const struct strobe_tables *tables = &engine->tables;
    uint64_t end = zone->state == STROBE_ZONE_ENDED ? zone->end : UINT64_MAX;
    uint32_t n_put = 0, n;
    strobe_reply_open(reply, "messages", '[');
    for (uint32_t i = 0; i < tables->n_messages && n_put < 100; i++) {
        const struct strobe_message *message = &tables->messages[i];
        if (message->thread != thread || message->tick < zone->begin || message->tick > end)
            continue;
        const char *text = strobe_texts_get(&tables->texts, message->text, &n);
        strobe_reply_open(reply, "", '{');
        strobe_reply_number(reply, "t", strobe_engine_ns(engine, message->tick));
        strobe_reply_text(reply, "text", text, n);
        strobe_reply_u64(reply, "severity", message->severity);
        strobe_reply_close(reply, '}');
        n_put++;
    }
    strobe_reply_close(reply, ']');
}

static void put_zone(struct strobe_engine *engine, struct strobe_reply *reply,
                     const struct strobe_zone_detail *zone, uint32_t process)
{
    static const char *const states[] = {"ended", "open", "unfinished", "unfinished"};
    const struct strobe_clock *clock = &engine->trace->clock;
    strobe_reply_open(reply, "zone", '{');
    strobe_reply_number(reply, "t0", strobe_engine_ns(engine, zone->begin));
    if (zone->state == STROBE_ZONE_ENDED) {
        strobe_reply_number(reply, "t1", strobe_engine_ns(engine, zone->end));
        strobe_reply_number(reply, "duration",
                            (double)strobe_clock_ns(clock, zone->end - zone->begin));
        strobe_reply_number(reply, "self", (double)strobe_clock_ns(clock, zone->self));
    } else {
        strobe_reply_key(reply, "t1");
        strobe_reply_raw(reply, "null");
    }
    strobe_reply_u64(reply, "loc", strobe_engine_loc(engine, process, zone->loc));
    strobe_reply_u64(reply, "depth", zone->depth);
    strobe_reply_string(reply, "state", states[zone->state & 3]);
    strobe_reply_u64(reply, "children", zone->n_children);
    strobe_reply_bool(reply, "whole", !zone->is_cut);
    put_note(reply, &zone->note);
    strobe_reply_close(reply, '}');
}

/* Zones of tables: what is known of them is their row. */
static void zone_of_table(struct strobe_engine *engine, struct strobe_reply *reply,
                          const struct strobe_table *table, uint64_t tick, uint32_t depth)
{
    for (uint32_t i = 0; i < table->n_rows; i++) {
        const struct strobe_pixel_row *row = &table->rows[i];
        if (row->depth != depth || row->begin > tick || row->end <= tick)
            continue;
        struct strobe_zone_detail zone = {.begin = row->begin,
                                          .end = row->end,
                                          .loc = row->loc,
                                          .depth = depth,
                                          .self = row->end - row->begin,
                                          .is_cut = 1,
                                          .state = row->end == UINT64_MAX ? STROBE_ZONE_OPEN
                                                                          : STROBE_ZONE_ENDED};
        put_zone(engine, reply, &zone, table->process);
        return;
    }
    strobe_reply_raw(reply, reply->needs_comma ? ",\"zone\":null" : "\"zone\":null");
    reply->needs_comma = 1;
}

static const struct strobe_table *table_of(struct strobe_engine *engine, uint32_t track)
{
    uint32_t index = track & 0xfffffff;
    if (track >> 28 == STROBE_TRACK_TABLE && index < engine->tables.n_tables)
        return &engine->tables.tables[index];
    if (track >> 28 == STROBE_TRACK_THREAD && index < engine->trace->thread_ids.n &&
        engine->trace->threads[index].twin)
        return strobe_tables_find(&engine->tables, STROBE_TABLE_THREAD,
                                  engine->trace->threads[index].process, index);
    return NULL;
}

/* Look at a zone and tell all about it. */
static void describe(struct strobe_engine *engine, struct strobe_reply *reply, uint32_t thread,
                     uint32_t depth, uint64_t tick, uint64_t slack_ticks)
{
    struct strobe_zone_detail zone;
    uint32_t process = engine->trace->threads[thread].process;
    enum strobe_err err = strobe_zone_look(engine->view, thread, depth, tick, slack_ticks, &zone);
    if (err == STROBE_OK) {
        put_zone(engine, reply, &zone, process);
        strobe_reply_open(reply, "parents", '[');
        for (uint32_t i = 0; i < zone.n_parents; i++) {
            strobe_reply_open(reply, "", '{');
            strobe_reply_number(reply, "t0", strobe_engine_ns(engine, zone.parents[i].begin));
            strobe_reply_u64(reply, "loc", strobe_engine_loc(engine, process, zone.parents[i].loc));
            strobe_reply_u64(reply, "depth", i);
            strobe_reply_close(reply, '}');
        }
        strobe_reply_close(reply, ']');
        put_sums(engine, reply, "children", zone.children.rows, zone.children.n, process);
        put_sums(engine, reply, "inside", zone.inside.rows, zone.inside.n, process);
        put_messages(engine, reply, &zone, thread);
    } else if (err == STROBE_ERR_NOTFOUND) {
        strobe_reply_key(reply, "zone");
        strobe_reply_raw(reply, "null");
    } else {
        strobe_answer_error(reply, strobe_err_text(err));
    }
    strobe_zone_detail_free(&zone);
}

void strobe_answer_zone(struct strobe_engine *engine, const struct strobe_json *question,
                        struct strobe_reply *reply)
{
    uint32_t track = (uint32_t)strobe_json_count(question, strobe_json_member(question, 0, "track"),
                                                 0, UINT32_MAX);
    uint32_t depth = (uint32_t)strobe_json_count(question, strobe_json_member(question, 0, "depth"),
                                                 0, STROBE_PIXELS_MAX_DEPTHS);
    double at = strobe_json_number(question, strobe_json_member(question, 0, "at"), 0);
    double slack = strobe_json_number(question, strobe_json_member(question, 0, "slack"), 0);
    uint64_t tick = strobe_engine_tick(engine, at);
    uint64_t slack_ticks = strobe_engine_tick(engine, at + (slack > 0 ? slack : 0)) - tick;
    uint32_t thread = track & 0xfffffff;
    const struct strobe_table *table = table_of(engine, track);
    if (table) {
        zone_of_table(engine, reply, table, tick, depth);
        return;
    }
    if (track >> 28 != STROBE_TRACK_THREAD || thread >= engine->trace->thread_ids.n) {
        strobe_answer_error(reply, "that track has no zones");
        return;
    }
    describe(engine, reply, thread, depth, tick, slack_ticks);
}

/* Locations by number: marks of all that have the same content. NULL without memory. */
static uint8_t *mark_number(const struct strobe_engine *engine, uint32_t number)
{
    uint8_t *locs = calloc(engine->n_canon + 1ull, 1);
    for (uint32_t i = 0; locs && i < engine->n_canon; i++)
        locs[i] = engine->canon[i] == number;
    return locs;
}

void strobe_answer_step(struct strobe_engine *engine, const struct strobe_json *question,
                        struct strobe_reply *reply)
{
    uint32_t track = (uint32_t)strobe_json_count(question, strobe_json_member(question, 0, "track"),
                                                 0, UINT32_MAX);
    uint32_t depth = (uint32_t)strobe_json_count(question, strobe_json_member(question, 0, "depth"),
                                                 0, STROBE_PIXELS_MAX_DEPTHS);
    uint32_t loc = (uint32_t)strobe_json_count(question, strobe_json_member(question, 0, "loc"), 0,
                                               UINT32_MAX);
    double at = strobe_json_number(question, strobe_json_member(question, 0, "at"), 0);
    int is_next = !strobe_json_is(question, strobe_json_member(question, 0, "to"), "previous");
    int by_loc = strobe_json_is(question, strobe_json_member(question, 0, "same"), "loc");
    uint32_t thread = track & 0xfffffff, found_depth;
    uint64_t found, tick = strobe_engine_tick(engine, is_next ? at + 1 : at);
    if (track >> 28 != STROBE_TRACK_THREAD || thread >= engine->trace->thread_ids.n ||
        engine->trace->threads[thread].twin) {
        strobe_answer_error(reply, "on this track there is no stepping");
        return;
    }
    /* several ticks may be one ns: those of `at` itself are stepped over */
    tick -= is_next && tick ? 1 : 0;
    uint8_t *locs = by_loc ? mark_number(engine, loc) : NULL;
    enum strobe_err err = by_loc && !locs
                              ? STROBE_ERR_NOMEM
                              : strobe_zone_step(engine->view, thread, tick, is_next, depth, locs,
                                                 engine->n_canon, &found, &found_depth);
    free(locs);
    if (err == STROBE_ERR_NOTFOUND) {
        strobe_reply_key(reply, "zone");
        strobe_reply_raw(reply, "null");
    } else if (err) {
        strobe_answer_error(reply, strobe_err_text(err));
    } else {
        describe(engine, reply, thread, found_depth, found, 0);
    }
}
