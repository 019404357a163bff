/* answer_find.c - zones of one location, search.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tracks.h"
#include "query/scan.h"

enum { MAX_HITS = 1 << 18, MAX_EVENTS = 1 << 25 };

/* ---- zones, kept ---- */

struct hit {
    uint64_t begin, end, self;
    uint32_t track, depth, loc;
    uint32_t text; /* in hits->texts, 0: none */
    uint32_t order;
    uint8_t what; /* enum what */
};
enum what { ZONE, TEXT, MESSAGE };
static const char *const what_names[] = {"zone", "text", "message"};

struct strobe_hits {
    struct strobe_engine *engine;             /* borrowed */
    char *key;                                /* owned: of the question that they answer */
    int (*order)(const void *, const void *); /* that the rows are in; NULL: none */
    struct hit *rows;                         /* owned */
    uint32_t n, room;
    uint64_t total;
    int is_cut; /* there was more to look at */
    struct strobe_texts texts;
    /* Zones of one location: */
    uint32_t number;
    double min, max; /* ns */
    /* Search: */
    char text[256];
    size_t n_text;
    const uint8_t *locs; /* borrowed: locations whose zones are hits by name */
    uint32_t n_locs;
    int by_text;
};

static void add_hit(struct strobe_hits *hits, struct hit hit)
{
    hit.order = (uint32_t)hits->total++;
    if (hits->n < MAX_HITS &&
        strobe_rows_reach((void **)&hits->rows, &hits->room, hits->n, sizeof *hits->rows))
        hits->rows[hits->n++] = hit;
}

