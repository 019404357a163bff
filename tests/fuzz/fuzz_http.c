/* fuzz_http.c - one connection of a stranger to the viewer's server: the bytes go through libwebsockets' parsers to our callbacks as a peer would send them, over a
 * socketpair that the server adopts; there is no port. The desk is led through here (--wrap, targets.txt): it answers at once, and reads no trace.
 *
 * An input is a byte that says how the bytes are sent, then the bytes. What sanitizers can't see is checked: nothing is served, deleted or asked without the token
 * and a Host of this machine; nothing outside of the folder is read or changed; a connection whose peer has gone leaves nothing behind.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "seeds.h"
#include "serve/server_parts.h"
#include "tape.h"

/* Bits of the first byte. */
enum {
    SEND_WHOLE = 1,  /* else the end of a request is waited for, as a WebSocket's client does */
    SEND_PIECES = 2, /* of 1 to 31 bytes */
    SEND_HALF = 4,   /* the peer ends its sending, and reads on */
    READ_LATE = 8,   /* the peer reads nothing before it has sent all */
};
enum { TURNS_MAX = 256, ANSWER_MAX = 1 << 20, BUFFER_BYTES = 4096, GROWTH_MAX = 8 << 20 };

static const char token[] = "5eed0123456789abcdef5eed01234567";
static const char inside_text[] = "a trace of the folder", outside_text[] = "a file outside of it";
static const char page_text[] = "<title>fuzz</title>"; /* no_page.c, and index.html */

static struct {
    char dir[32], folder[48], inside[64], outside[64];
    struct strobe_server *server;
    strobe_desk_sink sink;
    void *sink_context;
    size_t sink_before;
    int n_users;      /* of the desk's trace */
    unsigned n_fds;   /* that the server waited for last */
    bool is_idle;     /* it would have waited */
    bool had_page;    /* of this run */
    size_t heap;      /* at the first run's end */
    uint8_t *answers; /* of this run */
    size_t n_answers;
} fuzz;

static void fail(const char *what)
{
    fprintf(stderr, "fuzz_http: %s\n", what);
    abort();
}

/* ---- the desk, and what waits ---- */

struct strobe_desk *__real_strobe_desk_new(strobe_desk_sink sink, void *context, size_t before);
struct strobe_desk *__wrap_strobe_desk_new(strobe_desk_sink sink, void *context, size_t before);
struct strobe_desk *__wrap_strobe_desk_new(strobe_desk_sink sink, void *context, size_t before)
{
    fuzz.sink = sink;
    fuzz.sink_context = context;
    fuzz.sink_before = before;
    return __real_strobe_desk_new(sink, context, before);
}

enum strobe_err __wrap_strobe_desk_use(struct strobe_desk *desk, const char *path,
                                       const char *folder, struct strobe_desk_trace **out);
enum strobe_err __wrap_strobe_desk_use(struct strobe_desk *desk, const char *path,
                                       const char *folder, struct strobe_desk_trace **out)
{
    size_t n = strlen(fuzz.folder);
    (void)desk;
    if (strcmp(folder, fuzz.folder) || strncmp(path, folder, n) || path[n] != '/' ||
        strchr(path + n + 1, '/'))
        fail("a trace outside of the folder is opened");
    if (strcmp(path, fuzz.inside))
        return STROBE_ERR_NOTFOUND;
    fuzz.n_users++;
    *out = (struct strobe_desk_trace *)&fuzz;
    return STROBE_OK;
}

void __wrap_strobe_desk_leave(struct strobe_desk *desk, struct strobe_desk_trace *trace,
                              uint64_t who);
void __wrap_strobe_desk_leave(struct strobe_desk *desk, struct strobe_desk_trace *trace,
                              uint64_t who)
{
    (void)desk, (void)who;
    if (trace != (struct strobe_desk_trace *)&fuzz || --fuzz.n_users < 0)
        fail("a trace is left that nobody uses");
}

/* To the one who asks, or to all. */
int __wrap_strobe_desk_ask(struct strobe_desk *desk, struct strobe_desk_trace *trace, uint64_t who,
                           const char *question, size_t n_bytes);
