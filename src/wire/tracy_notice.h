/* tracy_notice.h - what the shim in a traced process and its recorder say to each other.
 *
 * The recorder listens on a socket of whole messages (AF_UNIX, SOCK_SEQPACKET) in the session's folder, whose
 * path is in STROBE_TRACY_SOCKET. One connection per notice; the process sends one message and, where the
 * table says so, waits for one byte. That the socket takes a connection means that the recorder lives.
 *
 *   NOTICE    SAID BY                       ANSWER
 *   LISTENS   Tracy's thread, in listen()   TAKEN: connected to its port; REFUSED: it won't be
 *   WAITS     Tracy's thread, which found  TAKEN: it is connected or will be; REFUSED: it won't be
 *             nobody at its port
 *   FORKED    a child of a Tracy client     none; the connection stays open until it execs or ends
 *   EXITS     a client that says no         TAKEN: all that it had sent is read, and it went quiet
 *             goodbye, at its very end
 *   ENDS      a child, before it ends       none
 *             without an exec
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_WIRE_TRACY_NOTICE_H
#define STROBE_WIRE_TRACY_NOTICE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/at.h"

#define STROBE_TRACY_SOCKET_ENV  "STROBE_TRACY_SOCKET"
#define STROBE_TRACY_SOCKET_FILE "tracy"
#define STROBE_NOTICE_MAGIC      0x544e5453u /* "STNT" */

enum strobe_notice_kind {
    STROBE_NOTICE_LISTENS = 1,
    STROBE_NOTICE_FORKED = 2,
    STROBE_NOTICE_EXITS = 3,
    STROBE_NOTICE_ENDS = 4,
    STROBE_NOTICE_WAITS = 5,
};

enum strobe_notice_answer {
    STROBE_NOTICE_TAKEN = 'y',
    STROBE_NOTICE_REFUSED = 'n',
};

/* OFFSET SIZE FIELD    little-endian; who sends it is taken from the socket, not from here
 *      0    4 magic
 *      4    4 version  1; another one is refused
 *      8    4 kind     enum strobe_notice_kind
 *     12    4 port     on 127.0.0.1, of LISTENS and WAITS
 *     16    4 parent   the client's pid, of FORKED and ENDS
 *     20    4 reserved 0 */
struct strobe_notice {
    uint32_t magic;
    uint32_t version;
    uint32_t kind;
    uint32_t port;
    uint32_t parent;
    uint32_t reserved;
};
STROBE_AT(strobe_notice, magic, 0);
STROBE_AT(strobe_notice, version, 4);
STROBE_AT(strobe_notice, kind, 8);
STROBE_AT(strobe_notice, port, 12);
STROBE_AT(strobe_notice, parent, 16);
STROBE_AT(strobe_notice, reserved, 20);
static_assert(sizeof(struct strobe_notice) == 24, "between programs");

#endif
