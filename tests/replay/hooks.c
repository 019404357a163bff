/* hooks.c - what instrumented code calls before each access: the runtime of the race instrumentation, ours. A hook settles what
 * the actor's last access left in memory, lets the scheduler decide who goes on, and then lets the access happen, or, where the
 * memory is to be weak, makes it happen later (a plain store) or earlier (a load).  SPDX-License-Identifier: MIT */
#include <string.h>

#include "replay.h"

/* So long after a store others may still load what was there before. */
#define LATE_NS 40000ull

/* Not the ones below, which are steps. */
void *__real_memset(void *at, int byte, size_t n);
void *__real_memcpy(void *to, const void *from, size_t n);
#define memset __real_memset
#define memcpy __real_memcpy

/* What shared words were before they changed, so that a load may be older. */
static struct {
    uint64_t *at;
    uint64_t old, time, ns;
} changes[LOG_MAX];
static uint64_t n_changes;

uint64_t replay_time(void)
{
    return n_changes;
}

void replay_forget(void)
{
    n_changes = 0;
    memset(changes, 0, sizeof changes);
}

bool replay_is_shared(const void *at)
{
    const char *byte = at;
    for (uint32_t i = 0; i < replay.n_shared; i++)
        if (byte >= replay.shared[i] && byte < replay.shared_end[i])
            return byte < replay.dull || byte >= replay.dull_end;
    return false;
}

static uint64_t *word_at(const void *at)
{
    return (uint64_t *)((uintptr_t)at & ~(uintptr_t)7);
}

/* Where the actor keeps when it last saw a word. */
static uint32_t seen_slot(const uint64_t *word)
{
    return (uint32_t)((uintptr_t)word >> 3) % SEEN_MAX;
}

static void note_seen(struct actor *me, const uint64_t *word, uint64_t time)
{
    uint32_t i = seen_slot(word);
    if (me->seen[i].at == word && me->seen[i].time > time)
        return;
    me->seen[i].at = word;
    me->seen[i].time = time;
}

/* The word is about to change for all. */
static void note_change(struct actor *me, const void *at)
{
    uint64_t *word = word_at(at);
    uint64_t i = n_changes++ % LOG_MAX;
    changes[i].at = word;
    changes[i].old = *word;
    changes[i].time = n_changes;
    changes[i].ns = replay.now_ns;
    if (me)
        note_seen(me, word, n_changes);
}

static uint64_t read_bytes(const char *at, uint32_t size)
{
    uint64_t value = 0;
    memcpy(&value, at, size);
    return value;
}

/* ---- plain stores that wait ---- */

static void make_visible(struct actor *me, uint32_t i)
{
    struct buffered one = me->buffer[i];
    memmove(me->buffer + i, me->buffer + i + 1, (--me->n_buffer - i) * sizeof one);
    note_change(me, one.at);
    memcpy(one.at, &one.value, one.size);
}

void replay_flush(struct actor *me)
{
    replay_settle(me);
    while (me->n_buffer)
        make_visible(me, 0);
}

bool replay_flush_at(const void *at, uint32_t n_bytes)
{
    bool any = false;
    for (uint32_t a = 0; a < replay.n_actors; a++) {
        struct actor *me = &replay.actors[a];
        for (uint32_t i = 0; i < me->n_buffer;)
            if (me->buffer[i].at < (const char *)at + n_bytes &&
                me->buffer[i].at + me->buffer[i].size > (const char *)at) {
                make_visible(me, i);
                any = true;
            } else {
                i++;
            }
    }
    return any;
}

/* Its own stores an actor sees at once: what is under way to this place arrives. */
static void arrive(struct actor *me, const char *at, uint32_t size)
{
    for (uint32_t i = 0; i < me->n_buffer;)
        if (me->buffer[i].at < at + size && me->buffer[i].at + me->buffer[i].size > at)
            make_visible(me, i);
        else
            i++;
}

static bool is_weak_now(void)
{
    return replay.scenario->is_weak && !replay.is_finishing && replay.mode != SEARCH;
}

