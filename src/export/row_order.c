/* row_order.c - see row_order.h: by insertion as long as that takes few steps, else by digits.  SPDX-License-Identifier: MIT */
#include "export/row_order.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT = 11, STEPS = 16 };

void strobe_row_order_free(struct strobe_row_order *order)
{
    free(order->rows);
    free(order->keys);
    free(order->other_rows);
    free(order->other_keys);
    *order = (struct strobe_row_order){0};
}

enum strobe_err strobe_row_order_start(struct strobe_row_order *order, uint32_t n)
{
    if (n > order->room) {
        strobe_row_order_free(order);
        order->rows = malloc(n * sizeof *order->rows);
        order->other_rows = malloc(n * sizeof *order->other_rows);
        order->keys = malloc(n * sizeof *order->keys);
        order->other_keys = malloc(n * sizeof *order->other_keys);
        order->room = order->rows && order->other_rows && order->keys && order->other_keys ? n : 0;
    }
    if (n > order->room)
        return STROBE_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        order->rows[i] = i;
    return STROBE_OK;
}

/* One pass of a radix sort, by the digit from `shift` on. */
static void sort_digit(struct strobe_row_order *order, uint32_t n, uint64_t least, unsigned shift)
{
    uint32_t starts[1 << DIGIT] = {0}, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        starts[(order->keys[i] - least) >> shift & ((1 << DIGIT) - 1)]++;
    for (unsigned i = 0; i < 1 << DIGIT; i++) {
        uint32_t count = starts[i];
        starts[i] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = starts[(order->keys[i] - least) >> shift & ((1 << DIGIT) - 1)]++;
        order->other_keys[to] = order->keys[i];
        order->other_rows[to] = order->rows[i];
    }
    uint32_t *rows = order->rows;
    uint64_t *keys = order->keys;
    order->rows = order->other_rows;
    order->keys = order->other_keys;
    order->other_rows = rows;
    order->other_keys = keys;
}

/* Zones come in the order of their ends: each goes back over those inside it, and no farther. 0: rows have far to go, and are not
 * in order yet. */
static int sort_near(struct strobe_row_order *order, uint32_t n)
{
    uint64_t n_left = (uint64_t)STEPS * n; /* after which digits cost less */
    for (uint32_t i = 1; i < n && n_left; i++) {
        uint64_t key = order->keys[i];
        uint32_t row = order->rows[i], at = i;
        for (; at && order->keys[at - 1] > key && n_left; at--, n_left--) {
            order->keys[at] = order->keys[at - 1];
            order->rows[at] = order->rows[at - 1];
        }
        order->keys[at] = key;
        order->rows[at] = row;
    }
    return n < 2 || n_left;
}

void strobe_row_order_sort(struct strobe_row_order *order, uint32_t n)
{
    if (sort_near(order, n))
        return;
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < n; i++) {
        least = order->keys[i] < least ? order->keys[i] : least;
        most = order->keys[i] > most ? order->keys[i] : most;
    }
    for (unsigned shift = 0; shift < 64 && (most - least) >> shift; shift += DIGIT)
        sort_digit(order, n, least, shift);
}
