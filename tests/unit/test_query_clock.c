/* test_query_clock.c - ticks become ns as docs/file-format.md says; texts and ids are found again.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "query/clock.h"
#include "query/texts.h"
#include "wire/ring_layout.h"

static void add(struct strobe_clock *clock, uint64_t kind, uint64_t tick, uint64_t ns, int jump)
{
    const struct strobe_sync sync = {tick, ns, 25, (uint8_t)jump};
    strobe_clock_add(clock, kind, &sync, 5000000000 + ns);
}

static void a_counter_is_a_line_through_first_and_last_sync(void **state)
{
    (void)state;
    struct strobe_clock clock = {0};
    add(&clock, STROBE_CLOCK_TSC, 1000, 50000, 0);
    add(&clock, STROBE_CLOCK_TSC, 1600, 50250, 0); /* 50 ns off the line */
    add(&clock, STROBE_CLOCK_TSC, 4000, 51000, 0);
    assert_true(strobe_clock_fix(&clock));
    assert_int_equal(clock.mult, (1000ull << 32) / 3000);
    assert_int_equal(strobe_clock_ns(&clock, 3), 0); /* rounded down */
    assert_int_equal(strobe_clock_ns(&clock, 300), 99);
    assert_int_equal(strobe_clock_at(&clock, 1000), 50000);
    assert_int_equal(strobe_clock_at(&clock, 999), 49999); /* an arithmetic shift rounds down too */
    assert_int_equal(clock.error_ns, 51);
    strobe_clock_set_origin(&clock, 1000);
    assert_int_equal(strobe_clock_rel(&clock, 1000), 0);
    assert_int_equal(strobe_clock_rel(&clock, 700), -100);
    strobe_clock_free(&clock);
}

static void a_jump_starts_a_new_piece_at_the_same_rate(void **state)
{
    (void)state;
    struct strobe_clock clock = {0};
    add(&clock, STROBE_CLOCK_TSC, 0, 1000, 0);
    add(&clock, STROBE_CLOCK_TSC, 500, 1500, 0);
    add(&clock, STROBE_CLOCK_TSC, 1000, 90000, 1); /* the counter stood still */
    add(&clock, STROBE_CLOCK_TSC, 2000, 91000, 0);
    add(&clock, STROBE_CLOCK_TSC, 900000, 91500, 1); /* the machine slept, the counter did not */
    add(&clock, STROBE_CLOCK_TSC, 901000, 92500, 0);
    assert_true(strobe_clock_fix(&clock));
    assert_int_equal(clock.mult, 1ull << 32);
    assert_int_equal(strobe_clock_at(&clock, 999), 1999);
    assert_int_equal(strobe_clock_at(&clock, 1000), 90000);
    assert_int_equal(strobe_clock_at(&clock, 1001), 90001);
    assert_int_equal(strobe_clock_at(&clock, 900001), 91501);
    strobe_clock_free(&clock);
}

static void a_time_before_a_jump_is_never_after_it(void **state)
{
    (void)state;
    struct strobe_clock clock = {0};
    add(&clock, STROBE_CLOCK_TSC, 0, 1000, 0);
    add(&clock, STROBE_CLOCK_TSC, 1000, 2000, 0);
    add(&clock, STROBE_CLOCK_TSC, 9000, 2500, 1);
    assert_true(strobe_clock_fix(&clock));
    assert_int_equal(strobe_clock_at(&clock, 1400), 2400);
    assert_int_equal(strobe_clock_at(&clock, 5000), 2500);
    assert_int_equal(strobe_clock_at(&clock, 9000), 2500);
    assert_int_equal(strobe_clock_at(&clock, 9001), 2501);
    strobe_clock_free(&clock);
}

static void a_counter_that_starts_anew_keeps_its_rate(void **state)
{
    (void)state;
    struct strobe_clock clock = {0};
    add(&clock, STROBE_CLOCK_TSC, 50000, 1000, 0);
    add(&clock, STROBE_CLOCK_TSC, 52000, 2000, 0);
    add(&clock, STROBE_CLOCK_TSC, 10, 2500, 1);
    add(&clock, STROBE_CLOCK_TSC, 2010, 3500, 0);
    assert_true(strobe_clock_fix(&clock));
    assert_int_equal(clock.mult, 1ull << 31);
    assert_int_equal(strobe_clock_at(&clock, 52000), 2000);
    assert_int_equal(strobe_clock_at(&clock, 1010), 3000);
    strobe_clock_free(&clock);
}

