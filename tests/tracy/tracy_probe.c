/* tracy_probe.c - a recorder in small, for tests: takes Tracy clients on loopback ports into a trace.
 *
 * usage: tracy_probe OUT.strobe [options] PORT...
 *   --clock auto|same|own   as enum strobe_tracy_clock
 *   --protocol N            the only one to try (default: all, the likeliest first)
 *   --mhz F                 ticks of the trace's clock, made of CLOCK_MONOTONIC (default 2300)
 *   --past                  tell times far ahead of any client's (for recordings with --clock same)
 *   --stop-after MS         end the session from our side
 *   --no-symbols            don't ask for symbols
 *   --chunk N               read at most N bytes at a time
 * Prints one line per client: "client PROTOCOL STATUS zones Z events E aside A unnamed U own O". */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tracy/session.h"

enum { CLIENTS_MAX = 64 };

static double tick_ns = 1000.0 / 2300;
static uint64_t base;
static enum strobe_tracy_clock clock_kind;
static uint32_t only_protocol, stop_after_ms;
static size_t chunk = 1 << 18;
static bool no_symbols;

struct client {
    int port, fd;
    uint32_t attempt;
    struct strobe_tracy_session *session;
    bool over;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static uint64_t now_tick(void)
{
    return base + (uint64_t)((double)now_ns() / tick_ns);
}

static int dial(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < 1000; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (!connect(fd, (struct sockaddr *)&to, sizeof to))
            return fd;
        close(fd);
        usleep(10000);
    }
    return -1;
}

static bool start(struct client *client, struct strobe_build_store *store)
{
    uint32_t protocol = only_protocol ? (client->attempt ? 0 : only_protocol)
                                      : strobe_tracy_protocol_at(client->attempt);
    struct strobe_tracy_session_options options = {.store = store,
                                                   .protocol = protocol,
                                                   .tick_ns = tick_ns,
                                                   .unix_s = (uint64_t)time(NULL),
                                                   .clock = clock_kind,
                                                   .no_symbols = no_symbols};
    client->attempt++;
    client->fd = protocol ? dial(client->port) : -1;
    return client->fd >= 0 && !strobe_tracy_session_open(&options, now_tick(), &client->session);
}

static bool send_output(struct client *client)
{
    const uint8_t *bytes;
    size_t n;
    while ((n = strobe_tracy_session_output(client->session, &bytes)) > 0) {
        ssize_t sent = send(client->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0)
            return errno == EAGAIN;
        strobe_tracy_session_sent(client->session, (size_t)sent);
    }
    return true;
}

static void report(const struct client *client, enum strobe_tracy_status status)
{
    static const char *const words[] = {"running", "mismatch", "unavailable", "done", "broken"};
    struct strobe_tracy_session_facts facts;
    strobe_tracy_session_facts(client->session, &facts);
    printf("client %u %s zones %llu events %llu aside %llu unnamed %llu own %d%s%s\n",
           facts.protocol, words[status], (unsigned long long)facts.n_zones,
           (unsigned long long)facts.n_events, (unsigned long long)facts.n_set_aside,
           (unsigned long long)facts.n_unnamed, facts.own_clock,
           *strobe_tracy_session_reason(client->session) ? ": " : "",
           strobe_tracy_session_reason(client->session));
}

static void finish(struct client *client, struct strobe_build_store *store,
                   enum strobe_tracy_status status)
{
    bool retry = status == STROBE_TRACY_MISMATCH;
    if (status == STROBE_TRACY_DONE)
        send_output(client);
    if (!retry)
        report(client, status);
    strobe_tracy_session_close(client->session);
    close(client->fd);
    client->session = NULL;
    client->over = !retry || !start(client, store);
    if (retry && client->over)
        printf("client none mismatch\n");
}

static enum strobe_tracy_status take(struct client *client, uint8_t *buffer)
{
    ssize_t n = recv(client->fd, buffer, chunk, MSG_DONTWAIT);
    if (n > 0)
        return strobe_tracy_session_feed(client->session, buffer, (size_t)n, now_tick());
    if (n < 0 && errno == EAGAIN)
        return strobe_tracy_session_poll(client->session, now_tick());
    return strobe_tracy_session_eof(client->session, now_tick());
}

