/* grow.h - how far a process's file reaches. A file size limit (RLIMIT_FSIZE) bounds who extends it, and the
 * kernel's answer to more is a signal that ends the program: it never comes to that here.
 * No allocation, no output; runs in the traced program and in the recorder.  SPDX-License-Identifier: MIT */
#ifndef STROBE_RING_GROW_H
#define STROBE_RING_GROW_H

#include <stdint.h>

#include "wire/ring_layout.h"

/* Make the file at least `bytes` long, or as long as the caller's limit allows: how long it is, in whole pages.
 * It never becomes shorter; only one at a time may call it. All signals blocked, or SIGXFSZ caught. */
uint64_t strobe_ring_grow(int fd, uint64_t bytes);

/* Let the file of a pool of `n_chunks_max` chunks reach as far as it may, with its table allocated: what
 * control.file_bytes and control.short_cause are to say. */
uint64_t strobe_ring_extend(int fd, uint32_t n_chunks_max, enum strobe_loss *short_cause);

#endif
