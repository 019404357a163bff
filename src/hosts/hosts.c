/* hosts.c - see hosts.h: sockets, the thread and its loop, answers. Questions: burst.c.  SPDX-License-Identifier: MIT */
#include "hosts/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "hosts/internal.h"
#include "wire/file_layout.h"

#define LAST_NS 200000000ull /* for the last burst */

/* ---- what goes into the trace ---- */

void strobe_hosts_note_id(struct strobe_hosts *hosts, struct strobe_clock_id id, uint32_t role,
                          const char *name, const char *address)
{
    struct strobe_records *records = &hosts->records;
    strobe_records_begin(records, STROBE_FACT_CLOCK_ID);
    strobe_records_u(records, id.high);
    strobe_records_u(records, id.low);
    strobe_records_u(records, role);
    strobe_records_s(records, name, strlen(name));
    strobe_records_s(records, address, strlen(address));
    strobe_records_end(records);
}

void strobe_hosts_note(struct strobe_hosts *hosts, const char *text)
{
    strobe_records_begin(&hosts->records, STROBE_FACT_NOTE);
    strobe_records_u(&hosts->records, 0);
    strobe_records_s(&hosts->records, text, strlen(text));
    strobe_records_end(&hosts->records);
}

/* What the other records need: their kinds, and whose they are. */
static void say_who(struct strobe_hosts *hosts)
{
    strobe_records_kinds(&hosts->records);
    strobe_hosts_note_id(hosts, hosts->id, STROBE_CLOCK_ROLE_OWN, hosts->name, "");
}

void strobe_hosts_store(struct strobe_hosts *hosts, bool is_last)
{
    enum { KEPT_MAX = 128 << 10 }; /* bytes */
    struct strobe_records *records = &hosts->records;
    if (!strobe_file_put_records(hosts->writer, records))
        return;
    if (!is_last && !records->failed && records->n_bytes <= KEPT_MAX)
        return;
    hosts->status.n_unstored += records->n_records + records->failed;
    strobe_records_reset(records);
    say_who(hosts);
}

/* ---- answers ---- */

static void send_packet(struct strobe_hosts *hosts, struct strobe_clock_packet *packet,
                        const struct sockaddr_storage *to, socklen_t n_to)
{
    packet->from = hosts->id;
    memcpy(packet->name, hosts->name, sizeof packet->name);
    packet->flags |= hosts->stamps.is_mono ? STROBE_CLOCK_PACKET_MONO : 0u;
    strobe_clock_packet_sign(packet, &hosts->key);
    sendto(hosts->listen_fd, packet, sizeof *packet, MSG_DONTWAIT | MSG_NOSIGNAL,
           (const struct sockaddr *)to, n_to); /* one that did not leave is as good as lost */
}

/* Note who asks, once. */
static void note_asking(struct strobe_hosts *hosts, const struct strobe_clock_packet *packet,
                        const struct sockaddr_storage *from, socklen_t n_from)
{
    uint32_t n = hosts->status.n_asking;
    for (uint32_t i = 0; i < n; i++)
        if (strobe_clock_id_is_same(hosts->asking[i].id, packet->from))
            return;
    if (n >= STROBE_HOSTS_PEERS)
        return;
    hosts->asking[hosts->status.n_asking++] =
        (struct strobe_hosts_asking){packet->from, *from, n_from};
    strobe_hosts_note_id(hosts, packet->from, STROBE_CLOCK_ROLE_ASKING, packet->name, "");
    strobe_hosts_store(hosts, false);
}

void strobe_hosts_answer(struct strobe_hosts *hosts)
{
    struct strobe_clock_packet packet, reply = {.kind = STROBE_CLOCK_PACKET_ANSWER};
    struct sockaddr_storage from;
    socklen_t n_from;
    uint8_t bytes[sizeof packet + 1];
    bool kernel;
    long n = strobe_stamps_receive(&hosts->stamps, hosts->listen_fd, bytes, sizeof bytes, &from,
                                   &n_from, &reply.received, &kernel);
    if (n < 0)
        return;
    if (!strobe_clock_packet_read(bytes, (size_t)n, &hosts->key, &packet)) {
        hosts->status.n_refused += hosts->status.n_refused < UINT32_MAX;
        return;
    }
    if (packet.kind != STROBE_CLOCK_PACKET_QUESTION ||
        strobe_clock_id_is_same(packet.from, hosts->id))
        return;
    reply.number = packet.number;
    reply.to = packet.from;
    reply.flags = kernel ? STROBE_CLOCK_PACKET_KERNEL : 0;
    reply.answered = strobe_stamps_tick(&hosts->stamps);
    send_packet(hosts, &reply, &from, n_from);
    hosts->status.has_kernel |= kernel;
    note_asking(hosts, &packet, &from, n_from);
}

