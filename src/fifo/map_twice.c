/* map_twice.c - see the header.  SPDX-License-Identifier: MIT */
#include "fifo/map_twice.h"

#include <stddef.h>
#include <sys/mman.h>

uint8_t *strobe_map_twice(int fd, uint64_t offset, uint64_t n_bytes, int protection)
{
    uint8_t *at = mmap(NULL, 2 * n_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    for (int half = 0; half < 2; half++)
        if (mmap(at + half * n_bytes, n_bytes, protection, MAP_SHARED | MAP_FIXED, fd,
                 (off_t)offset) == MAP_FAILED) {
            munmap(at, 2 * n_bytes);
            return NULL;
        }
    return at;
}
