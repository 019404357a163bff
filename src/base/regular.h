/* regular.h - opens what must be an ordinary file: a name from a stranger may be a device or a pipe.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_REGULAR_H
#define STROBE_BASE_REGULAR_H

/* A descriptor of a regular file, for reading; -1: there is none. Never waits. */
int strobe_regular_open(const char *path);

#endif
