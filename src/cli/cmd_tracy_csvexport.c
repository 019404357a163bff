/* cmd_tracy_csvexport.c - tracy-csvexport and csvexport-release: Tracy's tables of a .tracy file or
 * of a trace, with the options of Tracy 0.11 to 0.14 and of Tenstorrent's fork, so that scripts which
 * call those run as they are.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ready.h"
#include "cli/cli.h"
#include "cli/confined.h"
#include "cli/input.h"
#include "cli/out.h"
#include "tracy_file/csv.h"
#include "tracy_file/blocks_in.h"

static const char help[] =
    "usage: tracy-csvexport [options] FILE\n"
    "\n"
    "The tables of Tracy's csvexport, of a .tracy file or of a .strobe trace, on stdout. Without\n"
    "-u, -g or -m: statistics by source location.\n"
    "\n"
    "  -u, --unwrap     one row per zone\n"
    "  -g, --gpu        one row per GPU zone\n"
    "  -m, --messages   one row per message\n"
    "  -p, --plot       with -u: plots too, after the zones\n"
    "  -e, --self       self times\n"
    "  -f, --filter S   zones with S in their name\n"
    "  -c, --case       upper and lower case count in -f\n"
    "  -s, --sep S      between the columns; default: a comma\n"
    "  --truncated_mean[=P]  statistics: P-th percentile and the mean up to it; default: 90\n"
    "  --flavor F       columns and quoting of Tracy 0.11, of 0.14 (default), or tt: of\n"
    "                   Tenstorrent's fork, which -x, -t and the name csvexport-release mean too\n"
    "  -x LIST          tt: zones with these names (commas between) get the text of a parent\n"
    "  -t S             tt: that parent has S in its name (beside -x, -p S means the same)\n"
    "  -h, --help       this text\n"
    "  -V, --version    the version\n"
    "\n"
    "examples:\n"
    "  tracy-csvexport run.tracy >statistics.csv\n"
    "  tracy-csvexport -u -f render run.strobe\n"
    "  tracy-csvexport -u -t TT_ -x TT_DNN,TT_METAL run.tracy\n";

enum { TRUNCATE = 256, FLAVOR, EXIT_WRONG = 1 }; /* 1: as the real one says it */

/* -p takes a value beside -x. */
static int has_specials(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        if (argv[i][0] == '-' && argv[i][1] != '-' && strchr(argv[i], 'x'))
            return 1;
    return 0;
}

static int set_flavor(const char *name, struct strobe_tracy_csv_options *options)
{
    if (!strcmp(name, "0.11") || !strcmp(name, "0.11.1") || !strcmp(name, "0.11.0"))
        options->flavor = STROBE_TRACY_FLAVOR_0_11;
    else if (!strcmp(name, "0.14") || !strcmp(name, "0.13") || !strcmp(name, "0.12"))
        options->flavor = STROBE_TRACY_FLAVOR_0_14;
    else if (!strcmp(name, "tt"))
        options->flavor = STROBE_TRACY_FLAVOR_TT;
    else
        return 0;
    return 1;
}

static int read_percentile(const char *text)
{
    int p = text ? atoi(text) : 90;
    return p < 1 ? 1 : p > 99 ? 99 : p;
}

/* One option. -1: go on; else the exit code. */
static int take_option(int c, struct strobe_tracy_csv_options *options, int *is_flavor_set)
{
    switch (c) {
    case 'h':
        fputs(help, stdout);
        return STROBE_EXIT_OK;
    case 'V':
        printf("tracy-csvexport of strobe %s\n", STROBE_VERSION);
        return STROBE_EXIT_OK;
    case 'f':
        options->filter = optarg;
        break;
    case 's':
        options->sep = optarg;
        break;
    case 'c':
        options->case_sensitive = 1;
        break;
    case 'e':
        options->self = 1;
        break;
    case 'u':
        options->unwrap = 1;
        break;
    case 'g':
        options->gpu = 1;
        break;
    case 'm':
        options->messages = 1;
        break;
    case 'x':
        options->specials = optarg;
        break;
    case 't':
        options->parent = optarg;
        break;
    case 'p':
        if (optarg)
            options->parent = optarg;
        else
            options->plot = 1;
        break;
    case TRUNCATE:
        options->truncate = read_percentile(optarg);
        break;
    case FLAVOR:
        *is_flavor_set = 1;
        if (set_flavor(optarg, options))
            break;
        fprintf(stderr, "tracy-csvexport: there is no flavour '%s'; 0.11, 0.14 and tt are known\n",
                optarg);
        return EXIT_WRONG;
    default:
        return EXIT_WRONG;
    }
    return -1;
}

