/* cmd_top.c - strobe top: what is hot now, in the terminal. A program is recorded by a `strobe record` of its own into a file that goes with it; of a FILE that is being recorded
 * nothing is changed.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/input.h"
#include "cli/top.h"
#include "cli/view.h"

static const char help[] =
    "usage: strobe top [options] [FILE | --pid PID | -- COMMAND ...]\n"
    "\n"
    "What is hot now, in the terminal: functions by samples, threads by CPU time, zones by self "
    "time. Of a FILE that is being\n"
    "recorded (without one, the newest in this folder), of a process, or of a command, whose "
    "output is not shown. q quits.\n"
    "\n"
    "  --pid PID         look at this process\n"
    "  --interval S      seconds between two looks (default: 2)\n"
    "  --batch           one text after the other instead of a screen, for files and pipes\n"
    "  --once            one text of all until now, then end\n"
    "  --limit N         with --batch and --once: so many rows of each table (default: 10)\n"
    "\n"
    "NO_COLOR in the environment: no colours.\n"
    "\n"
    "examples:\n"
    "  strobe top -- ./app\n"
    "  strobe top --pid 1234\n"
    "  strobe top --once run.strobe\n";

enum {
    OPT_PID = 256,
    OPT_INTERVAL,
    OPT_BATCH,
    OPT_ONCE,
    OPT_LIMIT,
    BATCH_HEADS = 5,
    MAX_WORDS = 1024
};

struct options {
    const char *pid;
    double interval;
    int batch, once;
    uint32_t limit;
};

/* What is looked at. */
struct subject {
    char path[STROBE_PATH_ROOM], words[256];
    pid_t recorder; /* 0: none of ours */
    bool has_ended;
};

/* -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {{"pid", 1, NULL, OPT_PID},
                                          {"interval", 1, NULL, OPT_INTERVAL},
                                          {"batch", 0, NULL, OPT_BATCH},
                                          {"once", 0, NULL, OPT_ONCE},
                                          {"limit", 1, NULL, OPT_LIMIT},
                                          {"help", 0, NULL, 'h'},
                                          {0}};
    for (int c; (c = strobe_cli_option(argc, argv, "+h", known)) != -1;) {
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        } else if (c == OPT_PID) {
            options->pid = optarg;
        } else if (c == OPT_INTERVAL) {
            options->interval = atof(optarg);
        } else if (c == OPT_BATCH) {
            options->batch = 1;
        } else if (c == OPT_ONCE) {
            options->once = 1;
        } else if (c == OPT_LIMIT) {
            options->limit = (uint32_t)strtoul(optarg, NULL, 10);
        } else {
            return STROBE_EXIT_USAGE;
        }
    }
    if (options->interval >= 0.1 && options->interval <= 3600)
        return -1;
    strobe_cli_error("top", "--interval: 0.1 to 3600 seconds");
    return STROBE_EXIT_USAGE;
}

/* ---- the recorder ---- */

/* Record into a file of ours. 0: that failed, and was printed. */
static int start_recorder(const struct options *options, int argc, char **argv,
                          struct subject *subject)
{
    const char *folder = getenv("TMPDIR"), *words[MAX_WORDS];
    int n = 0, nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    snprintf(subject->path, sizeof subject->path, "%s/strobe-top-XXXXXX",
             folder && *folder ? folder : "/tmp");
    int fd = mkstemp(subject->path);
    if (fd < 0 || nowhere < 0 || argc > MAX_WORDS - 8) {
        strobe_cli_error("top", "can't write %s: %s", subject->path, strerror(errno));
        return 0;
    }
    close(fd);
    words[n++] = "strobe";
    words[n++] = "record";
    words[n++] = "-o";
    words[n++] = subject->path;
    words[n++] = options->pid ? "--pid" : "--";
    if (options->pid)
        words[n++] = options->pid;
    for (int i = 0; !options->pid && i < argc; i++)
        words[n++] = argv[i];
    words[n] = NULL;
    subject->recorder = strobe_view_spawn(words, nowhere);
    close(nowhere);
    snprintf(subject->words, sizeof subject->words, "strobe top: %.200s",
             options->pid ? options->pid : argv[0]);
    if (subject->recorder > 0)
        return 1;
    unlink(subject->path);
    strobe_cli_error("top", "the recorder could not be started");
    return 0;
}

