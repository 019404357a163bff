/* sort_order.c - see sort_order.h.  SPDX-License-Identifier: MIT */
#include "base/sort_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum { DIGIT_BITS = 11, N_DIGITS = 1 << DIGIT_BITS };

/* A row on its way through the passes. */
struct place {
    uint64_t low;
    uint32_t high, row;
};

static int compare_rows(const struct strobe_sort_rows *rows, uint32_t a, uint32_t b)
{
    return rows->compare(rows->first + a * rows->stride, rows->first + b * rows->stride);
}

/* ---- merging ---- */

/* Merge order[from, middle) and order[middle, to) into `out`. */
static void merge_halves(const struct strobe_sort_rows *rows, const uint32_t *order, uint32_t *out,
                         uint32_t from, uint32_t middle, uint32_t to)
{
    uint32_t a = from, b = middle;
    for (uint32_t i = from; i < to; i++) {
        int takes_b = a == middle || (b < to && compare_rows(rows, order[b], order[a]) < 0);
        out[i] = takes_b ? order[b++] : order[a++];
    }
}

/* Sort n numbers of rows; either array has them then, which is returned. */
static uint32_t *merge_all(const struct strobe_sort_rows *rows, uint32_t *order, uint32_t *spare,
                           uint32_t n)
{
    for (uint64_t width = 1; width < n; width *= 2) {
        for (uint64_t from = 0; from < n; from += 2 * width) {
            uint64_t middle = from + width < n ? from + width : n;
            uint64_t to = from + 2 * width < n ? from + 2 * width : n;
            /* two halves in order already: often so, since much comes nearly sorted */
            if (middle == to || compare_rows(rows, order[middle - 1], order[middle]) <= 0)
                memcpy(spare + from, order + from, (size_t)(to - from) * sizeof *order);
            else
                merge_halves(rows, order, spare, (uint32_t)from, (uint32_t)middle, (uint32_t)to);
        }
        uint32_t *sorted = spare;
        spare = order;
        order = sorted;
    }
    return order;
}

static enum strobe_err order_by_merging(const struct strobe_sort_rows *rows, uint32_t **out)
{
    uint32_t *order = malloc(rows->n * sizeof *order + 1),
             *spare = malloc(rows->n * sizeof *spare + 1);
    enum strobe_err err = order && spare ? STROBE_OK : STROBE_ERR_NOMEM;
    for (uint32_t i = 0; !err && i < rows->n; i++)
        order[i] = i;
    uint32_t *sorted = err ? NULL : merge_all(rows, order, spare, rows->n);
    if (sorted != order)
        free(order);
    if (sorted != spare)
        free(spare);
    *out = sorted;
    return err;
}

/* ---- digits ---- */

static uint32_t digit_of(const struct place *place, int is_high, unsigned shift)
{
    return (uint32_t)((is_high ? place->high : place->low) >> shift) & (N_DIGITS - 1);
}

/* One stable pass by one digit. Where they are then. */
static struct place *pass_digit(struct place *from, struct place *to, uint32_t n, int is_high,
                                unsigned shift)
{
    uint32_t starts[N_DIGITS] = {0}, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        starts[digit_of(&from[i], is_high, shift)]++;
    if (starts[digit_of(&from[0], is_high, shift)] == n)
        return from;
    for (uint32_t i = 0; i < N_DIGITS; i++) {
        uint32_t count = starts[i];
        starts[i] = sum;
        sum += count;
    }
    STROBE_ASSERT(sum == n);
    for (uint32_t i = 0; i < n; i++)
        to[starts[digit_of(&from[i], is_high, shift)]++] = from[i];
    return to;
}

static struct place *pass_digits(struct place *from, struct place *to, uint32_t n, int is_high,
                                 uint64_t most)
{
    for (unsigned shift = 0; shift < 64 && most >> shift; shift += DIGIT_BITS) {
        struct place *moved = pass_digit(from, to, n, is_high, shift);
        if (moved == from)
            continue;
        to = from;
        from = moved;
    }
    return from;
}

/* Keys of all rows, `low` from the least one on; the most that there are. 1: they are in order. */
static int take_keys(const struct strobe_sort_rows *rows, struct place *places, uint64_t *most_low,
                     uint64_t *most_high)
{
    uint64_t least = UINT64_MAX;
    int is_sorted = 1;
    struct strobe_sort_key last = {0, 0};
    *most_low = *most_high = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        struct strobe_sort_key key = rows->key(rows->first + i * rows->stride);
        places[i] = (struct place){key.low, key.high, i};
        is_sorted &= !strobe_sort_key_less(key, last);
        least = key.low < least ? key.low : least;
        *most_low = key.low > *most_low ? key.low : *most_low;
        *most_high = key.high > *most_high ? key.high : *most_high;
        last = key;
    }
    for (uint32_t i = 0; i < rows->n; i++)
        places[i].low -= least;
    *most_low -= least;
    return is_sorted;
}

/* Rows with equal keys by comparing them; `spare` has as many as there are. */
static void order_equal(const struct strobe_sort_rows *rows, const struct place *places,
                        uint32_t *order, uint32_t *spare)
{
    for (uint32_t from = 0, to; from < rows->n; from = to) {
        for (to = from + 1; to < rows->n && places[to].low == places[from].low &&
                            places[to].high == places[from].high;)
            to++;
        uint32_t *sorted = merge_all(rows, order + from, spare, to - from);
        if (sorted == spare)
            memcpy(order + from, spare, (size_t)(to - from) * sizeof *order);
    }
}

static enum strobe_err order_by_key(const struct strobe_sort_rows *rows, uint32_t **out)
{
    struct place *first = malloc(rows->n * sizeof *first),
                 *second = malloc(rows->n * sizeof *second);
    uint32_t *order = malloc(rows->n * sizeof *order);
    enum strobe_err err = first && second && order ? STROBE_OK : STROBE_ERR_NOMEM;
    if (!err) {
        uint64_t most_low, most_high;
        struct place *sorted = first;
        if (!take_keys(rows, first, &most_low, &most_high)) {
            sorted = pass_digits(first, second, rows->n, 0, most_low);
            sorted = pass_digits(sorted, sorted == first ? second : first, rows->n, 1, most_high);
        }
        for (uint32_t i = 0; i < rows->n; i++)
            order[i] = sorted[i].row;
        order_equal(rows, sorted, order, (uint32_t *)(void *)(sorted == first ? second : first));
    }
    free(first);
    free(second);
    if (err)
        free(order);
    *out = err ? NULL : order;
    return err;
}

enum strobe_err strobe_sort_order(const struct strobe_sort_rows *rows, uint32_t **out)
{
    enum { WORTH = 256 }; /* fewer are sorted before the digits are counted */
    return rows->key && rows->n >= WORTH ? order_by_key(rows, out) : order_by_merging(rows, out);
}

size_t strobe_sort_order_bytes(int has_key)
{
    return has_key ? 2 * sizeof(struct place) + sizeof(uint32_t) : 2 * sizeof(uint32_t);
}
