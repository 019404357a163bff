/* buckets.h - the buckets of a summary's histogram of durations: one per tick up to 32, then 32 per
 * power of two (docs/file-format.md).  SPDX-License-Identifier: MIT */
#ifndef STROBE_FILE_BUCKETS_H
#define STROBE_FILE_BUCKETS_H

#include <stdint.h>

#include "base/assert.h"
#include "wire/file_layout.h"

/* The bucket of a duration, the smallest duration in a bucket, its width. */
static inline uint32_t strobe_buckets_of(uint64_t ticks)
{
    uint32_t shift = 58u - (uint32_t)__builtin_clzll(ticks | 32); /* no branch: 0 below 64 */
    uint32_t bucket = (shift << 5) + (uint32_t)(ticks >> shift);
    STROBE_ASSERT(bucket < STROBE_HIST_BUCKETS);
    return bucket;
}

static inline uint64_t strobe_buckets_low(uint32_t bucket)
{
    STROBE_ASSERT(bucket < STROBE_HIST_BUCKETS);
    if (bucket < 32)
        return bucket;
    uint32_t e = bucket / 32 + 4;
    return (1ull << e) + ((uint64_t)(bucket % 32) << (e - 5));
}

static inline uint64_t strobe_buckets_width(uint32_t bucket)
{
    return bucket < 32 ? 1 : 1ull << (bucket / 32 - 1);
}

#endif
