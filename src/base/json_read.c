/* json_read.c - see json_read.h.
 *
 *   VALUE ──scalar──► after: COMMA (open) or DONE (depth 0)     DONE ──space to the end──► END
 *     ├──'['──► FIRST_VALUE ──']'──► after                      COMMA ──','──► VALUE or KEY
 *     └──'{'──► FIRST_KEY ──'}'──► after                               └─']' '}'──► after
 *               FIRST_KEY, KEY ──string──► COLON ──':'──► VALUE
 *
 * A token is looked at where it lies in the buffer. If it is cut off there, `refill` moves its start
 * to the front of the buffer and reads on behind it; the buffer grows up to the bound of a string.
 * SPDX-License-Identifier: MIT */
#include "base/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/json_plain.h"
#include "base/number.h"
#include "base/utf8.h"

enum { BUFFER_BYTES = 64 << 10, DEPTH_DEFAULT = 100 };
enum state {
    FAILED,
    COLON,
    VALUE,
    KEY,
    FIRST_VALUE,
    FIRST_KEY,
    COMMA,
    DONE
}; /* from FIRST_VALUE on the end may come */

typedef struct strobe_json_reader reader_t;

/* What every token passes; the rare cases behind it are functions of their own. */
#define HOT static inline __attribute__((always_inline))

/* ---- bytes ---- */

static void set_options(reader_t *r, const struct strobe_json_options *options)
{
    *r =
        (reader_t){.options = options ? *options : (struct strobe_json_options){0}, .state = VALUE};
    struct strobe_json_options *o = &r->options;
    o->max_depth = o->max_depth ? o->max_depth : DEPTH_DEFAULT;
    o->max_depth = o->max_depth < STROBE_JSON_DEPTH_LIMIT ? o->max_depth : STROBE_JSON_DEPTH_LIMIT;
    o->max_string = o->max_string ? o->max_string : STROBE_JSON_STRING_LIMIT;
    o->max_bytes = o->max_bytes ? o->max_bytes : UINT64_MAX;
}

static enum strobe_err fail(reader_t *r, enum strobe_err err, const char *complaint)
{
    if (!r->err) {
        r->err = err;
        r->state = FAILED;
        r->complaint = complaint;
    }
    return r->err;
}

void strobe_json_read_memory(reader_t *r, const char *bytes, size_t n,
                             const struct strobe_json_options *options)
{
    set_options(r, options);
    r->start = r->at = bytes;
    r->end = n ? bytes + n : bytes;
    r->is_over = 1;
    if (n > r->options.max_bytes)
        fail(r, STROBE_ERR_LIMIT, "the text is too long");
}

enum strobe_err strobe_json_read_source(reader_t *r, strobe_json_source *source, void *context,
                                        const struct strobe_json_options *options)
{
    set_options(r, options);
    r->source = source;
    r->context = context;
    r->buffer = malloc(BUFFER_BYTES);
    r->buffer_room = BUFFER_BYTES;
    r->start = r->at = r->end = r->buffer;
    return r->buffer ? STROBE_OK : fail(r, STROBE_ERR_NOMEM, "no memory");
}

void strobe_json_read_close(reader_t *r)
{
    free(r->buffer);
    free(r->decoded);
    *r = (reader_t){.err = STROBE_ERR_INVALID, .complaint = "closed"};
}

/* Lines that end in the bytes from start to `to`. */
static uint64_t count_lines(const reader_t *r, const char *to, uint64_t *line_at)
{
    uint64_t n = 0;
    for (const char *at = r->start; (at = at < to ? memchr(at, '\n', (size_t)(to - at)) : NULL);) {
        n++;
        at++;
        *line_at = r->n_passed + (uint64_t)(at - r->start);
    }
    return n;
}

/* Read on behind the bytes from *keep to the end, which move with *keep and r->at. 0: there is no more, or an error. */
static int refill(reader_t *r, const char **keep)
{
    STROBE_ASSERT(*keep >= r->start && *keep <= r->at && r->at <= r->end);
    if (r->is_over || r->err)
        return 0;
    size_t n_kept = (size_t)(r->end - *keep), n_at = (size_t)(r->at - *keep), n = 0;
    r->n_lines += count_lines(r, *keep, &r->line_at);
    r->n_passed += (uint64_t)(*keep - r->start);
    memmove(r->buffer, *keep, n_kept);
    enum strobe_err err = STROBE_OK;
    if (n_kept == r->buffer_room)
        err = STROBE_ARRAY_RESERVE_MAX(r->buffer, r->buffer_room, 2 * (uint64_t)n_kept,
                                       2 * (uint64_t)r->options.max_string + 2 * BUFFER_BYTES);
    if (!err)
        err = r->source(r->context, r->buffer + n_kept, r->buffer_room - n_kept, &n);
    STROBE_ASSERT(n <= r->buffer_room - n_kept);
    *keep = r->start = r->buffer;
    r->at = r->start + n_at;
    r->end = r->start + n_kept + n;
    r->is_over = !n;
    if (err)
        fail(r, err, "the text can't be read");
    else if (r->n_passed + n_kept + n > r->options.max_bytes)
        fail(r, STROBE_ERR_LIMIT, "the text is too long");
    return n && !r->err;
}

