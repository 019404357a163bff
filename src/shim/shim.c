/* shim.c - preloaded into the programs under `strobe record`: gives each Tracy client in them a loopback port of
 * its own and tells the recorder of it.
 *
 * Tracy's client listens on a fixed port, or on the first free one of twenty; two programs with one fixed port can't
 * both be recorded, and neither can a program that ends before anybody connected. So here
 *   bind    of Tracy's own thread goes to 127.0.0.1, port 0
 *   listen  tells the recorder (wire/tracy_notice.h) and returns when the recorder has connected, so that
 *           the connection waits before the client looks for it
 *   getenv  says TRACY_NO_EXIT=1 while the recorder lives and the user said nothing, so that a short
 *           program stays until it was taken; it is the only way to ask for that at run time
 *   poll    of that thread notices a recorder that died before it was done, or that gave the client up:
 *           then it is the shim that connects and hangs up, which lets the client go
 * and at the end of a client that says no goodbye, the shim waits (bounded) until the recorder has read it.
 *
 * Never touches a socket that is not Tracy's: the calling thread is named as Tracy names its own, and the calling object
 * has Tracy's greeting in it. Never allocates, prints, exits or changes errno. Needs no library but the C
 * library that is there, of any version: nothing is linked, what is used is looked up by name.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "wire/tracy_notice.h"

#define EXPORTED __attribute__((visibility("default")))

enum {
    CONNECT_WAIT_MS = 1000, /* for the recorder to take a client that has begun to listen */
    EXIT_WAIT_MS = 2000,    /* for the recorder to read what a client had sent */
    ALIVE_EVERY_MS = 100,
    AGAIN_EVERY_MS = 1000,
    FIRST_PROTOCOL = 82, /* the walk of numbers: down from here, then up */
    LOWEST_PROTOCOL = 40,
    HIGHEST_PROTOCOL = 160,
};

/* Where they may be missing: an old C library keeps them elsewhere. */
extern void *dlsym(void *, const char *) __attribute__((weak));
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *)
    __attribute__((weak));
extern int __cxa_atexit(void (*)(void *), void *, void *) __attribute__((weak));

/* The client in this process. One thread writes it, in listen; the end of the process reads it. */
static struct {
    int pid;    /* 0: there is none */
    int tid;    /* of Tracy's thread */
    int parent; /* in a forked child: the client that it is a copy of */
    bool begun; /* it asked whether it may exit: it is there, and will listen */
    bool told_no_exit;
    bool exiting;
} client;

/* Of Tracy's thread. */
static _Thread_local int tracy_fd = -1; /* its socket */
static _Thread_local struct {
    int fd; /* our own connection to the client while it is being let go, -1: none */
    int protocol;
    bool refused; /* the recorder won't take it */
    bool over;    /* nothing is left to be done */
    uint64_t next_ms;
} guard = {.fd = -1, .protocol = FIRST_PROTOCOL};

/* ---- the functions behind ours ---- */

static void *next_of(const char *name, void **kept)
{
    void *at = __atomic_load_n(kept, __ATOMIC_RELAXED);
    if (!at && dlsym) {
        at = dlsym(RTLD_NEXT, name);
        __atomic_store_n(kept, at, __ATOMIC_RELAXED);
    }
    return at;
}

static int next_bind(int fd, const struct sockaddr *address, socklen_t n)
{
    static void *kept;
    int (*next)(int, const struct sockaddr *, socklen_t) = next_of("bind", &kept);
    return next ? next(fd, address, n) : (int)syscall(SYS_bind, fd, address, n);
}

static int next_listen(int fd, int backlog)
{
    static void *kept;
    int (*next)(int, int) = next_of("listen", &kept);
    return next ? next(fd, backlog) : (int)syscall(SYS_listen, fd, backlog);
}

static int next_poll(struct pollfd *fds, nfds_t n, int timeout)
{
    static void *kept;
    int (*next)(struct pollfd *, nfds_t, int) = next_of("poll", &kept);
    if (next)
        return next(fds, n, timeout);
    struct timespec wait = {timeout / 1000, timeout % 1000 * 1000000L};
    return (int)syscall(SYS_ppoll, fds, n, timeout < 0 ? NULL : &wait, NULL, 8);
}

