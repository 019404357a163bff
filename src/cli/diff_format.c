/* diff_format.c - how a comparison is shown. Every format has the same rows in the same order.  SPDX-License-Identifier: MIT */
#include "cli/diff_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const formats[] = {"table", "markdown", "csv", "json"};

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

static const char *show_time(double ns, char room[32])
{
    if (isnan(ns))
        return "-";
    return strobe_number_show_ns((uint64_t)(ns + 0.5), room);
}

static int is_shown(const struct strobe_diff_row *row, const struct strobe_diff_show *show)
{
    return show->all || row->verdict < STROBE_DIFF_UNKNOWN || row->is_counted_otherwise ||
           row->verdict == STROBE_DIFF_NO_TEST;
}

/* What is to be said of a row beside its numbers. */
static void put_remark(struct strobe_out *out, const struct strobe_diff_row *row)
{
    if (row->verdict == STROBE_DIFF_UNKNOWN)
        strobe_out_format(out, "would need %u runs a side", row->need_runs);
    if (row->is_counted_otherwise)
        strobe_out_format(out, "%s%.0f instead of %.0f zones a run",
                          row->verdict == STROBE_DIFF_UNKNOWN ? "; " : "", row->count[1],
                          row->count[0]);
}

static void put_line(struct strobe_out *out, const struct strobe_diff_row *row)
{
    char change[32], low[32], high[32], a[32], b[32], interval[72] = "";
    if (!isnan(row->low))
        snprintf(interval, sizeof interval, "%s to %s", show_share(row->low, low),
                 show_share(row->high, high));
    strobe_out_format(out, "%-10s %9s  %-20s %11s %11s  ", strobe_diff_verdict_name(row->verdict),
                      show_share(row->change, change), interval, show_time(row->value_ns[0], a),
                      show_time(row->value_ns[1], b));
    strobe_out_terminal(out, row->name, strlen(row->name));
    if (*row->file) {
        strobe_out_text(out, "  (");
        strobe_out_terminal(out, row->file, strlen(row->file));
        strobe_out_text(out, ")");
    }
    if (row->verdict == STROBE_DIFF_UNKNOWN || row->is_counted_otherwise)
        strobe_out_text(out, ": ");
    put_remark(out, row);
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

static void put_markdown_line(struct strobe_out *out, const struct strobe_diff_row *row)
{
    char change[32], low[32], high[32], a[32], b[32];
    strobe_out_format(out, "| %s | %s | %s%s%s | %s | %s | `",
                      strobe_diff_verdict_name(row->verdict), show_share(row->change, change),
                      show_share(row->low, low), isnan(row->low) ? "" : " to ",
                      show_share(row->high, high), show_time(row->value_ns[0], a),
                      show_time(row->value_ns[1], b));
    put_cell(out, row->name);
    strobe_out_text(out, "` | ");
    put_remark(out, row);
    strobe_out_text(out, " |\n");
}

static void put_summary(struct strobe_out *out, const struct strobe_diff_result *result,
                        const struct strobe_diff_show *show)
{
    char share[32], low[32], high[32];
    strobe_out_format(out,
                      "%u against %u runs, %u zones by %s: %u slower, %u faster, %u the same "
                      "within %.1f %%, %u undecided",
                      result->n_runs[0], result->n_runs[1], result->n_rows, show->metric,
                      result->n_of[STROBE_DIFF_SLOWER], result->n_of[STROBE_DIFF_FASTER],
                      result->n_of[STROBE_DIFF_SAME], show->floor * 100,
                      result->n_of[STROBE_DIFF_UNKNOWN]);
    if (result->n_of[STROBE_DIFF_NEW] || result->n_of[STROBE_DIFF_GONE])
        strobe_out_format(out, ", %u new, %u gone", result->n_of[STROBE_DIFF_NEW],
                          result->n_of[STROBE_DIFF_GONE]);
    strobe_out_text(out, ".\n");
    if (result->has_shift && !isnan(result->shift_low))
        strobe_out_format(
            out, "All zones together: %s (%s to %s); it is not part of the changes above.\n",
            show_share(result->shift, share), show_share(result->shift_low, low),
            show_share(result->shift_high, high));
    if (result->n_of[STROBE_DIFF_NO_TEST])
        strobe_out_format(out,
                          "%u zones are in fewer than three runs of a side: their differences are "
                          "no verdict. Record more runs.\n",
                          result->n_of[STROBE_DIFF_NO_TEST]);
}

static void put_people(struct strobe_out *out, const struct strobe_diff_result *result,
                       const struct strobe_diff_show *show, int is_markdown)
{
    uint32_t n = 0, n_hidden = 0;
    for (uint32_t i = 0; i < result->n_rows; i++) {
        if (!is_shown(&result->rows[i], show))
            continue;
        if (n == show->limit) {
            n_hidden++;
            continue;
        }
        if (!n++ && is_markdown)
            strobe_out_text(
                out, "| | change | 95 % | A | B | zone | |\n|---|---|---|---|---|---|---|\n");
        else if (n == 1)
            strobe_out_format(out, "%-10s %9s  %-20s %11s %11s  zone\n", "", "change",
                              "95 % interval", "A", "B");
        if (is_markdown)
            put_markdown_line(out, &result->rows[i]);
        else
            put_line(out, &result->rows[i]);
    }
    if (n_hidden)
        strobe_out_format(out, "%s(%u more: --limit)\n", is_markdown ? "\n" : "", n_hidden);
    if (is_markdown && n)
        strobe_out_char(out, '\n');
    put_summary(out, result, show);
}

static void put_number(struct strobe_out *out, double value)
{
    if (!isnan(value))
        strobe_out_double(out, value);
}

static void put_csv(struct strobe_out *out, const struct strobe_diff_result *result)
{
    strobe_out_text(out, "verdict,name,function,file,change,low,high,p,false_rate,a_ns,b_ns,a_"
                         "count,b_count,a_runs,b_runs,need_runs\n");
    for (uint32_t i = 0; i < result->n_rows; i++) {
        const struct strobe_diff_row *row = &result->rows[i];
        const double numbers[] = {row->change,      row->low,        row->high,
                                  row->p,           row->false_rate, row->value_ns[0],
                                  row->value_ns[1], row->count[0],   row->count[1]};
        strobe_out_csv(out, strobe_diff_verdict_name(row->verdict),
                       strlen(strobe_diff_verdict_name(row->verdict)));
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
    strobe_diff_write(result, show->metric, show->floor, &json);
    strobe_json_write_close(&json, '}');
    strobe_out_char(out, '\n');
}

void strobe_diff_put(struct strobe_out *out, const struct strobe_diff_result *result,
                     const struct strobe_diff_show *show)
{
    if (!strcmp(show->format, "csv"))
        put_csv(out, result);
    else if (!strcmp(show->format, "json"))
        put_json(out, result, show);
    else
        put_people(out, result, show, !strcmp(show->format, "markdown"));
}
