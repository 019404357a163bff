/* row_order.c - see row_order.h: by one look at each where keys are near each other, by insertion as long as that takes few steps, else by
 * digits.  SPDX-License-Identifier: MIT */
#include "export/row_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum {
    DIGIT = 11,
    STEPS = 16,
    SPREAD = 4, /* possible keys per row, up to which each has a slot */
    MANY = 64   /* rows from which slots are worth it */
};

void strobe_row_order_free(struct strobe_row_order *order)
{
    free(order->rows);
    free(order->keys);
    free(order->other_rows);
    free(order->other_keys);
    free(order->slots);
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
static void sort_digit(struct strobe_row_order *order, uint32_t from, uint32_t n, uint64_t least,
                       unsigned shift)
{
    uint64_t *keys = order->keys + from, *other_keys = order->other_keys + from;
    uint32_t *rows = order->rows + from, *other_rows = order->other_rows + from;
    uint32_t starts[1 << DIGIT] = {0}, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        starts[(keys[i] - least) >> shift & ((1 << DIGIT) - 1)]++;
    for (unsigned i = 0; i < 1 << DIGIT; i++) {
        uint32_t count = starts[i];
        starts[i] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = starts[(keys[i] - least) >> shift & ((1 << DIGIT) - 1)]++;
        other_keys[to] = keys[i];
        other_rows[to] = rows[i];
    }
    memcpy(keys, other_keys, n * sizeof *keys);
    memcpy(rows, other_rows, n * sizeof *rows);
}

/* Zones come in the order of their ends: each goes back over those inside it, and no farther. 0: rows have far to go, and are not
 * in order yet. */
static int sort_near(uint64_t *keys, uint32_t *rows, uint32_t n)
{
    uint64_t n_left = (uint64_t)STEPS * n; /* after which digits cost less */
    for (uint32_t i = 1; i < n && n_left; i++) {
        uint64_t key = keys[i];
        uint32_t row = rows[i], at = i;
        for (; at && keys[at - 1] > key && n_left; at--, n_left--) {
            keys[at] = keys[at - 1];
            rows[at] = rows[at - 1];
        }
        keys[at] = key;
        rows[at] = row;
    }
    return n < 2 || n_left;
}

/* A slot for each key that is possible. 0: two rows have the same, or there is no memory; nothing has changed then. The keys are left
 * as they were: nobody needs them after. */
static int sort_slots(struct strobe_row_order *order, uint32_t from, uint32_t n, uint64_t least,
                      uint64_t n_slots)
{
    const uint64_t *keys = order->keys + from;
    uint32_t *rows = order->rows + from, *slots, n_taken = 0;
    if (STROBE_ARRAY_RESERVE(order->slots, order->slots_room, n_slots))
        return 0;
    slots = order->slots;
    memset(slots, 0, n_slots * sizeof *slots);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *slot = &slots[keys[i] - least];
        n_taken += !*slot;
        *slot = rows[i] + 1;
    }
    if (n_taken < n)
        return 0;
    uint32_t at = 0;
    for (uint64_t i = 0; at < n;
         i++) { /* without a branch: which ones are taken nobody can guess */
        rows[at] = slots[i] - 1;
        at += slots[i] != 0;
    }
    return 1;
}

void strobe_row_order_sort(struct strobe_row_order *order, uint32_t from, uint32_t n)
{
    uint64_t least = UINT64_MAX, most = 0;
    const uint64_t *keys = order->keys + from;
    int is_sorted = 1;
    for (uint32_t i = 0; i < n; i++) {
        is_sorted &= most <= keys[i];
        least = keys[i] < least ? keys[i] : least;
        most = keys[i] > most ? keys[i] : most;
    }
    if (is_sorted || (n >= MANY && most - least < (uint64_t)SPREAD * n &&
                      sort_slots(order, from, n, least, most - least + 1)))
        return;
    if (sort_near(order->keys + from, order->rows + from, n))
        return;
    for (unsigned shift = 0; shift < 64 && (most - least) >> shift; shift += DIGIT)
        sort_digit(order, from, n, least, shift);
}