int __wrap_strobe_desk_ask(struct strobe_desk *desk, struct strobe_desk_trace *trace, uint64_t who,
                           const char *question, size_t n_bytes)
{
    (void)desk;
    if (!trace || !fuzz.n_users || n_bytes > STROBE_JSON_MAX_BYTES)
        fail("a question without a trace, or a longer one than may be");
    if (memchr(question, '!', n_bytes))
        return 0; /* too many wait */
    size_t n = n_bytes > 2 && question[2] == 'l' ? 100000 : 16;
    uint8_t *frame = calloc(1, fuzz.sink_before + n);
    fuzz.sink(fuzz.sink_context, trace, n_bytes & 1 ? 0 : who, frame, n);
    return 1;
}

/* libwebsockets waits here: a definition in the program goes before that of the C library. */
__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t n, int timeout);
int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    int n_ready = (int)syscall(SYS_poll, fds, n, 0);
    fuzz.n_fds = (unsigned)n;
    fuzz.is_idle = !n_ready && timeout;
    return n_ready;
}

/* ---- the server ---- */

static void put_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        fail("no file");
    close(fd);
}

static void remove_folder(void)
{
    strobe_server_close(fuzz.server);
    unlink(fuzz.inside);
    unlink(fuzz.outside);
    rmdir(fuzz.folder);
    rmdir(fuzz.dir);
    free(fuzz.answers);
}

static int stop(void *context, const char *name)
{
    (void)context;
    return name && strlen(name) > 3;
}

static int record(void *context, const char *tracy, const char *session, char *name, size_t n_name,
                  char *why, size_t n_why)
{
    (void)context;
    snprintf(name, n_name, "%s", tracy);
    snprintf(why, n_why, "%s", session);
    return *tracy != 0;
}

static int session_trace(void *context, const char *session, char *out, size_t room)
{
    (void)context;
    snprintf(out, room, "%s", fuzz.inside);
    return *session == 's';
}

static void open_server(void)
{
    if (fuzz.server)
        return;
    strcpy(fuzz.dir, "/dev/shm/strobe-fuzz-XXXXXX");
    if (!mkdtemp(fuzz.dir))
        fail("no folder");
    snprintf(fuzz.folder, sizeof fuzz.folder, "%s/traces", fuzz.dir);
    snprintf(fuzz.inside, sizeof fuzz.inside, "%s/in.strobe", fuzz.folder);
    snprintf(fuzz.outside, sizeof fuzz.outside, "%s/out.strobe", fuzz.dir);
    if (mkdir(fuzz.folder, 0700))
        fail("no folder");
    put_file(fuzz.inside, inside_text);
    put_file(fuzz.outside, outside_text);
    struct strobe_server_options options = {.folder = fuzz.folder,
                                            .port = CONTEXT_PORT_NO_LISTEN_SERVER,
                                            .token = token,
                                            .stop = stop,
                                            .record = record,
                                            .session_trace = session_trace,
                                            .can_stop = 1};
    if (strobe_server_open(&options, &fuzz.server))
        fail("no server");
    fuzz.answers = malloc(ANSWER_MAX);
    atexit(remove_folder);
}

/* ---- what must hold ---- */

static bool has_text(const uint8_t *bytes, size_t n, const char *text)
{
    return memmem(bytes, n, text, strlen(text)) != NULL;
}

/* Whether the token could be read in these bytes: in what is left of them when %XX is decoded, and all is left out that is no digit of it. */
static bool has_token(const uint8_t *bytes, size_t n)
{
    static uint8_t digits[65536];
    size_t n_digits = 0;
    for (size_t i = 0; i < n && n_digits < sizeof digits; i++) {
        char byte = (char)bytes[i], hex[3] = {0};
        if (byte == '%' && i + 2 < n) {
            memcpy(hex, bytes + i + 1, 2);
            char *end;
            unsigned long decoded = strtoul(hex, &end, 16);
            if (end == hex + 2) {
                byte = (char)decoded;
                i += 2;
            }
        }
        if (byte && strchr("0123456789abcdef", byte))
            digits[n_digits++] = (uint8_t)byte;
    }
    return has_text(digits, n_digits, token);
}

