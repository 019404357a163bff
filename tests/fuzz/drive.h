/* drive.h - everything that turns a trace into something else, over one trace.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TESTS_DRIVE_H
#define STROBE_TESTS_DRIVE_H

#include <stdint.h>

/* How many exporters there are. */
unsigned drive_count(void);

/* Run exporter number `which` (its rest by drive_count) over the trace at `path`; what it writes goes to `sink`, an open file
 * that is written over, or to files in `folder`, which are removed. `choice` picks among its options. */
void drive(unsigned which, const char *path, uint64_t choice, int sink, const char *folder);

/* Its name. */
const char *drive_name(unsigned which);

#endif
