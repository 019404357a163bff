/* json.h - reads the page's questions. Bytes come from strangers: size, depth and number of values are bounded, nothing is
 * allocated.  SPDX-License-Identifier: MIT */
#ifndef STROBE_ENGINE_JSON_H
#define STROBE_ENGINE_JSON_H

#include <stddef.h>
#include <stdint.h>

enum {
    STROBE_JSON_MAX_BYTES = 64 << 10,
    STROBE_JSON_MAX_VALUES = 20000,
    STROBE_JSON_MAX_DEPTH = 8,
};

enum strobe_json_type {
    STROBE_JSON_NONE,
    STROBE_JSON_OBJECT,
    STROBE_JSON_ARRAY,
    STROBE_JSON_STRING,
    STROBE_JSON_NUMBER,
    STROBE_JSON_TRUE,
    STROBE_JSON_FALSE,
    STROBE_JSON_NULL,
};

/* A value; of an object the members are name, value, name, value. */
struct strobe_json_value {
    uint8_t type;
    uint32_t start, end; /* of its bytes; a string without its quotes */
    uint32_t after;      /* index of the value that follows it and all that is in it */
};

struct strobe_json {
    const char *text; /* borrowed */
    uint32_t n_text;
    uint32_t n_values; /* value 0 is the whole; 0 is also "none" where a member is looked for */
    struct strobe_json_value values[STROBE_JSON_MAX_VALUES];
};

/* Parse one value that fills `text`. 0: it is no JSON, or too much of it. */
int strobe_json_parse(struct strobe_json *json, const char *text, size_t n_bytes);

/* The member of an object, 0: none. */
uint32_t strobe_json_member(const struct strobe_json *json, uint32_t object, const char *name);

/* A value as number; `otherwise` where it is none. Infinite and not-a-number can't come out. */
double strobe_json_number(const struct strobe_json *json, uint32_t value, double otherwise);

/* A number within bounds, as a whole number. */
uint64_t strobe_json_count(const struct strobe_json *json, uint32_t value, uint64_t otherwise,
                           uint64_t max);

/* A text, unescaped, NUL-terminated, cut to the room. Its length; 0 where it is no text. */
size_t strobe_json_text(const struct strobe_json *json, uint32_t value, char *out, size_t room);

/* 1: the value is this text. */
int strobe_json_is(const struct strobe_json *json, uint32_t value, const char *text);

/* Values of an array: *at is 0 at first; the index of the next one, 0 after the last. */
uint32_t strobe_json_next(const struct strobe_json *json, uint32_t array, uint32_t *at);

#endif
