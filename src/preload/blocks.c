/* blocks.c - malloc and its family, mmap and its family: each call does what it does without us, and is noted beside it.
 *
 * A free is noted before the block is given back, an allocation after it is there: whoever gets the address next comes later in time. A
 * realloc is one event. By default blocks are sampled by bytes: a thread draws how many bytes to the next sample (an exponential
 * distribution, so that every byte has the same chance), and a table knows the addresses of sampled blocks, with a byte per hash in front
 * of it that most frees ask alone.
 *
 * What dlsym allocates while the functions behind ours are looked for comes from a buffer of our own.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/note.h"

#define EXPORTED STROBE_PRELOAD_EXPORTED
#define FRAME    __builtin_frame_address(0)
#define RARE(x)  __builtin_expect(!!(x), 0)

/* ---- the functions behind ours ---- */

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*usable)(void *);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    void *(*mremap)(void *, size_t, size_t, int, ...);
} next;
static int is_ready; /* all are known */

/* Blocks from before that; they are never given back. */
static char early[64 << 10] __attribute__((aligned(64)));
static size_t n_early;

static bool is_early(const void *at)
{
    return (const char *)at >= early && (const char *)at < early + sizeof early;
}

static void *early_block(size_t n, size_t alignment)
{
    size_t room = ((n + 15) & ~(size_t)15) + 16 + alignment;
    size_t from = __atomic_fetch_add(&n_early, room, __ATOMIC_RELAXED);
    if (from + room > sizeof early)
        return NULL;
    uintptr_t at = ((uintptr_t)early + from + 16 + alignment - 1) & ~(uintptr_t)(alignment - 1);
    memcpy((void *)(at - sizeof n), &n, sizeof n);
    return (void *)at;
}

static size_t early_size(const void *at)
{
    size_t n;
    memcpy(&n, (const char *)at - sizeof n, sizeof n);
    return n;
}

/* False: they are being looked for right now, by this thread. */
static bool find_next(void)
{
    static STROBE_PRELOAD_TLS int is_looking;
    if (is_looking)
        return false;
    is_looking = 1;
    next.calloc = strobe_preload_next("calloc");
    next.realloc = strobe_preload_next("realloc");
    next.free = strobe_preload_next("free");
    next.posix_memalign = strobe_preload_next("posix_memalign");
    next.aligned_alloc = strobe_preload_next("aligned_alloc");
    next.memalign = strobe_preload_next("memalign");
    next.valloc = strobe_preload_next("valloc");
    next.pvalloc = strobe_preload_next("pvalloc");
    next.usable = strobe_preload_next("malloc_usable_size");
    next.mmap = strobe_preload_next("mmap");
    next.munmap = strobe_preload_next("munmap");
    next.mremap = strobe_preload_next("mremap");
    next.malloc = strobe_preload_next("malloc");
    __atomic_store_n(&is_ready, 1, __ATOMIC_RELEASE);
    is_looking = 0;
    return true;
}

static inline bool ready(void)
{
    return !RARE(!__atomic_load_n(&is_ready, __ATOMIC_ACQUIRE)) || find_next();
}

/* ---- blocks that were sampled ---- */

enum {
    LINES = 1 << 17, /* of the table */
    LINE = 8,        /* addresses that may live there at once */
    MARKS = 1 << 16,
};

static uint8_t marks[MARKS]; /* sampled blocks by hash, so many; 255 stays */
static uint64_t *live;       /* owned: LINES * LINE addresses, 0: free */

STROBE_PRELOAD_TLS struct strobe_preload_dice strobe_preload_dice;

static uint64_t hash_of(const void *at)
{
    return ((uintptr_t)at >> 4) * 0x9e3779b97f4a7c15u;
}

