/* blocks_out.h - writes the container of a .tracy file: LZ4, one stream, which every Tracy since 0.9
 * opens. Bytes in, blocks out; what they mean is the caller's.  SPDX-License-Identifier: MIT */
#ifndef STROBE_TRACY_FILE_BLOCKS_OUT_H
#define STROBE_TRACY_FILE_BLOCKS_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "tracy_file/blocks_in.h"

struct strobe_tracy_out {
    uint8_t *blocks; /* owned: two of STROBE_TRACY_BLOCK bytes, used in turn */
    uint8_t *at, *end;
    unsigned turn;
    void *lz4;        /* owned: LZ4_stream_t */
    char *stored;     /* owned */
    int fd;           /* borrowed */
    int error;        /* errno of the first write that failed, 0: none; later output is dropped */
    uint64_t n_bytes; /* of content so far */
};

/* Begin a file at `fd`. */
enum strobe_err strobe_tracy_out_open(struct strobe_tracy_out *out, int fd);
/* Write what waits and free. errno of the first write that failed, 0: none. */
int strobe_tracy_out_close(struct strobe_tracy_out *out);

void strobe_tracy_out_more(struct strobe_tracy_out *out, const void *bytes, size_t n);

static inline void strobe_tracy_out_put(struct strobe_tracy_out *out, const void *bytes, size_t n)
{
    if ((size_t)(out->end - out->at) < n) {
        strobe_tracy_out_more(out, bytes, n);
        return;
    }
    memcpy(out->at, bytes, n);
    out->at += n;
}

#define STROBE_TRACY_PUT(name, type)                                                     \
    static inline void strobe_tracy_out_##name(struct strobe_tracy_out *out, type value) \
    {                                                                                    \
        strobe_tracy_out_put(out, &value, sizeof value);                                 \
    }
STROBE_TRACY_PUT(u8, uint8_t)
STROBE_TRACY_PUT(u16, uint16_t)
STROBE_TRACY_PUT(i16, int16_t)
STROBE_TRACY_PUT(u32, uint32_t)
STROBE_TRACY_PUT(i32, int32_t)
STROBE_TRACY_PUT(u64, uint64_t)
STROBE_TRACY_PUT(i64, int64_t)
STROBE_TRACY_PUT(f32, float)
STROBE_TRACY_PUT(f64, double)
#undef STROBE_TRACY_PUT

static inline void strobe_tracy_out_u24(struct strobe_tracy_out *out, uint32_t value)
{
    uint8_t bytes[3] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16)};
    strobe_tracy_out_put(out, bytes, 3);
}

#endif
