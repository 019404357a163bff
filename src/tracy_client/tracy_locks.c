/* tracy_locks.c - libTracyClient's functions for locks. A lock's context is a struct strobe_lock on the heap: made and
 * ended by the program, which is not done in signal handlers. Every function takes NULL: a lock that found no memory
 * is not traced.  SPDX-License-Identifier: MIT */
#include "tracy_client/tracy_client.h"

#include <stdlib.h>

struct __tracy_lockable_context_data {
    struct strobe_lock lock;
};
struct __tracy_shared_lockable_context_data {
    struct strobe_lock lock;
};

static void *announce(const struct ___tracy_source_location_data *srcloc, int is_shared)
{
    struct strobe_lock *lock = malloc(sizeof *lock);
    if (lock)
        strobe_lock_open(lock, strobe_tracy_loc(srcloc), is_shared);
    return lock;
}

static void terminate(struct strobe_lock *lock)
{
    if (lock)
        strobe_lock_close(lock);
    free(lock);
}

static int32_t will_wait(struct strobe_lock *lock, int shared)
{
    if (lock)
        strobe_lock_will_wait(lock, shared);
    return lock != NULL;
}

static void obtained(struct strobe_lock *lock, int shared)
{
    if (lock)
        strobe_lock_obtained(lock, shared);
}

static void released(struct strobe_lock *lock, int shared)
{
    if (lock)
        strobe_lock_released(lock, shared);
}

static void mark(struct strobe_lock *lock, const struct ___tracy_source_location_data *srcloc)
{
    struct strobe_loc *loc = lock ? strobe_tracy_loc(srcloc) : NULL;
    if (loc)
        strobe_lock_mark(lock, loc);
}

static void rename_lock(struct strobe_lock *lock, const char *name, size_t n_bytes)
{
    if (lock)
        strobe_lock_rename(lock, name, n_bytes);
}

TracyCLockCtx ___tracy_announce_lockable_ctx(const struct ___tracy_source_location_data *srcloc)
{
    return announce(srcloc, 0);
}

TracyCSharedLockCtx
___tracy_announce_shared_lockable_ctx(const struct ___tracy_source_location_data *srcloc)
{
    return announce(srcloc, 1);
}

/* What both kinds of locks have. */
#define FOR_BOTH(which, type)                                                            \
    void ___tracy_terminate_##which##_ctx(type lock)                                     \
    {                                                                                    \
        terminate((struct strobe_lock *)lock);                                           \
    }                                                                                    \
    int32_t ___tracy_before_lock_##which##_ctx(type lock)                                \
    {                                                                                    \
        return will_wait((struct strobe_lock *)lock, 0);                                 \
    }                                                                                    \
    void ___tracy_after_lock_##which##_ctx(type lock)                                    \
    {                                                                                    \
        obtained((struct strobe_lock *)lock, 0);                                         \
    }                                                                                    \
    void ___tracy_after_unlock_##which##_ctx(type lock)                                  \
    {                                                                                    \
        released((struct strobe_lock *)lock, 0);                                         \
    }                                                                                    \
    void ___tracy_after_try_lock_##which##_ctx(type lock, int32_t acquired)              \
    {                                                                                    \
        if (acquired)                                                                    \
            obtained((struct strobe_lock *)lock, 0);                                     \
    }                                                                                    \
    void ___tracy_mark_##which##_ctx(type lock,                                          \
                                     const struct ___tracy_source_location_data *srcloc) \
    {                                                                                    \
        mark((struct strobe_lock *)lock, srcloc);                                        \
    }                                                                                    \
    void ___tracy_custom_name_##which##_ctx(type lock, const char *name, size_t nameSz)  \
    {                                                                                    \
        rename_lock((struct strobe_lock *)lock, name, nameSz);                           \
    }

FOR_BOTH(lockable, TracyCLockCtx)
FOR_BOTH(shared_lockable, TracyCSharedLockCtx)

int32_t ___tracy_before_lock_shared_shared_lockable_ctx(TracyCSharedLockCtx lock)
{
    return will_wait((struct strobe_lock *)lock, 1);
}

void ___tracy_after_lock_shared_shared_lockable_ctx(TracyCSharedLockCtx lock)
{
    obtained((struct strobe_lock *)lock, 1);
}

void ___tracy_after_unlock_shared_shared_lockable_ctx(TracyCSharedLockCtx lock)
{
    released((struct strobe_lock *)lock, 1);
}

void ___tracy_after_try_lock_shared_shared_lockable_ctx(TracyCSharedLockCtx lock, int32_t acquired)
{
    if (acquired)
        obtained((struct strobe_lock *)lock, 1);
}
