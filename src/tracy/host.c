/* host.c - the thread that talks to Tracy's clients: one epoll set over all of them.
 *
 * Rounds: wait for sockets or for the next deadline, let every ready one take its turn, let time do its work. While many
 * are ready each gets a small share, so that none stays unread for long. The lock is held in a round and
 * given up in between, so that the recorder's thread can flush, change files and stop.
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "tracy/host_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STOP_NS      3000000000ull
#define ROUND_NS     250000000ull /* the longest wait: blocks grow old */
#define BLOCK_AGE_NS 200000000ull /* then a block is written, full or not */

/* ---- time ---- */

uint64_t strobe_tracy_host_ns(void)
{
    return strobe_clock_mono_ns();
}

uint64_t strobe_tracy_host_tick(const struct strobe_tracy_host *host)
{
    return host->options.now(host->options.arg);
}

/* Measured since the host was opened; the first client comes some milliseconds later. */
double strobe_tracy_host_tick_ns(const struct strobe_tracy_host *host)
{
    uint64_t ns = strobe_tracy_host_ns() - host->first_ns;
    uint64_t ticks = strobe_tracy_host_tick(host) - host->first_tick;
    return ticks ? (double)ns / (double)ticks : 1.0;
}

/* ---- the lock ---- */

/* For the recorder's thread. The host's own would take the lock again at once: it lets those go first who wait. */
static void lock_host(struct strobe_tracy_host *host)
{
    __atomic_fetch_add(&host->n_at_lock, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&host->lock);
    __atomic_fetch_sub(&host->n_at_lock, 1, __ATOMIC_RELAXED);
}

static void lock_again(struct strobe_tracy_host *host)
{
    struct timespec moment = {0, 20000};
    while (__atomic_load_n(&host->n_at_lock, __ATOMIC_RELAXED))
        nanosleep(&moment, NULL);
    pthread_mutex_lock(&host->lock);
}

/* ---- the epoll set ---- */

bool strobe_tracy_host_watch(struct strobe_tracy_host *host, struct watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    return !epoll_ctl(host->epoll, EPOLL_CTL_ADD, watch->fd, &event) ||
           (errno == EEXIST && !epoll_ctl(host->epoll, EPOLL_CTL_MOD, watch->fd, &event));
}

