/* json_scan.c - see json_scan.h. Each function gives the place behind what it passes, or NULL.
 * SPDX-License-Identifier: MIT */
#include "import/json_scan.h"

#include <string.h>

#include "base/json_plain.h"

enum { DEPTH_MAX = 32 }; /* of values in values: the functions below call each other */

static const char *pass_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static const char *pass_escape(const char *at, const char *end)
{
    if (end - at > 1 && at[1] && strchr("\"\\/bfnrt", at[1]))
        return at + 2;
    if (end - at < 6 || at[1] != 'u' || !is_hex(at[2]) || !is_hex(at[3]) || !is_hex(at[4]) ||
        !is_hex(at[5]))
        return NULL;
    return at + 6;
}

/* The rest of a string whose first quote was passed: the place of the last one. */
static const char *find_quote(const char *at, const char *end)
{
    while (at && (at = strobe_json_plain(at, end)) < end && *at != '"') {
        if ((unsigned char)*at >= 0x80)
            at++; /* whatever it stands for */
        else
            at = *at == '\\' ? pass_escape(at, end) : NULL;
    }
    return at && at < end ? at : NULL;
}

static const char *pass_digits(const char *at, const char *end)
{
    const char *from = at;
    while (at < end && is_digit(*at))
        at++;
    return at > from ? at : NULL;
}

static const char *pass_number(const char *at, const char *end)
{
    at += *at == '-';
    const char *whole = at;
    if (!(at = pass_digits(at, end)) || (*whole == '0' && at > whole + 1))
        return NULL;
    if (at < end && *at == '.' && !(at = pass_digits(at + 1, end)))
        return NULL;
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        at = pass_digits(at, end);
    }
    return at;
}

static const char *pass_word(const char *at, const char *end)
{
    const char *word = *at == 't' ? "true" : *at == 'f' ? "false" : "null";
    size_t n = strlen(word);
    return (size_t)(end - at) >= n && !memcmp(at, word, n) ? at + n : NULL;
}

static const char *pass_nested(const char *at, const char *end, int depth,
                               struct strobe_json_field *fields, int *n);

/* A value, and what it is. */
static const char *pass_value(const char *at, const char *end, int depth,
                              struct strobe_json_field *field)
{
    const char *after = NULL;
    if (at == end)
        return NULL;
    char first = *at;
    int is_string = first == '"', none;
    if (is_string)
        after = find_quote(++at, end);
    else if (first == '-' || is_digit(first))
        after = pass_number(at, end);
    else if (first == '{' || first == '[')
        after = depth < DEPTH_MAX ? pass_nested(at, end, depth + 1, NULL, &none) : NULL;
    else if (first == 't' || first == 'f' || first == 'n')
        after = pass_word(at, end);
    if (!after)
        return NULL;
    field->type = first == '-' || is_digit(first) ? '0' : first;
    field->value = (struct strobe_json_text){at, (size_t)(after - at)};
    return after + is_string;
}

/* The name of a member and the colon. */
static const char *pass_name(const char *at, const char *end, struct strobe_json_field *field)
{
    if (at == end || *at != '"')
        return NULL;
    const char *quote = find_quote(++at, end);
    if (!quote)
        return NULL;
    field->name = (struct strobe_json_text){at, (size_t)(quote - at)};
    at = pass_space(quote + 1, end);
    return at < end && *at == ':' ? pass_space(at + 1, end) : NULL;
}

/* An object or an array. `fields`: where its members go; NULL: nowhere. */
static const char *pass_nested(const char *at, const char *end, int depth,
                               struct strobe_json_field *fields, int *n)
{
    struct strobe_json_field passed;
    int is_object = *at == '{';
    char close = is_object ? '}' : ']';
    *n = 0;
    at = pass_space(at + 1, end);
    if (at < end && *at == close)
        return at + 1;
    for (;;) {
        struct strobe_json_field *field = fields ? &fields[*n] : &passed;
        if (fields && ++*n > STROBE_JSON_FIELDS_MAX)
            return NULL;
        if (is_object && !(at = pass_name(at, end, field)))
            return NULL;
        if (!(at = pass_value(at, end, depth, field)))
            return NULL;
        at = pass_space(at, end);
        if (at == end || (*at != ',' && *at != close))
            return NULL;
        if (*at == close)
            return at + 1;
        at = pass_space(at + 1, end);
    }
}

const char *strobe_json_scan(const char *at, const char *end, struct strobe_json_field *fields,
                             int *n)
{
    return at < end && *at == '{' ? pass_nested(at, end, 0, fields, n) : NULL;
}
