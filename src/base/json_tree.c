/* json_tree.c - see json_tree.h. Built without recursion: the open objects and arrays are the stack.
 * SPDX-License-Identifier: MIT */
#include "base/json_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { FEW = 24 }; /* members that are compared one by one; more are looked up by hash */

typedef struct strobe_json_tree tree_t;

/* A member whose value is read next. */
struct name {
    uint32_t at, n;
};

static uint64_t hash_name(const tree_t *tree, uint32_t object, const char *name, size_t n)
{
    return strobe_hash_pair(strobe_hash_bytes(name, n, tree->names.seed), object, tree->names.seed);
}

static int has_name(const tree_t *tree, uint32_t node, const char *name, size_t n)
{
    const struct strobe_json_node *member = &tree->nodes[node];
    return member->n_key == n && !memcmp(tree->texts.at + member->key, name, n);
}

static uint32_t find_member(const tree_t *tree, uint32_t object, const char *name, size_t n)
{
    const struct strobe_json_node *node = &tree->nodes[object];
    if (node->n_children <= FEW) {
        uint32_t i = node->first;
        while (i && !has_name(tree, i, name, n))
            i = tree->nodes[i].next;
        return i;
    }
    uint32_t at, i = strobe_index_first(&tree->names, hash_name(tree, object, name, n), &at);
    while (i != STROBE_INDEX_NONE && !has_name(tree, i, name, n))
        i = strobe_index_next(&tree->names, &at);
    return i == STROBE_INDEX_NONE ? 0 : i;
}

static enum strobe_err index_member(tree_t *tree, uint32_t object, uint32_t member)
{
    const struct strobe_json_node *node = &tree->nodes[member];
    strobe_index_seed(&tree->names);
    return strobe_index_add(
        &tree->names, hash_name(tree, object, tree->texts.at + node->key, node->n_key), member);
}

/* The members of an object that is replaced. */
static void unindex_members(tree_t *tree, uint32_t object)
{
    const struct strobe_json_node *node = &tree->nodes[object];
    if (node->type != STROBE_JSON_OBJECT || node->n_children <= FEW)
        return;
    for (uint32_t at, i = node->first; i; i = tree->nodes[i].next) {
        const struct strobe_json_node *member = &tree->nodes[i];
        uint64_t hash = hash_name(tree, object, tree->texts.at + member->key, member->n_key);
        uint32_t found = strobe_index_first(&tree->names, hash, &at);
        while (found != i && found != STROBE_INDEX_NONE)
            found = strobe_index_next(&tree->names, &at);
        if (found == i)
            strobe_index_remove(&tree->names, at);
    }
}

static enum strobe_err keep_text(tree_t *tree, const struct strobe_json_reader *reader,
                                 uint32_t *at)
{
    *at = (uint32_t)tree->texts.len;
    if ((uint64_t)tree->texts.len + reader->n_text >= INT32_MAX)
        return STROBE_ERR_LIMIT;
    strobe_out_bytes(&tree->texts, reader->text, reader->n_text);
    strobe_out_char(&tree->texts, 0);
    return tree->texts.error ? STROBE_ERR_NOMEM : STROBE_OK;
}

static void append(tree_t *tree, uint32_t parent, uint32_t child)
{
    struct strobe_json_node *node = &tree->nodes[parent];
    if (node->last)
        tree->nodes[node->last].next = child;
    else
        node->first = child;
    node->last = child;
    node->n_children++;
}

/* A new node, not in anything yet. */
static enum strobe_err new_node(tree_t *tree, uint32_t *out)
{
    uint64_t most = tree->max_nodes ? tree->max_nodes + 1ull : INT32_MAX;
    enum strobe_err err =
        STROBE_ARRAY_RESERVE_MAX(tree->nodes, tree->room, tree->n_nodes + 1ull, most);
    if (err)
        return err;
    *out = tree->n_nodes++;
    tree->nodes[*out] = (struct strobe_json_node){0};
    return STROBE_OK;
}

/* The node of the next value of `parent` (0: it is the whole), empty. */
static enum strobe_err place(tree_t *tree, uint32_t parent, struct name name, uint32_t *out)
{
    int is_member = parent && tree->nodes[parent].type == STROBE_JSON_OBJECT;
    if (is_member && (*out = find_member(tree, parent, tree->texts.at + name.at, name.n))) {
        unindex_members(tree, *out);
        uint32_t next = tree->nodes[*out].next, key = tree->nodes[*out].key;
        tree->nodes[*out] = (struct strobe_json_node){.key = key, .n_key = name.n, .next = next};
        return STROBE_OK;
    }
    enum strobe_err err = new_node(tree, out);
    if (err || !parent)
        return err;
    tree->nodes[*out].key = name.at;
    tree->nodes[*out].n_key = name.n;
    append(tree, parent, *out);
    uint32_t n = tree->nodes[parent].n_children;
    if (!is_member || n <= FEW)
        return STROBE_OK;
    if (n > FEW + 1)
        return index_member(tree, parent, *out);
    for (uint32_t i = tree->nodes[parent].first; i && !err; i = tree->nodes[i].next)
        err = index_member(tree, parent, i);
    return err;
}

