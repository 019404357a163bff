/* engine.c - opening a trace for questions, numbers of locations and tracks, and who answers what.
 * SPDX-License-Identifier: MIT */
#include "engine/engine.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- locations ---- */

/* Without memory a location is its own first. */
static uint32_t find_canon(struct strobe_engine *engine, uint32_t loc)
{
    const struct strobe_loc_row *locs = engine->trace->locs;
    uint64_t hash = strobe_loc_hash(&locs[loc], strobe_index_seed(&engine->firsts));
    STROBE_INDEX_EACH (first, at, &engine->firsts, hash)
        if (strobe_loc_same(&locs[loc], &locs[first]))
            return first + 1;
    strobe_index_add(&engine->firsts, hash, loc);
    return loc + 1;
}

/* In the order of the records, so that every engine gives the same numbers. */
static void number_locs(struct strobe_engine *engine)
{
    uint32_t n = engine->trace->loc_ids.n;
    if (n && !strobe_rows_reach((void **)&engine->canon, &engine->canon_room, n - 1,
                                sizeof *engine->canon))
        return;
    for (; engine->n_canon < n; engine->n_canon++)
        engine->canon[engine->n_canon] = find_canon(engine, engine->n_canon);
}

uint32_t strobe_engine_loc(struct strobe_engine *engine, uint32_t process, uint64_t id)
{
    uint32_t loc = strobe_trace_loc(engine->trace, process, id);
    if (loc == STROBE_IDMAP_NONE) /* no record names it */
        return 0x80000000u | (process & 0x7ff) << 20 | (uint32_t)(id & 0xfffff);
    return loc < engine->n_canon ? engine->canon[loc] : loc + 1;
}

uint32_t strobe_engine_row_loc(struct strobe_engine *engine, uint64_t loc)
{
    if (loc & STROBE_TABLE_NO_LOC)
        return 0;
    return strobe_engine_loc(engine, (uint32_t)(loc >> 40), loc & ((1ull << 40) - 1));
}

uint8_t *strobe_engine_mark(const struct strobe_engine *engine, uint32_t number)
{
    uint8_t *locs = calloc(engine->n_canon + 1ull, 1);
    for (uint32_t i = 0; locs && i < engine->n_canon; i++)
        locs[i] = engine->canon[i] == number;
    return locs;
}

/* ---- time ---- */

double strobe_engine_ns(const struct strobe_engine *engine, uint64_t tick)
{
    return (double)strobe_clock_rel(&engine->trace->clock, tick);
}

double strobe_engine_duration(const struct strobe_engine *engine, uint64_t ticks)
{
    return (double)strobe_clock_ns(&engine->trace->clock, ticks);
}

double strobe_engine_length(const struct strobe_engine *engine, uint64_t tick, uint64_t ticks)
{
    return (double)strobe_clock_span_ns(&engine->trace->clock, tick, ticks);
}

uint64_t strobe_engine_tick(const struct strobe_engine *engine, double ns)
{
    if (ns > 9e18)
        return UINT64_MAX;
    if (ns < -9e18)
        return 0;
    return strobe_clock_tick_of(&engine->trace->clock, (int64_t)ceil(ns));
}

int strobe_engine_range(struct strobe_engine *engine, const struct strobe_json *question,
                        uint64_t *lo, uint64_t *hi)
{
    uint32_t from = strobe_json_member(question, 0, "from");
    uint32_t to = strobe_json_member(question, 0, "to");
    *lo = from ? strobe_engine_tick(engine, strobe_json_number(question, from, -1e300)) : 0;
    *hi = to ? strobe_engine_tick(engine, strobe_json_number(question, to, 1e300)) : UINT64_MAX;
    return from || to;
}

int strobe_engine_span(struct strobe_engine *engine, const struct strobe_json *question,
                       uint64_t *lo, uint64_t *hi)
{
    int is_named = strobe_engine_range(engine, question, lo, hi);
    if (!strobe_json_member(question, 0, "to"))
        return is_named;
    if (*hi > *lo)
        --*hi;
    else
        *lo = 1, *hi = 0; /* nothing is in it */
    return is_named;
}

