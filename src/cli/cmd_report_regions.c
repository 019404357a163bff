/* cmd_report_regions.c - strobe report --by-region: what ran inside named regions of a trace.
 * The sums: query/regions.h.  SPDX-License-Identifier: MIT */
#include "base/glob.h"
#include "cli/cmd_report.h"
#include "cli/choice.h"
#include "cli/out.h"
#include "query/regions.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: strobe report --by-region [options] [FILE.strobe]\n"
    "\n"
    "Sums the zones that begin inside named regions of a trace, by name, over all threads, "
    "processes and devices.\n"
    "A region is the time between a signpost and the next one, an asynchronous span, a zone, or "
    "the time between\n"
    "two messages. Without FILE, the newest trace in this folder.\n"
    "\n"
    "  --region WHAT   zone:NAME, span:NAME, signpost:HEADER or message:TEXT; may be given again. "
    "A name with * ? [ has to\n"
    "                  match as a whole, else it is looked for in the name. Default: all signposts "
    "and spans\n"
    "  --zone NAME     sum only zones of such names; may be given again\n"
    "  --scope S       all (default), process, thread: only zones of the process, or the thread, "
    "that the region is on\n"
    "  --range A..B, --process P\n"
    "                  sum only zones that begin between A and B after the start; of that "
    "process\n" STROBE_CLI_CHOICE_HELP
    "  --top N         on the terminal: how many names of each region (default 10)\n"
    "  --csv, --json   for programs; all times in ns\n"
    "\n"
    "A zone counts once in each region, with its whole duration, even where it ends later. Zones "
    "that make a region are\n"
    "not in it. total adds up what is nested too; self does not.\n"
    "\n"
    "examples:\n"
    "  strobe report --by-region run.strobe\n"
    "  strobe report --by-region --region 'zone:step *' --zone '*_dispatch_*' --csv run.strobe\n";

enum { MOST_PATTERNS = 256 };

struct settings {
    struct strobe_regions_options regions;
    struct strobe_region_want wants[MOST_PATTERNS];
    const char *zones[MOST_PATTERNS];
    struct strobe_cli_choice choice;
    uint64_t top;
    int csv, json;
};

static int add_region(struct settings *settings, const char *text)
{
    const char *colon = strchr(text, ':');
    enum strobe_region_kind kind;
    if (colon && strobe_region_kind_find(text, (size_t)(colon - text), &kind) &&
        settings->regions.n_wants < MOST_PATTERNS) {
        settings->wants[settings->regions.n_wants++] = (struct strobe_region_want){kind, colon + 1};
        return 1;
    }
    strobe_cli_error("report", "'%s' is no region; try zone:NAME, span:NAME, signpost:HEADER",
                     text);
    return 0;
}

static int set_scope(struct settings *settings, const char *text)
{
    static const char *const names[] = {"all", "process", "thread"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i])) {
            settings->regions.scope = (enum strobe_region_scope)i;
            return 1;
        }
    strobe_cli_error("report", "--scope knows all, process and thread, not '%s'", text);
    return 0;
}

static int set_top(struct settings *settings, const char *text)
{
    char *end;
    settings->top = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end)
        return 1;
    strobe_cli_error("report", "--top wants a number, not '%s'", text);
    return 0;
}

/* -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct settings *settings)
{
    const struct option known[] = {{"by-region", 0, NULL, 'b'},     {"region", 1, NULL, 'r'},
                                   {"zone", 1, NULL, 'z'},          {"scope", 1, NULL, 's'},
                                   {"top", 1, NULL, 't'},           {"csv", 0, &settings->csv, 1},
                                   {"json", 0, &settings->json, 1}, {"help", 0, NULL, 'h'},
                                   STROBE_CLI_CHOICE_OPTIONS,       {0}};
    optind = 1;
    for (int c; (c = strobe_cli_option(argc, argv, "h", known)) != -1;) {
        int ok = c == 0 || c == 'b';
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (c == 'r')
            ok = add_region(settings, optarg);
        else if (c == 's')
            ok = set_scope(settings, optarg);
        else if (c == 't')
            ok = set_top(settings, optarg);
        else if (c == 'z' && (ok = settings->regions.n_zones < MOST_PATTERNS))
            settings->zones[settings->regions.n_zones++] = optarg;
        else if (!ok)
            ok = strobe_cli_choice_set("report", c, optarg, &settings->choice) == 1;
        if (!ok)
            return STROBE_EXIT_USAGE;
    }
    if (settings->csv && settings->json) {
        strobe_cli_error("report", "--csv and --json exclude each other");
        return STROBE_EXIT_USAGE;
    }
    return -1;
}

/* ---- the three outputs: regions in the order of their first stretch, names by their total ---- */

