/* folder.c - looking through the session's folder. Names that need no second look are kept as a set of hashes, and a
 * look goes on in the next round where it takes long: a folder of a hundred thousand files costs a look at each once,
 * and nobody who emits waits for it.  SPDX-License-Identifier: MIT */
#include "collector/internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/assert.h"

enum { SEEN_MAX = 1 << 22 }; /* names; more are looked at again and again */

static uint64_t hash_name(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 0x100000001b3ull;
    return hash ? hash : 1;
}

/* Its place, or the free one where it belongs. */
static uint64_t *probe(uint64_t *table, uint32_t n_slots, uint64_t hash)
{
    STROBE_ASSERT(n_slots && !(n_slots & (n_slots - 1)));
    STROBE_ASSERT(hash);
    uint32_t i = (uint32_t)(hash >> 32) & (n_slots - 1);
    while (table[i] && table[i] != hash)
        i = (i + 1) & (n_slots - 1);
    return &table[i];
}

bool strobe_collector_has_seen(const struct strobe_collector *c, const char *name)
{
    return c->n_seen_slots && *probe(c->seen, c->n_seen_slots, hash_name(name));
}

bool strobe_collector_mark_seen(struct strobe_collector *c, const char *name)
{
    if (c->n_seen >= SEEN_MAX)
        return false;
    if (2 * c->n_seen >= c->n_seen_slots) {
        uint32_t n = c->n_seen_slots ? 2 * c->n_seen_slots : 256;
        uint64_t *more = calloc(n, sizeof *more);
        if (!more)
            return false;
        for (uint32_t i = 0; i < c->n_seen_slots; i++)
            if (c->seen[i])
                *probe(more, n, c->seen[i]) = c->seen[i];
        free(c->seen);
        c->seen = more;
        c->n_seen_slots = n;
    }
    uint64_t *slot = probe(c->seen, c->n_seen_slots, hash_name(name));
    STROBE_ASSERT(c->n_seen < c->n_seen_slots);
    c->n_seen += !*slot;
    *slot = hash_name(name);
    return true;
}

void strobe_collector_forget_seen(struct strobe_collector *c, const char *name)
{
    uint64_t *slot = c->n_seen_slots ? probe(c->seen, c->n_seen_slots, hash_name(name)) : NULL;
    if (!slot || !*slot)
        return;
    STROBE_ASSERT(c->n_seen);
    *slot = 0;
    c->n_seen--;
    for (uint32_t mask = c->n_seen_slots - 1, i = (uint32_t)(slot - c->seen + 1) & mask; c->seen[i];
         i = (i + 1) & mask) { /* those behind it move up */
        uint64_t moved = c->seen[i];
        c->seen[i] = 0;
        *probe(c->seen, c->n_seen_slots, moved) = moved;
    }
}

bool strobe_collector_is_being_made(const struct strobe_collector *c, const char *name)
{
    enum { MAKING_S = 2 };
    char path[STROBE_PATH_MAX + 100];
    struct stat st;
    struct timespec now;
    snprintf(path, sizeof path, "%s/%s", c->dir, name);
    clock_gettime(CLOCK_REALTIME, &now);
    return !stat(path, &st) && S_ISREG(st.st_mode) && now.tv_sec - st.st_ctim.tv_sec <= MAKING_S;
}

static bool is_pool_name(const char *name)
{
    size_t n = strlen(name);
    return n >= 6 && n < 96 && !strcmp(name + n - 5, ".pool");
}

bool strobe_collector_look_through(struct strobe_collector *c, uint64_t now)
{
    enum { ROUND_NS = 20000000, LOOKS = 32 };
    struct dirent *entry;
    if (!c->scan) {
        c->next_dir_scan_ns = now + (c->inotify >= 0 ? 1000000000ull : 20000000ull);
        c->dir_changed = c->find_failed = false;
        c->scan = opendir(c->dir);
    }
    if (!c->scan) {
        c->dir_changed = c->find_failed = errno == ENOMEM;
        return false;
    }
    for (uint32_t n = 0; (entry = readdir(c->scan));) {
        if (strobe_collector_consider_denied(c, entry->d_name))
            continue;
        if (!is_pool_name(entry->d_name) || strobe_collector_has_seen(c, entry->d_name))
            continue;
        if (!strobe_collector_consider(c, entry->d_name))
            c->dir_changed = true;
        if (++n % LOOKS == 0 && !c->find_all && strobe_collector_mono_ns() - now > ROUND_NS)
            return false;
    }
    closedir(c->scan);
    c->scan = NULL;
    return true;
}
