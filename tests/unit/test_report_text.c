/* test_report_text.c - numbers and cells are written as Python writes them.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "report/text.h"

static void check_double(double value, const char *expected)
{
    struct strobe_out text = {0};
    strobe_report_text_double(&text, value);
    assert_string_equal(text.at, expected);
    strobe_out_free(&text);
}

static void doubles_have_the_shortest_digits_that_read_back(void **state)
{
    (void)state;
    check_double(0, "0.0");
    check_double(-0.0, "-0.0");
    check_double(1.5, "1.5");
    check_double(0.1, "0.1");
    check_double(292.5714416503906, "292.5714416503906");
    check_double(1.0922330097087378, "1.0922330097087378");
    check_double(100, "100.0");
    check_double(1e16, "1e+16");
    check_double(123456789012345680.0, "1.2345678901234568e+17");
    check_double(9999999999999998.0, "9999999999999998.0");
    check_double(0.0001, "0.0001");
    check_double(0.00001, "1e-05");
    check_double(5e-324, "5e-324");
    check_double(NAN, "nan");
    check_double(-INFINITY, "-inf");
}

static void rounding_goes_half_to_even(void **state)
{
    (void)state;
    assert_int_equal(strobe_report_round_int(0.5), 0);
    assert_int_equal(strobe_report_round_int(1.5), 2);
    assert_int_equal(strobe_report_round_int(2.5), 2);
    assert_int_equal(strobe_report_round_int(-0.5), 0);
    assert_true(strobe_report_round(2.3045, 3) == 2.305 || strobe_report_round(2.3045, 3) == 2.304);
    assert_true(strobe_report_round(0.0625, 3) == 0.062);
    assert_true(strobe_report_round(2.675, 2) == 2.67);
}

static void check_cell(const char *raw, const char *expected)
{
    struct strobe_out text = {0};
    strobe_report_text_cell(&text, raw, strlen(raw));
    assert_string_equal(text.at ? text.at : "", expected);
    strobe_out_free(&text);
}

static void cells_have_no_commas_and_quotes_only_where_needed(void **state)
{
    (void)state;
    check_cell("", "");
    check_cell("a, b", "a; b");
    check_cell("say \"x\", twice", "\"say \"\"x\"\"; twice\"");
    check_cell("two\nlines", "\"two\nlines\"");
    check_cell("'single'", "'single'");
}

static void numbers_are_read_whole_or_not_at_all(void **state)
{
    (void)state;
    int64_t value;
    uint64_t big;
    assert_true(strobe_report_span_int((struct strobe_report_span){" -42 ", 5}, &value));
    assert_int_equal(value, -42);
    assert_false(strobe_report_span_int((struct strobe_report_span){"4x", 2}, &value));
    assert_false(strobe_report_span_int((struct strobe_report_span){"", 0}, &value));
    assert_false(strobe_report_span_int((struct strobe_report_span){"--1", 3}, &value));
    assert_true(
        strobe_report_span_uint((struct strobe_report_span){"18446744073709551615", 20}, &big));
    assert_false(
        strobe_report_span_uint((struct strobe_report_span){"18446744073709551616", 20}, &big));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_have_the_shortest_digits_that_read_back),
        cmocka_unit_test(rounding_goes_half_to_even),
        cmocka_unit_test(cells_have_no_commas_and_quotes_only_where_needed),
        cmocka_unit_test(numbers_are_read_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
