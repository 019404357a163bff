/* recorder.c - a recording's life: session, file and buffers first, then the command, then rounds of polls until it is over, then
 * the end in order. States and contract: recorder.h.
 *
 * Order at the start: everything that can fail comes before the command, so a recording is refused
 * before anything runs, or the command runs undisturbed to its end.  SPDX-License-Identifier: MIT */
#include "recorder/recorder.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/moves.h"
#include "query/pair.h"
#include "recorder/asked.h"
#include "recorder/attach.h"
#include "recorder/bridge_side.h"
#include "recorder/device_side.h"
#include "recorder/hosts_side.h"
#include "recorder/internal.h"
#include "recorder/names_side.h"
#include "recorder/outliving.h"
#include "recorder/preload_side.h"
#include "recorder/sample_side.h"
#include "recorder/tracy_side.h"

#define FLUSH_NS 250000000ull
#define IDLE_NS  24000000    /* a busy thread needs longer to fill a pool of the default size */
#define QUIET_NS 96000000ull /* likewise, while nobody has a pool */
#define QUIET_AFTER_NS \
    1000000000ull /* a command's first processes, and its end if it is short, are seen soon */
#define CLOCK_RATE_NS \
    6000000ull /* between two clock points that give a rate: what is placed by them is as short */

/* ---- states ---- */

/* moves of strobe_recorder_state */
static const uint8_t legal[][2] = {
    {STROBE_RECORDER_MADE, STROBE_RECORDER_STARTING},
    {STROBE_RECORDER_STARTING, STROBE_RECORDER_RECORDING},
    {STROBE_RECORDER_STARTING, STROBE_RECORDER_FAILED},
    {STROBE_RECORDER_RECORDING, STROBE_RECORDER_ENDING},
    {STROBE_RECORDER_ENDING, STROBE_RECORDER_ENDED},
};

static void strobe_recorder_move(struct strobe_recorder *r, enum strobe_recorder_state to)
{
    STROBE_ASSERT(STROBE_MOVE_IS_LEGAL(legal, r->state, to));
    r->state = to;
}

enum strobe_recorder_state strobe_recorder_state(const struct strobe_recorder *r)
{
    return r->state;
}

/* ---- what others hear ---- */

void strobe_recorder_say(const struct strobe_recorder *r, struct strobe_recorder_word word)
{
    if (r->options.say)
        r->options.say(r->options.context, &word);
}

static void tell_round(struct strobe_recorder *r)
{
    STROBE_ASSERT(r->state == STROBE_RECORDER_RECORDING || r->state == STROBE_RECORDER_ENDING);
    if (r->options.round)
        r->options.round(r->options.context, r);
}

void strobe_recorder_progress(struct strobe_recorder *r, struct strobe_recorder_progress *out)
{
    STROBE_ASSERT(r->state == STROBE_RECORDER_RECORDING || r->state == STROBE_RECORDER_ENDING);
    STROBE_ASSERT(r->collector);
    *out = (struct strobe_recorder_progress){
        .elapsed_ns = strobe_clock_mono_ns() - r->start_ns,
        .status = strobe_collector_status(r->collector),
    };
    if (r->tracy)
        out->tracy = strobe_tracy_host_status(r->tracy);
}

const struct strobe_recorder_outcome *strobe_recorder_outcome(const struct strobe_recorder *r)
{
    return &r->outcome;
}

struct strobe_build_store_options strobe_recorder_store(const struct strobe_recorder *r)
{
    return (struct strobe_build_store_options){
        .writer = r->writer,
        .records_writer = r->flight ? strobe_flight_records(r->flight) : NULL,
        .new_proc = strobe_recorder_new_proc,
        .lose = strobe_recorder_lose,
        .arg = r->collector,
        .max_file_bytes = r->options.max_file_bytes,
    };
}

/* ---- open ---- */

/* A command, a process or a session; or Tracy clients alone. */
static bool names_one_thing(const struct strobe_recorder_options *options)
{
    int n = !!options->command + !!options->pid + !!options->session;
    return n == 1 || (n == 0 && options->n_tracy && !options->no_tracy);
}

