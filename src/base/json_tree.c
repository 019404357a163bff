/* json_tree.c - see json_tree.h. Built without recursion: the open objects and arrays are the stack.
 * SPDX-License-Identifier: MIT */
#include "base/json_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { FEW = 24 }; /* members that are compared one by one; more are looked up by hash */

typedef struct strobe_json_tree tree_t;

/* What every value passes. */
#define HOT static inline __attribute__((always_inline))

/* A tree that is built. */
struct build {
    tree_t *tree;
    struct strobe_json_reader *reader;
    const char *source; /* a copy of these n_source bytes is at the front of texts; NULL: of none */
    size_t n_source;
    uint32_t name, n_name; /* of the member whose value is read next */
};

static uint64_t hash_name(const tree_t *tree, uint32_t object, const char *name, size_t n)
{
    return strobe_hash_pair(strobe_hash_bytes(name, n, tree->names.seed), object, tree->names.seed);
}

HOT int has_name(const tree_t *tree, uint32_t node, const char *name, size_t n)
{
    const struct strobe_json_node *member = &tree->nodes[node];
    if (member->n_key != n)
        return 0;
    const char *key = tree->texts.at + member->key;
    return !n || (key[0] == name[0] && !memcmp(key, name, n));
}

static uint32_t find_indexed(const tree_t *tree, uint32_t object, const char *name, size_t n)
{
    uint32_t at, i = strobe_index_first(&tree->names, hash_name(tree, object, name, n), &at);
    while (i != STROBE_INDEX_NONE && !has_name(tree, i, name, n))
        i = strobe_index_next(&tree->names, &at);
    return i == STROBE_INDEX_NONE ? 0 : i;
}

