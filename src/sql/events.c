/* events.c - tables whose rows come from a walk over the events: zones, messages, values of plots and the like.
 * Runs in the pump's thread. Columns are put in the order in which `columns` names them.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/assert.h"
#include "base/out.h"
#include "query/ordered.h"
#include "sql/pump.h"

#define BIT(kind) (1ull << STROBE_KIND_##kind)

const char *const strobe_sql_zone_states[STROBE_SQL_N_STATES] = {"ended", "open", "unfinished",
                                                                 "no_begin"};

static void put_state(struct strobe_sql_cell *cell, unsigned state)
{
    strobe_sql_put_kept(cell, strobe_sql_zone_states[state],
                        (uint32_t)strlen(strobe_sql_zone_states[state]));
}

static void put_ids(struct strobe_sql_cell *row, const struct strobe_batch *batch, uint32_t i)
{
    int64_t id, parent;
    strobe_sql_zone_ids(batch, i, &id, &parent);
    if (id >= 0)
        strobe_sql_put_i(&row[STROBE_SQL_ZONE_ID], id);
    if (parent >= 0)
        strobe_sql_put_i(&row[STROBE_SQL_ZONE_PARENT], parent);
}

int64_t strobe_sql_track_of(const struct strobe_trace *trace, const struct strobe_batch *batch)
{
    if (batch->kind == STROBE_BATCH_THREAD)
        return strobe_trace_first_thread(trace, batch->thread);
    if (batch->kind == STROBE_BATCH_SPAN)
        return STROBE_SQL_SPAN + (int64_t)strobe_trace_first_process(trace, batch->process);
    uint32_t fiber = strobe_idmap_find(&trace->fiber_ids, batch->process, batch->id);
    return fiber == STROBE_IDMAP_NONE ? -1 : STROBE_SQL_FIBER + (int64_t)fiber;
}

static void put_times(const struct strobe_sql_ask *ask, struct strobe_sql_cell *row,
                      const struct strobe_clock *clock, const struct strobe_batch *batch,
                      const struct strobe_zone_row *zone)
{
    if (strobe_sql_wants(ask, STROBE_SQL_ZONE_TS))
        strobe_sql_put_i(&row[STROBE_SQL_ZONE_TS], strobe_clock_rel(clock, zone->begin));
    if (strobe_sql_wants(ask, STROBE_SQL_ZONE_DEPTH))
        strobe_sql_put_i(&row[STROBE_SQL_ZONE_DEPTH], zone->depth);
    if (zone->state != STROBE_ZONE_ENDED)
        return;
    if (strobe_sql_wants(ask, STROBE_SQL_ZONE_DUR))
        strobe_sql_put_i(&row[STROBE_SQL_ZONE_DUR],
                         (int64_t)strobe_clock_span_ns(clock, zone->begin, zone->ticks));
    if (batch->kind != STROBE_BATCH_SPAN && strobe_sql_wants(ask, STROBE_SQL_ZONE_SELF))
        strobe_sql_put_i(&row[STROBE_SQL_ZONE_SELF],
                         (int64_t)strobe_clock_span_ns(clock, zone->begin, zone->self));
}

static void put_note(struct strobe_sql_pump *pump, struct strobe_sql_cell *row,
                     const struct strobe_note *note)
{
    if (note->has_value)
        strobe_sql_put_i(&row[STROBE_SQL_ZONE_VALUE], (int64_t)note->value);
    if (note->has_color)
        strobe_sql_put_i(&row[STROBE_SQL_ZONE_COLOR], note->color & 0xffffff);
    if (note->text && strobe_sql_wants(strobe_sql_pump_ask(pump), STROBE_SQL_ZONE_TEXT))
        strobe_sql_pump_text(pump, &row[STROBE_SQL_ZONE_TEXT], note->text, note->n_text);
}

/* The name of a zone: the one that it was given, else its location's. 0: it is not the wanted one. */
static int put_name(struct strobe_sql_pump *pump, struct strobe_sql_cell *cell, uint32_t loc,
                    uint64_t id, const struct strobe_note *note)
{
    const struct strobe_sql_ask *ask = strobe_sql_pump_ask(pump);
    const struct strobe_trace *model = strobe_sql_pump_model(pump);
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *name;
    if (!ask->name && !strobe_sql_wants(ask, STROBE_SQL_ZONE_NAME))
        return 1;
    if (note && note->name) {
        name = note->name;
        n = note->n_name;
    } else {
        name = strobe_trace_loc_name(model, loc < model->loc_ids.n ? loc : STROBE_IDMAP_NONE, id,
                                     room, &n);
    }
    if (ask->name && (n != ask->n_name || memcmp(name, ask->name, n)))
        return 0;
    if (note && note->name)
        strobe_sql_pump_text(pump, cell, name, n);
    else
        strobe_sql_pump_name(pump, cell, name, n, room);
    return 1;
}

