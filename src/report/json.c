/* json.c - JSON into an array of nodes, and back out as Python would print it.
 * Recursion is bounded by DEPTH_MAX; all memory is proportional to the text.
 * SPDX-License-Identifier: MIT */
#include "report/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 100, DOUBLE_KEYS_CHECKED = 512 };

struct parser {
    struct strobe_report_json *json;
    const char *at, *end;
    int depth;
};

static enum strobe_err parse_value(struct parser *p, uint32_t *out);

static uint32_t add_node(struct strobe_report_json *json, enum strobe_report_json_type type)
{
    if (json->n_nodes == json->cap_nodes) {
        uint32_t cap = json->cap_nodes ? json->cap_nodes * 2 : 64;
        void *grown = realloc(json->nodes, cap * sizeof *json->nodes);
        if (!grown)
            return 0;
        json->nodes = grown;
        json->cap_nodes = cap;
    }
    json->nodes[json->n_nodes] = (struct strobe_report_json_node){.type = type};
    return json->n_nodes++;
}

static void skip_space(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r'))
        p->at++;
}

static bool take_word(struct parser *p, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(p->end - p->at) < len || memcmp(p->at, word, len))
        return false;
    p->at += len;
    return true;
}

static void add_utf8(struct strobe_report_text *out, uint32_t c)
{
    char bytes[4];
    if (c < 0x80) {
        strobe_report_text_addc(out, (char)c);
    } else if (c < 0x800) {
        bytes[0] = (char)(0xc0 | c >> 6), bytes[1] = (char)(0x80 | (c & 63));
        strobe_report_text_add(out, bytes, 2);
    } else if (c < 0x10000) {
        bytes[0] = (char)(0xe0 | c >> 12), bytes[1] = (char)(0x80 | (c >> 6 & 63));
        bytes[2] = (char)(0x80 | (c & 63));
        strobe_report_text_add(out, bytes, 3);
    } else {
        bytes[0] = (char)(0xf0 | c >> 18), bytes[1] = (char)(0x80 | (c >> 12 & 63));
        bytes[2] = (char)(0x80 | (c >> 6 & 63)), bytes[3] = (char)(0x80 | (c & 63));
        strobe_report_text_add(out, bytes, 4);
    }
}

static bool take_hex4(struct parser *p, uint32_t *out)
{
    if (p->end - p->at < 4)
        return false;
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p->at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return false;
        value = value << 4 | (uint32_t)digit;
    }
    p->at += 4;
    *out = value;
    return true;
}

