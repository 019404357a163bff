/* fault_io.c - to be preloaded into the recorder: its writes to the trace fail, end early, or are
 * its last.
 *
 *     FAULT_IO=<what>:<from>[:<count>]    from: number of the first pwrite that it happens to, from
 * 1 enospc, eio, eintr                it fails so; for `count` calls (default: for good; eintr:
 * every second call) short                             it takes one byte, then half of what is
 * left, and so on kill-before, kill-half, kill-after   SIGKILL before, in the middle of, after the
 * write
 *
 * fdatasync fails likewise once `eio` has begun. It removes itself from the environment, so that
 * the recorded command has none of it.  SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Head and ledger of a trace have their space from the start: a full disk takes them all the same.
 */
enum { RESERVED_BYTES = 69632 };

static char what[32];
static unsigned long from, count;
static unsigned long n_calls; /* atomic */
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv("FAULT_IO");
    *(void **)&real_pwrite = dlsym(RTLD_NEXT, "pwrite");
    *(void **)&real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    count = ~0ul;
    if (text)
        sscanf(text, "%31[^:]:%lu:%lu", what, &from, &count);
    unsetenv("LD_PRELOAD");
    unsetenv("FAULT_IO");
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static ssize_t killed_write(int fd, const void *bytes, size_t n, off_t at)
{
    if (!strcmp(what, "kill-before"))
        die();
    real_pwrite(fd, bytes, !strcmp(what, "kill-half") ? n / 2 : n, at);
    die();
    return -1;
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    unsigned long call = __atomic_add_fetch(&n_calls, 1, __ATOMIC_SEQ_CST);
    bool reserved = !strcmp(what, "enospc") && (uint64_t)at + n <= RESERVED_BYTES;
    if (!from || call < from || call - from >= count || reserved)
        return real_pwrite(fd, bytes, n, at);
    if (!strncmp(what, "kill", 4))
        return killed_write(fd, bytes, n, at);
    if (!strcmp(what, "short"))
        return real_pwrite(fd, bytes, call % 2 ? (n + 1) / 2 : 1, at);
    if (!strcmp(what, "eintr") && count == ~0ul && call % 2)
        return real_pwrite(fd, bytes, n, at);
    errno = !strcmp(what, "enospc") ? ENOSPC : !strcmp(what, "eio") ? EIO : EINTR;
    return -1;
}

__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void *bytes, size_t n,
                                                        off_t at)
{
    return pwrite(fd, bytes, n, at);
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
    if (from && !strcmp(what, "eio") && n_calls >= from && n_calls - from < count) {
        errno = EIO;
        return -1;
    }
    return real_fdatasync(fd);
}
