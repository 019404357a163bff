/* confined.h - the part of a command that reads a stranger's file, in a child that can do nothing else (base/confine.h).  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_CONFINED_H
#define STROBE_CLI_CONFINED_H

#include <stdbool.h>
#include <stdint.h>

/* Run `work` in a confined child and wait for it: its result, 0 to 125. The files that it needs are prepared (base/ready.h). A child that was ended or ended
 * itself otherwise: -1, and that was said in words. `path`: the file that it reads. */
int strobe_cli_confined(const char *command, const char *path, int (*work)(void *context),
                        void *context);

/* The same for several files, of `n_bytes` together: limits follow their size. */
int strobe_cli_confined_sized(const char *command, const char *path, uint64_t n_bytes,
                              int (*work)(void *context), void *context);

/* Whether this machine lets a process confine itself; for strobe doctor. */
bool strobe_cli_can_confine(void);

#endif
