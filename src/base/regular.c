/* regular.c - see regular.h.  SPDX-License-Identifier: MIT */
#include "base/regular.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int strobe_regular_open(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}
