/* cmd_report_tools.c - strobe report --device-stats and --compare: upstream's process_device_log
 * and compare_ops_logs.  SPDX-License-Identifier: MIT */
#include "cli/cmd_report.h"
#include "report/analysis.h"
#include "report/compare.h"
#include "report/write.h"

#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char stats_help[] =
    "usage: strobe report --device-stats [DIR] [-s SETUP] [-d LOG] [-o OUT] [options]\n"
    "\n"
    "Statistics of a device log: writes device_stats.txt, device_analysis_data.json, a copy of "
    "the\n"
    "log and device_perf_results.tgz to OUT (default: output/device) in the artifacts folder DIR.\n"
    "\n"
    "  -s, --setup SETUP          which analyses (default: default_setup)\n"
    "  -d, --device-input-log LOG the log (default: DIR/.logs/profile_log_device.csv)\n"
    "  -o, --output-folder OUT    below DIR, or anywhere when it starts with '/'\n"
    "      --no-print-stats       do not print the statistics\n"
    "      --no-artifacts         no device_perf_results.tgz\n"
    "      --no-op-detection      do not look for ops\n";

static const char compare_help[] =
    "usage: strobe report --compare [--only-compare-op-ids] [REPORT.csv [CPP_REPORT.csv]]\n"
    "\n"
    "Are the columns that both reports have equal? Default: the newest report and the C++ report "
    "of\n"
    "the artifacts folder. Exit codes: 0 equal or nothing to compare, 1 different.\n";

struct stats_settings {
    const char *setup, *log, *out;
    char dir[STROBE_REPORT_PATH];
    bool quiet, no_tar, no_detect;
};

static int fail(const char *what, enum strobe_err err)
{
    strobe_cli_error("report", "%s: %s", what, strobe_err_text(err));
    return STROBE_EXIT_FAILED;
}

static bool take_stats_option(struct stats_settings *settings, int option)
{
    switch (option) {
    case 's':
        settings->setup = optarg;
        return true;
    case 'd':
        settings->log = optarg;
        return true;
    case 'o':
        settings->out = optarg;
        return true;
    case 'p':
        return settings->quiet = true;
    case 't':
        return settings->no_tar = true;
    case 'n':
        return settings->no_detect = true;
    default:
        return false;
    }
}

static enum strobe_err write_text(const char *path, const struct strobe_out *text)
{
    struct strobe_report_out out;
    enum strobe_err err = strobe_report_out_open(&out, path);
    if (err)
        return err;
    strobe_out_bytes(&out.text, text->at ? text->at : "", text->len);
    return strobe_report_out_close(&out);
}

static enum strobe_err write_json(const char *path, const struct strobe_report_model *model,
                                  const struct strobe_report_setup *setup,
                                  const struct strobe_report_device_findings *findings,
                                  const struct strobe_report_json_setup *names)
{
    struct strobe_report_out out;
    enum strobe_err err = strobe_report_out_open(&out, path);
    if (err)
        return err;
    strobe_report_device_json(model, setup, findings, names, &out);
    return strobe_report_out_close(&out);
}

