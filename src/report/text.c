/* text.c - growing text and Python's way with numbers.  SPDX-License-Identifier: MIT */
#include "report/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct strobe_report_text *text, size_t more)
{
    if (text->failed)
        return false;
    if (text->len + more + 1 <= text->cap)
        return true;
    size_t cap = text->cap ? text->cap : 64;
    while (cap < text->len + more + 1)
        cap *= 2;
    char *at = realloc(text->at, cap);
    if (!at) {
        text->failed = true;
        return false;
    }
    text->at = at;
    text->cap = cap;
    return true;
}

void strobe_report_text_add(struct strobe_report_text *text, const char *bytes, size_t len)
{
    if (!reserve(text, len))
        return;
    if (len)
        memcpy(text->at + text->len, bytes, len);
    text->len += len;
    text->at[text->len] = 0;
}

void strobe_report_text_adds(struct strobe_report_text *text, const char *string)
{
    strobe_report_text_add(text, string, strlen(string));
}

void strobe_report_text_addc(struct strobe_report_text *text, char c)
{
    strobe_report_text_add(text, &c, 1);
}

void strobe_report_text_uint(struct strobe_report_text *text, uint64_t value)
{
    char digits[20];
    int n = 0;
    do
        digits[19 - n++] = (char)('0' + value % 10);
    while (value /= 10);
    strobe_report_text_add(text, digits + 20 - n, (size_t)n);
}

void strobe_report_text_int(struct strobe_report_text *text, int64_t value)
{
    if (value < 0)
        strobe_report_text_addc(text, '-');
    strobe_report_text_uint(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void strobe_report_text_format(struct strobe_report_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0 || !reserve(text, (size_t)len))
        return;
    va_start(args, format);
    vsnprintf(text->at + text->len, (size_t)len + 1, format, args);
    va_end(args);
    text->len += (size_t)len;
}

/* Digits and decimal exponent of the shortest form: value = 0.DIGITS * 10^point. */
static int shortest(double value, char digits[20], int *point)
{
    char sci[40];
    int fewest = value < 2.3e-308 ? 1 : 15; /* below that, even one digit may do */
    for (int precision = fewest; precision <= 17; precision++) {
        snprintf(sci, sizeof sci, "%.*e", precision - 1, value);
        if (precision == 17 || strtod(sci, NULL) == value)
            break;
    }
    int n = 0;
    char *c = sci;
    for (; *c && *c != 'e'; c++)
        if (*c >= '0' && *c <= '9')
            digits[n++] = *c;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    *point = atoi(c + 1) + 1;
    return n;
}

static void add_scientific(struct strobe_report_text *text, const char *digits, int n, int point)
{
    strobe_report_text_add(text, digits, 1);
    if (n > 1) {
        strobe_report_text_addc(text, '.');
        strobe_report_text_add(text, digits + 1, (size_t)(n - 1));
    }
    strobe_report_text_format(text, "e%+03d", point - 1);
}

static void add_fixed(struct strobe_report_text *text, const char *digits, int n, int point)
{
    if (point <= 0) {
        strobe_report_text_adds(text, "0.");
        for (int i = 0; i < -point; i++)
            strobe_report_text_addc(text, '0');
        strobe_report_text_add(text, digits, (size_t)n);
        return;
    }
    int whole = n < point ? n : point;
    strobe_report_text_add(text, digits, (size_t)whole);
    for (int i = whole; i < point; i++)
        strobe_report_text_addc(text, '0');
    strobe_report_text_addc(text, '.');
    if (n > point)
        strobe_report_text_add(text, digits + point, (size_t)(n - point));
    else
        strobe_report_text_addc(text, '0');
}

void strobe_report_text_double(struct strobe_report_text *text, double value)
{
    if (isnan(value)) {
        strobe_report_text_adds(text, "nan");
        return;
    }
    if (signbit(value))
        strobe_report_text_addc(text, '-');
    value = fabs(value);
    if (isinf(value)) {
        strobe_report_text_adds(text, "inf");
        return;
    }
    if (value == 0) {
        strobe_report_text_adds(text, "0.0");
        return;
    }
    char digits[20];
    int point;
    int n = shortest(value, digits, &point);
    if (point > 16 || point < -3)
        add_scientific(text, digits, n, point);
    else
        add_fixed(text, digits, n, point);
}

static void add_without_commas(struct strobe_report_text *text, const char *bytes, size_t len)
{
    size_t from = text->len;
    strobe_report_text_add(text, bytes, len);
    if (text->failed)
        return;
    for (char *c = text->at + from; (c = memchr(c, ',', (size_t)(text->at + text->len - c)));)
        *c = ';';
}

void strobe_report_text_cell(struct strobe_report_text *text, const char *bytes, size_t len)
{
    if (!len)
        return;
    if (!memchr(bytes, '"', len) && !memchr(bytes, '\n', len) && !memchr(bytes, '\r', len)) {
        add_without_commas(text, bytes, len);
        return;
    }
    strobe_report_text_addc(text, '"');
    while (len) {
        const char *quote = memchr(bytes, '"', len);
        size_t part = quote ? (size_t)(quote - bytes) + 1 : len;
        add_without_commas(text, bytes, part);
        if (quote)
            strobe_report_text_addc(text, '"');
        bytes += part;
        len -= part;
    }
    strobe_report_text_addc(text, '"');
}

void strobe_report_text_clear(struct strobe_report_text *text)
{
    text->len = 0;
    if (text->at)
        text->at[0] = 0;
}

void strobe_report_text_free(struct strobe_report_text *text)
{
    free(text->at);
    *text = (struct strobe_report_text){0};
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
    if (!span.len || span.len > 20)
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < span.len; i++) {
        unsigned digit = (unsigned char)span.at[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return true;
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

uint64_t strobe_report_hash(const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    uint64_t hash = 0x9e3779b97f4a7c15u ^ len;
    for (; len >= 8; at += 8, len -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    for (; len; at++, len--)
        hash = (hash ^ *at) * 0x100000001b3u;
    hash ^= hash >> 29;
    return hash * 0xbf58476d1ce4e5b9u ^ hash >> 32;
}
