/* sort_order.h - the order of records in memory: by numbers, where there are some to go by, in passes over their digits; else, and among those with equal
 * numbers, by merging. Records that compare equal stay as they are. For base/sort.c alone.  SPDX-License-Identifier: MIT */
#ifndef STROBE_BASE_SORT_ORDER_H
#define STROBE_BASE_SORT_ORDER_H

#include "base/sort.h"

struct strobe_sort_rows {
    const char *first; /* borrowed: the fixed part of the first, of `stride` bytes to the next */
    size_t stride;
    uint32_t n;
    strobe_sort_compare *compare;
    strobe_sort_key_of *key; /* NULL: none */
};

static inline int strobe_sort_key_less(struct strobe_sort_key a, struct strobe_sort_key b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* Numbers of the rows in their order, `n` of them; the caller frees it. NOMEM. */
enum strobe_err strobe_sort_order(const struct strobe_sort_rows *rows, uint32_t **out);

/* What that takes of memory for a row, while it is done. */
size_t strobe_sort_order_bytes(int has_key);

#endif
