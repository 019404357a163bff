/* json_tree.h - one JSON value in memory, as nodes that are looked up by name. For texts that fit:
 * a question, a description, one event of a long file.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_JSON_TREE_H
#define STROBE_BASE_JSON_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/json_read.h"
#include "base/map.h"
#include "base/out.h"

enum strobe_json_type {
    STROBE_JSON_NULL,
    STROBE_JSON_FALSE,
    STROBE_JSON_TRUE,
    STROBE_JSON_INT, /* a number without point and exponent, of any length */
    STROBE_JSON_FLOAT,
    STROBE_JSON_STRING,
    STROBE_JSON_ARRAY,
    STROBE_JSON_OBJECT,
};

/* Nodes are numbers; 0 is "no such node", which is null and empty. Node 1 is the whole. */
struct strobe_json_node {
    uint8_t type;
    uint32_t key, n_key;   /* of a member: place in texts */
    uint32_t text, n_text; /* of a string or number: place in texts */
    uint32_t first, last;  /* children of an array or object */
    uint32_t next;         /* the next child of the same parent */
    uint32_t n_children;
};

/* All zero is empty. Use it for one value after the other: its memory is kept. */
struct strobe_json_tree {
    struct strobe_json_node *nodes; /* owned */
    uint32_t n_nodes, room;
    uint32_t max_nodes;        /* 0: no bound */
    struct strobe_out texts;   /* strings decoded, numbers as they stand there, a NUL after each;
                                * _parse puts a copy of the whole text to the front of it */
    struct strobe_index names; /* members of objects that have many */
};

/* Parse all of `bytes`. Errors as strobe_json_read_next; LIMIT: more than max_nodes, or 2 GiB. Of a member that stands twice
 * the first place and the last value count. */
enum strobe_err strobe_json_tree_parse(struct strobe_json_tree *tree, const char *bytes, size_t n,
                                       const struct strobe_json_options *options);

/* The same of the one value that `token`, just read, begins. */
enum strobe_err strobe_json_tree_read(struct strobe_json_tree *tree,
                                      struct strobe_json_reader *reader,
                                      enum strobe_json_token token);

void strobe_json_tree_free(struct strobe_json_tree *tree);

static inline const struct strobe_json_node *
strobe_json_tree_node(const struct strobe_json_tree *tree, uint32_t node)
{
    STROBE_ASSERT(node < tree->n_nodes);
    return &tree->nodes[node];
}

/* A member of an object; 0: it has none of that name, or is no object. */
uint32_t strobe_json_tree_get(const struct strobe_json_tree *tree, uint32_t node, const char *name);

/* Texts, NUL-terminated, until the tree is used again; "" where there is none. Of a value, `n` may be NULL. */
const char *strobe_json_tree_key(const struct strobe_json_tree *tree, uint32_t node, size_t *n);
const char *strobe_json_tree_text(const struct strobe_json_tree *tree, uint32_t node, size_t *n);

#endif
