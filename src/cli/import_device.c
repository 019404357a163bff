/* import_device.c - see the header.  SPDX-License-Identifier: MIT */
#include "cli/import_device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/ready.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "device_import/device_log.h"
#include "device_import/pick.h"

/* ---- which files ---- */

enum { MAX_FILES = 65536 }; /* of a folder that are looked at */

/* Paths of the files in a folder. */
struct listing {
    char **paths; /* owned, each of them */
    size_t n_paths, room;
};

static void free_listing(struct listing *listing)
{
    for (size_t i = 0; i < listing->n_paths; i++)
        free(listing->paths[i]);
    free(listing->paths);
    *listing = (struct listing){0};
}

static void list_file(struct listing *listing, const char *path)
{
    struct stat facts;
    if (stat(path, &facts) || !S_ISREG(facts.st_mode) || listing->n_paths == MAX_FILES)
        return;
    char *copy = strdup(path);
    char **place = copy ? STROBE_ARRAY_PUSH(listing->paths, listing->n_paths, listing->room) : NULL;
    if (place)
        *place = copy;
    else
        free(copy);
}

/* `before`: what a path of the folder begins with, its slash included; "": the working folder. */
static void list_folder(struct listing *listing, const char *before)
{
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *opened = opendir(before[0] ? before : ".");
    while (opened && (entry = readdir(opened)))
        if (snprintf(path, sizeof path, "%s%s", before, entry->d_name) < (int)sizeof path)
            list_file(listing, path);
    if (opened)
        closedir(opened);
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

/* The device log that `path` means, and all files that may be of its run. NULL: there is none. */
static const char *find_log(const char *path, struct listing *listing)
{
    struct stat facts;
    char folder[PATH_MAX];
    if (stat(path, &facts))
        return NULL;
    if (S_ISDIR(facts.st_mode)) {
        snprintf(folder, sizeof folder, "%.4000s/.logs/", path);
        list_folder(listing, folder);
        snprintf(folder, sizeof folder, "%.4000s/", path);
        list_folder(listing, folder);
        return strobe_device_log_pick_log((const char *const *)listing->paths, listing->n_paths);
    }
    if (!S_ISREG(facts.st_mode) || !is_log(path))
        return NULL;
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 0, path);
    list_folder(listing, folder);
    return path;
}

static void keep_path(struct strobe_cli_device_log *found, const char *path, char out[PATH_MAX])
{
    struct stat facts;
    snprintf(out, PATH_MAX, "%s", path ? path : "");
    if (path && !stat(path, &facts))
        found->n_bytes += (uint64_t)facts.st_size;
}

bool strobe_cli_device_log_find(const char *path, struct strobe_cli_device_log *found)
{
    struct listing listing = {0};
    struct strobe_device_log_picked picked;
    memset(found, 0, sizeof *found);
    const char *log = find_log(path, &listing);
    if (log) {
        const char *slash = strrchr(log, '/');
        int n = slash && slash > log ? (int)(slash - log) : 1;
        snprintf(found->folder, PATH_MAX, "%.*s", n, slash ? log : ".");
        strobe_device_log_pick((const char *const *)listing.paths, listing.n_paths, log, &picked);
        keep_path(found, picked.log, found->log);
        keep_path(found, picked.sync, found->sync);
        keep_path(found, picked.sources, found->sources);
        keep_path(found, picked.new_sources, found->new_sources);
        keep_path(found, picked.messages, found->messages);
        keep_path(found, picked.tracy, found->tracy);
        keep_path(found, picked.times, found->times);
        keep_path(found, picked.figures, found->figures);
    }
    free_listing(&listing);
    return log != NULL;
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
