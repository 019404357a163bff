/* stats_stacks.c - see stats_stacks.h.  SPDX-License-Identifier: MIT */
#include "cli/stats_stacks.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/out.h"

/* A row with its name, to be sorted. */
struct line {
    const char *name;
    uint64_t self, total;
};

static int by_name(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int by_self(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return by_name(a, b);
}

static int by_total(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return by_self(a, b);
}

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0.0;
}

static void put_line(struct strobe_out *out, const struct strobe_cli_stacks *options,
                     const struct line *line, uint64_t n_samples, bool is_first)
{
    if (options->csv) {
        strobe_out_format(out, "%" PRIu64 ",%" PRIu64 ",", line->self, line->total);
        strobe_out_csv(out, line->name, strlen(line->name));
        strobe_out_char(out, '\n');
    } else if (options->json) {
        strobe_out_format(out, "%s\n{\"self\":%" PRIu64 ",\"total\":%" PRIu64 ",\"function\":",
                          is_first ? "" : ",", line->self, line->total);
        strobe_out_json(out, line->name, strlen(line->name));
        strobe_out_char(out, '}');
    } else {
        strobe_out_format(out, "%9" PRIu64 " %6.2f %% %9" PRIu64 " %6.2f %%  ", line->self,
                          percent(line->self, n_samples), line->total,
                          percent(line->total, n_samples));
        strobe_out_terminal(out, line->name, strlen(line->name));
        strobe_out_char(out, '\n');
    }
}

static void put_head(struct strobe_out *out, const struct strobe_cli_stacks *options,
                     const struct strobe_samples *samples)
{
    if (options->csv)
        strobe_out_text(out, "self,total,function\n");
    else if (options->json)
        strobe_out_format(out, "{\"samples\":%" PRIu64 ",\"hz\":%" PRIu64 ",\"functions\":[",
                          samples->n_samples, samples->hz);
    else
        strobe_out_format(out, "%18s %18s  function\n", "self", "total");
}

static void put_foot(struct strobe_out *out, const struct strobe_cli_stacks *options,
                     const struct strobe_samples *samples, uint64_t n_left)
{
    if (!strobe_cli_end_rows(out, options->json, options->csv, n_left))
        return;
    strobe_out_format(out, "%" PRIu64 " samples", samples->n_samples);
    if (samples->hz)
        strobe_out_format(out, ", %" PRIu64 " per second of CPU time: %.3f s", samples->hz,
                          (double)samples->n_samples / (double)samples->hz);
    strobe_out_char(out, '\n');
}

static int print(const struct strobe_cli_stacks *options, const struct strobe_samples *samples,
                 struct line *lines)
{
    struct strobe_out out;
    uint64_t n_shown = 0, n_left = 0;
    uint32_t n = samples->ids.n;
    for (uint32_t i = 0; i < n; i++)
        lines[i] = (struct line){strobe_texts_get(&samples->texts, samples->rows[i].name, NULL),
                                 samples->rows[i].self, samples->rows[i].total};
    qsort(lines, n, sizeof *lines,
          options->by_name    ? by_name
          : options->by_total ? by_total
                              : by_self);
    if (!strobe_out_open(&out, 1))
        return strobe_cli_fail("stats", "output", STROBE_ERR_NOMEM);
    put_head(&out, options, samples);
    for (uint32_t i = 0; i < n; i++) {
        if (options->filter && !strobe_glob_fits(options->filter, lines[i].name))
            continue;
        if (n_shown == options->limit)
            n_left++;
        else
            put_line(&out, options, &lines[i], samples->n_samples, n_shown++ == 0);
    }
    put_foot(&out, options, samples, n_left);
    return strobe_out_close(&out, "stats");
}

int strobe_cli_stats_stacks(struct strobe_trace *trace, const char *path,
                            const struct strobe_cli_stacks *options)
{
    struct strobe_samples samples;
    enum strobe_err err = strobe_samples_run(trace, &options->samples, &samples);
    struct line *lines = err ? NULL : malloc((samples.ids.n + 1ull) * sizeof *lines);
    if (!err && !lines)
        err = STROBE_ERR_NOMEM;
    int code = err ? strobe_cli_fail("stats", path, err) : print(options, &samples, lines);
    if (!err && !samples.n_samples)
        strobe_cli_error("stats", "%s has no stack samples", path);
    strobe_cli_warn_damage("stats", trace, samples.n_bad_parts);
    strobe_samples_free(&samples);
    free(lines);
    return code;
}
