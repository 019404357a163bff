/* import.h - a .tracy file as a trace.
 * Times become ticks of 1 ns; the file's time 0 is STROBE_TRACY_IMPORT_BASE. What a trace has no place
 * for is counted and told in notes of the trace: nothing is left out in silence.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_IMPORT_H
#define STROBE_TRACY_FILE_IMPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define STROBE_TRACY_IMPORT_BASE (1ull << 40)

struct strobe_tracy_import {
    uint32_t version; /* STROBE_TRACY_VERSION of the file */
    uint64_t n_zones, n_gpu_zones, n_messages, n_threads;
    int is_cut; /* the file ends too early: what is before is in the trace */
};

/* Read the file at `from` into a new trace at `to`. Errors as of strobe_tracy_walk, and those of
 * writing. With STROBE_ERR_END and STROBE_ERR_CORRUPT the trace is there, with what came before. */
enum strobe_err strobe_tracy_import(const char *from, const char *to,
                                    struct strobe_tracy_import *out);

/* The same from memory: a whole file, or its content without the container. */
enum strobe_err strobe_tracy_import_bytes(const void *bytes, size_t n_bytes, int is_file,
                                          const char *to, struct strobe_tracy_import *out);

#endif