static void keep_back(struct actor *me, char *at, uint64_t value, uint32_t size)
{
    if (me->n_buffer == BUFFER_MAX)
        make_visible(me, 0);
    me->buffer[me->n_buffer++] = (struct buffered){at, value, size};
}

/* After the access that the last hook announced. */
void replay_settle(struct actor *me)
{
    if (me->lent) {
        *me->lent = me->lent_value;
        me->lent = NULL;
    }
    struct buffered fresh = me->fresh;
    me->fresh.at = NULL;
    if (!fresh.at)
        return;
    uint64_t value = read_bytes(fresh.at, fresh.size);
    memcpy(fresh.at, &fresh.value, fresh.size);
    if (value != fresh.value && is_weak_now() && (replay.mode == GUIDED || replay_random(2))) {
        keep_back(me, fresh.at, value, fresh.size);
        return;
    }
    note_change(me, fresh.at);
    memcpy(fresh.at, &value, fresh.size);
}

/* ---- loads that are early ---- */

/* The word as it was at `time`. */
static uint64_t value_at(uint64_t *word, uint64_t time)
{
    uint64_t from = n_changes > LOG_MAX ? n_changes - LOG_MAX : 0;
    for (uint64_t i = from; i < n_changes; i++)
        if (changes[i % LOG_MAX].at == word && changes[i % LOG_MAX].time > time)
            return changes[i % LOG_MAX].old;
    return *word;
}

/* The oldest moment at which the actor may load the word. */
static uint64_t oldest(const struct actor *me, const uint64_t *word)
{
    uint32_t i = seen_slot(word);
    uint64_t time = me->seen[i].at == word ? me->seen[i].time : 0;
    uint64_t kept = n_changes > LOG_MAX ? n_changes - LOG_MAX : 0;
    time = time > me->acquired ? time : me->acquired;
    time = time > kept ? time : kept;
    while (time < n_changes && replay.now_ns - changes[time % LOG_MAX].ns > LATE_NS)
        time++; /* a store does not stay unseen for long */
    return time;
}

/* The moment at which this load happens: now, or earlier. */
static uint64_t load_time(struct actor *me, uint64_t *word, int order)
{
    uint64_t least = oldest(me, word), time = n_changes;
    if (order == __ATOMIC_SEQ_CST || !replay_is_shared(word))
        return time;
    if (me->stale_at == word) {
        me->stale_at = NULL;
        time = me->stale_time > least ? me->stale_time : least;
    } else if (!is_weak_now() || replay.mode == GUIDED) {
        return time;
    } else if (least < time && !replay_random(4)) {
        time -= replay_random((uint32_t)(time - least) + 1);
    }
    return time;
}

static uint64_t early_value(struct actor *me, const void *at, uint32_t size, int order)
{
    uint64_t *word = word_at(at);
    uint64_t time = load_time(me, word, order);
    uint64_t value = value_at(word, time);
    note_seen(me, word, time);
    if (order != __ATOMIC_RELAXED && time > me->acquired)
        me->acquired = time;
    me->loaded_at = at;
    me->loaded = read_bytes((char *)&value + ((uintptr_t)at & 7), size);
    return me->loaded;
}

/* ---- hooks ---- */

/* A load of what the actor has just loaded, with nothing changed since, is no step: loops over tables are full of them. */
static bool is_news(const struct actor *me, const void *at, enum access access)
{
    uint32_t i = seen_slot(word_at(at));
    if (replay.mode == GUIDED && access == LOAD &&
        replay.scenario->label(me, access, at, *(const uint32_t *)at))
        return true; /* the model has it */
    return (access != READ && access != LOAD) || me->seen[i].at != word_at(at) ||
           me->seen[i].time != n_changes || me->n_buffer;
}

/* The calling actor, if this access is a step. */
static struct actor *stepping(const void *at, enum access access)
{
    struct actor *me = replay.current;
    if (!me || replay.is_quiet)
        return NULL;
    if (me->lent || me->fresh.at)
        replay_settle(me);
    if (replay_is_shared(at) || (access >= LOAD && (at == strobe_hot_now || at == replay.lock)))
        return is_news(me, at, access) ? me : NULL;
    return NULL;
}

