/* cmd_report.c - strobe report: the op report from tt-metal's logs.
 * Device statistics and the comparison of two reports: cmd_report_tools.c. Regions of a trace: cmd_report_regions.c. Streams of killed
 * programs: cmd_report_streams.c.
 * SPDX-License-Identifier: MIT */
#include "cli/cmd_report.h"
#include "base/glob.h"
#include "cli/choice.h"
#include "report/choose.h"
#include "report/counter_tables.h"
#include "report/folders.h"
#include "report/summary.h"
#include "report/write.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "usage: strobe report [DIR] [options]\n"
    "       strobe report --device-stats [DIR] [-s SETUP] [-d LOG] [-o OUT] [options]\n"
    "       strobe report --by-region [--region WHAT] [--zone NAME] [--csv | --json] "
    "[FILE.strobe]\n"
    "       strobe report --device-streams LOGS\n"
    "       strobe report --compare [--only-compare-op-ids] [REPORT.csv [CPP_REPORT.csv]]\n"
    "\n"
    "Joins the logs that a tt-metal run leaves (tracy_ops_times.csv, tracy_ops_data.csv,\n"
    "profile_log_device.csv, cpp_device_perf_report.csv) into the op report, writes it as CSV and\n"
    "shows where the time went. Missing or damaged logs never stop it: what is unknown stays "
    "empty,\n"
    "each fault is named with its place, and a coverage line ends the report.\n"
    "\n"
    "DIR is a .logs folder or the folder above it. Default: $TT_METAL_PROFILER_DIR, else\n"
    "$TT_METAL_HOME/generated/profiler, else ./generated/profiler.\n"
    "\n"
    "Files:\n"
    "  -o, --output-folder DIR  write to DIR/reports (default: beside .logs); without a DIR to "
    "read,\n"
    "                           also where .logs is\n"
    "  -n, --name-append NAME   a name for the folder and the files\n"
    "      --date               a dated folder only\n"
    "      --no-date            no dated folder: reports/ops_perf_results.csv\n"
    "                           (default: a dated folder, and links without a date to the newest)\n"
    "      --no-copy            do not copy the device log and the capture beside the report\n"
    "      --older-names        column names of older reports (COMPUTE KERNEL PATH ...)\n"
    "      --mlir               add LOC, CONST_EVAL_OP and PROGRAM_METADATA from MLIR messages\n"
    "\n"
    "What is read:\n"
    "      --device-only        only the device log\n"
    "      --force-legacy-device-logs  the device log, even where there is a C++ report\n"
    "  -a, --device-analysis-types T   only this device analysis; may be given again\n"
    "      --analyze-noc-traces NoC figures: of npe_op_stats.csv, else of the noc_trace files\n"
    "                           (this is the default)\n"
    "      --upstream-compatible  reproduce upstream's known defects\n"
    "\n"
    "What of it is in the report (latencies stay those of the whole run):\n"
    "      --from-signpost NAME, --to-signpost NAME\n"
    "                           ops behind the first signpost of that name, and before the next\n"
    "      --device N           of device N; 0..3: of these\n"
    "\n"
    "What is shown:\n"
    "      --json | --md        the summary as JSON or Markdown\n"
    "      --top N              how many slow ops (default 10)\n"
    "  -q, --quiet              only the report's path and the coverage line\n"
    "      --progress           show progress even when stderr is no terminal\n"
    "      --strict             any fault: list all of them and exit with 3\n"
    "\n"
    "Exit codes: 0 done, 1 could not be done, 2 wrong usage, 3 faults with --strict.\n"
    "Columns and their sources: docs/op-report.md.\n";

enum { PLACES_SHOWN = 25 };

struct settings {
    struct strobe_report_options read;
    struct strobe_report_write_options write;
    struct strobe_report_view view;
    struct strobe_cli_choice choice;
    const char *dir, *out, *name;
    bool date, no_date, no_copy, json, md, quiet, progress, strict;
};