/* The escape after \u, with its second half where it is one of a pair. */
static bool take_unicode(struct parser *p, struct strobe_report_text *out)
{
    uint32_t c, low;
    if (!take_hex4(p, &c))
        return false;
    if (c >= 0xd800 && c < 0xdc00 && p->end - p->at >= 6 && p->at[0] == '\\' && p->at[1] == 'u') {
        const char *back = p->at;
        p->at += 2;
        if (!take_hex4(p, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000)
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        else
            p->at = back;
    }
    add_utf8(out, c);
    return true;
}

static bool take_escape(struct parser *p, struct strobe_report_text *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (p->at >= p->end)
        return false;
    char c = *p->at++;
    if (c == 'u')
        return take_unicode(p, out);
    const char *found = c ? strchr(from, c) : NULL;
    if (!found)
        return false;
    strobe_report_text_addc(out, to[found - from]);
    return true;
}

/* A string with its quotes; the decoded text goes to json->strings. */
static enum strobe_err take_string(struct parser *p, uint32_t *offset, uint32_t *len)
{
    struct strobe_report_text *out = &p->json->strings;
    size_t from = out->len;
    if (p->at >= p->end || *p->at++ != '"')
        return STROBE_ERR_FORMAT;
    for (;;) {
        const char *run = p->at;
        while (p->at < p->end && *p->at != '"' && *p->at != '\\' && (unsigned char)*p->at >= 0x20)
            p->at++;
        strobe_report_text_add(out, run, (size_t)(p->at - run));
        if (p->at >= p->end)
            return STROBE_ERR_FORMAT;
        char c = *p->at++;
        if (c == '"')
            break;
        if (c != '\\' || !take_escape(p, out))
            return STROBE_ERR_FORMAT;
    }
    *offset = (uint32_t)from;
    *len = (uint32_t)(out->len - from);
    return out->failed ? STROBE_ERR_NOMEM : STROBE_OK;
}

static size_t count_digits(const struct parser *p, const char *at)
{
    const char *from = at;
    while (at < p->end && *at >= '0' && *at <= '9')
        at++;
    return (size_t)(at - from);
}

/* Moves over a number; false when there is none. */
static bool walk_number(struct parser *p, bool *is_float)
{
    const char *at = p->at;
    if (at < p->end && *at == '-')
        at++;
    size_t n = count_digits(p, at);
    if (!n)
        return false;
    at += *at == '0' ? 1 : n;
    *is_float = false;
    if (at < p->end && *at == '.' && (n = count_digits(p, at + 1))) {
        at += 1 + n;
        *is_float = true;
    }
    if (at < p->end && (*at == 'e' || *at == 'E')) {
        const char *exponent = at + 1;
        if (exponent < p->end && (*exponent == '+' || *exponent == '-'))
            exponent++;
        if ((n = count_digits(p, exponent))) {
            at = exponent + n;
            *is_float = true;
        }
    }
    p->at = at;
    return true;
}

static enum strobe_err take_number(struct parser *p, uint32_t *out)
{
    const char *from = p->at;
    bool is_float = true;
    struct strobe_report_json *json = p->json;
    if (!take_word(p, "NaN") && !take_word(p, "Infinity") && !take_word(p, "-Infinity") &&
        !walk_number(p, &is_float))
        return STROBE_ERR_FORMAT;
    *out = add_node(json, is_float ? STROBE_REPORT_JSON_FLOAT : STROBE_REPORT_JSON_INT);
    if (!*out)
        return STROBE_ERR_NOMEM;
    size_t len = (size_t)(p->at - from);
    if (len == 2 && !memcmp(from, "-0", 2) && !is_float)
        from++, len--;
    json->nodes[*out].text = (uint32_t)json->strings.len;
    json->nodes[*out].len = (uint32_t)len;
    strobe_report_text_add(&json->strings, from, len);
    strobe_report_text_addc(&json->strings, 0);
    return json->strings.failed ? STROBE_ERR_NOMEM : STROBE_OK;
}

static void append_child(struct strobe_report_json *json, uint32_t parent, uint32_t child)
{
    struct strobe_report_json_node *node = &json->nodes[parent];
    if (node->last)
        json->nodes[node->last].next = child;
    else
        node->first = child;
    node->last = child;
}

static enum strobe_err take_list(struct parser *p, uint32_t *out)
{
    *out = add_node(p->json, STROBE_REPORT_JSON_LIST);
    if (!*out)
        return STROBE_ERR_NOMEM;
    p->at++;
    skip_space(p);
    if (p->at < p->end && *p->at == ']') {
        p->at++;
        return STROBE_OK;
    }
    for (;;) {
        uint32_t child;
        enum strobe_err err = parse_value(p, &child);
        if (err)
            return err;
        append_child(p->json, *out, child);
        skip_space(p);
        char c = p->at < p->end ? *p->at++ : 0;
        if (c == ']')
            return STROBE_OK;
        if (c != ',')
            return STROBE_ERR_FORMAT;
    }
}

/* Python keeps a doubled key's first place and its last value. */
static uint32_t find_key(const struct strobe_report_json *json, uint32_t dict, uint32_t key,
                         uint32_t len)
{
    int checked = 0;
    for (uint32_t i = json->nodes[dict].first; i && checked < DOUBLE_KEYS_CHECKED;
         i = json->nodes[i].next, checked++)
        if (json->nodes[i].key_len == len &&
            !memcmp(json->strings.at + json->nodes[i].key, json->strings.at + key, len))
            return i;
    return 0;
}

static enum strobe_err take_member(struct parser *p, uint32_t dict)
{
    struct strobe_report_json *json = p->json;
    uint32_t key, len, value;
    enum strobe_err err = take_string(p, &key, &len);
    if (err)
        return err;
    skip_space(p);
    if (p->at >= p->end || *p->at++ != ':')
        return STROBE_ERR_FORMAT;
    if ((err = parse_value(p, &value)))
        return err;
    json->nodes[value].key = key;
    json->nodes[value].key_len = len;
    uint32_t old = find_key(json, dict, key, len);
    if (!old) {
        append_child(json, dict, value);
        return STROBE_OK;
    }
    uint32_t next = json->nodes[old].next;
    json->nodes[old] = json->nodes[value];
    json->nodes[old].next = next;
    return STROBE_OK;
}

static enum strobe_err take_dict(struct parser *p, uint32_t *out)
{
    *out = add_node(p->json, STROBE_REPORT_JSON_DICT);
    if (!*out)
        return STROBE_ERR_NOMEM;
    p->at++;
    skip_space(p);
    if (p->at < p->end && *p->at == '}') {
        p->at++;
        return STROBE_OK;
    }
    for (;;) {
        skip_space(p);
        enum strobe_err err = take_member(p, *out);
        if (err)
            return err;
        skip_space(p);
        char c = p->at < p->end ? *p->at++ : 0;
        if (c == '}')
            return STROBE_OK;
        if (c != ',')
            return STROBE_ERR_FORMAT;
    }
}

static enum strobe_err take_plain(struct parser *p, uint32_t *out)
{
    enum strobe_report_json_type type;
    if (*p->at == '"') {
        uint32_t text, len;
        enum strobe_err err = take_string(p, &text, &len);
        if (err)
            return err;
        if (!(*out = add_node(p->json, STROBE_REPORT_JSON_STRING)))
            return STROBE_ERR_NOMEM;
        p->json->nodes[*out].text = text;
        p->json->nodes[*out].len = len;
        return STROBE_OK;
    }
    if (take_word(p, "true"))
        type = STROBE_REPORT_JSON_TRUE;
    else if (take_word(p, "false"))
        type = STROBE_REPORT_JSON_FALSE;
    else if (take_word(p, "null"))
        type = STROBE_REPORT_JSON_NULL;
    else
        return take_number(p, out);
    *out = add_node(p->json, type);
    return *out ? STROBE_OK : STROBE_ERR_NOMEM;
}

static enum strobe_err parse_value(struct parser *p, uint32_t *out)
{
    skip_space(p);
    if (p->at >= p->end)
        return STROBE_ERR_FORMAT;
    if (*p->at != '{' && *p->at != '[')
        return take_plain(p, out);
    if (++p->depth > DEPTH_MAX)
        return STROBE_ERR_LIMIT;
    enum strobe_err err = *p->at == '{' ? take_dict(p, out) : take_list(p, out);
    p->depth--;
    return err;
}

enum strobe_err strobe_report_json_parse(struct strobe_report_json *json, const char *bytes,
                                         size_t len)
{
    struct parser p = {json, bytes, bytes + len, 0};
    uint32_t root;
    json->n_nodes = 0;
    strobe_report_text_clear(&json->strings);
    if (len >= UINT32_MAX / 2)
        return STROBE_ERR_LIMIT;
    add_node(json, STROBE_REPORT_JSON_NULL); /* node 0: "no such node" */
    if (!json->n_nodes)
        return STROBE_ERR_NOMEM;
    enum strobe_err err = parse_value(&p, &root);
    if (err)
        return err;
    skip_space(&p);
    return p.at == p.end ? STROBE_OK : STROBE_ERR_FORMAT;
}

void strobe_report_json_free(struct strobe_report_json *json)
{
    free(json->nodes);
    strobe_report_text_free(&json->strings);
    *json = (struct strobe_report_json){0};
}

uint32_t strobe_report_json_get(const struct strobe_report_json *json, uint32_t node,
                                const char *key)
{
    for (uint32_t i = strobe_report_json_first(json, node); i; i = json->nodes[i].next)
        if (strobe_report_span_is(strobe_report_json_key(json, i), key))
            return i;
    return 0;
}

uint32_t strobe_report_json_first(const struct strobe_report_json *json, uint32_t node)
{
    return node && node < json->n_nodes ? json->nodes[node].first : 0;
}

uint32_t strobe_report_json_next(const struct strobe_report_json *json, uint32_t node)
{
    return json->nodes[node].next;
}

struct strobe_report_span strobe_report_json_key(const struct strobe_report_json *json,
                                                 uint32_t node)
{
    if (!json->nodes[node].key_len)
        return (struct strobe_report_span){"", 0};
    return (struct strobe_report_span){json->strings.at + json->nodes[node].key,
                                       json->nodes[node].key_len};
}

struct strobe_report_span strobe_report_json_text(const struct strobe_report_json *json,
                                                  uint32_t node)
{
    if (!node || node >= json->n_nodes || !json->nodes[node].len)
        return (struct strobe_report_span){"", 0};
    return (struct strobe_report_span){json->strings.at + json->nodes[node].text,
                                       json->nodes[node].len};
}

bool strobe_report_json_int(const struct strobe_report_json *json, uint32_t node, int64_t *out)
{
    return strobe_report_span_int(strobe_report_json_text(json, node), out);
}

bool strobe_report_json_uint(const struct strobe_report_json *json, uint32_t node, uint64_t *out)
{
    return strobe_report_span_uint(strobe_report_json_text(json, node), out);
}

bool strobe_report_json_number(const struct strobe_report_json *json, uint32_t node, double *out)
{
    if (!node || (json->nodes[node].type != STROBE_REPORT_JSON_INT &&
                  json->nodes[node].type != STROBE_REPORT_JSON_FLOAT))
        return false;
    *out = strtod(strobe_report_json_text(json, node).at, NULL);
    return true;
}

static void add_dict(const struct strobe_report_json *json, uint32_t node,
                     struct strobe_report_text *out);

static void add_repr(const struct strobe_report_json *json, uint32_t node,
                     struct strobe_report_text *out)
{
    struct strobe_report_span text = strobe_report_json_text(json, node);
    switch (json->nodes[node].type) {
    case STROBE_REPORT_JSON_NULL:
        strobe_report_text_adds(out, "None");
        break;
    case STROBE_REPORT_JSON_FALSE:
        strobe_report_text_adds(out, "False");
        break;
    case STROBE_REPORT_JSON_TRUE:
        strobe_report_text_adds(out, "True");
        break;
    case STROBE_REPORT_JSON_INT:
        strobe_report_text_add(out, text.at, text.len);
        break;
    case STROBE_REPORT_JSON_FLOAT:
        strobe_report_text_double(out, strtod(text.at, NULL));
        break;
    case STROBE_REPORT_JSON_STRING:
        strobe_report_python_repr(out, text.at, text.len);
        break;
    case STROBE_REPORT_JSON_LIST:
    case STROBE_REPORT_JSON_DICT:
        add_dict(json, node, out);
        break;
    }
}

static void add_dict(const struct strobe_report_json *json, uint32_t node,
                     struct strobe_report_text *out)
{
    bool dict = json->nodes[node].type == STROBE_REPORT_JSON_DICT;
    strobe_report_text_addc(out, dict ? '{' : '[');
    for (uint32_t i = json->nodes[node].first; i; i = json->nodes[i].next) {
        if (i != json->nodes[node].first)
            strobe_report_text_adds(out, ", ");
        if (dict) {
            struct strobe_report_span key = strobe_report_json_key(json, i);
            strobe_report_python_repr(out, key.at, key.len);
            strobe_report_text_adds(out, ": ");
        }
        add_repr(json, i, out);
    }
    strobe_report_text_addc(out, dict ? '}' : ']');
}

void strobe_report_json_str(const struct strobe_report_json *json, uint32_t node,
                            struct strobe_report_text *out)
{
    struct strobe_report_span text = strobe_report_json_text(json, node);
    if (!node)
        return;
    if (json->nodes[node].type == STROBE_REPORT_JSON_STRING)
        strobe_report_text_add(out, text.at, text.len);
    else
        add_repr(json, node, out);
}

/* One code point of UTF-8; a stray byte counts as itself with `*len` 1 and the result 0xDC00 on. */
static uint32_t decode_utf8(const unsigned char *at, size_t left, size_t *len)
{
    uint32_t c = at[0];
    size_t n = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 0;
    *len = 1;
    if (n == 1)
        return c;
    if (!n || n > left)
        return 0xdc00 + c;
    uint32_t value = c & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0xdc00 + c;
        value = value << 6 | (at[i] & 63);
    }
    *len = n;
    return value;
}

