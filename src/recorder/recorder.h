/* recorder.h - one recording, from the session's folder to the closed file.
 *
 * The room never prints and never exits: what people must hear during the recording goes through `say`, what they hear afterwards
 * stands in the outcome. The data's way is the collector's; this room starts the command, keeps the rounds going, and ends in order.
 *
 *     struct strobe_recorder *recorder;
 *     enum strobe_err err = strobe_recorder_open(&options, &recorder);
 *     if (!err && !(err = strobe_recorder_start(recorder)))
 *         err = strobe_recorder_run(recorder);
 *     ... strobe_recorder_outcome(recorder) ...
 *     strobe_recorder_wait(recorder);
 *     strobe_recorder_close(recorder);
 *
 * All calls are for one thread, but for strobe_recorder_ask_to_stop. Signals, limits, the environment and the children belong to
 * the process, so one recording at a time is started in it.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_RECORDER_H
#define STROBE_RECORDER_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "collector/collector.h"
#include "hosts/hosts.h"
#include "recorder/trace_file.h"
#include "sample/source.h"
#include "tracy/host.h"

struct strobe_recorder;

enum {
    STROBE_RECORDER_PATH_MAX = 1024,
    STROBE_RECORDER_TRACY_MAX = 64,
    STROBE_RECORDER_ZONES_MAX = 8 << 10, /* bytes of all patterns of functions */
};

/* Sent with SIGUSR1 to a recorder's process (sigqueue): end the recording, not the program. */
enum { STROBE_RECORDER_STOP_VALUE = 0x53544f50 };

/* states of strobe_recorder_state, moved by strobe_recorder_move:
 *
 *               start               start                run              run
 *     MADE ------------> STARTING ---------> RECORDING ------> ENDING ------> ENDED
 *                            |
 *                            +-------------> FAILED
 *                                 start
 *
 *   MADE -> STARTING        strobe_recorder_start, at its begin: signals and limits are the recorder's from here on
 *   STARTING -> RECORDING   strobe_recorder_start: session, file, buffers and threads are there and the command runs
 *   STARTING -> FAILED      strobe_recorder_start: one of them could not be made; those that were are undone, no file is left
 *   RECORDING -> ENDING     strobe_recorder_run: the command ended, the time is over, or it was asked to stop;
 *                           strobe_recorder_close, of a recording that was started and never run
 *   ENDING -> ENDED         the same call: gates shut, rings drained, file closed, session released
 *
 * The helper threads (heart, sync) live from before the end of STARTING until the middle of ENDING and never move it. */
enum strobe_recorder_state {
    STROBE_RECORDER_MADE = 0,
    STROBE_RECORDER_STARTING,
    STROBE_RECORDER_RECORDING,
    STROBE_RECORDER_ENDING,
    STROBE_RECORDER_ENDED,
    STROBE_RECORDER_FAILED,
};

/* What is said while it happens. Behind the name: which fields of the word have a meaning. */
enum strobe_recorder_event {
    STROBE_RECORDER_UNRECORDED,      /* subject: a program that can't join, pid, text: why */
    STROBE_RECORDER_MORE_UNRECORDED, /* more of them than are named */
    STROBE_RECORDER_NO_SHIM,         /* subject: the library that can't be preloaded */
    STROBE_RECORDER_NO_PRELOAD,      /* likewise: memory, locks, samples are not recorded */
    STROBE_RECORDER_NOT_PRELOADED,   /* text: which program, what is missing of it, why */
    STROBE_RECORDER_NO_TRACY,        /* subject: an address of a Tracy client, err */
    STROBE_RECORDER_BRIDGE_LISTENS,  /* number: the port; said in the bridge's own process */
    STROBE_RECORDER_NO_BRIDGE,       /* number: the port, err; said in the bridge's own process */
    STROBE_RECORDER_BRIDGE_NOT_MADE, /* number: errno */
    STROBE_RECORDER_BRIDGE_LEFT_OUT, /* text: what its server did not get, err; said there too */
    STROBE_RECORDER_KEPT,            /* subject: a trace that a trigger saved, text: which */
    STROBE_RECORDER_NOT_KEPT,        /* subject: a trace that could not be saved, err */
    STROBE_RECORDER_TRACE_TAKEN, /* subject: what another recorder writes now, text: the name beside it that is used */
    STROBE_RECORDER_TRACE_RENAMED,  /* subject: the trace's old name, text: the new one */
    STROBE_RECORDER_TRACE_DELETED,  /* subject: the trace, text: how; it comes back at the end */
    STROBE_RECORDER_TRACE_RESTORED, /* subject: where it came back, text: the name that it had */
    STROBE_RECORDER_TRACE_LOST,     /* subject: a deleted trace that can't come back, err */
    STROBE_RECORDER_TRACE_EMPTIED,  /* subject: the trace, which somebody truncated */
    STROBE_RECORDER_OUTLIVED, /* subject: a program that goes on, pid, number: 1: it had joined */
    STROBE_RECORDER_MORE_OUTLIVED, /* number: of those that are not named */
    STROBE_RECORDER_NO_SAMPLES,    /* number: errno, pid: of a running process, 0: the command */
    STROBE_RECORDER_TIMERS,        /* number: samples a second of CPU time, by timers */
    STROBE_RECORDER_UNSAMPLED,     /* number: threads that could not be sampled */
    STROBE_RECORDER_SWITCHES_OFF,  /* context switches were too many */
    STROBE_RECORDER_NO_PROBES,     /* number: functions that are no zones, text: why */
    STROBE_RECORDER_NO_FUNCTIONS,  /* none that was asked for became a zone */
    STROBE_RECORDER_NO_CALLS,      /* system calls were asked for and are not given */
};

