/* test_export_parquet_numbers.c - numbers come back from a dictionary and their codes, near each other or not.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "export/parquet_numbers.h"

enum { N = 50000 };

static int64_t values[N];
static uint32_t codes[N];

static void check_codes(struct strobe_parquet_numbers *numbers, uint32_t n, uint32_t n_different)
{
    assert_true(strobe_parquet_numbers_code(numbers, values, n, codes));
    assert_int_equal(numbers->n, n_different);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(codes[i] < numbers->n);
        assert_true(numbers->values[codes[i]] == values[i]);
    }
}

static void numbers_of_any_size_come_back(void **state)
{
    static const int64_t some[] = {INT64_MIN, -1, 0, 1, 65535, 65536, 1000000, INT64_MAX};
    struct strobe_parquet_numbers numbers = {0};
    (void)state;
    assert_int_equal(strobe_parquet_numbers_start(&numbers), STROBE_OK);
    for (uint32_t first = 0; first < 8; first++) { /* what is near depends on the first one */
        for (uint32_t i = 0; i < 1000; i++)
            values[i] = some[(first + i) % 8];
        check_codes(&numbers, 1000, 8);
    }
    check_codes(&numbers, 0, 0);
    strobe_parquet_numbers_free(&numbers);
}

static void a_dictionary_knows_nothing_of_the_one_before(void **state)
{
    struct strobe_parquet_numbers numbers = {0};
    (void)state;
    assert_int_equal(strobe_parquet_numbers_start(&numbers), STROBE_OK);
    for (uint32_t i = 0; i < N; i++)
        values[i] = i % 100;
    check_codes(&numbers, N, 100);
    for (uint32_t i = 0; i < N; i++)
        values[i] = i % 3 ? 99 : 70000;
    check_codes(&numbers, N, 2);
    strobe_parquet_numbers_free(&numbers);
}

static void numbers_that_are_mostly_different_are_not_coded(void **state)
{
    struct strobe_parquet_numbers numbers = {0};
    (void)state;
    assert_int_equal(strobe_parquet_numbers_start(&numbers), STROBE_OK);
    for (uint32_t i = 0; i < N; i++)
        values[i] = i;
    assert_false(strobe_parquet_numbers_code(&numbers, values, N, codes));
    for (uint32_t i = 0; i < N; i++) /* after the trial there are too many */
        values[i] = i < 10000 ? 5 : 1000000 + i;
    assert_false(strobe_parquet_numbers_code(&numbers, values, N, codes));
    for (uint32_t i = 0; i < N; i++)
        values[i] = 7;
    check_codes(&numbers, N, 1);
    strobe_parquet_numbers_free(&numbers);
}

static void frequent_numbers_have_small_codes(void **state)
{
    struct strobe_parquet_numbers numbers = {0};
    uint32_t counts[50] = {0};
    (void)state;
    assert_int_equal(strobe_parquet_numbers_start(&numbers), STROBE_OK);
    for (uint32_t i = 0; i < N; i++) /* 49 is the most frequent one, and met last */
        values[i] = (i % 1225) < 50 ? i % 50 : 49 - i % 1225 * i % 25;
    for (int twice = 0; twice < 2; twice++) {
        check_codes(&numbers, N, numbers.n ? numbers.n : 50);
        strobe_parquet_numbers_rank(&numbers, codes, N);
        for (uint32_t i = 0; i < N; i++) {
            assert_true(codes[i] < 50 && numbers.values[codes[i]] == values[i]);
            counts[codes[i]]++;
        }
        for (uint32_t i = 1; i < numbers.n; i++)
            assert_true(counts[i] <= counts[i - 1] || counts[i - 1] >= 4095);
    }
    strobe_parquet_numbers_free(&numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_any_size_come_back),
        cmocka_unit_test(a_dictionary_knows_nothing_of_the_one_before),
        cmocka_unit_test(numbers_that_are_mostly_different_are_not_coded),
        cmocka_unit_test(frequent_numbers_have_small_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
