/* csv_zones.c - one row per zone or span. The inner loop of `strobe csv`: what many rows share is
 * quoted once and copied.  SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "export/csv.h"

const char strobe_csv_zones_head[] =
    "process,pid,thread,tid,name,function,file,line,start_ns,duration_ns,"
    "self_ns,depth,text,value,color,state\n";
const char strobe_csv_spans_head[] = "process,pid,thread,tid,span,name,function,file,line,start_ns,"
                                     "duration_ns,state\n";

static const char *const state_names[] = {"ended", "open", "unfinished", "no_begin"};

static void put_thread_slow(struct strobe_csv *csv, uint32_t process, uint32_t thread)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *name = strobe_trace_process_name(csv->trace, process, room, &n);
    strobe_out_csv(csv->out, name, n);
    strobe_out_char(csv->out, ',');
    strobe_out_u(csv->out, csv->trace->processes[process].pid);
    strobe_out_char(csv->out, ',');
    name = strobe_trace_thread_name(csv->trace, thread, room, &n);
    strobe_out_csv(csv->out, name, n);
    strobe_out_char(csv->out, ',');
    strobe_out_u(csv->out, csv->trace->threads[thread].tid);
    strobe_out_char(csv->out, ',');
}

/* Keep what was just written from `start` on, if it is short and still in the buffer. */
static void keep(struct strobe_csv_prefix *prefix, uint32_t key, const struct strobe_out *out,
                 size_t start)
{
    prefix->key = key + 1;
    prefix->n = 0;
    if (out->len > start && out->len - start <= sizeof prefix->text) {
        prefix->n = (uint32_t)(out->len - start);
        memcpy(prefix->text, out->at + start, prefix->n);
    }
}

/* Put what was kept of a row. 0: nothing was; the caller puts it, and keeps it from *start on. */
static int put_kept(struct strobe_out *out, const struct strobe_csv_prefix *prefix, uint32_t row,
                    size_t *start)
{
    char *at = strobe_out_reserve(out);
    *start = out->len;
    if (prefix->key != row + 1 || !prefix->n)
        return 0;
    memcpy(at, prefix->text, prefix->n);
    out->len += prefix->n;
    return 1;
}

void strobe_csv_put_thread(struct strobe_csv *csv, uint32_t process, uint32_t thread)
{
    struct strobe_csv_prefix *prefix = &csv->thread;
    size_t start;
    if (put_kept(csv->out, prefix, thread, &start))
        return;
    put_thread_slow(csv, process, thread);
    keep(prefix, thread, csv->out, start);
}

static void put_loc_slow(struct strobe_csv *csv, uint32_t loc, uint64_t id)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    const char *text = strobe_trace_loc_name(csv->trace, loc, id, room, &n);
    strobe_out_csv(csv->out, text, n);
    strobe_out_char(csv->out, ',');
    if (loc == STROBE_IDMAP_NONE) {
        strobe_out_bytes(csv->out, ",,,", 3);
        return;
    }
    const struct strobe_loc_row *row = &csv->trace->locs[loc];
    text = strobe_trace_text(csv->trace, row->function, &n);
    strobe_out_csv(csv->out, text, n);
    strobe_out_char(csv->out, ',');
    text = strobe_trace_text(csv->trace, row->file, &n);
    strobe_out_csv(csv->out, text, n);
    strobe_out_char(csv->out, ',');
    strobe_out_u(csv->out, row->line);
    strobe_out_char(csv->out, ',');
}

void strobe_csv_put_loc(struct strobe_csv *csv, uint32_t loc, uint64_t id)
{
    if (loc == STROBE_IDMAP_NONE) {
        put_loc_slow(csv, loc, id);
        return;
    }
    struct strobe_csv_prefix *prefix = &csv->locs[loc % STROBE_CSV_LOCS];
    size_t start;
    if (put_kept(csv->out, prefix, loc, &start))
        return;
    put_loc_slow(csv, loc, id);
    keep(prefix, loc, csv->out, start);
}

