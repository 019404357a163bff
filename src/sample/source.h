/* source.h - samples and context switches of a recording: of a command and all that it starts, or of a process that runs.
 *
 * A thread of its own drains the kernel's buffers (perf.h), so that a block that is being written never delays it. Nothing runs in the
 * program. Where the kernel refuses, strobe_sampler_open says so and the recording goes on without.
 *
 *     strobe_sampler_open          the command's process waits before its exec, or the process runs
 *     ... rounds on its own thread, a block every second ...
 *     strobe_sampler_close         the last records, exact losses, names of addresses (symbolize.h)
 *
 * Calls are for one thread (the recorder's).  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_SOURCE_H
#define STROBE_SAMPLE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "build/build.h"

enum { STROBE_SAMPLER_HZ = 997, STROBE_SAMPLER_HZ_MAX = 20000 };

struct strobe_sampler;
struct strobe_addresses;
struct strobe_probes;

struct strobe_sampler_options {
    struct strobe_build_store_options
        store; /* of the sampler's block; the calls come on the sampler's thread */
    uint32_t hz;
    uint32_t pid;      /* the command's process, which has not called exec yet, or a running one */
    bool is_running;   /* the latter */
    bool is_mono;      /* the trace's clock is CLOCK_MONOTONIC, not the counter */
    bool has_syscalls; /* system calls as zones, by the kernel's tracepoints */
    bool has_waits;    /* reasons of waits and wake-ups by the kernel's tracepoints, too */
    bool is_prompt;    /* it may be a Python: its frames are read with each sample */
    const struct strobe_probes
        *probes;           /* borrowed: places in code, as zones and messages; NULL: none */
    bool no_names;         /* leave the names of addresses to the readers */
    uint64_t ring_bytes;   /* of a buffer; 0: as large as the user may have */
    uint32_t switches_max; /* a second and processor, above which they are turned off; 0: 20,000 */
};

struct strobe_sampler_status {
    uint64_t n_samples, n_switches;  /* stored */
    uint64_t n_calls;                /* system calls, likewise */
    uint64_t n_probed;               /* records of probes, likewise */
    uint32_t n_probes;               /* places that are set */
    int probe_error;                 /* errno of the one that is not; 0: all are */
    uint64_t n_lost;                 /* records that the kernel's buffers had no room for */
    uint64_t n_cut;                  /* samples whose outer frames are missing */
    uint32_t n_processes, n_threads; /* of which there are any */
    uint32_t n_missed;               /* threads that could not be sampled */
    bool has_kernel;                 /* the kernel's frames are there */
    bool switches_off;               /* there were too many */
    bool has_syscalls;               /* the kernel gives system calls */
};

/* Why the kernel would refuse samples of `pid` (0: of a command): errno, 0: it would not, and *has_kernel says if its own side is given. */
int strobe_sampler_probe(uint32_t pid, bool *has_kernel);

/* ACCESS, LIMIT, NOTFOUND, NOMEM, with errno in *system_error: there are no samples. */
enum strobe_err strobe_sampler_open(const struct strobe_sampler_options *options,
                                    struct strobe_sampler **out, int *system_error);
struct strobe_sampler_status strobe_sampler_status(struct strobe_sampler *sampler);
/* How often a process, or another program in one, has begun so far, and 1. It does not wait for a round. */
uint64_t strobe_sampler_n_begun(const struct strobe_sampler *sampler);
/* Whether the process that runs has ended, with all its threads. */
bool strobe_sampler_is_over(struct strobe_sampler *sampler);
/* How a process ended, as wait gives it. */
void strobe_sampler_exit_status(struct strobe_sampler *sampler, uint32_t pid, int status);

/* Write what is under construction. */
void strobe_sampler_flush(struct strobe_sampler *sampler);
/* The same, and do nothing more until events may go to `writer`: for a change of files. */
void strobe_sampler_pause(struct strobe_sampler *sampler);
void strobe_sampler_go_on(struct strobe_sampler *sampler, struct strobe_file_writer *writer);

/* No more records; what is there is stored, with its losses. Its status stays until it is closed. */
void strobe_sampler_stop(struct strobe_sampler *sampler);
/* After stop: addresses of programs' own stacks, which get their names together with the samples'. Nothing is left in them. */
void strobe_sampler_take(struct strobe_sampler *sampler, struct strobe_addresses *addresses);
/* Names of addresses, then free. NULL is allowed. */
void strobe_sampler_close(struct strobe_sampler *sampler);

#endif
