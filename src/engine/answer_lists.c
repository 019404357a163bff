/* answer_lists.c - messages, flows and frames, one by one.  SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/tracks.h"

/* ---- messages ---- */

/* What a question wants of the messages. */
struct filter {
    struct strobe_choice choice;
    uint64_t lo, hi, severity;
    uint64_t color; /* that they have; UINT64_MAX: any */
    char text[256];
    size_t n_text;
};

/* A message is of its thread, and of its process's track of messages. */
static int is_chosen(const struct strobe_engine *engine, const struct strobe_choice *choice,
                     const struct strobe_message *message)
{
    if (strobe_choice_has_thread(choice, message->thread))
        return 1;
    for (uint32_t i = 0; i < choice->n_tables; i++)
        if (choice->tables[i] && engine->tables.tables[i].kind == STROBE_TABLE_MESSAGES &&
            engine->tables.tables[i].process == message->process)
            return 1;
    return 0;
}

static int is_wanted(const struct strobe_engine *engine, const struct filter *filter,
                     const struct strobe_message *message)
{
    uint32_t n;
    const char *text = strobe_texts_get(&engine->tables.texts, message->text, &n);
    return message->tick >= filter->lo && message->tick <= filter->hi &&
           (message->severity & 255) >= filter->severity &&
           (filter->color == UINT64_MAX || filter->color == message->color) &&
           is_chosen(engine, &filter->choice, message) &&
           strobe_text_has(text, n, filter->text, filter->n_text);
}

static void put_message(struct strobe_engine *engine, struct strobe_reply *reply,
                        const struct strobe_message *message)
{
    uint32_t n;
    const char *text = strobe_texts_get(&engine->tables.texts, message->text, &n);
    strobe_reply_open(reply, "", '{');
    strobe_reply_number(reply, "t", strobe_engine_ns(engine, message->tick));
    strobe_reply_u64(reply, "track", strobe_track_of_thread(engine, message->thread));
    strobe_reply_u64(reply, "severity", message->severity & 255);
    strobe_reply_u64(reply, "color", message->color);
    strobe_reply_text(reply, "text", text, n);
    strobe_reply_close(reply, '}');
}

void strobe_engine_answer_messages(struct strobe_engine *engine, const struct strobe_json *question,
                                   struct strobe_reply *reply)
{
    struct strobe_tables *tables = &engine->tables;
    struct filter filter = {0};
    uint64_t total = 0, n_put = 0;
    uint32_t after = strobe_json_member(question, 0, "after");
    double from = strobe_json_number(question, after, -1e300);
    uint64_t limit = strobe_engine_count(question, "limit", 1000, 100000);
    strobe_tables_update(tables);
    strobe_engine_span(engine, question, &filter.lo, &filter.hi);
    filter.severity = strobe_engine_count(question, "severity", 0, 255);
    filter.color = strobe_engine_count(question, "color", UINT64_MAX, UINT64_MAX);
    filter.n_text = strobe_json_text(question, strobe_json_member(question, 0, "filter"),
                                     filter.text, sizeof filter.text);
    if (!strobe_choice_read(engine, question, &filter.choice))
        strobe_engine_answer_error(reply, strobe_err_text(STROBE_ERR_NOMEM));
    strobe_reply_open(reply, "messages", '[');
    for (uint32_t i = 0; i < tables->n_messages; i++) {
        const struct strobe_message *message = &tables->messages[i];
        if (!is_wanted(engine, &filter, message))
            continue;
        total++;
        if (strobe_engine_ns(engine, message->tick) > from && n_put++ < limit)
            put_message(engine, reply, message);
    }
    strobe_reply_close(reply, ']');
    strobe_reply_u64(reply, "total", total);
    strobe_choice_free(&filter.choice);
}

/* ---- flows ---- */

static void put_arrow(struct strobe_engine *engine, struct strobe_reply *reply, const char *flow,
                      const struct strobe_flow_point *a, const struct strobe_flow_point *b)
{
    strobe_reply_open(reply, "", '{');
    strobe_reply_string(reply, "flow", flow);
    strobe_reply_number(reply, "t0", strobe_engine_ns(engine, a->tick));
    strobe_reply_number(reply, "t1", strobe_engine_ns(engine, b->tick));
    strobe_reply_u64(reply, "track0", strobe_track_of_thread(engine, a->thread));
    strobe_reply_u64(reply, "depth0", a->depth);
    strobe_reply_u64(reply, "track1", strobe_track_of_thread(engine, b->thread));
    strobe_reply_u64(reply, "depth1", b->depth);
    strobe_reply_close(reply, '}');
}

