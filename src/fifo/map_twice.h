/* map_twice.h - a ring of bytes without a seam.  SPDX-License-Identifier: MIT */
#ifndef STROBE_FIFO_MAP_TWICE_H
#define STROBE_FIFO_MAP_TWICE_H

#include <stdint.h>

/* Map `n_bytes` of the file from `offset` on, and the same again straight behind it. NULL: not possible. Unmapped by munmap of both. */
uint8_t *strobe_map_twice(int fd, uint64_t offset, uint64_t n_bytes, int protection);

#endif
