/* confine.h - a process that reads a stranger's file gives up all that it does not need for it: from then on it can read and write what is open, use memory up to
 * a bound, make threads, and end. Opening a file or a socket, starting a program, or memory that can be run ends it with SIGSYS.
 *
 * A system call filter (seccomp) for x86-64 and arm64, no_new_privs, and limits that follow the size of what is read. What is to be opened is opened
 * before (base/ready.h).  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_CONFINE_H
#define STROBE_BASE_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/* Limits for reading `n_bytes` of a file: CPU time, memory, the length of files. Those that are lower already stay. A sanitizer's build gets no bound of memory. */
void strobe_confine_limits(uint64_t n_bytes);

/* The filter, for this thread and those that it makes; for good. False: the kernel, or who started us, does not allow it, or this is a build for which there is none
 * (another processor, sanitizers); then nothing has changed. */
bool strobe_confine_calls(void);

#endif
