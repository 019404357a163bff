/* notices.c - the shims' socket: who listens, who was copied, who ends (wire/tracy_notice.h).
 *
 * Who speaks is taken from the kernel (SO_PEERCRED), never from the message; only this user's processes can reach the
 * folder. A copy of a client (fork) is named only when it turns out that it did not become another program:
 * most copies do.  SPDX-License-Identifier: MIT */
#include "tracy/host_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire/tracy_notice.h"

enum {
    STAT_STATE = 3,
    STAT_FLAGS = 9,
    FORKNOEXEC = 0x40, /* PF_FORKNOEXEC: forked, and no exec since */
};

/* A socket's path has 107 letters: a longer one is reached through its folder. */
static enum strobe_err bind_in(int fd, const char *dir, const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int folder = -1;
    if (strlen(path) < sizeof at.sun_path) {
        strcpy(at.sun_path, path);
    } else {
        folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/" STROBE_TRACY_SOCKET_FILE,
                 folder);
    }
    enum strobe_err err =
        bind(fd, (struct sockaddr *)&at, sizeof at) ? strobe_err_from_errno(errno) : STROBE_OK;
    if (folder >= 0)
        close(folder);
    return err;
}

enum strobe_err strobe_tracy_notices_open(struct strobe_tracy_host *host, const char *dir)
{
    snprintf(host->socket_path, sizeof host->socket_path, "%s/" STROBE_TRACY_SOCKET_FILE, dir);
    unlink(host->socket_path);
    host->shims.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (host->shims.fd < 0)
        return strobe_err_from_errno(errno);
    enum strobe_err err = bind_in(host->shims.fd, dir, host->socket_path);
    if (!err && (chmod(host->socket_path, 0600) || listen(host->shims.fd, SOMAXCONN) ||
                 !strobe_tracy_host_watch(host, &host->shims, EPOLLIN)))
        err = strobe_err_from_errno(errno);
    return err;
}

static void hang_up(struct strobe_tracy_host *host, struct caller *caller)
{
    strobe_tracy_host_unwatch(host, &caller->watch);
}

/* ---- who speaks ---- */

static void take_caller(struct strobe_tracy_host *host, int fd)
{
    struct ucred peer = {0};
    socklen_t n = sizeof peer;
    struct caller *caller = NULL;
    if (host->n_callers < HOST_CALLERS_MAX && !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) &&
        peer.uid == geteuid())
        caller = calloc(1, sizeof *caller);
    if (!caller) {
        close(fd);
        return;
    }
    caller->watch = (struct watch){WATCH_CALLER, fd};
    caller->pid = (uint32_t)peer.pid;
    host->callers[host->n_callers++] = caller;
    if (!strobe_tracy_host_watch(host, &caller->watch, EPOLLIN)) {
        close(fd);
        caller->watch.fd = -1;
        return;
    }
    strobe_tracy_notices_read(host, caller); /* it spoke at once, most likely */
}

