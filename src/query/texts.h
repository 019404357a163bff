/* texts.h - every distinct text of a trace once, and small maps from ids to rows.
 * Lean, since a trace may name millions of locations: 8 bytes a slot of tables, 16 per id.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_QUERY_TEXTS_H
#define STROBE_QUERY_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/* Interned texts. Zero-initialise; free once. */
struct strobe_texts {
    char *bytes; /* owned: u32 length, bytes, NUL; each text at a multiple of 4 */
    size_t n_bytes, room;
    struct strobe_index index; /* of places / 4, by the text */
};

/* The id of a text, the same for the same bytes. 0: the empty text, or no memory. */
uint32_t strobe_texts_add(struct strobe_texts *texts, const char *text, uint64_t n_bytes);

/* 1: a text has this id. For ids that come from outside. */
int strobe_texts_has(const struct strobe_texts *texts, uint64_t id);

/* The text of an id, NUL-terminated, until the next add. The id is 0 or one that strobe_texts_add returned. */
const char *strobe_texts_get(const struct strobe_texts *texts, uint32_t id, uint32_t *n_bytes);

/* For who has another room for the bytes, and no index: how long they are with one text more (0: too long), and the text put there, which is
 * not looked up. */
uint64_t strobe_texts_end(const struct strobe_texts *texts, uint64_t n_bytes);
uint32_t strobe_texts_put(struct strobe_texts *texts, const char *text, uint64_t n_bytes);

void strobe_texts_free(struct strobe_texts *texts);

/* A map from (scope, id) to 0, 1, 2 ... in the order of adding. Zero-initialise; free once. */
struct strobe_idmap {
    struct strobe_idkey {
        uint64_t id;
        uint32_t scope;
    } * keys; /* owned: n entries */
    uint32_t n, room;
    struct strobe_index index; /* of keys */
};
#define STROBE_IDMAP_NONE STROBE_INDEX_NONE

/* The index of a key, STROBE_IDMAP_NONE where it is not there. */
uint32_t strobe_idmap_find(const struct strobe_idmap *map, uint32_t scope, uint64_t id);

/* The index of a key, added if need be; STROBE_IDMAP_NONE without memory. */
uint32_t strobe_idmap_add(struct strobe_idmap *map, uint32_t scope, uint64_t id);

/* As strobe_idmap_add, with a row of its own in `rows` (zero when new). */
uint32_t strobe_idmap_add_row(struct strobe_idmap *map, uint32_t scope, uint64_t id, void **rows,
                              uint32_t *room, size_t row_bytes);

void strobe_idmap_free(struct strobe_idmap *map);

/* Make room for index `i` in an array of items, new ones zero. 0 without memory. */
int strobe_rows_reach(void **rows, uint32_t *room, uint64_t i, size_t row_bytes);

#endif
