/* stopper.c - stops one thread of another process between its test of the gate and its store.
 *   stopper TID PAGES I     PAGES: of steady.c, I: which of its threads that is
 * Steps the thread until it begins a zone and has just read the clock, which an emit does after the one and before
 * the other. Says "stopped" then, and lets the thread go on when stdin ends. x86-64.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

/* The next instruction reads the clock. */
static int is_at_clock(pid_t tid)
{
#if defined(__x86_64__)
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, tid, 0, &regs))
        return 0;
    errno = 0;
    long bytes = ptrace(PTRACE_PEEKTEXT, tid, (void *)regs.rip, 0);
    return !errno && (bytes & 0xffff) == 0x310f; /* rdtsc */
#else
    (void)tid;
    return 0;
#endif
}

static int begins(int pages, int i)
{
    uint64_t flag = 0;
    return pread(pages, &flag, sizeof flag, 64 * i + 32) == sizeof flag && flag;
}

int main(int argc, char **argv)
{
    pid_t tid = argc > 3 ? atoi(argv[1]) : 0;
    int status, pages = argc > 3 ? open(argv[2], O_RDONLY) : -1;
    if (pages < 0)
        return 2;
    if (ptrace(PTRACE_ATTACH, tid, 0, 0)) {
        puts("no ptrace");
        return 0;
    }
    waitpid(tid, &status, __WALL);
    bool was_at_clock = false;
    while (!was_at_clock || !begins(pages, atoi(argv[3]))) {
        was_at_clock = is_at_clock(tid);
        if (ptrace(PTRACE_SINGLESTEP, tid, 0, 0) || waitpid(tid, &status, __WALL) != tid ||
            !WIFSTOPPED(status))
            return 2;
    }
    puts("stopped");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    ptrace(PTRACE_DETACH, tid, 0, 0);
    return 0;
}
