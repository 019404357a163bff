/* record_run.c - runs a recording: session, file and buffers first, then the command, then rounds
 * of polls until it is over. Two helper threads: one beats the heart, so that processes know their
 * recorder lives even while it writes; one syncs the file, so that a power cut loses a second at
 * most.
 *
 * Order at the start: everything that can fail comes before the command, so a recording is refused
 * before anything runs, or the command runs undisturbed to its end.  SPDX-License-Identifier: MIT
 */
#include "cli/record_run.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/record_end.h"
#include "cli/record_missing.h"
#include "cli/record_pid.h"
#include "cli/view.h"
#include "cli/record_python.h"
#include "cli/record_tracy.h"
#include "collector/collector.h"
#include "collector/flight.h"
#include "collector/recording_session.h"
#include "strobe/strobe.h"

#define SYNC_NS  1000000000ull
#define BEAT_NS  40000000
#define FLUSH_NS 250000000ull
#define IDLE_NS  24000000 /* a busy thread needs longer to fill a pool of the default size */

struct run {
    const struct strobe_record_options *options;
    struct strobe_recording_session session;
    struct strobe_file_writer *writer;
    struct strobe_collector *collector;
    struct strobe_flight *flight;    /* owned; NULL: an ordinary recording */
    struct strobe_tracy_host *tracy; /* owned; NULL: Tracy has no part in it */
    uint64_t triggered_ns;           /* when, 0: not */
    uint64_t triggered_tick;
    char reason[128];
    uint32_t n_kept;  /* traces saved by triggers */
    uint32_t n_names; /* that were theirs, or were passed over */
    pid_t child;
    int status; /* of the child, as wait gives it */
    bool child_ended;
    pthread_t heart, syncer;
    bool threads_run;
    pthread_mutex_t helpers_lock; /* guards helpers_stop */
    pthread_cond_t helpers_wake;
    bool helpers_stop;
    uint64_t start_ns, quiet_since_ns;
    int sync_error; /* atomic */
    struct strobe_python_watch pythons;
    struct strobe_missing missing;
};

static volatile sig_atomic_t stop_asked, trigger_asked;
static volatile sig_atomic_t forward_to; /* the command, 0: none */

static void sleep_ns(long ns)
{
    struct timespec ts = {ns / 1000000000, ns % 1000000000};
    nanosleep(&ts, NULL); /* a signal may cut it short */
}

/* ---- signals ---- */

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD, SIGPIPE, SIGXFSZ};
enum { N_WATCHED = sizeof watched / sizeof watched[0] };
static struct sigaction before_us[N_WATCHED];
static bool flies; /* SIGUSR2 is ours */

/* What the terminal sends (the kernel does), it sends to the command too; what a process sends to us alone is meant
 * for the command. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (number == SIGCHLD || number == SIGPIPE || number == SIGXFSZ)
        return;
    if (number == SIGUSR1 && info->si_code == SI_QUEUE &&
        info->si_value.sival_int == STROBE_VIEW_STOP && info->si_uid == getuid())
        stop_asked = 1; /* the viewer: the recording ends, the command goes on */
    else if (number == SIGUSR2 && flies)
        trigger_asked = 1;
    else if (!forward_to)
        stop_asked = 1;
    else if (info->si_code <= 0)
        kill(forward_to, number);
}

/* What was ignored when we were started (nohup) stays ignored, by us and by the command. */
static void watch_signals(const struct strobe_record_options *options)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    flies = options->flight_ns != 0;
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

/* ---- helper threads ---- */

/* Sleep until the helpers are asked to end: then true. They are never cancelled: that would load a
 * library, which takes memory that may not be there. */
static bool helper_sleep(struct run *run, uint64_t ns)
{
    struct timespec until = strobe_clock_timespec(strobe_clock_mono_ns() + ns);
    pthread_mutex_lock(&run->helpers_lock);
    while (!run->helpers_stop && pthread_cond_clockwait(&run->helpers_wake, &run->helpers_lock,
                                                        CLOCK_MONOTONIC, &until) != ETIMEDOUT)
        ;
    bool stop = run->helpers_stop;
    pthread_mutex_unlock(&run->helpers_lock);
    return stop;
}

static void *beat(void *context)
{
    struct run *run = context;
    do
        strobe_collector_beat(run->collector);
    while (!helper_sleep(run, BEAT_NS));
    return NULL;
}