static char *next_getenv(const char *name)
{
    static void *kept;
    char *(*next)(const char *) = next_of("getenv", &kept);
    size_t n = strlen(name);
    if (next)
        return next(name);
    for (char **at = environ; at && *at; at++)
        if (!strncmp(*at, name, n) && (*at)[n] == '=')
            return *at + n + 1;
    return NULL;
}

/* ---- talking to the recorder ---- */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A socket's path has 107 letters; a longer one is reached through its folder. The folder's descriptor, -1: none is needed. */
static int shorten(const char *path, char out[108])
{
    const char *slash = strrchr(path, '/');
    char folder[4096], digits[12];
    int fd = -1, n = 0;
    if (strlen(path) < 108) {
        strcpy(out, path);
        return -1;
    }
    if (slash && (size_t)(slash - path) < sizeof folder && strlen(slash) < 32) {
        memcpy(folder, path, (size_t)(slash - path));
        folder[slash - path] = 0;
        fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    if (fd < 0)
        return -1;
    for (int rest = fd; rest || !n; rest /= 10)
        digits[n++] = (char)('0' + rest % 10);
    strcpy(out, "/proc/self/fd/");
    for (char *at = out + strlen(out); n > 0; *at = 0)
        *at++ = digits[--n];
    strcat(out, slash);
    return fd;
}

/* A connection to the recorder, or -1: there is none any more. */
static int call_recorder(void)
{
    const char *path = next_getenv(STROBE_TRACY_SOCKET_ENV);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!path || !*path)
        return -1;
    int folder = shorten(path, to.sun_path);
    int fd = to.sun_path[0] ? socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) : -1;
    struct timeval bound = {CONNECT_WAIT_MS / 1000,
                            0}; /* a recorder that was stopped takes no more */
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to)) {
        close(fd);
        fd = -1;
    }
    if (folder >= 0)
        close(folder);
    return fd;
}

static bool recorder_lives(void)
{
    int fd = call_recorder();
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Say it, and wait so long for the answer (0: none comes). The answer, 0 where none came. */
static char say(int fd, uint32_t kind, uint32_t port, int wait_ms)
{
    struct strobe_notice notice = {STROBE_NOTICE_MAGIC, 1, kind, port, (uint32_t)client.parent, 0};
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    char answer = 0;
    if (send(fd, &notice, sizeof notice, MSG_NOSIGNAL) != sizeof notice)
        return 0;
    if (wait_ms && next_poll(&ready, 1, wait_ms) > 0 && recv(fd, &answer, 1, MSG_DONTWAIT) != 1)
        answer = 0;
    return answer;
}

/* ---- is it Tracy? ---- */

struct search {
    uintptr_t caller;
    bool found;
};

/* A search of our own: AddressSanitizer stands before memmem in the programs that it is in, and takes a look
 * at a whole object for an error. Eight letters are one number; most places differ in the first. */
static bool has_greeting(const char *from, const char *to)
{
    static const char greeting[] = {'T', 'r', 'a', 'c', 'y', 'P', 'r', 'f'};
    uint64_t wanted, here;
    __builtin_memcpy(&wanted, greeting, sizeof wanted);
    for (; to - from >= (ptrdiff_t)sizeof wanted; from++) {
        if (*from != 'T')
            continue;
        __builtin_memcpy(&here, from, sizeof here);
        if (here == wanted)
            return true;
    }
    return false;
}

/* The object that the call came from: whether Tracy's greeting is in it. Near the call first: Tracy is one
 * compilation unit, and some objects are very large. */
static int search_object(struct dl_phdr_info *info, size_t size, void *context)
{
    enum { NEAR = 1 << 20 };
    struct search *search = context;
    bool here = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + ph->p_vaddr, to = from + ph->p_memsz;
        if (ph->p_type != PT_LOAD || search->caller < from || search->caller >= to)
            continue;
        here = true;
        uintptr_t low = search->caller - from > NEAR ? search->caller - NEAR : from;
        uintptr_t high = to - search->caller > NEAR ? search->caller + NEAR : to;
        search->found = has_greeting((const char *)low, (const char *)high);
    }
    for (int i = 0; here && !search->found && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type == PT_LOAD && ph->p_flags & PF_R && !(ph->p_flags & PF_W))
            search->found =
                has_greeting((const char *)(info->dlpi_addr + ph->p_vaddr),
                             (const char *)(info->dlpi_addr + ph->p_vaddr + ph->p_filesz));
    }
    return here;
}

