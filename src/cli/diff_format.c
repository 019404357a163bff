/* diff_format.c - how a comparison is shown. Every format has the same rows in the same order.  SPDX-License-Identifier: MIT */
#include "cli/diff_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const formats[] = {"table", "markdown", "html", "csv", "json"};

int strobe_diff_knows(const char *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (!strcmp(format, formats[i]))
            return 1;
    return 0;
}

/* A share as "+4.2 %"; empty where there is none. */
static const char *show_share(double share, char room[32])
{
    if (isnan(share))
        room[0] = 0;
    else
        snprintf(room, 32, "%+.1f %%", share * 100);
    return room;
}

static const char *show_value(double value, const struct strobe_diff_show *show, char room[32])
{
    if (isnan(value))
        return "-";
    if (!strcmp(show->subject->unit, "ns"))
        return strobe_number_show_ns((uint64_t)(value + 0.5), room);
    snprintf(room, 32, "%.*g%s%s", value < 1e6 ? 6 : 12, value, *show->subject->unit ? " " : "",
             show->subject->unit);
    return room;
}

static const char *verdict_of(const struct strobe_diff_row *row,
                              const struct strobe_diff_show *show)
{
    return strobe_diff_verdict_name(row->verdict, strcmp(show->subject->unit, "ns") != 0);
}

static int is_shown(const struct strobe_diff_row *row, const struct strobe_diff_show *show)
{
    return show->all || row->verdict < STROBE_DIFF_UNKNOWN || row->is_counted_otherwise ||
           row->verdict == STROBE_DIFF_NO_TEST;
}

/* What is to be said of a row beside its numbers. */
static void put_remark(struct strobe_out *out, const struct strobe_diff_row *row,
                       const struct strobe_diff_show *show)
{
    if (row->verdict == STROBE_DIFF_UNKNOWN)
        strobe_out_format(out, "would need %u runs a side", row->need_runs);
    if (row->is_counted_otherwise)
        strobe_out_format(out, "%s%.0f instead of %.0f %s a run",
                          row->verdict == STROBE_DIFF_UNKNOWN ? "; " : "", row->count[1],
                          row->count[0], show->subject->name);
}

static void put_line(struct strobe_out *out, const struct strobe_diff_row *row,
                     const struct strobe_diff_show *show)
{
    char change[32], low[32], high[32], a[32], b[32], interval[72] = "";
    if (!isnan(row->low))
        snprintf(interval, sizeof interval, "%s to %s", show_share(row->low, low),
                 show_share(row->high, high));
    strobe_out_format(out, "%-10s %9s  %-20s %11s %11s  ", verdict_of(row, show),
                      show_share(row->change, change), interval,
                      show_value(row->value_ns[0], show, a), show_value(row->value_ns[1], show, b));
    strobe_out_terminal(out, row->name, strlen(row->name));
    if (*row->file) {
        strobe_out_text(out, "  (");
        strobe_out_terminal(out, row->file, strlen(row->file));
        strobe_out_text(out, ")");
    }
    if (row->verdict == STROBE_DIFF_UNKNOWN || row->is_counted_otherwise)
        strobe_out_text(out, ": ");
    put_remark(out, row, show);
    strobe_out_char(out, '\n');
}

/* A cell of Markdown: no bar in it, no line break. */
static void put_cell(struct strobe_out *out, const char *text)
{
    for (size_t n; *text; text += n) {
        n = strcspn(text, "|\\");
        strobe_out_terminal(out, text, n);
        if (text[n]) {
            const char escaped[] = {'\\', text[n++]};
            strobe_out_bytes(out, escaped, sizeof escaped);
        }
    }
}

static void put_markdown_line(struct strobe_out *out, const struct strobe_diff_row *row,
                              const struct strobe_diff_show *show)
{
    char change[32], low[32], high[32], a[32], b[32];
    strobe_out_format(out, "| %s | %s | %s%s%s | %s | %s | `", verdict_of(row, show),
                      show_share(row->change, change), show_share(row->low, low),
                      isnan(row->low) ? "" : " to ", show_share(row->high, high),
                      show_value(row->value_ns[0], show, a), show_value(row->value_ns[1], show, b));
    put_cell(out, row->name);
    strobe_out_text(out, "` | ");
    put_remark(out, row, show);
    strobe_out_text(out, " |\n");
}

