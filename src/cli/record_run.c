/* record_run.c - prints what a recording says of itself: while it runs, why it could not start, and its end (record_end.c).
 * The recording itself: recorder/recorder.h.  SPDX-License-Identifier: MIT */
#include "cli/record_run.h"

#include <errno.h>
#include <signal.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/record_end.h"
#include "cli/record_hosts.h"
#include "ring/alive.h"

struct show {
    bool quiet;
    uint64_t next_ns; /* when the status line is due */
};

/* ---- while it runs ---- */

/* What somebody did to the trace's file. */
static void say_of_file(const struct strobe_recorder_word *word)
{
    if (word->event == STROBE_RECORDER_TRACE_TAKEN)
        strobe_cli_error("record", "another recorder is writing %s; this trace is written to %s",
                         word->subject, word->text);
    else if (word->event == STROBE_RECORDER_TRACE_RENAMED)
        strobe_cli_error("record", "%s was renamed to %s; the recording goes on there",
                         word->subject, word->text);
    else if (word->event == STROBE_RECORDER_TRACE_DELETED)
        strobe_cli_error("record",
                         "%s was %s; the recording goes on, and the trace is written to a file "
                         "again when it ends",
                         word->subject, word->text);
    else if (word->event == STROBE_RECORDER_TRACE_EMPTIED)
        strobe_cli_error("record",
                         "%s was truncated by another program: what was in it is gone; the "
                         "recording goes on",
                         word->subject);
    else if (word->event == STROBE_RECORDER_TRACE_LOST)
        strobe_cli_error("record", "%s was deleted, and can't be written to a file again: %s",
                         word->subject, strobe_err_text(word->err));
    else if (strcmp(word->subject, word->text))
        strobe_cli_error("record", "the trace is in %s now: %s is taken, or its folder is gone",
                         word->subject, word->text);
    else
        strobe_cli_error("record", "the trace is in %s again", word->subject);
}

/* What goes on though the command has ended. */
static void say_of_outlived(const struct strobe_recorder_word *word)
{
    if (word->event == STROBE_RECORDER_MORE_OUTLIVED)
        strobe_cli_error("record", "and %d more processes were", word->number);
    else
        strobe_cli_error("record",
                         "%s (pid %u) was still running when the recording ended with its "
                         "command%s; --all goes on until all have ended",
                         word->subject, word->pid, word->number ? "" : ", and had not joined it");
}

static void say_of_bridge(const struct strobe_recorder_word *word, bool quiet)
{
    if (word->event == STROBE_RECORDER_NO_BRIDGE)
        strobe_cli_error("record", "no bridge for Tracy: port %d: %s",
                         word->number ? word->number : 8086, strobe_err_text(word->err));
    else if (word->event == STROBE_RECORDER_BRIDGE_NOT_MADE)
        strobe_cli_error("record", "no bridge for Tracy: %s", strerror(word->number));
    else if (word->event == STROBE_RECORDER_BRIDGE_LEFT_OUT)
        strobe_cli_error("record", "the Tracy server on the bridge: %s",
                         word->err ? strobe_err_text(word->err) : word->text);
    else if (!quiet)
        fprintf(stderr, "strobe record: a Tracy server may connect to 127.0.0.1:%d\n",
                word->number);
}

