/* blocks_in.h - the bytes inside a .tracy file: its container undone, one piece after the other.
 * Knows nothing of what they mean (tracy_file/content.h). The file is hostile until proven otherwise: a
 * block is at most 64 KiB of content, there are at most 255 streams, the content is at most 16 MiB and
 * 256 times what is stored (else BOMB), and what runs out or makes no sense gives zeros and sets `err`.
 * One thread reads; others decompress ahead of it.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_BLOCKS_IN_H
#define STROBE_TRACY_FILE_BLOCKS_IN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

enum {
    STROBE_TRACY_PIECE = 4096, /* bytes that can be had in one run */
    STROBE_TRACY_BLOCK = 65536,
};

struct strobe_tracy_blocks; /* the container */

/* Content, byte after byte. Past its end every get gives zeros and `err` stays set. */
struct strobe_tracy_bytes {
    const uint8_t *at;
    const uint8_t *end;
    enum strobe_err err;                /* END: it ran out; CORRUPT, BOMB, IO, NOMEM; OK so far */
    struct strobe_tracy_blocks *blocks; /* owned; NULL: at..end is all there is */
    uint64_t n_passed;                  /* bytes before the window that at..end is in */
    const uint8_t *base;                /* where that window begins */
};

/* Open a file. FORMAT: not a .tracy file. With `threaded`, other threads decompress ahead. */
enum strobe_err strobe_tracy_bytes_open(const char *path, int threaded,
                                        struct strobe_tracy_bytes *out);

/* The same over a whole file in memory, which must outlive it; no thread. */
enum strobe_err strobe_tracy_bytes_over_file(const void *file, size_t n_bytes,
                                             struct strobe_tracy_bytes *out);

/* Content without a container around it, in memory that must outlive it. */
void strobe_tracy_bytes_over(const void *content, size_t n_bytes, struct strobe_tracy_bytes *out);

void strobe_tracy_bytes_close(struct strobe_tracy_bytes *in); /* zeroed ones are allowed */

/* 1: the first bytes of a file are those of a .tracy container. */
int strobe_tracy_is_container(const uint8_t *bytes, size_t n_bytes);

/* Offset of the next byte in the content. */
static inline uint64_t strobe_tracy_tell(const struct strobe_tracy_bytes *in)
{
    return in->n_passed + (uint64_t)(in->at - in->base);
}

/* Make `n` bytes (at most STROBE_TRACY_PIECE) readable at in->at. 0: there are not so many, and
 * in->err says why. */
int strobe_tracy_more(struct strobe_tracy_bytes *in, size_t n);

extern const uint8_t strobe_tracy_zeros[STROBE_TRACY_PIECE];

/* The next `n` bytes in one run, at most STROBE_TRACY_PIECE; zeros where they run out. Until the
 * next call. */
static inline const uint8_t *strobe_tracy_get(struct strobe_tracy_bytes *in, size_t n)
{
    if ((size_t)(in->end - in->at) < n && !strobe_tracy_more(in, n))
        return strobe_tracy_zeros;
    const uint8_t *at = in->at;
    in->at += n;
    return at;
}

/* Any number of bytes, copied or stepped over. 0: they ran out. */
int strobe_tracy_copy(struct strobe_tracy_bytes *in, void *out, uint64_t n);
int strobe_tracy_skip(struct strobe_tracy_bytes *in, uint64_t n);

#define STROBE_TRACY_GET(name, type)                                      \
    static inline type strobe_tracy_##name(struct strobe_tracy_bytes *in) \
    {                                                                     \
        type value;                                                       \
        memcpy(&value, strobe_tracy_get(in, sizeof value), sizeof value); \
        return value;                                                     \
    }
STROBE_TRACY_GET(u8, uint8_t)
STROBE_TRACY_GET(u16, uint16_t)
STROBE_TRACY_GET(i16, int16_t)
STROBE_TRACY_GET(u32, uint32_t)
STROBE_TRACY_GET(i32, int32_t)
STROBE_TRACY_GET(u64, uint64_t)
STROBE_TRACY_GET(i64, int64_t)
STROBE_TRACY_GET(f32, float)
STROBE_TRACY_GET(f64, double)
#undef STROBE_TRACY_GET

static inline uint32_t strobe_tracy_u24(struct strobe_tracy_bytes *in)
{
    const uint8_t *at = strobe_tracy_get(in, 3);
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

#endif