enum {
    OPT_DATE = 256,
    OPT_NO_DATE,
    OPT_NO_COPY,
    OPT_OLDER_NAMES,
    OPT_MLIR,
    OPT_DEVICE_ONLY,
    OPT_LEGACY,
    OPT_NOC,
    OPT_COMPATIBLE,
    OPT_JSON,
    OPT_MD,
    OPT_TOP,
    OPT_PROGRESS,
    OPT_STRICT,
};

static const struct option long_options[] = {
    {"output-folder", required_argument, NULL, 'o'},
    {"name-append", required_argument, NULL, 'n'},
    {"device-analysis-types", required_argument, NULL, 'a'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"date", no_argument, NULL, OPT_DATE},
    {"no-date", no_argument, NULL, OPT_NO_DATE},
    {"no-copy", no_argument, NULL, OPT_NO_COPY},
    {"older-names", no_argument, NULL, OPT_OLDER_NAMES},
    {"mlir", no_argument, NULL, OPT_MLIR},
    {"device-only", no_argument, NULL, OPT_DEVICE_ONLY},
    {"force-legacy-device-logs", no_argument, NULL, OPT_LEGACY},
    {"analyze-noc-traces", no_argument, NULL, OPT_NOC},
    {"upstream-compatible", no_argument, NULL, OPT_COMPATIBLE},
    {"json", no_argument, NULL, OPT_JSON},
    {"md", no_argument, NULL, OPT_MD},
    {"top", required_argument, NULL, OPT_TOP},
    {"progress", no_argument, NULL, OPT_PROGRESS},
    {"strict", no_argument, NULL, OPT_STRICT},
    {"device", required_argument, NULL, STROBE_CLI_DEVICE},
    {"from-signpost", required_argument, NULL, STROBE_CLI_FROM},
    {"to-signpost", required_argument, NULL, STROBE_CLI_TO},
    {NULL, 0, NULL, 0},
};

void strobe_cli_report_default_dir(char path[STROBE_REPORT_PATH])
{
    const char *folder = getenv("TT_METAL_PROFILER_DIR"), *home = getenv("TT_METAL_HOME");
    if (folder && *folder)
        snprintf(path, STROBE_REPORT_PATH, "%s", folder);
    else
        snprintf(path, STROBE_REPORT_PATH, "%s/generated/profiler", home && *home ? home : ".");
}

static bool add_analysis(struct settings *settings, const char *name)
{
    int analysis = strobe_report_analysis_find(name);
    if (analysis < 0) {
        strobe_cli_error("report", "'%s' is no device analysis; there are:", name);
        for (int i = 0; i < STROBE_REPORT_N_ANALYSES; i++)
            fprintf(stderr, "    %s\n", strobe_report_analysis_name(i));
        return false;
    }
    settings->read.analyses |= 1u << analysis;
    return true;
}

static bool set_top(struct settings *settings, const char *text)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || *end || end == text || n < 0 || n > 1000000) {
        strobe_cli_error("report", "--top wants a number, not '%s'", text);
        return false;
    }
    settings->view.n_top = (uint32_t)n;
    return true;
}

/* One option. False when it is wrong. */
static bool take_option(struct settings *settings, int option)
{
    switch (option) {
    case 'o':
        settings->out = optarg;
        return true;
    case 'n':
        settings->name = optarg;
        return true;
    case 'a':
        return add_analysis(settings, optarg);
    case 'q':
        return settings->quiet = true;
    case OPT_DATE:
        return settings->date = true;
    case OPT_NO_DATE:
        return settings->no_date = true;
    case OPT_NO_COPY:
        return settings->no_copy = true;
    case OPT_OLDER_NAMES:
        return settings->write.older_names = true;
    case OPT_MLIR:
        return settings->write.mlir = true;
    case OPT_DEVICE_ONLY:
        return settings->read.device_only = true;
    case OPT_LEGACY:
        return settings->read.force_legacy = true;
    case OPT_NOC:
        return true;
    case OPT_COMPATIBLE:
        return settings->read.compatible = true;
    case OPT_JSON:
        return settings->json = true;
    case OPT_MD:
        return settings->md = true;
    case OPT_TOP:
        return set_top(settings, optarg);
    case OPT_PROGRESS:
        return settings->progress = true;
    case OPT_STRICT:
        return settings->strict = true;
    default:
        return strobe_cli_choice_set("report", option, optarg, &settings->choice) == 1;
    }
}

