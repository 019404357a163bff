/* cmd_import.c - strobe import: a .tracy file as a trace.  SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/input.h"
#include "tracy/content.h"
#include "tracy/import.h"

static const char help[] = "usage: strobe import [options] FILE.tracy\n"
                           "\n"
                           "A trace made of a .tracy file that Tracy 0.9 to 0.14 saved.\n"
                           "\n"
                           "  -o, --out OUT   the trace; default: FILE with .strobe at its end\n"
                           "  -f, --force     replace OUT if it is there\n"
                           "\n"
                           "examples:\n"
                           "  strobe import run.tracy\n"
                           "  strobe import -f -o run.strobe capture.tracy\n";

/* FILE with .strobe instead of .tracy; the caller frees it. */
static char *default_out(const char *path)
{
    size_t n = strlen(path);
    char *out = malloc(n + 8);
    if (!out)
        return NULL;
    if (n > 6 && !strcmp(path + n - 6, ".tracy"))
        n -= 6;
    memcpy(out, path, n);
    strcpy(out + n, ".strobe");
    return out;
}

static int run(const char *from, const char *to, int force)
{
    struct strobe_tracy_import import;
    struct stat st;
    if (!force && !stat(to, &st)) {
        strobe_cli_error("import", "%s is there already; -f replaces it", to);
        return STROBE_EXIT_FAILED;
    }
    enum strobe_err err = strobe_tracy_import(from, to, &import);
    if (err && !import.is_cut)
        return strobe_cli_tracy_fail("import", from, err);
    fprintf(stderr,
            "strobe import: wrote %s: %" PRIu64 " zones, %" PRIu64 " GPU zones, %" PRIu64
            " messages (a file of Tracy 0.%u.%u)\n",
            to, import.n_zones, import.n_gpu_zones, import.n_messages, import.version / 100,
            import.version % 100);
    if (import.n_left_out)
        fprintf(stderr, "strobe import: left out: %" PRIu64 " source files\n", import.n_left_out);
    return err ? strobe_cli_tracy_fail("import", from, err) : STROBE_EXIT_OK;
}

int strobe_cli_import(int argc, char **argv)
{
    static const struct option known[] = {
        {"out", 1, NULL, 'o'}, {"force", 0, NULL, 'f'}, {"help", 0, NULL, 'h'}, {0}};
    const char *out = NULL;
    int force = 0;
    for (int c; (c = getopt_long(argc, argv, "ho:f", known, NULL)) != -1;) {
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        } else if (c == 'o') {
            out = optarg;
        } else if (c == 'f') {
            force = 1;
        } else {
            return STROBE_EXIT_USAGE;
        }
    }
    if (argc != optind + 1) {
        strobe_cli_error("import", "which .tracy file? 'strobe import --help' tells more");
        return STROBE_EXIT_USAGE;
    }
    char *made = out ? NULL : default_out(argv[optind]);
    int code = out || made ? run(argv[optind], out ? out : made, force)
                           : strobe_cli_fail("import", argv[optind], STROBE_ERR_NOMEM);
    free(made);
    return code;
}
