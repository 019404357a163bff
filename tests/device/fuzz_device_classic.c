/* fuzz_device_classic.c - classic marker words, source maps and ELF files of any bytes. Pairs that come in portions are those
 * that come at once, and no marker is counted twice.  SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/classic.h"
#include "device/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static uint64_t sum;

static void add(uint64_t number)
{
    sum = (sum ^ number) * 0x9e3779b97f4a7c15u + (sum >> 29);
}

/* A sum over all zones; `room` of them at a time. */
static uint64_t pair(const uint32_t *words, size_t n, size_t room,
                     struct strobe_device_pairs *pairs)
{
    struct strobe_device_zone zones[64];
    sum = 0;
    for (size_t at = 0; at < n;) {
        size_t used,
            n_zones = strobe_device_classic_zones(pairs, words + at, n - at, &used, zones, room);
        if (!used || used > n - at || n_zones > room)
            abort();
        for (size_t i = 0; i < n_zones; i++) {
            add(zones[i].start);
            add(zones[i].end ^ (uint64_t)zones[i].id << 40 ^ zones[i].program);
        }
        at += used;
    }
    return sum;
}

static void on_name(void *context, const struct strobe_device_name *name)
{
    (void)context;
    for (uint32_t i = 0; i < name->name.n_bytes; i++)
        add((uint8_t)name->name.bytes[i]);
    for (uint32_t i = 0; i < name->file.n_bytes; i++)
        add((uint8_t)name->file.bytes[i]);
}

static void read_names(const uint8_t *data, size_t n_bytes)
{
    struct strobe_device_names_out out = {NULL, on_name, 0};
    strobe_device_names_elf(data, n_bytes, n_bytes & 1, &out);
    strobe_device_names_log((const char *)data, n_bytes, &out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    size_t n = n_bytes / 4;
    uint32_t *words = malloc(n ? 4 * n : 1);
    struct strobe_device_marker *markers = malloc((n / 2 + 1) * sizeof *markers);
    struct strobe_device_pairs whole = {0}, parts = {0};
    uint64_t n_bad = 0;
    if (words && markers && n) {
        memcpy(words, data, 4 * n);
        size_t n_markers = strobe_device_classic_markers(words, n, markers, &n_bad);
        if (n_markers > n / 2 || strobe_device_classic_order(markers, n_markers) > n_markers)
            abort();
        if (pair(words, n, 64, &whole) != pair(words, n, 2, &parts) ||
            whole.n_zones != parts.n_zones || whole.n_orphans != parts.n_orphans ||
            whole.n_others != parts.n_others) {
            fprintf(stderr, "fuzz_device_classic: zones in portions are other zones\n");
            abort();
        }
    }
    free(words);
    free(markers);
    read_names(data, n_bytes);
    return 0;
}