static void a_part_of_the_clock_converts_as_the_clock_does(void **state)
{
    (void)state;
    static const uint64_t ticks[] = {0,    9,    10,   11,   999,  1000,
                                     1400, 5000, 8999, 9000, 9001, 1 << 30};
    struct strobe_clock clock = {0};
    struct strobe_clock_part part = {0};
    add(&clock, STROBE_CLOCK_TSC, 10, 1000, 0);
    add(&clock, STROBE_CLOCK_TSC, 1010, 1333, 0);
    add(&clock, STROBE_CLOCK_TSC, 9000, 2500, 1);
    assert_true(strobe_clock_fix(&clock));
    strobe_clock_set_origin(&clock, 500);
    assert_false(strobe_clock_part_has(&part, 0));
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
        strobe_clock_find_part(&clock, ticks[i], &part);
        assert_int_equal(strobe_clock_part_has(&part, ticks[i]),
                         ticks[i] >= 10); /* not before the first sync */
        for (size_t k = 0; k < sizeof ticks / sizeof ticks[0]; k++) {
            if (!strobe_clock_part_has(&part, ticks[k]))
                continue;
            assert_int_equal(strobe_clock_part_rel(&part, ticks[k]),
                             strobe_clock_rel(&clock, ticks[k]));
            assert_int_equal(strobe_clock_part_span_ns(&part, ticks[k], 12345),
                             strobe_clock_span_ns(&clock, ticks[k], 12345));
        }
    }
    strobe_clock_free(&clock);
}

static void durations_of_zones_in_a_row_add_up_to_the_time_between(void **state)
{
    (void)state;
    struct strobe_clock clock = {0};
    uint64_t sum = 0, short_by = 0;
    add(&clock, STROBE_CLOCK_TSC, 1000, 50000, 0);
    add(&clock, STROBE_CLOCK_TSC, 4000, 51000, 0);
    add(&clock, STROBE_CLOCK_TSC, 900000, 9000, 1);
    assert_true(strobe_clock_fix(&clock));
    for (uint64_t tick = 1000; tick < 4000; tick += 10) {
        uint64_t ns = strobe_clock_span_ns(&clock, tick, 10);
        assert_int_equal(ns, strobe_clock_at(&clock, tick + 10) - strobe_clock_at(&clock, tick));
        sum += ns;
        short_by += ns - strobe_clock_ns(&clock, 10);
    }
    assert_int_equal(sum, strobe_clock_at(&clock, 4000) - strobe_clock_at(&clock, 1000));
    /* A third of a nanosecond each, had each been rounded down. */
    assert_in_range(short_by, 90, 110);
    for (uint64_t tick = 500; tick < 1000; tick++) /* before the first sync */
        assert_int_equal(strobe_clock_span_ns(&clock, tick, 7),
                         strobe_clock_at(&clock, tick + 7) - strobe_clock_at(&clock, tick));
    /* Over a jump: as if there were none. */
    assert_int_equal(strobe_clock_span_ns(&clock, 899999, 3), 1);
    strobe_clock_free(&clock);
}

static void the_monotonic_clock_and_none_are_ns_already(void **state)
{
    (void)state;
    struct strobe_clock clock = {0};
    assert_true(strobe_clock_fix(&clock));
    assert_int_equal(strobe_clock_at(&clock, 12345), 12345);
    strobe_clock_free(&clock);
    add(&clock, STROBE_CLOCK_MONO, 100, 100, 0);
    add(&clock, STROBE_CLOCK_MONO, 200, 200, 0);
    assert_true(strobe_clock_fix(&clock));
    assert_int_equal(strobe_clock_at(&clock, 12345), 12345);
    assert_int_equal(strobe_clock_ns(&clock, UINT64_MAX), UINT64_MAX);
    assert_int_equal(clock.error_ns, 25);
    strobe_clock_free(&clock);
}

