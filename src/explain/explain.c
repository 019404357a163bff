/* explain.c - opens the trace, walks its path, has the statements made.  SPDX-License-Identifier: MIT */
#include "explain/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "explain/desk.h"

static const char *const class_names[] = {
    "",       "lock contention",        "slow member", "allocations", "waits outside of the trace",
    "kernel", "device starved by host", "processors",  "work",        "not known"};
static const char *const topic_names[] = {"cause",   "place", "wait",     "device",
                                          "outlier", "loss",  "overhead", "lack"};

static const char *const path_names[] = {"running",
                                         "in kernels of a device",
                                         "waiting for a processor",
                                         "in locks that were handed over",
                                         "waiting for a disk",
                                         "waiting for what is not in the trace",
                                         "waiting, for whom is not known",
                                         "leaving barriers",
                                         "between launch and kernel"};
static_assert(sizeof path_names / sizeof path_names[0] == STROBE_PATH_N_CLASSES, "a word for each");

const char *strobe_explain_class_name(enum strobe_explain_class class)
{
    STROBE_ASSERT(class < sizeof class_names / sizeof class_names[0]);
    return class_names[class];
}

const char *strobe_explain_topic_name(enum strobe_explain_topic topic)
{
    STROBE_ASSERT(topic < sizeof topic_names / sizeof topic_names[0]);
    return topic_names[topic];
}

const char *strobe_explain_path_name(enum strobe_path_class class)
{
    STROBE_ASSERT(class < STROBE_PATH_N_CLASSES);
    return path_names[class];
}

const char *strobe_explain_text(const struct strobe_explain *explain, uint32_t text)
{
    return text ? strobe_texts_get(&explain->texts, text, NULL) : "";
}

uint64_t strobe_explain_ns(const struct strobe_explain_desk *desk, uint64_t ticks)
{
    return strobe_clock_ns(&desk->trace->clock, ticks);
}

const char *strobe_explain_zone(const struct strobe_explain_desk *desk, uint32_t loc,
                                char room[STROBE_NAME_ROOM])
{
    uint32_t n;
    return loc == STROBE_IDMAP_NONE ? "(no zone)"
                                    : strobe_trace_loc_name(desk->trace, loc, 0, room, &n);
}

/* ---- queries ---- */

void strobe_explain_quote(struct strobe_out *out, const char *text)
{
    strobe_out_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            strobe_out_char(out, '\'');
        strobe_out_char(out, *text);
    }
    strobe_out_char(out, '\'');
}

void strobe_explain_put_range(struct strobe_explain_desk *desk, const char *column)
{
    if (desk->options->by_time)
        strobe_out_format(&desk->query, " AND %s BETWEEN %lld AND %lld", column,
                          (long long)desk->explain->from_ns, (long long)desk->explain->to_ns);
}

struct answer {
    int64_t *values;
    uint32_t n, max;
};

static enum strobe_err take_head(void *context, const char *const *names, unsigned n_columns)
{
    (void)context, (void)names, (void)n_columns;
    return STROBE_OK;
}

static enum strobe_err take_row(void *context, const struct strobe_sql_value *values,
                                unsigned n_columns)
{
    struct answer *answer = context;
    if (n_columns && answer->n < answer->max && values[0].type != STROBE_SQL_NULL)
        answer->values[answer->n++] =
            values[0].type == STROBE_SQL_REAL ? (int64_t)values[0].d : values[0].i;
    return STROBE_OK;
}

static enum strobe_err take_end(void *context, uint64_t n_rows)
{
    (void)context, (void)n_rows;
    return STROBE_OK;
}

uint32_t strobe_explain_ask(struct strobe_explain_desk *desk, const char *query, int64_t *values,
                            uint32_t max)
{
    struct answer answer = {values, 0, max};
    const struct strobe_sql_sink sink = {&answer, take_head, take_row, take_end};
    if (desk->err)
        return 0;
    enum strobe_err err = strobe_sql_run(desk->sql, query, &sink);
    /* a question that takes too long, or a name with bytes that are no text, leaves a line without its number */
    if (err && err != STROBE_ERR_LIMIT && err != STROBE_ERR_INVALID)
        desk->err = err;
    return err ? 0 : answer.n;
}

