/* kept_files.h - how the file is named that a harness has made of an input. SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_KEPT_FILES_H
#define STROBE_TESTS_KEPT_FILES_H

#include <sys/stat.h>

/* In memory where kept_files.c is linked, else a file of the kernel. */
#define KEPT_BEGIN "/dev/shm/strobe-fuzz-kept-"
#define KEPT_END   ".strobe"

/* fstat, for a harness that leads it through itself. */
int kept_fstat(int fd, struct stat *out) __attribute__((weak));

/* The process that does nothing but sleep; 0: none. */
extern int kept_sleeper __attribute__((weak));

#endif
