/* confined.c - see confined.h.  SPDX-License-Identifier: MIT */
#include "cli/confined.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/ready.h"
#include "cli/cli.h"

static _Noreturn void run_child(uint64_t n_bytes, int (*work)(void *context), void *context)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* who began it is gone: so is the wish */
    strobe_ready_seal();
    strobe_confine_limits(n_bytes);
    strobe_confine_calls(); /* where it can't be, the limits are what there is: strobe doctor says so */
    int code = work(context);
    fflush(NULL);
    _exit(code);
}

static void say_end(const char *command, const char *path, int number)
{
    if (number == SIGSYS)
        strobe_cli_error(
            command,
            "%s: the process that read it was stopped: it tried to open a file or a connection, or "
            "to run "
            "something, which reading never needs. The file may have been made to do harm",
            path);
    else if (number == SIGXCPU || number == SIGKILL)
        strobe_cli_error(command,
                         "%s: the process that read it was stopped: it used more time or memory "
                         "than a file of that size "
                         "may take",
                         path);
    else
        strobe_cli_error(command, "%s: the process that read it ended with signal %d (%s)", path,
                         number, strsignal(number));
}

int strobe_cli_confined(const char *command, const char *path, int (*work)(void *context),
                        void *context)
{
    struct stat st;
    return strobe_cli_confined_sized(command, path, stat(path, &st) ? 0 : (uint64_t)st.st_size,
                                     work, context);
}

int strobe_cli_confined_sized(const char *command, const char *path, uint64_t n_bytes,
                              int (*work)(void *context), void *context)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        strobe_cli_error(command, "%s: no process could be made to read it: %s", path,
                         strerror(errno));
        return -1;
    }
    if (!child)
        run_child(n_bytes, work, context);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    say_end(command, path, WTERMSIG(status));
    return -1;
}

bool strobe_cli_can_confine(void)
{
    int status;
    pid_t child = fork();
    if (!child)
        _exit(strobe_confine_calls() ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child && !status;
}
