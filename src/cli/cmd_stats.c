/* cmd_stats.c - strobe stats: zones by location.  SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "cli/choice.h"
#include "cli/cli.h"
#include "cli/out.h"
#include "cli/stats_memory.h"
#include "cli/stats_stacks.h"
#include "query/stats.h"

static const char help[] =
    "usage: strobe stats [options] [FILE]\n"
    "\n"
    "Zones by source location: how often, how long. FILE is a .strobe trace; without one, the "
    "newest in\n"
    "this folder. Zones that are open or unfinished have no duration and are in no sum. Total "
    "counts\n"
    "every call of a recursion; inclusive counts its outermost one.\n"
    "\n"
    "  --sort KEY      total (default), self, inclusive, count, mean, min, max, std, p50, p90, "
    "p99, name\n"
    "  --limit N       the first N rows only\n"
    "  --filter TEXT   names, functions or files with TEXT in them (with * ? [: that match it)\n"
    "  --range A..B    zones that begin between A and B after the start: 1.5s..2s, 100ms.., ..3s\n"
    "  --process P     of the process with this pid, or this in its name\n" STROBE_CLI_CHOICE_HELP
    "  --spans         asynchronous spans instead of zones\n"
    "  --stacks        functions by stack samples instead; --sort self (default), total or name\n"
    "  --gpu           zones of GPU contexts instead, by the GPU's own times\n"
    "  --memory        pools of memory instead: allocations, peak, what is live at the end\n"
    "  --exact         percentiles to the tick (else within 1.6 %), and --inclusive\n"
    "  --inclusive     read the events of files whose summaries have no inclusive time: older "
    "ones\n"
    "  --quick         count, total, inclusive, self, min, max only\n"
    "  --csv, --json   for programs; all times in ns\n"
    "\n"
    "examples:\n"
    "  strobe stats                            the newest trace here, longest total first\n"
    "  strobe stats --sort p99 --limit 20 run.strobe\n"
    "  strobe stats --stacks --limit 20        where the CPU time went, marked or not\n"
    "  strobe stats --filter 'decode*' --range 10s..20s --csv run.strobe >decode.csv\n";

enum sort_key { TOTAL, SELF, COUNT, MEAN, MIN, MAX, STD, P50, P90, P99, INCLUSIVE, NAME, N_KEYS };
static const char *const key_names[N_KEYS] = {"total", "self", "count",     "mean",
                                              "min",   "max",  "std",       "p50",
                                              "p90",   "p99",  "inclusive", "name"};

/* The columns of --csv and --json, in order: the first five with --quick, the last where it is known. */
static const enum sort_key columns[] = {COUNT, TOTAL, SELF, MIN, MAX,      MEAN,
                                        STD,   P50,   P90,  P99, INCLUSIVE};
enum { N_QUICK = 5, N_FULL = 10 };

struct options {
    struct strobe_stats_options stats;
    struct strobe_cli_choice choice;
    const char *filter;
    enum sort_key sort;
    uint64_t limit;
    int csv, json, memory, stacks, has_sort;
};

/* A row as it is shown: times in ns. */
struct line {
    uint64_t number[NAME];
    const char *name, *function, *file;
    uint32_t n_name, n_function, n_file, source_line;
    char room[STROBE_NAME_ROOM];
};

enum { OPT_SORT = 256, OPT_LIMIT, OPT_FILTER };

static int read_key(const char *text, enum sort_key *out)
{
    for (int i = 0; i < N_KEYS; i++)
        if (!strcmp(text, key_names[i])) {
            *out = (enum sort_key)i;
            return 1;
        }
    strobe_cli_error("stats", "--sort knows no '%s'; see --help", text);
    return 0;
}

static int read_number(const char *option, const char *text, uint64_t *out)
{
    char *end;
    *out = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end)
        return 1;
    strobe_cli_error("stats", "%s takes a number, not '%s'", option, text);
    return 0;
}