/* The track's columns: a fiber's zones belong to the fiber, wherever it ran. */
static void put_track(struct strobe_csv *csv, const struct strobe_batch *batch)
{
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    if (batch->kind != STROBE_BATCH_FIBER) {
        strobe_csv_put_thread(csv, batch->process, batch->thread);
        return;
    }
    const char *name = strobe_trace_process_name(csv->trace, batch->process, room, &n);
    strobe_out_csv(csv->out, name, n);
    strobe_out_char(csv->out, ',');
    strobe_out_u(csv->out, csv->trace->processes[batch->process].pid);
    strobe_out_char(csv->out, ',');
    name = strobe_trace_fiber_name(csv->trace, batch->process, batch->id, room, &n);
    strobe_out_csv(csv->out, name, n);
    strobe_out_bytes(csv->out, ",,", 2);
}

/* text,value,color, of a zone that has any. */
static void put_note(struct strobe_out *out, const struct strobe_note *note)
{
    strobe_out_csv(out, note->text ? note->text : "", note->n_text);
    strobe_out_char(out, ',');
    if (note->has_value)
        strobe_out_u(out, note->value);
    strobe_out_char(out, ',');
    if (note->has_color)
        strobe_out_format(out, "#%06x", note->color & 0xffffff);
    strobe_out_char(out, ',');
}

/* The location's columns with the name that the zone was given. */
static void put_named_loc(struct strobe_csv *csv, const struct strobe_note *note, uint32_t loc)
{
    uint32_t n;
    strobe_out_csv(csv->out, note->name, note->n_name);
    strobe_out_char(csv->out, ',');
    if (loc == STROBE_IDMAP_NONE) {
        strobe_out_bytes(csv->out, ",,,", 3);
        return;
    }
    const struct strobe_loc_row *row = &csv->trace->locs[loc];
    const char *text = strobe_trace_text(csv->trace, row->function, &n);
    strobe_out_csv(csv->out, text, n);
    strobe_out_char(csv->out, ',');
    text = strobe_trace_text(csv->trace, row->file, &n);
    strobe_out_csv(csv->out, text, n);
    strobe_out_format(csv->out, ",%u,", row->line);
}

/* "start_ns,duration_ns,self_ns," of a zone that ended. Where it ends. */
static char *put_ended(struct strobe_csv *csv, const struct strobe_zone_row *zone, char *at)
{
    const struct strobe_clock *clock = &csv->trace->clock;
    struct strobe_clock_part *part = &csv->part;
    int64_t start;
    uint64_t duration, self;
    if (!strobe_clock_part_has(part, zone->begin))
        strobe_clock_find_part(clock, zone->begin, part);
    if (strobe_clock_part_has(part, zone->begin)) {
        start = strobe_clock_part_rel(part, zone->begin);
        duration = strobe_clock_part_span_ns(part, zone->begin, zone->ticks);
        self = strobe_clock_part_span_ns(part, zone->begin, zone->self);
    } else {
        start = strobe_clock_rel(clock, zone->begin);
        duration = strobe_clock_span_ns(clock, zone->begin, zone->ticks);
        self = strobe_clock_span_ns(clock, zone->begin, zone->self);
    }
    at = strobe_number_put_i(at, start);
    *at++ = ',';
    at = strobe_number_put_u(at, duration);
    *at++ = ',';
    at = strobe_number_put_u(at, self);
    *at++ = ',';
    return at;
}

/* start_ns,duration_ns,self_ns,depth, */
static void put_times(struct strobe_csv *csv, const struct strobe_zone_row *zone)
{
    char *start = strobe_out_reserve(csv->out), *at = start;
    if (zone->state == STROBE_ZONE_ENDED) {
        at = put_ended(csv, zone, at);
    } else {
        at = strobe_number_put_i(at, strobe_clock_rel(&csv->trace->clock, zone->begin));
        memcpy(at, ",,,", 3);
        at += 3;
    }
    at = strobe_number_put_u(at, zone->depth);
    *at++ = ',';
    csv->out->len += (size_t)(at - start);
}

/* A prefix, a whole number of lines of the cache at a time: copies of a known length take no call. */
static char *copy_prefix(char *at, const struct strobe_csv_prefix *prefix)
{
    enum { LINE = 64 };
    static_assert(STROBE_CSV_PREFIX % LINE == 0 && 2 * STROBE_CSV_PREFIX < STROBE_OUT_SLACK / 2,
                  "what is too much is in the room, and in the slack");
    for (uint32_t i = 0; i < prefix->n; i += LINE)
        memcpy(at + i, prefix->text + i, LINE);
    return at + prefix->n;
}