/* Why there are no samples, and what to do about it. */
static void say_of_samples(const struct strobe_recorder_word *word)
{
    if (word->event == STROBE_RECORDER_SWITCHES_OFF)
        strobe_cli_error("record",
                         "more than 20,000 context switches a second and processor: their "
                         "records were turned off, samples went on");
    else if (word->event == STROBE_RECORDER_NO_PROBES)
        strobe_cli_error("record", "--zone: %d function%s not recorded: %s", word->number,
                         word->number == 1 ? " is" : "s are", word->text);
    else if (word->event == STROBE_RECORDER_NO_FUNCTIONS)
        strobe_cli_error("record", "--zone: no function became a zone. Either none of the name was "
                                   "called, or the code was not built with -finstrument-functions "
                                   "or -fxray-instrument, and the kernel's probes were not asked "
                                   "or not allowed (as root, with samples: docs/sampling.md)");
    else if (word->event == STROBE_RECORDER_NO_CALLS)
        strobe_cli_error("record",
                         "--syscalls: the kernel tells of system calls to root alone, and together "
                         "with samples; the recording goes on without them");
    else if (word->event == STROBE_RECORDER_UNSAMPLED)
        strobe_cli_error("record",
                         "%d threads could not be sampled: 'ulimit -n' must allow three files for "
                         "each thread and processor",
                         word->number);
    else if (word->event == STROBE_RECORDER_TIMERS)
        strobe_cli_error("record",
                         "the kernel refuses perf events here: a timer in the program takes the "
                         "stack samples, %d per second of CPU time, and there are no context "
                         "switches. 'sysctl kernel.perf_event_paranoid=2' as root, or in a "
                         "container '--cap-add PERFMON', gives both; --no-sample neither",
                         word->number);
    else if (word->number == EACCES || word->number == EPERM)
        strobe_cli_error("record",
                         "no stack samples: the kernel refuses them here. "
                         "'sysctl kernel.perf_event_paranoid=2' as root allows them for your own "
                         "programs; in a container, start it with '--cap-add PERFMON'; "
                         "--no-sample leaves out this line");
    else
        strobe_cli_error("record", "no stack samples: %s; --no-sample leaves out this line",
                         word->number == ENOSYS || word->number == ENOENT
                             ? "this kernel has no perf events"
                             : strerror(word->number));
}

static void say_of_preload(const struct strobe_recorder_word *word)
{
    if (word->event == STROBE_RECORDER_NOT_PRELOADED)
        strobe_cli_error("record", "%s", word->text);
    else
        strobe_cli_error("record",
                         "%s is not beside this program, or its path has a blank or colon in it: "
                         "memory, locks, functions and samples by timers are not recorded",
                         word->subject);
}

static void say(void *context, const struct strobe_recorder_word *word)
{
    const struct show *show = context;
    switch (word->event) {
    case STROBE_RECORDER_UNRECORDED:
        strobe_cli_error("record", "%s (pid %u) is not recorded: %s", word->subject, word->pid,
                         word->text);
        break;
    case STROBE_RECORDER_MORE_UNRECORDED:
        strobe_cli_error("record", "more processes are not recorded; 'strobe info' lists them");
        break;
    case STROBE_RECORDER_NO_SHIM:
        strobe_cli_error("record",
                         "%s is not beside this program, or its path has a blank or colon in it: "
                         "Tracy's clients keep the ports that they choose",
                         word->subject);
        break;
    case STROBE_RECORDER_NO_PRELOAD:
    case STROBE_RECORDER_NOT_PRELOADED:
        say_of_preload(word);
        break;
    case STROBE_RECORDER_NO_TRACY:
        strobe_cli_error("record", "--tracy %s: %s", word->subject, strobe_err_text(word->err));
        break;
    case STROBE_RECORDER_BRIDGE_LISTENS:
    case STROBE_RECORDER_NO_BRIDGE:
    case STROBE_RECORDER_BRIDGE_NOT_MADE:
    case STROBE_RECORDER_BRIDGE_LEFT_OUT:
        say_of_bridge(word, show->quiet);
        break;
    case STROBE_RECORDER_KEPT:
        if (!show->quiet)
            fprintf(stderr, "%sstrobe: kept %s (%s)\n", isatty(2) ? "\r\033[K" : "", word->subject,
                    word->text);
        break;
    case STROBE_RECORDER_NOT_KEPT:
        strobe_cli_error("record", "saving %s: %s", word->subject, strobe_err_text(word->err));
        break;
    case STROBE_RECORDER_OUTLIVED:
    case STROBE_RECORDER_MORE_OUTLIVED:
        if (!show->quiet)
            say_of_outlived(word);
        break;
    case STROBE_RECORDER_TRACE_TAKEN:
    case STROBE_RECORDER_TRACE_RENAMED:
    case STROBE_RECORDER_TRACE_DELETED:
    case STROBE_RECORDER_TRACE_RESTORED:
    case STROBE_RECORDER_TRACE_LOST:
    case STROBE_RECORDER_TRACE_EMPTIED:
        say_of_file(word);
        break;
    default:
        if (!show->quiet)
            say_of_samples(word);
    }
}