void strobe_tracy_notices_accept(struct strobe_tracy_host *host)
{
    int fd;
    while (host->shims.fd >= 0 &&
           (fd = accept4(host->shims.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
        take_caller(host, fd);
}

/* ---- what is said ---- */

static void take_listener(struct strobe_tracy_host *host, struct caller *caller, uint32_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct link *link = NULL;
    if (port && port < 65536 && !host->stop_ns)
        link = strobe_tracy_link_new(host, LINK_NOTICED, (struct sockaddr *)&at, sizeof at,
                                     caller->pid);
    if (!link) { /* full, or it is all over: the shim sees to it that nobody waits */
        char no = STROBE_NOTICE_REFUSED;
        if (send(caller->watch.fd, &no, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            errno = 0;
        if (!host->stop_ns)
            strobe_tracy_host_unrecorded(host, caller->pid, "Tracy client",
                                         "too many clients at the same time");
        return;
    }
    link->answer_fd = fcntl(caller->watch.fd, F_DUPFD_CLOEXEC, 0);
    strobe_tracy_link_tick(host, link, strobe_tracy_host_ns());
}

static void take_exit(struct strobe_tracy_host *host, struct caller *caller)
{
    struct link *link = strobe_tracy_link_of_pid(host, caller->pid);
    char yes = STROBE_NOTICE_TAKEN;
    if (link && link->state != LINK_OVER && link->exit_fd < 0) {
        link->exit_fd = fcntl(caller->watch.fd, F_DUPFD_CLOEXEC, 0);
        link->exit_ns = strobe_tracy_host_ns();
    } else if (send(caller->watch.fd, &yes, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        errno = 0;
    }
}

/* It is not to wait for somebody who won't come. */
static void answer_waiting(struct strobe_tracy_host *host, struct caller *caller, uint32_t port)
{
    char word = strobe_tracy_link_is_due(host, caller->pid, port) ? STROBE_NOTICE_TAKEN
                                                                  : STROBE_NOTICE_REFUSED;
    if (send(caller->watch.fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        errno = 0;
}

static void name_copy(struct strobe_tracy_host *host, uint32_t pid, uint32_t parent)
{
    char exe[256];
    strobe_tracy_find_exe(pid, exe, sizeof exe);
    if (!exe[0])
        strobe_tracy_find_exe(parent, exe, sizeof exe);
    strobe_tracy_host_unrecorded(
        host, pid, exe[0] ? exe : "Tracy client",
        "forked from the Tracy client %u without an exec: Tracy's own thread is not in it, so "
        "nothing can send what it emits",
        parent);
}

/* The connection of a copy closed: it became another program, which is fine, or ended. */
static void copy_gone(struct strobe_tracy_host *host, const struct caller *caller)
{
    if (strobe_tracy_find_stat(caller->pid, STAT_FLAGS) & FORKNOEXEC)
        name_copy(host, caller->pid, caller->parent);
}

static void take_notice(struct strobe_tracy_host *host, struct caller *caller,
                        const struct strobe_notice *notice)
{
    switch (notice->kind) {
    case STROBE_NOTICE_LISTENS:
        take_listener(host, caller, notice->port);
        break;
    case STROBE_NOTICE_WAITS:
        answer_waiting(host, caller, notice->port);
        break;
    case STROBE_NOTICE_FORKED:
        caller->forked = true;
        caller->parent = notice->parent;
        return; /* stays open */
    case STROBE_NOTICE_EXITS:
        take_exit(host, caller);
        break;
    case STROBE_NOTICE_ENDS:
        name_copy(host, caller->pid, notice->parent);
        break;
    default:
        break;
    }
    hang_up(host, caller);
}

void strobe_tracy_notices_read(struct strobe_tracy_host *host, struct caller *caller)
{
    struct strobe_notice notice;
    ssize_t n = recv(caller->watch.fd, &notice, sizeof notice, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n == sizeof notice && notice.magic == STROBE_NOTICE_MAGIC && notice.version == 1 &&
        !caller->forked) {
        take_notice(host, caller, &notice);
        return;
    }
    if (caller->forked)
        copy_gone(host, caller);
    hang_up(host, caller);
}

/* ---- the end ---- */

void strobe_tracy_notices_sweep(struct strobe_tracy_host *host)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < host->n_callers; i++)
        if (host->callers[i]->watch.fd >= 0)
            host->callers[kept++] = host->callers[i];
        else
            free(host->callers[i]);
    host->n_callers = kept;
}

void strobe_tracy_notices_last(struct strobe_tracy_host *host)
{
    for (uint32_t i = 0; i < host->n_callers; i++)
        if (host->callers[i]->forked && host->callers[i]->watch.fd >= 0)
            copy_gone(host, host->callers[i]);
}

void strobe_tracy_notices_close(struct strobe_tracy_host *host)
{
    if (host->socket_path[0])
        unlink(host->socket_path);
    strobe_tracy_host_unwatch(host, &host->shims);
    for (uint32_t i = 0; host->callers && i < host->n_callers; i++)
        hang_up(host, host->callers[i]);
    if (host->callers)
        strobe_tracy_notices_sweep(host);
}
