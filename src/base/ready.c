/* ready.c - see ready.h. A prepared file is given out as a duplicate, so that its place in the file is one for all who have it: whoever watches the
 * descriptor sees how far its reader is.  SPDX-License-Identifier: MIT */
#include "base/ready.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    char path[PATH_MAX]; /* "": a file without a name */
    int fd;              /* owned */
} ready[STROBE_READY_MAX];
static int n_ready;
static bool is_sealed;

static int add(const char *path, int fd)
{
    if (fd < 0)
        return -1;
    if (n_ready == STROBE_READY_MAX || strlen(path) >= sizeof ready[0].path) {
        close(fd);
        errno = EMFILE;
        return -1;
    }
    strcpy(ready[n_ready].path, path);
    ready[n_ready].fd = fd;
    return ready[n_ready++].fd;
}

/* The number of what was prepared by that name; -1: nothing was. */
static int find(const char *path)
{
    for (int i = 0; i < n_ready; i++)
        if (ready[i].fd >= 0 && ready[i].path[0] && !strcmp(ready[i].path, path))
            return i;
    return -1;
}

int strobe_ready_open(const char *path, int flags, unsigned mode)
{
    int i = find(path);
    if (i < 0 && is_sealed) {
        errno = ENOENT;
        return -1;
    }
    if (i < 0)
        return open(path, flags | O_CLOEXEC, mode);
    int fd = fcntl(ready[i].fd, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0 && !(flags & O_DIRECTORY))
        lseek(fd, 0, SEEK_SET);
    return fd;
}

bool strobe_ready_has(const char *path)
{
    return find(path) >= 0 || (!is_sealed && !access(path, F_OK));
}

void strobe_ready_seal(void)
{
    is_sealed = true;
}

static int make_unnamed(const char *folder)
{
    char path[4200];
#ifdef O_TMPFILE
    int unnamed = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (unnamed >= 0)
        return unnamed;
#endif
    if (snprintf(path, sizeof path, "%s/.strobe-sort-XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

int strobe_ready_unnamed(const char *folder)
{
    for (int i = 0; i < n_ready; i++)
        if (ready[i].fd >= 0 && !ready[i].path[0]) {
            int fd = ready[i].fd;
            ready[i].fd = -1; /* the caller's now */
            return fd;
        }
    if (is_sealed) {
        errno = ENOENT;
        return -1;
    }
    folder = folder ? folder : getenv("TMPDIR");
    return make_unnamed(folder && *folder ? folder : "/tmp");
}

int strobe_ready_prepare(const char *path, int flags, unsigned mode)
{
    return add(path, open(path, flags | O_CLOEXEC, mode));
}

int strobe_ready_prepare_folder(const char *path, int n_unnamed)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n = slash == path ? 1 : slash ? (int)(slash - path) : 1;
    snprintf(folder, sizeof folder, "%.*s", n, slash ? path : ".");
    if (strobe_ready_prepare(folder, O_RDONLY | O_DIRECTORY, 0) < 0)
        return -1;
    for (int i = 0; i < n_unnamed; i++)
        if (add("", make_unnamed(folder)) < 0)
            return -1;
    return 0;
}

void strobe_ready_forget(void)
{
    for (int i = 0; i < n_ready; i++)
        if (ready[i].fd >= 0)
            close(ready[i].fd);
    n_ready = 0;
}
