/* announced.h - announcements of Tracy clients: hearing and reading them. Who is to be followed is decided elsewhere
 * (tracy/announce.c).  SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_ANNOUNCED_H
#define STROBE_TRACY_ANNOUNCED_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STROBE_TRACY_PORT = 8086, STROBE_TRACY_NAME_BYTES = 64 };

struct strobe_tracy_announcement {
    uint32_t version, protocol, port;
    uint64_t pid;   /* 0: not told */
    int32_t waited; /* seconds; -1: it goes away */
    char name[STROBE_TRACY_NAME_BYTES + 1];
};

/* False: not one, or cut short. */
bool strobe_tracy_announcement_parse(const uint8_t *bytes, size_t n_bytes,
                                     struct strobe_tracy_announcement *out);

/* A socket that hears those of loopback, or of all interfaces; port 0: 8086. Others may listen there too. -1: it can't. */
int strobe_tracy_announced_socket(uint16_t port, bool any);

/* The next one that has come, and from whom; false: none. */
bool strobe_tracy_announced_next(int fd, struct strobe_tracy_announcement *out,
                                 struct sockaddr_in *from);

#endif
