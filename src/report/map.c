/* map.c - the hash map of the report's tables.  SPDX-License-Identifier: MIT */
#include "report/map.h"

#include <stdlib.h>

static uint32_t home(const struct strobe_report_map *map, uint64_t key)
{
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(key >> 32) & (map->cap - 1);
}

bool strobe_report_map_find(const struct strobe_report_map *map, uint64_t key, uint32_t *at,
                            uint32_t *value)
{
    if (!map->cap)
        return false;
    uint32_t i = *at == UINT32_MAX ? home(map, key) : (*at + 1) & (map->cap - 1);
    for (; map->values[i]; i = (i + 1) & (map->cap - 1))
        if (map->keys[i] == key) {
            *at = i;
            *value = map->values[i] - 1;
            return true;
        }
    return false;
}

uint32_t strobe_report_map_get(const struct strobe_report_map *map, uint64_t key)
{
    uint32_t at = UINT32_MAX, value = UINT32_MAX;
    strobe_report_map_find(map, key, &at, &value);
    return value;
}

static void put(struct strobe_report_map *map, uint64_t key, uint32_t stored)
{
    uint32_t i = home(map, key);
    while (map->values[i])
        i = (i + 1) & (map->cap - 1);
    map->keys[i] = key;
    map->values[i] = stored;
}

static bool grow(struct strobe_report_map *map)
{
    struct strobe_report_map bigger = {.cap = map->cap ? map->cap * 2 : 64, .n = map->n};
    bigger.keys = malloc(bigger.cap * sizeof *bigger.keys);
    bigger.values = calloc(bigger.cap, sizeof *bigger.values);
    if (!bigger.keys || !bigger.values) {
        free(bigger.keys);
        free(bigger.values);
        return false;
    }
    for (uint32_t i = 0; i < map->cap; i++)
        if (map->values[i])
            put(&bigger, map->keys[i], map->values[i]);
    free(map->keys);
    free(map->values);
    *map = bigger;
    return true;
}

bool strobe_report_map_add(struct strobe_report_map *map, uint64_t key, uint32_t value)
{
    if (map->n + 1 > map->cap / 2 && !grow(map))
        return false;
    put(map, key, value + 1);
    map->n++;
    return true;
}

void strobe_report_map_free(struct strobe_report_map *map)
{
    free(map->keys);
    free(map->values);
    *map = (struct strobe_report_map){0};
}
