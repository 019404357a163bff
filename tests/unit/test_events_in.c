/* test_events_in.c - a file of JSON is cut into its events, whatever stands between them.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "import/events_in.h"

/* The events of `text`, each in brackets; why it ended. */
static enum strobe_err cut(const char *text, char out[256])
{
    struct strobe_events_in *in;
    struct strobe_event_in event;
    size_t at = 0;
    enum strobe_err err;
    assert_int_equal(strobe_events_in_over(text, strlen(text), &in), STROBE_OK);
    while (!(err = strobe_events_in_next(in, &event))) {
        assert_true(at + event.text.n + 1 < 256);
        memcpy(out + at, event.text.at, event.text.n);
        at += event.text.n;
        out[at++] = '|';
    }
    out[at] = 0;
    strobe_events_in_close(in);
    return err;
}

static void both_forms_give_their_events(void **state)
{
    char out[256];
    (void)state;
    assert_int_equal(cut("[{\"a\":1}, {\"b\":{\"c\":[2]}}]", out), STROBE_ERR_END);
    assert_string_equal(out, "{\"a\":1}|{\"b\":{\"c\":[2]}}|");
    assert_int_equal(cut("{\"x\":[{}],\"traceEvents\":[{\"a\":1}],\"y\":\"]}\"}", out),
                     STROBE_ERR_END);
    assert_string_equal(out, "{\"a\":1}|");
}

static void the_end_of_an_array_may_be_missing(void **state)
{
    char out[256];
    (void)state;
    assert_int_equal(cut("[{\"a\":1},", out), STROBE_ERR_END);
    assert_string_equal(out, "{\"a\":1}|");
    assert_int_equal(cut("{\"traceEvents\":[{\"a\":1},", out), STROBE_ERR_CORRUPT);
    assert_string_equal(out, "{\"a\":1}|");
}

static void brackets_in_texts_do_not_count(void **state)
{
    char out[256];
    (void)state;
    assert_int_equal(cut("[{\"a\":\"}]\\\"{\"}]", out), STROBE_ERR_END);
    assert_string_equal(out, "{\"a\":\"}]\\\"{\"}|");
}

static void what_is_no_trace_is_said(void **state)
{
    char out[256];
    (void)state;
    assert_int_equal(cut("hello", out), STROBE_ERR_FORMAT);
    assert_int_equal(cut("{\"hello\":[1]}", out), STROBE_ERR_FORMAT);
    assert_int_equal(cut("{\"traceEvents\":[]}", out), STROBE_ERR_END);
    assert_int_equal(cut("[{\"a\":", out), STROBE_ERR_CORRUPT);
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_give_their_events),
        cmocka_unit_test(the_end_of_an_array_may_be_missing),
        cmocka_unit_test(brackets_in_texts_do_not_count),
        cmocka_unit_test(what_is_no_trace_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
