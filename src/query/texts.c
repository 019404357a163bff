/* texts.c - interned texts and maps of ids, over the hash tables of base/map.h.  SPDX-License-Identifier: MIT */
#include "query/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"

const char *strobe_texts_get(const struct strobe_texts *texts, uint32_t id, uint32_t *n_bytes)
{
    uint32_t n = 0;
    if (id)
        memcpy(&n, texts->bytes + (size_t)id * 4, sizeof n);
    if (n_bytes)
        *n_bytes = n;
    return id ? texts->bytes + (size_t)id * 4 + 4 : "";
}

int strobe_texts_has(const struct strobe_texts *texts, uint64_t id)
{
    uint32_t n;
    if (!id || id >= texts->n_bytes / 4)
        return 0;
    const char *text = strobe_texts_get(texts, (uint32_t)id, &n);
    if (n >= texts->n_bytes -
                 ((size_t)id * 4 + 4)) /* what looks like a length, in the midst of a text */
        return 0;
    uint64_t hash = strobe_hash_bytes(text, n, texts->index.seed);
    STROBE_INDEX_EACH (known, at, &texts->index, hash)
        if (known == id)
            return 1;
    return 0;
}

uint64_t strobe_texts_end(const struct strobe_texts *texts, uint64_t n_bytes)
{
    uint64_t at = texts->n_bytes ? texts->n_bytes : 4;
    uint64_t whole = at + 4ull + n_bytes + 1; /* ids are words, and a size_t may have 32 bits */
    if (n_bytes > UINT32_MAX || whole / 4 >= UINT32_MAX || whole >= PTRDIFF_MAX / 2)
        return 0;
    return (whole + 3) & ~3ull;
}

uint32_t strobe_texts_put(struct strobe_texts *texts, const char *text, uint64_t n_bytes)
{
    size_t at = texts->n_bytes ? texts->n_bytes : 4, n = (size_t)n_bytes;
    size_t end = (size_t)strobe_texts_end(texts, n_bytes);
    uint32_t length = (uint32_t)n;
    STROBE_ASSERT(end && end <= texts->room);
    memcpy(texts->bytes + at, &length, sizeof length);
    memcpy(texts->bytes + at + 4, text, n);
    memset(texts->bytes + at + 4 + n, 0, end - at - 4 - n);
    texts->n_bytes = end;
    return (uint32_t)(at / 4);
}

/* Append a text; its id, 0 without memory. */
static uint32_t append(struct strobe_texts *texts, const char *text, uint64_t n_bytes)
{
    uint64_t end = strobe_texts_end(texts, n_bytes);
    if (!end || STROBE_ARRAY_RESERVE(texts->bytes, texts->room, end))
        return 0;
    return strobe_texts_put(texts, text, n_bytes);
}

uint32_t strobe_texts_add(struct strobe_texts *texts, const char *text, uint64_t n_bytes)
{
    if (!n_bytes || n_bytes > UINT32_MAX - 16)
        return 0;
    uint64_t hash = strobe_hash_bytes(text, (size_t)n_bytes, strobe_index_seed(&texts->index));
    STROBE_INDEX_EACH (id, at, &texts->index, hash) {
        uint32_t n;
        const char *known = strobe_texts_get(texts, id, &n);
        if (n == n_bytes && !memcmp(known, text, n))
            return id;
    }
    size_t n_before = texts->n_bytes;
    uint32_t id = append(texts, text, n_bytes);
    if (id && strobe_index_add(&texts->index, hash, id)) {
        texts->n_bytes = n_before;
        return 0;
    }
    return id;
}

void strobe_texts_free(struct strobe_texts *texts)
{
    free(texts->bytes);
    strobe_index_free(&texts->index);
    memset(texts, 0, sizeof *texts);
}

static uint64_t id_hash(const struct strobe_idmap *map, uint32_t scope, uint64_t id)
{
    return strobe_hash_pair(id, scope, map->index.seed);
}

static uint32_t find_id(const struct strobe_idmap *map, uint32_t scope, uint64_t id, uint64_t hash)
{
    STROBE_INDEX_EACH (i, at, &map->index, hash)
        if (map->keys[i].id == id && map->keys[i].scope == scope)
            return i;
    return STROBE_IDMAP_NONE;
}

uint32_t strobe_idmap_find(const struct strobe_idmap *map, uint32_t scope, uint64_t id)
{
    return find_id(map, scope, id, id_hash(map, scope, id));
}

uint32_t strobe_idmap_add(struct strobe_idmap *map, uint32_t scope, uint64_t id)
{
    strobe_index_seed(&map->index);
    uint64_t hash = id_hash(map, scope, id);
    uint32_t found = find_id(map, scope, id, hash);
    if (found != STROBE_IDMAP_NONE)
        return found;
    if (STROBE_ARRAY_RESERVE(map->keys, map->room, map->n + 1ull) ||
        strobe_index_add(&map->index, hash, map->n))
        return STROBE_IDMAP_NONE;
    map->keys[map->n] = (struct strobe_idkey){id, scope};
    return map->n++;
}

uint32_t strobe_idmap_add_row(struct strobe_idmap *map, uint32_t scope, uint64_t id, void **rows,
                              uint32_t *room, size_t row_bytes)
{
    if (!strobe_rows_reach(rows, room, map->n,
                           row_bytes)) /* before the map has an id without row */
        return strobe_idmap_find(map, scope, id);
    return strobe_idmap_add(map, scope, id);
}

void strobe_idmap_free(struct strobe_idmap *map)
{
    free(map->keys);
    strobe_index_free(&map->index);
    memset(map, 0, sizeof *map);
}

int strobe_rows_reach(void **rows, uint32_t *room, uint64_t i, size_t row_bytes)
{
    if (i < *room)
        return 1;
    enum strobe_err err;
    uint64_t size = *room;
    void *more = strobe_array_grow(*rows, &size, i + 1, UINT32_MAX, row_bytes, 1, &err);
    if (!more)
        return 0;
    *rows = more;
    *room = (uint32_t)size;
    return 1;
}
