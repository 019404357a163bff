/* test_query_clock_fit.c - query/clock_fit.h: true times lie within what is proven, whatever the clocks do.
 *
 * Two clocks are simulated, with datagrams that take 4 us and a random time on top, in bursts every second.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "query/clock_fit.h"

#define HZ 3e9

enum { BURST = 8, MOST = 4096 };

/* The other clock as a function of true time, and x's. */
struct clocks {
    double ppm;           /* of x */
    double step, step_at; /* of x, in seconds */
    double wander;        /* ppm that x's rate swings by, over ten minutes */
    double seconds;
    uint64_t seed;
    double said; /* what the recorders say of the rate is wrong by so much */
};

static double random_unit(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static uint64_t x_at(const struct clocks *c, double t)
{
    double wave = c->wander * 1e-6 * 600 / 6.28318 * (1 - cos(6.28318 * t / 600));
    double s = t + t * c->ppm * 1e-6 + wave + (t >= c->step_at ? c->step : 0);
    return 7000000000000ull + (uint64_t)(int64_t)(s * HZ);
}

static uint64_t y_at(double t)
{
    return 1000000000000ull + (uint64_t)(t * HZ);
}

static double delay(uint64_t *seed)
{
    return 4e-6 - 5e-6 * log(1 - random_unit(seed));
}

static uint32_t simulate(struct clocks *c, struct strobe_clock_point *points)
{
    uint32_t n = 0;
    for (double t = 0.5; t < c->seconds; t += 1)
        for (int i = 0; i < BURST && n < MOST; i++) {
            double sent = t + i * 100e-6, there = sent + delay(&c->seed),
                   back = there + delay(&c->seed);
            points[n++] = (struct strobe_clock_point){x_at(c, there), y_at(sent), y_at(back)};
        }
    return n;
}

struct outcome {
    uint32_t n, n_wrong, n_likely,
        n_wide; /* times tried; outside of the proven bound, inside of the likely one; proven over 15 us */
    uint32_t n_steps;
};

static struct outcome run(struct clocks c)
{
    static struct strobe_clock_point points[MOST];
    struct strobe_clock_fit fit;
    struct strobe_retime map;
    struct outcome out = {0};
    uint32_t n = simulate(&c, points), hint = 0;
    struct strobe_clock_fit_options options = {.rate = 1 + c.said,
                                               .tolerance = 1e-3,
                                               .second = HZ,
                                               .first = x_at(&c, 0),
                                               .last = x_at(&c, c.seconds)};
    assert_int_equal(strobe_clock_fit_run(points, n, &options, &fit), STROBE_OK);
    assert_int_equal(strobe_clock_fit_map(&fit, &map), STROBE_OK);
    for (double t = 0; t < c.seconds; t += 0.0137) {
        uint64_t x = x_at(&c, t), y = strobe_retime_tick(&map, x, &hint);
        uint32_t k = 0;
        while (k + 1 < fit.n_knots && fit.knots[k + 1].x <= x)
            k++;
        double off = fabs((double)(int64_t)(y - y_at(t)));
        out.n++;
        out.n_wrong += off > fit.knots[k].proven + 2;
        out.n_likely += off <= fit.knots[k].likely + 2;
        out.n_wide += fit.knots[k].proven > 15e-6 * HZ;
    }
    out.n_steps = fit.n_steps;
    free(map.pieces);
    strobe_clock_fit_free(&fit);
    return out;
}

static void offsets_and_drifts_stay_within_the_proven_bound(void **state)
{
    (void)state;
    uint32_t n = 0, n_likely = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct outcome out = run((struct clocks){.ppm = (double)(int)(seed % 5 - 2) * 50,
                                                 .seconds = 3 + (double)(seed % 20),
                                                 .seed = seed});
        assert_int_equal(out.n_wrong, 0);
        assert_int_equal(out.n_steps, 0);
        n += out.n;
        n_likely += out.n_likely;
    }
    assert_true(n_likely >= n * 0.95);
}

static void a_step_is_found_and_only_its_surroundings_are_unsure(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        double steps[] = {0.005, -0.005, 0.0002, -0.3, 2, -2.5};
        struct outcome out = run((struct clocks){.ppm = 100,
                                                 .step = steps[seed % 6],
                                                 .step_at = 6 + 0.01 * (double)(seed % 100),
                                                 .seconds = 14,
                                                 .seed = seed});
        assert_int_equal(out.n_wrong, 0);
        assert_int_equal(out.n_steps, 1);
        assert_true(out.n_wide <= out.n * 0.5);
    }
}

static void a_rate_that_most_bursts_agree_on_is_right_whatever_the_recorders_say(void **state)
{
    (void)state;
    struct outcome out = run((struct clocks){
        .ppm = 100, .step = 0.007, .step_at = 5.2, .seconds = 11, .seed = 9, .said = 0.0014});
    assert_int_equal(out.n_wrong, 0);
    assert_int_equal(out.n_steps, 1);
}

static void a_rate_that_wanders_slowly_is_followed(void **state)
{
    (void)state;
    struct outcome out = run((struct clocks){.ppm = 30, .wander = 3, .seconds = 500, .seed = 7});
    assert_int_equal(out.n_wrong, 0);
    assert_int_equal(out.n_steps, 0);
}