enum strobe_err strobe_recorder_open(const struct strobe_recorder_options *options,
                                     struct strobe_recorder **out)
{
    if (!names_one_thing(options) || !options->path[0] ||
        options->n_tracy > STROBE_RECORDER_TRACY_MAX)
        return STROBE_ERR_INVALID;
    struct strobe_recorder *r = calloc(1, sizeof *r);
    if (!r)
        return STROBE_ERR_NOMEM;
    r->options = *options;
    r->session.fd = r->missing.fd = r->file.fd = -1;
    r->bridge = -1;
    pthread_mutex_init(&r->helpers_lock, NULL);
    pthread_cond_init(&r->helpers_wake, NULL);
    snprintf(r->outcome.path, sizeof r->outcome.path, "%s", options->path);
    STROBE_ASSERT(r->state == STROBE_RECORDER_MADE);
    *out = r;
    return STROBE_OK;
}

/* ---- start ---- */

/* Whatever the start made, in reverse; nothing was recorded, so no file is left. */
static void undo_start(struct strobe_recorder *r)
{
    STROBE_ASSERT(r->state == STROBE_RECORDER_STARTING && !r->child);
    strobe_recorder_stop_helpers(r);
    strobe_tracy_host_close(r->tracy);
    strobe_devices_close(r->devices);
    r->devices = NULL;
    strobe_sampler_close(r->sampler);
    r->sampler = NULL;
    strobe_hosts_close(r->hosts);
    r->hosts = NULL;
    strobe_addresses_free(&r->addresses);
    strobe_probes_free(&r->probes);
    if (r->collector)
        strobe_collector_close(r->collector);
    if (r->flight) {
        strobe_flight_close(r->flight);
    } else if (r->writer) {
        strobe_file_abandon(r->writer);
        unlink(r->options.path);
    }
    strobe_trace_file_close(&r->file);
    strobe_recorder_missing_close(&r->missing);
    strobe_recording_session_end(&r->session);
    strobe_recording_session_release(&r->session);
    r->tracy = NULL;
    r->collector = NULL;
    r->flight = NULL;
    r->writer = NULL;
}

static enum strobe_err fail(struct strobe_recorder *r, enum strobe_recorder_failure failure,
                            enum strobe_err err)
{
    STROBE_ASSERT(failure != STROBE_RECORDER_FAILED_NOT && err);
    STROBE_ASSERT(!r->outcome.failure); /* the first one is the one that is named */
    r->outcome.failure = failure;
    r->outcome.err = err;
    if (failure == STROBE_RECORDER_FAILED_NO_CLIENT &&
        !strobe_recorder_python_is(r->options.pid, r->outcome.python, sizeof r->outcome.python))
        r->outcome.python[0] = 0;
    undo_start(r);
    strobe_recorder_move(r, STROBE_RECORDER_FAILED);
    return err;
}

/* A new session's name. */
static void name_session(char out[64])
{
    snprintf(out, 64, "record-%d-%llx", (int)getpid(),
             (unsigned long long)(strobe_clock_mono_ns() / 1000000));
}

/* The session's name. Not FAILED_NOT: there is none. A process without a client has samples alone, in a session that nobody joins. */
static enum strobe_recorder_failure choose_session(struct strobe_recorder *r, char out[64],
                                                   enum strobe_err *err)
{
    const struct strobe_recorder_options *options = &r->options;
    *err = STROBE_OK;
    if (options->session) {
        snprintf(out, 64, "%s", options->session);
        return STROBE_RECORDER_FAILED_NOT;
    }
    if (!options->pid) {
        name_session(out);
        return STROBE_RECORDER_FAILED_NOT;
    }
    *err = strobe_recorder_find_session_of(options->pid, out);
    if (!*err)
        return STROBE_RECORDER_FAILED_NOT;
    if (strobe_recorder_sample_may(r)) {
        *err = STROBE_OK;
        r->only_samples = true;
        name_session(out);
        return STROBE_RECORDER_FAILED_NOT;
    }
    if (*err == STROBE_ERR_ACCESS)
        return STROBE_RECORDER_FAILED_NAMESPACE;
    return kill((pid_t)options->pid, 0) && errno == ESRCH ? STROBE_RECORDER_FAILED_NO_PROCESS
                                                          : STROBE_RECORDER_FAILED_NO_CLIENT;
}

