/* answer_flame.c - paths of locations, merged.  SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "engine/tracks.h"
#include "query/flame.h"

static uint32_t number_of(void *context, uint32_t process, uint64_t loc)
{
    return strobe_engine_loc(context, process, loc);
}

static uint32_t number_of_row(void *context, uint64_t loc)
{
    return strobe_engine_row_loc(context, loc);
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

/* ---- steps ---- */

enum { STEP = 1 << 19 }; /* events that one answer looks at */

/* A flame graph that is made in steps; it is given up when it is whole, or when another one is asked for. */
struct strobe_kept_flame {
    char *key; /* owned: of the questions that it answers */
    struct strobe_flame flame;
    uint32_t next_table;   /* those before were looked at, or are */
    uint64_t paired_bytes; /* as the tables had it then */
    int is_over;           /* all were */
};

/* Fibers and threads with several tracks, once all threads were looked at. */
static enum strobe_err add_tables(struct strobe_engine *engine, const struct strobe_choice *choice,
                                  struct strobe_kept_flame *kept)
{
    const struct strobe_tables *tables = &engine->tables;
    uint64_t most = STEP;
    enum strobe_err err = strobe_flame_step_rows(&kept->flame, &most);
    while (most && kept->next_table < tables->n_tables && !err) {
        uint32_t i = kept->next_table++;
        const struct strobe_table *table = &tables->tables[i];
        if ((table->kind != STROBE_TABLE_FIBER && table->kind != STROBE_TABLE_THREAD) ||
            !strobe_choice_has_table(choice, engine, i))
            continue;
        const struct strobe_rows_place place = strobe_table_place(tables, table);
        err = strobe_flame_start_rows(&kept->flame, &place);
        if (!err)
            err = strobe_flame_step_rows(&kept->flame, &most);
    }
    kept->is_over = !kept->flame.rows && kept->next_table == tables->n_tables;
    return err;
}

void strobe_kept_flame_free(struct strobe_kept_flame *kept)
{
    if (!kept)
        return;
    free(kept->key);
    strobe_flame_free(&kept->flame);
    free(kept);
}

/* 1: rows that it was looking at are no longer where they were. */
static int has_moved(const struct strobe_engine *engine, const struct strobe_kept_flame *kept)
{
    return kept->next_table && kept->paired_bytes != engine->tables.paired_bytes;
}

/* The one that is begun, or a new one. NULL without memory. A key begins with how far the file had grown: it goes on. */
static struct strobe_kept_flame *keep(struct strobe_engine *engine,
                                      const struct strobe_json *question)
{
    static const char *const members[] = {"from", "to", "tracks", "mode", NULL};
    struct strobe_kept_flame *kept = engine->flame;
    char *key = strobe_engine_key(engine, question, members);
    engine->n_steps++;
    if (kept && key && !has_moved(engine, kept) &&
        !strcmp(strchr(kept->key, ' '), strchr(key, ' '))) {
        free(key);
        return kept;
    }
    strobe_kept_flame_free(kept);
    engine->flame = kept = key ? calloc(1, sizeof *kept) : NULL;
    if (!kept) {
        free(key);
        return NULL;
    }
    kept->key = key;
    kept->flame = (struct strobe_flame){
        .view = engine->view, .context = engine, .number = number_of, .row_number = number_of_row};
    strobe_engine_span(engine, question, &kept->flame.lo, &kept->flame.hi);
    kept->flame.is_up = strobe_json_is(question, strobe_json_member(question, 0, "mode"), "up");
    return kept;
}

static enum strobe_err step(struct strobe_engine *engine, const struct strobe_json *question,
                            struct strobe_kept_flame *kept)
{
    struct strobe_choice choice;
    struct strobe_flame *flame = &kept->flame;
    enum strobe_err err =
        strobe_choice_read(engine, question, &choice) ? STROBE_OK : STROBE_ERR_NOMEM;
    flame->threads = choice.threads;
    flame->n_threads = choice.n_threads;
    if (!err && !flame->is_whole)
        err = strobe_flame_step(flame, STEP);
    if (!err && flame->is_whole) {
        kept->paired_bytes = engine->tables.paired_bytes;
        err = add_tables(engine, &choice, kept);
    }
    flame->threads = NULL;
    strobe_choice_free(&choice);
    return err;
}

/* How much was looked at: 0 to 1. */
static double share_of(const struct strobe_engine *engine, const struct strobe_kept_flame *kept)
{
    double share = strobe_flame_share(&kept->flame);
    return !kept->flame.is_whole ? share
           : kept->is_over       ? 1
                                 : kept->next_table / (engine->tables.n_tables + 1.0);
}

void strobe_engine_answer_flame(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply)
{
    struct strobe_flame chosen = {0};
    enum strobe_err err = strobe_tables_update(&engine->tables);
    struct strobe_kept_flame *kept = keep(engine, question);
    uint64_t limit = strobe_engine_count(question, "limit", 20000, STROBE_FLAME_MAX_NODES);
    if (!err)
        err = kept ? step(engine, question, kept) : STROBE_ERR_NOMEM;
    if (!err)
        err = strobe_flame_choose(&kept->flame, (uint32_t)limit, &chosen);
    if (err) {
        strobe_engine_answer_error(reply, strobe_err_text(err));
    } else {
        put_nodes(engine, reply, &chosen);
        strobe_reply_number(reply, "share", share_of(engine, kept));
    }
    strobe_reply_u64(reply, "left_out", chosen.n_left_out);
    if (chosen.n_levels)
        strobe_reply_u64(reply, "levels", chosen.n_levels);
    strobe_reply_number(reply, "total",
                        (double)strobe_clock_ns(&engine->trace->clock, chosen.total));
    strobe_reply_bool(reply, "exact", err || kept->is_over);
    strobe_flame_free(&chosen);
    if (err || kept->is_over) {
        strobe_kept_flame_free(engine->flame);
        engine->flame = NULL;
    }
}
