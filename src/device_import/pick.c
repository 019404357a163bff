/* pick.c - see pick.h.  SPDX-License-Identifier: MIT */
#include "device_import/pick.h"

#include <string.h>

#include "report/cpp_report.h"
#include "report/devlog.h"
#include "report/host.h"

/* Bytes of the folder in front of a path's name, its slash included. */
static size_t folder_bytes(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool is_named(const char *path, const char *name)
{
    return !strcmp(path + folder_bytes(path), name);
}

static bool is_beside(const char *path, const char *log)
{
    size_t n = folder_bytes(path);
    return n == folder_bytes(log) && !memcmp(path, log, n);
}

static bool is_in_logs(const char *path)
{
    static const char logs[] = ".logs/";
    size_t n = folder_bytes(path), n_logs = sizeof logs - 1;
    return n >= n_logs && !memcmp(path + n - n_logs, logs, n_logs) &&
           (n == n_logs || path[n - n_logs - 1] == '/');
}

const char *strobe_device_log_pick_log(const char *const *paths, size_t n_paths)
{
    const char *found = NULL;
    for (size_t i = 0; i < n_paths; i++)
        if (is_named(paths[i], STROBE_REPORT_DEVICE_FILE) &&
            (!found || (is_in_logs(paths[i]) && !is_in_logs(found))))
            found = paths[i];
    return found;
}

static const char *pick_named(const char *const *paths, size_t n_paths, const char *log,
                              const char *name)
{
    for (size_t i = 0; i < n_paths; i++)
        if (is_beside(paths[i], log) && is_named(paths[i], name))
            return paths[i];
    return NULL;
}

/* Of several captures nobody knows which is meant. */
static const char *pick_only_capture(const char *const *paths, size_t n_paths, const char *log)
{
    const char *found = NULL;
    for (size_t i = 0; i < n_paths; i++) {
        size_t n = strlen(paths[i]);
        if (!is_beside(paths[i], log) || n <= 6 || strcmp(paths[i] + n - 6, ".tracy"))
            continue;
        if (found)
            return NULL;
        found = paths[i];
    }
    return found;
}

void strobe_device_log_pick(const char *const *paths, size_t n_paths, const char *log,
                            struct strobe_device_log_picked *out)
{
    *out = (struct strobe_device_log_picked){
        .log = log,
        .sync = pick_named(paths, n_paths, log, "sync_device_info.csv"),
        .sources = pick_named(paths, n_paths, log, "zone_src_locations.log"),
        .new_sources = pick_named(paths, n_paths, log, "new_zone_src_locations.log"),
        .messages = pick_named(paths, n_paths, log, STROBE_REPORT_MESSAGES_FILE),
        .times = pick_named(paths, n_paths, log, STROBE_REPORT_TIMES_FILE),
        .figures = pick_named(paths, n_paths, log, STROBE_REPORT_CPP_FILE),
        .tracy = pick_named(paths, n_paths, log, "tracy_profile_log_host.tracy"),
    };
    if (!out->tracy)
        out->tracy = pick_only_capture(paths, n_paths, log);
}
