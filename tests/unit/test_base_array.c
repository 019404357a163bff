/* test_base_array.c - arrays grow, and say so where they can't.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

#include "base/array.h"

static void pushed_items_keep_their_values(void **state)
{
    (void)state;
    uint64_t *items = NULL;
    uint32_t n = 0, room = 0;
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t *item = STROBE_ARRAY_PUSH(items, n, room);
        assert_non_null(item);
        *item = i * i;
        assert_true(n <= room);
    }
    assert_int_equal(n, 10000);
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(items[i], i * i);
    free(items);
}

static void an_array_without_room_grows_at_powers_of_two(void **state)
{
    (void)state;
    uint16_t *items = NULL;
    size_t n = 0;
    for (int i = 0; i < 5000; i++) {
        uint16_t *item = STROBE_ARRAY_PUSH_TIGHT(items, n);
        assert_non_null(item);
        *item = (uint16_t)i;
    }
    assert_int_equal(n, 5000);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(items[i], i);
    free(items);
}

static void a_bound_holds_and_leaves_the_array_as_it_was(void **state)
{
    (void)state;
    char *items = NULL;
    size_t room = 0;
    assert_int_equal(STROBE_ARRAY_RESERVE_MAX(items, room, 100, 100), STROBE_OK);
    assert_int_equal(room, 100);
    items[99] = 'x';
    char *before = items;
    assert_int_equal(STROBE_ARRAY_RESERVE_MAX(items, room, 101, 100), STROBE_ERR_LIMIT);
    assert_ptr_equal(items, before);
    assert_int_equal(room, 100);
    free(items);
}

static void the_type_of_the_room_is_a_bound_too(void **state)
{
    (void)state;
    char *items = NULL;
    uint8_t room = 0;
    assert_int_equal(STROBE_ARRAY_RESERVE(items, room, 200), STROBE_OK);
    assert_int_equal(room, 255);
    assert_int_equal(STROBE_ARRAY_RESERVE(items, room, 256), STROBE_ERR_LIMIT);
    assert_int_equal(room, 255);
    free(items);
}

static void a_product_beyond_size_t_is_no_memory(void **state)
{
    (void)state;
    struct {
        char bytes[4096];
    } *items = NULL;
    uint64_t room = 0;
    /* (2^52 + 1) * 4096 wraps to 4096 */
    assert_int_equal(STROBE_ARRAY_RESERVE(items, room, ((uint64_t)1 << 52) + 1), STROBE_ERR_NOMEM);
    assert_null(items);
    assert_int_equal(room, 0);
    assert_null(strobe_array_resize(NULL, (uint64_t)SIZE_MAX / 2 + 2, 2));
}

static void reached_items_are_zero(void **state)
{
    (void)state;
    uint32_t *items = NULL;
    uint32_t room = 0;
    for (uint32_t i = 1; i < 3000; i *= 3) {
        assert_int_equal(STROBE_ARRAY_REACH(items, room, i), STROBE_OK);
        assert_true(i < room);
        assert_int_equal(items[i], 0);
        items[i] = i;
    }
    for (uint32_t i = 0, power = 1; i < room; i++) {
        assert_int_equal(items[i], i == power ? i : 0);
        power *= i == power ? 3 : 1;
    }
    free(items);
}

static void bisect_finds_the_first_that_is_not_before(void **state)
{
    (void)state;
    static const uint32_t items[] = {2, 3, 3, 5, 8};
    for (uint32_t n = 0; n <= 5; n++)
        for (uint32_t from = 0; from <= n; from++)
            for (uint32_t wanted = 0; wanted < 10; wanted++) {
                uint64_t at = STROBE_ARRAY_BISECT(from, n, i, items[i] < wanted);
                assert_in_range(at, from, n);
                assert_true(at == from || items[at - 1] < wanted);
                assert_true(at == n || items[at] >= wanted);
            }
}

static void a_renewed_buffer_has_room_and_keeps_nothing(void **state)
{
    (void)state;
    uint16_t *items = NULL;
    uint32_t room = 0;
    assert_int_equal(STROBE_ARRAY_RENEW(items, room, 100), STROBE_OK);
    assert_true(room >= 100);
    uint32_t before = room;
    assert_int_equal(STROBE_ARRAY_RENEW(items, room, 50), STROBE_OK);
    assert_int_equal(room, before);
    assert_int_equal(STROBE_ARRAY_RENEW(items, room, 1ull << 62), STROBE_ERR_NOMEM);
    assert_null(items);
    assert_int_equal(room, 0);
    assert_int_equal(STROBE_ARRAY_RENEW(items, room, 0), STROBE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_renewed_buffer_has_room_and_keeps_nothing),
        cmocka_unit_test(pushed_items_keep_their_values),
        cmocka_unit_test(an_array_without_room_grows_at_powers_of_two),
        cmocka_unit_test(a_bound_holds_and_leaves_the_array_as_it_was),
        cmocka_unit_test(the_type_of_the_room_is_a_bound_too),
        cmocka_unit_test(a_product_beyond_size_t_is_no_memory),
        cmocka_unit_test(reached_items_are_zero),
        cmocka_unit_test(bisect_finds_the_first_that_is_not_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
