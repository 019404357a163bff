/* python.c - CPython's allocators: its three domains (raw, mem, object) as pools of their own.
 *
 * The interpreter is asked for what it uses, and each call is passed on to that: nothing is allocated in another way. Objects come out of
 * arenas and large ones out of malloc; both are silent meanwhile, so that no byte counts twice. It is done before the interpreter
 * initialises itself, so every block is seen from its begin. An interpreter that is loaded later is seen by its malloc alone.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>

#include "client/client.h"
#include "preload/preload.h"

#define FRAME __builtin_frame_address(0)

/* As Python/C has it, since 3.5. */
struct allocator {
    void *context;
    void *(*malloc)(void *, size_t);
    void *(*calloc)(void *, size_t, size_t);
    void *(*realloc)(void *, void *, size_t);
    void (*free)(void *, void *);
};

enum { N_DOMAINS = 3 };

static struct domain {
    struct allocator next; /* what was there */
    struct strobe_name pool;
} domains[N_DOMAINS] = {
    {.pool = {0, "python raw"}}, {.pool = {0, "python mem"}}, {.pool = {0, "python object"}}};

static void *python_malloc(void *context, size_t n)
{
    struct domain *domain = context;
    int64_t left = strobe_preload_enter();
    void *at = domain->next.malloc(domain->next.context, n);
    strobe_preload_leave(left);
    return strobe_preload_made(&domain->pool, FRAME, at, n);
}

static void *python_calloc(void *context, size_t n, size_t size)
{
    struct domain *domain = context;
    int64_t left = strobe_preload_enter();
    void *at = domain->next.calloc(domain->next.context, n, size);
    strobe_preload_leave(left);
    return strobe_preload_made(&domain->pool, FRAME, at, n * size);
}

/* The old block ends before it can be another thread's; where it stays, because there is no memory, the account has it no more. */
static void *python_realloc(void *context, void *old, size_t n)
{
    struct domain *domain = context;
    strobe_preload_ends(&domain->pool, old);
    int64_t left = strobe_preload_enter();
    void *at = domain->next.realloc(domain->next.context, old, n);
    strobe_preload_leave(left);
    return strobe_preload_made(&domain->pool, FRAME, at, n);
}

static void python_free(void *context, void *at)
{
    struct domain *domain = context;
    strobe_preload_ends(&domain->pool, at);
    int64_t left = strobe_preload_enter();
    domain->next.free(domain->next.context, at);
    strobe_preload_leave(left);
}

void strobe_preload_python(void)
{
    void (*get)(int, struct allocator *) = dlsym(RTLD_DEFAULT, "PyMem_GetAllocator");
    void (*set)(int, struct allocator *) = dlsym(RTLD_DEFAULT, "PyMem_SetAllocator");
    if (!get || !set)
        return;
    for (int i = 0; i < N_DOMAINS; i++) {
        struct allocator ours = {&domains[i], python_malloc, python_calloc, python_realloc,
                                 python_free};
        get(i, &domains[i].next);
        if (domains[i].next.malloc && domains[i].next.malloc != python_malloc)
            set(i, &ours);
    }
}
