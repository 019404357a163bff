/* bridge.c - the sockets of the bridge: announcement, handshake, frames out, queries in.
 *
 *   WAIT --accept--> HANDSHAKE --welcome--> STREAM --all sent--> ENDING --query 0, silence--> closed
 *                                             |  the trace grows: back to STREAM with each look
 *
 * Never blocks on the peer: everything goes through poll, and what waits to be sent is one frame.
 * SPDX-License-Identifier: MIT */
#include "bridge/bridge.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "bridge/stream.h"

enum {
    FIRST_PORT = 8086,
    N_PORTS = 20,
    ANNOUNCE_MS = 3000,
    HANDSHAKE_MS = 2000,
    LOOK_MS = 200, /* between two looks at a growing file */
    KEEP_ALIVE_MS = 5000,
    QUIET_OPEN_MS = 2000, /* after the end, with zones open: the server waits for their ends */
    QUIET_MS = 10000,     /* after the end: a server that asks nothing has all it wants */
    STALL_MS = 60000,     /* after the end of the trace: a server that takes nothing is left */
};

struct strobe_bridge {
    struct strobe_bridge_options options;
    int listener, announcer;
    uint16_t port;
    int64_t announced_ms;
    char program[64];
    int has_trace; /* it could be opened */
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int is_stopped(const struct strobe_bridge *bridge)
{
    return bridge->options.stop && *bridge->options.stop;
}

/* ---- listening and announcing ---------------------------------------------------------------- */

static int listen_at(uint16_t port, uint16_t *got)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    socklen_t n = sizeof at;
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 4) ||
        getsockname(fd, (struct sockaddr *)&at, &n)) {
        close(fd);
        return -1;
    }
    *got = ntohs(at.sin_port);
    return fd;
}

static void open_announcer(struct strobe_bridge *bridge)
{
    int one = 1;
    bridge->announcer = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bridge->announcer >= 0)
        setsockopt(bridge->announcer, SOL_SOCKET, SO_BROADCAST, &one, sizeof one);
}

/* Version 3 of Tracy's announcement, on loopback only. `active_s` -1: not free any more. */
static void announce(struct strobe_bridge *bridge, int32_t active_s)
{
    uint8_t message[84];
    uint16_t version = 3, port = bridge->port;
    uint32_t protocol = bridge->options.protocol ? bridge->options.protocol : STROBE_TRACY_LAST;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(FIRST_PORT)};
    to.sin_addr.s_addr = htonl(0x7fffffff); /* 127.255.255.255 */
    if (bridge->announcer < 0 || !bridge->options.announce)
        return;
    memcpy(message, &version, 2);
    memcpy(message + 2, &port, 2);
    memcpy(message + 4, &protocol, 4);
    uint64_t pid = (uint64_t)getpid(); /* of the listener: a recorder leaves its like alone */
    memcpy(message + 8, &pid, 8);
    memcpy(message + 16, &active_s, 4);
    size_t n = strlen(bridge->program) + 1;
    memcpy(message + 20, bridge->program, n);
    (void)!sendto(bridge->announcer, message, 20 + n, 0, (struct sockaddr *)&to, sizeof to);
    bridge->announced_ms = now_ms();
}

/* Whose trace it is, as far as it is known yet. 1: the trace was closed. */
static int look_at_trace(struct strobe_bridge *bridge)
{
    struct strobe_trace *trace;
    char room[STROBE_NAME_ROOM];
    uint32_t n;
    if (strobe_trace_open(bridge->options.path, STROBE_TRACE_NO_LOCS, &trace))
        return 0;
    if (trace->n_processes) {
        const char *name = strobe_trace_process_name(trace, 0, room, &n);
        n = n < sizeof bridge->program ? n : (uint32_t)sizeof bridge->program - 1;
        memcpy(bridge->program, name, n);
        bridge->program[n] = 0;
    }
    int is_closed = strobe_file_facts(trace->file)->closed;
    bridge->has_trace = 1;
    strobe_trace_close(trace);
    return is_closed;
}