static int by_time(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_duration(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    uint64_t m = x->end - x->begin, n = y->end - y->begin;
    return m != n ? (m > n ? -1 : 1) : by_time(a, b);
}

static void sort_hits(struct strobe_hits *hits, int (*order)(const void *, const void *))
{
    if (hits->n && hits->order != order)
        qsort(hits->rows, hits->n, sizeof *hits->rows, order);
    hits->order = order;
}

void strobe_hits_free(struct strobe_hits *hits)
{
    if (!hits)
        return;
    free(hits->rows);
    free(hits->key);
    strobe_texts_free(&hits->texts);
    free(hits);
}

/* What was kept for a question, if it asks for the same; else new ones in its place, empty: key NULL. The caller
 * fills those and gives them the key. NULL without memory. */
static struct strobe_hits *keep_hits(struct strobe_engine *engine, struct strobe_hits **kept,
                                     const char *key)
{
    if (*kept && key && (*kept)->key && !strcmp((*kept)->key, key))
        return *kept;
    strobe_hits_free(*kept);
    *kept = key ? calloc(1, sizeof **kept) : NULL;
    if (*kept)
        (*kept)->engine = engine;
    return *kept;
}

/* A zone with what was said of it. */
struct said {
    const char *text, *name; /* NULL: nothing */
    uint32_t n_text, n_name;
};

static struct said said_of_row(const struct strobe_tables *tables, uint32_t note)
{
    struct said said = {0};
    if (note && tables->notes[note - 1].text)
        said.text = strobe_texts_get(&tables->texts, tables->notes[note - 1].text, &said.n_text);
    if (note && tables->notes[note - 1].name)
        said.name = strobe_texts_get(&tables->texts, tables->notes[note - 1].name, &said.n_name);
    return said;
}

static struct said said_of_note(const struct strobe_note *note)
{
    return note ? (struct said){note->text, note->name, note->n_text, note->n_name}
                : (struct said){0};
}

typedef void (*taker)(struct strobe_hits *hits, struct hit hit, const struct said *said);

/* The zones of tables that ended and begin in the range, as those of threads. */
static void scan_tables(struct strobe_hits *hits, const struct strobe_choice *choice, uint64_t lo,
                        uint64_t hi, taker take)
{
    struct strobe_engine *engine = hits->engine;
    for (uint32_t i = 0; i < engine->tables.n_tables; i++) {
        const struct strobe_table *table = &engine->tables.tables[i];
        uint32_t track = table->kind == STROBE_TABLE_THREAD
                             ? strobe_track_id(STROBE_TRACK_THREAD, table->thread)
                             : strobe_track_id(STROBE_TRACK_TABLE, i);
        if (!strobe_table_has_zones(table) || !strobe_choice_has_table(choice, engine, i))
            continue;
        for (uint32_t k = 0; k < table->n_rows; k++) {
            const struct strobe_pixel_row *row = &table->rows[k];
            if (row->end == UINT64_MAX || row->begin < lo || row->begin > hi)
                continue;
            struct said said = said_of_row(&engine->tables, row->note);
            take(hits,
                 (struct hit){.begin = row->begin,
                              .end = row->end,
                              .self = row->self,
                              .track = track,
                              .depth = row->depth,
                              .loc = strobe_engine_row_loc(engine, row->loc)},
                 &said);
        }
    }
}

static struct hit hit_of(struct strobe_engine *engine, uint32_t thread, uint64_t loc_id,
                         const struct strobe_zone_row *zone)
{
    return (struct hit){
        .begin = zone->begin,
        .end = zone->begin + zone->ticks,
        .self = zone->self,
        .track = strobe_track_of_thread(engine, thread),
        .depth = zone->depth,
        .loc = strobe_engine_loc(engine, engine->trace->threads[thread].process, loc_id)};
}

/* ---- zones of one location ---- */

static void take_instance(struct strobe_hits *hits, struct hit hit, const struct said *said)
{
    double ns = strobe_engine_duration(hits->engine, hit.end - hit.begin);
    if (hit.loc != hits->number || ns < hits->min || ns > hits->max)
        return;
    if (said->text && hits->n < MAX_HITS)
        hit.text = strobe_texts_add(&hits->texts, said->text, said->n_text);
    add_hit(hits, hit);
}

static int take_zone(void *context, uint32_t thread, uint32_t loc, uint64_t loc_id,
                     const struct strobe_zone_row *zone, const struct strobe_note *note)
{
    struct strobe_hits *hits = context;
    struct said said = said_of_note(note);
    (void)loc;
    take_instance(hits, hit_of(hits->engine, thread, loc_id, zone), &said);
    return 1;
}

static void put_instances(const struct strobe_hits *hits, struct strobe_reply *reply, uint32_t n,
                          int is_reversed)
{
    struct strobe_engine *engine = hits->engine;
    double *t0 = strobe_reply_f64(reply, "t0", n), *t1 = strobe_reply_f64(reply, "t1", n);
    double *self = strobe_reply_f64(reply, "self", n);
    uint32_t *track = strobe_reply_u32(reply, "track", n),
             *depth = strobe_reply_u32(reply, "depth", n), n_text;
    strobe_reply_open(reply, "texts", '[');
    for (uint32_t i = 0; !reply->failed && i < n; i++) {
        const struct hit *hit = &hits->rows[is_reversed ? hits->n - 1 - i : i];
        t0[i] = strobe_engine_ns(engine, hit->begin);
        t1[i] = t0[i] + strobe_engine_duration(engine, hit->end - hit->begin);
        self[i] = strobe_engine_duration(engine, hit->self);
        track[i] = hit->track;
        depth[i] = hit->depth;
        const char *text = strobe_texts_get(&hits->texts, hit->text, &n_text);
        strobe_reply_text(reply, "", text, n_text);
    }
    strobe_reply_close(reply, ']');
}

static enum strobe_err find_instances(struct strobe_hits *hits, const struct strobe_json *question)
{
    struct strobe_engine *engine = hits->engine;
    uint8_t *locs = hits->number >> 31 ? NULL : strobe_engine_mark(engine, hits->number);
    struct strobe_choice choice;
    struct strobe_scan scan = {.view = engine->view,
                               .locs = locs,
                               .n_locs = engine->n_canon,
                               .want_notes = 1,
                               .context = hits,
                               .zone = take_zone,
                               .max_events = MAX_EVENTS};
    strobe_tables_update(&engine->tables);
    strobe_engine_span(engine, question, &scan.lo, &scan.hi);
    enum strobe_err err =
        strobe_choice_read(engine, question, &choice) ? STROBE_OK : STROBE_ERR_NOMEM;
    scan.threads = choice.threads;
    scan.n_threads = choice.n_threads;
    if (!err)
        err = locs || hits->number >> 31 ? strobe_scan_run(&scan) : STROBE_ERR_NOMEM;
    if (!err)
        scan_tables(hits, &choice, scan.lo, scan.hi, take_instance);
    hits->is_cut = scan.is_cut;
    free(locs);
    strobe_choice_free(&choice);
    return err;
}

void strobe_answer_instances(struct strobe_engine *engine, const struct strobe_json *question,
                             struct strobe_reply *reply)
{
    static const char *const members[] = {"loc", "from", "to", "tracks", "min", "max", NULL};
    char *key = strobe_engine_key(engine, question, members);
    struct strobe_hits *hits = keep_hits(engine, &engine->instances, key);
    enum strobe_err err = hits ? STROBE_OK : STROBE_ERR_NOMEM;
    if (hits && !hits->key) {
        hits->number = (uint32_t)strobe_engine_count(question, "loc", 0, UINT32_MAX);
        hits->min = strobe_json_number(question, strobe_json_member(question, 0, "min"), -1);
        hits->max = strobe_json_number(question, strobe_json_member(question, 0, "max"), 1e300);
        err = find_instances(hits, question);
    }
    if (err) {
        strobe_answer_error(reply, strobe_err_text(err));
        free(key);
        return;
    }
    free(hits->key);
    hits->key = key;
    int by_length = strobe_json_is(question, strobe_json_member(question, 0, "sort"), "duration");
    sort_hits(hits, by_length ? by_duration : by_time);
    uint64_t limit = strobe_engine_count(question, "limit", 1000, MAX_HITS);
    strobe_reply_u64(reply, "total", hits->total);
    strobe_reply_bool(reply, "exact", !hits->is_cut);
    put_instances(hits, reply, hits->n < limit ? hits->n : (uint32_t)limit,
                  strobe_engine_is_reversed(question));
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

static int has_words(const struct strobe_hits *hits, const char *text, uint32_t n)
{
    return text && strobe_text_has(text, n, hits->text, hits->n_text);
}

/* A zone whose name has the words, or what was said of it. The text of the hit is what has them. */
static void take_named(struct strobe_hits *hits, struct hit hit, const struct said *said)
{
    int by_name = hit.loc && hit.loc <= hits->n_locs && hits->locs[hit.loc - 1];
    int in_name = hits->by_text && has_words(hits, said->name, said->n_name);
    int in_text = hits->by_text && has_words(hits, said->text, said->n_text);
    if (!by_name && !in_name && !in_text)
        return;
    hit.what = by_name ? ZONE : TEXT;
    if (hits->n < MAX_HITS && (in_name || in_text))
        hit.text = in_name ? strobe_texts_add(&hits->texts, said->name, said->n_name)
                           : strobe_texts_add(&hits->texts, said->text, said->n_text);
    add_hit(hits, hit);
}

static int take_found(void *context, uint32_t thread, uint32_t loc, uint64_t loc_id,
                      const struct strobe_zone_row *zone, const struct strobe_note *note)
{
    struct strobe_hits *hits = context;
    struct said said = said_of_note(note);
    (void)loc;
    take_named(hits, hit_of(hits->engine, thread, loc_id, zone), &said);
    return 1;
}

static uint8_t *mark_names(const struct strobe_engine *engine, const struct strobe_hits *hits,
                           int *n)
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
static void find_zones(struct strobe_hits *hits, const struct strobe_json *question, uint64_t lo,
                       uint64_t hi)
{
    struct strobe_engine *engine = hits->engine;
    const struct strobe_choice all = {0};
    int n_named = 0;
    const struct strobe_trace_totals *totals = &strobe_file_facts(engine->trace->file)->totals;
    hits->by_text = wants(question, "texts") &&
                    (!totals->has_totals || totals->n_of_kind[STROBE_KIND_ZONE_TEXT] ||
                     totals->n_of_kind[STROBE_KIND_ZONE_NAME] ||
                     totals->n_of_kind[STROBE_KIND_ZONE_TEXT_AT] ||
                     totals->n_of_kind[STROBE_KIND_ZONE_NAME_AT]);
    uint8_t *locs = mark_names(engine, hits, &n_named);
    if (locs && !wants(question, "zones")) {
        memset(locs, 0, engine->n_canon);
        n_named = 0;
    }
    hits->locs = locs;
    hits->n_locs = engine->n_canon;
    if (locs && (n_named || hits->by_text)) {
        struct strobe_scan scan = {.view = engine->view,
                                   .lo = lo,
                                   .hi = hi,
                                   .locs = hits->by_text ? NULL : locs,
                                   .n_locs = engine->n_canon,
                                   .want_notes = hits->by_text,
                                   .context = hits,
                                   .zone = take_found,
                                   .max_events = MAX_EVENTS};
        strobe_scan_run(&scan);
        hits->is_cut = scan.is_cut;
        scan_tables(hits, &all, lo, hi, take_named);
    }
    free(locs);
    hits->locs = NULL;
}

static void find_messages(struct strobe_hits *hits, uint64_t lo, uint64_t hi)
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
                                   .track = strobe_track_of_thread(engine, message->thread),
                                   .what = MESSAGE,
                                   .text = strobe_texts_add(&hits->texts, text, n)});
    }
}

