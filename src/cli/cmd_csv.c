/* cmd_csv.c - strobe csv: a row per zone, message, plot value.  SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/choice.h"
#include "cli/cli.h"
#include "export/csv.h"
#include "cli/out.h"

static const char help_top[] =
    "usage: strobe csv [options] [FILE]\n"
    "\n"
    "One row per event (RFC 4180, first row: the columns' names) on stdout. FILE is a .strobe "
    "trace; without\n"
    "one, the newest in this folder. Times are ns after the start of the recording.\n"
    "\n"
    "  --kind KIND     what the rows are; default: zones\n"
    "  --range A..B    what begins between A and B after the start: 1.5s..2s, 100ms.., ..3s\n"
    "  --process P     of the process with this pid, or this in its name\n" STROBE_CLI_CHOICE_HELP
    "\n"
    "kinds:\n"
    "  zones       zones in the order of their ends, thread by thread; fibers' and open ones at "
    "the end\n"
    "  spans       asynchronous spans\n";

static const char help_end[] =
    "\n"
    "The state of a zone: ended, open (at the end of the trace), unfinished (its end is missing), "
    "no_begin (its\n"
    "begin is missing; start_ns is its end). Only ended zones have a duration.\n"
    "\n"
    "examples:\n"
    "  strobe csv >zones.csv\n"
    "  strobe csv --kind messages --range 10s.. run.strobe\n"
    "  strobe csv --device 0 --core 0..3,0 --from-signpost warm --to-signpost done run.strobe\n"
    "  strobe csv --kind losses run.strobe\n";

struct options {
    const char *kind;
    struct strobe_cli_choice choice;
};

static void print_help(void)
{
    fputs(help_top, stdout);
    for (size_t i = 0; i < strobe_csv_n_kinds; i++)
        printf("  %-10s  %s\n", strobe_csv_kinds[i].name, strobe_csv_kinds[i].help);
    for (size_t i = 0; i < strobe_csv_n_facts; i++)
        printf("  %-10s  %s\n", strobe_csv_facts[i].name, strobe_csv_facts[i].help);
    fputs(help_end, stdout);
}

/* -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"kind", 1, NULL, 'k'}, STROBE_CLI_CHOICE_OPTIONS, {"help", 0, NULL, 'h'}, {0}};
    for (int c; (c = strobe_cli_option(argc, argv, "h", known)) != -1;) {
        if (c == 'h') {
            print_help();
            return STROBE_EXIT_OK;
        } else if (c == 'k') {
            options->kind = optarg;
        } else if (strobe_cli_choice_set("csv", c, optarg, &options->choice) != 1) {
            return STROBE_EXIT_USAGE;
        }
    }
    return -1;
}

static const struct strobe_csv_kind *find_kind(const char *name)
{
    for (size_t i = 0; i < strobe_csv_n_kinds; i++)
        if (!strcmp(name, strobe_csv_kinds[i].name))
            return &strobe_csv_kinds[i];
    return NULL;
}

static const struct strobe_csv_facts *find_facts(const char *name)
{
    for (size_t i = 0; i < strobe_csv_n_facts; i++)
        if (!strcmp(name, strobe_csv_facts[i].name))
            return &strobe_csv_facts[i];
    return NULL;
}

/* The walk that gives the rows; 0: there is no such kind. */
static int set_walk(const char *kind, struct strobe_csv *csv, struct strobe_walk *walk)
{
    const struct strobe_csv_kind *events = find_kind(kind);
    if (!strcmp(kind, "zones")) {
        strobe_out_text(csv->out, strobe_csv_zones_head);
        walk->zones = strobe_csv_zones;
        walk->want_notes = walk->want_fibers = walk->want_open = 1;
        walk->any_order = !csv->threads;
    } else if (!strcmp(kind, "spans")) {
        strobe_out_text(csv->out, strobe_csv_spans_head);
        walk->zones = strobe_csv_spans;
        walk->want_spans = walk->want_open = 1;
    } else if (events) {
        strobe_out_text(csv->out, events->head);
        csv->kind = events;
        walk->happens = strobe_csv_put_event;
        walk->kinds = events->kinds;
    } else {
        return 0;
    }
    return 1;
}

/* Threads know what is stored of them after a walk over all parts. */
static enum strobe_err put_facts(const struct strobe_csv_facts *facts, struct strobe_csv *csv)
{
    struct strobe_walk walk = {.trace = csv->trace};
    enum strobe_err err = facts->needs_walk ? strobe_walk_run(&walk) : STROBE_OK;
    strobe_out_text(csv->out, facts->head);
    enum strobe_err put = facts->put(csv);
    return err ? err : put;
}

static enum strobe_err put_rows(const struct options *options,
                                const struct strobe_cli_chosen *chosen, struct strobe_csv *csv)
{
    struct strobe_walk walk = {.trace = csv->trace, .context = csv};
    const struct strobe_csv_facts *facts = find_facts(options->kind);
    if (facts)
        return put_facts(facts, csv);
    set_walk(options->kind, csv, &walk);
    walk.by_tick = chosen->by_tick;
    walk.tick_min = chosen->tick_min;
    walk.tick_max = chosen->tick_max;
    enum strobe_err err = strobe_walk_run(&walk);
    strobe_out_flush(csv->out);
    strobe_cli_warn_damage("csv", csv->trace, walk.n_bad_parts);
    return err;
}

static int run(const struct options *options, const char *path, struct strobe_trace *trace)
{
    struct strobe_out out;
    struct strobe_cli_chosen chosen;
    if (!strobe_cli_choose("csv", trace, &options->choice, &chosen)) {
        strobe_cli_chosen_free(&chosen);
        return STROBE_EXIT_FAILED;
    }
    struct strobe_csv csv = {.trace = trace,
                             .out = &out,
                             .processes = chosen.processes,
                             .n_processes = chosen.n_processes,
                             .threads = chosen.threads,
                             .n_threads = chosen.n_threads};
    enum strobe_err err = STROBE_ERR_NOMEM;
    csv.locs = calloc(STROBE_CSV_LOCS, sizeof *csv.locs);
    csv.symbols = strobe_symbols_open(trace);
    int is_open = strobe_out_open(&out, 1);
    if (csv.locs && csv.symbols && is_open)
        err = put_rows(options, &chosen, &csv);
    int code = STROBE_EXIT_OK;
    if (err && !(is_open && out.error))
        code = strobe_cli_fail("csv", path, err);
    if (is_open && strobe_out_close(&out, "csv"))
        code = STROBE_EXIT_FAILED;
    strobe_symbols_close(csv.symbols);
    free(csv.locs);
    strobe_cli_chosen_free(&chosen);
    return code;
}

static int is_kind(const char *kind)
{
    return !strcmp(kind, "zones") || !strcmp(kind, "spans") || find_kind(kind) || find_facts(kind);
}

int strobe_cli_csv(int argc, char **argv)
{
    struct options options = {.kind = "zones"};
    char room[STROBE_PATH_ROOM];
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    if (!is_kind(options.kind)) {
        strobe_cli_error("csv", "there is no kind '%s'; 'strobe csv --help' lists them",
                         options.kind);
        return STROBE_EXIT_USAGE;
    }
    const char *path;
    struct strobe_trace *trace = strobe_cli_open_named("csv", argc, argv, room, &path);
    if (!trace)
        return STROBE_EXIT_FAILED;
    code = run(&options, path, trace);
    strobe_trace_close(trace);
    return code;
}