HOT uint32_t find_member(const tree_t *tree, uint32_t object, const char *name, size_t n)
{
    const struct strobe_json_node *node = &tree->nodes[object];
    if (node->n_children <= FEW) {
        uint32_t i = node->first;
        while (i && !has_name(tree, i, name, n))
            i = tree->nodes[i].next;
        return i;
    }
    return find_indexed(tree, object, name, n);
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

/* Texts that stand in the source as they are get no copy of their own. */
HOT enum strobe_err keep_text(struct build *build, uint32_t *at)
{
    struct strobe_out *texts = &build->tree->texts;
    const struct strobe_json_reader *reader = build->reader;
    uintptr_t offset = (uintptr_t)reader->text - (uintptr_t)build->source;
    if (build->source && offset < build->n_source) {
        *at = (uint32_t)offset;
        texts->at[offset + reader->n_text] =
            0; /* over a quote or what ends a number: it was read */
        return STROBE_OK;
    }
    *at = (uint32_t)texts->len;
    if ((uint64_t)texts->len + reader->n_text >= INT32_MAX)
        return STROBE_ERR_LIMIT;
    strobe_out_bytes(texts, reader->text, reader->n_text);
    strobe_out_char(texts, 0);
    return texts->error ? STROBE_ERR_NOMEM : STROBE_OK;
}

HOT void append(tree_t *tree, uint32_t parent, uint32_t child)
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
HOT enum strobe_err new_node(tree_t *tree, uint32_t *out)
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

/* The member that stands a second time is to be empty. */
static void empty_member(tree_t *tree, uint32_t member)
{
    unindex_members(tree, member);
    const struct strobe_json_node *old = &tree->nodes[member];
    tree->nodes[member] =
        (struct strobe_json_node){.key = old->key, .n_key = old->n_key, .next = old->next};
}

/* A new member of `parent`, which has many. */
static enum strobe_err index_new_member(tree_t *tree, uint32_t parent, uint32_t member)
{
    enum strobe_err err = STROBE_OK;
    if (tree->nodes[parent].n_children > FEW + 1)
        return index_member(tree, parent, member);
    for (uint32_t i = tree->nodes[parent].first; i && !err; i = tree->nodes[i].next)
        err = index_member(tree, parent, i);
    return err;
}

/* The node of the next value of `parent` (0: it is the whole), empty. */
HOT enum strobe_err place(struct build *build, uint32_t parent, uint32_t *out)
{
    tree_t *tree = build->tree;
    int is_member = parent && tree->nodes[parent].type == STROBE_JSON_OBJECT;
    if (is_member &&
        (*out = find_member(tree, parent, tree->texts.at + build->name, build->n_name))) {
        empty_member(tree, *out);
        return STROBE_OK;
    }
    enum strobe_err err = new_node(tree, out);
    if (err || !parent)
        return err;
    append(tree, parent, *out);
    if (!is_member)
        return STROBE_OK;
    tree->nodes[*out].key = build->name;
    tree->nodes[*out].n_key = build->n_name;
    return tree->nodes[parent].n_children > FEW ? index_new_member(tree, parent, *out) : STROBE_OK;
}

HOT enum strobe_err fill(struct build *build, enum strobe_json_token token,
                         struct strobe_json_node *node)
{
    static const uint8_t types[] = {
        [STROBE_TOKEN_OBJECT] = STROBE_JSON_OBJECT, [STROBE_TOKEN_ARRAY] = STROBE_JSON_ARRAY,
        [STROBE_TOKEN_STRING] = STROBE_JSON_STRING, [STROBE_TOKEN_NUMBER] = STROBE_JSON_FLOAT,
        [STROBE_TOKEN_TRUE] = STROBE_JSON_TRUE,     [STROBE_TOKEN_FALSE] = STROBE_JSON_FALSE,
        [STROBE_TOKEN_NULL] = STROBE_JSON_NULL};
    STROBE_ASSERT(token < sizeof types);
    node->type = types[token];
    if (token == STROBE_TOKEN_NUMBER && build->reader->is_integer)
        node->type = STROBE_JSON_INT;
    if (token != STROBE_TOKEN_NUMBER && token != STROBE_TOKEN_STRING)
        return STROBE_OK;
    node->n_text = (uint32_t)build->reader->n_text;
    return keep_text(build, &node->text);
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

/* The value that `token` begins, into a tree that was started. */
static enum strobe_err read_tree(struct build *build, enum strobe_json_token token)
{
    uint32_t stack[STROBE_JSON_DEPTH_LIMIT + 1], depth = 0, node;
    enum strobe_err err = STROBE_OK;
    stack[0] = 0;
    while (!err) {
        if (token == STROBE_TOKEN_KEY) {
            build->n_name = (uint32_t)build->reader->n_text;
            err = keep_text(build, &build->name);
        } else if (token == STROBE_TOKEN_OBJECT_END || token == STROBE_TOKEN_ARRAY_END) {
            depth--;
        } else if (!(err = place(build, stack[depth], &node)) &&
                   !(err = fill(build, token, &build->tree->nodes[node])) &&
                   (token == STROBE_TOKEN_OBJECT || token == STROBE_TOKEN_ARRAY)) {
            stack[++depth] = node;
        }
        if (err || (!depth && token != STROBE_TOKEN_KEY))
            break;
        err = strobe_json_read_next(build->reader, &token);
    }
    return err;
}

enum strobe_err strobe_json_tree_read(tree_t *tree, struct strobe_json_reader *reader,
                                      enum strobe_json_token token)
{
    struct build build = {.tree = tree, .reader = reader};
    enum strobe_err err = start(tree);
    return err ? err : read_tree(&build, token);
}

/* The whole text goes to the front of texts: one copy, where each string would need two calls. */
static enum strobe_err copy_source(struct build *build, const char *bytes, size_t n)
{
    struct strobe_out *texts = &build->tree->texts;
    if (n >= INT32_MAX)
        return STROBE_ERR_LIMIT;
    build->source = bytes;
    build->n_source = n;
    strobe_out_bytes(texts, bytes, n);
    strobe_out_char(texts, 0);
    return texts->error ? STROBE_ERR_NOMEM : STROBE_OK;
}

enum strobe_err strobe_json_tree_parse(tree_t *tree, const char *bytes, size_t n,
                                       const struct strobe_json_options *options)
{
    struct strobe_json_reader reader;
    struct build build = {.tree = tree, .reader = &reader};
    enum strobe_json_token token;
    strobe_json_read_memory(&reader, bytes, n, options);
    enum strobe_err err = start(tree);
    if (!err && !(err = strobe_json_read_next(&reader, &token)) &&
        !(err = copy_source(&build, bytes, n)) && !(err = read_tree(&build, token)))
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
    size_t n_text = strobe_json_tree_node(tree, node)->n_text;
    if (n)
        *n = n_text;
    return n_text ? tree->texts.at + tree->nodes[node].text : "";
}
