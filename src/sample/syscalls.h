/* syscalls.h - names of system calls by their numbers on this machine, those of 64-bit programs.  SPDX-License-Identifier: MIT */
#ifndef STROBE_SAMPLE_SYSCALLS_H
#define STROBE_SAMPLE_SYSCALLS_H

#include <stddef.h>
#include <stdint.h>

enum { STROBE_SYSCALL_NAME = 40 };

/* "read"; one that has no name here: "syscall 999". */
void strobe_syscalls_name(int64_t number, char *out, size_t room);
/* "EAGAIN"; one that has no name here: "error". Never freed. */
const char *strobe_syscalls_error(int error);

#endif