static void run(struct client *clients, uint32_t n, struct strobe_build_store *store)
{
    static uint8_t buffer[1 << 18];
    uint64_t began = now_ns(), flushed = began;
    for (uint32_t n_left = n; n_left;) {
        struct pollfd fds[CLIENTS_MAX];
        n_left = 0;
        for (uint32_t i = 0; i < n; i++)
            fds[i] = (struct pollfd){clients[i].over ? -1 : clients[i].fd, POLLIN, 0};
        poll(fds, n, 10);
        for (uint32_t i = 0; i < n; i++) {
            if (clients[i].over)
                continue;
            enum strobe_tracy_status status = take(&clients[i], buffer);
            if (stop_after_ms && now_ns() - began > stop_after_ms * 1000000ull)
                strobe_tracy_session_stop(clients[i].session, now_tick());
            if (status == STROBE_TRACY_RUNNING && !send_output(&clients[i]))
                status = strobe_tracy_session_eof(clients[i].session, now_tick());
            if (status != STROBE_TRACY_RUNNING)
                finish(&clients[i], store, status);
            n_left += !clients[i].over;
        }
        if (now_ns() - flushed > 1000000000ull) {
            strobe_build_store_flush(store);
            flushed = now_ns();
        }
    }
}

static void put_sync(struct strobe_file_writer *writer)
{
    struct strobe_records records = {0};
    uint64_t ns = now_ns(), tick = base + (uint64_t)((double)ns / tick_ns);
    strobe_records_numbers(&records, STROBE_FACT_CLOCK_SYNC, (uint64_t[]){1, tick, ns, 0, 0, 0}, 6);
    strobe_records_numbers(&records, STROBE_FACT_RECORDING, (uint64_t[]){tick, 0}, 2);
    strobe_file_put_records(writer, &records);
    strobe_records_free(&records);
}

static int option(int argc, char **argv, int i)
{
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--past"))
        return base = 1ull << 62, 1;
    if (!strcmp(argv[i], "--no-symbols"))
        return no_symbols = true, 1;
    if (!strcmp(argv[i], "--clock"))
        clock_kind = !strcmp(value, "same")  ? STROBE_TRACY_CLOCK_SAME
                     : !strcmp(value, "own") ? STROBE_TRACY_CLOCK_OWN
                                             : STROBE_TRACY_CLOCK_AUTO;
    else if (!strcmp(argv[i], "--protocol"))
        only_protocol = (uint32_t)atoi(value);
    else if (!strcmp(argv[i], "--mhz"))
        tick_ns = 1000.0 / atof(value);
    else if (!strcmp(argv[i], "--stop-after"))
        stop_after_ms = (uint32_t)atoi(value);
    else if (!strcmp(argv[i], "--chunk"))
        chunk = (size_t)atoi(value) < chunk ? (size_t)atoi(value) : chunk;
    else
        return 0;
    return 2;
}

int main(int argc, char **argv)
{
    struct client clients[CLIENTS_MAX] = {0};
    struct strobe_file_writer *writer;
    struct strobe_build_store *store;
    uint32_t n = 0;
    int step;
    if (argc < 3 || strobe_file_create(argv[1], "", 1000000000, &writer))
        return 2;
    for (int i = 2; i < argc && n < CLIENTS_MAX; i += step) {
        step = option(argc, argv, i);
        if (!step) {
            clients[n++].port = atoi(argv[i]);
            step = 1;
        }
    }
    put_sync(writer);
    struct strobe_build_store_options options = {.writer = writer};
    if (strobe_build_store_open(&options, &store))
        return 2;
    for (uint32_t i = 0; i < n; i++)
        clients[i].over = !start(&clients[i], store);
    run(clients, n, store);
    strobe_build_store_close(store);
    put_sync(writer);
    return strobe_file_finish(writer) ? 1 : 0;
}