void strobe_engine_answer_flows(struct strobe_engine *engine, const struct strobe_json *question,
                                struct strobe_reply *reply)
{
    const struct strobe_tables *tables = &engine->tables;
    struct strobe_choice choice;
    uint64_t lo, hi, total = 0;
    char wanted[48], flow[48];
    strobe_tables_update(&engine->tables);
    strobe_engine_span(engine, question, &lo, &hi);
    if (!strobe_choice_read(engine, question, &choice))
        strobe_engine_answer_error(reply, strobe_err_text(STROBE_ERR_NOMEM));
    uint64_t limit = strobe_engine_count(question, "limit", 500, 5000);
    size_t n_wanted =
        strobe_json_text(question, strobe_json_member(question, 0, "flow"), wanted, sizeof wanted);
    strobe_reply_open(reply, "flows", '[');
    for (uint32_t i = 1; i < tables->n_flows; i++) {
        const struct strobe_flow_point *a = &tables->flows[i - 1], *b = &tables->flows[i];
        if (a->owner != b->owner || a->flow != b->flow || b->tick < lo || a->tick > hi ||
            (!strobe_choice_has_thread(&choice, a->thread) &&
             !strobe_choice_has_thread(&choice, b->thread)))
            continue;
        snprintf(flow, sizeof flow, "%llu/%llu",
                 (unsigned long long)engine->trace->processes[a->owner].proc,
                 (unsigned long long)a->flow);
        if (n_wanted && strcmp(flow, wanted))
            continue;
        if (total++ < limit)
            put_arrow(engine, reply, flow, a, b);
    }
    strobe_reply_close(reply, ']');
    strobe_reply_u64(reply, "total", total);
    strobe_choice_free(&choice);
}

/* ---- frames ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Of all frames of the set. */
static void put_frame_sums(const struct strobe_engine *engine, struct strobe_reply *reply,
                           const struct strobe_table *table)
{
    uint32_t n = table->n_rows;
    double sum = 0, *sizes = malloc((n + 1ull) * sizeof *sizes);
    for (uint32_t i = 0; sizes && i < n; i++)
        sum += sizes[i] = strobe_engine_length(engine, table->rows[i].begin,
                                               table->rows[i].end - table->rows[i].begin);
    if (sizes && n)
        qsort(sizes, n, sizeof *sizes, by_size);
    int is_there = sizes && n;
    strobe_reply_number(reply, "mean", is_there ? (double)((uint64_t)sum / n) : 0);
    strobe_reply_number(reply, "median", is_there ? sizes[(n - 1) / 2] : 0);
    strobe_reply_number(reply, "min", is_there ? sizes[0] : 0);
    strobe_reply_number(reply, "max", is_there ? sizes[n - 1] : 0);
    free(sizes);
}

void strobe_engine_answer_frames(struct strobe_engine *engine, const struct strobe_json *question,
                                 struct strobe_reply *reply)
{
    uint64_t lo, hi;
    strobe_tables_update(&engine->tables);
    const struct strobe_table *table =
        strobe_track_table(engine, (uint32_t)strobe_engine_count(question, "track", 0, UINT32_MAX));
    if (!table || table->kind != STROBE_TABLE_FRAMES) {
        strobe_engine_answer_error(reply, "that is no track of frames");
        return;
    }
    strobe_engine_span(engine, question, &lo, &hi);
    uint64_t limit = strobe_engine_count(question, "limit", 100000, 1000000);
    const struct strobe_pixel_row *rows = table->rows; /* by begin */
    uint32_t first = (uint32_t)STROBE_ARRAY_BISECT(0, table->n_rows, i, rows[i].begin < lo);
    uint32_t n =
        (uint32_t)STROBE_ARRAY_BISECT(first, table->n_rows, i, rows[i].begin <= hi) - first;
    strobe_reply_u64(reply, "total", n);
    n = n < limit ? n : (uint32_t)limit;
    double *t0 = strobe_reply_f64(reply, "t0", n), *t1 = strobe_reply_f64(reply, "t1", n);
    for (uint32_t i = 0; t0 && t1 && i < n; i++) {
        const struct strobe_pixel_row *row = &table->rows[first + i];
        t0[i] = strobe_engine_ns(engine, row->begin);
        t1[i] = t0[i] + strobe_engine_length(engine, row->begin, row->end - row->begin);
    }
    put_frame_sums(engine, reply, table);
}
