/* reply.c - JSON and arrays, put together.  SPDX-License-Identifier: MIT */
#include "engine/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct strobe_json_writer *strobe_reply_writer(struct strobe_reply *reply)
{
    reply->text.max = STROBE_REPLY_MAX_BYTES;
    reply->json.out = &reply->text;
    return &reply->json;
}

/* In base/json_write.h an element has no name. */
static const char *name_of(const char *name)
{
    return *name ? name : NULL;
}

static void look_for_error(struct strobe_reply *reply)
{
    reply->failed |= reply->text.error != 0;
}

void strobe_reply_printf(struct strobe_reply *reply, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0)
        strobe_out_bytes(strobe_reply_writer(reply)->out, text,
                         (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    look_for_error(reply);
}

void strobe_reply_key(struct strobe_reply *reply, const char *name)
{
    struct strobe_json_writer *json = strobe_reply_writer(reply);
    if (*name)
        strobe_json_write_name(json, name, strlen(name));
    else if (json->needs_comma)
        strobe_out_char(json->out, ',');
    json->needs_comma = 1;
    look_for_error(reply);
}

void strobe_reply_number(struct strobe_reply *reply, const char *name, double value)
{
    strobe_json_write_double(strobe_reply_writer(reply), name_of(name), value);
    look_for_error(reply);
}

void strobe_reply_u64(struct strobe_reply *reply, const char *name, uint64_t value)
{
    strobe_json_write_u(strobe_reply_writer(reply), name_of(name), value);
    look_for_error(reply);
}

void strobe_reply_null(struct strobe_reply *reply, const char *name)
{
    strobe_json_write_null(strobe_reply_writer(reply), name_of(name));
    look_for_error(reply);
}

void strobe_reply_bool(struct strobe_reply *reply, const char *name, int value)
{
    strobe_json_write_bool(strobe_reply_writer(reply), name_of(name), value);
    look_for_error(reply);
}

void strobe_reply_text(struct strobe_reply *reply, const char *name, const char *text, size_t n)
{
    strobe_json_write_text(strobe_reply_writer(reply), name_of(name), text, n);
    look_for_error(reply);
}

void strobe_reply_string(struct strobe_reply *reply, const char *name, const char *text)
{
    strobe_reply_text(reply, name, text, strlen(text));
}

void strobe_reply_open(struct strobe_reply *reply, const char *name, char bracket)
{
    strobe_json_write_open(strobe_reply_writer(reply), name_of(name), bracket);
    look_for_error(reply);
}

void strobe_reply_close(struct strobe_reply *reply, char bracket)
{
    strobe_json_write_close(strobe_reply_writer(reply), bracket);
    look_for_error(reply);
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
    size_t start = reply->text.len;
    int comma = reply->json.needs_comma;
    put_arrays(reply, 0);
    size_t n_json = pad8(reply->text.len + 2);
    reply->text.len = start;
    reply->json.needs_comma = comma;
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
    memcpy(at + 1, reply->text.at, reply->text.len);
    at[1 + reply->text.len] = '}';
    at += n_json;
    for (uint32_t i = 0; i < reply->n_arrays; i++) {
        memcpy(at, reply->arrays[i].bytes, reply->arrays[i].n_bytes);
        at += pad8(reply->arrays[i].n_bytes);
    }
    *n_bytes = n;
    return frame;
}

void strobe_reply_take_back(struct strobe_reply *reply, const struct strobe_reply *then)
{
    while (reply->n_arrays > then->n_arrays)
        free(reply->arrays[--reply->n_arrays].bytes);
    reply->text.len = then->text.len;
    reply->text.error = then->text.error;
    reply->json = then->json;
    reply->failed = then->failed;
}

void strobe_reply_free(struct strobe_reply *reply)
{
    for (uint32_t i = 0; i < reply->n_arrays; i++)
        free(reply->arrays[i].bytes);
    strobe_out_free(&reply->text);
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
