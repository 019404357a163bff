/* varint.h - numbers of variable length: LEB128 and zigzag, as docs/file-format.md defines them.
 * Readers take bytes from strangers: every get is bounded and says when the bytes ran out.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_VARINT_H
#define STROBE_BASE_VARINT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { STROBE_VARINT_MAX = 10 };

/* Write `value` at `out`, which has room for STROBE_VARINT_MAX bytes. The byte after it. */
static inline uint8_t *strobe_varint_put(uint8_t *out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

static inline uint64_t strobe_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t strobe_varint_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* A bounded run of bytes being read. Past its end every get gives 0 and `bad` stays set. */
struct strobe_bytes {
    const uint8_t *at;
    const uint8_t *end;
    int bad;
};

static inline struct strobe_bytes strobe_bytes_over(const void *data, size_t n_bytes)
{
    const uint8_t *at = data; /* NULL without bytes */
    struct strobe_bytes in = {at, n_bytes ? at + n_bytes : at, 0};
    return in;
}

static inline size_t strobe_bytes_left(const struct strobe_bytes *in)
{
    return (size_t)(in->end - in->at);
}

static inline uint64_t strobe_get_varint(struct strobe_bytes *in)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 70 && in->at < in->end; shift += 7) {
        uint8_t byte = *in->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    in->bad = 1;
    in->at = in->end;
    return 0;
}

static inline int64_t strobe_get_zigzag(struct strobe_bytes *in)
{
    return strobe_varint_unzigzag(strobe_get_varint(in));
}

/* Step over `n` varints: bytes without the top bit end one, and eight bytes are looked at together. */
static inline void strobe_bytes_skip_varints(struct strobe_bytes *in, uint64_t n)
{
    const uint8_t *at = in->at;
    if (n > strobe_bytes_left(in)) {
        in->bad = 1;
        in->at = in->end;
        return;
    }
    while (n >= 8 && in->end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        n -= ((~word & 0x8080808080808080ull) >> 7) * 0x0101010101010101ull >> 56;
        at += 8;
    }
    for (; n && at < in->end; at++)
        n -= !(*at & 0x80);
    in->at = at;
    in->bad |= n != 0;
}

/* The next `n` bytes, or NULL where so many are not left. */
static inline const uint8_t *strobe_get_bytes(struct strobe_bytes *in, uint64_t n)
{
    if (n > strobe_bytes_left(in)) {
        in->bad = 1;
        in->at = in->end;
        return NULL;
    }
    const uint8_t *data = in->at;
    in->at += n;
    return data;
}

static inline double strobe_bytes_get_double(struct strobe_bytes *in)
{
    double value = 0;
    const uint8_t *data = strobe_get_bytes(in, sizeof value);
    if (data)
        memcpy(&value, data, sizeof value);
    return value;
}

#endif
