/* command.c - the command that is recorded, and what belongs to the whole process: signals, limits, children. One recorder
 * holds that at a time (`holder`), since a handler can ask nobody else.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/frameworks.h"
#include "recorder/internal.h"
#include "recorder/sample_side.h"
#include "recorder/preload_side.h"
#include "recorder/program.h"
#include "recorder/tracy_side.h"

static const struct strobe_recorder *holder; /* NULL: nobody */
static volatile sig_atomic_t stop_asked, trigger_asked;
static volatile sig_atomic_t forward_to; /* the command, 0: none */
static bool flies;                       /* SIGUSR2 is ours */

/* ---- signals ---- */

static const int watched[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                              SIGUSR2, SIGCHLD, SIGPIPE, SIGXFSZ};
enum { N_WATCHED = sizeof watched / sizeof watched[0] };
static struct sigaction before_us[N_WATCHED];

/* What the terminal sends (the kernel does), it sends to the command too; what a process sends to us alone is meant
 * for the command. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (number == SIGCHLD || number == SIGPIPE || number == SIGXFSZ)
        return;
    if (number == SIGUSR1 && info->si_code == SI_QUEUE &&
        info->si_value.sival_int == STROBE_RECORDER_STOP_VALUE && info->si_uid == getuid())
        stop_asked = 1; /* the viewer: the recording ends, the command goes on */
    else if (number == SIGUSR2 && flies)
        trigger_asked = 1;
    else if (!forward_to)
        stop_asked = 1;
    else if (info->si_code <= 0)
        kill(forward_to, number);
}

/* What was ignored when we were started (nohup) stays ignored, by us and by the command. */
static void watch_signals(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    for (int i = 0; i < N_WATCHED; i++) {
        sigaction(watched[i], NULL, &before_us[i]);
        if (before_us[i].sa_handler != SIG_IGN || watched[i] == SIGCHLD)
            sigaction(watched[i], &action, NULL);
    }
}

static void forget_signals(void)
{
    for (int i = 0; i < N_WATCHED; i++)
        sigaction(watched[i], &before_us[i], NULL);
}

bool strobe_recorder_is_asked_to_stop(void)
{
    STROBE_ASSERT(holder);
    return stop_asked;
}

bool strobe_recorder_was_triggered(void)
{
    STROBE_ASSERT(holder);
    bool was = trigger_asked;
    trigger_asked = 0;
    return was;
}

/* ---- limits ---- */

/* A process costs the recorder two descriptors while it lives, and the trace may become long: take all we may have. The
 * command gets what we got. */
static const int raised[] = {RLIMIT_NOFILE, RLIMIT_FSIZE};
enum { N_RAISED = sizeof raised / sizeof raised[0] };
static struct rlimit limits_before_us[N_RAISED];

static void raise_limits(void)
{
    for (int i = 0; i < N_RAISED; i++) {
        if (getrlimit(raised[i], &limits_before_us[i]))
            continue;
        struct rlimit all = limits_before_us[i];
        all.rlim_cur = all.rlim_max;
        setrlimit(raised[i], &all);
    }
}

static void restore_limits(void)
{
    for (int i = 0; i < N_RAISED; i++)
        setrlimit(raised[i], &limits_before_us[i]);
}

/* ---- the process ---- */

bool strobe_recorder_take_process(const struct strobe_recorder *r)
{
    STROBE_ASSERT(holder != r);
    if (holder)
        return false;
    STROBE_ASSERT(!forward_to);
    holder = r;
    stop_asked = trigger_asked = 0;
    flies = r->options.flight_ns != 0;
    watch_signals();
    raise_limits();
    return true;
}

void strobe_recorder_leave_process(const struct strobe_recorder *r)
{
    if (holder != r)
        return;
    forward_to = 0; /* a command that still runs is left to itself */
    restore_limits();
    forget_signals();
    holder = NULL;
}

/* ---- the command ---- */

