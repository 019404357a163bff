/* session.h - one connection to a Tracy client, the server's side, without any I/O.
 *
 * The caller owns the socket: what comes from it is fed in, what stands in the output is sent, time is
 * told with every call (ticks of the trace's clock). Everything that is decoded goes to the store.
 *
 * Its states are drawn in internal.h; what a session is over with is enum strobe_tracy_status.
 * strobe_tracy_session_feed moves it along; strobe_tracy_session_poll where time does (a client that
 * never says anything, answers that never come). The peer is not trusted: lengths, counts and
 * queries are bounded, an event that can't be right is set aside with its reason and counted.
 * Protocols: docs/tracy.md.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_SESSION_H
#define STROBE_TRACY_SESSION_H

#include "build/build.h"

enum strobe_tracy_status {
    STROBE_TRACY_RUNNING = 0,
    STROBE_TRACY_MISMATCH = 1,    /* it speaks another protocol: close, try the next number */
    STROBE_TRACY_UNAVAILABLE = 2, /* it has a server already, or had its only one: close */
    STROBE_TRACY_DONE = 3,        /* ended well: send what is in the output, close */
    STROBE_TRACY_BROKEN = 4,      /* not Tracy, or broken: strobe_tracy_session_reason; close */
};

enum strobe_tracy_clock {
    STROBE_TRACY_CLOCK_AUTO = 0, /* the trace's, if what the client says fits it; else its own */
    STROBE_TRACY_CLOCK_SAME = 1, /* ticks of the trace's clock */
    STROBE_TRACY_CLOCK_OWN = 2,  /* mapped, with an error (CLOCK_MAP records) */
};

struct strobe_tracy_session_options {
    struct strobe_build_store *store; /* borrowed: must outlive the session */
    uint32_t protocol;                /* to ask for */
    double tick_ns;                   /* ns per tick of the trace's clock */
    uint64_t unix_s;                  /* seconds since 1970, now; 0: not known */
    double answer_ns;                 /* for the answer to the hello; 0: 5 s. A client that is left
                                         before it answers takes the greeting for its server */
    enum strobe_tracy_clock clock;
    bool no_symbols; /* don't ask what the addresses of call stacks are */
    uint32_t
        n_queries; /* unanswered at most; 0, and the most: 1,000. Keep 13 bytes each below the socket's send
                           buffer */
    /* Tell more of the process than the client does (by its pid). NULL: nothing is known. */
    void (*describe)(void *arg, const struct strobe_tracy_client *client,
                     struct strobe_build_process *out);
    void *arg;
};

struct strobe_tracy_session;

enum strobe_err strobe_tracy_session_open(const struct strobe_tracy_session_options *options,
                                          uint64_t now_tick, struct strobe_tracy_session **out);
/* Take bytes that came. All are taken. Anything but RUNNING: no more calls but output, sent, close. */
enum strobe_tracy_status strobe_tracy_session_feed(struct strobe_tracy_session *session,
                                                   const uint8_t *bytes, size_t n_bytes,
                                                   uint64_t now_tick);
/* The socket ended (closed or broken): never RUNNING. */
enum strobe_tracy_status strobe_tracy_session_eof(struct strobe_tracy_session *session,
                                                  uint64_t now_tick);
/* Time has passed. To be called at strobe_tracy_session_deadline, or more often. */
enum strobe_tracy_status strobe_tracy_session_poll(struct strobe_tracy_session *session,
                                                   uint64_t now_tick);
uint64_t strobe_tracy_session_deadline(const struct strobe_tracy_session *session);

/* Bytes to be sent, and that so many of them were. */
size_t strobe_tracy_session_output(const struct strobe_tracy_session *session,
                                   const uint8_t **bytes);
void strobe_tracy_session_sent(struct strobe_tracy_session *session, size_t n_bytes);

/* End it from our side: Disconnect, then names, then DONE; within 2 s whatever the client does. */
void strobe_tracy_session_stop(struct strobe_tracy_session *session, uint64_t now_tick);

/* Note what is missing, free. NULL is allowed. */
void strobe_tracy_session_close(struct strobe_tracy_session *session);

/* What is known of it, for people; valid until the session is closed. */
struct strobe_tracy_session_facts {
    const struct strobe_tracy_client *client; /* NULL: no welcome yet */
    uint32_t protocol;
    uint32_t proc;        /* number in the trace, 0: no welcome yet */
    uint64_t n_zones;     /* begun */
    uint64_t n_events;    /* taken */
    uint64_t n_set_aside; /* events that could not be right */
    uint64_t n_unnamed;   /* names that were not told, so far */
    uint64_t n_symbols;   /* likewise addresses of call stacks */
    uint64_t n_bytes;     /* received */
    bool terminated;      /* the client said that it ends */
    bool crashed;
    bool on_demand; /* it will take another connection later */
    bool own_clock; /* its times are mapped */
};
void strobe_tracy_session_facts(const struct strobe_tracy_session *session,
                                struct strobe_tracy_session_facts *out);
/* Why it is BROKEN; "" otherwise. */
const char *strobe_tracy_session_reason(const struct strobe_tracy_session *session);

/* Protocols that are understood, the likeliest first; 0 after the last. */
uint32_t strobe_tracy_protocol_at(uint32_t i);
bool strobe_tracy_protocol_is_known(uint32_t protocol);

#endif
