/* answer_ghosts.c - zones that nobody marked, of a thread's samples.  SPDX-License-Identifier: MIT */
#include "query/ghosts.h"
#include "engine/tracks.h"

enum { MOST_SAMPLES = 5000, NO_RATE_HZ = 1000 };

static void put_names(const struct strobe_sample_tree *names, struct strobe_reply *reply)
{
    strobe_reply_open(reply, "functions", '[');
    for (uint32_t i = 0; i < names->ids.n; i++) {
        uint32_t n;
        const char *text = strobe_texts_get(&names->texts, names->functions[i].name, &n);
        strobe_reply_text(reply, "", text, n);
    }
    strobe_reply_close(reply, ']');
}

static void put_rows(const struct strobe_engine *engine, const struct strobe_ghosts *ghosts,
                     struct strobe_reply *reply)
{
    uint32_t n = ghosts->n_rows;
    double *t0 = strobe_reply_f64(reply, "t0", n), *t1 = strobe_reply_f64(reply, "t1", n);
    uint32_t *depth = strobe_reply_u32(reply, "depth", n),
             *function = strobe_reply_u32(reply, "function", n),
             *count = strobe_reply_u32(reply, "n", n);
    for (uint32_t i = 0; i < n && !reply->failed; i++) {
        const struct strobe_ghost *ghost = &ghosts->rows[i];
        t0[i] = strobe_engine_ns(engine, ghost->begin);
        t1[i] = t0[i] + strobe_engine_length(engine, ghost->begin, ghost->end - ghost->begin);
        depth[i] = ghost->depth;
        function[i] = ghost->function;
        count[i] = ghost->n;
    }
}

void strobe_engine_answer_ghosts(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply)
{
    uint32_t track = (uint32_t)strobe_engine_count(question, "track", 0, UINT32_MAX);
    uint64_t hz = strobe_trace_sample_hz(engine->trace);
    double period = 1e9 / (double)(hz ? hz : NO_RATE_HZ);
    struct strobe_sample_tree names = {.view = engine->view,
                                       .symbols = &engine->symbols,
                                       .name = engine->host ? engine->host->name_address : NULL,
                                       .context = engine->host ? engine->host->context : NULL};
    struct strobe_ghosts ghosts = {
        .view = engine->view,
        .names = &names,
        .thread = track & 0xfffffff,
        .period = strobe_engine_tick(engine, period) - strobe_engine_tick(engine, 0),
        .max_samples = (uint32_t)strobe_engine_count(question, "limit", MOST_SAMPLES, 100000)};
    strobe_engine_range(engine, question, &ghosts.lo, &ghosts.hi);
    enum strobe_err err = STROBE_OK;
    if (track >> 28 == STROBE_TRACK_THREAD && ghosts.thread < engine->trace->thread_ids.n)
        err = strobe_stack_symbols_load(engine->trace, &engine->symbols);
    else
        ghosts.is_cut = 1;
    if (!err && !ghosts.is_cut)
        err = strobe_ghosts_run(&ghosts);
    if (err)
        strobe_engine_answer_error(reply, strobe_err_text(err));
    if (ghosts.is_cut)
        ghosts.n_rows = ghosts.n_depths = 0;
    put_rows(engine, &ghosts, reply);
    put_names(&names, reply);
    strobe_reply_u64(reply, "n_depths", ghosts.n_depths);
    strobe_reply_bool(reply, "exact", !ghosts.is_cut);
    strobe_ghosts_free(&ghosts);
    strobe_sample_tree_free(&names);
}
