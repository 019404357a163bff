/* blocked.c - see blocked.h.  SPDX-License-Identifier: MIT */
#include "sample/blocked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "base/assert.h"

/* Function of the kernel, what a thread waits for that came through it. Names of several versions: those that a kernel lacks are not found.
 * A name that ends in * stands for all that begin so. */
static const struct {
    const char *name;
    enum strobe_blocked reason;
} functions[] = {
    {"asm_exc_page_fault", STROBE_BLOCKED_FAULT},
    {"exc_page_fault", STROBE_BLOCKED_FAULT},
    {"do_user_addr_fault", STROBE_BLOCKED_FAULT},
    {"do_page_fault", STROBE_BLOCKED_FAULT},
    {"futex_wait*", STROBE_BLOCKED_LOCK},
    {"futex_lock_pi", STROBE_BLOCKED_LOCK},
    {"__futex_wait", STROBE_BLOCKED_LOCK},
    {"io_schedule", STROBE_BLOCKED_DISK},
    {"io_schedule_timeout", STROBE_BLOCKED_DISK},
    {"blk_mq_get_tag", STROBE_BLOCKED_DISK},
    {"jbd2_log_wait_commit", STROBE_BLOCKED_DISK},
    {"submit_bio_wait", STROBE_BLOCKED_DISK},
    {"blkdev_issue_flush", STROBE_BLOCKED_DISK},
    {"do_nanosleep", STROBE_BLOCKED_SLEEP},
    {"hrtimer_nanosleep", STROBE_BLOCKED_SLEEP},
    {"do_epoll_wait", STROBE_BLOCKED_POLL},
    {"ep_poll", STROBE_BLOCKED_POLL},
    {"do_sys_poll", STROBE_BLOCKED_POLL},
    {"do_poll*", STROBE_BLOCKED_POLL},
    {"do_select", STROBE_BLOCKED_POLL},
    {"core_sys_select", STROBE_BLOCKED_POLL},
    {"anon_pipe_read", STROBE_BLOCKED_DATA},
    {"anon_pipe_write", STROBE_BLOCKED_DATA},
    {"pipe_read", STROBE_BLOCKED_DATA},
    {"pipe_write", STROBE_BLOCKED_DATA},
    {"fifo_open", STROBE_BLOCKED_DATA},
    {"eventfd_read", STROBE_BLOCKED_DATA},
    {"n_tty_read", STROBE_BLOCKED_DATA},
    {"sk_wait_data", STROBE_BLOCKED_DATA},
    {"inet_csk_accept", STROBE_BLOCKED_DATA},
    {"unix_stream_read_generic", STROBE_BLOCKED_DATA},
    {"__skb_wait_for_more_packets", STROBE_BLOCKED_DATA},
    {"sock_recvmsg", STROBE_BLOCKED_DATA},
    {"sock_alloc_send_pskb", STROBE_BLOCKED_DATA},
    {"sk_stream_wait_memory", STROBE_BLOCKED_DATA},
    {"do_wait", STROBE_BLOCKED_CHILD},
    {"kernel_waitid", STROBE_BLOCKED_CHILD},
    {"wait_for_vfork_done", STROBE_BLOCKED_CHILD},
    {"do_sigtimedwait*", STROBE_BLOCKED_SIGNAL},
    {"sigsuspend", STROBE_BLOCKED_SIGNAL},
    {"__x64_sys_pause", STROBE_BLOCKED_SIGNAL},
    {"signalfd_read_iter", STROBE_BLOCKED_SIGNAL},
    {"do_signal_stop", STROBE_BLOCKED_STOPPED},
    {"ptrace_stop", STROBE_BLOCKED_STOPPED},
    {"rwsem_down_read_slowpath", STROBE_BLOCKED_KERNEL_LOCK},
    {"rwsem_down_write_slowpath", STROBE_BLOCKED_KERNEL_LOCK},
    {"__mutex_lock*", STROBE_BLOCKED_KERNEL_LOCK},
};

