/* test_diff.c - the numbers behind `strobe diff`: functions against values of another library (SciPy), the comparison against
 * made-up runs whose truth is known.  SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "diff/diff.h"
#include "diff/moments.h"

static void close_to(double value, double wanted, double error)
{
    if (!(fabs(value - wanted) <= error * fmax(1e-300, fabs(wanted))))
        fail_msg("%.15g instead of %.15g", value, wanted);
}

static void student_has_the_tails_of_another_library(void **state)
{
    static const double known[][3] = {
        {0, 3, 0.5},
        {1.5, 3, 0.115291932622411},
        {2.776445, 4, 0.0250000026910458},
        {-2, 8, 0.959741881021369},
        {5, 1.7, 0.0259710438462254},
        {12, 30, 2.79009270759963e-13},
        {3.1, HUGE_VAL, 0.0009676032132183561},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        close_to(strobe_moments_t_above(known[i][0], known[i][1]), known[i][2], 1e-9);
    close_to(strobe_moments_t_at(0.025, 4), 2.7764451052, 1e-9);
    close_to(strobe_moments_t_at(0.005, 2.5), 7.16372813895, 1e-9);
    close_to(strobe_moments_t_at(0.025, HUGE_VAL), 1.95996398454, 1e-9);
}

static void derivatives_of_gamma_have_all_digits(void **state)
{
    static const double known[][3] = {
        {0.1, -10.4237549404111, 101.433299150793}, {0.5, -1.96351002602142, 4.93480220054468},
        {1, -0.577215664901533, 1.64493406684823},  {2.5, 0.703156640645243, 0.490357756100235},
        {10, 2.25175258906672, 0.105166335681686},  {100, 4.60016185273809, 0.0100501666633336},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        close_to(strobe_moments_digamma(known[i][0]), known[i][1], 1e-12);
        close_to(strobe_moments_trigamma(known[i][0]), known[i][2], 1e-12);
        close_to(strobe_moments_trigamma_at(known[i][2]), known[i][0], 1e-9);
    }
}

static void variances_are_fitted_as_by_another_library(void **state)
{
    static const double variances[] = {4e-4, 9e-4, 2.5e-4, 1.6e-3, 1e-4, 3.6e-3, 7e-4, 1.2e-3};
    static const double dfs[] = {8, 8, 8, 8, 8, 8, 8, 8};
    static const double alike[] = {1, 1.01, 0.99};
    (void)state;
    struct strobe_moments_prior prior = strobe_moments_fit(variances, dfs, 8);
    close_to(prior.df, 2.8888215046135803, 1e-9);
    close_to(prior.scale, 0.0005241038641588716, 1e-9);
    assert_true(isinf(strobe_moments_fit(alike, dfs, 3).df));
}

static void false_rates_are_those_of_benjamini_and_hochberg(void **state)
{
    double p[] = {0.01, 0.5, 0.03, 0.002, 0.2};
    static const double wanted[] = {0.025, 0.5, 0.05, 0.01, 0.25};
    double *order[5];
    (void)state;
    strobe_moments_false_rates(p, 5, order);
    for (int i = 0; i < 5; i++)
        close_to(p[i], wanted[i], 1e-12);
}

/* Numbers of its own, the same in every run of the test. */
static uint64_t seed = 1;
static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform();
    return sum;
}

enum { ZONES = 100 };

/* n runs a side; zones deviate by `s` from run to run, all zones of a run by 1 %; the first `changed` zones are slower in B. */
static struct strobe_diff *make(uint32_t n, double s, uint32_t changed, double by)
{
    struct strobe_diff *diff = strobe_diff_new();
    for (uint32_t run = 0; run < 2 * n; run++) {
        double luck = 0.01 * normal();
        assert_int_equal(strobe_diff_add_run(diff, run >= n), STROBE_OK);
        for (uint32_t zone = 0; zone < ZONES; zone++) {
            char name[32];
            double mean = 1000 * (1 + zone) * exp(luck + s * normal());
            if (run >= n && zone < changed)
                mean *= 1 + by;
            snprintf(name, sizeof name, "zone %u", zone);
            assert_int_equal(
                strobe_diff_add_row(diff, name, strlen(name), 100, 100 * mean, 50 * mean),
                STROBE_OK);
        }
    }
    return diff;
}

