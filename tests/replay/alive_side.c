/* alive_side.c - src/ring/alive.c, with its locks within reach: a process of the walk dies when they are released.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay.h"

static void *lock_page = MAP_FAILED;
static int lock_fd = -1;

static void *noted_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    lock_page = mmap(at, n, protection, flags, fd, offset);
    return lock_page;
}

static int noted_fcntl(int fd, int command, uintptr_t argument)
{
    int result = fcntl(fd, command, argument);
    if (command == F_DUPFD_CLOEXEC && result >= 0)
        lock_fd = result;
    return result;
}

#define mmap                         noted_mmap
#define fcntl(fd, command, argument) noted_fcntl(fd, command, (uintptr_t)(argument))
#include "ring/alive.c"
#undef mmap
#undef fcntl

void alive_close(void)
{
    if (lock_fd >= 0)
        close(lock_fd);
    lock_fd = -1;
}

void alive_release(void)
{
    if (lock_page != MAP_FAILED)
        munmap(lock_page, STROBE_PAGE_BYTES);
    alive_close();
    lock_page = MAP_FAILED;
}
