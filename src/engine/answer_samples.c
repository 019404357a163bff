/* answer_samples.c - stack samples: paths and functions of a range, source lines of a function, one sample with its stack.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/tracks.h"
#include "query/sample_tree.h"
#include "query/scan.h"

enum {
    STEP = 1 << 19,      /* events that one answer looks at: a sample is a list */
    ZONE_STEP = 1 << 21, /* events that are looked at for zones */
    MAX_SPANS = 1 << 20,
    MAX_FUNCTIONS = 5000,
    MAX_NAME = 256,
};

/* What is made in steps; it is kept for the next question of the same, until nobody asks. */
struct strobe_kept_samples {
    char *key; /* owned: of the questions that it answers */
    struct strobe_sample_tree tree;
    uint32_t n_symbols;               /* when the names were looked up */
    uint32_t loc;                     /* only inside of zones of it; 0: all */
    uint32_t next_block;              /* those before were searched for them */
    struct strobe_sample_span *spans; /* owned: of the zones */
    uint32_t n_spans, spans_room;
    uint8_t has_spans, is_cut;
};

void strobe_kept_samples_free(struct strobe_kept_samples *kept)
{
    if (!kept)
        return;
    free(kept->key);
    free(kept->spans);
    strobe_sample_tree_free(&kept->tree);
    free(kept);
}

/* ---- inside of zones ---- */

struct search {
    struct strobe_engine *engine;
    struct strobe_kept_samples *kept;
    int failed;
};

static void add_span(struct search *search, uint32_t thread, uint64_t begin, uint64_t end)
{
    struct strobe_kept_samples *kept = search->kept;
    if (kept->n_spans >= MAX_SPANS) {
        kept->is_cut = 1;
        return;
    }
    struct strobe_sample_span *span =
        STROBE_ARRAY_PUSH(kept->spans, kept->n_spans, kept->spans_room);
    if (span)
        *span = (struct strobe_sample_span){thread, begin, end};
    else
        search->failed = 1;
}

static int take_zone(void *context, uint32_t thread, uint32_t loc, uint64_t loc_id,
                     const struct strobe_zone_row *zone, const struct strobe_note *note)
{
    (void)loc, (void)loc_id, (void)note;
    add_span(context, thread, zone->begin, zone->begin + zone->ticks);
    return 1;
}

/* Zones of threads that several clients saw. */
static void take_tables(struct search *search)
{
    struct strobe_engine *engine = search->engine;
    strobe_tables_update(&engine->tables);
    for (uint32_t i = 0; i < engine->tables.n_tables; i++) {
        const struct strobe_table *table = &engine->tables.tables[i];
        for (uint32_t j = 0; table->kind == STROBE_TABLE_THREAD && j < table->n_rows; j++)
            if (strobe_engine_row_loc(engine, table->rows[j].loc) == search->kept->loc)
                add_span(search, table->thread, table->rows[j].begin, table->rows[j].end);
    }
}

