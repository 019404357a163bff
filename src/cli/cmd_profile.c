/* cmd_profile.c - strobe profile "COMMAND": records a command and makes the op report of it, with the options and files of
 * tt-torch's profile.py. The work is that of record, export, tracy-csvexport and report, one process each.
 * SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "report/folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOST_TRACE   "tracy_profile_log_host.strobe"
#define TRACY_FILE   "tracy_profile_log_host.tracy"
#define DEFAULT_NAME "device_ops_perf_trace.csv"

static const char help[] =
    "usage: strobe profile [-h] [-o OUTPUT_PATH] [-p PORT] \"test_command\"\n"
    "\n"
    "Runs a command line, records all its processes, and makes the op report of it: a row per op "
    "with its times on host and\n"
    "device, and LOC, CONST_EVAL_OP and PROGRAM_METADATA of the MLIR that it came from. The "
    "command is one word: quote it.\n"
    "\n"
    "  -o, --output_path PATH  the report (default: results/perf/" DEFAULT_NAME
    "); a name without a slash is put into results/perf\n"
    "  -p, --port PORT         a port for the program's Tracy client. It need not be free: nobody "
    "waits for it\n"
    "  -h, --help\n"
    "\n"
    "The trace is generated/profiler/.logs/" TRACY_FILE
    " of $TT_METAL_HOME, or of install/tt-metal; $TT_METAL_PROFILER_DIR\n"
    "names another folder. What the device's runtime left in .logs is read from there.\n"
    "\n"
    "Exit codes: the command's own; 1 the recording or the report failed, 2 wrong usage, 3 "
    "interrupted (the report has what ran).\n"
    "\n"
    "example:\n"
    "  strobe profile \"pytest -svv "
    "tests/models/mnist/test_mnist.py::test_mnist_train[full-eval]\"\n";

struct profile {
    const char *command, *port;
    char output[STROBE_REPORT_PATH];
    char folder[STROBE_REPORT_PATH - 256]; /* of all artifacts */
    char logs[STROBE_REPORT_PATH - 128];
};

static volatile sig_atomic_t was_interrupted;
static volatile sig_atomic_t child;

static void hand_on(int number)
{
    was_interrupted = 1;
    if (child && number == SIGTERM) /* the terminal interrupts the whole group itself */
        kill((pid_t)child, SIGTERM);
}

/* ---- steps ---- */

