/* folders.c - finds, makes and fills the report's folders.
 * Older reports are never removed: an output folder that exists keeps its sub-folders, and only the
 * files of the same names are written anew.  SPDX-License-Identifier: MIT */
#include "report/folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECT_FROM = 64 << 20 }; /* bytes from which a copy goes past the page cache */

static enum strobe_err format_ok(int length, size_t size)
{
    return length < 0 || (size_t)length >= size ? STROBE_ERR_LIMIT : STROBE_OK;
}

static bool is_folder(const char *path)
{
    struct stat found;
    return !stat(path, &found) && S_ISDIR(found.st_mode);
}

/* `dir` without slashes at its end. */
static enum strobe_err copy_path(char *to, const char *dir)
{
    size_t len = strlen(dir);
    while (len > 1 && dir[len - 1] == '/')
        len--;
    return format_ok(snprintf(to, STROBE_REPORT_PATH, "%.*s", (int)len, dir), STROBE_REPORT_PATH);
}

/* The root above a .logs folder; a folder of another name that has the logs is its own root. */
static enum strobe_err find_root(struct strobe_report_folders *folders, const char *dir)
{
    char logs[STROBE_REPORT_PATH + 8];
    enum strobe_err err = copy_path(folders->root, dir);
    if (err)
        return err;
    snprintf(logs, sizeof logs, "%s/.logs", folders->root);
    if (is_folder(logs))
        return copy_path(folders->logs, logs);
    memcpy(folders->logs, folders->root, sizeof folders->logs);
    char *slash = strrchr(folders->root, '/');
    if (strcmp(slash ? slash + 1 : folders->root, ".logs"))
        return STROBE_OK;
    if (slash && slash > folders->root)
        *slash = 0;
    else
        strcpy(folders->root, slash ? "/" : ".");
    return STROBE_OK;
}

enum strobe_err strobe_report_folders_find(struct strobe_report_folders *folders, const char *dir,
                                           const char *out_root, const char *name, const char *date)
{
    enum strobe_err err = find_root(folders, dir);
    const char *root = out_root ? out_root : folders->root;
    bool named = name && *name, dated = date && *date;
    if (!err)
        err = format_ok(snprintf(folders->out, sizeof folders->out, "%s/reports%s%s%s%s", root,
                                 named ? "/" : "", named ? name : "", dated ? "/" : "",
                                 dated ? date : ""),
                        sizeof folders->out);
    if (!err)
        err = format_ok(snprintf(folders->suffix, sizeof folders->suffix, "%s%s%s%s",
                                 named ? "_" : "", named ? name : "", dated ? "_" : "",
                                 dated ? date : ""),
                        sizeof folders->suffix);
    return err;
}