static int read_options(int argc, char **argv, struct strobe_tracy_csv_options *options)
{
    static const struct option known[] = {{"help", 0, NULL, 'h'},
                                          {"version", 0, NULL, 'V'},
                                          {"filter", 1, NULL, 'f'},
                                          {"sep", 1, NULL, 's'},
                                          {"case", 0, NULL, 'c'},
                                          {"self", 0, NULL, 'e'},
                                          {"unwrap", 0, NULL, 'u'},
                                          {"gpu", 0, NULL, 'g'},
                                          {"messages", 0, NULL, 'm'},
                                          {"plot", 0, NULL, 'p'},
                                          {"truncated_mean", 2, NULL, TRUNCATE},
                                          {"flavor", 1, NULL, FLAVOR},
                                          {"flavour", 1, NULL, FLAVOR},
                                          {0}};
    const char *letters = has_specials(argc, argv) ? "hVf:s:ceugmp:x:t:" : "hVf:s:ceugmpx:t:";
    int is_flavor_set = 0;
    for (int c; (c = getopt_long(argc, argv, letters, known, NULL)) != -1;) {
        int code = take_option(c, options, &is_flavor_set);
        if (code >= 0)
            return code;
    }
    if (!is_flavor_set && (options->specials || options->parent))
        options->flavor = STROBE_TRACY_FLAVOR_TT;
    return -1;
}

/* 1: a .tracy file, 0: not one, -1: it can't be opened, and that was told. */
static int is_tracy_file(const char *path)
{
    uint8_t magic[8];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fprintf(stderr, "Could not open file %s: %s\n", path, strerror(errno));
        return -1;
    }
    ssize_t n = read(fd, magic, sizeof magic);
    close(fd);
    return n > 0 && strobe_tracy_is_container(magic, (size_t)n);
}

static enum strobe_err put_trace(const char *path, const struct strobe_tracy_csv_options *options,
                                 struct strobe_out *out)
{
    struct strobe_trace *trace = strobe_cli_open_trace("tracy-csvexport", path, 0);
    uint64_t n_bad_parts = 0;
    if (!trace)
        return STROBE_ERR_FORMAT;
    enum strobe_err err = strobe_tracy_csv_of_trace(trace, options, out, &n_bad_parts);
    strobe_cli_warn_damage("tracy-csvexport", trace, n_bad_parts);
    strobe_trace_close(trace);
    return err;
}

struct job {
    const char *path;
    const struct strobe_tracy_csv_options *options;
    int is_tracy;
};

static int export(void *context)
{
    const struct job *job = context;
    const struct strobe_tracy_csv_options *options = job->options;
    const char *path = job->path;
    int is_tracy = job->is_tracy;
    struct strobe_out out;
    if (!strobe_out_open(&out, 1))
        return strobe_cli_fail("tracy-csvexport", path, STROBE_ERR_NOMEM);
    enum strobe_err err =
        is_tracy ? strobe_tracy_csv_of_file(path, options, &out) : put_trace(path, options, &out);
    int code = STROBE_EXIT_OK;
    if (err && !out.error && is_tracy) {
        strobe_out_flush(&out);
        code = strobe_cli_tracy_fail("tracy-csvexport", path, err);
    } else if (err) {
        code = STROBE_EXIT_FAILED;
    }
    return strobe_out_close(&out, "tracy-csvexport") ? STROBE_EXIT_FAILED : code;
}

/* Tracy's own files are read by a process that can do nothing else (cli/confined.h). */
static int run(const char *path, const struct strobe_tracy_csv_options *options)
{
    struct job job = {path, options, is_tracy_file(path)};
    if (job.is_tracy < 0)
        return EXIT_WRONG;
    if (!job.is_tracy)
        return export(&job);
    if (strobe_ready_prepare(path, O_RDONLY, 0) < 0)
        return strobe_cli_fail("tracy-csvexport", path, strobe_err_from_errno(errno));
    int code = strobe_cli_confined("tracy-csvexport", path, export, &job);
    strobe_ready_forget();
    return code < 0 ? STROBE_EXIT_FAILED : code;
}

int strobe_cli_tracy_fail(const char *command, const char *path, enum strobe_err err)
{
    if (err == STROBE_ERR_END)
        strobe_cli_error(command, "%s is cut off: what comes before the cut was taken", path);
    else if (err == STROBE_ERR_VERSION)
        strobe_cli_error(command, "%s was made by a newer Tracy than 0.14", path);
    else if (err == STROBE_ERR_FORMAT)
        strobe_cli_error(command, "%s is no .tracy file of version 0.9 or later", path);
    else
        return strobe_cli_fail(command, path, err);
    return STROBE_EXIT_FAILED;
}

int strobe_cli_tracy_csvexport(int argc, char **argv)
{
    struct strobe_tracy_csv_options options = {
        .flavor = strstr(argv[0], "-release") ? STROBE_TRACY_FLAVOR_TT : STROBE_TRACY_FLAVOR_0_14,
        .filter = "",
        .sep = ",",
    };
    int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    if (argc != optind + 1) {
        fputs(help, stderr);
        return EXIT_WRONG;
    }
    return run(argv[optind], &options);
}