/* tar -czf FOLDER/device_perf_results.tgz of what is in FOLDER. */
static bool make_tarball(const char *folder)
{
    pid_t child = fork();
    if (child == 0) {
        if (chdir(folder))
            _exit(1);
        execlp("tar", "tar", "-czf", "device_perf_results.tgz",
               "--exclude=./device_perf_results.tgz", ".", (char *)NULL);
        _exit(127);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

struct paths {
    char log[STROBE_REPORT_PATH + 64], out[STROBE_REPORT_PATH * 2],
        file[STROBE_REPORT_PATH * 2 + 64];
};

static void find_paths(const struct stats_settings *settings, struct paths *paths)
{
    if (settings->log)
        snprintf(paths->log, sizeof paths->log, "%s", settings->log);
    else
        snprintf(paths->log, sizeof paths->log, "%s/.logs/" STROBE_REPORT_DEVICE_FILE,
                 settings->dir);
    if (settings->out[0] == '/')
        snprintf(paths->out, sizeof paths->out, "%s", settings->out);
    else
        snprintf(paths->out, sizeof paths->out, "%s/%s", settings->dir, settings->out);
}

static const char *file_in(struct paths *paths, const char *name)
{
    snprintf(paths->file, sizeof paths->file, "%s/%s", paths->out, name);
    return paths->file;
}

static enum strobe_err write_stats(const struct stats_settings *settings, struct paths *paths,
                                   const struct strobe_report_model *model,
                                   const struct strobe_report_setup *setup,
                                   const struct strobe_report_device_findings *findings)
{
    struct strobe_out text = {0};
    struct strobe_report_json_setup names = {paths->log, settings->out};
    strobe_report_stats_text(setup, findings, model->n_devices, &text);
    enum strobe_err err = strobe_report_make_folder(paths->out);
    if (!err)
        err = strobe_report_copy_file(paths->log, file_in(paths, STROBE_REPORT_DEVICE_FILE));
    if (!err)
        err = write_text(file_in(paths, "device_stats.txt"), &text);
    if (!err)
        err =
            write_json(file_in(paths, "device_analysis_data.json"), model, setup, findings, &names);
    if (!err && !settings->quiet && text.len)
        fwrite(text.at, 1, text.len, stdout);
    strobe_out_free(&text);
    if (!err && !settings->no_tar && !make_tarball(paths->out))
        strobe_cli_error("report", "tar could not make %s/device_perf_results.tgz", paths->out);
    return err;
}

static int make_stats(const struct stats_settings *settings)
{
    struct strobe_report_setup setup;
    struct strobe_report_model model;
    struct strobe_report_faults faults = {0};
    struct paths paths;
    if (strobe_report_setup_open(&setup, settings->setup)) {
        strobe_cli_error("report", "'%s' is no setup; there are:", settings->setup);
        for (int i = 0; strobe_report_setup_name(i); i++)
            fprintf(stderr, "    %s\n", strobe_report_setup_name(i));
        return STROBE_EXIT_USAGE;
    }
    setup.detect = setup.detect && !settings->no_detect;
    find_paths(settings, &paths);
    enum strobe_err err = strobe_report_model_open(&model, paths.log, &faults, setup.detect);
    struct strobe_report_device_findings *findings = calloc(model.n_devices + 1, sizeof *findings);
    if (!err && !findings)
        err = STROBE_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < model.n_devices; i++)
        err = strobe_report_analyse(&model, &setup, i, &findings[i]);
    int code = err ? fail(paths.log, err) : STROBE_EXIT_OK;
    if (!err && (err = write_stats(settings, &paths, &model, &setup, findings)))
        code = fail(paths.out, err);
    uint64_t n_faults = strobe_report_faults_total(&faults);
    if (n_faults)
        strobe_cli_error("report", "%llu faults in the log; 'strobe report' names them",
                         (unsigned long long)n_faults);
    for (uint32_t i = 0; findings && i < model.n_devices; i++)
        strobe_report_findings_free(&model, i, &findings[i]);
    free(findings);
    strobe_report_model_close(&model);
    strobe_report_setup_close(&setup);
    strobe_report_faults_free(&faults);
    return code;
}

int strobe_cli_report_device_stats(int argc, char **argv)
{
    static const struct option options[] = {{"setup", required_argument, NULL, 's'},
                                            {"device-input-log", required_argument, NULL, 'd'},
                                            {"output-folder", required_argument, NULL, 'o'},
                                            {"no-print-stats", no_argument, NULL, 'p'},
                                            {"no-artifacts", no_argument, NULL, 't'},
                                            {"no-op-detection", no_argument, NULL, 'n'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct stats_settings settings = {.setup = "default_setup", .out = "output/device"};
    int option;
    optind = 1;
    while ((option = strobe_cli_option(argc, argv, "s:d:o:h", options)) != -1) {
        if (option == 'h') {
            fputs(stats_help, stdout);
            return STROBE_EXIT_OK;
        }
        if (!take_stats_option(&settings, option))
            return STROBE_EXIT_USAGE;
    }
    if (optind < argc)
        snprintf(settings.dir, sizeof settings.dir, "%s", argv[optind]);
    else
        strobe_cli_report_default_dir(settings.dir);
    return make_stats(&settings);
}

/* ---- comparing ---- */

/* The newest ops_perf_results*.csv below a folder, by time of change. */
static void find_newest(const char *folder, int depth, struct timespec *when, char *path)
{
    char name[STROBE_REPORT_PATH];
    struct stat found;
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        if (entry->d_name[0] == '.' ||
            snprintf(name, sizeof name, "%s/%s", folder, entry->d_name) >= (int)sizeof name ||
            lstat(name, &found))
            continue;
        if (S_ISDIR(found.st_mode) && depth)
            find_newest(name, depth - 1, when, path);
        bool newer = found.st_mtim.tv_sec > when->tv_sec || (found.st_mtim.tv_sec == when->tv_sec &&
                                                             found.st_mtim.tv_nsec > when->tv_nsec);
        if (S_ISREG(found.st_mode) && newer && !strncmp(entry->d_name, "ops_perf_results", 16)) {
            *when = found.st_mtim;
            memcpy(path, name, sizeof name);
        }
    }
    if (open)
        closedir(open);
}

int strobe_cli_report_compare(int argc, char **argv)
{
    static const struct option options[] = {{"only-compare-op-ids", no_argument, NULL, 'i'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    static const char *const verdicts[] = {"the reports are equal", "the reports are not equal",
                                           "nothing to compare: a report is empty, or no column is "
                                           "common",
                                           "too few common columns"};
    char dir[STROBE_REPORT_PATH], report[STROBE_REPORT_PATH] = "", cpp[STROBE_REPORT_PATH * 2];
    char reports[STROBE_REPORT_PATH + 16];
    bool only_ids = false;
    int option;
    optind = 1;
    while ((option = strobe_cli_option(argc, argv, "h", options)) != -1) {
        if (option == 'h') {
            fputs(compare_help, stdout);
            return STROBE_EXIT_OK;
        }
        if (option != 'i')
            return STROBE_EXIT_USAGE;
        only_ids = true;
    }
    strobe_cli_report_default_dir(dir);
    snprintf(reports, sizeof reports, "%s/reports", dir);
    snprintf(cpp, sizeof cpp, "%s/.logs/cpp_device_perf_report.csv", dir);
    if (optind < argc)
        snprintf(report, sizeof report, "%s", argv[optind]);
    else
        find_newest(reports, 3, &(struct timespec){0}, report);
    if (optind + 1 < argc)
        snprintf(cpp, sizeof cpp, "%s", argv[optind + 1]);
    struct strobe_out out = {0};
    enum strobe_report_verdict verdict;
    enum strobe_err err = strobe_report_compare(report, cpp, only_ids, &verdict, &out);
    if (!err) {
        printf("comparing %s with %s\n%s%s\n", report, cpp, out.at ? out.at : "",
               verdicts[verdict]);
    } else {
        fail(*report ? report : reports, err);
    }
    strobe_out_free(&out);
    bool bad = err || verdict == STROBE_REPORT_DIFFERENT || verdict == STROBE_REPORT_TOO_FEW;
    return bad ? STROBE_EXIT_FAILED : STROBE_EXIT_OK;
}
