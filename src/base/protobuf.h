/* protobuf.h - protobuf's wire format, read and written field by field; there is no schema here, only numbers and bytes.
 *
 * Writing goes to any out.h. A message within a message is made in a memory of its own first, because its length stands before it:
 *
 *   struct strobe_out inner = {0};
 *   strobe_protobuf_put_u(&inner, 1, 5);
 *   strobe_protobuf_put_message(out, 2, &inner);     // { 2: { 1: 5 } }; inner is empty again, its memory is kept
 *   strobe_out_free(&inner);
 *
 * Reading takes bytes from strangers: every length is held against what is left, and nothing recurses.
 *
 *   struct strobe_protobuf in = strobe_protobuf_over(bytes, n);
 *   while (strobe_protobuf_next(&in))
 *       if (in.field == 1)
 *           use(in.number);
 *   if (in.is_bad) ...
 *
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_PROTOBUF_H
#define STROBE_BASE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/out.h"
#include "base/varint.h"

/* What stands behind a field's number, as the format counts it. Groups (3, 4) were given up long ago, and are damage here. */
enum strobe_protobuf_type {
    STROBE_PROTOBUF_VARINT = 0,
    STROBE_PROTOBUF_FIXED64 = 1,
    STROBE_PROTOBUF_BYTES = 2,
    STROBE_PROTOBUF_FIXED32 = 5,
};

/* ---- writing: errors are those of the out ---- */

/* uint32, uint64, bool, enum; int32 and int64 by their bits (a negative one takes 10 bytes). */
void strobe_protobuf_put_u(struct strobe_out *out, uint32_t field, uint64_t value);
void strobe_protobuf_put_sint(struct strobe_out *out, uint32_t field, int64_t value);
void strobe_protobuf_put_fixed64(struct strobe_out *out, uint32_t field, uint64_t value);
void strobe_protobuf_put_double(struct strobe_out *out, uint32_t field, double value);
/* bytes; and string, whose text the caller has made valid UTF-8. */
void strobe_protobuf_put_bytes(struct strobe_out *out, uint32_t field, const void *bytes, size_t n);
/* A string of any bytes: they come out as valid UTF-8. */
void strobe_protobuf_put_text(struct strobe_out *out, uint32_t field, const char *text, size_t n);
/* A message that was made in memory, which is empty afterwards; an error of it becomes the out's. */
void strobe_protobuf_put_message(struct strobe_out *out, uint32_t field,
                                 struct strobe_out *message);
/* A repeated number, packed; nothing where there are none. */
void strobe_protobuf_put_packed(struct strobe_out *out, uint32_t field, const uint64_t *values,
                                size_t n);

/* ---- reading ---- */

/* A message, and the field of it that was read last. */
struct strobe_protobuf {
    uint32_t field;
    enum strobe_protobuf_type type;
    uint64_t number;        /* of a VARINT or FIXED one: its value or bits; else the length */
    const uint8_t *bytes;   /* borrowed, of a BYTES one: `number` of them; else NULL */
    int is_bad;             /* the bytes are none of this format from some place on */
    struct strobe_bytes in; /* what is left */
};

/* `bytes` must outlive it. */
struct strobe_protobuf strobe_protobuf_over(const void *bytes, size_t n);

/* The message in the field that was read last; empty where it is none. */
struct strobe_protobuf strobe_protobuf_inner(const struct strobe_protobuf *message);

/* Go to the next field. 0: that was all, or the rest is damaged (is_bad). */
int strobe_protobuf_next(struct strobe_protobuf *message);

/* Numbers of a repeated field: packed, or the one that stands here. */
struct strobe_protobuf_numbers {
    struct strobe_bytes in; /* `in.bad`: the packed ones are damaged */
    uint64_t single;
    int has_single, is_fixed64;
};

/* Those in the field that was read last; is_fixed64: packed ones are fixed64 or double, else varints. */
struct strobe_protobuf_numbers strobe_protobuf_numbers(const struct strobe_protobuf *message,
                                                       int is_fixed64);
/* The next one. 0: there is none. */
int strobe_protobuf_numbers_next(struct strobe_protobuf_numbers *numbers, uint64_t *out);

double strobe_protobuf_double(uint64_t bits);

#endif
