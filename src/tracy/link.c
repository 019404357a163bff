/* link.c - one Tracy client: connecting, finding the protocol that it speaks, bytes in and out, its end.
 *
 * A client answers one number with welcome and all others with a mismatch, each time on a new connection. What was
 * announced or remembered for its program is asked first, then what is likely, then everything else: a client
 * newer than this host is at least named, and not left waiting for a server that never comes.
 * SPDX-License-Identifier: MIT */
#include "tracy/host_parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/moves.h"
#include "wire/tracy_notice.h"

#define RETRY_NS     50000000ull /* a client that was asked for and is not there yet */
#define GREETING_NS  3000000000ull
#define QUIET_NS     40000000ull   /* Tracy sends what it has every 10 ms */
#define EXIT_NS      1900000000ull /* a bit less than the shim waits */
#define STATUS_NS    2000000000ull /* for the exit status of a process whose session has ended */
#define RECONNECT_NS 200000000ull
#define FOREVER_NS   1e17
#define ANSWER_NS    30e9 /* for an answer of one that may be no Tracy client at all */
#define BUSY         "it has a server already, or had the one connection that it takes in its life"

enum { LOWEST_GUESS = 40, HIGHEST_GUESS = 160, MANY = 8 };

/* ---- states ---- */

/* moves of link_state */
static const uint8_t moves[][2] = {
    {LINK_WAITING, LINK_CONNECTING},  {LINK_CONNECTING, LINK_TALKING},
    {LINK_CONNECTING, LINK_GREETING}, {LINK_GREETING, LINK_CONNECTING},
    {LINK_TALKING, LINK_CONNECTING},  {LINK_CONNECTING, LINK_WAITING},
    {LINK_GREETING, LINK_WAITING},    {LINK_TALKING, LINK_WAITING},
    {LINK_WAITING, LINK_OVER},        {LINK_CONNECTING, LINK_OVER},
    {LINK_GREETING, LINK_OVER},       {LINK_TALKING, LINK_OVER},
};

void strobe_tracy_link_move(struct link *link, enum link_state to)
{
    STROBE_ASSERT(STROBE_MOVE_IS_LEGAL(moves, link->state, to));
    STROBE_ASSERT(to == LINK_OVER || (to == LINK_TALKING) == (link->session != NULL));
    link->state = to;
}

/* ---- making and freeing ---- */