enum strobe_err strobe_bridge_open(const struct strobe_bridge_options *options,
                                   struct strobe_bridge **out)
{
    struct strobe_bridge *bridge = calloc(1, sizeof *bridge);
    if (!bridge)
        return STROBE_ERR_NOMEM;
    bridge->options = *options;
    bridge->listener = bridge->announcer = -1;
    strcpy(bridge->program, "strobe");
    if (options->port) {
        bridge->listener = listen_at(options->port, &bridge->port);
    } else {
        for (int i = 0; i < N_PORTS && bridge->listener < 0; i++)
            bridge->listener = listen_at((uint16_t)(FIRST_PORT + i), &bridge->port);
    }
    if (bridge->listener < 0) {
        enum strobe_err err = errno == EADDRINUSE ? STROBE_ERR_BUSY : strobe_err_from_errno(errno);
        strobe_bridge_close(bridge);
        return err;
    }
    open_announcer(bridge);
    *out = bridge;
    return STROBE_OK;
}

uint16_t strobe_bridge_port(const struct strobe_bridge *bridge)
{
    return bridge->port;
}

void strobe_bridge_close(struct strobe_bridge *bridge)
{
    if (!bridge)
        return;
    if (bridge->listener >= 0)
        close(bridge->listener);
    if (bridge->announcer >= 0)
        close(bridge->announcer);
    free(bridge);
}