static enum strobe_err fill(tree_t *tree, struct strobe_json_reader *reader,
                            enum strobe_json_token token, uint32_t node)
{
    static const uint8_t types[] = {
        [STROBE_TOKEN_OBJECT] = STROBE_JSON_OBJECT, [STROBE_TOKEN_ARRAY] = STROBE_JSON_ARRAY,
        [STROBE_TOKEN_STRING] = STROBE_JSON_STRING, [STROBE_TOKEN_NUMBER] = STROBE_JSON_FLOAT,
        [STROBE_TOKEN_TRUE] = STROBE_JSON_TRUE,     [STROBE_TOKEN_FALSE] = STROBE_JSON_FALSE,
        [STROBE_TOKEN_NULL] = STROBE_JSON_NULL};
    STROBE_ASSERT(token < sizeof types);
    uint32_t at;
    tree->nodes[node].type = types[token];
    if (token == STROBE_TOKEN_NUMBER && reader->is_integer)
        tree->nodes[node].type = STROBE_JSON_INT;
    if (token != STROBE_TOKEN_NUMBER && token != STROBE_TOKEN_STRING)
        return STROBE_OK;
    enum strobe_err err = keep_text(tree, reader, &at);
    tree->nodes[node].text = at;
    tree->nodes[node].n_text = (uint32_t)reader->n_text;
    return err;
}

static enum strobe_err start(tree_t *tree)
{
    uint32_t none;
    tree->n_nodes = 0;
    if (tree->texts.error)
        strobe_out_free(&tree->texts);
    strobe_out_clear(&tree->texts);
    if (tree->names.n)
        strobe_index_free(&tree->names);
    return new_node(tree, &none);
}

enum strobe_err strobe_json_tree_read(tree_t *tree, struct strobe_json_reader *reader,
                                      enum strobe_json_token token)
{
    uint32_t stack[STROBE_JSON_DEPTH_LIMIT + 1], depth = 0, node;
    struct name name = {0};
    enum strobe_err err = start(tree);
    stack[0] = 0;
    while (!err) {
        if (token == STROBE_TOKEN_KEY) {
            name.n = (uint32_t)reader->n_text;
            err = keep_text(tree, reader, &name.at);
        } else if (token == STROBE_TOKEN_OBJECT_END || token == STROBE_TOKEN_ARRAY_END) {
            depth--;
        } else if (!(err = place(tree, stack[depth], name, &node)) &&
                   !(err = fill(tree, reader, token, node)) &&
                   (token == STROBE_TOKEN_OBJECT || token == STROBE_TOKEN_ARRAY)) {
            stack[++depth] = node;
        }
        if (err || (!depth && token != STROBE_TOKEN_KEY))
            break;
        err = strobe_json_read_next(reader, &token);
    }
    return err;
}

enum strobe_err strobe_json_tree_parse(tree_t *tree, const char *bytes, size_t n,
                                       const struct strobe_json_options *options)
{
    struct strobe_json_reader reader;
    enum strobe_json_token token;
    strobe_json_read_memory(&reader, bytes, n, options);
    enum strobe_err err = strobe_json_read_next(&reader, &token);
    if (!err && !(err = strobe_json_tree_read(tree, &reader, token)))
        err = strobe_json_read_next(&reader, &token);
    strobe_json_read_close(&reader);
    if (err)
        start(tree); /* nothing of a text that is none is seen */
    return err;
}

void strobe_json_tree_free(tree_t *tree)
{
    free(tree->nodes);
    strobe_out_free(&tree->texts);
    strobe_index_free(&tree->names);
    *tree = (tree_t){0};
}

uint32_t strobe_json_tree_get(const tree_t *tree, uint32_t node, const char *name)
{
    return strobe_json_tree_node(tree, node)->type == STROBE_JSON_OBJECT
               ? find_member(tree, node, name, strlen(name))
               : 0;
}

const char *strobe_json_tree_key(const tree_t *tree, uint32_t node, size_t *n)
{
    *n = strobe_json_tree_node(tree, node)->n_key;
    return *n ? tree->texts.at + tree->nodes[node].key : "";
}

const char *strobe_json_tree_text(const tree_t *tree, uint32_t node, size_t *n)
{
    *n = strobe_json_tree_node(tree, node)->n_text;
    return *n ? tree->texts.at + tree->nodes[node].text : "";
}