static void *sync_file(void *context)
{
    struct run *run = context;
    while (!helper_sleep(run, SYNC_NS * 8 / 10)) {
        enum strobe_err err = run->flight ? STROBE_OK : strobe_file_sync(run->writer);
        if (err)
            __atomic_store_n(&run->sync_error, (int)err, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void ask_helpers_to_stop(struct run *run)
{
    pthread_mutex_lock(&run->helpers_lock);
    run->helpers_stop = true;
    pthread_cond_broadcast(&run->helpers_wake);
    pthread_mutex_unlock(&run->helpers_lock);
}

static bool start_threads(struct run *run)
{
    sigset_t all, old;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* the heart's own, when a pool was cut */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool heart = !pthread_create(&run->heart, NULL, beat, run);
    bool syncer = heart && !pthread_create(&run->syncer, NULL, sync_file, run);
    if (heart && !syncer) {
        ask_helpers_to_stop(run);
        pthread_join(run->heart, NULL);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return run->threads_run = heart && syncer;
}

static void stop_threads(struct run *run)
{
    if (!run->threads_run)
        return;
    ask_helpers_to_stop(run);
    pthread_join(run->heart, NULL);
    pthread_join(run->syncer, NULL);
    run->threads_run = false;
}

/* ---- the command ---- */

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

/* Start the command; what exec says comes back through a pipe that closes by itself. 0: it runs,
 * else errno. */
static int start_command(struct run *run)
{
    int report[2], err = 0;
    if (setenv("STROBE_SESSION", run->session.name, 1) || unsetenv("STROBE_TRACE") ||
        !strobe_cli_tracy_environment(run->tracy))
        return errno; /* before the fork, where it can still be refused */
    if ((err = strobe_cli_python_environment(run->options->python)) ||
        (err = strobe_cli_missing_open(&run->missing, run->session.dir)))
        return err;
    if (pipe2(report, O_CLOEXEC))
        return errno;
    prctl(PR_SET_CHILD_SUBREAPER,
          1);          /* children whose parents died are reaped here: their status is known */
    sigset_t all, old; /* no signal may come between the fork and the knowledge of whom it is for */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    run->child = fork();
    if (run->child == 0) {
        forget_signals();
        sigprocmask(SIG_SETMASK, &old, NULL);
        restore_limits();
        execvp(run->options->command[0], run->options->command);
        err = errno;
        if (write(report[1], &err, sizeof err) != sizeof err)
            _exit(126);
        _exit(127);
    }
    if (run->child < 0)
        err = errno;
    else
        forward_to = run->child;
    sigprocmask(SIG_SETMASK, &old, NULL);
    close(report[1]);
    ssize_t n;
    while (!err && (n = read(report[0], &err, sizeof err)) < 0 && errno == EINTR)
        ;
    close(report[0]);
    if (err && run->child > 0) {
        forward_to = 0;
        waitpid(run->child, NULL, 0);
    }
    return err;
}

static void reap(struct run *run)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        strobe_collector_exit_status(run->collector, (uint32_t)pid, status);
        if (run->tracy)
            strobe_tracy_host_exit_status(run->tracy, (uint32_t)pid, status);
        if (pid != run->child)
            continue;
        run->status = status;
        run->child_ended = true;
        forward_to = 0;
    }
}

/* ---- attaching ---- */

static bool choose_session(const struct strobe_record_options *options, char out[64])
{
    if (options->session) {
        snprintf(out, 64, "%s", options->session);
        return true;
    }
    if (!options->pid) {
        snprintf(out, 64, "record-%d-%llx", (int)getpid(),
                 (unsigned long long)(strobe_clock_mono_ns() / 1000000));
        return true;
    }
    enum strobe_err err = strobe_cli_find_session_of(options->pid, out);
    if (!err)
        return true;
    if (err == STROBE_ERR_ACCESS) {
        strobe_cli_show_nsenter(options->pid);
        return false;
    }
    if (kill((pid_t)options->pid, 0) && errno == ESRCH)
        strobe_cli_error("record", "there is no process %u", options->pid);
    else
        strobe_cli_error(
            "record",
            "process %u does not have the Strobe library in it (or it runs as another user, or "
            "with STROBE_DISABLE); link it with -lstrobe",
            options->pid);
    return false;
}

/* ---- the flight recorder ---- */

/* Where the n-th kept trace goes: the path itself, then path-2, path-3 ... */
static void nth_path(const char *path, uint32_t n, char *out, size_t cap)
{
    const char *dot = strrchr(path, '.');
    if (n == 1)
        snprintf(out, cap, "%s", path);
    else if (dot && !strchr(dot, '/'))
        snprintf(out, cap, "%.*s-%u%s", (int)(dot - path), path, n, dot);
    else
        snprintf(out, cap, "%s-%u", path, n);
}

/* The next of these; names of files that are no traces are passed over. */
static void kept_path(struct run *run, char *out, size_t cap)
{
    do
        nth_path(run->options->path, ++run->n_names, out, cap);
    while (strobe_file_is_foreign(out));
}

static void keep_flight(struct run *run)
{
    char path[1100];
    kept_path(run, path, sizeof path);
    strobe_collector_flush(run->collector);
    if (run->tracy)
        strobe_tracy_host_flush(run->tracy);
    enum strobe_err err = strobe_flight_save(run->flight, path, run->triggered_tick, run->reason);
    if (err)
        strobe_cli_error("record", "saving %s: %s", path, strobe_err_text(err));
    else if (!run->options->quiet)
        fprintf(stderr, "%sstrobe: kept %s (%s)\n", isatty(2) ? "\r\033[K" : "", path, run->reason);
    run->n_kept += !err;
    run->n_names -= !!err;
    run->triggered_ns = 0;
    strobe_collector_clear_trigger(run->collector);
}

static void notice_trigger(struct run *run, uint64_t now)
{
    bool crashed = run->child_ended && WIFSIGNALED(run->status);
    bool seen = strobe_collector_status(run->collector).triggered;
    if (!run->triggered_ns && (seen || trigger_asked || crashed)) {
        run->triggered_ns = now;
        run->triggered_tick = strobe_collector_now(run->collector);
        snprintf(run->reason, sizeof run->reason, "%s",
                 crashed         ? "the program died by a signal"
                 : trigger_asked ? "SIGUSR2"
                                 : "asked for by the program, or a zone over its limit");
        trigger_asked = 0;
    }
}

/* Rotate the spool, notice triggers, save when the time after one is over. */
static void fly(struct run *run, uint64_t now)
{
    const struct strobe_record_options *options = run->options;
    uint64_t after = options->after_ns ? options->after_ns : options->flight_ns / 10;
    notice_trigger(run, now);
    if (run->triggered_ns && now - run->triggered_ns >= after)
        keep_flight(run);
    if (!strobe_flight_is_due(run->flight, now))
        return;
    strobe_collector_flush(run->collector);
    if (run->tracy)
        strobe_tracy_host_pause(run->tracy);
    if (!strobe_flight_rotate(run->flight, now)) {
        run->writer = strobe_flight_events(run->flight);
        strobe_collector_set_writer(run->collector, run->writer);
    }
    if (run->tracy)
        strobe_tracy_host_go_on(run->tracy, run->writer);
}

/* ---- the rounds ---- */

static void show_status(struct run *run, bool last)
{
    static uint64_t next;
    uint64_t now = strobe_clock_mono_ns();
    if (run->options->quiet || !isatty(2) || (now < next && !last))
        return;
    next = now + 200000000ull;
    if (last) {
        fputs("\r\033[K", stderr);
        return;
    }
    struct strobe_collector_status s = strobe_collector_status(run->collector);
    struct strobe_tracy_host_status tracy = {0};
    if (run->tracy)
        tracy = strobe_tracy_host_status(run->tracy);
    fprintf(stderr, "\r\033[Kstrobe: %.1fs  %.2f M events  %.1f MB  %llu dropped  %u processes",
            (double)(now - run->start_ns) / 1e9, (double)s.n_events / 1e6, (double)s.n_bytes / 1e6,
            (unsigned long long)s.n_lost, s.n_live);
    if (tracy.n_clients || tracy.n_waiting)
        fprintf(stderr, "  %u of %u Tracy clients", tracy.n_live, tracy.n_clients);
    if (tracy.n_waiting)
        fputs(", waiting", stderr);
}

/* Whether the recording is over. */
static bool is_over(struct run *run, uint64_t now)
{
    const struct strobe_record_options *options = run->options;
    struct strobe_collector_status status = strobe_collector_status(run->collector);
    if (stop_asked || (options->for_ns && now - run->start_ns >= options->for_ns))
        return true;
    if (options->command)
        return run->child_ended;
    if (status.n_live)
        run->quiet_since_ns = now;
    if (options->n_tracy && !options->pid && !options->session)
        return strobe_cli_tracy_is_over(run->tracy);
    if (options->pid)
        return status.n_procs && !status.n_live;
    if (options->serve)
        return now - run->quiet_since_ns > (status.n_procs ? 300000000ull : 5000000000ull);
    return false;
}

static void record_rounds(struct run *run)
{
    uint64_t next_flush = 0, next_sync = run->start_ns + 100000000ull;
    for (;;) {
        uint64_t now = strobe_clock_mono_ns();
        bool flush = now >= next_flush;
        if (flush)
            next_flush = now + FLUSH_NS;
        uint64_t n = strobe_collector_poll(run->collector, flush);
        if (now >= next_sync) {
            strobe_collector_sync_clock(run->collector);
            next_sync = now + 1000000000ull;
        }
        reap(run);
        if (flush && run->options->command)
            strobe_cli_python_look(&run->pythons, run->collector);
        if (run->options->command)
            strobe_cli_missing_look(&run->missing, run->collector, true);
        if (run->flight)
            fly(run, now);
        show_status(run, false);
        if (is_over(run, now))
            return;
        strobe_collector_wait(run->collector, n > 100000 ? 500000
                                              : n > 1000 ? 2000000
                                              : n        ? 8000000
                                                         : IDLE_NS);
    }
}

/* ---- from start to end ---- */

static int fail(struct run *run, const char *what, enum strobe_err err)
{
    strobe_cli_error("record", "%s: %s", what, strobe_err_text(err));
    if (err == STROBE_ERR_ACCESS || err == STROBE_ERR_NOSPACE)
        fputs("'strobe doctor' shows what is wrong with this machine's shared memory and rights\n",
              stderr);
    strobe_recording_end(&run->session);
    strobe_recording_release(&run->session);
    return STROBE_EXIT_FAILED;
}

/* Nothing was recorded: leave no file. */
static void discard_file(struct run *run)
{
    if (run->flight) {
        strobe_flight_close(run->flight);
        return;
    }
    strobe_file_abandon(run->writer);
    unlink(run->options->path);
}

static enum strobe_err open_collector(struct run *run)
{
    struct strobe_collector_options options = {
        .session_dir = run->session.dir,
        .policy = run->options->policy,
        .stack_depth = 32,
        .max_file_bytes = run->options->max_file_bytes,
        .only_pid = run->options->pid,
        .trigger_zone = run->options->trigger_zone,
        .trigger_ns = run->options->trigger_ns,
        .records_writer = run->flight ? strobe_flight_records(run->flight) : NULL,
    };
    return strobe_collector_open(&options, run->writer, &run->collector);
}

/* Last of all: nobody is connected to before file and buffers are ready. */
static int prepare_tracy(struct run *run)
{
    enum strobe_err err =
        strobe_cli_tracy_open(run->options, run->session.dir, run->collector, run->writer,
                              run->flight ? strobe_flight_records(run->flight) : NULL, &run->tracy);
    if (!err)
        return -1;
    stop_threads(run);
    strobe_collector_close(run->collector);
    discard_file(run);
    return fail(run, "listening for Tracy's clients", err);
}

/* Session, file, buffers, threads. An exit code, or -1 when all is ready. */
static int prepare(struct run *run)
{
    const struct strobe_record_options *options = run->options;
    char session[64];
    if (!choose_session(options, session))
        return STROBE_EXIT_FAILED;
    enum strobe_err err = strobe_recording_begin(session, options->path, options->pool_bytes, 0,
                                                 options->policy, 32, &run->session);
    if (err == STROBE_ERR_BUSY) {
        strobe_cli_error("record", "session '%s' is being recorded by another strobe", session);
        return STROBE_EXIT_FAILED;
    }
    if (err && options->pid)
        strobe_cli_show_nsenter(options->pid);
    if (err)
        return fail(run, "the session's folder", err);
    if (options->pid)
        __atomic_store_n(&run->session.page->recording, 0, __ATOMIC_SEQ_CST);
    if (options->flight_ns) {
        err = strobe_flight_open(options->path, run->session.dir, options->flight_ns, &run->flight);
        run->writer = err ? NULL : strobe_flight_events(run->flight);
    } else {
        err = strobe_file_create(options->path, run->session.dir, SYNC_NS, &run->writer);
    }
    if (err)
        return fail(run, options->path, err);
    err = open_collector(run);
    if (err || !start_threads(run)) {
        discard_file(run);
        return fail(run, "preparing the recording", err ? err : STROBE_ERR_NOMEM);
    }
    return prepare_tracy(run);
}

static int exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int finish(struct run *run)
{
    struct strobe_record_summary summary = {.path = run->options->path};
    if (run->flight)
        fly(run, strobe_clock_mono_ns());
    show_status(run, true);
    strobe_recording_end(&run->session);
    if (run->tracy)
        strobe_tracy_host_stop(run->tracy);
    strobe_collector_stop(run->collector);
    reap(run);
    strobe_cli_missing_look(&run->missing, run->collector, false);
    strobe_cli_missing_close(&run->missing);
    strobe_tracy_host_close(run->tracy);
    run->tracy = NULL;
    if (run->options->command)
        strobe_cli_python_end(run->options->command[0],
                              strobe_collector_status(run->collector).n_procs, run->collector);
    stop_threads(run);
    uint64_t span = strobe_clock_mono_ns() - run->start_ns;
    if (span < 20000000ull) /* a longer base for the clock's rate */
        sleep_ns((long)(20000000ull - span));
    summary.duration_ns = span;
    summary.status = strobe_collector_status(run->collector);
    if (run->flight)
        notice_trigger(run, strobe_clock_mono_ns()); /* the last events, or their end, may be one */
    if (run->flight && run->triggered_ns)
        keep_flight(run);
    enum strobe_err err = strobe_collector_close(run->collector), closed = STROBE_OK;
    if (run->flight)
        strobe_flight_close(run->flight);
    else
        closed = strobe_file_finish(run->writer);
    enum strobe_err synced = (enum strobe_err)run->sync_error;
    summary.err = err ? err : closed ? closed : synced;
    snprintf(summary.ledger, sizeof summary.ledger, "%s/" STROBE_LEDGER_FILE, run->session.dir);
    if (!err || access(summary.ledger, F_OK))
        summary.ledger[0] = 0;
    summary.is_flight = run->flight != NULL;
    summary.n_kept = run->n_kept;
    strobe_recording_release(&run->session);
    if (run->options->command)
        summary.exit_code = exit_code(run->status);
    return strobe_cli_record_end(&summary, run->options->quiet, run->options->command != NULL);
}

/* The recording is over, the command is not (--for): stay with it, pass its signals on and its end. */
static int wait_for_command(struct run *run, int code)
{
    int status;
    pid_t pid;
    while (!run->child_ended && ((pid = waitpid(-1, &status, 0)) > 0 || errno == EINTR))
        if (pid == run->child) {
            run->child_ended = true;
            code = status ? exit_code(status) : code;
        }
    return code;
}

int strobe_cli_record_run(const struct strobe_record_options *options)
{
    struct run run = {.options = options,
                      .helpers_lock = PTHREAD_MUTEX_INITIALIZER,
                      .helpers_wake = PTHREAD_COND_INITIALIZER};
    run.session.fd = run.missing.fd = -1;
    watch_signals(options);
    raise_limits();
    int code = prepare(&run);
    if (code >= 0)
        return code;
    run.start_ns = run.quiet_since_ns = strobe_clock_mono_ns();
    if (options->ready_fd >= 0) {
        if (write(options->ready_fd, "r", 1) < 0)
            stop_asked = 1;
        close(options->ready_fd);
    }
    if (options->command) {
        int err = start_command(&run);
        if (err) {
            strobe_cli_error("record", "%s: %s", options->command[0], strerror(err));
            stop_threads(&run);
            strobe_tracy_host_close(run.tracy);
            strobe_collector_close(run.collector);
            discard_file(&run);
            strobe_recording_end(&run.session);
            strobe_recording_release(&run.session);
            return err == ENOENT ? 127 : 126;
        }
    }
    record_rounds(&run);
    code = finish(&run);
    return options->command ? wait_for_command(&run, code) : code;
}
