/* reply.h - builds an answer: JSON and arrays in one binary frame (docs/viewer-protocol.md).
 * Without memory `failed` is set and everything goes on without effect.  SPDX-License-Identifier: MIT */
#ifndef STROBE_ENGINE_REPLY_H
#define STROBE_ENGINE_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "base/json_write.h"

enum { STROBE_REPLY_ARRAYS = 24, STROBE_REPLY_MAX_BYTES = 64 << 20 };

struct strobe_reply_array {
    char name[16];
    const char *type; /* "f64", "u32", "f32", "u8" */
    uint32_t n;
    uint8_t *bytes; /* owned */
    size_t n_bytes;
};

/* Zero-initialise; free once. */
struct strobe_reply {
    struct strobe_out text; /* owned: the members so far, without braces */
    struct strobe_json_writer json;
    struct strobe_reply_array arrays[STROBE_REPLY_ARRAYS];
    uint32_t n_arrays;
    int failed;
};

/* A member's or an element's comma and name ("" for an element), and its value as it is, of 255 bytes at the most. */
void strobe_reply_key(struct strobe_reply *reply, const char *name);
void strobe_reply_printf(struct strobe_reply *reply, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Members and elements. Texts may hold any bytes: what is no UTF-8 is replaced. */
void strobe_reply_number(struct strobe_reply *reply, const char *name, double value);
void strobe_reply_u64(struct strobe_reply *reply, const char *name, uint64_t value);
void strobe_reply_null(struct strobe_reply *reply, const char *name);
void strobe_reply_bool(struct strobe_reply *reply, const char *name, int value);
void strobe_reply_text(struct strobe_reply *reply, const char *name, const char *text, size_t n);
void strobe_reply_string(struct strobe_reply *reply, const char *name, const char *text);
void strobe_reply_open(struct strobe_reply *reply, const char *name, char bracket);
void strobe_reply_close(struct strobe_reply *reply, char bracket);

/* The writer, for whoever writes members by base/json_write.h; until the reply is moved. */
struct strobe_json_writer *strobe_reply_writer(struct strobe_reply *reply);

/* An array to be filled by the caller; NULL without memory. Freed with the reply. */
double *strobe_reply_f64(struct strobe_reply *reply, const char *name, uint32_t n);
float *strobe_reply_f32(struct strobe_reply *reply, const char *name, uint32_t n);
uint32_t *strobe_reply_u32(struct strobe_reply *reply, const char *name, uint32_t n);
uint8_t *strobe_reply_u8(struct strobe_reply *reply, const char *name, uint32_t n);

/* The frame, with `before` free bytes in front. The caller frees it. NULL without memory. */
uint8_t *strobe_reply_frame(struct strobe_reply *reply, uint32_t id, size_t before,
                            size_t *n_bytes);

/* The frame; one that says so where the answer is too large. NULL without memory. The reply is freed. */
uint8_t *strobe_reply_finish(struct strobe_reply *reply, uint32_t id, size_t before,
                             size_t *n_bytes);

/* Take back what was put since the reply was as in `then`. */
void strobe_reply_take_back(struct strobe_reply *reply, const struct strobe_reply *then);

void strobe_reply_free(struct strobe_reply *reply);

#endif
