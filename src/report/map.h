/* map.h - a hash map from 64-bit keys (or hashes) to 32-bit numbers.
 * Open addressing, never shrinks; several entries may share a key.  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_MAP_H
#define STROBE_REPORT_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* All zero is empty. */
struct strobe_report_map {
    uint64_t *keys;   /* owned: cap entries */
    uint32_t *values; /* owned: cap entries, value + 1; 0 is a free place */
    uint32_t cap, n;
};

/* Place after `*at` (start with UINT32_MAX) of an entry with this key; false when there is none. */
bool strobe_report_map_find(const struct strobe_report_map *map, uint64_t key, uint32_t *at,
                            uint32_t *value);

/* The first entry's value, or UINT32_MAX. */
uint32_t strobe_report_map_get(const struct strobe_report_map *map, uint64_t key);

/* Add an entry beside those that have the same key. False without memory. */
bool strobe_report_map_add(struct strobe_report_map *map, uint64_t key, uint32_t value);
void strobe_report_map_free(struct strobe_report_map *map);

#endif