static int by_thread(const void *a, const void *b)
{
    const struct strobe_sample_span *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* In order, and none over another: a recursion is one span. */
static void join_spans(struct strobe_kept_samples *kept)
{
    uint32_t n = 0;
    if (kept->n_spans)
        qsort(kept->spans, kept->n_spans, sizeof *kept->spans, by_thread);
    for (uint32_t i = 0; i < kept->n_spans; i++) {
        struct strobe_sample_span span = kept->spans[i], *last = n ? &kept->spans[n - 1] : NULL;
        if (!last || last->thread != span.thread || last->end <= span.begin)
            kept->spans[n++] = span;
        else if (span.end > last->end)
            last->end = span.end;
    }
    kept->n_spans = n;
}

/* The times of the zones: a step. */
static enum strobe_err find_spans(struct strobe_engine *engine, struct strobe_kept_samples *kept)
{
    struct search search = {engine, kept, 0};
    uint8_t *locs = strobe_engine_mark(engine, kept->loc);
    if (!locs)
        return STROBE_ERR_NOMEM;
    struct strobe_scan scan = {.view = engine->view,
                               .hi = kept->tree.hi,
                               .locs = locs,
                               .n_locs = engine->trace->loc_ids.n,
                               .max_events = ZONE_STEP,
                               .context = &search,
                               .zone = take_zone,
                               .next_block = kept->next_block};
    enum strobe_err err = strobe_scan_run(&scan);
    kept->next_block = scan.next_block;
    free(locs);
    if (!err && !scan.is_cut) {
        take_tables(&search);
        join_spans(kept);
        kept->has_spans = 1;
    }
    return search.failed ? STROBE_ERR_NOMEM : err;
}

/* ---- steps ---- */

/* The one that is begun, or a new one. NULL without memory. */
static struct strobe_kept_samples *keep(struct strobe_engine *engine,
                                        const struct strobe_json *question)
{
    static const char *const members[] = {"from", "to", "tracks", "mode", "of", "loc", NULL};
    struct strobe_kept_samples *kept = engine->samples;
    char *key = strobe_engine_key(engine, question, members);
    engine->n_steps++;
    strobe_stack_symbols_load(engine->trace, &engine->symbols);
    if (kept && key && kept->n_symbols == engine->symbols.n_rows &&
        ((!kept->loc && !kept->tree.is_off) || !strcmp(kept->key, key)) &&
        !strcmp(strchr(kept->key, ' '), strchr(key, ' '))) {
        free(key);
        return kept;
    }
    strobe_kept_samples_free(kept);
    engine->samples = kept = key ? calloc(1, sizeof *kept) : NULL;
    if (!kept) {
        free(key);
        return NULL;
    }
    kept->key = key;
    kept->n_symbols = engine->symbols.n_rows;
    kept->loc = (uint32_t)strobe_engine_count(question, "loc", 0, UINT32_MAX);
    kept->tree.view = engine->view;
    kept->tree.symbols = &engine->symbols;
    kept->tree.name = engine->host ? engine->host->name_address : NULL;
    kept->tree.context = engine->host ? engine->host->context : NULL;
    strobe_engine_span(engine, question, &kept->tree.lo, &kept->tree.hi);
    kept->tree.flame.is_up =
        strobe_json_is(question, strobe_json_member(question, 0, "mode"), "up");
    kept->tree.is_off = strobe_json_is(question, strobe_json_member(question, 0, "of"), "waits");
    return kept;
}

static enum strobe_err step(struct strobe_engine *engine, const struct strobe_json *question,
                            struct strobe_kept_samples *kept)
{
    struct strobe_choice choice;
    if (kept->loc && !kept->has_spans)
        return find_spans(engine, kept);
    enum strobe_err err =
        strobe_choice_read(engine, question, &choice) ? STROBE_OK : STROBE_ERR_NOMEM;
    struct strobe_sample_tree *tree = &kept->tree;
    static const struct strobe_sample_span none;
    tree->threads = choice.threads;
    tree->n_threads = choice.n_threads;
    tree->spans = !kept->loc ? NULL : kept->spans ? kept->spans : &none;
    tree->n_spans = kept->n_spans;
    if (!err)
        err = strobe_sample_tree_step(tree, STEP);
    tree->threads = NULL;
    strobe_choice_free(&choice);
    return err;
}

/* ---- functions ---- */

double strobe_engine_weight(const struct strobe_engine *engine,
                            const struct strobe_sample_tree *tree, uint64_t weight)
{
    return tree->is_off ? strobe_engine_duration(engine, weight) : (double)weight;
}

struct ranked {
    const struct strobe_sample_tree *tree; /* borrowed */
    uint32_t function;
};

static int by_total(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    const struct strobe_sample_function *f = &x->tree->functions[x->function],
                                        *g = &y->tree->functions[y->function];
    if (f->total != g->total)
        return f->total > g->total ? -1 : 1;
    if (f->self != g->self)
        return f->self > g->self ? -1 : 1;
    return strcmp(strobe_texts_get(&x->tree->texts, f->name, NULL),
                  strobe_texts_get(&x->tree->texts, g->name, NULL));
}

static void put_text(struct strobe_reply *reply, const char *name, const struct strobe_texts *texts,
                     uint32_t text)
{
    uint32_t n;
    const char *bytes = strobe_texts_get(texts, text, &n);
    strobe_reply_text(reply, name, bytes, n);
}

/* The functions with the most samples; places[i] is the number + 1 of function i in the answer. */
static void put_functions(const struct strobe_engine *engine, const struct strobe_sample_tree *tree,
                          struct strobe_reply *reply, struct ranked *ranked, uint32_t *places)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < tree->ids.n; i++)
        if (tree->functions[i].total)
            ranked[n++] = (struct ranked){tree, i};
    qsort(ranked, n, sizeof *ranked, by_total);
    strobe_reply_u64(reply, "n_functions", n);
    n = n < MAX_FUNCTIONS ? n : MAX_FUNCTIONS;
    double *self = strobe_reply_f64(reply, "in_self", n),
           *total = strobe_reply_f64(reply, "in_total", n);
    uint32_t *line = strobe_reply_u32(reply, "line", n);
    strobe_reply_open(reply, "functions", '[');
    for (uint32_t i = 0; i < n && !reply->failed; i++) {
        const struct strobe_sample_function *function = &tree->functions[ranked[i].function];
        places[ranked[i].function] = i + 1;
        self[i] = strobe_engine_weight(engine, tree, function->self);
        total[i] = strobe_engine_weight(engine, tree, function->total);
        line[i] = function->line;
        strobe_reply_open(reply, "", '[');
        put_text(reply, "", &tree->texts, function->name);
        put_text(reply, "", &tree->texts, function->file);
        put_text(reply, "", &tree->texts, function->image);
        strobe_reply_close(reply, ']');
    }
    strobe_reply_close(reply, ']');
}

