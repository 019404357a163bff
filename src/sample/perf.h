/* perf.h - the kernel's events and their buffers: opening, reading in the order of time, exact losses.
 *
 * For a thread (the command before its exec, or each thread of a running process) and each processor three
 * events are opened, and follow its threads and children by inheritance:
 *
 *   clock    cpu-clock at `hz`: registers and a copy of the stack        ─┐ one large buffer per processor
 *   switches a dummy with context_switch: can be turned off by itself    ─┘
 *   life     a dummy with mmap2, comm, task: a small buffer of its own, so that a flood of
 *            samples can't lose the record that says where code is mapped
 *
 * and where the kernel lets us (root) and they are asked for tracepoints, with a third buffer per processor:
 *
 *   state    sched_switch: the kernel's stack when a thread leaves its processor, which says what it waits for
 *   wake     sched_waking, of all threads of the machine: it comes in the context of whoever wakes, so an event of the
 *            woken thread's own would miss it
 *   enter    raw_syscalls:sys_enter, and
 *   return   sys_exit
 *
 * In that buffer are the frames of Pythons, too, where the kernel reads them with the sample (py_kernel.h), and what probes in the code
 * have to say (probe_kernel.h).
 *
 * An event per processor, because one that follows children can't have a buffer otherwise. Times are
 * CLOCK_MONOTONIC_RAW. Calls are for one thread.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PERF_H
#define STROBE_SAMPLE_PERF_H

#include "base/err.h"
#include "sample/perf_record.h"
#include "sample/perf_ring.h"

enum strobe_perf_role {
    STROBE_PERF_CLOCK = 0,
    STROBE_PERF_SWITCHES,
    STROBE_PERF_LIFE,
    STROBE_PERF_STATE,
    STROBE_PERF_WAKE,
    STROBE_PERF_ENTER,
    STROBE_PERF_RETURN,
    STROBE_PERF_PYTHON,
    STROBE_PERF_PROBE,
    STROBE_PERF_ROLES
};

struct strobe_perf_options {
    uint32_t hz;
    uint32_t pid;        /* of the command's process before its exec, or of a running process */
    bool is_running;     /* the latter: all its threads, no children */
    bool has_syscalls;   /* likewise: system calls */
    bool has_waits;      /* tracepoints, too, where the kernel allows: reasons of waits, wake-ups */
    bool is_prompt;      /* wake whoever waits with each sample, not when a buffer is half full */
    uint64_t ring_bytes; /* of a large buffer at the most; 0: as the machine's size allows */
    const struct strobe_py_kernel
        *python; /* borrowed: what reads Python's frames in the kernel; NULL: nothing does */
    const struct strobe_probe_kernel *probes; /* borrowed: probes in code; NULL: none */
};

struct strobe_perf;

/* What the kernel lets us see. */
struct strobe_perf_access {
    bool has_kernel; /* samples in the kernel, and its frames */
    bool has_lost;   /* exact losses: Linux 6.0 */
    bool has_switches;
    bool has_states, has_wakes; /* the tracepoints are open */
    bool has_syscalls;          /* likewise */
    bool has_python;            /* frames of Pythons come with their samples */
    bool has_probes;            /* records of probes have their buffers */
    uint32_t n_missed;          /* threads that no event could be opened for */
    int error;                  /* errno of the last refusal */
};

/* Whether anything would be given for `pid` (0: this process), and if so, the kernel's side too. 0, or errno. */
int strobe_perf_probe(uint32_t pid, bool *has_kernel);

/* Open, disabled until the exec or enabled at once. ACCESS, LIMIT, NOTFOUND, NOMEM: *system_error has the reason, nothing is open. */
enum strobe_err strobe_perf_open(const struct strobe_perf_options *options,
                                 struct strobe_perf **out, int *system_error);
void strobe_perf_close(struct strobe_perf *perf); /* NULL is allowed */

const struct strobe_perf_access *strobe_perf_access(const struct strobe_perf *perf);
struct strobe_perf_shape strobe_perf_shape(const struct strobe_perf *perf);

/* Wait until a buffer is half full, or a third of one for lives (options.is_prompt: a sample is in one), `ns` have passed or `wake_fd` can be read. False: the time has passed. */
bool strobe_perf_wait(struct strobe_perf *perf, uint64_t ns, int wake_fd);
/* Wait until `ns` have passed or `wake_fd` can be read, whatever the buffers have. */
void strobe_perf_rest(struct strobe_perf *perf, uint64_t ns, int wake_fd);
/* How long one may rest without a buffer that could be full. */
uint64_t strobe_perf_rest_ns(const struct strobe_perf *perf);
/* In which time a buffer gets a part of its size that leaves room for as much again and more, by what came in the `ns` between the last two
 * rounds; UINT64_MAX: nothing came. What comes faster is noticed by strobe_perf_wait. */
uint64_t strobe_perf_pace_ns(const struct strobe_perf *perf, uint64_t ns);

/* Glance at the next sample or switch that was written since the last glance, in any order (perf_ring.h). False: none is new. */
bool strobe_perf_glance(struct strobe_perf *perf, struct strobe_perf_glance *out);

/* What a round reads ends here: what is written from now on waits for the next one. */
void strobe_perf_begin_round(struct strobe_perf *perf);
/* The next record not after `until`, in the order of time over all buffers. Its bytes are valid until the next call. False: none is left. */
bool strobe_perf_next(struct strobe_perf *perf, uint64_t until, struct strobe_perf_record *out);
/* Give the space of what was read back. */
void strobe_perf_end_round(struct strobe_perf *perf);

uint64_t strobe_perf_n_bad(const struct strobe_perf *perf); /* records that could not be right */
/* Records of a role that found no room so far: exact where access.has_lost, else at least. */
uint64_t strobe_perf_n_lost(struct strobe_perf *perf, enum strobe_perf_role role);

/* No records of switches from now on. */
void strobe_perf_stop_switches(struct strobe_perf *perf);
/* No records at all: the end. What is in the buffers stays. */
void strobe_perf_stop(struct strobe_perf *perf);
uint32_t strobe_perf_n_cpus(const struct strobe_perf *perf);

#endif
