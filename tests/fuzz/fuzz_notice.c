/* fuzz_notice.c - the side of the host that listens (tracy/host_parts.h): notices of shims, announcements by UDP, and the first words of
 * clients that were found so. An input is a row of steps; what comes through sockets comes from it, what goes out is dropped, nothing is
 * connected to (the linker leads these calls through here), and the clock stands still but for the steps.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "seeds.h"
#include "tape.h"
#include "tracy/host_parts.h"
#include "wire/tracy_notice.h"

enum { STEPS_MAX = 200, BUDGET = 2 << 20 };

static struct tape tape;
static uint64_t now_ns;
static struct strobe_file_writer *writer;
static struct strobe_build_store *store;
static unsigned n_runs;

/* ---- led through here by the linker ---- */

ssize_t __wrap_recv(int fd, void *out, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *out, size_t n, int flags)
{
    (void)fd, (void)flags;
    uint8_t size = tape_byte(&tape);
    size_t got = size == 255 ? sizeof(struct strobe_notice) : size;
    if (size == 254) {
        errno = EAGAIN;
        return -1;
    }
    got = got < n ? got : n;
    const uint8_t *bytes = tape_take(&tape, &got);
    memcpy(out, bytes, got);
    return (ssize_t)got;
}

ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags)
{
    static volatile uint8_t sum;
    (void)fd, (void)flags;
    for (size_t i = 0; i < n; i++)
        sum += ((const uint8_t *)bytes)[i];
    errno = EAGAIN;
    return tape_byte(&tape) % 8 == 7 ? -1 : (ssize_t)n;
}

ssize_t __wrap_recvfrom(int fd, void *out, size_t n, int flags, struct sockaddr *from,
                        socklen_t *n_from);
ssize_t __wrap_recvfrom(int fd, void *out, size_t n, int flags, struct sockaddr *from,
                        socklen_t *n_from)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    (void)fd, (void)flags;
    size_t got = tape_byte(&tape);
    if (!got || !tape_left(&tape))
        return -1;
    if (got & 1)
        at.sin_addr.s_addr = (uint32_t)tape_number(&tape, 4);
    got = got < n ? got : n;
    const uint8_t *bytes = tape_take(&tape, &got);
    memcpy(out, bytes, got);
    memcpy(from, &at, sizeof at);
    *n_from = sizeof at;
    return (ssize_t)got;
}

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t n);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t n)
{
    static const int errors[] = {0, EINPROGRESS, ECONNREFUSED, EADDRNOTAVAIL};
    (void)fd, (void)to, (void)n;
    errno = errors[tape_byte(&tape) % 4];
    return errno ? -1 : 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *out, socklen_t *n);
int __wrap_getsockopt(int fd, int level, int name, void *out, socklen_t *n)
{
    (void)fd, (void)level, (void)name;
    if (*n == sizeof(int))
        *(int *)out = tape_byte(&tape) % 4 == 3 ? ECONNREFUSED : 0;
    return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    (void)clock;
    now_ns += 1000;
    *out = (struct timespec){(time_t)(now_ns / 1000000000), (long)(now_ns % 1000000000)};
    return 0;
}

/* ---- the host, without its thread ---- */

static uint64_t tick_now(void *arg)
{
    (void)arg;
    return now_ns;
}

/* A file in memory, begun anew now and then. */
static void open_store(void)
{
    static char path[64];
    if (!*path)
        snprintf(path, sizeof path, "/proc/self/fd/%d", memfd_create("fuzz_notice", 0));
    if (store && n_runs++ % 512)
        return;
    if (store) {
        strobe_build_store_close(store);
        strobe_file_finish(writer);
    }
    if (strobe_file_create(path, "", 1, &writer))
        abort();
    struct strobe_build_store_options options = {
        .writer = writer, .budget_bytes = BUDGET, .max_file_bytes = 1 << 20};
    if (strobe_build_store_open(&options, &store))
        abort();
}

static void open_host(struct strobe_tracy_host *host)
{
    static uint8_t buffer[HOST_READ_BYTES];
    static struct caller *callers[HOST_CALLERS_MAX];
    host->options.now = tick_now;
    host->options.writer = writer;
    host->options.announced = tape_byte(&tape) % 3;
    host->store = store;
    host->wake = (struct watch){WATCH_WAKE, -1};
    host->shims = (struct watch){WATCH_SHIMS, -1};
    host->announced = (struct watch){WATCH_ANNOUNCED, -1};
    host->epoll = epoll_create1(EPOLL_CLOEXEC);
    host->buffer = buffer;
    host->callers = callers;
    host->first_ns = host->first_tick = now_ns;
    strobe_records_reset(&host->records);
}

static void close_host(struct strobe_tracy_host *host)
{
    strobe_tracy_notices_last(host);
    for (uint32_t i = 0; i < host->n_links; i++)
        strobe_tracy_link_free(host, host->links[i]);
    strobe_tracy_notices_close(host);
    close(host->epoll);
    free(host->links);
    strobe_records_free(&host->records);
}

static void call(struct strobe_tracy_host *host)
{
    static const uint32_t pids[] = {0, 1, 0xffffffff, 0x7fffffff};
    struct caller *caller = host->n_callers < 64 ? calloc(1, sizeof *caller) : NULL;
    uint8_t which = tape_byte(&tape);
    if (!caller)
        return;
    caller->watch = (struct watch){WATCH_CALLER, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    caller->pid = which % 8 < 4 ? pids[which % 4] : (uint32_t)getpid();
    host->callers[host->n_callers++] = caller;
    strobe_tracy_host_watch(host, &caller->watch, EPOLLIN);
    strobe_tracy_notices_read(host, caller);
}

static void step(struct strobe_tracy_host *host)
{
    uint8_t what = tape_byte(&tape), which = tape_byte(&tape);
    struct link *link = host->n_links ? host->links[which % host->n_links] : NULL;
    struct caller *caller = host->n_callers ? host->callers[which % host->n_callers] : NULL;
    switch (what % 8) {
    case 0:
    case 1:
        if (host->n_links < 64)
            call(host);
        break;
    case 2:
        if (host->n_links < 64)
            strobe_tracy_announce_read(host);
        break;
    case 3:
        if (caller && caller->watch.fd >= 0)
            strobe_tracy_notices_read(host, caller);
        break;
    case 4:
        if (link && link->watch.fd >= 0)
            strobe_tracy_link_event(host, link, EPOLLIN);
        break;
    case 5:
        now_ns += 1ull << which % 36;
        for (uint32_t i = 0; i < host->n_links; i++)
            strobe_tracy_link_tick(host, host->links[i], now_ns);
        break;
    case 6:
        strobe_tracy_notices_sweep(host);
        break;
    default:
        if (which == 255 && !host->stop_ns) {
            host->stop_ns = now_ns;
            for (uint32_t i = 0; i < host->n_links; i++)
                strobe_tracy_link_stop(host, host->links[i]);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct strobe_tracy_host host;
    tape = (struct tape){data, data + n};
    now_ns = 1ull << 40;
    open_store();
    memset(&host, 0, sizeof host);
    open_host(&host);
    for (int i = 0; i < STEPS_MAX && tape_left(&tape); i++)
        step(&host);
    close_host(&host);
    return 0;
}