static bool is_in_tracy(const void *caller)
{
    struct search search = {.caller = (uintptr_t)caller};
    dl_iterate_phdr(search_object, &search);
    return search.found;
}

static bool is_tracys_thread(void)
{
    char name[17] = "";
    return !prctl(PR_GET_NAME, name) && !strcmp(name, "Tracy Profiler");
}

/* ---- letting the client go when its recorder is gone ---- */

static uint16_t port_of(int fd)
{
    struct sockaddr_storage at;
    socklen_t n = sizeof at;
    if (getsockname(fd, (struct sockaddr *)&at, &n))
        return 0;
    return ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                          : ((struct sockaddr_in *)&at)->sin_port);
}

static void hang_up(void)
{
    if (guard.fd >= 0)
        close(guard.fd);
    guard.fd = -1;
}

/* Greet the client as a server of the next number would. */
static void greet(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(port_of(tracy_fd)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    unsigned char hello[12] = {
        'T', 'r', 'a', 'c', 'y', 'P', 'r', 'f', (unsigned char)guard.protocol};
    guard.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (guard.fd < 0)
        return;
    if (connect(guard.fd, (struct sockaddr *)&to, sizeof to) && errno != EINPROGRESS)
        hang_up();
    else if (send(guard.fd, hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello)
        hang_up();
}

/* Down from the newest number to the oldest, then what may come. */
static bool next_protocol(void)
{
    if (guard.protocol > FIRST_PROTOCOL)
        guard.protocol++;
    else if (--guard.protocol < LOWEST_PROTOCOL)
        guard.protocol = FIRST_PROTOCOL + 1;
    return guard.protocol <= HIGHEST_PROTOCOL;
}

/* The client answered us: 1 it speaks this number and has had its connection now, 2 another number. */
static void hear(void)
{
    unsigned char status = 0;
    ssize_t n = recv(guard.fd, &status, 1, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == ENOTCONN))
        return;
    hang_up();
    if (n == 1 && status == 2)
        guard.over = !next_protocol();
    else if (n == 1 && status == 3)
        guard.over = true;
    else if (n == 1 && status == 1) /* one that takes connections on demand is back here soon */
        guard.next_ms = now_ms() + AGAIN_EVERY_MS;
}

/* Whether the recorder lives and means to connect. One that is late with its answer will. */
static bool recorder_comes(void)
{
    int fd = call_recorder();
    char answer = fd < 0 ? STROBE_NOTICE_REFUSED
                         : say(fd, STROBE_NOTICE_WAITS, port_of(tracy_fd), CONNECT_WAIT_MS);
    if (fd >= 0)
        close(fd);
    return answer != STROBE_NOTICE_REFUSED;
}

/* Tracy's thread found nobody at its door. Is anybody going to come? */
static void look_after(void)
{
    uint64_t now = now_ms();
    if (guard.fd >= 0) {
        hear();
        if (guard.fd < 0 && !guard.over && guard.next_ms <= now)
            greet();
        return;
    }
    if (guard.over || (now < guard.next_ms && !client.exiting))
        return;
    guard.next_ms = now + ALIVE_EVERY_MS;
    if (guard.refused || !recorder_comes())
        greet();
}

/* ---- the end of the process, and its copies ---- */

static void note_exit(void *unused)
{
    (void)unused;
    client.exiting = true;
}

/* A copy of a Tracy client has no thread that could send anything. The connection stays open: it closes
 * when the copy becomes another program. */
static void in_child(void)
{
    int before = errno;
    client.parent = getppid();
    client.pid = 0;
    int fd = call_recorder();
    if (fd >= 0)
        say(fd, STROBE_NOTICE_FORKED, 0, 0);
    errno = before;
}

/* There is a client in this process: its copies and its end are to be seen. */
static void watch_process(void)
{
    static bool watched;
    if (__atomic_exchange_n(&watched, true, __ATOMIC_RELAXED))
        return;
    if (__register_atfork)
        __register_atfork(NULL, NULL, in_child, NULL);
    if (__cxa_atexit)
        __cxa_atexit(note_exit, NULL, NULL);
}

static void say_once(uint32_t kind, int wait_ms)
{
    int fd = call_recorder();
    if (fd < 0)
        return;
    say(fd, kind, 0, wait_ms);
    close(fd);
}

/* A client that has begun, and whose thread has not come to listen yet: its events are still ahead of it. */
static void wait_for_listen(void)
{
    struct timespec moment = {0, 1000000};
    uint64_t until = now_ms() + CONNECT_WAIT_MS;
    while (!__atomic_load_n(&client.pid, __ATOMIC_ACQUIRE) && now_ms() < until)
        nanosleep(&moment, NULL);
}

/* Runs after the program's own handlers. Tracy's thread is over then, if the client says goodbye. */
static __attribute__((destructor)) void leave(void)
{
    if (client.begun && !client.parent)
        wait_for_listen();
    if (client.parent)
        say_once(STROBE_NOTICE_ENDS, 0);
    else if (client.pid == getpid() && syscall(SYS_tgkill, client.pid, client.tid, 0) == 0)
        say_once(STROBE_NOTICE_EXITS, EXIT_WAIT_MS);
}

/* ---- in the program's place ---- */

static bool is_stream(int fd, const struct sockaddr *address, socklen_t n)
{
    int type = 0;
    socklen_t size = sizeof type;
    if (!address || n < sizeof(struct sockaddr_in) ||
        (address->sa_family != AF_INET && address->sa_family != AF_INET6))
        return false;
    return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_STREAM;
}

/* 127.0.0.1, any port; a socket of IPv6 takes it too. */
static int bind_loopback(int fd, int family)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    int both = 0;
    if (family == AF_INET)
        return next_bind(fd, (struct sockaddr *)&four, sizeof four);
    six.sin6_addr.s6_addr[10] = six.sin6_addr.s6_addr[11] = 0xff;
    memcpy(six.sin6_addr.s6_addr + 12, &four.sin_addr, 4);
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
    return next_bind(fd, (struct sockaddr *)&six, sizeof six);
}

