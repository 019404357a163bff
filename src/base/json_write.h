/* json_write.h - writes JSON over out.h: commas, quotes and UTF-8 come right by themselves.
 * `name` is a member's name, NULL for an element of an array or the whole.
 *
 *   struct strobe_json_writer json = {.out = &out};
 *   strobe_json_write_open(&json, NULL, '{');
 *   strobe_json_write_u(&json, "n", 5);
 *   strobe_json_write_close(&json, '}');              {"n":5}
 *
 * Errors are those of the out.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_JSON_WRITE_H
#define STROBE_BASE_JSON_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/out.h"

/* Zero-initialise and set `out`. */
struct strobe_json_writer {
    struct strobe_out *out; /* borrowed */
    int is_spaced;          /* a space behind ',' and ':' */
    int needs_comma;
    int new_line; /* the next one starts a line: spaces in front + 1; 0: it does not */
    uint32_t depth;
};

/* The next member, element or closing bracket starts a new line, behind `n_spaces`. */
void strobe_json_write_line(struct strobe_json_writer *json, int n_spaces);

void strobe_json_write_open(struct strobe_json_writer *json, const char *name, char bracket);
void strobe_json_write_close(struct strobe_json_writer *json, char bracket);
/* The name of a member where it is no C string; its value is written next, with `name` NULL. */
void strobe_json_write_name(struct strobe_json_writer *json, const char *name, size_t n);
void strobe_json_write_text(struct strobe_json_writer *json, const char *name, const char *text,
                            size_t n);
/* A text that ends with a NUL; NULL is written as null. */
void strobe_json_write_string(struct strobe_json_writer *json, const char *name, const char *text);
void strobe_json_write_u(struct strobe_json_writer *json, const char *name, uint64_t value);
void strobe_json_write_i(struct strobe_json_writer *json, const char *name, int64_t value);
/* JSON knows no infinity and no NaN: they are written as null. */
void strobe_json_write_double(struct strobe_json_writer *json, const char *name, double value);
void strobe_json_write_bool(struct strobe_json_writer *json, const char *name, int value);
void strobe_json_write_null(struct strobe_json_writer *json, const char *name);
/* A value that is JSON already. */
void strobe_json_write_raw(struct strobe_json_writer *json, const char *name, const char *value);

#endif
