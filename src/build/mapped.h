/* mapped.h - a file that a process has mapped, as a MODULE record has it.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BUILD_MAPPED_H
#define STROBE_BUILD_MAPPED_H

#include <stdint.h>

struct strobe_mapped_file {
    uint32_t proc;               /* in the trace */
    uint32_t pid;                /* in /proc; 0: not to be reached */
    uint64_t start, end;         /* of its code in the process */
    uint64_t offset;             /* of `start` in the file */
    const char *build_id, *path; /* borrowed for the call; build_id: hex, "": none */
};

#endif
