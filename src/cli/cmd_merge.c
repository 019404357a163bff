/* cmd_merge.c - strobe merge: traces of one machine, of several, the ranks of a job, as one.  SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/number.h"
#include "cli/cli.h"
#include "cli/import_file.h"
#include "cli/input.h"
#include "cli/merge_set.h"
#include "cli/out.h"

static const char help[] =
    "usage: strobe merge [-o OUT] FILE|FOLDER|JSON…\n"
    "\n"
    "Traces as one, on one axis: the ranks of a job, services side by side, the hosts of a "
    "cluster. A folder stands for its traces; a file\n"
    "that is named twice is in the result once.\n"
    "Times are put on the clock of the longest recording. Traces of one machine are on it by the "
    "readings that their recorders took;\n"
    "those of other machines by the comparisons of clocks that were made while they recorded "
    "(strobe record --listen, --peer), with\n"
    "an error that is likely and one that is proven. Traces that were never compared are placed "
    "by the wall clock, and said to be:\n"
    "nothing can be said of the order of their events and others'.\n"
    "A JSON file of Chrome's format whose times are the wall clock's, as PyTorch's profiler "
    "writes them, is put beside the recording\n"
    "of the same run: by the wall clock that the recorder read.\n"
    "\n"
    "  -o, --out OUT   where it goes; default: merged.strobe. It never replaces a file\n"
    "\n"
    "examples:\n"
    "  strobe record --ranks run7 -- ./solver      # under mpirun, srun or torchrun: a file per "
    "rank\n"
    "  strobe merge run7 -o run7.strobe\n"
    "  strobe record -o a.strobe --listen 10.0.0.1:7400 --clock-key key -- ./server   # on one "
    "host\n"
    "  strobe record -o b.strobe --peer 10.0.0.1:7400 --clock-key key -- ./client     # on "
    "another\n"
    "  strobe merge a.strobe b.strobe\n"
    "  strobe merge run.strobe torch-trace.json -o both.strobe\n";

/* How one trace got onto the axis. */
static void show_row(const struct strobe_merge_set *set, uint32_t i,
                     const struct strobe_placing_row *row)
{
    const struct strobe_trace *trace = set->traces[i];
    char likely[32], proven[32], unsure[32];
    uint32_t n;
    const char *host = strobe_trace_text(trace, trace->hostname, &n);
    if (set->names[i]) {
        printf("  %s: ", set->names[i]);
    } else {
        printf("  %s (", set->paths[i]);
        strobe_cli_put_name(stdout, host, n);
        fputs("): ", stdout);
    }
    switch (row->how) {
    case STROBE_CLOCK_HOW_OWN:
        fputs("has the clock of the result", stdout);
        break;
    case STROBE_CLOCK_HOW_SAME:
        printf("has the same clock, right up to %s", strobe_number_show_ns(row->error_ns, proven));
        break;
    case STROBE_CLOCK_HOW_HOST:
        printf("placed by the wall clock that the recorder read: likely within %s, unless that "
               "clock was set meanwhile",
               strobe_number_show_ns(row->likely_ns, likely));
        break;
    case STROBE_CLOCK_HOW_WALL:
        fputs("was never compared with the others: placed by the wall clock, of which nothing is "
              "known; the order of its events and others' means nothing",
              stdout);
        break;
    default:
        printf("compared %u times", row->n_exchanges);
        if (row->n_flows)
            printf(" and by %u flows", row->n_flows);
        printf("%s: likely within %s, proven within %s",
               row->how == STROBE_CLOCK_HOW_THROUGH ? ", by way of another" : "",
               strobe_number_show_ns(row->likely_ns, likely),
               strobe_number_show_ns(row->proven_ns, proven));
    }
    if (row->n_steps)
        printf("; a clock was stepped, %u %s: there within %s", row->n_steps,
               row->n_steps == 1 ? "time" : "times", strobe_number_show_ns(row->unsure_ns, unsure));
    if (!strobe_file_facts(trace->file)->closed)
        fputs("; not closed: its recorder was killed, or still records", stdout);
    fputc('\n', stdout);
}

