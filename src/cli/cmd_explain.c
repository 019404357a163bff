/* cmd_explain.c - strobe explain: where the time of a trace went, in words and rows.  SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/explain_format.h"
#include "cli/input.h"
#include "cli/out.h"

static const char help[] =
    "usage: strobe explain [options] [FILE]\n"
    "\n"
    "Where the time went: the critical path over threads, processes and devices, from its end back "
    "to its begin, and the cause\n"
    "that it points to. Each statement has a query that gives its number again, zones as evidence, "
    "and what could be gained at\n"
    "most. What the trace does not say is \"not known\". Without a FILE, the newest trace in this "
    "folder is explained.\n"
    "\n"
    "  --zone NAME     a step is a zone of this name: the path of each, all of them together\n"
    "  --from TIME     from here on, after the start of the recording: 2s, 1500ms, 0.5\n"
    "  --to TIME       up to here\n"
    "  --queries       print the queries, too\n"
    "  --json          all of it as JSON\n"
    "\n"
    "examples:\n"
    "  strobe explain run.strobe\n"
    "  strobe explain --zone step --json run.strobe\n";

enum { OPT_ZONE = 256, OPT_FROM, OPT_TO, OPT_QUERIES, OPT_JSON };

struct options {
    struct strobe_explain_options explain;
    int json, queries;
};

/* 0: it is no time, and that was printed. */
static int read_time(const char *option, const char *text, int is_end, struct options *options)
{
    struct strobe_cli_range range;
    char room[64];
    int n = snprintf(room, sizeof room, is_end ? "..%s" : "%s..", text);
    if (n < 0 || (size_t)n >= sizeof room || !strobe_cli_read_range(room, &range)) {
        strobe_cli_error("explain", "%s takes a time, 2s or 1500ms, not '%s'", option, text);
        return 0;
    }
    if (!options->explain.by_time) {
        options->explain.from_ns = 0;
        options->explain.to_ns = INT64_MAX / 2;
    }
    options->explain.by_time = 1;
    if (is_end)
        options->explain.to_ns = range.to_ns;
    else
        options->explain.from_ns = range.from_ns;
    return 1;
}

/* -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {{"zone", 1, NULL, OPT_ZONE},
                                          {"from", 1, NULL, OPT_FROM},
                                          {"to", 1, NULL, OPT_TO},
                                          {"queries", 0, NULL, OPT_QUERIES},
                                          {"json", 0, NULL, OPT_JSON},
                                          {"help", 0, NULL, 'h'},
                                          {0}};
    for (int c; (c = strobe_cli_option(argc, argv, "h", known)) != -1;) {
        int ok = c != '?';
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (c == OPT_ZONE)
            options->explain.zone = optarg;
        else if (c == OPT_FROM || c == OPT_TO)
            ok = read_time(c == OPT_FROM ? "--from" : "--to", optarg, c == OPT_TO, options);
        else if (c == OPT_QUERIES)
            options->queries = 1;
        else if (c == OPT_JSON)
            options->json = 1;
        if (!ok)
            return STROBE_EXIT_USAGE;
    }
    return -1;
}

int strobe_cli_explain(int argc, char **argv)
{
    struct options options = {0};
    struct strobe_explain explain = {0};
    struct strobe_out out;
    char room[STROBE_PATH_ROOM];
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    const char *path = strobe_cli_find_trace("explain", argc, argv, optind, room);
    if (!path)
        return STROBE_EXIT_FAILED;
    enum strobe_err err = strobe_explain_run(path, &options.explain, &explain);
    if (err || !strobe_out_open(&out, 1)) {
        strobe_explain_free(&explain);
        return strobe_cli_fail("explain", path, err ? err : STROBE_ERR_NOMEM);
    }
    if (options.json)
        strobe_explain_put_json(&out, &explain);
    else
        strobe_explain_put_text(&out, &explain, options.queries);
    strobe_explain_free(&explain);
    return strobe_out_close(&out, "explain") ? STROBE_EXIT_FAILED : STROBE_EXIT_OK;
}
