/* spill.h - arrays that become large and are seldom looked at. A small one is in memory; from STROBE_SPILL_FROM bytes on it lies in a file
 * without a name (below $TMPDIR, /var/tmp or /tmp), mapped, and its pages can be given back to the system at any time: they come again when
 * they are looked at. Where no file can be had it stays in memory.
 *
 * Such an array is resized and freed by these functions alone. Thread: one at a time.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_SPILL_H
#define STROBE_BASE_SPILL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { STROBE_SPILL_FROM = 128 << 10 };

/* realloc() for them; `items` NULL: a new one. NULL without memory, the old one is as it was then. */
void *strobe_spill_resize(void *items, uint64_t n_bytes);
void strobe_spill_free(void *items); /* NULL is allowed */

/* Give back what of it is in memory. What it holds stays. */
void strobe_spill_rest(void *items);

/* Room for `want` items in all, and an eighth more. OK or NOMEM. */
#define STROBE_SPILL_RESERVE(items, room, want)                                          \
    __extension__({                                                                      \
        uint64_t strobe_want_ = (want), strobe_more_ = strobe_want_ + strobe_want_ / 8;  \
        void *strobe_made_ = (items);                                                    \
        if (strobe_want_ > (room)) {                                                     \
            strobe_more_ += 16;                                                          \
            strobe_made_ = strobe_spill_resize((items), strobe_more_ * sizeof *(items)); \
            if (strobe_made_) {                                                          \
                (items) = strobe_made_;                                                  \
                (room) = (__typeof__(room))strobe_more_;                                 \
            }                                                                            \
        }                                                                                \
        strobe_made_ ? STROBE_OK : STROBE_ERR_NOMEM;                                     \
    })

#endif
