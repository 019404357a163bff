/* test_base_out.c - text goes out whole, quoted and valid.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/utf8.h"

typedef void quote_fn(struct strobe_out *out, const char *text, size_t n);

static void check(quote_fn *quote, const char *text, size_t n, const char *expected)
{
    struct strobe_out out = {0};
    quote(&out, text, n);
    assert_string_equal(strobe_out_string(&out), expected);
    strobe_out_free(&out);
}

static void text_is_quoted_for_its_format(void **state)
{
    (void)state;
    check(strobe_out_json, "", 0, "\"\"");
    check(strobe_out_json, "a\"b\\c\nd\te\x7f", 10, "\"a\\\"b\\\\c\\nd\\u0009e\\u007f\"");
    check(strobe_out_csv, "plain", 5, "plain");
    check(strobe_out_csv, "a,b", 3, "\"a,b\"");
    check(strobe_out_csv, "say \"x\"\n", 8, "\"say \"\"x\"\"\n\"");
    check(strobe_out_csv, " x", 2, "\" x\"");
    check(strobe_out_csv, "a\0b", 3, "a b");
    check(strobe_out_html, "<a href='x'>\"&\0", 15,
          "&lt;a href=&#39;x&#39;&gt;&quot;&amp;" STROBE_UTF8_REPLACEMENT);
}

static void invalid_utf8_is_made_valid_in_every_format(void **state)
{
    (void)state;
    static quote_fn *const quotes[] = {strobe_out_json, strobe_out_csv, strobe_out_html,
                                       strobe_out_utf8};
    char bad[] = "\xff"
                 "a\xe2\x82,\xc3\xa9\xed\xa0\x80";
    for (size_t i = 0; i < sizeof quotes / sizeof quotes[0]; i++) {
        struct strobe_out out = {0};
        quotes[i](&out, bad, sizeof bad - 1);
        assert_int_equal(strobe_utf8_valid(out.at, out.len), out.len);
        assert_non_null(strstr(strobe_out_string(&out),
                               STROBE_UTF8_REPLACEMENT "a" STROBE_UTF8_REPLACEMENT ",\xc3\xa9"));
        strobe_out_free(&out);
    }
}

static void numbers_and_formats_go_to_memory(void **state)
{
    (void)state;
    struct strobe_out out = {0};
    assert_string_equal(strobe_out_string(&out), "");
    strobe_out_u(&out, UINT64_MAX);
    strobe_out_char(&out, ' ');
    strobe_out_i(&out, INT64_MIN);
    strobe_out_char(&out, ' ');
    strobe_out_hex(&out, 0);
    strobe_out_hex(&out, UINT64_MAX);
    strobe_out_char(&out, ' ');
    strobe_out_double(&out, 0.1);
    assert_string_equal(strobe_out_string(&out),
                        "18446744073709551615 -9223372036854775808 0x00xffffffffffffffff 0.1");
    strobe_out_clear(&out);
    strobe_out_format(&out, "%0*d", 20000, 7); /* longer than any first guess */
    assert_int_equal(out.len, 20000);
    assert_int_equal(strlen(strobe_out_string(&out)), 20000);
    strobe_out_free(&out);
}

static void a_bounded_text_stops_and_says_so(void **state)
{
    (void)state;
    struct strobe_out out = {.max = 10};
    strobe_out_text(&out, "12345");
    strobe_out_text(&out, "67890");
    assert_int_equal(out.error, 0);
    strobe_out_char(&out, 'x');
    assert_int_equal(out.error, EOVERFLOW);
    strobe_out_text(&out, "");
    assert_string_equal(strobe_out_string(&out), "1234567890");
    strobe_out_free(&out);
}

/* Collects what a sink gets, and fails from a number of bytes on. */
struct collected {
    struct strobe_out text;
    size_t fails_from;
    int n_calls;
};

static int collect(void *context, const char *bytes, size_t n)
{
    struct collected *c = context;
    c->n_calls++;
    strobe_out_bytes(&c->text, bytes, n);
    return c->text.len > c->fails_from ? ENOSPC : 0;
}

static void pieces_of_all_sizes_reach_a_sink_in_order(void **state)
{
    (void)state;
    struct collected c = {.fails_from = SIZE_MAX};
    struct strobe_out out, expected = {0};
    char *piece = malloc(3 * STROBE_OUT_BYTES);
    memset(piece, 'p', 3 * STROBE_OUT_BYTES);
    assert_true(strobe_out_open_sink(&out, collect, &c));
    for (size_t n = 1; n < 3 * STROBE_OUT_BYTES; n = n * 3 + 1) {
        for (int i = 0; i < 5; i++) {
            strobe_out_bytes(&out, piece, n);
            strobe_out_u(&out, n);
            strobe_out_json(&out, piece, n);
            strobe_out_bytes(&expected, piece, n);
            strobe_out_u(&expected, n);
            strobe_out_json(&expected, piece, n);
        }
    }
    assert_int_equal(strobe_out_end(&out), 0);
    assert_int_equal(c.text.len, expected.len);
    assert_memory_equal(c.text.at, expected.at, expected.len);
    strobe_out_free(&c.text);
    strobe_out_free(&expected);
    free(piece);
}

static void after_a_failed_write_nothing_is_written(void **state)
{
    (void)state;
    struct collected c = {.fails_from = 0};
    struct strobe_out out;
    assert_true(strobe_out_open_sink(&out, collect, &c));
    for (int i = 0; i < 1000000; i++)
        strobe_out_u(&out, (uint64_t)i);
    assert_int_equal(c.n_calls, 1);
    assert_int_equal(strobe_out_end(&out), ENOSPC);
    strobe_out_free(&c.text);
    int full = open("/dev/full", O_WRONLY);
    assert_true(full >= 0 && strobe_out_open(&out, full));
    strobe_out_text(&out, "x");
    assert_int_equal(strobe_out_end(&out), ENOSPC);
    close(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_quoted_for_its_format),
        cmocka_unit_test(invalid_utf8_is_made_valid_in_every_format),
        cmocka_unit_test(numbers_and_formats_go_to_memory),
        cmocka_unit_test(a_bounded_text_stops_and_says_so),
        cmocka_unit_test(pieces_of_all_sizes_reach_a_sink_in_order),
        cmocka_unit_test(after_a_failed_write_nothing_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
