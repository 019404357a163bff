/* source.h - where the bytes of a trace file come from: a file descriptor here, the page in its WebAssembly
 * module. A reader (file_read.h) knows files by this alone. Offsets and sizes are 64 bits wide whatever the
 * width of size_t.  SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_SOURCE_H
#define STROBE_FILE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct strobe_source {
    /* Read exactly n bytes at `offset`. STROBE_ERR_END where the file ends before. Thread: any. */
    enum strobe_err (*read_at)(void *context, void *out, size_t n, uint64_t offset);
    /* Bytes that the file has now. STROBE_ERR_FORMAT: it is no regular file. */
    enum strobe_err (*size)(void *context, uint64_t *n_bytes);
    void (*expect_jumps)(void *context); /* nothing is to be read ahead; NULL: no difference */
    void (*close)(void *context);        /* NULL: nothing to release */
    void *context;
};

/* Bytes of a file descriptor, which `close` closes. Reads by pread, so a file that is cut or grows
 * meanwhile does no harm. */
struct strobe_source strobe_source_of_fd(int fd);

#endif
