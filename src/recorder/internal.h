/* internal.h - what the files of this room share: the recorder itself.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RECORDER_INTERNAL_H
#define STROBE_RECORDER_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>

#include "base/assert.h"
#include "collector/flight.h"
#include "collector/recording_session.h"
#include "device_record/source.h"
#include "recorder/missing.h"
#include "recorder/python.h"
#include "recorder/recorder.h"
#include "recorder/trace_file.h"
#include "sample/addresses.h"
#include "sample/probes.h"

#define STROBE_RECORDER_SYNC_NS 1000000000ull

struct strobe_recorder {
    struct strobe_recorder_options options;
    enum strobe_recorder_state state; /* strobe_recorder_move writes it */
    struct strobe_recording_session session;
    struct strobe_file_writer
        *writer; /* owned, but in a flight recording: borrowed from the flight */
    struct strobe_collector *collector; /* owned */
    struct strobe_flight *flight;       /* owned; NULL: an ordinary recording */
    struct strobe_tracy_host *tracy;    /* owned; NULL: Tracy has no part in it */
    struct strobe_devices *devices;     /* owned */
    struct strobe_sampler *sampler;     /* owned; NULL: no samples */
    struct strobe_hosts *hosts;         /* owned; NULL: clocks are not compared */
    bool takes_no_preload;              /* the command is of another ELF class */
    bool has_hooks;                     /* the command's functions call hooks */
    bool says_no_functions;             /* it was said that they are not recorded, and why */
    struct strobe_probes probes;        /* in the program's code */
    uint64_t n_functions;               /* that have a location of their own */
    uint32_t timer_hz;                  /* the command's samples come from timers in it; 0: not */
    struct strobe_addresses addresses;  /* of stacks that programs record */
    bool only_samples;                  /* the process that is attached to has no client */
    struct strobe_trace_file file; /* the name of what the writer writes; a flight has none yet */
    struct strobe_recorder_outcome outcome;
    /* the flight's triggers */
    uint64_t triggered_ns; /* when, 0: not */
    uint64_t triggered_tick;
    char reason[128];
    uint32_t n_names; /* of traces that were saved, or were passed over */
    /* processes */
    pid_t child; /* the command, 0: none */
    pid_t bridge;
    struct strobe_python_watch pythons;
    struct strobe_missing missing;
    /* helper threads */
    pthread_t heart, syncer;
    bool threads_run;
    pthread_mutex_t helpers_lock; /* guards helpers_stop */
    pthread_cond_t helpers_wake;
    bool helpers_stop;
    int sync_error; /* atomic: enum strobe_err */
    int stop_asked; /* atomic */
    uint64_t start_ns, quiet_since_ns;
};

/* Say something, if anybody listens. */
void strobe_recorder_say(const struct strobe_recorder *recorder, struct strobe_recorder_word word);

/* Where a source with a block of its own writes to. */
struct strobe_build_store_options strobe_recorder_store(const struct strobe_recorder *recorder);

/* Another number than before when a process of the command has begun, or executes another program, since then; 0: that is not known. */
uint64_t strobe_recorder_newest(const struct strobe_recorder *recorder);

/* ---- helpers.c ---- */

/* Start the two threads; false: neither runs. */
bool strobe_recorder_start_helpers(struct strobe_recorder *recorder);
/* Both have ended when it returns; nothing happens where none run. */
void strobe_recorder_stop_helpers(struct strobe_recorder *recorder);

/* ---- command.c: what belongs to the process, and one recorder holds at a time ---- */

/* Take signals and limits. False: another recorder of this process has them. */
bool strobe_recorder_take_process(const struct strobe_recorder *recorder);
void strobe_recorder_leave_process(
    const struct strobe_recorder *recorder); /* nothing happens if it has them not */
/* Whether a signal asked for the end; whether one was a trigger, which is forgotten by the question. */
bool strobe_recorder_is_asked_to_stop(void);
bool strobe_recorder_was_triggered(void);
/* Start the command. 0: it runs, else errno and nothing runs. */
int strobe_recorder_start_command(struct strobe_recorder *recorder);
/* Reap all children that ended: their status goes to the trace, the command's to the outcome. */
void strobe_recorder_reap(struct strobe_recorder *recorder);
/* Wait for the command, if there is one and it runs. */
void strobe_recorder_wait_command(struct strobe_recorder *recorder);

/* ---- flights.c ---- */

/* Rotate the spool, notice triggers, save when the time after one is over. */
void strobe_recorder_fly(struct strobe_recorder *recorder, uint64_t now_ns);
/* The collector has stopped: save if one of the last events, or the end, was a trigger. */
void strobe_recorder_land(struct strobe_recorder *recorder);

#endif
