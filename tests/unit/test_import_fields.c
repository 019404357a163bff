/* test_import_fields.c - the members of one of Chrome's events.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "import/json_fields.h"

static struct strobe_json_field fields[STROBE_JSON_FIELDS_MAX];

static int read_fields(const char *text)
{
    return strobe_json_fields((struct strobe_json_text){text, strlen(text)}, fields);
}

static void assert_text(struct strobe_json_text text, const char *wanted)
{
    assert_int_equal(text.n, strlen(wanted));
    assert_memory_equal(text.at, wanted, text.n);
}

/* A member of an event that has it alone. */
static const struct strobe_json_field *only(const char *text)
{
    assert_int_equal(read_fields(text), 1);
    return &fields[0];
}

static void members_are_places_in_the_text(void **state)
{
    (void)state;
    int n = read_fields(" {\"ph\":\"X\" , \"args\": {\"a\":[1,\"}\"]}, \"ts\":1.5,\"t\":true}");
    assert_int_equal(n, 4);
    assert_text(strobe_json_field(fields, n, "ph")->value, "X");
    assert_text(strobe_json_field(fields, n, "args")->value, "{\"a\":[1,\"}\"]}");
    assert_text(strobe_json_field(fields, n, "ts")->value, "1.5");
    assert_int_equal(strobe_json_field(fields, n, "ts")->type, '0');
    assert_int_equal(strobe_json_field(fields, n, "t")->type, 't');
    assert_int_equal(strobe_json_field(fields, n, "none")->type, 0);
}

static void strings_with_escapes_stand_there_as_written(void **state)
{
    char out[64];
    (void)state;
    const struct strobe_json_field *field =
        only("{\"a\\u0062\" : \"x\\\"\\u00e9 \\ud83d\\ude00\" }");
    assert_text(field->name, "a\\u0062");
    assert_text(field->value, "x\\\"\\u00e9 \\ud83d\\ude00");
    size_t n = strobe_json_unescape(field->value, out);
    assert_text((struct strobe_json_text){out, n}, "x\"\xc3\xa9 \xf0\x9f\x98\x80");
}

static void a_cut_text_ends_before_its_last_escape(void **state)
{
    char out[64];
    (void)state;
    size_t n = strobe_json_unescape((struct strobe_json_text){"ab\\u00", 6}, out);
    assert_text((struct strobe_json_text){out, n}, "ab");
    n = strobe_json_unescape((struct strobe_json_text){"ab\\", 3}, out);
    assert_text((struct strobe_json_text){out, n}, "ab");
}

static void what_python_and_chrome_write_beside_json_is_read(void **state)
{
    (void)state;
    assert_int_equal(read_fields("{,\"a\":NaN,,\"b\":-Infinity,}"), 2);
    assert_int_equal(read_fields("{\"a\":\"\xff\"}"), 1);
    assert_int_equal(read_fields("{}"), 0);
}

static void what_is_no_object_is_refused(void **state)
{
    static const char *const bad[] = {"",           "[]",          "{",      "{\"a\"}",
                                      "{\"a\":}",   "{\"a\":1",    "{a:1}",  "{\"a\":\"\\x\"}",
                                      "{\"a\":[1}", "{\"a\":nul}", "\"{}\"", "{\"a\":1 \"b\":2}"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(read_fields(bad[i]), -1);
}

static void no_more_than_32_members_are_kept(void **state)
{
    char text[40 * 6 + 3] = "{";
    (void)state;
    for (int i = 0; i < 40; i++)
        strcat(text, "\"a\":1,");
    strcat(text, "}");
    assert_int_equal(read_fields(text), STROBE_JSON_FIELDS_MAX);
}

static void a_member_that_is_nested_too_deep_ends_them(void **state)
{
    enum { DEPTH = 5000 };
    static const char before[] = "{\"ph\":\"X\",\"args\":";
    char *text = malloc(sizeof before + 2 * DEPTH + 16);
    (void)state;
    assert_non_null(text);
    strcpy(text, before);
    char *at = text + strlen(text);
    memset(at, '[', DEPTH);
    memset(at + DEPTH, ']', DEPTH);
    strcpy(at + 2 * DEPTH, ",\"ts\":1}");
    assert_int_equal(read_fields(text), 1);
    assert_text(fields[0].value, "X");
    free(text);
}

static void times_are_exact_to_the_nanosecond(void **state)
{
    int64_t ns;
    int has_fraction = 0;
    (void)state;
    assert_true(strobe_json_ns(only("{\"ts\":1700000000000000}"), &ns, &has_fraction));
    assert_true(ns == 1700000000000000000 && !has_fraction);
    assert_true(strobe_json_ns(only("{\"ts\":-0.0015}"), &ns, &has_fraction));
    assert_true(ns == -1 && has_fraction);
    assert_true(strobe_json_ns(only("{\"ts\":\"12.3456\"}"), &ns, &has_fraction));
    assert_int_equal(ns, 12345);
    assert_true(strobe_json_ns(only("{\"ts\":2e3}"), &ns, &has_fraction));
    assert_int_equal(ns, 2000000);
    assert_false(strobe_json_ns(only("{\"ts\":1e300}"), &ns, &has_fraction));
    assert_false(strobe_json_ns(only("{\"ts\":NaN}"), &ns, &has_fraction));
    assert_false(strobe_json_ns(only("{\"ts\":null}"), &ns, &has_fraction));
    assert_false(strobe_json_ns(only("{\"ts\":\"\"}"), &ns, &has_fraction));
}

static void ids_are_whole_numbers_hex_among_them(void **state)
{
    uint64_t id;
    (void)state;
    assert_true(strobe_json_whole(only("{\"id\":\"0xfFfFfFfFfFfFfFfF\"}"), &id) &&
                id == UINT64_MAX);
    assert_true(strobe_json_whole(only("{\"id\":18446744073709551615}"), &id) && id == UINT64_MAX);
    assert_true(strobe_json_whole(only("{\"id\":\"010\"}"), &id) && id == 10);
    assert_true(strobe_json_whole(only("{\"id\":-1}"), &id) && id == UINT64_MAX);
    assert_false(strobe_json_whole(only("{\"id\":18446744073709551616}"), &id));
    assert_false(strobe_json_whole(only("{\"id\":\"0x\"}"), &id));
    assert_false(strobe_json_whole(only("{\"id\":\"0x1ffffffffffffffff\"}"), &id));
    assert_false(strobe_json_whole(only("{\"id\":1.5}"), &id));
    assert_false(strobe_json_whole(only("{\"id\":\"x\"}"), &id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_places_in_the_text),
        cmocka_unit_test(strings_with_escapes_stand_there_as_written),
        cmocka_unit_test(a_cut_text_ends_before_its_last_escape),
        cmocka_unit_test(what_python_and_chrome_write_beside_json_is_read),
        cmocka_unit_test(what_is_no_object_is_refused),
        cmocka_unit_test(no_more_than_32_members_are_kept),
        cmocka_unit_test(a_member_that_is_nested_too_deep_ends_them),
        cmocka_unit_test(times_are_exact_to_the_nanosecond),
        cmocka_unit_test(ids_are_whole_numbers_hex_among_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
