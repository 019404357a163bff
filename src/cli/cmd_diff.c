/* cmd_diff.c - strobe diff: two sets of runs compared, or recorded in turns and compared.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/diff_format.h"
#include "cli/input.h"
#include "cli/out.h"

static const char help[] =
    "usage: strobe diff [options] A.strobe… -- B.strobe…\n"
    "       strobe diff --record [-n RUNS] [-o FOLDER] [options] 'COMMAND A' 'COMMAND B'\n"
    "\n"
    "What changed between two sets of runs, zone by zone (by name, function and file). The unit is "
    "the run: give "
    "three of each at\n"
    "the least, five are better, and record them in turns, as --record does. Each zone gets one of "
    "three answers: "
    "slower or faster,\n"
    "with an interval; the same within the floor; can't tell, with the number of runs that it "
    "would take.\n"
    "\n"
    "  --of WHAT           zones (default); ops: programs on devices; samples: functions; memory: "
    "pools; counters: plots\n"
    "  --metric M          mean (default): of a zone's duration; self: without its children; "
    "total: of all its zones\n"
    "  --floor SHARE       changes up to this are none: 2% (default)\n"
    "  --fail-over SHARE   exit code 3 where a zone is slower by more than this\n"
    "  --format FORMAT     table (default), markdown, html, csv or json\n"
    "  --limit N           rows of table, markdown and html: 30 (default)\n"
    "  --all               show what did not change, too\n"
    "  --record            run the two commands in turns, record each run, compare\n"
    "  -n, --runs RUNS     of each: 5 (default)\n"
    "  -o, --output FOLDER where the recorded runs go; default: strobe-diff\n"
    "\n"
    "Exit codes: 0; 1 a trace could not be read or a command failed; 2 wrong usage; 3 over "
    "--fail-over.\n"
    "\n"
    "examples:\n"
    "  strobe diff old-*.strobe -- new-*.strobe\n"
    "  strobe diff --record -n 5 --fail-over 3% --format markdown './bench-main' './bench-branch' "
    ">comment.md\n";

enum { EXIT_OVER = 3 };
enum { OPT_METRIC = 256, OPT_FLOOR, OPT_FAIL, OPT_FORMAT, OPT_LIMIT, OPT_ALL, OPT_RECORD, OPT_OF };

struct options {
    struct strobe_diff_options diff;
    struct strobe_diff_show show;
    double fail_over; /* NAN: not asked for */
    int record;
    uint32_t n_runs;
    const char *folder;
};

/* "3%" or "0.03". 0: it is none. */
static int read_share(const char *option, const char *text, double *out)
{
    char *end;
    double share = strtod(text, &end);
    if (end != text && *end == '%' && !end[1])
        share /= 100, end++;
    if (end != text && !*end && share >= 0 && share < 10) {
        *out = share;
        return 1;
    }
    strobe_cli_error("diff", "%s takes a share, 3%% or 0.03, not '%s'", option, text);
    return 0;
}

static int read_number(const char *option, const char *text, uint32_t *out)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && value && value <= 1000000) {
        *out = (uint32_t)value;
        return 1;
    }
    strobe_cli_error("diff", "%s takes a number, not '%s'", option, text);
    return 0;
}

static int read_metric(const char *text, struct options *options)
{
    static const char *const names[] = {"mean", "self", "total"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i])) {
            options->diff.metric = (enum strobe_diff_metric)i;
            options->show.metric = names[i];
            return 1;
        }
    strobe_cli_error("diff", "there is no metric '%s'; mean, self, total", text);
    return 0;
}

static int read_subject(const char *text, struct options *options)
{
    const struct strobe_diff_subject *subject = strobe_diff_find_subject(text);
    if (!subject) {
        strobe_cli_error("diff",
                         "there is nothing called '%s' to compare; zones, ops, samples, "
                         "memory, counters",
                         text);
        return 0;
    }
    options->show.subject = subject;
    options->diff.is_no_time = strcmp(subject->unit, "ns") != 0;
    return 1;
}

static int take_option(int c, struct options *options)
{
    switch (c) {
    case OPT_OF:
        return read_subject(optarg, options);
    case OPT_METRIC:
        return read_metric(optarg, options);
    case OPT_FLOOR:
        return read_share("--floor", optarg, &options->diff.floor);
    case OPT_FAIL:
        return read_share("--fail-over", optarg, &options->fail_over);
    case OPT_FORMAT:
        options->show.format = optarg;
        if (!strobe_diff_knows(optarg))
            strobe_cli_error("diff", "there is no format '%s'; table, markdown, html, csv, json",
                             optarg);
        return strobe_diff_knows(optarg);
    case OPT_LIMIT:
        return read_number("--limit", optarg, &options->show.limit);
    case OPT_ALL:
        return options->show.all = 1;
    case OPT_RECORD:
        return options->record = 1;
    case 'n':
        return read_number("--runs", optarg, &options->n_runs);
    case 'o':
        options->folder = optarg;
        return 1;
    }
    return 0;
}