static enum strobe_err put_tree(const struct strobe_engine *engine,
                                const struct strobe_sample_tree *tree, struct strobe_reply *reply,
                                uint32_t limit)
{
    struct strobe_flame chosen = {0};
    struct ranked *ranked = calloc(tree->ids.n + 1ull, sizeof *ranked);
    uint32_t *places = calloc(tree->ids.n + 1ull, sizeof *places);
    enum strobe_err err =
        ranked && places ? strobe_flame_choose(&tree->flame, limit, &chosen) : STROBE_ERR_NOMEM;
    if (!err) {
        put_functions(engine, tree, reply, ranked, places);
        uint32_t n = chosen.n_nodes, *parent = strobe_reply_u32(reply, "parent", n),
                 *function = strobe_reply_u32(reply, "function", n);
        double *total = strobe_reply_f64(reply, "total", n),
               *self = strobe_reply_f64(reply, "self", n);
        for (uint32_t i = 0; !reply->failed && i < n; i++) {
            parent[i] = chosen.nodes[i].parent;
            function[i] = places[chosen.nodes[i].loc - 1];
            total[i] = strobe_engine_weight(engine, tree, chosen.nodes[i].total);
            self[i] = strobe_engine_weight(engine, tree, chosen.nodes[i].self);
        }
        strobe_reply_u64(reply, "left_out", chosen.n_left_out);
        if (chosen.n_levels)
            strobe_reply_u64(reply, "levels", chosen.n_levels);
    }
    strobe_flame_free(&chosen);
    free(ranked);
    free(places);
    return err;
}

/* ---- lines ---- */