static void plain_read(const void *at, uint32_t size)
{
    struct actor *me = stepping(at, READ);
    if (!me)
        return;
    replay_pause(READ, at, 0);
    arrive(me, at, size);
    uint64_t *word = word_at(at), before = *word;
    uint64_t time = load_time(me, word, __ATOMIC_RELAXED);
    uint64_t value = value_at(word, time);
    note_seen(me, word, time);
    if (value != before) {
        me->lent = word;
        me->lent_value = before;
        *word = value;
    }
}

static void plain_write(void *at, uint32_t size)
{
    struct actor *me = stepping(at, WRITE);
    if (!me)
        return;
    replay_pause(WRITE, at, 0);
    arrive(me, at, size);
    me->fresh = (struct buffered){at, read_bytes(at, size), size};
}

#define PLAIN(n)                              \
    void __tsan_read##n(void *at);            \
    void __tsan_write##n(void *at);           \
    void __tsan_unaligned_read##n(void *at);  \
    void __tsan_unaligned_write##n(void *at); \
    void __tsan_volatile_read##n(void *at);   \
    void __tsan_volatile_write##n(void *at);  \
    void __tsan_read##n(void *at)             \
    {                                         \
        plain_read(at, n);                    \
    }                                         \
    void __tsan_write##n(void *at)            \
    {                                         \
        plain_write(at, n);                   \
    }                                         \
    void __tsan_unaligned_read##n(void *at)   \
    {                                         \
        plain_read(at, n);                    \
    }                                         \
    void __tsan_unaligned_write##n(void *at)  \
    {                                         \
        plain_write(at, n);                   \
    }                                         \
    void __tsan_volatile_read##n(void *at)    \
    {                                         \
        plain_read(at, n);                    \
    }                                         \
    void __tsan_volatile_write##n(void *at)   \
    {                                         \
        plain_write(at, n);                   \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)

void __tsan_read16(void *at);
void __tsan_write16(void *at);
void __tsan_unaligned_read16(void *at);
void __tsan_unaligned_write16(void *at);
void __tsan_read_range(void *at, size_t n);
void __tsan_write_range(void *at, size_t n);
/* Two words at once: no step, but what the actor itself has under way arrives. */
static void touch(const void *at, size_t n)
{
    struct actor *me = stepping(at, READ);
    if (me)
        arrive(me, at, (uint32_t)n);
}
void __tsan_read16(void *at)
{
    touch(at, 16);
}
void __tsan_write16(void *at)
{
    touch(at, 16);
}
void __tsan_unaligned_read16(void *at)
{
    touch(at, 16);
}
void __tsan_unaligned_write16(void *at)
{
    touch(at, 16);
}
void __tsan_read_range(void *at, size_t n)
{
    touch(at, n);
}
void __tsan_write_range(void *at, size_t n)
{
    touch(at, n);
}

void __tsan_init(void);
void __tsan_func_entry(void *from);
void __tsan_func_exit(void);
void __tsan_init(void) {}
void __tsan_func_entry(void *from)
{
    (void)from;
}
void __tsan_func_exit(void) {}