static void put_zone(struct strobe_csv *csv, const struct strobe_batch *batch,
                     const struct strobe_zone_row *zone)
{
    static const struct strobe_note none;
    uint64_t id;
    uint32_t loc = strobe_batch_loc(csv->trace, batch, zone, &id);
    const struct strobe_note *note =
        zone->note && batch->notes ? &batch->notes[zone->note - 1] : &none;
    put_track(csv, batch);
    if (note->name)
        put_named_loc(csv, note, loc);
    else
        strobe_csv_put_loc(csv, loc, id);
    put_times(csv, zone);
    put_note(csv->out, note);
    strobe_out_text(csv->out, state_names[zone->state]);
    strobe_out_char(csv->out, '\n');
}

/* The common row: an ended zone of a thread, without notes, both prefixes at hand. */
static void put_plain(struct strobe_csv *csv, const struct strobe_zone_row *zone,
                      const struct strobe_csv_prefix *loc)
{
    static const char tail[] = ",,,ended\n"; /* its first comma ends `depth` */
    char *start = strobe_out_reserve(csv->out), *at = start;
    at = copy_prefix(copy_prefix(at, &csv->thread), loc);
    at = strobe_number_put_u(put_ended(csv, zone, at), zone->depth);
    *at++ = ',';
    memcpy(at, tail, sizeof tail - 1);
    csv->out->len += (size_t)(at - start) + sizeof tail - 1;
}

enum strobe_err strobe_csv_zones(void *context, const struct strobe_batch *batch)
{
    struct strobe_csv *csv = context;
    if (batch->kind == STROBE_BATCH_SPAN ||
        !strobe_csv_wants_thread(csv, batch->process, batch->thread))
        return STROBE_OK;
    for (uint32_t i = 0; i < batch->n_zones; i++) {
        const struct strobe_zone_row *zone = &batch->zones[i];
        uint32_t loc =
            zone->state == STROBE_ZONE_ENDED ? batch->locs[zone->slot] : STROBE_IDMAP_NONE;
        const struct strobe_csv_prefix *prefix = &csv->locs[loc % STROBE_CSV_LOCS];
        if (batch->kind == STROBE_BATCH_THREAD && !zone->note && loc != STROBE_IDMAP_NONE &&
            prefix->key == loc + 1 && prefix->n && csv->thread.key == batch->thread + 1 &&
            csv->thread.n)
            put_plain(csv, zone, prefix);
        else
            put_zone(csv, batch, zone);
    }
    return csv->out->error ? STROBE_ERR_IO : STROBE_OK;
}

static void put_span(struct strobe_csv *csv, const struct strobe_batch *batch,
                     const struct strobe_zone_row *zone)
{
    const struct strobe_clock *clock = &csv->trace->clock;
    uint64_t id;
    uint32_t loc = strobe_batch_loc(csv->trace, batch, zone, &id);
    strobe_csv_put_thread(csv, batch->process, batch->thread);
    strobe_out_u(csv->out, batch->id);
    strobe_out_char(csv->out, ',');
    if (zone->state == STROBE_ZONE_NO_BEGIN)
        strobe_out_bytes(csv->out, ",,,,", 4);
    else
        strobe_csv_put_loc(csv, loc, id);
    strobe_out_i(csv->out, strobe_clock_rel(clock, zone->begin));
    strobe_out_char(csv->out, ',');
    if (zone->state == STROBE_ZONE_ENDED)
        strobe_out_u(csv->out, strobe_clock_span_ns(clock, zone->begin, zone->ticks));
    strobe_out_char(csv->out, ',');
    strobe_out_text(csv->out, state_names[zone->state]);
    strobe_out_char(csv->out, '\n');
}

enum strobe_err strobe_csv_spans(void *context, const struct strobe_batch *batch)
{
    struct strobe_csv *csv = context;
    if (batch->kind != STROBE_BATCH_SPAN ||
        !strobe_csv_wants_thread(csv, batch->process, batch->thread))
        return STROBE_OK;
    for (uint32_t i = 0; i < batch->n_zones; i++)
        put_span(csv, batch, &batch->zones[i]);
    return csv->out->error ? STROBE_ERR_IO : STROBE_OK;
}
