/* answer_instances.c - the zones of one location, one by one.  SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "engine/hits.h"

static void take_instance(struct strobe_hits *hits, struct strobe_hit hit,
                          const struct strobe_said *said)
{
    double ns = (double)hit.ns;
    if (hit.loc == hits->number && ns >= hits->min && ns <= hits->max)
        strobe_hits_add(hits, hit, said->text, said->n_text);
}

static void put_instances(const struct strobe_hits *hits, struct strobe_reply *reply, uint32_t n)
{
    struct strobe_engine *engine = hits->engine;
    double *t0 = strobe_reply_f64(reply, "t0", n), *t1 = strobe_reply_f64(reply, "t1", n);
    double *self = strobe_reply_f64(reply, "self", n);
    uint32_t *track = strobe_reply_u32(reply, "track", n),
             *depth = strobe_reply_u32(reply, "depth", n), n_text;
    strobe_reply_open(reply, "texts", '[');
    for (uint32_t i = 0; !reply->failed && i < n; i++) {
        const struct strobe_hit *hit = &hits->rows[i];
        t0[i] = strobe_engine_ns(engine, hit->begin);
        t1[i] = t0[i] + (double)hit->ns;
        self[i] = strobe_engine_length(engine, hit->begin, hit->self);
        track[i] = hit->track;
        depth[i] = hit->depth;
        const char *text = strobe_texts_get(&hits->texts, hit->text, &n_text);
        strobe_reply_text(reply, "", text, n_text);
    }
    strobe_reply_close(reply, ']');
}

/* One step. */
static enum strobe_err find_instances(struct strobe_hits *hits, const struct strobe_json *question)
{
    struct strobe_engine *engine = hits->engine;
    int is_named = !(hits->number >> 31);
    uint8_t *locs = is_named ? strobe_engine_mark(engine, hits->number) : NULL;
    struct strobe_choice choice;
    struct strobe_scan scan = {
        .view = engine->view, .locs = locs, .n_locs = engine->n_canon, .want_notes = 1};
    strobe_tables_update(&engine->tables);
    strobe_engine_span(engine, question, &scan.lo, &scan.hi);
    enum strobe_err err = strobe_choice_read(engine, question, &choice) && (locs || !is_named)
                              ? STROBE_OK
                              : STROBE_ERR_NOMEM;
    scan.threads = choice.threads;
    scan.n_threads = choice.n_threads;
    if (!err)
        err = strobe_hits_scan(hits, &scan, &choice);
    hits->is_whole = hits->is_scanned;
    free(locs);
    strobe_choice_free(&choice);
    return err;
}

void strobe_engine_answer_instances(struct strobe_engine *engine,
                                    const struct strobe_json *question, struct strobe_reply *reply)
{
    static const char *const members[] = {"loc", "from", "to", "tracks", "min", "max", NULL};
    int by_length = strobe_json_is(question, strobe_json_member(question, 0, "sort"), "duration");
    uint32_t limit = (uint32_t)strobe_engine_count(question, "limit", 1000, STROBE_HITS_MAX);
    struct strobe_hits *hits =
        strobe_hits_keep(engine, &engine->instances, strobe_engine_key(engine, question, members),
                         by_length, strobe_engine_is_reversed(question), limit);
    enum strobe_err err = hits ? STROBE_OK : STROBE_ERR_NOMEM;
    if (hits) {
        hits->take = take_instance;
        hits->number = (uint32_t)strobe_engine_count(question, "loc", 0, UINT32_MAX);
        hits->min = strobe_json_number(question, strobe_json_member(question, 0, "min"), -1);
        hits->max = strobe_json_number(question, strobe_json_member(question, 0, "max"), 1e300);
        err = find_instances(hits, question);
    }
    if (err) {
        strobe_engine_answer_error(reply, strobe_err_text(err));
        return;
    }
    strobe_hits_settle(hits);
    strobe_reply_u64(reply, "total", hits->total);
    strobe_reply_bool(reply, "exact", hits->is_whole);
    strobe_reply_number(reply, "share", strobe_hits_share(hits));
    put_instances(hits, reply, hits->n < limit ? hits->n : limit);
}
