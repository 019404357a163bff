/* out.c - see out.h.
 *
 * Quoting walks over the text by runs: `plain_run` tells by a table how many bytes stand for themselves,
 * they are copied together, and the one behind them is escaped or replaced.  SPDX-License-Identifier: MIT */
#include "base/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/utf8.h"

/* ---- the buffer ---- */

static int write_fd(void *context, const char *bytes, size_t n)
{
    int fd = ((const struct strobe_out *)context)->fd;
    while (n) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno != EINTR)
            return errno;
        if (done > 0) {
            bytes += done;
            n -= (size_t)done;
        }
    }
    return 0;
}

int strobe_out_open_sink(struct strobe_out *out, strobe_out_sink *sink, void *context)
{
    STROBE_ASSERT(sink);
    *out = (struct strobe_out){
        .at = malloc(STROBE_OUT_BYTES), .room = STROBE_OUT_BYTES, .sink = sink, .context = context};
    return out->at != NULL;
}

int strobe_out_open(struct strobe_out *out, int fd)
{
    int ok = strobe_out_open_sink(out, write_fd, NULL);
    out->fd = fd;
    return ok;
}

/* What the sink is called with: a struct strobe_out may be moved, so no pointer to it is kept. */
static void hand_on(struct strobe_out *out, const char *bytes, size_t n)
{
    if (n && !out->error)
        out->error = out->sink(out->sink == write_fd ? out : out->context, bytes, n);
}

void strobe_out_flush(struct strobe_out *out)
{
    if (!out->sink)
        return;
    hand_on(out, out->at, out->len);
    out->len = 0;
}

void strobe_out_free(struct strobe_out *out)
{
    free(out->at);
    *out = (struct strobe_out){0};
}

int strobe_out_end(struct strobe_out *out)
{
    strobe_out_flush(out);
    int error = out->error;
    strobe_out_free(out);
    out->error = error;
    return error;
}

void strobe_out_clear(struct strobe_out *out)
{
    STROBE_ASSERT(!out->sink);
    out->len = 0;
    if (out->at)
        out->at[0] = 0;
}

const char *strobe_out_string(struct strobe_out *out)
{
    STROBE_ASSERT(!out->sink);
    if (!out->at)
        return "";
    out->at[out->len] = 0; /* who asked for room may have written over it */
    return out->at;
}

/* Room for n bytes and a NUL. */
static char *grow(struct strobe_out *out, size_t n)
{
    uint64_t most = out->max ? (uint64_t)out->max + 1 : SIZE_MAX;
    if (out->error)
        return NULL;
    enum strobe_err err =
        STROBE_ARRAY_RESERVE_MAX(out->at, out->room, (uint64_t)out->len + n + 1, most);
    if (!err)
        return out->at + out->len;
    out->error = err == STROBE_ERR_LIMIT ? EOVERFLOW : ENOMEM;
    if (out->at)
        out->room = out->len + 1; /* so that nothing shorter goes behind the gap */
    return NULL;
}

char *strobe_out_make_room(struct strobe_out *out, size_t n)
{
    if (!out->sink)
        return grow(out, n);
    strobe_out_flush(out);
    return out->at;
}

/* ---- pieces ---- */

/* Bytes were written behind the text; strobe_out_need leaves room for the NUL. */
static void added(struct strobe_out *out, size_t n)
{
    out->len += n;
    STROBE_ASSERT(out->len < out->room);
    out->at[out->len] = 0;
}

void strobe_out_bytes(struct strobe_out *out, const char *bytes, size_t n)
{
    if (out->sink && n >= STROBE_OUT_SLACK) {
        strobe_out_flush(out);
        hand_on(out, bytes, n);
        return;
    }
    char *at = n ? strobe_out_need(out, n) : NULL;
    if (!at)
        return;
    memcpy(at, bytes, n);
    added(out, n);
}

void strobe_out_text(struct strobe_out *out, const char *text)
{
    strobe_out_bytes(out, text, strlen(text));
}

void strobe_out_char(struct strobe_out *out, char c)
{
    char *at = strobe_out_need(out, 1);
    if (at) {
        *at = c;
        added(out, 1);
    }
}

void strobe_out_u(struct strobe_out *out, uint64_t value)
{
    char *at = strobe_out_need(out, STROBE_NUMBER_ROOM);
    if (at)
        added(out, (size_t)(strobe_number_put_u(at, value) - at));
}

void strobe_out_i(struct strobe_out *out, int64_t value)
{
    char *at = strobe_out_need(out, STROBE_NUMBER_ROOM);
    if (at)
        added(out, (size_t)(strobe_number_put_i(at, value) - at));
}

void strobe_out_double(struct strobe_out *out, double value)
{
    char *at = strobe_out_need(out, STROBE_NUMBER_ROOM);
    if (at)
        added(out, (size_t)(strobe_number_put_double(at, value) - at));
}

void strobe_out_hex(struct strobe_out *out, uint64_t value)
{
    char digits[18], *first = digits + sizeof digits;
    do
        *--first = "0123456789abcdef"[value & 15];
    while (value >>= 4);
    *--first = 'x';
    *--first = '0';
    strobe_out_bytes(out, first, (size_t)(digits + sizeof digits - first));
}

