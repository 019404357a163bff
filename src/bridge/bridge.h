/* bridge.h - shows a trace, finished or still growing, to a Tracy server (its viewer or capture), as
 * if it were a traced program: listens on loopback, announces itself, speaks the protocol that the
 * server asks for.
 *
 * It reads the trace's file and nothing else, so a slow server never holds up a recording. One server
 * at a time, one thread.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BRIDGE_BRIDGE_H
#define STROBE_BRIDGE_BRIDGE_H

#include <signal.h>
#include <stdint.h>

#include "base/err.h"
#include "wire/kinds.h"

struct strobe_bridge;

struct strobe_bridge_options {
    const char *path;  /* borrowed: the trace */
    uint16_t port;     /* 0: 8086, or one of the 19 after it */
    int follow;        /* the trace is being written: show what is added, end when it is closed */
    int announce;      /* tell it on loopback, every 3 s */
    uint32_t protocol; /* to announce; 0: the latest */
    int wait_s;        /* how long to wait for a server once the trace is closed; -1: for good */
    volatile sig_atomic_t *stop; /* borrowed: not 0: end soon; NULL: none */
};

/* How a session went. */
struct strobe_bridge_session {
    uint32_t protocol;
    uint64_t n_zones, n_events;
    uint64_t left_out[STROBE_KIND_COUNT]; /* events that the protocol, or the server's patience, has
                                             no place for, by kind */
    int is_complete; /* the server had all, and said good-bye or was left after that */
};

/* Listen. BUSY: the port is taken. */
enum strobe_err strobe_bridge_open(const struct strobe_bridge_options *options,
                                   struct strobe_bridge **out);
uint16_t strobe_bridge_port(const struct strobe_bridge *bridge);
/* Wait for a server and serve it to the end. END: none came in time; STROBE_ERR_VERSION: the one that
 * came speaks a protocol that is not known; INVALID: it was no Tracy server. */
enum strobe_err strobe_bridge_serve(struct strobe_bridge *bridge,
                                    struct strobe_bridge_session *out);
void strobe_bridge_close(struct strobe_bridge *bridge); /* NULL is allowed */

/* What a server did not get, for people: "7 events not sent: 6 flow_step, 1 free"; "" where it got all. */
enum { STROBE_BRIDGE_LEFT_OUT_ROOM = 1024 };
const char *strobe_bridge_left_out(const struct strobe_bridge_session *session,
                                   char room[STROBE_BRIDGE_LEFT_OUT_ROOM]);

#endif
