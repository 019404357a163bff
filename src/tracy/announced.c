/* announced.c - Tracy's announcements: a client that waits says so by UDP every 3 s.
 *
 *   VERSION   BYTES BEFORE THE NAME (little-endian)
 *   3         u16 version, u16 port, u32 protocol, u64 pid, i32 seconds waited (-1: goes away)
 *   2         u16 version, u16 port, u32 protocol, i32 seconds
 *   1         u32 version, u32 protocol, u32 port, u32 seconds
 *   0         u32 version, u32 protocol, u32 seconds; port 8086
 *
 * SPDX-License-Identifier: MIT */
#include "tracy/announced.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static uint64_t number(const uint8_t *at, int n_bytes)
{
    uint64_t value = 0;
    for (int i = n_bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

bool strobe_tracy_announcement_parse(const uint8_t *bytes, size_t n,
                                     struct strobe_tracy_announcement *out)
{
    static const uint8_t heads[] = {12, 16, 12, 20};
    memset(out, 0, sizeof *out);
    if (n < 12)
        return false;
    out->version = (uint32_t)number(bytes, 2);
    if (out->version > 3 || n < heads[out->version])
        return false;
    out->protocol = (uint32_t)number(bytes + 4, 4);
    out->port = STROBE_TRACY_PORT;
    if (out->version >= 2)
        out->port = (uint32_t)number(bytes + 2, 2);
    else if (out->version == 1)
        out->port = (uint32_t)number(bytes + 8, 4);
    if (out->version == 3)
        out->pid = number(bytes + 8, 8);
    out->waited = (int32_t)number(bytes + heads[out->version] - 4, 4);
    size_t n_name = n - heads[out->version];
    memcpy(out->name, bytes + heads[out->version],
           n_name < STROBE_TRACY_NAME_BYTES ? n_name : STROBE_TRACY_NAME_BYTES);
    return out->port > 0 && out->port < 65536;
}

int strobe_tracy_announced_socket(uint16_t port, bool any)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(port ? port : STROBE_TRACY_PORT)};
    int yes = 1;
    at.sin_addr.s_addr = htonl(any ? INADDR_ANY : 0x7fffffffu); /* 127.255.255.255 */
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (!bind(fd, (struct sockaddr *)&at, sizeof at))
        return fd;
    close(fd); /* somebody wants it alone: there are other ways */
    return -1;
}

bool strobe_tracy_announced_next(int fd, struct strobe_tracy_announcement *out,
                                 struct sockaddr_in *from)
{
    uint8_t bytes[256];
    for (;;) {
        socklen_t n_from = sizeof *from;
        memset(from, 0, sizeof *from);
        ssize_t n =
            recvfrom(fd, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)from, &n_from);
        if (n < 0)
            return false;
        if (from->sin_family == AF_INET && strobe_tracy_announcement_parse(bytes, (size_t)n, out))
            return true;
    }
}
