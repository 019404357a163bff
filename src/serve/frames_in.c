/* frames_in.c - see frames_in.h.
 *
 * libwebsockets has no call for what comes before its parser, so its recv(2) is led through here: a definition in the program goes before that of the C library. It asks the
 * kernel by recvfrom(2), which is the same call, and looks at sockets that are watched alone.  SPDX-License-Identifier: MIT */
#include "serve/frames_in.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { MASKED = 0x80, LENGTH = 0x7f, LENGTH_16 = 126, LENGTH_64 = 127, MASK_BYTES = 4 };

/* Bytes that a head has, from its second byte on it is known. */
static size_t head_bytes(const struct strobe_frames_in *frames)
{
    uint8_t length = frames->n_head < 2 ? 0 : frames->head[1] & LENGTH;
    return length == LENGTH_64 ? 10 : length == LENGTH_16 ? 4 : 2;
}

static uint64_t payload_bytes(const struct strobe_frames_in *frames)
{
    uint64_t n = 0;
    size_t n_head = head_bytes(frames);
    for (size_t i = 2; i < n_head; i++)
        n = n << 8 | frames->head[i];
    return n_head == 2 ? frames->head[1] & LENGTH : n;
}

bool strobe_frames_in_take(struct strobe_frames_in *frames, const void *bytes, size_t n)
{
    for (const uint8_t *at = bytes, *end = at + n; at < end;) {
        if (frames->n_payload) {
            uint64_t left = (uint64_t)(end - at);
            uint64_t step = frames->n_payload < left ? frames->n_payload : left;
            frames->n_payload -= step;
            at += step;
            continue;
        }
        frames->head[frames->n_head++] = *at++;
        if (frames->n_head == 2 && !(frames->head[1] & MASKED))
            return false;
        if (frames->n_head < head_bytes(frames))
            continue;
        uint64_t n_payload = payload_bytes(frames);
        frames->n_payload =
            n_payload > UINT64_MAX - MASK_BYTES ? UINT64_MAX : n_payload + MASK_BYTES;
        frames->n_head = 0;
    }
    return true;
}

/* ---- sockets ---- */

static struct watched {
    struct watched *next;
    int fd;
    bool is_over;
    struct strobe_frames_in frames;
} * all;                        /* owned; one for each page */
static __thread bool is_server; /* other threads' sockets are never watched */

/* Of sockets that are not watched, by number: how many of the four bytes that end a request came, and whether anything came with the end. */
enum { HAS_MORE = 0x80 };
static uint8_t *requests; /* owned: n_requests */
static int n_requests;

void strobe_frames_in_begin(void)
{
    is_server = true;
}

static void follow_request(int fd, const char *bytes, size_t n)
{
    static const char end[4] = "\r\n\r\n";
    if (fd >= n_requests) {
        uint8_t *more = realloc(requests, (size_t)fd + 64);
        if (!more)
            return;
        memset(more + n_requests, 0, (size_t)(fd + 64 - n_requests));
        requests = more;
        n_requests = fd + 64;
    }
    uint8_t n_end = requests[fd] & 7;
    for (size_t i = 0; i < n; i++) {
        n_end = bytes[i] == end[n_end] ? n_end + 1 : bytes[i] == end[0];
        if (n_end == sizeof end) {
            requests[fd] = i + 1 < n ? HAS_MORE : 0;
            return;
        }
    }
    requests[fd] = n_end;
}

bool strobe_frames_in_watch(int fd)
{
    struct watched *watched = NULL;
    if (fd < n_requests && !requests[fd])
        watched = calloc(1, sizeof *watched);
    if (!watched)
        return false;
    watched->fd = fd;
    watched->next = all;
    all = watched;
    return true;
}

void strobe_frames_in_unwatch(int fd)
{
    struct watched **at = &all;
    while (*at && (*at)->fd != fd)
        at = &(*at)->next;
    struct watched *found = *at;
    if (found)
        *at = found->next;
    free(found);
}

__attribute__((visibility("default"))) ssize_t recv(int fd, void *out, size_t n, int flags);
ssize_t recv(int fd, void *out, size_t n, int flags)
{
    ssize_t got = recvfrom(fd, out, n, flags, NULL, NULL);
    if (got <= 0 || !is_server || flags & MSG_PEEK)
        return got;
    for (struct watched *at = all; at; at = at->next)
        if (at->fd == fd) {
            at->is_over |= !strobe_frames_in_take(&at->frames, out, (size_t)got);
            return at->is_over ? 0 : got;
        }
    follow_request(fd, out, (size_t)got);
    return got;
}
