/* announce.c - Tracy's announcements: a client that waits says so by UDP every 3 s.
 *
 * Heard on loopback only, unless asked for more, and then the one that is connected to is the sender: an announcement is
 * no reason to connect anywhere else. Another listener on the port (Tracy's own viewer) goes on working.
 *
 *   VERSION   BYTES BEFORE THE NAME (little-endian)
 *   3         u16 version, u16 port, u32 protocol, u64 pid, i32 seconds waited (-1: goes away)
 *   2         u16 version, u16 port, u32 protocol, i32 seconds
 *   1         u32 version, u32 protocol, u32 port, u32 seconds
 *   0         u32 version, u32 protocol, u32 seconds; port 8086
 *
 * SPDX-License-Identifier: MIT */
#include "tracy/host_parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "wire/tracy_notice.h"

enum { TRACY_PORT = 8086, NAME_BYTES = 64 };

struct announcement {
    uint32_t version, protocol, port;
    uint64_t pid;
    int32_t waited;
    char name[NAME_BYTES + 1];
};

static uint64_t number(const uint8_t *at, int n_bytes)
{
    uint64_t value = 0;
    for (int i = n_bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

/* False: not one, or cut short. */
static bool parse(const uint8_t *bytes, size_t n, struct announcement *out)
{
    static const uint8_t heads[] = {12, 16, 12, 20};
    memset(out, 0, sizeof *out);
    if (n < 12)
        return false;
    out->version = (uint32_t)number(bytes, 2);
    if (out->version > 3 || n < heads[out->version])
        return false;
    out->protocol = (uint32_t)number(bytes + 4, 4);
    out->port = TRACY_PORT;
    if (out->version >= 2)
        out->port = (uint32_t)number(bytes + 2, 2);
    else if (out->version == 1)
        out->port = (uint32_t)number(bytes + 8, 4);
    if (out->version == 3)
        out->pid = number(bytes + 8, 8);
    out->waited = (int32_t)number(bytes + heads[out->version] - 4, 4);
    size_t n_name = n - heads[out->version];
    memcpy(out->name, bytes + heads[out->version], n_name < NAME_BYTES ? n_name : NAME_BYTES);
    return out->port > 0 && out->port < 65536;
}

void strobe_tracy_announce_open(struct strobe_tracy_host *host)
{
    bool any = host->options.announced == STROBE_TRACY_ANNOUNCED_ANY;
    uint16_t port = host->options.announce_port ? host->options.announce_port : TRACY_PORT;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    int yes = 1;
    at.sin_addr.s_addr = htonl(any ? INADDR_ANY : 0x7fffffffu); /* 127.255.255.255 */
    host->announced.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (host->announced.fd < 0)
        return;
    setsockopt(host->announced.fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(host->announced.fd, (struct sockaddr *)&at, sizeof at) ||
        !strobe_tracy_host_watch(host, &host->announced, EPOLLIN))
        strobe_tracy_host_unwatch(
            host, &host->announced); /* somebody wants it alone: there are other ways */
}

/* Is it known already, by its process, its address or (a shim changed its port) its name? */
static bool is_known(const struct strobe_tracy_host *host, const struct announcement *said,
                     const struct sockaddr_in *at)
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

static void follow(struct strobe_tracy_host *host, const struct announcement *said,
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
    uint8_t bytes[256];
    struct announcement said;
    for (int i = 0; i < 32; i++) { /* the rest waits for the next round */
        struct sockaddr_in from = {0};
        socklen_t n_from = sizeof from;
        ssize_t n = recvfrom(host->announced.fd, bytes, sizeof bytes, MSG_DONTWAIT,
                             (struct sockaddr *)&from, &n_from);
        if (n < 0)
            return;
        if (from.sin_family == AF_INET && parse(bytes, (size_t)n, &said))
            follow(host, &said, &from);
    }
}
