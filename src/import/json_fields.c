/* json_fields.c - finds the members of an object: plain JSON in one pass (json_scan.h), anything else by base's reader; what they hold is looked at
 * where it is needed.
 * SPDX-License-Identifier: MIT */
#include "import/json_fields.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/json_read.h"
#include "base/number.h"
#include "import/json_scan.h"

enum { NUMBER_BYTES = 64, HEX_DIGITS = 16 };
#define NS_MAX 2500000000000000000ll

/* What Python and Chrome itself write is taken, too. */
static const struct strobe_json_options as_written = {
    .flags = STROBE_JSON_NAN | STROBE_JSON_ANY_BYTES | STROBE_JSON_MORE_COMMAS,
    .max_depth = STROBE_JSON_DEPTH_LIMIT,
};

/* The string token just read, as it stands in the text from `from` on. */
static struct strobe_json_text string_at(const struct strobe_json_reader *reader, const char *from)
{
    const char *end = reader->at;
    if (reader->text != reader->decoded)
        return (struct strobe_json_text){reader->text, reader->n_text};
    while (*from++ != '"') /* nothing but space and commas is before it */
        ;
    while (*--end != '"') /* nor but space and a colon behind */
        ;
    return (struct strobe_json_text){from, (size_t)(end - from)};
}

static enum strobe_err read_value(struct strobe_json_reader *reader,
                                  struct strobe_json_field *field)
{
    static const char types[] = {
        [STROBE_TOKEN_OBJECT] = '{', [STROBE_TOKEN_ARRAY] = '[', [STROBE_TOKEN_STRING] = '"',
        [STROBE_TOKEN_NUMBER] = '0', [STROBE_TOKEN_TRUE] = 't',  [STROBE_TOKEN_FALSE] = 'f',
        [STROBE_TOKEN_NULL] = 'n'};
    const char *from = reader->at;
    enum strobe_json_token token;
    enum strobe_err err = strobe_json_read_next(reader, &token);
    if (err)
        return err;
    STROBE_ASSERT(token < sizeof types && types[token]);
    field->type = types[token];
    if (token == STROBE_TOKEN_OBJECT || token == STROBE_TOKEN_ARRAY) {
        const char *first = reader->at - 1;
        err = strobe_json_read_skip(reader, token);
        field->value = (struct strobe_json_text){first, (size_t)(reader->at - first)};
        return err;
    }
    field->value = token == STROBE_TOKEN_STRING
                       ? string_at(reader, from)
                       : (struct strobe_json_text){reader->text, reader->n_text};
    return STROBE_OK;
}

/* Their number, whatever comes behind the last. A value that is nested too deep ends them, too: what was read is of use. */
static int read_fields(struct strobe_json_reader *reader, struct strobe_json_field *fields)
{
    enum strobe_json_token token;
    int n = 0;
    if (strobe_json_read_next(reader, &token) || token != STROBE_TOKEN_OBJECT)
        return -1;
    for (; n < STROBE_JSON_FIELDS_MAX; n++) {
        const char *from = reader->at;
        if (strobe_json_read_next(reader, &token))
            return -1;
        if (token != STROBE_TOKEN_KEY)
            return n;
        fields[n].name = string_at(reader, from);
        enum strobe_err err = read_value(reader, &fields[n]);
        if (err)
            return err == STROBE_ERR_LIMIT ? n : -1;
    }
    return n;
}

int strobe_json_fields(struct strobe_json_text text, struct strobe_json_field *fields)
{
    struct strobe_json_reader reader;
    int n_plain;
    if (strobe_json_scan(text.at, text.at + text.n, fields, &n_plain))
        return n_plain;
    strobe_json_read_memory(&reader, text.at, text.n, &as_written);
    int n = read_fields(&reader, fields);
    strobe_json_read_close(&reader);
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

size_t strobe_json_unescape(struct strobe_json_text text, char *out)
{
    size_t n_read;
    return strobe_json_decode(0, text.at, text.n, out, &n_read);
}

/* ---- numbers ---- */

static int may_be_number(const struct strobe_json_field *field)
{
    return (field->type == '0' || field->type == '"') && field->value.n &&
           field->value.n < NUMBER_BYTES;
}

int strobe_json_real(const struct strobe_json_field *field, double *out)
{
    return may_be_number(field) &&
           strobe_number_parse_double(field->value.at, field->value.n, out) && isfinite(*out);
}

static int parse_hex(const char *text, size_t n, uint64_t *out)
{
    *out = 0;
    if (!n || n > HEX_DIGITS)
        return 0;
    for (size_t i = 0; i < n; i++) {
        int c = (unsigned char)text[i] | 0x20; /* in lower case */
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return 0;
        *out = *out << 4 | (uint64_t)digit;
    }
    return 1;
}

int strobe_json_whole(const struct strobe_json_field *field, uint64_t *out)
{
    const char *at = field->value.at;
    size_t n = field->value.n;
    int64_t number;
    if (!may_be_number(field))
        return 0;
    if (n > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        return parse_hex(at + 2, n - 2, out);
    if (*at != '-')
        return strobe_number_parse_u(at, n, out);
    if (!strobe_number_parse_i(at, n, &number))
        return 0;
    *out = (uint64_t)number;
    return 1;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Exact where a double would not be: digits, and at most three behind the point. */
static int plain_ns(struct strobe_json_text text, int64_t *out, int *has_fraction)
{
    const char *end = text.at + text.n;
    int is_negative = *text.at == '-', n_behind = 0;
    int64_t ns = 0;
    const char *at = text.at + is_negative;
    for (; at < end && is_digit(*at); at++) {
        if (ns > NS_MAX / 10000)
            return 0;
        ns = ns * 10 + (*at - '0');
    }
    ns *= 1000;
    if (at < end && *at == '.') {
        static const int weights[] = {100, 10, 1};
        for (at++; at < end && is_digit(*at); at++, n_behind++) {
            if (n_behind < 3)
                ns += (*at - '0') * weights[n_behind];
            *has_fraction |= *at != '0';
        }
    }
    *out = is_negative ? -ns : ns;
    return at == end;
}

int strobe_json_ns(const struct strobe_json_field *field, int64_t *out, int *has_fraction)
{
    double real;
    if (!may_be_number(field))
        return 0;
    if (plain_ns(field->value, out, has_fraction))
        return 1;
    if (!strobe_json_real(field, &real) || fabs(real) > (double)NS_MAX / 1000)
        return 0;
    *has_fraction |= real != floor(real);
    *out = (int64_t)llround(real * 1000);
    return 1;
}