void strobe_out_format(struct strobe_out *out, const char *format, ...)
{
    va_list args;
    char *at = strobe_out_need(out, out->sink ? STROBE_OUT_SLACK : 64);
    if (!at)
        return;
    size_t room = out->sink ? STROBE_OUT_SLACK : out->room - out->len;
    va_start(args, format);
    int n = vsnprintf(at, room, format, args);
    va_end(args);
    if (n < 0)
        return;
    if ((size_t)n >= room && !out->sink) {
        at = strobe_out_need(out, (size_t)n);
        if (!at)
            return;
        va_start(args, format);
        vsnprintf(at, (size_t)n + 1, format, args);
        va_end(args);
    } else if ((size_t)n >= room) {
        n = STROBE_OUT_SLACK - 1;
    }
    added(out, (size_t)n);
}

/* ---- quoting ---- */

/* What a byte is to a format. */
enum byte_kind { PLAIN, ESCAPED, BEYOND_ASCII };

typedef void escape_fn(struct strobe_out *out, unsigned char c);

static void escape_json(struct strobe_out *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    char code[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    char pair[2] = {'\\', c == '\n' ? 'n' : (char)c};
    int is_pair = c == '"' || c == '\\' || c == '\n';
    strobe_out_bytes(out, is_pair ? pair : code, is_pair ? sizeof pair : sizeof code);
}

static void escape_csv(struct strobe_out *out, unsigned char c)
{
    strobe_out_text(out, c == '"' ? "\"\"" : " ");
}

static void escape_html(struct strobe_out *out, unsigned char c)
{
    strobe_out_text(out, c == '&'    ? "&amp;"
                         : c == '<'  ? "&lt;"
                         : c == '>'  ? "&gt;"
                         : c == '"'  ? "&quot;"
                         : c == '\'' ? "&#39;"
                                     : STROBE_UTF8_REPLACEMENT);
}

struct quoting {
    escape_fn *escape;
    unsigned char kinds[256];
};

#define BEYOND [0x80 ... 0xff] = BEYOND_ASCII
static const struct quoting as_json = {
    escape_json,
    {BEYOND, [0 ... 0x1f] = ESCAPED, ['"'] = ESCAPED, ['\\'] = ESCAPED, [0x7f] = ESCAPED}};
static const struct quoting as_csv = {escape_csv, {BEYOND, [0] = ESCAPED, ['"'] = ESCAPED}};
static const struct quoting as_html = {escape_html,
                                       {BEYOND, [0] = ESCAPED, ['&'] = ESCAPED, ['<'] = ESCAPED,
                                        ['>'] = ESCAPED, ['"'] = ESCAPED, ['\''] = ESCAPED}};
static const struct quoting as_utf8 = {NULL, {BEYOND}};

static size_t plain_run(const struct quoting *quoting, const unsigned char *text, size_t n)
{
    size_t i = 0;
    while (i < n && quoting->kinds[text[i]] == PLAIN)
        i++;
    return i;
}

static void put_quoted(struct strobe_out *out, const struct quoting *quoting, const char *text,
                       size_t n)
{
    while (n) {
        size_t part = plain_run(quoting, (const unsigned char *)text, n), n_bad = 0;
        strobe_out_bytes(out, text, part);
        text += part;
        n -= part;
        if (!n)
            return;
        if (quoting->kinds[(unsigned char)*text] == ESCAPED) {
            quoting->escape(out, (unsigned char)*text);
            part = 1;
        } else if ((part = strobe_utf8_length(text, n, &n_bad))) {
            strobe_out_bytes(out, text, part);
        } else {
            strobe_out_text(out, STROBE_UTF8_REPLACEMENT);
            part = n_bad;
        }
        text += part;
        n -= part;
    }
}

void strobe_out_utf8(struct strobe_out *out, const char *text, size_t n)
{
    put_quoted(out, &as_utf8, text, n);
}

void strobe_out_terminal(struct strobe_out *out, const char *text, size_t n)
{
    for (size_t i = 0, n_bad = 1; i < n;) {
        size_t n_char = strobe_utf8_length(text + i, n - i, &n_bad);
        if (!n_char)
            strobe_out_text(out, STROBE_UTF8_REPLACEMENT);
        else if (strobe_utf8_is_control(text + i, n_char))
            strobe_out_char(out, text[i] ? '?' : ' ');
        else
            strobe_out_bytes(out, text + i, n_char);
        i += n_char ? n_char : n_bad;
    }
}

void strobe_out_json(struct strobe_out *out, const char *text, size_t n)
{
    strobe_out_char(out, '"');
    put_quoted(out, &as_json, text, n);
    strobe_out_char(out, '"');
}

void strobe_out_html(struct strobe_out *out, const char *text, size_t n)
{
    put_quoted(out, &as_html, text, n);
}

static int needs_quotes(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r')
            return 1;
    return n && (text[0] == ' ' || text[n - 1] == ' ');
}

void strobe_out_csv(struct strobe_out *out, const char *text, size_t n)
{
    int quoted = needs_quotes(text, n);
    if (quoted)
        strobe_out_char(out, '"');
    put_quoted(out, &as_csv, text, n);
    if (quoted)
        strobe_out_char(out, '"');
}
