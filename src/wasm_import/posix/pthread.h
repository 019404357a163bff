/* pthread.h - for the page's module, which has one thread: locks are always free, and a thread can't be made. Whoever starts threads here goes
 * on without them.  SPDX-License-Identifier: MIT */
#ifndef STROBE_WASM_IMPORT_PTHREAD_H
#define STROBE_WASM_IMPORT_PTHREAD_H

#include <errno.h>
#include <string.h>
#include <sys/types.h> /* has the types */

#define STROBE_ALWAYS(name, type)             \
    static inline int pthread_##name(type *x) \
    {                                         \
        (void)x;                              \
        return 0;                             \
    }
STROBE_ALWAYS(mutex_lock, pthread_mutex_t)
STROBE_ALWAYS(mutex_unlock, pthread_mutex_t)
STROBE_ALWAYS(mutex_destroy, pthread_mutex_t)
STROBE_ALWAYS(cond_signal, pthread_cond_t)
STROBE_ALWAYS(cond_broadcast, pthread_cond_t)
STROBE_ALWAYS(cond_destroy, pthread_cond_t)
#undef STROBE_ALWAYS

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const void *how)
{
    (void)how;
    memset(mutex, 0, sizeof *mutex);
    return 0;
}

static inline int pthread_cond_init(pthread_cond_t *cond, const void *how)
{
    (void)how;
    memset(cond, 0, sizeof *cond);
    return 0;
}

/* Nobody is there who could signal it: a caller that would wait is a defect, and ends with a trap. */
static inline int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    (void)cond;
    (void)mutex;
    __builtin_trap();
}

static inline int pthread_create(pthread_t *thread, const void *how, void *(*run)(void *),
                                 void *context)
{
    (void)thread;
    (void)how;
    (void)run;
    (void)context;
    return EAGAIN;
}

static inline int pthread_join(pthread_t thread, void **result)
{
    (void)thread;
    (void)result;
    return ESRCH;
}

#endif
