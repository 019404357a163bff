/* test_base_number.c - numbers out and in again.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static uint64_t next_random(void)
{
    static uint64_t x = 88172645463325252u;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x;
}

static void whole_numbers_equal_the_c_library_s(void **state)
{
    (void)state;
    char ours[STROBE_NUMBER_ROOM + 1], theirs[40];
    for (int i = 0; i < 100000; i++) {
        uint64_t value = i < 3 ? UINT64_MAX - (uint64_t)i : next_random() >> next_random() % 64, u;
        int64_t back;
        *strobe_number_put_u(ours, value) = 0;
        snprintf(theirs, sizeof theirs, "%" PRIu64, value);
        assert_string_equal(ours, theirs);
        assert_true(strobe_number_parse_u(ours, strlen(ours), &u) && u == value);
        *strobe_number_put_i(ours, (int64_t)value) = 0;
        snprintf(theirs, sizeof theirs, "%" PRId64, (int64_t)value);
        assert_string_equal(ours, theirs);
        assert_true(strobe_number_parse_i(ours, strlen(ours), &back) && back == (int64_t)value);
    }
}

static void what_does_not_fit_is_no_number(void **state)
{
    (void)state;
    uint64_t u;
    int64_t i;
    double d;
    static const char *const bad_u[] = {"",   "-1", "+1", " 1", "1 ", "0x1", "18446744073709551616",
                                        "1e3"};
    for (size_t k = 0; k < sizeof bad_u / sizeof bad_u[0]; k++)
        assert_false(strobe_number_parse_u(bad_u[k], strlen(bad_u[k]), &u));
    static const char *const bad_i[] = {"", "-", "--1", "9223372036854775808",
                                        "-9223372036854775809"};
    for (size_t k = 0; k < sizeof bad_i / sizeof bad_i[0]; k++)
        assert_false(strobe_number_parse_i(bad_i[k], strlen(bad_i[k]), &i));
    static const char *const bad_d[] = {"",   "-",   ".5",  "5.", "1e",    "1e+",
                                        "01", "nan", "inf", "1 ", "0x1p3", "-01"};
    for (size_t k = 0; k < sizeof bad_d / sizeof bad_d[0]; k++)
        assert_false(strobe_number_parse_double(bad_d[k], strlen(bad_d[k]), &d));
}

/* The fewest digits by trying all precisions. */
static int fewest(double value)
{
    char text[40];
    for (int n = 1;; n++) {
        snprintf(text, sizeof text, "%.*e", n - 1, value);
        if (n == 17 || strtod(text, NULL) == value)
            return n;
    }
}

static void check_double(double value)
{
    char text[STROBE_NUMBER_ROOM + 1], digits[STROBE_NUMBER_DIGITS];
    char *end = strobe_number_put_double(text, value);
    assert_true(end - text <= STROBE_NUMBER_ROOM);
    *end = 0;
    double back = strtod(text, NULL), ours;
    assert_memory_equal(&back, &value, sizeof value);
    assert_true(strobe_number_parse_double(text, (size_t)(end - text), &ours));
    assert_memory_equal(&ours, &value, sizeof value);
    int point, n = value == 0 ? 0 : strobe_number_digits(fabs(value), digits, &point);
    assert_true(value == 0 || n <= fewest(fabs(value)));
}

static void doubles_come_back_and_have_the_fewest_digits(void **state)
{
    (void)state;
    for (int i = 0; i < 60000; i++) {
        uint64_t bits = next_random();
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            check_double(value);
        check_double((double)(bits % 100000000) / 1000); /* few digits behind the point */
        check_double((double)(bits >> 40) / (double)(bits % 999 + 1)); /* means */
        check_double((double)(int64_t)bits);
    }
    check_double(0.0);
    check_double(-0.0);
    check_double(5e-324);
    check_double(2.2250738585072014e-308);
    check_double(1.7976931348623157e308);
    check_double(9007199254740993.0);
}

static void check_text(double value, const char *expected)
{
    char text[STROBE_NUMBER_ROOM + 1];
    *strobe_number_put_double(text, value) = 0;
    assert_string_equal(text, expected);
}

static void doubles_are_written_plainly(void **state)
{
    (void)state;
    check_text(0.1, "0.1");
    check_text(-2, "-2");
    check_text(1e16, "10000000000000000");
    check_text(1e17, "1e+17");
    check_text(1.5e300, "1.5e+300");
    check_text(0.0001, "0.0001");
    check_text(0.00001234, "1.234e-05");
    check_text(1.0 / 3, "0.3333333333333333");
    check_text(123456.789, "123456.789");
    check_text(NAN, "NaN");
    check_text(-INFINITY, "-Infinity");
}

static void long_numbers_are_read_as_the_c_library_reads_them(void **state)
{
    (void)state;
    static const char *const texts[] = {"0.1",
                                        "1e22",
                                        "1e23",
                                        "123456789012345678901234567890",
                                        "9007199254740993",
                                        "1.7976931348623159e308",
                                        "4.9e-324",
                                        "1e-400",
                                        "0.000000000000000000000000000000001",
                                        "100000000000000016777215",
                                        "2.2250738585072011e-308",
                                        "1e999999999999",
                                        "-0.0",
                                        "0e5"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double ours, theirs = strtod(texts[i], NULL);
        assert_true(strobe_number_parse_double(texts[i], strlen(texts[i]), &ours));
        assert_memory_equal(&ours, &theirs, sizeof ours);
    }
    char longest[300];
    memset(longest, '7', sizeof longest);
    longest[1] = '.';
    double ours;
    assert_true(strobe_number_parse_double(longest, sizeof longest, &ours));
    assert_true(ours == 7.777777777777777777777777777777);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_equal_the_c_library_s),
        cmocka_unit_test(what_does_not_fit_is_no_number),
        cmocka_unit_test(doubles_come_back_and_have_the_fewest_digits),
        cmocka_unit_test(doubles_are_written_plainly),
        cmocka_unit_test(long_numbers_are_read_as_the_c_library_reads_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