static bool is_release(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static void before_change(struct actor *me, enum access access, void *at, uint64_t value,
                          uint32_t size, int order)
{
    replay_pause(access, at, value);
    if (is_release(order))
        replay_flush(me);
    arrive(me, at, size);
}

static void after_change(struct actor *me, int order)
{
    if (order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST ||
        order == __ATOMIC_CONSUME)
        me->acquired = n_changes;
}

#define CHANGE_OF(bits, type, name, result)                                      \
    type __tsan_atomic##bits##_##name(volatile type *at, type value, int order); \
    type __tsan_atomic##bits##_##name(volatile type *at, type value, int order)  \
    {                                                                            \
        struct actor *me = stepping((const void *)at, CHANGE);                   \
        if (me) {                                                                \
            before_change(me, CHANGE, (void *)at, value, sizeof(type), order);   \
            note_change(me, (const void *)at);                                   \
        }                                                                        \
        type before = *at;                                                       \
        *at = (type)(result);                                                    \
        if (me)                                                                  \
            after_change(me, order);                                             \
        return before;                                                           \
    }
#define ATOMIC(bits, type)                                                                \
    type __tsan_atomic##bits##_load(const volatile type *at, int order);                  \
    type __tsan_atomic##bits##_load(const volatile type *at, int order)                   \
    {                                                                                     \
        struct actor *me = stepping((const void *)at, LOAD);                              \
        if (!me)                                                                          \
            return *at;                                                                   \
        replay_pause(LOAD, (const void *)at, *at);                                        \
        arrive(me, (const char *)at, sizeof(type));                                       \
        return (type)early_value(me, (const void *)at, sizeof(type), order);              \
    }                                                                                     \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order);           \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order)            \
    {                                                                                     \
        struct actor *me = stepping((const void *)at, STORE);                             \
        if (me) {                                                                         \
            before_change(me, STORE, (void *)at, value, sizeof(type), order);             \
            if (!is_release(order) && is_weak_now() && replay.mode == RANDOM &&           \
                replay_is_shared((const void *)at) && replay_random(2)) {                 \
                keep_back(me, (char *)at, value, sizeof(type));                           \
                return;                                                                   \
            }                                                                             \
            note_change(me, (const void *)at);                                            \
        }                                                                                 \
        *at = value;                                                                      \
    }                                                                                     \
    CHANGE_OF(bits, type, exchange, value)                                                \
    CHANGE_OF(bits, type, fetch_add, before + value)                                      \
    CHANGE_OF(bits, type, fetch_sub, before - value)                                      \
    CHANGE_OF(bits, type, fetch_and, before &value)                                       \
    CHANGE_OF(bits, type, fetch_or, before | value)                                       \
    CHANGE_OF(bits, type, fetch_xor, before ^ value)                                      \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected,  \
                                                      type value, int order, int failed); \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected,  \
                                                      type value, int order, int failed)  \
    {                                                                                     \
        struct actor *me = stepping((const void *)at, CHANGE);                            \
        if (me)                                                                           \
            before_change(me, CHANGE, (void *)at, value, sizeof(type), order);            \
        int is_same = *at == *expected;                                                   \
        if (me && is_same)                                                                \
            note_change(me, (const void *)at);                                            \
        if (is_same)                                                                      \
            *at = value;                                                                  \
        else                                                                              \
            *expected = *at;                                                              \
        if (me)                                                                           \
            after_change(me, is_same ? order : failed);                                   \
        return is_same;                                                                   \
    }
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    if (replay.current && !replay.is_quiet) {
        replay_flush(replay.current);
        replay.current->acquired = n_changes;
    }
}

/* ---- copies and wipes: a step each, word by word in the buffer ---- */

static void put_words(struct actor *me, char *to, const char *from, int byte, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t size = (uint32_t)(8 - ((uintptr_t)(to + i) & 7));
        size = size < n - i ? size : (uint32_t)(n - i);
        uint64_t value = 0, old = read_bytes(to + i, size);
        if (from)
            memcpy(&value, from + i, size);
        else
            memset(&value, byte, size);
        if (value != old && is_weak_now() && (replay.mode == GUIDED || replay_random(2))) {
            keep_back(me, to + i, value, size);
        } else if (value != old) {
            note_change(me, to + i);
            memcpy(to + i, &value, size);
        }
        i += size;
    }
}

void *__wrap_memset(void *at, int byte, size_t n);
void *__wrap_memset(void *at, int byte, size_t n)
{
    struct actor *me = replay_is_shared(at) ? stepping(at, WRITE) : NULL;
    if (!me)
        return __real_memset(at, byte, n);
    replay_pause(WRITE, at, n);
    arrive(me, at, (uint32_t)n);
    put_words(me, at, NULL, byte, n);
    return at;
}

void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n)
{
    struct actor *me = replay_is_shared(to) ? stepping(to, WRITE) : NULL;
    if (!me)
        return __real_memcpy(to, from, n);
    replay_pause(WRITE, to, n);
    arrive(me, to, (uint32_t)n);
    put_words(me, to, from, 0, n);
    return to;
}
