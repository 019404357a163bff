/* cli.h - what the commands share: the table of commands, messages, exit codes.
 * The only room that prints or exits.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_CLI_H
#define STROBE_CLI_CLI_H

#include "base/err.h"

/* Exit codes of every command; `record` passes the traced command's own code through instead. */
enum {
    STROBE_EXIT_OK = 0,
    STROBE_EXIT_FAILED = 1, /* the work could not be done; the reason is on stderr */
    STROBE_EXIT_USAGE = 2,  /* the command line is wrong */
};

/* Name, one line of help. Each has a file cmd_<name>.c with strobe_cli_<name>(). */
#define STROBE_CLI_LIST(X)                                                     \
    X(record, "run a command, or attach, and record what its processes emit")  \
    X(info, "what is in a trace: processes, coverage, losses, overhead")       \
    X(stats, "zones by location: count, total, self, percentiles")             \
    X(memory, "memory in use: peak, leaks, temporary blocks, by place")        \
    X(locks, "who waited for which lock, and who held it")                     \
    X(top, "what is hot now, in the terminal")                                 \
    X(view, "show a trace in the browser, live or from a file")                \
    X(csv, "one row per zone, message, plot ... of a trace")                   \
    X(query, "ask traces in SQL")                                              \
    X(explain, "where the time went: the critical path, the cause, the proof") \
    X(mcp, "traces for assistants: the Model Context Protocol on stdin")       \
    X(diff, "what changed between two sets of runs")                           \
    X(merge, "traces of one machine, the ranks of a job, as one")              \
    X(cut, "a piece of a trace as a trace of its own")                         \
    X(export, "a trace in another format: HTML page, Chrome JSON, Tracy's")    \
    X(import, "a trace made of another profiler's file: Chrome JSON, Tracy's") \
    X(recover, "mend a cut trace, add what a dead recorder left behind")       \
    X(sessions, "recordings under way and what was left behind")               \
    X(doctor, "what would go wrong on this machine, and the remedy")           \
    X(report, "op report from tt-metal's profiler logs; sums by region")       \
    X(profile, "run a command line and make the op report of it")

/* Run one command; argv[0] is "strobe" and the command's name, or that of the tool that it is run as. The result is the exit code. */
#define X(name, help) int strobe_cli_##name(int argc, char **argv);
STROBE_CLI_LIST(X)
#undef X

/* Commands whose names are no C names: name, function, one line of help. Some are also run by a name
 * of Tracy's tools: main.c. */
#define STROBE_CLI_DASHED_LIST(X)                                                    \
    X("tracy-bridge", tracy_bridge, "shows a trace to a Tracy server that connects") \
    X("tracy-capture", tracy_capture, "records one Tracy client into a .tracy file") \
    X("tracy-csvexport", tracy_csvexport, "the tables of Tracy's csvexport, of either format")

#define X(name, function, help) int strobe_cli_##function(int argc, char **argv);
STROBE_CLI_DASHED_LIST(X)
#undef X

/* Tell why a .tracy file could not be read to its end; the exit code. */
int strobe_cli_tracy_fail(const char *command, const char *path, enum strobe_err err);

/* "strobe <command>: <text>" on stderr. */
void strobe_cli_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The next option, as getopt_long gives it. '?': stderr says what is wrong with it, and where the options are listed. */
struct option;
int strobe_cli_option(int argc, char **argv, const char *letters, const struct option *known);

#endif