/* First letters of the functions, as bits: a kernel has 100,000 others. */
static uint64_t first_letters(void)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        bits |= 1ull << (functions[i].name[0] & 63);
    return bits;
}

static enum strobe_blocked reason_of(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        size_t n = strlen(functions[i].name);
        bool is_begin = functions[i].name[n - 1] == '*';
        if (name[0] == functions[i].name[0] && (is_begin ? !strncmp(name, functions[i].name, n - 1)
                                                         : !strcmp(name, functions[i].name)))
            return functions[i].reason;
    }
    return STROBE_BLOCKED_UNKNOWN;
}

static int compare(const void *a, const void *b)
{
    const struct strobe_blocked_range *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* "ffffffff81000000 T name\t[module]", of the kernel itself by address: a function reaches up to the next line's. */
void strobe_blocked_read(struct strobe_blocked_names *names, const char *path)
{
    char line[512];
    FILE *in = fopen(path, "re");
    struct strobe_blocked_range *open = NULL;
    uint64_t letters = first_letters();
    STROBE_ASSERT(!names->n);
    while (in && fgets(line, sizeof line, in)) {
        char *at;
        uint64_t address = strtoull(line, &at, 16);
        if (!address || at[0] != ' ' || !at[1] || at[2] != ' ')
            continue;
        if (open && address > open->start)
            open->end = address;
        if (open && open->end)
            open = NULL;
        if (!strchr("tTwW", at[1]) || !(letters >> (at[3] & 63) & 1) ||
            names->n == STROBE_BLOCKED_RANGES)
            continue;
        at[3 + strcspn(at + 3, "\t\n ")] = 0;
        enum strobe_blocked reason = reason_of(at + 3);
        if (!reason)
            continue;
        open = &names->ranges[names->n++];
        *open = (struct strobe_blocked_range){address, 0, (uint8_t)reason};
    }
    if (in)
        fclose(in);
    qsort(names->ranges, names->n, sizeof *names->ranges, compare);
}

static enum strobe_blocked look_up(const struct strobe_blocked_names *names, uint64_t address)
{
    uint64_t at = STROBE_ARRAY_BISECT(0, names->n, i, names->ranges[i].start <= address);
    return at && address < names->ranges[at - 1].end
               ? (enum strobe_blocked)names->ranges[at - 1].reason
               : STROBE_BLOCKED_UNKNOWN;
}

/* The innermost one counts; but what a page fault waits for is the page. */
enum strobe_blocked strobe_blocked_find(const struct strobe_blocked_names *names,
                                        const uint64_t *chain, uint64_t n)
{
    enum strobe_blocked found = STROBE_BLOCKED_UNKNOWN;
    STROBE_ASSERT(chain || !n);
    for (uint64_t i = 0; i < n; i++) {
        enum strobe_blocked reason = look_up(names, chain[i]);
        if (reason == STROBE_BLOCKED_FAULT)
            return reason;
        found = found ? found : reason;
    }
    return found ? found : STROBE_BLOCKED_OTHER;
}

enum strobe_blocked strobe_blocked_of_syscall(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || *end != ' ')
        return STROBE_BLOCKED_UNKNOWN; /* "running" */
    switch (number) {
    case -1: /* in the kernel without a call: a page fault, or stopped */
        return STROBE_BLOCKED_UNKNOWN;
    case SYS_futex:
        return STROBE_BLOCKED_LOCK;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
        return STROBE_BLOCKED_SLEEP;
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
#endif
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
        return STROBE_BLOCKED_POLL;
    case SYS_read:
    case SYS_write:
    case SYS_readv:
    case SYS_writev:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
        return STROBE_BLOCKED_DATA;
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_sync:
        return STROBE_BLOCKED_DISK;
    case SYS_wait4:
    case SYS_waitid:
        return STROBE_BLOCKED_CHILD;
#ifdef SYS_pause
    case SYS_pause:
#endif
    case SYS_rt_sigtimedwait:
    case SYS_rt_sigsuspend:
        return STROBE_BLOCKED_SIGNAL;
    default:
        return STROBE_BLOCKED_OTHER;
    }
}
