/* main.c - the strobe command: finds the sub-command and runs it.  SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *help;
    int (*run)(int argc, char **argv);
} commands[] = {
#define X(name, help) {#name, help, strobe_cli_##name},
    STROBE_CLI_LIST(X)
#undef X
#define X(name, function, help) {name, help, strobe_cli_##function},
        STROBE_CLI_DASHED_LIST(X)
#undef X
};

enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

void strobe_cli_error(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "strobe %s: ", command);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

int strobe_cli_option(int argc, char **argv, const char *letters, const struct option *known)
{
    int option = getopt_long(argc, argv, letters, known, NULL);
    if (option == '?')
        fprintf(stderr, "'%s --help' shows the options\n", argv[0]);
    return option;
}

/* What was printed has reached its file, or that it has not is the exit code. */
static int end(int code)
{
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout))
        return code;
    if (code == STROBE_EXIT_OK)
        fprintf(stderr, "strobe: writing to stdout %s%s\n", errno ? "failed: " : "failed",
                errno ? strerror(errno) : "");
    return code == STROBE_EXIT_OK ? STROBE_EXIT_FAILED : code;
}

static void print_help(FILE *out)
{
    fprintf(out, "usage: strobe <command> [options]\n\n");
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-15s %s\n", commands[i].name, commands[i].help);
    fprintf(out,
            "\n'strobe <command> --help' tells more of each; 'strobe --version' the version.\n");
}

/* Names of Tracy's tools, its forks' and IREE's among them, and of tt-torch's: a link of that name runs the command. */
static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} tools[] = {
    {"tracy-capture", strobe_cli_tracy_capture},
    {"capture-release", strobe_cli_tracy_capture},
    {"iree-tracy-capture", strobe_cli_tracy_capture},
    {"tracy-csvexport", strobe_cli_tracy_csvexport},
    {"csvexport-release", strobe_cli_tracy_csvexport},
    {"iree-tracy-csvexport", strobe_cli_tracy_csvexport},
    {"tracy", strobe_cli_view},
    {"tracy-profiler", strobe_cli_view},
    {"Tracy-release", strobe_cli_view},
    {"iree-tracy-profiler", strobe_cli_view},
    {"tt_profile", strobe_cli_profile},
};

/* The tool that this program was called as, NULL: strobe itself. */
static int (*find_tool(const char *path))(int argc, char **argv)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; name && i < sizeof tools / sizeof tools[0]; i++)
        if (!strcmp(name, tools[i].name))
            return tools[i].run;
    return NULL;
}

/* Messages of getopt begin with argv[0]. */
static int run_command(int argc, char **argv)
{
    char name[64];
    for (int i = 0; i < N_COMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name)) {
            snprintf(name, sizeof name, "strobe %s", commands[i].name);
            argv[1] = name;
            return commands[i].run(argc - 1, argv + 1);
        }
    fprintf(stderr, "strobe: '%s' is not a command; 'strobe --help' lists them\n", argv[1]);
    return STROBE_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    int (*tool)(int, char **) = find_tool(argc ? argv[0] : NULL);
    if (tool)
        return end(tool(argc, argv));
    if (argc < 2) {
        print_help(stderr);
        return STROBE_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
        return end(STROBE_EXIT_OK);
    }
    if (!strcmp(argv[1], "--version")) {
        printf("strobe %s\n", STROBE_VERSION);
        return end(STROBE_EXIT_OK);
    }
    return end(run_command(argc, argv));
}
