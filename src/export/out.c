/* out.c - see out.h.  SPDX-License-Identifier: MIT */
#include "export/out.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int strobe_out_open(struct strobe_out *out, int fd)
{
    *out = (struct strobe_out){.bytes = malloc(STROBE_OUT_BYTES), .fd = fd};
    return out->bytes != NULL;
}

void strobe_out_flush(struct strobe_out *out)
{
    size_t at = 0;
    while (at < out->n && !out->error) {
        ssize_t n = write(out->fd, out->bytes + at, out->n - at);
        if (n >= 0)
            at += (size_t)n;
        else if (errno != EINTR)
            out->error = errno;
    }
    out->n = 0;
}

int strobe_out_end(struct strobe_out *out)
{
    strobe_out_flush(out);
    free(out->bytes);
    out->bytes = NULL;
    return out->error;
}

void strobe_out_bytes(struct strobe_out *out, const char *text, size_t n)
{
    while (n) {
        size_t part = n < STROBE_OUT_SLACK ? n : STROBE_OUT_SLACK;
        memcpy(strobe_out_reserve(out), text, part);
        out->n += part;
        text += part;
        n -= part;
    }
}

void strobe_out_text(struct strobe_out *out, const char *text)
{
    strobe_out_bytes(out, text, strlen(text));
}

void strobe_out_char(struct strobe_out *out, char c)
{
    *strobe_out_reserve(out) = c;
    out->n++;
}

static const char digit_pairs[201] = "0001020304050607080910111213141516171819"
                                     "2021222324252627282930313233343536373839"
                                     "4041424344454647484950515253545556575859"
                                     "6061626364656667686970717273747576777879"
                                     "8081828384858687888990919293949596979899";

char *strobe_put_u(char *at, uint64_t value)
{
    char digits[20];
    char *first = digits + sizeof digits;
    while (value >= 100) {
        first -= 2;
        memcpy(first, digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        first -= 2;
        memcpy(first, digit_pairs + 2 * value, 2);
    } else {
        *--first = (char)('0' + value);
    }
    size_t n = (size_t)(digits + sizeof digits - first);
    memcpy(at, first, n);
    return at + n;
}

char *strobe_put_i(char *at, int64_t value)
{
    if (value < 0)
        *at++ = '-';
    return strobe_put_u(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void strobe_out_u(struct strobe_out *out, uint64_t value)
{
    char *at = strobe_out_reserve(out);
    out->n += (size_t)(strobe_put_u(at, value) - at);
}

void strobe_out_i(struct strobe_out *out, int64_t value)
{
    char *at = strobe_out_reserve(out);
    out->n += (size_t)(strobe_put_i(at, value) - at);
}

void strobe_out_hex(struct strobe_out *out, uint64_t value)
{
    strobe_out_format(out, "0x%" PRIx64, value);
}

/* Enough digits to read the same number back; JSON and CSV know no infinity. */
void strobe_out_double(struct strobe_out *out, double value)
{
    char text[40];
    if (!isfinite(value)) {
        strobe_out_text(out, isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
        return;
    }
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    strobe_out_text(out, text);
}

void strobe_out_format(struct strobe_out *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(strobe_out_reserve(out), STROBE_OUT_SLACK, format, args);
    va_end(args);
    if (n > 0)
        out->n += n < STROBE_OUT_SLACK ? (size_t)n : STROBE_OUT_SLACK - 1;
}

static int needs_quotes(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r')
            return 1;
    return n && (text[0] == ' ' || text[n - 1] == ' ');
}

char *strobe_put_csv(char *at, const char *text, size_t n)
{
    int quoted = needs_quotes(text, n);
    if (quoted)
        *at++ = '"';
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            *at++ = '"';
        *at++ = text[i] ? text[i] : ' ';
    }
    if (quoted)
        *at++ = '"';
    return at;
}

void strobe_out_csv(struct strobe_out *out, const char *text, size_t n)
{
    enum { PIECE = STROBE_OUT_SLACK / 2 - 8 };
    if (n <= PIECE) {
        char *at = strobe_out_reserve(out);
        out->n += (size_t)(strobe_put_csv(at, text, n) - at);
        return;
    }
    strobe_out_char(out, '"'); /* a long text is quoted in any case */
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            strobe_out_char(out, '"');
        strobe_out_char(out, text[i] ? text[i] : ' ');
    }
    strobe_out_char(out, '"');
}

/* The length of the UTF-8 character at `text`, 0: it is none. */
static size_t utf8_length(const unsigned char *text, size_t n)
{
    static const struct {
        unsigned char mask, is, low, high;
        size_t n;
    } forms[] = {
        {0xe0, 0xc0, 0x80, 0xbf, 2}, {0xf0, 0xe0, 0x80, 0xbf, 3}, {0xf8, 0xf0, 0x80, 0xbf, 4}};
    if (text[0] < 0x80)
        return 1;
    for (size_t i = 0; i < 3; i++) {
        if ((text[0] & forms[i].mask) != forms[i].is)
            continue;
        uint32_t code = text[0] & (0x7fu >> forms[i].n);
        if (n < forms[i].n)
            return 0;
        for (size_t k = 1; k < forms[i].n; k++) {
            if ((text[k] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[k] & 0x3f);
        }
        static const uint32_t smallest[] = {0x80, 0x800, 0x10000};
        int fits = code >= smallest[i] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
        return fits ? forms[i].n : 0;
    }
    return 0;
}

static void put_json_char(struct strobe_out *out, unsigned char c)
{
    if (c == '"' || c == '\\') {
        strobe_out_char(out, '\\');
        strobe_out_char(out, (char)c);
    } else if (c == '\n') {
        strobe_out_bytes(out, "\\n", 2);
    } else if (c < 0x20 || c == 0x7f) {
        strobe_out_format(out, "\\u%04x", c);
    } else {
        strobe_out_char(out, (char)c);
    }
}

/* Bytes that stand for themselves in JSON. */
static size_t plain_length(const unsigned char *text, size_t n)
{
    size_t i = 0;
    while (i < n && text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' && text[i] != '\\')
        i++;
    return i;
}

void strobe_out_json(struct strobe_out *out, const char *text, size_t n)
{
    const unsigned char *at = (const unsigned char *)text;
    strobe_out_char(out, '"');
    while (n) {
        size_t plain = plain_length(at, n);
        strobe_out_bytes(out, (const char *)at, plain);
        at += plain;
        n -= plain;
        if (!n)
            break;
        size_t length = utf8_length(at, n);
        if (length == 1)
            put_json_char(out, *at);
        else if (length)
            strobe_out_bytes(out, (const char *)at, length);
        else
            strobe_out_bytes(out, "\\ufffd", 6);
        length = length ? length : 1;
        at += length;
        n -= length;
    }
    strobe_out_char(out, '"');
}

const char *strobe_show_ns(uint64_t ns, char room[32])
{
    if (ns < 1000)
        snprintf(room, 32, "%" PRIu64 " ns", ns);
    else if (ns < 1000000)
        snprintf(room, 32, "%.3f us", (double)ns / 1e3);
    else if (ns < 1000000000)
        snprintf(room, 32, "%.3f ms", (double)ns / 1e6);
    else
        snprintf(room, 32, "%.3f s", (double)ns / 1e9);
    return room;
}

const char *strobe_show_bytes(uint64_t n, char room[32])
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double value = (double)n;
    int unit = 0;
    while (value >= 1000 && unit < 4) {
        value /= 1000;
        unit++;
    }
    snprintf(room, 32, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return room;
}

const char *strobe_show_count(uint64_t n, char room[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    char *at = room;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    *at = 0;
    return room;
}
