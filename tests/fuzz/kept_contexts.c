/* kept_contexts.c - zstd's contexts, kept from run to run: to make one takes longer than to use it for a block of some bytes. tests/fuzz/run leads their making
 * and freeing through here (--wrap); `make test` does not. A context is as new when it is handed out again. One in sixteen is freed all the same, so that its use
 * after that is seen: poisoned ones would hide what they own from the search for leaks.  SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <zstd.h>

enum { KEPT_MAX = 16, FREED_EVERY = 16 };

ZSTD_DCtx *__real_ZSTD_createDCtx(void);
ZSTD_CCtx *__real_ZSTD_createCCtx(void);
size_t __real_ZSTD_freeDCtx(ZSTD_DCtx *context);
size_t __real_ZSTD_freeCCtx(ZSTD_CCtx *context);
ZSTD_DCtx *__wrap_ZSTD_createDCtx(void);
ZSTD_CCtx *__wrap_ZSTD_createCCtx(void);
size_t __wrap_ZSTD_freeDCtx(ZSTD_DCtx *context);
size_t __wrap_ZSTD_freeCCtx(ZSTD_CCtx *context);

static struct kept {
    void *at[KEPT_MAX]; /* owned */
    int n;
    unsigned n_freed;
} decoders, encoders;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *take(struct kept *kept)
{
    pthread_mutex_lock(&lock);
    void *context = kept->n ? kept->at[--kept->n] : NULL;
    pthread_mutex_unlock(&lock);
    return context;
}

static int keep(struct kept *kept, void *context)
{
    pthread_mutex_lock(&lock);
    int is_kept = context && kept->n < KEPT_MAX && ++kept->n_freed % FREED_EVERY;
    if (is_kept)
        kept->at[kept->n++] = context;
    pthread_mutex_unlock(&lock);
    return is_kept;
}

ZSTD_DCtx *__wrap_ZSTD_createDCtx(void)
{
    ZSTD_DCtx *context = take(&decoders);
    return context ? context : __real_ZSTD_createDCtx();
}

size_t __wrap_ZSTD_freeDCtx(ZSTD_DCtx *context)
{
    if (context)
        ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters);
    return keep(&decoders, context) ? 0 : __real_ZSTD_freeDCtx(context);
}

ZSTD_CCtx *__wrap_ZSTD_createCCtx(void)
{
    ZSTD_CCtx *context = take(&encoders);
    return context ? context : __real_ZSTD_createCCtx();
}

size_t __wrap_ZSTD_freeCCtx(ZSTD_CCtx *context)
{
    if (context)
        ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    return keep(&encoders, context) ? 0 : __real_ZSTD_freeCCtx(context);
}