/* Sets the exit code when the command ends here. */
static bool take_options(struct settings *settings, int argc, char **argv, int *code)
{
    int option;
    optind = 1;
    while ((option = strobe_cli_option(argc, argv, "o:n:a:qh", long_options)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            *code = STROBE_EXIT_OK;
            return false;
        }
        if (!take_option(settings, option)) {
            *code = STROBE_EXIT_USAGE;
            return false;
        }
    }
    if (optind < argc - 1 || (settings->json && settings->md) ||
        (settings->date && settings->no_date)) {
        strobe_cli_error("report", optind < argc - 1 ? "one folder at a time"
                                                     : "these options exclude each other");
        *code = STROBE_EXIT_USAGE;
        return false;
    }
    settings->dir = optind < argc ? argv[optind] : NULL;
    return true;
}

/* ---- progress ---- */

struct progress {
    int shown; /* percent; -1: nothing yet */
    bool is_terminal;
};

static void show_progress(void *context, uint64_t done, uint64_t total)
{
    struct progress *progress = context;
    int percent = total ? (int)(100 * done / total) : 100;
    bool step =
        progress->is_terminal ? percent != progress->shown : percent / 10 != progress->shown / 10;
    if (total < 50u << 20 || (!step && progress->shown >= 0))
        return;
    progress->shown = percent;
    fprintf(stderr, "%sreading the device log: %3d %% of %llu MB%s",
            progress->is_terminal ? "\r" : "", percent, (unsigned long long)(total / 1000000),
            progress->is_terminal && percent < 100 ? "" : "\n");
}

/* ---- files ---- */

static enum strobe_err begin_copy(const struct settings *settings,
                                  const struct strobe_report_folders *folders, int *fd)
{
    char from[STROBE_REPORT_PATH + 64], to[STROBE_REPORT_PATH + 64];
    *fd = -1;
    if (settings->no_copy)
        return STROBE_OK;
    snprintf(from, sizeof from, "%s/" STROBE_REPORT_DEVICE_FILE, folders->logs);
    snprintf(to, sizeof to, "%s/" STROBE_REPORT_DEVICE_FILE, folders->out);
    return strobe_report_copy_begin(from, to, fd);
}

/* NoC figures of all runs, in a table of their own. */
static enum strobe_err write_noc(const struct strobe_report *report,
                                 const struct strobe_report_folders *folders)
{
    char path[STROBE_REPORT_PATH];
    struct strobe_report_out out;
    if (!report->noc_ops.n)
        return STROBE_OK;
    strobe_report_folders_path(folders, "noc_op_stats", path);
    enum strobe_err err = strobe_report_out_open(&out, path);
    if (err)
        return err;
    strobe_report_noc_ops_write(&report->noc_ops, &out.text);
    return strobe_report_out_close(&out);
}

static enum strobe_err write_files(const struct settings *settings,
                                   const struct strobe_report *report,
                                   const struct strobe_report_folders *folders,
                                   char csv[STROBE_REPORT_PATH])
{
    char gaps[STROBE_REPORT_PATH];
    strobe_report_folders_path(folders, "ops_perf_results", csv);
    strobe_report_folders_path(folders, "per_core_op_to_op_times", gaps);
    enum strobe_err err = report->is_device_only
                              ? strobe_report_write_device(report, csv)
                              : strobe_report_write_ops(report, csv, &settings->write);
    if (!err && report->is_device_only)
        err = strobe_report_write_op2op(report, gaps);
    if (!err)
        err = write_noc(report, folders);
    if (!err && !settings->no_copy && !report->options.device_only)
        err = strobe_report_folders_copy(folders);
    return err;
}

