/* grow.h - room for more items in an array, for callers with a void pointer; others take array.h.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_GROW_H
#define STROBE_BASE_GROW_H

#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/err.h"

/* Make *items, an owned array with room for *room, hold `want`: half as many again, so that adding one by one costs little. */
static inline enum strobe_err strobe_grow(void **items, uint32_t *room, uint64_t want,
                                          size_t item_bytes)
{
    enum strobe_err err = STROBE_OK;
    uint64_t size = *room;
    if (want <= size)
        return STROBE_OK;
    void *more = strobe_array_grow(*items, &size, want, UINT32_MAX, item_bytes, 0, &err);
    if (!more)
        return STROBE_ERR_NOMEM;
    *items = more;
    *room = (uint32_t)size;
    return STROBE_OK;
}

#endif