/* Code points beyond ASCII that Python's repr escapes: controls, separators, private use. */
static bool is_printable(uint32_t c)
{
    static const uint32_t hidden[][2] = {
        {0x7f, 0xa0},     {0xad, 0xad},       {0x600, 0x605},   {0x61c, 0x61c},   {0x6dd, 0x6dd},
        {0x70f, 0x70f},   {0x1680, 0x1680},   {0x180e, 0x180e}, {0x2000, 0x200f}, {0x2028, 0x202f},
        {0x205f, 0x206f}, {0x3000, 0x3000},   {0xd800, 0xf8ff}, {0xfeff, 0xfeff}, {0xfff0, 0xfffb},
        {0xfffe, 0xffff}, {0xe0000, 0x10ffff}};
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (c >= hidden[i][0] && c <= hidden[i][1])
            return false;
    return true;
}

static void add_escaped(struct strobe_report_text *out, uint32_t c, const char *bytes, size_t len,
                        char quote)
{
    if (c == '\\' || c == (uint32_t)quote)
        strobe_report_text_format(out, "\\%c", (char)c);
    else if (c == '\n')
        strobe_report_text_adds(out, "\\n");
    else if (c == '\r')
        strobe_report_text_adds(out, "\\r");
    else if (c == '\t')
        strobe_report_text_adds(out, "\\t");
    else if (c < 0x20 || (c < 0x100 && !is_printable(c)))
        strobe_report_text_format(out, "\\x%02x", c);
    else if (is_printable(c))
        strobe_report_text_add(out, bytes, len);
    else
        strobe_report_text_format(out, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

void strobe_report_python_repr(struct strobe_report_text *out, const char *bytes, size_t len)
{
    bool single = len && memchr(bytes, '\'', len);
    char quote = single && !memchr(bytes, '"', len) ? '"' : '\'';
    strobe_report_text_addc(out, quote);
    for (size_t i = 0, n; i < len; i += n) {
        uint32_t c = decode_utf8((const unsigned char *)bytes + i, len - i, &n);
        add_escaped(out, c, bytes + i, n, quote);
    }
    strobe_report_text_addc(out, quote);
}
