/* answer_find.c - zones of one location, flame graphs, search.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/save.h"
#include "query/scan.h"
#include "serve/engine.h"
#include "serve/guard.h"

enum { MAX_HITS = 1 << 18, SEARCH_MS = 3000 };

/* ---- zones, kept ---- */

struct hit {
    uint64_t begin, end, self;
    uint32_t track, depth, loc;
    uint32_t text; /* in hits->texts, 0: none */
    uint8_t what;  /* enum what */
};
enum what { ZONE, TEXT, MESSAGE };
static const char *const what_names[] = {"zone", "text", "message"};

struct hits {
    struct strobe_engine *engine;
    struct hit *rows; /* owned */
    uint32_t n, room;
    uint64_t total, min, max; /* durations wanted */
    struct strobe_texts texts;
    char text[256]; /* that texts of zones must have */
    size_t n_text;
    const uint8_t *locs; /* borrowed: locations whose zones are hits by name */
    uint32_t n_locs;
};

static void add_hit(struct hits *hits, struct hit hit)
{
    hits->total++;
    if (hits->n < MAX_HITS &&
        strobe_rows_reach((void **)&hits->rows, &hits->room, hits->n, sizeof *hits->rows))
        hits->rows[hits->n++] = hit;
}

static int take_zone(void *context, uint32_t thread, uint32_t loc, uint64_t loc_id,
                     const struct strobe_zone_row *zone, const struct strobe_note *note)
{
    struct hits *hits = context;
    struct strobe_engine *engine = hits->engine;
    uint32_t process = engine->trace->threads[thread].process;
    int by_name = !hits->n_text || (loc < hits->n_locs && hits->locs[loc]);
    int by_text =
        note && hits->n_text &&
        ((note->text && strobe_text_has(note->text, note->n_text, hits->text, hits->n_text)) ||
         (note->name && strobe_text_has(note->name, note->n_name, hits->text, hits->n_text)));
    if ((!by_name && !by_text) || zone->ticks < hits->min || zone->ticks > hits->max)
        return 1;
    struct hit hit = {.begin = zone->begin,
                      .end = zone->begin + zone->ticks,
                      .self = zone->self,
                      .track = strobe_engine_track_of(engine, thread),
                      .depth = zone->depth,
                      .loc = strobe_engine_loc(engine, process, loc_id),
                      .what = by_name ? ZONE : TEXT};
    if (by_text && note->text && hits->texts.n_bytes < 4 << 20)
        hit.text = strobe_texts_add(&hits->texts, note->text, note->n_text);
    add_hit(hits, hit);
    return 1;
}