uint64_t strobe_engine_count(const struct strobe_json *question, const char *name,
                             uint64_t otherwise, uint64_t max)
{
    return strobe_json_count(question, strobe_json_member(question, 0, name), otherwise, max);
}

int strobe_engine_is_reversed(const struct strobe_json *question)
{
    return strobe_json_is(question, strobe_json_member(question, 0, "order"), "reversed");
}

char *strobe_engine_key(const struct strobe_engine *engine, const struct strobe_json *question,
                        const char *const *members)
{
    struct strobe_out key = {0};
    strobe_out_u(&key, engine->n_grown);
    for (; *members; members++) {
        uint32_t value = strobe_json_member(question, 0, *members);
        strobe_out_format(&key, " %s ", *members);
        if (value)
            strobe_json_put(question, value, &key);
    }
    if (key.error)
        strobe_out_free(&key);
    return key.at;
}

/* ---- names of addresses ---- */

uint32_t strobe_engine_functions(void *context, uint32_t process, uint64_t address, char *room,
                                 size_t n_room)
{
    struct strobe_engine *engine = context;
    const struct strobe_engine_host *host = engine->host;
    uint32_t n = 0;
    if (host && host->name_address && !strobe_stack_symbol_of(&engine->symbols, process, address))
        n = host->name_address(host->context, process, address, room, n_room);
    if (n)
        return n;
    return strobe_stack_functions(engine->trace, &engine->symbols, process, address, room, n_room);
}

/* ---- questions ---- */

void strobe_engine_answer_error(struct strobe_reply *reply, const char *why)
{
    strobe_reply_string(reply, "error", why);
}

static int lower(char c)
{
    return tolower((unsigned char)c);
}

int strobe_text_has(const char *text, size_t n_text, const char *part, size_t n_part)
{
    for (size_t i = 0; n_part <= n_text && i <= n_text - n_part; i++) {
        size_t k = 0;
        while (k < n_part && lower(text[i + k]) == lower(part[k]))
            k++;
        if (k == n_part)
            return 1;
    }
    return 0;
}

typedef void (*answerer)(struct strobe_engine *, const struct strobe_json *, struct strobe_reply *);

static void answer_trace(struct strobe_engine *engine, const struct strobe_json *question,
                         struct strobe_reply *reply)
{
    (void)question;
    strobe_engine_answer_trace(engine, reply);
}

static const struct {
    const char *ask;
    answerer answer;
    int is_slow;
} answers[] = {
    {"trace", answer_trace, 0},
    {"names", strobe_engine_answer_names, 0},
    {"pixels", strobe_engine_answer_pixels, 0},
    {"strips", strobe_engine_answer_strips, 0},
    {"zone", strobe_engine_answer_zone, 0},
    {"step", strobe_engine_answer_step, 0},
    {"source", strobe_engine_answer_source, 0},
    {"messages", strobe_engine_answer_messages, 0},
    {"frames", strobe_engine_answer_frames, 0},
    {"images", strobe_engine_answer_images, 0},
    {"image", strobe_engine_answer_image, 0},
    {"flows", strobe_engine_answer_flows, 0},
    {"colors", strobe_engine_answer_colors, 1},
    {"stats", strobe_engine_answer_stats, 1},
    {"histogram", strobe_engine_answer_histogram, 1},
    {"instances", strobe_engine_answer_instances, 1},
    {"flame", strobe_engine_answer_flame, 1},
    {"find", strobe_engine_answer_find, 1},
    {"ops", strobe_engine_answer_ops, 1},
    {"cores", strobe_engine_answer_cores, 1},
    {"regions", strobe_engine_answer_regions, 1},
    {"memory", strobe_engine_answer_memory, 1},
    {"locks", strobe_engine_answer_locks, 1},
    {"clocks", strobe_engine_answer_clocks, 1},
    {"samples", strobe_engine_answer_samples, 1},
    {"sample", strobe_engine_answer_sample, 0},
    {"ghosts", strobe_engine_answer_ghosts, 0},
};

