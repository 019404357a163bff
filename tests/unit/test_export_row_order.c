/* test_export_row_order.c - rows come in the order of their keys, by each of the ways to sort.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "export/row_order.h"

enum { N = 3000 };

static uint64_t keys[N];

/* Sorts all rows but the first and the last. */
static void check_order(void)
{
    struct strobe_row_order order = {0};
    uint8_t seen[N] = {0};
    assert_int_equal(strobe_row_order_start(&order, N), STROBE_OK);
    for (uint32_t i = 0; i < N; i++)
        order.keys[i] = keys[i];
    strobe_row_order_sort(&order, 1, N - 2);
    assert_int_equal(order.rows[0], 0);
    assert_int_equal(order.rows[N - 1], N - 1);
    for (uint32_t i = 1; i < N - 1; i++) {
        uint32_t row = order.rows[i], before = order.rows[i - 1];
        assert_true(row > 0 && row < N - 1 && !seen[row]++);
        if (i > 1)
            assert_true(keys[before] < keys[row] || (keys[before] == keys[row] && before < row));
    }
    strobe_row_order_free(&order);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void every_kind_of_keys_is_sorted(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (uint32_t i = 0; i < N; i++)
        keys[i] = i; /* in order */
    check_order();
    for (uint32_t i = 0; i < N; i++)
        keys[i] = (1ull << 63) + 2 * ((uint64_t)i * 7 % N); /* each once, of a short range: slots */
    check_order();
    for (uint32_t i = 0; i < N; i++)
        keys[i] = (uint64_t)i * 7 % 100; /* the same again: no slots */
    check_order();
    for (uint32_t i = 0; i < N; i++)
        keys[i] = (uint64_t)i * 1000 - i % 3 * 1500; /* few steps to go */
    check_order();
    for (uint32_t i = 0; i < N; i++)
        keys[i] = next_random(&seed); /* digits */
    check_order();
    for (uint32_t i = 0; i < N; i++)
        keys[i] = 5;
    check_order();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_of_keys_is_sorted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
