/* json.c - a parser of bounded JSON.  SPDX-License-Identifier: MIT */
#include "engine/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    struct strobe_json *json;
    uint32_t at;
    int is_bad;
};

static int peek(const struct parser *p)
{
    return p->at < p->json->n_text ? (unsigned char)p->json->text[p->at] : -1;
}

static void skip_blanks(struct parser *p)
{
    int c = peek(p);
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        p->at++;
        c = peek(p);
    }
}

static uint32_t new_value(struct parser *p, enum strobe_json_type type)
{
    if (p->json->n_values == STROBE_JSON_MAX_VALUES) {
        p->is_bad = 1;
        return 0;
    }
    uint32_t i = p->json->n_values++;
    p->json->values[i] = (struct strobe_json_value){(uint8_t)type, p->at, p->at, i + 1};
    return i;
}

static void parse_string(struct parser *p)
{
    uint32_t i = new_value(p, STROBE_JSON_STRING);
    p->at++;
    p->json->values[i].start = p->at;
    for (int c = peek(p); c != '"'; c = peek(p)) {
        if (c < 0x20) { /* the end, too */
            p->is_bad = 1;
            return;
        }
        p->at += c == '\\' ? 2 : 1;
    }
    p->json->values[i].end = p->at++;
}

static void parse_word(struct parser *p, const char *word, enum strobe_json_type type)
{
    size_t n = strlen(word);
    uint32_t i = new_value(p, type);
    if (p->json->n_text - p->at < n || memcmp(p->json->text + p->at, word, n)) {
        p->is_bad = 1;
        return;
    }
    p->at += (uint32_t)n;
    p->json->values[i].end = p->at;
}

