/* blocked.h - what a thread waits for, by the kernel's stack at the moment when it left its processor.
 *
 * The kernel's functions on the way to the scheduler say it: futex_wait_queue is a lock, do_nanosleep a sleep, a page fault shows at the
 * outer end. Their addresses are read once, from /proc/kallsyms, which root alone sees.  One thread.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_BLOCKED_H
#define STROBE_SAMPLE_BLOCKED_H

#include <stdbool.h>
#include <stdint.h>

/* On disk: reasons of SWITCH_OUT, docs/file-format.md. */
enum strobe_blocked {
    STROBE_BLOCKED_UNKNOWN = 0,
    STROBE_BLOCKED_PREEMPTED = 32,
    STROBE_BLOCKED_DEAD = 108,  /* X: it has ended */
    STROBE_BLOCKED_OTHER = 128, /* for something else in the kernel */
    STROBE_BLOCKED_LOCK = 129,
    STROBE_BLOCKED_SLEEP = 130,
    STROBE_BLOCKED_DISK = 131,
    STROBE_BLOCKED_FAULT = 132,
    STROBE_BLOCKED_DATA = 133,
    STROBE_BLOCKED_POLL = 134,
    STROBE_BLOCKED_CHILD = 135,
    STROBE_BLOCKED_SIGNAL = 136,
    STROBE_BLOCKED_STOPPED = 137,
    STROBE_BLOCKED_KERNEL_LOCK = 138,
};

enum { STROBE_BLOCKED_RANGES = 256 };

struct strobe_blocked_names {
    struct strobe_blocked_range {
        uint64_t start, end;
        uint8_t reason;
    } ranges[STROBE_BLOCKED_RANGES]; /* by start */
    uint32_t n;
};

/* Read the kernel's symbols in the form of /proc/kallsyms from `path`. */
void strobe_blocked_read(struct strobe_blocked_names *names, const char *path);
/* The reason that a kernel's stack shows, innermost first; markers of contexts are skipped. OTHER: none of the known functions is in it. */
enum strobe_blocked strobe_blocked_find(const struct strobe_blocked_names *names,
                                        const uint64_t *chain, uint64_t n);
/* The reason that a system call shows, as /proc/PID/syscall has it: "202 0x…", "running", "-1 …". */
enum strobe_blocked strobe_blocked_of_syscall(const char *text);

#endif
