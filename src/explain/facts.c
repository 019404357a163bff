/* facts.c - what stands below the cause: waits, outliers, losses, overhead, and what the trace can't say.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/assert.h"
#include "explain/desk.h"
#include "query/overview.h"

/* ---- the path by what it was spent with ---- */

static void put_waits(struct strobe_explain_desk *desk)
{
    const struct strobe_path *path = &desk->path;
    if (!path->ticks)
        return;
    const char *before = "The path: ";
    for (int i = 0; i < STROBE_PATH_N_CLASSES; i++)
        if (path->by_class[i] * 200 >= path->ticks) {
            strobe_out_format(&desk->text, "%s%.1f %% %s", before,
                              100.0 * (double)path->by_class[i] / (double)path->ticks,
                              strobe_explain_path_name((enum strobe_path_class)i));
            before = ", ";
        }
    strobe_out_char(&desk->text, '.');
    strobe_explain_add(desk, STROBE_EXPLAIN_WAIT, STROBE_EXPLAIN_NONE);
}

static void put_ways(struct strobe_explain_desk *desk)
{
    static const char *const words[] = {"locks",
                                        "flows",
                                        "wake-ups",
                                        "barriers",
                                        "ends of threads and processes",
                                        "starts of threads and processes",
                                        "kernels"};
    static_assert(sizeof words / sizeof words[0] == STROBE_PATH_N_WAYS, "a word for each");
    const char *before = "It went from track to track by ";
    for (int i = 0; i < STROBE_PATH_N_WAYS; i++)
        if (desk->path.n_by_way[i]) {
            strobe_out_format(&desk->text, "%s%s (%llu)", before, words[i],
                              (unsigned long long)desk->path.n_by_way[i]);
            before = ", ";
        }
    if (!desk->text.len)
        return;
    strobe_out_char(&desk->text, '.');
    strobe_explain_add(desk, STROBE_EXPLAIN_WAIT, STROBE_EXPLAIN_NONE);
}

/* ---- host or device ---- */

/* The processor of a device that was busy for longest, and how long. */
static void put_device(struct strobe_explain_desk *desk)
{
    int64_t busy[2];
    if (!desk->path.ticks)
        return;
    strobe_out_text(&desk->query,
                    "SELECT sum(z.dur) AS ns FROM zone z JOIN track t ON t.id = z.track_id WHERE "
                    "t.kind = 'device' AND z.depth = 0");
    strobe_explain_put_range(desk, "z.ts");
    strobe_out_text(&desk->query, " GROUP BY z.track_id ORDER BY ns DESC LIMIT 1");
    if (!strobe_explain_ask(desk, strobe_out_string(&desk->query), busy, 1)) {
        strobe_out_clear(&desk->query);
        return;
    }
    uint64_t all = (uint64_t)(desk->explain->to_ns - desk->explain->from_ns);
    uint64_t on_path = desk->path.by_class[STROBE_PATH_DEVICE];
    char time[32];
    strobe_out_format(
        &desk->text,
        "The device's busiest processor ran kernels for %s, %.1f %% of the time; kernels "
        "are %.1f %% of the path: %s.",
        strobe_number_show_ns((uint64_t)busy[0], time),
        all ? 100.0 * (double)busy[0] / (double)all : 0.0,
        100.0 * (double)on_path / (double)desk->path.ticks,
        on_path * 2 > desk->path.ticks ? "bound by the device" : "bound by the host");
    strobe_explain_add(desk, STROBE_EXPLAIN_DEVICE, STROBE_EXPLAIN_NONE);
}

/* ---- outliers ---- */

struct outlier {
    char name[256];
    int64_t longest, median, count;
};

struct outliers {
    struct outlier rows[3];
    uint32_t n;
};

static enum strobe_err take_head(void *context, const char *const *names, unsigned n_columns)
{
    (void)context, (void)names;
    return n_columns == 4 ? STROBE_OK : STROBE_ERR_INVALID;
}

static enum strobe_err take_outlier(void *context, const struct strobe_sql_value *values,
                                    unsigned n_columns)
{
    struct outliers *outliers = context;
    (void)n_columns;
    STROBE_ASSERT(n_columns == 4);
    struct outlier *row = &outliers->rows[outliers->n];
    if (outliers->n == sizeof outliers->rows / sizeof outliers->rows[0] ||
        values[0].type != STROBE_SQL_TEXT || values[0].n >= sizeof row->name)
        return STROBE_OK;
    memcpy(row->name, values[0].text, values[0].n);
    row->name[values[0].n] = 0;
    row->longest = values[1].i;
    row->median = values[2].i;
    row->count = values[3].i;
    outliers->n++;
    return STROBE_OK;
}

static enum strobe_err take_end(void *context, uint64_t n_rows)
{
    (void)context, (void)n_rows;
    return STROBE_OK;
}

static void put_outlier(struct strobe_explain_desk *desk, const struct outlier *row)
{
    char longest[32], median[32];
    struct strobe_out ids = {0};
    strobe_out_format(&desk->text, "`%s` took up to %s, %.0f times its median of %s (%lld zones).",
                      row->name, strobe_number_show_ns((uint64_t)row->longest, longest),
                      (double)row->longest / (double)(row->median ? row->median : 1),
                      strobe_number_show_ns((uint64_t)row->median, median), (long long)row->count);
    strobe_out_text(&desk->query, "SELECT max(max) FROM stat WHERE kind = 'zone' AND name = ");
    strobe_explain_quote(&desk->query, row->name);
    strobe_out_text(&ids, "SELECT id FROM zone WHERE name = ");
    strobe_explain_quote(&ids, row->name);
    strobe_out_text(&ids, " ORDER BY dur DESC LIMIT 3");
    struct strobe_explain_line *line =
        strobe_explain_add(desk, STROBE_EXPLAIN_OUTLIER, STROBE_EXPLAIN_NONE);
    if (line)
        line->n_evidence = strobe_explain_ask(desk, strobe_out_string(&ids), line->evidence, 3);
    strobe_out_free(&ids);
}