static int by_line(const void *a, const void *b)
{
    const struct strobe_sample_line *x = a, *y = b;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* The function of a name; as many as there are: there is none. */
static uint32_t find_function(const struct strobe_sample_tree *tree, const char *name)
{
    uint32_t function = 0;
    while (function < tree->ids.n &&
           strcmp(strobe_texts_get(&tree->texts, tree->functions[function].name, NULL), name))
        function++;
    return function;
}

/* Lines of a function, and its source. */
static void put_lines(struct strobe_engine *engine, const struct strobe_sample_tree *tree,
                      struct strobe_reply *reply, uint32_t function)
{
    uint32_t n_lines = tree->line_ids.n, n = 0;
    struct strobe_sample_line *lines = calloc(n_lines + 1ull, sizeof *lines);
    for (uint32_t i = 0; lines && i < n_lines; i++)
        if (tree->lines[i].function == function)
            lines[n++] = tree->lines[i];
    if (n)
        qsort(lines, n, sizeof *lines, by_line);
    uint32_t *at = strobe_reply_u32(reply, "at_line", n);
    double *self = strobe_reply_f64(reply, "line_self", n),
           *total = strobe_reply_f64(reply, "line_total", n);
    for (uint32_t i = 0; i < n && !reply->failed; i++) {
        at[i] = lines[i].line;
        self[i] = strobe_engine_weight(engine, tree, lines[i].self);
        total[i] = strobe_engine_weight(engine, tree, lines[i].total);
    }
    uint32_t file = function < tree->ids.n ? tree->functions[function].file : 0;
    strobe_reply_string(reply, "file", strobe_texts_get(&tree->texts, file, NULL));
    strobe_engine_put_source(engine, reply, strobe_texts_get(&tree->texts, file, NULL));
    free(lines);
}

/* ---- answers ---- */

void strobe_engine_answer_samples(struct strobe_engine *engine, const struct strobe_json *question,
                                  struct strobe_reply *reply)
{
    struct strobe_kept_samples *kept = keep(engine, question);
    uint64_t limit = strobe_engine_count(question, "limit", 20000, STROBE_FLAME_MAX_NODES);
    char name[MAX_NAME];
    enum strobe_err err = kept ? step(engine, question, kept) : STROBE_ERR_NOMEM;
    if (!err)
        err = put_tree(engine, &kept->tree, reply, (uint32_t)limit);
    if (err) {
        strobe_engine_answer_error(reply, strobe_err_text(err));
        strobe_kept_samples_free(engine->samples);
        engine->samples = NULL;
        return;
    }
    if (strobe_json_text(question, strobe_json_member(question, 0, "function"), name,
                         sizeof name)) {
        uint32_t function = find_function(&kept->tree, name);
        put_lines(engine, &kept->tree, reply, function);
        if (function < kept->tree.ids.n && strobe_engine_count(question, "code", 0, 1))
            strobe_engine_put_code(engine, &kept->tree, reply, function);
    }
    strobe_reply_u64(reply, "n_samples", kept->tree.n_samples);
    strobe_reply_number(reply, "weight",
                        strobe_engine_weight(engine, &kept->tree, kept->tree.weight));
    strobe_reply_u64(reply, "hz", strobe_trace_sample_hz(engine->trace));
    strobe_reply_bool(reply, "is_cut", kept->is_cut);
    strobe_reply_number(reply, "share",
                        kept->loc && !kept->has_spans ? 0 : strobe_sample_tree_share(&kept->tree));
    strobe_reply_bool(reply, "exact", kept->tree.is_whole);
}

static void put_frames(struct strobe_engine *engine, struct strobe_reply *reply,
                       const struct strobe_sample_found *found)
{
    uint32_t process = engine->trace->threads[found->thread].process;
    strobe_stack_symbols_load(engine->trace, &engine->symbols);
    strobe_reply_open(reply, "stack", '[');
    for (uint32_t i = 0; i < found->n; i++)
        strobe_engine_put_frames(engine, reply, process, found->addresses[i]);
    strobe_reply_close(reply, ']');
}

void strobe_engine_answer_sample(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply)
{
    struct strobe_sample_found found = {0};
    uint32_t track = (uint32_t)strobe_json_count(question, strobe_json_member(question, 0, "track"),
                                                 0, UINT32_MAX);
    double at = strobe_json_number(question, strobe_json_member(question, 0, "at"), 0);
    double slack = strobe_json_number(question, strobe_json_member(question, 0, "slack"), 0);
    uint64_t tick = strobe_engine_tick(engine, at), last = strobe_engine_tick(engine, at + slack);
    uint32_t index = track & 0xfffffff;
    if (track >> 28 != STROBE_TRACK_THREAD || index >= engine->trace->thread_ids.n ||
        !strobe_sample_find(engine->view, index, tick, last > tick ? last - tick : 0, &found)) {
        strobe_reply_null(reply, "sample");
        return;
    }
    strobe_reply_open(reply, "sample", '{');
    strobe_reply_number(reply, "t", strobe_engine_ns(engine, found.tick));
    strobe_reply_u64(reply, "track", track);
    if (found.cpu < 65534)
        strobe_reply_u64(reply, "cpu", found.cpu);
    else
        strobe_reply_null(reply, "cpu");
    put_frames(engine, reply, &found);
    strobe_reply_close(reply, '}');
    free(found.addresses);
}
