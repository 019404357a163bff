/* kept_blocks.c - large blocks of memory, kept from run to run. The address sanitizer maps and unmaps them one by one, shadow and all: of a run of a few
 * microseconds that opens an encoder or a file it took a millisecond. tests/fuzz/run leads malloc and free through here (--wrap); `make test` does not.
 *
 * What the sanitizer sees of such a block stays as it was: it has its red zones, because what a block has beyond the bytes that were asked for is poisoned; it is poisoned while it is
 * free, one in sixteen whole, of the others the ends, which are the parts that are used; the last one that was freed of a size is not used again before another one is; a second free
 * ends the program; a block that leaked is nowhere to be found in here. What is new in it has the sanitizer's pattern at its begin, or zeros.
 *
 * Sizes are rounded up: a size that depends on the input would make a new block in every run, which looks like a leak to libFuzzer, and is looked for with much work.  SPDX-License-Identifier: MIT */
#include <sanitizer/allocator_interface.h>
#include <sanitizer/asan_interface.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    BIG_BYTES = 16 << 10,
    KEPT_MAX = 128,
    KNOWN_MAX = 4096, /* a power of two */
    PAGE_BYTES = 4096,
    FILL_BYTES = 4096,
    FILL = 0xbe,
    ENDS_BYTES = 8 << 10, /* of a free block, at its begin and at its end */
    WHOLE_EVERY = 16, /* one in so many is poisoned whole: most of a block of 1 MB is never used */
    STEP_SMALL = 16 << 10,
    STEP_LARGE = 64 << 10,  /* from there on */
    WIPE_BYTES = 512 << 10, /* larger ones are given back to the kernel to be zero again */
};
static const size_t kept_bytes_max = 64 << 20;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t n);
void __real_free(void *block);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t n);
void __wrap_free(void *block);

/* Blocks that are used or kept, by address. Never the address itself: the search for leaks would find it. */
static struct known {
    uintptr_t hidden; /* 0: none, was: one that is no more */
    size_t n, room;   /* bytes that were asked for, and that there are */
    bool is_kept, is_whole;
} known[KNOWN_MAX];
enum { WAS = 1 };
static uint32_t n_known;

static struct {
    void *at; /* owned */
    size_t room;
} kept[KEPT_MAX]; /* oldest first */
static uint32_t n_kept;
static size_t n_kept_bytes;
static atomic_flag lock = ATOMIC_FLAG_INIT;

static void take_lock(void)
{
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        ;
}

static void leave_lock(void)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
}

static struct known *find(const void *block)
{
    uintptr_t hidden = ~(uintptr_t)block;
    for (uint32_t i = (uint32_t)(hidden >> 4) * 2654435761u >> 8, n = 0; n < KNOWN_MAX; i++, n++) {
        struct known *at = &known[i % KNOWN_MAX];
        if (at->hidden == hidden)
            return at;
        if (!at->hidden)
            return NULL;
    }
    return NULL;
}

static size_t room_of(size_t n)
{
    size_t step = n < STEP_LARGE ? STEP_SMALL : STEP_LARGE;
    return (n + step - 1) / step * step;
}

static void add_known(const void *block, size_t n)
{
    uintptr_t hidden = ~(uintptr_t)block;
    struct known *at = find(block);
    for (uint32_t i = (uint32_t)(hidden >> 4) * 2654435761u >> 8; !at; i++)
        if (known[i % KNOWN_MAX].hidden <= WAS)
            at = &known[i % KNOWN_MAX];
    n_known += !at->hidden;
    *at = (struct known){.hidden = hidden, .n = n, .room = room_of(n)};
}

/* The table has room while a quarter of it is free; then it is only looked up any more. */
static bool has_room(void)
{
    return n_known < KNOWN_MAX / 4 * 3;
}

static void drop_kept(uint32_t i)
{
    n_kept_bytes -= kept[i].room;
    memmove(&kept[i], &kept[i + 1], (--n_kept - i) * sizeof kept[0]);
}

/* Poisoned while it is kept. What is behind its n bytes is already. */
static void poison(struct known *at, void *block)
{
    static unsigned n_freed;
    at->is_whole = at->n < 4 * ENDS_BYTES || ++n_freed % WHOLE_EVERY == 0;
    __asan_poison_memory_region(block, at->is_whole ? at->n : ENDS_BYTES);
    if (!at->is_whole)
        __asan_poison_memory_region((char *)block + at->n - ENDS_BYTES, ENDS_BYTES);
}

