/* announce.c - following the announcements of Tracy clients (tracy/announced.h).
 *
 * Heard on loopback only, unless asked for more, and then the one that is connected to is the sender: an announcement is
 * no reason to connect anywhere else. Another listener on the port (Tracy's own viewer) goes on working.
 * SPDX-License-Identifier: MIT */
#include "tracy/host_parts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "tracy/announced.h"
#include "wire/tracy_notice.h"

void strobe_tracy_announce_open(struct strobe_tracy_host *host)
{
    bool any = host->options.announced == STROBE_TRACY_ANNOUNCED_ANY;
    host->announced.fd = strobe_tracy_announced_socket(host->options.announce_port, any);
    if (host->announced.fd >= 0 && !strobe_tracy_host_watch(host, &host->announced, EPOLLIN))
        strobe_tracy_host_unwatch(host, &host->announced);
}

/* Is it known already, by its process, its address or (a shim changed its port) its name? */
static bool is_known(const struct strobe_tracy_host *host,
                     const struct strobe_tracy_announcement *said, const struct sockaddr_in *at)
{
    for (uint32_t i = 0; i < host->n_links; i++) {
        const struct link *link = host->links[i];
        const struct sockaddr_in *other = (const struct sockaddr_in *)&link->address;
        if (said->pid && link->pid == said->pid)
            return true;
        if (other->sin_family == AF_INET && other->sin_port == at->sin_port &&
            other->sin_addr.s_addr == at->sin_addr.s_addr && link->state != LINK_OVER)
            return true;
        if (!said->pid && link->origin == LINK_NOTICED && !strcmp(link->program, said->name))
            return true;
    }
    return false;
}

/* A recorder that shows its trace to Tracy announces itself as a client does: nothing to be recorded. */
static bool is_recorder(uint64_t pid)
{
    char mine[512], exe[512];
    strobe_tracy_find_exe((uint32_t)getpid(), mine, sizeof mine);
    strobe_tracy_find_exe((uint32_t)pid, exe, sizeof exe);
    return pid && exe[0] && !strcmp(mine, exe);
}

/* Below the command of another recorder that lives: it is that one's. */
static bool is_anothers(const struct strobe_tracy_host *host, uint64_t pid)
{
    static char text[64 << 10]; /* one thread calls this */
    static const char name[] = STROBE_TRACY_SOCKET_ENV "=";
    char path[64];
    snprintf(path, sizeof path, "/proc/%llu/environ", (unsigned long long)pid);
    int fd = pid ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    for (const char *at = text; at < text + n; at += strlen(at) + 1)
        if (!strncmp(at, name, sizeof name - 1))
            return strcmp(at + sizeof name - 1, host->socket_path) &&
                   !access(at + sizeof name - 1, F_OK);
    return false;
}

static void follow(struct strobe_tracy_host *host, const struct strobe_tracy_announcement *said,
                   const struct sockaddr_in *from)
{
    bool loopback = ntohl(from->sin_addr.s_addr) >> 24 == 127;
    struct sockaddr_in at = *from;
    at.sin_port = htons((uint16_t)said->port);
    if (said->waited < 0 || host->stop_ns || is_known(host, said, &at))
        return;
    if (!loopback && host->options.announced != STROBE_TRACY_ANNOUNCED_ANY)
        return;
    if (loopback && (is_recorder(said->pid) || is_anothers(host, said->pid)))
        return;
    struct link *link = strobe_tracy_link_new(host, LINK_ANNOUNCED, (struct sockaddr *)&at,
                                              sizeof at, loopback ? (uint32_t)said->pid : 0);
    if (!link)
        return;
    link->hint = strobe_tracy_protocol_is_known(said->protocol) ? said->protocol : 0;
    snprintf(link->program, sizeof link->program, "%s", said->name);
    strobe_tracy_link_tick(host, link, strobe_tracy_host_ns());
}

void strobe_tracy_announce_read(struct strobe_tracy_host *host)
{
    struct strobe_tracy_announcement said;
    struct sockaddr_in from;
    for (int i = 0; i < 32; i++) { /* the rest waits for the next round */
        if (!strobe_tracy_announced_next(host->announced.fd, &said, &from))
            return;
        follow(host, &said, &from);
    }
}
