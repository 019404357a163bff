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

/* The caller has seen the gate open: the floor of that recorder, or of a later one. */
static uint64_t floor_now(void)
{
    const volatile struct strobe_gate *gate = strobe_gate_now;
    __atomic_load_n(&gate->active, __ATOMIC_ACQUIRE); /* the floor is at least as new */
    return gate->floor;
}

static uint64_t id_of(uint64_t word)
{
    return (word >> 32) & STROBE_WORD_ID_MAX;
}

static bool put_loc(struct strobe_pool *pool, uint64_t id, uint32_t line, uint32_t color,
                    const struct strobe_texts_of_loc *of)
{
    uint64_t numbers[] = {id, line, color};
    const char *texts[] = {of->function ? of->function : "", of->file ? of->file : "",
                           of->name ? of->name : ""};
    size_t n_bytes[] = {of->function ? of->n_function : 0, of->file ? of->n_file : 0,
                        of->name ? of->n_name : 0};
    return strobe_client_meta(pool, STROBE_META_LOC, numbers, 3, texts, n_bytes, 3);
}

static size_t length(const char *text)
{
    return text ? strlen(text) : 0;
}

static struct strobe_texts_of_loc texts_of(const struct strobe_loc *loc)
{
    return (struct strobe_texts_of_loc){
        loc->file,         loc->function,         loc->name,
        length(loc->file), length(loc->function), length(loc->name)};
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
    struct strobe_mask old;
    int saved_errno;
};

/* The pool, locked, with signals blocked; false: nobody records. */
static bool hold(struct held *held)
{
    held->saved_errno = errno;
    strobe_ring_block(&held->old);
    held->pool = strobe_client_pool();
    if (held->pool && held->pool->control->active) {
        strobe_ring_lock(held->pool);
        strobe_client_describe(held->pool);
        return true;
    }
    strobe_ring_unblock(&held->old);
    errno = held->saved_errno;
    return false;
}

static void let_go(struct held *held)
{
    strobe_ring_unlock(held->pool);
    strobe_ring_unblock(&held->old);
    errno = held->saved_errno;
}

/* The id that *slot holds for this recording; without one, `put` tells the recorder of `what` under a new id. 0: no room. */
static uint64_t id_in(uint64_t *slot, bool (*put)(struct strobe_pool *, uint64_t, const void *),
                      const void *what)
{
    struct held held;
    uint64_t word = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (word >= floor_now())
        return id_of(word);
    const struct strobe_pool *pool = strobe_ring_own_pool();
    if ((pool && strobe_ring_is_hopeless(pool)) || !hold(&held))
        return 0;
    word = *slot;
    if (word < held.pool->control->floor) {
        uint64_t id = next_id(held.pool);
        word = 0;
        if (id && put(held.pool, id, what))
            __atomic_store_n(slot, word = word_of(id), __ATOMIC_RELEASE);
    }
    let_go(&held);
    return id_of(word);
}

static bool tell_loc(struct strobe_pool *pool, uint64_t id, const void *what)
{
    const struct strobe_loc *loc = what;
    struct strobe_texts_of_loc texts = texts_of(loc);
    return put_loc(pool, id, loc->line, loc->color, &texts);
}

uint64_t strobe_client_loc_id(struct strobe_loc *loc)
{
    return id_in(&loc->word, tell_loc, loc);
}

static bool tell_name(struct strobe_pool *pool, uint64_t id, const void *what)
{
    const struct strobe_name *name = what;
    return put_string(pool, id, name->text, strlen(name->text));
}