static void show_status(void *context, struct strobe_recorder *recorder)
{
    struct show *show = context;
    uint64_t now = strobe_clock_mono_ns();
    bool last = strobe_recorder_state(recorder) == STROBE_RECORDER_ENDING;
    if (show->quiet || !isatty(2) || (now < show->next_ns && !last))
        return;
    show->next_ns = now + 200000000ull;
    if (last) {
        fputs("\r\033[K", stderr);
        return;
    }
    struct strobe_recorder_progress p;
    strobe_recorder_progress(recorder, &p);
    fprintf(stderr, "\r\033[Kstrobe: %.1fs  %.2f M events  %.1f MB  %llu dropped  %u processes",
            (double)p.elapsed_ns / 1e9, (double)p.status.n_events / 1e6,
            (double)p.status.n_bytes / 1e6, (unsigned long long)p.status.n_lost, p.status.n_live);
    if (p.tracy.n_clients || p.tracy.n_waiting)
        fprintf(stderr, "  %u of %u Tracy clients", p.tracy.n_live, p.tracy.n_clients);
    if (p.tracy.n_waiting)
        fputs(", waiting", stderr);
}

/* ---- why it could not start ---- */

/* What to type to record it from inside. */
static void show_nsenter(uint32_t pid)
{
    uint32_t inner = strobe_alive_inner_pid(pid);
    strobe_cli_error(
        "record",
        "the session's folder of process %u can't be used from here (another mount or user "
        "namespace); record it from inside: nsenter --target %u --user --mount --pid strobe "
        "record --pid %u",
        pid, pid, inner ? inner : pid);
}

/* Whether the process sees the same mounts; where that can't be asked, it is taken to. */
static bool is_beside(uint32_t pid)
{
    char path[64], own[64], its[64];
    snprintf(path, sizeof path, "/proc/%u/ns/mnt", pid);
    ssize_t n = readlink("/proc/self/ns/mnt", own, sizeof own);
    ssize_t n_its = readlink(path, its, sizeof its);
    return n < 0 || n_its < 0 || (n == n_its && !memcmp(own, its, (size_t)n));
}

/* A session is its user's own, root's too. False: the process is of this user, or in a container. */
static bool show_other_user(uint32_t pid)
{
    char path[64], line[256], name[64];
    unsigned uid = geteuid();
    snprintf(path, sizeof path, "/proc/%u/status", pid);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "Uid: %*u %u", &uid) == 1)
            break;
    if (status)
        fclose(status);
    if (uid == geteuid() || !is_beside(pid))
        return false;
    const struct passwd *user = getpwuid(uid);
    snprintf(name, sizeof name, "'#%u'", uid); /* as sudo takes a number */
    if (user)
        snprintf(name, sizeof name, "%s", user->pw_name);
    strobe_cli_error(
        "record",
        "process %u runs as another user (%s, uid %u), and a session is its user's own; "
        "record it as that user: sudo -u %s strobe record --pid %u",
        pid, user ? name : "without a name", uid, name, pid);
    return true;
}

static void show_no_client(uint32_t pid, const char *python)
{
    if (python[0])
        strobe_cli_error("record",
                         "process %u (%s) does not have the strobe package loaded (or it runs as "
                         "another user, or with STROBE_DISABLE); start it as 'strobe record -- "
                         "python ...', or let it import strobe",
                         pid, python);
    else
        strobe_cli_error("record",
                         "process %u does not have the Strobe library in it (or it runs as another "
                         "user, or with STROBE_DISABLE); link it with -lstrobe",
                         pid);
}

static void show_reason(const char *what, enum strobe_err err)
{
    strobe_cli_error("record", "%s: %s", what, strobe_err_text(err));
    if (err == STROBE_ERR_ACCESS || err == STROBE_ERR_NOSPACE)
        fputs("'strobe doctor' shows what is wrong with this machine's shared memory and rights\n",
              stderr);
}