struct printing {
    const struct settings *settings;
    const struct strobe_regions *regions;
    struct strobe_out *out;
    struct strobe_json_writer json;
};

static const char *text_of(const struct printing *p, uint32_t name, uint32_t *n)
{
    return strobe_texts_get(&p->regions->texts, name, n);
}

static void put_csv_row(const struct printing *p, const struct strobe_region *region,
                        const struct strobe_region_row *row)
{
    uint32_t n;
    const char *name = text_of(p, region->name, &n);
    strobe_out_csv(p->out, name, n);
    strobe_out_format(p->out, ",%s,%llu,%llu,", strobe_region_kind_name(region->kind),
                      (unsigned long long)region->n_stretches, (unsigned long long)region->ns);
    name = text_of(p, row->name, &n);
    strobe_out_csv(p->out, name, n);
    strobe_out_format(p->out, ",%llu,%llu,%llu\n", (unsigned long long)row->count,
                      (unsigned long long)row->total_ns, (unsigned long long)row->self_ns);
}

static void put_text_row(const struct printing *p, const struct strobe_region_row *row)
{
    char room[32];
    uint32_t n;
    const char *name = text_of(p, row->name, &n);
    strobe_out_format(p->out, "  %12s", strobe_number_show_count(row->count, room));
    strobe_out_format(p->out, " %11s", strobe_number_show_ns(row->total_ns, room));
    strobe_out_format(p->out, " %11s  ", strobe_number_show_ns(row->self_ns, room));
    strobe_out_terminal(p->out, name, n);
    strobe_out_char(p->out, '\n');
}

static void put_json_row(struct printing *p, const struct strobe_region_row *row)
{
    uint32_t n;
    const char *name = text_of(p, row->name, &n);
    strobe_json_write_open(&p->json, NULL, '{');
    strobe_json_write_text(&p->json, "name", name, n);
    strobe_json_write_u(&p->json, "count", row->count);
    strobe_json_write_u(&p->json, "total_ns", row->total_ns);
    strobe_json_write_u(&p->json, "self_ns", row->self_ns);
    strobe_json_write_close(&p->json, '}');
}

static void open_region(struct printing *p, const struct strobe_region *region)
{
    char room[32], wall[32], self[32];
    uint32_t n;
    const char *name = text_of(p, region->name, &n);
    if (p->settings->json) {
        strobe_json_write_line(&p->json, 1);
        strobe_json_write_open(&p->json, NULL, '{');
        strobe_json_write_text(&p->json, "region", name, n);
        strobe_json_write_string(&p->json, "kind", strobe_region_kind_name(region->kind));
        strobe_json_write_u(&p->json, "stretches", region->n_stretches);
        strobe_json_write_u(&p->json, "ns", region->ns);
        strobe_json_write_u(&p->json, "zones_count", region->n_zones);
        strobe_json_write_u(&p->json, "self_ns", region->self_ns);
        strobe_json_write_open(&p->json, "zones", '[');
    } else if (!p->settings->csv) {
        strobe_out_format(p->out, "%s ", strobe_region_kind_name(region->kind));
        strobe_out_terminal(p->out, name, n);
        strobe_out_format(p->out, ": %s times, %s; %s in zones\n",
                          strobe_number_show_count(region->n_stretches, room),
                          strobe_number_show_ns(region->ns, wall),
                          strobe_number_show_ns(region->self_ns, self));
    }
}

static void close_region(struct printing *p, uint64_t n_rows)
{
    if (p->settings->json) {
        strobe_json_write_close(&p->json, ']');
        strobe_json_write_close(&p->json, '}');
    } else if (!p->settings->csv && n_rows > p->settings->top) {
        strobe_out_format(p->out, "  and %llu more names\n",
                          (unsigned long long)(n_rows - p->settings->top));
    }
}

