/* test_hosts_stamps.c - hosts/stamps.h: a stamp of the kernel as a tick that is never too early.  SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hosts/stamps.h"

/* A counter of 3 GHz that shows 3,000,000 at the wall clock's 1,000,000 ns. */
static struct strobe_stamp_reading at(uint64_t ns)
{
    return (struct strobe_stamp_reading){3 * ns, 3 * ns + 30, ns};
}

static const struct strobe_stamps stamps = {.ticks_per_ns = 3};

static void a_stamps_age_is_taken_off_the_counter(void **state)
{
    (void)state;
    struct strobe_stamp_reading last = at(1000000), now = at(1050000);
    uint64_t tick = strobe_stamps_place(&stamps, &last, &now, 1030000);
    assert_in_range(tick, 3 * 1030000, 3 * 1030000 + 100); /* no earlier; and later by little */
}

static void a_wall_clock_that_was_set_in_between_is_not_believed(void **state)
{
    (void)state;
    struct strobe_stamp_reading last = at(1000000), now = at(1050000);
    now.real_ns += 10000;
    assert_int_equal(strobe_stamps_place(&stamps, &last, &now, 1030000), 0);
    now.real_ns -= 20000;
    assert_int_equal(strobe_stamps_place(&stamps, &last, &now, 1030000), 0);
}

static void a_stamp_without_a_recent_reading_before_it_is_not_believed(void **state)
{
    (void)state;
    struct strobe_stamp_reading none = {0}, old = at(1000000), now = at(9000000);
    assert_int_equal(strobe_stamps_place(&stamps, &none, &now, 8999000), 0);
    assert_int_equal(strobe_stamps_place(&stamps, &old, &now, 8999000), 0);
    struct strobe_stamp_reading last = at(8990000);
    assert_int_equal(strobe_stamps_place(&stamps, &last, &now, 9000001), 0); /* from the future */
    assert_int_not_equal(strobe_stamps_place(&stamps, &last, &now, 8999000), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stamps_age_is_taken_off_the_counter),
        cmocka_unit_test(a_wall_clock_that_was_set_in_between_is_not_believed),
        cmocka_unit_test(a_stamp_without_a_recent_reading_before_it_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
