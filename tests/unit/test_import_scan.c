/* test_import_scan.c - what is found in one pass is what base's reader finds.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "import/events_in.h"
#include "import/json_scan.h"

static struct strobe_json_field found[STROBE_JSON_FIELDS_MAX], wanted[STROBE_JSON_FIELDS_MAX];

static int same(struct strobe_json_text a, struct strobe_json_text b)
{
    return a.n == b.n && !memcmp(a.at, b.at, a.n);
}

/* 1: it was found in one pass, and is as base's reader finds it. A comma in front, which Chrome may write, is nothing for one pass. */
static int agrees(const char *text, size_t n)
{
    int n_found;
    char *slow = malloc(n + 1);
    const char *end = strobe_json_scan(text, text + n, found, &n_found);
    assert_non_null(slow);
    if (end) {
        memcpy(slow, "{,", 2);
        memcpy(slow + 2, text + 1, n - 1);
        assert_null(strobe_json_scan(slow, slow + n + 1, wanted, &(int){0}));
        int n_wanted = strobe_json_fields((struct strobe_json_text){slow, n + 1}, wanted);
        assert_int_equal(n_found, n_wanted);
        for (int i = 0; i < n_found; i++) {
            assert_int_equal(found[i].type, wanted[i].type);
            assert_true(same(found[i].name, wanted[i].name));
            assert_true(same(found[i].value, wanted[i].value));
        }
    }
    free(slow);
    return end != NULL;
}

static int is_found(const char *text)
{
    return agrees(text, strlen(text));
}

static void plain_objects_are_found_in_one_pass(void **state)
{
    (void)state;
    assert_true(is_found("{}"));
    assert_true(is_found("{ \"a\" : 1 , \"b\":[1,{\"c\":\"}\\\"\"}], \"d\":{} }"));
    assert_true(is_found(
        "{\"a\":-0.5e+3,\"b\":true,\"c\":false,\"d\":null,\"e\":\"\\u00e9\xc3\xa9\xff\"}"));
    assert_true(is_found("{\"a\":1}, {\"b\":2}"));
    assert_int_equal(found[0].value.n, 1);
}

static void what_is_not_plain_is_left_to_the_reader(void **state)
{
    static const char *const others[] = {"",
                                         "[]",
                                         " {}",
                                         "{",
                                         "{\"a\"",
                                         "{\"a\":",
                                         "{\"a\":1",
                                         "{\"a\":1,}",
                                         "{,}",
                                         "{\"a\":NaN}",
                                         "{\"a\":01}",
                                         "{\"a\":1.}",
                                         "{\"a\":-}",
                                         "{\"a\":1e}",
                                         "{\"a\":nul}",
                                         "{a:1}",
                                         "{\"a\" 1}",
                                         "{\"a\":\"\\x\"}",
                                         "{\"a\":\"\\u12g4\"}",
                                         "{\"a\":\"\n\"}",
                                         "{\"a\":[1}}",
                                         "{\"a\":[1,]}",
                                         "{\"a\":{\"b\"}}",
                                         "{\"a\":\"\\",
                                         "{\"a\":tru"};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(is_found(others[i]));
}

static void nested_too_deep_or_too_many_is_left_to_the_reader(void **state)
{
    char text[40 * 8 + 8] = "{";
    (void)state;
    for (int i = 0; i < 33; i++)
        strcat(text, i ? ",\"a\":1" : "\"a\":1");
    strcat(text, "}");
    assert_false(is_found(text));
    strcpy(text, "{\"a\":");
    memset(text + 5, '[', 100);
    memset(text + 105, ']', 100);
    strcpy(text + 205, "}");
    assert_false(is_found(text));
}

/* Objects that were damaged in one or more places are found, or not, but never found otherwise. */
static void damage_is_never_read_otherwise(void **state)
{
    static const char whole[] =
        "{\"ph\":\"X\",\"name\":\"a \\\"b\\\" \\u20ac\",\"ts\":12.345,\"dur\":-1e-3, \"pid\" : 1,"
        "\"args\":{\"x\":[1,2,{\"y\":null}],\"z\":\"\\\\\",\"t\":true}}";
    static const char bytes[] = "{}[],:\"\\ \n\t0123456789.eE+-aunltrfs\x01\x7f\x80\xff";
    uint64_t random = 88172645463325252u;
    int n_found = 0;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[sizeof whole];
        memcpy(text, whole, sizeof whole);
        for (int k = 0; k < 1 + i % 3; k++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            size_t at = 1 + (size_t)(random >> 20) % (sizeof whole - 2);
            text[at] = bytes[(random >> 8) % (sizeof bytes - 1)];
        }
        n_found += agrees(text, sizeof whole - 1);
    }
    assert_in_range(n_found, 1000, 199999);
}

/* The same events, whether they lie in one piece or not: bytes in memory are one. */
static void an_event_is_cut_where_its_brackets_end(void **state)
{
    struct strobe_events_in *in;
    struct strobe_event_in event;
    static const char text[] = "[{\"a\":\"]}\"},{\"a\":1,},{\"b\":{\"c\":[]}}]";
    static const char *const events[] = {"{\"a\":\"]}\"}", "{\"a\":1,}", "{\"b\":{\"c\":[]}}"};
    (void)state;
    assert_int_equal(strobe_events_in_over(text, sizeof text - 1, &in), STROBE_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(strobe_events_in_next(in, &event), STROBE_OK);
        assert_int_equal(event.n_fields, 1);
        assert_true(same(event.text, (struct strobe_json_text){events[i], strlen(events[i])}));
    }
    assert_int_equal(strobe_events_in_next(in, &event), STROBE_ERR_END);
    strobe_events_in_close(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_objects_are_found_in_one_pass),
        cmocka_unit_test(what_is_not_plain_is_left_to_the_reader),
        cmocka_unit_test(nested_too_deep_or_too_many_is_left_to_the_reader),
        cmocka_unit_test(damage_is_never_read_otherwise),
        cmocka_unit_test(an_event_is_cut_where_its_brackets_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