/* -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"metric", 1, NULL, OPT_METRIC}, {"of", 1, NULL, OPT_OF},
        {"floor", 1, NULL, OPT_FLOOR},   {"fail-over", 1, NULL, OPT_FAIL},
        {"format", 1, NULL, OPT_FORMAT}, {"limit", 1, NULL, OPT_LIMIT},
        {"all", 0, NULL, OPT_ALL},       {"record", 0, NULL, OPT_RECORD},
        {"runs", 1, NULL, 'n'},          {"output", 1, NULL, 'o'},
        {"help", 0, NULL, 'h'},          {0}};
    for (int c; (c = strobe_cli_option(argc, argv, "+hn:o:", known)) != -1;) {
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (!take_option(c, options))
            return STROBE_EXIT_USAGE;
    }
    options->show.floor = options->diff.floor;
    return -1;
}

/* A run of a command under `strobe record`. 0: it failed. */
static int record_run(const char *command, const char *path)
{
    extern char **environ;
    const char *words[] = {"strobe", "record", "-q", "-o", path, "--", "sh", "-c", command, NULL};
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (!code) { /* what it prints is none of the report, which may be JSON */
        code = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
        if (!code)
            code =
                posix_spawn(&pid, "/proc/self/exe", &actions, NULL, (char *const *)words, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (code) {
        strobe_cli_error("diff", "strobe record could not be started: %s", strerror(code));
        return 0;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && !WEXITSTATUS(status))
        return 1;
    strobe_cli_error("diff", "'%s' ended with %s %d", command,
                     WIFEXITED(status) ? "exit code" : "signal",
                     WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return 0;
}

/* In turns, A B B A: what drifts meanwhile is in both. */
static int record_all(struct strobe_diff *diff, const struct options *options, char **commands)
{
    char path[STROBE_PATH_ROOM];
    if (mkdir(options->folder, 0777) && errno != EEXIST) {
        strobe_cli_error("diff", "%s: %s", options->folder, strerror(errno));
        return 0;
    }
    for (uint32_t i = 0; i < 2 * options->n_runs; i++) {
        uint32_t run = i / 2;
        int set = (int)(i % 2) ^ (int)(run % 2);
        int n = snprintf(path, sizeof path, "%s/%c%u.strobe", options->folder, 'a' + set, run + 1);
        if (n < 0 || (size_t)n >= sizeof path) {
            strobe_cli_error("diff", "the folder's name is too long");
            return 0;
        }
        if (isatty(2))
            fprintf(stderr, "\r\033[Kstrobe diff: run %u of %u", i + 1, 2 * options->n_runs);
        if (!record_run(commands[set], path) ||
            !strobe_diff_add_subject(diff, set, options->show.subject, path))
            return 0;
    }
    if (isatty(2))
        fprintf(stderr, "\r\033[K");
    return 1;
}

/* Files before -- are A's, those behind it B's. 0: wrong usage or failed, with the exit code in *code. */
static int add_files(struct strobe_diff *diff, const struct strobe_diff_subject *subject, int argc,
                     char **argv, int *code)
{
    int set = 0, n[2] = {0};
    *code = STROBE_EXIT_FAILED;
    for (int i = optind; i < argc; i++) {
        if (!strcmp(argv[i], "--") && !set++)
            continue;
        n[set]++;
        if (!strobe_diff_add_subject(diff, set, subject, argv[i]))
            return 0;
    }
    if (n[0] && n[1])
        return 1;
    *code = STROBE_EXIT_USAGE;
    strobe_cli_error("diff", "give the runs of A, then --, then the runs of B");
    return 0;
}

static int is_over(const struct strobe_diff_result *result, double fail_over)
{
    for (uint32_t i = 0; i < result->n_rows; i++)
        if (result->rows[i].verdict == STROBE_DIFF_SLOWER && result->rows[i].change > fail_over)
            return 1;
    return 0;
}

static int compare(struct strobe_diff *diff, const struct options *options)
{
    struct strobe_diff_result result;
    struct strobe_out out;
    enum strobe_err err = strobe_diff_run(diff, &options->diff, &result);
    if (err || !strobe_out_open(&out, 1)) {
        strobe_cli_error("diff", "%s", strobe_err_text(err ? err : STROBE_ERR_NOMEM));
        return STROBE_EXIT_FAILED;
    }
    strobe_diff_put(&out, &result, &options->show);
    if (strobe_out_close(&out, "diff"))
        return STROBE_EXIT_FAILED;
    return !isnan(options->fail_over) && is_over(&result, options->fail_over) ? EXIT_OVER
                                                                              : STROBE_EXIT_OK;
}

int strobe_cli_diff(int argc, char **argv)
{
    struct options options = {.diff = {.floor = 0.02, .false_rate = 0.05},
                              .show = {.subject = strobe_diff_find_subject("zones"),
                                       .format = "table",
                                       .metric = "mean",
                                       .limit = 30},
                              .fail_over = NAN,
                              .n_runs = 5,
                              .folder = "strobe-diff"};
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    /* getopt eats the first -- where it follows options: then there is no A before it */
    struct strobe_diff *diff = strobe_diff_new();
    if (!diff) {
        strobe_cli_error("diff", "%s", strobe_err_text(STROBE_ERR_NOMEM));
        return STROBE_EXIT_FAILED;
    }
    int ok;
    if (options.record && argc - optind != 2) {
        strobe_cli_error("diff", "--record takes two commands, each one word: quote them");
        code = STROBE_EXIT_USAGE;
        ok = 0;
    } else if (options.record) {
        code = STROBE_EXIT_FAILED;
        ok = record_all(diff, &options, argv + optind);
    } else {
        ok = add_files(diff, options.show.subject, argc, argv, &code);
    }
    if (ok)
        code = compare(diff, &options);
    strobe_diff_free(diff);
    return code;
}