void strobe_tracy_host_unwatch(struct strobe_tracy_host *host, struct watch *watch)
{
    if (watch->fd < 0)
        return;
    epoll_ctl(host->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    close(watch->fd);
    watch->fd = -1;
}

static void wake(struct strobe_tracy_host *host)
{
    uint64_t one = 1;
    if (write(host->wake.fd, &one, sizeof one) < 0)
        return; /* it is awake already */
}

/* ---- the host's own records ---- */

static void put_records(struct strobe_tracy_host *host)
{
    struct strobe_file_writer *to =
        host->options.records_writer ? host->options.records_writer : host->options.writer;
    if (!host->records.n_records || !strobe_file_put_records(to, &host->records))
        return;
    if (host->records.failed || host->records.n_bytes > 1 << 20)
        strobe_records_reset(&host->records); /* the disk is full: notes are the first to go */
}

static bool was_told(struct strobe_tracy_host *host, uint32_t pid)
{
    enum { RING = sizeof host->told / sizeof host->told[0] };
    for (uint32_t i = 0; pid && i < RING; i++)
        if (host->told[i] == pid)
            return true;
    if (pid)
        host->told[host->n_told++ % RING] = pid;
    return false;
}

void strobe_tracy_host_unrecorded(struct strobe_tracy_host *host, uint32_t pid, const char *what,
                                  const char *format, ...)
{
    enum { UNRECORDED_MAX = 10000 };
    char reason[512];
    va_list words;
    if (was_told(host, pid) || host->status.n_unrecorded++ >= UNRECORDED_MAX)
        return;
    va_start(words, format);
    vsnprintf(reason, sizeof reason, format, words);
    va_end(words);
    strobe_records_begin(&host->records, STROBE_FACT_UNRECORDED);
    strobe_records_u(&host->records, pid);
    strobe_records_u(&host->records, strobe_tracy_host_tick(host));
    strobe_records_s(&host->records, what, strlen(what));
    strobe_records_s(&host->records, reason, strlen(reason));
    strobe_records_end(&host->records);
}

/* `status` as wait tells it; NULL: how it ended is not known. */
static void put_end(struct strobe_tracy_host *host, struct link *link, const int *status)
{
    uint64_t numbers[] = {link->proc, link->end_tick, 0, 0};
    if (!link->taken || link->ended)
        return;
    if (status) {
        numbers[2] = WIFSIGNALED(*status) ? 2 : 1;
        numbers[3] = (uint64_t)(WIFSIGNALED(*status) ? WTERMSIG(*status) : WEXITSTATUS(*status));
    }
    strobe_records_numbers(&host->records, STROBE_FACT_PROCESS_END, numbers, 4);
    link->ended = true;
}

/* ---- links ---- */

/* We left it, and it goes on. */
static bool lives_on(const struct link *link)
{
    struct pollfd end = {.fd = link->pidfd, .events = POLLIN};
    return link->pidfd >= 0 ? poll(&end, 1, 0) == 0 : !link->said_end;
}

/* Those that are over go, once it is known how their process ended, or when nobody will tell any more. */
static void sweep(struct strobe_tracy_host *host, uint64_t now)
{
    uint32_t kept = 0;
    host->status.n_live = host->status.n_waiting = 0;
    for (uint32_t i = 0; i < host->n_links; i++) {
        struct link *link = host->links[i];
        bool over = link->state == LINK_OVER;
        int status = 0;
        if (over && strobe_tracy_find_end(link->pid, link->pidfd, &status))
            put_end(host, link, &status);
        if (over && (!link->taken || link->ended || host->stopped || now >= link->next_ns)) {
            if (link->end_tick && !lives_on(link))
                put_end(host, link, NULL);
            strobe_tracy_link_free(host, link);
            continue;
        }
        host->status.n_live += link->state == LINK_TALKING && link->taken;
        host->status.n_waiting += !over && !link->taken;
        host->links[kept++] = link;
    }
    host->n_links = kept;
}

static void show_status(struct strobe_tracy_host *host)
{
    __atomic_store_n(&host->shown.n_live, host->status.n_live, __ATOMIC_RELAXED);
    __atomic_store_n(&host->shown.n_waiting, host->status.n_waiting, __ATOMIC_RELAXED);
    __atomic_store_n(&host->shown.n_clients, host->status.n_clients, __ATOMIC_RELAXED);
    __atomic_store_n(&host->shown.n_unrecorded, host->status.n_unrecorded, __ATOMIC_RELAXED);
}

static uint64_t tick_links(struct strobe_tracy_host *host, uint64_t now)
{
    uint64_t next = now + (host->n_links ? ROUND_NS : 4 * ROUND_NS);
    for (uint32_t i = 0; i < host->n_links; i++) {
        uint64_t due = strobe_tracy_link_tick(host, host->links[i], now);
        next = due < next ? due : next;
    }
    return next;
}

/* ---- rounds ---- */

static void drain_wake(struct strobe_tracy_host *host)
{
    uint64_t n;
    if (read(host->wake.fd, &n, sizeof n) < 0)
        return;
}

static void dispatch(struct strobe_tracy_host *host, const struct epoll_event *event)
{
    struct watch *watch = event->data.ptr;
    if (watch->fd < 0)
        return; /* closed by one before it in this round */
    switch (watch->kind) {
    case WATCH_WAKE:
        drain_wake(host);
        break;
    case WATCH_SHIMS:
        strobe_tracy_notices_accept(host);
        break;
    case WATCH_CALLER:
        strobe_tracy_notices_read(host, (struct caller *)watch);
        break;
    case WATCH_ANNOUNCED:
        strobe_tracy_announce_read(host);
        break;
    case WATCH_LINK:
        strobe_tracy_link_event(host, (struct link *)watch, event->events);
        break;
    }
}

/* Begin to stop: who has just come is heard, then all take leave. Processes that ended are read to their end. */
static void begin_stop(struct strobe_tracy_host *host, uint64_t now)
{
    host->stop_ns = now;
    strobe_tracy_notices_accept(host);
    for (uint32_t i = 0; i < host->n_links; i++)
        strobe_tracy_link_stop(host, host->links[i]);
}

static bool is_over(const struct strobe_tracy_host *host, uint64_t now)
{
    if (!host->stop_ns)
        return false;
    for (uint32_t i = 0; i < host->n_links; i++)
        if (host->links[i]->state != LINK_OVER && now - host->stop_ns < STOP_NS)
            return false;
    return true;
}

/* One round, from what epoll found. When the next one is due. */
static uint64_t take_round(struct strobe_tracy_host *host, const struct epoll_event *events, int n)
{
    host->n_ready = (uint32_t)(n > 0 ? n : 0);
    for (int i = 0; i < n; i++)
        dispatch(host, &events[i]);
    uint64_t now = strobe_tracy_host_ns();
    if (host->stop && !host->stop_ns)
        begin_stop(host, now);
    uint64_t next = tick_links(host, now);
    if (host->options.search_children && !host->stop_ns && now >= host->next_search_ns)
        strobe_tracy_search(host, now);
    if (host->options.search_children && host->next_search_ns < next)
        next = host->next_search_ns;
    sweep(host, now);
    strobe_tracy_notices_sweep(host);
    show_status(host);
    if (now >= host->next_block_ns) {
        strobe_build_store_flush(host->store);
        host->next_block_ns = now + BLOCK_AGE_NS;
    }
    put_records(host);
    return next;
}

static void *run(void *context)
{
    enum { EVENTS = 64 };
    struct strobe_tracy_host *host = context;
    struct epoll_event events[EVENTS];
    uint64_t next = 0;
    pthread_mutex_lock(&host->lock);
    while (!is_over(host, strobe_tracy_host_ns())) {
        uint64_t now = strobe_tracy_host_ns();
        int wait_ms = next <= now ? 0 : (int)((next - now + 999999) / 1000000);
        pthread_mutex_unlock(&host->lock);
        int n = epoll_wait(host->epoll, events, EVENTS, wait_ms);
        lock_again(host);
        next = take_round(host, events, n);
    }
    pthread_mutex_unlock(&host->lock);
    return NULL;
}

/* ---- open ---- */

static bool start_thread(struct strobe_tracy_host *host)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    host->thread_runs = !pthread_create(&host->thread, NULL, run, host);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return host->thread_runs;
}