static enum strobe_err put_zone(struct strobe_sql_pump *pump, const struct strobe_batch *batch,
                                uint32_t i, int64_t track)
{
    const struct strobe_sql_ask *ask = strobe_sql_pump_ask(pump);
    const struct strobe_trace *trace = strobe_sql_pump_trace(pump);
    const struct strobe_zone_row *zone = &batch->zones[i];
    const struct strobe_note *note =
        zone->note && batch->notes ? &batch->notes[zone->note - 1] : NULL;
    const uint64_t of_loc = 1ull << STROBE_SQL_ZONE_NAME | 1ull << STROBE_SQL_ZONE_LOC;
    uint64_t id = 0;
    uint32_t loc = STROBE_IDMAP_NONE;
    struct strobe_sql_cell *row = strobe_sql_pump_row(pump);
    if (!row)
        return STROBE_ERR_LIMIT;
    if (ask->name || ask->wanted & of_loc)
        loc = strobe_batch_loc(trace, batch, zone, &id);
    if (!put_name(pump, &row[STROBE_SQL_ZONE_NAME], loc, id, note)) {
        strobe_sql_pump_unrow(pump);
        return STROBE_OK;
    }
    if (ask->wanted & (1ull << STROBE_SQL_ZONE_ID | 1ull << STROBE_SQL_ZONE_PARENT))
        put_ids(row, batch, i);
    put_times(ask, row, &trace->clock, batch, zone);
    if (loc != STROBE_IDMAP_NONE)
        strobe_sql_put_i(&row[STROBE_SQL_ZONE_LOC], loc);
    if (track >= 0 && strobe_sql_wants(ask, STROBE_SQL_ZONE_TRACK))
        strobe_sql_put_i(&row[STROBE_SQL_ZONE_TRACK], track);
    if (strobe_sql_wants(ask, STROBE_SQL_ZONE_PROCESS))
        strobe_sql_put_i(&row[STROBE_SQL_ZONE_PROCESS],
                         strobe_trace_first_process(trace, batch->process));
    if (strobe_sql_wants(ask, STROBE_SQL_ZONE_STATE))
        put_state(&row[STROBE_SQL_ZONE_STATE], zone->state);
    if (note)
        put_note(pump, row, note);
    return STROBE_OK;
}

static enum strobe_err put_zones(void *context, const struct strobe_batch *batch)
{
    struct strobe_sql_pump *pump = context;
    const struct strobe_sql_ask *ask = strobe_sql_pump_ask(pump);
    const struct strobe_trace *trace = strobe_sql_pump_trace(pump);
    int64_t track = strobe_sql_track_of(trace, batch);
    enum strobe_err err = STROBE_OK;
    if ((ask->track >= 0 && track != ask->track) ||
        (ask->process >= 0 && strobe_trace_first_process(trace, batch->process) != ask->process))
        return STROBE_OK;
    if (!ask->wanted && !ask->name)
        return strobe_sql_pump_blanks(pump, batch->n_zones);
    for (uint32_t i = 0; !err && i < batch->n_zones; i++)
        err = put_zone(pump, batch, i, track);
    return err;
}

