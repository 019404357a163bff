/* mcp_run.c - see mcp_run.h. The child is this program: whatever it meets, the server goes on.  SPDX-License-Identifier: MIT */
#include "cli/mcp_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

extern char **environ;

/* A pipe whose ends no other child inherits. 0: there is none. */
static int open_pipe(int ends[2])
{
    return !pipe2(ends, O_CLOEXEC);
}

static int start_child(const char *const *words, int in, int out, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, in, 0);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, out, 1);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, out, 2);
    if (!error)
        error = posix_spawn(pid, "/proc/self/exe", &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Read until the end, the bound or the deadline. NULL: to the end; else why not. */
static const char *read_output(int fd, struct strobe_out *out)
{
    char room[16384];
    uint64_t end_ns = strobe_clock_mono_ns() + STROBE_MCP_SECONDS * 1000000000ull;
    size_t n_start = out->len;
    for (;;) {
        uint64_t now_ns = strobe_clock_mono_ns();
        struct pollfd wait = {fd, POLLIN, 0};
        if (now_ns >= end_ns)
            return "it took too long";
        if (poll(&wait, 1, (int)((end_ns - now_ns) / 1000000) + 1) <= 0)
            continue;
        ssize_t n = read(fd, room, sizeof room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return NULL;
        size_t left = STROBE_MCP_MAX_BYTES - (out->len - n_start);
        strobe_out_utf8(out, room, (size_t)n < left ? (size_t)n : left);
        if ((size_t)n >= left)
            return "the answer is longer than 1 MiB: the rest was cut off";
    }
}

static int end_child(pid_t pid, const char *trouble, struct strobe_out *out)
{
    int status = 0;
    if (trouble) {
        kill(pid, SIGKILL);
        strobe_out_format(out, "\n(%s)\n", trouble);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return !trouble && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int strobe_mcp_run_command(const char *const *words, const char *input, struct strobe_out *out)
{
    int in[2] = {-1, -1}, back[2] = {-1, -1};
    pid_t pid = 0;
    size_t n_input = input ? strlen(input) : 0;
    int is_fed = n_input <= STROBE_MCP_MAX_INPUT && open_pipe(in) && open_pipe(back) &&
                 write(in[1], input ? input : "", n_input) == (ssize_t)n_input;
    int error = is_fed ? start_child(words, in[0], back[1], &pid) : EMFILE;
    for (int i = 0; i < 2; i++)
        if (in[i] >= 0)
            close(in[i]);
    if (back[1] >= 0)
        close(back[1]);
    int code = -1;
    if (error)
        strobe_out_format(out, "the command could not be started: %s", strerror(error));
    else
        code = end_child(pid, read_output(back[0], out), out);
    if (back[0] >= 0)
        close(back[0]);
    return code;
}
