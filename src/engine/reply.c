/* reply.c - JSON and arrays, put together.  SPDX-License-Identifier: MIT */
#include "engine/reply.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int make_room(struct strobe_reply *reply, size_t n)
{
    if (reply->failed)
        return 0;
    if (reply->n_json + n <= reply->room)
        return 1;
    size_t room = 2 * reply->room + n + 256;
    char *more = room > STROBE_REPLY_MAX_BYTES ? NULL : realloc(reply->json, room);
    if (!more) {
        reply->failed = 1;
        return 0;
    }
    reply->json = more;
    reply->room = room;
    return 1;
}

static void put(struct strobe_reply *reply, const char *bytes, size_t n)
{
    if (!make_room(reply, n))
        return;
    memcpy(reply->json + reply->n_json, bytes, n);
    reply->n_json += n;
}

void strobe_reply_raw(struct strobe_reply *reply, const char *text)
{
    put(reply, text, strlen(text));
}

void strobe_reply_printf(struct strobe_reply *reply, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0)
        put(reply, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void strobe_reply_key(struct strobe_reply *reply, const char *name)
{
    if (reply->needs_comma)
        put(reply, ",", 1);
    reply->needs_comma = 1;
    if (*name)
        strobe_reply_printf(reply, "\"%s\":", name);
}

void strobe_reply_number(struct strobe_reply *reply, const char *name, double value)
{
    strobe_reply_key(reply, name);
    if (!isfinite(value))
        strobe_reply_raw(reply, "null");
    else if (value == floor(value) && fabs(value) < 1e18)
        strobe_reply_printf(reply, "%.0f", value);
    else
        strobe_reply_printf(reply, "%.17g", value);
}

void strobe_reply_u64(struct strobe_reply *reply, const char *name, uint64_t value)
{
    strobe_reply_key(reply, name);
    strobe_reply_printf(reply, "%llu", (unsigned long long)value);
}

void strobe_reply_null(struct strobe_reply *reply, const char *name)
{
    strobe_reply_key(reply, name);
    strobe_reply_raw(reply, "null");
}

void strobe_reply_bool(struct strobe_reply *reply, const char *name, int value)
{
    strobe_reply_key(reply, name);
    strobe_reply_raw(reply, value ? "true" : "false");
}

/* Bytes of the UTF-8 character at text, 0: it is none. */
static size_t utf8_length(const unsigned char *text, size_t n)
{
    unsigned char c = text[0];
    size_t length = c < 0x80                ? 1
                    : c >= 0xc2 && c < 0xe0 ? 2
                    : c >= 0xe0 && c < 0xf0 ? 3
                    : c >= 0xf0 && c < 0xf5 ? 4
                                            : 0;
    if (!length || length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f) ||
        (c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

void strobe_reply_text(struct strobe_reply *reply, const char *name, const char *text, size_t n)
{
    strobe_reply_key(reply, name);
    put(reply, "\"", 1);
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)text[i];
        size_t length = utf8_length((const unsigned char *)text + i, n - i);
        if (c == '"' || c == '\\') {
            char escaped[2] = {'\\', (char)c};
            put(reply, escaped, 2);
        } else if (c < 0x20 || c == 0x7f) {
            strobe_reply_printf(reply, "\\u%04x", c);
        } else if (length) {
            put(reply, text + i, length);
        } else {
            put(reply, "\xef\xbf\xbd", 3);
        }
        i += length ? length : 1;
    }
    put(reply, "\"", 1);
}

void strobe_reply_string(struct strobe_reply *reply, const char *name, const char *text)
{
    strobe_reply_text(reply, name, text, strlen(text));
}

void strobe_reply_open(struct strobe_reply *reply, const char *name, char bracket)
{
    strobe_reply_key(reply, name);
    put(reply, &bracket, 1);
    reply->needs_comma = 0;
}

void strobe_reply_close(struct strobe_reply *reply, char bracket)
{
    put(reply, &bracket, 1);
    reply->needs_comma = 1;
}

static void *add_array(struct strobe_reply *reply, const char *name, const char *type, uint32_t n,
                       size_t item)
{
    if (reply->failed || reply->n_arrays == STROBE_REPLY_ARRAYS)
        return NULL;
    struct strobe_reply_array *array = &reply->arrays[reply->n_arrays];
    array->bytes = calloc(n + 1ull, item);
    if (!array->bytes) {
        reply->failed = 1;
        return NULL;
    }
    snprintf(array->name, sizeof array->name, "%s", name);
    array->type = type;
    array->n = n;
    array->n_bytes = n * item;
    reply->n_arrays++;
    return array->bytes;
}

double *strobe_reply_f64(struct strobe_reply *reply, const char *name, uint32_t n)
{
    return add_array(reply, name, "f64", n, sizeof(double));
}

float *strobe_reply_f32(struct strobe_reply *reply, const char *name, uint32_t n)
{
    return add_array(reply, name, "f32", n, sizeof(float));
}

uint32_t *strobe_reply_u32(struct strobe_reply *reply, const char *name, uint32_t n)
{
    return add_array(reply, name, "u32", n, sizeof(uint32_t));
}

uint8_t *strobe_reply_u8(struct strobe_reply *reply, const char *name, uint32_t n)
{
    return add_array(reply, name, "u8", n, 1);
}

static size_t pad8(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

/* The arrays' places depend on the JSON's length, which depends on them: they are written with fixed widths. */
static void put_arrays(struct strobe_reply *reply, size_t n_json)
{
    size_t at = 8 + n_json;
    strobe_reply_open(reply, "arrays", '{');
    for (uint32_t i = 0; i < reply->n_arrays; i++) {
        const struct strobe_reply_array *array = &reply->arrays[i];
        strobe_reply_open(reply, array->name, '{');
        strobe_reply_printf(reply, "\"type\":\"%s\",\"n\":%10u,\"at\":%10zu", array->type, array->n,
                            at);
        strobe_reply_close(reply, '}');
        at += pad8(array->n_bytes);
    }
    strobe_reply_close(reply, '}');
}

uint8_t *strobe_reply_frame(struct strobe_reply *reply, uint32_t id, size_t before, size_t *n_bytes)
{
    size_t start = reply->n_json;
    int comma = reply->needs_comma;
    put_arrays(reply, 0);
    size_t n_json = pad8(reply->n_json + 2);
    reply->n_json = start;
    reply->needs_comma = comma;
    put_arrays(reply, n_json);
    size_t n = 8 + n_json;
    for (uint32_t i = 0; i < reply->n_arrays; i++)
        n += pad8(reply->arrays[i].n_bytes);
    uint8_t *frame = reply->failed || n > STROBE_REPLY_MAX_BYTES ? NULL : calloc(1, before + n);
    if (!frame)
        return NULL;
    uint8_t *at = frame + before;
    uint32_t words[2] = {id, (uint32_t)n_json};
    memcpy(at, words, sizeof words);
    at += 8;
    memset(at, ' ', n_json);
    at[0] = '{';
    memcpy(at + 1, reply->json, reply->n_json);
    at[1 + reply->n_json] = '}';
    at += n_json;
    for (uint32_t i = 0; i < reply->n_arrays; i++) {
        memcpy(at, reply->arrays[i].bytes, reply->arrays[i].n_bytes);
        at += pad8(reply->arrays[i].n_bytes);
    }
    *n_bytes = n;
    return frame;
}

void strobe_reply_free(struct strobe_reply *reply)
{
    for (uint32_t i = 0; i < reply->n_arrays; i++)
        free(reply->arrays[i].bytes);
    free(reply->json);
    memset(reply, 0, sizeof *reply);
}

uint8_t *strobe_reply_finish(struct strobe_reply *reply, uint32_t id, size_t before,
                             size_t *n_bytes)
{
    uint8_t *frame = strobe_reply_frame(reply, id, before, n_bytes);
    strobe_reply_free(reply);
    if (frame)
        return frame;
    strobe_reply_u64(reply, "id", id);
    strobe_reply_string(reply, "error", "the answer is too large");
    frame = strobe_reply_frame(reply, id, before, n_bytes);
    strobe_reply_free(reply);
    return frame;
}
