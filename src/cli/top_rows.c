/* top_rows.c - see top.h: functions and threads by samples, from the blocks that are new; zones by self time, from the summaries of all.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"
#include "cli/top.h"
#include "query/stats.h"
#include "query/symbols.h"
#include "query/walk.h"

enum { NAMES_ROOM = 8192, N_HEADS = 5 };

int strobe_top_open(struct strobe_top *top, struct strobe_trace *trace)
{
    memset(top, 0, sizeof *top);
    top->trace = trace;
    top->symbols = strobe_symbols_open(trace);
    return top->symbols != NULL;
}

void strobe_top_close(struct strobe_top *top)
{
    strobe_symbols_close(top->symbols);
    strobe_texts_free(&top->texts);
    strobe_idmap_free(&top->functions.ids);
    strobe_idmap_free(&top->threads.ids);
    free(top->functions.rows);
    free(top->threads.rows);
}

/* ---- reading ---- */

static struct strobe_top_row *row_of(struct strobe_top_rows *rows, uint32_t name)
{
    uint32_t i = strobe_idmap_add_row(&rows->ids, 0, name, (void **)&rows->rows, &rows->room,
                                      sizeof *rows->rows);
    if (i == STROBE_IDMAP_NONE)
        return NULL;
    rows->rows[i].name = name;
    return &rows->rows[i];
}

static enum strobe_err count(struct strobe_top *top, struct strobe_top_rows *rows, uint32_t name,
                             bool is_self)
{
    struct strobe_top_row *row = row_of(rows, name);
    if (!row)
        return STROBE_ERR_NOMEM;
    row->self += is_self;
    row->self_now += is_self;
    row->total += row->last != top->n_samples;
    row->total_now += row->last != top->n_samples;
    row->last = top->n_samples;
    return STROBE_OK;
}

static enum strobe_err take_sample(void *context, const struct strobe_happening *happening)
{
    struct strobe_top *top = context;
    const struct strobe_field *stack = &happening->event->fields[1];
    char names[NAMES_ROOM];
    bool is_self = true;
    top->n_samples++;
    top->n_now++;
    enum strobe_err err = count(top, &top->threads, happening->thread, true);
    for (uint64_t i = 0; !err && i < stack->u; i++) {
        strobe_symbols_functions(top->symbols, happening->process, stack->list[i], names,
                                 sizeof names);
        if (stack->list[i] >> 63 && !strcmp(names, "[unknown]"))
            strcpy(names, "[kernel]"); /* its names come when the recording ends */
        for (char *at = names, *end; !err && at; at = end ? end + 1 : NULL, is_self = false) {
            end = strchr(at, '\n');
            size_t n = end ? (size_t)(end - at) : strlen(at);
            err = count(top, &top->functions, strobe_texts_add(&top->texts, at, n), is_self);
        }
    }
    return err;
}

static void begin_look(struct strobe_top_rows *rows)
{
    for (uint32_t i = 0; i < rows->ids.n; i++)
        rows->rows[i].self_now = rows->rows[i].total_now = 0;
}

enum strobe_err strobe_top_look(struct strobe_top *top)
{
    struct strobe_walk walk = {.trace = top->trace,
                               .context = top,
                               .happens = take_sample,
                               .kinds = 1ull << STROBE_KIND_SAMPLE,
                               .offset_min = top->offset};
    uint64_t end = strobe_file_facts(top->trace->file)->end;
    top->hz = strobe_trace_sample_hz(top->trace);
    if (end == top->offset)
        return STROBE_OK; /* what was seen last stays */
    top->n_now = 0;
    begin_look(&top->functions);
    begin_look(&top->threads);
    enum strobe_err err = strobe_walk_run(&walk);
    top->offset = end;
    return err;
}

/* ---- writing ---- */

struct page {
    struct strobe_out *out;
    uint32_t width, left; /* characters of a line; lines that may still come */
    bool has_color;
};

/* A line, cut to the width. Names are any bytes: what is none of a terminal's business is a '?'. */
static void put_line(struct page *page, const char *text, size_t n, bool is_head)
{
    uint32_t n_shown = 0;
    if (!page->left)
        return;
    page->left--;
    if (is_head && page->has_color)
        strobe_out_text(page->out, "\033[7m");
    for (size_t i = 0; i < n && n_shown < page->width; n_shown++) {
        size_t n_bad = 1, n_char = strobe_utf8_length(text + i, n - i, &n_bad);
        bool is_plain = n_char && !strobe_utf8_is_control(text + i, n_char);
        strobe_out_bytes(page->out, is_plain ? text + i : "?", is_plain ? n_char : 1);
        i += n_char ? n_char : n_bad;
    }
    if (is_head && page->has_color)
        strobe_out_text(page->out, "\033[0m");
    strobe_out_char(page->out, '\n');
}