/* The rows of one region, from *at on. */
static void put_region(struct printing *p, uint32_t number, uint64_t *at)
{
    const struct strobe_regions *regions = p->regions;
    const struct strobe_region *region = &regions->regions[number];
    uint64_t n_rows = 0;
    open_region(p, region);
    for (; *at < regions->row_ids.n && regions->rows[*at].region == number; (*at)++, n_rows++) {
        if (p->settings->json)
            put_json_row(p, &regions->rows[*at]);
        else if (p->settings->csv)
            put_csv_row(p, region, &regions->rows[*at]);
        else if (n_rows < p->settings->top)
            put_text_row(p, &regions->rows[*at]);
    }
    close_region(p, n_rows);
}

static enum strobe_err put_all(struct printing *p, struct strobe_regions *regions)
{
    uint32_t *order = strobe_regions_sort(regions);
    if (!order)
        return STROBE_ERR_NOMEM;
    if (p->settings->json) {
        strobe_json_write_open(&p->json, NULL, '{');
        strobe_cli_put_coverage_json(&p->json, regions->trace);
        strobe_json_write_open(&p->json, "regions", '[');
    } else if (p->settings->csv) {
        strobe_out_text(p->out, "region,kind,stretches,region_ns,zone,count,total_ns,self_ns\n");
    }
    uint64_t at = 0;
    for (uint32_t i = 0; i < regions->n_regions; i++)
        put_region(p, order[i], &at);
    if (p->settings->json) {
        strobe_json_write_close(&p->json, ']');
        strobe_json_write_close(&p->json, '}');
        strobe_out_char(p->out, '\n');
    } else if (!p->settings->csv) {
        strobe_cli_put_coverage(p->out, regions->trace);
        strobe_out_char(p->out, '\n');
    }
    free(order);
    return STROBE_OK;
}

static int run(const struct settings *settings, struct strobe_trace *trace, const char *path)
{
    struct strobe_regions regions = {0};
    struct strobe_out out;
    enum strobe_err err = strobe_regions_run(trace, &settings->regions, &regions);
    int code = STROBE_EXIT_OK;
    if (!err && !regions.n_regions)
        strobe_cli_error("report", "%s has none of these regions; --region names others", path);
    if (!err && strobe_out_open(&out, 1)) {
        struct printing printing = {settings, &regions, &out, {.out = &out}};
        err = put_all(&printing, &regions);
        if (strobe_out_close(&out, "report"))
            code = STROBE_EXIT_FAILED;
    } else if (!err) {
        err = STROBE_ERR_NOMEM;
    }
    if (err)
        code = strobe_cli_fail("report", path, err);
    strobe_cli_warn_damage("report", trace, regions.n_bad_parts);
    strobe_regions_close(&regions);
    return code;
}

int strobe_cli_report_regions(int argc, char **argv)
{
    struct settings settings = {.top = 10, .regions = {.matches = strobe_glob_fits}};
    char room[STROBE_PATH_ROOM];
    const char *path;
    int code = read_options(argc, argv, &settings);
    if (code >= 0)
        return code;
    if (!settings.regions.n_wants) {
        add_region(&settings, "signpost:");
        add_region(&settings, "span:");
    }
    settings.regions.wants = settings.wants;
    settings.regions.zones = settings.zones;
    struct strobe_trace *trace = strobe_cli_open_named("report", argc, argv, room, &path);
    if (!trace)
        return STROBE_EXIT_FAILED;
    struct strobe_cli_chosen chosen;
    code = STROBE_EXIT_FAILED;
    if (strobe_cli_choose("report", trace, &settings.choice, &chosen)) {
        settings.regions.processes =
            (struct strobe_region_picked){chosen.processes, chosen.n_processes};
        settings.regions.threads = (struct strobe_region_picked){chosen.threads, chosen.n_threads};
        settings.regions.by_tick = chosen.by_tick;
        settings.regions.tick_min = chosen.tick_min;
        settings.regions.tick_max = chosen.tick_max;
        code = run(&settings, trace, path);
    }
    strobe_cli_chosen_free(&chosen);
    strobe_trace_close(trace);
    return code;
}