static void put_summary(struct strobe_out *out, const struct strobe_diff_result *result,
                        const struct strobe_diff_show *show)
{
    char share[32], low[32], high[32];
    const char *of = show->subject->name;
    strobe_out_format(out,
                      "%u against %u runs, %u %s by %s: %u %s, %u %s, %u the same "
                      "within %.1f %%, %u undecided",
                      result->n_runs[0], result->n_runs[1], result->n_rows, of, show->metric,
                      result->n_of[STROBE_DIFF_SLOWER],
                      strobe_diff_verdict_name(STROBE_DIFF_SLOWER, result->is_no_time),
                      result->n_of[STROBE_DIFF_FASTER],
                      strobe_diff_verdict_name(STROBE_DIFF_FASTER, result->is_no_time),
                      result->n_of[STROBE_DIFF_SAME], show->floor * 100,
                      result->n_of[STROBE_DIFF_UNKNOWN]);
    if (result->n_of[STROBE_DIFF_NEW] || result->n_of[STROBE_DIFF_GONE])
        strobe_out_format(out, ", %u new, %u gone", result->n_of[STROBE_DIFF_NEW],
                          result->n_of[STROBE_DIFF_GONE]);
    strobe_out_text(out, ".\n");
    if (result->has_shift && !isnan(result->shift_low))
        strobe_out_format(out,
                          "All %s together: %s (%s to %s); it is not part of the changes above.\n",
                          of, show_share(result->shift, share), show_share(result->shift_low, low),
                          show_share(result->shift_high, high));
    if (result->n_of[STROBE_DIFF_NO_TEST])
        strobe_out_format(out,
                          "%u %s are in fewer than three runs of a side: their differences are "
                          "no verdict. Record more runs.\n",
                          result->n_of[STROBE_DIFF_NO_TEST], of);
}

static void put_html_cell(struct strobe_out *out, const char *text)
{
    strobe_out_text(out, "<td>");
    strobe_out_html(out, text, strlen(text));
}

/* A row of a table; its class is its verdict's first word. */
static void put_html_line(struct strobe_out *out, const struct strobe_diff_row *row,
                          const struct strobe_diff_show *show)
{
    char room[32];
    const char *verdict = verdict_of(row, show);
    strobe_out_format(out, "<tr class=\"%.*s\">", (int)strcspn(verdict, " '"), verdict);
    put_html_cell(out, verdict);
    put_html_cell(out, show_share(row->change, room));
    put_html_cell(out, show_share(row->low, room));
    put_html_cell(out, show_share(row->high, room));
    for (int i = 0; i < 2; i++)
        put_html_cell(out, show_value(row->value_ns[i], show, room));
    put_html_cell(out, row->name);
    put_html_cell(out, row->file);
    strobe_out_text(out, "<td>");
    put_remark(out, row, show);
    strobe_out_char(out, '\n');
}

enum manner { TABLE, MARKDOWN, HTML };

static void put_head(struct strobe_out *out, const struct strobe_diff_show *show,
                     enum manner manner)
{
    const char *one = show->subject->one;
    if (manner == MARKDOWN)
        strobe_out_format(
            out, "| | change | 95 %% | A | B | %s | |\n|---|---|---|---|---|---|---|\n", one);
    else if (manner == HTML)
        strobe_out_format(
            out,
            "<tr><th><th>change<th colspan=2>95 %% interval<th>A<th>B<th>%s<th>file<th>"
            "\n",
            one);
    else
        strobe_out_format(out, "%-10s %9s  %-20s %11s %11s  %s\n", "", "change", "95 % interval",
                          "A", "B", one);
}

/* The rows that are shown. How many more there are. */
static uint32_t put_rows(struct strobe_out *out, const struct strobe_diff_result *result,
                         const struct strobe_diff_show *show, enum manner manner)
{
    static void (*const put[])(struct strobe_out *, const struct strobe_diff_row *,
                               const struct strobe_diff_show *) = {put_line, put_markdown_line,
                                                                   put_html_line};
    uint32_t n = 0, n_hidden = 0;
    for (uint32_t i = 0; i < result->n_rows; i++) {
        if (!is_shown(&result->rows[i], show))
            continue;
        if (n == show->limit) {
            n_hidden++;
            continue;
        }
        if (!n++)
            put_head(out, show, manner);
        put[manner](out, &result->rows[i], show);
    }
    if (manner == MARKDOWN && n)
        strobe_out_char(out, '\n');
    return n_hidden;
}