/* ---- lines ---- */

static uint32_t keep(struct strobe_explain_desk *desk, const char *text)
{
    uint32_t id = strobe_texts_add(&desk->explain->texts, text, strlen(text));
    if (!id && *text)
        desk->err = STROBE_ERR_NOMEM;
    return id;
}

struct strobe_explain_line *strobe_explain_add(struct strobe_explain_desk *desk,
                                               enum strobe_explain_topic topic,
                                               enum strobe_explain_class class)
{
    struct strobe_explain *explain = desk->explain;
    struct strobe_explain_line *line =
        STROBE_ARRAY_PUSH(explain->lines, explain->n_lines, explain->lines_room);
    if (!line || desk->text.error || desk->query.error) {
        desk->err = STROBE_ERR_NOMEM;
        return NULL;
    }
    *line = (struct strobe_explain_line){.topic = topic, .class = class, .share = -1};
    line->words = keep(desk, strobe_out_string(&desk->text));
    line->query = keep(desk, strobe_out_string(&desk->query));
    if (desk->query.len)
        line->has_value =
            strobe_explain_ask(desk, strobe_out_string(&desk->query), &line->value, 1) == 1;
    strobe_out_clear(&desk->text);
    strobe_out_clear(&desk->query);
    return desk->err ? NULL : line;
}

/* The ids of the longest zones of a place: zones are asked for by track and begin. */
static void find_evidence(struct strobe_explain_desk *desk, struct strobe_explain_line *line,
                          const struct strobe_explain_place *place)
{
    for (int i = 0; i < STROBE_PATH_PLACES && place->loc != STROBE_IDMAP_NONE; i++) {
        const struct strobe_path_place *zone = &place->longest[i];
        if (!zone->ticks)
            continue;
        long long ts = (long long)strobe_clock_rel(&desk->trace->clock, zone->begin);
        strobe_out_format(&desk->query,
                          "SELECT id FROM zone WHERE ts BETWEEN %lld AND %lld AND track_id = %u "
                          "AND loc_id = %u",
                          ts, ts, zone->thread, place->loc);
        line->n_evidence += strobe_explain_ask(desk, strobe_out_string(&desk->query),
                                               &line->evidence[line->n_evidence], 1);
        strobe_out_clear(&desk->query);
    }
}

void strobe_explain_name_place(struct strobe_explain_desk *desk, struct strobe_explain_line *line,
                               const struct strobe_explain_place *place)
{
    const struct strobe_trace *trace = desk->trace;
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    if (!line)
        return;
    line->zone = keep(desk, strobe_explain_zone(desk, place->loc, room));
    if (place->loc != STROBE_IDMAP_NONE) {
        line->file = keep(desk, strobe_trace_text(trace, trace->locs[place->loc].file, &n));
        line->source_line = trace->locs[place->loc].line;
    }
    line->process = keep(desk, strobe_trace_process_name(trace, place->process, room, &n));
    line->thread = keep(desk, strobe_trace_thread_name(trace, place->thread, room, &n));
    line->path_ns = strobe_explain_ns(desk, place->ticks);
    line->share = desk->path.ticks ? (double)place->ticks / (double)desk->path.ticks : 0;
    find_evidence(desk, line, place);
}

/* ---- all of it ---- */

static void choose_range(struct strobe_explain_desk *desk, struct strobe_items_options *range)
{
    const struct strobe_clock *clock = &desk->trace->clock;
    range->tick_min = desk->view->tick_first;
    range->tick_max = desk->view->tick_last;
    if (desk->options->by_time) {
        uint64_t from = strobe_clock_tick_of(clock, desk->options->from_ns);
        uint64_t to = strobe_clock_tick_of(clock, desk->options->to_ns);
        range->tick_min = from > range->tick_min ? from : range->tick_min;
        range->tick_max = to < range->tick_max ? to : range->tick_max;
    }
    desk->explain->from_ns = strobe_clock_rel(clock, range->tick_min);
    desk->explain->to_ns = strobe_clock_rel(clock, range->tick_max);
}