/* Where another recorder writes to the file of that name now, the next name beside it that is free: name-2 ... */
static enum strobe_err create_trace(struct strobe_recorder *r)
{
    enum { NAMES = 1000 };
    char asked[sizeof r->options.path], *path = r->options.path;
    enum strobe_err err = STROBE_ERR_BUSY;
    memcpy(asked, path, sizeof asked);
    for (uint32_t n = 1; err == STROBE_ERR_BUSY && n <= NAMES; n++) {
        strobe_trace_nth_path(asked, n, path, sizeof asked);
        if (n == 1 || access(path, F_OK))
            err = strobe_file_create(path, r->session.dir, STROBE_RECORDER_SYNC_NS, &r->writer);
    }
    if (err || !strcmp(asked, path))
        return err;
    snprintf(r->outcome.path, sizeof r->outcome.path, "%s", path);
    snprintf(r->session.page->trace_path, sizeof r->session.page->trace_path, "%s", path);
    strobe_recorder_say(r, (struct strobe_recorder_word){.event = STROBE_RECORDER_TRACE_TAKEN,
                                                         .subject = asked,
                                                         .text = path});
    return STROBE_OK;
}

static enum strobe_err open_file(struct strobe_recorder *r)
{
    const struct strobe_recorder_options *options = &r->options;
    STROBE_ASSERT(!r->writer && !r->flight);
    enum strobe_err err;
    if (!options->flight_ns) {
        err = create_trace(r);
        return err ? err : strobe_trace_file_open(&r->file, r->writer, options->path);
    }
    err = strobe_flight_open(options->path, r->session.dir, options->flight_ns, &r->flight);
    r->writer = err ? NULL : strobe_flight_events(r->flight);
    return err;
}

static enum strobe_err open_collector(struct strobe_recorder *r)
{
    STROBE_ASSERT(r->writer && !r->collector);
    struct strobe_collector_options options = {
        .session_dir = r->session.dir,
        .policy = r->options.policy,
        .stack_depth = 32,
        .max_file_bytes = r->options.max_file_bytes,
        .only_pid = r->options.pid,
        .trigger_zone = r->options.trigger_zone,
        .trigger_ns = r->options.trigger_ns,
        .records_writer = r->flight ? strobe_flight_records(r->flight) : NULL,
        .listener = strobe_recorder_names_listener(r),
    };
    return strobe_collector_open(&options, r->writer, &r->collector);
}

/* Session, file, buffers, threads; Tracy's last: nobody is connected to before file and buffers are ready. */
static enum strobe_err prepare(struct strobe_recorder *r)
{
    const struct strobe_recorder_options *options = &r->options;
    enum strobe_err err;
    enum strobe_recorder_failure none = choose_session(r, r->outcome.session, &err);
    if (none)
        return fail(r, none, err);
    err = strobe_recording_session_begin(r->outcome.session, options->path, options->pool_bytes, 0,
                                         options->policy, 32, &r->session);
    if (err)
        return fail(r,
                    err == STROBE_ERR_BUSY ? STROBE_RECORDER_FAILED_BUSY
                                           : STROBE_RECORDER_FAILED_SESSION,
                    err);
    if (options->pid && !r->only_samples)
        __atomic_store_n(&r->session.page->recording, 0, __ATOMIC_SEQ_CST);
    if ((err = open_file(r)))
        return fail(r, STROBE_RECORDER_FAILED_FILE, err);
    err = open_collector(r);
    if (!err)
        err = strobe_recorder_devices_open(r);
    if (!err && !strobe_recorder_start_helpers(r))
        err = STROBE_ERR_THREADS;
    if (err)
        return fail(r, STROBE_RECORDER_FAILED_BUFFERS, err);
    if ((err = strobe_recorder_tracy_open(r)))
        return fail(r, STROBE_RECORDER_FAILED_TRACY, err);
    if ((err = strobe_recorder_hosts_open(r)))
        return fail(r, STROBE_RECORDER_FAILED_HOSTS, err);
    if (options->pid)
        strobe_recorder_sample_open(r, options->pid, true);
    return STROBE_OK;
}

