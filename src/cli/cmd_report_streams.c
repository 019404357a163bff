/* cmd_report_streams.c - strobe report --device-streams: the device's files of a program that ended before it could write them.
 * While such files are wanted, a program keeps its device's stream beside them (src/device_host/files.c) and removes it when they are
 * written. What it leaves is decoded here, by the same code.  SPDX-License-Identifier: MIT */
#include "cli/cmd_report.h"
#include "device_files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: strobe report --device-streams LOGS\n"
    "\n"
    "Writes profile_log_device.csv and what belongs to it from the streams (device_*.stream) that "
    "a\n"
    "killed program left in the folder LOGS, and removes them. "
    "TT_METAL_PROFILER_CPP_POST_PROCESS=1\n"
    "and TT_METAL_DEVICE_PROFILER_NOC_EVENTS=1 mean what they mean for the program. `python -m\n"
    "tracy -r` does this by itself.\n";

static void warn(void *context, const char *sentence)
{
    (void)context;
    strobe_cli_error("report", "%s", sentence);
}

static bool is_on(const char *name)
{
    const char *value = getenv(name);
    return value && *value == '1';
}

/* Decode a stream of so many whole words. */
static enum strobe_err write_files(const char *logs, const uint32_t *words, size_t n_words)
{
    struct strobe_device_files *files = NULL;
    const struct strobe_device_files_options options = {
        .folder = logs,
        .noc_folder = is_on("TT_METAL_DEVICE_PROFILER_NOC_EVENTS") ? logs : NULL,
        .has_perf_report =
            is_on("TT_METAL_PROFILER_CPP_POST_PROCESS") && !is_on("TT_METAL_PROFILER_ACCUMULATE"),
        .warn = warn};
    enum strobe_err err = strobe_device_files_open(&options, &files);
    if (!err)
        strobe_device_files_feed(files, words,
                                 n_words); /* what is missing is said with the files */
    strobe_device_files_close(files);
    return err;
}

static enum strobe_err take_stream(const char *logs, const char *path)
{
    struct stat facts;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return strobe_err_from_errno(errno);
    enum strobe_err err = fstat(fd, &facts) ? strobe_err_from_errno(errno) : STROBE_OK;
    size_t n_bytes = err ? 0 : (size_t)facts.st_size / 4 * 4;
    void *bytes = n_bytes ? mmap(NULL, n_bytes, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    if (bytes == MAP_FAILED)
        err = strobe_err_from_errno(errno);
    else if (bytes)
        err = write_files(logs, bytes, n_bytes / 4);
    if (bytes && bytes != MAP_FAILED)
        munmap(bytes, n_bytes);
    close(fd);
    if (!err)
        unlink(path);
    return err;
}

int strobe_cli_report_streams(int argc, char **argv)
{
    char pattern[STROBE_REPORT_PATH + 32];
    glob_t found = {0};
    int code = STROBE_EXIT_OK;
    if (argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))) {
        fputs(help, stdout);
        return STROBE_EXIT_OK;
    }
    if (argc != 2 || strlen(argv[1]) >= STROBE_REPORT_PATH) {
        strobe_cli_error("report", "--device-streams wants one folder");
        return STROBE_EXIT_USAGE;
    }
    snprintf(pattern, sizeof pattern, "%s/device_*.stream", argv[1]);
    if (!glob(pattern, 0, NULL, &found))
        for (size_t i = 0; i < found.gl_pathc; i++) {
            enum strobe_err err = take_stream(argv[1], found.gl_pathv[i]);
            if (err) {
                strobe_cli_error("report", "%s: %s", found.gl_pathv[i], strobe_err_text(err));
                code = STROBE_EXIT_FAILED;
            }
        }
    globfree(&found);
    return code;
}