/* The path as times, the first stretch first. */
static enum strobe_err take_stretches(struct strobe_explain_desk *desk)
{
    const struct strobe_path *path = &desk->path;
    const struct strobe_clock *clock = &desk->trace->clock;
    struct strobe_explain *explain = desk->explain;
    if (!path->n_stretches)
        return STROBE_OK;
    explain->stretches = calloc(path->n_stretches, sizeof *explain->stretches);
    if (!explain->stretches)
        return STROBE_ERR_NOMEM;
    explain->n_stretches = path->n_stretches;
    explain->least_ns = strobe_explain_ns(desk, path->least_ticks);
    for (uint32_t i = 0; i < path->n_stretches; i++) {
        const struct strobe_path_stretch *from = &path->stretches[path->n_stretches - 1 - i];
        explain->stretches[i] = (struct strobe_explain_stretch){
            strobe_clock_rel(clock, from->begin), strobe_clock_rel(clock, from->end), from->thread,
            from->class};
    }
    return STROBE_OK;
}

static enum strobe_err find_path(struct strobe_explain_desk *desk)
{
    struct strobe_items_options range = {.stop = desk->options->stop};
    choose_range(desk, &range);
    if (range.tick_min > range.tick_max)
        return STROBE_OK;
    enum strobe_err err = strobe_survey_run(desk->view, &range, &desk->survey);
    const struct strobe_path_options options = {.tick_min = range.tick_min,
                                                .tick_max = range.tick_max,
                                                .with_stretches = desk->options->with_path,
                                                .stop = desk->options->stop,
                                                .zone = desk->options->zone};
    if (!err)
        err = strobe_path_run(desk->view, &desk->survey, &options, &desk->path);
    desk->explain->path_ns = strobe_explain_ns(desk, desk->path.ticks);
    desk->explain->wall_ns = strobe_explain_ns(desk, desk->path.wall);
    desk->explain->n_steps = desk->path.n_steps;
    return err ? err : take_stretches(desk);
}

static enum strobe_err open_desk(struct strobe_explain_desk *desk, const char *trace_path)
{
    const struct strobe_sql_limits limits = {
        .timeout_ms = 60000, .heap_bytes = 512 << 20, .stop = desk->options->stop};
    unsigned failed;
    enum strobe_err err = strobe_trace_open(trace_path, 0, &desk->trace);
    if (!err)
        err = strobe_view_open(desk->trace, &desk->view);
    if (!err)
        err = strobe_sql_open(&trace_path, 1, &limits, &failed, &desk->sql);
    return err;
}

enum strobe_err strobe_explain_run(const char *trace_path,
                                   const struct strobe_explain_options *options,
                                   struct strobe_explain *explain)
{
    struct strobe_explain_desk desk = {.explain = explain, .options = options};
    desk.err = open_desk(&desk, trace_path);
    if (!desk.err)
        desk.err = find_path(&desk);
    if (!desk.err)
        strobe_explain_put_causes(&desk);
    if (!desk.err)
        strobe_explain_put_facts(&desk);
    if (!desk.err && options->stop && atomic_load(options->stop))
        desk.err =
            STROBE_ERR_LIMIT; /* queries that were stopped left their lines without a number */
    strobe_out_free(&desk.text);
    strobe_out_free(&desk.query);
    strobe_path_free(&desk.path);
    strobe_survey_free(&desk.survey);
    strobe_sql_close(desk.sql);
    strobe_view_close(desk.view);
    strobe_trace_close(desk.trace);
    return desk.err;
}

void strobe_explain_free(struct strobe_explain *explain)
{
    free(explain->lines);
    free(explain->stretches);
    strobe_texts_free(&explain->texts);
    *explain = (struct strobe_explain){0};
}
