/* sleeper.h - a process that stands for the traced one: of a program with few mappings, because a collector reads them all in every round. Its clock is asked for once: in a virtual
 * machine that is a way out of it and back. A harness that has this leads strobe_session_clock through it (targets.txt).  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_SLEEPER_H
#define STROBE_TESTS_SLEEPER_H

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kept_files.h"
#include "ring/session.h"

/* It ends with us. */
static inline pid_t sleeping_process(void)
{
    char path[64], name[16] = "";
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("/bin/sleep", "sleep", "infinity", (char *)NULL);
        _exit(1);
    }
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    while (strcmp(name, "sleep\n") || strobe_session_process_state(pid) != 'S') {
        FILE *file = fopen(path, "re");
        if (!file || !fgets(name, sizeof name, file))
            abort();
        fclose(file);
        sched_yield();
    }
    if (&kept_sleeper)
        kept_sleeper = pid;
    return pid;
}

uint32_t __real_strobe_session_clock(void);
uint32_t __wrap_strobe_session_clock(void);
uint32_t __wrap_strobe_session_clock(void)
{
    static uint32_t clock;
    return clock ? clock : (clock = __real_strobe_session_clock());
}

#endif