int strobe_engine_is_slow(const struct strobe_json *question)
{
    uint32_t ask = strobe_json_member(question, 0, "ask");
    for (size_t i = 0; ask && i < sizeof answers / sizeof answers[0]; i++)
        if (strobe_json_is(question, ask, answers[i].ask))
            return answers[i].is_slow;
    return 0;
}

void strobe_engine_answer(struct strobe_engine *engine, const struct strobe_json *question,
                          struct strobe_reply *reply)
{
    uint32_t ask = strobe_json_member(question, 0, "ask");
    const struct strobe_reply then = *reply;
    for (size_t i = 0; ask && i < sizeof answers / sizeof answers[0]; i++)
        if (strobe_json_is(question, ask, answers[i].ask)) {
            answers[i].answer(engine, question, reply);
            if (strobe_tables_mend(&engine->tables)) { /* the answer lacks what is damaged */
                engine->n_grown++;
                strobe_reply_take_back(reply, &then);
                answers[i].answer(engine, question, reply);
            }
            strobe_tables_rest(&engine->tables);
            return;
        }
    strobe_engine_answer_error(reply, "there is no such question");
}

/* ---- opening ---- */

void strobe_engine_hold(struct strobe_engine *engine)
{
    engine->tables.is_held = engine->strips.is_held = 1;
}

enum strobe_err strobe_engine_open(struct strobe_trace *trace, const char *name,
                                   struct strobe_engine **out)
{
    *out = NULL;
    struct strobe_engine *engine = calloc(1, sizeof *engine);
    if (!engine) {
        strobe_trace_close(trace);
        return STROBE_ERR_NOMEM;
    }
    engine->trace = trace;
    engine->name = strdup(name);
    enum strobe_err err =
        engine->name ? strobe_view_open(engine->trace, &engine->view) : STROBE_ERR_NOMEM;
    if (err) {
        strobe_engine_close(engine);
        return err;
    }
    engine->tables.view = engine->strips.view = engine->view;
    number_locs(engine);
    *out = engine;
    return STROBE_OK;
}

void strobe_engine_close(struct strobe_engine *engine)
{
    if (!engine)
        return;
    strobe_tables_free(&engine->tables);
    strobe_strips_free(&engine->strips);
    strobe_stack_symbols_free(&engine->symbols);
    strobe_hits_free(engine->found);
    strobe_hits_free(engine->instances);
    strobe_kept_stats_free(engine->stats);
    strobe_kept_flame_free(engine->flame);
    strobe_kept_regions_free(engine->regions);
    strobe_kept_memory_free(engine->memory);
    strobe_kept_locks_free(engine->locks);
    strobe_kept_samples_free(engine->samples);
    if (engine->ops)
        strobe_ops_free(engine->ops);
    free(engine->ops);
    strobe_view_close(engine->view);
    strobe_trace_close(engine->trace);
    free(engine->canon);
    strobe_index_free(&engine->firsts);
    free(engine->name);
    free(engine);
}

enum strobe_err strobe_engine_refresh(struct strobe_engine *engine, int *grown)
{
    enum strobe_err err = strobe_view_refresh(engine->view, grown);
    if (!err)
        number_locs(engine);
    engine->n_grown += *grown != 0;
    return err;
}

void strobe_engine_rest(struct strobe_engine *engine)
{
    strobe_kept_flame_free(engine->flame);
    engine->flame = NULL;
    strobe_kept_samples_free(engine->samples);
    engine->samples = NULL;
}

int strobe_engine_give_up(struct strobe_engine *engine, uint64_t now_ms, uint64_t after_ms)
{
    if (engine->n_timed != engine->n_steps) {
        engine->n_timed = engine->n_steps;
        engine->stepped_ms = now_ms;
    }
    if ((!engine->flame && !engine->samples) || now_ms - engine->stepped_ms < after_ms)
        return 0;
    strobe_engine_rest(engine);
    return 1;
}
