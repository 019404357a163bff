/* deny.c - a process that can't take part says so, with what it still has: an empty file in the session's folder,
 * whose name tells who and why. It needs no memory, no file size and, where need be, no descriptor. The recorder
 * puts it into the trace and removes it.
 * Runs inside the traced program: never allocates, prints or exits.  SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char denied_path[STROBE_PATH_MAX];
static int denied_pid;

/* False: there is such a file already. */
static bool make_empty(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    else if (errno == EMFILE || errno == ENFILE)
        return !mknod(path, S_IFREG | 0600, 0) || errno != EEXIST;
    return fd >= 0 || errno != EEXIST;
}

void strobe_client_deny(const char *dir, const char *reason)
{
    enum { IMAGES = 8 };
    int pid = getpid();
    if (denied_pid == pid)
        return;
    denied_pid = pid;
    unsigned long long start = strobe_session_start_time(pid);
    for (int n = 0; n < IMAGES; n++) {
        if (snprintf(denied_path, sizeof denied_path, "%s/%d-%llu-%d.denied-%s", dir, pid, start, n,
                     reason) >= STROBE_PATH_MAX)
            return;
        if (make_empty(denied_path))
            return;
    }
}

void strobe_client_withdraw_denial(void)
{
    if (denied_pid == getpid())
        unlink(denied_path);
}
