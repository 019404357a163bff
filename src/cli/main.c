/* main.c - the strobe command: finds the sub-command and runs it.  SPDX-License-Identifier: MIT */
#include "cli/cli.h"

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

static void print_help(FILE *out)
{
    fprintf(out, "usage: strobe <command> [options]\n\n");
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fprintf(out,
            "\n'strobe <command> --help' tells more of each; 'strobe --version' the version.\n");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return STROBE_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
        return STROBE_EXIT_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("strobe %s\n", STROBE_VERSION);
        return STROBE_EXIT_OK;
    }
    for (int i = 0; i < N_COMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "strobe: '%s' is not a command; 'strobe --help' lists them\n", argv[1]);
    return STROBE_EXIT_USAGE;
}