/* -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct options *options)
{
    const struct option known[] = {{"sort", 1, NULL, OPT_SORT},
                                   {"limit", 1, NULL, OPT_LIMIT},
                                   {"filter", 1, NULL, OPT_FILTER},
                                   STROBE_CLI_CHOICE_OPTIONS,
                                   {"spans", 0, &options->stats.spans, 1},
                                   {"stacks", 0, &options->stacks, 1},
                                   {"gpu", 0, &options->stats.gpu, 1},
                                   {"inclusive", 0, &options->stats.inclusive, 1},
                                   {"exact", 0, &options->stats.exact, 1},
                                   {"quick", 0, &options->stats.quick, 1},
                                   {"memory", 0, &options->memory, 1},
                                   {"csv", 0, &options->csv, 1},
                                   {"json", 0, &options->json, 1},
                                   {"help", 0, NULL, 'h'},
                                   {0}};
    for (int c; (c = strobe_cli_option(argc, argv, "h", known)) != -1;) {
        int ok = c == 0;
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (c == OPT_SORT)
            ok = options->has_sort = read_key(optarg, &options->sort);
        else if (c == OPT_LIMIT)
            ok = read_number("--limit", optarg, &options->limit);
        else if (c == OPT_FILTER)
            ok = (options->filter = optarg) != NULL;
        else if (c)
            ok = strobe_cli_choice_set("stats", c, optarg, &options->choice) == 1;
        if (!ok)
            return STROBE_EXIT_USAGE;
    }
    if (options->sort == INCLUSIVE)
        options->stats.inclusive = 1;
    if (options->stats.inclusive && (options->stats.spans || options->stats.gpu)) {
        strobe_cli_error("stats", "inclusive times are those of zones: not with --spans or --gpu");
        return STROBE_EXIT_USAGE;
    }
    if (options->stats.gpu && (options->choice.by_device || options->choice.by_core)) {
        strobe_cli_error("stats", "a device's cores are threads of it: not with --gpu");
        return STROBE_EXIT_USAGE;
    }
    return -1;
}

/* A duration and a sum of durations as they are shown, in ns. */
static uint64_t ns_of(const struct strobe_stats *stats, uint64_t time)
{
    return stats->is_ns ? time : strobe_clock_ns(&stats->trace->clock, time);
}

static uint64_t sum_ns_of(const struct strobe_stats *stats, unsigned __int128 sum)
{
    return stats->is_ns ? (uint64_t)sum : strobe_clock_sum_ns(&stats->trace->clock, sum);
}

static uint64_t number_of(const struct strobe_stats *stats, const struct strobe_stats_row *row,
                          enum sort_key key)
{
    switch (key) {
    case TOTAL:
        return sum_ns_of(stats, row->total);
    case SELF:
        return sum_ns_of(stats, row->self);
    case COUNT:
        return row->count;
    case MEAN:
        return row->count ? sum_ns_of(stats, row->total) / row->count : 0;
    case MIN:
        return ns_of(stats, row->min);
    case MAX:
        return ns_of(stats, row->max);
    case STD:
        return ns_of(stats, strobe_stats_std(row));
    case P50:
    case P90:
    case P99:
        return ns_of(stats, row->percentile[key - P50]);
    case INCLUSIVE:
        return sum_ns_of(stats, row->inclusive);
    default:
        return 0;
    }
}

static void name_line(const struct strobe_trace *trace, const struct strobe_stats_row *row,
                      struct line *line)
{
    line->name = strobe_trace_loc_name(trace, row->loc, row->loc_id, line->room, &line->n_name);
    line->function = line->file = "";
    line->n_function = line->n_file = line->source_line = 0;
    if (row->loc != STROBE_IDMAP_NONE) {
        const struct strobe_loc_row *loc = &trace->locs[row->loc];
        line->function = strobe_trace_text(trace, loc->function, &line->n_function);
        line->file = strobe_trace_text(trace, loc->file, &line->n_file);
        line->source_line = loc->line;
    }
}

static void make_line(const struct strobe_stats *stats, const struct strobe_stats_row *row,
                      struct line *line)
{
    for (int i = 0; i < NAME; i++)
        line->number[i] = number_of(stats, row, (enum sort_key)i);
    name_line(stats->trace, row, line);
}

static int passes(const struct options *options, const struct line *line)
{
    return strobe_glob_fits(options->filter, line->name) ||
           strobe_glob_fits(options->filter, line->function) ||
           strobe_glob_fits(options->filter, line->file);
}

/* A row's place in the output. */
struct place {
    uint64_t number; /* its sort key */
    const struct strobe_stats_row *row;
};

static int compare_names(const struct strobe_trace *trace, const struct strobe_stats_row *a,
                         const struct strobe_stats_row *b)
{
    struct line x, y;
    name_line(trace, a, &x);
    name_line(trace, b, &y);
    int order = strcmp(x.name, y.name);
    if (!order)
        order = strcmp(x.file, y.file);
    return order ? order : (x.source_line > y.source_line) - (x.source_line < y.source_line);
}

struct sorting {
    const struct strobe_trace *trace;
    enum sort_key key;
};

static int compare(const void *a, const void *b, void *context)
{
    const struct place *x = a, *y = b;
    const struct sorting *sorting = context;
    if (x->number != y->number)
        return x->number > y->number ? -1 : 1;
    if (sorting->key == NAME)
        return compare_names(sorting->trace, x->row, y->row);
    return x->row < y->row ? -1 : x->row > y->row; /* in the order of the file */
}