static const struct strobe_diff_options options = {.floor = 0.02, .false_rate = 0.05};

static void equal_sets_are_seldom_called_different(void **state)
{
    struct strobe_diff_result result;
    uint32_t n_false = 0;
    (void)state;
    for (int i = 0; i < 40; i++) {
        struct strobe_diff *diff = make(5, 0.01, 0, 0);
        assert_int_equal(strobe_diff_run(diff, &options, &result), STROBE_OK);
        n_false += result.n_of[STROBE_DIFF_SLOWER] + result.n_of[STROBE_DIFF_FASTER];
        assert_int_equal(result.n_of[STROBE_DIFF_SAME] + result.n_of[STROBE_DIFF_UNKNOWN] +
                             result.n_of[STROBE_DIFF_SLOWER] + result.n_of[STROBE_DIFF_FASTER],
                         ZONES);
        strobe_diff_free(diff);
    }
    assert_true(n_false <= 2); /* of 4,000 zones */
}

static void planted_changes_are_found_and_nothing_else(void **state)
{
    struct strobe_diff_result result;
    uint32_t n_found = 0, n_false = 0;
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct strobe_diff *diff = make(5, 0.01, 10, 0.1);
        assert_int_equal(strobe_diff_run(diff, &options, &result), STROBE_OK);
        for (uint32_t k = 0; k < result.n_rows; k++) {
            unsigned zone;
            assert_int_equal(sscanf(result.rows[k].name, "zone %u", &zone), 1);
            if (result.rows[k].verdict != STROBE_DIFF_SLOWER)
                continue;
            n_found += zone < 10;
            n_false += zone >= 10;
            if (zone < 10)
                assert_true(result.rows[k].low < 0.13 && result.rows[k].high > 0.07);
        }
        strobe_diff_free(diff);
    }
    assert_true(n_found >= 180); /* of 200 */
    assert_true(n_false <= 4);
}

static void what_all_zones_share_is_no_change_of_each(void **state)
{
    struct strobe_diff *diff = make(5, 0.005, ZONES, 0.3);
    struct strobe_diff_result result;
    (void)state;
    assert_int_equal(strobe_diff_run(diff, &options, &result), STROBE_OK);
    assert_int_equal(result.n_of[STROBE_DIFF_SLOWER], 0);
    assert_true(result.has_shift && result.shift_low < 0.3 && result.shift_high > 0.3);
    assert_true(result.shift_low > 0.25 && result.shift_high < 0.35);
    strobe_diff_free(diff);
}

static void two_runs_give_differences_and_no_verdict(void **state)
{
    struct strobe_diff *diff = make(2, 0.01, 10, 0.5);
    struct strobe_diff_result result;
    (void)state;
    assert_int_equal(strobe_diff_run(diff, &options, &result), STROBE_OK);
    assert_int_equal(result.n_of[STROBE_DIFF_NO_TEST], ZONES);
    assert_true(isnan(result.rows[0].low) && !isnan(result.rows[0].change));
    strobe_diff_free(diff);
}

static void noisy_zones_can_not_be_told_and_say_how_many_runs(void **state)
{
    struct strobe_diff *diff = make(3, 0.2, 0, 0);
    struct strobe_diff_result result;
    (void)state;
    assert_int_equal(strobe_diff_run(diff, &options, &result), STROBE_OK);
    assert_true(result.n_of[STROBE_DIFF_UNKNOWN] > ZONES * 9 / 10);
    for (uint32_t i = 0; i < result.n_rows; i++)
        if (result.rows[i].verdict == STROBE_DIFF_UNKNOWN)
            assert_true(result.rows[i].need_runs > 3);
    strobe_diff_free(diff);
}

