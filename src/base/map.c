/* map.c - see map.h.
 *
 * A row's slot is the first free one from tag & (n_slots - 1) on, so all slots between that home and
 * the row are taken. Growing and removing must keep this, and the order of rows of one hash: growing
 * starts behind a free slot, where no row can be away from a home on the other side; removing moves
 * the rows behind the gap back, unless that would put one before its home.  SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <stdlib.h>

#include "base/array.h"

enum { FIRST_SLOTS = 16, SLOTS_MAX = 1u << 31 };

/* ---- the index ---- */

static void put_slot(struct strobe_index_slot *slots, uint32_t n_slots,
                     struct strobe_index_slot slot)
{
    uint32_t i = slot.tag & (n_slots - 1);
    while (slots[i].number)
        i = (i + 1) & (n_slots - 1);
    slots[i] = slot;
}

static enum strobe_err grow_index(struct strobe_index *index)
{
    uint32_t n_slots = index->n_slots ? 2 * index->n_slots : FIRST_SLOTS, first = 0;
    if (index->n_slots >= (uint32_t)SLOTS_MAX)
        return STROBE_ERR_LIMIT;
    struct strobe_index_slot *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return STROBE_ERR_NOMEM;
    while (first < index->n_slots && index->slots[first].number)
        first++;
    for (uint32_t i = 0; i < index->n_slots; i++) {
        struct strobe_index_slot slot = index->slots[(first + i) & (index->n_slots - 1)];
        if (slot.number)
            put_slot(slots, n_slots, slot);
    }
    free(index->slots);
    index->slots = slots;
    index->n_slots = n_slots;
    return STROBE_OK;
}

enum strobe_err strobe_index_add(struct strobe_index *index, uint64_t hash, uint32_t number)
{
    STROBE_ASSERT(number < STROBE_INDEX_NONE);
    if (index->max && index->n >= index->max)
        return STROBE_ERR_LIMIT;
    if ((uint64_t)(index->n + 1) * 4 > (uint64_t)index->n_slots * 3) {
        enum strobe_err err = grow_index(index);
        if (err)
            return err;
    }
    put_slot(index->slots, index->n_slots,
             (struct strobe_index_slot){strobe_index_tag(hash), number + 1});
    index->n++;
    return STROBE_OK;
}

void strobe_index_set(struct strobe_index *index, uint32_t at, uint32_t number)
{
    STROBE_ASSERT(at < index->n_slots && index->slots[at].number);
    STROBE_ASSERT(number < STROBE_INDEX_NONE);
    index->slots[at].number = number + 1;
}

void strobe_index_remove(struct strobe_index *index, uint32_t at)
{
    STROBE_ASSERT(at < index->n_slots && index->slots[at].number);
    uint32_t mask = index->n_slots - 1, gap = at;
    for (uint32_t i = (at + 1) & mask; index->slots[i].number; i = (i + 1) & mask) {
        uint32_t from_home = (i - index->slots[i].tag) & mask, from_gap = (i - gap) & mask;
        if (from_home < from_gap)
            continue; /* its home lies behind the gap */
        index->slots[gap] = index->slots[i];
        gap = i;
    }
    index->slots[gap].number = 0;
    index->n--;
}

void strobe_index_free(struct strobe_index *index)
{
    free(index->slots);
    index->slots = NULL;
    index->n_slots = index->n = 0;
}

/* ---- numbers to numbers ---- */

static uint32_t find_entry(const struct strobe_map *map, uint64_t key, uint32_t *at)
{
    const struct strobe_index *index = &map->index;
    uint32_t i = strobe_index_first(index, strobe_hash_u64(key, index->seed), at);
    while (i != STROBE_INDEX_NONE && map->entries[i].key != key)
        i = strobe_index_next(index, at);
    return i;
}

uint64_t *strobe_map_find(const struct strobe_map *map, uint64_t key)
{
    uint32_t at, i = find_entry(map, key, &at);
    return i == STROBE_INDEX_NONE ? NULL : &map->entries[i].value;
}