static void look_after_recorder(struct subject *subject)
{
    if (subject->recorder > 0 && waitpid(subject->recorder, NULL, WNOHANG) == subject->recorder) {
        subject->recorder = 0;
        subject->has_ended = true;
    }
}

static void end_recorder(struct subject *subject, bool is_ours)
{
    if (subject->recorder > 0) {
        kill(subject->recorder, SIGINT);
        while (waitpid(subject->recorder, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (is_ours)
        unlink(subject->path);
}

/* ---- the looks ---- */

static void show(const struct options *options, struct strobe_top *top,
                 const struct subject *subject, bool has_screen)
{
    struct strobe_out text = {0};
    struct strobe_top_size size = {.width = 200, .limit = options->limit};
    char head[320];
    bool has_color = has_screen && !getenv("NO_COLOR");
    if (has_screen)
        strobe_top_screen_size(&size.width, &size.height);
    snprintf(head, sizeof head, "%s%s%s", subject->words, subject->has_ended ? " (ended)" : "",
             has_screen ? "   q: quit" : "");
    strobe_top_put(top, head, &size, has_color, &text);
    if (has_screen) {
        strobe_top_screen_show(text.at, text.len);
    } else if (text.at) {
        fwrite(text.at, 1, text.len, stdout);
        fputs(options->once ? "" : "\n", stdout);
        fflush(stdout);
    }
    strobe_out_free(&text);
}

/* Look until it is to end. */
static int watch(const struct options *options, struct strobe_trace *trace, struct subject *subject)
{
    struct strobe_top top;
    bool has_screen = !options->batch && !options->once && strobe_top_screen_begin();
    bool is_over = false;
    enum strobe_err err = strobe_top_open(&top, trace) ? STROBE_OK : STROBE_ERR_NOMEM;
    while (!err && !is_over) {
        look_after_recorder(subject);
        err = strobe_trace_refresh(trace);
        if (!err)
            err = strobe_top_look(&top);
        subject->has_ended |= strobe_file_facts(trace->file)->closed;
        if (!err)
            show(options, &top, subject, has_screen);
        is_over = options->once || (subject->has_ended && !has_screen) ||
                  strobe_top_screen_wait((int)(options->interval * 1000));
    }
    strobe_top_screen_end();
    strobe_top_close(&top);
    return err ? strobe_cli_fail("top", subject->path, err) : STROBE_EXIT_OK;
}

/* The recorder's file, as soon as it is a trace. NULL: that was printed. */
static struct strobe_trace *wait_for_trace(struct subject *subject)
{
    struct strobe_trace *trace = NULL;
    bool is_over = false;
    while (strobe_trace_open(subject->path, 0, &trace) && !is_over && !subject->has_ended) {
        is_over = strobe_top_screen_wait(50);
        look_after_recorder(subject);
    }
    if (!trace && strobe_trace_open(subject->path, 0, &trace))
        strobe_cli_error("top", "nothing was recorded");
    return trace;
}

int strobe_cli_top(int argc, char **argv)
{
    struct options options = {.interval = 2, .limit = 10};
    struct subject subject = {0};
    struct strobe_trace *trace;
    char room[STROBE_PATH_ROOM];
    const char *path = NULL;
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    bool is_command = optind < argc && optind > 1 && !strcmp(argv[optind - 1], "--");
    bool is_ours = options.pid || is_command;
    if (is_ours && !start_recorder(&options, argc - optind, argv + optind, &subject))
        return STROBE_EXIT_FAILED;
    trace =
        is_ours ? wait_for_trace(&subject) : strobe_cli_open_named("top", argc, argv, room, &path);
    if (!is_ours && trace) {
        snprintf(subject.path, sizeof subject.path, "%s", path);
        snprintf(subject.words, sizeof subject.words, "strobe top: %.200s", path);
    }
    code = trace ? watch(&options, trace, &subject) : STROBE_EXIT_FAILED;
    end_recorder(&subject, is_ours);
    strobe_trace_close(trace);
    return code;
}
