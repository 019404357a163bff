/* files.c - base/ready.h over the page's files. What the page hands out is a descriptor of its own table; the C library's read, pread, write,
 * pwrite, lseek, fstat, ftruncate and close of it are the page's functions too (web/engine/files.js).
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/ready.h"

#define IMPORT(name) __attribute__((import_module("strobe"), import_name(name)))

/* A descriptor of the file that was dropped under this path, or of a new one (`is_new`); n_bytes 0: one without a name. -1: there is none. */
IMPORT("open") int strobe_page_open(const char *path, unsigned n_bytes, int is_new);

int strobe_ready_open(const char *path, int flags, unsigned mode)
{
    (void)mode;
    int fd = strobe_page_open(path, (unsigned)strlen(path), (flags & O_CREAT) != 0);
    if (fd < 0)
        errno = ENOENT;
    return fd;
}

int strobe_ready_unnamed(const char *folder)
{
    (void)folder;
    return strobe_page_open("", 0, 1);
}

bool strobe_ready_has(const char *path)
{
    int fd = strobe_ready_open(path, O_RDONLY, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}
