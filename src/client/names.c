/* names.c - telling the recorder what an id means, once per recorder.
 * Static locations and names keep their id in the program's own struct; run-time ones are looked up
 * by content in a cache of fixed size, and said again after a miss: the process never grows.
 * SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <errno.h>
#include <string.h>

static uint64_t word_of(uint64_t id)
{
    return STROBE_WORD_BEGIN | id << 32;
}

static uint64_t id_of(uint64_t word)
{
    return (word >> 32) & STROBE_WORD_ID_MAX;
}

static bool put_loc(struct strobe_pool *pool, uint64_t id, uint32_t line, uint32_t color,
                    const char *function, const char *file, const char *name, size_t n_name)
{
    uint64_t numbers[] = {id, line, color};
    const char *texts[] = {function ? function : "", file ? file : "", name ? name : ""};
    size_t n_bytes[] = {strlen(texts[0]), strlen(texts[1]), name ? n_name : 0};
    return strobe_client_meta(pool, STROBE_META_LOC, numbers, 3, texts, n_bytes, 3);
}

static bool put_string(struct strobe_pool *pool, uint64_t id, const char *text, size_t n_bytes)
{
    return strobe_client_meta(pool, STROBE_META_STRING, &id, 1, &text, &n_bytes, 1);
}

/* An id for something that stays named: 0 when they ran out. Locked. */
static uint64_t next_id(struct strobe_pool *pool)
{
    uint64_t id = pool->control->next_id;
    if (id > STROBE_WORD_ID_MAX)
        return 0;
    pool->control->next_id = id + 1;
    return id;
}

struct held {
    struct strobe_pool *pool;
    sigset_t old;
    int saved_errno;
};

/* The pool, locked, with signals blocked; false: nobody records. */
static bool hold(struct held *held)
{
    held->saved_errno = errno;
    strobe_client_block(&held->old);
    held->pool = strobe_client_pool();
    if (held->pool && held->pool->control->active) {
        strobe_ring_lock(held->pool);
        strobe_client_describe(held->pool);
        return true;
    }
    strobe_client_unblock(&held->old);
    errno = held->saved_errno;
    return false;
}

static void let_go(struct held *held)
{
    strobe_ring_unlock(held->pool);
    strobe_client_unblock(&held->old);
    errno = held->saved_errno;
}

uint64_t strobe_client_loc_id(struct strobe_loc *loc)
{
    struct held held;
    uint64_t word = __atomic_load_n(&loc->word, __ATOMIC_RELAXED);
    if (word >= strobe_gate_now->floor)
        return id_of(word);
    if (!hold(&held))
        return 0;
    word = loc->word;
    if (word < held.pool->control->floor) {
        uint64_t id = next_id(held.pool);
        word = 0;
        if (id && put_loc(held.pool, id, loc->line, loc->color, loc->function, loc->file, loc->name,
                          loc->name ? strlen(loc->name) : 0))
            __atomic_store_n(&loc->word, word = word_of(id), __ATOMIC_RELEASE);
    }
    let_go(&held);
    return id_of(word);
}

/* FNV-1a with a final mix: enough to spread names over a cache. */
static uint64_t hash_bytes(uint64_t hash, const char *text, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3ull;
    hash ^= hash >> 29;
    return hash * 0xbf58476d1ce4e5b9ull;
}

static struct strobe_name_cache_entry *cache_entry(struct strobe_pool *pool, uint64_t hash)
{
    if (pool->cache_generation != pool->control->active) {
        memset(pool->cache, 0, sizeof pool->cache);
        pool->cache_generation = pool->control->active;
    }
    return &pool->cache[(hash >> 40) % STROBE_NAME_CACHE];
}

uint64_t strobe_client_text_id(const char *text, size_t n_bytes)
{
    struct held held;
    uint64_t hash = hash_bytes(1, text, n_bytes), id = 0;
    if (!hold(&held))
        return 0;
    struct strobe_name_cache_entry *entry = cache_entry(held.pool, hash);
    if (entry->hash == hash && entry->id) {
        id = entry->id;
    } else {
        id = held.pool->next_dynamic++;
        if (put_string(held.pool, id, text, n_bytes))
            *entry = (struct strobe_name_cache_entry){hash, id};
        else
            id = 0;
    }
    let_go(&held);
    return id;
}

uint64_t strobe_client_name_id(struct strobe_name *name)
{
    struct held held;
    uint64_t word = __atomic_load_n(&name->word, __ATOMIC_RELAXED);
    if (word >= strobe_gate_now->floor)
        return id_of(word);
    if (!hold(&held))
        return 0;
    word = name->word;
    if (word < held.pool->control->floor) {
        uint64_t id = next_id(held.pool);
        word = 0;
        if (id && put_string(held.pool, id, name->text, strlen(name->text)))
            __atomic_store_n(&name->word, word = word_of(id), __ATOMIC_RELEASE);
    }
    let_go(&held);
    return id_of(word);
}

/* A fiber is its name, wherever it is entered: its id is made from the name's content. */
uint64_t strobe_client_fiber_id(struct strobe_name *fiber)
{
    struct held held;
    size_t n_bytes = strlen(fiber->text);
    uint64_t id = hash_bytes(2, fiber->text, n_bytes) >> 16 | 1;
    if (__atomic_load_n(&fiber->word, __ATOMIC_RELAXED) >= strobe_gate_now->floor)
        return id;
    if (!hold(&held))
        return 0;
    uint64_t named = next_id(held.pool);
    if (named &&
        strobe_client_meta(held.pool, STROBE_META_FIBER_NAME, &id, 1, &fiber->text, &n_bytes, 1))
        __atomic_store_n(&fiber->word, word_of(named), __ATOMIC_RELEASE);
    else
        id = 0;
    let_go(&held);
    return id;
}

uint64_t strobe_client_dynamic_id(const char *file, uint32_t line, const char *function,
                                  const char *name, size_t n_bytes, uint32_t color)
{
    struct held held;
    uint64_t hash = hash_bytes(0xcbf29ce484222325ull ^ line ^ (uint64_t)color << 32, name, n_bytes);
    if (file)
        hash = hash_bytes(hash, file, strlen(file));
    if (function)
        hash = hash_bytes(hash + 1, function, strlen(function));
    uint64_t id = 0;
    if (!hold(&held))
        return 0;
    struct strobe_name_cache_entry *entry = cache_entry(held.pool, hash);
    if (entry->hash == hash && entry->id) {
        id = entry->id;
    } else {
        id = held.pool->next_dynamic++;
        if (put_loc(held.pool, id, line, color, function, file, name, n_bytes))
            *entry = (struct strobe_name_cache_entry){hash, id};
        else
            id = 0;
    }
    let_go(&held);
    return id;
}