static void put_head(struct page *page, const char *text)
{
    put_line(page, text, strlen(text), true);
}

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static int compare(const void *a, const void *b)
{
    const struct strobe_top_row *x = a, *y = b;
    if (x->self_now != y->self_now)
        return x->self_now < y->self_now ? 1 : -1;
    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    return (x->name > y->name) - (x->name < y->name);
}

/* A sorted copy; the caller frees it. */
static struct strobe_top_row *sorted(const struct strobe_top_rows *rows)
{
    struct strobe_top_row *copy = malloc((rows->ids.n + 1ull) * sizeof *copy);
    if (copy && rows->ids.n) {
        memcpy(copy, rows->rows, rows->ids.n * sizeof *copy);
        qsort(copy, rows->ids.n, sizeof *copy, compare);
    }
    return copy;
}

static void put_functions(struct strobe_top *top, struct page *page, uint32_t most)
{
    struct strobe_top_row *rows = sorted(&top->functions);
    char line[NAMES_ROOM];
    put_head(page, "  now    total   since the start  function");
    for (uint32_t i = 0; rows && i < top->functions.ids.n && i < most; i++) {
        int n =
            snprintf(line, sizeof line, "%5.1f %%  %5.1f %%  %5.1f %%          %s",
                     percent(rows[i].self_now, top->n_now), percent(rows[i].total_now, top->n_now),
                     percent(rows[i].self, top->n_samples),
                     strobe_texts_get(&top->texts, rows[i].name, NULL));
        put_line(page, line, n < (int)sizeof line ? (size_t)n : sizeof line - 1, false);
    }
    free(rows);
}

static void put_threads(struct strobe_top *top, struct page *page, uint32_t most)
{
    struct strobe_top_row *rows = sorted(&top->threads);
    char line[512], room[STROBE_NAME_ROOM], process_room[STROBE_NAME_ROOM];
    put_head(page, "  now    CPU time     tid  thread");
    for (uint32_t i = 0; rows && i < top->threads.ids.n && i < most; i++) {
        const struct strobe_trace_thread *thread = &top->trace->threads[rows[i].name];
        uint32_t n_name, n_process;
        const char *name = strobe_trace_thread_name(top->trace, rows[i].name, room, &n_name);
        const char *process =
            strobe_trace_process_name(top->trace, thread->process, process_room, &n_process);
        int n = snprintf(line, sizeof line, "%5.1f %%  %6.2f s  %6" PRIu64 "  %.200s (%.200s)",
                         percent(rows[i].self_now, top->n_now),
                         top->hz ? (double)rows[i].self / (double)top->hz : 0, thread->tid, name,
                         process);
        put_line(page, line, (size_t)n, false);
    }
    free(rows);
}

static int by_self(const void *a, const void *b)
{
    const struct strobe_stats_row *x = a, *y = b;
    return (x->self < y->self) - (x->self > y->self);
}

static void put_zones(struct strobe_top *top, struct page *page, uint32_t most)
{
    struct strobe_stats stats;
    struct strobe_stats_options options = {.quick = 1};
    char line[512], room[STROBE_NAME_ROOM], self[STROBE_NUMBER_ROOM];
    enum strobe_err err = strobe_stats_run(top->trace, &options, &stats);
    if (!err && stats.n_rows) {
        qsort(stats.rows, stats.n_rows, sizeof *stats.rows, by_self);
        put_head(page, "     self       count  zone, since the start");
    }
    for (uint32_t i = 0; !err && i < stats.n_rows && i < most; i++) {
        const struct strobe_stats_row *row = &stats.rows[i];
        uint32_t n_name;
        const char *name = strobe_trace_loc_name(top->trace, row->loc, row->loc_id, room, &n_name);
        uint64_t self_ns = strobe_clock_sum_ns(&top->trace->clock, row->self);
        snprintf(self, sizeof self, "%.3f s", (double)self_ns / 1e9);
        int n = snprintf(line, sizeof line, "%9s  %10" PRIu64 "  %.400s", self, row->count, name);
        put_line(page, line, (size_t)n, false);
    }
    strobe_stats_free(&stats);
}

/* Of the lines that are left for rows, functions get half, zones and threads a quarter each. */
void strobe_top_put(struct strobe_top *top, const char *head, const struct strobe_top_size *size,
                    bool has_color, struct strobe_out *out)
{
    struct page page = {out, size->width, size->height ? size->height : UINT32_MAX, has_color};
    uint32_t rows = size->height > N_HEADS ? size->height - N_HEADS : 0, quarter = rows / 4;
    char line[256];
    put_line(&page, head, strlen(head), false);
    int n = snprintf(line, sizeof line, "%" PRIu64 " samples, %" PRIu64 " of them new",
                     top->n_samples, top->n_now);
    put_line(&page, line, (size_t)n, false);
    if (top->n_samples) {
        put_functions(top, &page, size->height ? rows - 2 * quarter : size->limit);
        put_threads(top, &page, size->height ? quarter : size->limit);
    }
    put_zones(top, &page, size->height ? quarter : size->limit);
}
