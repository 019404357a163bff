/* texts.c - interned texts and maps of ids: open addressing, linear probing, at most 3/4 full.
 * SPDX-License-Identifier: MIT */
#include "query/texts.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"

enum { FIRST_SLOTS = 64 };

static int needs_slots(uint32_t n, uint32_t n_slots)
{
    return (uint64_t)n * 4 >= (uint64_t)n_slots * 3;
}

static uint64_t text_hash(const char *text, uint64_t n_bytes)
{
    return XXH64(text, (size_t)n_bytes, 1);
}

const char *strobe_texts_get(const struct strobe_texts *texts, uint32_t id, uint32_t *n_bytes)
{
    uint32_t n = 0;
    if (id)
        memcpy(&n, texts->bytes + (size_t)id * 4, sizeof n);
    if (n_bytes)
        *n_bytes = n;
    return id ? texts->bytes + (size_t)id * 4 + 4 : "";
}

static int grow_slots(struct strobe_texts *texts)
{
    uint32_t n_slots = texts->n_slots ? 2 * texts->n_slots : FIRST_SLOTS;
    uint32_t *slots = n_slots ? calloc(n_slots, sizeof *slots) : NULL;
    if (!slots)
        return 0;
    for (uint32_t i = 0; i < texts->n_slots; i++) {
        if (!texts->slots[i])
            continue;
        uint32_t n;
        const char *text = strobe_texts_get(texts, texts->slots[i], &n);
        uint32_t at = (uint32_t)text_hash(text, n) & (n_slots - 1);
        while (slots[at])
            at = (at + 1) & (n_slots - 1);
        slots[at] = texts->slots[i];
    }
    free(texts->slots);
    texts->slots = slots;
    texts->n_slots = n_slots;
    return 1;
}

/* Append a text; its id, 0 without memory. */
static uint32_t append(struct strobe_texts *texts, const char *text, uint64_t n_bytes)
{
    size_t at = texts->n_bytes ? texts->n_bytes : 4, n = (size_t)n_bytes;
    uint64_t whole = at + 4ull + n_bytes + 1; /* ids are words, and a size_t may have 32 bits */
    if (n_bytes > UINT32_MAX || whole / 4 >= UINT32_MAX || whole >= PTRDIFF_MAX / 2)
        return 0;
    size_t end = ((size_t)whole + 3) & ~(size_t)3;
    if (end > texts->room) {
        size_t room = end + end / 2 + 4096;
        char *bytes = realloc(texts->bytes, room);
        if (!bytes)
            return 0;
        texts->bytes = bytes;
        texts->room = room;
    }
    uint32_t length = (uint32_t)n;
    memcpy(texts->bytes + at, &length, sizeof length);
    memcpy(texts->bytes + at + 4, text, n);
    memset(texts->bytes + at + 4 + n, 0, end - at - 4 - n);
    texts->n_bytes = end;
    return (uint32_t)(at / 4);
}

uint32_t strobe_texts_add(struct strobe_texts *texts, const char *text, uint64_t n_bytes)
{
    if (!n_bytes || n_bytes > UINT32_MAX - 16)
        return 0;
    if (needs_slots(texts->n_texts, texts->n_slots) && !grow_slots(texts))
        return 0;
    uint32_t at = (uint32_t)text_hash(text, n_bytes) & (texts->n_slots - 1);
    for (; texts->slots[at]; at = (at + 1) & (texts->n_slots - 1)) {
        uint32_t n;
        const char *known = strobe_texts_get(texts, texts->slots[at], &n);
        if (n == n_bytes && !memcmp(known, text, n))
            return texts->slots[at];
    }
    uint32_t id = append(texts, text, n_bytes);
    if (id) {
        texts->slots[at] = id;
        texts->n_texts++;
    }
    return id;
}

void strobe_texts_free(struct strobe_texts *texts)
{
    free(texts->bytes);
    free(texts->slots);
    memset(texts, 0, sizeof *texts);
}

static uint32_t id_hash(uint32_t scope, uint64_t id)
{
    uint64_t h = (id ^ (uint64_t)scope << 40) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 32;
    return (uint32_t)((h * 0xd6e8feb86659fd93ull) >> 32);
}

uint32_t strobe_idmap_find(const struct strobe_idmap *map, uint32_t scope, uint64_t id)
{
    if (!map->n_slots)
        return STROBE_IDMAP_NONE;
    uint32_t at = id_hash(scope, id) & (map->n_slots - 1);
    for (; map->slots[at]; at = (at + 1) & (map->n_slots - 1)) {
        const struct strobe_idkey *key = &map->keys[map->slots[at] - 1];
        if (key->id == id && key->scope == scope)
            return map->slots[at] - 1;
    }
    return STROBE_IDMAP_NONE;
}

static void put_slot(uint32_t *slots, uint32_t n_slots, const struct strobe_idkey *key,
                     uint32_t value)
{
    uint32_t at = id_hash(key->scope, key->id) & (n_slots - 1);
    while (slots[at])
        at = (at + 1) & (n_slots - 1);
    slots[at] = value;
}

static int grow_idmap(struct strobe_idmap *map)
{
    uint32_t n_slots = map->n_slots ? 2 * map->n_slots : FIRST_SLOTS;
    uint32_t *slots = n_slots ? calloc(n_slots, sizeof *slots) : NULL;
    if (!slots)
        return 0;
    for (uint32_t i = 0; i < map->n; i++)
        put_slot(slots, n_slots, &map->keys[i], i + 1);
    free(map->slots);
    map->slots = slots;
    map->n_slots = n_slots;
    return 1;
}

uint32_t strobe_idmap_add(struct strobe_idmap *map, uint32_t scope, uint64_t id)
{
    uint32_t found = strobe_idmap_find(map, scope, id);
    if (found != STROBE_IDMAP_NONE)
        return found;
    if (needs_slots(map->n, map->n_slots) && !grow_idmap(map))
        return STROBE_IDMAP_NONE;
    if (!strobe_rows_reach((void **)&map->keys, &map->room, map->n, sizeof *map->keys))
        return STROBE_IDMAP_NONE;
    map->keys[map->n] = (struct strobe_idkey){id, scope};
    put_slot(map->slots, map->n_slots, &map->keys[map->n], map->n + 1);
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
    free(map->slots);
    memset(map, 0, sizeof *map);
}

int strobe_rows_reach(void **rows, uint32_t *room, uint64_t i, size_t row_bytes)
{
    if (i < *room)
        return 1;
    uint64_t size = i + i / 2 + 16;
    if (size > UINT32_MAX)
        return 0;
    char *more = strobe_array_resize(*rows, size, row_bytes);
    if (!more)
        return 0;
    memset(more + *room * row_bytes, 0, (size_t)(size - *room) * row_bytes);
    *rows = more;
    *room = (uint32_t)size;
    return 1;
}
