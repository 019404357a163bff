/* answer_find.c - search: zones by name and text, messages, tracks.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "engine/hits.h"

enum what { ZONE, TEXT, MESSAGE };
static const char *const what_names[] = {"zone", "text", "message"};

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
static void take_named(struct strobe_hits *hits, struct strobe_hit hit,
                       const struct strobe_said *said)
{
    int by_name = hit.loc && hit.loc <= hits->n_locs && hits->locs[hit.loc - 1];
    int in_name = hits->by_text && has_words(hits, said->name, said->n_name);
    int in_text = hits->by_text && has_words(hits, said->text, said->n_text);
    if (!by_name && !in_name && !in_text)
        return;
    hit.what = by_name ? ZONE : TEXT;
    strobe_hits_add(hits, hit, in_name ? said->name : said->text,
                    in_name   ? said->n_name
                    : in_text ? said->n_text
                              : 0);
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

/* Zones by name, and by their texts where the trace has some: one step. */
static enum strobe_err find_zones(struct strobe_hits *hits, const struct strobe_json *question,
                                  uint64_t lo, uint64_t hi)
{
    struct strobe_engine *engine = hits->engine;
    const struct strobe_choice all = {0};
    const struct strobe_trace_totals *totals = &strobe_file_facts(engine->trace->file)->totals;
    int n_named = 0;
    hits->by_text =
        wants(question, "texts") &&
        (!totals->has_totals || totals->n_of_kind[STROBE_KIND_ZONE_TEXT] ||
         totals->n_of_kind[STROBE_KIND_ZONE_NAME] || totals->n_of_kind[STROBE_KIND_ZONE_TEXT_AT] ||
         totals->n_of_kind[STROBE_KIND_ZONE_NAME_AT]);
    uint8_t *locs = mark_names(engine, hits, &n_named);
    if (!locs)
        return STROBE_ERR_NOMEM;
    if (!wants(question, "zones")) {
        memset(locs, 0, engine->n_canon);
        n_named = 0;
    }
    hits->locs = locs;
    hits->n_locs = engine->n_canon;
    struct strobe_scan scan = {.view = engine->view,
                               .lo = lo,
                               .hi = hi,
                               .locs = hits->by_text ? NULL : locs,
                               .n_locs = engine->n_canon,
                               .want_notes = hits->by_text};
    enum strobe_err err = STROBE_OK;
    if (n_named || hits->by_text)
        err = strobe_hits_scan(hits, &scan, &all);
    else
        hits->is_scanned = 1;
    free(locs);
    hits->locs = NULL;
    return err;
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
        strobe_hits_add(
            hits,
            (struct strobe_hit){.begin = message->tick,
                                .track = strobe_track_of_thread(engine, message->thread),
                                .what = MESSAGE},
            text, n);
        hits->n_of_tables++;
    }
}

static void put_density(struct strobe_hits *hits, struct strobe_reply *reply, uint32_t width)
{
    const struct strobe_view *view = hits->engine->view;
    uint32_t *density = strobe_reply_u32(reply, "density", width);
    if (!density || view->tick_first > view->tick_last)
        return;
    double scale = (double)width / ((double)(view->tick_last - view->tick_first) + 1);
    uint32_t n = hits->is_cut ? STROBE_HITS_BINS : hits->n;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t tick = hits->is_cut ? ((hits->bins_from + i) << hits->bins_shift) +
                                           (1ull << hits->bins_shift) / 2
                                     : hits->rows[i].begin;
        uint64_t at =
            tick > view->tick_first ? (uint64_t)((double)(tick - view->tick_first) * scale) : 0;
        density[at < width ? at : width - 1] += hits->is_cut ? hits->bins[i] : 1;
    }
}

static void put_hit(const struct strobe_hits *hits, struct strobe_reply *reply,
                    const struct strobe_hit *hit)
{
    double begin = strobe_engine_ns(hits->engine, hit->begin);
    uint32_t n_text;
    strobe_reply_open(reply, "", '{');
    strobe_reply_string(reply, "what", what_names[hit->what]);
    strobe_reply_u64(reply, "track", hit->track);
    strobe_reply_u64(reply, "depth", hit->depth);
    strobe_reply_number(reply, "t0", begin);
    strobe_reply_number(reply, "t1", begin + (double)hit->ns);
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

/* All that has the words, by time: one step. */
static enum strobe_err find_all(struct strobe_hits *hits, const struct strobe_json *question)
{
    uint64_t lo, hi;
    if (hits->is_whole)
        return STROBE_OK;
    strobe_engine_span(hits->engine, question, &lo, &hi);
    strobe_tables_update(&hits->engine->tables);
    enum strobe_err err = find_zones(hits, question, lo, hi);
    if (err || !hits->is_scanned || strobe_tables_share(&hits->engine->tables) < 1)
        return err; /* messages are read in steps, too */
    if (wants(question, "messages"))
        find_messages(hits, lo, hi);
    hits->is_whole = 1;
    return err;
}

void strobe_engine_answer_find(struct strobe_engine *engine, const struct strobe_json *question,
                               struct strobe_reply *reply)
{
    static const char *const members[] = {"text", "what", "from", "to", NULL};
    char text[sizeof engine->found->text];
    size_t n_text =
        strobe_json_text(question, strobe_json_member(question, 0, "text"), text, sizeof text);
    if (!n_text) {
        strobe_engine_answer_error(reply, "there is no text to look for");
        return;
    }
    struct strobe_hits *hits =
        strobe_hits_keep(engine, &engine->found, strobe_engine_key(engine, question, members), 0, 0,
                         STROBE_HITS_FOUND);
    enum strobe_err err = hits ? STROBE_OK : STROBE_ERR_NOMEM;
    if (hits) {
        hits->take = take_named;
        memcpy(hits->text, text, sizeof hits->text);
        hits->n_text = n_text;
        err = find_all(hits, question);
    }
    if (err) {
        strobe_engine_answer_error(reply, strobe_err_text(err));
        return;
    }
    strobe_hits_settle(hits);
    struct naming naming = {hits, reply, 0};
    uint32_t width = (uint32_t)strobe_engine_count(question, "width", 1000, 16384);
    strobe_reply_u64(reply, "total", hits->total);
    strobe_reply_bool(reply, "exact", hits->is_whole && hits->n == hits->total);
    strobe_reply_bool(reply, "whole", hits->is_whole);
    strobe_reply_number(reply, "share", strobe_hits_share(hits));
    strobe_reply_u64(reply, "listed", hits->n);
    put_hits(hits, question, reply);
    strobe_reply_open(reply, "tracks", '[');
    if (wants(question, "tracks") && !strobe_strips_step(&engine->strips))
        strobe_tracks_visit(engine, put_named_track, &naming);
    strobe_reply_close(reply, ']');
    put_density(hits, reply, width ? width : 1);
}
