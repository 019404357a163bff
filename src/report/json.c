/* json.c - Python's view of a JSON tree.  SPDX-License-Identifier: MIT */
#include "report/json.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 100 };

enum strobe_err strobe_report_json_parse(struct strobe_json_tree *json, const char *bytes,
                                         size_t len)
{
    static const struct strobe_json_options options = {.flags =
                                                           STROBE_JSON_NAN | STROBE_JSON_ANY_BYTES,
                                                       .max_depth = DEPTH_MAX,
                                                       .max_string = SIZE_MAX / 4};
    enum strobe_err err = strobe_json_tree_parse(json, bytes, len, &options);
    return err == STROBE_ERR_CORRUPT ? STROBE_ERR_FORMAT : err;
}

struct strobe_report_span strobe_report_json_key(const struct strobe_json_tree *json, uint32_t node)
{
    struct strobe_report_span key;
    key.at = strobe_json_tree_key(json, node, &key.len);
    return key;
}

struct strobe_report_span strobe_report_json_text(const struct strobe_json_tree *json,
                                                  uint32_t node)
{
    struct strobe_report_span text;
    text.at = strobe_json_tree_text(json, node, &text.len);
    if (strobe_json_tree_node(json, node)->type == STROBE_JSON_INT &&
        strobe_report_span_is(text, "-0"))
        text.at++, text.len--; /* Python's integers have no such zero */
    return text;
}

bool strobe_report_json_int(const struct strobe_json_tree *json, uint32_t node, int64_t *out)
{
    return strobe_report_span_int(strobe_report_json_text(json, node), out);
}

bool strobe_report_json_uint(const struct strobe_json_tree *json, uint32_t node, uint64_t *out)
{
    return strobe_report_span_uint(strobe_report_json_text(json, node), out);
}

bool strobe_report_json_number(const struct strobe_json_tree *json, uint32_t node, double *out)
{
    if (!node ||
        (json->nodes[node].type != STROBE_JSON_INT && json->nodes[node].type != STROBE_JSON_FLOAT))
        return false;
    *out = strtod(strobe_report_json_text(json, node).at, NULL);
    return true;
}

static void add_dict(const struct strobe_json_tree *json, uint32_t node, struct strobe_out *out);

static void add_repr(const struct strobe_json_tree *json, uint32_t node, struct strobe_out *out)
{
    struct strobe_report_span text = strobe_report_json_text(json, node);
    switch (json->nodes[node].type) {
    case STROBE_JSON_NULL:
        strobe_out_text(out, "None");
        break;
    case STROBE_JSON_FALSE:
        strobe_out_text(out, "False");
        break;
    case STROBE_JSON_TRUE:
        strobe_out_text(out, "True");
        break;
    case STROBE_JSON_INT:
        strobe_out_bytes(out, text.at, text.len);
        break;
    case STROBE_JSON_FLOAT:
        strobe_report_text_double(out, strtod(text.at, NULL));
        break;
    case STROBE_JSON_STRING:
        strobe_report_python_repr(out, text.at, text.len);
        break;
    case STROBE_JSON_ARRAY:
    case STROBE_JSON_OBJECT:
        add_dict(json, node, out);
        break;
    }
}

static void add_dict(const struct strobe_json_tree *json, uint32_t node, struct strobe_out *out)
{
    bool dict = json->nodes[node].type == STROBE_JSON_OBJECT;
    strobe_out_char(out, dict ? '{' : '[');
    for (uint32_t i = json->nodes[node].first; i; i = json->nodes[i].next) {
        if (i != json->nodes[node].first)
            strobe_out_text(out, ", ");
        if (dict) {
            struct strobe_report_span key = strobe_report_json_key(json, i);
            strobe_report_python_repr(out, key.at, key.len);
            strobe_out_text(out, ": ");
        }
        add_repr(json, i, out);
    }
    strobe_out_char(out, dict ? '}' : ']');
}

void strobe_report_json_str(const struct strobe_json_tree *json, uint32_t node,
                            struct strobe_out *out)
{
    struct strobe_report_span text = strobe_report_json_text(json, node);
    if (!node)
        return;
    if (json->nodes[node].type == STROBE_JSON_STRING)
        strobe_out_bytes(out, text.at, text.len);
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

static void add_escaped(struct strobe_out *out, uint32_t c, const char *bytes, size_t len,
                        char quote)
{
    if (c == '\\' || c == (uint32_t)quote)
        strobe_out_format(out, "\\%c", (char)c);
    else if (c == '\n')
        strobe_out_text(out, "\\n");
    else if (c == '\r')
        strobe_out_text(out, "\\r");
    else if (c == '\t')
        strobe_out_text(out, "\\t");
    else if (c < 0x20 || (c < 0x100 && !is_printable(c)))
        strobe_out_format(out, "\\x%02x", c);
    else if (is_printable(c))
        strobe_out_bytes(out, bytes, len);
    else
        strobe_out_format(out, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

void strobe_report_python_repr(struct strobe_out *out, const char *bytes, size_t len)
{
    bool single = len && memchr(bytes, '\'', len);
    char quote = single && !memchr(bytes, '"', len) ? '"' : '\'';
    strobe_out_char(out, quote);
    for (size_t i = 0, n; i < len; i += n) {
        uint32_t c = decode_utf8((const unsigned char *)bytes + i, len - i, &n);
        add_escaped(out, c, bytes + i, n, quote);
    }
    strobe_out_char(out, quote);
}