static enum strobe_err walk_zones(struct strobe_sql_pump *pump)
{
    const struct strobe_sql_ask *ask = strobe_sql_pump_ask(pump);
    const uint64_t of_notes = 1ull << STROBE_SQL_ZONE_NAME | 1ull << STROBE_SQL_ZONE_VALUE |
                              1ull << STROBE_SQL_ZONE_TEXT | 1ull << STROBE_SQL_ZONE_COLOR;
    struct strobe_walk walk = {
        .zones = ask->put_zones ? ask->put_zones : put_zones,
        .want_notes = ask->name || ask->wanted & of_notes, /* a zone may have been renamed */
        .want_fibers = 1,
        .want_spans = 1,
        .want_open = 1,
        .want_places = strobe_sql_wants(ask, STROBE_SQL_ZONE_ID) ||
                       strobe_sql_wants(ask, STROBE_SQL_ZONE_PARENT),
    };
    return strobe_sql_pump_walk(pump, &walk);
}

/* Every other table begins with trace_id, ts, track_id. */
enum { EVENT_TS = 1, EVENT_TRACK, EVENT_REST };

static enum strobe_err put_happening(void *context, const struct strobe_happening *happening)
{
    struct strobe_sql_pump *pump = context;
    const struct strobe_sql_ask *ask = strobe_sql_pump_ask(pump);
    const struct strobe_trace *trace = strobe_sql_pump_trace(pump);
    uint32_t track = strobe_trace_first_thread(trace, happening->thread);
    if ((ask->track >= 0 && track != ask->track) ||
        (ask->process >= 0 &&
         strobe_trace_first_process(trace, happening->process) != ask->process))
        return STROBE_OK;
    struct strobe_sql_cell *row = strobe_sql_pump_row(pump);
    if (!row)
        return STROBE_ERR_LIMIT;
    strobe_sql_put_i(&row[EVENT_TS], strobe_clock_rel(&trace->clock, happening->event->tick));
    strobe_sql_put_i(&row[EVENT_TRACK], track);
    strobe_sql_pump_table(pump)->put_event(pump, happening, row + EVENT_REST);
    return STROBE_OK;
}

static enum strobe_err walk_events(struct strobe_sql_pump *pump)
{
    struct strobe_walk walk = {.happens = put_happening,
                               .kinds = strobe_sql_pump_table(pump)->kinds};
    if (!strobe_ordered_may_have(strobe_sql_pump_trace(pump), walk.kinds))
        return STROBE_OK;
    return strobe_sql_pump_walk(pump, &walk);
}

/* A string of the process. */
static void put_string(struct strobe_sql_pump *pump, struct strobe_sql_cell *cell,
                       const struct strobe_happening *happening, uint64_t id)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *text =
        strobe_trace_string(strobe_sql_pump_model(pump), happening->process, id, room, &n);
    strobe_sql_pump_name(pump, cell, text, n, room);
}

static void put_kind(struct strobe_sql_pump *pump, struct strobe_sql_cell *cell, unsigned kind)
{
    const struct strobe_schema *schema = &strobe_sql_pump_model(pump)->schema;
    strobe_sql_put_kept(cell, schema->kind[kind].name, schema->kind[kind].n_name);
}

static void put_message(struct strobe_sql_pump *pump, const struct strobe_happening *happening,
                        struct strobe_sql_cell *row)
{
    static const char *const severities[] = {"trace", "debug", "info", "warning", "error", "fatal"};
    enum { NONE = 512 }; /* a Tracy client that knows no severities */
    const struct strobe_field *f = happening->event->fields;
    uint64_t severity = f[0].u & 255;
    if (!(f[0].u & NONE) && severity < 6)
        strobe_sql_put_kept(&row[0], severities[severity], (uint32_t)strlen(severities[severity]));
    strobe_sql_pump_text(pump, &row[1], f[2].text, f[2].u);
    if (f[1].u)
        strobe_sql_put_i(&row[2], (int64_t)(f[1].u & 0xffffff));
}