static void put_density(struct strobe_hits *hits, struct strobe_reply *reply, uint32_t width)
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

static void put_hit(const struct strobe_hits *hits, struct strobe_reply *reply,
                    const struct hit *hit)
{
    double begin = strobe_engine_ns(hits->engine, hit->begin);
    uint32_t n_text;
    strobe_reply_open(reply, "", '{');
    strobe_reply_string(reply, "what", what_names[hit->what]);
    strobe_reply_u64(reply, "track", hit->track);
    strobe_reply_u64(reply, "depth", hit->depth);
    strobe_reply_number(reply, "t0", begin);
    strobe_reply_number(reply, "t1",
                        begin + strobe_engine_duration(hits->engine, hit->end - hit->begin));
    strobe_reply_u64(reply, "loc", hit->loc);
    const char *text = strobe_texts_get(&hits->texts, hit->text, &n_text);
    strobe_reply_text(reply, "text", text, n_text);
    strobe_reply_close(reply, '}');
}

static void put_hits(struct strobe_hits *hits, const struct strobe_json *question,
                     struct strobe_reply *reply)
{
    uint32_t after = strobe_json_member(question, 0, "after");
    uint32_t before = strobe_json_member(question, 0, "before"), first = 0, last = hits->n;
    uint64_t limit = strobe_engine_count(question, "limit", 100, 10000);
    double at = strobe_json_number(question, after ? after : before, 0);
    while (first < last && (after || before)) { /* in ns: several ticks may be one */
        uint32_t middle = first + (last - first) / 2;
        double begin = strobe_engine_ns(hits->engine, hits->rows[middle].begin);
        if (after ? begin > at : begin >= at)
            last = middle;
        else
            first = middle + 1;
    }
    uint32_t end = after || !before ? hits->n : first;
    if (before && !after)
        first = first > limit ? first - (uint32_t)limit : 0;
    strobe_reply_u64(reply, "index", first);
    strobe_reply_open(reply, "hits", '[');
    for (uint32_t i = first; i < end && i - first < limit; i++)
        put_hit(hits, reply, &hits->rows[i]);
    strobe_reply_close(reply, ']');
}

