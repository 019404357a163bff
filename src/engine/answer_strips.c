/* answer_strips.c - when threads ran, waited and were sampled, and what processors ran.  SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "engine/tracks.h"

enum { MAX_TRACKS = 4096, MAX_WIDTH = 16384, MAX_ITEMS = 1 << 20, MAX_JOINED = 16 };

/* What one row has in the range. */
struct lane {
    struct strobe_strip_row row; /* owned items */
    uint32_t track, level;
    enum strobe_strip_kind kind;
};

struct drawing {
    struct strobe_engine *engine;
    uint64_t lo, hi;
    uint32_t k;
    struct lane *lanes; /* owned */
    uint32_t n_lanes, lanes_room;
    uint64_t n_items;
};

static enum strobe_err look(struct drawing *drawing, enum strobe_strip_kind kind, uint32_t track)
{
    uint32_t numbers[MAX_JOINED];
    uint32_t n = strobe_track_strips(drawing->engine, track, kind, numbers, MAX_JOINED);
    enum strobe_err err = STROBE_OK;
    for (uint32_t i = 0; i < n && i < MAX_JOINED && !err; i++) {
        struct lane *lane =
            STROBE_ARRAY_PUSH(drawing->lanes, drawing->n_lanes, drawing->lanes_room);
        if (!lane)
            return STROBE_ERR_NOMEM;
        *lane = (struct lane){.track = track, .kind = kind};
        err = strobe_strips_look(&drawing->engine->strips, kind, numbers[i], drawing->lo,
                                 drawing->hi, drawing->k, &lane->row, &lane->level);
        drawing->n_items += lane->row.n_items;
    }
    return drawing->n_items > MAX_ITEMS ? STROBE_ERR_LIMIT : err;
}

/* As of `pixels`: the largest level at which the range has at least `width` buckets. */
static uint32_t level_of(uint64_t ticks, uint64_t width)
{
    uint32_t k = 0;
    while (k < 62 && width << (k + 1) <= ticks && width << (k + 1) >> (k + 1) == width)
        k++;
    return k;
}

/* ---- the reply ---- */

static uint32_t who_of(const struct strobe_engine *engine, uint32_t who)
{
    return who & STROBE_STRIP_FOREIGN || !who ? who : strobe_track_of_thread(engine, who - 1);
}

struct columns {
    double *t0, *t1, *sums[STROBE_STRIP_STATES];
    uint32_t *n, *cpu, *who;
    uint8_t *reason, *one;
};

static void put_item(const struct drawing *drawing, const struct lane *lane, uint32_t i,
                     const struct columns *to, uint32_t at)
{
    const struct strobe_engine *engine = drawing->engine;
    const struct strobe_strip_item *item = &lane->row.items[i];
    uint64_t length = 0;
    for (int s = 0; s < STROBE_STRIP_STATES; s++) {
        to->sums[s][at] = item->is_one ? strobe_engine_length(engine, item->at, item->ticks[s])
                                       : strobe_engine_duration(engine, item->ticks[s]);
        length += lane->kind == STROBE_STRIP_CPU && s ? 0 : item->ticks[s];
    }
    if (!item->is_one)
        length = (((item->at >> lane->level) + 1) << lane->level) - item->at;
    to->t0[at] = strobe_engine_ns(engine, item->at);
    to->t1[at] = to->t0[at] + (item->is_one ? strobe_engine_length(engine, item->at, length)
                                            : strobe_engine_duration(engine, length));
    to->n[at] = item->n;
    to->cpu[at] = item->cpu;
    bool has_who =
        lane->kind == STROBE_STRIP_CPU || (item->is_one && !item->ticks[STROBE_STRIP_RUN]);
    to->who[at] = has_who ? who_of(engine, item->who) : 0;
    to->reason[at] = item->reason;
    to->one[at] = item->is_one;
}

static void put_lanes(const struct drawing *drawing, struct strobe_reply *reply)
{
    uint32_t n = (uint32_t)drawing->n_items, at = 0;
    struct columns to = {.t0 = strobe_reply_f64(reply, "t0", n),
                         .t1 = strobe_reply_f64(reply, "t1", n),
                         .sums = {strobe_reply_f64(reply, "run", n),
                                  strobe_reply_f64(reply, "ready", n),
                                  strobe_reply_f64(reply, "wait", n)},
                         .n = strobe_reply_u32(reply, "n", n),
                         .cpu = strobe_reply_u32(reply, "cpu", n),
                         .who = strobe_reply_u32(reply, "who", n),
                         .reason = strobe_reply_u8(reply, "reason", n),
                         .one = strobe_reply_u8(reply, "one", n)};
    strobe_reply_open(reply, "lanes", '[');
    for (uint32_t i = 0; i < drawing->n_lanes && !reply->failed; i++) {
        const struct lane *lane = &drawing->lanes[i];
        strobe_reply_open(reply, "", '[');
        strobe_reply_u64(reply, "", lane->track);
        strobe_reply_u64(reply, "", lane->kind);
        strobe_reply_u64(reply, "", at);
        strobe_reply_u64(reply, "", lane->row.n_items);
        strobe_reply_u64(reply, "", lane->level);
        strobe_reply_close(reply, ']');
        for (uint32_t j = 0; j < lane->row.n_items; j++)
            put_item(drawing, lane, j, &to, at++);
    }
    strobe_reply_close(reply, ']');
}

void strobe_engine_answer_strips(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply)
{
    struct drawing drawing = {.engine = engine};
    uint64_t width = strobe_engine_count(question, "width", 1000, MAX_WIDTH);
    uint32_t list = strobe_json_member(question, 0, "tracks"), at = 0, value, n = 0;
    enum strobe_err err = strobe_strips_step(&engine->strips);
    strobe_engine_range(engine, question, &drawing.lo, &drawing.hi);
    if (drawing.lo < engine->view->tick_first)
        drawing.lo = engine->view->tick_first;
    if (drawing.hi > engine->view->tick_last)
        drawing.hi = engine->view->tick_last;
    if (drawing.hi > drawing.lo)
        drawing.k = level_of(drawing.hi - drawing.lo, width ? width : 1);
    while (!err && (value = strobe_json_next(question, list, &at)) && n++ < MAX_TRACKS) {
        uint32_t track = (uint32_t)strobe_json_count(question, value, 0, UINT32_MAX);
        if (track >> 28 == STROBE_TRACK_CPU)
            err = look(&drawing, STROBE_STRIP_CPU, track);
        else if (!(err = look(&drawing, STROBE_STRIP_THREAD, track)))
            err = look(&drawing, STROBE_STRIP_SAMPLES, track);
    }
    if (err)
        strobe_engine_answer_error(reply, strobe_err_text(err));
    else
        put_lanes(&drawing, reply);
    strobe_reply_u64(reply, "k", drawing.k);
    strobe_reply_number(reply, "share", strobe_strips_share(&engine->strips));
    strobe_reply_bool(reply, "exact", strobe_strips_share(&engine->strips) >= 1);
    for (uint32_t i = 0; i < drawing.n_lanes; i++)
        free(drawing.lanes[i].row.items);
    free(drawing.lanes);
}