/* A server that connects, -1: none did. */
static int wait_for_server(struct strobe_bridge *bridge)
{
    int64_t start = now_ms(), closed_ms = -1, looked = 0;
    bridge->announced_ms = start - ANNOUNCE_MS;
    while (!is_stopped(bridge)) {
        int64_t now = now_ms();
        if (now - looked >= LOOK_MS) {
            looked = now;
            if (closed_ms < 0 && look_at_trace(bridge))
                closed_ms = now;
        }
        if (closed_ms >= 0 && bridge->options.wait_s >= 0 &&
            now - closed_ms >= (int64_t)bridge->options.wait_s * 1000) {
            int last = accept4(bridge->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (last >= 0)
                return last;
            announce(bridge, -1);
            return -1;
        }
        if (now - bridge->announced_ms >= ANNOUNCE_MS)
            announce(bridge, (int32_t)((now - start) / 1000));
        struct pollfd fd = {bridge->listener, bridge->has_trace ? POLLIN : 0, 0};
        if (poll(&fd, 1, LOOK_MS) > 0) { /* who comes before the trace waits in the queue */
            int peer = accept4(bridge->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (peer >= 0) {
                announce(bridge, -1);
                return peer;
            }
        }
    }
    return -1;
}

/* ---- one server ------------------------------------------------------------------------------ */

struct session {
    struct strobe_bridge *bridge;
    struct strobe_bridge_stream stream;
    int fd;
    const uint8_t *pending; /* borrowed from the stream's frame: still to be sent */
    size_t n_pending;
    uint8_t asked[STROBE_TRACY_QUERY_BYTES * 512];
    size_t n_asked;
    int is_all, is_ended; /* all is in frames; Terminate is too */
    int is_over;          /* the server said good-bye, or is gone */
    int64_t heard_ms, sent_ms, looked_ms;
};

/* Read or write a few bytes within the time of a handshake. */
static int exchange(int fd, void *bytes, size_t n, int is_write)
{
    int64_t end = now_ms() + HANDSHAKE_MS;
    for (uint8_t *at = bytes; n;) {
        struct pollfd poller = {fd, is_write ? POLLOUT : POLLIN, 0};
        int64_t left = end - now_ms();
        if (left <= 0 || poll(&poller, 1, (int)left) <= 0)
            return 0;
        ssize_t done = is_write ? send(fd, at, n, MSG_NOSIGNAL) : recv(fd, at, n, 0);
        if (done < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (done <= 0)
            return 0;
        at += done;
        n -= (size_t)done;
    }
    return 1;
}

static enum strobe_err shake_hands(struct session *session)
{
    enum { WELCOME = 1, MISMATCH = 2 };
    uint8_t hello[12], status = WELCOME, welcome[1178];
    uint32_t protocol;
    if (!exchange(session->fd, hello, sizeof hello, 0) || memcmp(hello, "TracyPrf", 8))
        return STROBE_ERR_INVALID;
    memcpy(&protocol, hello + 8, sizeof protocol);
    const struct strobe_bridge_options *options = &session->bridge->options;
    enum strobe_err err =
        strobe_bridge_stream_open(options->path, protocol, options->follow, &session->stream);
    if (err == STROBE_ERR_VERSION) {
        status = MISMATCH;
        exchange(session->fd, &status, 1, 1);
        return err;
    }
    if (err)
        return err;
    strobe_bridge_welcome(&session->stream, welcome);
    if (!exchange(session->fd, &status, 1, 1) ||
        !exchange(session->fd, welcome, session->stream.out.table.welcome_bytes, 1))
        return STROBE_ERR_IO;
    return STROBE_OK;
}

static void send_pending(struct session *session)
{
    while (session->n_pending) {
        ssize_t n = send(session->fd, session->pending, session->n_pending, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            session->is_over = 1;
            return;
        }
        STROBE_ASSERT((size_t)n <= session->n_pending);
        session->pending += n;
        session->n_pending -= (size_t)n;
        session->sent_ms = now_ms();
    }
}

static void read_queries(struct session *session)
{
    ssize_t n = recv(session->fd, session->asked + session->n_asked,
                     sizeof session->asked - session->n_asked, 0);
    if (n > 0) {
        session->n_asked += (size_t)n;
        session->heard_ms = now_ms();
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        session->is_over = 1;
    }
}

/* The client has no more to say; it goes on answering. */
static void say_end(struct session *session)
{
    if (!session->is_ended)
        strobe_wire_put(&session->stream.out, STROBE_TRACY_TERMINATE, NULL);
    session->is_all = session->is_ended = 1;
    session->heard_ms = now_ms();
}

static void answer_queries(struct session *session)
{
    size_t at = 0;
    while (session->n_asked - at >= STROBE_TRACY_QUERY_BYTES && !session->is_over &&
           !strobe_wire_out_full(&session->stream.out)) {
        int said = strobe_bridge_answer(&session->stream, session->asked + at);
        at += STROBE_TRACY_QUERY_BYTES;
        if (said == 1)
            session->is_over = 1;
        else if (said == 2)
            say_end(session);
    }
    STROBE_ASSERT(at <= session->n_asked && session->n_asked <= sizeof session->asked);
    memmove(session->asked, session->asked + at, session->n_asked - at);
    session->n_asked -= at;
}

/* More of the trace into the frame, as far as there is more. */
static enum strobe_err produce(struct session *session)
{
    struct strobe_bridge *bridge = session->bridge;
    struct strobe_bridge_stream *stream = &session->stream;
    strobe_bridge_answer_waiting(stream);
    if (session->is_all)
        return STROBE_OK;
    enum strobe_err err = strobe_bridge_fill(stream);
    if (err != STROBE_ERR_END)
        return err;
    int64_t now = now_ms();
    int was_over = stream->is_closed || is_stopped(bridge); /* before this look */
    if (!stream->is_final && !is_stopped(bridge) && now - session->looked_ms < LOOK_MS)
        return STROBE_OK;
    session->looked_ms = now;
    err = stream->is_final ? STROBE_ERR_END : strobe_bridge_refresh(stream);
    if (err != STROBE_ERR_END)
        return err;
    if (was_over && !stream->is_final) {
        stream->is_final = 1; /* what waited for names or for older events goes out now */
        return STROBE_OK;
    }
    if (stream->out.n_raw)
        return STROBE_OK; /* the end goes into a frame of its own, as clients do it */
    if (stream->is_final)
        say_end(session);
    else if (now - session->sent_ms > KEEP_ALIVE_MS)
        strobe_wire_put(&stream->out, STROBE_TRACY_KEEP_ALIVE, NULL);
    return STROBE_OK;
}

/* A server that was told all and asks no more is left; one that waits for ends of zones sooner. */
static int is_quiet(const struct session *session)
{
    int64_t limit = session->stream.n_open ? QUIET_OPEN_MS : QUIET_MS;
    return session->is_ended && !session->n_pending && now_ms() - session->heard_ms > limit;
}

static enum strobe_err run_session(struct session *session)
{
    enum strobe_err err = STROBE_OK;
    session->heard_ms = session->sent_ms = now_ms();
    while (!session->is_over && !err && !is_quiet(session)) {
        if (!session->n_pending) {
            answer_queries(session);
            err = session->is_over ? STROBE_OK : produce(session);
            session->n_pending = strobe_wire_out_frame(&session->stream.out, &session->pending);
        }
        struct pollfd fd = {session->fd, 0, 0};
        if (session->n_asked < sizeof session->asked)
            fd.events |= POLLIN;
        if (session->n_pending)
            fd.events |= POLLOUT;
        int is_busy = !session->is_all || session->n_asked >= STROBE_TRACY_QUERY_BYTES;
        poll(&fd, 1,
             session->n_pending                            ? LOOK_MS
             : is_busy && !session->bridge->options.follow ? 0
                                                           : 20);
        if (fd.revents & (POLLIN | POLLHUP | POLLERR))
            read_queries(session);
        if (session->n_pending)
            send_pending(session);
        int is_stalled = session->n_pending && now_ms() - session->sent_ms > STALL_MS;
        if ((is_stopped(session->bridge) && session->is_ended) ||
            (is_stalled && session->stream.is_closed))
            break;
    }
    return err;
}

enum strobe_err strobe_bridge_serve(struct strobe_bridge *bridge, struct strobe_bridge_session *out)
{
    memset(out, 0, sizeof *out);
    int one = 1, fd = wait_for_server(bridge);
    if (fd < 0)
        return STROBE_ERR_END;
    struct session *session = calloc(1, sizeof *session);
    if (!session) {
        close(fd);
        return STROBE_ERR_NOMEM;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    session->bridge = bridge;
    session->fd = fd;
    enum strobe_err err = shake_hands(session);
    if (!err)
        err = run_session(session);
    *out = (struct strobe_bridge_session){
        .protocol = session->stream.out.table.protocol,
        .n_zones = session->stream.n_zones,
        .n_events = session->stream.out.n_events,
        .is_complete = session->is_ended && !err,
    };
    memcpy(out->left_out, session->stream.left_out, sizeof out->left_out);
    close(fd);
    strobe_bridge_stream_free(&session->stream);
    free(session);
    return err;
}

const char *strobe_bridge_left_out(const struct strobe_bridge_session *session,
                                   char room[STROBE_BRIDGE_LEFT_OUT_ROOM])
{
    static struct strobe_schema schema; /* the same whoever reads it */
    unsigned long long sum = 0;
    size_t n = 0;
    strobe_schema_read("", &schema);
    for (int kind = 0; kind < STROBE_KIND_COUNT; kind++)
        sum += session->left_out[kind];
    room[0] = 0;
    if (sum)
        n = (size_t)snprintf(room, STROBE_BRIDGE_LEFT_OUT_ROOM, "%llu events not sent", sum);
    for (int kind = 0; kind < STROBE_KIND_COUNT && sum; kind++)
        if (session->left_out[kind] && n < STROBE_BRIDGE_LEFT_OUT_ROOM) {
            int is_first = sum && !strchr(room, ':');
            n += (size_t)snprintf(room + n, STROBE_BRIDGE_LEFT_OUT_ROOM - n, "%s%llu %.*s",
                                  is_first ? ": " : ", ",
                                  (unsigned long long)session->left_out[kind],
                                  (int)schema.kind[kind].n_name, schema.kind[kind].name);
        }
    return room;
}