static void get_date(char date[32])
{
    time_t now = time(NULL);
    struct tm parts;
    strftime(date, 32, "%Y_%m_%d_%H_%M_%S", localtime_r(&now, &parts));
}

static int fail(const char *what, enum strobe_err err)
{
    strobe_cli_error("report", "%s: %s", what, strobe_err_text(err));
    return STROBE_EXIT_FAILED;
}

/* ---- output ---- */

static int show(const struct settings *settings, const struct strobe_report *report,
                const char *csv)
{
    struct strobe_report_summary summary;
    struct strobe_out out = {0};
    struct strobe_report_view view = settings->view;
    view.csv = csv;
    view.n_places = settings->strict ? STROBE_REPORT_FAULTS_KEPT : PLACES_SHOWN;
    enum strobe_err err = strobe_report_summary_make(&summary, report);
    if (!err && settings->json) {
        strobe_report_summary_json(&summary, &view, &out);
    } else if (!err && settings->md) {
        strobe_report_summary_md(&summary, &view, &out);
    } else if (!err && settings->quiet && !settings->strict) {
        strobe_out_format(&out, "report: %s\n", csv);
        strobe_report_coverage_line(report, &out);
        strobe_out_char(&out, '\n');
    } else if (!err) {
        err = strobe_report_counter_tables(report, &out);
        strobe_report_summary_text(&summary, &view, &out);
    }
    strobe_report_summary_free(&summary);
    if (!err && out.error)
        err = STROBE_ERR_NOMEM;
    if (!err)
        fwrite(out.at, 1, out.len, stdout);
    strobe_out_free(&out);
    if (err)
        return fail("summary", err);
    bool faulty = settings->strict && strobe_report_faults_total(&report->faults);
    return faulty ? STROBE_EXIT_FAULTS : STROBE_EXIT_OK;
}

/* Only the rows that were asked for. False: there are none, and that was printed. */
static bool choose_rows(const struct settings *settings, struct strobe_report *report)
{
    const struct strobe_cli_choice *asked = &settings->choice;
    const struct strobe_report_choice choice = {.from_signpost = asked->from_signpost,
                                                .to_signpost = asked->to_signpost,
                                                .matches = strobe_glob_fits,
                                                .by_device = asked->by_device,
                                                .device_first = asked->device.first,
                                                .device_last = asked->device.last};
    const char *missing = NULL;
    if (!choice.from_signpost && !choice.to_signpost && !choice.by_device)
        return true;
    if (report->is_device_only) {
        strobe_cli_error("report", "a part can't be chosen without the host's logs: there are "
                                   "neither ops nor signposts in the device's");
        return false;
    }
    if (!strobe_report_choose(report, &choice, &missing))
        return true;
    strobe_cli_error("report", "no signpost of this run is called '%s'%s", missing,
                     missing == choice.to_signpost && choice.from_signpost
                         ? " behind the one of --from-signpost"
                         : "");
    return false;
}

/* Why the report has the device's runs only, and what to do. */
static void tell_no_ops(const char *logs)
{
    char path[STROBE_REPORT_PATH + 64];
    snprintf(path, sizeof path, "%s/" STROBE_REPORT_MESSAGES_FILE, logs);
    if (access(path, F_OK))
        strobe_cli_error("report",
                         "%s has no host logs: the ops have no names and no host times. Record the "
                         "program with: python -m tracy -p -r SCRIPT",
                         logs);
    else
        strobe_cli_error("report", "the program emitted no ops (zones and messages TT_DNN...): the "
                                   "rows are its device's runs, without names and host times");
}