/* The slow half of next_byte. */
static int pass_space(reader_t *r)
{
    for (;;) {
        const char *at = r->at, *end = r->end;
        while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
            at++;
        r->at = at;
        if (at < end)
            return (unsigned char)*at;
        const char *keep = at;
        if (!refill(r, &keep))
            return -1;
    }
}

/* The next byte behind space, -1: none. */
HOT int next_byte(reader_t *r)
{
    for (const char *at = r->at; at < r->end; at++) {
        if ((unsigned char)*at > ' ') {
            r->at = at;
            return (unsigned char)*at;
        }
        if (*at != ' ')
            break;
    }
    return pass_space(r);
}

static enum strobe_err end_early(reader_t *r)
{
    return fail(r, STROBE_ERR_CORRUPT, "the text ends too early");
}

/* ---- strings ---- */

/* Four hex digits; -1: they are not. */
static int32_t hex4(const char *at, const char *end)
{
    int32_t code = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int c = (unsigned char)at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* The escape at `at`, a backslash: decoded to *out. The place behind it, NULL: it is none. */
static const char *decode_escape(unsigned flags, const char *at, const char *end, char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *known = end - at > 1 && at[1] ? strchr(from, at[1]) : NULL;
    if (known) {
        *(*out)++ = to[known - from];
        return at + 2;
    }
    int32_t code = end - at > 1 && at[1] == 'u' ? hex4(at + 2, end) : -1;
    if (code < 0)
        return NULL;
    at += 6;
    if (code >= 0xd800 && code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
        int32_t low = hex4(at + 2, end);
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            at += 6;
        }
    }
    if (code >= 0xd800 && code < 0xe000 && !(flags & STROBE_JSON_ANY_BYTES))
        code = 0xfffd; /* half of a pair */
    *out += strobe_utf8_put(*out, (uint32_t)code);
    return at;
}

size_t strobe_json_decode(unsigned flags, const char *text, size_t n, char *out, size_t *n_read)
{
    const char *at = text, *end = text + n, *after;
    char *to = out;
    while (at < end) {
        const char *next = memchr(at, '\\', (size_t)(end - at));
        size_t n_plain = (size_t)((next ? next : end) - at);
        if (flags & STROBE_JSON_ANY_BYTES)
            to = (char *)memcpy(to, at, n_plain) + n_plain;
        else
            to += strobe_utf8_make_valid(to, 3 * n_plain, at, n_plain);
        at += n_plain;
        if (!next || !(after = decode_escape(flags, at, end, &to)))
            break;
        at = after;
    }
    *n_read = (size_t)(at - text);
    return (size_t)(to - out);
}

/* The text of a string that is not plain, into r->decoded. */
static enum strobe_err decode(reader_t *r, const char *at, const char *end)
{
    /* an escape never gets longer, a byte that is no UTF-8 becomes three */
    enum strobe_err err =
        STROBE_ARRAY_RESERVE(r->decoded, r->decoded_room, 3 * (uint64_t)(end - at) + 4);
    if (err)
        return fail(r, err, "no memory");
    size_t n_read;
    r->n_text = strobe_json_decode(r->options.flags, at, (size_t)(end - at), r->decoded, &n_read);
    STROBE_ASSERT(r->n_text <= r->decoded_room);
    if (n_read < (size_t)(end - at)) {
        r->at = at + n_read;
        return fail(r, STROBE_ERR_FORMAT, "no such escape");
    }
    r->text = r->decoded;
    return STROBE_OK;
}

/* Find the end of a string whose quote was passed; what comes on the way is gathered in *seen. */
enum { SEEN_ESCAPE = 1, SEEN_HIGH = 2 };

