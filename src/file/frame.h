/* frame.h - zstd frames inside blocks, in both directions, within the format's bound on what a stored byte may stand for
 * (docs/file-format.md, "Bounds"): a reader's work follows the size of the file, whatever a stranger has put into it.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_FRAME_H
#define STROBE_FILE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/err.h"
#include "wire/file_layout.h"

/* 1: `n_stored` bytes may stand for `n_raw`. */
static inline int strobe_frame_fits(uint64_t n_raw, uint64_t n_stored)
{
    return n_raw <= STROBE_FRAME_FLOOR + STROBE_FRAME_RATIO * n_stored;
}

/* 1: a block of EVENTS with `n_stored` bytes of head and body may hold `n_events`. */
static inline int strobe_block_holds(uint64_t n_events, uint64_t n_stored)
{
    return n_events <= STROBE_EVENTS_FLOOR + STROBE_EVENTS_RATIO * n_stored;
}

/* Undo a frame into exactly `n_raw` bytes at `out`. *zstd: a ZSTD_DCtx that is used again, made at first; the caller's to free.
 * CORRUPT: it is no frame, is of another size, or stands for more than it may; then nothing was undone. */
enum strobe_err strobe_frame_open(void **zstd, void *out, size_t n_raw, const void *stored,
                                  size_t n_stored);
/* The same for a caller that has compared n_raw with a bound of its own. */
enum strobe_err strobe_frame_undo(void **zstd, void *out, size_t n_raw, const void *stored,
                                  size_t n_stored);

/* Put behind a frame that ends at `end` what it lacks to stand for `n_raw` bytes. How many bytes that are, 0 mostly; with them
 * it is no longer than ZSTD_compressBound(n_raw). */
size_t strobe_frame_pad(uint8_t *end, size_t n_raw, size_t n_stored);

#endif