/* All of its room. */
static void unpoison(const struct known *at, void *block)
{
    size_t end = at->is_whole ? 0 : at->n - ENDS_BYTES;
    if (end)
        __asan_unpoison_memory_region(block, ENDS_BYTES);
    __asan_unpoison_memory_region((char *)block + end, at->room - end);
}

static void poison_behind(const struct known *at, void *block)
{
    __asan_poison_memory_region((char *)block + at->n, at->room - at->n);
}

/* A kept block for n bytes, the oldest of several; NULL: there is none. */
static void *take_kept(size_t n)
{
    uint32_t first = KEPT_MAX, n_same = 0;
    size_t room = room_of(n);
    for (uint32_t i = 0; i < n_kept && n_same < 2; i++)
        if (kept[i].room == room && !n_same++)
            first = i;
    if (n_same < 2)
        return NULL;
    void *block = kept[first].at;
    drop_kept(first);
    struct known *at = find(block);
    at->is_kept = false;
    unpoison(at, block);
    at->n = n;
    poison_behind(at, block);
    return block;
}

static void *take(size_t n)
{
    take_lock();
    void *block = take_kept(n);
    leave_lock();
    return block;
}

/* Of room_of(n) bytes. */
static void *remember(void *block, size_t n)
{
    take_lock();
    bool is_known = block && has_room();
    if (is_known) {
        add_known(block, n);
        poison_behind(find(block), block);
    }
    leave_lock();
    if (is_known || !block)
        return block;
    void *exact = __real_malloc(n);
    if (exact)
        memcpy(exact, block, n);
    __real_free(block);
    return exact;
}

void *__wrap_malloc(size_t n)
{
    void *block = n < BIG_BYTES ? NULL : take(n);
    if (block)
        return memset(block, FILL, FILL_BYTES);
    return n < BIG_BYTES || n > kept_bytes_max ? __real_malloc(n)
                                               : remember(__real_malloc(room_of(n)), n);
}

static void wipe(void *block, size_t n)
{
    char *first = (char *)(((uintptr_t)block + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1));
    char *end = (char *)(((uintptr_t)block + n) & ~(uintptr_t)(PAGE_BYTES - 1));
    if (n < WIPE_BYTES || madvise(first, (size_t)(end - first), MADV_DONTNEED)) {
        memset(block, 0, n);
        return;
    }
    memset(block, 0, (size_t)(first - (char *)block));
    memset(end, 0, (size_t)((char *)block + n - end));
}

void *__wrap_calloc(size_t n, size_t size)
{
    size_t bytes;
    bool is_big =
        !__builtin_mul_overflow(n, size, &bytes) && bytes >= BIG_BYTES && bytes <= kept_bytes_max;
    void *block = is_big ? take(bytes) : NULL;
    if (block) {
        wipe(block, bytes);
        return block;
    }
    return is_big ? remember(__real_calloc(1, room_of(bytes)), bytes) : __real_calloc(n, size);
}

/* Too much is kept: the oldest ones go their way. */
static uint32_t evict(void **out)
{
    uint32_t n = 0;
    while (n_kept == KEPT_MAX || n_kept_bytes > kept_bytes_max) {
        struct known *at = find(kept[0].at);
        unpoison(at, kept[0].at);
        at->hidden = WAS;
        out[n++] = kept[0].at;
        drop_kept(0);
    }
    return n;
}

void __wrap_free(void *block)
{
    void *evicted[KEPT_MAX];
    uint32_t n_evicted = 0;
    if (!block)
        return;
    take_lock();
    struct known *at = n_known ? find(block) : NULL;
    if (at && at->is_kept) {
        fprintf(stderr, "a block of %zu bytes is freed twice\n", at->n);
        abort();
    }
    if (at) {
        poison(at, block);
        at->is_kept = true;
        n_evicted = evict(evicted);
        kept[n_kept].at = block;
        kept[n_kept++].room = at->room;
        n_kept_bytes += at->room;
    }
    leave_lock();
    if (!at)
        __real_free(block);
    for (uint32_t i = 0; i < n_evicted; i++)
        __real_free(evicted[i]);
}

void *__wrap_realloc(void *block, size_t n)
{
    size_t n_old = 0;
    if (!block)
        return __wrap_malloc(n);
    take_lock();
    struct known *at = n_known ? find(block) : NULL;
    if (at)
        n_old = at->n;
    leave_lock();
    if (!at && n < BIG_BYTES)
        return __real_realloc(block, n);
    if (!at)
        n_old = __sanitizer_get_allocated_size(block);
    if (!n) {
        __wrap_free(block);
        return NULL;
    }
    void *other = __wrap_malloc(n);
    if (!other)
        return NULL;
    memcpy(other, block, n < n_old ? n : n_old);
    __wrap_free(block);
    return other;
}