static enum strobe_err find_end(reader_t *r, const char **first, int *seen)
{
    for (;;) {
        r->at = strobe_json_plain(r->at, r->end);
        if ((size_t)(r->at - *first) > r->options.max_string)
            return fail(r, STROBE_ERR_LIMIT, "a string is too long");
        if (r->end - r->at < 2 && (r->at == r->end || *r->at == '\\')) {
            if (!refill(r, first))
                return end_early(r);
            continue;
        }
        unsigned char c = (unsigned char)*r->at;
        if (c == '"')
            return STROBE_OK;
        if (c < 0x20)
            return fail(r, STROBE_ERR_FORMAT, "a control character in a string");
        *seen |= c == '\\' ? SEEN_ESCAPE : SEEN_HIGH;
        r->at += c == '\\' ? 2 : 1;
    }
}

/* The slow half of read_string: all that is plain from `first` to r->at was passed. */
static enum strobe_err read_any_string(reader_t *r, const char *first)
{
    int seen = 0;
    enum strobe_err err = find_end(r, &first, &seen);
    if (err)
        return err;
    const char *end = r->at;
    r->text = first;
    r->n_text = (size_t)(end - first);
    int is_plain = !(seen & SEEN_ESCAPE) &&
                   (!(seen & SEEN_HIGH) || (r->options.flags & STROBE_JSON_ANY_BYTES) ||
                    strobe_utf8_valid(first, r->n_text) == r->n_text);
    if (!is_plain && (err = decode(r, first, end)))
        return err;
    r->at = end + 1;
    return STROBE_OK;
}

HOT enum strobe_err read_string(reader_t *r)
{
    const char *first = r->at + 1, *end = strobe_json_plain(first, r->end);
    size_t n = (size_t)(end - first);
    r->at = end;
    if (end == r->end || *end != '"' || n > r->options.max_string)
        return read_any_string(r, first);
    r->text = first;
    r->n_text = n;
    r->at = end + 1;
    return STROBE_OK;
}

/* ---- numbers and words ---- */

static int is_of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static size_t count_digits(const char *at, const char *end)
{
    const char *from = at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return (size_t)(at - from);
}

/* The value of n digits. 0: it does not fit. */
static int sum_digits(const char *at, size_t n, uint64_t *out)
{
    uint64_t value = 0;
    int fits = 1;
    for (const char *end = at + n; at < end; at++) {
        unsigned digit = (unsigned)(*at - '0');
        fits &= value < UINT64_MAX / 10 || (value == UINT64_MAX / 10 && digit <= UINT64_MAX % 10);
        value = value * 10 + digit;
    }
    *out = value;
    return fits;
}

/* The digits of a whole number. The place behind them; NULL: there are none, or a zero is in front. */
HOT const char *take_whole(reader_t *r, const char *at, const char *end)
{
    enum { ALWAYS_FIT = 19 };
    const char *from = at;
    uint64_t value = 0;
    for (unsigned digit; at < end && (digit = (unsigned)*at - '0') <= 9; at++)
        value = value * 10 + digit;
    size_t n = (size_t)(at - from);
    r->integer = value;
    r->is_exact = n <= ALWAYS_FIT || sum_digits(from, n, &r->integer);
    return n && (n == 1 || *from != '0') ? at : NULL;
}

/* The number at `at`. The place behind it; NULL: there is none. */
HOT const char *take_number(reader_t *r, const char *at, const char *end)
{
    size_t n;
    r->is_negative = at < end && *at == '-';
    if (!(at = take_whole(r, at + r->is_negative, end)))
        return NULL;
    const char *whole = at;
    if (at < end && *at == '.') {
        if (!(n = count_digits(at + 1, end)))
            return NULL;
        at += 1 + n;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        if (!(n = count_digits(at, end)))
            return NULL;
        at += n;
    }
    r->is_integer = at == whole;
    return at;
}

/* 1: the word is there, and passed. */
static int take_word(reader_t *r, const char *word)
{
    size_t n = strlen(word);
    while ((size_t)(r->end - r->at) < n) {
        const char *keep = r->at;
        if (!refill(r, &keep))
            break;
    }
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n))
        return 0;
    r->text = r->at;
    r->n_text = n;
    r->at += n;
    return 1;
}

