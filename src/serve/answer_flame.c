/* answer_flame.c - paths of locations, merged.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "query/flame.h"
#include "serve/engine.h"

static uint32_t number_of(void *context, uint32_t process, uint64_t loc)
{
    return strobe_engine_loc(context, process, loc);
}

static void put_nodes(struct strobe_engine *engine, struct strobe_reply *reply,
                      const struct strobe_flame *flame)
{
    const struct strobe_clock *clock = &engine->trace->clock;
    uint32_t n = flame->n_nodes;
    uint32_t *parent = strobe_reply_u32(reply, "parent", n),
             *loc = strobe_reply_u32(reply, "loc", n);
    double *count = strobe_reply_f64(reply, "count", n),
           *total = strobe_reply_f64(reply, "total", n);
    double *self = strobe_reply_f64(reply, "self", n);
    for (uint32_t i = 0; !reply->failed && i < n; i++) {
        parent[i] = flame->nodes[i].parent;
        loc[i] = flame->nodes[i].loc;
        count[i] = (double)flame->nodes[i].count;
        total[i] = (double)strobe_clock_ns(clock, flame->nodes[i].total);
        self[i] = (double)strobe_clock_ns(clock, flame->nodes[i].self);
    }
}

void strobe_answer_flame(struct strobe_engine *engine, const struct strobe_json *question,
                         struct strobe_reply *reply)
{
    struct strobe_flame flame = {.view = engine->view, .context = engine, .number = number_of};
    uint32_t n_threads;
    strobe_engine_range(engine, question, &flame.lo, &flame.hi);
    uint8_t *threads = strobe_engine_threads(engine, question, &n_threads);
    flame.threads = threads;
    flame.n_threads = n_threads;
    flame.is_up = strobe_json_is(question, strobe_json_member(question, 0, "mode"), "up");
    flame.max_nodes = (uint32_t)strobe_json_count(
        question, strobe_json_member(question, 0, "limit"), 20000, 200000);
    enum strobe_err err = strobe_flame_run(&flame);
    if (err)
        strobe_answer_error(reply, strobe_err_text(err));
    else
        put_nodes(engine, reply, &flame);
    strobe_reply_u64(reply, "left_out", flame.n_left_out);
    strobe_reply_bool(reply, "exact", !flame.is_cut);
    strobe_flame_free(&flame);
    free(threads);
}
