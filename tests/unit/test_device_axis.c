/* test_device_axis.c - times of a device's cores are where they were, within the error that is stated.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "device_record/axis.h"

/* Ticks of 2.5 per ns. */
static uint64_t tick_at(void *context, uint64_t ns)
{
    (void)context;
    return 1000000 + ns * 5 / 2;
}
static double tick_error(void *context)
{
    (void)context;
    return 1;
}
static const struct strobe_device_host host = {
    .tick_at = tick_at, .tick_ns = 0.4, .error = tick_error};

static double draw(uint64_t *seed) /* 0 to 1 */
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* A device: 1.35 GHz nominal, off by `ppm`; the clock of core c began at origin[c]. */
struct device {
    double ppm, offset_ns, origin[8];
};

static uint64_t cycles_at(const struct device *device, uint32_t core, double ns)
{
    return (uint64_t)((ns + device->offset_ns) * 1.35 * (1 + device->ppm * 1e-6) +
                      device->origin[core]);
}

/* Read a clock: most round trips are short, some are long, the reading is anywhere in between. */
static bool sample(struct strobe_device_axis *clock, const struct device *device, uint32_t core,
                   double *now_ns, uint64_t *seed)
{
    double trip = 100 + 100 * draw(seed) + (draw(seed) < 0.1 ? 2e6 * draw(seed) : 0);
    double at = *now_ns + trip * draw(seed);
    double before = floor(*now_ns), after = ceil(*now_ns + trip);
    *now_ns += trip;
    return strobe_device_axis_sample(clock, core, cycles_at(device, core, at), (uint64_t)before,
                                     (uint64_t)after);
}

/* As the host reads them: all cores, and once more the reference, which is the first. */
static void burst(struct strobe_device_axis *clock, const struct device *device, double *now_ns,
                  uint64_t *seed)
{
    for (uint32_t core = 0; core < 8; core++)
        sample(clock, device, core, now_ns, seed);
    sample(clock, device, 0, now_ns, seed);
}

/* The piece that a time is in. */
static const struct strobe_clock_map_piece *piece_of(const struct strobe_clock_map *map,
                                                     int64_t time)
{
    uint64_t i = map->n_pieces - 1;
    while (i && map->pieces[i % STROBE_CLOCK_MAP_PIECES].time > time)
        i--;
    return &map->pieces[i % STROBE_CLOCK_MAP_PIECES];
}

/* How far off times are in one run; the largest error stated behind its first rounds, when the frequency is known. */
static void run(uint64_t seed, double *worst_over_stated, double *largest_stated)
{
    struct device device = {.ppm = 100 * draw(&seed) - 50, .offset_ns = 1e6 + 1e9 * draw(&seed)};
    struct strobe_device_axis clock;
    double now = 5e9, mapped = 0;
    for (uint32_t core = 1; core < 8; core++)
        device.origin[core] = floor(1e6 * draw(&seed));
    strobe_device_axis_init(&clock, &host, 1350000);
    for (int i = 0; i < 8; i++)
        burst(&clock, &device, &now, &seed);
    mapped = now;
    *worst_over_stated = *largest_stated = 0;
    for (int round = 0; round < 300; round++) {
        now += 5e6;
        burst(&clock, &device, &now, &seed);
        if (strobe_device_axis_ready(&clock) == INT64_MIN)
            continue;
        for (;; mapped += 1e5 * draw(&seed)) {
            uint32_t core = (uint32_t)(8 * draw(&seed));
            int64_t time =
                strobe_device_axis_common(&clock, core, cycles_at(&device, core, mapped));
            if (time > strobe_device_axis_ready(&clock))
                break;
            double tick = (double)strobe_device_axis_tick(&clock, time);
            double off = fabs(tick * 0.4 - (mapped + 1000000 * 0.4));
            double stated = (double)piece_of(&clock.map, time)->error_ns;
            *worst_over_stated = fmax(*worst_over_stated, off / stated);
            if (round >= 20)
                *largest_stated = fmax(*largest_stated, stated);
        }
    }
    assert_true(clock.map.n_pieces > 10);
    strobe_device_axis_free(&clock);
}

