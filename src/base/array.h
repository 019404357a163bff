/* array.h - arrays that grow. An array is three fields of its owner: a pointer, a count and, where
 * many items come, the room. The macros keep the pointer's type and fit any unsigned type of room;
 * sizes are checked on machines with a size_t of 32 bits too.
 *
 *   struct zone *zones;       // owned: n_zones entries, freed with free()
 *   uint32_t n_zones, room;
 *   struct zone *zone = STROBE_ARRAY_PUSH(list->zones, list->n_zones, list->room);
 *   if (!zone)
 *       return STROBE_ERR_NOMEM;
 *
 * An argument may be evaluated more than once: give lvalues without side effects.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_ARRAY_H
#define STROBE_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/err.h"

/* The array with room for `want` items or half as many again, moved if need be; *room follows, and
 * never goes over `max`. NULL, with the old array and *room as they were: *err is LIMIT (want is more
 * than max) or NOMEM. With `zeroed` all items past the old room are zero. */
void *strobe_array_grow(void *items, uint64_t *room, uint64_t want, uint64_t max, size_t item_bytes,
                        int zeroed, enum strobe_err *err);

#define STROBE_ARRAY_GROW_(items, room, want, max, zeroed)                                      \
    __extension__({                                                                             \
        enum strobe_err strobe_err_ = STROBE_OK;                                                \
        uint64_t strobe_room_ = (room), strobe_want_ = (want);                                  \
        if (strobe_want_ > strobe_room_) {                                                      \
            void *strobe_more_ = strobe_array_grow((items), &strobe_room_, strobe_want_, (max), \
                                                   sizeof *(items), (zeroed), &strobe_err_);    \
            if (strobe_more_) {                                                                 \
                (items) = strobe_more_;                                                         \
                (room) = (__typeof__(room))strobe_room_;                                        \
            }                                                                                   \
        }                                                                                       \
        strobe_err_;                                                                            \
    })

/* The most that a room of this type can count. */
#define STROBE_ARRAY_MAX_(room) ((uint64_t)(__typeof__(room))-1)

/* Make room for `want` items in all. OK, or NOMEM or LIMIT with the array as it was. */
#define STROBE_ARRAY_RESERVE(items, room, want) \
    STROBE_ARRAY_GROW_(items, room, want, STROBE_ARRAY_MAX_(room), 0)

/* The same, with `most` items at the most: LIMIT beyond. */
#define STROBE_ARRAY_RESERVE_MAX(items, room, want, most) \
    STROBE_ARRAY_GROW_(items, room, want, most, 0)

/* Make room for the item of index `i`; all new items are zero. For arrays without a count. */
#define STROBE_ARRAY_REACH(items, room, i) \
    STROBE_ARRAY_GROW_(items, room, (uint64_t)(i) + 1, STROBE_ARRAY_MAX_(room), 1)

/* A new last item, not initialised, counted in `n`. NULL without memory. */
#define STROBE_ARRAY_PUSH(items, n, room) \
    (STROBE_ARRAY_RESERVE(items, room, (uint64_t)(n) + 1) ? NULL : &(items)[(n)++])

/* Room for one more item in an array that stores no room: it is full at 0 and at every power of two, so the count tells. Such an
 * array must only grow one by one, and by these two macros. OK or NOMEM. */
#define STROBE_ARRAY_RESERVE_TIGHT(items, n)                                                  \
    __extension__({                                                                           \
        uint64_t strobe_n_ = (n);                                                             \
        void *strobe_more_ = (items);                                                         \
        if (!(strobe_n_ & (strobe_n_ - 1)))                                                   \
            strobe_more_ =                                                                    \
                strobe_array_resize((items), strobe_n_ ? 2 * strobe_n_ : 1, sizeof *(items)); \
        if (strobe_more_)                                                                     \
            (items) = strobe_more_;                                                           \
        strobe_more_ ? STROBE_OK : STROBE_ERR_NOMEM;                                          \
    })

/* A new last item of such an array, not initialised, counted in `n`. NULL without memory. */
#define STROBE_ARRAY_PUSH_TIGHT(items, n) \
    (STROBE_ARRAY_RESERVE_TIGHT(items, n) ? NULL : &(items)[(n)++])

/* Room for `want` items in a buffer whose content is of no use any more: it is not copied. OK, or
 * NOMEM with no room left. */
#define STROBE_ARRAY_RENEW(items, room, want)                                                    \
    __extension__({                                                                              \
        uint64_t strobe_room_ = (room), strobe_want_ = (want);                                   \
        if (strobe_want_ > strobe_room_) {                                                       \
            (items) = strobe_array_renew((items), &strobe_room_, strobe_want_, sizeof *(items)); \
            (room) = (__typeof__(room))strobe_room_;                                             \
        }                                                                                        \
        strobe_want_ > strobe_room_ ? STROBE_ERR_NOMEM : STROBE_OK;                              \
    })

/* In what is sorted: the first index i from `from` to below `to` for which `is_before`, an expression of i, does not hold; `to`:
 * it holds for all. `i` is the name of a variable that the macro makes. */
#define STROBE_ARRAY_BISECT(from, to, i, is_before)                      \
    __extension__({                                                      \
        uint64_t strobe_low_ = (from), strobe_high_ = (to);              \
        while (strobe_low_ < strobe_high_) {                             \
            uint64_t i = strobe_low_ + (strobe_high_ - strobe_low_) / 2; \
            if (is_before)                                               \
                strobe_low_ = i + 1;                                     \
            else                                                         \
                strobe_high_ = i;                                        \
        }                                                                \
        strobe_low_;                                                     \
    })

/* Free `items`, allocate `want` and an eighth more. NULL without memory, *room is 0 then. */
void *strobe_array_renew(void *items, uint64_t *room, uint64_t want, size_t item_bytes);

/* realloc() for `n` items of `item_bytes`, NULL where their product does not fit a size_t. */
void *strobe_array_resize(void *items, uint64_t n, size_t item_bytes);

#endif
