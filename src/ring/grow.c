/* grow.c - see the header.  SPDX-License-Identifier: MIT */
#include "ring/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "ring/session.h"

static bool is_pending(int signal_number)
{
    sigset_t pending;
    return sigpending(&pending) || sigismember(&pending, signal_number) == 1;
}

/* The limit may be lowered by another between the look and the call: then the signal is ours, and goes. */
static bool lengthen(int fd, uint64_t bytes)
{
    bool was_pending = is_pending(SIGXFSZ);
    if (!ftruncate(fd, (off_t)bytes))
        return true;
    if (errno == EFBIG && !was_pending) {
        const struct timespec now = {0, 0};
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGXFSZ);
        sigtimedwait(&set, NULL, &now);
    }
    return false;
}

uint64_t strobe_ring_grow(int fd, uint64_t bytes)
{
    const uint64_t page = STROBE_PAGE_BYTES;
    struct rlimit limit;
    struct stat st;
    STROBE_ASSERT(fd >= 0 && bytes % page == 0);
    if (fstat(fd, &st))
        return 0;
    uint64_t have = (uint64_t)st.st_size / page * page;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < bytes)
        bytes = limit.rlim_cur / page * page;
    return bytes > have && lengthen(fd, bytes) ? bytes : have;
}

uint64_t strobe_ring_extend(int fd, uint32_t n_chunks_max, enum strobe_loss *short_cause)
{
    uint64_t table = strobe_ring_data_off(n_chunks_max);
    uint64_t bytes = strobe_ring_grow(fd, strobe_ring_file_bytes(n_chunks_max));
    *short_cause = STROBE_LOSS_FILE_SIZE;
    STROBE_ASSERT(bytes % STROBE_PAGE_BYTES == 0);
    if (bytes < table + STROBE_CHUNK_BYTES)
        return STROBE_PAGE_BYTES;
    if (posix_fallocate(fd, 0, (off_t)table)) {
        *short_cause = STROBE_LOSS_NO_MEMORY;
        return STROBE_PAGE_BYTES;
    }
    return bytes;
}
