/* names.c - see names.h.
 * A slot of the table is filled once, by a compare-and-swap, and never emptied: readers need no lock, and a location that a zone began
 * with stays. Names beyond the table's room share one location of the caller's and carry their name themselves.
 * SPDX-License-Identifier: MIT */
#include "layers/names.h"

#include <stdlib.h>
#include <string.h>

enum { N_SLOTS = 4 * STROBE_LAYERS_NAMES_MAX, MAX_STEPS = 64 };

struct entry {
    struct strobe_loc loc; /* its texts are behind it */
    uint64_t hash;
    uint32_t n_name;
    char texts[]; /* name, NUL, group, NUL */
};

static struct entry *slots[N_SLOTS];
static uint32_t n_names;

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (uint8_t)bytes[i]) * 0x100000001b3ull;
    return hash;
}

static int is_it(const struct entry *entry, uint64_t hash, const char *name, size_t n_name,
                 const char *group, uint32_t color)
{
    return entry->hash == hash && entry->n_name == n_name && entry->loc.color == color &&
           !memcmp(entry->texts, name, n_name) && !strcmp(entry->loc.function, group);
}

static struct entry *make(uint64_t hash, const char *name, size_t n_name, const char *group,
                          uint32_t color)
{
    size_t n_group = strlen(group);
    struct entry *made = calloc(1, sizeof *made + n_name + n_group + 2);
    if (!made)
        return NULL;
    memcpy(made->texts, name, n_name);
    memcpy(made->texts + n_name + 1, group, n_group);
    made->hash = hash;
    made->n_name = (uint32_t)n_name;
    made->loc = (struct strobe_loc){0, made->texts, made->texts + n_name + 1, "", 0, color};
    return made;
}

struct strobe_loc *strobe_layers_loc(const char *name, size_t n_name, const char *group,
                                     uint32_t color)
{
    n_name = n_name < STROBE_LAYERS_TEXT_MAX ? n_name : STROBE_LAYERS_TEXT_MAX;
    uint64_t hash = hash_bytes(0xcbf29ce484222325ull ^ color, name, n_name);
    hash = hash_bytes(hash, group, strlen(group));
    struct entry *made = NULL, *seen = NULL;
    for (uint64_t step = 0; step < MAX_STEPS; step++) {
        struct entry **slot = &slots[((hash >> 32 ^ hash) + step) % N_SLOTS];
        seen = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (!seen) {
            if (!made && (__atomic_load_n(&n_names, __ATOMIC_RELAXED) >= STROBE_LAYERS_NAMES_MAX ||
                          !(made = make(hash, name, n_name, group, color))))
                return NULL;
            if (__atomic_compare_exchange_n(slot, &seen, made, 0, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE)) {
                __atomic_fetch_add(&n_names, 1, __ATOMIC_RELAXED);
                return &made->loc;
            }
        }
        if (is_it(seen, hash, name, n_name, group, color)) {
            free(made); /* another thread was faster */
            return &seen->loc;
        }
    }
    free(made);
    return NULL;
}

size_t strobe_layers_narrow(const wchar_t *text, char *out, size_t cap)
{
    size_t n = 0;
    for (; text && *text && n + 4 < cap; text++) {
        uint32_t c = (uint32_t)*text;
        if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
            c = 0xfffd;
        if (c < 0x80) {
            out[n++] = (char)c;
            continue;
        }
        int n_more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const uint8_t heads[] = {0, 0xc0, 0xe0, 0xf0};
        out[n++] = (char)(heads[n_more] | c >> (6 * n_more));
        while (n_more-- > 0)
            out[n++] = (char)(0x80 | (c >> (6 * n_more) & 0x3f));
    }
    out[n] = 0;
    return n;
}
