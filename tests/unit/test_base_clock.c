/* test_base_clock.c - clocks go forward.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/clock.h"

static void clocks_do_not_go_back(void **state)
{
    (void)state;
    uint64_t mono = strobe_clock_mono_ns(), cpu = strobe_clock_cpu_ns();
    for (int i = 0; i < 1000; i++) {
        uint64_t later = strobe_clock_mono_ns(), used = strobe_clock_cpu_ns();
        assert_true(later >= mono && used >= cpu);
        mono = later;
        cpu = used;
    }
    assert_true(strobe_clock_real_ns() > 1600000000ull * 1000000000ull);
}

static void nanoseconds_become_seconds_and_the_rest(void **state)
{
    (void)state;
    struct timespec ts = strobe_clock_timespec(12000000034ull);
    assert_int_equal(ts.tv_sec, 12);
    assert_int_equal(ts.tv_nsec, 34);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_do_not_go_back),
        cmocka_unit_test(nanoseconds_become_seconds_and_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