struct strobe_recorder_word {
    enum strobe_recorder_event event;
    const char *subject, *text; /* borrowed: for the call */
    uint32_t pid;
    int number;
    enum strobe_err err;
};

struct strobe_recorder_options {
    /* An older file there is replaced; absolute, so that other processes find it. */
    char path[STROBE_RECORDER_PATH_MAX];

    /* What is recorded: one of command, pid and session, or Tracy clients alone. */
    char **command;      /* borrowed: run it */
    uint32_t pid;        /* attach to this process, 0: to none */
    const char *session; /* borrowed: attach to all processes of this session */
    bool serve;          /* a program started us for itself: stay until its session is empty */

    int ready_fd;    /* owned: a byte goes there when all is ready, -1: nobody waits */
    uint64_t for_ns; /* 0: no limit */
    bool all;        /* of a command: until all its processes have ended, not the command alone */
    uint32_t viewer; /* a child of this process that is not the command's, 0: none */
    uint64_t pool_bytes, max_file_bytes;
    uint32_t policy;
    const char *python; /* borrowed: what interpreters trace; NULL: as the environment says */

    uint64_t flight_ns, after_ns; /* a flight recording's window, 0: an ordinary recording */
    char trigger_zone[128];
    uint64_t trigger_ns;

    const char *
        memory; /* borrowed: what is recorded of malloc: "all", a mean number of bytes; NULL: nothing */
    const char *locks; /* borrowed: of locks: "waits", "all"; NULL: nothing */
    const char *
        zones; /* borrowed: which functions are zones without a mark, a pattern a line; NULL: those that call hooks */
    uint32_t sample_hz; /* stack samples a second of CPU time, 0: none and no switches */
    bool syscalls;      /* with samples: system calls as zones, for root */
    bool waits;         /* with switches: reasons of waits and wake-ups of the kernel's, for root */

    bool no_tracy;
    int bridge_port; /* 0: any of the usual ones, -1: no bridge */
    uint32_t n_tracy;
    const char *tracy[STROBE_RECORDER_TRACY_MAX]; /* borrowed: clients to be asked, HOST:PORT */
    enum strobe_tracy_announced tracy_announced;
    uint16_t tracy_announce_port; /* 0: Tracy's own */

    const char *
        listen; /* borrowed: [ADDRESS:]PORT where other hosts may ask for the clock; NULL: nowhere */
    bool
        listen_may_be_busy; /* a recorder of the same host may have that port: it answers for both */
    uint32_t n_peers;
    const char *peers[STROBE_HOSTS_PEERS]; /* borrowed: other hosts' recorders, HOST:PORT */
    const void *clock_key; /* borrowed: the key that all of them share, n_clock_key bytes */
    size_t n_clock_key;

    /* Either call may be NULL. `round` comes after each round, and once more when it ends (the
     * state is ENDING); it may ask for the progress. */
    void *context; /* borrowed */
    void (*say)(void *context, const struct strobe_recorder_word *word);
    void (*round)(void *context, struct strobe_recorder *recorder);
};

