/* json.c - questions, bounded.  SPDX-License-Identifier: MIT */
#include "engine/json.h"

#include <math.h>
#include <string.h>

#include "base/json_write.h"
#include "base/utf8.h"

typedef const struct strobe_json json_t;

static uint8_t type_of(json_t *json, uint32_t value)
{
    return value < json->tree.n_nodes ? strobe_json_tree_node(&json->tree, value)->type
                                      : (uint8_t)STROBE_JSON_NULL;
}

int strobe_json_parse(struct strobe_json *json, const char *text, size_t n_bytes)
{
    static const struct strobe_json_options options = {.max_depth = STROBE_JSON_MAX_DEPTH,
                                                       .max_bytes = STROBE_JSON_MAX_BYTES};
    json->tree.max_nodes = STROBE_JSON_MAX_VALUES;
    return !strobe_json_tree_parse(&json->tree, text, n_bytes, &options);
}

void strobe_json_free(struct strobe_json *json)
{
    strobe_json_tree_free(&json->tree);
}

int strobe_json_is_object(json_t *json)
{
    return type_of(json, STROBE_JSON_WHOLE) == STROBE_JSON_OBJECT;
}

int strobe_json_is_array(json_t *json, uint32_t value)
{
    return type_of(json, value) == STROBE_JSON_ARRAY;
}

uint32_t strobe_json_member(json_t *json, uint32_t object, const char *name)
{
    object = object ? object : STROBE_JSON_WHOLE;
    return type_of(json, object) == STROBE_JSON_OBJECT
               ? strobe_json_tree_get(&json->tree, object, name)
               : 0;
}

int strobe_json_is(json_t *json, uint32_t value, const char *text)
{
    size_t n;
    if (type_of(json, value) != STROBE_JSON_STRING)
        return 0;
    const char *own = strobe_json_tree_text(&json->tree, value, &n);
    return n == strlen(text) && !memcmp(own, text, n);
}

double strobe_json_number(json_t *json, uint32_t value, double otherwise)
{
    size_t n;
    double number;
    uint8_t type = type_of(json, value);
    if (type != STROBE_JSON_INT && type != STROBE_JSON_FLOAT)
        return otherwise;
    const char *text = strobe_json_tree_text(&json->tree, value, &n);
    return strobe_number_parse_double(text, n, &number) && isfinite(number) ? number : otherwise;
}

uint64_t strobe_json_count(json_t *json, uint32_t value, uint64_t otherwise, uint64_t max)
{
    double number = strobe_json_number(json, value, -1);
    if (number < 0)
        return otherwise;
    return number >= (double)max ? max : (uint64_t)number;
}

size_t strobe_json_text(json_t *json, uint32_t value, char *out, size_t room)
{
    size_t n = 0;
    STROBE_ASSERT(room);
    if (type_of(json, value) == STROBE_JSON_STRING) {
        const char *text = strobe_json_tree_text(&json->tree, value, &n);
        n = strobe_utf8_cut(text, n, room - 1);
        memcpy(out, text, n);
    }
    for (char *nul = out; (nul = memchr(nul, 0, n - (size_t)(nul - out)));)
        *nul = ' ';
    out[n] = 0;
    return n;
}

uint32_t strobe_json_next(json_t *json, uint32_t array, uint32_t *at)
{
    if (!strobe_json_is_array(json, array))
        return 0;
    *at = *at ? strobe_json_tree_node(&json->tree, *at)->next
              : strobe_json_tree_node(&json->tree, array)->first;
    return *at;
}

static void put(json_t *json, uint32_t value, struct strobe_json_writer *writer);

/* Members or elements; no deeper than STROBE_JSON_MAX_DEPTH. */
static void put_children(json_t *json, const struct strobe_json_node *node,
                         struct strobe_json_writer *writer)
{
    int is_object = node->type == STROBE_JSON_OBJECT;
    strobe_json_write_open(writer, NULL, is_object ? '{' : '[');
    for (uint32_t i = node->first; i; i = strobe_json_tree_node(&json->tree, i)->next) {
        size_t n;
        const char *key = strobe_json_tree_key(&json->tree, i, &n);
        if (is_object)
            strobe_json_write_name(writer, key, n);
        put(json, i, writer);
    }
    strobe_json_write_close(writer, is_object ? '}' : ']');
}

static void put(json_t *json, uint32_t value, struct strobe_json_writer *writer)
{
    const struct strobe_json_node *node = strobe_json_tree_node(&json->tree, value);
    size_t n;
    const char *text = strobe_json_tree_text(&json->tree, value, &n);
    if (node->type == STROBE_JSON_OBJECT || node->type == STROBE_JSON_ARRAY)
        put_children(json, node, writer);
    else if (node->type == STROBE_JSON_STRING)
        strobe_json_write_text(writer, NULL, text, n);
    else if (node->type == STROBE_JSON_INT || node->type == STROBE_JSON_FLOAT)
        strobe_json_write_raw(writer, NULL, text);
    else if (node->type == STROBE_JSON_NULL)
        strobe_json_write_null(writer, NULL);
    else
        strobe_json_write_bool(writer, NULL, node->type == STROBE_JSON_TRUE);
}

void strobe_json_put(json_t *json, uint32_t value, struct strobe_out *out)
{
    struct strobe_json_writer writer = {.out = out};
    put(json, value, &writer);
}