static void mapped_times_are_inside_the_stated_error_in_1000_runs(void **state)
{
    (void)state;
    int n_outside = 0, n_wide = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        double worst, stated;
        run(seed, &worst, &stated);
        n_outside += worst > 1;
        n_wide += stated > 500;
    }
    assert_int_equal(n_outside, 0);
    assert_int_equal(n_wide, 0);
}

static void times_never_step_back(void **state)
{
    (void)state;
    struct device device = {.ppm = 40, .offset_ns = 7};
    struct strobe_device_axis clock;
    uint64_t seed = 3, last = 0;
    double now = 1e9, mapped = 0;
    strobe_device_axis_init(&clock, &host, 1350000);
    for (int i = 0; i < 2000; i++) {
        if (i == 1000)
            device.ppm = -40; /* it gets cooler: the device's clock turns slower from here on */
        now += 3e6 * draw(&seed);
        sample(&clock, &device, 0, &now, &seed);
        if (strobe_device_axis_ready(&clock) == INT64_MIN)
            continue;
        mapped = mapped ? mapped : now;
        for (; mapped < now - 1e6; mapped += 2e5) {
            uint64_t tick = strobe_device_axis_tick(
                &clock, strobe_device_axis_common(&clock, 0, cycles_at(&device, 0, mapped)));
            if (i != 1000 && i != 1001)
                assert_true(tick >= last);
            last = tick;
        }
    }
    strobe_device_axis_free(&clock);
}

/* A device that sends so much that times are mapped before the clock's next reading: up to shortly before it, or behind it. */
static void times_that_are_mapped_ahead_of_the_readings_keep_the_frequency(void **state)
{
    (void)state;
    for (uint64_t run = 1; run <= 100; run++) {
        uint64_t seed = run;
        struct device device = {.ppm = 100 * draw(&seed) - 50, .offset_ns = 1e6};
        struct strobe_device_axis clock;
        double now = 5e9;
        strobe_device_axis_init(&clock, &host, 1350000);
        for (int i = 0; i < 12; i++)
            sample(&clock, &device, 0, &now, &seed);
        strobe_device_axis_guess(&clock, 0, cycles_at(&device, 0, now), (uint64_t)now);
        for (int round = 0; round < 100; round++) {
            double ahead = now + 1e7 * (0.7 + 0.6 * draw(&seed));
            strobe_device_axis_tick(&clock, (int64_t)cycles_at(&device, 0, ahead));
            now += 1e7;
            for (int i = 0; i < 8; i++)
                sample(&clock, &device, 0, &now, &seed);
        }
        assert_true(clock.map.n_pieces > 20);
        for (uint64_t i = 0; i < clock.map.n_pieces; i++) {
            double ticks = (double)clock.map.pieces[i].mult / 4294967296.0;
            assert_true(fabs(ticks * 1.35 / 2.5 - 1) < 5e-4);
        }
        strobe_device_axis_free(&clock);
    }
}

static void a_reset_begins_a_new_piece_behind_the_old_ones(void **state)
{
    (void)state;
    struct device device = {.ppm = 10, .offset_ns = 1e9};
    struct strobe_device_axis clock;
    uint64_t seed = 5;
    double now = 3e9;
    strobe_device_axis_init(&clock, &host, 1350000);
    for (int i = 0; i < 20; i++, now += 5e6)
        sample(&clock, &device, 0, &now, &seed);
    uint64_t before = strobe_device_axis_tick(&clock, strobe_device_axis_ready(&clock));
    strobe_device_axis_reset(&clock);
    assert_true(strobe_device_axis_ready(&clock) == INT64_MIN);
    device.offset_ns = -now; /* counts from 0 again */
    double reset = now;
    now += 1e6;
    for (int i = 0; i < 20; i++, now += 5e6)
        sample(&clock, &device, 0, &now, &seed);
    uint64_t cycles = cycles_at(&device, 0, reset + 50e6);
    uint64_t tick = strobe_device_axis_tick(&clock, strobe_device_axis_common(&clock, 0, cycles));
    assert_true(tick > before);
    double off = (double)tick * 0.4 - (reset + 50e6 + 1000000 * 0.4);
    assert_true(fabs(off) < 1000);
    strobe_device_axis_free(&clock);
}