static int by_time(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

static int by_duration(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    uint64_t m = x->end - x->begin, n = y->end - y->begin;
    return m != n ? (m > n ? -1 : 1) : by_time(a, b);
}

/* Locations by number: marks of all that have the same content. */
static uint8_t *mark_number(const struct strobe_engine *engine, uint32_t number)
{
    uint8_t *locs = calloc(engine->n_canon + 1ull, 1);
    for (uint32_t i = 0; locs && i < engine->n_canon; i++)
        locs[i] = engine->canon[i] == number;
    return locs;
}

static uint64_t ticks_of(const struct strobe_engine *engine, const struct strobe_json *question,
                         const char *name, uint64_t otherwise)
{
    double ns = strobe_json_number(question, strobe_json_member(question, 0, name), -1);
    if (ns < 0)
        return otherwise;
    double ticks = ns * 4294967296.0 / (double)engine->trace->clock.mult;
    return ticks > 1e19 ? UINT64_MAX : (uint64_t)ticks;
}

void strobe_answer_instances(struct strobe_engine *engine, const struct strobe_json *question,
                             struct strobe_reply *reply)
{
    uint32_t number = (uint32_t)strobe_json_count(question, strobe_json_member(question, 0, "loc"),
                                                  0, UINT32_MAX);
    uint8_t *locs = mark_number(engine, number);
    struct hits hits = {.engine = engine};
    struct strobe_scan scan = {.view = engine->view,
                               .locs = locs,
                               .n_locs = engine->n_canon,
                               .context = &hits,
                               .zone = take_zone,
                               .max_ms = SEARCH_MS};
    hits.min = ticks_of(engine, question, "min", 0);
    hits.max = ticks_of(engine, question, "max", UINT64_MAX);
    strobe_engine_range(engine, question, &scan.lo, &scan.hi);
    scan.threads = strobe_engine_threads(engine, question, &scan.n_threads);
    enum strobe_err err = locs ? strobe_scan_run(&scan) : STROBE_ERR_NOMEM;
    uint64_t limit =
        strobe_json_count(question, strobe_json_member(question, 0, "limit"), 1000, MAX_HITS);
    if (hits.n)
        qsort(hits.rows, hits.n, sizeof *hits.rows,
              strobe_json_is(question, strobe_json_member(question, 0, "sort"), "duration")
                  ? by_duration
                  : by_time);
    uint32_t n = hits.n < limit ? hits.n : (uint32_t)limit;
    if (err)
        strobe_answer_error(reply, strobe_err_text(err));
    strobe_reply_u64(reply, "total", hits.total);
    strobe_reply_bool(reply, "exact", !scan.is_cut);
    double *t0 = strobe_reply_f64(reply, "t0", n), *t1 = strobe_reply_f64(reply, "t1", n);
    double *self = strobe_reply_f64(reply, "self", n);
    uint32_t *track = strobe_reply_u32(reply, "track", n),
             *depth = strobe_reply_u32(reply, "depth", n);
    for (uint32_t i = 0; !reply->failed && i < n; i++) {
        t0[i] = strobe_engine_ns(engine, hits.rows[i].begin);
        t1[i] = strobe_engine_ns(engine, hits.rows[i].end);
        self[i] = (double)strobe_clock_ns(&engine->trace->clock, hits.rows[i].self);
        track[i] = hits.rows[i].track;
        depth[i] = hits.rows[i].depth;
    }
    free(hits.rows);
    free(locs);
    free((void *)scan.threads);
}

/* ---- search ---- */

static int wants(const struct strobe_json *question, const char *name)
{
    uint32_t list = strobe_json_member(question, 0, "what"), at = 0, value;
    if (!list)
        return 1;
    while ((value = strobe_json_next(question, list, &at)))
        if (strobe_json_is(question, value, name))
            return 1;
    return 0;
}

static uint8_t *mark_names(const struct strobe_engine *engine, const struct hits *hits, int *n)
{
    uint8_t *locs = calloc(engine->n_canon + 1ull, 1);
    char room[STROBE_NAME_ROOM];
    uint32_t n_name;
    *n = 0;
    for (uint32_t i = 0; locs && i < engine->n_canon; i++) {
        const char *name = strobe_trace_loc_name(engine->trace, i, 0, room, &n_name);
        locs[i] = (uint8_t)strobe_text_has(name, n_name, hits->text, hits->n_text);
        *n += locs[i];
    }
    return locs;
}

/* Zones by name, and by their texts where the trace has some. */
static int find_zones(struct hits *hits, const struct strobe_json *question, uint64_t lo,
                      uint64_t hi)
{
    struct strobe_engine *engine = hits->engine;
    int n_named = 0, is_cut = 0;
    const struct strobe_trace_totals *totals = &strobe_file_facts(engine->trace->file)->totals;
    int by_text = wants(question, "texts") &&
                  (!totals->has_totals || totals->n_of_kind[STROBE_KIND_ZONE_TEXT] ||
                   totals->n_of_kind[STROBE_KIND_ZONE_NAME]);
    uint8_t *locs = mark_names(engine, hits, &n_named);
    if (locs && !wants(question, "zones")) {
        memset(locs, 0, engine->n_canon);
        n_named = 0;
    }
    hits->locs = locs;
    hits->n_locs = engine->n_canon;
    hits->max = UINT64_MAX;
    if (locs && (n_named || by_text)) {
        struct strobe_scan scan = {.view = engine->view,
                                   .lo = lo,
                                   .hi = hi,
                                   .locs = by_text ? NULL : locs,
                                   .n_locs = engine->n_canon,
                                   .want_notes = by_text,
                                   .context = hits,
                                   .zone = take_zone,
                                   .max_ms = SEARCH_MS};
        strobe_scan_run(&scan);
        is_cut = scan.is_cut;
    }
    free(locs);
    hits->locs = NULL;
    return is_cut;
}

static void find_messages(struct hits *hits, uint64_t lo, uint64_t hi)
{
    struct strobe_engine *engine = hits->engine;
    uint32_t n;
    for (uint32_t i = 0; i < engine->tables.n_messages; i++) {
        const struct strobe_message *message = &engine->tables.messages[i];
        const char *text = strobe_texts_get(&engine->tables.texts, message->text, &n);
        if (message->tick < lo || message->tick > hi ||
            !strobe_text_has(text, n, hits->text, hits->n_text))
            continue;
        add_hit(hits, (struct hit){.begin = message->tick,
                                   .end = message->tick,
                                   .track = strobe_engine_track_of(engine, message->thread),
                                   .what = MESSAGE,
                                   .text = strobe_texts_add(&hits->texts, text, n)});
    }
}

static void put_density(struct hits *hits, struct strobe_reply *reply, uint32_t width)
{
    const struct strobe_view *view = hits->engine->view;
    uint32_t *density = strobe_reply_u32(reply, "density", width);
    if (!density || view->tick_first > view->tick_last)
        return;
    double scale = (double)width / ((double)(view->tick_last - view->tick_first) + 1);
    for (uint32_t i = 0; i < hits->n; i++) {
        uint64_t at = hits->rows[i].begin > view->tick_first
                          ? (uint64_t)((double)(hits->rows[i].begin - view->tick_first) * scale)
                          : 0;
        density[at < width ? at : width - 1]++;
    }
}

static void put_hits(struct hits *hits, const struct strobe_json *question,
                     struct strobe_reply *reply)
{
    struct strobe_engine *engine = hits->engine;
    uint32_t after = strobe_json_member(question, 0, "after");
    uint32_t before = strobe_json_member(question, 0, "before"), first = 0, n_text;
    uint64_t limit =
        strobe_json_count(question, strobe_json_member(question, 0, "limit"), 100, 10000);
    double at = strobe_json_number(question, after ? after : before, 0);
    for (; first < hits->n && (after || before); first++) { /* in ns: several ticks may be one */
        double begin = strobe_engine_ns(engine, hits->rows[first].begin);
        if (after ? begin > at : begin >= at)
            break;
    }
    if (before)
        first = first > limit ? first - (uint32_t)limit : 0;
    strobe_reply_u64(reply, "index", first);
    strobe_reply_open(reply, "hits", '[');
    for (uint32_t i = first; i < hits->n && i - first < limit; i++) {
        const struct hit *hit = &hits->rows[i];
        if (before && strobe_engine_ns(engine, hit->begin) >= at)
            break;
        strobe_reply_open(reply, "", '{');
        strobe_reply_string(reply, "what", what_names[hit->what]);
        strobe_reply_u64(reply, "track", hit->track);
        strobe_reply_u64(reply, "depth", hit->depth);
        strobe_reply_number(reply, "t0", strobe_engine_ns(engine, hit->begin));
        strobe_reply_number(reply, "t1", strobe_engine_ns(engine, hit->end));
        strobe_reply_u64(reply, "loc", hit->loc);
        const char *text = strobe_texts_get(&hits->texts, hit->text, &n_text);
        if (hit->text)
            strobe_reply_text(reply, "text", text, n_text);
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
}

static void put_tracks(struct hits *hits, struct strobe_reply *reply)
{
    const struct strobe_trace *trace = hits->engine->trace;
    char room[STROBE_NAME_ROOM];
    uint32_t n, n_put = 0;
    strobe_reply_open(reply, "tracks", '[');
    for (uint32_t i = 0; i < trace->thread_ids.n && n_put < 1000; i++) {
        const char *name = strobe_trace_thread_name(trace, i, room, &n);
        if (!strobe_text_has(name, n, hits->text, hits->n_text))
            continue;
        strobe_reply_u64(reply, "", strobe_engine_track_of(hits->engine, i));
        n_put++;
    }
    strobe_reply_close(reply, ']');
}

void strobe_answer_find(struct strobe_engine *engine, const struct strobe_json *question,
                        struct strobe_reply *reply)
{
    struct hits hits = {.engine = engine};
    uint64_t lo, hi;
    hits.n_text = strobe_json_text(question, strobe_json_member(question, 0, "text"), hits.text,
                                   sizeof hits.text);
    if (!hits.n_text) {
        strobe_answer_error(reply, "there is no text to look for");
        return;
    }
    strobe_engine_range(engine, question, &lo, &hi);
    uint32_t width = (uint32_t)strobe_json_count(question, strobe_json_member(question, 0, "width"),
                                                 1000, 16384);
    strobe_tables_update(&engine->tables);
    int is_cut = find_zones(&hits, question, lo, hi);
    if (wants(question, "messages"))
        find_messages(&hits, lo, hi);
    if (hits.n)
        qsort(hits.rows, hits.n, sizeof *hits.rows, by_time);
    strobe_reply_u64(reply, "total", hits.total);
    strobe_reply_bool(reply, "exact", !is_cut && hits.n == hits.total);
    put_hits(&hits, question, reply);
    if (wants(question, "tracks"))
        put_tracks(&hits, reply);
    put_density(&hits, reply, width ? width : 1);
    free(hits.rows);
    strobe_texts_free(&hits.texts);
}

/* ---- saving ---- */

void strobe_answer_save(struct strobe_engine *engine, const struct strobe_json *question,
                        struct strobe_reply *reply)
{
    char name[300], path[4500];
    uint64_t lo, hi, n_bytes = 0;
    size_t n =
        strobe_json_text(question, strobe_json_member(question, 0, "name"), name, sizeof name);
    if (!strobe_guard_is_trace_name(name) || n < 8 || strcmp(name + n - 7, ".strobe")) {
        strobe_answer_error(reply, "a trace's name has no folders in it, and ends in .strobe");
        return;
    }
    strobe_engine_range(engine, question, &lo, &hi);
    if (engine->folder)
        snprintf(path, sizeof path, "%s/%s", engine->folder, name);
    else
        snprintf(path, sizeof path, "%.*s%s", (int)(engine->name - engine->path), engine->path,
                 name);
    enum strobe_err err = strobe_save_range(engine->view, lo, hi, path, &n_bytes);
    if (err) {
        strobe_answer_error(reply, err == STROBE_ERR_BUSY ? "there is a trace of that name"
                                                          : strobe_err_text(err));
        return;
    }
    strobe_reply_string(reply, "name", name);
    strobe_reply_u64(reply, "bytes", n_bytes);
}