enum strobe_err strobe_recorder_start(struct strobe_recorder *r)
{
    STROBE_ASSERT(r->state == STROBE_RECORDER_MADE);
    const struct strobe_recorder_options *options = &r->options;
    if (options->bridge_port >= 0) {
        unlink(options->path); /* no viewer must take an old trace for this one */
        r->bridge = strobe_recorder_bridge_start(r);
    }
    strobe_recorder_move(r, STROBE_RECORDER_STARTING);
    if (!strobe_recorder_take_process(r))
        return fail(r, STROBE_RECORDER_FAILED_BUSY, STROBE_ERR_BUSY);
    enum strobe_err err = prepare(r);
    if (err)
        return err;
    r->start_ns = r->quiet_since_ns = strobe_clock_mono_ns();
    if (options->ready_fd >= 0) {
        if (write(options->ready_fd, "r", 1) < 0)
            strobe_recorder_ask_to_stop(r);
        close(options->ready_fd);
    }
    if (options->command && (r->outcome.system_error = strobe_recorder_start_command(r)))
        return fail(r, STROBE_RECORDER_FAILED_COMMAND,
                    strobe_err_from_errno(r->outcome.system_error));
    STROBE_ASSERT(r->collector && r->writer && r->threads_run);
    strobe_recorder_move(r, STROBE_RECORDER_RECORDING);
    if (options->command)
        r->says_no_functions =
            strobe_recorder_missing_command(&r->missing, r->collector, options->command[0],
                                            (uint32_t)r->child, strobe_recorder_preload_what(r));
    return STROBE_OK;
}

/* ---- the rounds ---- */

void strobe_recorder_ask_to_stop(struct strobe_recorder *r)
{
    __atomic_store_n(&r->stop_asked, 1, __ATOMIC_RELAXED);
}

/* Whether the recording is over. */
static bool is_over(struct strobe_recorder *r, uint64_t now)
{
    const struct strobe_recorder_options *options = &r->options;
    struct strobe_collector_status status = strobe_collector_status(r->collector);
    STROBE_ASSERT(now >= r->start_ns);
    if (strobe_recorder_is_asked_to_stop() || __atomic_load_n(&r->stop_asked, __ATOMIC_RELAXED) ||
        (options->for_ns && now - r->start_ns >= options->for_ns))
        return true;
    if (options->command)
        return r->outcome.command_ended &&
               !(options->all && (status.n_live || strobe_recorder_is_outlived(r)));
    if (status.n_live)
        r->quiet_since_ns = now;
    if (options->n_tracy && !options->pid && !options->session)
        return strobe_recorder_tracy_is_over(r);
    if (r->only_samples)
        return !r->sampler || strobe_sampler_is_over(r->sampler);
    if (options->pid)
        return status.n_clients && !status.n_live;
    if (options->serve)
        return now - r->quiet_since_ns > (status.n_procs ? 300000000ull : 5000000000ull);
    return false;
}

/* Has somebody renamed or deleted the trace? That is said at once, and noted in it while `may_note`. */
static void look_at_file(struct strobe_recorder *r, bool may_note)
{
    static const char *const how[] = {
        [STROBE_TRACE_FILE_IS_DELETED] = "deleted",
        [STROBE_TRACE_FILE_IS_REPLACED] = "replaced by another file",
        [STROBE_TRACE_FILE_FOLDER_IS_GONE] = "deleted with its folder",
    };
    char before[STROBE_TRACE_PATH_MAX], note[2 * STROBE_TRACE_PATH_MAX + 200];
    memcpy(before, r->file.path, sizeof before);
    enum strobe_trace_file_news news = strobe_trace_file_look(&r->file);
    if (!news)
        return;
    if (news == STROBE_TRACE_FILE_IS_EMPTIED) {
        strobe_recorder_say(r, (struct strobe_recorder_word){.event = STROBE_RECORDER_TRACE_EMPTIED,
                                                             .subject = before});
        if (may_note)
            strobe_collector_note(r->collector, 0,
                                  "somebody truncated this trace while it was recorded: what was "
                                  "in it until then is gone");
        return;
    }
    bool renamed = news == STROBE_TRACE_FILE_IS_RENAMED;
    STROBE_ASSERT(renamed == (r->file.state == STROBE_TRACE_FILE_NAMED));
    STROBE_ASSERT(renamed || how[news]);
    struct strobe_recorder_word word = {
        .event = renamed ? STROBE_RECORDER_TRACE_RENAMED : STROBE_RECORDER_TRACE_DELETED,
        .subject = before,
        .text = renamed ? r->file.path : how[news],
    };
    strobe_recorder_say(r, word);
    if (renamed)
        snprintf(note, sizeof note, "this trace was renamed while it was recorded: %s became %s",
                 before, r->file.path);
    else
        snprintf(note, sizeof note,
                 "this trace, then %s, was %s while it was recorded; the recorder wrote it to a "
                 "file again when it ended",
                 before, how[news]);
    if (may_note)
        strobe_collector_note(r->collector, 0, note);
}