enum strobe_err strobe_report_make_folder(const char *path)
{
    char part[STROBE_REPORT_PATH];
    enum strobe_err err = copy_path(part, path);
    for (char *slash = part; !err && (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        if (mkdir(part, 0777) && errno != EEXIST)
            err = strobe_err_from_errno(errno);
        *slash = '/';
    }
    if (!err && mkdir(part, 0777) && errno != EEXIST)
        err = strobe_err_from_errno(errno);
    return err;
}

enum strobe_err strobe_report_folders_make(const struct strobe_report_folders *folders)
{
    return strobe_report_make_folder(folders->out);
}

static enum strobe_err copy_bytes(int from, int to)
{
    if (!ioctl(to, FICLONE, from))
        return STROBE_OK;
    for (;;) {
        ssize_t n = copy_file_range(from, NULL, to, NULL, 1 << 30, 0);
        if (n == 0)
            return STROBE_OK;
        if (n < 0)
            break;
    }
    char buffer[1 << 16];
    for (ssize_t n; (n = read(from, buffer, sizeof buffer));) {
        if (n < 0 || write(to, buffer, (size_t)n) != n)
            return strobe_err_from_errno(errno);
    }
    return STROBE_OK;
}

enum strobe_err strobe_report_copy_file(const char *from, const char *to)
{
    int source = open(from, O_RDONLY | O_CLOEXEC);
    if (source < 0)
        return strobe_err_from_errno(errno);
    int target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    enum strobe_err err = target < 0 ? strobe_err_from_errno(errno) : copy_bytes(source, target);
    close(source);
    if (target >= 0 && close(target) && !err)
        err = strobe_err_from_errno(errno);
    return err;
}

enum strobe_err strobe_report_copy_begin(const char *from, const char *to, int *fd)
{
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    struct stat found;
    int source = open(from, O_RDONLY | O_CLOEXEC);
    *fd = -1;
    if (source < 0)
        return errno == ENOENT ? STROBE_OK : strobe_err_from_errno(errno);
    if (!fstat(source, &found) && found.st_size >= DIRECT_FROM) /* a third of the CPU time */
        *fd = open(to, flags | O_DIRECT, 0644);
    if (*fd < 0)
        *fd = open(to, flags, 0644);
    enum strobe_err err = *fd < 0 ? strobe_err_from_errno(errno) : STROBE_OK;
    if (!err && !ioctl(*fd, FICLONE, source)) {
        close(*fd);
        *fd = -1;
    }
    close(source);
    return err;
}

static enum strobe_err copy_folder(const char *from, const char *to, int depth)
{
    char source[STROBE_REPORT_PATH], target[STROBE_REPORT_PATH];
    DIR *folder = opendir(from);
    if (!folder)
        return errno == ENOENT ? STROBE_OK : strobe_err_from_errno(errno);
    enum strobe_err err = strobe_report_make_folder(to);
    for (struct dirent *entry; !err && depth && (entry = readdir(folder));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        err =
            format_ok(snprintf(source, sizeof source, "%s/%s", from, entry->d_name), sizeof source);
        if (!err)
            err = format_ok(snprintf(target, sizeof target, "%s/%s", to, entry->d_name),
                            sizeof target);
        if (!err)
            err = is_folder(source) ? copy_folder(source, target, depth - 1)
                                    : strobe_report_copy_file(source, target);
    }
    closedir(folder);
    return err;
}

enum strobe_err strobe_report_folders_copy(const struct strobe_report_folders *folders)
{
    char from[STROBE_REPORT_PATH + 64], to[STROBE_REPORT_PATH + 64];
    snprintf(from, sizeof from, "%s/tracy_profile_log_host.tracy", folders->logs);
    snprintf(to, sizeof to, "%s/tracy_profile_log_host.tracy", folders->out);
    enum strobe_err err = strobe_report_copy_file(from, to);
    if (err && err != STROBE_ERR_NOTFOUND)
        return err;
    snprintf(from, sizeof from, "%s/npe_viz", folders->root);
    snprintf(to, sizeof to, "%s/npe_viz", folders->out);
    return copy_folder(from, to, 8);
}

void strobe_report_folders_path(const struct strobe_report_folders *folders, const char *stem,
                                char path[STROBE_REPORT_PATH])
{
    if (snprintf(path, STROBE_REPORT_PATH, "%s/%s%s.csv", folders->out, stem, folders->suffix) >=
        STROBE_REPORT_PATH)
        path[0] = 0; /* opening it will fail */
}

static void link_file(const char *folder, const char *date, const char *target, const char *name)
{
    char path[STROBE_REPORT_PATH + 600], relative[STROBE_REPORT_PATH + 600];
    struct stat found;
    snprintf(path, sizeof path, "%s/%s/%s", folder, date, target);
    if (lstat(path, &found))
        return;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(relative, sizeof relative, "%s/%s", date, target);
    if (lstat(path, &found) || (S_ISLNK(found.st_mode) && !unlink(path)))
        (void)!symlink(relative, path); /* a convenience: the report is there without it */
}

void strobe_report_folders_link(const struct strobe_report_folders *folders, const char *name,
                                const char *date)
{
    static const char *const stems[] = {"ops_perf_results", "per_core_op_to_op_times"};
    char folder[STROBE_REPORT_PATH], target[1024], link[1024];
    bool named = name && *name;
    snprintf(folder, sizeof folder, "%s", folders->out);
    char *slash = strrchr(folder, '/');
    if (!slash)
        return;
    *slash = 0;
    for (int i = 0; i < 2; i++) {
        snprintf(target, sizeof target, "%s%s.csv", stems[i], folders->suffix);
        snprintf(link, sizeof link, "%s%s%.400s.csv", stems[i], named ? "_" : "",
                 named ? name : "");
        link_file(folder, date, target, link);
    }
    link_file(folder, date, "profile_log_device.csv", "profile_log_device.csv");
}