/* What the command finds in its environment. 0 or errno. */
static int set_environment(struct strobe_recorder *r)
{
    int err;
    char file[STROBE_PATH_MAX];
    r->takes_no_preload = strobe_program_find(r->options.command[0], file, sizeof file) &&
                          strobe_program_is_other_class(file);
    if (setenv("STROBE_SESSION", r->session.name, 1) || unsetenv("STROBE_TRACE"))
        return errno;
    if ((err = strobe_recorder_tracy_environment(r)) ||
        (err = strobe_recorder_preload_environment(r)) ||
        (err = strobe_recorder_frameworks_environment()) ||
        (err = strobe_recorder_python_environment(r->options.python)))
        return err;
    return strobe_recorder_missing_open(&r->missing, r, r->session.dir);
}

/* In the child: it waits until it is sampled. A recorder that died in the meantime closes the pipe. */
static void exec_command(char **command, const sigset_t *mask, int go, int report)
{
    char byte;
    while (read(go, &byte, 1) < 0 && errno == EINTR)
        ;
    forget_signals();
    sigprocmask(SIG_SETMASK, mask, NULL);
    restore_limits();
    execvp(command[0], command);
    int err = errno;
    if (write(report, &err, sizeof err) != sizeof err)
        _exit(126);
    _exit(127);
}

/* What exec says comes back through a pipe that closes by itself. */
int strobe_recorder_start_command(struct strobe_recorder *r)
{
    STROBE_ASSERT(holder == r && r->options.command);
    STROBE_ASSERT(r->state == STROBE_RECORDER_STARTING && !r->child && !forward_to);
    int report[2], go[2],
        err = set_environment(r); /* before the fork, where it can still be refused */
    if (err)
        return err;
    if (pipe2(report, O_CLOEXEC))
        return errno;
    if (pipe2(go, O_CLOEXEC)) {
        err = errno;
        close(report[0]);
        close(report[1]);
        return err;
    }
    prctl(PR_SET_CHILD_SUBREAPER,
          1);          /* children whose parents died are reaped here: their status is known */
    sigset_t all, old; /* no signal may come between the fork and the knowledge of whom it is for */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        exec_command(r->options.command, &old, go[0], report[1]);
    }
    if (child < 0)
        err = errno;
    else
        forward_to = child;
    sigprocmask(SIG_SETMASK, &old, NULL);
    close(report[1]);
    close(go[0]);
    if (!err)
        strobe_recorder_sample_open(r, (uint32_t)child, false);
    close(go[1]); /* which lets it go on */
    ssize_t n;
    while (!err && (n = read(report[0], &err, sizeof err)) < 0 && errno == EINTR)
        ;
    close(report[0]);
    if (err && child > 0) {
        forward_to = 0;
        waitpid(child, NULL, 0);
    }
    r->child = err ? 0 : child;
    STROBE_ASSERT(forward_to == r->child);
    return err;
}

static void note_end(struct strobe_recorder *r, int status)
{
    STROBE_ASSERT(!r->outcome.command_ended); /* a child is reaped once */
    r->outcome.command_status = status;
    r->outcome.command_ended = true;
    forward_to = 0;
}

void strobe_recorder_reap(struct strobe_recorder *r)
{
    STROBE_ASSERT(r->collector);
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        strobe_collector_exit_status(r->collector, (uint32_t)pid, status);
        if (r->sampler)
            strobe_sampler_exit_status(r->sampler, (uint32_t)pid, status);
        if (r->tracy)
            strobe_tracy_host_exit_status(r->tracy, (uint32_t)pid, status);
        if (pid == r->child)
            note_end(r, status);
    }
}

/* The recording is over, the command is not (--for): stay with it, pass its signals on and its end. */
void strobe_recorder_wait_command(struct strobe_recorder *r)
{
    int status;
    pid_t pid;
    STROBE_ASSERT(r->state == STROBE_RECORDER_ENDED || r->state == STROBE_RECORDER_FAILED);
    while (r->child && !r->outcome.command_ended &&
           ((pid = waitpid(-1, &status, 0)) > 0 || errno == EINTR))
        if (pid == r->child)
            note_end(r, status);
    STROBE_ASSERT(!r->child || r->outcome.command_ended || errno == ECHILD);
}
