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

#include "strobe/facade.h"

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

/* The first name of this process that is free; `path` has it. */
static void leave_word(char path[STROBE_PATH_MAX], const char *dir, const char *reason)
{
    enum { IMAGES = 8 };
    int pid = getpid();
    unsigned long long start = strobe_session_start_time(pid);
    for (int n = 0; n < IMAGES; n++)
        if (snprintf(path, STROBE_PATH_MAX, "%s/%d-%llu-%d.denied-%s", dir, pid, start, n,
                     reason) >= STROBE_PATH_MAX ||
            make_empty(path))
            return;
}

void strobe_client_deny(const char *dir, const char *reason)
{
    if (denied_pid == getpid())
        return;
    denied_pid = getpid();
    leave_word(denied_path, dir, reason);
}

void strobe_session_deny_device(void)
{
    char path[STROBE_PATH_MAX];
    const char *dir = strobe_session_folder();
    if (dir)
        leave_word(path, dir, "device");
}

void strobe_client_withdraw_denial(void)
{
    if (denied_pid == getpid())
        unlink(denied_path);
}
