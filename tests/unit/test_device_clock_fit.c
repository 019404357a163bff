/* test_device_clock_fit.c - clocks with known truth, through the regressions.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "device/clock_fit.h"

static uint64_t random_state = 1;

static double draw(double below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return below * (double)(random_state >> 11) / 9007199254740992.0;
}

static void a_straight_clock_is_recovered(void **state)
{
    struct strobe_clock_sample samples[249];
    struct strobe_clock_line line;
    (void)state;
    for (uint64_t i = 0; i < 249; i++)
        samples[i] =
            (struct strobe_clock_sample){5000000 + 13500000 * i, 77000000000 + 10000000 * i};
    assert_int_equal(strobe_clock_line_fit(samples, 249, 1, &line), STROBE_OK);
    assert_true(fabs(line.cycles_per_ns - 1.35) < 1e-12);
    assert_true(fabs(line.delay + 1.35 * 77e9 - 5e6) < 1);
    assert_int_equal(strobe_clock_line_fit(samples, 249, 0.5, &line), STROBE_OK);
    assert_true(fabs(line.cycles_per_ns - 2.7) < 1e-12); /* half a nanosecond per unit */
}

static void samples_at_one_time_make_no_line(void **state)
{
    struct strobe_clock_sample samples[2] = {{5, 9}, {6, 9}};
    struct strobe_clock_line line;
    (void)state;
    assert_int_equal(strobe_clock_line_fit(samples, 1, 1, &line), STROBE_ERR_INVALID);
    assert_int_equal(strobe_clock_line_fit(samples, 2, 1, &line), STROBE_ERR_INVALID);
}

static void noise_of_a_microsecond_leaves_the_frequency_within_a_ppm(void **state)
{
    struct strobe_clock_sample samples[249];
    struct strobe_clock_line line;
    (void)state;
    for (uint64_t i = 0; i < 249; i++)
        samples[i] =
            (struct strobe_clock_sample){(uint64_t)(1e12 + 1.35 * (1e7 * (double)i + draw(1000))),
                                         1000000000000000 + 10000000 * i};
    assert_int_equal(strobe_clock_line_fit(samples, 249, 1, &line), STROBE_OK);
    assert_true(fabs(line.cycles_per_ns / 1.35 - 1) < 1e-6);
}

static void two_devices_are_linked_and_the_link_reverses(void **state)
{
    struct strobe_clock_pair pairs[240];
    struct strobe_clock_link link, back, both;
    (void)state;
    for (uint64_t i = 0; i < 240; i++) {
        uint64_t received = 9000000000 + 50000 * i;
        double sender = 1.00002 * (double)received + 12345678;
        pairs[i] = (struct strobe_clock_pair){(uint64_t)(sender - 400), (uint64_t)(sender + 400),
                                              received};
    }
    assert_int_equal(strobe_clock_link_fit(pairs, 240, &link), STROBE_OK);
    assert_true(fabs(link.scale - 1.00002) < 1e-7);
    double at = 9006000000.0;
    assert_true(fabs(link.scale * at + link.shift - (1.00002 * at + 12345678)) < 2);
    back = strobe_clock_link_reverse(&link);
    both = strobe_clock_link_join(&back, &link);
    assert_true(fabs(both.scale - 1) < 1e-12);
    assert_true(fabs(both.shift) < 1e-3);
    assert_int_equal(strobe_clock_link_fit(pairs, 1, &link), STROBE_ERR_INVALID);
}

static void a_links_error_bounds_the_truth_between_its_messages(void **state)
{
    enum { ROUNDS = 200, PAIRS = 240 };
    struct strobe_clock_pair pairs[PAIRS];
    struct strobe_clock_link link;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        double scale = 1 + (draw(2) - 1) * 1e-4, shift = (draw(2) - 1) * 1e12;
        double jitter = draw(5000), last = 4e12 + draw(1e12);
        for (int i = 0; i < PAIRS; i++) {
            double received = 4e12 + (last - 4e12) * i / (PAIRS - 1);
            double at = scale * received + shift + 2e12; /* no clock is below 0 */
            double there = 1500 + draw(jitter), back = 1500 + draw(jitter) * draw(1);
            pairs[i] = (struct strobe_clock_pair){(uint64_t)(at - there), (uint64_t)(at + back) + 1,
                                                  (uint64_t)received};
        }
        uint64_t first = pairs[0].received, end = pairs[PAIRS - 1].received;
        assert_int_equal(strobe_clock_link_fit(pairs, PAIRS, &link), STROBE_OK);
        double error = strobe_clock_link_error(pairs, PAIRS, &link);
        for (int i = 0; i <= 10; i++) {
            long double at = (long double)first + (long double)(end - first) * i / 10;
            long double truth = scale * at + shift + 2e12L;
            assert_true(fabsl(link.scale * at + link.shift - truth) <= error + 2);
        }
        size_t n = strobe_clock_link_shortest(pairs, PAIRS);
        assert_int_equal(n, PAIRS / 2);
        for (size_t i = n; i < PAIRS; i++)
            assert_true(pairs[i].answered - pairs[i].sent >= pairs[0].answered - pairs[0].sent);
    }
}

static void low_halves_are_counted_on_over_their_wraps(void **state)
{
    (void)state;
    assert_int_equal(strobe_clock_unwrap(0x1fffffff0, 0x10), 0x200000010);
    assert_int_equal(strobe_clock_unwrap(0x100000010, 0x20), 0x100000020);
    assert_int_equal(strobe_clock_unwrap(0x100000010, 0x10), 0x100000010);
}

static void rows_have_the_columns_of_their_head(void **state)
{
    char text[512];
    struct strobe_clock_row row = {
        .device = 1, .core_x = 2, .cycles = 123456789012, .frequency = 1.35, .ratio = 1};
    struct strobe_clock_link link = {1.00002, -77};
    int n_head = 1, n_row = 1, n_link = 1;
    (void)state;
    for (const char *at = strobe_clock_row_head; *at; at++)
        n_head += *at == ',';
    assert_true(strobe_clock_row_print(text, sizeof text, &row) > 0);
    assert_non_null(strstr(text, "    1,    2,    0,        123456789012,"));
    assert_non_null(strstr(text, "   1.350000000000000,"));
    for (const char *at = text; *at; at++)
        n_row += *at == ',';
    assert_true(strobe_clock_link_print(text, sizeof text, 3, &link) > 0);
    assert_string_equal(text, "    3,,,,,,,,,,,,   1.000020000000000,                 -77");
    for (const char *at = text; *at; at++)
        n_link += *at == ',';
    assert_int_equal(n_head, 14);
    assert_int_equal(n_row, 14);
    assert_int_equal(n_link, 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_straight_clock_is_recovered),
        cmocka_unit_test(samples_at_one_time_make_no_line),
        cmocka_unit_test(noise_of_a_microsecond_leaves_the_frequency_within_a_ppm),
        cmocka_unit_test(two_devices_are_linked_and_the_link_reverses),
        cmocka_unit_test(a_links_error_bounds_the_truth_between_its_messages),
        cmocka_unit_test(low_halves_are_counted_on_over_their_wraps),
        cmocka_unit_test(rows_have_the_columns_of_their_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