static void answer(int *fd, char word)
{
    if (*fd < 0)
        return;
    if (send(*fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        errno = 0; /* it has gone; so be it */
    close(*fd);
    *fd = -1;
}

static void show_address(struct link *link)
{
    char text[INET6_ADDRSTRLEN] = "?";
    const struct sockaddr_in *four = (const struct sockaddr_in *)&link->address;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&link->address;
    bool is_six = link->address.ss_family == AF_INET6;
    inet_ntop(link->address.ss_family,
              is_six ? (const void *)&six->sin6_addr : (const void *)&four->sin_addr, text,
              sizeof text);
    snprintf(link->where, sizeof link->where, is_six ? "[%s]:%u" : "%s:%u", text,
             ntohs(is_six ? six->sin6_port : four->sin_port));
}

static uint32_t remembered(const struct strobe_tracy_host *host, const char *exe)
{
    for (uint32_t i = 0; exe[0] && i < HOST_KNOWN_MAX; i++)
        if (!strcmp(host->known[i].exe, exe))
            return host->known[i].protocol;
    return 0;
}

static void remember(struct strobe_tracy_host *host, const struct link *link)
{
    if (!link->exe[0] || remembered(host, link->exe) == link->protocol)
        return;
    struct known *known = &host->known[host->n_known++ % HOST_KNOWN_MAX];
    for (uint32_t i = 0; i < HOST_KNOWN_MAX; i++)
        if (!strcmp(host->known[i].exe, link->exe))
            known = &host->known[i]; /* it was built anew */
    snprintf(known->exe, sizeof known->exe, "%s", link->exe);
    known->protocol = link->protocol;
}

struct link *strobe_tracy_link_new(struct strobe_tracy_host *host, enum link_origin origin,
                                   const struct sockaddr *address, socklen_t n_address,
                                   uint32_t pid)
{
    if (host->n_links == HOST_LINKS_MAX || n_address > sizeof(struct sockaddr_storage))
        return NULL;
    if (STROBE_ARRAY_RESERVE(host->links, host->cap_links, host->n_links + 1))
        return NULL;
    struct link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->watch = (struct watch){WATCH_LINK, -1};
    link->answer_fd = link->exit_fd = -1;
    link->pidfd = strobe_tracy_find_pidfd(pid);
    link->origin = origin;
    link->pid = pid;
    memcpy(&link->address, address, n_address);
    link->n_address = n_address;
    show_address(link);
    if (pid)
        strobe_tracy_find_exe(pid, link->exe, sizeof link->exe);
    link->hint = remembered(host, link->exe);
    return host->links[host->n_links++] = link;
}

/* What was taken from a client that said welcome. */
static void note_taken(struct strobe_tracy_host *host, const struct link *link)
{
    struct strobe_tracy_session_facts facts;
    if (!link->session || !link->welcomed)
        return;
    strobe_tracy_session_facts(link->session, &facts);
    uint64_t numbers[] = {link->proc, facts.n_zones, facts.n_events, facts.n_set_aside,
                          facts.n_unnamed};
    strobe_records_numbers(&host->records, STROBE_META_TRACY_TAKEN, numbers, 5);
}

static void hang_up(struct strobe_tracy_host *host, struct link *link)
{
    note_taken(host, link);
    strobe_tracy_session_close(link->session);
    link->session = NULL;
    link->wants_write = link->welcomed = false;
    strobe_tracy_host_unwatch(host, &link->watch);
}

void strobe_tracy_link_free(struct strobe_tracy_host *host, struct link *link)
{
    hang_up(host, link);
    answer(&link->answer_fd, STROBE_NOTICE_REFUSED);
    answer(&link->exit_fd, STROBE_NOTICE_TAKEN);
    if (link->pidfd >= 0)
        close(link->pidfd);
    free(link);
}

struct link *strobe_tracy_link_of_pid(struct strobe_tracy_host *host, uint32_t pid)
{
    for (uint32_t i = host->n_links; pid && i-- > 0;)
        if (host->links[i]->pid == pid)
            return host->links[i];
    return NULL;
}

bool strobe_tracy_link_is_due(const struct strobe_tracy_host *host, uint32_t pid, uint32_t port)
{
    for (uint32_t i = 0; i < host->n_links; i++) {
        const struct sockaddr_in *at = (const struct sockaddr_in *)&host->links[i]->address;
        if (host->links[i]->pid == pid && at->sin_family == AF_INET &&
            ntohs(at->sin_port) == port && host->links[i]->state != LINK_OVER)
            return !host->stop_ns;
    }
    return false;
}

/* ---- which number ---- */

/* The n-th number to try: the hint, the known ones, all others from the known down and up. 0: none is left. */
static uint32_t number_at(const struct link *link, uint32_t n)
{
    uint32_t i = 0, known = 0;
    if (link->hint && n-- == 0)
        return link->hint;
    while ((known = strobe_tracy_protocol_at(i)) && i < n)
        i++;
    if (known)
        return known;
    n -= i;
    for (uint32_t guess = HIGHEST_GUESS; guess >= LOWEST_GUESS; guess--)
        if (!strobe_tracy_protocol_is_known(guess) && n-- == 0)
            return guess;
    return 0;
}

/* ---- the end of a link ---- */

static void end_link(struct strobe_tracy_host *host, struct link *link)
{
    hang_up(host, link);
    answer(&link->exit_fd, STROBE_NOTICE_TAKEN);
    answer(&link->answer_fd, STROBE_NOTICE_REFUSED);
    strobe_tracy_link_move(link, LINK_OVER);
    link->end_tick = strobe_tracy_host_tick(host);
    link->next_ns = strobe_tracy_host_ns() + STATUS_NS;
}

/* It is not there, or not any more: try again later, where somebody asked for it. */
static void wait_again(struct strobe_tracy_host *host, struct link *link, uint64_t ns)
{
    hang_up(host, link);
    strobe_tracy_link_move(link, LINK_WAITING);
    link->n_tried = 0;
    link->next_ns = strobe_tracy_host_ns() + ns;
}

static const char *name_of(const struct link *link)
{
    return link->program[0] ? link->program : link->exe[0] ? link->exe : link->where;
}

static void give_up(struct strobe_tracy_host *host, struct link *link, const char *reason)
{
    if (!link->taken)
        strobe_tracy_host_unrecorded(host, link->pid, name_of(link), "Tracy client at %s: %s",
                                     link->where, reason);
    end_link(host, link);
}

static bool is_ours(const struct link *link)
{
    return link->origin == LINK_NOTICED || link->origin == LINK_FOUND;
}

/* A client closes a connection that brings no greeting within 2 s and listens on: who was late, it or
 * this host, comes again, with the same number, as long as its process lives. */
static bool comes_again(const struct link *link)
{
    struct pollfd end = {.fd = link->pidfd, .events = POLLIN};
    bool lives = link->pidfd >= 0 ? poll(&end, 1, 0) == 0 : !kill((pid_t)link->pid, 0);
    return is_ours(link) && link->pid && lives;
}

/* The socket could not be connected, or broke before a welcome. */
static void not_there(struct strobe_tracy_host *host, struct link *link)
{
    uint32_t n_tried = link->n_tried;
    if (link->busy) {
        give_up(host, link, BUSY);
    } else if (host->stop_ns && is_ours(link)) {
        give_up(host, link, "the recording ended before it said who it is");
    } else if (host->stop_ns || link->origin == LINK_ANNOUNCED) {
        end_link(host, link); /* it ended, or meant somebody else */
    } else if (link->origin == LINK_ASKED) {
        wait_again(host, link, RETRY_NS);
    } else if (comes_again(link)) {
        wait_again(host, link, RETRY_NS);
        link->n_tried = n_tried;
    } else {
        give_up(host, link, "it closed the connection before it said who it is");
    }
}

/* ---- connecting ---- */

static void describe(void *arg, const struct strobe_tracy_client *client,
                     struct strobe_build_process *out)
{
    static char exe[1024], cwd[1024], argv[4096]; /* one thread calls this */
    char path[64];
    struct link *link = arg;
    uint32_t pid = (uint32_t)client->pid;
    out->pid = pid;
    if (link->pid && link->pid != pid)
        return; /* in another name space of processes: what is known here is somebody else */
    if (!link->pid && link->origin == LINK_ASKED && !strstr(link->where, "127.") &&
        !strstr(link->where, "localhost") && !strstr(link->where, "[::1]"))
        return;
    out->parent_pid = strobe_tracy_find_stat(pid, 4);
    out->start_time = strobe_tracy_find_stat(pid, 22);
    strobe_tracy_find_exe(pid, exe, sizeof exe);
    snprintf(path, sizeof path, "/proc/%u/cwd", pid);
    ssize_t n = readlink(path, cwd, sizeof cwd - 1);
    cwd[n > 0 ? n : 0] = 0;
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? 0 : read(fd, argv, sizeof argv);
    if (fd >= 0)
        close(fd);
    out->exe = exe;
    out->cwd = cwd;
    out->argv = argv;
    out->n_argv = n > 0 ? (size_t)n - (argv[n - 1] == 0) : 0;
}

static void send_output(struct strobe_tracy_host *host, struct link *link)
{
    const uint8_t *bytes = NULL;
    size_t n = 0;
    bool blocked = false;
    STROBE_ASSERT(link->session && link->watch.fd >= 0);
    while (!blocked && (n = strobe_tracy_session_output(link->session, &bytes)) > 0) {
        ssize_t sent = send(link->watch.fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0)
            strobe_tracy_session_sent(link->session, (size_t)sent);
        blocked = sent <= 0; /* what is broken is told by the next read */
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            n = 0;
        if (!n)
            break;
    }
    bool wants = blocked && n > 0;
    if (wants != link->wants_write)
        strobe_tracy_host_watch(host, &link->watch, EPOLLIN | (wants ? (uint32_t)EPOLLOUT : 0u));
    link->wants_write = wants;
}

/* Ask for a number that no session knows. */
static void greet(struct strobe_tracy_host *host, struct link *link)
{
    unsigned char hello[12] = "TracyPrf";
    memcpy(hello + 8, &link->protocol, 4);
    strobe_tracy_link_move(link, LINK_GREETING);
    if (send(link->watch.fd, hello, sizeof hello, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof hello)
        not_there(host, link);
}

static void begin_session(struct strobe_tracy_host *host, struct link *link)
{
    struct strobe_tracy_session_options options = {
        .store = host->store,
        .protocol = link->protocol,
        .tick_ns = strobe_tracy_host_tick_ns(host),
        .unix_s = (uint64_t)time(NULL),
        .answer_ns = is_ours(link) ? FOREVER_NS : ANSWER_NS,
        .no_symbols = host->options.no_symbols,
        .describe = describe,
        .arg = link,
    };
    int yes = 1;
    setsockopt(link->watch.fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    link->last_ns = strobe_tracy_host_ns();
    if (!strobe_tracy_protocol_is_known(link->protocol)) {
        greet(host, link);
        answer(&link->answer_fd, STROBE_NOTICE_TAKEN);
        return;
    }
    enum strobe_err err =
        strobe_tracy_session_open(&options, strobe_tracy_host_tick(host), &link->session);
    if (err) {
        give_up(host, link, strobe_err_text(err));
        return;
    }
    strobe_tracy_link_move(link, LINK_TALKING);
    send_output(host, link);
    answer(&link->answer_fd, STROBE_NOTICE_TAKEN); /* the greeting waits for it */
}

/* The connect that was under way is decided. */
static void connected(struct strobe_tracy_host *host, struct link *link)
{
    int err = 0;
    socklen_t n = sizeof err;
    if (getsockopt(link->watch.fd, SOL_SOCKET, SO_ERROR, &err, &n) || err) {
        not_there(host, link);
        return;
    }
    strobe_tracy_host_watch(host, &link->watch, EPOLLIN);
    begin_session(host, link);
}

static void connect_link(struct strobe_tracy_host *host, struct link *link)
{
    link->protocol = number_at(link, link->n_tried);
    if (!link->protocol) {
        give_up(host, link, "it speaks no protocol from 40 to 160");
        return;
    }
    link->watch.fd = socket(link->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (link->watch.fd < 0) {
        give_up(host, link, strerror(errno));
        return;
    }
    STROBE_ASSERT(!link->session);
    strobe_tracy_link_move(link, LINK_CONNECTING);
    link->next_ns = strobe_tracy_host_ns() + GREETING_NS;
    int failed = connect(link->watch.fd, (struct sockaddr *)&link->address, link->n_address);
    if (failed && errno != EINPROGRESS) {
        not_there(host, link);
        return;
    }
    /* On loopback it is decided here and now: the greeting goes out before this thread can be late. */
    struct pollfd decided = {.fd = link->watch.fd, .events = POLLOUT};
    if (!strobe_tracy_host_watch(host, &link->watch, EPOLLOUT))
        give_up(host, link, strerror(errno));
    else if (!failed || poll(&decided, 1, 0) > 0)
        connected(host, link);
}

/* ---- talking ---- */

static void next_number(struct strobe_tracy_host *host, struct link *link)
{
    hang_up(host, link);
    link->n_tried++;
    STROBE_ASSERT(!link->session && link->watch.fd < 0);
    connect_link(host, link);
}

/* A client said welcome for the first time. */
static void note_welcome(struct strobe_tracy_host *host, struct link *link)
{
    struct strobe_tracy_session_facts facts;
    strobe_tracy_session_facts(link->session, &facts);
    if (link->welcomed || !facts.client)
        return;
    host->status.n_clients += !link->taken;
    link->taken = link->welcomed = true;
    link->proc = facts.proc;
    link->ended = false;
    snprintf(link->program, sizeof link->program, "%s", facts.client->program);
    if (!link->pid && link->origin != LINK_ASKED)
        link->pid = (uint32_t)facts.client->pid;
    remember(host, link);
}

/* A session ended that had begun. One that takes connections on demand is taken again, unless we left it or it ended. */
static void session_over(struct strobe_tracy_host *host, struct link *link)
{
    struct strobe_tracy_session_facts facts;
    STROBE_ASSERT(link->taken && link->session);
    strobe_tracy_session_facts(link->session, &facts);
    link->said_end = facts.terminated && !link->stopping;
    bool again = facts.on_demand && !facts.terminated && !link->stopping && !host->stop_ns;
    if (again) {
        wait_again(host, link, RECONNECT_NS);
        link->hint = link->protocol;
    } else {
        end_link(host, link);
    }
}

/* Somebody else has it. One that was asked for may be free later. */
static void busy(struct strobe_tracy_host *host, struct link *link)
{
    link->busy = true;
    if (link->origin != LINK_ASKED || host->stop_ns) {
        give_up(host, link, BUSY);
        return;
    }
    link->hint = link->protocol;
    wait_again(host, link, RECONNECT_NS);
}

static void follow(struct strobe_tracy_host *host, struct link *link,
                   enum strobe_tracy_status status)
{
    char reason[200];
    switch (status) {
    case STROBE_TRACY_RUNNING:
        send_output(host, link);
        break;
    case STROBE_TRACY_MISMATCH:
        next_number(host, link);
        break;
    case STROBE_TRACY_UNAVAILABLE:
        busy(host, link);
        break;
    case STROBE_TRACY_DONE:
        send_output(host, link);
        if (link->taken)
            session_over(host, link);
        else
            not_there(host, link);
        break;
    case STROBE_TRACY_BROKEN:
        snprintf(reason, sizeof reason, "%s", strobe_tracy_session_reason(link->session));
        give_up(host, link, reason);
        break;
    }
}

/* Read what is there, up to this link's share of the round. */
static void read_link(struct strobe_tracy_host *host, struct link *link)
{
    STROBE_ASSERT(link->state == LINK_TALKING);
    size_t share = host->n_ready > MANY ? HOST_SHARE_BYTES : HOST_READ_BYTES;
    ssize_t n = recv(link->watch.fd, host->buffer, share, MSG_DONTWAIT);
    uint64_t tick = strobe_tracy_host_tick(host);
    enum strobe_tracy_status status;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        link->last_ns = strobe_tracy_host_ns();
        status = strobe_tracy_session_feed(link->session, host->buffer, (size_t)n, tick);
    } else {
        struct strobe_tracy_session_facts facts;
        strobe_tracy_session_facts(link->session, &facts);
        if (!facts.n_bytes) { /* hung up without a word: it may be about to end, or to begin */
            not_there(host, link);
            return;
        }
        status = strobe_tracy_session_eof(link->session, tick);
    }
    note_welcome(host, link);
    follow(host, link, status);
}

/* The answer to a number that no session knows. */
static void hear(struct strobe_tracy_host *host, struct link *link)
{
    unsigned char status = 0;
    char reason[128];
    ssize_t n = recv(link->watch.fd, &status, 1, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n == 1 && status == 2) {
        next_number(host, link);
        return;
    }
    snprintf(reason, sizeof reason,
             n == 1 && status == 1 ? "it speaks protocol %u, which this Strobe does not know"
                                   : "it speaks none of the protocols that are known",
             link->protocol);
    give_up(host, link, reason);
}

void strobe_tracy_link_event(struct strobe_tracy_host *host, struct link *link, uint32_t events)
{
    (void)events;
    if (link->state == LINK_CONNECTING)
        connected(host, link);
    else if (link->state == LINK_GREETING)
        hear(host, link);
    else if (link->state == LINK_TALKING) {
        if (link->wants_write)
            send_output(host, link);
        read_link(host, link);
    }
}

/* ---- time ---- */

/* A client that says no goodbye ends: its shim waits until all that it had was sent and read. */
static uint64_t let_exit(struct link *link, uint64_t now)
{
    struct strobe_tracy_session_facts facts = {0};
    uint64_t quiet = link->last_ns > link->exit_ns ? link->last_ns : link->exit_ns;
    bool coming =
        link->state != LINK_OVER && !link->welcomed; /* the right number is being looked for */
    if (coming && now < link->exit_ns + EXIT_NS)
        return link->exit_ns + EXIT_NS;
    if (link->session)
        strobe_tracy_session_facts(link->session, &facts);
    uint64_t patience =
        facts.n_unnamed ? 8 * QUIET_NS : QUIET_NS; /* for names that were asked for */
    if (link->state == LINK_TALKING && link->welcomed && now < quiet + patience)
        return quiet + QUIET_NS > now ? quiet + QUIET_NS : now + QUIET_NS / 4;
    answer(&link->exit_fd, STROBE_NOTICE_TAKEN);
    return ~0ull;
}

static uint64_t tick_session(struct strobe_tracy_host *host, struct link *link, uint64_t now)
{
    uint64_t tick = strobe_tracy_host_tick(host);
    STROBE_ASSERT(link->state == LINK_TALKING);
    uint64_t deadline = strobe_tracy_session_deadline(link->session);
    if (deadline <= tick) {
        follow(host, link, strobe_tracy_session_poll(link->session, tick));
        if (link->state != LINK_TALKING)
            return now;
        deadline = strobe_tracy_session_deadline(link->session);
    }
    double ns = deadline > tick ? (double)(deadline - tick) * strobe_tracy_host_tick_ns(host) : 1e6;
    return ns > 1e10 ? ~0ull : now + (uint64_t)ns + 1;
}

uint64_t strobe_tracy_link_tick(struct strobe_tracy_host *host, struct link *link, uint64_t now)
{
    uint64_t next = ~0ull;
    if (link->state == LINK_WAITING && now >= link->next_ns && !host->stop_ns)
        connect_link(host, link);
    if ((link->state == LINK_CONNECTING && now >= link->next_ns) ||
        (link->state == LINK_GREETING && now >= link->last_ns + GREETING_NS))
        not_there(host, link);
    if (link->state == LINK_TALKING)
        next = tick_session(host, link, now);
    else if (link->state == LINK_WAITING || link->state == LINK_CONNECTING)
        next = link->next_ns;
    if (link->exit_fd >= 0) {
        uint64_t due = let_exit(link, now);
        next = due < next ? due : next;
    }
    return next;
}

void strobe_tracy_link_stop(struct strobe_tracy_host *host, struct link *link)
{
    link->stopping = true;
    if (link->state == LINK_TALKING) {
        strobe_tracy_session_stop(link->session, strobe_tracy_host_tick(host));
        send_output(host, link);
    } else if (link->state == LINK_WAITING) {
        if (link->origin == LINK_ASKED && !link->taken)
            give_up(host, link, link->busy ? BUSY : "nobody was there");
        else
            end_link(host, link);
    }
}
