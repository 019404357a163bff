/* test_engine_json.c - questions of the page: what they may hold, and how much.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "engine/json.h"

static struct strobe_json json;

static int parse(const char *text)
{
    return strobe_json_parse(&json, text, strlen(text));
}

static int free_question(void **state)
{
    (void)state;
    strobe_json_free(&json);
    return 0;
}

static void members_are_found_by_name(void **state)
{
    (void)state;
    assert_true(parse("{\"ask\":\"zone\",\"at\":-1.5e2,\"in\":{\"at\":7}}"));
    assert_true(strobe_json_is_object(&json));
    assert_true(strobe_json_is(&json, strobe_json_member(&json, 0, "ask"), "zone"));
    assert_true(strobe_json_number(&json, strobe_json_member(&json, 0, "at"), 0) == -150.0);
    uint32_t in = strobe_json_member(&json, 0, "in");
    assert_int_equal(strobe_json_count(&json, strobe_json_member(&json, in, "at"), 0, 9), 7);
    assert_int_equal(strobe_json_member(&json, 0, "no such"), 0);
}

static void what_is_not_there_gives_the_otherwise(void **state)
{
    char text[8] = "before";
    uint32_t at = 0;
    (void)state;
    assert_true(parse("{}"));
    assert_true(strobe_json_number(&json, 0, 5) == 5);
    assert_int_equal(strobe_json_count(&json, 0, 6, 9), 6);
    assert_int_equal(strobe_json_text(&json, 0, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(strobe_json_next(&json, 0, &at), 0);
    assert_false(strobe_json_is(&json, 0, ""));
}

static void counts_stay_within_their_bounds(void **state)
{
    (void)state;
    assert_true(parse("[-1,1e300,2.9,\"3\",99999999999999999999]"));
    static const uint64_t wanted[] = {42, 1000, 2, 42, 1000};
    uint32_t at = 0;
    for (size_t i = 0; i < 5; i++) {
        uint32_t value = strobe_json_next(&json, STROBE_JSON_WHOLE, &at);
        assert_int_equal(strobe_json_count(&json, value, 42, 1000), wanted[i]);
    }
    assert_int_equal(strobe_json_next(&json, STROBE_JSON_WHOLE, &at), 0);
}

static void texts_are_cut_at_a_character_and_hold_no_nul(void **state)
{
    char text[6];
    (void)state;
    assert_true(parse("\"ab\\u00e4\\u00e4\""));
    assert_int_equal(strobe_json_text(&json, STROBE_JSON_WHOLE, text, sizeof text), 4);
    assert_string_equal(text, "ab\xc3\xa4");
    assert_true(parse("\"a\\u0000b\""));
    assert_int_equal(strobe_json_text(&json, STROBE_JSON_WHOLE, text, sizeof text), 3);
    assert_string_equal(text, "a b");
}

static void what_is_no_json_is_refused_and_leaves_nothing(void **state)
{
    static const char *const bad[] = {"",      "{",       "{\"a\"}", "[1,]", "{\"a\":1}x",
                                      "1e+",   "\"\\x\"", "\"a",     "nul",  "{\"a\":01}",
                                      "[1 2]", "{1:2}",   "\"\n\"",  "NaN",  "+1"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_true(parse("{\"ask\":1}"));
        assert_false(parse(bad[i]));
        assert_false(strobe_json_is_object(&json));
        assert_int_equal(strobe_json_member(&json, 0, "ask"), 0);
    }
}

/* "[[[...]]]" */
static char *nested(size_t depth)
{
    char *text = malloc(2 * depth + 1);
    assert_non_null(text);
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    text[2 * depth] = 0;
    return text;
}

static void depth_is_bounded(void **state)
{
    (void)state;
    char *deepest = nested(STROBE_JSON_MAX_DEPTH), *deeper = nested(STROBE_JSON_MAX_DEPTH + 1);
    assert_true(parse(deepest));
    assert_false(parse(deeper));
    free(deepest);
    free(deeper);
}

static void bytes_and_values_are_bounded(void **state)
{
    (void)state;
    size_t n = STROBE_JSON_MAX_BYTES;
    char *text = malloc(n + 1);
    assert_non_null(text);
    memset(text, ' ', n + 1);
    text[0] = '1';
    assert_true(strobe_json_parse(&json, text, n));
    assert_false(strobe_json_parse(&json, text, n + 1));
    size_t most = STROBE_JSON_MAX_VALUES - 1; /* the array is a value, too */
    for (size_t i = 0; i < most; i++)
        memcpy(text + 1 + 2 * i, "0,", 2);
    text[0] = '[';
    text[2 * most] = ']';
    assert_true(strobe_json_parse(&json, text, 2 * most + 1));
    memcpy(text + 2 * most, ",0]", 3);
    assert_false(strobe_json_parse(&json, text, 2 * most + 3));
    free(text);
}

static void a_value_is_written_as_it_was_read(void **state)
{
    static const char text[] =
        "{\"a\":[1,-2.5e3,true,false,null],\"b\":{\"\":\"\\\"\\u0001\"},\"c\":{},\"d\":[]}";
    struct strobe_out out = {0};
    (void)state;
    assert_true(parse(text));
    strobe_json_put(&json, STROBE_JSON_WHOLE, &out);
    assert_string_equal(strobe_out_string(&out), text);
    strobe_out_free(&out);
}

#define QUESTION(test) cmocka_unit_test_teardown(test, free_question)

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUESTION(members_are_found_by_name),
        QUESTION(what_is_not_there_gives_the_otherwise),
        QUESTION(counts_stay_within_their_bounds),
        QUESTION(texts_are_cut_at_a_character_and_hold_no_nul),
        QUESTION(what_is_no_json_is_refused_and_leaves_nothing),
        QUESTION(depth_is_bounded),
        QUESTION(bytes_and_values_are_bounded),
        QUESTION(a_value_is_written_as_it_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
