/* cmd_info.c - strobe info: what is in a trace.  SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/info.h"
#include "cli/input.h"

static const char help[] =
    "usage: strobe info [options] [FILE]\n"
    "\n"
    "What is in a trace: file, host, clock, processes, events, coverage, losses, damage, open "
    "zones, what the\n"
    "recording itself cost. FILE is a .strobe trace; without one, the newest in this folder.\n"
    "\n"
    "  --json     for programs\n"
    "  --verify   read every event and compare every checksum (small files: always)\n"
    "\n"
    "examples:\n"
    "  strobe info\n"
    "  strobe info --verify run.strobe\n"
    "  strobe info --json run.strobe | python3 -m json.tool\n";

static int print(const struct strobe_info *info, int json)
{
    struct strobe_out out;
    if (!strobe_out_open(&out, 1))
        return strobe_cli_fail("info", "output", STROBE_ERR_NOMEM);
    if (json)
        strobe_info_put_json(&out, info);
    else
        strobe_info_put_text(&out, info);
    return strobe_out_close(&out, "info");
}

/* On a terminal: a large trace takes long. */
static void show_progress(uint64_t done, uint64_t all)
{
    static int shown = -1;
    int percent = all ? (int)(100.0 * (double)done / (double)all) : 100;
    if (percent == shown || !isatty(2))
        return;
    shown = percent;
    if (percent < 100)
        fprintf(stderr, "\rcomparing checksums: %d %%", percent);
    else
        fprintf(stderr, "\r%30s\r", "");
}

int strobe_cli_info(int argc, char **argv)
{
    int json = 0, verify = 0;
    const struct option known[] = {
        {"json", 0, &json, 1}, {"verify", 0, &verify, 1}, {"help", 0, NULL, 'h'}, {0}};
    char room[STROBE_PATH_ROOM];
    for (int c; (c = strobe_cli_option(argc, argv, "h", known)) != -1;) {
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (c)
            return STROBE_EXIT_USAGE;
    }
    const char *path = strobe_cli_find_trace("info", argc, argv, optind, room);
    if (!path)
        return STROBE_EXIT_FAILED;
    struct strobe_info info = {.path = path,
                               .trace = strobe_cli_open_trace("info", path, STROBE_TRACE_NO_LOCS)};
    if (!info.trace)
        return STROBE_EXIT_FAILED;
    enum strobe_err err =
        strobe_overview_run(info.trace, verify, verify ? show_progress : NULL, &info.overview);
    int code = err ? strobe_cli_fail("info", path, err) : print(&info, json);
    strobe_trace_close(info.trace);
    return code;
}
