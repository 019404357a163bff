/* cmd_merge.c - strobe merge: traces of one machine, the ranks of a job, as one.  SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <stdio.h>

#include "base/number.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/merge_set.h"

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

static int merge(struct strobe_merge_set *set, const char *out)
{
    struct strobe_merge_result result;
    char error[32];
    uint32_t failed;
    enum strobe_err err = strobe_merge_set_write(set, out, &result, &failed);
    if (failed < set->n)
        return strobe_cli_fail("merge", set->paths[failed], err);
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
    if (err) /* what is damaged is one of them; what can't be written is the result */
        return strobe_cli_fail("merge", err == STROBE_ERR_CORRUPT ? set->paths[result.failed] : out,
                               err);
    printf("%s: %u %s on the clock of %s, times right up to %s\n", out, set->n,
           set->n == 1 ? "trace" : "traces", set->paths[result.base],
           strobe_number_show_ns(result.error_ns, error));
    return STROBE_EXIT_OK;
}

int strobe_cli_merge(int argc, char **argv)
{
    static const struct option known[] = {{"out", 1, NULL, 'o'}, {"help", 0, NULL, 'h'}, {0}};
    struct strobe_merge_set set = {0};
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
        if (!(ok = strobe_merge_set_add(&set, argv[i])))
            strobe_cli_error("merge", "%s: no trace is there", argv[i]);
    if (ok)
        code = merge(&set, out);
    strobe_merge_set_free(&set);
    return code;
}