/* False: no place is left for it; it is no sample then. */
static bool add_live(const void *at)
{
    uint64_t hash = hash_of(at);
    if (!live) {
        uint64_t *table = strobe_preload_map(sizeof *live * LINES * LINE), *none = NULL;
        if (!table)
            return false;
        __atomic_compare_exchange_n(&live, &none, table, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
    uint64_t *line = live + (hash >> 16 & (LINES - 1)) * LINE;
    for (int i = 0; i < LINE; i++) {
        uint64_t empty = 0;
        if (!__atomic_compare_exchange_n(&line[i], &empty, (uintptr_t)at, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED))
            continue;
        uint8_t *mark = &marks[hash >> 48];
        if (__atomic_load_n(mark, __ATOMIC_RELAXED) < 255)
            __atomic_add_fetch(mark, 1, __ATOMIC_RELAXED);
        return true;
    }
    return false;
}

static bool take_live(const void *at)
{
    uint64_t hash = hash_of(at);
    uint64_t *line = live + (hash >> 16 & (LINES - 1)) * LINE;
    for (int i = 0; i < LINE; i++) {
        uint64_t mine = (uintptr_t)at;
        if (__atomic_load_n(&line[i], __ATOMIC_RELAXED) != mine ||
            !__atomic_compare_exchange_n(&line[i], &mine, 0, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED))
            continue;
        uint8_t *mark = &marks[hash >> 48];
        if (__atomic_load_n(mark, __ATOMIC_RELAXED) < 255)
            __atomic_sub_fetch(mark, 1, __ATOMIC_RELAXED);
        return true;
    }
    return false;
}

static inline bool is_marked(const void *at)
{
    return RARE(__atomic_load_n(&marks[hash_of(at) >> 48], __ATOMIC_RELAXED));
}

void strobe_preload_memory_forked(void)
{
    memset(marks, 0, sizeof marks);
    strobe_preload_wipe(live, sizeof *live * LINES * LINE);
    strobe_preload_python_forked();
}

/* ---- chance ---- */

/* The natural logarithm of a number in (0, 1]. */
static double log_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    double exponent = (double)(int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
    memcpy(&x, &bits, sizeof x);
    double z = (x - 1) / (x + 1), q = z * z;
    return exponent * 0.6931471805599453 +
           2 * z * (1 + q * (1. / 3 + q * (1. / 5 + q * (1. / 7 + q * (1. / 9 + q / 11)))));
}

/* 1 - e^-x */
static double chance_of(double x)
{
    if (x > 30)
        return 1;
    if (x < 0.01)
        return x * (1 - x / 2 * (1 - x / 3));
    double small = x / 1024, e = 1 - small * (1 - small / 2 * (1 - small / 3 * (1 - small / 4)));
    for (int i = 0; i < 10; i++)
        e *= e;
    return 1 - e;
}

static int64_t draw(void)
{
    if (!strobe_preload_dice.random)
        strobe_preload_dice.random = strobe_ticks() ^ (uintptr_t)&strobe_preload_dice;
    strobe_preload_dice.random ^= strobe_preload_dice.random << 13;
    strobe_preload_dice.random ^= strobe_preload_dice.random >> 7;
    strobe_preload_dice.random ^= strobe_preload_dice.random << 17;
    double uniform = ((double)(strobe_preload_dice.random >> 11) + 1) / 9007199254740992.0;
    return 1 + (int64_t)(-log_of(uniform) * (double)strobe_preload_wants.sample_bytes);
}

/* ---- events ---- */

static struct strobe_name heap_name = {0, "malloc"}, map_name = {0, "mmap"};

static inline void emit_block(struct strobe_name *pool, const void *frame, const void *at,
                              size_t size, uint64_t weight, const void *old)
{
    strobe_preload_emit_block(pool, frame, at, size, weight, old, 0);
}

static inline void emit_free(struct strobe_name *pool, const void *at)
{
    strobe_preload_emit_free(pool, at, 0);
}

/* A thread drew its number: this block has the byte, or the first draw of the thread is yet to come. */
static __attribute__((noinline)) void sample_block(struct strobe_name *pool, const void *frame,
                                                   const void *at, size_t size)
{
    if (!strobe_preload_dice.random) {
        strobe_preload_dice.left = draw() - (int64_t)size;
        if (strobe_preload_dice.left > 0)
            return;
    }
    strobe_preload_dice.left = draw();
    double chance = chance_of((double)size / (double)strobe_preload_wants.sample_bytes);
    if (size && add_live(at))
        emit_block(pool, frame, at, size, (uint64_t)((double)size / chance + 0.5), NULL);
}

/* errno: what can change it keeps it, the client and stack.c; here it would cost more than the rest. */
static __attribute__((noinline)) void note_block(struct strobe_name *pool, const void *frame,
                                                 const void *at, size_t size)
{
    if (strobe_preload_busy++ == 0 && strobe_preload_records()) {
        if (strobe_preload_wants.memory_all)
            emit_block(pool, frame, at, size, 0, NULL);
        else
            sample_block(pool, frame, at, size);
    }
    strobe_preload_busy--;
}

/* What a call has made. */
static inline void *made_in(struct strobe_name *pool, const void *frame, void *at, size_t size)
{
    if (RARE(!at) || !strobe_preload_wants.memory)
        return at;
    if (!strobe_preload_wants.memory_all && (strobe_preload_dice.left -= (int64_t)size) > 0)
        return at;
    note_block(pool, frame, at, size);
    return at;
}

static inline void *made(const void *frame, void *at, size_t size)
{
    return made_in(&heap_name, frame, at, size);
}

static __attribute__((noinline)) void note_free(struct strobe_name *pool, const void *at)
{
    if (strobe_preload_busy++ == 0 && strobe_preload_records() &&
        (strobe_preload_wants.memory_all || take_live(at)))
        emit_free(pool, at);
    strobe_preload_busy--;
}

static inline void ends_in(struct strobe_name *pool, const void *at)
{
    if (at && strobe_preload_wants.memory && (strobe_preload_wants.memory_all || is_marked(at)))
        note_free(pool, at);
}

static inline void ends(const void *at)
{
    ends_in(&heap_name, at);
}

/* ---- for allocators that stand before malloc ---- */

void *strobe_preload_made(struct strobe_name *pool, const void *frame, void *at, size_t size)
{
    return made_in(pool, frame, at, size);
}

void strobe_preload_ends(struct strobe_name *pool, const void *at)
{
    ends_in(pool, at);
}

/* ---- the family of malloc ---- */

/* Ours by another name, whoever else defines a malloc. */
static void *own_malloc(size_t n) __attribute__((alias("malloc"), copy(malloc)));

bool strobe_preload_is_malloc(const void *found)
{
    return found == (const void *)own_malloc;
}

EXPORTED void *malloc(size_t n)
{
    if (RARE(!ready()))
        return early_block(n, 16);
    return made(FRAME, next.malloc(n), n);
}

EXPORTED void *calloc(size_t n, size_t size)
{
    size_t all;
    if (RARE(!ready()))
        return __builtin_mul_overflow(n, size, &all) ? NULL : early_block(all, 16);
    return made(FRAME, next.calloc(n, size), n * size);
}

EXPORTED void free(void *at)
{
    if (RARE(!ready()) || RARE(is_early(at)))
        return;
    ends(at);
    next.free(at);
}

/* A block that was allocated, moved or not. */
static __attribute__((noinline)) void note_move(const void *frame, const void *old, const void *at,
                                                size_t size)
{
    int saved = errno;
    if (strobe_preload_busy++ == 0 && strobe_preload_records())
        emit_block(&heap_name, frame, at, size, 0, old);
    strobe_preload_busy--;
    errno = saved;
}

static void *move_early(const void *frame, void *old, size_t n)
{
    void *at = made(frame, next.malloc(n), n);
    size_t had = early_size(old);
    if (at)
        memcpy(at, old, had < n ? had : n);
    return at;
}

static void *resize(const void *frame, void *old, size_t n)
{
    if (RARE(is_early(old)))
        return move_early(frame, old, n);
    if (!strobe_preload_wants.memory)
        return next.realloc(old, n);
    if (!strobe_preload_wants.memory_all || !n)
        ends(old); /* of a sample: the new block has a chance of its own */
    if (!strobe_preload_wants.memory_all)
        return made(frame, next.realloc(old, n), n);
    void *at = next.realloc(old, n);
    if (at)
        note_move(frame, old && n ? old : NULL, at, n);
    return at;
}

EXPORTED void *realloc(void *old, size_t n)
{
    if (RARE(!ready()))
        return NULL;
    return resize(FRAME, old, n);
}

EXPORTED void *reallocarray(void *old, size_t n, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(n, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return ready() ? resize(FRAME, old, all) : NULL;
}

EXPORTED int posix_memalign(void **out, size_t alignment, size_t n)
{
    if (RARE(!ready()))
        return (*out = early_block(n, alignment < 16 ? 16 : alignment)) ? 0 : ENOMEM;
    int result = next.posix_memalign(out, alignment, n);
    if (!result)
        made(FRAME, *out, n);
    return result;
}

EXPORTED void *aligned_alloc(size_t alignment, size_t n)
{
    return ready() ? made(FRAME, next.aligned_alloc(alignment, n), n) : early_block(n, alignment);
}

EXPORTED void *memalign(size_t alignment, size_t n)
{
    return ready() ? made(FRAME, next.memalign(alignment, n), n) : early_block(n, alignment);
}

EXPORTED void *valloc(size_t n)
{
    return ready() ? made(FRAME, next.valloc(n), n) : NULL;
}

EXPORTED void *pvalloc(size_t n)
{
    return ready() ? made(FRAME, next.pvalloc(n), n) : NULL;
}

EXPORTED size_t malloc_usable_size(void *at)
{
    if (!ready() || is_early(at))
        return at ? early_size(at) : 0;
    return next.usable ? next.usable(at) : 0;
}

/* ---- the family of mmap: memory of no file ---- */

/* A mapping; `old`: what it was moved from. What is not known there is a file's, or was made before the recording. */
static void note_map(const void *frame, void *at, size_t n, const void *old)
{
    int saved = errno;
    if (strobe_preload_busy++ == 0 && strobe_preload_records()) {
        bool is_ours = !old || (live && take_live(old));
        if (is_ours && add_live(at))
            emit_block(&map_name, frame, at, n, 0, old);
    }
    strobe_preload_busy--;
    errno = saved;
}

EXPORTED void *mmap(void *wanted, size_t n, int protection, int flags, int fd, off_t offset)
{
    if (RARE(!ready()) || RARE(!next.mmap))
        return (void *)syscall(SYS_mmap, wanted, n, protection, flags, fd, offset);
    void *at = next.mmap(wanted, n, protection, flags, fd, offset);
    if (strobe_preload_wants.memory && at != MAP_FAILED && flags & MAP_ANONYMOUS &&
        protection != PROT_NONE)
        note_map(FRAME, at, n, NULL);
    return at;
}

EXPORTED void *mmap64(void *wanted, size_t n, int protection, int flags, int fd, off_t offset)
    __attribute__((alias("mmap")));

EXPORTED int munmap(void *at, size_t n)
{
    int saved = errno;
    if (strobe_preload_wants.memory && is_marked(at)) {
        if (strobe_preload_busy++ == 0 && strobe_preload_records() && take_live(at))
            emit_free(&map_name, at);
        strobe_preload_busy--;
        errno = saved;
    }
    return ready() && next.munmap ? next.munmap(at, n) : (int)syscall(SYS_munmap, at, n);
}

EXPORTED void *mremap(void *old, size_t n_old, size_t n, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    void *wanted = flags & MREMAP_FIXED ? va_arg(args, void *) : NULL;
    va_end(args);
    if (!ready() || !next.mremap)
        return (void *)syscall(SYS_mremap, old, n_old, n, flags, wanted);
    void *at = next.mremap(old, n_old, n, flags, wanted);
    if (strobe_preload_wants.memory && at != MAP_FAILED)
        note_map(FRAME, at, n, n_old ? old : NULL);
    return at;
}
