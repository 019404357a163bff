/* kept.c - facts that every recorder is told, also those that come later: GPU contexts, names of sections,
 * parameters. A table of fixed size in the program's own memory; a forked child has a copy and tells it too.
 * Never allocates, prints or exits.  SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <errno.h>
#include <string.h>

enum { KEPT_MAX = 256, NUMBERS_MAX = 7, TEXT_MAX = 64 };

struct kept {
    uint16_t kind; /* enum strobe_meta; 0: free */
    uint8_t n_numbers;
    uint8_t n_text; /* 255: it has no text */
    uint64_t numbers[NUMBERS_MAX];
    char text[TEXT_MAX];
};

/* Written with the pool's lock held. */
static struct kept table[KEPT_MAX];

/* Where a fact goes: in the place of the one that it replaces, or a free one; NULL: all are taken. */
static struct kept *find_place(enum strobe_meta kind, const uint64_t *numbers, uint32_t n_keys)
{
    for (int i = 0; i < KEPT_MAX; i++)
        if (!table[i].kind ||
            (table[i].kind == kind && !memcmp(table[i].numbers, numbers, 8 * n_keys)))
            return &table[i];
    return NULL;
}

static void fill(struct kept *kept, enum strobe_meta kind, const uint64_t *numbers,
                 uint32_t n_numbers, const char *text, size_t n_bytes)
{
    size_t n = n_bytes < TEXT_MAX - 1 ? n_bytes : TEXT_MAX - 1;
    kept->kind = (uint16_t)kind;
    kept->n_numbers = (uint8_t)n_numbers;
    kept->n_text = text ? (uint8_t)n : 255;
    memcpy(kept->numbers, numbers, 8 * n_numbers);
    if (text)
        memcpy(kept->text, text, n);
}

void strobe_client_keep(enum strobe_meta kind, const uint64_t *numbers, uint32_t n_numbers,
                        uint32_t n_keys, const char *text, size_t n_bytes)
{
    int saved_errno = errno;
    struct strobe_mask old;
    strobe_ring_block(&old);
    struct strobe_pool *pool = strobe_client_pool();
    if (pool) {
        strobe_ring_lock(pool);
        if (pool->control->active) {
            strobe_client_describe(pool);
            strobe_client_meta(pool, kind, numbers, n_numbers, &text, &n_bytes, text ? 1 : 0);
        }
        struct kept *kept = find_place(kind, numbers, n_keys);
        if (kept)
            fill(kept, kind, numbers, n_numbers, text, n_bytes);
        strobe_ring_unlock(pool);
    }
    strobe_ring_unblock(&old);
    errno = saved_errno;
}

void strobe_client_tell_kept(struct strobe_pool *pool)
{
    for (int i = 0; i < KEPT_MAX && table[i].kind; i++) {
        const struct kept *kept = &table[i];
        const char *text = kept->text;
        size_t n_bytes = kept->n_text;
        strobe_client_meta(pool, (enum strobe_meta)kept->kind, kept->numbers, kept->n_numbers,
                           &text, &n_bytes, kept->n_text == 255 ? 0 : 1);
    }
}
