/* map.h - hash tables: an index of somebody's rows by hash, and on it a map from numbers and a map
 * from bytes. Open addressing with linear probing, at most 3/4 full; the hashes are seeded (hash.h).
 *
 *   strobe_index    hash -> numbers of rows; several may share a hash, the caller compares the rows
 *   strobe_map      uint64_t -> uint64_t; entries lie in the order of adding, so they can be walked
 *   strobe_textmap  bytes -> uint64_t; the same, and it owns a copy of every key
 *
 * All zero is an empty one; `max` may be set before the first add. Threads: one at a time, finds alone may
 * go on side by side.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_MAP_H
#define STROBE_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/err.h"
#include "base/hash.h"

/* "No such row." */
#define STROBE_INDEX_NONE UINT32_MAX

/* ---- the index ---- */

struct strobe_index {
    struct strobe_index_slot {
        uint32_t tag;    /* half of the hash: where it belongs, and a quick comparison */
        uint32_t number; /* of the row + 1; 0: a free slot */
    } * slots;           /* owned: n_slots, a power of two, or NULL */
    uint32_t n_slots, n;
    uint32_t max;  /* entries at the most; 0: as many as numbers allow */
    uint64_t seed; /* 0 until strobe_index_seed */
};

/* The seed that keys of this index are hashed with. Call it before the first hash for an add; later
 * index->seed is the same. */
static inline uint64_t strobe_index_seed(struct strobe_index *index)
{
    if (!index->seed)
        index->seed = strobe_hash_seed();
    return index->seed;
}

static inline uint32_t strobe_index_tag(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

/* The slot from *at on that has this tag. Its row, or STROBE_INDEX_NONE. */
static inline uint32_t strobe_index_probe(const struct strobe_index *index, uint32_t tag,
                                          uint32_t *at)
{
    uint32_t mask = index->n_slots - 1;
    STROBE_ASSERT(index->n_slots && !(index->n_slots & mask) && index->n < index->n_slots);
    for (uint32_t i = *at & mask; index->slots[i].number; i = (i + 1) & mask)
        if (index->slots[i].tag == tag) {
            *at = i;
            return index->slots[i].number - 1;
        }
    return STROBE_INDEX_NONE;
}

/* The first row of a hash, and with *at as it was left the next, in the order of adding. The caller
 * compares: other keys may have the same hash. STROBE_INDEX_NONE after the last. */
static inline uint32_t strobe_index_first(const struct strobe_index *index, uint64_t hash,
                                          uint32_t *at)
{
    uint32_t tag = strobe_index_tag(hash);
    *at = tag;
    return index->n ? strobe_index_probe(index, tag, at) : STROBE_INDEX_NONE;
}

static inline uint32_t strobe_index_next(const struct strobe_index *index, uint32_t *at)
{
    uint32_t tag = index->slots[*at].tag;
    ++*at;
    return strobe_index_probe(index, tag, at);
}

/* Walk over the rows of a hash: `row` and its place `at` are declared here. */
#define STROBE_INDEX_EACH(row, at, index, hash)                                             \
    for (uint32_t at, row = strobe_index_first(index, hash, &at); row != STROBE_INDEX_NONE; \
         row = strobe_index_next(index, &at))

/* Add a row behind those of the same hash. NOMEM; LIMIT: more than `max`. */
enum strobe_err strobe_index_add(struct strobe_index *index, uint64_t hash, uint32_t number);

/* Another row in the place that a find left in `at`. */
void strobe_index_set(struct strobe_index *index, uint32_t at, uint32_t number);

/* Take out what a find left in `at`. Places found before no longer hold. */
void strobe_index_remove(struct strobe_index *index, uint32_t at);

void strobe_index_free(struct strobe_index *index);

/* ---- numbers to numbers ---- */

struct strobe_map {
    struct strobe_map_entry {
        uint64_t key, value;
    } * entries; /* owned: n of them, in the order of adding while none is removed */
    uint32_t n, room;
    uint32_t max; /* entries at the most; 0: no bound */
    struct strobe_index index;
};

/* The value of a key, until the next add or remove; NULL: the key is not there. */
uint64_t *strobe_map_find(const struct strobe_map *map, uint64_t key);

/* The same, or `otherwise`. */
static inline uint64_t strobe_map_get(const struct strobe_map *map, uint64_t key,
                                      uint64_t otherwise)
{
    const uint64_t *value = strobe_map_find(map, key);
    return value ? *value : otherwise;
}

/* *value: that of the key, which is added with 0 where it is not there. Until the next add or remove.
 * NOMEM; LIMIT: it would be one more than `max`. */
enum strobe_err strobe_map_add(struct strobe_map *map, uint64_t key, uint64_t **value);

/* Set the value of a key, there or not. Errors as strobe_map_add. */
enum strobe_err strobe_map_put(struct strobe_map *map, uint64_t key, uint64_t value);

/* Take a key out; the last entry moves into its place. 0: it was not there. */
int strobe_map_remove(struct strobe_map *map, uint64_t key);

void strobe_map_free(struct strobe_map *map);

/* ---- bytes to numbers ---- */

struct strobe_textmap {
    struct strobe_textmap_entry {
        size_t at; /* of the key in bytes */
        uint32_t n_key;
        uint64_t value;
    } * entries; /* owned: n of them, in the order of adding */
    uint32_t n, room;
    uint32_t max;     /* entries at the most; 0: no bound */
    size_t max_bytes; /* of all keys, with a NUL each; 0: no bound */
    char *bytes;      /* owned: keys, a NUL after each */
    size_t n_bytes, bytes_room;
    struct strobe_index index;
};

/* The entry of a key, or STROBE_INDEX_NONE. */
uint32_t strobe_textmap_find(const struct strobe_textmap *map, const void *key, size_t n_key);

/* *entry: that of the key, which is added with value 0 where it is not there.
 * NOMEM; LIMIT: it would go over `max` or `max_bytes`, or the key has 4 GiB. */
enum strobe_err strobe_textmap_add(struct strobe_textmap *map, const void *key, size_t n_key,
                                   uint32_t *entry);

/* An entry's key, NUL-terminated, until the next add. */
static inline const char *strobe_textmap_key(const struct strobe_textmap *map, uint32_t entry)
{
    STROBE_ASSERT(entry < map->n);
    return map->bytes + map->entries[entry].at;
}

void strobe_textmap_free(struct strobe_textmap *map);

#endif
