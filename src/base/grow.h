/* grow.h - room for more items in an array.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_GROW_H
#define STROBE_BASE_GROW_H

#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"

/* Make *items, an owned array with room for *room, hold `want`: half as many again, so that adding one by one costs little. */
static inline enum strobe_err strobe_grow(void **items, uint32_t *room, uint64_t want, size_t item_bytes)
{
    if (want <= *room)
        return STROBE_OK;
    uint64_t size = want + want / 2 + 64;
    void *more = size <= UINT32_MAX ? realloc(*items, size * item_bytes) : NULL;
    if (!more)
        return STROBE_ERR_NOMEM;
    *items = more;
    *room = (uint32_t)size;
    return STROBE_OK;
}

#endif
