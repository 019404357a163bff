/* text.c - Python's way with numbers and cells.  SPDX-License-Identifier: MIT */
#include "report/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_scientific(struct strobe_out *text, const char *digits, int n, int point)
{
    strobe_out_bytes(text, digits, 1);
    if (n > 1) {
        strobe_out_char(text, '.');
        strobe_out_bytes(text, digits + 1, (size_t)(n - 1));
    }
    strobe_out_format(text, "e%+03d", point - 1);
}

static void add_fixed(struct strobe_out *text, const char *digits, int n, int point)
{
    if (point <= 0) {
        strobe_out_text(text, "0.");
        for (int i = 0; i < -point; i++)
            strobe_out_char(text, '0');
        strobe_out_bytes(text, digits, (size_t)n);
        return;
    }
    int whole = n < point ? n : point;
    strobe_out_bytes(text, digits, (size_t)whole);
    for (int i = whole; i < point; i++)
        strobe_out_char(text, '0');
    strobe_out_char(text, '.');
    if (n > point)
        strobe_out_bytes(text, digits + point, (size_t)(n - point));
    else
        strobe_out_char(text, '0');
}

void strobe_report_text_double(struct strobe_out *text, double value)
{
    if (isnan(value)) {
        strobe_out_text(text, "nan");
        return;
    }
    if (signbit(value))
        strobe_out_char(text, '-');
    value = fabs(value);
    if (isinf(value)) {
        strobe_out_text(text, "inf");
        return;
    }
    if (value == 0) {
        strobe_out_text(text, "0.0");
        return;
    }
    char digits[STROBE_NUMBER_DIGITS];
    int point;
    int n = strobe_number_digits(value, digits, &point);
    if (point > 16 || point < -3)
        add_scientific(text, digits, n, point);
    else
        add_fixed(text, digits, n, point);
}

static void add_without_commas(struct strobe_out *text, const char *bytes, size_t len)
{
    size_t from = text->len;
    strobe_out_bytes(text, bytes, len);
    if (text->error)
        return;
    for (char *c = text->at + from; (c = memchr(c, ',', (size_t)(text->at + text->len - c)));)
        *c = ';';
}

void strobe_report_text_cell(struct strobe_out *text, const char *bytes, size_t len)
{
    if (!len)
        return;
    if (!memchr(bytes, '"', len) && !memchr(bytes, '\n', len) && !memchr(bytes, '\r', len)) {
        add_without_commas(text, bytes, len);
        return;
    }
    strobe_out_char(text, '"');
    while (len) {
        const char *quote = memchr(bytes, '"', len);
        size_t part = quote ? (size_t)(quote - bytes) + 1 : len;
        add_without_commas(text, bytes, part);
        if (quote)
            strobe_out_char(text, '"');
        bytes += part;
        len -= part;
    }
    strobe_out_char(text, '"');
}

double strobe_report_round(double value, int digits)
{
    char decimal[400];
    snprintf(decimal, sizeof decimal, "%.*f", digits, value);
    return strtod(decimal, NULL);
}

int64_t strobe_report_round_int(double value)
{
    double rounded = rint(value);
    return fabs(rounded) < 9.2e18 ? (int64_t)rounded : 0;
}

bool strobe_report_span_is(struct strobe_report_span span, const char *string)
{
    return span.len == strlen(string) && !memcmp(span.at, string, span.len);
}

bool strobe_report_span_has(struct strobe_report_span span, const char *needle)
{
    return span.len && memmem(span.at, span.len, needle, strlen(needle));
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct strobe_report_span strobe_report_span_trim(struct strobe_report_span span)
{
    while (span.len && is_space(span.at[0]))
        span.at++, span.len--;
    while (span.len && is_space(span.at[span.len - 1]))
        span.len--;
    return span;
}

bool strobe_report_meta_member(struct strobe_report_span meta, const char *key,
                               struct strobe_report_span *out)
{
    const char *at = memmem(meta.at, meta.len, key, strlen(key)), *end = meta.at + meta.len;
    at = at ? memchr(at, ':', (size_t)(end - at)) : NULL;
    if (!at)
        return false;
    const char *stop = ++at;
    while (stop < end && *stop != ';' && *stop != '}' && *stop != ',')
        stop++;
    *out = strobe_report_span_trim((struct strobe_report_span){at, (size_t)(stop - at)});
    if (out->len >= 2 && (out->at[0] == '"' || out->at[0] == '\''))
        out->at++, out->len -= 2;
    return true;
}

bool strobe_report_span_uint(struct strobe_report_span span, uint64_t *out)
{
    span = strobe_report_span_trim(span);
    return span.len <= 20 && strobe_number_parse_u(span.at, span.len, out);
}

bool strobe_report_span_int(struct strobe_report_span span, int64_t *out)
{
    span = strobe_report_span_trim(span);
    bool negative = span.len && span.at[0] == '-';
    if (span.len && (span.at[0] == '-' || span.at[0] == '+'))
        span.at++, span.len--;
    uint64_t value;
    if (!span.len || is_space(span.at[0]) || !strobe_report_span_uint(span, &value) ||
        value > INT64_MAX)
        return false;
    *out = negative ? -(int64_t)value : (int64_t)value;
    return true;
}
