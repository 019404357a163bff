/* cmd_export.c - strobe export: a trace in another format.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/chrome.h"
#include "cli/cli.h"
#include "cli/export_tracy.h"
#include "cli/input.h"
#include "cli/out.h"

static const char help[] =
    "usage: strobe export [options] [FILE]\n"
    "\n"
    "A trace in another format. FILE is a .strobe trace; without one, the newest in this folder.\n"
    "\n"
    "  --to FORMAT     chrome: JSON for ui.perfetto.dev and chrome://tracing; tracy: a file that\n"
    "                  Tracy 0.11.1 and later open; default: by the name of OUT, else chrome\n"
    "  -o, --out OUT   where it goes, - for stdout; default: FILE with .json or .tracy at its end\n"
    "\n"
    "examples:\n"
    "  strobe export -o run.json run.strobe\n"
    "  strobe export --to chrome -o - | gzip >run.json.gz\n"
    "  strobe export --to tracy run.strobe\n";

struct options {
    const char *format, *out;
};

/* -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"to", 1, NULL, 't'}, {"out", 1, NULL, 'o'}, {"help", 0, NULL, 'h'}, {0}};
    for (int c; (c = getopt_long(argc, argv, "ho:", known, NULL)) != -1;) {
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        } else if (c == 't') {
            options->format = optarg;
        } else if (c == 'o') {
            options->out = optarg;
        } else {
            return STROBE_EXIT_USAGE;
        }
    }
    return -1;
}

static int ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && !strcmp(text + n - n_end, end);
}

/* The format that was asked for, by its name or that of the output. 0: there is none, and that was
 * told. */
static int check_format(struct options *options)
{
    if (options->format && strcmp(options->format, "chrome") && strcmp(options->format, "tracy")) {
        strobe_cli_error("export", "there is no format '%s'; --to knows: chrome, tracy",
                         options->format);
        return 0;
    }
    if (!options->format && options->out && ends_with(options->out, ".tracy"))
        options->format = "tracy";
    if (!options->format && options->out && !ends_with(options->out, ".json")) {
        strobe_cli_error("export",
                         "what is '%s' to be? say --to chrome or --to tracy, or call it "
                         "something.json or something.tracy",
                         options->out);
        return 0;
    }
    if (!options->format)
        options->format = "chrome";
    return 1;
}

/* FILE with another end instead of .strobe; the caller frees it. */
static char *default_out(const char *path, const char *end)
{
    size_t n = strlen(path);
    char *out = malloc(n + strlen(end) + 1);
    if (!out)
        return NULL;
    if (ends_with(path, ".strobe"))
        n -= 7;
    memcpy(out, path, n);
    strcpy(out + n, end);
    return out;
}

static int same_file(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* A descriptor to write to, -1 with the reason told. */
static int open_out(const char *path, const char *from)
{
    if (!strcmp(path, "-"))
        return 1;
    if (same_file(path, from)) {
        strobe_cli_error("export", "%s is the trace itself", path);
        return -1;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        strobe_cli_error("export", "can't write %s: %s", path, strerror(errno));
    return fd;
}

/* The text formats. 1: it went well; a failure was told. */
static int write_chrome(const char *path, int fd, struct strobe_trace *trace)
{
    struct strobe_out out;
    uint64_t n_bad_parts = 0;
    if (!strobe_out_open(&out, fd)) {
        strobe_cli_fail("export", path, STROBE_ERR_NOMEM);
        return 0;
    }
    enum strobe_err err = strobe_chrome_write(trace, &out, &n_bad_parts);
    if (err && !out.error)
        strobe_cli_fail("export", path, err);
    int ok = !strobe_out_close(&out, "export") && !err;
    strobe_cli_warn_damage("export", trace, n_bad_parts);
    return ok;
}

static int write_tracy(int fd, const char *to, struct strobe_trace *trace)
{
    struct strobe_tracy_folds folds;
    int ok = strobe_cli_write_tracy("export", trace, fd, to, &folds);
    strobe_cli_warn_damage("export", trace, folds.n_bad_parts);
    return ok;
}

static int write_out(const struct options *options, const char *path, const char *to,
                     struct strobe_trace *trace)
{
    int is_tracy = !strcmp(options->format, "tracy");
    int fd = open_out(to, path);
    if (fd < 0)
        return STROBE_EXIT_FAILED;
    int ok = is_tracy ? write_tracy(fd, to, trace) : write_chrome(path, fd, trace);
    if (fd != 1 && close(fd) && ok) {
        strobe_cli_error("export", "can't write %s: %s", to, strerror(errno));
        ok = 0;
    }
    if (ok && fd != 1)
        fprintf(stderr, "strobe export: wrote %s; %s\n", to,
                is_tracy ? "Tracy 0.11.1 and later open it" : "open it at https://ui.perfetto.dev");
    return ok ? STROBE_EXIT_OK : STROBE_EXIT_FAILED;
}

int strobe_cli_export(int argc, char **argv)
{
    struct options options = {0};
    char room[STROBE_PATH_ROOM];
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    if (!check_format(&options))
        return STROBE_EXIT_USAGE;
    const char *path = strobe_cli_find_trace("export", argc, argv, optind, room);
    struct strobe_trace *trace = path ? strobe_cli_open_trace("export", path, 0) : NULL;
    if (!trace)
        return STROBE_EXIT_FAILED;
    char *made = options.out
                     ? NULL
                     : default_out(path, strcmp(options.format, "tracy") ? ".json" : ".tracy");
    const char *to = options.out ? options.out : made;
    code = to ? write_out(&options, path, to, trace)
              : strobe_cli_fail("export", path, STROBE_ERR_NOMEM);
    free(made);
    strobe_trace_close(trace);
    return code;
}