/* What happens in a round beside the drain. */
static void look_around(struct strobe_recorder *r, uint64_t now, bool flush)
{
    strobe_recorder_reap(r);
    if (flush && r->options.command)
        strobe_recorder_python_look(&r->pythons, r->collector, strobe_recorder_newest(r));
    if (r->options.command)
        strobe_recorder_missing_look(&r->missing, r->collector, true);
    if (flush) {
        strobe_devices_look(r->devices);
        look_at_file(r, true);
    }
    if (r->flight)
        strobe_recorder_fly(r, now);
    tell_round(r);
}

/* Until the next round, where the last one found nothing. Nobody who joins, and no signal, is waited for longer: both end the wait. */
static uint64_t idle_ns(const struct strobe_recorder *r, uint64_t now)
{
    STROBE_ASSERT(now >= r->start_ns);
    uint64_t spent = now - r->start_ns, until = r->options.for_ns ? r->options.for_ns : UINT64_MAX;
    if (r->flight || spent < QUIET_AFTER_NS || !strobe_collector_is_quiet(r->collector))
        return IDLE_NS;
    return until - spent < QUIET_NS ? IDLE_NS : QUIET_NS;
}

static void record_rounds(struct strobe_recorder *r)
{
    uint64_t next_flush = 0, next_sync = r->start_ns + 100000000ull;
    for (;;) {
        uint64_t now = strobe_clock_mono_ns();
        bool flush = now >= next_flush;
        strobe_collector_check_clock(r->collector, now);
        if (flush)
            next_flush = now + FLUSH_NS;
        uint64_t n = strobe_collector_poll(r->collector, flush);
        if (now >= next_sync) {
            strobe_collector_sync_clock(r->collector);
            next_sync = now + 1000000000ull;
        }
        look_around(r, now, flush);
        if (is_over(r, now))
            return;
        strobe_collector_wait(r->collector, n > 100000 ? 500000
                                            : n > 1000 ? 2000000
                                            : n        ? 8000000
                                                       : idle_ns(r, now));
    }
}

/* ---- the end ---- */

/* Gates shut, rings drained, nobody writes to the file but this thread. */
static void stop_sources(struct strobe_recorder *r)
{
    strobe_recording_session_end(&r->session);
    if (r->tracy)
        strobe_tracy_host_stop(r->tracy);
    strobe_collector_stop(r->collector);
    r->outcome.duration_ns = strobe_clock_mono_ns() - r->start_ns;
    strobe_recorder_reap(r);
    strobe_recorder_sample_stop(r);
    strobe_recorder_hosts_stop(r);
    strobe_recorder_name_outliving(r);
    strobe_recorder_missing_look(&r->missing, r->collector, false);
    strobe_recorder_missing_close(&r->missing);
    strobe_tracy_host_close(r->tracy);
    r->tracy = NULL;
    strobe_devices_close(r->devices);
    r->devices = NULL;
    strobe_recorder_names_end(r);
    strobe_sampler_close(r->sampler);
    r->sampler = NULL;
    if (r->options.command)
        strobe_recorder_python_end(&r->pythons, r->options.command[0], r->collector);
    memcpy(r->outcome.python, r->pythons.first, sizeof r->outcome.python);
    strobe_recorder_stop_helpers(r);
    look_at_file(r, true); /* the last moment for a note */
}