/* Run this program as one of its commands, with its output in a file (NULL: as it is); the exit code as the shell counts. */
static int run_self(const char *const *words, const char *out_path)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGTERM);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    if (out_path)
        posix_spawn_file_actions_addopen(&files, 1, out_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    int failed =
        posix_spawn(&pid, "/proc/self/exe", &files, &attributes, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (failed) {
        strobe_cli_error("profile", "%s can't be started: %s", words[0], strerror(failed));
        return -1;
    }
    child = (sig_atomic_t)pid;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    child = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void join(char *out, size_t room, const char *folder, const char *name)
{
    snprintf(out, room, "%s/%s", folder, name);
}

/* An empty .logs: files of an earlier run must not be taken for this one's. */
static int clear_logs(const struct profile *profile)
{
    char path[STROBE_REPORT_PATH + 256];
    enum strobe_err err = strobe_report_make_folder(profile->logs);
    DIR *folder = err ? NULL : opendir(profile->logs);
    if (!folder) {
        strobe_cli_error("profile", "%s: %s", profile->logs,
                         err ? strobe_err_text(err) : strerror(errno));
        return 0;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        join(path, sizeof path, profile->logs, entry->d_name);
        if (entry->d_type == DT_REG || entry->d_type == DT_LNK)
            unlink(path);
    }
    closedir(folder);
    return 1;
}

/* What the program's runtime reads. */
static void set_environment(const struct profile *profile)
{
    static const char *const names[][2] = {{"TT_METAL_DEVICE_PROFILER", "1"},
                                           {"TT_METAL_CLEAR_L1", "1"},
                                           {"TT_METAL_DEVICE_PROFILER_DISPATCH", "0"},
                                           {"TT_RUNTIME_ENABLE_PERF_TRACE", "1"},
                                           {"TTNN_OP_PROFILER", "1"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        setenv(names[i][0], names[i][1], 0); /* what the user says stays */
    setenv("TT_METAL_PROFILER_DIR", profile->folder, 0);
    if (profile->port)
        setenv("TRACY_PORT", profile->port, 1);
}

static int record(const struct profile *profile)
{
    char trace[STROBE_REPORT_PATH];
    join(trace, sizeof trace, profile->logs, HOST_TRACE);
    const char *const words[] = {"strobe", "record",  "-q", "--python",       "off", "-o", trace,
                                 "--",     "/bin/sh", "-c", profile->command, NULL};
    return run_self(words, NULL);
}

/* The .tracy file and the two tables of the host. */
static int make_logs(const struct profile *profile)
{
    char trace[STROBE_REPORT_PATH], tracy[STROBE_REPORT_PATH], table[STROBE_REPORT_PATH];
    join(trace, sizeof trace, profile->logs, HOST_TRACE);
    join(tracy, sizeof tracy, profile->logs, TRACY_FILE);
    const char *const export[] = {"strobe", "export", "--to", "tracy", "-o", tracy, trace, NULL};
    const char *const times[] = {"csvexport-release",
                                 "-u",
                                 "-t",
                                 "TT_",
                                 "-x",
                                 "CompileProgram,HWCommandQueue_write_buffer",
                                 tracy,
                                 NULL};
    const char *const data[] = {"csvexport-release",
                                "-m",
                                "-s",
                                ";",
                                tracy,
                                NULL}; /* texts as they are, as the fork has it */
    if (run_self(export, "/dev/null"))
        return 0;
    join(table, sizeof table, profile->logs, "tracy_ops_times.csv");
    if (run_self(times, table))
        return 0;
    join(table, sizeof table, profile->logs, "tracy_ops_data.csv");
    return !run_self(data, table);
}

/* Whether there are ops: else there is nothing to report. */
static int has_ops(const struct profile *profile)
{
    char path[STROBE_REPORT_PATH], line[4096];
    int found = 0;
    join(path, sizeof path, profile->logs, "profile_log_device.csv");
    if (!access(path, R_OK))
        return 1;
    join(path, sizeof path, profile->logs, "tracy_ops_data.csv");
    FILE *file = fopen(path, "r");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, "TT_DNN") || strstr(line, "TT_SIGNPOST");
    if (file)
        fclose(file);
    return found;
}

/* The report beside the logs, then where it was asked for. */
static int make_report(const struct profile *profile)
{
    char made[STROBE_REPORT_PATH], above[STROBE_REPORT_PATH];
    const char *const words[] = {"strobe", "report", "--mlir",        "--no-date",
                                 "-q",     "-o",     profile->folder, NULL};
    if (run_self(words, "/dev/null"))
        return 0;
    join(made, sizeof made, profile->folder, "reports/ops_perf_results.csv");
    snprintf(above, sizeof above, "%s", profile->output);
    char *slash = strrchr(above, '/');
    enum strobe_err err = STROBE_OK;
    if (slash && slash != above) {
        *slash = 0;
        err = strobe_report_make_folder(above);
    }
    if (!err)
        err = strobe_report_copy_file(made, profile->output);
    if (err)
        strobe_cli_error("profile", "%s: %s", profile->output, strobe_err_text(err));
    return !err;
}

/* ---- all of it ---- */

static int run(struct profile *profile)
{
    struct sigaction handle = {.sa_handler = hand_on};
    sigaction(SIGINT, &handle, NULL);
    sigaction(SIGTERM, &handle, NULL);
    if (!clear_logs(profile))
        return STROBE_EXIT_FAILED;
    set_environment(profile);
    int code = record(profile);
    if (code < 0 || !make_logs(profile)) {
        strobe_cli_error("profile", "no profiling data could be captured; the words above say why");
        return code > 0 ? code : STROBE_EXIT_FAILED;
    }
    printf("trace: %s/" TRACY_FILE "\n", profile->logs);
    if (!has_ops(profile)) {
        strobe_cli_error("profile",
                         "the command ran no ops (no TT_DNN messages, no signposts, no device "
                         "log): there is no %s",
                         profile->output);
    } else if (!make_report(profile)) {
        return code ? code : STROBE_EXIT_FAILED;
    } else {
        printf("report: %s\n", profile->output);
    }
    return was_interrupted ? 3 : code;
}

static int find_folder(struct profile *profile)
{
    const char *folder = getenv("TT_METAL_PROFILER_DIR"), *home = getenv("TT_METAL_HOME");
    char here[2048];
    if (folder && *folder)
        snprintf(profile->folder, sizeof profile->folder, "%s", folder);
    else if (home && *home)
        snprintf(profile->folder, sizeof profile->folder, "%s/generated/profiler", home);
    else if (getcwd(here, sizeof here)) /* the program may change its folder */
        snprintf(profile->folder, sizeof profile->folder, "%s/install/tt-metal/generated/profiler",
                 here);
    else
        return 0;
    join(profile->logs, sizeof profile->logs, profile->folder, ".logs");
    return strlen(profile->folder) + 256 < sizeof profile->folder;
}

static int is_port(const char *text)
{
    char *end;
    long port = strtol(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && port >= 1 && port <= 65535;
}

int strobe_cli_profile(int argc, char **argv)
{
    static const struct option known[] = {{"output_path", 1, NULL, 'o'},
                                          {"output-path", 1, NULL, 'o'},
                                          {"port", 1, NULL, 'p'},
                                          {"help", 0, NULL, 'h'},
                                          {0}};
    struct profile profile = {0};
    const char *output = DEFAULT_NAME;
    optind = 1;
    for (int c; (c = strobe_cli_option(argc, argv, "+ho:p:", known)) != -1;) {
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (c == '?' || (c == 'p' && !is_port(optarg))) {
            if (c == 'p')
                fputs("'strobe profile --help' shows the options\n", stderr);
            return STROBE_EXIT_USAGE;
        }
        output = c == 'o' ? optarg : output;
        profile.port = c == 'p' ? optarg : profile.port;
    }
    if (optind != argc - 1) {
        strobe_cli_error("profile", optind < argc
                                        ? "the command is one word: quote it"
                                        : "which command? 'strobe profile --help' tells more");
        return STROBE_EXIT_USAGE;
    }
    profile.command = argv[optind];
    snprintf(profile.output, sizeof profile.output, "%s%s",
             strchr(output, '/') ? "" : "results/perf/", output);
    if (!find_folder(&profile)) {
        strobe_cli_error("profile", "the path of the artifacts' folder is too long");
        return STROBE_EXIT_FAILED;
    }
    return run(&profile);
}
