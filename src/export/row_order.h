/* row_order.h - rows of a batch in another order, by keys.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_ROW_ORDER_H
#define STROBE_EXPORT_ROW_ORDER_H

#include <stdint.h>

#include "base/err.h"

/* Zero-initialise; free once. */
struct strobe_row_order {
    uint32_t *rows; /* owned, as all: numbers of rows, in their order */
    uint64_t *keys; /* of rows[i], until the sort */
    uint32_t *other_rows;
    uint64_t *other_keys;
    uint32_t room;
    uint32_t *slots; /* by key, a row + 1 */
    uint64_t slots_room;
};

/* Rows 0 to n - 1, in that order; the keys are the caller's to set. NOMEM. */
enum strobe_err strobe_row_order_start(struct strobe_row_order *order, uint32_t n);

/* Sort the n rows from number `from` on by their keys; those whose keys are equal keep their order. Fast where keys are different numbers
 * of a short range, or each row has few steps to go. */
void strobe_row_order_sort(struct strobe_row_order *order, uint32_t from, uint32_t n);

void strobe_row_order_free(struct strobe_row_order *order);

#endif
