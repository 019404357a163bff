/* The trace's ticks at times of the host, over a long recording.  SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device_record/host_clock.h"

#define MHZ   2445.432 /* the true rate */
#define NOISE 25       /* ns: of a reading, at most */
#define ERROR \
    52 /* ns: a reading's noise and as much for the rate, as source.c states it, rounded */
#define STEP_NS 500000 /* the recorder's round */

static uint32_t state = 1;
static int64_t noise(void)
{
    state = state * 1664525u + 1013904223u;
    return (int64_t)(state >> 8) % (2 * NOISE + 1) - NOISE;
}

static uint64_t true_tick(uint64_t ns)
{
    return 1000000 + (uint64_t)((double)ns * MHZ / 1e3 + 0.5);
}

static void take(struct strobe_host_clock *clock, uint64_t ns)
{
    strobe_host_clock_read(clock, true_tick((uint64_t)((int64_t)ns + noise())), ns,
                           NOISE * MHZ / 1e3);
}

static int64_t error_ns(const struct strobe_host_clock *clock, uint64_t ns)
{
    return (int64_t)((double)(int64_t)(strobe_host_clock_tick(clock, ns) - true_tick(ns)) * 1e3 /
                     MHZ);
}

static void times_of_a_minute_stay_inside_the_error_of_the_readings(void **unused)
{
    (void)unused;
    for (uint64_t start = 1; start < 20; start++) {
        struct strobe_host_clock clock = {0};
        uint64_t from = start * 1000000007ull;
        take(&clock, from);
        take(&clock, from + 20000000);
        for (uint64_t ns = from + 20000000; ns < from + 60000000000ull; ns += STEP_NS) {
            assert_true(llabs(error_ns(&clock, ns)) <= ERROR);
            assert_true(llabs(error_ns(&clock, ns)) <=
                        1 + (int64_t)strobe_host_clock_error(&clock));
            if (strobe_host_clock_is_due(&clock, ns))
                take(&clock, ns);
        }
    }
}

static void readings_are_rare_in_the_end(void **unused)
{
    (void)unused;
    struct strobe_host_clock clock = {0};
    uint32_t n = 0;
    take(&clock, 1000000000);
    for (uint64_t ns = 1020000000; ns < 61000000000ull; ns += STEP_NS)
        if (strobe_host_clock_is_due(&clock, ns)) {
            take(&clock, ns);
            n++;
        }
    assert_in_range(n, 60, 75);
}

static void a_time_before_the_newest_reading_has_its_tick(void **unused)
{
    (void)unused;
    struct strobe_host_clock clock = {0};
    take(&clock, 1000000000);
    take(&clock, 3000000000);
    assert_true(llabs(error_ns(&clock, 2000000000)) <= ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_a_minute_stay_inside_the_error_of_the_readings),
        cmocka_unit_test(readings_are_rare_in_the_end),
        cmocka_unit_test(a_time_before_the_newest_reading_has_its_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
