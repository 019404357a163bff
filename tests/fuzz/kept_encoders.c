/* kept_encoders.c - encoders of blocks, kept from run to run: one has 9 MB in twenty pieces, and an input of some bytes uses a page of each. tests/fuzz/run leads their making and freeing through
 * here (--wrap); `make test` does not. An encoder is used for block after block, so one that is reset is as new. One in sixteen is freed all the same, so that its use after
 * that is seen; so is one that failed, or whose part is open.  SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "file/encode.h"

enum { KEPT_MAX = 4, FREED_EVERY = 16 };

/* Weak: some targets have none. */
enum strobe_err __real_strobe_encode_init(struct strobe_encoder *enc) __attribute__((weak));
void __real_strobe_encode_free(struct strobe_encoder *enc) __attribute__((weak));
void strobe_encode_reset(struct strobe_encoder *enc) __attribute__((weak));
enum strobe_err __wrap_strobe_encode_init(struct strobe_encoder *enc);
void __wrap_strobe_encode_free(struct strobe_encoder *enc);

static struct strobe_encoder kept[KEPT_MAX]; /* owned: their pieces */
static int n_kept;
static unsigned n_freed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum strobe_err __wrap_strobe_encode_init(struct strobe_encoder *enc)
{
    pthread_mutex_lock(&lock);
    int is_kept = n_kept > 0;
    if (is_kept)
        *enc = kept[--n_kept];
    pthread_mutex_unlock(&lock);
    if (!is_kept)
        return __real_strobe_encode_init(enc);
    enc->n_lost = 0;
    strobe_encode_reset(enc);
    return STROBE_OK;
}

void __wrap_strobe_encode_free(struct strobe_encoder *enc)
{
    pthread_mutex_lock(&lock);
    int is_kept =
        enc->sym && !enc->track && !enc->failed && n_kept < KEPT_MAX && ++n_freed % FREED_EVERY;
    if (is_kept) {
        kept[n_kept++] = *enc;
        memset(enc, 0, sizeof *enc);
    }
    pthread_mutex_unlock(&lock);
    if (!is_kept)
        __real_strobe_encode_free(enc);
}
