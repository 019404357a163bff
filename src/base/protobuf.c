/* protobuf.c - see protobuf.h.  SPDX-License-Identifier: MIT */
#include "base/protobuf.h"

#include <string.h>

#include "base/utf8.h"

#define FIELD_MAX ((1u << 29) - 1)

/* ---- writing ---- */

static void put_varint(struct strobe_out *out, uint64_t value)
{
    char *at = strobe_out_need(out, STROBE_VARINT_MAX);
    if (at)
        out->len += (size_t)((char *)strobe_varint_put((uint8_t *)at, value) - at);
}

static void put_key(struct strobe_out *out, uint32_t field, enum strobe_protobuf_type type)
{
    STROBE_ASSERT(field && field <= FIELD_MAX);
    put_varint(out, (uint64_t)field << 3 | type);
}

void strobe_protobuf_put_u(struct strobe_out *out, uint32_t field, uint64_t value)
{
    put_key(out, field, STROBE_PROTOBUF_VARINT);
    put_varint(out, value);
}

void strobe_protobuf_put_sint(struct strobe_out *out, uint32_t field, int64_t value)
{
    strobe_protobuf_put_u(out, field, strobe_zigzag(value));
}

void strobe_protobuf_put_fixed64(struct strobe_out *out, uint32_t field, uint64_t value)
{
    char bytes[8];
    put_key(out, field, STROBE_PROTOBUF_FIXED64);
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(value >> 8 * i);
    strobe_out_bytes(out, bytes, sizeof bytes);
}

void strobe_protobuf_put_double(struct strobe_out *out, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    strobe_protobuf_put_fixed64(out, field, bits);
}

void strobe_protobuf_put_bytes(struct strobe_out *out, uint32_t field, const void *bytes, size_t n)
{
    put_key(out, field, STROBE_PROTOBUF_BYTES);
    put_varint(out, n);
    strobe_out_bytes(out, bytes, n);
}

void strobe_protobuf_put_text(struct strobe_out *out, uint32_t field, const char *text, size_t n)
{
    struct strobe_out valid = {0};
    if (strobe_utf8_valid(text, n) == n) {
        strobe_protobuf_put_bytes(out, field, text, n);
        return;
    }
    strobe_out_utf8(&valid, text, n);
    strobe_protobuf_put_message(out, field, &valid);
    strobe_out_free(&valid);
}

void strobe_protobuf_put_message(struct strobe_out *out, uint32_t field, struct strobe_out *message)
{
    STROBE_ASSERT(!message->sink && message != out);
    strobe_protobuf_put_bytes(out, field, message->at, message->len);
    if (message->error && !out->error)
        out->error = message->error;
    strobe_out_clear(message);
}

static size_t varint_bytes(uint64_t value)
{
    size_t n = 1;
    for (; value >= 0x80; value >>= 7)
        n++;
    return n;
}

void strobe_protobuf_put_packed(struct strobe_out *out, uint32_t field, const uint64_t *values,
                                size_t n)
{
    size_t n_bytes = 0;
    if (!n)
        return;
    for (size_t i = 0; i < n; i++)
        n_bytes += varint_bytes(values[i]);
    put_key(out, field, STROBE_PROTOBUF_BYTES);
    put_varint(out, n_bytes);
    for (size_t i = 0; i < n; i++)
        put_varint(out, values[i]);
}

/* ---- reading ---- */

struct strobe_protobuf strobe_protobuf_over(const void *bytes, size_t n)
{
    return (struct strobe_protobuf){.in = strobe_bytes_over(bytes, n)};
}

struct strobe_protobuf strobe_protobuf_inner(const struct strobe_protobuf *message)
{
    return strobe_protobuf_over(message->bytes, message->bytes ? (size_t)message->number : 0);
}

/* Little-endian, whatever the machine. */
static uint64_t get_fixed(struct strobe_bytes *in, size_t n)
{
    const uint8_t *bytes = strobe_get_bytes(in, n);
    uint64_t value = 0;
    for (size_t i = 0; bytes && i < n; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

int strobe_protobuf_next(struct strobe_protobuf *message)
{
    struct strobe_bytes *in = &message->in;
    message->bytes = NULL;
    if (message->is_bad || !strobe_bytes_left(in))
        return 0;
    uint64_t key = strobe_get_varint(in);
    message->field = (uint32_t)(key >> 3);
    message->type = (enum strobe_protobuf_type)(key & 7);
    if (message->type == STROBE_PROTOBUF_VARINT) {
        message->number = strobe_get_varint(in);
    } else if (message->type == STROBE_PROTOBUF_FIXED64) {
        message->number = get_fixed(in, 8);
    } else if (message->type == STROBE_PROTOBUF_FIXED32) {
        message->number = get_fixed(in, 4);
    } else if (message->type == STROBE_PROTOBUF_BYTES) {
        message->number = strobe_get_varint(in);
        message->bytes = strobe_get_bytes(in, message->number);
    } else {
        in->bad = 1;
    }
    message->is_bad = in->bad || !(key >> 3) || key >> 3 > FIELD_MAX;
    return !message->is_bad;
}

struct strobe_protobuf_numbers strobe_protobuf_numbers(const struct strobe_protobuf *message,
                                                       int is_fixed64)
{
    return (struct strobe_protobuf_numbers){.in = strobe_protobuf_inner(message).in,
                                            .single = message->number,
                                            .has_single = message->type != STROBE_PROTOBUF_BYTES,
                                            .is_fixed64 = is_fixed64};
}

int strobe_protobuf_numbers_next(struct strobe_protobuf_numbers *numbers, uint64_t *out)
{
    if (numbers->has_single) {
        *out = numbers->single;
        numbers->has_single = 0;
        return 1;
    }
    if (!strobe_bytes_left(&numbers->in))
        return 0;
    *out = numbers->is_fixed64 ? get_fixed(&numbers->in, 8) : strobe_get_varint(&numbers->in);
    return !numbers->in.bad;
}

double strobe_protobuf_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
