/* thrift.h - Thrift's compact protocol, the half that writes: what Parquet's headers are made of. A struct is its fields in the
 * order of their numbers, each with the distance to the one before, then a 0.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_THRIFT_H
#define STROBE_EXPORT_THRIFT_H

#include <string.h>

#include "base/out.h"

enum strobe_thrift_type {
    STROBE_THRIFT_TRUE = 1,
    STROBE_THRIFT_I32 = 5,
    STROBE_THRIFT_I64 = 6,
    STROBE_THRIFT_BINARY = 8,
    STROBE_THRIFT_LIST = 9,
    STROBE_THRIFT_STRUCT = 12,
};

static inline void strobe_thrift_varint(struct strobe_out *out, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        strobe_out_char(out, (char)(value | 128));
    strobe_out_char(out, (char)value);
}

static inline uint64_t strobe_thrift_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

/* The head of field `distance` numbers behind the one before it. */
static inline void strobe_thrift_field(struct strobe_out *out, unsigned distance,
                                       enum strobe_thrift_type type)
{
    STROBE_ASSERT(distance > 0 && distance < 16);
    strobe_out_char(out, (char)(distance << 4 | type));
}

/* i32 and i64 alike. */
static inline void strobe_thrift_int(struct strobe_out *out, unsigned distance, int64_t value)
{
    strobe_thrift_field(out, distance, STROBE_THRIFT_I64);
    strobe_thrift_varint(out, strobe_thrift_zigzag(value));
}

static inline void strobe_thrift_i32(struct strobe_out *out, unsigned distance, int32_t value)
{
    strobe_thrift_field(out, distance, STROBE_THRIFT_I32);
    strobe_thrift_varint(out, strobe_thrift_zigzag(value));
}

static inline void strobe_thrift_bytes(struct strobe_out *out, const void *bytes, size_t n)
{
    strobe_thrift_varint(out, n);
    strobe_out_bytes(out, bytes, n);
}

static inline void strobe_thrift_text(struct strobe_out *out, unsigned distance, const char *text)
{
    strobe_thrift_field(out, distance, STROBE_THRIFT_BINARY);
    strobe_thrift_bytes(out, text, strlen(text));
}

static inline void strobe_thrift_list(struct strobe_out *out, unsigned distance,
                                      enum strobe_thrift_type type, uint32_t n)
{
    strobe_thrift_field(out, distance, STROBE_THRIFT_LIST);
    strobe_out_char(out, (char)((n < 15 ? n : 15) << 4 | type));
    if (n >= 15)
        strobe_thrift_varint(out, n);
}

static inline void strobe_thrift_end(struct strobe_out *out)
{
    strobe_out_char(out, 0);
}

#endif