enum strobe_err strobe_map_add(struct strobe_map *map, uint64_t key, uint64_t **value)
{
    uint64_t hash = strobe_hash_u64(key, strobe_index_seed(&map->index));
    *value = strobe_map_find(map, key);
    if (*value)
        return STROBE_OK;
    if (map->max && map->n >= map->max)
        return STROBE_ERR_LIMIT;
    enum strobe_err err = STROBE_ARRAY_RESERVE(map->entries, map->room, map->n + 1ull);
    if (err || (err = strobe_index_add(&map->index, hash, map->n)))
        return err;
    map->entries[map->n] = (struct strobe_map_entry){key, 0};
    *value = &map->entries[map->n++].value;
    return STROBE_OK;
}

enum strobe_err strobe_map_put(struct strobe_map *map, uint64_t key, uint64_t value)
{
    uint64_t *place;
    enum strobe_err err = strobe_map_add(map, key, &place);
    if (!err)
        *place = value;
    return err;
}

int strobe_map_remove(struct strobe_map *map, uint64_t key)
{
    uint32_t at, i = find_entry(map, key, &at);
    if (i == STROBE_INDEX_NONE)
        return 0;
    strobe_index_remove(&map->index, at);
    uint32_t last = --map->n;
    if (i == last)
        return 1;
    uint32_t moved = find_entry(map, map->entries[last].key, &at);
    STROBE_ASSERT(moved == last);
    (void)moved;
    strobe_index_set(&map->index, at, i);
    map->entries[i] = map->entries[last];
    return 1;
}

void strobe_map_free(struct strobe_map *map)
{
    free(map->entries);
    map->entries = NULL;
    map->n = map->room = 0;
    strobe_index_free(&map->index);
}

/* ---- bytes to numbers ---- */

static uint32_t find_text(const struct strobe_textmap *map, const void *key, size_t n_key,
                          uint64_t hash)
{
    uint32_t at, i = strobe_index_first(&map->index, hash, &at);
    for (; i != STROBE_INDEX_NONE; i = strobe_index_next(&map->index, &at)) {
        const struct strobe_textmap_entry *entry = &map->entries[i];
        if (entry->n_key == n_key && !memcmp(map->bytes + entry->at, key, n_key))
            return i;
    }
    return STROBE_INDEX_NONE;
}

uint32_t strobe_textmap_find(const struct strobe_textmap *map, const void *key, size_t n_key)
{
    return map->n ? find_text(map, key, n_key, strobe_hash_bytes(key, n_key, map->index.seed))
                  : STROBE_INDEX_NONE;
}

/* Room for an entry and its key. */
static enum strobe_err make_room(struct strobe_textmap *map, size_t n_key)
{
    uint64_t want = (uint64_t)map->n_bytes + n_key + 1;
    if (n_key >= UINT32_MAX || (map->max && map->n >= map->max) ||
        (map->max_bytes && want > map->max_bytes))
        return STROBE_ERR_LIMIT;
    enum strobe_err err = STROBE_ARRAY_RESERVE(map->entries, map->room, map->n + 1ull);
    return err ? err : STROBE_ARRAY_RESERVE(map->bytes, map->bytes_room, want);
}

enum strobe_err strobe_textmap_add(struct strobe_textmap *map, const void *key, size_t n_key,
                                   uint32_t *entry)
{
    uint64_t hash = strobe_hash_bytes(key, n_key, strobe_index_seed(&map->index));
    *entry = find_text(map, key, n_key, hash);
    if (*entry != STROBE_INDEX_NONE)
        return STROBE_OK;
    enum strobe_err err = make_room(map, n_key);
    if (err || (err = strobe_index_add(&map->index, hash, map->n)))
        return err;
    map->entries[map->n] = (struct strobe_textmap_entry){map->n_bytes, (uint32_t)n_key, 0};
    if (n_key)
        memcpy(map->bytes + map->n_bytes, key, n_key);
    map->bytes[map->n_bytes + n_key] = 0;
    map->n_bytes += n_key + 1;
    *entry = map->n++;
    return STROBE_OK;
}

void strobe_textmap_free(struct strobe_textmap *map)
{
    free(map->entries);
    free(map->bytes);
    map->entries = NULL;
    map->bytes = NULL;
    map->n = map->room = 0;
    map->n_bytes = map->bytes_room = 0;
    strobe_index_free(&map->index);
}
