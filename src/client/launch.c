/* launch.c - STROBE_TRACE=out.strobe ./app: the program starts a recorder of its own.
 * The recorder is a separate process, and no child of the program's: the program never waits for
 * it, sees no SIGCHLD of it, and may die in any way.  SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef STROBE_INSTALLED_BINARY
#define STROBE_INSTALLED_BINARY "/usr/local/bin/strobe"
#endif

/* In a static program there is no dladdr; it is only asked where it exists. */
extern int dladdr(const void *, Dl_info *) __attribute__((weak));

static bool is_program(const char *path)
{
    return !access(path, X_OK);
}

static bool find_beside_library(char out[STROBE_PATH_MAX])
{
    Dl_info info;
    if (!dladdr || !dladdr((void *)&strobe_gate_now, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    if (!slash)
        return false;
    snprintf(out, STROBE_PATH_MAX, "%.*s/../bin/strobe", (int)(slash - info.dli_fname),
             info.dli_fname);
    return is_program(out);
}

static bool find_in_path(char out[STROBE_PATH_MAX])
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        if (n && n < STROBE_PATH_MAX - 16) {
            snprintf(out, STROBE_PATH_MAX, "%.*s/strobe", (int)n, path);
            if (is_program(out))
                return true;
        }
        path += n + (path[n] == ':');
    }
    return false;
}

static bool find_recorder(char out[STROBE_PATH_MAX])
{
    const char *named = getenv("STROBE_BIN");
    if (named && named[0]) {
        snprintf(out, STROBE_PATH_MAX, "%s", named);
        return is_program(out);
    }
    if (find_beside_library(out) || find_in_path(out))
        return true;
    snprintf(out, STROBE_PATH_MAX, "%s", STROBE_INSTALLED_BINARY);
    return is_program(out);
}

/* What the program has open is none of the recorder's: whoever waits for the end of a pipe waits for the program's. */
static void close_from(int first)
{
#ifdef SYS_close_range
    if (!syscall(SYS_close_range, first, ~0u, 0))
        return;
#endif
    long n = sysconf(_SC_OPEN_MAX);
    for (int fd = first; fd < (n > 0 && n < 65536 ? n : 65536); fd++)
        close(fd);
}

/* In the grandchild: become the recorder. It says "ready" by closing the pipe's write end after a
 * byte. */
static void become_recorder(const char *binary, const char *trace, const char *session, int ready)
{
    char fd_text[16];
    if (ready != 3)
        ready = dup2(ready, 3);
    close_from(4);
    snprintf(fd_text, sizeof fd_text, "%d", ready);
    unsetenv("STROBE_TRACE");
    setsid();
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execl(binary, binary, "record", "--serve-session", session, "--ready-fd", fd_text, "-o", trace,
          (char *)NULL);
    _exit(127);
}

bool strobe_client_launch(char name[64])
{
    const char *trace = getenv("STROBE_TRACE");
    char binary[STROBE_PATH_MAX];
    int ready[2];
    if (!trace || !trace[0])
        return false;
    if (!find_recorder(binary)) {
        static const char text[] =
            "strobe: STROBE_TRACE is set, but no `strobe` program was found to "
            "record with; put it into PATH or name it in STROBE_BIN\n";
        if (write(2, text, sizeof text - 1) < 0)
            return false;
        return false;
    }
    if (pipe2(ready, 0))
        return false;
    fcntl(ready[0], F_SETFD, FD_CLOEXEC);
    snprintf(name, 64, "trace-%d-%llu", (int)getpid(),
             (unsigned long long)strobe_session_own_start());
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0)
            become_recorder(binary, trace, name, ready[1]);
        _exit(0);
    }
    close(ready[1]);
    if (child > 0)
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    struct pollfd wait = {.fd = ready[0], .events = POLLIN};
    char byte = 0;
    bool started = child > 0 && poll(&wait, 1, 2000) == 1 && read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    if (!started)
        return false;
    setenv("STROBE_SESSION", name, 1); /* children join the same recording */
    unsetenv("STROBE_TRACE");
    return true;
}