static void put_counter(struct strobe_sql_pump *pump, const struct strobe_happening *happening,
                        struct strobe_sql_cell *row)
{
    const struct strobe_field *f = happening->event->fields;
    uint32_t string =
        strobe_idmap_find(&strobe_sql_pump_model(pump)->string_ids, happening->process, f[0].u);
    /* the track of a counter is the counter's, not the thread's that emitted it */
    row[EVENT_TRACK - EVENT_REST].type = STROBE_SQL_NULL;
    if (string != STROBE_IDMAP_NONE)
        strobe_sql_put_i(&row[EVENT_TRACK - EVENT_REST], STROBE_SQL_PLOT + (int64_t)string);
    strobe_sql_put_d(&row[0],
                     happening->event->kind == STROBE_KIND_PLOT_DOUBLE ? f[1].d : (double)f[1].i);
    put_string(pump, &row[1], happening, f[0].u);
    strobe_sql_put_i(&row[2],
                     strobe_trace_first_process(strobe_sql_pump_trace(pump), happening->process));
}

static void put_frame(struct strobe_sql_pump *pump, const struct strobe_happening *happening,
                      struct strobe_sql_cell *row)
{
    put_kind(pump, &row[0], happening->event->kind);
    put_string(pump, &row[1], happening, happening->event->fields[0].u);
}

static void put_flow(struct strobe_sql_pump *pump, const struct strobe_happening *happening,
                     struct strobe_sql_cell *row)
{
    put_kind(pump, &row[0], happening->event->kind);
    strobe_sql_put_i(&row[1], (int64_t)happening->event->fields[0].u);
}

static void put_lock(struct strobe_sql_pump *pump, const struct strobe_happening *happening,
                     struct strobe_sql_cell *row)
{
    const struct strobe_field *f = happening->event->fields;
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    put_kind(pump, &row[0], happening->event->kind);
    strobe_sql_put_i(&row[1], (int64_t)f[0].u);
    const char *name =
        strobe_trace_lock_name(strobe_sql_pump_model(pump), happening->process, f[0].u, room, &n);
    strobe_sql_pump_name(pump, &row[2], name, n, room);
    if (happening->event->n_fields > 1 && f[1].letter == 'u')
        strobe_sql_put_i(&row[3], (int64_t)f[1].u);
    if (happening->event->kind != STROBE_KIND_LOCK_WAITED || happening->event->n_fields < 4)
        return;
    uint64_t tick = happening->event->tick, ticks = f[2].u < tick ? f[2].u : tick;
    strobe_sql_put_i(&row[4], (int64_t)strobe_clock_span_ns(&strobe_sql_pump_trace(pump)->clock,
                                                            tick - ticks, ticks));
    if (f[3].u)
        strobe_sql_put_i(&row[5], (int64_t)f[3].u);
}

static void put_switch(struct strobe_sql_pump *pump, const struct strobe_happening *happening,
                       struct strobe_sql_cell *row)
{
    put_kind(pump, &row[0], happening->event->kind);
    strobe_sql_put_i(&row[1], (int64_t)happening->event->fields[0].u);
    strobe_sql_put_i(&row[2], (int64_t)happening->event->fields[1].u);
}

static void put_alloc(struct strobe_sql_pump *pump, const struct strobe_happening *happening,
                      struct strobe_sql_cell *row)
{
    const struct strobe_event *event = happening->event;
    put_kind(pump, &row[0], event->kind);
    put_string(pump, &row[1], happening, event->fields[0].u);
    if (event->kind != STROBE_KIND_MEM_DISCARD)
        strobe_sql_put_i(&row[2], (int64_t)event->fields[1].u);
    if (event->kind == STROBE_KIND_MEM_ALLOC || event->kind == STROBE_KIND_MEM_BLOCK)
        strobe_sql_put_i(&row[3], (int64_t)event->fields[2].u);
}

/* Addresses: names need the modules' files, which the csv command looks for. */
static void put_sample(struct strobe_sql_pump *pump, const struct strobe_happening *happening,
                       struct strobe_sql_cell *row)
{
    const struct strobe_field *f = happening->event->fields;
    struct strobe_out text = {.max = 1 << 20};
    strobe_sql_put_i(&row[0], (int64_t)f[0].u);
    strobe_sql_put_i(&row[1], (int64_t)f[1].u);
    if (!strobe_sql_wants(strobe_sql_pump_ask(pump), EVENT_REST + 2))
        return;
    for (uint64_t i = 0; i < f[1].u; i++) {
        if (i)
            strobe_out_char(&text, ';');
        strobe_out_hex(&text, f[1].list[i]);
    }
    strobe_sql_pump_text(pump, &row[2], text.at, text.len);
    strobe_out_free(&text);
}

