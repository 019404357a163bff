/* cmd_cut.c - strobe cut: a piece of a trace as a trace of its own.  SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/number.h"
#include "cli/choice.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "query/cut.h"

static const char help[] =
    "usage: strobe cut [options] -o OUT [FILE]\n"
    "\n"
    "A piece of a trace as a trace of its own: a range of time, some processes or threads. Blocks "
    "of events are copied as they are,\n"
    "so a range begins and ends up to a second outside; of processes and threads that were left "
    "out nothing is in the result,\n"
    "not even a name.\n"
    "\n"
    "  -o, --out OUT   where it goes; it never replaces a file\n"
    "  --range A..B    between A and B after the start\n"
    "  --from A        from A on\n"
    "  --to B          up to B\n"
    "  --process P     the process with this pid, or this in its name, and its devices\n"
    "  --thread T      the threads with this id, or this in their names\n" STROBE_CLI_CHOICE_HELP
    "\n"
    "examples:\n"
    "  strobe cut --from 10s --to 12s -o slow.strobe run.strobe\n"
    "  strobe cut --process worker -o worker.strobe run.strobe\n";

enum { OPT_FROM = 256, OPT_TO, OPT_THREAD };

struct options {
    struct strobe_cli_choice choice;
    const char *out;
    const char *thread; /* NULL: all */
};

/* One end of the range; the other stays. 0: it is none, and that was printed. */
static int read_end(int option, const char *text, struct strobe_cli_range *range)
{
    struct strobe_cli_range read;
    char room[64];
    int n = snprintf(room, sizeof room, option == OPT_TO ? "..%s" : "%s..", text);
    if (n < 0 || (size_t)n >= sizeof room || !strobe_cli_read_range(room, &read)) {
        strobe_cli_error("cut", "'%s' is no time; try 2s or 1500ms", text);
        return 0;
    }
    if (!range->is_set)
        *range = read;
    else if (option == OPT_TO)
        range->to_ns = read.to_ns;
    else
        range->from_ns = read.from_ns;
    return 1;
}

/* -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {{"out", 1, NULL, 'o'},
                                          {"from", 1, NULL, OPT_FROM},
                                          {"to", 1, NULL, OPT_TO},
                                          {"thread", 1, NULL, OPT_THREAD},
                                          STROBE_CLI_CHOICE_OPTIONS,
                                          {"help", 0, NULL, 'h'},
                                          {0}};
    for (int c; (c = strobe_cli_option(argc, argv, "ho:", known)) != -1;) {
        int ok = 1;
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (c == 'o')
            options->out = optarg;
        else if (c == OPT_THREAD)
            options->thread = optarg;
        else if (c == OPT_FROM || c == OPT_TO)
            ok = read_end(c, optarg, &options->choice.range);
        else
            ok = strobe_cli_choice_set("cut", c, optarg, &options->choice) == 1;
        if (!ok)
            return STROBE_EXIT_USAGE;
    }
    const struct strobe_cli_range *range = &options->choice.range;
    if (range->is_set && range->from_ns > range->to_ns)
        strobe_cli_error("cut", "the range ends before it begins: --from is behind --to");
    else if (!options->out)
        strobe_cli_error("cut", "say where it goes: -o OUT");
    else
        return -1;
    return STROBE_EXIT_USAGE;
}

/* Of what was chosen only these threads, and the processes that have one of them. 0: there is none, and that was printed. */
static int choose_threads(const struct strobe_trace *trace, const char *wanted,
                          struct strobe_cli_chosen *chosen)
{
    uint32_t n_found = 0, n_threads = trace->thread_ids.n;
    uint8_t *threads = calloc(n_threads + 1u, 1), *processes = calloc(trace->n_processes + 1u, 1);
    for (uint32_t i = 0; i < n_threads && threads && processes; i++) {
        char room[STROBE_NAME_ROOM], tid[24];
        uint32_t n, process = trace->threads[i].process;
        const char *name = strobe_trace_thread_name(trace, i, room, &n);
        snprintf(tid, sizeof tid, "%llu", (unsigned long long)trace->threads[i].tid);
        if ((!strobe_glob_fits(wanted, name) && strcmp(tid, wanted)) ||
            (chosen->processes && !chosen->processes[process]) ||
            (chosen->threads && !chosen->threads[i]))
            continue;
        threads[i] = processes[process] = 1;
        n_found++;
    }
    free(chosen->threads);
    free(chosen->processes);
    chosen->threads = threads;
    chosen->processes = processes;
    chosen->n_threads = n_threads;
    chosen->n_processes = trace->n_processes;
    if (!n_found)
        strobe_cli_error("cut", "no thread is called '%s'; 'strobe csv --kind threads' lists them",
                         wanted);
    return n_found != 0;
}

static int cut(struct strobe_trace *trace, const char *path, const struct options *options)
{
    struct strobe_cli_chosen chosen = {0};
    int code = STROBE_EXIT_FAILED;
    if (strobe_cli_choose("cut", trace, &options->choice, &chosen) &&
        (!options->thread || choose_threads(trace, options->thread, &chosen))) {
        const struct strobe_cut_options piece = {.by_tick = chosen.by_tick,
                                                 .tick_min = chosen.tick_min,
                                                 .tick_max = chosen.tick_max,
                                                 .processes = chosen.processes,
                                                 .n_processes = chosen.n_processes,
                                                 .threads = chosen.threads,
                                                 .n_threads = chosen.n_threads,
                                                 .closed = 1};
        uint64_t n_bytes = 0;
        enum strobe_err err = strobe_cut_write(trace, &piece, options->out, &n_bytes);
        if (err == STROBE_ERR_BUSY)
            strobe_cli_error("cut", "%s is there; remove it or choose another name", options->out);
        else if (err) /* what is damaged is the trace; what can't be written is the piece */
            strobe_cli_fail("cut", err == STROBE_ERR_CORRUPT ? path : options->out, err);
        else
            printf("%s: %llu bytes\n", options->out, (unsigned long long)n_bytes);
        code = err ? STROBE_EXIT_FAILED : STROBE_EXIT_OK;
    }
    strobe_cli_chosen_free(&chosen);
    return code;
}

int strobe_cli_cut(int argc, char **argv)
{
    struct options options = {0};
    char room[STROBE_PATH_ROOM];
    const char *path;
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    struct strobe_trace *trace = strobe_cli_open_named("cut", argc, argv, room, &path);
    if (!trace)
        return STROBE_EXIT_FAILED;
    code = cut(trace, path, &options);
    strobe_trace_close(trace);
    return code;
}
