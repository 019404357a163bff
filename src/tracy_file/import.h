/* import.h - a .tracy file as a trace.
 * Times become ticks of 1 ns; the file's time 0 is STROBE_TRACY_IMPORT_BASE. What a trace has no place
 * for is counted and told in notes of the trace: nothing is left out in silence.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_IMPORT_H
#define STROBE_TRACY_FILE_IMPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct strobe_file_writer;

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

/* Who wants to know some of it, and to add to the trace. Calls may be NULL; texts are borrowed for the call. */
struct strobe_tracy_import_taps {
    void *context; /* borrowed: for all of them */
    /* A zone with a text; `name` is its location's. */
    void (*zone_text)(void *context, int64_t ns, const char *name, size_t n_name, const char *text,
                      size_t n_text);
    void (*message)(void *context, int64_t ns, const char *text, size_t n_text);
    /* All of the file is in the trace: more may be written. Its process has number 1. */
    enum strobe_err (*more)(void *context, struct strobe_file_writer *writer, int64_t last_ns);
};
enum strobe_err strobe_tracy_import_tapped(const char *from, const char *to,
                                           const struct strobe_tracy_import_taps *taps,
                                           struct strobe_tracy_import *out);

/* The same from memory: a whole file, or its content without the container. */
enum strobe_err strobe_tracy_import_bytes(const void *bytes, size_t n_bytes, int is_file,
                                          const char *to, struct strobe_tracy_import *out);

#endif