/* Messages that went one way, both ways in turns, and took 1 us: bounds of one side each. */
static void messages_that_went_one_way_make_the_bounds_closer(void **state)
{
    (void)state;
    static struct strobe_clock_point points[MOST];
    struct clocks c = {.ppm = -80, .seconds = 20, .seed = 11};
    double wide[2] = {0};
    for (int with = 0; with < 2; with++) {
        struct strobe_clock_fit fit;
        uint32_t n = simulate(&c, points), n_exchanges = n;
        for (double t = 0.2; with && t < c.seconds; t += 0.05) {
            int is_out = (int)(t * 20) % 2;
            points[n++] =
                is_out ? (struct strobe_clock_point){x_at(&c, t), 0, y_at(t + 1e-6)}
                       : (struct strobe_clock_point){x_at(&c, t + 1e-6), y_at(t), UINT64_MAX};
        }
        for (uint32_t i = n_exchanges; i < n; i++) /* by time */
            for (uint32_t k = i; k && points[k].x < points[k - 1].x; k--) {
                struct strobe_clock_point other = points[k];
                points[k] = points[k - 1];
                points[k - 1] = other;
            }
        struct strobe_clock_fit_options options = {
            .rate = 1, .tolerance = 1e-3, .second = HZ, .first = x_at(&c, 0), .last = x_at(&c, 20)};
        assert_int_equal(strobe_clock_fit_run(points, n, &options, &fit), STROBE_OK);
        assert_int_equal(fit.n_steps, 0);
        struct strobe_retime map;
        uint32_t hint = 0;
        assert_int_equal(strobe_clock_fit_map(&fit, &map), STROBE_OK);
        for (double t = 1; t < 19; t += 0.01) {
            uint64_t x = x_at(&c, t), y = strobe_retime_tick(&map, x, &hint);
            uint32_t k = 0;
            while (k + 1 < fit.n_knots && fit.knots[k + 1].x <= x)
                k++;
            assert_true(fabs((double)(int64_t)(y - y_at(t))) <= fit.knots[k].proven + 2);
            wide[with] = fmax(wide[with], fit.knots[k].proven);
        }
        free(map.pieces);
        strobe_clock_fit_free(&fit);
    }
    assert_true(wide[1] < wide[0] * 0.7);
    struct strobe_clock_fit none;
    struct strobe_clock_point one = {1, 0, 5};
    struct strobe_clock_fit_options options = {.rate = 1, .tolerance = 1e-3, .second = HZ};
    assert_int_equal(strobe_clock_fit_run(&one, 1, &options, &none), STROBE_ERR_INVALID);
}

static void one_exchange_is_enough_for_a_map_whose_error_grows(void **state)
{
    (void)state;
    struct outcome out = run((struct clocks){.ppm = 100, .seconds = 1, .seed = 3});
    assert_int_equal(out.n_wrong, 0);
}

static void two_maps_behind_each_other_add_their_errors(void **state)
{
    (void)state;
    static struct strobe_clock_point points[MOST];
    struct clocks c = {.ppm = 50, .seconds = 10, .seed = 5};
    struct strobe_clock_fit a, b, both;
    uint32_t n = simulate(&c, points);
    struct strobe_clock_fit_options options = {
        .rate = 1, .tolerance = 1e-3, .second = HZ, .first = x_at(&c, 0), .last = x_at(&c, 10)};
    assert_int_equal(strobe_clock_fit_run(points, n, &options, &a), STROBE_OK);
    for (uint32_t i = 0; i < n; i++) /* from y on to the same clock, a second later */
        points[i] = (struct strobe_clock_point){points[i].lo, points[i].lo + (uint64_t)HZ - 9000,
                                                points[i].lo + (uint64_t)HZ + 9000};
    options.first = y_at(0);
    options.last = y_at(10);
    assert_int_equal(strobe_clock_fit_run(points, n, &options, &b), STROBE_OK);
    assert_int_equal(strobe_clock_fit_join(&a, &b, &both), STROBE_OK);
    struct strobe_retime map;
    uint32_t hint = 0;
    assert_int_equal(strobe_clock_fit_map(&both, &map), STROBE_OK);
    for (double t = 0; t < 10; t += 0.01) {
        uint64_t x = x_at(&c, t), y = strobe_retime_tick(&map, x, &hint);
        uint32_t k = 0;
        while (k + 1 < both.n_knots && both.knots[k + 1].x <= x)
            k++;
        double off = fabs((double)(int64_t)(y - y_at(t) - (uint64_t)HZ));
        assert_true(off <= both.knots[k].proven + 2);
    }
    free(map.pieces);
    strobe_clock_fit_free(&a);
    strobe_clock_fit_free(&b);
    strobe_clock_fit_free(&both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_and_drifts_stay_within_the_proven_bound),
        cmocka_unit_test(a_step_is_found_and_only_its_surroundings_are_unsure),
        cmocka_unit_test(a_rate_that_most_bursts_agree_on_is_right_whatever_the_recorders_say),
        cmocka_unit_test(a_rate_that_wanders_slowly_is_followed),
        cmocka_unit_test(messages_that_went_one_way_make_the_bounds_closer),
        cmocka_unit_test(one_exchange_is_enough_for_a_map_whose_error_grows),
        cmocka_unit_test(two_maps_behind_each_other_add_their_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
