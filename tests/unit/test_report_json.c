/* test_report_json.c - JSON goes in, Python's repr() comes out.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "report/json.h"

static void check(const char *input, const char *expected)
{
    struct strobe_json_tree json = {0};
    struct strobe_out out = {0};
    assert_int_equal(strobe_report_json_parse(&json, input, strlen(input)), STROBE_OK);
    strobe_report_json_str(&json, 1, &out);
    assert_string_equal(out.at ? out.at : "", expected);
    strobe_out_free(&out);
    strobe_json_tree_free(&json);
}

static void values_print_as_in_python(void **state)
{
    (void)state;
    check("{\"a\": [1, 2.50, true, null], \"b\": {}}", "{'a': [1, 2.5, True, None], 'b': {}}");
    check("\"plain\"", "plain");
    check("[\"it's\", \"say \\\"x\\\"\", \"'\\\"\"]", "[\"it's\", 'say \"x\"', '\\'\"']");
    check("[\"a\\tb\\u0001\\\\\"]", "['a\\tb\\x01\\\\']");
    check("[\"\\u00e9\\ud83d\\ude00\\u00a0\"]", "['\xc3\xa9\xf0\x9f\x98\x80\\xa0']");
    check("[-0, 12345678901234567890123, 1e22, NaN]", "[0, 12345678901234567890123, 1e+22, nan]");
}

static void a_doubled_key_keeps_its_place_and_its_last_value(void **state)
{
    (void)state;
    check("{\"a\":1,\"b\":2,\"a\":3}", "{'a': 3, 'b': 2}");
}

static void what_python_refuses_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",        "{",      "{\"a\":}",  "[1,]",    "01", "1.",
                                      "tru",     "\"\n\"", "{} x",      "{'a':1}", "+1", ".5",
                                      "\"\\x\"", "[1 2]",  "{\"a\" 1}", "\"open",  "nan"};
    struct strobe_json_tree json = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(strobe_report_json_parse(&json, bad[i], strlen(bad[i])),
                         STROBE_ERR_FORMAT);
    strobe_json_tree_free(&json);
}

static void deep_nesting_hits_a_limit(void **state)
{
    (void)state;
    char deep[4000];
    struct strobe_json_tree json = {0};
    memset(deep, '[', sizeof deep);
    assert_int_equal(strobe_report_json_parse(&json, deep, sizeof deep), STROBE_ERR_LIMIT);
    strobe_json_tree_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_print_as_in_python),
        cmocka_unit_test(a_doubled_key_keeps_its_place_and_its_last_value),
        cmocka_unit_test(what_python_refuses_is_refused),
        cmocka_unit_test(deep_nesting_hits_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