static void parse_number(struct parser *p)
{
    uint32_t i = new_value(p, STROBE_JSON_NUMBER), start = p->at;
    for (int c = peek(p);
         (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
         c = peek(p))
        p->at++;
    p->json->values[i].end = p->at;
    p->is_bad |= p->at == start || p->at - start > 40;
}

static void parse_value(struct parser *p, int depth);

static void parse_members(struct parser *p, enum strobe_json_type type, int depth)
{
    uint32_t i = new_value(p, type);
    int end = type == STROBE_JSON_OBJECT ? '}' : ']';
    p->at++;
    skip_blanks(p);
    while (!p->is_bad && peek(p) != end) {
        if (type == STROBE_JSON_OBJECT) {
            if (peek(p) != '"') {
                p->is_bad = 1;
                return;
            }
            parse_string(p);
            skip_blanks(p);
            p->is_bad |= peek(p) != ':';
            p->at++;
        }
        if (!p->is_bad)
            parse_value(p, depth + 1);
        skip_blanks(p);
        if (peek(p) == ',') {
            p->at++;
            skip_blanks(p);
            p->is_bad |= peek(p) == end;
        } else {
            p->is_bad |= peek(p) != end;
        }
    }
    p->at++;
    p->json->values[i].end = p->at;
    p->json->values[i].after = p->json->n_values;
}

static void parse_value(struct parser *p, int depth)
{
    skip_blanks(p);
    int c = peek(p);
    if (depth > STROBE_JSON_MAX_DEPTH)
        p->is_bad = 1;
    else if (c == '{')
        parse_members(p, STROBE_JSON_OBJECT, depth);
    else if (c == '[')
        parse_members(p, STROBE_JSON_ARRAY, depth);
    else if (c == '"')
        parse_string(p);
    else if (c == 't')
        parse_word(p, "true", STROBE_JSON_TRUE);
    else if (c == 'f')
        parse_word(p, "false", STROBE_JSON_FALSE);
    else if (c == 'n')
        parse_word(p, "null", STROBE_JSON_NULL);
    else
        parse_number(p);
}

int strobe_json_parse(struct strobe_json *json, const char *text, size_t n_bytes)
{
    json->text = text;
    json->n_values = 0;
    if (n_bytes > STROBE_JSON_MAX_BYTES)
        return 0;
    json->n_text = (uint32_t)n_bytes;
    struct parser p = {json, 0, 0};
    parse_value(&p, 0);
    skip_blanks(&p);
    return !p.is_bad && p.at == json->n_text;
}

int strobe_json_is(const struct strobe_json *json, uint32_t value, const char *text)
{
    const struct strobe_json_value *v = &json->values[value];
    size_t n = strlen(text);
    return v->type == STROBE_JSON_STRING && v->end - v->start == n &&
           !memcmp(json->text + v->start, text, n);
}

uint32_t strobe_json_member(const struct strobe_json *json, uint32_t object, const char *name)
{
    if (json->values[object].type != STROBE_JSON_OBJECT)
        return 0;
    for (uint32_t i = object + 1; i < json->values[object].after;) {
        uint32_t value = json->values[i].after;
        if (strobe_json_is(json, i, name))
            return value;
        i = json->values[value].after;
    }
    return 0;
}

double strobe_json_number(const struct strobe_json *json, uint32_t value, double otherwise)
{
    const struct strobe_json_value *v = &json->values[value];
    char copy[48];
    if (v->type != STROBE_JSON_NUMBER || !value)
        return otherwise;
    memcpy(copy, json->text + v->start, v->end - v->start);
    copy[v->end - v->start] = 0;
    char *end;
    double number = strtod(copy, &end);
    return *end || !isfinite(number) ? otherwise : number;
}

uint64_t strobe_json_count(const struct strobe_json *json, uint32_t value, uint64_t otherwise,
                           uint64_t max)
{
    double number = strobe_json_number(json, value, -1);
    if (number < 0)
        return otherwise;
    return number >= (double)max ? max : (uint64_t)number;
}

uint32_t strobe_json_next(const struct strobe_json *json, uint32_t array, uint32_t *at)
{
    const struct strobe_json_value *v = &json->values[array];
    if (v->type != STROBE_JSON_ARRAY || !array)
        return 0;
    uint32_t i = *at ? *at : array + 1;
    if (i >= v->after)
        return 0;
    *at = json->values[i].after;
    return i;
}

/* ---- texts ---- */

static unsigned hex4(const char *text)
{
    unsigned code = 0;
    for (int i = 0; i < 4; i++) {
        char c = text[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 0;
        code = code << 4 | digit;
    }
    return code;
}

static size_t put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 63));
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63));
    out[3] = (char)(0x80 | (code & 63));
    return 4;
}

/* One escape at text[*at]; the bytes written. */
static size_t unescape(const char *text, uint32_t n, uint32_t *at, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = *at + 1 < n ? text[*at + 1] : 0;
    const char *simple = c ? strchr(from, c) : NULL;
    if (simple) {
        *at += 2;
        *out = to[simple - from];
        return 1;
    }
    if (c != 'u' || n - *at < 6) {
        *at += 2;
        *out = '?';
        return 1;
    }
    unsigned code = hex4(text + *at + 2);
    *at += 6;
    if (code >= 0xd800 && code < 0xdc00 && n - *at >= 6 && text[*at] == '\\' &&
        text[*at + 1] == 'u') {
        unsigned low = hex4(text + *at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            *at += 6;
        }
    }
    if ((code >= 0xd800 && code < 0xe000) || !code)
        code = 0xfffd;
    return put_utf8(out, code);
}

size_t strobe_json_text(const struct strobe_json *json, uint32_t value, char *out, size_t room)
{
    const struct strobe_json_value *v = &json->values[value];
    size_t n_out = 0;
    out[0] = 0;
    if (v->type != STROBE_JSON_STRING || !value)
        return 0;
    const char *text = json->text + v->start;
    uint32_t n = v->end - v->start;
    for (uint32_t at = 0; at < n && n_out + 5 < room;) {
        if (text[at] == '\\')
            n_out += unescape(text, n, &at, out + n_out);
        else
            out[n_out++] = text[at++];
    }
    out[n_out] = 0;
    return n_out;
}