struct naming {
    const struct strobe_hits *hits;
    struct strobe_reply *reply;
    uint32_t n;
};

static void put_named_track(void *context, const struct strobe_track_row *row)
{
    struct naming *naming = context;
    if (naming->n < 1000 && has_words(naming->hits, row->name, row->n_name)) {
        strobe_reply_u64(naming->reply, "", row->id);
        naming->n++;
    }
}

/* All that has the words, by time. */
static void find_all(struct strobe_hits *hits, const struct strobe_json *question)
{
    uint64_t lo, hi;
    strobe_engine_span(hits->engine, question, &lo, &hi);
    strobe_tables_update(&hits->engine->tables);
    find_zones(hits, question, lo, hi);
    if (wants(question, "messages"))
        find_messages(hits, lo, hi);
    sort_hits(hits, by_time);
}

void strobe_answer_find(struct strobe_engine *engine, const struct strobe_json *question,
                        struct strobe_reply *reply)
{
    static const char *const members[] = {"text", "what", "from", "to", NULL};
    char text[sizeof engine->found->text];
    size_t n_text =
        strobe_json_text(question, strobe_json_member(question, 0, "text"), text, sizeof text);
    if (!n_text) {
        strobe_answer_error(reply, "there is no text to look for");
        return;
    }
    char *key = strobe_engine_key(engine, question, members);
    struct strobe_hits *hits = keep_hits(engine, &engine->found, key);
    if (!hits) {
        strobe_answer_error(reply, strobe_err_text(STROBE_ERR_NOMEM));
        free(key);
        return;
    }
    if (!hits->key) {
        memcpy(hits->text, text, sizeof hits->text);
        hits->n_text = n_text;
        find_all(hits, question);
    }
    free(hits->key);
    hits->key = key;
    struct naming naming = {hits, reply, 0};
    uint32_t width = (uint32_t)strobe_engine_count(question, "width", 1000, 16384);
    strobe_reply_u64(reply, "total", hits->total);
    strobe_reply_bool(reply, "exact", !hits->is_cut && hits->n == hits->total);
    put_hits(hits, question, reply);
    strobe_reply_open(reply, "tracks", '[');
    if (wants(question, "tracks"))
        strobe_tracks_visit(engine, put_named_track, &naming);
    strobe_reply_close(reply, ']');
    put_density(hits, reply, width ? width : 1);
}
