/* test_device_clock_fit.c - clocks with known truth, through the fit.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>

#include "device/clock_fit.h"

static uint64_t random_state;

static double draw(double below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return below * (double)(random_state >> 11) / 9007199254740992.0;
}

static void a_straight_clock_is_recovered_by_the_regression(void **state)
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
    assert_int_equal(strobe_clock_line_fit(samples, 1, 1, &line), STROBE_ERR_INVALID);
    samples[1] = samples[0];
    assert_int_equal(strobe_clock_line_fit(samples, 2, 1, &line), STROBE_ERR_INVALID);
}

/* A device of 8 clocks: 1.35 GHz off by up to 50 ppm, origins of their own, readings that are mostly quick and sometimes
 * held up, on either side. Returns whether every mapped time was within its stated uncertainty. */
static int run_holds(uint64_t seed, double *worst_ns, double *ppm)
{
    struct strobe_clock_fit *fit;
    double per_ns[8], origin[8];
    int holds = 1;
    random_state = seed * 7919 + 1;
    assert_int_equal(strobe_clock_fit_open(8, 1350000, &fit), STROBE_OK);
    double rate = 1.35 * (1 + (draw(100) - 50) * 1e-6);
    for (int i = 0; i < 8; i++) {
        per_ns[i] = rate;
        origin[i] = draw(1e12);
    }
    for (int turn = 0; turn < 400; turn++) {
        double now = 1e15 + turn * 1e6;
        for (uint32_t clock = 0; clock < 8; clock++) {
            double to = 100 + draw(150), back = 100 + draw(150);
            if (draw(1) < 0.2)
                *(draw(1) < 0.5 ? &to : &back) += draw(50000);
            uint64_t cycles = (uint64_t)(origin[clock] + (now - 1e15) * per_ns[clock]);
            strobe_clock_fit_add(fit, clock, cycles, (uint64_t)(now - to),
                                 (uint64_t)ceil(now + back));
            struct strobe_clock_time time;
            double when = now - draw(20e6); /* somewhere in the last 20 ms */
            uint64_t at = (uint64_t)(origin[clock] + (when - 1e15) * per_ns[clock]);
            if (turn < 1)
                continue;
            assert_int_equal(strobe_clock_fit_map(fit, clock, at, &time), STROBE_OK);
            double error = fabs((double)(int64_t)(time.host_ns - 1000000000000000) - (when - 1e15));
            holds &= error <= time.uncertainty_ns;
            if (turn >= 100) /* a tenth of a second after the start */
                *worst_ns = fmax(*worst_ns, time.uncertainty_ns);
        }
    }
    struct strobe_clock_quality quality;
    strobe_clock_fit_quality(fit, &quality);
    *ppm = fmax(*ppm, fabs(quality.cycles_per_ns / rate - 1) * 1e6);
    strobe_clock_fit_close(fit);
    return holds;
}

static void every_mapped_time_is_within_its_uncertainty(void **state)
{
    double worst_ns = 0, ppm = 0;
    int n_held = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++)
        n_held += run_holds(seed, &worst_ns, &ppm);
    print_message(
        "%d of 200 runs held, widest uncertainty %.0f ns, frequency off by %.3f ppm at most\n",
        n_held, worst_ns, ppm);
    assert_int_equal(n_held, 200);
    assert_true(worst_ns <= 500);
    assert_true(ppm < 100); /* 0.01 % */
}

static void a_clock_without_readings_has_no_time(void **state)
{
    struct strobe_clock_fit *fit;
    struct strobe_clock_time time;
    (void)state;
    assert_int_equal(strobe_clock_fit_open(2, 1000000, &fit), STROBE_OK);
    assert_int_equal(strobe_clock_fit_map(fit, 0, 5, &time), STROBE_ERR_NOTFOUND);
    assert_true(strobe_clock_fit_add(fit, 0, 1000, 5000, 5010));
    assert_false(strobe_clock_fit_add(fit, 2, 1000, 5000, 5010));
    assert_false(strobe_clock_fit_add(fit, 0, 1000, 5010, 5000));
    assert_int_equal(strobe_clock_fit_map(fit, 0, 2000, &time), STROBE_OK);
    assert_int_equal(time.host_ns, 6005);
    strobe_clock_fit_reset(fit, 0);
    assert_int_equal(strobe_clock_fit_map(fit, 0, 5, &time), STROBE_ERR_NOTFOUND);
    strobe_clock_fit_close(fit);
}

static void host_time_does_not_step_back(void **state)
{
    struct strobe_clock_fit *fit;
    struct strobe_clock_time time;
    uint64_t last = 0;
    (void)state;
    random_state = 5;
    assert_int_equal(strobe_clock_fit_open(1, 1000000, &fit), STROBE_OK);
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t now = 1000000 * i + 1000000, late = (uint64_t)draw(900);
        strobe_clock_fit_add(fit, 0, now, now - 1000 + late, now + late);
        assert_int_equal(strobe_clock_fit_map(fit, 0, now - 500000 + 30 * i, &time), STROBE_OK);
        assert_true(time.host_ns >= last);
        last = time.host_ns;
    }
    strobe_clock_fit_close(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_straight_clock_is_recovered_by_the_regression),
        cmocka_unit_test(every_mapped_time_is_within_its_uncertainty),
        cmocka_unit_test(a_clock_without_readings_has_no_time),
        cmocka_unit_test(host_time_does_not_step_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