uint64_t strobe_client_name_id(struct strobe_name *name)
{
    return id_in(&name->word, tell_name, name);
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

/* The id of what has this hash; 0: it is not in the cache. */
static uint64_t cached_id(struct strobe_pool *pool, uint64_t hash)
{
    const struct strobe_name_cache_entry *entry = cache_entry(pool, hash);
    return entry->hash == hash ? entry->id : 0;
}

/* Cache an id that was described. 0: it was not. */
static uint64_t cache_id(struct strobe_pool *pool, uint64_t hash, uint64_t id, bool is_described)
{
    if (!is_described)
        return 0;
    *cache_entry(pool, hash) = (struct strobe_name_cache_entry){hash, id};
    return id;
}

uint64_t strobe_client_text_id(const char *text, size_t n_bytes)
{
    struct held held;
    uint64_t hash = hash_bytes(1, text, n_bytes);
    if (!hold(&held))
        return 0;
    uint64_t id = cached_id(held.pool, hash);
    if (!id) {
        id = held.pool->next_dynamic++;
        id = cache_id(held.pool, hash, id, put_string(held.pool, id, text, n_bytes));
    }
    let_go(&held);
    return id;
}

/* Tell the name of fiber `id`, where this recorder does not know it yet. 0: no room for it. */
static uint64_t tell_fiber(struct strobe_name *fiber, uint64_t id)
{
    struct held held;
    size_t n_bytes = strlen(fiber->text);
    if (__atomic_load_n(&fiber->word, __ATOMIC_RELAXED) >= floor_now())
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

/* A fiber is its name, wherever it is entered: its id is made from the name's content. */
uint64_t strobe_client_fiber_id(struct strobe_name *fiber)
{
    return tell_fiber(fiber, hash_bytes(2, fiber->text, strlen(fiber->text)) >> 16 | 1);
}

uint64_t strobe_client_dynamic_id(const struct strobe_texts_of_loc *texts, uint32_t line,
                                  uint32_t color)
{
    struct held held;
    uint64_t hash = 0xcbf29ce484222325ull ^ line ^ (uint64_t)color << 32;
    hash = hash_bytes(hash, texts->name ? texts->name : "", texts->name ? texts->n_name : 0);
    if (texts->file)
        hash = hash_bytes(hash, texts->file, texts->n_file);
    if (texts->function)
        hash = hash_bytes(hash + 1, texts->function, texts->n_function);
    if (!hold(&held))
        return 0;
    uint64_t id = cached_id(held.pool, hash);
    if (!id) {
        id = held.pool->next_dynamic++;
        id = cache_id(held.pool, hash, id, put_loc(held.pool, id, line, color, texts));
    }
    let_go(&held);
    return id;
}

/* ---- names of which only the text is there ---- */

/* A place in a table of fixed size belongs to one content (or address) for good, so that readers need no lock. */
struct name_place {
    uint64_t hash; /* 0: free */
    uint64_t word;
};
enum { NAME_PLACES = 4096, PROBES = 16 };
static struct name_place name_places[NAME_PLACES];

/* The place of `hash`, taken where it has none yet; NULL: none is left near it. */
static struct name_place *place_of(uint64_t hash)
{
    for (uint64_t i = 0; i < PROBES; i++) {
        struct name_place *place = &name_places[((hash >> 20) + i) % NAME_PLACES];
        uint64_t owner = __atomic_load_n(&place->hash, __ATOMIC_RELAXED);
        if (owner == hash ||
            (!owner && (__atomic_compare_exchange_n(&place->hash, &owner, hash, false,
                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
                        owner == hash)))
            return place;
    }
    return NULL;
}

bool strobe_client_const_id(const char *text, uint64_t *id)
{
    *id = 0;
    if (!strobe_gate_now->active)
        return false;
    if (!text)
        return true;
    size_t n_bytes = strlen(text);
    struct name_place *place = place_of(hash_bytes(3, text, n_bytes) | 1);
    if (place) { /* strobe_client_name_id works on the program's own struct: make one of the place */
        struct strobe_name name = {__atomic_load_n(&place->word, __ATOMIC_RELAXED), text};
        uint64_t before = name.word;
        *id = strobe_client_name_id(&name);
        if (name.word != before)
            __atomic_store_n(&place->word, name.word, __ATOMIC_RELEASE);
    } else {
        *id = strobe_client_text_id(text, n_bytes);
    }
    if (!*id)
        strobe_client_lose_unnamed();
    return *id != 0;
}

/* Here a fiber is an address and the text that stands there: two fibers may have the same name. */
void strobe_text_fiber_enter(const char *fiber)
{
    const char *text = fiber ? fiber : "";
    if (!strobe_gate_now->active)
        return;
    uint64_t hash = hash_bytes(4 + (uintptr_t)fiber, text, strlen(text));
    struct name_place *place = place_of(hash | 1);
    struct strobe_name name = {place ? __atomic_load_n(&place->word, __ATOMIC_RELAXED) : 0, text};
    uint64_t id = tell_fiber(&name, hash >> 16 | 1);
    if (place)
        __atomic_store_n(&place->word, name.word, __ATOMIC_RELEASE);
    if (id)
        strobe_client_emit_numbers(STROBE_KIND_FIBER_ENTER, &id, 1);
    else
        strobe_client_lose_unnamed();
}

/* ---- locations in constant memory ---- */

STROBE_API struct strobe_loc_place strobe_loc_places[STROBE_LOC_PLACES]
    __attribute__((aligned(64)));

static void fill(struct strobe_loc *loc, const struct strobe_const_loc *from)
{
    __atomic_store_n(&loc->word, 0,
                     __ATOMIC_SEQ_CST); /* nobody emits the old name for the new one */
    loc->name = from->name;
    loc->file = from->file;
    loc->line = from->line;
    loc->color = from->color;
    /* last: strobe_loc_is_same believes the rest when it fits */
    __atomic_store_n(&loc->function, from->function, __ATOMIC_RELEASE);
}

/* Fill a place, for the first time or because it is another location now. Names are told with the same lock held. */
static STROBE_COLD struct strobe_loc *renew(struct strobe_loc_place *place,
                                            const struct strobe_const_loc *from)
{
    int saved_errno = errno;
    struct strobe_mask old;
    strobe_ring_block(&old);
    struct strobe_pool *pool = strobe_client_pool();
    if (pool)
        strobe_ring_lock(pool);
    if (!strobe_loc_is_same(&place->loc, from))
        fill(&place->loc, from);
    if (pool)
        strobe_ring_unlock(pool);
    strobe_ring_unblock(&old);
    errno = saved_errno;
    return &place->loc;
}

struct strobe_loc *strobe_loc_of(const struct strobe_const_loc *loc)
{
    for (uint64_t i = 0; i < PROBES; i++) {
        struct strobe_loc_place *place = strobe_loc_place_at(loc, i);
        const struct strobe_const_loc *owner = __atomic_load_n(&place->key, __ATOMIC_ACQUIRE);
        if (owner == loc)
            return strobe_loc_is_same(&place->loc, loc) ? &place->loc : renew(place, loc);
        if (!owner && __atomic_compare_exchange_n(&place->key, &owner, loc, false, __ATOMIC_ACQ_REL,
                                                  __ATOMIC_ACQUIRE))
            return renew(place, loc);
        if (owner == loc)
            return renew(place, loc);
    }
    return NULL;
}

uint64_t strobe_loc_id(const char *file, size_t n_file, uint32_t line, const char *function,
                       size_t n_function, const char *name, size_t n_name, uint32_t color)
{
    struct strobe_texts_of_loc texts = {file, function, name, n_file, n_function, n_name};
    return strobe_gate_now->active ? strobe_client_dynamic_id(&texts, line, color) : 0;
}