/* ---- the loop ---- */

/* What is due; when something is due again. */
static uint64_t tick_all(struct strobe_hosts *hosts, bool is_last)
{
    uint64_t now = strobe_clock_mono_ns(), next = now + 1000000000ull;
    for (uint32_t i = 0; i < hosts->n_peers; i++) {
        uint64_t due = strobe_hosts_peer_tick(hosts, &hosts->peers[i], now, is_last);
        next = due < next ? due : next;
    }
    return next;
}

/* Wait until `next`, or for a datagram. False: the loop is to end. */
static bool serve(struct strobe_hosts *hosts, uint64_t next)
{
    struct pollfd fds[STROBE_HOSTS_PEERS + 2];
    uint64_t now = strobe_clock_mono_ns();
    struct timespec wait = strobe_clock_timespec(next > now ? next - now : 0);
    uint32_t n = 0;
    fds[n++] = (struct pollfd){.fd = hosts->wake[0], .events = POLLIN};
    fds[n++] = (struct pollfd){.fd = hosts->listen_fd, .events = POLLIN};
    for (uint32_t i = 0; i < hosts->n_peers; i++)
        fds[n++] = (struct pollfd){.fd = hosts->peers[i].fd, .events = POLLIN};
    if (ppoll(fds, n, &wait, NULL) <= 0)
        return true;
    if (fds[1].revents)
        strobe_hosts_answer(hosts);
    now = strobe_clock_mono_ns();
    for (uint32_t i = 0; i < hosts->n_peers; i++)
        if (fds[2 + i].revents)
            strobe_hosts_peer_read(hosts, &hosts->peers[i], now);
    return !fds[0].revents;
}

static bool is_asking(const struct strobe_hosts *hosts)
{
    for (uint32_t i = 0; i < hosts->n_peers; i++)
        if (hosts->peers[i].waits || hosts->peers[i].n_asked)
            return true;
    return false;
}

/* One burst more, so that the last events lie between two. */
static void ask_last(struct strobe_hosts *hosts)
{
    uint64_t end = strobe_clock_mono_ns() + LAST_NS;
    for (uint32_t i = 0; i < hosts->n_peers; i++)
        if (hosts->peers[i].is_known && !hosts->peers[i].is_silent)
            hosts->peers[i].next_ns = 0;
        else
            hosts->peers[i].next_ns = end;
    close(hosts->wake[0]); /* it has said what it had to say */
    hosts->wake[0] = -1;
    tick_all(hosts, false);
    while (is_asking(hosts) && strobe_clock_mono_ns() < end)
        serve(hosts, tick_all(hosts, true));
}

/* Those who asked need not wonder. */
static void say_farewell(struct strobe_hosts *hosts)
{
    for (uint32_t i = 0; i < hosts->status.n_asking; i++) {
        const struct strobe_hosts_asking *one = &hosts->asking[i];
        struct strobe_clock_packet packet = {.kind = STROBE_CLOCK_PACKET_FAREWELL, .to = one->id};
        send_packet(hosts, &packet, &one->at, one->n_at);
    }
}

static void *run(void *context)
{
    struct strobe_hosts *hosts = context;
    say_who(hosts);
    strobe_hosts_store(hosts, false);
    strobe_stamps_look(&hosts->stamps);
    while (serve(hosts, tick_all(hosts, false)))
        ;
    ask_last(hosts);
    say_farewell(hosts);
    strobe_hosts_store(hosts, true);
    return NULL;
}

/* ---- open ---- */

/* Look an address up: [HOST:]PORT, with brackets around an IPv6 host. */
static enum strobe_err look_up(const char *text, const char *default_host, struct addrinfo **out)
{
    char host[256] = "";
    const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
    size_t n = colon ? (size_t)(colon - text) : 0;
    const char *from = text;
    if (n > 1 && text[0] == '[' && text[n - 1] == ']') {
        from++;
        n -= 2;
    }
    char *end;
    long number = strtol(port, &end, 10);
    if (n >= sizeof host || end == port || *end || number < 1 || number > 65535 ||
        (!n && !default_host))
        return STROBE_ERR_INVALID;
    memcpy(host, n ? from : default_host, n ? n : strlen(default_host));
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM};
    return getaddrinfo(host, port, &hints, out) || !*out ? STROBE_ERR_NOTFOUND : STROBE_OK;
}