/* No value is here: is it the beginning of a word that the text's end cut off? */
static enum strobe_err no_word(reader_t *r, const char *complaint)
{
    static const char *const words[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
    size_t left = (size_t)(r->end - r->at), n = r->options.flags & STROBE_JSON_NAN ? 6 : 3;
    for (size_t i = 0; i < n && r->is_over; i++)
        if (left < strlen(words[i]) && !memcmp(r->at, words[i], left))
            return end_early(r);
    return fail(r, STROBE_ERR_FORMAT, complaint);
}

/* Find the bytes that may be of a number: from r->at on, *n of them. */
static enum strobe_err find_number(reader_t *r, size_t *n)
{
    for (*n = 0;;) {
        const char *first = r->at;
        while (first + *n < r->end && is_of_number(first[*n]))
            ++*n;
        if (*n > r->options.max_string)
            return fail(r, STROBE_ERR_LIMIT, "a number is too long");
        if (first + *n < r->end || !refill(r, &first))
            return r->err;
    }
}

/* The slow half of read_number: it may be cut off, too long, or none. */
static enum strobe_err read_any_number(reader_t *r)
{
    size_t n;
    if (find_number(r, &n))
        return r->err;
    if (take_number(r, r->at, r->at + n) == r->at + n) {
        r->text = r->at;
        r->n_text = n;
        r->at += n;
        return STROBE_OK;
    }
    if (r->options.flags & STROBE_JSON_NAN && take_word(r, "-Infinity")) {
        r->is_integer = 0;
        return STROBE_OK;
    }
    int is_cut = r->at + n == r->end && (r->end[-1] < '0' || r->end[-1] > '9');
    return is_cut ? end_early(r) : no_word(r, "no number of JSON");
}

HOT enum strobe_err read_number(reader_t *r)
{
    const char *first = r->at, *end = take_number(r, first, r->end);
    if (!end || end == r->end || (*end != ',' && is_of_number(*end)) ||
        (size_t)(end - first) > r->options.max_string)
        return read_any_number(r);
    r->text = first;
    r->n_text = (size_t)(end - first);
    r->at = end;
    return STROBE_OK;
}

static enum strobe_err read_word(reader_t *r, int c, enum strobe_json_token *token)
{
    if (c == 't' && take_word(r, "true")) {
        *token = STROBE_TOKEN_TRUE;
    } else if (c == 'f' && take_word(r, "false")) {
        *token = STROBE_TOKEN_FALSE;
    } else if (c == 'n' && take_word(r, "null")) {
        *token = STROBE_TOKEN_NULL;
    } else if (r->options.flags & STROBE_JSON_NAN &&
               (take_word(r, "NaN") || take_word(r, "Infinity"))) {
        *token = STROBE_TOKEN_NUMBER;
        r->is_integer = 0;
    } else {
        return no_word(r, "expected a value");
    }
    return STROBE_OK;
}

/* ---- tokens ---- */

static int in_object(const reader_t *r)
{
    uint32_t i = r->depth - 1;
    STROBE_ASSERT(r->depth);
    return r->is_object[i / 8] >> i % 8 & 1;
}

static enum strobe_err open_nested(reader_t *r, int c, enum strobe_json_token *token)
{
    uint32_t i = r->depth;
    if (i >= r->options.max_depth)
        return fail(r, STROBE_ERR_LIMIT, "nested too deep");
    r->at++;
    r->depth++;
    r->is_object[i / 8] =
        (uint8_t)((r->is_object[i / 8] & ~(1u << i % 8)) | (unsigned)(c == '{') << i % 8);
    r->state = c == '{' ? FIRST_KEY : FIRST_VALUE;
    *token = c == '{' ? STROBE_TOKEN_OBJECT : STROBE_TOKEN_ARRAY;
    return STROBE_OK;
}

static void value_is_over(reader_t *r)
{
    r->state = r->depth ? COMMA : DONE;
}

static enum strobe_err close_nested(reader_t *r, enum strobe_json_token *token)
{
    *token = in_object(r) ? STROBE_TOKEN_OBJECT_END : STROBE_TOKEN_ARRAY_END;
    r->at++;
    r->depth--;
    value_is_over(r);
    return STROBE_OK;
}

HOT enum strobe_err read_value(reader_t *r, int c, enum strobe_json_token *token)
{
    enum strobe_err err;
    if (c == '{' || c == '[')
        return open_nested(r, c, token);
    if (c == '"') {
        *token = STROBE_TOKEN_STRING;
        err = read_string(r);
    } else if (c == '-' || (c >= '0' && c <= '9')) {
        *token = STROBE_TOKEN_NUMBER;
        err = read_number(r);
    } else {
        err = read_word(r, c, token);
    }
    if (!err)
        value_is_over(r);
    return err;
}

HOT enum strobe_err read_key(reader_t *r, int c, enum strobe_json_token *token)
{
    if (c != '"')
        return fail(r, STROBE_ERR_FORMAT, "expected the name of a member");
    enum strobe_err err = read_string(r);
    if (err)
        return err;
    *token = STROBE_TOKEN_KEY;
    r->state = VALUE;
    if (r->at < r->end && *r->at == ':') { /* as it nearly always is */
        r->at++;
        return STROBE_OK;
    }
    r->state =
        COLON; /* it is looked for by the next call, since that may move the text of the name */
    return STROBE_OK;
}

static enum strobe_err pass_colon(reader_t *r)
{
    int c = next_byte(r);
    if (c < 0)
        return end_early(r);
    if (c != ':')
        return fail(r, STROBE_ERR_FORMAT, "expected ':'");
    r->at++;
    r->state = VALUE;
    return STROBE_OK;
}

static int is_closing(const reader_t *r, int c)
{
    return r->depth && c == (in_object(r) ? '}' : ']');
}

/* The comma behind a value, or as many as there are. *c: the byte that is next. */
static enum strobe_err pass_commas(reader_t *r, int *c)
{
    int many = r->options.flags & STROBE_JSON_MORE_COMMAS, is_object = in_object(r);
    if (r->state == COMMA && *c != ',')
        return fail(r, STROBE_ERR_FORMAT,
                    is_object ? "expected ',' or '}'" : "expected ',' or ']'");
    for (int n = 0; *c == ',' && (many || (r->state == COMMA && n == 0)); n++) {
        r->at++;
        *c = next_byte(r);
    }
    if (*c < 0)
        return end_early(r);
    if (!many || !is_closing(r, *c)) /* else the end may come */
        r->state = is_object ? KEY : VALUE;
    return STROBE_OK;
}

enum strobe_err strobe_json_read_next(reader_t *r, enum strobe_json_token *token)
{
    *token = STROBE_TOKEN_END;
    if (r->state <= COLON && (r->state == FAILED || pass_colon(r)))
        return r->err;
    int c = next_byte(r);
    if (c < 0)
        return r->state == DONE ? STROBE_OK : end_early(r);
    if (r->state == VALUE)
        return read_value(r, c, token);
    if (r->state == COMMA && c == ',' && !(r->options.flags & STROBE_JSON_MORE_COMMAS)) {
        r->at++;
        if ((c = next_byte(r)) < 0)
            return end_early(r);
        return in_object(r) ? read_key(r, c, token) : read_value(r, c, token);
    }
    if (r->state == DONE)
        return fail(r, STROBE_ERR_FORMAT, "more behind the value");
    if (r->state == COMMA || (c == ',' && r->state >= FIRST_VALUE)) {
        if (!is_closing(r, c) && pass_commas(r, &c))
            return r->err;
    }
    if (r->state >= FIRST_VALUE && is_closing(r, c))
        return close_nested(r, token);
    return r->state != VALUE && in_object(r) ? read_key(r, c, token) : read_value(r, c, token);
}

enum strobe_err strobe_json_read_skip(reader_t *r, enum strobe_json_token token)
{
    enum strobe_err err = STROBE_OK;
    if (token != STROBE_TOKEN_OBJECT && token != STROBE_TOKEN_ARRAY)
        return r->err;
    for (uint32_t depth = r->depth; !err && r->depth >= depth;)
        err = strobe_json_read_next(r, &token);
    return err;
}

/* ---- what was read ---- */

int strobe_json_read_u64(const reader_t *r, uint64_t *out)
{
    if (!r->is_integer || !r->is_exact || (r->is_negative && r->integer))
        return 0;
    *out = r->integer;
    return 1;
}

int strobe_json_read_i64(const reader_t *r, int64_t *out)
{
    if (!r->is_integer || !r->is_exact ||
        r->integer > (uint64_t)INT64_MAX + (uint64_t)r->is_negative)
        return 0;
    *out = r->is_negative ? (int64_t)(0 - r->integer) : (int64_t)r->integer;
    return 1;
}

int strobe_json_read_double(const reader_t *r, double *out)
{
    return strobe_number_parse_double(r->text, r->n_text, out) && isfinite(*out);
}

int strobe_json_read_is(const reader_t *r, const char *text)
{
    return r->n_text == strlen(text) && !memcmp(r->text, text, r->n_text);
}

uint64_t strobe_json_read_offset(const reader_t *r)
{
    return r->n_passed + (uint64_t)(r->at - r->start);
}

void strobe_json_read_where(const reader_t *r, uint64_t *line, uint64_t *column)
{
    uint64_t line_at = r->line_at;
    *line = r->n_lines + count_lines(r, r->at, &line_at) + 1;
    *column = strobe_json_read_offset(r) - line_at + 1;
}
