/* test_serve_guard.c - who may ask the viewer's server, and for what.  SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "serve/guard.h"

static const char token[] = "0123456789abcdef0123456789abcdef";

static void a_token_is_32_hex_digits_and_no_two_are_the_same(void **state)
{
    char a[STROBE_TOKEN_DIGITS + 1], b[STROBE_TOKEN_DIGITS + 1];
    (void)state;
    assert_true(strobe_guard_make_token(a) && strobe_guard_make_token(b));
    assert_int_equal(strlen(a), STROBE_TOKEN_DIGITS);
    assert_int_equal(strspn(a, "0123456789abcdef"), STROBE_TOKEN_DIGITS);
    assert_string_not_equal(a, b);
}

static void only_the_whole_token_is_the_token(void **state)
{
    char longer[64];
    (void)state;
    snprintf(longer, sizeof longer, "%s0", token);
    assert_true(strobe_guard_is_token(token, token));
    assert_false(strobe_guard_is_token(token, ""));
    assert_false(strobe_guard_is_token(token, longer));
    assert_false(strobe_guard_is_token(token, token + 1));
    assert_false(strobe_guard_is_token(token, "0123456789abcdef0123456789abcdeF"));
}

static void a_cookie_is_found_among_those_of_other_servers(void **state)
{
    char name[STROBE_COOKIE_NAME], header[256];
    (void)state;
    strobe_guard_cookie_name(token, 4000, name);
    snprintf(header, sizeof header, "other=1; x%s=%s; %s=short; %s=%s", name, token, name, name,
             token);
    assert_true(strobe_guard_has_cookie(token, 4000, header));
    assert_false(strobe_guard_has_cookie(token, 4001, header)); /* its name has another port */
    header[strlen(header) - 1] = '0';
    assert_false(strobe_guard_has_cookie(token, 4000, header));
    assert_false(strobe_guard_has_cookie(token, 4000, ""));
}

static void a_cookie_whose_name_only_ends_like_ours_is_another(void **state)
{
    char name[STROBE_COOKIE_NAME], header[256];
    (void)state;
    strobe_guard_cookie_name(token, 4000, name);
    snprintf(header, sizeof header, "x%s=%s", name, token);
    assert_false(strobe_guard_has_cookie(token, 4000, header));
}

static void hosts_are_the_loopback_with_any_port_or_none(void **state)
{
    static const char *const good[] = {"127.0.0.1", "localhost", "localhost:80", "[::1]:65535"};
    static const char *const bad[] = {"",
                                      "127.0.0.1.evil.example",
                                      "localhost.evil.example:80",
                                      "localhost:",
                                      "localhost:80x",
                                      "localhost:123456",
                                      "evil.example",
                                      "127.0.0.2",
                                      "[::1"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(strobe_guard_is_host(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(strobe_guard_is_host(bad[i]));
}

static void an_origin_is_the_very_host_that_was_asked(void **state)
{
    (void)state;
    assert_true(strobe_guard_is_origin("http://localhost:80", "localhost:80"));
    assert_false(strobe_guard_is_origin("https://localhost:80", "localhost:80"));
    assert_false(strobe_guard_is_origin("http://localhost:81", "localhost:80"));
    assert_false(strobe_guard_is_origin("http://localhost:80.evil.example", "localhost:80"));
    assert_false(strobe_guard_is_origin("null", "localhost:80"));
}

static void a_trace_has_a_plain_name(void **state)
{
    static const char *const good[] = {"a.strobe", "b.tracy", "c.json", "d.json.gz", "ä b.strobe"};
    static const char *const bad[] = {
        "",          ".strobe",    "../a.strobe",  "x/a.strobe", "a\\b.strobe",
        ".a.strobe", "a\n.strobe", "a.strobe.txt", "passwd",     "a\x7f.strobe"};
    char longest[300];
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(strobe_guard_is_trace_name(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(strobe_guard_is_trace_name(bad[i]));
    snprintf(longest, sizeof longest, "%0248d.strobe", 0);
    assert_true(strobe_guard_is_trace_name(longest));
    snprintf(longest, sizeof longest, "%0249d.strobe", 0);
    assert_false(strobe_guard_is_trace_name(longest));
}

static void a_path_of_the_page_leads_nowhere_else(void **state)
{
    (void)state;
    assert_true(strobe_guard_is_page_path("/view/link.js"));
    assert_true(strobe_guard_is_page_path("/"));
    assert_false(strobe_guard_is_page_path("view/link.js"));
    assert_false(strobe_guard_is_page_path("/../etc/passwd"));
    assert_false(strobe_guard_is_page_path("/view/..%2fetc"));
    assert_false(strobe_guard_is_page_path("//etc/passwd"));
    assert_false(strobe_guard_is_page_path("/view/.git"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_32_hex_digits_and_no_two_are_the_same),
        cmocka_unit_test(only_the_whole_token_is_the_token),
        cmocka_unit_test(a_cookie_is_found_among_those_of_other_servers),
        cmocka_unit_test(a_cookie_whose_name_only_ends_like_ours_is_another),
        cmocka_unit_test(hosts_are_the_loopback_with_any_port_or_none),
        cmocka_unit_test(an_origin_is_the_very_host_that_was_asked),
        cmocka_unit_test(a_trace_has_a_plain_name),
        cmocka_unit_test(a_path_of_the_page_leads_nowhere_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
