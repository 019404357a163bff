/* import_device.c - see the header.  SPDX-License-Identifier: MIT */
#include "cli/import_device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ready.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "device_import/device_log.h"
#include "report/cpp_report.h"
#include "report/devlog.h"
#include "report/host.h"

/* ---- which files ---- */

/* A regular file of a folder; out is "" where there is none. */
static bool find_file(struct strobe_cli_device_log *found, const char *folder, const char *name,
                      char out[PATH_MAX])
{
    struct stat facts;
    int n = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    if (n > 0 && n < PATH_MAX && !stat(out, &facts) && S_ISREG(facts.st_mode)) {
        found->n_bytes += (uint64_t)facts.st_size;
        return true;
    }
    out[0] = 0;
    return false;
}

/* The capture: by its usual name, else the only one. */
static void find_tracy(struct strobe_cli_device_log *found)
{
    char name[256] = "";
    struct dirent *entry;
    if (find_file(found, found->folder, "tracy_profile_log_host.tracy", found->tracy))
        return;
    DIR *folder = opendir(found->folder);
    while (folder && (entry = readdir(folder))) {
        size_t n = strlen(entry->d_name);
        if (n <= 6 || n >= sizeof name || strcmp(entry->d_name + n - 6, ".tracy"))
            continue;
        if (name[0]) { /* which of them is meant, nobody knows */
            name[0] = 0;
            break;
        }
        strcpy(name, entry->d_name);
    }
    if (folder)
        closedir(folder);
    if (name[0])
        find_file(found, found->folder, name, found->tracy);
}

static bool is_log(const char *path)
{
    uint8_t first[64];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, first, sizeof first);
    if (fd >= 0)
        close(fd);
    return n > 0 && strobe_device_log_is_file(first, (size_t)n);
}

static bool find_log(const char *path, struct strobe_cli_device_log *found)
{
    struct stat facts;
    if (stat(path, &facts))
        return false;
    if (S_ISDIR(facts.st_mode)) {
        snprintf(found->folder, PATH_MAX, "%.4000s/.logs", path);
        if (find_file(found, found->folder, STROBE_REPORT_DEVICE_FILE, found->log))
            return true;
        snprintf(found->folder, PATH_MAX, "%.4000s", path);
        return find_file(found, found->folder, STROBE_REPORT_DEVICE_FILE, found->log);
    }
    if (!S_ISREG(facts.st_mode) || !is_log(path))
        return false;
    const char *slash = strrchr(path, '/');
    snprintf(found->folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    if (slash == path)
        strcpy(found->folder, "/");
    snprintf(found->log, PATH_MAX, "%s", path);
    found->n_bytes = (uint64_t)facts.st_size;
    return true;
}

bool strobe_cli_device_log_find(const char *path, struct strobe_cli_device_log *found)
{
    memset(found, 0, sizeof *found);
    if (!find_log(path, found))
        return false;
    find_file(found, found->folder, "sync_device_info.csv", found->sync);
    find_file(found, found->folder, "zone_src_locations.log", found->sources);
    find_file(found, found->folder, "new_zone_src_locations.log", found->new_sources);
    find_file(found, found->folder, STROBE_REPORT_MESSAGES_FILE, found->messages);
    find_file(found, found->folder, STROBE_REPORT_TIMES_FILE, found->times);
    find_file(found, found->folder, STROBE_REPORT_CPP_FILE, found->figures);
    find_tracy(found);
    return true;
}

int strobe_cli_device_log_prepare(const struct strobe_cli_device_log *found)
{
    const char *const paths[] = {found->log,      found->sync,  found->sources, found->new_sources,
                                 found->messages, found->tracy, found->times,   found->figures};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (paths[i][0] && strobe_ready_prepare(paths[i], O_RDONLY, 0) < 0)
            return errno;
    return 0;
}

/* ---- the work ---- */

static const char *or_null(const char *path)
{
    return path[0] ? path : NULL;
}

static void say_clock(const struct strobe_device_log_import *made)
{
    switch (made->clock) {
    case STROBE_LOG_CLOCK_SYNC:
        fprintf(stderr,
                "strobe import: device times on the host's clock by sync_device_info.csv, within "
                "%.0f ns\n",
                made->error_ns);
        break;
    case STROBE_LOG_CLOCK_OPS:
        fprintf(stderr,
                "strobe import: no samples of the device's clock fit this capture: aligned by its "
                "ops, give or take "
                "%.3f ms\n",
                made->error_ns / 1e6);
        break;
    case STROBE_LOG_CLOCK_NONE:
        fputs("strobe import: nothing says when a device ran on the host's clock: its first marker "
              "is at the start\n",
              stderr);
        break;
    case STROBE_LOG_CLOCK_OWN:
        break;
    }
}

int strobe_cli_device_log_import(const struct strobe_cli_device_log *found, const char *to)
{
    struct strobe_device_log_import made;
    struct strobe_device_log_files files = {.log = found->log,
                                            .sync = or_null(found->sync),
                                            .sources = or_null(found->sources),
                                            .new_sources = or_null(found->new_sources),
                                            .folder = found->messages[0] ? found->folder : NULL,
                                            .logs = found->folder,
                                            .tracy = or_null(found->tracy)};
    enum strobe_err err = strobe_device_log_import(&files, to, &made);
    if (err == STROBE_ERR_FORMAT) {
        strobe_cli_error("import", "%s: not one line of it is a marker", found->log);
        return 2;
    }
    if (err) {
        strobe_cli_fail("import", found->log, err);
        return 2;
    }
    fprintf(stderr,
            "strobe import: wrote %s: %" PRIu64 " zones and %" PRIu64
            " marks of %u %s, %u of %u ops by name%s\n",
            to, made.n_zones, made.n_marks, made.n_devices,
            made.n_devices == 1 ? "device" : "devices", made.n_named_ops, made.n_ops,
            made.has_host ? ", beside the host's capture" : "");
    say_clock(&made);
    if (made.n_set_aside)
        fprintf(stderr, "strobe import: set aside: %" PRIu64 " lines; 'strobe info' says why\n",
                made.n_set_aside);
    if (made.host_err)
        strobe_cli_error("import", "%s: %s", found->tracy, strobe_err_text(made.host_err));
    return made.host_err ? 1 : 0;
}