static void numbers_that_are_no_times_have_no_clock(void **state)
{
    static const struct strobe_diff_options no_time = {
        .floor = 0.02, .false_rate = 0.05, .is_no_time = 1};
    struct strobe_diff *diff = strobe_diff_new();
    struct strobe_diff_result result;
    (void)state;
    for (uint32_t run = 0; run < 10; run++) {
        double noise = 1 + 0.001 * (run % 3);
        strobe_diff_add_run(diff, run >= 5);
        strobe_diff_add_row(diff, "small", 5, 10, (run >= 5 ? 0.12 : 0.1) * noise, 0);
        strobe_diff_add_row(diff, "even", 4, 10, 0.1 * noise, 0);
        strobe_diff_add_row(diff, "below 0", 7, 10, -1, 0); /* it has no ratio */
    }
    assert_int_equal(strobe_diff_run(diff, &no_time, &result), STROBE_OK);
    assert_int_equal(result.n_of[STROBE_DIFF_SLOWER], 1);
    assert_string_equal(result.rows[0].name, "small");
    assert_true(fabs(result.rows[0].change - 0.2) < 0.01);
    assert_int_equal(result.n_of[STROBE_DIFF_SAME], 1);
    assert_int_equal(strobe_diff_run(diff, &options, &result), STROBE_OK);
    assert_int_equal(result.n_of[STROBE_DIFF_SLOWER],
                     0); /* as times they are shorter than the clock's step */
    strobe_diff_free(diff);
}

static void new_gone_and_other_counts_are_named(void **state)
{
    struct strobe_diff *diff = strobe_diff_new();
    struct strobe_diff_result result;
    (void)state;
    for (uint32_t run = 0; run < 6; run++) {
        int set = run >= 3;
        strobe_diff_add_run(diff, set);
        strobe_diff_add_row(diff, "both", 4, set ? 20 : 10, 1000, 500);
        strobe_diff_add_row(diff, set ? "only in b" : "only in a", 9, 5, 1000, 500);
        if (run == 5)
            strobe_diff_add_row(diff, "once", 4, 5, 1000, 500);
    }
    assert_int_equal(strobe_diff_run(diff, &options, &result), STROBE_OK);
    assert_int_equal(result.n_of[STROBE_DIFF_NEW], 1);
    assert_int_equal(result.n_of[STROBE_DIFF_GONE], 1);
    assert_false(result.has_shift);
    for (uint32_t i = 0; i < result.n_rows; i++)
        if (!strcmp(result.rows[i].name, "both"))
            assert_true(result.rows[i].is_counted_otherwise);
    strobe_diff_free(diff);
}

static void nothing_compared_is_nothing_found(void **state)
{
    struct strobe_diff *diff = strobe_diff_new();
    struct strobe_diff_result result;
    (void)state;
    assert_int_equal(strobe_diff_run(diff, &options, &result), STROBE_OK);
    assert_int_equal(result.n_rows, 0);
    strobe_diff_free(diff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student_has_the_tails_of_another_library),
        cmocka_unit_test(derivatives_of_gamma_have_all_digits),
        cmocka_unit_test(variances_are_fitted_as_by_another_library),
        cmocka_unit_test(false_rates_are_those_of_benjamini_and_hochberg),
        cmocka_unit_test(equal_sets_are_seldom_called_different),
        cmocka_unit_test(planted_changes_are_found_and_nothing_else),
        cmocka_unit_test(what_all_zones_share_is_no_change_of_each),
        cmocka_unit_test(two_runs_give_differences_and_no_verdict),
        cmocka_unit_test(noisy_zones_can_not_be_told_and_say_how_many_runs),
        cmocka_unit_test(numbers_that_are_no_times_have_no_clock),
        cmocka_unit_test(new_gone_and_other_counts_are_named),
        cmocka_unit_test(nothing_compared_is_nothing_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