/* The rows in the order in which they are shown; the caller frees it. NULL without memory. */
static struct place *sort_rows(const struct strobe_stats *stats, enum sort_key key)
{
    struct sorting sorting = {stats->trace, key};
    struct place *places = malloc((stats->n_rows + 1ull) * sizeof *places);
    for (uint32_t i = 0; places && i < stats->n_rows; i++)
        places[i] = (struct place){number_of(stats, &stats->rows[i], key), &stats->rows[i]};
    if (places)
        qsort_r(places, stats->n_rows, sizeof *places, compare, &sorting);
    return places;
}

/* Whether a column of --csv and --json is shown. */
static int is_shown(const struct strobe_stats *stats, int quick, int column)
{
    return columns[column] == INCLUSIVE ? stats->has_inclusive
                                        : column < (quick ? N_QUICK : N_FULL);
}

static void put_csv(struct strobe_out *out, const struct line *line,
                    const struct strobe_stats *stats, int quick)
{
    strobe_out_csv(out, line->name, line->n_name);
    strobe_out_char(out, ',');
    strobe_out_csv(out, line->function, line->n_function);
    strobe_out_char(out, ',');
    strobe_out_csv(out, line->file, line->n_file);
    strobe_out_char(out, ',');
    strobe_out_u(out, line->source_line);
    for (int i = 0; i <= N_FULL; i++) {
        if (!is_shown(stats, quick, i))
            continue;
        strobe_out_char(out, ',');
        strobe_out_u(out, line->number[columns[i]]);
    }
    strobe_out_char(out, '\n');
}

static void put_json(struct strobe_out *out, const struct line *line,
                     const struct strobe_stats *stats, int quick, int is_first)
{
    strobe_out_text(out, is_first ? "\n  {\"name\":" : ",\n  {\"name\":");
    strobe_out_json(out, line->name, line->n_name);
    strobe_out_text(out, ",\"function\":");
    strobe_out_json(out, line->function, line->n_function);
    strobe_out_text(out, ",\"file\":");
    strobe_out_json(out, line->file, line->n_file);
    strobe_out_format(out, ",\"line\":%u", line->source_line);
    for (int i = 0; i <= N_FULL; i++)
        if (is_shown(stats, quick, i))
            strobe_out_format(out, ",\"%s%s\":%" PRIu64, key_names[columns[i]],
                              columns[i] == COUNT ? "" : "_ns", line->number[columns[i]]);
    strobe_out_char(out, '}');
}

static void put_text(struct strobe_out *out, const struct line *line,
                     const struct strobe_stats *stats, int quick)
{
    static const enum sort_key order[] = {TOTAL, INCLUSIVE, SELF, MIN, MAX,
                                          MEAN,  STD,       P50,  P90, P99};
    char room[32];
    strobe_out_format(out, "%12s", strobe_number_show_count(line->number[COUNT], room));
    for (int i = 0; i < (quick ? 5 : 10); i++)
        if (order[i] != INCLUSIVE || stats->has_inclusive)
            strobe_out_format(out, " %11s", strobe_number_show_ns(line->number[order[i]], room));
    strobe_out_text(out, "  ");
    strobe_out_terminal(out, line->name, line->n_name);
    if (line->n_file) {
        strobe_out_text(out, "  (");
        strobe_out_terminal(out, line->file, line->n_file);
        strobe_out_format(out, ":%u)", line->source_line);
    }
    strobe_out_char(out, '\n');
}

static void put_head(struct strobe_out *out, const struct options *options,
                     const struct strobe_stats *stats)
{
    int quick = options->stats.quick;
    if (options->csv) {
        strobe_out_text(out, "name,function,file,line,count,total_ns,self_ns,min_ns,max_ns");
        strobe_out_text(out, quick ? "" : ",mean_ns,std_ns,p50_ns,p90_ns,p99_ns");
        strobe_out_text(out, stats->has_inclusive ? ",inclusive_ns\n" : "\n");
        return;
    }
    if (options->json) {
        struct strobe_json_writer json = {.out = out};
        strobe_json_write_open(&json, NULL, '{');
        strobe_cli_put_coverage_json(&json, stats->trace);
        strobe_out_format(out, ",\"percentile_error\":%s,\n\"zones\":[",
                          stats->is_exact ? "0" : "0.016");
        return;
    }
    const char *mark = stats->is_exact ? "" : "~";
    strobe_out_format(out, "%12s %11s", "count", "total");
    if (stats->has_inclusive)
        strobe_out_format(out, " %11s", "inclusive");
    strobe_out_format(out, " %11s %11s %11s", "self", "min", "max");
    if (!quick)
        strobe_out_format(out, " %11s %11s %10s%1s %10s%1s %10s%1s", "mean", "std", "p50", mark,
                          "p90", mark, "p99", mark);
    strobe_out_text(out, "  zone\n");
}

