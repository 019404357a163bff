/* python.c - CPython's allocators: its three domains (raw, mem, object) as pools of their own.
 *
 * The interpreter is asked for what it uses, and each call is passed on to that: nothing is allocated in another way. Objects come out of
 * arenas and large ones out of malloc; both are silent meanwhile, so that no byte counts twice. It is done before the interpreter
 * initialises itself, so every block is seen from its begin. An interpreter that is loaded later is seen by its malloc alone.
 *
 * Where every block is recorded, reading the clock would be half of what an event costs. So events of the domains mem and object, which the
 * interpreter's lock puts in an order, share a reading: each has the tick after the one before, until the kernel's own coarse clock goes
 * on (a word of the page that the vdso reads; every 1 to 10 ms), or the thread has emitted something else. So an event is at most that
 * much too early and never before what its thread did before, and the order of all is theirs.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "client/client.h"
#include "preload/note.h"

#define FRAME __builtin_frame_address(0)

/* As Python/C has it, since 3.5. */
struct allocator {
    void *context;
    void *(*malloc)(void *, size_t);
    void *(*calloc)(void *, size_t, size_t);
    void *(*realloc)(void *, void *, size_t);
    void (*free)(void *, void *);
};

enum { N_DOMAINS = 3, PAGE = 4096 };

static struct domain {
    struct allocator next; /* what was there */
    struct strobe_name pool;
    bool is_locked; /* callers have the interpreter's lock, and share readings of the clock */
} domains[N_DOMAINS] = {
    {.pool = {0, "python raw"}}, {.pool = {0, "python mem"}}, {.pool = {0, "python object"}}};

/* ---- ticks ---- */

/* Under the interpreter's lock. */
static struct {
    const volatile uint64_t *coarse; /* borrowed: the kernel's word; NULL: not found */
    uint64_t seen;                   /* it, before a clock was read; 0: read it again */
    uint64_t last;                   /* that was given */
} ticks;

/* Where the thread's ring was behind its last event from here: it has emitted nothing else if it still is. */
static STROBE_PRELOAD_TLS uint64_t cursor_behind;

static uint64_t coarse_now(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_nsec;
}

/* Whether a word is the kernel's coarse clock: it is before and after asking, unless that just went on. */
static bool is_coarse(const volatile uint64_t *word)
{
    for (int i = 0; i < 3; i++) {
        uint64_t before = *word, now = coarse_now();
        if (before == now && now)
            return true;
        if (*word == before)
            return false;
    }
    return false;
}

/* The first page of [vvar], which lies before the vdso. What the kernel has there is its own business: the word is known by what it says. */
static const volatile uint64_t *find_coarse(void)
{
    static char room[PAGE];
    struct strobe_preload_mapping mapped;
    uint64_t below = getauxval(AT_SYSINFO_EHDR);
    for (int i = 0; i < 4 && below > PAGE; i++, below = mapped.start) {
        if (!strobe_preload_find_mapping(below - 1, room, sizeof room, &mapped))
            return NULL;
        if (mapped.n_path != 6 || memcmp(mapped.path, "[vvar]", 6))
            continue;
        const volatile uint64_t *words = (const volatile uint64_t *)mapped.start;
        for (uint32_t at = 0; at < PAGE / sizeof *words; at++)
            if (is_coarse(&words[at]))
                return &words[at];
    }
    return NULL;
}

/* In a time namespace of its own the page is another. */
void strobe_preload_python_forked(void)
{
    if (ticks.coarse && !is_coarse(ticks.coarse))
        ticks.coarse = NULL;
}

/* The tick of an event: 0: it is to have one of its own. */
static inline uint64_t tick_of(const struct domain *domain)
{
    if (!domain->is_locked || !ticks.coarse)
        return 0;
    uint64_t coarse = *ticks.coarse;
    if (coarse == ticks.seen && strobe_hot_now->cursor == cursor_behind)
        return ++ticks.last;
    ticks.seen = coarse;
    ticks.last = strobe_ticks();
    return ticks.last;
}

static inline void said(const struct domain *domain, bool is_at_tick)
{
    if (domain->is_locked)
        cursor_behind = is_at_tick ? strobe_hot_now->cursor : 0;
}

/* ---- calls ---- */

/* Inside of the library since `left`, by enter. */
static inline void *made(struct domain *domain, const void *frame, void *at, size_t n, int64_t left)
{
    if (!strobe_preload_wants.memory_all) {
        strobe_preload_leave(left);
        return strobe_preload_made(&domain->pool, frame, at, n);
    }
    if (strobe_preload_busy == 1 && at && strobe_preload_records())
        said(domain,
             strobe_preload_emit_block(&domain->pool, frame, at, n, 0, NULL, tick_of(domain)));
    strobe_preload_leave(left);
    return at;
}

/* The same, before the block is given back. */
static inline int64_t ends(struct domain *domain, const void *at)
{
    if (!strobe_preload_wants.memory_all) {
        strobe_preload_ends(&domain->pool, at);
        return strobe_preload_enter();
    }
    int64_t left = strobe_preload_enter();
    if (strobe_preload_busy == 1 && at && strobe_preload_records())
        said(domain, strobe_preload_emit_free(&domain->pool, at, tick_of(domain)));
    return left;
}

static void *python_malloc(void *context, size_t n)
{
    struct domain *domain = context;
    int64_t left = strobe_preload_enter();
    void *at = domain->next.malloc(domain->next.context, n);
    return made(domain, FRAME, at, n, left);
}

static void *python_calloc(void *context, size_t n, size_t size)
{
    struct domain *domain = context;
    int64_t left = strobe_preload_enter();
    void *at = domain->next.calloc(domain->next.context, n, size);
    return made(domain, FRAME, at, n * size, left);
}

/* The old block ends before it can be another thread's; where it stays, because there is no memory, the account has it no more. */
static void *python_realloc(void *context, void *old, size_t n)
{
    struct domain *domain = context;
    int64_t left = ends(domain, old);
    void *at = domain->next.realloc(domain->next.context, old, n);
    return made(domain, FRAME, at, n, left);
}

static void python_free(void *context, void *at)
{
    struct domain *domain = context;
    int64_t left = ends(domain, at);
    domain->next.free(domain->next.context, at);
    strobe_preload_leave(left);
}

void strobe_preload_python(void)
{
    void (*get)(int, struct allocator *) = dlsym(RTLD_DEFAULT, "PyMem_GetAllocator");
    void (*set)(int, struct allocator *) = dlsym(RTLD_DEFAULT, "PyMem_SetAllocator");
    if (!get || !set)
        return;
    bool has_lock =
        !dlsym(RTLD_DEFAULT, "_Py_MergeZeroLocalRefcount"); /* only builds without have it */
    if (strobe_preload_wants.memory_all && has_lock)
        ticks.coarse = find_coarse();
    for (int i = 0; i < N_DOMAINS; i++) {
        struct allocator ours = {&domains[i], python_malloc, python_calloc, python_realloc,
                                 python_free};
        get(i, &domains[i].next);
        domains[i].is_locked = i > 0 && ticks.coarse;
        if (domains[i].next.malloc && domains[i].next.malloc != python_malloc)
            set(i, &ours);
    }
}
