/* test_report_csv.c - CSV rows come out as Python's csv module gives them.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "report/csv.h"

/* All rows, cells joined with '|', rows with '/'; a cut row has a '!' in front. */
static void read_all(const char *input, char delimiter, char quote, char *out)
{
    struct strobe_report_csv csv;
    *out = 0;
    assert_int_equal(strobe_report_csv_open_memory(&csv, input, strlen(input), delimiter, quote),
                     STROBE_OK);
    while (!strobe_report_csv_next(&csv)) {
        strcat(out, csv.cut ? "!" : "");
        for (int i = 0; i < csv.n_cells; i++)
            sprintf(out + strlen(out), "%s%.*s", i ? "|" : "", (int)csv.cells[i].len,
                    csv.cells[i].at);
        strcat(out, "/");
    }
    strobe_report_csv_close(&csv);
}

static void check(const char *input, char delimiter, char quote, const char *expected)
{
    char out[1024];
    read_all(input, delimiter, quote, out);
    assert_string_equal(out, expected);
}

static void quoted_cells_may_hold_separators_and_lines(void **state)
{
    (void)state;
    check("a;b\n`x;\ny`;2\n", ';', '`', "a|b/x;\ny|2/");
    check("`a``b`;1\n", ';', '`', "a`b|1/");
    check("a`b;1\n", ';', '`', "a`b|1/");
    check("\"id:1\",2\r\n\r\n3,4", ',', '"', "id:1|2/3|4/");
}

static void a_quote_that_is_never_closed_costs_one_row(void **state)
{
    (void)state;
    check("`open;1\n`next`;2\n`last`;3\n", ';', '`', "!open;1/next|2/last|3/");
    check("`open\nmore\nend;3\n", ';', '`', "!open/more/end|3/");
}

static void rows_know_their_lines(void **state)
{
    (void)state;
    const char input[] = "h\n`two\nlines`\n\nx\n";
    const uint64_t lines[] = {1, 2, 5};
    struct strobe_report_csv csv;
    int n = 0;
    strobe_report_csv_open_memory(&csv, input, strlen(input), ';', '`');
    while (!strobe_report_csv_next(&csv))
        assert_int_equal(csv.line, lines[n++]);
    assert_int_equal(n, 3);
    strobe_report_csv_close(&csv);
}

static void a_missing_file_is_not_found(void **state)
{
    (void)state;
    struct strobe_report_csv csv;
    assert_int_equal(strobe_report_csv_open(&csv, "/nonexistent/file", ',', '"'),
                     STROBE_ERR_NOTFOUND);
    strobe_report_csv_close(&csv);
}

static void columns_are_found_by_trimmed_name(void **state)
{
    (void)state;
    struct strobe_report_csv csv;
    strobe_report_csv_open_memory(&csv, "a, b ,c\n1,2\n", 12, ',', '"');
    assert_int_equal(strobe_report_csv_next(&csv), STROBE_OK);
    assert_int_equal(strobe_report_csv_column(&csv, "b"), 1);
    assert_int_equal(strobe_report_csv_column(&csv, "x"), -1);
    assert_int_equal(strobe_report_csv_next(&csv), STROBE_OK);
    assert_int_equal(strobe_report_csv_cell(&csv, 2).len, 0);
    strobe_report_csv_close(&csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quoted_cells_may_hold_separators_and_lines),
        cmocka_unit_test(a_quote_that_is_never_closed_costs_one_row),
        cmocka_unit_test(rows_know_their_lines),
        cmocka_unit_test(a_missing_file_is_not_found),
        cmocka_unit_test(columns_are_found_by_trimmed_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