static void without_samples_a_guess_says_that_it_is_one(void **state)
{
    (void)state;
    struct strobe_device_axis clock;
    strobe_device_axis_init(&clock, &host, 1000000);
    assert_true(strobe_device_axis_guess(&clock, 3, 5000, 1000000));
    assert_false(strobe_device_axis_guess(&clock, 3, 6000, 1000000));
    assert_true(strobe_clock_map_last(&clock.map)->error_ns >= 5000000);
    uint64_t tick = strobe_device_axis_tick(&clock, strobe_device_axis_common(&clock, 3, 6000));
    assert_int_equal(tick, tick_at(NULL, 1001000));
    strobe_device_axis_free(&clock);
}

/* The clock runs faster behind the last short sample: only a long one, at the end, can say so. */
static void the_last_samples_bound_what_is_behind_the_last_knot(void **state)
{
    (void)state;
    struct device device = {.ppm = 0, .offset_ns = 1e9};
    struct strobe_device_axis clock;
    double now = 3e9;
    strobe_device_axis_init(&clock, &host, 1350000);
    for (int i = 0; i < 20; i++, now += 5e6)
        strobe_device_axis_sample(&clock, 0, cycles_at(&device, 0, now + 100), (uint64_t)now,
                                  (uint64_t)now + 200);
    double begin = now;
    uint64_t first = cycles_at(&device, 0, begin), last = first + (uint64_t)(4e9 * 1.35 * 1.0005);
    now += 4e9;
    strobe_device_axis_sample(&clock, 0, last, (uint64_t)now - 500000, (uint64_t)now + 500000);
    assert_true(strobe_device_axis_end(&clock));
    assert_false(strobe_device_axis_end(&clock));
    int64_t time = strobe_device_axis_common(&clock, 0, last - 1350);
    double off = (double)strobe_device_axis_tick(&clock, time) * 0.4 - (now - 1000 + 400000);
    assert_true(fabs(off) <= (double)piece_of(&clock.map, time)->error_ns);
    assert_true(piece_of(&clock.map, time)->error_ns >= 500000);
    strobe_device_axis_free(&clock);
}

/* All samples at the begin were long ones; the short ones that follow, a second later, lean a little. */
static void what_is_before_the_first_knot_is_within_its_error(void **state)
{
    (void)state;
    struct device device = {.ppm = 0, .offset_ns = 1e9};
    struct strobe_device_axis clock;
    double begin = 3e9, now = begin;
    strobe_device_axis_init(&clock, &host, 1350000);
    for (int i = 0; i < 4; i++, now += 20000) /* too few to know what is short */
        strobe_device_axis_sample(&clock, 0, cycles_at(&device, 0, now + 5000), (uint64_t)now,
                                  (uint64_t)now + 20000);
    now = begin + 1e9;
    for (int i = 0; i < 8; i++, now += 2.1e6)
        strobe_device_axis_sample(&clock, 0, cycles_at(&device, 0, now + 1 + 120 * i),
                                  (uint64_t)now, (uint64_t)now + 1000);
    double at = begin + 1e6;
    int64_t time = strobe_device_axis_common(&clock, 0, cycles_at(&device, 0, at));
    double off = (double)strobe_device_axis_tick(&clock, time) * 0.4 - (at + 400000);
    assert_true(fabs(off) <= (double)piece_of(&clock.map, time)->error_ns);
    strobe_device_axis_free(&clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mapped_times_are_inside_the_stated_error_in_1000_runs),
        cmocka_unit_test(times_never_step_back),
        cmocka_unit_test(times_that_are_mapped_ahead_of_the_readings_keep_the_frequency),
        cmocka_unit_test(a_reset_begins_a_new_piece_behind_the_old_ones),
        cmocka_unit_test(without_samples_a_guess_says_that_it_is_one),
        cmocka_unit_test(the_last_samples_bound_what_is_behind_the_last_knot),
        cmocka_unit_test(what_is_before_the_first_knot_is_within_its_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