static int make_report(struct settings *settings, const struct strobe_report_folders *folders)
{
    struct strobe_report report;
    struct progress progress = {-1, isatty(STDERR_FILENO)};
    char csv[STROBE_REPORT_PATH];
    int code;
    settings->read.logs = folders->logs;
    if (settings->progress || progress.is_terminal) {
        settings->read.progress = show_progress;
        settings->read.progress_context = &progress;
    }
    enum strobe_err err = strobe_report_read(&report, &settings->read);
    if (err == STROBE_ERR_NOTFOUND)
        strobe_cli_error("report",
                         "%s has none of tracy_ops_data.csv, tracy_ops_times.csv and "
                         "profile_log_device.csv",
                         folders->logs);
    if (!err && !choose_rows(settings, &report)) {
        strobe_report_close(&report);
        return STROBE_EXIT_FAILED;
    }
    if (!err)
        err = write_files(settings, &report, folders, csv);
    if (!err && report.log.copy_err)
        strobe_cli_error("report", "the copy of the device log is not complete: %s",
                         strobe_err_text(report.log.copy_err));
    code = err ? STROBE_EXIT_FAILED : show(settings, &report, csv);
    if (!err && report.is_device_only && !settings->read.device_only)
        tell_no_ops(folders->logs);
    if (err && err != STROBE_ERR_NOTFOUND)
        fail(folders->out, err);
    strobe_report_close(&report);
    return code;
}

/* Is there anything to read? Before a folder is made for it. */
static bool has_logs(const struct strobe_report_folders *folders)
{
    static const char *const names[] = {STROBE_REPORT_MESSAGES_FILE, STROBE_REPORT_TIMES_FILE,
                                        STROBE_REPORT_DEVICE_FILE};
    char path[STROBE_REPORT_PATH + 64];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folders->logs, names[i]);
        if (!access(path, R_OK))
            return true;
    }
    strobe_cli_error("report", "%s has none of %s, %s and %s", folders->logs, names[0], names[1],
                     names[2]);
    return false;
}

static int run(struct settings *settings)
{
    struct strobe_report_folders folders;
    char dir[STROBE_REPORT_PATH], date[32] = "";
    if (!settings->dir && !settings->out)
        strobe_cli_report_default_dir(dir);
    else
        snprintf(dir, sizeof dir, "%s", settings->dir ? settings->dir : settings->out);
    if (!settings->no_date)
        get_date(date);
    enum strobe_err err =
        strobe_report_folders_find(&folders, dir, settings->out, settings->name, date);
    if (err)
        return fail(dir, err);
    if (!has_logs(&folders))
        return STROBE_EXIT_FAILED;
    if (!(err = strobe_report_folders_make(&folders)))
        err = begin_copy(settings, &folders, &settings->read.copy_fd);
    if (err)
        return fail(folders.out, err);
    int code = make_report(settings, &folders);
    if (settings->read.copy_fd >= 0)
        close(settings->read.copy_fd);
    if (code != STROBE_EXIT_FAILED && !settings->date && !settings->no_date)
        strobe_report_folders_link(&folders, settings->name, date);
    return code;
}

int strobe_cli_report(int argc, char **argv)
{
    static char stats_name[] = "strobe report --device-stats"; /* how their messages begin */
    static char compare_name[] = "strobe report --compare";
    struct settings settings = {.view = {.n_top = 10}, .read = {.copy_fd = -1}};
    int code;
    if (argc > 1 && !strcmp(argv[1], "--device-stats")) {
        argv[1] = stats_name;
        return strobe_cli_report_device_stats(argc - 1, argv + 1);
    }
    if (argc > 1 && !strcmp(argv[1], "--device-streams"))
        return strobe_cli_report_streams(argc - 1, argv + 1);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!strcmp(argv[i], "--by-region"))
            return strobe_cli_report_regions(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "--compare")) {
        argv[1] = compare_name;
        return strobe_cli_report_compare(argc - 1, argv + 1);
    }
    if (!take_options(&settings, argc, argv, &code))
        return code;
    return run(&settings);
}