static void check_run(const uint8_t *data, size_t n)
{
    static const char *const statuses[] = {"200", "206", "101"};
    char line[16];
    struct stat st;
    bool is_served = fuzz.had_page || has_text(fuzz.answers, fuzz.n_answers, inside_text) ||
                     has_text(fuzz.answers, fuzz.n_answers, page_text);
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        snprintf(line, sizeof line, "HTTP/1.1 %s", statuses[i]);
        is_served |= has_text(fuzz.answers, fuzz.n_answers, line);
        snprintf(line, sizeof line, "HTTP/1.0 %s", statuses[i]);
        is_served |= has_text(fuzz.answers, fuzz.n_answers, line);
    }
    if (stat(fuzz.inside, &st)) {
        is_served = true;
        put_file(fuzz.inside, inside_text);
    }
    if (is_served && !has_token(data, n))
        fail("something was served without the token");
    if (is_served && !has_text(data, n, "127.0.0.1") && !has_text(data, n, "localhost") &&
        !has_text(data, n, "[::1]"))
        fail("something was served to another host's name");
    if (has_text(fuzz.answers, fuzz.n_answers, outside_text))
        fail("a file outside of the folder was served");
    if (stat(fuzz.outside, &st) || st.st_size != sizeof outside_text - 1)
        fail("a file outside of the folder was changed");
    if (fuzz.server->pages || fuzz.server->outbox || fuzz.n_users)
        fail("a page is kept whose peer has gone");
}

/* ---- a connection ---- */

static void read_answers(int fd)
{
    static uint8_t rest[BUFFER_BYTES];
    for (;;) {
        size_t room = ANSWER_MAX - fuzz.n_answers;
        ssize_t got =
            read(fd, room ? fuzz.answers + fuzz.n_answers : rest, room ? room : sizeof rest);
        if (got <= 0)
            return;
        fuzz.n_answers += room ? (size_t)got : 0;
    }
}

/* Until the server has nothing to do, or the peer should read. */
static void serve(int peer, bool reads)
{
    for (int i = 0; i < TURNS_MAX; i++) {
        strobe_server_serve(fuzz.server, 0);
        fuzz.had_page |= fuzz.server->pages != NULL;
        if (reads)
            read_answers(peer);
        if (fuzz.is_idle)
            return;
    }
}

/* Bytes of the next piece. */
static size_t next_piece(const struct tape *tape, uint8_t how, uint8_t *step)
{
    size_t n = tape_left(tape);
    const uint8_t *end = how & SEND_WHOLE ? NULL : memmem(tape->at, n, "\r\n\r\n", 4);
    if (end)
        n = (size_t)(end + 4 - tape->at);
    size_t piece = 1 + (*step = (uint8_t)(*step * 167 + 13)) % 31;
    return how & SEND_PIECES && piece < n ? piece : n;
}

static void send_all(int peer, struct tape *tape, uint8_t how)
{
    uint8_t step = how;
    while (tape_left(tape)) {
        size_t n = next_piece(tape, how, &step);
        const uint8_t *bytes = tape_take(tape, &n);
        for (int i = 0; n && i < TURNS_MAX; i++) {
            ssize_t sent = send(peer, bytes, n, MSG_NOSIGNAL);
            bytes += sent > 0 ? sent : 0;
            n -= sent > 0 ? (size_t)sent : 0;
            serve(peer, !(how & READ_LATE));
            if (sent < 0 && errno != EAGAIN)
                return; /* it was disconnected */
        }
    }
}

static void connect_once(struct tape *tape, uint8_t how)
{
    int fds[2], small = BUFFER_BYTES;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) ||
        setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small))
        fail("no sockets");
    if (!lws_adopt_socket(fuzz.server->lws, fds[0]))
        fail("the server does not adopt a socket");
    send_all(fds[1], tape, how);
    if (how & SEND_HALF)
        shutdown(fds[1], SHUT_WR);
    serve(fds[1], true);
    close(fds[1]);
    serve(-1, false);
}

size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct tape tape = {data, data + n};
    open_server();
    serve(-1, false);
    unsigned n_fds = fuzz.n_fds;
    fuzz.had_page = false;
    fuzz.n_answers = 0;
    uint8_t how = tape_byte(&tape);
    connect_once(&tape, how);
    if (fuzz.n_fds != n_fds)
        fail("a connection is kept whose peer has gone");
    check_run(data, n);
    if (__sanitizer_get_current_allocated_bytes) {
        size_t heap = __sanitizer_get_current_allocated_bytes();
        fuzz.heap = fuzz.heap ? fuzz.heap : heap;
        if (heap > fuzz.heap + GROWTH_MAX)
            fail("the server grows");
    }
    return 0;
}