/* The exit code. */
static int show_failure(const struct strobe_recorder_options *options,
                        const struct strobe_recorder_outcome *outcome)
{
    switch (outcome->failure) {
    case STROBE_RECORDER_FAILED_NOT:
        break;
    case STROBE_RECORDER_FAILED_NO_PROCESS:
        strobe_cli_error("record", "there is no process %u", options->pid);
        break;
    case STROBE_RECORDER_FAILED_NO_CLIENT:
        if (!show_other_user(options->pid))
            show_no_client(options->pid, outcome->python);
        break;
    case STROBE_RECORDER_FAILED_NAMESPACE:
        if (!show_other_user(options->pid))
            show_nsenter(options->pid);
        break;
    case STROBE_RECORDER_FAILED_BUSY:
        strobe_cli_error("record", "session '%s' is being recorded by another strobe",
                         outcome->session);
        break;
    case STROBE_RECORDER_FAILED_SESSION:
        if (options->pid && show_other_user(options->pid))
            break;
        if (options->pid)
            show_nsenter(options->pid);
        if (outcome->err == STROBE_ERR_INVALID && options->session)
            strobe_cli_error("record",
                             "'%s' can't be a session's name: 60 bytes at most, no slash, and no "
                             "dot at its begin",
                             options->session);
        else
            show_reason("the session's folder", outcome->err);
        break;
    case STROBE_RECORDER_FAILED_FILE:
        strobe_cli_error("record", "%s: %s; -o names another file", options->path,
                         strobe_err_text(outcome->err));
        break;
    case STROBE_RECORDER_FAILED_BUFFERS:
        show_reason("preparing the recording", outcome->err);
        break;
    case STROBE_RECORDER_FAILED_TRACY:
        show_reason("listening for Tracy's clients", outcome->err);
        break;
    case STROBE_RECORDER_FAILED_HOSTS:
        strobe_record_hosts_show_failure(options, outcome);
        break;
    case STROBE_RECORDER_FAILED_COMMAND:
        strobe_cli_error("record", "%s: %s", options->command[0], strerror(outcome->system_error));
        return outcome->system_error == ENOENT ? 127 : 126;
    }
    return STROBE_EXIT_FAILED;
}

/* ---- all of it ---- */

static int exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* On a terminal it stays when the recording has ended, until Ctrl-C. */
static void end_viewer(pid_t viewer)
{
    kill(viewer, isatty(STDOUT_FILENO) ? SIGUSR1 : SIGTERM);
    while (waitpid(viewer, NULL, 0) < 0 && errno == EINTR)
        ;
}

int strobe_cli_record_run(struct strobe_recorder_options *options, bool quiet, pid_t viewer)
{
    struct show show = {.quiet = quiet};
    struct strobe_recorder *recorder = NULL;
    options->context = &show;
    options->viewer = viewer > 0 ? (uint32_t)viewer : 0;
    options->say = say;
    options->round = show_status;
    enum strobe_err err = strobe_recorder_open(options, &recorder);
    if (err) {
        show_reason("preparing the recording", err);
        if (viewer > 0)
            end_viewer(viewer);
        return STROBE_EXIT_FAILED;
    }
    const struct strobe_recorder_outcome *outcome = strobe_recorder_outcome(recorder);
    int code;
    if (strobe_recorder_start(recorder)) {
        code = show_failure(options, outcome);
    } else {
        strobe_recorder_run(recorder);
        strobe_cli_record_end(outcome, quiet, options->command != NULL);
        code = outcome->err ? STROBE_EXIT_FAILED : STROBE_EXIT_OK;
    }
    strobe_recorder_wait(recorder);
    if (outcome->command_ended && outcome->command_status)
        code = exit_code(outcome->command_status);
    if (viewer > 0)
        end_viewer(viewer); /* while signals are the recorder's: Ctrl-C is for the viewer */
    strobe_recorder_close(recorder);
    return code;
}
