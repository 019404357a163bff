/* proto.h - Protocol Buffers, the half that writes. A message is its fields: a key (number and wire type), then a varint,
 * eight bytes, or a length and so many bytes.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_PROTO_H
#define STROBE_EXPORT_PROTO_H

#include <string.h>

#include "base/out.h"
#include "export/thrift.h"

enum { STROBE_PROTO_VARINT = 0, STROBE_PROTO_FIXED64 = 1, STROBE_PROTO_BYTES = 2 };

static inline void strobe_proto_u(struct strobe_out *out, unsigned field, uint64_t value)
{
    strobe_thrift_varint(out, field << 3 | STROBE_PROTO_VARINT);
    strobe_thrift_varint(out, value);
}

static inline void strobe_proto_fixed(struct strobe_out *out, unsigned field, uint64_t value)
{
    strobe_thrift_varint(out, field << 3 | STROBE_PROTO_FIXED64);
    for (int i = 0; i < 8; i++)
        strobe_out_char(out, (char)(value >> 8 * i));
}

static inline void strobe_proto_double(struct strobe_out *out, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    strobe_proto_fixed(out, field, bits);
}

/* A text, or a message that was made before. */
static inline void strobe_proto_bytes(struct strobe_out *out, unsigned field, const char *bytes,
                                      size_t n)
{
    strobe_thrift_varint(out, field << 3 | STROBE_PROTO_BYTES);
    strobe_thrift_varint(out, n);
    strobe_out_bytes(out, bytes, n);
}

/* A message from memory, which is empty afterwards. */
static inline void strobe_proto_message(struct strobe_out *out, unsigned field,
                                        struct strobe_out *message)
{
    strobe_proto_bytes(out, field, message->at, message->len);
    if (message->error && !out->error)
        out->error = message->error;
    strobe_out_clear(message);
}

#endif
