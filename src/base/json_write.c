/* json_write.c - see json_write.h.  SPDX-License-Identifier: MIT */
#include "base/json_write.h"

#include <math.h>
#include <string.h>

static void start_line(struct strobe_json_writer *json)
{
    if (!json->new_line)
        return;
    strobe_out_char(json->out, '\n');
    for (int i = 1; i < json->new_line; i++)
        strobe_out_char(json->out, ' ');
    json->new_line = 0;
}

/* All that stands before a value. */
static void lead(struct strobe_json_writer *json, const char *name)
{
    int is_spaced = json->is_spaced && !json->new_line;
    if (json->needs_comma)
        strobe_out_bytes(json->out, ", ", is_spaced ? 2 : 1);
    start_line(json);
    json->needs_comma = 1;
    if (!name)
        return;
    strobe_out_json(json->out, name, strlen(name));
    strobe_out_bytes(json->out, ": ", json->is_spaced ? 2 : 1);
}

void strobe_json_write_name(struct strobe_json_writer *json, const char *name, size_t n)
{
    lead(json, NULL);
    strobe_out_json(json->out, name, n);
    strobe_out_bytes(json->out, ": ", json->is_spaced ? 2 : 1);
    json->needs_comma = 0;
}

void strobe_json_write_line(struct strobe_json_writer *json, int n_spaces)
{
    STROBE_ASSERT(n_spaces >= 0);
    json->new_line = n_spaces + 1;
}

void strobe_json_write_open(struct strobe_json_writer *json, const char *name, char bracket)
{
    STROBE_ASSERT(bracket == '{' || bracket == '[');
    lead(json, name);
    strobe_out_char(json->out, bracket);
    json->needs_comma = 0;
    json->depth++;
}

void strobe_json_write_close(struct strobe_json_writer *json, char bracket)
{
    STROBE_ASSERT(json->depth);
    STROBE_ASSERT(bracket == '}' || bracket == ']');
    start_line(json);
    strobe_out_char(json->out, bracket);
    json->needs_comma = 1;
    json->depth--;
}

void strobe_json_write_text(struct strobe_json_writer *json, const char *name, const char *text,
                            size_t n)
{
    lead(json, name);
    strobe_out_json(json->out, text, n);
}

void strobe_json_write_string(struct strobe_json_writer *json, const char *name, const char *text)
{
    if (text)
        strobe_json_write_text(json, name, text, strlen(text));
    else
        strobe_json_write_null(json, name);
}

void strobe_json_write_u(struct strobe_json_writer *json, const char *name, uint64_t value)
{
    lead(json, name);
    strobe_out_u(json->out, value);
}

void strobe_json_write_i(struct strobe_json_writer *json, const char *name, int64_t value)
{
    lead(json, name);
    strobe_out_i(json->out, value);
}

void strobe_json_write_double(struct strobe_json_writer *json, const char *name, double value)
{
    if (!isfinite(value)) {
        strobe_json_write_null(json, name);
        return;
    }
    lead(json, name);
    strobe_out_double(json->out, value);
}

void strobe_json_write_raw(struct strobe_json_writer *json, const char *name, const char *value)
{
    lead(json, name);
    strobe_out_text(json->out, value);
}

void strobe_json_write_bool(struct strobe_json_writer *json, const char *name, int value)
{
    strobe_json_write_raw(json, name, value ? "true" : "false");
}

void strobe_json_write_null(struct strobe_json_writer *json, const char *name)
{
    strobe_json_write_raw(json, name, "null");
}