/* Have the finished file under a name. */
static enum strobe_err settle_file(struct strobe_recorder *r)
{
    char before[STROBE_TRACE_PATH_MAX];
    look_at_file(r, false);
    memcpy(before, r->file.path, sizeof before);
    enum strobe_err err = strobe_trace_file_settle(&r->file);
    struct strobe_recorder_word word = {
        .event = err ? STROBE_RECORDER_TRACE_LOST : STROBE_RECORDER_TRACE_RESTORED,
        .subject = r->file.path,
        .text = before,
        .err = err,
    };
    if (r->file.state != STROBE_TRACE_FILE_NAMED)
        strobe_recorder_say(r, word);
    memcpy(r->outcome.path, r->file.path, sizeof r->outcome.path);
    strobe_trace_file_close(&r->file);
    return err;
}

/* Collector and file are closed; the first error of them. */
static enum strobe_err close_file(struct strobe_recorder *r)
{
    STROBE_ASSERT(!r->threads_run && !r->tracy && !r->devices && !r->sampler && !r->hosts);
    struct strobe_recorder_outcome *outcome = &r->outcome;
    enum strobe_err err = strobe_collector_close(r->collector), closed = STROBE_OK;
    if (r->flight) {
        strobe_flight_close(r->flight);
    } else {
        outcome->was_emptied = r->file.was_emptied;
        if (outcome->was_emptied) { /* a footer would tell of blocks that are gone */
            strobe_file_abandon(r->writer);
            closed = STROBE_ERR_EMPTIED;
        } else if (outcome->status.no_memory ||
                   outcome->status
                       .n_left) { /* a footer would call it whole: it is to be recovered */
            strobe_file_abandon(r->writer);
        } else {
            strobe_pair_write(r->writer, NULL); /* where that fails readers pair themselves */
            closed = strobe_file_finish(r->writer);
        }
        enum strobe_err settled = settle_file(r);
        closed = closed ? closed : settled;
    }
    snprintf(outcome->ledger, sizeof outcome->ledger, "%s/" STROBE_LEDGER_FILE, r->session.dir);
    if (!err || access(outcome->ledger, F_OK))
        outcome->ledger[0] = 0;
    outcome->is_flight = r->flight != NULL;
    r->collector = NULL;
    r->flight = NULL;
    r->writer = NULL;
    return err ? err : closed ? closed : (enum strobe_err)r->sync_error;
}

static void end(struct strobe_recorder *r)
{
    strobe_recorder_move(r, STROBE_RECORDER_ENDING);
    if (r->flight)
        strobe_recorder_fly(r, strobe_clock_mono_ns());
    tell_round(r);
    stop_sources(r);
    uint64_t span = strobe_clock_mono_ns() - r->start_ns;
    if (span < CLOCK_RATE_NS) { /* a longer base for the clock's rate */
        struct timespec rest = strobe_clock_timespec(CLOCK_RATE_NS - span);
        nanosleep(&rest, NULL); /* a signal may cut it short */
    }
    r->outcome.closing_ns = span - r->outcome.duration_ns;
    r->outcome.status = strobe_collector_status(r->collector);
    if (r->flight)
        strobe_recorder_land(r);
    r->outcome.err = close_file(r);
    strobe_recording_session_release(&r->session);
    STROBE_ASSERT(r->session.fd < 0 && r->missing.fd < 0);
    strobe_recorder_move(r, STROBE_RECORDER_ENDED);
}

enum strobe_err strobe_recorder_run(struct strobe_recorder *r)
{
    STROBE_ASSERT(r->state == STROBE_RECORDER_RECORDING);
    record_rounds(r);
    end(r);
    return r->outcome.err;
}

void strobe_recorder_wait(struct strobe_recorder *r)
{
    strobe_recorder_wait_command(r);
    strobe_recorder_bridge_end(r->bridge);
    r->bridge = -1;
}

void strobe_recorder_close(struct strobe_recorder *r)
{
    if (!r)
        return;
    if (r->state == STROBE_RECORDER_RECORDING)
        end(r);
    STROBE_ASSERT(r->state != STROBE_RECORDER_STARTING && r->state != STROBE_RECORDER_ENDING);
    STROBE_ASSERT(!r->collector && !r->writer && !r->threads_run);
    strobe_recorder_leave_process(r);
    pthread_cond_destroy(&r->helpers_wake);
    pthread_mutex_destroy(&r->helpers_lock);
    free(r);
}