/* Of the whole trace: a range has its own statistics in no table. */
static void put_outliers(struct strobe_explain_desk *desk)
{
    struct outliers outliers = {0};
    const struct strobe_sql_sink sink = {&outliers, take_head, take_outlier, take_end};
    struct strobe_out query = {0};
    if (desk->options->by_time)
        return;
    strobe_out_format(
        &query,
        "SELECT name, max, p50, count FROM stat WHERE kind = 'zone' AND count >= 20 AND "
        "max > 10 * p50 AND max > %llu ORDER BY max DESC LIMIT 3",
        (unsigned long long)(desk->explain->wall_ns / 100));
    if (!strobe_sql_run(desk->sql, strobe_out_string(&query), &sink))
        for (uint32_t i = 0; i < outliers.n && !desk->err; i++)
            put_outlier(desk, &outliers.rows[i]);
    strobe_out_free(&query);
}

/* ---- what is missing, and what it cost ---- */

static void put_losses(struct strobe_explain_desk *desk)
{
    struct strobe_overview counted = {0};
    struct strobe_coverage coverage;
    if (!desk->err)
        desk->err = strobe_overview_count(desk->trace, 1, &counted);
    uint64_t n_holes = strobe_file_facts(desk->trace->file)->n_holes;
    strobe_trace_coverage(desk->trace, &coverage);
    uint64_t missing = coverage.n_emitted - coverage.n_stored;
    if (missing)
        strobe_out_format(&desk->text,
                          "%llu of %llu events are missing: what is said above is of the others.",
                          (unsigned long long)missing, (unsigned long long)coverage.n_emitted);
    else
        strobe_out_text(&desk->text, "Nothing was dropped.");
    if (n_holes || desk->survey.n_bad_parts || desk->trace->n_bad_records)
        strobe_out_text(&desk->text, " Parts of the file are damaged and were left out.");
    if (!strobe_file_facts(desk->trace->file)->closed)
        strobe_out_text(&desk->text, " The trace is not closed: what more there was is not known.");
    strobe_out_text(&desk->query, "SELECT dropped FROM coverage");
    strobe_explain_add(desk, STROBE_EXPLAIN_LOSS, STROBE_EXPLAIN_NONE);
}

static void put_overhead(struct strobe_explain_desk *desk)
{
    const struct strobe_trace *trace = desk->trace;
    struct strobe_coverage coverage;
    char all[32], each[32];
    strobe_trace_coverage(trace, &coverage);
    if (!trace->has_overhead || !trace->event_ps) {
        strobe_out_text(&desk->text, "What recording cost the program is not in the trace.");
        strobe_explain_add(desk, STROBE_EXPLAIN_OVERHEAD, STROBE_EXPLAIN_NONE);
        return;
    }
    uint64_t ns = (uint64_t)((unsigned __int128)trace->n_overhead_events * trace->event_ps / 1000);
    strobe_out_format(
        &desk->text, "Recording cost the program about %s of processor time, %s an event",
        strobe_number_show_ns(ns, all), strobe_number_show_ns(trace->event_ps / 1000, each));
    if (trace->waited_ns)
        strobe_out_format(&desk->text, ", and %s of waiting for the recorder",
                          strobe_number_show_ns(trace->waited_ns, all));
    strobe_out_char(&desk->text, '.');
    strobe_out_text(&desk->query, "SELECT stored FROM coverage");
    strobe_explain_add(desk, STROBE_EXPLAIN_OVERHEAD, STROBE_EXPLAIN_NONE);
}

/* Without its evidence a cause can't be seen: say which ones. */
static void put_lacks(struct strobe_explain_desk *desk)
{
    static const struct {
        enum strobe_item_what what;
        const char *words;
    } lacks[] = {
        {STROBE_ITEM_SWITCH_IN, "no context switches: a thread that waits looks as if it ran"},
        {STROBE_ITEM_WAKEUP,
         "no wake-ups: who ended a wait is seen by locks, flows, barriers and ends alone"},
        {STROBE_ITEM_LOCK_OBTAIN, "no locks (`strobe record --locks` has them)"},
        {STROBE_ITEM_FLOW_OUT, "no flows"},
        {STROBE_ITEM_ALLOC, "no allocations (`strobe record --memory` has them)"},
    };
    const char *before = "The trace has ";
    for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++)
        if (!desk->survey.n_of[lacks[i].what] && !(lacks[i].what == STROBE_ITEM_LOCK_OBTAIN &&
                                                   desk->survey.n_of[STROBE_ITEM_LOCK_WAITED])) {
            strobe_out_format(&desk->text, "%s%s", before, lacks[i].words);
            before = "; ";
        }
    if (!desk->text.len)
        return;
    strobe_out_text(&desk->text, ". Causes of these kinds can't be seen.");
    strobe_explain_add(desk, STROBE_EXPLAIN_LACK, STROBE_EXPLAIN_NONE);
}

void strobe_explain_put_facts(struct strobe_explain_desk *desk)
{
    void (*const puts[])(struct strobe_explain_desk *) = {
        put_waits, put_ways, put_device, put_outliers, put_losses, put_overhead, put_lacks};
    for (size_t i = 0; i < sizeof puts / sizeof puts[0] && !desk->err; i++)
        puts[i](desk);
}