EXPORTED int bind(int fd, const struct sockaddr *address, socklen_t n)
{
    int before = errno;
    if (!is_stream(fd, address, n) || !is_tracys_thread() ||
        !is_in_tracy(__builtin_return_address(0))) {
        errno = before;
        return next_bind(fd, address, n);
    }
    tracy_fd = fd;
    if (recorder_lives() && bind_loopback(fd, address->sa_family) == 0) {
        errno = before;
        return 0;
    }
    errno = before;
    return next_bind(fd, address, n);
}

EXPORTED int listen(int fd, int backlog)
{
    int result = next_listen(fd, backlog), before = errno;
    if (result || fd != tracy_fd || fd < 0)
        return result;
    client.tid = (int)syscall(SYS_gettid);
    watch_process();
    int recorder = call_recorder();
    if (recorder >= 0) {
        guard.refused = say(recorder, STROBE_NOTICE_LISTENS, port_of(fd), CONNECT_WAIT_MS) ==
                        STROBE_NOTICE_REFUSED;
        close(recorder);
    }
    __atomic_store_n(&client.pid, getpid(),
                     __ATOMIC_RELEASE); /* from now on the end may speak of it */
    errno = before;
    return result;
}

EXPORTED int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    int result = next_poll(fds, n, timeout);
    bool at_door = tracy_fd >= 0 && result == 0 && n == 1 && fds[0].fd == tracy_fd;
    if ((at_door && client.told_no_exit) || guard.fd >= 0) { /* greeted: it polls that socket now */
        int before = errno;
        look_after();
        errno = before;
    }
    return result;
}

EXPORTED char *getenv(const char *name)
{
    static char one[] = "1";
    char *value = next_getenv(name);
    if (name[0] != 'T' || strcmp(name, "TRACY_NO_EXIT"))
        return value;
    int before = errno; /* Strobe's own client asks too, and means it */
    client.begun = is_in_tracy(__builtin_return_address(0)) && recorder_lives();
    client.told_no_exit = client.begun && !value;
    if (client.begun)
        watch_process();
    errno = before;
    return client.told_no_exit ? one : value;
}

/* A copy of a client that ends without a word of goodbye to anybody, not even to its exit handlers. */
EXPORTED void _exit(int status)
{
    static void *kept;
    void (*next)(int) = next_of("_exit", &kept);
    if (client.parent)
        say_once(STROBE_NOTICE_ENDS, 0);
    if (next)
        next(status);
    for (;;)
        syscall(SYS_exit_group, status);
}
