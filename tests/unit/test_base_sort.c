/* test_base_sort.c - more records than memory come out in order.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

struct record {
    uint64_t key;
    uint32_t number; /* in the order of adding */
};

struct checking {
    struct record last;
    uint64_t n, sum;
    uint64_t stop_at;
};

static int compare(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static size_t n_beside_of(uint64_t key)
{
    return key % 7 == 0 ? 0 : key % 1009 == 1 ? 100000 : (size_t)(key % 60);
}

static enum strobe_err take(void *context, const void *bytes, const void *beside, size_t n)
{
    struct checking *c = context;
    struct record record;
    memcpy(&record, bytes, sizeof record);
    assert_true(!c->n || compare(&c->last, &record) < 0 ||
                (c->last.key == record.key && c->last.number < record.number));
    assert_int_equal(n, n_beside_of(record.key));
    for (size_t i = 0; i < n; i += 997)
        assert_int_equal(((const unsigned char *)beside)[i], record.key & 0xff);
    c->last = record;
    c->sum += record.number;
    return ++c->n == c->stop_at ? STROBE_ERR_END : STROBE_OK;
}

static int is_keyed; /* by half of the key: the other half is compared */

static struct strobe_sort_key key_of(const void *bytes)
{
    struct record record;
    memcpy(&record, bytes, sizeof record);
    return (struct strobe_sort_key){record.key % 4096 / 2, (uint32_t)(record.key / 4096)};
}

static struct strobe_sort *fill(uint32_t n, uint64_t n_keys)
{
    struct strobe_sort_options options = {
        .record_bytes = sizeof(struct record), .compare = compare, .key = is_keyed ? key_of : NULL};
    struct strobe_sort *sort;
    static char beside[100000];
    uint64_t random = 88172645463325252u;
    assert_int_equal(strobe_sort_open(&options, &sort), STROBE_OK);
    for (uint32_t i = 0; i < n; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        struct record record = {random % n_keys, i};
        memset(beside, (int)(record.key & 0xff), n_beside_of(record.key));
        assert_int_equal(strobe_sort_add(sort, &record, beside, n_beside_of(record.key)),
                         STROBE_OK);
    }
    return sort;
}

static void check(uint32_t n, uint64_t n_keys, uint32_t runs_min, uint32_t runs_max)
{
    struct checking c = {0};
    struct strobe_sort *sort = fill(n, n_keys);
    assert_int_equal(strobe_sort_all(sort, take, &c), STROBE_OK);
    assert_int_equal(c.n, n);
    assert_int_equal(c.sum, n ? (uint64_t)n * (n - 1) / 2 : 0);
    assert_in_range(strobe_sort_n_runs(sort), runs_min, runs_max);
    strobe_sort_close(sort);
}

static void few_records_stay_in_memory(void **state)
{
    (void)state;
    check(0, 1, 0, 0);
    check(1, 1, 0, 0);
    check(1000, 500, 0, 0);
    check(1000, 1, 0, 0); /* all equal: in the order of adding */
}

static void many_records_come_in_order_through_the_file(void **state)
{
    (void)state;
    check(60000, 1000, 3, 60);
    check(60000, 1, 1, 60);
}

static void more_runs_than_buffers_are_joined(void **state)
{
    (void)state;
    check(900000, 100000, 65, 5000);
}

static void a_key_changes_nothing_but_the_time(void **state)
{
    (void)state;
    is_keyed = 1;
    check(1, 1, 0, 0);
    check(255, 50, 0, 0);
    check(5000, 100000, 0, 5);
    check(5000, 1, 0, 5);
    check(60000, 1000, 3, 80);
    check(60000, 1ull << 40, 3, 80);
    is_keyed = 0;
}

static enum strobe_err take_fixed(void *context, const void *bytes, const void *beside, size_t n)
{
    struct checking *c = context;
    struct record record;
    (void)beside;
    memcpy(&record, bytes, sizeof record);
    assert_int_equal(n, 0);
    assert_true(!c->n || compare(&c->last, &record) <= 0);
    c->last = record;
    c->sum += record.number;
    c->n++;
    return STROBE_OK;
}

static void records_without_bytes_beside_them_have_no_heads(void **state)
{
    struct strobe_sort_options options = {
        .record_bytes = sizeof(struct record), .compare = compare, .is_fixed = 1};
    (void)state;
    for (uint32_t n = 100; n <= 100000; n *= 1000) {
        struct checking c = {0};
        struct strobe_sort *sort;
        assert_int_equal(strobe_sort_open(&options, &sort), STROBE_OK);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(
                strobe_sort_add(sort, &(struct record){i * 2654435761u % 1000, i}, NULL, 0),
                STROBE_OK);
        assert_int_equal(strobe_sort_all(sort, take_fixed, &c), STROBE_OK);
        assert_int_equal(c.n, n);
        assert_int_equal(c.sum, (uint64_t)n * (n - 1) / 2);
        assert_int_equal(strobe_sort_n_runs(sort) > 0, n > 1000);
        strobe_sort_close(sort);
    }
}

static void an_error_of_the_taker_ends_it(void **state)
{
    (void)state;
    for (int large = 0; large < 2; large++) {
        struct checking c = {.stop_at = 10};
        struct strobe_sort *sort = fill(large ? 60000 : 100, 5000);
        assert_int_equal(strobe_sort_all(sort, take, &c), STROBE_ERR_END);
        assert_int_equal(c.n, 10);
        strobe_sort_close(sort);
    }
    strobe_sort_close(NULL);
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct strobe_sort_options options = {
        .record_bytes = sizeof(struct record), .compare = compare, .folder = "/nowhere/at/all"};
    struct strobe_sort *sort;
    struct record record = {0};
    enum strobe_err err = STROBE_OK;
    assert_int_equal(strobe_sort_open(&options, &sort), STROBE_OK);
    for (int i = 0; i < 100000 && !err; i++)
        err = strobe_sort_add(sort, &record, NULL, 0);
    assert_int_equal(err, STROBE_ERR_NOTFOUND);
    strobe_sort_close(sort);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_records_stay_in_memory),
        cmocka_unit_test(many_records_come_in_order_through_the_file),
        cmocka_unit_test(more_runs_than_buffers_are_joined),
        cmocka_unit_test(a_key_changes_nothing_but_the_time),
        cmocka_unit_test(records_without_bytes_beside_them_have_no_heads),
        cmocka_unit_test(an_error_of_the_taker_ends_it),
        cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
