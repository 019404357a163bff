/* json_fields.c - finds the members of an object by one walk over its text.  SPDX-License-Identifier: MIT */
#include "import/json_fields.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 64 };
#define NS_MAX 2500000000000000000ll

struct walk {
    const char *at, *end;
};

static int next(struct walk *w)
{
    while (w->at < w->end && strchr(" \t\r\n", *w->at) && *w->at)
        w->at++;
    return w->at < w->end ? (unsigned char)*w->at : -1;
}

/* Past a string; its content goes to `out`. */
static int pass_string(struct walk *w, struct strobe_json_text *out)
{
    out->at = ++w->at;
    while (w->at < w->end && *w->at != '"')
        w->at += *w->at == '\\' && w->end - w->at > 1 ? 2 : 1;
    if (w->at >= w->end)
        return 0;
    out->n = (size_t)(w->at++ - out->at);
    return 1;
}

static int pass_nested(struct walk *w, struct strobe_json_text *out)
{
    size_t depth = 0;
    struct strobe_json_text inner;
    out->at = w->at;
    do {
        if (w->at >= w->end)
            return 0;
        char c = *w->at;
        if (c == '"') {
            if (!pass_string(w, &inner))
                return 0;
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        w->at++;
    } while (depth);
    out->n = (size_t)(w->at - out->at);
    return 1;
}

static int pass_value(struct walk *w, struct strobe_json_field *field)
{
    int c = next(w);
    field->type = (char)c;
    if (c == '"')
        return pass_string(w, &field->value);
    if (c == '{' || c == '[')
        return pass_nested(w, &field->value);
    field->value.at = w->at;
    while (w->at < w->end && (isalnum((unsigned char)*w->at) || strchr("+-._", *w->at)))
        w->at++;
    field->value.n = (size_t)(w->at - field->value.at);
    if (c == '-' || isdigit(c))
        field->type = '0';
    return field->value.n > 0;
}

int strobe_json_fields(struct strobe_json_text text, struct strobe_json_field *fields)
{
    struct walk w = {text.at, text.at + text.n};
    int n = 0;
    if (next(&w) != '{')
        return -1;
    w.at++;
    while (n < STROBE_JSON_FIELDS_MAX) {
        int c = next(&w);
        if (c == ',') {
            w.at++;
            continue;
        }
        if (c == '}')
            break;
        if (c != '"' || !pass_string(&w, &fields[n].name) || next(&w) != ':')
            return -1;
        w.at++;
        if (!pass_value(&w, &fields[n++]))
            return -1;
    }
    return n;
}

const struct strobe_json_field *strobe_json_field(const struct strobe_json_field *fields, int n,
                                                  const char *name)
{
    static const struct strobe_json_field none = {{"", 0}, {"", 0}, 0};
    size_t n_name = strlen(name);
    for (int i = 0; i < n; i++)
        if (fields[i].name.n == n_name && !memcmp(fields[i].name.at, name, n_name))
            return &fields[i];
    return &none;
}

/* ---- strings ---- */

static int hex4(const char *at, const char *end, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        if (at + i >= end || !isxdigit((unsigned char)at[i]))
            return 0;
        int c = tolower((unsigned char)at[i]);
        *out = *out << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return 1;
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
    return n;
}

/* \uXXXX, or two of them for what lies beyond. Bytes taken behind the 'u'; 0: it is none. */
static int unescape_code(const char *at, const char *end, uint32_t *out)
{
    uint32_t low;
    if (!hex4(at, end, out))
        return 0;
    if (*out >= 0xd800 && *out < 0xdc00 && end - at >= 10 && at[4] == '\\' && at[5] == 'u' &&
        hex4(at + 6, end, &low) && low >= 0xdc00 && low < 0xe000) {
        *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
        return 10;
    }
    if (*out >= 0xd800 && *out < 0xe000)
        *out = 0xfffd; /* half of a pair */
    return 4;
}

size_t strobe_json_unescape(struct strobe_json_text text, char *out)
{
    static const char from[] = "bfnrt\"\\/", to[] = "\b\f\n\r\t\"\\/";
    const char *at = text.at, *end = text.at + text.n;
    size_t n = 0;
    while (at < end) {
        if (*at != '\\' || end - at < 2) {
            out[n++] = *at++;
            continue;
        }
        const char *known = at[1] ? strchr(from, at[1]) : NULL;
        uint32_t code;
        int taken = at[1] == 'u' ? unescape_code(at + 2, end, &code) : 0;
        if (taken)
            n += put_utf8(out + n, code);
        else
            out[n++] = known ? to[known - from] : at[1];
        at += 2 + taken;
    }
    return n;
}

/* ---- numbers ---- */

static int copy_number(const struct strobe_json_field *field, char out[NUMBER_BYTES])
{
    if ((field->type != '0' && field->type != '"') || !field->value.n ||
        field->value.n >= NUMBER_BYTES)
        return 0;
    memcpy(out, field->value.at, field->value.n);
    out[field->value.n] = 0;
    return 1;
}

int strobe_json_real(const struct strobe_json_field *field, double *out)
{
    char text[NUMBER_BYTES], *end;
    if (!copy_number(field, text))
        return 0;
    *out = strtod(text, &end);
    return end != text && !*end && isfinite(*out);
}

int strobe_json_whole(const struct strobe_json_field *field, uint64_t *out)
{
    char text[NUMBER_BYTES], *end;
    if (!copy_number(field, text))
        return 0;
    *out = text[0] == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    return end != text && !*end;
}

/* Exact where a double would not be: digits, and at most three behind the point. */
static int plain_ns(const char *text, int64_t *out, int *has_fraction)
{
    int is_negative = *text == '-', n_behind = 0;
    int64_t ns = 0;
    const char *at = text + is_negative;
    for (; isdigit((unsigned char)*at); at++) {
        if (ns > NS_MAX / 10000)
            return 0;
        ns = ns * 10 + (*at - '0');
    }
    ns *= 1000;
    if (*at == '.') {
        static const int weights[] = {100, 10, 1};
        for (at++; isdigit((unsigned char)*at); at++, n_behind++) {
            if (n_behind < 3)
                ns += (*at - '0') * weights[n_behind];
            *has_fraction |= *at != '0';
        }
    }
    *out = is_negative ? -ns : ns;
    return !*at;
}

int strobe_json_ns(const struct strobe_json_field *field, int64_t *out, int *has_fraction)
{
    char text[NUMBER_BYTES];
    double real;
    if (!copy_number(field, text))
        return 0;
    if (plain_ns(text, out, has_fraction))
        return 1;
    if (!strobe_json_real(field, &real) || fabs(real) > (double)NS_MAX / 1000)
        return 0;
    *has_fraction |= real != floor(real);
    *out = (int64_t)llround(real * 1000);
    return 1;
}