static void put_people(struct strobe_out *out, const struct strobe_diff_result *result,
                       const struct strobe_diff_show *show, enum manner manner)
{
    uint32_t n_hidden = put_rows(out, result, show, manner);
    if (n_hidden)
        strobe_out_format(out, "(%u more: --limit)\n%s", n_hidden, manner == MARKDOWN ? "\n" : "");
    put_summary(out, result, show);
}

/* A page by itself: nothing is loaded, nothing runs. */
static void put_html(struct strobe_out *out, const struct strobe_diff_result *result,
                     const struct strobe_diff_show *show)
{
    strobe_out_text(
        out,
        "<!doctype html><meta charset=\"utf-8\"><title>strobe diff</title>\n<style>"
        "body{font:14px system-ui,sans-serif;margin:2em;color:#222;background:#fff}"
        "table{border-collapse:collapse}th,td{padding:.2em .8em;text-align:left;"
        "border-bottom:1px solid #ddd}td:nth-child(n+2):nth-child(-n+6){text-align:right}"
        ".slower td:first-child,.more td:first-child{color:#b00;font-weight:bold}"
        ".faster td:first-child,.less td:first-child{color:#070;font-weight:bold}"
        "p{white-space:pre-line}@media(prefers-color-scheme:dark){body{color:#ddd;background:#222}"
        "th,td{border-color:#444}.slower td:first-child,.more td:first-child{color:#f77}"
        ".faster td:first-child,.less td:first-child{color:#7d7}}"
        "</style>\n<h1>What changed from A to B</h1>\n<table>\n");
    uint32_t n_hidden = put_rows(out, result, show, HTML);
    strobe_out_text(out, "</table>\n<p>");
    if (n_hidden)
        strobe_out_format(out, "%u more rows are not shown (--limit).\n", n_hidden);
    put_summary(out, result, show);
    strobe_out_text(out, "</p>\n");
}

static void put_number(struct strobe_out *out, double value)
{
    if (!isnan(value))
        strobe_out_double(out, value);
}

static void put_csv(struct strobe_out *out, const struct strobe_diff_result *result,
                    const struct strobe_diff_show *show)
{
    strobe_out_format(out,
                      "verdict,name,function,file,change,low,high,p,false_rate,%s,a_"
                      "count,b_count,a_runs,b_runs,need_runs\n",
                      result->is_no_time ? "a,b" : "a_ns,b_ns");
    for (uint32_t i = 0; i < result->n_rows; i++) {
        const struct strobe_diff_row *row = &result->rows[i];
        const double numbers[] = {row->change,      row->low,        row->high,
                                  row->p,           row->false_rate, row->value_ns[0],
                                  row->value_ns[1], row->count[0],   row->count[1]};
        strobe_out_csv(out, verdict_of(row, show), strlen(verdict_of(row, show)));
        const char *const texts[] = {row->name, row->function, row->file};
        for (int k = 0; k < 3; k++) {
            strobe_out_char(out, ',');
            strobe_out_csv(out, texts[k], strlen(texts[k]));
        }
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            strobe_out_char(out, ',');
            put_number(out, numbers[k]);
        }
        strobe_out_format(out, ",%u,%u,%u\n", row->n_runs[0], row->n_runs[1],
                          row->verdict == STROBE_DIFF_UNKNOWN ? row->need_runs : 0);
    }
}

static void put_json(struct strobe_out *out, const struct strobe_diff_result *result,
                     const struct strobe_diff_show *show)
{
    struct strobe_json_writer json = {.out = out};
    strobe_json_write_open(&json, NULL, '{');
    strobe_diff_write(result, show->subject->name, show->metric, show->floor, &json);
    strobe_json_write_close(&json, '}');
    strobe_out_char(out, '\n');
}

void strobe_diff_put(struct strobe_out *out, const struct strobe_diff_result *result,
                     const struct strobe_diff_show *show)
{
    if (!strcmp(show->format, "csv"))
        put_csv(out, result, show);
    else if (!strcmp(show->format, "json"))
        put_json(out, result, show);
    else if (!strcmp(show->format, "html"))
        put_html(out, result, show);
    else
        put_people(out, result, show, !strcmp(show->format, "markdown") ? MARKDOWN : TABLE);
}