static void show(const struct strobe_merge_set *set, const char *out,
                 const struct strobe_placing *placing)
{
    uint64_t error_ns = 0;
    uint32_t n_others = 0;
    char error[32];
    for (uint32_t i = 0; i < placing->n; i++) {
        const struct strobe_placing_row *row = &placing->rows[i];
        error_ns = row->error_ns > error_ns ? row->error_ns : error_ns;
        n_others +=
            row->how > STROBE_CLOCK_HOW_SAME || !strobe_file_facts(set->traces[i]->file)->closed;
    }
    printf("%s: %u %s on the clock of %s", out, set->n, set->n == 1 ? "trace" : "traces",
           set->paths[placing->base]);
    if (n_others) {
        fputs("\n", stdout);
        for (uint32_t i = 0; i < placing->n; i++)
            show_row(set, i, &placing->rows[i]);
    } else {
        printf(", times right up to %s\n", strobe_number_show_ns(error_ns, error));
    }
    if (set->n_again)
        printf("%u %s named more than once: each is in it once\n", set->n_again,
               set->n_again == 1 ? "file was" : "files were");
}

static const char *called(const struct strobe_merge_set *set, uint32_t i)
{
    return set->names[i] ? set->names[i] : set->paths[i];
}

static int is_on_wall_clock(const char *path)
{
    struct strobe_trace *trace = NULL;
    int is_known = !strobe_trace_open(path, 0, &trace) && strobe_placing_is_of_host(trace);
    strobe_trace_close(trace);
    return is_known;
}

/* A file of another profiler becomes a trace beside the result, for as long as they are merged. 0: that was said. */
static int add_import(struct strobe_merge_set *set, const char *path, const char *out)
{
    char part[PATH_MAX];
    int n = snprintf(part, sizeof part, "%s.%d-%u.part", out, (int)getpid(), set->n);
    if (n < 0 || (size_t)n >= sizeof part || strobe_cli_import_file(path, part))
        return 0;
    if (!is_on_wall_clock(part))
        strobe_cli_error("merge",
                         "%s: its times are not the wall clock's, so nobody knows where it belongs "
                         "in a recording; 'strobe import' makes a trace of its own of it",
                         path);
    else if (strobe_merge_set_add_made(set, part, path))
        return 1;
    unlink(part);
    return 0;
}

static int add(struct strobe_merge_set *set, const char *path, const char *out)
{
    if (strobe_cli_is_chrome(path))
        return add_import(set, path, out);
    int ok = strobe_merge_set_add(set, path);
    if (!ok)
        strobe_cli_error("merge", "%s: no trace is there", path);
    return ok;
}

static int merge(struct strobe_merge_set *set, const char *out)
{
    struct strobe_merge_result result;
    uint32_t failed;
    enum strobe_err err = strobe_merge_set_write(set, out, &result, &failed);
    int code = STROBE_EXIT_FAILED;
    if (failed < set->n)
        return strobe_cli_fail("merge", set->paths[failed], err);
    if (err == STROBE_ERR_INVALID)
        strobe_cli_error("merge",
                         "%s and %s can't be put on one axis: one of them has no clock that was "
                         "read while it was recorded",
                         called(set, result.failed), called(set, result.placing.base));
    else if (err == STROBE_ERR_BUSY)
        strobe_cli_error("merge", "%s is there; remove it or choose another name", out);
    else if (err) /* what is damaged is one of them; what can't be written is the result */
        code = strobe_cli_fail("merge", err == STROBE_ERR_CORRUPT ? set->paths[result.failed] : out,
                               err);
    else
        show(set, out, &result.placing);
    strobe_merge_result_free(&result);
    return err ? code : STROBE_EXIT_OK;
}

int strobe_cli_merge(int argc, char **argv)
{
    static const struct option known[] = {{"out", 1, NULL, 'o'}, {"help", 0, NULL, 'h'}, {0}};
    struct strobe_merge_set set = {0};
    const char *out = "merged.strobe";
    int code = STROBE_EXIT_FAILED, ok = 1;
    for (int c; (c = strobe_cli_option(argc, argv, "ho:", known)) != -1;) {
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
        ok = add(&set, argv[i], out);
    if (ok)
        code = merge(&set, out);
    strobe_merge_set_free(&set);
    return code;
}