static enum strobe_err open_store(struct strobe_tracy_host *host)
{
    const struct strobe_tracy_host_options *options = &host->options;
    struct strobe_build_store_options store = {
        .writer = options->writer,
        .records_writer = options->records_writer,
        .new_proc = options->new_proc,
        .lose = options->lose,
        .arg = options->arg,
        .max_file_bytes = options->max_file_bytes,
    };
    return strobe_build_store_open(&store, &host->store);
}

static enum strobe_err open_sockets(struct strobe_tracy_host *host)
{
    host->epoll = epoll_create1(EPOLL_CLOEXEC);
    host->wake.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (host->epoll < 0 || host->wake.fd < 0 ||
        !strobe_tracy_host_watch(host, &host->wake, EPOLLIN))
        return strobe_err_from_errno(errno);
    if (host->options.announced != STROBE_TRACY_ANNOUNCED_NONE)
        strobe_tracy_announce_open(host);
    if (!host->options.session_dir)
        return STROBE_OK;
    return strobe_tracy_notices_open(host, host->options.session_dir);
}

enum strobe_err strobe_tracy_host_open(const struct strobe_tracy_host_options *options,
                                       struct strobe_tracy_host **out)
{
    struct strobe_tracy_host *host = calloc(1, sizeof *host);
    if (!host)
        return STROBE_ERR_NOMEM;
    host->options = *options;
    host->wake = (struct watch){WATCH_WAKE, -1};
    host->shims = (struct watch){WATCH_SHIMS, -1};
    host->announced = (struct watch){WATCH_ANNOUNCED, -1};
    host->epoll = -1;
    pthread_mutex_init(&host->lock, NULL);
    strobe_records_reset(&host->records);
    host->first_ns = strobe_tracy_host_ns();
    host->first_tick = strobe_tracy_host_tick(host);
    host->buffer = malloc(HOST_READ_BYTES);
    host->callers = calloc(HOST_CALLERS_MAX, sizeof *host->callers);
    enum strobe_err err = !host->buffer || !host->callers ? STROBE_ERR_NOMEM : open_store(host);
    if (!err)
        err = open_sockets(host);
    if (!err && !start_thread(host))
        err = STROBE_ERR_THREADS;
    host->options.session_dir = NULL;
    if (err) {
        strobe_tracy_host_close(host);
        return err;
    }
    *out = host;
    return STROBE_OK;
}

/* ---- from the recorder's thread ---- */

const char *strobe_tracy_host_socket(const struct strobe_tracy_host *host)
{
    return host->socket_path;
}

/* "host:port", "[v6]:port": cut in two. */
static bool cut_address(const char *where, char *name, size_t cap, const char **port)
{
    const char *colon = strrchr(where, ':');
    if (!colon || colon == where || !colon[1])
        return false;
    size_t n = (size_t)(colon - where);
    if (where[0] == '[' && where[n - 1] == ']')
        where++, n -= 2;
    if (!n || n >= cap)
        return false;
    memcpy(name, where, n);
    name[n] = 0;
    *port = colon + 1;
    long number = strtol(*port, NULL, 10);
    return strspn(*port, "0123456789") == strlen(*port) && number > 0 && number < 65536;
}