static enum strobe_err open_listen(struct strobe_hosts *hosts, const char *address)
{
    struct addrinfo *found = NULL;
    enum strobe_err err = look_up(address, "127.0.0.1", &found);
    if (err)
        return err;
    hosts->listen_fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (hosts->listen_fd < 0 || bind(hosts->listen_fd, found->ai_addr, found->ai_addrlen))
        err = errno == EADDRINUSE ? STROBE_ERR_BUSY : strobe_err_from_errno(errno);
    freeaddrinfo(found);
    if (err && hosts->listen_fd >= 0) {
        close(hosts->listen_fd);
        hosts->listen_fd = -1;
    } else if (!err) {
        strobe_stamps_ask(hosts->listen_fd);
        hosts->status.listens = true;
    }
    return err;
}

static enum strobe_err open_peer(struct strobe_hosts_peer *peer, const char *address)
{
    struct addrinfo *found = NULL;
    enum strobe_err err = look_up(address, NULL, &found);
    if (err)
        return err;
    peer->address = strdup(address);
    peer->fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (!peer->address)
        err = STROBE_ERR_NOMEM;
    else if (peer->fd < 0 || connect(peer->fd, found->ai_addr, found->ai_addrlen))
        err = strobe_err_from_errno(errno);
    else
        strobe_stamps_ask(peer->fd);
    freeaddrinfo(found);
    return err;
}

static enum strobe_err open_all(struct strobe_hosts *hosts,
                                const struct strobe_hosts_options *options, const char **what)
{
    enum strobe_err err = STROBE_OK;
    if (getrandom(&hosts->id, sizeof hosts->id, 0) != sizeof hosts->id)
        return strobe_err_from_errno(errno);
    if (pipe2(hosts->wake, O_CLOEXEC | O_NONBLOCK))
        return strobe_err_from_errno(errno);
    if (gethostname(hosts->name, sizeof hosts->name - 1))
        snprintf(hosts->name, sizeof hosts->name, "?");
    if (options->listen) {
        *what = options->listen;
        err = open_listen(hosts, options->listen);
        if (err == STROBE_ERR_BUSY && options->may_be_busy)
            err = STROBE_OK;
    }
    hosts->peers = calloc(options->n_peers + 1ull, sizeof *hosts->peers);
    if (!err && !hosts->peers)
        err = STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < options->n_peers && !err; i++) {
        *what = options->peers[i];
        hosts->peers[hosts->n_peers].fd = -1;
        err = open_peer(&hosts->peers[hosts->n_peers++], options->peers[i]);
    }
    if (!err)
        *what = NULL;
    return err;
}

static bool start(struct strobe_hosts *hosts)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    hosts->runs = !pthread_create(&hosts->thread, NULL, run, hosts);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return hosts->runs;
}

enum strobe_err strobe_hosts_open(const struct strobe_hosts_options *options,
                                  struct strobe_hosts **out, const char **what)
{
    *out = NULL;
    *what = NULL;
    if (options->n_peers > STROBE_HOSTS_PEERS || options->n_key < STROBE_HOSTS_KEY_MIN)
        return STROBE_ERR_INVALID;
    struct strobe_hosts *hosts = calloc(1, sizeof *hosts);
    if (!hosts)
        return STROBE_ERR_NOMEM;
    hosts->listen_fd = hosts->wake[0] = hosts->wake[1] = -1;
    hosts->writer = options->writer;
    hosts->stamps.is_mono = options->is_mono;
    strobe_sha256_key(options->key, options->n_key, &hosts->key);
    enum strobe_err err = open_all(hosts, options, what);
    if (!err && !start(hosts))
        err = STROBE_ERR_NOMEM;
    if (err) {
        strobe_hosts_close(hosts);
        return err;
    }
    *out = hosts;
    return STROBE_OK;
}

void strobe_hosts_stop(struct strobe_hosts *hosts)
{
    if (!hosts->runs)
        return;
    close(hosts->wake[1]);
    hosts->wake[1] = -1;
    pthread_join(hosts->thread, NULL);
    hosts->runs = false;
}

struct strobe_hosts_status strobe_hosts_status(const struct strobe_hosts *hosts)
{
    struct strobe_hosts_status status = hosts->status;
    STROBE_ASSERT(!hosts->runs);
    status.n_peers = hosts->n_peers;
    for (uint32_t i = 0; i < hosts->n_peers; i++)
        if (!hosts->peers[i].is_known)
            snprintf(status.silent, sizeof status.silent, "%.63s", hosts->peers[i].address);
    return status;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void strobe_hosts_close(struct strobe_hosts *hosts)
{
    if (!hosts)
        return;
    strobe_hosts_stop(hosts);
    for (uint32_t i = 0; i < hosts->n_peers; i++) {
        close_fd(hosts->peers[i].fd);
        free((char *)hosts->peers[i].address);
    }
    close_fd(hosts->listen_fd);
    close_fd(hosts->wake[0]);
    close_fd(hosts->wake[1]);
    strobe_records_free(&hosts->records);
    free(hosts->peers);
    free(hosts);
}
