/* pipes.h - what the demo's three programs say to each other, over pipes.
 *   renderer ── request ──► loader      one per texture wanted
 *   renderer ◄── texture ── loader      head, then size * size * 3 floats
 *   renderer ── frame ────► encoder     head, then width * height * 3 bytes
 * SPDX-License-Identifier: MIT */
#ifndef DEMO_PIPES_H
#define DEMO_PIPES_H

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

enum { TEXTURE_NAME_BYTES = 16 };

struct texture_request {
    char name[TEXTURE_NAME_BYTES];
    uint32_t number;
    uint32_t size; /* pixels on a side */
};

struct texture_head {
    uint32_t number;
    uint32_t size;
};

struct frame_head {
    uint64_t flow; /* joins the zones that render, send and encode this frame */
    uint32_t number;
    uint32_t width, height;
    uint32_t reserved;
};

/* All `n` bytes, or -1 when the other side went away. */
static inline int read_all(int fd, void *data, size_t n)
{
    for (char *at = (char *)data; n > 0;) {
        ssize_t got = read(fd, at, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        at += got;
        n -= (size_t)got;
    }
    return 0;
}

static inline int write_all(int fd, const void *data, size_t n)
{
    for (const char *at = (const char *)data; n > 0;) {
        ssize_t put = write(fd, at, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return -1;
        at += put;
        n -= (size_t)put;
    }
    return 0;
}

#endif