static void put_foot(struct strobe_out *out, const struct options *options,
                     const struct strobe_stats *stats, uint64_t n_left)
{
    if (!strobe_cli_end_rows(out, options->json, options->csv, n_left))
        return;
    if (!stats->n_rows)
        strobe_out_text(out, "no zones; functions by stack samples: strobe stats --stacks\n");
    else if (!stats->is_exact && !options->stats.quick)
        strobe_out_text(out, "~ from histograms, within 1.6 %; --exact for exact ones\n");
    if (stats->lacks_inclusive && !stats->has_inclusive)
        strobe_out_text(out, "this file's summaries have no inclusive time, and total counts every "
                             "call of a recursion; --inclusive reads the events\n");
    strobe_cli_put_coverage(out, stats->trace);
    strobe_out_char(out, '\n');
}

static void put_line(struct strobe_out *out, const struct options *options,
                     const struct strobe_stats *stats, const struct line *line, int is_first)
{
    if (options->csv)
        put_csv(out, line, stats, options->stats.quick);
    else if (options->json)
        put_json(out, line, stats, options->stats.quick, is_first);
    else
        put_text(out, line, stats, options->stats.quick);
}

static int print(const struct options *options, const struct strobe_stats *stats)
{
    struct strobe_out out;
    uint64_t n_shown = 0, n_left = 0;
    struct place *places = sort_rows(stats, options->sort);
    if (!places || !strobe_out_open(&out, 1)) {
        free(places);
        return strobe_cli_fail("stats", "output", STROBE_ERR_NOMEM);
    }
    put_head(&out, options, stats);
    for (uint32_t i = 0; i < stats->n_rows; i++) {
        struct line line;
        if (options->filter) {
            name_line(stats->trace, places[i].row, &line);
            if (!passes(options, &line))
                continue;
        }
        if (n_shown == options->limit) {
            n_left++;
            continue;
        }
        make_line(stats, places[i].row, &line);
        put_line(&out, options, stats, &line, n_shown++ == 0);
    }
    put_foot(&out, options, stats, n_left);
    free(places);
    return strobe_out_close(&out, "stats");
}

/* Functions by samples, of the same range and processes. */
static int run_stacks(const struct options *options, const char *path, struct strobe_trace *trace)
{
    if (options->has_sort && options->sort != SELF && options->sort != TOTAL &&
        options->sort != NAME) {
        strobe_cli_error("stats", "--stacks sorts by self, total or name");
        return STROBE_EXIT_USAGE;
    }
    return strobe_cli_stats_stacks(
        trace, path,
        &(struct strobe_cli_stacks){.samples = {.by_tick = options->stats.by_tick,
                                                .tick_min = options->stats.tick_min,
                                                .tick_max = options->stats.tick_max,
                                                .processes = options->stats.processes,
                                                .n_processes = options->stats.n_processes},
                                    .filter = options->filter,
                                    .limit = options->limit,
                                    .by_total = options->has_sort && options->sort == TOTAL,
                                    .by_name = options->has_sort && options->sort == NAME,
                                    .csv = options->csv,
                                    .json = options->json});
}

static int run(struct options *options, const char *path, struct strobe_trace *trace)
{
    struct strobe_stats stats;
    struct strobe_cli_chosen chosen;
    if (!strobe_cli_choose("stats", trace, &options->choice, &chosen)) {
        strobe_cli_chosen_free(&chosen);
        return STROBE_EXIT_FAILED;
    }
    options->stats.processes = chosen.processes;
    options->stats.n_processes = chosen.n_processes;
    options->stats.threads = chosen.threads;
    options->stats.n_threads = chosen.n_threads;
    options->stats.by_tick = chosen.by_tick;
    options->stats.tick_min = chosen.tick_min;
    options->stats.tick_max = chosen.tick_max;
    if (options->stacks) {
        int code = run_stacks(options, path, trace);
        strobe_cli_chosen_free(&chosen);
        return code;
    }
    enum strobe_err err = strobe_stats_run(trace, &options->stats, &stats);
    int code = err ? strobe_cli_fail("stats", path, err) : print(options, &stats);
    strobe_cli_warn_damage("stats", trace, stats.n_bad_parts);
    strobe_stats_free(&stats);
    strobe_cli_chosen_free(&chosen);
    return code;
}

int strobe_cli_stats(int argc, char **argv)
{
    struct options options = {.limit = UINT64_MAX};
    char room[STROBE_PATH_ROOM];
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    const char *path;
    struct strobe_trace *trace = strobe_cli_open_named("stats", argc, argv, room, &path);
    if (!trace)
        return STROBE_EXIT_FAILED;
    code = options.memory
               ? strobe_cli_stats_memory(
                     trace, path, options.csv ? STROBE_STATS_MEMORY_CSV : STROBE_STATS_MEMORY_TEXT)
               : run(&options, path, trace);
    strobe_trace_close(trace);
    return code;
}
