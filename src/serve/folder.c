/* folder.c - lists, opens and removes the traces of a folder.  SPDX-License-Identifier: MIT */
#include "serve/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "file/notes.h"
#include "serve/guard.h"

enum { SNIFF_BYTES = 64 << 10 };

static int newest_first(const void *a, const void *b)
{
    const struct strobe_folder_file *x = a, *y = b;
    if (x->mtime_ns != y->mtime_ns)
        return x->mtime_ns > y->mtime_ns ? -1 : 1;
    return strcmp(y->name, x->name);
}

/* A file of JSON is a trace if Chrome's events are in its beginning; a compressed one may be. */
static int looks_like_trace(int fd)
{
    char *text = malloc(SNIFF_BYTES + 1);
    ssize_t n = text ? pread(fd, text, SNIFF_BYTES, 0) : -1;
    int is = n >= 2 && (uint8_t)text[0] == 0x1f && (uint8_t)text[1] == 0x8b;
    if (n > 0 && !is) {
        text[n] = 0;
        const char *first = text + strspn(text, " \t\r\n");
        is = (*first == '{' && (strstr(first, "\"traceEvents\"") ||
                                strstr(first, "speedscope.app/file-format-schema"))) ||
             (*first == '[' && strstr(first, "\"ph\""));
    }
    free(text);
    return is;
}

/* A regular file of the folder that is a trace, opened; -1: none. */
static int open_at(int dir, const char *name)
{
    struct stat st;
    if (dir < 0 || !strobe_guard_is_trace_name(name))
        return -1;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
                    (strobe_guard_is_json_name(name) && !looks_like_trace(fd)))) {
        close(fd);
        return -1;
    }
    return fd;
}

static int is_listed(int dir, const char *name)
{
    int fd = strobe_guard_is_json_name(name) ? open_at(dir, name) : -2;
    if (fd >= 0)
        close(fd);
    return fd != -1;
}

static int add_file(struct strobe_folder *folder, int fd, const char *name)
{
    struct stat st;
    if (!strobe_guard_is_trace_name(name) || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) ||
        !S_ISREG(st.st_mode) || folder->n_files == STROBE_FOLDER_MAX || !is_listed(fd, name))
        return 1;
    struct strobe_folder_file *file =
        STROBE_ARRAY_PUSH(folder->files, folder->n_files, folder->room);
    if (!file)
        return 0;
    snprintf(file->name, sizeof file->name, "%s", name);
    file->n_bytes = (uint64_t)st.st_size;
    file->mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    return 1;
}

enum strobe_err strobe_folder_list(const char *path, struct strobe_folder *out)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    int ok = 1;
    out->n_files = 0;
    if (!dir)
        return strobe_err_from_errno(errno);
    while (ok && (entry = readdir(dir)))
        ok = add_file(out, dirfd(dir), entry->d_name);
    closedir(dir);
    if (out->n_files)
        qsort(out->files, out->n_files, sizeof *out->files, newest_first);
    return ok ? STROBE_OK : STROBE_ERR_NOMEM;
}

void strobe_folder_free(struct strobe_folder *folder)
{
    free(folder->files);
    memset(folder, 0, sizeof *folder);
}

int strobe_folder_open(const char *path, const char *name)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = open_at(dir, name);
    if (dir >= 0)
        close(dir);
    return fd;
}

enum strobe_err strobe_folder_delete(const char *path, const char *name)
{
    int fd = strobe_folder_open(path, name);
    if (fd < 0)
        return STROBE_ERR_NOTFOUND;
    close(fd);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = dir < 0 || unlinkat(dir, name, 0);
    enum strobe_err err = failed ? strobe_err_from_errno(errno) : STROBE_OK;
    if (dir >= 0)
        close(dir);
    char whole[PATH_MAX];
    if (!err && (size_t)snprintf(whole, sizeof whole, "%s/%s", path, name) < sizeof whole)
        strobe_notes_delete(whole);
    return err;
}
