/* frame.c - bounded zstd frames. A frame that is too good is followed by a skippable one of zeros, which zstd steps over, so
 * that the bound holds for every reader and nothing has to be stored uncompressed.  SPDX-License-Identifier: MIT */
#include "file/frame.h"

#include <string.h>
#include <zstd.h>

enum { SKIPPABLE_HEAD = 8 };
#define SKIPPABLE_MAGIC 0x184d2a50u

enum strobe_err strobe_frame_open(void **zstd, void *out, size_t n_raw, const void *stored,
                                  size_t n_stored)
{
    return strobe_frame_fits(n_raw, n_stored)
               ? strobe_frame_undo(zstd, out, n_raw, stored, n_stored)
               : STROBE_ERR_CORRUPT;
}

enum strobe_err strobe_frame_undo(void **zstd, void *out, size_t n_raw, const void *stored,
                                  size_t n_stored)
{
    if (!*zstd && !(*zstd = ZSTD_createDCtx()))
        return STROBE_ERR_NOMEM;
    size_t got = ZSTD_decompressDCtx(*zstd, out, n_raw, stored, n_stored);
    return ZSTD_isError(got) || got != n_raw ? STROBE_ERR_CORRUPT : STROBE_OK;
}

size_t strobe_frame_pad(uint8_t *end, size_t n_raw, size_t n_stored)
{
    if (strobe_frame_fits(n_raw, n_stored))
        return 0;
    size_t want = (n_raw - STROBE_FRAME_FLOOR + STROBE_FRAME_RATIO - 1) / STROBE_FRAME_RATIO;
    size_t n = want - n_stored < SKIPPABLE_HEAD ? SKIPPABLE_HEAD : want - n_stored;
    uint32_t head[] = {SKIPPABLE_MAGIC, (uint32_t)(n - SKIPPABLE_HEAD)};
    STROBE_ASSERT(n >= SKIPPABLE_HEAD && strobe_frame_fits(n_raw, n_stored + n));
    memcpy(end, head, sizeof head);
    memset(end + sizeof head, 0, n - sizeof head);
    return n;
}
