/* view_clients.c - Tracy clients that announce themselves, for the viewer's start page.  SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "cli/view.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tracy/announced.h"

enum { CLIENTS_MAX = 64, SILENCE_S = 8 /* they announce themselves every 3 s */ };

struct client {
    char where[64]; /* HOST:PORT */
    char name[STROBE_TRACY_NAME_BYTES + 1];
    uint64_t pid;
    uint32_t protocol;
    time_t heard;
};

struct strobe_view_clients {
    int fd; /* owned; -1: none */
    struct client rows[CLIENTS_MAX];
    uint32_t n;
};

static time_t now_s(void)
{
    return (time_t)(strobe_clock_mono_ns() / 1000000000u);
}

struct strobe_view_clients *strobe_view_clients_open(void)
{
    struct strobe_view_clients *clients = calloc(1, sizeof *clients);
    const char *port =
        getenv("STROBE_TRACY_ANNOUNCE_PORT"); /* of tests, which must not hear others */
    if (clients)
        clients->fd =
            strobe_tracy_announced_socket(port ? (uint16_t)strtoul(port, NULL, 10) : 0, false);
    return clients;
}

void strobe_view_clients_close(struct strobe_view_clients *clients)
{
    if (clients && clients->fd >= 0)
        close(clients->fd);
    free(clients);
}

/* A recorder that shows its trace to Tracy's viewer announces itself as a client does. */
static bool is_ours(uint64_t pid)
{
    char path[64], mine[512], exe[512];
    snprintf(path, sizeof path, "/proc/%llu/exe", (unsigned long long)pid);
    ssize_t n_exe = pid ? readlink(path, exe, sizeof exe) : -1;
    ssize_t n_mine = readlink("/proc/self/exe", mine, sizeof mine);
    return n_exe > 0 && n_exe == n_mine && !memcmp(exe, mine, (size_t)n_exe);
}

static void forget(struct strobe_view_clients *clients, uint32_t i)
{
    clients->rows[i] = clients->rows[--clients->n];
}

static bool hear(struct strobe_view_clients *clients, const struct strobe_tracy_announcement *said,
                 const struct sockaddr_in *from)
{
    struct client client = {.pid = said->pid, .protocol = said->protocol, .heard = now_s()};
    char host[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &from->sin_addr, host, sizeof host);
    snprintf(client.where, sizeof client.where, "%s:%u", host, said->port);
    snprintf(client.name, sizeof client.name, "%s", said->name);
    uint32_t i = 0;
    while (i < clients->n && strcmp(clients->rows[i].where, client.where))
        i++;
    bool is_known = i < clients->n;
    if (said->waited < 0) {
        if (is_known)
            forget(clients, i);
        return is_known;
    }
    if (i == CLIENTS_MAX || is_ours(said->pid))
        return false;
    bool is_same = is_known && clients->rows[i].pid == client.pid &&
                   !strcmp(clients->rows[i].name, client.name);
    clients->rows[i] = client;
    clients->n += !is_known;
    return !is_same;
}

bool strobe_view_clients_look(struct strobe_view_clients *clients)
{
    struct strobe_tracy_announcement said;
    struct sockaddr_in from;
    bool has_changed = false;
    for (int i = 0; i < 256 && strobe_tracy_announced_next(clients->fd, &said, &from); i++)
        has_changed |= hear(clients, &said, &from);
    for (uint32_t i = clients->n; i-- > 0;)
        if (now_s() - clients->rows[i].heard > SILENCE_S) {
            forget(clients, i);
            has_changed = true;
        }
    return has_changed;
}

void strobe_view_put_clients(const struct strobe_view_clients *clients, struct strobe_reply *reply)
{
    strobe_reply_open(reply, "clients", '[');
    for (uint32_t i = 0; i < clients->n; i++) {
        strobe_reply_open(reply, "", '{');
        strobe_reply_string(reply, "where", clients->rows[i].where);
        strobe_reply_string(reply, "program", clients->rows[i].name);
        strobe_reply_u64(reply, "pid", clients->rows[i].pid);
        strobe_reply_u64(reply, "protocol", clients->rows[i].protocol);
        strobe_reply_close(reply, '}');
    }
    strobe_reply_close(reply, ']');
}
