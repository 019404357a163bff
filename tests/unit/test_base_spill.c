/* test_base_spill.c - arrays that go to a file when they are large.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/spill.h"

/* Numbers one after the other, in an array that grows as tables do. */
static uint64_t *fill(uint64_t *items, uint64_t *room, uint64_t from, uint64_t n)
{
    for (uint64_t i = from; i < n; i++) {
        assert_int_equal(STROBE_SPILL_RESERVE(items, *room, i + 1), STROBE_OK);
        items[i] = i * 7;
    }
    return items;
}

static void assert_filled(const uint64_t *items, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(items[i], i * 7);
}

static long resident_bytes(void)
{
    long pages = 0, all;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &all, &pages), 2);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static void what_is_in_it_stays_while_it_grows_and_rests(void **state)
{
    (void)state;
    enum { N = 300000 };
    uint64_t room = 0, *items = NULL;
    for (uint64_t n = 1; n < N; n = n * 3 + 1) {
        items = fill(items, &room, n / 3, n);
        strobe_spill_rest(items);
        assert_filled(items, n);
    }
    strobe_spill_free(items);
}

static void a_large_one_that_rests_takes_no_memory(void **state)
{
    (void)state;
    enum { N = 2 << 20 };
    uint64_t room = 0, *items = fill(NULL, &room, 0, N);
    long before = resident_bytes();
    strobe_spill_rest(items);
    assert_true(before - resident_bytes() > (long)(N * sizeof *items) / 2);
    assert_filled(items, N);
    strobe_spill_free(items);
}

static void without_a_file_it_stays_in_memory(void **state)
{
    (void)state;
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    uint64_t room = 0, *items = fill(NULL, &room, 0, 100000);
    strobe_spill_rest(items);
    assert_filled(items, 100000);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    items = fill(items, &room, 100000, 200000); /* and goes to one when there is one */
    assert_filled(items, 200000);
    strobe_spill_free(items);
}

static void a_file_that_may_not_grow_goes_on_in_memory(void **state)
{
    (void)state;
    struct rlimit before, small;
    uint64_t room = 0, *items = fill(NULL, &room, 0, 50000);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1 << 19;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    items = fill(items, &room, 50000, 200000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    strobe_spill_rest(items);
    assert_filled(items, 200000);
    strobe_spill_free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_it_stays_while_it_grows_and_rests),
        cmocka_unit_test(a_large_one_that_rests_takes_no_memory),
        cmocka_unit_test(without_a_file_it_stays_in_memory),
        cmocka_unit_test(a_file_that_may_not_grow_goes_on_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
