/* source_fd.c - a trace file by its descriptor.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "file/file_read.h"

static int fd_of(void *context)
{
    return (int)(intptr_t)context;
}

static enum strobe_err read_at(void *context, void *out, size_t n, uint64_t offset)
{
    uint8_t *at = out;
    while (n) {
        ssize_t got = pread(fd_of(context), at, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return strobe_err_from_errno(errno);
        if (got == 0)
            return STROBE_ERR_END;
        STROBE_ASSERT((size_t)got <= n);
        at += got;
        n -= (size_t)got;
        offset += (uint64_t)got;
    }
    return STROBE_OK;
}

static enum strobe_err size(void *context, uint64_t *n_bytes)
{
    struct stat st;
    if (fstat(fd_of(context), &st))
        return strobe_err_from_errno(errno);
    if (!S_ISREG(st.st_mode))
        return STROBE_ERR_FORMAT;
    *n_bytes = (uint64_t)st.st_size;
    return STROBE_OK;
}

static void expect_jumps(void *context)
{
    (void)posix_fadvise(fd_of(context), 0, 0, POSIX_FADV_RANDOM);
}

static void close_fd(void *context)
{
    close(fd_of(context));
}

struct strobe_source strobe_source_of_fd(int fd)
{
    STROBE_ASSERT(fd >= 0);
    return (struct strobe_source){
        .read_at = read_at,
        .size = size,
        .expect_jumps = expect_jumps,
        .close = close_fd,
        .context = (void *)(intptr_t)fd,
    };
}

enum strobe_err strobe_file_open_fd(int fd, struct strobe_file **out)
{
    struct strobe_source source = strobe_source_of_fd(fd);
    return strobe_file_open_source(&source, out);
}

enum strobe_err strobe_file_open(const char *path, struct strobe_file **out)
{
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return strobe_err_from_errno(errno);
    return strobe_file_open_fd(fd, out);
}
