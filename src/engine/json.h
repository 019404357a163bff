/* json.h - the page's questions, read into a tree (base/json_tree.h). Bytes come from strangers: size, depth and number of
 * values are bounded.  SPDX-License-Identifier: MIT */
#ifndef STROBE_ENGINE_JSON_H
#define STROBE_ENGINE_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "base/json_tree.h"

enum {
    STROBE_JSON_MAX_BYTES = 64 << 10,
    STROBE_JSON_MAX_VALUES = 20000,
    STROBE_JSON_MAX_DEPTH = 9, /* objects and arrays that are open at once */
    STROBE_JSON_WHOLE = 1,
};

/* All zero is empty. Use it for one question after the other: its memory is kept. */
struct strobe_json {
    struct strobe_json_tree tree; /* values are its nodes; 0 is none */
};

/* Parse one value that fills `text`. 0: it is no JSON, or too much of it, or there is no memory. */
int strobe_json_parse(struct strobe_json *json, const char *text, size_t n_bytes);
void strobe_json_free(struct strobe_json *json);

/* 1: the whole is an object; the value (0: none) is an array. */
int strobe_json_is_object(const struct strobe_json *json);
int strobe_json_is_array(const struct strobe_json *json, uint32_t value);

/* The member of an object (0: of the whole). 0: none. */
uint32_t strobe_json_member(const struct strobe_json *json, uint32_t object, const char *name);

/* A value as number; `otherwise` where it is none. Infinite and not-a-number can't come out. */
double strobe_json_number(const struct strobe_json *json, uint32_t value, double otherwise);

/* A number within bounds, as a whole number. */
uint64_t strobe_json_count(const struct strobe_json *json, uint32_t value, uint64_t otherwise,
                           uint64_t max);

/* A text, NUL-terminated, cut to the room at a character; a NUL in it becomes a space. Its length; 0 where it is no text. */
size_t strobe_json_text(const struct strobe_json *json, uint32_t value, char *out, size_t room);

/* 1: the value is this text. */
int strobe_json_is(const struct strobe_json *json, uint32_t value, const char *text);

/* Values of an array: *at is 0 at first; the next one, 0 after the last, or where it is no array. */
uint32_t strobe_json_next(const struct strobe_json *json, uint32_t array, uint32_t *at);

/* Append the value as JSON, without space: equal values that were written alike give equal text. */
void strobe_json_put(const struct strobe_json *json, uint32_t value, struct strobe_out *out);

#endif
