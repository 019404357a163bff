/* cmd_merge.c - strobe merge: traces of one machine, the ranks of a job, as one.  SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/number.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "query/merge.h"

static const char help[] =
    "usage: strobe merge [-o OUT] FILE|FOLDER…\n"
    "\n"
    "Traces that were recorded on one machine, as one trace on one axis: the ranks of a job, "
    "services side by side. A folder stands\n"
    "for its traces. Every file's clock is compared with that of the longest recording, by the "
    "readings that the recorders took;\n"
    "the largest error is printed. Files of another machine, or of an earlier boot, are refused.\n"
    "\n"
    "  -o, --out OUT   where it goes; default: merged.strobe. It never replaces a file\n"
    "\n"
    "examples:\n"
    "  strobe record --ranks run7 -- ./solver      # under mpirun, srun or torchrun: a file per "
    "rank\n"
    "  strobe merge run7 -o run7.strobe\n";

struct set {
    char **paths; /* owned, and each of them */
    struct strobe_trace **traces;
    uint32_t n, paths_room, traces_room;
};

static int add_path(struct set *set, const char *path)
{
    if (STROBE_ARRAY_RESERVE(set->paths, set->paths_room, set->n + 1u) ||
        STROBE_ARRAY_RESERVE(set->traces, set->traces_room, set->n + 1u) ||
        !(set->paths[set->n] = strdup(path)))
        return 0;
    set->traces[set->n++] = NULL;
    return 1;
}

static int is_trace(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 7 && !strcmp(entry->d_name + n - 7, ".strobe");
}

/* A file, or the traces of a folder by their names. 0: there is none, and that was printed. */
static int add_argument(struct set *set, const char *path)
{
    struct dirent **entries = NULL;
    struct stat facts;
    if (stat(path, &facts) || !S_ISDIR(facts.st_mode))
        return add_path(set, path);
    int n = scandir(path, &entries, is_trace, alphasort), ok = 1;
    for (int i = 0; i < n; i++) {
        char name[STROBE_PATH_ROOM];
        int length = snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        ok = ok && length > 0 && (size_t)length < sizeof name && add_path(set, name);
        free(entries[i]);
    }
    free(entries);
    if (n <= 0)
        strobe_cli_error("merge", "%s: no trace in this folder", path);
    return ok && n > 0;
}

static int merge(struct set *set, const char *out)
{
    struct strobe_merge_result result;
    char error[32];
    for (uint32_t i = 0; i < set->n; i++)
        if (!(set->traces[i] = strobe_cli_open_trace("merge", set->paths[i], 0)))
            return STROBE_EXIT_FAILED;
    enum strobe_err err =
        strobe_merge_write(set->traces, (const char *const *)set->paths, set->n, out, &result);
    if (err == STROBE_ERR_INVALID) {
        strobe_cli_error("merge",
                         "%s and %s were recorded on different clocks: another machine, or another "
                         "boot. They can't be put on one axis",
                         set->paths[result.failed], set->paths[result.base]);
        return STROBE_EXIT_FAILED;
    }
    if (err == STROBE_ERR_BUSY) {
        strobe_cli_error("merge", "%s is there; remove it or choose another name", out);
        return STROBE_EXIT_FAILED;
    }
    if (err)
        return strobe_cli_fail("merge", set->paths[result.failed], err);
    printf("%s: %u traces on the clock of %s, times right up to %s\n", out, set->n,
           set->paths[result.base], strobe_number_show_ns(result.error_ns, error));
    return STROBE_EXIT_OK;
}

int strobe_cli_merge(int argc, char **argv)
{
    static const struct option known[] = {{"out", 1, NULL, 'o'}, {"help", 0, NULL, 'h'}, {0}};
    struct set set = {0};
    const char *out = "merged.strobe";
    int code = STROBE_EXIT_FAILED, ok = 1;
    for (int c; (c = getopt_long(argc, argv, "ho:", known, NULL)) != -1;) {
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (c == '?')
            return STROBE_EXIT_USAGE;
        out = optarg;
    }
    if (optind == argc) {
        strobe_cli_error("merge", "name the traces, or their folder");
        return STROBE_EXIT_USAGE;
    }
    for (int i = optind; i < argc && ok; i++)
        ok = add_argument(&set, argv[i]);
    if (ok)
        code = merge(&set, out);
    for (uint32_t i = 0; i < set.n; i++) {
        strobe_trace_close(set.traces[i]);
        free(set.paths[i]);
    }
    free(set.paths);
    free(set.traces);
    return code;
}