#define EVENT_COLUMNS "trace_id INT4, ts INT, track_id INT4, "
#define EVENT(name, columns, kinds, put, help)                                                   \
    {                                                                                            \
        name, EVENT_COLUMNS columns, help, {.ts = 1, .track = 2}, NULL, NULL, NULL, walk_events, \
            kinds, put, NULL                                                                     \
    }

const struct strobe_sql_table strobe_sql_events[] = {
    {"zone",
     "trace_id INT4, id INT, ts INT, dur INT, self INT, depth INT4, name ENUM TEXT, loc_id INT4, "
     "track_id INT4, process_id INT4, parent_id INT, state ENUM TEXT, value INT, text TEXT, color "
     "INT4",
     "zones of threads, devices and fibers, and spans",
     {.ts = STROBE_SQL_ZONE_TS,
      .track = STROBE_SQL_ZONE_TRACK,
      .process = STROBE_SQL_ZONE_PROCESS,
      .name = STROBE_SQL_ZONE_NAME},
     NULL,
     NULL,
     NULL,
     walk_zones,
     0,
     NULL,
     NULL},
    {"zone_sum",
     "trace_id INT4, name ENUM TEXT, loc_id INT4, track_id INT4, process_id INT4, depth INT4, "
     "count INT, "
     "ended INT, total INT, self INT, min INT, max INT, after INT HIDDEN, before INT HIDDEN, "
     "at_least INT HIDDEN, at_most INT HIDDEN",
     "zones added up by the keys that are asked for; zone_sum(AFTER, BEFORE, AT_LEAST, AT_MOST): "
     "of a time, and "
     "of durations",
     {.track = 3, .process = 4, .after = 12, .before = 13, .at_least = 14, .at_most = 15},
     NULL,
     NULL,
     NULL,
     strobe_sql_walk_sums,
     0,
     NULL,
     NULL},
    EVENT("message", "severity ENUM TEXT, text TEXT, color INT4", BIT(MESSAGE), put_message,
          "texts of the program"),
    {"counter",
     EVENT_COLUMNS "value REAL, name ENUM TEXT, process_id INT4",
     "values of plots",
     {.ts = 1},
     NULL,
     NULL,
     NULL,
     walk_events,
     BIT(PLOT_INT) | BIT(PLOT_DOUBLE),
     put_counter,
     NULL},
    EVENT("frame_event", "what ENUM TEXT, name ENUM TEXT",
          BIT(FRAME_MARK) | BIT(FRAME_START) | BIT(FRAME_END), put_frame, "frame marks"),
    EVENT("flow_event", "what ENUM TEXT, flow_id INT",
          BIT(FLOW_BEGIN) | BIT(FLOW_STEP) | BIT(FLOW_END), put_flow,
          "begins, steps and ends of arrows"),
    EVENT("alloc_event", "what ENUM TEXT, pool ENUM TEXT, address INT, size INT",
          BIT(MEM_ALLOC) | BIT(MEM_FREE) | BIT(MEM_DISCARD) | BIT(MEM_BLOCK), put_alloc,
          "allocations and frees"),
    EVENT("lock_event",
          "what ENUM TEXT, lock_id INT, name ENUM TEXT, shared INT, waited INT, holder INT",
          BIT(LOCK_WAIT) | BIT(LOCK_OBTAIN) | BIT(LOCK_RELEASE) | BIT(LOCK_MARK) | BIT(LOCK_GONE) |
              BIT(LOCK_WAITED),
          put_lock, "waits for locks"),
    EVENT("switch", "what ENUM TEXT, cpu INT, reason INT", BIT(SWITCH_IN) | BIT(SWITCH_OUT),
          put_switch, "context switches"),
    EVENT("sample", "cpu INT, n_frames INT, stack TEXT", BIT(SAMPLE), put_sample,
          "sampled call stacks, innermost address first"),
};
const unsigned strobe_sql_n_events = sizeof strobe_sql_events / sizeof strobe_sql_events[0];
