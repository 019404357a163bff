/* array.c - the one place where arrays grow: by half, so that adding one by one costs little.
 * SPDX-License-Identifier: MIT */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

void *strobe_array_resize(void *items, uint64_t n, size_t item_bytes)
{
    STROBE_ASSERT(n && item_bytes);
    /* PTRDIFF_MAX, not SIZE_MAX: no object may be larger, and malloc of some C libraries does not look */
    return n <= (uint64_t)PTRDIFF_MAX / item_bytes ? realloc(items, (size_t)n * item_bytes) : NULL;
}

void *strobe_array_renew(void *items, uint64_t *room, uint64_t want, size_t item_bytes)
{
    STROBE_ASSERT(want > *room);
    uint64_t size = want + want / 8;
    free(items);
    void *made = strobe_array_resize(NULL, size, item_bytes);
    if (!made)
        made = strobe_array_resize(NULL, size = want, item_bytes);
    *room = made ? size : 0;
    return made;
}

void *strobe_array_grow(void *items, uint64_t *room, uint64_t want, uint64_t max, size_t item_bytes,
                        int zeroed, enum strobe_err *err)
{
    STROBE_ASSERT(want > *room);
    STROBE_ASSERT(items || !*room);
    uint64_t old = *room, more = want / 2 + 16;
    if (want > max) {
        *err = STROBE_ERR_LIMIT;
        return NULL;
    }
    uint64_t size = more < max - want ? want + more : max;
    char *grown = strobe_array_resize(items, size, item_bytes);
    if (!grown && size > want) /* a little may fit where much does not */
        grown = strobe_array_resize(items, size = want, item_bytes);
    if (!grown) {
        *err = STROBE_ERR_NOMEM;
        return NULL;
    }
    if (zeroed)
        memset(grown + (size_t)old * item_bytes, 0, (size_t)(size - old) * item_bytes);
    *room = size;
    *err = STROBE_OK;
    return grown;
}
