/* descendants.h - the processes below this one, as /proc has them.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_DESCENDANTS_H
#define STROBE_BASE_DESCENDANTS_H

#include <stddef.h>
#include <stdint.h>

/* The pids of all that this process and those below it started, parents before their children: at most `cap`, and of each process
 * those of its first `max_threads` threads. Their number. */
uint32_t strobe_descendants_list(uint32_t *pids, uint32_t cap, uint32_t max_threads);

/* The number that was given last to a process or thread that this one may see; 0: not to be told. While it
 * stays the same, none is new. */
uint32_t strobe_descendants_newest(void);

/* What is in a small file, NUL-terminated, cut at cap - 1. The bytes read, or -1. */
long strobe_descendants_read_text(const char *path, char *out, size_t cap);

#endif
