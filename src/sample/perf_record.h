/* perf_record.h - one record of a perf buffer, decoded. Pure: bytes in, numbers out.
 *
 * All our events have the same sample_type as far as records other than samples go, so each of these ends with
 *
 *   OFFSET SIZE  from the record's end
 *      -24    4  pid
 *      -20    4  tid
 *      -16    8  time, CLOCK_MONOTONIC_RAW
 *       -8    4  cpu
 *       -4    4  0
 *
 * and a sample is: pid, tid, time, cpu, 0; the kernel's chain (n, then n u64) if there is one; registers (u64 abi, then
 * STROBE_PERF_N_REGS u64 if abi is not 0) and stack (u64 size, size bytes, u64 valid bytes) if they were asked for.
 * A sample of a tracepoint has the kernel's chain, then u32 size and so many bytes of raw data, the first two of them its number.
 * The kernel is trusted, its buffer is checked all the same: a fuzzer feeds this.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_PERF_RECORD_H
#define STROBE_SAMPLE_PERF_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample/tracefs.h"
#include "sample/unwind.h"

/* x86-64: ax bx cx dx si di bp sp ip, r8 to r15. */
#define STROBE_PERF_REGS 0xff01ffull
enum { STROBE_PERF_N_REGS = 17, STROBE_PERF_RECORD_MAX = 65536, STROBE_PERF_CHAIN_MAX = 512 };

/* What samples have in them, as the events were opened. */
struct strobe_perf_shape {
    bool has_chain, has_stack;
    const struct strobe_perf_trace
        *trace; /* borrowed: they are of tracepoints; NULL: they are not */
};

/* Tracepoints by their numbers (0: not open), and where their fields are. */
struct strobe_perf_trace {
    uint32_t state_id, wake_id, enter_id, exit_id;
    struct strobe_tracefs_field flags, woken, target;  /* of all; of sched_waking */
    struct strobe_tracefs_field entered, left, result; /* of system calls: numbers and result */
};

enum strobe_perf_what {
    STROBE_PERF_OTHER = 0, /* of no interest */
    STROBE_PERF_SAMPLE,
    STROBE_PERF_SWITCH,
    STROBE_PERF_OFF,     /* tid leaves its processor; sample.chain: where in the kernel */
    STROBE_PERF_WAKES,   /* tid wakes another thread */
    STROBE_PERF_CALLS,   /* tid enters a system call */
    STROBE_PERF_RETURNS, /* and leaves it */
    STROBE_PERF_PROBES,  /* tid comes by a probe */
    STROBE_PERF_FRAMES,  /* Python's frames of tid, whose sample comes next */
    STROBE_PERF_MMAP,
    STROBE_PERF_COMM,
    STROBE_PERF_FORK,
    STROBE_PERF_EXIT,
    STROBE_PERF_LOST,     /* count: records that found no room */
    STROBE_PERF_THROTTLE, /* the kernel slows the clock down */
};

struct strobe_perf_record {
    enum strobe_perf_what what;
    uint32_t pid, tid, cpu;
    uint64_t time;
    union {
        struct {
            const uint64_t
                *chain; /* borrowed, aligned: n_chain addresses and markers of contexts */
            uint64_t n_chain;
            bool has_regs, is_32bit;
            struct strobe_unwind_sample user;
        } sample;
        struct {
            bool is_out, is_preempted;
        } turn;
        struct {
            uint32_t tid, cpu; /* who is woken, and where it will run */
            bool is_interrupt; /* no thread wakes it: tid is who was interrupted */
        } wake;
        struct {
            int64_t number, result;
        } call;
        struct {
            uint32_t number;
            bool is_return;
            uint64_t sp, values[6]; /* as in probe_kernel.h */
        } probe;
        struct {
            const void *bytes; /* borrowed: py_kernel.h */
            size_t n_bytes;
        } frames;
        struct {
            struct strobe_module_file file; /* its path is borrowed */
            uint64_t offset;
        } map;
        struct {
            const char *name; /* borrowed */
            bool is_exec;
        } comm;
        struct {
            uint32_t parent_pid;
        } life;
        uint64_t count;
    };
};

/* Decode the record at `bytes` (8-byte aligned, whole). False: it can't be right. */
bool strobe_perf_record_read(const void *bytes, size_t n_bytes,
                             const struct strobe_perf_shape *shape, struct strobe_perf_record *out);

/* The time of a record, without the rest of it; 0: it has none. */
uint64_t strobe_perf_record_time(const void *bytes, size_t n_bytes);

#endif