/* What failed when strobe_recorder_start did not succeed. */
enum strobe_recorder_failure {
    STROBE_RECORDER_FAILED_NOT = 0,
    STROBE_RECORDER_FAILED_NO_PROCESS, /* there is no process options.pid */
    STROBE_RECORDER_FAILED_NO_CLIENT,  /* it does not have the library in it */
    STROBE_RECORDER_FAILED_NAMESPACE,  /* its session's folder can't be reached from here */
    STROBE_RECORDER_FAILED_BUSY,       /* outcome.session is being recorded by another recorder */
    STROBE_RECORDER_FAILED_SESSION,    /* its folder */
    STROBE_RECORDER_FAILED_FILE,
    STROBE_RECORDER_FAILED_BUFFERS, /* collector or threads */
    STROBE_RECORDER_FAILED_TRACY,
    STROBE_RECORDER_FAILED_HOSTS,   /* outcome.address has the address */
    STROBE_RECORDER_FAILED_COMMAND, /* outcome.system_error has the reason */
};

struct strobe_recorder_outcome {
    enum strobe_recorder_failure failure;
    enum strobe_err err; /* of the start, or of the file */
    int system_error;
    char session[64];
    char path[STROBE_TRACE_PATH_MAX];  /* where the trace is, if it was renamed or deleted too */
    char ledger[STROBE_PATH_MAX + 16]; /* has the losses that the file could not take; "": none */
    uint64_t duration_ns;              /* of the recording */
    uint64_t closing_ns;               /* and what followed: names were looked up */
    bool was_emptied; /* somebody truncated the trace: not all that was stored is in it */
    struct strobe_collector_status status;
    char python[256]; /* an interpreter that was not traced, "": none */
    bool was_sampled; /* then samples is valid */
    struct strobe_sampler_status samples;
    uint32_t timer_hz; /* the kernel refused samples, and timers in the command took them; 0: not */
    bool was_compared; /* clocks of other hosts, then hosts is valid */
    struct strobe_hosts_status hosts;
    const char *address; /* borrowed from the options: what FAILED_HOSTS is about; NULL: the key */
    bool is_flight;      /* a flight recording: n_kept traces were saved by triggers */
    uint32_t n_kept;
    bool command_ended; /* then command_status is valid, as wait gives it */
    int command_status;
};

struct strobe_recorder_progress {
    uint64_t elapsed_ns;
    struct strobe_collector_status status;
    struct strobe_tracy_host_status tracy;
};

/* Make a recorder; the options are copied, what they borrow must live until it is closed. NOMEM; INVALID: the options name no one thing
 * to record. */
enum strobe_err strobe_recorder_open(const struct strobe_recorder_options *options,
                                     struct strobe_recorder **out);

/* Session, file, buffers, threads, and last the command: a recording is refused before anything runs, or the command runs to its end
 * undisturbed. BUSY: this process records already. After an error the outcome says what failed, and strobe_recorder_close is all that
 * may follow, or strobe_recorder_wait before it. State: MADE. */
enum strobe_err strobe_recorder_start(struct strobe_recorder *recorder);

/* Rounds until it is over, then the end. The error is that of the file: what could be stored is stored even then. State: RECORDING. */
enum strobe_err strobe_recorder_run(struct strobe_recorder *recorder);

/* Ask for its end, at the next round. Thread-safe, and safe in a signal handler. */
void strobe_recorder_ask_to_stop(struct strobe_recorder *recorder);

enum strobe_recorder_state strobe_recorder_state(const struct strobe_recorder *recorder);

/* State: RECORDING or ENDING, inside of `round`. */
void strobe_recorder_progress(struct strobe_recorder *recorder,
                              struct strobe_recorder_progress *out);

/* Borrowed until the recorder is closed; whole in ENDED and FAILED. */
const struct strobe_recorder_outcome *
strobe_recorder_outcome(const struct strobe_recorder *recorder);

/* Wait for what outlives the recording: a command that goes on after for_ns, and a bridge whose viewer does not have all yet. The outcome
 * has the command's status then. State: ENDED or FAILED. */
void strobe_recorder_wait(struct strobe_recorder *recorder);

/* Free it; signals and limits are as before. A recording that was started and not run is ended first. NULL is allowed. */
void strobe_recorder_close(struct strobe_recorder *recorder);

#endif