static void a_time_finds_its_first_tick(void **state)
{
    (void)state;
    struct strobe_clock clock = {0};
    add(&clock, STROBE_CLOCK_TSC, 1000000, 50000, 0);
    add(&clock, STROBE_CLOCK_TSC, 4000000, 1050000, 0);
    assert_true(strobe_clock_fix(&clock));
    strobe_clock_set_origin(&clock, 1000000);
    for (int64_t ns = -300000; ns < 1000000; ns += 7777) {
        uint64_t tick = strobe_clock_tick_of(&clock, ns);
        assert_true(strobe_clock_rel(&clock, tick) >= ns);
        assert_true(strobe_clock_rel(&clock, tick - 1) < ns);
    }
    strobe_clock_free(&clock);
}

static void a_time_far_from_where_a_steady_clock_would_have_it_finds_its_first_tick(void **state)
{
    (void)state;
    struct strobe_clock clock = {0};
    add(&clock, STROBE_CLOCK_TSC, 1000000, 50000, 0);
    add(&clock, STROBE_CLOCK_TSC, 4000000, 1050000, 0);
    add(&clock, STROBE_CLOCK_TSC, 9000000000, 9001050000, 0);
    add(&clock, STROBE_CLOCK_TSC, 9100000000, 9001060000, 0);
    assert_true(strobe_clock_fix(&clock));
    strobe_clock_set_origin(&clock, 4000000);
    for (int64_t ns = -300000; ns < 40000000000; ns += 77777777) {
        uint64_t tick = strobe_clock_tick_of(&clock, ns);
        assert_true(strobe_clock_rel(&clock, tick) >= ns);
        assert_true(strobe_clock_rel(&clock, tick - 1) < ns);
    }
    assert_int_equal(strobe_clock_tick_of(&clock, INT64_MIN / 4), 0);
    strobe_clock_free(&clock);
}

static void a_sum_may_be_larger_than_64_bits(void **state)
{
    (void)state;
    struct strobe_clock clock = {.mult = 1ull << 31};
    unsigned __int128 sum = (unsigned __int128)1 << 64;
    assert_int_equal(strobe_clock_sum_ns(&clock, sum), 1ull << 63);
    assert_int_equal(strobe_clock_sum_ns(&clock, 10), 5);
}

static void equal_texts_have_one_id(void **state)
{
    (void)state;
    struct strobe_texts texts = {0};
    uint32_t n, ids[5000];
    char text[32];
    for (int i = 0; i < 5000; i++)
        ids[i] = strobe_texts_add(&texts, text, (uint64_t)sprintf(text, "text %d", i));
    for (int i = 0; i < 5000; i++) {
        int length = sprintf(text, "text %d", i);
        assert_int_equal(strobe_texts_add(&texts, text, (uint64_t)length), ids[i]);
        assert_string_equal(strobe_texts_get(&texts, ids[i], &n), text);
        assert_int_equal(n, length);
    }
    assert_int_equal(texts.index.n, 5000);
    assert_int_equal(strobe_texts_add(&texts, "", 0), 0);
    assert_string_equal(strobe_texts_get(&texts, 0, &n), "");
    strobe_texts_free(&texts);
}

static void ids_are_found_in_their_scope(void **state)
{
    (void)state;
    struct strobe_idmap map = {0};
    assert_int_equal(strobe_idmap_find(&map, 0, 1), STROBE_IDMAP_NONE);
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(strobe_idmap_add(&map, i % 3, i / 3), i);
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(strobe_idmap_add(&map, i % 3, i / 3), i);
    assert_int_equal(strobe_idmap_find(&map, 3, 1), STROBE_IDMAP_NONE);
    strobe_idmap_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_is_a_line_through_first_and_last_sync),
        cmocka_unit_test(a_jump_starts_a_new_piece_at_the_same_rate),
        cmocka_unit_test(a_time_before_a_jump_is_never_after_it),
        cmocka_unit_test(a_counter_that_starts_anew_keeps_its_rate),
        cmocka_unit_test(a_part_of_the_clock_converts_as_the_clock_does),
        cmocka_unit_test(durations_of_zones_in_a_row_add_up_to_the_time_between),
        cmocka_unit_test(the_monotonic_clock_and_none_are_ns_already),
        cmocka_unit_test(a_time_finds_its_first_tick),
        cmocka_unit_test(a_time_far_from_where_a_steady_clock_would_have_it_finds_its_first_tick),
        cmocka_unit_test(a_sum_may_be_larger_than_64_bits),
        cmocka_unit_test(equal_texts_have_one_id),
        cmocka_unit_test(ids_are_found_in_their_scope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
