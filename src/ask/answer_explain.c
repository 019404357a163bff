/* answer_explain.c - where the time went: the statements of `strobe explain`, and the path itself, to be drawn.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "ask/asker.h"
#include "engine/tracks.h"

/* Times of the path, the tracks that it is on, what it is spent with. */
static void put_path(const struct strobe_explain *explain, struct strobe_reply *reply)
{
    uint32_t n = explain->n_stretches;
    double *t0 = strobe_reply_f64(reply, "t0", n), *t1 = strobe_reply_f64(reply, "t1", n);
    uint32_t *track = strobe_reply_u32(reply, "track", n);
    uint8_t *class = strobe_reply_u8(reply, "class", n);
    for (uint32_t i = 0; t0 && t1 && track && class && i < n; i++) {
        const struct strobe_explain_stretch *stretch = &explain->stretches[i];
        t0[i] = (double)stretch->from_ns;
        t1[i] = (double)stretch->to_ns;
        track[i] = strobe_track_id(STROBE_TRACK_THREAD, stretch->thread);
        class[i] = stretch->class;
    }
    strobe_reply_u64(reply, "least_ns", explain->least_ns);
    strobe_reply_open(reply, "classes", '[');
    for (int i = 0; i < STROBE_PATH_N_CLASSES; i++)
        strobe_reply_string(reply, "", strobe_explain_path_name((enum strobe_path_class)i));
    strobe_reply_close(reply, ']');
}

/* A time of the question, within what ticks can be. */
static int64_t read_ns(const struct strobe_json *question, uint32_t value, double otherwise)
{
    const double most = 4e18;
    double ns = strobe_json_number(question, value, otherwise);
    return (int64_t)(ns > most ? most : ns < -most ? -most : ns);
}

void strobe_ask_answer_explain(struct strobe_asker *asker, const struct strobe_json *question,
                               struct strobe_reply *reply)
{
    char zone[512];
    struct strobe_explain explain = {0};
    uint32_t from = strobe_json_member(question, 0, "from"),
             to = strobe_json_member(question, 0, "to");
    size_t n_zone =
        strobe_json_text(question, strobe_json_member(question, 0, "zone"), zone, sizeof zone);
    const struct strobe_explain_options options = {.by_time = from || to,
                                                   .from_ns = read_ns(question, from, -4e18),
                                                   .to_ns = read_ns(question, to, 4e18),
                                                   .zone = n_zone ? zone : NULL,
                                                   .with_path = 1,
                                                   .stop = &asker->stop};
    strobe_asker_rest(asker); /* SQLite's memory is one for all: none is held meanwhile */
    enum strobe_err err = strobe_explain_run(asker->path, &options, &explain);
    if (err) {
        strobe_ask_say_failed(asker, asker->path, err, reply);
    } else {
        strobe_explain_write(&explain, strobe_reply_writer(reply));
        put_path(&explain, reply);
    }
    strobe_explain_free(&explain);
}