enum strobe_err strobe_tracy_host_ask(struct strobe_tracy_host *host, const char *where)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    char name[256];
    const char *port = NULL;
    if (!cut_address(where, name, sizeof name, &port))
        return STROBE_ERR_INVALID;
    if (getaddrinfo(name, port, &hints, &found) || !found)
        return STROBE_ERR_NOTFOUND;
    struct addrinfo *best = found; /* Tracy may listen on IPv4 only: that address first */
    for (struct addrinfo *at = found; at; at = at->ai_next)
        if (at->ai_family == AF_INET) {
            best = at;
            break;
        }
    lock_host(host);
    struct link *link = strobe_tracy_link_new(host, LINK_ASKED, best->ai_addr, best->ai_addrlen, 0);
    if (link)
        snprintf(link->where, sizeof link->where, "%s", where);
    host->status.n_waiting += link != NULL;
    show_status(host);
    pthread_mutex_unlock(&host->lock);
    freeaddrinfo(found);
    wake(host);
    return link ? STROBE_OK : STROBE_ERR_NOMEM;
}

void strobe_tracy_host_exit_status(struct strobe_tracy_host *host, uint32_t pid, int status)
{
    if (!WIFSIGNALED(status) && !WIFEXITED(status))
        return;
    lock_host(host);
    for (uint32_t i = 0; i < host->n_links; i++) {
        struct link *link = host->links[i];
        if (link->pid != pid || !link->taken || link->ended)
            continue;
        if (!link->end_tick)
            link->end_tick = strobe_tracy_host_tick(host);
        put_end(host, link, &status);
    }
    pthread_mutex_unlock(&host->lock);
}

struct strobe_tracy_host_status strobe_tracy_host_status(struct strobe_tracy_host *host)
{
    struct strobe_tracy_host_status status = {
        .n_live = __atomic_load_n(&host->shown.n_live, __ATOMIC_RELAXED),
        .n_waiting = __atomic_load_n(&host->shown.n_waiting, __ATOMIC_RELAXED),
        .n_clients = __atomic_load_n(&host->shown.n_clients, __ATOMIC_RELAXED),
        .n_unrecorded = __atomic_load_n(&host->shown.n_unrecorded, __ATOMIC_RELAXED),
    };
    return status;
}

void strobe_tracy_host_pause(struct strobe_tracy_host *host)
{
    lock_host(host);
    strobe_build_store_flush(host->store);
    put_records(host);
}

void strobe_tracy_host_go_on(struct strobe_tracy_host *host, struct strobe_file_writer *writer)
{
    strobe_build_store_set_writer(host->store, writer);
    host->options.writer = writer;
    pthread_mutex_unlock(&host->lock);
}

void strobe_tracy_host_flush(struct strobe_tracy_host *host)
{
    strobe_tracy_host_pause(host);
    pthread_mutex_unlock(&host->lock);
}

/* ---- the end ---- */

void strobe_tracy_host_stop(struct strobe_tracy_host *host)
{
    if (!host->thread_runs)
        return;
    lock_host(host);
    host->stop = true;
    pthread_mutex_unlock(&host->lock);
    wake(host);
    pthread_join(host->thread, NULL);
    host->thread_runs = false;
    strobe_tracy_notices_last(host);
    strobe_tracy_notices_close(host); /* from now on shims know that nobody is there */
    host->stopped = true;
}

static void write_rest(struct strobe_tracy_host *host)
{
    for (uint32_t i = 0; i < host->n_links; i++)
        if (host->links[i]->state != LINK_OVER)
            strobe_tracy_link_move(host->links[i], LINK_OVER);
    host->stopped = true;
    sweep(host, strobe_tracy_host_ns());
    if (host->store)
        strobe_build_store_flush(host->store);
    put_records(host);
}

void strobe_tracy_host_close(struct strobe_tracy_host *host)
{
    if (!host)
        return;
    strobe_tracy_host_stop(host);
    write_rest(host);
    strobe_tracy_notices_close(host);
    strobe_tracy_find_close(host);
    strobe_tracy_host_unwatch(host, &host->announced);
    strobe_tracy_host_unwatch(host, &host->wake);
    if (host->epoll >= 0)
        close(host->epoll);
    strobe_build_store_close(host->store);
    strobe_records_free(&host->records);
    free(host->links);
    free(host->callers);
    free(host->buffer);
    pthread_mutex_destroy(&host->lock);
    free(host);
}
