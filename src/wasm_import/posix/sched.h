/* sched.h - for the page's module: how many processors there are is not known.  SPDX-License-Identifier: MIT */
#ifndef STROBE_WASM_IMPORT_SCHED_H
#define STROBE_WASM_IMPORT_SCHED_H

#include_next <sched.h>

typedef int cpu_set_t;
#define CPU_COUNT(set) (*(set))

static inline int sched_getaffinity(int pid, unsigned long n_bytes, cpu_set_t *set)
{
    (void)pid;
    (void)n_bytes;
    *set = 1;
    return -1;
}

#endif
